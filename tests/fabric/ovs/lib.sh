# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# lib.sh - a fabric of real Open vSwitch in network namespaces: two leaves, a spine, nodes. To be sourced by bash; for
# tests, the demonstration and Slurm tests. Needs root, /dev/net/tun, openvswitch-switch, iproute2, ethtool.
#
#   ovs_up DIR                 build it; everything it makes is under DIR (absolute, fresh) or named in DIR/namespaces
#   ovs_down DIR               stop what DIR's pid files name, delete those namespaces, remove DIR; may be called twice
#   ovs_fabrics_json DIR [REST]   print the fabric as an object of fabrics.json's list; REST: VLAN id, or quarantine
#   ovs_fabrics_file DIR [REST]   print a whole fabrics.json with it
#   ovs_db DIR SWITCH ARG...   ovs-vsctl on a switch          ovs_ns DIR NAME    namespace of a node or switch
#   ovs_pid DIR SWITCH vsw|db  pid of its vswitchd or ovsdb-server
#   ovs_start DIR SWITCH vsw|db   start it again after a kill
#
# Nodes are n1, n2, ... with eth0 in a namespace of their own; ports of leaf1 are swp1, swp2, ... and so on. Port of node n
# rests in VLAN 3000+n. Every switch has its own namespace, ovsdb-server and ovs-vswitchd (userspace datapath).
# Variables, read by ovs_up and kept in DIR/env for the rest:
#   OVS_NODES   nodes per leaf (4)                 OVS_TRUNK   VLANs of the links between switches (100,...,107)
#   OVS_KEYS    range of job VLANs (100-107)       OVS_NET     first three octets of the nodes' addresses (10.77.0)
#   OVS_NODE    prefix of node names (n)           OVS_NAME    name of the fabric (eth)
#   OVS_TCP     first TCP port on 127.0.0.1: leaf1, leaf2, spine1 (unset: unix sockets only)
#   OVS_TLS     directory with srv.key, srv.pem, ca.pem: those ports want TLS and a client's certificate
#   OVS_MGMT    1: each node also gets mgmt0 in a bridge in a namespace of its own ("mgmt"), OVS_MGMT_NET.n (10.78.0); the
#               bridge has .254
OVS_SWITCHES="leaf1 leaf2 spine1"

# Why a fabric cannot be built here, or nothing.
ovs_missing() {
	[ "$(id -u)" -eq 0 ] || { echo "needs root"; return; }
	[ -c /dev/net/tun ] || { echo "no /dev/net/tun"; return; }
	local c
	for c in ovs-vsctl ovsdb-server ovs-vswitchd ovsdb-tool ip ethtool; do
		command -v $c >/dev/null || PATH=$PATH:/usr/sbin command -v $c >/dev/null || { echo "no $c"; return; }
	done
	ip netns add clfprobe$$ 2>/dev/null && ip netns del clfprobe$$ || echo "no network namespaces"
}

ovs_env() {
	# shellcheck disable=SC1091
	. "$1/env"
}

ovs_db() { local d=$1 s=$2; shift 2; ovs-vsctl --timeout=15 --db="unix:$d/$s/db.sock" "$@"; }
ovs_ns() { local P; ovs_env "$1"; echo "$P$2"; }
ovs_pid() { cat "$1/$2/$3.pid"; }

ovs_add_ns() { # DIR NAME
	echo "$P$2" >>"$1/namespaces"
	ip netns add "$P$2" && ip -n "$P$2" link set lo up
}

ovs_start() { # DIR SWITCH vsw|db
	local d=$1 s=$2 r=$1/$2 i=0 P OVS_NODES OVS_TRUNK OVS_KEYS OVS_NET OVS_NODE OVS_NAME OVS_TCP OVS_TLS OVS_MGMT OVS_MGMT_NET
	ovs_env "$d"
	local -x OVS_RUNDIR=$r OVS_LOGDIR=$r OVS_DBDIR=$r OVS_SYSCONFDIR=$r
	if [ "$3" = vsw ]; then
		ip netns exec "$P$s" ovs-vswitchd "unix:$r/db.sock" --pidfile="$r/vsw.pid" --log-file="$r/vsw.log" --unixctl="$r/vsw.ctl" \
			--detach --no-chdir >/dev/null 2>&1
		return
	fi
	case $s in leaf2) i=1 ;; spine1) i=2 ;; esac
	local -a more=()
	# The database server stays outside the switch's namespace, so that its TCP port is reached.
	[ -z "$OVS_TCP" ] || more=(--remote="p${OVS_TLS:+ssl}${OVS_TLS:-tcp}:$((OVS_TCP + i)):127.0.0.1")
	[ -z "$OVS_TLS" ] || more=(--remote="pssl:$((OVS_TCP + i)):127.0.0.1" --private-key="$OVS_TLS/srv.key"
		--certificate="$OVS_TLS/srv.pem" --ca-cert="$OVS_TLS/ca.pem")
	ovsdb-server "$r/conf.db" --remote="punix:$r/db.sock" "${more[@]}" --pidfile="$r/db.pid" --log-file="$r/db.log" \
		--unixctl="$r/db.ctl" --detach --no-chdir >/dev/null 2>&1
}

