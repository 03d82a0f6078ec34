/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decision.c - the texts of a decision, safe for terminals, logs and records. */
#include "engine/subject.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void clf_decision_destroy(struct clf_decision *d)
{
	if (!d)
		return;
	free(d->grant);
	free(d->rule);
	free(d->reason);
	free(d->advice);
	free(d);
}

bool clf_is_word(const char *s)
{
	return s && strnlen(s, CLF_POLICY_WORD_MAX + 1) <= CLF_POLICY_WORD_MAX;
}

const char *clf_safe(const char *s, struct clf_safe *buf)
{
	const size_t max = 40;
	size_t n = 0;

	for (; n < max && s[n]; n++) {
		unsigned char c = (unsigned char) s[n];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			  strchr("._:/@+,-", c);

		buf->s[n] = ok ? (char) c : '?';
	}
	memcpy(buf->s + n, s[n] ? "..." : "", s[n] ? 4 : 1);
	return buf->s;
}

void clf_refuse(struct clf_subject *s, const char *rule, const char *fmt, ...)
{
	va_list ap;

	s->d->rule = strdup(rule);
	va_start(ap, fmt);
	if (vasprintf(&s->d->reason, fmt, ap) < 0)
		s->d->reason = NULL;
	va_end(ap);
}

enum clf_step clf_advise(struct clf_subject *s, const char *fmt, ...)
{
	struct clf_decision *d = s->d;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&d->advice, fmt, ap) < 0)
		d->advice = NULL;
	va_end(ap);
	if (d->rule && d->reason && d->advice)
		return CLF_STEP_REFUSED;
	clf_fail(s->err, CLF_E_NOMEM, "out of memory");
	return CLF_STEP_ERROR;
}

int clf_decision_new_id(char id[33], struct clf_error *err)
{
	unsigned char bytes[16];
	size_t got = 0;

	while (got < sizeof bytes) {
		ssize_t n = getrandom(bytes + got, sizeof bytes - got, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return clf_fail(err, CLF_E_IO, "no random bytes: %s", strerror(errno));
		got += (size_t) n;
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

char *clf_decision_text(const struct clf_decision *d)
{
	const char *advice = d->advice ? d->advice : "";
	char *text;

	if (asprintf(&text, "closfold: %s by %s: %s%s%s", d->allow ? "allowed" : "refused", d->rule, d->reason,
		     *advice ? "\n" : "", advice) < 0)
		return NULL;
	return text;
}
