/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/driver.h"

#include <string.h>

#include "tap.h"

int main(void)
{
	const struct clf_driver *d = clf_driver_find("null");
	CLF_CLEANUP(clf_lease_destroyp) struct clf_lease *l = clf_lease_create(NULL);
	int (*const calls[])(void *, const struct clf_lease *, int, struct clf_fabric_report *,
			     struct clf_error *) = { d->read, d->apply, d->verify, d->release, d->apply, d->release };
	void *self = NULL;

	ok(d && !clf_driver_find("nul") && !clf_driver_find(""), "found by name");
	ok(strstr(clf_driver_names(), "null") != NULL, "named in messages");
	ok(!d->touches_devices, "the null driver touches nothing");
	ok(!d->open(NULL, &self, NULL), "open");
	strcpy(l->id, "L1-1");
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct clf_fabric_report r = { .programmed = true };

		ok(!calls[i](self, l, 100, &r, NULL), "call %zu", i);
		ok(!r.programmed && !strcmp(r.word, "null") && !strcmp(r.text, "null: no wire was programmed"),
		   "says that no wire was programmed");
		ok(json_array_size(r.steps) == 1, "and what it was asked");
		clf_fabric_report_done(&r);
	}
	d->close(self);
	return done_testing();
}
