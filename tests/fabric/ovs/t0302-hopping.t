#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Frames that root on a node may make up, against every state a port may be in. What closfold writes holds; what others call
# a release does not, and closfold sees that.
. "$(dirname "$0")/test.sh"
OVS_KEYS=100-300 OVS_TRUNK=100,200,300 begin
start_drive
d 'open a 100 leaf1/swp1 leaf1/swp2 leaf2/swp1' 'open b 200 leaf1/swp3 leaf2/swp2' 'sync'
is "$(grep -c '"word":"verified"' <<<"$out")" 2 "jobs a: n1 n2 n5, b: n3 n6"

for to in n2 n5; do hop n1 $to - delivered "access 100, untagged, to $to in 100"; done
for to in n3 n6; do
	for tags in - 200 100,200 0,200; do hop n1 $to $tags dropped "access 100, tags $tags, to $to in 200"; done
done
for to in n2 n5; do
	hop n1 $to 100 dropped "access 100, tagged with its own id, to $to"
	hop n1 $to 0 delivered "access 100, priority tag, to $to"
done
for tags in - 3004 3008 100 200; do
	hop n4 n8 $tags dropped "both in their quarantine, other leaf, tags $tags"
	hop n4 n1 $tags dropped "from quarantine into a job, tags $tags"
done
d 'close b' 'sync'
like "$(of b)" '"word":"verified"' "b ends"
for to in n6 n4 n8; do
	for tags in - 3003 3004 3006 3008 200; do hop n3 $to $tags dropped "released, to $to, tags $tags"; done
done

# what others call a release; n3 is on leaf1, targets in b's vlan are n6 again
d 'open b 200 leaf2/swp2 leaf1/swp4' 'sync'
like "$(of b)" '"word":"verified"' "job b: n6 n4"
bad() { # TEXT PATTERN: closfold must see it, and not open a net beside it
	d 'audit'
	like "$out" "$2" "audit: $1"
	d 'forget b' 'open b 200 leaf2/swp2 leaf1/swp4' 'sync'
	like "$(of b)" '"word":"verified"' "a sync repairs it and verifies"
}
set1() { ovs_db "$D" leaf1 -- --if-exists clear port swp3 tag trunks vlan_mode -- "$@"; }

set1 clear port swp3 trunks
hop n3 n4 200 delivered "naive release (all cleared): tag 200 gets into 200, same leaf"
hop n3 n6 200 delivered "naive release: other leaf"
bad "naive release" '"code":"intruder".*leaf1/swp3'
hop n3 n4 200 dropped "after the repair: dropped"

ovs_db "$D" leaf1 clear port swp3 tag
hop n3 n4 200 dropped "access without tag: tag 200 is dropped"
ovs_db "$D" leaf1 add-port br0 swp99 -- set port swp99 vlan_mode=access 2>/dev/null
set1 set port swp3 vlan_mode=access
ovs_db "$D" leaf1 clear port swp2 tag
hop n3 n2 - delivered "access without tag: two such ports reach each other"
d 'check'
like "$out" '"code":"no-tag","level":"error","subject":"leaf1/swp3"' "check: access without tag is an error"
ovs_db "$D" leaf1 del-port br0 swp99
d 'sync'

set1 set port swp3 tag=100 vlan_mode=native-untagged
hop n3 n4 200 delivered "native-untagged 100 without trunk list: tag 200 gets into 200"
bad "native vlan plus all tagged (R1)" '"code":"intruder".*leaf1/swp3'
hop n3 n4 200 dropped "after the repair: dropped"
set1 set port swp3 tag=100 vlan_mode=native-untagged trunks=100
hop n3 n4 200 dropped "native-untagged 100, trunks 100: tag 200 is dropped"
hop n3 n1 - delivered "(and untagged it is in a's net)"
bad "native-untagged in a job's vlan (R8)" '"code":"intruder".*leaf1/swp3'
hop n3 n1 - dropped "after the repair: dropped"

# a shared quarantine
ovs_db "$D" leaf1 set port swp3 tag=3999 -- set port up1 trunks=100,200,300,3999
ovs_db "$D" spine1 set port dn1 trunks=100,200,300,3999 -- set port dn2 trunks=100,200,300,3999
d 'close b' 'sync'
ovs_db "$D" leaf1 set port swp3 tag=3999 -- set port swp4 tag=3999
ovs_db "$D" leaf2 set port swp4 tag=3999 -- set port up1 trunks=100,200,300,3999
hop n3 n4 - delivered "shared quarantine, same leaf"
hop n3 n8 - delivered "shared quarantine, other leaf"
d 'check'
like "$out" '"code":"shared-quarantine","level":"error"' "check: shared quarantine is an error"
ovs_db "$D" leaf1 set port swp3 protected=true -- set port swp4 protected=true
ovs_db "$D" leaf2 set port swp4 protected=true
hop n3 n4 - dropped "protected shared quarantine, same leaf"
hop n3 n8 - delivered "protected shared quarantine, other leaf"
d 'sync'
hop n3 n8 - dropped "a sync parts them"
finish
