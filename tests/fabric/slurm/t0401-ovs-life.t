#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A flagged job on real switches, from before its first process to after its last: its own VLAN, and nobody else in it.
. "$(dirname "$0")/lib.sh"
OVS_TRUNK=20,100,101,102,103,104,105,106,107 ovs_inside 20
. "$(dirname "$0")/../../slurm/lib.sh"
fabric_begin 8
rest() { wait_for "${1:-20}" at_rest; }
rest
ok $? "ports that nobody had set are put where they rest: $(all_tags)"
root "$CLF_BUILD/closfold" fabric verify >"$DIR/out/verify"
ok $? "closfold fabric verify finds nothing wrong" || sed 's/^/# /' "$DIR/out/verify"
# what the switches were told, and when
for s in leaf1 leaf2; do
	ovsdb-client monitor --timestamp "unix:$FAB/ovs/$s/db.sock" Open_vSwitch Port name,tag >"$DIR/log/$s.monitor" 2>/dev/null </dev/null &
	echo $! >>"$DIR/nodes/monitor.$s.pid"
done
a=$(held_job "$DIR/out/a" 2)
b=$(held_job "$DIR/out/b" 2)
wait_state "$a" RUNNING && wait_state "$b" RUNNING && wait_for 10 "[ -s $DIR/out/a ] && [ -s $DIR/out/b ]"
ok $? "two flagged jobs run" || { job_line "$a"; job_line "$b"; tail -3 "$DIR/log/closfoldd.log"; }
mapfile -t ha < <(hosts_of "$a"); mapfile -t hb < <(hosts_of "$b")
ka=$(tag "${ha[0]}") kb=$(tag "${hb[0]}")
is "$(tags "${ha[@]}")" "$ka $ka" "all ports of the first are in one network"
is "$(tags "${hb[@]}")" "$kb $kb" "all of the second"
[ "$ka" != "$kb" ] && [ "$ka" -ge 100 ] && [ "$ka" -le 107 ] && [ "$kb" -ge 100 ] && [ "$kb" -le 107 ]
ok $? "two networks of the pool: $ka $kb"
mapfile -t free < <(seq -f "n%.0f" 1 8 | grep -vxF -f <(printf '%s\n' "${ha[@]}" "${hb[@]}"))
is "$(tags "${free[@]}")" "20 20 20 20" "the others are where they were"
is "$(hop "${ha[0]}" "${ha[1]}")" delivered "a frame between nodes of the first arrives"
is "$(hop "${ha[0]}" "${hb[0]}")" dropped "none between the two"
is "$(hop "${ha[0]}" "${hb[0]}" "$kb")" dropped "not with the other's tag either"
is "$(hop "${ha[0]}" "${free[0]}")" dropped "none to an ordinary node"
is "$(hop "${free[0]}" "${hb[1]}" "$kb")" dropped "none from an ordinary node, tagged"
is "$(hop "${free[0]}" "${free[3]}")" delivered "ordinary nodes reach each other"
like "$(u srun -A lab -N1 hostname)" . "an ordinary job runs meanwhile"
root "$CLF_BUILD/closfold" audit query --job "$a" --json >"$DIR/out/evidence"
like "$(grep -oE '"positive":\{[^}]*\}' "$DIR/out/evidence")" '"failed":0' "the record has the positive probe"
like "$(grep -oE '"negative":\{[^}]*\}' "$DIR/out/evidence")" '"done":[1-9][0-9]*,"failed":0' "and the negative one"
touch "$DIR/out/a.go" "$DIR/out/b.go"
wait_state "$a" COMPLETED && wait_state "$b" COMPLETED
ok $? "both end"
rest
ok $? "every port rests again: $(all_tags)" || root "$CLF_BUILD/closfold" lease list
# times: the last move into the key lies before the first process, the first move out behind the last
moves() { # NODE: "SECONDS TAG" lines of its port
	local n=${1#n} leaf=leaf1
	[ "$n" -le 4 ] || leaf=leaf2
	awk -v p="swp$(((n - 1) % 4 + 1))" '
		/^[0-9]+-[0-9]+-[0-9]+ [0-9:.]+$/ { t = $1 " " $2 }
		/^[0-9a-f]+-[0-9a-f]+-/ && $3 == p { print t, $2, $4; next }
		$1 == "new" && $2 == p { print t, $1, $3 }' "$DIR/log/$leaf.monitor"
}
sleep 0.3
{
	read -r first; read -r last
} <"$DIR/out/a"
bad=0
for n in "${ha[@]}"; do
	into=0 outof=0
	while read -r d t rest_of; do
		s=$(date -u -d "$d $t" +%s.%N)
		case $rest_of in
		*new*" $ka"* | *" $ka") into=$s ;;
		*new*) [ "$into" = 0 ] || [ "$outof" != 0 ] || outof=$s ;;
		esac
	done < <(moves "$n")
	awk -v i="$into" -v f="$first" -v l="$last" -v o="$outof" 'BEGIN {exit !(i > 0 && i < f && (o == 0 || o > l))}' || { bad=1; echo "# $n: in $into, first process $first, last $last, out $outof"; }
done
ok $bad "in its network before the first process, until after the last"
like "$(cat "$DIR"/log/leaf?.monitor)" ' 300[1-8]' "on the way back each port was in its own quarantine"
root "$CLF_BUILD/closfold" audit verify >/dev/null
ok $? "the log verifies"
# a new run, a new network
c=$(held_job "$DIR/out/c" 2)
wait_state "$c" RUNNING && wait_for 10 "[ -s $DIR/out/c ]"
kc=$(tag "$(hosts_of "$c" | head -1)")
root scontrol requeue "$c" >/dev/null
wait_for 20 "[ \"\$(field $c Restarts)\" = 1 ]"
rest
ok $? "a requeued job's ports rest"
root scontrol update JobId="$c" StartTime=now >/dev/null
root scontrol release "$c" >/dev/null
wait_state "$c" RUNNING 150
ok $? "it runs again" || job_line "$c"
kc2=$(tag "$(hosts_of "$c" | head -1)")
[ "$kc2" != "$kc" ] && [ "$kc2" -ge 100 ]
ok $? "in another network: $kc, then $kc2"
touch "$DIR/out/c.go"
u scancel "$c"
rest
ok $? "and leaves it when it is cancelled"
finish
