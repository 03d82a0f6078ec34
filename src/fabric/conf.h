/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf.h - fabrics.json: the fabrics closfold closes, their keys, and each driver's own section.
 *
 * {"format":"closfold-fabrics/1","fabrics":[{"name":"ib0","driver":"opensm","keys":"0x0100-0x01ff","opensm":{...}}]}
 * Members of a fabric: docs/formats/fabrics.md. Unknown keys, key ranges outside the driver's, a name twice:
 * CLF_E_PARSE with line and column. Memory: load/done; everything is borrowed while the set lives.
 */
#ifndef CLF_FABRIC_CONF_H
#define CLF_FABRIC_CONF_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/json.h"

#define CLF_FABRICS_FORMAT    "closfold-fabrics/1"
#define CLF_FABRICS_MAX       16u
#define CLF_FABRIC_NODES_MAX  (1u << 20)
#define CLF_FABRICS_MAX_BYTES (16u << 20)

/* How much a rung of the verification counts where it is not always to be had. */
enum clf_rung { CLF_RUNG_TRY, CLF_RUNG_REQUIRE, CLF_RUNG_OFF };

struct clf_fabric_conf {
	char name[33], driver[17];
	uint16_t key_min, key_max;
	uint32_t cool_down_s;        /* 60; a key rests this long after its release was verified */
	uint32_t timeout_ms;         /* 8000; one sync() */
	const char *nodes;           /* host expression of the nodes that are on it; NULL = all */
	enum clf_rung attest, probe; /* "try" | "require" | "off" */
	const json_t *env; /* object NAME to value for steps that have not set it, "%k" = key in hex; NULL = the
			      driver's own */
	json_t *section;   /* object named like the driver, or NULL */
	char pointer[80];  /* of the section, for clf_json_fail(doc, ...) */
	const struct clf_json_doc *doc;
};
struct clf_fabrics {
	struct clf_json_doc doc;
	struct clf_fabric_conf v[CLF_FABRICS_MAX];
	size_t n;
};
CLF_MUST_USE int clf_fabrics_load(const char *path, struct clf_fabrics **out, struct clf_error *err);
void clf_fabrics_destroy(struct clf_fabrics *f);
CLF_DEFINE_CLEANUP(struct clf_fabrics, clf_fabrics_destroy)

#endif
