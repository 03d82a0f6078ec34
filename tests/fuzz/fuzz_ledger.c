/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: a ledger that a disk or somebody damaged, and the list of Slurm's jobs. Must hold: no crash; a lease that
 * was taken is written and taken again. The checksum is put right first, or nothing would get past it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lease/frame.h"
#include "lease/ledger.h"
#include "lease/reconcile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void entry(struct clf_ledger *g, const char *line, size_t len)
{
	char *right = malloc(len + 10);
	struct clf_frame f;
	int n;

	if (!right)
		return;
	n = snprintf(right, 10, "%08x ", clf_crc32c(line, len));
	memcpy(right + n, line, len);
	if (!clf_frame_parse(right, len + (size_t) n, &f, NULL)) {
		json_auto_t *j = json_loadb(f.json, f.len, JSON_REJECT_DUPLICATES, NULL);

		if (j && clf_ledger_apply(g, j, NULL))
			clf_ledger_find(g, "L1-1");
	}
	free(right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLF_AUTO_FREE char *copy = strndup((const char *) data, size);
	struct clf_text t = { 0 };
	struct clf_ledger g = { 0 };
	struct clf_live_jobs jobs = { 0 };

	if (!copy || clf_text_from_string("fuzz", copy, &t, NULL))
		return 0;

	struct clf_lines it = clf_lines_begin(&t);
	const char *line;
	size_t len;

	while (clf_lines_next(&it, &line, &len))
		entry(&g, line, len);
	for (size_t i = 0; i < g.n; i++) {
		json_auto_t *j = clf_lease_to_json(g.leases[i]);
		struct clf_lease *l = NULL;

		if (!j || clf_lease_from_json(j, &l, NULL))
			abort();
		clf_lease_destroy(l);
	}
	if (!clf_live_jobs_parse(&t, &jobs, NULL))
		clf_live_jobs_done(&jobs);
	clf_ledger_done(&g);
	clf_text_done(&t);
	return 0;
}
