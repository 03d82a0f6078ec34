# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cluster.sh - a private Slurm cluster on 127.0.0.1, to be sourced: munged, slurmctld, N slurmds, closfoldd. Needs root.
#
#   cluster_up DIR NODES       make DIR (absolute, fresh; its parents owned by root, executable by all), start everything, wait until idle
#   cluster_down DIR           stop everything that was started for DIR, by pid file, and nothing else; DIR stays
#   cluster_ctld_start DIR / cluster_ctld_stop DIR [SIGNAL]           slurmctld alone
#   cluster_closfoldd_start DIR / cluster_closfoldd_stop DIR [SIGNAL]    closfoldd alone
#   cluster_env DIR            export SLURM_CONF and CLOSFOLD_CONF for clients
#   cluster_as USER COMMAND..  run a client as a user, with the cluster's SLURM_CONF and a time limit
#
# Nodes are n1..nN with CLUSTER_CPUS CPUs each; partitions are main (default) and secure, both with all nodes; licence closfold_key.
#
# Where closfold is taken from (all optional):
#   CLF_BUILD           build directory: plugins from .libs/, closfoldd, closfold-slurm; empty = installed, by the following
#   CLF_PLUGINS         directory with the plugins, default $CLF_BUILD/.libs
#   CLF_CLOSFOLDD       program, default $CLF_BUILD/closfoldd
#   CLF_SLURM_QUERY     program, default $CLF_BUILD/closfold-slurm
#   SLURM_STOCK         Slurm's own plugin directory, default: looked for in the usual places
# What the cluster is like (all optional):
#   CLUSTER_TOPOLOGY    topology.conf to copy; default 4 nodes a leaf, 2 leaves a pod, one core
#   CLUSTER_TOPOLOGY_JSON  closfold's topology file to copy; default the same topology.conf
#   CLUSTER_POLICY      policy file to copy; default none
#   CLUSTER_JOBSUBMIT   JobSubmitPlugins, default closfold; "none" leaves it out
#   CLUSTER_PREP        PrEpPlugins, default prep/closfold,prep/script; "none" leaves it out
#   CLUSTER_SPANK       no = empty plugstack.conf; CLUSTER_SPANK_ARGS = arguments of the plugin
#   CLUSTER_DAEMON      no = do not start closfoldd
#   CLUSTER_CONF        more lines for closfold.conf          CLUSTER_EXTRA   more lines for slurm.conf, after the nodes
#   CLUSTER_PROLOG      Prolog= program                       CLUSTER_LICENSES  default closfold_key:4
#   CLUSTER_NAMES       file with the names of the NODES nodes, one a line; default n1 to nN
#   CLUSTER_NODE_EXTRA  more words for the NodeName line      CLUSTER_CPUS    default 8
#   CLUSTER_PORT        slurmctld's port, slurmd n uses +n; default: a free range is looked for
# Traps it takes care of: see docs/adr/0007-private-headers-and-prep.md.

PATH=$PATH:/usr/sbin:/sbin

cluster_fail() { printf 'cluster: %s\n' "$*" >&2; return 1; }

cluster_stock() {
	local d
	for d in ${SLURM_STOCK:+"$SLURM_STOCK"} /usr/lib/"$(uname -m)"-linux-gnu/slurm-wlm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
		[ -e "$d/auth_munge.so" ] && { echo "$d"; return 0; }
	done
	cluster_fail "Slurm's plugin directory not found: set SLURM_STOCK"
}

# First port of a free run: nothing listens on it, and no other cluster of ours has reserved it (the reservation is a listening-free
# check plus a random start; a lost race shows as a slurmctld that does not start, and cluster_up tries another range).
cluster_port() {
	local n=$1 base used
	used=$(ss -Htln 2>/dev/null | awk '{sub(/.*:/, "", $4); print $4}')
	for _ in {1..20}; do
		base=$((20000 + (RANDOM * 32768 + RANDOM) % 11000))
		if ! printf '%s\n' "$used" | awk -v a="$base" -v b=$((base + n + 1)) '$1 >= a && $1 <= b {f = 1} END {exit !f}'; then
			echo "$base"
			return 0
		fi
	done
	cluster_fail "no free port range"
}

