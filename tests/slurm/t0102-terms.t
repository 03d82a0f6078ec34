#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An allowed flagged job: zone, whole nodes, licence, switches, stamps where hooks and scontrol find them.
. "$(dirname "$0")/lib.sh"
prolog=$(mktemp /run/clf-prolog.XXXXXX) && chmod 755 "$prolog"
printf '#!/bin/sh\nenv | grep SPANK_CLOSFOLD | sort >"$(dirname "$SLURM_CONF")/out/prolog.$SLURM_JOB_ID"\nexit 0\n' >"$prolog"
CLUSTER_PROLOG=$prolog begin 16
rm_prolog() { rm -f "$prolog"; cleanup; }
trap rm_prolog EXIT
j=$(submit $FLAGGED -N2 -n2 --oversubscribe -x n1 --wrap 'sleep 3')
wait_state "$j" RUNNING
ok $? "runs" || job_line "$j"
line=$(job_line "$j")
is "$(field "$j" ExcNodeList)" 'n[1,9-16]' "nodes outside the zone and the user's own are excluded"
is "$(field "$j" OverSubscribe)" NO "whole nodes, --oversubscribe or not"
is "$(field "$j" Licenses)" closfold_key:1 "the key's licence"
like "$line" 'ReqSwitch=1|Switches=1@' "one leaf is asked for"
like "$line" 'AdminComment=closfold decision=[0-9a-f]{32} class=personal grant=G-17 rule=[^ ]+ lease=[^ ]+' "admin_comment has decision, class, grant, rule, lease"
like "$(field "$j" NodeList)" '^n\[?[1-8]' "in the zone"
is "$(field "$j" NumCPUs)" 16 "all CPUs of the nodes are its own"
d=$(printf '%s' "$line" | grep -oE 'decision=[0-9a-f]{32}' | cut -d= -f2)
env=$(cat "$DIR/out/prolog.$j")
like "$env" "^SPANK_CLOSFOLD_DECISION=$d" "the node's prolog has the same decision"
like "$env" 'SPANK_CLOSFOLD_CLASS=personal' "class"
like "$env" 'SPANK_CLOSFOLD_FLAGGED=1' "flag"
like "$env" 'SPANK_CLOSFOLD_ZONE=vault' "zone"
like "$env" 'SPANK_CLOSFOLD_LEASE=L' "lease"
wait_for 20 "'$CLF_BUILD/closfold' audit query --event job.end --job $j | grep -q job.end"
is "$("$CLF_BUILD/closfold" audit query --job "$j" --json | grep -oE '"event":"[a-z.]+"' | sort -u | cut -d'"' -f4 | paste -sd' ')" \
	"job.allocate job.decision job.end net.program net.release net.verify" "the job's records, from its submission on, are found by its number"
o=$(submit -A lab -N2 --wrap 'sleep 1')
is "$(field "$o" ExcNodeList)" '(null)' "an ordinary job is not restricted"
like "$(job_line "$o")" 'AdminComment=closfold decision=[0-9a-f]{32} class=public' "but has its decision"
e=$(submit $FLAGGED -N1 --exclusive=user --core-spec=1 --switches=1@0:30 -L closfold_key:0 --wrap 'sleep 1' | tail -n 1) # sbatch warns of --core-spec first
is "$(field "$e" OverSubscribe)" NO "--exclusive=user becomes whole nodes"
like "$(submit $FLAGGED -N1 -w n12 --wrap true)" 'outside: n12' "-w outside the zone is refused"
j2=$(submit $FLAGGED -N1 -n1 -c1 --mem=10 --wrap 'sleep 3')
wait_state "$j2" RUNNING
n=$(field "$j2" NodeList)
k=$(submit -A lab -w "$n" -n1 -c1 --mem=10 --oversubscribe --wrap 'true')
sleep 1
is "$(field "$k" JobState)" PENDING "nobody else gets a place on its node"
clean
finish
