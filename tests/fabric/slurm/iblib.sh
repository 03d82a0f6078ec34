# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iblib.sh - a real Slurm whose nodes hang on a simulated InfiniBand fabric with a real OpenSM. Sourced before tests/slurm/lib.sh.
#
# Nodes n1 to n8 are hosts 2 to 9 of the fabric (host 1 is OpenSM's). What a node's kernel would show in sysfs is mirrored from the ports' real
# tables by smpquery: into a tree a node, which its node daemon and the check in its prolog read. See tests/fabric/opensm/lib.sh for the rest.
CLF_SRCDIR=${CLF_SRCDIR:-$(cd "$(dirname "$0")/../../.." && pwd)}
# shellcheck source=tests/fabric/opensm/lib.sh
. "$CLF_SRCDIR/tests/fabric/opensm/lib.sh"

host_of() { echo $((${1#n} + 1)); } # NODE
table() { pkeys_of "$(host_of "$1")"; }
tables_of() { local n out=''; for n in "$@"; do out+="$(table "$n") "; done; echo "${out% }"; }
all_nodes() { seq -f 'n%.0f' 1 8; }
sys_guid() { sed 's/^0x//; s/..../&:/g; s/:$//' <<<"$1"; }

node_tree() { # NODE: as the kernel shows one HCA
	local p=$DIR/nodes/$1.sys/class/infiniband/mlx5_0 g
	g=$(guid "$(host_of "$1")")
	mkdir -p "$p/ports/1/gids" "$p/ports/1/pkeys"
	sys_guid "$(printf '0x%016x' $((g - 1)))" | tee "$p/node_guid" >"$p/sys_image_guid"
	echo "fe80:0000:0000:0000:$(sys_guid "$g")" >"$p/ports/1/gids/0"
	echo InfiniBand >"$p/ports/1/link_layer"
	echo '4: ACTIVE' >"$p/ports/1/state"
	echo '100 Gb/sec (4X EDR)' >"$p/ports/1/rate"
	mirror "$1"
}
mirror() { # NODE: its table, now
	local p=$DIR/nodes/$1.sys/class/infiniband/mlx5_0/ports/1/pkeys i=0 k t
	[ ! -e "$DIR/nodes/$1.forged" ] || return 0
	t=$(table "$1")
	[ -n "$t" ] || return 0
	for k in ${t//,/ } 0000 0000; do
		echo "0x$k" >"$p/$i.new" && mv "$p/$i.new" "$p/$i"
		i=$((i + 1))
	done
}
mirror_all() { for n in $(all_nodes); do mirror "$n"; done; }

ib_before() { # DIR
	local n
	part=$1/partitions.conf
	FAB_PORT=$((20000 + RANDOM % 10000))
	mkdir -p "$1/nodes"
	fabric --leaves 3 --hosts 4 --spines 2
	sm_start || return 1
	cat >"$1/fabrics.json" <<-END
	{"format":"closfold-fabrics/1","fabrics":[{"name":"ib","driver":"opensm","keys":"0x0100-0x010f","cool_down_s":0,"timeout_ms":5000,"attest":"require","opensm":{
	 "partitions":"$part","pid_file":"$work/sm.pid","sm_ports":["$(guid 1)"],"witness":$(witness_argv)}}]}
	END
	for n in $(all_nodes); do
		cat >"$1/nodes/$n.conf" <<-C
			cluster = loop
			controller = 127.0.0.1:$FAB_PORT
			node_name = $n
			munge_socket = $1/munge/sock
			runtime_dir = $1/run
			state_dir = $1/nodes/$n.run
			slurm_user = root
			sysfs = $1/nodes/$n.sys
			lease_public_key = $1/lib/lease.pub
		C
	done
	# each node of this host has a tree of its own: the check is told which, and sees the table as it is at that moment
	cat >"$1/node-check" <<-C
		#!/bin/bash
		exec "$CLF_BUILD/closfold-node" "\$1" "$1/nodes/\$4.conf" "\$3" "\$4"
	C
	chmod 755 "$1/node-check"
	export CLF_NODE_CHECK=$1/node-check
	export CLUSTER_CONF="fabrics = $1/fabrics.json
listen = 127.0.0.1:$FAB_PORT
munge_socket = $1/munge/sock
reconcile_s = 1
lease_grace_s = 1
start_failures = 20"
}
ib_after() { # DIR
	local p
	for p in "$1"/nodes/*.pid; do
		[ -s "$p" ] && kill "$(cat "$p")" 2>/dev/null
	done
	stop_all
	rm -rf "$work"
}
export BEGIN_HOOK=ib_before END_HOOK=ib_after
ib_begin() {
	local n
	begin 8
	for n in $(all_nodes); do
		node_tree "$n"
		"$CLF_BUILD/closfoldd" --role node -f "$DIR/nodes/$n.conf" >"$DIR/log/node.$n.log" 2>&1 </dev/null 7>&- 8>&- 9>&- &
		echo $! >"$DIR/nodes/$n.pid"
	done
	(while :; do mirror_all; sleep 0.1; done) >/dev/null 2>&1 7>&- 9>&- &
	echo $! >"$DIR/nodes/mirror.pid"
	wait_for 20 '[ "$("$CLF_BUILD/closfold" status --json | grep -o "\"fresh\":[0-9]*" | cut -d: -f2)" = 8 ]' || echo "# not all node daemons report"
}
hosts_of_job() { timeout 10 scontrol show hostnames "$(job_line "$1" | grep -oE ' NodeList=[^ ]*' | cut -d= -f2)"; }
lease_json() { "$CLF_BUILD/closfold" lease list --json ${2:+"$2"} --job "$1"; }
ib_at_rest() { [ "$(tables_of $(all_nodes) | tr ' ' '\n' | sort -u)" = 8001,7fff ] && "$CLF_BUILD/closfold" lease list | grep -q '^no open leases'; }
held_job() { # OUT N [OPTIONS...]
	local out=$1 n=$2
	shift 2
	submit $FLAGGED -N"$n" --requeue "$@" --wrap "echo \$NCCL_IB_PKEY \$UCX_IB_PKEY >>$out; while [ ! -e $out.go ]; do sleep 0.05; done; echo end >>$out"
}
