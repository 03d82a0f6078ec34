#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# closfold place: its JSON to the byte, its exit statuses, every refusal.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
fabric='synth:pod:2 leaf:2 node:4'

place() { run closfold place --topo "$fabric" "$@"; }

place --nodes 6 --busy 'n[1-3]' --json
exits 0 'placed'
is "${out%%\"reasons\"*}" '{"count":6,"hops":16,"leaves":2,"nodes":"n[9-14]","objective":"lex","optimal":{"hops":16,"leaves":2,"pods":1,"proven":true},"order":["n9","n10","n11","n12","n13","n14"],"per_leaf":[{"free":0,"leaf":"l3","taken":4},{"free":2,"leaf":"l4","taken":2}],"pods":1,' 'the object'
is "${out##*]}" ',"ring_crossings":{"leaf":2,"pod":0}}' 'its end'
like "$out" '"reasons":\["6 nodes on 2 leaves in 1 pod: ' 'reasons'
is "$err" '' 'nothing on stderr'

place --nodes 1 --json
like "$out" '"hops":0,"leaves":1,"nodes":"n1"' 'one node: no ring'
place --nodes 4 --free 'n[1-16]' --json
like "$out" '"hops":8,"leaves":1,"nodes":"n\[1-4\]"' '4 nodes of a leaf: 4 edges of 2'
place --nodes 16 --json
like "$out" '"hops":44,"leaves":4,' '16 nodes: 2 x 16 + 2 x 4 + 2 x 2'
like "$out" '"ring_crossings":{"leaf":4,"pod":2}' 'crossings'

place --nodes 16 --busy n1 --json
exits 7 'not now'
is "$out" '{"count":0,"reasons":["16 nodes are needed: the largest component has 15 free of 16 nodes"]}' 'and why'
place --nodes 16 --busy n1
exits 7 'not now, as text'
is "$err" 'closfold: not placeable now: 16 nodes are needed: the largest component has 15 free of 16 nodes' 'on stderr'
is "$out" '' 'nothing on stdout'
place --nodes 17 --json
exits 1 'never'
is "$out" '{"count":0,"reasons":["17 nodes can never be placed: the largest component has 16 of 16 nodes"]}' 'and why'
place --nodes 17
exits 1 'never, as text'
like "$err" '^closfold: can never be placed: ' 'on stderr'
place --nodes 6 --max-leaves 1
exits 1 'a limit that no free set could keep'
place --nodes 4 --max-leaves 1 --busy n1,n5,n9,n13
exits 7 'a limit that the free nodes do not keep'
like "$err" 'on no fewer than 2 leaves; at most 1 are allowed' 'says so'
place --nodes 2 --required n1,n16
exits 0 'required nodes'
like "$out" '^nodes   n\[1,16\]$' 'are taken'
place --nodes 2 --required n1 --busy n1
exits 7 'a required node that is busy'
like "$err" "required node 'n1' is not free" 'is named'
place --nodes 1 --required n1,n2
exits 1 'more required than asked for'

printf 'SwitchName=a Nodes=a[1-3]\nSwitchName=b Nodes=b[1-3]\n' >"$work/two.conf"
run closfold place --topo "$work/two.conf" --nodes 4
exits 1 'no job spans two components'
like "$err" 'the largest component has 3 of 3 nodes' 'said'
run closfold place --topo "$work/two.conf" --nodes 2 --required a1,b1
exits 1 'not by force either'

printf 'host,leaf,pod\nz1,leafB,p\nz2,leafA,p\nz3,leafB,p\nz4,leafA,p\n' >"$work/names.csv"
run closfold place --topo "$work/names.csv" --nodes 4 --json
like "$out" '"order":\["z2","z4","z1","z3"\]' 'ranks follow the leaves, not the names'
printf 'host,leaf,pod\nz3,leafB,p\nz4,leafA,p\nz1,leafB,p\nz2,leafA,p\n' >"$work/other.csv"
first=$out
run closfold place --topo "$work/other.csv" --nodes 4 --json
is "$out" "$first" 'the order of lines in the file does not matter'
run closfold topo import --from csv -o "$work/names.json" "$work/names.csv"
run closfold place --topo "$work/names.json" --nodes 4 --json
is "$out" "$first" 'the same from JSON'

