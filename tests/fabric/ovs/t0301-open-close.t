#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A net opens and closes on real switches; what is read back is what frames do. R3 R5 R7 R11 R12 R23.
. "$(dirname "$0")/test.sh"
begin
start_drive
version() {
	ovsdb-client transact "unix:$D/$1/db.sock" \
		'["Open_vSwitch",{"op":"select","table":"Port","where":[["name","==","'"$2"'"]],"columns":["_version"]}]'
}
d 'check'
unlike "$out" '"level":"(error|warn)"' "check: a fabric as it should be"
d 'open j1 100 leaf1/swp1 leaf1/swp2 leaf2/swp1' 'plan'
like "$out" 'leaf1/swp1: vlan 3001.*-> vlan 100 owner .j1' "plan tells the steps"
is "$(port leaf1 swp1 tag)" 3001 "and takes none"
d 'sync'
like "$(of j1)" '"error":null.*"word":"verified"' "three ports on two leaves: verified"
like "$(of j1)" '"leaf1/swp1":\{"after":\{[^}]*"vlan":100\},"before":\{[^}]*"vlan":3001\},"nic":"eth0","node":"n1"' "before and after"
like "$(of j1)" '"leaf1":\{"confirm_us":[0-9]+,"cur_cfg":([0-9]+),"next_cfg":\1,' "the switch's configuration number is applied"
like "$(of j1)" '"programmed":true' "programmed"
unlike "$(of j1)" '[0-9]\.[0-9]' "no number that a record would refuse"
is "$(port leaf1 swp1 external_ids:closfold-job)" j1 "the port is marked with its lease"
hop n1 n2 - delivered "same leaf: they reach each other"
hop n1 n5 - delivered "other leaf: they reach each other"
hop n1 n3 - dropped "a stranger on the same leaf is not reached"
hop n3 n1 - dropped "and does not reach"
hop n6 n5 - dropped "nor one on the other leaf"

d 'audit'
like "$out" '"out":\[\]' "audit: nothing to say"
d 'plan'
like "$out" '"steps":\[\]' "plan: nothing to do"
before=$(version leaf1 swp1)
d 'open j2 101 leaf1/swp3 leaf2/swp2' 'sync'
like "$(of j2)" '"word":"verified"' "a second job"
like "$before" uuid "(a row has a version)"
is "$(version leaf1 swp1)" "$before" "R23: the first job's port was not written"
hop n3 n6 - delivered "second job: delivered"
hop n1 n3 - dropped "between the jobs: dropped"

# a job grows: same lease, one more port (R11)
d 'forget j1' 'open j1 100 leaf1/swp1 leaf1/swp2 leaf2/swp1 leaf2/swp3' 'sync'
like "$(of j1)" '"word":"verified"' "R11: a node is added"
hop n1 n7 - delivered "it is in"
hop n1 n2 - delivered "and the others stayed"

# the wire is changed behind closfold's back; the desired state is the same (R12, R3, R5, R7)
ovs_db "$D" leaf1 set port swp1 tag=101
d 'audit'
like "$out" '"code":"port-differs","level":"error","subject":"leaf1/swp1"' "audit sees a port in another's vlan"
d 'sync'
is "$(port leaf1 swp1 tag)" 100 "R12: a sync without a task puts it right"
ovs_db "$D" leaf1 set port swp1 trunks=200,300
d 'audit'
like "$out" '"code":"port-differs".*"subject":"leaf1/swp1"' "R5: a leftover trunk list of an access port is seen"
d 'sync'
is "$(port leaf1 swp1 trunks)" '[]' "and removed"
ovs_db "$D" leaf1 clear port swp4 tag -- clear port swp4 vlan_mode
d 'audit'
like "$out" '"code":"intruder","level":"error","subject":"leaf1/swp4"' "R7: a cleared port carries every job"
hop n1 n4 - delivered "R7: it hears every job"
is "$("$TOOLS/hop" "$(ovs_ns "$D" n4)" "$(ovs_ns "$D" n1)" 100)" delivered "and a tagged frame of it reaches a job"
d 'sync'
is "$(port leaf1 swp4 tag)/$(port leaf1 swp4 vlan_mode)" 3004/access "R3: put into its quarantine"
hop n4 n1 100 dropped "the tagged frame is dropped"

d 'close j1' 'sync'
like "$(of j1)" '"error":null.*"op":"close".*"word":"verified"' "closed, verified"
is "$(port leaf1 swp1 tag) $(port leaf1 swp1 external_ids)" '3001 {}' "in quarantine, marker gone"
hop n1 n2 - dropped "released nodes do not reach each other"
hop n3 n6 - delivered "the other job runs on"

# job end and start in one sync, the same port
d 'close j2' 'open j3 101 leaf1/swp3 leaf2/swp4' 'sync'
like "$(of j2)" '"word":"verified"' "end and start on one port: the end is verified (the port is in the net that has the key now)"
like "$(of j3)" '"word":"verified"' "and the start"
is "$(port leaf1 swp3 external_ids:closfold-job)" j3 "the marker is the new one's"
hop n3 n8 - delivered "new job: delivered"
hop n3 n6 - dropped "the old job's node is out"

# two nets of one key
d 'open j4 101 leaf1/swp1' 'sync'
like "$(of j4)" '"word":"verified"' "another net of the same key is no intruder"
hop n1 n3 - delivered "and they share it"
d 'close j4' 'sync'
like "$(of j4)" '"word":"verified"' "one of two closes: verified"
is "$(port leaf1 swp1 tag)" 3001 "and its port is out"
hop n1 n3 - dropped "really"

d 'open j5 100 leaf1/swp1 leaf1/swp9' 'sync'
like "$(of j5)" "\"code\":\"notfound\",\"text\":\"port 'leaf1/swp9' is not in fabrics.json" "a port off the allow-list is refused"
is "$(port leaf1 swp1 tag)" 3001 "and nothing is written"
d 'forget j5' 'open j6 200 leaf1/swp1' 'sync'
like "$(of j6)" '"code":"denied","text":"vlan 200 is outside' "so is a vlan off the range"
is "$(port leaf1 swp1 tag)" 3001 "nothing written"
d 'forget j6' 'want a 102 leaf1/swp1' 'open b 103 leaf1/swp1' 'sync'
like "$out" '"code":"invalid","text":"port .leaf1/swp1. is in the nets of' "one port in two nets is refused"
d 'ports n5'
like "$out" '\["leaf2/swp1"\]' "ports of a node"
d 'ports n99'
like "$out" '"notfound"' "none of an unknown one"
finish
