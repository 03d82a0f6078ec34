#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Links that are down: rows O and P, and ports that move or vanish.
. "$(dirname "$0")/lib.sh"
ready
cut_cable 7
settle 10 eval 'd check; [[ "$(findings)" == *port-missing* ]]'
ok $? "a cut cable is a finding"
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" remote "O a port of the job is down: refused"
like "$(text_of A)" "$(guid 7)" "O: the port is named"
is "$(grep -c closfold_0101 "$part")" 0 "O: nothing was written"
is "$(q 'select(has("sync")) | .ms < 2000')" true "O: at once"
d close A
d sync
is "$(code_of A)" remote "O: a port nobody sees is not closed either"
mend 7
settle 10 eval '[ "$(pkeys_of 7)" = 8001,7fff ]'
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "O: with the cable back the job starts"

cut_cable 7
sleep 0.3
d close A
d sync
is "$(code_of A)" remote "P down at the end: not closed"
like "$(text_of A)" "$(guid 7).*key rests" "P: the key rests, says which port"
is "$(pkeys_of 4)" "8001,7fff" "P: the others are back in open"
d want X 0x0199 "$(guids 50)"
mend 7
settle 10 eval 'd open A 0x0101 "$(guids 7)"; d close A; d forget X; d sync; [ "$(code_of A)" = ok ]'
ok $? "P: closed once it was seen clean"
settle 5 eval '[ "$(pkeys_of 7)" = 8001,7fff ]'
ok $? "P: which it is"

# Down while it is programmed: the answer names it.
d open B 0x0102 "$(guids 10 11)"
d sync
is "$(code_of B)" ok "a job runs"
cut_cable 11
settle 5 eval 'd audit; [[ "$(findings)" == *port-unread* ]]'
ok $? "a port of a running job goes down: the audit tells"
mend 11
settle 10 eval 'd audit; [ -z "$(findings)" ]'
ok $? "and is quiet when it is back with its key"
settle 5 eval '[ "$(pkeys_of 11)" = 8102,7fff ]'
ok $? "which it has"

# LIDs are given out anew: the old LID of a port is another's now, and the witness does not know it yet.
d open C 0x0103 "$(guids 20 21 22 23)"
d sync
is "$(code_of C)" ok "a job runs"
sed -i "s/\"sm_ports\":\[/&\"$(guid 100)\",/" "$fabrics"
drive_stop
drive_start
d want B 0x0102 "$(guids 10 11)"
d want C 0x0103 "$(guids 20 21 22 23)"
d sync
lid() { on_sim smpquery portinfo -G "$(guid "$1")" 1 | sed -n 's/^Lid:\.*//p'; }
was=$(lid 20)
sm_kill
rm -f "$OSM_CACHE_DIR"/*
sm_start sm 100 "$part" -r
now=$(lid 20)
[ "$was" != "$now" ]
ok $? "the LID of a port changed from $was to $now"
d open D 0x0104 "$(guids 20 24 25)"
d forget C
d sync
is "$(code_of D)" ok "the tables are read from the port that is meant"
is "$(pkeys_of 20) $(pkeys_of 25) $(pkeys_of 21)" "8104,7fff 8104,7fff 8001,7fff" "which hold the key"
finish