# a: 14 nodes on seven leaves of one pod; b and c: 7 on one leaf each
{
	echo host,leaf,pod
	for i in $(seq 14); do echo "a$i,al$(((i + 1) / 2)),a"; done
	for i in $(seq 7); do printf 'b%s,bl,b\nc%s,cl,c\n' "$i" "$i"; done
} >"$work/two-ways.csv"
run closfold place --topo "$work/two-ways.csv" --nodes 14 --json
like "$out" '"leaves":7,.*"objective":"lex".*"pods":1,' 'lex: one pod'
run closfold place --topo "$work/two-ways.csv" --nodes 14 --objective hops --json
like "$out" '"leaves":2,.*"objective":"hops".*"pods":2,' 'hops: two leaves'
for pattern in ring rd tree; do
	place --nodes 8 --pattern "$pattern" --json
	like "$out" '"hops":20,"leaves":2,' "pattern $pattern costs the ring nothing"
done

place --nodes 6 --busy 'n[1-3]' --explain
like "$out" '^why     6 nodes on 2 leaves in 1 pod: no free set is better, proven' 'explained'
like "$out" 'largest job now: 4 nodes in one leaf, 8 in one pod, 13 in all' 'largest job'
like "$out" '^ +0  l3 .*n\[9-12\]' 'rank table'
place --nodes 6
unlike "$out" 'why' 'not explained unless asked'

# wrong command lines
for args in '' '--nodes 0' '--nodes x' '--nodes -1' '--nodes 4294967297' '--nodes 300000' '--nodes 2 --objective best' '--nodes 2 --pattern star' \
	'--nodes 2 --free n1 --busy n2' '--nodes 2 n1' '--nodes 2 --frob' '--nodes' '--nodes 2 --max-leaves 0'; do
	# shellcheck disable=SC2086
	place $args
	exits 2 "usage: '$args'"
done
run closfold place --nodes 2
exits 2 'no topology'
# wrong input
place --nodes 2 --busy 'n1,x[1-2],n3,y'
exits 3 'unknown hosts'
is "$err" "closfold: --busy: 3 of the nodes are not in the topology: 'x[1-2],y'" 'are named'
place --nodes 2 --free 'nope'
exits 3 'one unknown host'
place --nodes 2 --required "$(printf 'a\033b')" --json
exits 3 'a control character in a list'
unlike "$out$err" "$(printf '\033')" 'is not sent to the terminal'
like "$out" '"error":\{"code":"parse"' 'an error object'
place --nodes 2 --busy 'n[1-'
exits 3 'half a list'
place --nodes 2 --busy 'n[1-99999999]'
exits 3 'a list that is too long'
run closfold place --topo "$work/none" --nodes 2
exits 3 'no such file'
: >"$work/empty"
run closfold place --topo "$work/empty" --nodes 2
exits 3 'an empty file'
run closfold place --topo 'synth:pod:2 leaf' --nodes 2
exits 3 'half a description'

run closfold place --help
exits 0 'help'
missing=0
for option in $(grep -o '^\.B[IR]* .*\\-\\-[a-z\\-]*' "$CLF_SRCDIR/docs/man/closfold-place.1" | grep -o '\\-\\-[a-z\\-]*' | tr -d '\\' | sort -u); do
	printf '%s\n' "$out" | grep -q -- "$option" || { missing=1; diag "not in --help: $option"; }
done
for option in $(printf '%s\n' "$out" | grep -o -- '^  --[a-z-]*'); do
	tr -d '\\' <"$CLF_SRCDIR/docs/man/closfold-place.1" | grep -q -- "$option" || { missing=1; diag "not in the man page: $option"; }
done
is "$missing" 0 'the man page and --help name the same options'

# a large fabric: 102,400 nodes, half of them busy
fabric='synth:pod:320 leaf:20 node:16'
place --nodes 1000 --busy "$(seq -s, -f 'n%.0f' 1 7 70000)" --explain --json
exits 0 '102,400 nodes'
like "$out" '"proven":true' 'proven'
done_testing
