/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/cmd.h"

int clf_remote_conf(const char *conf, struct clf_conf **out, struct clf_error *err)
{
	const char *path = conf ? conf : getenv("CLOSFOLD_CONF");

	return clf_conf_load(path && *path ? path : CLF_CONF_DEFAULT, out, err);
}

int clf_remote_client(const struct clf_conf *conf, struct clf_client **out, struct clf_error *err)
{
	char path[256];

	if (snprintf(path, sizeof path, "%s/closfoldd.sock", conf->runtime_dir) >= (int) sizeof path)
		return clf_fail(err, CLF_E_INVALID, "runtime_dir is too long for a socket");
	*out = clf_client_create(path, err);
	return *out ? 0 : -1;
}

int clf_remote_ask(const struct clf_conf *conf, json_t *request, json_t **reply, struct clf_error *err)
{
	json_auto_t *own = request;
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = NULL;

	if (!own)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	if (clf_remote_client(conf, &c, err))
		return -1;
	return clf_client_call(c, own, CLF_REMOTE_MS, reply, err);
}

const char *clf_remote_time(int64_t wall_ms, char *buf, size_t size)
{
	time_t t = (time_t) (wall_ms / 1000);
	struct tm local, utc;
	char a[40], b[20];

	if (!wall_ms || !localtime_r(&t, &local) || !gmtime_r(&t, &utc)) {
		snprintf(buf, size, "-");
		return buf;
	}
	strftime(a, sizeof a, "%F %T %z", &local);
	strftime(b, sizeof b, "%TZ", &utc);
	snprintf(buf, size, "%s (%s)", a, b);
	return buf;
}

const char *clf_remote_span(int64_t ms, char *buf, size_t size)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;

	if (s >= 86400)
		snprintf(buf, size, "%" PRId64 " d %" PRId64 " h", s / 86400, s / 3600 % 24);
	else if (s >= 3600)
		snprintf(buf, size, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(buf, size, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else
		snprintf(buf, size, "%" PRId64 " s", s);
	return buf;
}

char *clf_remote_text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return clf_cmd_escape(s && *s ? s : "-");
}
