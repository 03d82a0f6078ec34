/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drv_null.c - grants without touching a switch, and says so in every report: for trying closfold out, and for clusters
 * whose network is closed by other means. */
#include <stdio.h>
#include <string.h>

#include "fabric/driver.h"

static int open_null(const struct clf_fabric_conf *conf, const struct clf_log *log, void **self, struct clf_error *err)
{
	*self = NULL;
	return 0;
}

static void close_null(void *self)
{
}

static int ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	return 0;
}

static int sync_null(void *self, const struct clf_want *want, struct clf_net_task *tasks, size_t n, int timeout_ms,
		     struct clf_error *err)
{
	for (size_t i = 0; i < n; i++) {
		tasks[i].error = (struct clf_error){ 0 };
		tasks[i].report = (struct clf_fabric_report){ .word = "null" };
		snprintf(tasks[i].report.text, sizeof tasks[i].report.text, "null: no wire was programmed");
	}
	return 0;
}

static enum clf_attest attest(void *self, const struct clf_net *net, const char *node, const json_t *facts, char *text,
			      size_t size)
{
	snprintf(text, size, "null: no wire was programmed");
	return CLF_ATTEST_UNATTESTED;
}

static int say(json_t **findings, struct clf_error *err)
{
	json_auto_t *list = json_array();

	if (!list || clf_finding_add(list, CLF_FINDING_WARN, "null-driver", "null",
				     "configure a fabric in fabrics.json", err, "the driver null closes no network"))
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	*findings = CLF_STEAL(list);
	return 0;
}

static int audit(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	*findings = json_array();
	return *findings ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}

static int check(void *self, const struct clf_want *want, int timeout_ms, json_t **findings, struct clf_error *err)
{
	return say(findings, err);
}

static int read_null(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	*out = json_pack("{s:[]}", "ports");
	return *out ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}

static int plan(void *self, const struct clf_want *want, int timeout_ms, json_t **out, struct clf_error *err)
{
	*out = json_pack("{s:[]}", "steps");
	return *out ? 0 : clf_fail(err, CLF_E_NOMEM, "out of memory");
}

const struct clf_driver clf_drv_null = {
	.name = "null",
	.touches_devices = false,
	.open = open_null,
	.close = close_null,
	.ports = ports,
	.sync = sync_null,
	.attest = attest,
	.audit = audit,
	.check = check,
	.read = read_null,
	.plan = plan,
};
