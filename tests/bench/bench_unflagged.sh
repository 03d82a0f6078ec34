#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What closfold costs a job that it does not concern: the wall time of "srun -N1 true" on a real Slurm of two nodes, without closfold's
# plugins and with all of them, in turns. Root. From the build tree: CLF_BUILD=. bash SRCDIR/tests/bench/bench_unflagged.sh [ROUNDS] [TURNS]
SRC=$(cd "$(dirname "$0")/../.." && pwd)
: "${CLF_BUILD:?build directory}"
CLF_BUILD=$(cd "$CLF_BUILD" && pwd)
export CLF_BUILD
# shellcheck source=tests/slurm/cluster.sh
. "$SRC/tests/slurm/cluster.sh"
rounds=${1:-50} turns=${2:-3}
work=$(mktemp -d)
export CLUSTER_DEBUG=info
trap 'rm -rf "$work"' EXIT

measure() { # NAME: times in ms into $work/NAME
	local dir i a b
	dir=$(mktemp -d /run/clf.XXXXXX) && chmod 755 "$dir"
	CLUSTER_POLICY=$SRC/tests/slurm/policy.json cluster_up "$dir" 2 || exit 1
	cluster_env "$dir"
	for ((i = 0; i < rounds + 5; i++)); do
		a=$(date +%s%N)
		cluster_as daemon srun -A lab -N1 true || exit 1
		b=$(date +%s%N)
		[ $i -lt 5 ] || echo $(((b - a) / 1000)) >>"$work/$1"
	done
	cluster_down "$dir"
	rm -rf "$dir"
}
for ((t = 0; t < turns; t++)); do
	CLUSTER_PREP=none CLUSTER_JOBSUBMIT=none CLUSTER_SPANK=no CLUSTER_DAEMON=no measure without
	measure with
done
for n in without with; do
	sort -n "$work/$n" | awk -v n=$n '{v[NR] = $1} END {printf "{\"bench\":\"unflagged\",\"closfold\":\"%s\",\"jobs\":%d,\"median_ms\":%.2f,\"p90_ms\":%.2f}\n", n, NR, v[int((NR + 1) / 2)] / 1000, v[int(NR * 0.9)] / 1000}'
done
