/* SPDX-License-Identifier: GPL-2.0-or-later */
/* finding.h - how much something that was found matters: ERROR means that what is promised does not hold. */
#ifndef CLF_BASE_FINDING_H
#define CLF_BASE_FINDING_H

enum clf_finding_level { CLF_FINDING_INFO, CLF_FINDING_WARN, CLF_FINDING_ERROR };

#endif
