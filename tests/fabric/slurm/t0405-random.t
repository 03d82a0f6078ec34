#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random steps on a real Slurm and real switches: sbatch, scancel, requeue, reconcile, closfoldd and slurmctld killed, a switch that hangs. At
# every moment no key is in two hands, and a job that runs has its own network; in the end Slurm, ledger and switches agree.
# CLF_STEPS (150), CLF_SEED. The same with a list of jobs in Slurm's place, and many more steps a second: t0403.
. "$(dirname "$0")/lib.sh"
export TIMEOUT_MS=1500 OVS_KEYS=100-105 CLUSTER_LICENSES=closfold_key:6
OVS_TRUNK=20,100,101,102,103,104,105 ovs_inside 20
. "$(dirname "$0")/../../slurm/lib.sh"
steps=${CLF_STEPS:-150} RANDOM=${CLF_SEED:-$$}
echo "# seed ${CLF_SEED:-$$}"
fabric_begin 8
wait_for 20 at_rest
wrong=0 started=0 kills=0
declare -A seen=()
# Open leases as "lease job state key nodes", one a line
leases() {
	timeout 10 "$CLF_BUILD/closfold" lease list --json 2>/dev/null |
		jq -r '.leases[] | [.id, .job_id, .state, (.nets[0].key // 0), .nodes] | map(tostring) | join(" ")' 2>/dev/null
}
bad() { wrong=$((wrong + 1)); [ $wrong -gt 5 ] || echo "# step $i: $*"; }
unique_keys() {
	local two
	two=$(leases | awk '$4 > 0 {n[$4]++; who[$4] = who[$4] " " $1} END {for (k in n) if (n[k] > 1) print k ":" who[k]}')
	[ -z "$two" ] || bad "a key in two hands: $two"
}
# A job whose processes run has its ports in its own network: looked at twice, so that it runs at the time of the reading between.
own_network() {
	local before after id job state key nodes n t
	before=$(leases | grep ' granted ')
	while read -r id job state key nodes; do
		[ -n "$id" ] && [ -e "$DIR/out/r$job" ] && [ "$(field "$job" JobState)" = RUNNING ] || continue
		t=''
		for n in $(scontrol show hostnames "$nodes"); do t+="$n=$(tag "$n") "; done
		after=$(leases | grep "^$id $job granted " || true)
		[ -n "$after" ] && [ "$(field "$job" JobState)" = RUNNING ] || continue
		seen[$job]=1
		case $(printf '%s\n' $t | cut -d= -f2 | sort -u) in "$key") ;; *) bad "job $job runs in $t, its lease $id has $key" ;; esac
	done <<<"$before"
}
frozen=''
thaw() { [ -z "$frozen" ] || kill -CONT "$(ovs_pid "$FAB/ovs" "$frozen" vsw)"; frozen=''; }
any_job() { timeout 5 squeue -h -o %A "$@" 2>/dev/null | shuf -n 1 --random-source=<(yes $RANDOM); }
for ((i = 1; i <= steps; i++)); do
	r=$((RANDOM % 100))
	if [ $r -lt 38 ]; then
		u sbatch --parsable -o /dev/null $FLAGGED -N2 --requeue --wrap "touch $DIR/out/r\$SLURM_JOB_ID; sleep $((RANDOM % 6))" >/dev/null
		started=$((started + 1))
	elif [ $r -lt 58 ]; then
		j=$(any_job) && [ -n "$j" ] && root scancel "$j" >/dev/null
	elif [ $r -lt 66 ]; then
		j=$(any_job -t R) && [ -n "$j" ] && root scontrol requeue "$j" >/dev/null
	elif [ $r -lt 76 ]; then # what was put off starts now
		j=$(any_job -t PD) && [ -n "$j" ] && root scontrol update JobId="$j" StartTime=now >/dev/null
	elif [ $r -lt 81 ]; then
		timeout 10 "$CLF_BUILD/closfold" lease reconcile >/dev/null 2>&1
	elif [ $r -lt 87 ]; then
		if [ -n "$frozen" ]; then thaw; else
			frozen=leaf$((RANDOM % 2 + 1))
			kill -STOP "$(ovs_pid "$FAB/ovs" "$frozen" vsw)"
		fi
	elif [ $r -lt 92 ]; then
		cluster_closfoldd_stop "$DIR" KILL 2>/dev/null
		cluster_closfoldd_start "$DIR" || bad "closfoldd does not start"
		kills=$((kills + 1))
	elif [ $r -lt 93 ]; then
		cluster_ctld_stop "$DIR" KILL 2>/dev/null
		cluster_ctld_start "$DIR" || bad "slurmctld does not start"
		kills=$((kills + 1))
	fi
	sleep 0.$((RANDOM % 6)) # jobs take their time to start
	unique_keys
	[ $((i % 5)) -ne 0 ] || own_network
done 2>/dev/null
is "$wrong" 0 "$steps steps, $started jobs, $kills kills: no key in two hands, who runs is in his own network"
[ "${#seen[@]}" -gt $((steps / 50)) ]
ok $? "${#seen[@]} of them were seen running in it"
thaw
for _ in 1 2 3; do clean; done
wait_for 60 at_rest
ok $? "nothing runs: no lease is open, every port rests ($(all_tags))" || leases | sed 's/^/# /'
is "$(timeout 5 squeue -h | wc -l)" 0 "Slurm has no job"
root "$CLF_BUILD/closfold" fabric verify >"$DIR/out/verify"
ok $? "the switches agree" || sed 's/^/# /' "$DIR/out/verify"
root "$CLF_BUILD/closfold" audit verify >/dev/null
ok $? "the log verifies"
finish
