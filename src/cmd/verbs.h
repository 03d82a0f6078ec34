/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs.h - the verbs that exist, one line each; main.c makes its table from it. */
#define CLF_VERBS
