#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scontrol update cannot take a flagged job out of its terms.
. "$(dirname "$0")/lib.sh"
begin 16
j=$(submit $FLAGGED -N2 -H --wrap 'sleep 5')
before=$(job_line "$j" | grep -oE '(ExcNodeList|ReqNodeList|Licenses|Partition|Features|Account|OverSubscribe|NumNodes|ReqSwitch|AdminComment)=[^ ]*')
for change in ExcNodeList= ExcNodeList=n1 ReqNodeList=n12 Licenses= Licenses=closfold_key:0 Features=x Features= Account=games \
	Account= NumNodes=6 OverSubscribe=yes Reservation=r Dependency=expand:1 Clusters=other McsLabel=x Switches=0 Switches=9 \
	AdminComment=x Reboot=yes; do
	out=$(u scontrol update JobId="$j" $change)
	[ -n "$out" ]
	ok $? "refused: $change" || job_line "$j"
done
is "$(job_line "$j" | grep -oE '(ExcNodeList|ReqNodeList|Licenses|Partition|Features|Account|OverSubscribe|NumNodes|ReqSwitch|AdminComment)=[^ ]*')" \
	"$before" "and nothing has changed"
u scontrol update JobId="$j" ExcNodeList= >/dev/null
like "$(job_line "$j")" 'SystemComment=closfold: change refused: nodes outside the zone' "scontrol show job says why"
for change in TimeLimit=7 JobName=y Comment=hi Nice=5 ExcNodeList=n1,n[9-16]; do
	is "$(u scontrol update JobId="$j" $change)" "" "allowed: $change"
done
is "$(u scontrol release "$j")" "" "release"
wait_state "$j" RUNNING
ok $? "and it still runs"
like "$(u scontrol update JobId="$j" NumNodes=1)" . "a running job is not resized"
like "$(u scontrol update JobId="$j" ReqNodeList="$(field "$j" NodeList | sed 's/\[\([0-9]*\).*/\1/')")" . "nor by node list"
is "$(field "$j" NumNodes)" 2 "it keeps its nodes"
clean

# arrays and het jobs, each part
a=$(submit $FLAGGED -N1 -a 1-3 -H --wrap true)
like "$(u scontrol update JobId="${a}_2" ExcNodeList=)" . "one task of an array"
like "$(u scontrol update JobId="$a" ExcNodeList=)" . "a whole array"
is "$(timeout 5 scontrol -o show job "$a" | grep -vc 'ExcNodeList=n\[9-16\]')" 0 "all tasks keep the exclusion"
clean
h=$(u sbatch --parsable -H $FLAGGED -N1 -o /dev/null --wrap true : $FLAGGED -N1)
like "$(u scontrol update JobId="$h+1" ExcNodeList=)" . "the second component of a het job"
is "$(timeout 5 scontrol -o show job "$h" | grep -vc 'ExcNodeList=n\[9-16\]')" 0 "both components keep the exclusion"
clean

# an ordinary job cannot become a flagged one without the terms
o=$(submit -A lab -N2 -H --wrap true)
like "$(u scontrol update JobId="$o" Account=health)" . "into an account with a floor"
like "$(u scontrol update JobId="$o" Partition=secure)" . "into a partition with a floor"
is "$(u scontrol update JobId="$o" Features=)" "" "other changes of it are free"
is "$(field "$o" Account)/$(field "$o" Partition)" lab/main "it is where it was"
clean

# operators may, on the record; the start looks again
j=$(submit $FLAGGED -N2 -H --wrap 'sleep 5')
is "$(root scontrol update JobId="$j" ExcNodeList=)" "" "an operator's change goes through"
is "$(root scontrol update JobId="$j" AdminComment=hello)" "" "an operator's comment"
like "$(job_line "$j")" 'AdminComment=closfold decision=.*; hello' "stands behind ours"
root scontrol update JobId="$j" NodeList=n[9-10] >/dev/null
root scontrol release "$j" >/dev/null
wait_for 15 "job_line $j | grep -q 'note='"
like "$(job_line "$j")" 'JobState=PENDING.*note=.*outside' "outside the zone it does not start"
wait_for 5 "grep -q '\"job.modify\"' $DIR/lib/log/*/* 2>/dev/null || grep -rq job.modify $DIR/lib"
ok $? "changes are recorded"
clean
finish
