#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Dumps of real fabrics, where they lie beside the source tree: counts that were checked by hand, and leaves that lost cables do not move.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
fabrics=${CLF_SHARED:-$CLF_SRCDIR/../shared}/data/fabrics
[ -d "$fabrics" ] || require shared "no real fabric dumps beside the source tree"
count() { printf '%s' "$out" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
import() { run closfold topo import --from ibnetdiscover --json -o "$work/t.json" "$1"; }
findings() { printf '%s' "$out" | grep -o "\"code\":\"$1\"" | wc -l; }

import "$fabrics/topograph/example.out"
exits 0 "a DGX cluster of two levels"
is "$(count nodes) $(count switches) $(count leaves) $(count pods) $(count components) $(count rails) $(count unplaced)" "122 40 8 1 1 4 0" \
	"122 hosts on 8 leaves of up to 4 rails, in one tree"
is "$(findings ca-unnamed)" 69 "each of the 69 adapters with the firmware's description is named"
is "$(findings host-default-name)" 2 "localhost and ubuntu are pointed at"
is "$(findings bundle-thin)" 6 "six pairs of switches with one cable of two"
cp "$work/t.json" "$work/whole.json"
closfold topo export --format nodes "$work/whole.json" | tr ',' '\n' | wc -l >/dev/null
hosts_of_leaves() { closfold topo export --format slurm "$1" | sed -n 's/.* Nodes=//p' | sort; }
# lose adapters, one in 20: leaves keep their hosts
for seed in 1 2 3; do
	perl -e 'local $/ = ""; srand shift; while (<>) { print unless /^caguid/m && /mlx5_|HCA-/ && rand() < .05 }' $seed "$fabrics/topograph/example.out" |
		perl -e 'local $/; $_ = <>; my %have = map { $_ => 1 } /^(?:Ca|Switch)\s+\d+\s+"([^"]+)"/mg; for (split /^/) { next if /^\[\d+\].*?"([SH]-[0-9a-f]+)"/ && !$have{$1}; print }' >"$work/lost.out"
	import "$work/lost.out"
	exits 0 "one adapter in 20 missing (seed $seed)"
	is "$(count leaves)" 8 "still 8 leaves"
	run closfold topo diff "$work/whole.json" "$work/t.json"
	is "$(printf '%s\n' "$out" | grep -c '^node-moved')" "$(printf '%s\n' "$out" | grep '^node-moved' | grep -c "[-]> 'none'")" "no host moved to another leaf"
done

import "$fabrics/ufm_sdk/ibnetdiscover_director.txt"
exits 0 "a fabric of four directors, in a terminal log that lost its tabs"
is "$(count nodes) $(count switches) $(count components) $(count unplaced)" "280 400 1 0" "280 hosts, 400 switch chips, one component"
is "$(findings ca-unnamed)" 103 "103 adapters name no host"
like "$out" '"code":"lid-unset"[^}]*631 ports' "631 ports without a LID"
import "$fabrics/ufm_sdk/small_topo_file"
is "$status $(count nodes) $(findings link-loop)" "0 5 2" "mixed speeds, loop cables"
import "$fabrics/made/legacy-variants.topo"
is "$status $(count nodes)" "0 2" "old forms of the dump"
import "$fabrics/ibtopotool/1.topo"
is "$(count nodes) $(findings ca-unnamed)" "0 4" "a dump of 2007 in which no adapter names its host: each is said"
run closfold topo check "$work/t.json"
exits 1 "and check says no: nothing could be placed"
rm -f "$work/t.json"
import "$fabrics/topograph/example-bad.out"
exits 3 "a dump that was cut"
like "$err" 'example-bad.out:[0-9]+:[0-9]+: ' "with its place"
[ ! -e "$work/t.json" ]
ok $? "nothing half-read is written"
for f in test.out test2.out test3.out; do
	import "$fabrics/infiniband_exporter/$f"
	is "$status" 3 "$f: the port report is refused"
	like "$err" 'without -p' "and what to do is said"
done
run closfold topo import --from csv --json "$fabrics/../lingjun_topo.csv"
is "$status $(count nodes) $(count leaves) $(count pods)" "0 847 119 3" "the Lingjun table"
done_testing
