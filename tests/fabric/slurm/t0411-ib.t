#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A flagged job on real OpenSM: its own PKey in its ports' tables from before its first process to after its last, whatever dies meanwhile.
. "$(dirname "$0")/iblib.sh"
. "$(dirname "$0")/../../slurm/lib.sh"
ib_begin
rest() { wait_for "${1:-20}" ib_at_rest; }
again() { root scontrol update JobId="$1" StartTime=now >/dev/null; root scontrol release "$1" >/dev/null; }
runs() { wait_state "$1" RUNNING "${2:-30}" && wait_for 10 "[ -s $DIR/out/$3 ]"; }
note() { job_line "$1" | grep -oE 'note=.*' | sed 's/ StdErr.*//'; }
rest
ok $? "ports of nodes that reported are in the ordinary partition: $(tables_of n1 n8)"
root "$CLF_BUILD/closfold" fabric check >"$DIR/out/check"
ok $? "fabric check finds no error" || sed 's/^/# /' "$DIR/out/check"
a=$(held_job "$DIR/out/a" 2)
b=$(held_job "$DIR/out/b" 2)
runs "$a" 30 a && runs "$b" 30 b
ok $? "two flagged jobs run" || { job_line "$a"; tail -3 "$DIR/log/closfoldd.log"; }
mapfile -t ha < <(hosts_of_job "$a"); mapfile -t hb < <(hosts_of_job "$b")
ta=$(table "${ha[0]}") tb=$(table "${hb[0]}")
like "$ta $tb" '^81(0[0-9a-f]),7fff 81(0[0-9a-f]),7fff$' "each in a network of its own: $ta, $tb"
[ "$ta" != "$tb" ]
ok $? "not the same"
is "$(tables_of "${ha[@]}")" "$ta $ta" "all ports of the first"
is "$(tables_of "${hb[@]}")" "$tb $tb" "and of the second"
mapfile -t free < <(all_nodes | grep -vxF -f <(printf '%s\n' "${ha[@]}" "${hb[@]}"))
is "$(tables_of "${free[@]}" | tr ' ' '\n' | sort -u)" 8001,7fff "the others are where they were"
is "$(head -1 "$DIR/out/a")" "0 0x0${ta:1:3}" "its steps are told: NCCL_IB_PKEY, UCX_IB_PKEY"
root "$CLF_BUILD/closfold" fabric verify >"$DIR/out/verify"
ok $? "fabric verify has nothing to say" || sed 's/^/# /' "$DIR/out/verify"
root "$CLF_BUILD/closfold" audit query --job "$a" --json >"$DIR/out/evidence"
like "$(grep -oE '"attest":\{[^}]*' "$DIR/out/evidence" | head -1)" '"mismatch":0' "the nodes' own view is in the record"
touch "$DIR/out/a.go" "$DIR/out/b.go"
wait_state "$a" COMPLETED && wait_state "$b" COMPLETED && rest
ok $? "they end, and all ports are ordinary again" || root "$CLF_BUILD/closfold" lease list

# daemons die
j=$(held_job "$DIR/out/k" 2)
runs "$j" 30 k
mapfile -t h < <(hosts_of_job "$j")
t=$(table "${h[0]}")
cluster_closfoldd_stop "$DIR" KILL
is "$(tables_of "${h[@]}")" "$t $t" "closfoldd killed: the network stays"
cluster_closfoldd_start "$DIR"
sleep 2
is "$(tables_of "${h[@]}")" "$t $t" "and under its successor"
# smpquery finds a port by its GUID with OpenSM's help only
lids=$(for n in "${h[@]}"; do on_sim ibaddr -l -G "$(guid "$(host_of "$n")")" | grep -o '0x[0-9a-f]*' | head -1; done)
sm_kill
is "$(for l in $lids; do on_sim smpquery pkeys "$l" 1 | grep -o '0x[0-9a-f]*' | head -1; done | tr '\n' ' ')" "0x${t%%,*} 0x${t%%,*} " "OpenSM killed: the network stays"
j2=$(held_job "$DIR/out/nosm" 2)
wait_for 30 "[ \"\$(field $j2 Restarts)\" -ge 1 ]"
ok $? "without a subnet manager no flagged job starts: $(note "$j2" | head -c 140)"
[ ! -e "$DIR/out/nosm" ]
ok $? "nothing of it ran"
sm_start
is "$(tables_of "${h[@]}")" "$t $t" "back with the file on disk: the network is there still"
wait_for 60 "[ -s $DIR/out/nosm ] || { again $j2; sleep 2; false; }"
ok $? "and the other job starts"
touch "$DIR/out/k.go" "$DIR/out/nosm.go"
rest 40
ok $? "all is ordinary in the end" || root "$CLF_BUILD/closfold" lease list
clean; nodes_idle

# N2: an old file
j=$(held_job "$DIR/out/old" 2)
runs "$j" 30 old
mapfile -t h < <(hosts_of_job "$j")
t=$(table "${h[0]}")
cp "$part" "$DIR/now.conf"
sed "/^closfold_/,\$d" "$DIR/now.conf" >"$part.x"
sm_kill
mv "$part.x" "$part"
sm_start
wait_for 60 "[ \"\$(tables_of ${h[*]})\" = '$t $t' ]"
ok $? "N2: restarted with an old file: put right while the job runs: $(tables_of "${h[@]}")" || { root "$CLF_BUILD/closfold" fabric verify; tail -3 "$DIR/log/closfoldd.log"; }
touch "$DIR/out/old.go"
rest 40
ok $? "and ends well"

# the node disagrees
clean; nodes_idle
touch "$DIR/nodes/n1.forged"
echo 0xffff >"$DIR/nodes/n1.sys/class/infiniband/mlx5_0/ports/1/pkeys/1"
j=$(held_job "$DIR/out/forged" 2 -w 'n[1-2]')
wait_for 30 "[ \"\$(field $j Restarts)\" -ge 1 ]"
ok $? "a node that sees another table than the fabric: no start"
like "$(note "$j")" n1 "it is named: $(note "$j" | head -c 140)"
[ ! -e "$DIR/out/forged" ]
ok $? "nothing ran"
like "$(timeout 5 sinfo -h -n n1 -o %t)" 'idle|mix|alloc' "and no node was drained for it"
rm "$DIR/nodes/n1.forged"
root scancel "$j" >/dev/null
rest 30
ok $? "ports are ordinary"

# an HCA is missing
mv "$DIR/nodes/n2.sys/class/infiniband/mlx5_0" "$DIR/nodes/n2.hca"
sleep 7
j=$(held_job "$DIR/out/hca" 2 -w 'n[2-3]')
wait_for 30 "[ \"\$(field $j Restarts)\" -ge 1 ]"
ok $? "a node that shows no HCA any more: no start"
like "$(note "$j")" n2 "it is named: $(note "$j" | head -c 140)"
is "$(table n2)" 8001,7fff "its port stays in the ordinary partition"
mv "$DIR/nodes/n2.hca" "$DIR/nodes/n2.sys/class/infiniband/mlx5_0"
root scancel "$j" >/dev/null
root "$CLF_BUILD/closfold" audit verify >/dev/null
ok $? "the log verifies"
finish
