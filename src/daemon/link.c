/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "base/clock.h"

static const char *const side_names[] = { [CLF_LINK_CONTROLLER] = "controller", [CLF_LINK_NODE] = "node" };

/* ---- the helper's side */

static void job_free(struct clf_job *job)
{
	struct clf_link_job *j = (struct clf_link_job *) job;

	free(j->socket);
	free(j->text);
	clf_json_doc_done(&j->doc);
	free(j);
}

static void run_encode(struct clf_link_job *j)
{
	char *cred = NULL;

	if (clf_auth_encode(j->socket, j->text, j->len, &cred, &j->error))
		return;
	/* libmunge allocates with malloc(3) and says to free(3) it */
	free(j->text);
	j->text = cred;
	j->len = strlen(cred);
}

static void run_decode(struct clf_link_job *j)
{
	CLF_AUTO_FREE char *payload = NULL;
	CLF_CLEANUP(clf_text_done) struct clf_text text = { 0 };
	size_t len = 0;

	if (clf_auth_decode(j->socket, j->text, &payload, &len, &j->who, &j->error))
		return;
	if (memchr(payload, 0, len))
		clf_fail(&j->error, CLF_E_PARSE, "message with a NUL");
	else if (!clf_text_from_string("message", payload, &text, &j->error))
		(void) !clf_json_load_text(&text, &j->doc, &j->error);
}

static void run(struct clf_job *job)
{
	struct clf_link_job *j = (struct clf_link_job *) job;

	if (j->decode)
		run_decode(j);
	else
		run_encode(j);
}

/* text is stolen. */
static int put_job(struct clf_link *l, bool decode, char *text, size_t len, struct clf_error *err)
{
	struct clf_link_job *j = calloc(1, sizeof *j);

	if (j)
		j->socket = strdup(l->env->munge_socket);
	if (!j || !j->socket) {
		free(j);
		free(text);
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	j->job = (struct clf_job){ .run = run,
				   .free_job = job_free,
				   .deadline_ms = clf_clock_system.boot_us(NULL) / 1000 + CLF_LINK_MUNGED_MS };
	j->link = l->id;
	j->decode = decode;
	j->text = text;
	j->len = len;
	return clf_helper_put(l->env->helper, &j->job, err);
}

/* ---- the loop's side */

/* Read only what there is a place for, write only when something waits. */
static int watch(struct clf_link *l, struct clf_error *err)
{
	uint32_t events = (l->decoding < CLF_LINK_DECODING ? EPOLLIN : 0u) | (l->frames.out.len ? EPOLLOUT : 0u);
	struct epoll_event e = { .events = events, .data.u64 = l->id };

	if (events == l->events)
		return 0;
	if (epoll_ctl(l->env->epoll, EPOLL_CTL_MOD, l->fd, &e))
		return clf_fail(err, CLF_E_IO, "epoll: %s", strerror(errno));
	l->events = events;
	return 0;
}

int clf_link_init(struct clf_link *l, const struct clf_link_env *env, int fd, uint64_t id, struct clf_error *err)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = id };

	*l = (struct clf_link){ .env = env, .fd = -1, .id = id, .events = EPOLLIN };
	clf_frames_init(&l->frames, env->side == CLF_LINK_CONTROLLER ? CLF_LINK_STRANGER : CLF_FRAME_MAX);
	if (epoll_ctl(env->epoll, EPOLL_CTL_ADD, fd, &e)) {
		clf_fail(err, CLF_E_IO, "epoll: %s", strerror(errno));
		close(fd);
		return -1;
	}
	l->fd = fd;
	return 0;
}

void clf_link_close(struct clf_link *l)
{
	clf_closep(&l->fd);
	l->fd = -1;
	clf_frames_done(&l->frames);
}

static int receive(struct clf_link *l, struct clf_error *err)
{
	int got = 1;

	while (got > 0 && l->decoding < CLF_LINK_DECODING) {
		char *cred = NULL;
		int whole;

		got = clf_frames_read(&l->frames, l->fd, err);
		whole = got < 0 ? -1 : clf_frames_next(&l->frames, &cred, err);
		if (whole < 0 || (whole && put_job(l, true, cred, strlen(cred), err)))
			return -1;
		l->decoding += (unsigned) whole;
	}
	return 0;
}

