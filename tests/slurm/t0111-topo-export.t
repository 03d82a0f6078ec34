#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# topology.conf exported by closfold: slurmctld takes it without a word, sees the same tree, and gives a job the leaves we would.
. "$(dirname "$0")/lib.sh"
t=$(mktemp -d /run/clf-topo.XXXXXX)
"$SRC/tests/lib/gen-ibnet" --pods 2 --leaves 4 --hosts 4 --rails 2 --shuffle 5 --dead 3:1 >"$t/fabric.txt"
"$CLF_BUILD/closfold" topo import --from ibnetdiscover -o "$t/t.json" "$t/fabric.txt" >/dev/null
"$CLF_BUILD/closfold" topo export --format slurm -o "$t/t.conf" "$t/t.json"
export CLUSTER_TOPOLOGY=$t/t.conf CLUSTER_TOPOLOGY_JSON=$t/t.json
begin 16
rm_t() { rm -rf "$t"; cleanup; }
trap rm_t EXIT
is "$(grep -ciE '(error|warning).*(switch|topolog|leaf)|lack of|multiple leaf' "$DIR/log/slurmctld.log")" 0 "no warning about the topology"
is "$(timeout 5 scontrol show topology | grep -o 'SwitchName=[^ ]*' | sort | uniq | paste -sd' ')" \
	"$(grep -o 'SwitchName=[^ ]*' "$t/t.conf" | sort | paste -sd' ')" "the same switches"
for l in leaf1 leaf2 leaf3 leaf4; do
	is "$(timeout 5 scontrol show topology $l | grep -o ' Nodes=[^ ]*' | head -1)" "$(grep "^SwitchName=$l " "$t/t.conf" | grep -o ' Nodes=[^ ]*')" "$l has the same hosts"
done
j=$(submit -A lab -N4 --exclusive --wrap 'sleep 2')
wait_state "$j" RUNNING
is "$("$CLF_BUILD/closfold" place --topo "$t/t.json" --nodes 4 --free "$(field "$j" NodeList)" --json | grep -o '"leaves":1,"nodes"')" '"leaves":1,"nodes"' "four nodes on one leaf"
finish
