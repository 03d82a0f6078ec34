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

# OpenSM is stopped in the middle of its sweep. A job whose ports it has not reached yet is taken back: the tables are clean, and
# still it is not closed, for the sweep goes on when OpenSM does.
for first in 40 20 60 10 30 50; do
	for n in $(seq 2 65); do d open "L$n" "$((0x110 + n))" "$(job "$n")"; done
	when_key "$(guid $first)" "$(printf %04x $((0x8110 + first)))" STOP
	d sync 1500
	wait $watch
	late=" $(d read; q '[.out.ports[] | select(.table[0] | test("0x81[1-5]")) | .port[12:15]] | unique | join(" ")') "
	for n in $(seq 65 -1 2); do case $late in *" $(printf %03x "$n") "*) ;; *) break ;; esac; done
	case $late in *" $(printf %03x "$n") "*) ;; *) break ;; esac
	diag "OpenSM was stopped too late, once more"
	kill -CONT "$(cat "$work/sm.pid")"
	for n in $(seq 2 65); do d forget "L$n"; done
	d sync
done
diag "stopped with $(wc -w <<<"$late") of 64 jobs begun; taken back: L$n"
d close "L$n"
d sync 1000
is "$(code_of "L$n")" remote "OpenSM stopped halfway: clean tables are no end"
sleep 2.1
d want "L$n" "$((0x110 + n))" "$(job "$n")"
d close "L$n"
(sleep 0.05; kill -CONT "$(cat "$work/sm.pid")") &
d sync 8000
got=$(code_of "L$n")
if [ "$got" = ok ]; then
	for _ in 1 2 3 4 5 6 7 8 9; do
		d read
		q "[.out.ports[] | select(.table[] == \"0x81$(printf %02x $((0x10 + n)))\")] | length"
		sleep 0.1
	done >"$work/held"
	is "$(sort -u "$work/held")" 0 "closed later: no port takes the key up afterwards"
else
	like "$got" 'remote|timeout' "not closed yet"
	d want "L$n" "$((0x110 + n))" "$(job "$n")"
	d close "L$n"
	d sync 8000
	is "$(code_of "L$n")" ok "closed when it goes on"
fi
for n in $(seq 2 65); do d forget "L$n"; done
d sync

d open A 0x0101 "$(job $(seq 2 65))"
when_key "$(guid 40)" 8101 KILL
d sync 2500
wait $watch
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
finish
