#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No datagram that was sent after "verified" arrives.
. "$(dirname "$0")/test.sh"
begin
mac=$(ip netns exec "$(ovs_ns "$D" n5)" cat /sys/class/net/eth0/address)
ip -n "$(ovs_ns "$D" n1)" neigh replace 10.77.0.5 lladdr "$mac" dev eth0 nud permanent
leak() { # TEXT OPEN CLOSE
	run "$TOOLS/leak" "$DRIVE" "$F" eth "$(ovs_ns "$D" n1)" "$(ovs_ns "$D" n5)" 10.77.0.5 6 "$2" "$3"
	exits 0 "$1: none" && diag "$out"
	is "$(grep -c 'before verified' <<<"$out")" 6 "$1: six rounds"
}
leak "both released" 'open j 100 leaf1/swp1 leaf2/swp1' 'close j'
leak "receiver's leaf only" $'forget a\nforget b\nwant a 100 leaf1/swp1\nopen b 100 leaf2/swp1' 'close b'
start_drive
d 'check'
finish
