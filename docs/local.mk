# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += $(wildcard $(srcdir)/docs/man/*.[158])
