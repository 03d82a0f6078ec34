/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_priv.h - what run.c, run_net.c, run_record.c share. */
#ifndef CLF_ENGINE_RUN_PRIV_H
#define CLF_ENGINE_RUN_PRIV_H

#include "engine/run.h"

enum clf_run_what { CLF_RUN_OPENING, CLF_RUN_ATTESTING, CLF_RUN_CLOSING, CLF_RUN_CHECKING };

/* Something begun whose fabrics have not all answered. */
struct clf_run_pending {
	char lease[CLF_LEASE_ID];
	enum clf_run_what what;
	uint32_t waiting;       /* a bit for each fabric that owes an answer */
	struct clf_error error; /* the first */
	char word[32], text[200];
	bool programmed;
	json_t *evidence; /* array, an element a fabric */
};

/* ---- run_record.c */

int64_t clf_run_now(const struct clf_run *r);
json_t *clf_run_lease_detail(const struct clf_lease *l); /* new; NULL when memory ends */
/* detail is stolen; NULL means that memory ended. */
int clf_run_record(struct clf_run *r, const struct clf_lease *l, enum clf_event event, bool ok, const char *code,
		   const char *message, json_t *detail, const char *finding, struct clf_error *err);
/* Evidence as it fits into a record: an array of fabrics and the nodes' own view (NULL: none). New. */
json_t *clf_run_evidence(const struct clf_lease *l, const json_t *fabrics, const json_t *nodes);

/* ---- run_net.c */

/* Give the lease a key and the ports of its nodes on every fabric. -1 with *why: the job is refused for that. */
int clf_run_reserve(struct clf_run *r, struct clf_lease *l, struct clf_error *why);
/* Wait for all its fabrics. */
int clf_run_dispatch(struct clf_run *r, const struct clf_lease *l, enum clf_run_what what, struct clf_error *err);
struct clf_run_pending *clf_run_find(struct clf_run *r, const char *lease, enum clf_run_what what);
void clf_run_drop(struct clf_run *r, struct clf_run_pending *p);

/* ---- run.c */

/* Move a lease towards closed. *done: it is; else it is pending. */
int clf_run_finish(struct clf_run *r, const struct clf_lease *have, const char *reason, bool *done,
		   struct clf_error *err);
int clf_run_close(struct clf_run *r, struct clf_lease *l, const char *word, const char *text, json_t *detail,
		  struct clf_error *err);
int clf_run_grant(struct clf_run *r, struct clf_lease *l, const struct clf_run_pending *p, const json_t *nodes,
		  struct clf_run_result *out, struct clf_error *err);
int clf_run_refuse(struct clf_run *r, struct clf_lease *l, enum clf_code code, const char *rule, const char *text,
		   const char *advice, struct clf_run_result *out, struct clf_error *err);

#endif