# Stop the process of a pid file and wait for it; a stale file is removed. $2 signal, $3 seconds
cluster_stop_pid() {
	local p i
	[ -s "$1" ] || return 0
	read -r p <"$1" || true
	case $p in '' | *[!0-9]*) rm -f "$1"; return 0 ;; esac
	# A reused pid must not be hit: only a process that was started for this directory names it in its arguments.
	if grep -qaF "$4" "/proc/$p/cmdline" 2>/dev/null; then
		kill "-${2:-TERM}" "$p" 2>/dev/null
		kill -CONT "$p" 2>/dev/null
		for ((i = 0; i < ${3:-10} * 20; i++)); do
			kill -0 "$p" 2>/dev/null || break
			sleep 0.05
		done
		kill -0 "$p" 2>/dev/null && kill -KILL "$p" 2>/dev/null
	fi
	rm -f "$1"
}

cluster_alive() { # PIDFILE
	local p
	[ -s "$1" ] && read -r p <"$1" && kill -0 "$p" 2>/dev/null
}

cluster_env() {
	export SLURM_CONF=$1/slurm.conf CLOSFOLD_CONF=$1/closfold.conf
}

cluster_as() {
	local user=$1
	shift
	timeout "${CLUSTER_TIMEOUT:-30}" runuser -u "$user" -- env SLURM_CONF="$SLURM_CONF" "$@"
}

