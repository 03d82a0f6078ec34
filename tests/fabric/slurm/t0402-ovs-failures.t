#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What can go wrong while a flagged job starts, runs or ends on real switches; each with what must come of it.
. "$(dirname "$0")/lib.sh"
export TIMEOUT_MS=1500
OVS_TRUNK=20,100,101,102,103,104,105,106,107 ovs_inside 20
. "$(dirname "$0")/../../slurm/lib.sh"
fabric_begin 8
rest() { wait_for "${1:-20}" at_rest; }
freeze() { kill -STOP "$(ovs_pid "$FAB/ovs" "$1" vsw)"; }
thaw() { kill -CONT "$(ovs_pid "$FAB/ovs" "$1" vsw)"; }
again() { root scontrol update JobId="$1" StartTime=now >/dev/null; root scontrol release "$1" >/dev/null; }
runs() { wait_state "$1" RUNNING "${2:-30}" && wait_for 10 "[ -s $DIR/out/$3 ]"; }
note() { job_line "$1" | grep -oE 'note=.*' | sed 's/ StdErr.*//'; }
rest; ok $? "ports rest"

# F1, F2: a switch that hangs while a job starts
freeze leaf1
j=$(held_job "$DIR/out/f1" 4 -w 'n[3-6]')
wait_for 15 "[ \"\$(field $j Restarts)\" -ge 1 ]"
ok $? "a switch hangs: the job does not start"
like "$(note "$j")" 'leaf1' "and its note names the switch: $(note "$j" | head -c 150)"
[ ! -e "$DIR/out/f1" ]
ok $? "nothing of it ran"
k1=$(lease_json "$j" --all | grep -oE '"key":[0-9]+' | head -1)
like "$(lease_json "$j")" releasing "its lease is in release, not closed"
root scancel "$j" >/dev/null
j=$(held_job "$DIR/out/f1b" 2 -w 'n[7-8]')
runs "$j" 20 f1b
ok $? "a job on the other switch starts meanwhile"
[ "\"key\":$(tag n7)" != "$k1" ]
ok $? "not with the key that the hung switch may still apply"
touch "$DIR/out/f1b.go"
thaw leaf1
rest 25
ok $? "the switch wakes up: all is put to rest: $(all_tags)" || "$CLF_BUILD/closfold" lease list

# cancelled in the prolog while the switch hangs
freeze leaf1
j=$(held_job "$DIR/out/can" 2 -w 'n[1-2]')
wait_for 10 "lease_json $j | grep -q requested"
u scancel "$j"
sleep 0.3
thaw leaf1
rest 25
ok $? "cancelled in the prolog: ports rest, the lease is closed"
[ ! -e "$DIR/out/can" ]
ok $? "it never ran"
nodes_idle 30

# a switch that hangs while a job ends: the key is not given again until it has confirmed
j=$(held_job "$DIR/out/end" 2 -w 'n[1-2]')
runs "$j" 20 end
k=$(tag n1)
freeze leaf1
touch "$DIR/out/end.go"
wait_for 15 "lease_json $j | grep -q releasing"
ok $? "the end is not confirmed: the lease is in release"
sleep 4
like "$(lease_json "$j")" releasing "still"
thaw leaf1
rest 25
ok $? "confirmed: closed, key $k rests"

# closfoldd killed at three moments
j=$(held_job "$DIR/out/kd" 2 -w 'n[5-6]')
runs "$j" 20 kd
k=$(tag n5)
cluster_closfoldd_stop "$DIR" KILL
is "$(tags n5 n6)" "$k $k" "closfoldd killed: a running job keeps its network"
cluster_closfoldd_start "$DIR"
sleep 1.5
is "$(tags n5 n6)" "$k $k" "and its successor leaves it so"
cluster_closfoldd_stop "$DIR" KILL
touch "$DIR/out/kd.go"
wait_for 15 "[ -z \"\$(timeout 5 squeue -h -j $j -t R)\" ]"
cluster_closfoldd_start "$DIR"
rest 40
ok $? "killed over the end of a job: the successor closes its network"
clean; nodes_idle
freeze leaf2
j=$(held_job "$DIR/out/ko" 2 -w 'n[5-6]')
wait_for 10 "lease_json $j | grep -q requested"
cluster_closfoldd_stop "$DIR" KILL
thaw leaf2
cluster_closfoldd_start "$DIR"
wait_for 60 "[ -s $DIR/out/ko ] || { again $j; sleep 2; false; }"
ok $? "killed while a network is opened: the job starts in the end" || job_line "$j"
like "$(tags n5 n6)" '^10[0-7] 10[0-7]$' "in a network of its own: $(tags n5 n6)"
u scancel "$j"
rest 30
ok $? "and all rests"

