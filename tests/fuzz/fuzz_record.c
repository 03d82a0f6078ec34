/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Surface: a record as a producer sends it, a line of the log as somebody left it. Must hold: no crash; what the
 * scanner takes, jansson takes, and dumps as the same bytes. */
#include <stdint.h>
#include <string.h>

#include "audit/log_private.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLF_AUTO_FREE char *text = malloc(size + 1); /* exact size: reading past the end is seen */
	struct clf_canon c;
	const char *what;

	if (!text)
		return 0;
	memcpy(text, data, size);
	what = clf_auditlog_check_line(text, size, 0,
				       "????????????????????????????????????????????????????????????????",
				       "asha/closfold/ctl0", &c);
	if (what && !*what)
		abort(); /* what is wrong is said */
	if (clf_canon_scan(text, size, &c, NULL))
		return 0;

	json_auto_t *j = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	CLF_AUTO_FREE char *again = j ? clf_json_canonical(j) : NULL;

	if (!again || strlen(again) != size || memcmp(again, text, size) != 0)
		abort();
	return 0;
}