int clf_link_ready(struct clf_link *l, uint32_t events, struct clf_error *err)
{
	if (events & EPOLLOUT && clf_frames_write(&l->frames, l->fd, err))
		return -1;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && receive(l, err))
		return -1;
	/* Hung up, and nothing will be read that could say so. */
	if (events & (EPOLLHUP | EPOLLERR) && l->decoding >= CLF_LINK_DECODING)
		return clf_fail(err, CLF_E_REMOTE, "connection lost: the peer hung up");
	return watch(l, err);
}

static int check_message(struct clf_link *l, const struct clf_link_job *j, struct clf_error *err)
{
	const json_t *m = j->doc.root, *seq = json_object_get(m, "seq");
	const char *from = json_string_value(json_object_get(m, "from"));
	const char *session = json_string_value(json_object_get(m, "session"));

	if (j->who.uid != 0 && j->who.uid != geteuid())
		return clf_fail(err, CLF_E_DENIED, "message of uid %u: only root and closfoldd's own user are heard",
				(unsigned) j->who.uid);
	if (!json_is_object(m) || json_integer_value(json_object_get(m, "v")) != 1 || !json_is_integer(seq) || !from)
		return clf_fail(err, CLF_E_PARSE,
				"message has no v 1, seq or from; is the other side of this version?");
	if (strcmp(from, side_names[!l->env->side]) != 0)
		return clf_fail(err, CLF_E_INSECURE, "message of a '%.16s' where one of a '%s' is due", from,
				side_names[!l->env->side]);
	if (json_integer_value(seq) <= 0 || (uint64_t) json_integer_value(seq) <= l->seq_in)
		return clf_fail(err, CLF_E_INSECURE, "message %" JSON_INTEGER_FORMAT " after message %llu",
				json_integer_value(seq), (unsigned long long) l->seq_in);
	if (*l->session && (!session || strcmp(session, l->session) != 0))
		return clf_fail(err, CLF_E_INSECURE, "message of another session");
	return 0;
}

static int decoded(struct clf_link *l, struct clf_link_job *j, json_t **message, struct clf_auth_who *who,
		   struct clf_error *err)
{
	l->decoding--;
	if (check_message(l, j, err))
		return -1;
	l->seq_in = (uint64_t) json_integer_value(json_object_get(j->doc.root, "seq"));
	if (watch(l, err))
		return -1;
	*message = json_incref(j->doc.root);
	*who = j->who;
	return 1;
}

static int encoded(struct clf_link *l, const struct clf_link_job *j, struct clf_error *err)
{
	l->encoding--;
	if (clf_frames_put(&l->frames, j->text, j->len, err) || clf_frames_write(&l->frames, l->fd, err))
		return -1;
	return watch(l, err);
}

int clf_link_done(struct clf_link *l, struct clf_link_job *j, json_t **message, struct clf_auth_who *who,
		  struct clf_error *err)
{
	if (j->job.late)
		return clf_fail(err, CLF_E_REMOTE, "munged did not answer in time: is it running?");
	if (j->error.code)
		return clf_fail(err, j->error.code, "%s", j->error.text);
	return j->decode ? decoded(l, j, message, who, err) : encoded(l, j, err);
}

int clf_link_send(struct clf_link *l, json_t *m, uint64_t *seq, struct clf_error *err)
{
	char *text;

	if (l->encoding >= CLF_LINK_ENCODING)
		return clf_fail(err, CLF_E_EXHAUSTED, "%u messages wait to be sent already", l->encoding);
	if (json_object_set_new(m, "v", json_integer(1)) ||
	    json_object_set_new(m, "seq", json_integer((json_int_t) l->seq_out + 1)) ||
	    json_object_set_new(m, "from", json_string(side_names[l->env->side])) ||
	    (*l->session && json_object_set_new(m, "session", json_string(l->session))))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	text = clf_json_canonical(m);
	if (!text)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (strlen(text) > CLF_AUTH_PAYLOAD_MAX) {
		clf_fail(err, CLF_E_INVALID, "message of %zu bytes, at most %u can be sent", strlen(text),
			 CLF_AUTH_PAYLOAD_MAX);
		free(text);
		return -1;
	}
	if (put_job(l, false, text, strlen(text), err))
		return -1;
	l->encoding++;
	l->seq_out++;
	if (seq)
		*seq = l->seq_out;
	return 0;
}

int clf_link_nonce(char out[CLF_LINK_SESSION + 1], struct clf_error *err)
{
	unsigned char b[CLF_LINK_SESSION / 2];

	if (getrandom(b, sizeof b, 0) != (ssize_t) sizeof b)
		return clf_fail(err, CLF_E_IO, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof b; i++)
		snprintf(out + 2 * i, 3, "%02x", b[i]);
	return 0;
}
