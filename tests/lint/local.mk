# SPDX-License-Identifier: GPL-2.0-or-later
# What no compiler checks. Needs git, clang-format, cppcheck, shellcheck; each missing tool is an error, not a pass.
lint: all
	$(srcdir)/tests/lint/run $(abs_builddir) $(abs_srcdir)
.PHONY: lint
EXTRA_DIST += tests/lint/layers.txt tests/lint/check-layers tests/lint/check-exports tests/lint/check-words tests/lint/check-man tests/lint/run
