/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_report.h - is this a report of that node? closfold-node/1, docs/formats/node-report.md.
 *
 * Known members are checked for form and size, each device and NIC once; unknown members are passed over; absent ones
 * are unknown, which is no error. Errors: CLF_E_PARSE. Pure: no I/O.
 */
#ifndef CLF_DAEMON_NODE_REPORT_H
#define CLF_DAEMON_NODE_REPORT_H

#include "base/json.h"

#define CLF_REPORT_FORMAT     "closfold-node/1"
#define CLF_REPORT_PORTS      256u /* entries of "ib", and of "net" */
#define CLF_REPORT_PKEYS      1024u
#define CLF_REPORT_NEIGHBOURS 16u

CLF_MUST_USE int clf_node_report_check(const json_t *report, const char *node, struct clf_error *err);

/* The report without what changes all the time (time, ages, clock): equal ones say the same. Owned; NULL when memory
 * ends. */
json_t *clf_node_report_gist(const json_t *report);

/* "02:00:00:00:00:01", lower case. */
bool clf_mac_valid(const char *mac);

#endif
