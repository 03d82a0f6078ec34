#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shapes of jobs: het jobs share a network, array tasks have one each, more jobs than keys wait; srun and salloc.
. "$(dirname "$0")/lib.sh"
export OVS_KEYS=100-102 CLUSTER_LICENSES=closfold_key:9
OVS_TRUNK=20,100,101,102 ovs_inside 20
. "$(dirname "$0")/../../slurm/lib.sh"
fabric_begin 8
wait_for 20 at_rest
ok $? "ports rest"

# het
out=$DIR/out/het
h=$(u sbatch --parsable -o "$DIR/out/%j.out" $FLAGGED -N2 -w 'n[1-2]' : $FLAGGED -N2 -w 'n[5-6]' --wrap "echo >>$out; while [ ! -e $out.go ]; do sleep 0.05; done")
wait_for 40 "[ -s $out ]"
ok $? "a het job runs: $h" || { job_line "$h"; squeue; }
t=$(tags n1 n2 n5 n6)
like "$t" '^(10[0-2])( \1){3}$' "its components share one network: $t"
is "$(hop n1 n5)" delivered "a frame between components arrives"
is "$(hop n1 n3)" dropped "none to a stranger"
leases=$("$CLF_BUILD/closfold" lease list | grep -c granted)
is "$leases" 2 "a lease a component"
touch "$out.go"
wait_for 40 at_rest
ok $? "and it is closed with the last of them"

# array: one each, and no more than there are keys
clean; nodes_idle
out=$DIR/out/arr
a=$(submit $FLAGGED -N1 --array=1-4 --requeue --wrap "echo >>$out.\$SLURM_ARRAY_TASK_ID; while [ ! -e $out.go ]; do sleep 0.05; done")
wait_for 40 "[ \$(ls $out.[1-4] 2>/dev/null | wc -l) = 3 ]"
ok $? "three of four array tasks run on three keys"
sleep 2
is "$(ls "$out".[1-4] 2>/dev/null | wc -l)" 3 "the fourth does not"
is "$(all_tags | tr ' ' '\n' | grep -c '^10[0-2]$')" 3 "three ports are in networks of their own"
is "$(all_tags | tr ' ' '\n' | grep '^10[0-2]$' | sort -u | wc -l)" 3 "each in its own"
like "$(timeout 5 scontrol show job "$a" | grep -o 'note=no key[^,]*' | head -1)" 'no key of fabric .eth. is free: 3 of 3 in use' "and is told why"
unlike "$(timeout 5 squeue -h -o '%t %r')" 'JobHeld' "it is not held for it"
like "$("$CLF_BUILD/closfold" status)" 'eth \(ovsdb\): 3 of 3 keys in use' "status says so"
touch "$out.go"
wait_for 30 at_rest
for _ in $(seq 100); do
	[ "$(ls "$out".[1-4] 2>/dev/null | wc -l)" = 4 ] && break
	for j in $(timeout 5 squeue -h -t PD -o %i); do root scontrol update JobId="$j" StartTime=now >/dev/null; done
	sleep 1
done
is "$(ls "$out".[1-4] 2>/dev/null | wc -l)" 4 "with a key free it runs too"
wait_for 30 at_rest

# interactive
clean; nodes_idle
like "$(u srun $FLAGGED -N2 -w 'n[3-4]' sh -c 'echo rank $SLURM_PROCID $NCCL_SOCKET_IFNAME $UCX_NET_DEVICES')" 'rank 1 =eth0 eth0' "srun gets a network, its steps the interface"
wait_for 30 at_rest
like "$(NCCL_SOCKET_IFNAME=mine u srun $FLAGGED -N1 sh -c 'echo mine=$NCCL_SOCKET_IFNAME')" 'mine=mine' "not where the user has set it"
wait_for 30 at_rest
ok $? "and gives it back"
like "$(u salloc $FLAGGED -N2 -w 'n[3-4]' sh -c "$(declare -f tag ovs_db); true; echo in" 2>&1)" in "salloc too"
wait_for 30 at_rest
ok $? "gives it back"
# an admin takes a network away
out=$DIR/out/rel
j=$(held_job "$out" 2)
wait_for 30 "[ -s $out ]"
l=$(lease_json "$j" | grep -oE '"id":"[^"]*"' | cut -d'"' -f4)
root "$CLF_BUILD/closfold" lease release "$l" >/dev/null
ok $? "closfold lease release"
wait_for 10 at_rest
ok $? "takes the network away at once"
touch "$out.go"
finish
