#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# closfold topo as a command: usage, exit codes, JSON, what is written where.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
run closfold topo --help
exits 0 "help"
for v in import show check diff export; do like "$out" "topo .*$v" "help names $v"; done
run closfold topo
exits 2 "no verb"
run closfold topo fold x
exits 2 "unknown verb"
run closfold topo import
exits 2 "import without --from"
run closfold topo import --from tarot x
exits 2 "unknown kind"
like "$err" "tarot" "is named"
run closfold topo import --from slurm /nonexistent/t.conf
exits 3 "no such file"
run closfold topo import --from slurm --json /nonexistent/t.conf
like "$out" '^\{"error":\{"code":"notfound"' "as an object with --json"
printf 'SwitchName=a Nodes=n[1-\n' >"$work/bad.conf"
run closfold topo import --from slurm --json -o "$work/o.json" "$work/bad.conf"
exits 3 "a wrong file"
like "$out" '"column":[0-9]+,"file":".*bad.conf","line":1' "with its place"
[ ! -e "$work/o.json" ]
ok $? "nothing is written"
run closfold topo import --from synth --json 'pod:2 leaf:3 node:4 rail:2'
is "$out" '{"components":1,"findings":[],"leaves":6,"levels":3,"links":0,"nodes":24,"pods":2,"rails":2,"source":"synth","switches":15,"unplaced":0}' "the summary"
run closfold topo export --format slurm 'synth:leaf:2 node:2'
is "$(printf '%s\n' "$out" | grep -v '^#' | paste -sd'|')" "SwitchName=l1 Nodes=n[1-2]|SwitchName=l2 Nodes=n[3-4]|SwitchName=top Switches=l[1-2]" "topology.conf"
run closfold topo export --format nodes 'synth:leaf:2 node:2'
is "$out" "n[1-2]
n[3-4]" "node order"
run closfold topo export --format dot 'synth:leaf:2 node:2'
like "$out" '^graph fabric' "dot"
run closfold topo export --format png 'synth:leaf:2 node:2'
exits 2 "unknown format"
run closfold topo show 'synth:leaf:2 node:2'
like "$out" 'l2  2 nodes  n\[3-4\]' "show draws the tree"
run closfold topo check 'synth:leaf:2 node:2'
exits 0 "nothing to find"
run closfold topo diff 'synth:leaf:2 node:2' 'synth:leaf:2 node:3'
exits 1 "differences"
like "$out" "node-added: 'n6'" "are listed"
run closfold topo diff --json 'synth:leaf:2 node:2' 'synth:leaf:2 node:2'
is "$status $out" '0 {"changes":[]}' "none"
# a name with escape sequences never reaches the terminal
printf 'SwitchName=a\033[31m Nodes=n1\n' >"$work/esc.conf"
run closfold topo import --from slurm "$work/esc.conf"
unlike "$out$err" $'\033' "control characters are not echoed"
exits 3 "and refused"
(closfold topo show 'synth:leaf:100 node:100' >/dev/full) 2>/dev/null
is $? 70 "a full disk is not success"
done_testing
