# SPDX-License-Identifier: GPL-2.0-or-later
# shtap.sh - Test Anything Protocol for shell scripts, to be sourced by bash. No plan at the top; done_testing at the end.
#
#   . "$CLF_SRCDIR/tests/lib/shtap.sh"
#   ok STATUS TEXT...         0 passes                   is GOT WANT TEXT...        equal strings
#   like GOT ERE TEXT...      the pattern occurs         unlike GOT ERE TEXT...     it does not
#   run COMMAND...            sets $out, $err, $status    run_ok TEXT COMMAND...     the same, and passes when it exits 0
#   exits STATUS TEXT...      $status of the last run    diag TEXT...
#   require TAG REASON        ends the script as skipped, or failed when CLF_REQUIRE (a comma list) names TAG
#   done_testing
# $work is a fresh directory, removed at the end. closfold is $CLF_BUILDDIR/closfold, as function `closfold`.
set -u
: "${CLF_SRCDIR:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}" "${CLF_BUILDDIR:=$PWD}"
export CLF_SRCDIR CLF_BUILDDIR
work=$(mktemp -d "${TMPDIR:-/tmp}/clf.XXXXXX") || exit 1
shtap_n=0 shtap_bad=0
trap 'rm -rf "$work"' EXIT

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

ok() {
	local rc=$1
	shift
	shtap_n=$((shtap_n + 1))
	if [ "$rc" -eq 0 ]; then
		echo "ok $shtap_n - ${*//#/}"
	else
		echo "not ok $shtap_n - ${*//#/}"
		local i=0
		while [ "${BASH_SOURCE[i + 1]##*/}" = shtap.sh ]; do i=$((i + 1)); done
		diag "at ${BASH_SOURCE[i + 1]##*/}:${BASH_LINENO[i]}"
		shtap_bad=1
	fi
	return "$rc"
}

is() {
	local got=$1 want=$2
	shift 2
	[ "$got" = "$want" ]
	ok $? "$@" || { diag "got:  $got"; diag "want: $want"; return 1; }
}

like() {
	local got=$1 want=$2
	shift 2
	printf '%s\n' "$got" | grep -qE -- "$want"
	ok $? "$@" || { diag "got:     $got"; diag "pattern: $want"; return 1; }
}

unlike() {
	local got=$1 want=$2
	shift 2
	! printf '%s\n' "$got" | grep -qE -- "$want"
	ok $? "$@" || { diag "got:         $got"; diag "forbidden: $want"; return 1; }
}

run() {
	"$@" >"$work/.out" 2>"$work/.err" </dev/null
	status=$?
	out=$(tr -d '\0' <"$work/.out")
	err=$(tr -d '\0' <"$work/.err")
	return 0
}

run_ok() {
	local text=$1
	shift
	run "$@"
	[ "$status" -eq 0 ]
	ok $? "$text" || { diag "exit status $status: $*"; diag "$err"; return 1; }
}

exits() {
	local want=$1
	shift
	is "$status" "$want" "$@" || { diag "stdout: $out"; diag "stderr: $err"; return 1; }
}

closfold() { "$CLF_BUILDDIR/closfold" "$@"; }

require() {
	case ",${CLF_REQUIRE:-}," in
	*",$1,"*)
		echo "not ok 1 - '$1' is required here, but: $2"
		echo "1..1"
		exit 1
		;;
	esac
	echo "1..0 # SKIP $2"
	exit 0
}

done_testing() {
	echo "1..$shtap_n"
	exit $((shtap_bad || shtap_n == 0))
}
