#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Others write too: between our read and our write, with a marker of their own, with the lock in their hand. And answers that
# get lost. F8 F9; R13 R20 R22.
. "$(dirname "$0")/test.sh"
begin
gate() { # MODE...: a gate before leaf1; $F.g is the configuration that goes through it
	[ ! -f "$work/gate.pid" ] || kill "$(cat "$work/gate.pid")"
	rm -f "$work/gate"
	"$TOOLS/gate" "$work/gate" "$D/leaf1/db.sock" "$@" &
	echo $! >"$work/gate.pid"
	local i
	for ((i = 0; i < 100; i++)); do [ ! -S "$work/gate" ] || break; sleep 0.02; done
	sed "s#unix:$D/leaf1/db.sock#unix:$work/gate#" "$F" >"$F.g"
}
vsctl() { echo "ovs-vsctl --timeout=15 --db=unix:$D/leaf1/db.sock --no-wait $*"; }

diag "F8: a foreign change in the window"
gate race 1 "$(vsctl set port swp2 tag=3777)"
start_drive "$F.g"
d 'open j 100 leaf1/swp1 leaf1/swp2 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "one change: read again, written again, verified"
is "$(port leaf1 swp2 tag)" 100 "both ports"
d 'close j' 'sync'
stop_drive

gate race 2 "n=\$((\$(cat $work/n 2>/dev/null || echo 0)+1)); echo \$n >$work/n; $(vsctl set port swp2 tag=370\$n)"
start_drive "$F.g"
d 'open j 100 leaf1/swp1 leaf1/swp2 leaf2/swp1' 'sync'
like "$(of j)" '"code":"conflict","text":"switch .leaf1.: somebody else changed a port meanwhile' "F8: two changes: conflict, no third try"
like "$(of j)" '"word":"mismatch"' "word"
is "$(port leaf1 swp1 tag)" 3001 "not one of the ports was written"
is "$(cat "$work/n")" 2 "it tried twice"
is "$(port leaf2 swp1 tag)" 3005 "the other leaf was taken back"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "and closes"
stop_drive

gate race 1 "$(vsctl set port swp2 external_ids:closfold-job=theirs)"
start_drive "$F.g"
d 'open j 100 leaf1/swp1 leaf1/swp2' 'sync'
like "$(of j)" '"code":"conflict".*swp2.*(theirs|not what was written)' "a marker put there in the window is respected"
is "$(port leaf1 swp2 tag)/$(port leaf1 swp2 external_ids:closfold-job)" 3002/theirs "its port was not written"
is "$(port leaf1 swp1 tag)" 3001 "ours went back"
ovs_db "$D" leaf1 remove port swp2 external_ids closfold-job
d 'close j' 'sync'
stop_drive

diag "foreign markers"
ovs_db "$D" leaf1 set port swp3 tag=105 external_ids:closfold-job=theirs
start_drive
d 'open j 100 leaf1/swp1 leaf1/swp3' 'sync'
like "$(of j)" "\"code\":\"conflict\",\"text\":\"port 'leaf1/swp3' belongs to 'theirs'" "refused, says whose"
is "$(port leaf1 swp3 tag) $(port leaf1 swp1 tag)" "105 3001" "nothing written"
d 'close j' 'open k 105 leaf1/swp1 leaf1/swp2' 'sync'
like "$(of k)" "port 'leaf1/swp3' carries vlan 105 too" "and its vlan is not given away"
d 'close k' 'sync'
d 'audit'
like "$out" '"code":"foreign-owner","level":"error","subject":"leaf1/swp3","text":"marked as .theirs.' "audit says whose"
d 'plan'
like "$out" 'leaf1/swp3: nothing, marked as' "plan leaves it alone"
d 'sync'
is "$(port leaf1 swp3 tag)" 105 "a sync does too"
d 'open theirs 105 leaf1/swp3' 'close theirs' 'sync'
like "$(of theirs)" '"op":"close".*"word":"verified"' "it can be released by its name"
is "$(port leaf1 swp3 tag) $(port leaf1 swp3 external_ids)" '3003 {}' "really"

diag "F9: the lock, and a new closfoldd"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "first one holds the lock and runs a job"
first=$drive_pid
exec 5>&7 6<&8
drive_pid=
start_drive 2>/dev/null
d 'want j 100 leaf1/swp1 leaf2/swp1' 'open k 101 leaf1/swp2' 'sync 1500'
like "$(of k)" "\"code\":\"conflict\",\"text\":\"switch '[a-z0-9]*': lock 'closfold' is held by another client" "R22: the second is told who is in the way"
ms=$(sed -n 's/.*"ms":\([0-9]*\).*"sync".*/\1/p' <<<"$out")
[ "$ms" -le 1800 ]
ok $? "R13: within its time ($ms ms)"
is "$(port leaf1 swp2 tag)" 3002 "and writes nothing"
d 'check'
like "$out" '"code":"lock","level":"warn"' "check says so"
kill -9 "$first"
wait "$first" 2>/dev/null
exec 5>&- 6<&-
d 'forget k' 'open k 101 leaf1/swp2' 'sync'
like "$(of k)" '"word":"verified"' "F9: the first dies, the lock comes over"
d 'audit'
like "$out" '"out":\[\]' "it finds the first one's job on the switches"
d 'close j' 'close k' 'sync'
is "$(grep -c '"word":"verified"' <<<"$out")" 2 "and ends it"
stop_drive

diag "answers that get lost"
gate mute
start_drive "$F.g"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 4000'
like "$(of j)" '"word":"verified"' "R20: no notification arrives: asked for, verified"
d 'close j' 'sync 4000'
like "$(of j)" '"word":"verified"' "R20: the same of a release"
stop_drive
gate cut 1
start_drive "$F.g"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"code":"remote","text":"switch .leaf1.: connection .* (closed|broke)' "the connection breaks after the change: unknown is no success"
like "$(of j)" '"leaf1":\{[^}]*"undo":"written"' "the rest was written"
is "$(port leaf1 swp1 tag)" 3001 "really"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "and verified by the release"
stop_drive
kill "$(cat "$work/gate.pid")"; rm "$work/gate.pid"

diag "many at once"
start_drive
d 'read'
cfg() { ovs_db "$D" leaf1 get Open_vSwitch . next_cfg; }
before=$(cfg)
d 'open a 100 leaf1/swp1 leaf2/swp1' 'open b 101 leaf1/swp2 leaf2/swp2' 'open c 102 leaf1/swp3 leaf2/swp3' 'open d 103 leaf1/swp4 leaf2/swp4' 'sync'
is "$(grep -c '"word":"verified"' <<<"$out")" 4 "R22: four starts in one sync"
is "$(($(cfg) - before))" 1 "one transaction a switch"
hop n1 n5 - delivered "a"
hop n4 n8 - delivered "d"
hop n1 n6 - dropped "not across"
before=$(cfg)
d 'sync'
is "$(($(cfg) - before))" 0 "nothing to do: nothing written"
d 'close a' 'close b' 'close c' 'close d' 'sync'
is "$(grep -c '"word":"verified"' <<<"$out")" 4 "four ends in one sync"
finish