ovs_switch_up() { # DIR SWITCH NUMBER
	local d=$1 s=$2 r=$1/$2
	mkdir -p "$r" && ovs_add_ns "$d" "$s" || return 1
	ovsdb-tool create "$r/conf.db" /usr/share/openvswitch/vswitch.ovsschema && ovs_start "$d" "$s" db || return 1
	ovs_db "$d" "$s" --no-wait init && ovs_start "$d" "$s" vsw || return 1
	# its own port is a trunk of all VLANs unless it has a tag
	ovs_db "$d" "$s" add-br br0 -- set bridge br0 datapath_type=netdev fail_mode=standalone \
		other_config:hwaddr="02:00:00:00:01:0$3" -- set port br0 tag=4000
}

ovs_link() { # DIR LEAF PORT SPINE PORT
	ip link add "$3" netns "$P$2" mtu 9216 type veth peer name "$5" netns "$P$4" mtu 9216 || return 1
	ip -n "$P$2" link set "$3" up && ip -n "$P$4" link set "$5" up || return 1
	ovs_db "$1" "$2" add-port br0 "$3" -- set port "$3" vlan_mode=trunk "trunks=$OVS_TRUNK" &&
		ovs_db "$1" "$4" add-port br0 "$5" -- set port "$5" vlan_mode=trunk "trunks=$OVS_TRUNK"
}

ovs_node_up() { # DIR LEAF PORT NUMBER: namespace and cable; the port is added by the caller
	local ns=$P$OVS_NODE$4
	ovs_add_ns "$1" "$OVS_NODE$4" && ip link add "$3" netns "$P$2" type veth peer name eth0 netns "$ns" || return 1
	ip -n "$P$2" link set "$3" up && ip -n "$ns" link set eth0 up && ip -n "$ns" addr add "$OVS_NET.$4/24" dev eth0 || return 1
	# the userspace datapath does not complete partial checksums: without this TCP hangs
	ip netns exec "$ns" ethtool -K eth0 tx off >/dev/null 2>&1
	[ -n "$OVS_MGMT" ] || return 0
	ip link add "m$4" netns "${P}mgmt" type veth peer name mgmt0 netns "$ns" || return 1
	ip -n "${P}mgmt" link set "m$4" master br-mgmt up && ip -n "$ns" link set mgmt0 up &&
		ip -n "$ns" addr add "$OVS_MGMT_NET.$4/24" dev mgmt0
}

ovs_leaf_nodes() { # DIR LEAF FIRST
	local i n
	local -a add=()
	for ((i = 1; i <= OVS_NODES; i++)); do
		n=$(($3 + i))
		ovs_node_up "$1" "$2" "swp$i" $n || return 1
		add+=(-- add-port br0 "swp$i" -- set port "swp$i" vlan_mode=access "tag=$((3000 + n))")
	done
	ovs_db "$1" "$2" "${add[@]:1}"
}

ovs_mgmt_up() { # DIR
	[ -n "$OVS_MGMT" ] || return 0
	ovs_add_ns "$1" mgmt && ip -n "${P}mgmt" link add br-mgmt type bridge && ip -n "${P}mgmt" link set br-mgmt up &&
		ip -n "${P}mgmt" addr add "$OVS_MGMT_NET.254/24" dev br-mgmt
}

