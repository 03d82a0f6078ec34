/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void clf_log(const struct clf_log *log, enum clf_log_level level, const char *fmt, ...)
{
	int saved = errno;
	char text[1024];
	va_list ap;

	if (!log || !log->emit || level > log->level)
		return;
	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		snprintf(text, sizeof(text), "message could not be formatted");
	va_end(ap);
	clf_printable(text);
	log->emit(log->arg, level, text);
	errno = saved;
}

void clf_log_error(const struct clf_log *log, const struct clf_error *err)
{
	char text[sizeof(err->source) + sizeof(err->text) + 32];

	if (err && err->code != CLF_OK)
		clf_log(log, CLF_LOG_ERROR, "%s", clf_error_string(err, text, sizeof(text)));
}

static void emit_stderr(void *arg, enum clf_log_level level, const char *text)
{
	static const char *const words[] = { "error", "warning", "info", "debug" };

	/* One call, so that lines of two threads do not mix: stdio locks the stream. */
	fprintf(stderr, "closfold: %s: %s\n", words[level <= CLF_LOG_DEBUG ? level : CLF_LOG_DEBUG], text);
}

struct clf_log clf_log_stderr(enum clf_log_level level)
{
	return (struct clf_log){ .emit = emit_stderr, .level = level };
}
