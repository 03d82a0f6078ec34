#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A site with an ordinary network: ports return to it, by way of their quarantine, when no switch has the key any more.
. "$(dirname "$0")/test.sh"
OVS_TRUNK=50,$(seq -s, 100 107) begin 50
start_drive
is "$(port leaf1 swp1 tag)" 3001 "at first a port is where the switch has it: in quarantine"
d 'plan'
like "$out" 'leaf1/swp1: vlan 3001.* -> vlan 3001, then 50' "plan: into the ordinary network"
d 'sync'
is "$(port leaf1 swp1 tag)/$(port leaf2 swp4 tag)" 50/50 "a sync lets all idle ports into it"
hop n1 n8 - delivered "they reach each other there"
d 'check'
unlike "$out" '"level":"(error|warn)"' "check is content"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "a job leaves it"
hop n1 n5 - delivered "its nodes reach each other"
hop n1 n2 - dropped "and nobody else"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "released"
is "$(port leaf1 swp1 tag)/$(port leaf2 swp1 tag)" 50/50 "back in the ordinary network"
hop n1 n2 - delivered "really"

d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
kill -STOP "$(ovs_pid "$D" leaf2 vsw)"
d 'close j' 'sync 1000'
like "$(of j)" '"code":"timeout"' "one leaf hangs: not released"
is "$(port leaf1 swp1 tag)" 3001 "the other's port waits in quarantine"
hop n1 n2 - dropped "it meets nobody"
d 'sync 1000'
is "$(port leaf1 swp1 tag)" 3001 "and still waits after the next sync"
d 'open k 101 leaf1/swp2' 'close k' 'sync 1000'
like "$(of k)" '"op":"close".*"word":"verified"' "(a release on the leaf that works)"
is "$(port leaf1 swp2 tag)" 50 "that one may go on"
is "$(port leaf1 swp1 tag)" 3001 "the first waits"
kill -CONT "$(ovs_pid "$D" leaf2 vsw)"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'close j' 'sync'
like "$(of j | tail -1)" '"word":"verified"' "it wakes up: released"
is "$(port leaf1 swp1 tag)/$(port leaf2 swp1 tag)" 50/50 "both go on"

# the switch's own trace of a release: quarantine first
d 'open j 100 leaf1/swp1 leaf1/swp2' 'sync'
ovsdb-client monitor "unix:$D/leaf1/db.sock" Open_vSwitch Port tag >"$work/trace" 2>&1 &
echo $! >"$work/trace.pid"
sleep 0.3
d 'close j' 'sync'
sleep 0.3
is "$(awk '/ new / {print $NF}' "$work/trace" | sort | uniq -c | tr -s ' \n' ' ')" " 1 3001 1 3002 2 50 " "by way of quarantine" ||
	diag "$(cat "$work/trace")"

# an OPEN that fails does not let its ports into the ordinary network either, before its CLOSE is verified
ip -n "$(ovs_ns "$D" n5)" link set eth0 down
sleep 0.2
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" 'has no link' "a start fails"
is "$(port leaf1 swp1 tag)" 3001 "its ports are in quarantine"
d 'close j' 'sync'
is "$(port leaf1 swp1 tag)" 50 "and go on with the verified release"
finish
