#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A node dies under a flagged job: its port leaves the job's network without any hook of the node.
. "$(dirname "$0")/lib.sh"
OVS_TRUNK=20,100,101,102,103,104,105,106,107 ovs_inside 20
. "$(dirname "$0")/../../slurm/lib.sh"
fabric_begin 8
wait_for 20 at_rest
j=$(held_job "$DIR/out/nd" 2 -w 'n[5-6]')
wait_for 30 "[ -s $DIR/out/nd ]"
k=$(tag n5)
like "$k $(tag n6)" "^(10[0-7]) \\1$" "a job runs in its network: $k"
cluster_stop_pid "$DIR/spool/slurmd.n5.pid" KILL 5 "$DIR/"
kill "$(cat "$DIR/nodes/n5.pid")"
is "$(tags n5 n6)" "$k $k" "a node is gone: its port stays closed off"
root scontrol update NodeName=n5 State=DOWN Reason=died >/dev/null
wait_for 60 at_rest
ok $? "Slurm gives the node up: every port rests, the lease is closed: $(all_tags)" || "$CLF_BUILD/closfold" lease list
root scancel "$j" >/dev/null
touch "$DIR/out/nd.go"
root "$CLF_BUILD/closfold" fabric verify >"$DIR/out/verify"
ok $? "the switches agree" || sed 's/^/# /' "$DIR/out/verify"
finish
