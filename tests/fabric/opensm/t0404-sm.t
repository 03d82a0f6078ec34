#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What befalls OpenSM: rows N1, N2, K, S, R, HA.
. "$(dirname "$0")/lib.sh"
ready
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "a job runs"
old=$(cat "$part")

sm_kill
is "$(tables)" "123 8001,7fff 4 8101,7fff 1 ffff" "N1 OpenSM is killed: tables stay"
d audit
like "$(findings)" sm-silent "N1: the audit says that no subnet manager answers"
d open B 0x0102 "$(guids 8 9)"
d sync 3000
is "$(code_of B)" remote "N1: a new start waits"
like "$(text_of B)" 'no subnet manager answers' "N1: with the reason"
is "$(grep -c closfold_0102 "$part")" 0 "N1: and nothing of it was written"
d forget B
d close A
d sync 3000
is "$(code_of A)" remote "N1: an end is not claimed"
is "$(grep -c closfold_0101 "$part")" 0 "N1: but written for the OpenSM that comes"
d open A2 0x0101 "$(guids 4 5 6 7)"
d sync 2000
d forget A2

# N2: it comes back with an older file of ours.
sm_start
sleep 2.1
d sync
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "N2 OpenSM is back: jobs start"
good=$(cat "$part")
sm_kill
printf '%s\n' "$old" | sed 's/^#.*//' | sed '/^closfold/,$d' >"$work/older"
printf '# nothing\n' >/dev/null
d forget A
d plan
d want A 0x0101 "$(guids 4 5 6 7)"
drive_stop
drive_start # a second driver that wants no job writes an older file of ours
d sync 500
drive_stop
sm_start
drive_start
d want A 0x0101 "$(guids 4 5 6 7)"
d audit
like "$(findings)" 'net-wrong.*partitions-old|partitions-old.*net-wrong' "N2: the audit sees an older file and the job without its key"
d sync
is "$(tables)" "123 8001,7fff 4 8101,7fff 1 ffff" "N2: the next sync gives the key back"
[ "$(cat "$part")" = "$good" ]
ok $? "N2: with the file that was"

# R: closfoldd died between writing and signalling.
d forget A
d sync
d want A 0x0101 "$(guids 4 5 6 7)"
drive_stop
cp "$part" "$work/without"
printf '%s\n' "$good" >"$part"
drive_start
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "R the file is written but OpenSM was not told: told now"
is "$(pkeys_of 4)" "8101,7fff" "R: and the ports have it"
mv "$work/without" "$part"
resweep
d forget A
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "R somebody puts an older file of ours back: written again"

# S: links flap while jobs start.
(for _ in $(seq 1 40); do console "unlink \"$(host 120)\"[1]"; sleep 0.02; console "relink \"$(host 120)\"[1]"; sleep 0.03; done) &
storm=$!
n=$(sweeps)
d open S 0x0103 "$(guids 30 31 32 33)"
d sync
is "$(code_of S)" ok "S with a flapping link a job still starts ($(q 'select(has("sync")) | .ms | floor') ms)"
wait $storm
mend 120
settle 20 eval '[ "$(tables)" = "119 8001,7fff 4 8103,7fff 4 8101,7fff 1 ffff" ]'
ok $? "S: and the fabric comes to rest"

# The signal reaches OpenSM or nobody: SIGHUP would end any other process.
sleep 300 &
other=$!
cp "$work/sm.pid" "$work/keep.pid"
echo $other >"$work/sm.pid"
d open P 0x0107 "$(guids 50)"
d sync 1000
is "$(code_of P)" remote "a pid file with another's number: no start"
like "$(text_of P)" "is 'sleep', not 'opensm'" "says whose it is"
kill -0 $other
ok $? "and that process was left alone"
kill $other
d close P
cp "$work/keep.pid" "$work/sm.pid"
touch -d '1 hour ago' "$work/sm.pid"
d sync 1000
is "$(code_of P)" remote "a pid file older than its process is not believed"
like "$(text_of P)" 'started after' "says why"
touch "$work/sm.pid"
d open P 0x0107 "$(guids 50)"
d sync
is "$(code_of P)" ok "with the right one all is well"

# Another subnet manager than those that were named.
d audit
sm_kill
sm_start other 2 "$part"
d open U 0x0104 "$(guids 40)"
d sync 3000
is "$(code_of U)" conflict "a subnet manager that is none of sm_ports: no job starts"
like "$(text_of U)" "$(guid 2).*none of sm_ports" "says which"
d audit
like "$(findings)" 'sm-changed.*sm-unlisted' "and the audit too"
d check
like "$(findings)" 'sm-process' "check misses the process on this host"
sm_kill other
finish
