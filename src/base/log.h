/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.h - a log sink is a value: engine and drivers are handed one.
 *
 * Code below engine/ never logs. NULL is a silent sink. Text is escaped by
 * clf_log() (control characters become '?'), so a sink may print it as it is.
 */
#ifndef CLF_BASE_LOG_H
#define CLF_BASE_LOG_H

#include "base/err.h"

enum clf_log_level { CLF_LOG_ERROR, CLF_LOG_WARN, CLF_LOG_INFO, CLF_LOG_DEBUG };

struct clf_log {
	void (*emit)(void *arg, enum clf_log_level level, const char *text);
	void *arg;
	enum clf_log_level level; /* messages above it are dropped */
};

void clf_log(const struct clf_log *log, enum clf_log_level level, const char *fmt, ...) CLF_PRINTF(3, 4);

/* Log an error record once, at the top. */
void clf_log_error(const struct clf_log *log, const struct clf_error *err);

/* A sink that writes "closfold: level: text" lines to stderr. */
struct clf_log clf_log_stderr(enum clf_log_level level);

#endif