cluster_write_conf() { # DIR NODES PORT
	local dir=$1 n=$2 port=$3 host stock job_submit=${CLUSTER_JOBSUBMIT:-closfold} prep=${CLUSTER_PREP:-prep/closfold,prep/script} k leaves=''
	host=$(hostname -s)
	stock=$(cluster_stock) || return 1
	[ "$job_submit" = none ] && job_submit=
	[ "$prep" = none ] && prep=
	cat >"$dir/slurm.conf" <<-C
		ClusterName=loop
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmdPidFile=$dir/spool/slurmd.%n.pid
		SlurmdSpoolDir=$dir/spool/%n
		StateSaveLocation=$dir/state
		SlurmctldLogFile=$dir/log/slurmctld.log
		SlurmdLogFile=$dir/log/slurmd.%n.log
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$dir/munge/sock
		CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=2,sched_interval=2,sched_min_interval=50000,bf_continue
		TopologyPlugin=topology/tree
		PluginDir=$dir/plug:$stock
		PlugStackConfig=$dir/plugstack.conf
		${job_submit:+JobSubmitPlugins=$job_submit}
		${prep:+PrEpPlugins=$prep}
		${CLUSTER_PROLOG:+Prolog=$CLUSTER_PROLOG}
		PrologFlags=Alloc
		ReturnToService=2
		SlurmctldDebug=${CLUSTER_DEBUG:-debug}
		SlurmdDebug=${CLUSTER_DEBUG:-debug}
		KillWait=2
		MessageTimeout=10
		SlurmdTimeout=600
		InactiveLimit=0
		SlurmdParameters=config_overrides
		MaxJobCount=20000
		JobRequeue=1
		Licenses=${CLUSTER_LICENSES:-closfold_key:4}
		NodeName=$(cluster_names "$n" | paste -sd,) NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + n))] CPUs=${CLUSTER_CPUS:-8} RealMemory=1000 State=UNKNOWN ${CLUSTER_NODE_EXTRA:-}
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
		PartitionName=secure Nodes=ALL Default=NO MaxTime=INFINITE State=UP
	C
	printf '%s\n' "${CLUSTER_EXTRA:-}" >>"$dir/slurm.conf"
	if [ -n "${CLUSTER_TOPOLOGY:-}" ]; then
		install -m 644 "$CLUSTER_TOPOLOGY" "$dir/topology.conf" || return 1
	else
		for ((k = 0; k * 4 < n; k++)); do
			echo "SwitchName=leaf$k Nodes=n[$((k * 4 + 1))-$((k * 4 + 4 < n ? k * 4 + 4 : n))]"
		done >"$dir/topology.conf"
		for ((leaves = k, k = 0; k * 2 < leaves; k++)); do
			echo "SwitchName=pod$k Switches=leaf[$((k * 2))-$((k * 2 + 1 < leaves ? k * 2 + 1 : k * 2))]"
		done >>"$dir/topology.conf"
		[ "$k" -gt 1 ] && echo "SwitchName=core Switches=pod[0-$((k - 1))]" >>"$dir/topology.conf"
	fi
	if [ "${CLUSTER_SPANK:-yes}" = yes ]; then
		echo "required $dir/plug/spank_closfold.so ${CLUSTER_SPANK_ARGS:-}" >"$dir/plugstack.conf"
	else
		: >"$dir/plugstack.conf"
	fi
	[ -n "${CLUSTER_POLICY:-}" ] && { install -m 644 "$CLUSTER_POLICY" "$dir/policy.json" || return 1; }
	if [ -n "${CLUSTER_TOPOLOGY_JSON:-}" ]; then
		install -m 644 "$CLUSTER_TOPOLOGY_JSON" "$dir/topology.json" || return 1
	fi
	cat >"$dir/closfold.conf" <<-C
		cluster = loop
		policy = $dir/policy.json
		topology = $dir/$([ -f "$dir/topology.json" ] && echo topology.json || echo topology.conf)
		state_dir = $dir/lib
		runtime_dir = $dir/run
		slurm_query = ${CLF_SLURM_QUERY:-${CLF_BUILD:+$CLF_BUILD/closfold-slurm}}
		node_check = ${CLF_NODE_CHECK:-${CLF_BUILD:+$CLF_BUILD/closfold-node}}
		lease_public_key = $dir/lib/lease.pub
		slurm_conf = $dir/slurm.conf
		slurm_user = root
	C
	[ -n "${CLF_SLURM_QUERY:-}${CLF_BUILD:-}" ] || sed -i '/^slurm_query/d' "$dir/closfold.conf"
	[ -n "${CLF_NODE_CHECK:-}${CLF_BUILD:-}" ] || sed -i '/^node_check/d' "$dir/closfold.conf"
	printf '%s\n' "${CLUSTER_CONF:-}" >>"$dir/closfold.conf"
}

# Names of the nodes, one a line
cluster_names() { # NODES
	if [ -n "${CLUSTER_NAMES:-}" ]; then
		head -n "$1" "$CLUSTER_NAMES"
	else
		seq -f 'n%.0f' 1 "$1"
	fi
}

cluster_munge_start() {
	local dir=$1
	mkdir -p "$dir/munge" && chmod 0711 "$dir/munge" || return 1
	[ -f "$dir/munge/key" ] || (umask 077 && dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 status=none) || return 1
	munged --force --key-file="$dir/munge/key" --socket="$dir/munge/sock" --pid-file="$dir/munge/pid" \
		--log-file="$dir/munge/log" --seed-file="$dir/munge/seed" >/dev/null 2>&1 || cluster_fail "munged does not start, see $dir/munge/log"
}

cluster_closfoldd_start() {
	local dir=$1 prog=${CLF_CLOSFOLDD:-${CLF_BUILD:+$CLF_BUILD/closfoldd}} i
	[ "${CLUSTER_DAEMON:-yes}" = yes ] || return 0
	prog=${prog:-$(command -v closfoldd)}
	[ -x "$prog" ] || cluster_fail "closfoldd not found: set CLF_CLOSFOLDD" || return 1
	rm -f "$dir/closfoldd.pid" "$dir/run/closfoldd.sock" # one left by kill -9 would look like a daemon that listens
	setsid "$prog" -f "$dir/closfold.conf" >>"$dir/log/closfoldd.log" 2>&1 </dev/null &
	echo $! >"$dir/closfoldd.pid"
	for ((i = 0; i < 200; i++)); do
		[ -S "$dir/run/closfoldd.sock" ] && return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	cluster_fail "closfoldd does not start: $(tail -n 1 "$dir/log/closfoldd.log")"
}