ovs_up() { # DIR
	local d=$1 s i=0 P
	mkdir -p "$d" || return 1
	P=co$(printf '%s' "$d" | cksum | cut -d' ' -f1)-
	local OVS_NODES=${OVS_NODES:-4} OVS_KEYS=${OVS_KEYS:-100-107} OVS_NET=${OVS_NET:-10.77.0} OVS_NODE=${OVS_NODE:-n}
	local OVS_NAME=${OVS_NAME:-eth} OVS_TCP=${OVS_TCP:-} OVS_TLS=${OVS_TLS:-} OVS_MGMT=${OVS_MGMT:-}
	local OVS_TRUNK=${OVS_TRUNK:-$(seq -s, "${OVS_KEYS%-*}" "${OVS_KEYS#*-}")} OVS_MGMT_NET=${OVS_MGMT_NET:-10.78.0}
	declare -p P OVS_NODES OVS_KEYS OVS_NET OVS_NODE OVS_NAME OVS_TCP OVS_TLS OVS_MGMT OVS_TRUNK OVS_MGMT_NET |
		sed 's/^declare -[-x]* //' >"$d/env"
	: >"$d/namespaces"
	for s in $OVS_SWITCHES; do
		i=$((i + 1))
		ovs_switch_up "$d" "$s" $i || return 1
	done
	ovs_mgmt_up "$d" && ovs_link "$d" leaf1 up1 spine1 dn1 && ovs_link "$d" leaf2 up1 spine1 dn2 || return 1
	ovs_leaf_nodes "$d" leaf1 0 && ovs_leaf_nodes "$d" leaf2 "$OVS_NODES"
}

ovs_down() { # DIR
	local d=$1 s p pid ns i
	[ -f "$d/namespaces" ] || return 0
	for s in $OVS_SWITCHES; do
		for p in vsw db; do
			pid=$(cat "$d/$s/$p.pid" 2>/dev/null) || continue
			kill -CONT "$pid" 2>/dev/null
			kill "$pid" 2>/dev/null
			for ((i = 0; i < 40; i++)); do # a zombie does not count: a container's init may not collect it
				grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status" 2>/dev/null || break
				[ $i -lt 30 ] || kill -9 "$pid" 2>/dev/null
				sleep 0.05
			done
		done
	done
	while read -r ns; do ip netns del "$ns" 2>/dev/null; done <"$d/namespaces"
	rm -rf "${d:?}"
}

ovs_json_ports() { # LEAF FIRST
	local i
	for ((i = 1; i <= OVS_NODES; i++)); do
		printf '%s{"port":"swp%d","node":"%s%d","nic":"eth0","quarantine":%d}' "$([ $i -eq 1 ] || echo ,)" $i "$OVS_NODE" \
			$(($2 + i)) $((3000 + $2 + i))
	done
}

ovs_json_remote() { # DIR SWITCH NUMBER
	if [ -n "$OVS_TLS" ]; then
		printf '"remote":"ssl:127.0.0.1:%d","key":"%s/cli.key","cert":"%s/cli.pem","ca":"%s/ca.pem"' $((OVS_TCP + $3 - 1)) \
			"$OVS_TLS" "$OVS_TLS" "$OVS_TLS"
	elif [ -n "$OVS_TCP" ]; then
		printf '"remote":"tcp:127.0.0.1:%d"' $((OVS_TCP + $3 - 1))
	else
		printf '"remote":"unix:%s/%s/db.sock"' "$1" "$2"
	fi
}

ovs_fabrics_json() { # DIR [REST]
	local d=$1 rest=${2:-quarantine} s i=0 P OVS_NODES OVS_TRUNK OVS_KEYS OVS_NET OVS_NODE OVS_NAME OVS_TCP OVS_TLS OVS_MGMT
	local OVS_MGMT_NET uplinks ports
	ovs_env "$d"
	[ "$rest" != quarantine ] || rest='"quarantine"'
	printf '{"name":"%s","driver":"ovsdb","keys":"%s","cool_down_s":0,"ovsdb":{"rest":%s,"switches":[\n' "$OVS_NAME" "$OVS_KEYS" "$rest"
	for s in $OVS_SWITCHES; do
		i=$((i + 1)) uplinks='"up1"' ports=
		case $s in
		leaf1) ports=$(ovs_json_ports leaf1 0) ;;
		leaf2) ports=$(ovs_json_ports leaf2 "$OVS_NODES") ;;
		spine1) uplinks='"dn1","dn2"' ;;
		esac
		printf ' %s{"name":"%s",%s,"chassis":"02:00:00:00:01:0%d","bridge":"br0","uplinks":[%s],"ports":[%s]}\n' \
			"$([ $i -eq 1 ] || echo ,)" "$s" "$(ovs_json_remote "$d" "$s" $i)" $i "$uplinks" "$ports"
	done
	printf ']}}\n'
}

ovs_fabrics_file() { # DIR [REST]
	printf '{"format":"closfold-fabrics/1","fabrics":[\n%s]}\n' "$(ovs_fabrics_json "$@")"
}
