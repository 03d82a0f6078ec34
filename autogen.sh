#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make ./configure from configure.ac. Needs autoconf, automake, libtool, pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p contrib/build-aux
exec autoreconf --install --force
