# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - a simulated InfiniBand fabric with a real OpenSM, and the driver on it. Everything lives in $work and ends with
# the test; no root, no kernel module.
#
#   fabric [GEN-IBNET OPTIONS]    ibsim on a made fabric (default 8 leaves, 16 hosts, 4 spines: 128 HCAs)
#   guid N [RAIL]                 port GUID of host N
#   sm_start [TAG [HOST [FILE [OPTIONS]]]]  OpenSM on the HCA of a host (default 1), waits until it rules; sm_kill [TAG]; sm_hup [TAG]
#   sweeps [TAG]                  heavy sweeps that have ended
#   console CMD...                a line for ibsim; cut_cable N, mend N: the cable of host N
#   conf [MEMBERS]                fabrics.json with one fabric "ib"; MEMBERS are added to its section
#   drive_start; d COMMAND...     the driver; its answers are in $ans. drive_stop; finish ends the test
#   q FILTER                      jq on the last answers ($ans)
#   tables                        all tables as the witness reads them: "123 8001,7fff 1 ffff"
#   pkeys_of N                    the table of host N as smpquery reads it
#   when_key PORT KEY SIGNAL      in the background: OpenSM gets the signal as soon as the port's table begins with the key
#   settle SECONDS COMMAND...     repeat a command until it succeeds
# Source: opensm(8), ibsim(8), umad2sim.
. "$CLF_SRCDIR/tests/lib/shtap.sh"
PATH=$PATH:/usr/sbin:/sbin
UMAD2SIM=$(find /usr/lib /usr/lib64 -name libumad2sim.so 2>/dev/null | head -n 1)
for tool in opensm ibsim smpquery sminfo jq; do
	command -v $tool >/dev/null || require fabric "no $tool here (opensm, ibsim-utils, infiniband-diags, jq)"
done
[ -n "$UMAD2SIM" ] || require fabric "no libumad2sim.so here (libumad2sim0)"
WITNESS=$CLF_BUILDDIR/closfold-ibwitness DRIVE=$CLF_BUILDDIR/tests/fabric/drive
[ -x "$WITNESS" ] || require fabric "closfold-ibwitness was not built (needs the InfiniBand libraries)"

export IBSIM_SOCKNAME=clf-$$ OSM_CACHE_DIR=$work/cache OSM_TMP_DIR=$work/osmtmp
mkdir -p "$OSM_CACHE_DIR" "$OSM_TMP_DIR" "$work/cwd"
part=$work/partitions.conf fabrics=$work/fabrics.json started=''
trap 'stop_all; rm -rf "$work"' EXIT

# What was started last ends first: without its simulator OpenSM no longer obeys.
stop_all() {
	drive_stop 2>/dev/null
	for p in $started; do
		[ -f "$work/$p.pid" ] && stop "$p"
	done
}
stop() {
	local pid
	pid=$(cat "$work/$1.pid") && rm -f "$work/$1.pid"
	kill -"${2:-TERM}" "$pid" 2>/dev/null || return 0
	for _ in $(seq 150); do
		[ -d "/proc/$pid" ] || return 0
		sleep 0.02
	done
	kill -KILL "$pid" 2>/dev/null
}

