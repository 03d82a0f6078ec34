# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# test.sh - head of the tests in this folder: a fabric in $D, its fabrics.json in $F, one running `drive`.
#
#   begin [REST]         build the fabric (variables of lib.sh), or skip; start_drive is separate
#   start_drive [FILE]   drive runs until stop_drive
#   d LINE...            send commands; $out is the last answer (of sync: the tasks' lines and the last)
#   hop SRC DST TAGS WANT TEXT   is a frame delivered, or dropped?
#   port SWITCH PORT COLUMN      what the switch's database says
#   finish               stops all and prints the plan
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/shtap.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
TOOLS=$CLF_BUILDDIR/tests/fabric/ovs DRIVE=$CLF_BUILDDIR/tests/fabric/drive
D=$work/fab F=$work/fabrics.json

clean_up() {
	local p
	stop_drive
	for p in "$work"/*.pid; do [ ! -f "$p" ] || kill "$(cat "$p")" 2>/dev/null; done
	ovs_down "$D"
	rm -rf "$work"
}

begin() {
	local why
	why=$(ovs_missing)
	[ -z "$why" ] || require fabric "Open vSwitch: $why"
	trap clean_up EXIT
	ovs_up "$D" || { ok 1 "fabric comes up"; done_testing; }
	ovs_fabrics_file "$D" "${1:-quarantine}" >"$F"
}

start_drive() {
	coproc DRIVER { exec "$DRIVE" "${1:-$F}" eth 2>"$work/drive.err"; }
	# copies: bash closes the coprocess's own when it ends
	exec 7>&"${DRIVER[1]}" 8<&"${DRIVER[0]}"
	drive_pid=$DRIVER_PID
}

stop_drive() {
	[ -n "${drive_pid:-}" ] || return 0
	exec 7>&- 8<&-
	eval 'exec '"${DRIVER[1]:-9}"'>&- '"${DRIVER[0]:-9}"'<&-' 2>/dev/null
	wait "$drive_pid" 2>/dev/null
	drive_status=$?
	drive_pid=
}

send() { printf '%s\n' "$@" >&7; }
# Until the answer of the last command that gives one.
answer() { # VERB
	local line
	out=
	while IFS= read -r -t 60 line <&8; do
		out+=$line$'\n'
		case $line in *"\"$1\":"*) return 0 ;; esac
	done
	return 1
}
d() {
	local verb=${*: -1}
	verb=${verb%% *}
	send "$@"
	answer "$verb"
}

# Lines of $out that are about a lease.
of() { grep "\"lease\":\"$1\"" <<<"$out"; }

hop() {
	is "$("$TOOLS/hop" "$(ovs_ns "$D" "$1")" "$(ovs_ns "$D" "$2")" "$3")" "$4" "$5"
}

port() { ovs_db "$D" "$1" get port "$2" "$3" | tr -d '"'; }

finish() {
	stop_drive
	is "$drive_status" 0 "drive ended well"
	done_testing
}
