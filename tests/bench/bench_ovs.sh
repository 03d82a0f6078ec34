#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench_ovs.sh - how long a sync() of the ovsdb driver takes on real Open vSwitch: two leaves of 64 nodes, one spine, in
# network namespaces (root). From the build tree: bash SRCDIR/tests/bench/bench_ovs.sh [ROUNDS]. Prints one JSON line a case:
# milliseconds from the call to the verified answer, of ROUNDS (20) rounds; cases that lose are in it.
set -u
: "${CLF_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${CLF_BUILDDIR:=$PWD}"
. "$CLF_SRCDIR/tests/fabric/ovs/lib.sh"
rounds=${1:-20}
why=$(ovs_missing)
[ -z "$why" ] || { echo "bench_ovs: $why" >&2; exit 1; }
work=$(mktemp -d /tmp/clf-bench.XXXXXX)
D=$work/fab
trap 'ovs_down "$D"; rm -rf "$work"' EXIT
OVS_NODES=64 ovs_up "$D" || exit 1
ovs_fabrics_file "$D" >"$work/f.json"
drive() { "$CLF_BUILDDIR/tests/fabric/drive" "$work/f.json" eth; }

# milliseconds of the syncs on standard input, and how many tasks were verified, as JSON
sum() { # NAME PORTS WANT_MS
	awk -v name="$1" -v ports="$2" -v want="${3:-0}" '
		/"word":/ { n_task++; if (/"word":"verified"/) n_good++ }
		/"sync":/ { match($0, /"ms":[0-9.]+/); v[n++] = substr($0, RSTART + 5, RLENGTH - 5) + 0 }
		END {
			for (i = 1; i < n; i++) for (j = i; j > 0 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			printf "{\"case\":\"%s\",\"ports\":%d,\"syncs\":%d,\"tasks\":%d,\"verified\":%d,\"min_ms\":%.2f,\"median_ms\":%.2f,\"max_ms\":%.2f%s}\n",
				name, ports, n, n_task, n_good, v[0], v[int(n / 2)], v[n - 1],
				want ? sprintf(",\"wanted_ms\":%d,\"met\":%s", want, v[int(n / 2)] < want ? "true" : "false") : ""
		}'
}
list() { # N: ports, half on each leaf
	local i
	for ((i = 1; i <= ($1 + 1) / 2; i++)); do printf ' leaf1/swp%d' $i; done
	for ((i = 1; i <= $1 / 2; i++)); do printf ' leaf2/swp%d' $i; done
}
cycles() { # N: open and close N ports, one lease
	local i p
	p=$(list "$1")
	echo read
	for ((i = 0; i < rounds; i++)); do printf 'open j%d 100%s\nsync\nclose j%d\nsync\n' $i "$p" $i; done
}
many() { # N: N/2 leases of two ports, all in one sync
	local i r
	echo read
	for ((r = 0; r < rounds; r++)); do
		for ((i = 1; i <= $1 / 2; i++)); do echo "open r$r-$i $((100 + i % 8)) leaf1/swp$i leaf2/swp$i"; done
		echo sync
		for ((i = 1; i <= $1 / 2; i++)); do echo "close r$r-$i"; done
		echo sync
	done
}

for n in 1 2 8 32 128; do
	want=0
	[ $n -ne 8 ] || want=20
	[ $n -ne 128 ] || want=60
	cycles $n | drive | sum "one job, $n port(s), switches already connected" $n $want
done
many 128 | drive | sum "64 jobs of 2 ports in one sync" 128
(for ((i = 0; i < rounds; i++)); do echo sync; done) | drive | sum "nothing to do, 128 ports compared" 128
for ((i = 0; i < rounds; i++)); do printf 'open j 100 leaf1/swp1 leaf2/swp1\nsync\nforget j\n' | drive; printf 'close j\n' >/dev/null; printf 'open j 100 leaf1/swp1 leaf2/swp1\nclose j\nsync\n' | drive >/dev/null; done |
	sum "first sync of a new process: connect, monitor, lock" 2
# losing cases: each is an answer too, and never "verified"
kill -STOP "$(ovs_pid "$D" leaf2 vsw)"
printf 'read\nopen j 100 leaf1/swp1 leaf2/swp1\nsync 2000\n' | drive | sum "ovs-vswitchd of a leaf hangs, 2000 ms allowed" 2
kill -CONT "$(ovs_pid "$D" leaf2 vsw)"
printf 'open j 100 leaf1/swp1 leaf2/swp1\nclose j\nsync\n' | drive >/dev/null
kill -STOP "$(ovs_pid "$D" leaf2 db)"
printf 'read 500\nopen j 100 leaf1/swp1 leaf2/swp1\nsync 2000\n' | drive | sum "ovsdb-server of a leaf hangs, 2000 ms allowed" 2
kill -CONT "$(ovs_pid "$D" leaf2 db)"
kill "$(ovs_pid "$D" leaf2 db)"
sleep 0.5
printf 'read\nopen j 100 leaf1/swp1 leaf2/swp1\nsync 2000\n' | drive | sum "ovsdb-server of a leaf is away" 2
ovs_start "$D" leaf2 db
printf 'open j 100 leaf1/swp1 leaf2/swp1\nsync\n' | drive | sum "first sync after its start" 2
