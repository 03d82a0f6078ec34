#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 1,024 HCAs, eight rails: start, end, and OpenSM killed while it programs (row K).
. "$(dirname "$0")/lib.sh"
fabric --leaves 8 --hosts 16 --rails 8 --spines 4
conf
sm_start
HOSTS=0
drive_start
all=$(sed -n 's/^\[1\](\([0-9a-f]*\)).*/0x\1/p' "$work/fabric.net" | sed 's/^0x\([0-9a-f]*\)$/\1/' | while read -r g; do printf '0x%016x ' "0x$g"; done)
d known "${all//$(guid 1) /}"
d sync
job() { for n in "$@"; do for r in 1 2 3 4 5 6 7 8; do guid "$n" "$r"; done; done | tr '\n' ' '; }
d open A 0x0101 "$(job $(seq 2 65))"
d sync
is "$(code_of A)" ok "512 ports of 64 nodes close in"
diag "$(text_of A)"
is "$(tables)" "512 8101,7fff 511 8001,7fff 1 ffff" "and only they"
d close A
d sync
is "$(code_of A)" ok "and open again"

# An end right behind a start that had no time: the sweep that programs the key is under way and the tables do not show it yet.
for wait in 20 60 120; do
	d open A 0x0101 "$(job $(seq 2 65))"
	d sync $wait
	d close A
	d sync 8000
	is "$(code_of A)" ok "closed behind a start of $wait ms ($(q 'select(has("sync")) | .ms | floor') ms)"
	for _ in 1 2 3 4 5 6; do
		sleep 0.1
		d read
		q '[.out.ports[] | select(.table[] == "0x8101")] | length'
	done >"$work/held"
	is "$(sort -u "$work/held")" 0 "and no port takes the key up afterwards"
done

d open A 0x0101 "$(job $(seq 2 65))"
(sleep 0.15; kill -KILL "$(cat "$work/sm.pid")") &
d sync 2500
wait $!
got=$(code_of A)
left=$(d read; q '[.out.ports[] | select(.table[0] == "0x8101")] | length')
diag "K killed when $left of 512 ports had the key: $got"
if [ "$left" = 512 ]; then like "$got" 'ok|remote|timeout' "K killed too late to matter"; else like "$got" 'timeout|remote' "K a fabric half programmed is not verified"; fi
rm -f "$work/sm.pid"
sm_start
d forget A
d open A 0x0101 "$(job $(seq 2 65))"
d sync
is "$(code_of A)" ok "K: driven again it becomes right"
is "$(tables)" "512 8101,7fff 511 8001,7fff 1 ffff" "K: all of it"
done_testing
