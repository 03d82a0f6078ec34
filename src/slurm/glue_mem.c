/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm/glue_mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

extern char *slurm_xstrdup(const char *s);
extern void slurm_xfree(void **item);
extern void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool try_, const char *file, int line,
			     const char *func);

char *clf_slurm_strdup(const char *s)
{
	return s ? slurm_xstrdup(s) : NULL;
}

char *clf_slurm_printf(const char *fmt, ...)
{
	char *out = NULL, probe[1];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(probe, sizeof(probe), fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	slurm_xrecalloc((void **) &out, (size_t) n + 1, 1, true, false, __FILE__, __LINE__, __func__);
	va_start(ap, fmt);
	vsnprintf(out, (size_t) n + 1, fmt, ap);
	va_end(ap);
	return out;
}

void clf_slurm_free(char **s)
{
	slurm_xfree((void **) s);
}

void clf_slurm_replace(char **s, const char *text)
{
	char *copy = clf_slurm_strdup(text); /* first: text may be part of *s */

	slurm_xfree((void **) s);
	*s = copy;
}

void clf_slurm_env_grow(char ***env, uint32_t n)
{
	slurm_xrecalloc((void **) env, (size_t) n + 1, sizeof(char *), true, false, __FILE__, __LINE__, __func__);
}
