#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Leases and jobs: end, cancel, cancel during the prolog, requeue, kill -9 of either daemon, orphans.
. "$(dirname "$0")/lib.sh"
export CLUSTER_CONF='start_timeout_ms = 20000
reconcile_s = 1
lease_grace_s = 1'
begin 8
lease_of() { job_line "$1" | grep -oE 'lease=[^ ;]+' | cut -d= -f2; }
closed() { wait_for 15 "grep -raqE '(net.release|job.end).*$1|$1.*(net.release|job.end)' $DIR/lib/log || grep -raq '\"id\":\"$1\",[^}]*\"state\":\"closed\"' $DIR/lib"; }
j=$(submit $FLAGGED -N1 --wrap 'sleep 2')
wait_state "$j" RUNNING
l=$(lease_of "$j")
like "$l" '^L' "a running job has a lease"
wait_state "$j" COMPLETED
closed "$l"
ok $? "its end closes it"
j=$(submit $FLAGGED -N1 --wrap 'sleep 100')
wait_state "$j" RUNNING
l=$(lease_of "$j")
u scancel "$j"
closed "$l"
ok $? "scancel closes it"
# cancelled while closfoldd is thinking
j=$(submit $FLAGGED -N1 -H --wrap "touch $DIR/out/ran")
kill -STOP "$(cat "$DIR/closfoldd.pid")"
u scontrol release "$j"
wait_state "$j" CONFIGURING 3 || sleep 1.5
u scancel "$j"
sleep 0.5
kill -CONT "$(cat "$DIR/closfoldd.pid")"
wait_for 20 "[ \$(timeout 5 sinfo -h -p main -t idle -o %D) = 8 ]"
ok $? "cancelled during the prolog: the nodes come back" || sinfo
[ ! -e "$DIR/out/ran" ]
ok $? "it has not run"
like "$(field "$j" JobState)" 'CANCELLED|^$' "and is not queued again" || job_line "$j"
# requeue: another run, another lease
j=$(submit $FLAGGED -N1 --requeue --wrap 'sleep 100')
wait_state "$j" RUNNING
l=$(lease_of "$j")
root scontrol requeue "$j"
closed "$l"
ok $? "requeue closes the lease of the first run"
u scancel "$j"
clean
# closfoldd dies while a job runs
j=$(submit $FLAGGED -N1 --wrap 'sleep 3')
wait_state "$j" RUNNING
l=$(lease_of "$j")
cluster_closfoldd_stop "$DIR" KILL
wait_state "$j" COMPLETED
cluster_closfoldd_start "$DIR"
closed "$l"
ok $? "closfoldd killed: the lease of a job that ended meanwhile is closed"
# slurmctld dies in the prolog
j=$(submit $FLAGGED -N1 -H --wrap 'sleep 2')
kill -STOP "$(cat "$DIR/closfoldd.pid")"
u scontrol release "$j"
sleep 1.5
cluster_ctld_stop "$DIR" KILL
kill -CONT "$(cat "$DIR/closfoldd.pid")"
cluster_ctld_start "$DIR"
u scontrol release "$j" >/dev/null # what slurmctld had not saved yet is lost with it, the first release too
wait_state "$j" 'RUNNING|COMPLETED' 40
ok $? "slurmctld killed in the prolog: the job starts after the restart" || job_line "$j"
is "$(job_line "$j" | grep -o 'lease=' | wc -l)" 1 "with one lease"
is "$(timeout 5 scontrol -o show job "$j" | grep -c JobId)" 1 "one job"
wait_state "$j" COMPLETED 20
# slurmctld dies while the job runs, and its state with it: an orphan
j=$(submit $FLAGGED -N1 --wrap 'sleep 60')
wait_state "$j" RUNNING
l=$(lease_of "$j")
cluster_ctld_stop "$DIR" KILL
rm -f "$DIR"/state/job_state*
cluster_ctld_start "$DIR"
closed "$l"
ok $? "a lease without a job is found and closed"
finish
