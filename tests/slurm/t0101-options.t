#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users type, and what they read when the answer is no.
. "$(dirname "$0")/lib.sh"
begin 8
for c in sbatch srun salloc; do
	like "$(u $c --help)" '--data-class=CLASS.*class of the data' "$c --help tells of --data-class"
	like "$(u $c --help)" '--data-grant=ID' "$c --help tells of --data-grant"
done
like "$(submit --data-class=b@d -A lab --wrap true)" 'data-class takes one word' "a value with other characters is told at once"
like "$(submit --data-class=nonsense -A lab --wrap true)" "no class 'nonsense'" "an unknown class is refused"
out=$(submit -A health --wrap true)
like "$out" 'closfold: refused by [a-z-]+: ' "no option: the account's floor refuses, with the rule"
like "$out" 'data-grant' "and says what to do"
like "$(u srun -A health -N1 true)" 'closfold: refused by' "srun: the same"
like "$(u salloc -A health -N1 true)" 'closfold: refused by' "salloc: the same"
like "$(submit -A games --wrap true)" 'no-games' "a forbid rule"
like "$(submit --data-class=personal --data-grant=G-old -A lab --wrap true)" 'expired|until|G-old' "an expired grant"
like "$(submit --data-class=personal --data-grant=G-17 -A lab -N5 --wrap true)" 'allows 4 nodes' "more nodes than granted"
out=$(u srun -A lab -N2 hostname)
unlike "$out" 'closfold|error' "an ordinary job sees nothing of closfold"
out=$(u sbatch --test-only -A health --wrap true)
like "$out" 'refused by' "--test-only gives the same answer"
like "$(u sbatch --test-only $FLAGGED -N2 --wrap true)" 'to start at' "and the same yes"
is "$(timeout 5 squeue -h | wc -l)" 0 "nothing was queued"
finish
