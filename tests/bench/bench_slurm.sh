#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long job_submit's decision takes inside a real slurmctld of 10,000 nodes: nodes that never come up, submissions by a client of
# libslurm, times by the plugin's own clock (the decision, everything but the record). Prints JSON lines; needs root, munged, slurmctld.
# usage: CLF_BUILD=DIR tests/bench/bench_slurm.sh [NODES]
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
nodes=${1:-10000}
: "${CLF_BUILD:?build directory}"
CLF_BUILD=$(cd "$CLF_BUILD" && pwd)
export CLF_BUILD
# shellcheck source=tests/slurm/cluster.sh
. "$here/tests/slurm/cluster.sh"

dir=$(mktemp -d /run/clf.XXXXXX)
chmod 755 "$dir"
# shellcheck disable=SC2317
stop() {
	cluster_down "$dir"
	rm -rf "$dir"
}
trap stop EXIT
sed "s/n\[1-8\]/n[1-$((nodes / 2))]/; s/, \"max_nodes\": 4//" "$here/tests/slurm/policy.json" >"$dir/bench.json"
for ((k = 0; k * 32 < nodes; k++)); do
	echo "SwitchName=leaf$k Nodes=n[$((k * 32 + 1))-$((k * 32 + 32 < nodes ? k * 32 + 32 : nodes))]"
done >"$dir/bench.topology"
echo "SwitchName=core Switches=leaf[0-$((k - 1))]" >>"$dir/bench.topology"
export CLUSTER_POLICY=$dir/bench.json CLUSTER_TOPOLOGY=$dir/bench.topology CLUSTER_LICENSES=closfold_key:100000
export CLUSTER_EXTRA='PartitionName=cold Nodes=ALL Default=NO MaxTime=INFINITE State=DOWN'
mkdir -p "$dir"/log "$dir"/spool "$dir"/state "$dir"/plug "$dir"/run "$dir"/lib
cp "$CLF_BUILD"/.libs/{spank,job_submit,prep}_closfold.so "$dir/plug/"
cluster_write_conf "$dir" "$nodes" "$(cluster_port 10)"
# one slurmd port for all: none of them is started
sed -i "s/Port=\[[0-9-]*\]/Port=19999/; s/State=UNKNOWN/State=DOWN/" "$dir/slurm.conf"
cluster_env "$dir"
cluster_munge_start "$dir"
cluster_closfoldd_start "$dir"
cluster_ctld_start "$dir" -c
for ((k = 0; k < 100; k++)); do
	grep -q "$nodes nodes)" "$dir/log/slurmctld.log" && break
	sleep 0.1
done
o=_SLURM_SPANK_OPTION_closfold_data
run() { # NAME OPTIONS...
	local name=$1 before line
	shift
	before=$(grep -c 'decisions: p50' "$dir/log/slurmctld.log" || true)
	for ((k = 0; k < 1000; k++)); do
		"$CLF_BUILD/tests/slurm/forge" -p cold "$@" >/dev/null
	done
	line=$(grep 'decisions: p50' "$dir/log/slurmctld.log" | sed -n "$((before + 1))p")
	printf '%s\n' "$line" | sed -E "s/.*decisions: p50 ([0-9.]+) us, p99 ([0-9.]+) us.*/{\"bench\":\"slurmctld_$name\",\"nodes\":$nodes,\"p50_us\":\1,\"p99_us\":\2}/"
}
run ordinary -A lab -N 8
run flagged -A health -N 8 "${o}_class=personal" "${o}_grant=G-17"
