#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# closfold policy check and explain, as a user sees them.
. "${CLF_SRCDIR:-.}/tests/lib/shtap.sh"

p=$CLF_SRCDIR/tests/policy/policy.json
job=(--policy "$p" --user asha --account acct-health --partition gpu --at 2026-06-01T00:00:00Z)

run closfold policy check --policy "$CLF_SRCDIR/etc/policy.json.example"
exits 0 "the example is right"
is "$out" "policy small-lab version 1; classes 4, zones 1, rules 2, grants 2" "and without findings"

run closfold policy check --policy "$p" --json --at 2026-06-01T00:00:00Z
exits 2 "options of a job are for explain"

run closfold policy check --policy "$p" --json
exits 0 "warnings are no failure"
like "$out" '^\{"classes":4,"findings":\[.*"grants":8,"id":"cases","rules":5,"version":1,"zones":1\}$' "facts in JSON"
like "$out" '"code":"grant-revoked","level":"info","subject":"G-22"' "a revoked grant is a finding"

echo 'host,leaf,pod
n1,l1,p1
n2,l1,p1' > "$work/topo.csv"
run closfold policy check --policy "$p" --topo "$work/topo.csv"
exits 0 "nodes the topology does not have are a warning"
like "$out" "^warn: zone-unknown-node: zone secure names 6 nodes that the topology does not have, the first is n3$" "it counts them"
echo 'host,leaf,pod
m1,l1,p1' > "$work/other.csv"
run closfold policy check --policy "$p" --topo "$work/other.csv"
exits 1 "a zone without a node is an error"
like "$out" "^error: zone-empty: " "and told"

bad=$CLF_SRCDIR/tests/policy/bad-terms-key/policy.json
run closfold policy check --policy "$bad"
exits 3 "a bad policy"
is "$err" "closfold: $bad:8:62: unknown key 'exclusiv'; did you mean 'exclusive'?" "file, line, column, and what was meant"
is "$out" "" "nothing on stdout"
run closfold policy check --policy "$bad" --json
exits 3 "with JSON the same"
like "$out" '"code":"parse","column":62,.*"line":8' "and an object"
run closfold policy check --policy /nonexistent
exits 3 "no such file"
printf 'policy = %s\n' "$p" > "$work/closfold.conf"
run closfold policy check --conf "$work/closfold.conf"
exits 0 "the policy that closfold.conf names"
CLOSFOLD_CONF=$work/closfold.conf run closfold policy check
exits 0 "or the one of CLOSFOLD_CONF"

run closfold policy explain "${job[@]}" --class personal --nodes 4
exits 1 "refused is 1"
like "$out" "^closfold: refused by grant-missing: class personal needs a grant, and none was given$" "why"
like "$out" "^add --data-grant=ID; grants for account acct-health: G-17, G-18, G-19$" "and what to do"
run closfold policy explain "${job[@]}" --class personal --grant G-17 --nodes 4
exits 0 "allowed is 0"
like "$out" "^rule health-1 \(permit\): speaks of this job$" "which rule speaks"
like "$out" "^rule debug-1 \(forbid\): does not$" "which does not"
run closfold policy explain "${job[@]}" --class personal --grant G-17 --nodes 2-4 --json
exits 0 "the same in JSON"
like "$out" '"allow":true,"class":"personal","flagged":true,"grant":"G-17"' "decision"
like "$out" '"terms":\{"exclude":null,"exclusive":true,"licence":"closfold_key:1","max_nodes":0,"req_switch":0,"switch_wait_s":0,"zone":"secure"\}' "terms"
like "$out" '\{"effect":"permit","id":"health-1","speaks":"yes"\}' "rules"
run closfold policy explain "${job[@]}" --class personal --grant G-17 --at 2027-01-01T00:00:00Z
like "$out" "refused by grant-expired: grant G-17 ended on 2027-01-01T00:00:00Z$" "--at is the time it is judged at"
run closfold policy explain "${job[@]}" --had-class personal --had-grant G-17 --class public
like "$out" "^class personal, flagged; raised by had-class, grant-class, account-floor$" "a modified job does not go down"
run closfold policy explain "${job[@]}" --class $'\e[31m\nx' --grant "\$(id)"
exits 1 "a hostile class"
unlike "$out$err" $'\e' "does not reach the terminal"

for wrong in "--nods 3" "--nodes 0" "--nodes 4-2" "--nodes x" "--at yesterday" "--nodes" "extra"; do
	# shellcheck disable=SC2086
	run closfold policy explain --policy "$p" $wrong
	exits 2 "usage: $wrong"
done
run closfold policy chek
exits 2 "no such word"
run closfold policy
exits 2 "no word"
run closfold policy --help
exits 0 "help"
for o in $(printf '%s\n' "$out" | grep -oE -- '^  --[a-z-]+' | tr -d ' '); do
	grep -q -- "${o//-/\\\\-}" "$CLF_SRCDIR/docs/man/closfold-policy.1"
	ok $? "man page: $o"
done
done_testing
