/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: a node's report at closfoldd, and lldpcli's output at a node, which carries what neighbours announce. Must
 * hold: no crash, a refusal has words, and what is read from lldpcli is taken by the check of reports. */
#include <stdint.h>
#include <string.h>

#include "daemon/node_facts.h"
#include "daemon/node_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(char *text)
{
	struct clf_text t = { 0 };
	struct clf_json_doc doc = { 0 };
	struct clf_error err = { 0 };

	if (clf_text_from_string("fuzz", text, &t, NULL) || clf_json_load_text(&t, &doc, NULL))
		return;
	if (clf_node_report_check(doc.root, "n1", &err)) {
		if (!err.code || !*err.text)
			abort();
	} else {
		json_auto_t *gist = clf_node_report_gist(doc.root);

		if (gist && clf_node_report_check(gist, "n1", &err))
			abort();
	}
	clf_json_doc_done(&doc);
}

static void lldp(const char *text)
{
	struct clf_error err = { 0 };
	json_auto_t *all = clf_lldp_parse(text, &err);
	const char *name;
	json_t *list;

	if (!all && !*err.text)
		abort();
	json_object_foreach(all, name, list)
	{
		json_auto_t *r = json_pack("{s:s,s:s,s:[{s:s,s:O}]}", "format", CLF_REPORT_FORMAT, "node", "n1", "net",
					   "name", "eth0", "lldp", list);

		if (clf_node_report_check(r, "n1", &err))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLF_AUTO_FREE char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	report(text);
	lldp(text);
	return 0;
}
