#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# closfoldd dead or hanging: ordinary jobs run at once, flagged ones are refused, do not start, and are held.
. "$(dirname "$0")/lib.sh"
export CLUSTER_CONF='start_timeout_ms = 1500
start_failures = 1'
begin 8
away() { # HOW
	local t
	t=$(date +%s%N)
	is "$(u srun -A lab -N1 true)" "" "$1: an ordinary job runs"
	[ $((($(date +%s%N) - t) / 1000000)) -lt 15000 ]
	ok $? "$1: at once"
	t=$(date +%s%N)
	like "$(submit $FLAGGED -N1 --wrap true)" 'audit log unavailable, retry is safe' "$1: a flagged submission is refused"
	[ $((($(date +%s%N) - t) / 1000000)) -lt 15000 ]
	ok $? "$1: without a long wait"
}
held() { # JOBID HOW WHY
	wait_for 25 "job_line $1 | grep -q 'JobState=PENDING Reason=JobHeldAdmin'"
	like "$(job_line "$1")" 'JobState=PENDING Reason=JobHeldAdmin.*note=no lease within 1500 ms.*'"$3" "$2: does not start and is held, with the reason"
	like "$(u scontrol release "$1")" 'denied' "$2: the user cannot release it"
}
j=$(submit $FLAGGED -N1 -H --wrap true)
k=$(submit $FLAGGED -N1 -H --wrap true)
l=$(submit $FLAGGED -N1 -H --wrap 'sleep 1')
cluster_closfoldd_stop "$DIR" KILL
away dead
u scontrol release "$j" >/dev/null
held "$j" dead "cannot be reached"
cluster_closfoldd_start "$DIR"
kill -STOP "$(cat "$DIR/closfoldd.pid")"
away hanging
u scontrol release "$k" >/dev/null
held "$k" hanging "did not answer"
kill -CONT "$(cat "$DIR/closfoldd.pid")"
u scontrol release "$l" >/dev/null
wait_state "$l" 'RUNNING|COMPLETED'
ok $? "back: flagged jobs start"
# back within the time limit of a start
m=$(submit $FLAGGED -N1 -H --wrap 'sleep 1')
cluster_closfoldd_stop "$DIR" KILL
u scontrol release "$m" >/dev/null
sleep 0.7
cluster_closfoldd_start "$DIR"
wait_state "$m" 'RUNNING|COMPLETED' 15
ok $? "a restart of closfoldd is not seen by the job" || job_line "$m"
# an operator's release starts a new count
root scontrol release "$j" >/dev/null
wait_state "$j" 'RUNNING|COMPLETED' 150
ok $? "an operator's release starts it" || job_line "$j"
cluster_closfoldd_stop "$DIR" KILL
finish
