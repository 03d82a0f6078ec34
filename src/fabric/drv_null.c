/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drv_null.c - grants without touching a switch, and says so in every report: for trying closfold out, and for clusters
 * whose network is closed by other means. */
#include <stdio.h>
#include <string.h>

#include "fabric/driver.h"

static int open_null(const struct clf_log *log, void **self, struct clf_error *err)
{
	*self = NULL;
	return 0;
}

static void close_null(void *self)
{
}

static int say(struct clf_fabric_report *out, const char *verb, const struct clf_lease *l, struct clf_error *err)
{
	struct clf_fabric_report r = { .word = "null" };

	snprintf(r.text, sizeof r.text, "null: no wire was programmed");
	if (l) {
		r.steps = json_pack("[o]", json_sprintf("%s lease %s on %u nodes", verb, l->id, l->n_nodes));
		if (!r.steps)
			return clf_fail(err, CLF_E_NOMEM, "out of memory");
	}
	*out = r;
	return 0;
}

static int probe(void *self, int timeout_ms, struct clf_fabric_report *out, struct clf_error *err)
{
	return say(out, "probe", NULL, err);
}

static int read_members(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
			struct clf_error *err)
{
	return say(out, "read", l, err);
}

static int apply(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		 struct clf_error *err)
{
	return say(out, "apply", l, err);
}

static int verify(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		  struct clf_error *err)
{
	return say(out, "verify", l, err);
}

static int release(void *self, const struct clf_lease *l, int timeout_ms, struct clf_fabric_report *out,
		   struct clf_error *err)
{
	return say(out, "release", l, err);
}

const struct clf_driver clf_drv_null = {
	.name = "null",
	.touches_devices = false,
	.open = open_null,
	.close = close_null,
	.probe = probe,
	.read = read_members,
	.apply = apply,
	.verify = verify,
	.release = release,
};
