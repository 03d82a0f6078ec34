# SPDX-License-Identifier: GPL-2.0-or-later
# Real OpenSM on ibsim: lib.sh says what is needed.
EXTRA_DIST += tests/fabric/opensm/lib.sh
