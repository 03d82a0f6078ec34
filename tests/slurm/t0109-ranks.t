#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks follow the fabric inside an allocation, and stay as the user wants them where the user says so.
. "$(dirname "$0")/lib.sh"
top=$(mktemp /run/clf-topo.XXXXXX)
# odd and even nodes hang on different leaves: Slurm's order (n1 n2 n3 ...) crosses at every step
printf 'SwitchName=odd Nodes=n[1,3,5,7]\nSwitchName=even Nodes=n[2,4,6,8]\nSwitchName=top Switches=odd,even\n' >"$top"
CLUSTER_TOPOLOGY=$top begin 8
rm_top() { rm -f "$top"; cleanup; }
trap rm_top EXIT
who='echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_LOCALID'
cat >"$DIR/out/job.sh" <<S
#!/bin/bash
echo "master=\$CLOSFOLD_MASTER rank=\$CLOSFOLD_NODE_RANK hosts=\$(paste -sd, "\$CLOSFOLD_RANK_HOSTS")"
echo "file=\$CLOSFOLD_RANK_HOSTS"
run() { echo "\$1: \$(shift; "\$@" 2>/dev/null | sort -n | awk '{printf "%s%s", (NR > 1 ? " " : ""), \$2}')"; }
run plain srun sh -c '$who'
run local srun sh -c 'echo \$SLURM_PROCID \$SLURM_LOCALID'
run dist srun -m block sh -c '$who'
run ntasks srun -n 2 sh -c '$who'
run nodes srun -N 2 sh -c '$who'
run only srun -w n3 sh -c '$who'
CLOSFOLD_RANKS=off run off srun sh -c '$who'
SLURM_HOSTFILE=$DIR/out/hosts SLURM_DISTRIBUTION=arbitrary run hostfile srun sh -c '$who'
run env srun sh -c 'echo \$SLURM_PROCID \$CLOSFOLD_MASTER/\$CLOSFOLD_NODE_RANK/\$(head -n 1 \$CLOSFOLD_RANK_HOSTS)'
run nested srun sh -c 'echo \$SLURM_PROCID \${SLURM_HOSTFILE-none}\${SLURM_DISTRIBUTION-none}'
S
chmod 755 "$DIR/out/job.sh"
printf 'n4\nn3\nn2\nn1\n' >"$DIR/out/hosts"
line() { printf '%s\n' "$out" | sed -n "s/^$1: //p"; }
before=$(ls /tmp/closfold-ranks.* 2>/dev/null)
j=$(submit -A lab -N4 -w n[1-4] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
like "$out" 'master=n1 rank=0 hosts=n1,n3,n2,n4' "the batch script knows the order, its rank and the master"
is "$(line plain)" "n1 n3 n2 n4" "ranks follow the leaves"
is "$(line dist)" "n1 n2 n3 n4" "-m is the user's"
is "$(line ntasks)" "n1 n2" "-n too"
is "$(line nodes)" "n1 n2" "-N too"
is "$(line only)" "n1 n2 n3 n4" "-w too (srun adds the other nodes by itself)"
is "$(line off)" "n1 n2 n3 n4" "CLOSFOLD_RANKS=off"
is "$(line hostfile)" "n4 n3 n2 n1" "the user's hostfile"
is "$(line env)" "n1/0/n1 n1/1/n1 n1/2/n1 n1/3/n1" "tasks know their node's rank and the master"
is "$(line nested)" "nonenone nonenone nonenone nonenone" "a task does not inherit the hostfile"
f=$(printf '%s\n' "$out" | sed -n 's/^file=//p')
[ -n "$f" ] && [ ! -e "$f" ]
ok $? "the node's file is gone at the end"
is "$(ls /tmp/closfold-ranks.* 2>/dev/null)" "$before" "and srun's"
j=$(submit -A lab -N4 -n8 --exclusive -w n[1-4] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain)" "n1 n1 n3 n3 n2 n2 n4 n4" "several tasks a node"
is "$(line local)" "0 1 0 1 0 1 0 1" "with the right local ids"
j=$(submit -A lab -N3 -n6 -w n[1-3] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain | tr ' ' '\n' | uniq | paste -sd' ')" "n1 n3 n2" "uneven tasks a node"
is "$(line plain | wc -w)" 6 "all of them"
j=$(submit -A lab -N4 --exclusive -w n[1-4] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain)" "n1 n3 n2 n4" "whole nodes without a task count: one task a node"
j=$(submit -A lab -N4 -m cyclic -n4 -w n[1-4] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain)" "n1 n2 n3 n4" "-m given to sbatch is the user's too"
j=$(submit -A lab -N3 -w n[1,3,5] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain)" "n1 n3 n5" "an order that is right already"
out=$(u salloc -A lab -N4 -w n[1-4] srun -l sh -c "$who" | sed 's/^[0-9]*: //' | grep '^[0-9]' | sort -n | awk '{printf "%s ", $2}')
is "$out" "n1 n3 n2 n4 " "srun under salloc"
out=$(u srun -A lab -N4 -w n[1-4] sh -c "$who" | grep '^[0-9]' | sort -n | awk '{printf "%s ", $2}')
is "$out" "n1 n2 n3 n4 " "srun outside an allocation is left alone"
j=$(submit $FLAGGED -N4 -w n[1-4] -W "$DIR/out/job.sh")
out=$(cat "$DIR/out/$j.out")
is "$(line plain)" "n1 n3 n2 n4" "a flagged job's ranks too"
finish
