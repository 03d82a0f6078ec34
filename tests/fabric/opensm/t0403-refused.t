#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What can never become right is refused, and nothing is written: rows H1, H2, H3, H5, H6, L.
. "$(dirname "$0")/lib.sh"
ready
sum=$(sha256sum <"$part")
refused() { # TEXT CODE ERE
	d sync
	is "$(code_of N)" "$2" "$1"
	like "$(text_of N)" "$3" "$1: says why"
	is "$(sha256sum <"$part")" "$sum" "$1: nothing was written"
	d forget N
}
d open N 0x0101 "$(guids 4)0x00000000deadbeef"
refused "H1 a port that is not on the fabric" remote '0x00000000deadbeef.*not on the fabric'
d open N 0x8101 "$(guids 4)"
refused "H3 a key with bit 15" invalid 'outside this fabric'
d open N 0x7fff "$(guids 4)"
refused "H3 the default key" invalid 'outside this fabric'
d open N 0x0200 "$(guids 4)"
refused "a key of another range" invalid 'outside this fabric'
d open N 0x0101 0xZZ
refused "B no GUID" invalid 'is no GUID'
d open N 0x0101 "$(guids 1 4)"
refused "the subnet manager's own port" invalid sm_ports
d open N 0x0101
refused "no port" invalid 'no port'
d want M 0x0102 "$(guids 4 5)"
d open N 0x0101 "$(guids 5 6)"
refused "H5 a port in two networks" invalid "leases 'M' and 'N'|leases 'N' and 'M'"
d forget M

# L: more partitions than the table has entries.
for k in $(seq 1 70); do printf 's%d=0x%04x :\n%s=limited ;\n' "$k" $((0x300 + k)) "$(guid 9)"; done >"$work/include"
drive_stop
conf "\"include\":\"$work/include\""
drive_start
d sync
d open N 0x0101 "$(guids 8 9)"
d sync
is "$(code_of N)" exhausted "L 72 partitions on a port with 64 entries"
like "$(text_of N)" '72 partitions, its table has 64' "L: says how many"
d check
like "$(q '.out[] | select(.level == "error") | .code')" table-full "L: check finds it before"
d forget N
drive_stop

say() { # TEXT MEMBERS ERE: a section that is refused, with its place
	conf "$2"
	like "$("$DRIVE" "$fabrics" ib 2>&1 </dev/null)" "fabrics.json:[0-9]+:[0-9]+: .*$3" "$1"
}
say "an unknown member" '"incluude":"/x"' "incluude.*did you mean 'include'"
say "a relative path" '"include":"x"' 'not an absolute path'
say "a wrong GUID" '"others":["0x12"]' 'must be a port GUID'
say "one port of two nodes" "\"ports\":{\"a\":[\"$(guid 2)\"],\"b\":[\"$(guid 2)\"]}" 'twice'
say "a node without a port" '"ports":{"a":[]}' 'list of port GUIDs'
say "the key of open among the jobs' keys" '"open_key":"0x0101"' 'one of the fabric'
say "no key at all" '"open_key":"0x8001"' 'no PKey'
say "a copy without a program" '"copies":[{"name":"b"}]' publish
say "a program by name alone" '"copies":[{"name":"b","publish":["ssh"]}]' 'not an absolute path'
say "a table of one" '"table_max":1' 'from 2 to'
conf
sed -i 's/"sm_ports":\["[^]]*"\]/"sm_ports":[]/' "$fabrics"
like "$("$DRIVE" "$fabrics" ib 2>&1 </dev/null)" 'subnet manager' "no candidate of the subnet manager"
conf
touch "$part.user_ext"
like "$("$DRIVE" "$fabrics" ib 2>&1 </dev/null)" 'belongs to UFM' "a host of UFM"
rm "$part.user_ext"
conf "\"ports\":{\"n4\":[\"$(guid 4)\"],\"n1\":[\"$(guid 1)\"]}"
drive_start
d ports n4
is "$(q '.out | join(" ")')" "$(guid 4)" "ports of a node from the configuration"
d ports n1
is "$(q .error.code)" denied "a node of the subnet manager runs no flagged job"
finish
