# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - a real Slurm whose nodes hang on a real fabric. Sourced by the tests here, before "begin N".
#
# Slurm, munged, closfoldd run in the fabric's management namespace, a node daemon in each node's own; the script starts itself
# again in there. fabric_begin does all; see tests/slurm/lib.sh and tests/fabric/ovs/lib.sh for what is there then.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/fabric/ovs/lib.sh
. "$HERE/../ovs/lib.sh"

fabric_skip() {
	case ,${CLF_REQUIRE:-}, in
	*,fabric,*) echo "not ok 1 - $1 (CLF_REQUIRE=fabric)"; echo 1..1; exit 1 ;;
	*) echo "1..0 # SKIP $1"; exit 0 ;;
	esac
}

# The switches, and this script inside them. REST: VLAN of ordinary jobs, or quarantine.
ovs_inside() { # REST
	local why
	if [ -n "${FAB:-}" ]; then
		FAB_REST=$1
		return 0
	fi
	why=$(ovs_missing)
	[ -z "$why" ] || fabric_skip "Open vSwitch: $why"
	FAB=$(mktemp -d /run/clf-fab.XXXXXX) && chmod 755 "$FAB" || exit 1
	trap 'ovs_down "$FAB/ovs"; rm -rf "$FAB"' EXIT
	OVS_MGMT=1 ovs_up "$FAB/ovs" || { echo "not ok 1 - switches"; echo 1..1; exit 1; }
	# not "ip netns exec": that takes the cgroup mounts away, and slurmd needs one
	FAB=$FAB nsenter --net="/run/netns/$(ovs_ns "$FAB/ovs" mgmt)" bash "$0" ${ARGS+"${ARGS[@]}"}
	exit $?
}

node_conf() { # DIR NODE
	mkdir -p "$1/nodes/$2.run"
	cat >"$1/nodes/$2.conf" <<-C
		cluster = loop
		controller = 10.78.0.254:$FAB_PORT
		node_name = $2
		munge_socket = $1/munge/sock
		runtime_dir = $1/nodes/$2.run
		state_dir = $1/nodes/$2.run
		slurm_user = root
	C
}

nodes_start() { # DIR: once munged runs
	local n
	for n in $(seq -f "n%.0f" 1 8); do
		node_conf "$1" "$n"
		ip netns exec "$(ovs_ns "$FAB/ovs" "$n")" "$CLF_BUILD/closfoldd" --role node -f "$1/nodes/$n.conf" >"$1/log/node.$n.log" 2>&1 </dev/null &
		echo $! >"$1/nodes/$n.pid"
	done
}

nodes_stop() { # DIR
	local p
	for p in "$1"/nodes/*.pid; do
		[ -s "$p" ] && kill "$(cat "$p")" 2>/dev/null
	done
	return 0
}

fabric_before() { # DIR
	FAB_PORT=$((20000 + RANDOM % 10000))
	ovs_fabrics_file "$FAB/ovs" "$FAB_REST" | sed "s/\"cool_down_s\":0/\"cool_down_s\":${COOL:-0},\"timeout_ms\":${TIMEOUT_MS:-3000}${FAB_MORE:-}/" >"$1/fabrics.json"
	chmod 644 "$1/fabrics.json"
	export CLUSTER_CONF="fabrics = $1/fabrics.json
listen = 10.78.0.254:$FAB_PORT
munge_socket = $1/munge/sock
reconcile_s = 1
lease_grace_s = 1
start_failures = 20
${MORE_CONF:-}"
}

export BEGIN_HOOK=fabric_before END_HOOK=nodes_stop
fabric_begin() { # NODES
	begin "$1"
	nodes_start "$DIR"
	wait_for 20 '[ "$("$CLF_BUILD/closfold" status --json | grep -o "\"fresh\":[0-9]*" | cut -d: -f2)" = 8 ]' || echo "# not all node daemons report"
}

tag() { # NODE: VLAN of its port
	local n=${1#n} leaf=leaf1 p
	[ "$n" -le 4 ] || leaf=leaf2
	p=$(((n - 1) % 4 + 1))
	ovs_db "$FAB/ovs" "$leaf" get port "swp$p" tag
}
tags() { local n out=''; for n in "$@"; do out+="$(tag "$n") "; done; echo "${out% }"; }
all_tags() { tags n1 n2 n3 n4 n5 n6 n7 n8; }
hosts_of() { timeout 10 scontrol show hostnames "$(job_line "$1" | grep -oE ' NodeList=[^ ]*' | cut -d= -f2)"; }
hop() { "$CLF_BUILD/tests/fabric/ovs/hop" "$(ovs_ns "$FAB/ovs" "$1")" "$(ovs_ns "$FAB/ovs" "$2")" "${3:--}"; }
lease_json() { "$CLF_BUILD/closfold" lease list --json ${2:+"$2"} --job "$1"; }
# Every port at rest, no lease open.
at_rest() { [ "$(all_tags | tr ' ' '\n' | sort -u)" = "$FAB_REST" ] && "$CLF_BUILD/closfold" lease list | grep -q '^no open leases'; }
# A job that says when it began and ended, by the clock of the switches' log.
# A flagged job of N nodes that writes when it began, waits for OUT.go, and writes when it ended; prints its id.
held_job() { # OUT N [OPTIONS...]
	local out=$1 n=$2
	shift 2
	submit $FLAGGED -N"$n" --requeue "$@" --wrap "date +%s.%N >>$out; while [ ! -e $out.go ]; do sleep 0.05; done; date +%s.%N >>$out"
}
