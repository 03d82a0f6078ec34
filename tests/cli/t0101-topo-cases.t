#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/data/<reader>/<case>/: what `closfold topo import` and `show` say of input is in expect. UPDATE=1 rewrites; read the diff.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
cases=0 refused=0
for dir in "$CLF_SRCDIR"/tests/data/*/*/; do
	dir=${dir%/}
	reader=$(basename "$(dirname "$dir")")
	name=$reader/${dir##*/}
	rm -f "$work/out.json"
	file=input
	[ "$reader" = synth ] && file=$(cat "$dir/input") # its FILE is the description itself
	{
		(cd "$dir" && closfold topo import --from "$reader" --all -o "$work/out.json" "$file") 2>&1
		echo "exit status $?"
		if [ -e "$work/out.json" ]; then closfold topo show "$work/out.json" 2>&1; else echo "nothing written"; fi
	} >"$work/got"
	cases=$((cases + 1))
	grep -q '^nothing written' "$work/got" && refused=$((refused + 1))
	[ -z "${UPDATE:-}" ] || cp "$work/got" "$dir/expect"
	if [ -e "$dir/expect" ]; then
		diff -u "$dir/expect" "$work/got" >"$work/diff"
		ok $? "$name" || diag "$(cat "$work/diff")"
	else
		ok 1 "$name has an expect file (UPDATE=1 makes it)"
	fi
	# a refusal says where and leaves nothing
	if grep -q '^nothing written' "$work/got"; then
		like "$(cat "$work/got")" '^closfold: (input|description)(:[0-9]+(:[0-9]+)?)?: .+' "$name: the message names the file"
		unlike "$(cat "$work/got")" '^exit status 0' "$name: exit status is not 0"
	fi
done
[ "$cases" -ge 40 ] && [ "$refused" -ge 15 ]
ok $? "$cases cases, $refused of them refused"
done_testing
