/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remote.h - what verbs that ask closfoldd share: which configuration, one question, times for people.
 * Memory: as marked. Errors: those of conf.h and client.h; closfoldd not there is CLF_E_REMOTE. */
#ifndef CLF_CMD_REMOTE_H
#define CLF_CMD_REMOTE_H

#include "policy/conf.h"
#include "wire/client.h"

#define CLF_REMOTE_MS 60000

/* conf NULL: CLOSFOLD_CONF, else CLF_CONF_DEFAULT. *out owned. */
CLF_MUST_USE int clf_remote_conf(const char *conf, struct clf_conf **out, struct clf_error *err);
/* Ask closfoldd; request is stolen, *reply owned. */
CLF_MUST_USE int clf_remote_ask(const struct clf_conf *conf, json_t *request, json_t **reply, struct clf_error *err);
CLF_MUST_USE int clf_remote_client(const struct clf_conf *conf, struct clf_client **out, struct clf_error *err);

/* "2026-12-01 11:38:09 +0530 (06:08:09Z)"; "-" for 0. Returns buf. */
const char *clf_remote_time(int64_t wall_ms, char *buf, size_t size);
/* "3 d 4 h", "12 s" */
const char *clf_remote_span(int64_t ms, char *buf, size_t size);
/* A member that is a string, escaped for a terminal; "-" when absent. Owned. */
char *clf_remote_text(const json_t *j, const char *key);

#endif
