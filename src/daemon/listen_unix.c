/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/listen_unix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A socket file that nobody listens on is left from a killed daemon. */
static int clear_path(const struct sockaddr_un *a, struct clf_error *err)
{
	CLF_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return clf_fail(err, CLF_E_IO, "cannot make a socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *) a, sizeof *a) || errno == EAGAIN)
		return clf_fail(err, CLF_E_CONFLICT, "another closfoldd answers at '%s'", a->sun_path);
	if (unlink(a->sun_path) && errno != ENOENT)
		return clf_fail(err, CLF_E_IO, "cannot remove '%s': %s", a->sun_path, strerror(errno));
	return 0;
}

static int watch(int epoll, int fd, uint32_t events, uint64_t id, int op)
{
	struct epoll_event e = { .events = events, .data.u64 = id };

	return epoll_ctl(epoll, op, fd, &e);
}

int clf_peers_open(struct clf_peers *p, const char *path, uid_t slurm_uid, int epoll, struct clf_error *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	*p = (struct clf_peers){ .listener = -1, .epoll = epoll, .slurm_uid = slurm_uid, .next_id = 16 };
	if (strlen(path) >= sizeof a.sun_path)
		return clf_fail(err, CLF_E_INVALID, "socket path '%s' is longer than %zu bytes", path,
				sizeof a.sun_path - 1);
	strcpy(a.sun_path, path);
	if (clear_path(&a, err))
		return -1;
	p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listener < 0 || bind(p->listener, (struct sockaddr *) &a, sizeof a))
		return clf_fail(err, CLF_E_IO, "cannot bind '%s': %s", path, strerror(errno));
	strcpy(p->path, path);
	/* Everybody may ask for status; who may do more is decided by uid. */
	if (chmod(path, 0666) || listen(p->listener, 512) || watch(epoll, p->listener, EPOLLIN, 0, EPOLL_CTL_ADD))
		return clf_fail(err, CLF_E_IO, "cannot listen at '%s': %s", path, strerror(errno));
	return 0;
}

void clf_peer_close(struct clf_peers *p, struct clf_peer *peer)
{
	if (peer->fd < 0)
		return;
	close(peer->fd);
	peer->fd = -1;
	p->others -= !peer->trusted;
}

static void peer_free(struct clf_peer *peer)
{
	clf_buf_done(&peer->out);
	free(peer);
}

void clf_peers_close(struct clf_peers *p)
{
	for (size_t i = 0; i < p->n; i++) {
		clf_peer_close(p, p->v[i]);
		peer_free(p->v[i]);
	}
	p->n = 0;
	clf_closep(&p->listener);
	p->listener = -1;
	if (*p->path)
		unlink(p->path);
	*p->path = '\0';
}

void clf_peers_sweep(struct clf_peers *p)
{
	size_t keep = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i]->fd >= 0)
			p->v[keep++] = p->v[i];
		else
			peer_free(p->v[i]);
	}
	p->n = keep;
}

struct clf_peer *clf_peers_find(const struct clf_peers *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i]->id == id && p->v[i]->fd >= 0)
			return p->v[i];
	return NULL;
}

static int admit(struct clf_peers *p, int fd, const struct ucred *cred)
{
	bool trusted = cred->uid == 0 || cred->uid == p->slurm_uid || cred->uid == geteuid();
	struct clf_peer *peer;

	/* The last places are root's and Slurm's. */
	if (p->n >= CLF_PEERS_MAX || (!trusted && p->others >= CLF_PEERS_OTHERS))
		return -1;
	peer = calloc(1, sizeof *peer);
	if (!peer)
		return -1;
	*peer = (struct clf_peer){
		.fd = fd, .id = p->next_id++, .uid = cred->uid, .pid = cred->pid, .trusted = trusted
	};
	peer->out.max = CLF_PEER_OUT;
	if (watch(p->epoll, fd, EPOLLIN, peer->id, EPOLL_CTL_ADD)) {
		free(peer);
		return -1;
	}
	p->others += !trusted;
	p->v[p->n++] = peer;
	return 0;
}

void clf_peers_accept(struct clf_peers *p, const struct clf_log *sink)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred cred;
		socklen_t len = sizeof cred;

		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED)
				clf_log(sink, CLF_LOG_WARN, "cannot accept a connection: %s", strerror(errno));
			return;
		}
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || admit(p, fd, &cred))
			close(fd);
	}
}

ssize_t clf_peer_receive(struct clf_peer *peer, void *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(peer->fd, buf, size, MSG_DONTWAIT | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
	return n == 0 || (size_t) n > size ? -1 : n;
}

static int send_packet(int fd, const void *packet, size_t len)
{
	ssize_t n;

	do
		n = send(fd, packet, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 1;
	return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
}

void clf_peer_send(struct clf_peers *p, struct clf_peer *peer, const void *packet, size_t len)
{
	uint32_t n = (uint32_t) len;
	int sent = peer->out.len ? 0 : send_packet(peer->fd, packet, len);

	if (sent > 0)
		return;
	if (sent < 0 || clf_buf_add(&peer->out, &n, sizeof n, NULL) || clf_buf_add(&peer->out, packet, len, NULL) ||
	    watch(p->epoll, peer->fd, EPOLLIN | EPOLLOUT, peer->id, EPOLL_CTL_MOD))
		clf_peer_close(p, peer);
}

void clf_peer_flush(struct clf_peers *p, struct clf_peer *peer)
{
	size_t at = 0;
	uint32_t n;

	while (at < peer->out.len) {
		memcpy(&n, peer->out.data + at, sizeof n);

		int sent = send_packet(peer->fd, peer->out.data + at + sizeof n, n);

		if (sent < 0) {
			clf_peer_close(p, peer);
			return;
		}
		if (!sent)
			break;
		at += sizeof n + n;
	}
	memmove(peer->out.data, peer->out.data + at, peer->out.len - at);
	peer->out.len -= at;
	if (!peer->out.len && watch(p->epoll, peer->fd, EPOLLIN, peer->id, EPOLL_CTL_MOD))
		clf_peer_close(p, peer);
}
