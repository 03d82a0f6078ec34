# SPDX-License-Identifier: GPL-2.0-or-later
dist_man1_MANS = $(wildcard $(srcdir)/docs/man/*.1)
dist_man5_MANS = $(wildcard $(srcdir)/docs/man/*.5)
dist_man8_MANS = $(wildcard $(srcdir)/docs/man/*.8)
