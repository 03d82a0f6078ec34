#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# No datagram that was sent after "verified" arrives.
. "$(dirname "$0")/test.sh"
begin
mac=$(ip netns exec "$(ovs_ns "$D" n5)" cat /sys/class/net/eth0/address)
ip -n "$(ovs_ns "$D" n1)" neigh replace 10.77.0.5 lladdr "$mac" dev eth0 nud permanent
leak() { # TEXT ROUNDS OPEN CLOSE [BEFORE [HOOK]]
	run "$TOOLS/leak" "$DRIVE" "$F" eth "$(ovs_ns "$D" n1)" "$(ovs_ns "$D" n5)" 10.77.0.5 "${@:2}"
	exits 0 "$1: none" && diag "$out"
	is "$(grep -c 'before verified' <<<"$out")" "$2" "$1: $2 rounds"
}
leak "both released" 6 'open j 100 leaf1/swp1 leaf2/swp1' 'close j'
leak "receiver's leaf only" 6 'open b 100 leaf2/swp1' 'close b' 'want a 100 leaf1/swp1'
pid=$(ovs_pid "$D" leaf2 vsw)
leak "a leaf that lags for half a second" 3 'open c 100 leaf2/swp1' 'close c' 'want a 100 leaf1/swp1' \
	"kill -STOP $pid; (sleep 0.5; kill -CONT $pid) >/dev/null 2>&1 &"
start_drive
d 'check'
finish
