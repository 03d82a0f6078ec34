#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Switches that hang, die, lose a device or a link: the answer is never "verified", always within the time, and says where.
# F1-F7, F9; R1 R4 R9 R13 R16 R21 R24.
. "$(dirname "$0")/test.sh"
begin
sed 's/"ports":\[{"port":"swp1","node":"n1"/"ports":[{"port":"ghost","node":"n0","nic":"eth0","quarantine":3050},{"port":"swp1","node":"n1"/' "$F" >"$F.2"
mv "$F.2" "$F"
start_drive
took() { sed -n 's/.*"ms":\([0-9]*\).*"sync".*/\1/p' <<<"$out"; }
within() { # MS TEXT
	[ "$(took)" -le "$1" ]
	ok $? "$2: answered after $(took) ms" || diag "$out"
}
stop() { kill -STOP "$(ovs_pid "$D" "$1" "$2")"; }
cont() { kill -CONT "$(ovs_pid "$D" "$1" "$2")"; }

diag "F1, F2: forwarding process of one leaf hangs"
stop leaf2 vsw
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 1500'
like "$(of j)" '"code":"timeout","text":"switch .leaf2.: ovs-vswitchd is at configuration' "F1: not verified, the text names the switch (R9, R16)"
like "$(of j)" '"word":"timeout"' "word"
within 1800 "R13"
like "$(of j)" '"leaf2":\{[^}]*"undo":"written"' "the rest was written there too"
is "$(port leaf2 swp1 tag) $(port leaf2 swp1 external_ids)" "3005 {}" "what it finds when it wakes up is its quarantine"
is "$(port leaf1 swp1 tag)" 3001 "the other leaf was taken back"
d 'close j' 'sync 1000'
like "$(of j)" '"code":"timeout"' "F2: a release is not verified while it hangs, whatever the database says"
cont leaf2 vsw
d 'open j 100 leaf1/swp1 leaf2/swp1' 'close j' 'sync'
like "$(of j | tail -1)" '"op":"close".*"word":"verified"' "it wakes up: verified"
d 'open k 100 leaf1/swp1 leaf2/swp2' 'sync'
like "$(of k)" '"word":"verified"' "the key is used again"
hop n1 n6 - delivered "by the new net"
hop n1 n5 - dropped "and the old intent is nowhere"
d 'close k' 'sync'

diag "the same with a job that runs"
d 'open j 100 leaf1/swp1 leaf2/swp1 leaf2/swp2' 'sync'
like "$(of j)" '"word":"verified"' "runs"
stop leaf2 vsw
d 'close j' 'sync 1000'
like "$(of j)" '"code":"timeout"' "R4: not released while a switch hangs"
is "$(port leaf1 swp1 tag)" 3001 "the leaf that works has let go"
d 'open other 101 leaf1/swp2' 'sync 1000'
like "$(of other)" '"word":"verified"' "a job on the other one starts: no switch can still carry its key"
is "$(port leaf1 swp2 tag)" 101 "in its network"
d 'close other' 'sync 1000'
like "$(of other)" '"word":"verified"' "that one is released: no port of it is on the hung switch"
cont leaf2 vsw
d 'open j 100 leaf1/swp1 leaf2/swp1 leaf2/swp2' 'close j' 'sync'
like "$(of j | tail -1)" '"op":"close".*"word":"verified"' "released when it wakes up"
hop n5 n6 - dropped "really"

diag "a port that was in the way, on a switch that hangs"
ovs_db "$D" leaf2 set port swp3 tag=101
stop leaf2 vsw
d 'sync 800'
is "$(port leaf2 swp3 tag)" 3007 "the database has it out of the way"
d 'open other 101 leaf1/swp2' 'open more 102 leaf1/swp3' 'sync 1000'
like "$(of other)" "\"code\":\"conflict\",\"text\":\"port 'leaf2/swp3' may still carry vlan 101" "the switch has not: that vlan is not given"
like "$(of more)" '"word":"verified"' "another is"
cont leaf2 vsw
d 'close other' 'close more' 'sync'
d 'open j 101 leaf2/swp1' 'close j' 'open other 101 leaf1/swp2' 'sync'
like "$(of other)" '"word":"verified"' "when it has, it is"
d 'close other' 'sync'

diag "database server hangs"
stop leaf2 db
d 'open other 101 leaf1/swp2' 'sync 1500'
like "$(of other)" '"code":"timeout".*nobody can tell that none of its ports has vlan 101' "no start while a switch cannot be asked what it has"
is "$(port leaf1 swp2 tag)" 3002 "and its port is back"
d 'close other' 'sync 1500'
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 1500'
like "$(of j)" '"code":"timeout","text":"switch .leaf2.: no answer' "database server hangs: timeout"
within 1800 "R13"
is "$(port leaf1 swp1 tag)" 3001 "nothing was begun elsewhere"
d 'close j' 'sync 1000'
like "$(of j)" '"code":"timeout"' "no release either"
within 1300 "R13"
cont leaf2 db
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "it wakes up: verified"
d 'close j' 'sync'

diag "F3: database server dies"
kill -9 "$(ovs_pid "$D" leaf2 db)"; sleep 0.2
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 3000'
like "$(of j)" "\"code\":\"remote\",\"text\":\"switch 'leaf2': cannot connect" "F3: unreachable"
like "$(of j)" '"word":"unreachable"' "word"
d 'audit'
like "$out" '"code":"unreachable","level":"error","subject":"leaf2"' "audit says so"
d 'close j' 'sync 3000'
like "$(of j)" '"code":"remote"' "no release is verified"
ovs_start "$D" leaf2 db
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "F3: back again, verified within the usual time"
hop n1 n5 - delivered "frames pass"

