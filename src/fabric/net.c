/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net.c - memory of nets and tasks, and the one form of a finding. */
#include <stdarg.h>
#include <stdio.h>

#include "fabric/driver.h"

void clf_net_done(struct clf_net *n)
{
	clf_strv_done(&n->ports);
}

void clf_net_task_done(struct clf_net_task *t)
{
	json_decref(t->report.detail);
	t->report.detail = NULL;
}

int clf_finding_add(json_t *list, enum clf_finding_level level, const char *code, const char *subject,
		    const char *advice, struct clf_error *err, const char *fmt, ...)
{
	static const char *const names[] = { "info", "warn", "error" };
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s*}", "level", names[level], "code", code,
						  "subject", subject, "text", text, "advice", advice)))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	return 0;
}
