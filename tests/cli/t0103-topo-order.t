#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same cables give the same topology, whatever the order of records; an import and its own JSON are one.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
gen=$CLF_SRCDIR/tests/lib/gen-ibnet
shuffle() { perl -e 'local $/ = ""; srand shift; my @r = <>; for (my $i = @r; $i > 1; $i--) { my $j = int rand $i; @r[$i - 1, $j] = @r[$j, $i - 1] } print @r' "$@"; }
n=0
while read -r args; do
	# shellcheck disable=SC2086
	"$gen" $args >"$work/a.txt"
	run_ok "import: $args" closfold topo import --from ibnetdiscover -o "$work/a.json" "$work/a.txt"
	for seed in 1 2 3; do
		shuffle $seed "$work/a.txt" >"$work/b.txt"
		closfold topo import --from ibnetdiscover -o "$work/b.json" "$work/b.txt" >/dev/null 2>&1
		cmp -s "$work/a.json" "$work/b.json"
		ok $? "records in another order ($seed): the same bytes"
	done
	run_ok "its JSON is read back" closfold topo import --from json -o "$work/c.json" "$work/a.json"
	cmp -s "$work/a.json" "$work/c.json"
	ok $? "and written again, byte for byte"
	closfold topo export --format slurm -o "$work/t.conf" "$work/a.json"
	run closfold topo import --from slurm -o "$work/d.json" "$work/t.conf"
	is "$status" 0 "the exported topology.conf is read back"
	is "$(closfold topo export --format slurm "$work/d.json")" "$(cat "$work/t.conf")" "and says the same"
	# every host once, in one leaf
	is "$(sed -n 's/.* Nodes=//p' "$work/t.conf" | perl -ne 'chomp; while (/([a-z]+)(?:\[([^]]*)\]|(\d+))/g) { my ($p, $l) = ($1, $2 // $3); for (split /,/, $l) { my ($a, $b) = split /-/; print "$p$_\n" for $a .. $b // $a } }' | sort | uniq -d)" "" "no host twice"
	n=$((n + 1))
done <<'A'
--leaves 4 --hosts 4
--pods 3 --leaves 9 --hosts 3 --spines 3
--leaves 3 --hosts 6 --rails 8 --spines 4
--leaves 3 --hosts 6 --rails 8 --spines 4 --dead 2:3 --dead 9:8 --dead 9:7
--pods 2 --leaves 6 --hosts 5 --rails 4 --shuffle 11 --unnamed 4:2 --aggregation
--leaves 1 --hosts 1 --spines 1
--pods 4 --leaves 7 --hosts 2 --spines 1
A
is "$n" 7 "all fabrics"
# one dead rail on one host: the same leaves as without
"$gen" --leaves 3 --hosts 6 --rails 8 --spines 4 >"$work/a.txt"
"$gen" --leaves 3 --hosts 6 --rails 8 --spines 4 --dead 2:3 >"$work/b.txt"
for f in a b; do closfold topo import --from ibnetdiscover -o "$work/$f.json" "$work/$f.txt" >/dev/null; done
is "$(closfold topo export --format slurm "$work/b.json")" "$(closfold topo export --format slurm "$work/a.json")" "one dead rail changes no leaf and no name"
run closfold topo diff "$work/a.json" "$work/b.json"
exits 1 "but diff shows it"
like "$out" "node-rails: 'n2': 8 rails -> 7" "as the host's rails"
is "$(printf '%s\n' "$out" | grep -c node-rails)" 1 "of this host only: the switch is still a rail of its leaf"
like "$out" "link-removed: 'leaf1-rail3-n2" "and as the cable"
# cables plugged into the next leaf: the host stays where most of its cables lead, whichever they are
for stray in "--stray 2:1" "--stray 2:4" "--stray 2:1 --stray 2:2 --stray 2:3" "--stray 2:8 --stray 2:7 --stray 2:6"; do
	# shellcheck disable=SC2086
	"$gen" --leaves 3 --hosts 6 --rails 8 --spines 4 $stray >"$work/s.txt"
	run closfold topo import --from ibnetdiscover --all -o "$work/s.json" "$work/s.txt"
	is "$(closfold topo export --format slurm "$work/s.json")" "$(closfold topo export --format slurm "$work/a.json")" "strays ($stray) move nobody"
	like "$out" "node-split: 'n2'.*stays where most lead" "and are said"
done
run closfold topo diff "$work/a.json" "$work/a.txt"
exits 0 "no difference between an import and its dump"
done_testing
