#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an administrator's mistake makes of isolation: each is a finding with a code and what to do; read() shows it.
. "$(dirname "$0")/test.sh"
begin
start_drive
# TEXT LEVEL CODE SUBJECT, then the commands that break and mend leaf1
finding() {
	local text=$1 want="\"code\":\"$3\",\"level\":\"$2\",\"subject\":\"$4\""
	d 'check'
	like "$out" "$want" "$text"
	like "$(grep -oE "\\{[^{]*$want" <<<"$out")" '"advice":"[^"]+' "$3: says what to do"
}
l1() { ovs_db "$D" leaf1 "$@"; }
d 'check'
unlike "$out" '"level":"(error|warn)"' "a good fabric"
like "$out" '"code":"unmanaged-port","level":"info","subject":"leaf1/br0"' "ports of nobody are told"

l1 clear port swp1 tag vlan_mode
finding "a node's port without any vlan" error trunk-all leaf1/swp1
l1 set port swp1 tag=3001 vlan_mode=native-untagged trunks=3001
finding "a node's port that is no access port" error not-access leaf1/swp1
l1 set port swp1 vlan_mode=access -- clear port swp1 tag trunks
finding "an access port without tag" error no-tag leaf1/swp1
l1 set port swp1 tag=3002
finding "two ports in one quarantine" error shared-quarantine leaf1/swp2
l1 set port swp1 tag=3001
l1 clear port up1 trunks
finding "an uplink that carries all" error quarantine-on-uplink leaf1/up1
l1 set port up1 trunks=100,101,102,103,104,105,106,107,3006
finding "an uplink that carries another leaf's quarantine" error quarantine-on-uplink leaf1/up1
l1 set port up1 trunks=100,101,102,104,105,106,107
finding "a job vlan missing on an uplink" error keys-not-on-uplink leaf1/up1
like "$out" 'does not carry job vlan 103' "says which"
l1 set port up1 trunks=100,101,102,103,104,105,106,107
l1 clear port br0 tag
finding "the bridge's own port carries all" error trunk-all leaf1/br0
l1 set port br0 tag=104
finding "a port of nobody in the job range" error unmanaged-in-range leaf1/br0
l1 set port br0 tag=4000
l1 -- --id=@m create mirror name=spy select_all=true output-vlan=4001 -- set bridge br0 mirrors=@m >/dev/null
finding "a mirror" error mirror leaf1
l1 clear bridge br0 mirrors
l1 --no-wait set-controller br0 tcp:127.0.0.1:1
finding "an OpenFlow controller" warn controller leaf1
l1 --no-wait del-controller br0
l1 --no-wait add-br br1
sed 's/"bridge":"br0",//' "$F" >"$F.any"
l1 --no-wait add-port br1 other
finding_unnamed() {
	stop_drive
	start_drive "$F.any"
	finding "two bridges and none named" error bridge leaf1
	like "$out" '"subject":"leaf1/other"' "then every port counts"
	stop_drive
	start_drive
	d 'check'
	unlike "$out" 'leaf1/other' "with the bridge named only its ports"
}
finding_unnamed
l1 --no-wait del-br br1
l1 del-port br0 swp4
finding "a port of fabrics.json that does not exist" warn port-missing leaf1/swp4
ip -n "$(ovs_ns "$D" leaf1)" link del swp4
l1 --no-wait add-port br0 swp4 -- set port swp4 tag=3004 vlan_mode=access external_ids:closfold-job=old
finding "a marker of nobody" warn foreign-owner leaf1/swp4
l1 remove port swp4 external_ids closfold-job
sleep 0.3
finding "a port whose device is gone" warn no-device leaf1/swp4
ip -n "$(ovs_ns "$D" n3)" link set eth0 down
sleep 0.5
finding "a port without link" info link-down leaf1/swp3
l1 del-port br0 up1
finding "an uplink that does not exist" error uplink-missing leaf1/up1
kill -STOP "$(ovs_pid "$D" leaf2 vsw)"
ovs_db "$D" leaf2 --no-wait set Open_vSwitch . next_cfg=1000
finding "a switch that does not apply" warn not-applied leaf2
kill -CONT "$(ovs_pid "$D" leaf2 vsw)"
kill -9 "$(ovs_pid "$D" spine1 db)"
finding "a switch that does not answer" error unreachable spine1
d 'read'
like "$out" '"error":"switch .spine1.: [^"]*","name":"spine1"' "read says so too"
like "$out" '"nic":"eth0","node":"n5","ofport":[0-9]+,"owner":"","port":"leaf2/swp1","role":"node","trunks":\[\],"vlan":3005' "and what a port is"
sed 's/"bridge":"br0"/"bridge":"br9"/' "$F" >"$F.none"
stop_drive
start_drive "$F.none"
d 'check'
like "$out" "\"code\":\"remote\",\"text\":\"no switch could be read: switch 'leaf1': has no bridge 'br9'" "no switch at all is no answer"
finish