cluster_closfoldd_stop() { cluster_stop_pid "$1/closfoldd.pid" "${2:-TERM}" 10 "$1/"; }

# slurmctld leaves the terminal before it loads its plugins: its exit status proves nothing, the process and the log do.
cluster_ctld_start() {
	local dir=$1 i
	rm -f "$dir/slurmctld.pid"
	slurmctld ${2:+"$2"} -f "$dir/slurm.conf" >/dev/null 2>&1 </dev/null || cluster_fail "slurmctld: $(grep -h fatal: "$dir/log/slurmctld.log" | tail -n 1)" || return 1
	for ((i = 0; i < 200; i++)); do
		SLURM_CONF=$dir/slurm.conf timeout 5 scontrol ping 2>/dev/null | grep -q UP && return 0
		[ "$i" -gt 20 ] && ! cluster_alive "$dir/slurmctld.pid" && break
		sleep 0.1
	done
	cluster_fail "slurmctld does not start: $(grep -h 'fatal:\|error:' "$dir/log/slurmctld.log" | tail -n 1)"
}

cluster_ctld_stop() { cluster_stop_pid "$1/slurmctld.pid" "${2:-TERM}" 20 "$1/"; }

cluster_up() {
	local dir=$1 n=$2 f i port
	case $dir in /*) ;; *) cluster_fail "DIR must be absolute: daemons change directory"; return 1 ;; esac
	[ "$(id -u)" = 0 ] || cluster_fail "needs root" || return 1
	mkdir -p "$dir"/log "$dir"/spool "$dir"/state "$dir"/plug "$dir"/run "$dir"/lib || return 1
	chmod 755 "$dir" "$dir/plug" "$dir/run"
	f=${CLF_PLUGINS:-${CLF_BUILD:+$CLF_BUILD/.libs}}
	for i in spank_closfold job_submit_closfold prep_closfold; do
		[ -n "$f" ] && [ -e "$f/$i.so" ] && { cp "$f/$i.so" "$dir/plug/$i.new" && mv "$dir/plug/$i.new" "$dir/plug/$i.so" || return 1; }
	done
	port=${CLUSTER_PORT:-$(cluster_port "$n")} || return 1
	cluster_write_conf "$dir" "$n" "$port" || return 1
	cluster_env "$dir"
	cluster_munge_start "$dir" || return 1
	cluster_closfoldd_start "$dir" || return 1
	cluster_ctld_start "$dir" -c || return 1
	for i in $(cluster_names "$n"); do
		mkdir -p "$dir/spool/$i"
		slurmd -f "$dir/slurm.conf" -N "$i" >/dev/null 2>&1 </dev/null
	done
	for ((i = 0; i < 300; i++)); do
		[ "$(timeout 5 sinfo -h -p main -t idle -o %D 2>/dev/null)" = "$n" ] && return 0
		sleep 0.1
	done
	cluster_fail "not all nodes are idle: $(timeout 5 sinfo -h -p main -o '%D %t' | tr '\n' ' ')"
}

cluster_down() {
	local dir=$1 f
	cluster_ctld_stop "$dir"
	for f in "$dir"/spool/slurmd.*.pid; do # all at once, then each in turn
		[ -s "$f" ] && grep -qaF "$dir/" "/proc/$(cat "$f")/cmdline" 2>/dev/null && kill "$(cat "$f")" 2>/dev/null
	done
	for f in "$dir"/spool/slurmd.*.pid; do
		[ -e "$f" ] && cluster_stop_pid "$f" TERM 10 "$dir/"
	done
	cluster_closfoldd_stop "$dir"
	cluster_stop_pid "$dir/munge/pid" TERM 5 "$dir/"
	return 0
}
