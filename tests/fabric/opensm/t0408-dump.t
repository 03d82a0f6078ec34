#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real fabric: the dump of a DGX cluster with 582 adapters, Aggregation Nodes, double links and unnamed adapters.
. "$(dirname "$0")/lib.sh"
dump=${CLF_SHARED:-$CLF_SRCDIR/../shared}/data/fabrics/topograph/example.out
[ -f "$dump" ] || require shared "the dump of a DGX fabric is not beside the source tree"
cp "$dump" "$work/fabric.net"
simulate "$work/fabric.net"
sm=$(sed -n 's/^Ca.*"\(H-[0-9a-f]*\)".*# "[^"]*CUFM.*/\1/p' "$dump" | head -n 1)
host() { echo "$sm"; }
guid() { printf '0x%016x\n' $((0x${sm#H-} + 1)); }
conf
sm_start
HOSTS=0
drive_start
d read
q '.out.ports[] | select(.description | test("Aggregation") | not) | .port' >"$work/ports"
d known "$(grep -v "$(guid)" "$work/ports" | tr '\n' ' ')"
d sync
d check
like "$(findings)" sharp-node "the Aggregation Nodes are told"
unlike "$(q '.out[] | select(.level == "error") | .code')" . "nothing stands against flagged jobs"
d open A 0x0101 "$(grep -v "$(guid)" "$work/ports" | sed -n 100,163p | tr '\n' ' ')"
d sync
is "$(code_of A)" ok "64 ports close in"
diag "$(text_of A)"
d read
is "$(q '[.out.ports[] | select(.table[0] == "0x8101")] | length')" 64 "64 tables, no more"
d close A
d sync
is "$(code_of A)" ok "and open"
finish
