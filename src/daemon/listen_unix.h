/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_unix.h - local peers: who they are, their packets in, their replies out, all bounded.
 *
 * Who: SO_PEERCRED, the uid at connect(2). root, slurm_user and closfoldd's own user are trusted; all others together
 * have CLF_PEERS_OTHERS of the CLF_PEERS_MAX places, and serve.c gives them little. A peer that does not read its
 * replies is dropped at CLF_PEER_OUT bytes. Memory: peers belong to the set; a closed one stays (fd -1) until sweep().
 */
#ifndef CLF_DAEMON_LISTEN_UNIX_H
#define CLF_DAEMON_LISTEN_UNIX_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/log.h"
#include "wire/proto.h"

#define CLF_PEERS_MAX    512u
#define CLF_PEERS_OTHERS 32u
#define CLF_PEER_OUT     (1u << 20)

struct clf_peer {
	int fd; /* -1 = closed */
	uint64_t id;
	uid_t uid;
	pid_t pid;
	bool trusted;
	struct clf_buf out; /* packets that the socket had no room for: u32 length, bytes */
};
struct clf_peers {
	int listener, epoll;
	char path[108];
	uid_t slurm_uid;
	struct clf_peer *v[CLF_PEERS_MAX];
	size_t n, others;
	uint64_t next_id;
};

CLF_MUST_USE int clf_peers_open(struct clf_peers *p, const char *path, uid_t slurm_uid, int epoll,
				struct clf_error *err);
void clf_peers_close(struct clf_peers *p);
void clf_peers_accept(struct clf_peers *p, const struct clf_log *sink);
struct clf_peer *clf_peers_find(const struct clf_peers *p, uint64_t id);

/* Length of the packet in buf; 0 none waiting, -1 the peer is gone or sent one that is too long. */
ssize_t clf_peer_receive(struct clf_peer *peer, void *buf, size_t size);
/* Send or keep; closes the peer when it takes nothing. */
void clf_peer_send(struct clf_peers *p, struct clf_peer *peer, const void *packet, size_t len);
void clf_peer_flush(struct clf_peers *p, struct clf_peer *peer);
void clf_peer_close(struct clf_peers *p, struct clf_peer *peer);
void clf_peers_sweep(struct clf_peers *p);

#endif
