/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cleanup.h - the one cleanup idiom of the tree, and function attributes.
 *
 * CLF_CLEANUP(clf_topo_destroyp) struct clf_topo *t = NULL;
 * ...
 * *out = CLF_STEAL(t);          last act before return 0
 *
 * Words of ownership used in every header: owned (the caller destroys it),
 * borrowed (valid while X lives), stolen (the callee destroys it, also on
 * failure), copied.
 */
#ifndef CLF_BASE_CLEANUP_H
#define CLF_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define CLF_MUST_USE     __attribute__((warn_unused_result))
#define CLF_PRINTF(f, a) __attribute__((format(printf, f, a)))

#define CLF_CLEANUP(fn) __attribute__((cleanup(fn)))
#define CLF_DEFINE_CLEANUP(type, fn)                                                                                   \
	static inline void fn##p(type **p)                                                                             \
	{                                                                                                              \
		fn(*p);                                                                                                \
	}
#define CLF_STEAL(p)                                                                                                   \
	({                                                                                                             \
		__typeof__(p) clf_p_ = (p);                                                                            \
		(p) = NULL;                                                                                            \
		clf_p_;                                                                                                \
	})

static inline void clf_freep(void *p)
{
	free(*(void **) p);
}

/* For file descriptors; -1 is "none". Keeps errno out of the caller's hands: use after success or failure is known. */
static inline void clf_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define CLF_AUTO_FREE  CLF_CLEANUP(clf_freep)
#define CLF_AUTO_CLOSE CLF_CLEANUP(clf_closep)

#endif