# slurmctld killed
clean; nodes_idle
j=$(held_job "$DIR/out/ks" 2 -w 'n[1-2]')
runs "$j" 20 ks
k=$(tag n1)
# what slurmctld has not saved is lost with it: that the job runs must be on its disk, and a submission makes it save
h=$(submit -A lab -H --wrap true)
sleep 7
cluster_ctld_stop "$DIR" KILL
cluster_ctld_start "$DIR"
sleep 2
is "$(tags n1 n2)" "$k $k" "slurmctld killed: a running job keeps its network"
touch "$DIR/out/ks.go"
rest 60
ok $? "until it ends"

# F3, F4: the switch's own processes die
clean; nodes_idle
j=$(held_job "$DIR/out/f3" 4 -w 'n[3-6]')
runs "$j" 20 f3
kill "$(ovs_pid "$FAB/ovs" leaf1 db)"
sleep 0.5
j2=$(held_job "$DIR/out/f3b" 2 -w 'n[1-2]')
wait_for 15 "[ \"\$(field $j2 Restarts)\" -ge 1 ]"
ok $? "ovsdb-server away: no start there: $(note "$j2" | head -c 120)"
ovs_start "$FAB/ovs" leaf1 db
wait_for 60 "[ -s $DIR/out/f3b ] || { again $j2; sleep 2; false; }"
ok $? "back: the job starts"
kill -9 "$(ovs_pid "$FAB/ovs" leaf1 vsw)"
ovs_start "$FAB/ovs" leaf1 vsw
touch "$DIR/out/f3.go" "$DIR/out/f3b.go"
rest 40
ok $? "vswitchd killed and started: both networks are closed in the end"

# somebody changes a port by hand
clean; nodes_idle
j=$(held_job "$DIR/out/hand" 2 -w 'n[1-2]')
runs "$j" 20 hand
k=$(tag n1)
ovs_db "$FAB/ovs" leaf1 set port swp3 tag="$k"
wait_for 50 "[ \"\$(tag n3)\" = 20 ]"
ok $? "a stranger that was moved into a job's network is put out of it"
grep -rqs 'finding' "$DIR"/lib/log
ok $? "which is in the log"
ovs_db "$FAB/ovs" leaf1 set port swp1 tag=20
wait_for 50 "[ \"\$(tag n1)\" = $k ]"
ok $? "a member that was moved out is put back"
touch "$DIR/out/hand.go"
rest 30
ok $? "and the end finds all at rest"

# a port that carries every VLAN: isolation would be an illusion
ovs_db "$FAB/ovs" leaf2 add-port br0 tap9 -- set interface tap9 type=internal
root "$CLF_BUILD/closfold" fabric check >"$DIR/out/check"
is $? 1 "closfold fabric check finds a port that carries all VLANs"
like "$(cat "$DIR/out/check")" 'error trunk-all leaf2/tap9' "names it and says what to do" || sed 's/^/# /' "$DIR/out/check"
j=$(held_job "$DIR/out/ill" 2 -w 'n[1-2]')
wait_for 20 "[ \"\$(field $j Restarts)\" -ge 1 ]"
ok $? "no flagged job starts on that fabric"
like "$(note "$j")" 'illusion' "and says why: $(note "$j" | head -c 120)"
ovs_db "$FAB/ovs" leaf2 del-port br0 tap9
root "$CLF_BUILD/closfold" fabric check >"$DIR/out/check"
ok $? "the port is gone: fabric check is content" || sed 's/^/# /' "$DIR/out/check"
wait_for 60 "[ -s $DIR/out/ill ] || { again $j; sleep 2; false; }"
ok $? "and the job starts"
touch "$DIR/out/ill.go"
rest 30

# a node whose link is down is refused before a switch is asked
ip -n "$(ovs_ns "$FAB/ovs" n2)" link set eth0 down
wait_for 20 "\"$CLF_BUILD/closfold\" fabric read --json | tr '{' '\n' | grep '\"n2\"' | grep -q down" || true
sleep 6
j=$(held_job "$DIR/out/f5" 2 -w 'n[1-2]')
wait_for 20 "[ \"\$(field $j Restarts)\" -ge 1 ]"
ok $? "a node without link: no start"
like "$(note "$j")" 'n2|swp2' "and it is named: $(note "$j" | head -c 120)"
ip -n "$(ovs_ns "$FAB/ovs" n2)" link set eth0 up
root scancel "$j" >/dev/null
rest 30
ok $? "ports rest"
root "$CLF_BUILD/closfold" audit verify >/dev/null
ok $? "the log verifies"
finish
