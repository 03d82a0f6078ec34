#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages that a job needs, and only those that are missing.
#   contrib/ci/deps.sh build|fabric|test     fabric: what the demonstration's fabrics are made of
set -euo pipefail
build=(procps iproute2 hostname build-essential autoconf automake libtool pkg-config dpkg-dev perl libslurm-dev slurm-wlm munge libjansson-dev libcurl4-openssl-dev
	libssl-dev libmunge-dev libibumad-dev libibmad-dev libibnetdisc-dev)
fabric=(opensm ibsim-utils libumad2sim0 infiniband-diags openvswitch-switch ethtool iputils-ping lldpd jq)
tests=("${fabric[@]}" git clang clang-format libclang-rt-14-dev cppcheck shellcheck strace util-linux python3)
want=("${build[@]}")
[ "${1:-build}" = fabric ] && want+=("${fabric[@]}")
[ "${1:-build}" = test ] && want+=("${tests[@]}")

missing=()
for p in "${want[@]}"; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
	printf 'deps: these packages are missing, and only root can install them:\n  apt-get install %s\n' "${missing[*]}" >&2
	exit 1
fi
echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get -q update && apt-get -q -y install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
	tail -20 "$log" >&2
	echo "deps: installing failed; the whole log is in $log" >&2
	exit 1
fi
rm -f "$log"