settle() {
	local end=$(($(date +%s%N) + $1 * 1000000000))
	shift
	until "$@"; do
		[ "$(date +%s%N)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

fabric() {
	[ $# -gt 0 ] || set -- --leaves 8 --hosts 16 --spines 4
	perl "$CLF_SRCDIR/tests/lib/gen-ibnet" "$@" >"$work/fabric.net"
	simulate "$work/fabric.net"
}
simulate() {
	mkfifo "$work/console"
	exec 8<>"$work/console"
	(
		cd "$work/cwd" && exec 7>&- 9>&- && exec ibsim -s -N 8000 -S 1000 -P 100000 "$1" <&8 >"$work/ibsim.out" 2>&1
	) &
	echo $! >"$work/ibsim.pid"
	disown # its end is no news
	started=ibsim
	settle 20 grep -q "@.*$IBSIM_SOCKNAME" /proc/net/unix || { diag "$(tail -n 3 "$work/ibsim.out")"; echo "Bail out! ibsim did not start"; exit 1; }
}
host() { printf 'H-%016x' $((0x0c42a10300000010 + 0x1000 * $1)); }
guid() { printf '0x%016x\n' $((0x0c42a10300000001 + 0x1000 * $1 + 0x10 * ${2:-1})); }
guids() { for i in "$@"; do guid "$i"; done | tr '\n' ' '; }
console() { printf '%s\n' "$*" >&8; }
cut_cable() { console "unlink \"$(host "$1")\"[1]"; }
mend() { console "relink \"$(host "$1")\"[1]"; }
on_sim() { (cd "$work/cwd" && SIM_HOST=${SIM_HOST:-$(host 1)} LD_PRELOAD=$UMAD2SIM "$@"); }

sm_start() {
	local tag=${1:-sm} at=${2:-1} file=${3:-$part}
	[ -f "$work/$tag.conf" ] || {
		(cd "$work/cwd" && SIM_HOST=$(host "$at") LD_PRELOAD=$UMAD2SIM opensm -c "$work/$tag.conf") >/dev/null 2>&1
		sed -i 's/^force_log_flush.*/force_log_flush TRUE/; s/^log_flags.*/log_flags 0x07/
			s/^sminfo_polling_timeout.*/sminfo_polling_timeout 300/; s/^polling_retry_number.*/polling_retry_number 2/' "$work/$tag.conf"
	}
	rm -f "$work/$tag.log"
	(
		cd "$work/cwd" && exec 7>&- 8>&- 9>&- && SIM_HOST=$(host "$at") LD_PRELOAD=$UMAD2SIM exec opensm -F "$work/$tag.conf" -P "$file" \
			-f "$work/$tag.log" --console off "${@:4}" >"$work/$tag.out" 2>&1 </dev/null
	) &
	echo $! >"$work/$tag.pid"
	disown
	case " $started " in *" $tag "*) ;; *) started="$tag $started" ;; esac
	settle 60 grep -qs -e 'SUBNET UP' -e 'Entering STANDBY' "$work/$tag.log" || { diag "$(tail -n 5 "$work/$tag.log")"; return 1; }
}
sm_kill() { stop "${1:-sm}" KILL; }
sm_hup() { kill -HUP "$(cat "$work/${1:-sm}.pid")"; }
sweeps() { grep -c -e '-> SUBNET UP' "$work/${1:-sm}.log"; }
# A heavy sweep of which nobody can say that it began before.
resweep() {
	local n
	n=$(sweeps)
	sm_hup
	settle 20 eval "[ \"\$(sweeps)\" -gt $n ]"
	sleep 0.1
}

witness_argv() {
	printf '["/usr/bin/env","-C","%s","LD_PRELOAD=%s","IBSIM_SOCKNAME=%s","SIM_HOST=%s","%s"]' \
		"$work/cwd" "$UMAD2SIM" "$IBSIM_SOCKNAME" "$(host 1)" "$WITNESS"
}
conf() {
	cat >"$fabrics" <<-END
	{"format":"closfold-fabrics/1","fabrics":[{"name":"ib","driver":"opensm","keys":"0x0100-0x01ff","opensm":{
	 "partitions":"$part","pid_file":"$work/sm.pid","sm_ports":["$(guid 1)"],"witness":$(witness_argv)${1:+,$1}}}]}
	END
}

drive_start() {
	rm -f "$work/to" "$work/from"
	mkfifo "$work/to" "$work/from"
	("$DRIVE" "$fabrics" ib <"$work/to" >"$work/from" 2>"$work/drive.err" 8>&-) &
	echo $! >"$work/drive.pid"
	exec 7>"$work/to" 9<"$work/from"
	d known "$(for i in $(seq 2 "${HOSTS:-128}"); do guid "$i"; done | tr '\n' ' ')"
}
# A driver that crashed, or a sanitizer that complains, fails the test.
drive_stop() {
	local rc=0
	exec 7>&- 9>&-
	[ -f "$work/drive.pid" ] || return 0
	wait "$(cat "$work/drive.pid")" 2>/dev/null || rc=$?
	rm -f "$work/drive.pid"
	[ $rc -eq 0 ] || { ok $rc "the driver ends with 0"; diag "$(tail -n 40 "$work/drive.err")"; }
}
finish() {
	drive_stop
	done_testing
}
# One command; $ans holds its answers, a JSON line each. Of those that answer nothing: nothing.
d() {
	local line
	ans=''
	printf '%s\n' "$*" >&7
	case $1 in known | open | want | forget | close) return 0 ;; esac
	while IFS= read -r -t 60 line <&9; do
		ans="$ans$line
"
		case $1:$line in
		sync:*'"sync":'*) return 0 ;;
		sync:*) ;;
		*) return 0 ;;
		esac
	done
	diag "no answer to: $1" "$(cat "$work/drive.err")"
	return 1
}
q() { printf '%s' "$ans" | jq -r "$@"; }
# The answer to the task of a lease: its error code, or "ok".
code_of() { q "select(.lease == \"$1\") | .error.code // \"ok\""; }
text_of() { q "select(.lease == \"$1\") | .error.text // .text"; }
findings() { q '.out[]?.code' | sort -u | tr '\n' ' '; }

# Independent of closfold: the table of a port by smpquery, as "8101,7fff".
pkeys_of() {
	on_sim smpquery pkeys -G "$(guid "$1")" 1 2>/dev/null | sed 's/^ *[0-9]*://' | grep -o '0x[0-9a-f]*' | grep -v 0x0000 |
		sed 's/0x//' | paste -sd,
}
# What the driver's witness reads: "count table", most frequent first.
tables() { d read; q '.out.ports[] | .table | join(",")' | sed 's/0x//g' | sort | uniq -c | sort -rn | sed 's/^ *//' | paste -sd' '; }
ready() {
	fabric "$@"
	conf
	sm_start
	drive_start
	d sync
}
# A witness of its own, for a few milliseconds matter here. Ready when it returns; `wait $watch` for its end.
when_key() {
	rm -f "$work/watching"
	(
		exec 7>&- 9>&-
		coproc W { cd "$work/cwd" && SIM_HOST=$(host 1) LD_PRELOAD=$UMAD2SIM exec "$WITNESS"; }
		read -r _ <&"${W[0]}"
		while echo "read 500 $1" >&"${W[1]}" && read -r line <&"${W[0]}" && read -r _ <&"${W[0]}"; do
			: >"$work/watching"
			case $line in *" table=$2"*) kill -"$3" "$(cat "$work/sm.pid")" && break ;; esac
		done
	) 2>/dev/null &
	watch=$!
	settle 10 test -e "$work/watching"
}
