#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# closfold-slurm: what closfoldd knows of Slurm; an answer is whole or no answer.
. "$(dirname "$0")/lib.sh"
begin 8
j=$(submit -A lab -N2 -J 'odd "name"' --wrap 'sleep 30')
wait_state "$j" RUNNING
out=$(query jobs)
like "$out" "\"job_id\":$j," "the job"
like "$out" '"state":"RUNNING"' "its state"
like "$out" '"nodes":"n\[1-2\]"' "its nodes"
like "$out" '"admin_comment":"closfold decision=' "its decision"
is "$(printf '%s\n' "$out" | wc -l)" 1 "one line"
a=$(submit -A lab -a 1-2 -N1 --wrap 'sleep 30')
wait_state "${a}_1" RUNNING
like "$(query jobs)" "\"array_job_id\":$a," "array tasks name their array"
out=$(query nodes)
is "$(printf '%s\n' "$out" | grep -c '"name":"n[1-8]"')" 8 "all nodes"
like "$out" '"state":"(IDLE|ALLOCATED|MIXED)"' "with a state"
cluster_ctld_stop "$DIR"
out=$(timeout 60 env SLURM_CONF="$DIR/slurm.conf" "$CLF_BUILD/closfold-slurm" jobs 2>&1)
is $? 1 "slurmctld away: exit 1"
unlike "$out" '"job_id"' "and no line"
"$CLF_BUILD/closfold-slurm" neither >/dev/null 2>&1
is $? 2 "usage"
finish
