#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job's network opens and closes; what is read is what the ports hold.
. "$(dirname "$0")/lib.sh"
ready
is "$(tables)" "127 8001,7fff 1 ffff" "ordinary ports are in open and limited in the default partition, the SM's port is full"
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "a job's network opens"
is "$(q 'select(.lease == "A") | .word')" verified "and says how it knows"
is "$(q 'select(.lease == "A") | .detail.rungs | map(.rung) | join(" ")')" "sm published signalled tables fabric" "with its rungs in the record"
is "$(q 'select(.lease == "A") | .detail.rungs[] | select(.rung == "fabric") | [.ports_read, .foreign_members, .default_full, .unreadable] | join(" ")')" \
	"128 0 0 0" "all ports were read, nobody else is in it"
is "$(q 'select(.lease == "A") | .detail.tables | to_entries | map(.value) | unique | join(" ")')" "8101,7fff" "the tables are in the record"
is "$(pkeys_of 4) $(pkeys_of 7) $(pkeys_of 8) $(pkeys_of 1)" "8101,7fff 8101,7fff 8001,7fff ffff" "smpquery reads the same"
d audit
is "$(q '.out | length')" 0 "the audit has nothing to say"

n=$(sweeps)
d open A2 0x0101 "$(guids 8)"
d sync
is "$(code_of A2)" ok "a second net of the same key"
is "$(pkeys_of 8)" "8101,7fff" "is in the same network"
d forget A2
d open B 0x0102 "$(guids 8 9)"
d sync
is "$(code_of B)" ok "and goes to another one"
is "$(pkeys_of 8)" "8102,7fff" "with that key alone"
is $(($(sweeps) - n <= 4)) 1 "for not more than two sweeps each"

settle 5 eval '[ "$(sweeps)" = "$(sleep 0.5; sweeps)" ]'
sleep 2
n=$(sweeps)
d open A3 0x0102 "$(guids 8 9)"
d forget A3
d sync
sleep 0.3
is "$(sweeps)" "$n" "nothing to do: OpenSM is not bothered"

for i in $(seq 1 50); do d open "J$i" "$((0x0110 + i))" "$(guids $((9 + 2 * i)) $((10 + 2 * i)))"; done
n=$(sweeps)
d sync
is "$(q 'select(.op == "open") | .error.code // "ok"' | sort | uniq -c | tr -s ' ')" " 50 ok" "fifty jobs that start at once"
is $(($(sweeps) - n <= 2)) 1 "cost two sweeps at most ($(($(sweeps) - n)))"
for i in $(seq 1 50); do d close "J$i"; done
n=$(sweeps)
d sync
is "$(q 'select(.op == "close") | .error.code // "ok"' | sort | uniq -c | tr -s ' ')" " 50 ok" "fifty that end"
is $(($(sweeps) - n <= 2)) 1 "the same ($(($(sweeps) - n)))"

d close A
d close B
d sync
is "$(code_of A) $(code_of B)" "ok ok" "the networks close"
is "$(tables)" "127 8001,7fff 1 ffff" "and all is as before"
d open C 0x0103 "$(guids 4 5)"
d plan
like "$(q '.out.diff')" '^-0x0c42a10300004011=full,$' "the plan takes a port out of open"
like "$(q '.out.diff')" '^\+closfold_0103=0x0103,indx0 :$' "and shows the new network"
is "$(q '.out.steps | length')" 2 "in two steps"
is "$(grep -c closfold_0103 "$part")" 0 "and changes nothing"
d ports nobody
is "$(q '.error.code')" notfound "a node that never reported has no ports"
report() { printf '{"ib":[{"device":"mlx5_0","port":1,"link_layer":"InfiniBand","port_guid":"%s","pkeys":[%s]}]}' "$1" "$2"; }
d attest C n4 "$(report "$(guid 4)" '"0x8103","0x7fff"')"
is "$(q .attest)" ok "a node's own view agrees"
d attest C n4 "$(report "$(guid 4)" '"0x7fff","0x8103"')"
is "$(q .attest)" mismatch "the key not at index 0"
d attest C n4 "$(report "$(guid 4)" '"0x8103","0xffff"')"
is "$(q .attest)" mismatch "full in the default partition"
d attest C n4 "$(report "$(guid 9)" '"0x8103"')"
is "$(q .attest)" mismatch "a port outside the network"
d attest C n4 "$(report "$(guid 4)" '')"
is "$(q .attest)" mismatch "an empty table"
d attest C n4 '{}'
is "$(q .attest)" unattested "a node that says nothing"
finish
