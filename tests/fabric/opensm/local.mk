# SPDX-License-Identifier: GPL-2.0-or-later
# Real OpenSM on ibsim: lib.sh says what is needed. They skip without closfold-ibwitness, which `all` builds where the libraries are.
EXTRA_DIST += tests/fabric/opensm/lib.sh \
	tests/fabric/opensm/t0401-start-end.t tests/fabric/opensm/t0402-file.t tests/fabric/opensm/t0403-refused.t \
	tests/fabric/opensm/t0404-sm.t tests/fabric/opensm/t0405-links.t tests/fabric/opensm/t0406-strangers.t \
	tests/fabric/opensm/t0407-large.t tests/fabric/opensm/t0408-dump.t