diag "F4: forwarding process dies"
kill -9 "$(ovs_pid "$D" leaf2 vsw)"
d 'close j' 'sync 1000'
like "$(of j)" '"code":"timeout"' "F4: not verified while it is away"
is "$(port leaf2 swp1 tag)" 3005 "the change is stored"
ovs_start "$D" leaf2 vsw
d 'open k 100 leaf1/swp1 leaf2/swp2' 'close k' 'open j 100 leaf1/swp1 leaf2/swp1' 'close j' 'sync'
is "$(grep -c '"op":"close".*"word":"verified"' <<<"$out")" 2 "F4: verified after the start"
hop n1 n5 - dropped "what was stored is what it does"

diag "R1: a switch comes back with something else"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
kill "$(ovs_pid "$D" leaf2 vsw)"; kill -9 "$(ovs_pid "$D" leaf2 db)"; sleep 0.3
ovs_start "$D" leaf2 db
ovs_db "$D" leaf2 --no-wait set port swp1 tag=101 vlan_mode=native-untagged -- clear port swp2 tag vlan_mode
ovs_start "$D" leaf2 vsw
d 'audit'
like "$out" '"code":"port-differs","level":"error","subject":"leaf2/swp1"' "R1: every port is compared again"
like "$out" '"code":"intruder","level":"error","subject":"leaf2/swp2"' "and one that is no job's"
d 'forget j' 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "and put right"
is "$(port leaf2 swp1 tag)/$(port leaf2 swp1 vlan_mode) $(port leaf2 swp2 tag)" "100/access 3006" "both"
d 'close j' 'sync'

diag "a database from a backup: cur_cfg ahead of next_cfg"
stop leaf2 vsw
ovsdb-client transact "unix:$D/leaf2/db.sock" \
	'["Open_vSwitch",{"op":"update","table":"Open_vSwitch","where":[],"row":{"cur_cfg":100000}}]' >/dev/null
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 1000'
like "$(of j)" '"code":"timeout"' "an old number proves nothing"
cont leaf2 vsw
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "a new one does"

diag "F5: no link"
ip -n "$(ovs_ns "$D" n5)" link set eth0 down; sleep 0.2
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" "\"code\":\"conflict\",\"text\":\"port 'leaf2/swp1' has no link" "F5: link down: not ready, the text names the port"
is "$(port leaf1 swp1 tag)/$(port leaf2 swp1 tag)" 3001/3005 "taken back"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "a release needs no link"
ip -n "$(ovs_ns "$D" n5)" link set eth0 up; sleep 0.2

diag "F6: no device"
d 'open j 100 leaf1/ghost leaf1/swp1' 'sync'
like "$(of j)" "port 'leaf1/ghost' does not exist on the switch" "F6: no such port"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "a port that is not there has no key"
ovs_db "$D" leaf1 --no-wait add-port br0 ghost -- set port ghost tag=3050 vlan_mode=access
d 'open j 100 leaf1/ghost leaf1/swp1' 'sync'
like "$(of j)" "port 'leaf1/ghost' has no device: could not open network device ghost" "F6: a row without a device (R21)"
is "$(port leaf1 swp1 tag)" 3001 "taken back"
d 'close j' 'sync'
ovs_db "$D" leaf1 --no-wait del-port br0 ghost

diag "F7: vlan missing on a link between switches"
ovs_db "$D" spine1 remove port dn2 trunks 100
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" "vlan 100: uplink 'spine1/dn2' does not carry the vlan" "F7: says uplink, and which"
d 'close j' 'open j2 100 leaf1/swp1 leaf1/swp2' 'sync'
like "$(of j2)" '"word":"verified"' "nodes of one leaf do not need it"
hop n1 n2 - delivered "and reach each other"
ovs_db "$D" spine1 add port dn2 trunks 100
d 'close j2' 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"error":null.*"word":"verified"' "added again: verified"
ip -n "$(ovs_ns "$D" leaf2)" link set up1 down; sleep 0.2
d 'close j' 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j | tail -1)" "no uplink of switch 'leaf2' is up" "uplink down: says so"
ip -n "$(ovs_ns "$D" leaf2)" link set up1 up
d 'close j' 'sync'

diag "R24, and ports of others"
ovs_db "$D" leaf2 set port br0 tag=100
d 'open j 100 leaf1/swp1 leaf1/swp2' 'sync'
like "$(of j)" "port 'leaf2/br0' carries vlan 100 too" "an unmanaged port in the key: refused, on whatever switch"
is "$(port leaf1 swp1 tag)" 3001 "taken back"
ovs_db "$D" leaf2 set port br0 tag=4000
d 'close j' 'sync'

diag "a port that is gone and back under another name"
d 'open j 100 leaf1/swp1 leaf2/swp4' 'sync'
ovs_db "$D" leaf2 del-port br0 swp4 -- add-port br0 extra -- set port extra tag=100 -- set interface extra type=internal
d 'close j' 'sync'
like "$(of j)" "\"code\":\"conflict\",\"text\":\"port 'leaf2/swp4' still carries vlan 100: 'extra'" "is not released"
ovs_db "$D" leaf2 del-port br0 extra
stop leaf2 vsw
d 'open j 100 leaf1/swp1 leaf2/swp4' 'close j' 'sync 1000'
like "$(of j | tail -1)" '"op":"close".*"code":"timeout"|"code":"timeout".*"op":"close"' "not while the switch may still forward for it"
cont leaf2 vsw
d 'open j 100 leaf1/swp1 leaf2/swp4' 'close j' 'sync'
like "$(of j | tail -1)" '"op":"close".*"word":"verified"' "and is when that one is gone too"
finish
