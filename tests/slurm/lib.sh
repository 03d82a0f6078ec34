# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - for tests/slurm/t*.t: TAP, one private cluster a test, clients as an ordinary user. Sourced after nothing else.
#
# Needs root, Slurm's daemons, munged, runuser, and a build (CLF_BUILD, else CLF_BUILDDIR of run.pl, else "."); skips with the reason otherwise, or fails when
# CLF_REQUIRE names "slurm".
set -u
SRC=${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
CLF_BUILD=$(cd "${CLF_BUILD:-${CLF_BUILDDIR:-.}}" && pwd)
export CLF_BUILD
# shellcheck source=tests/slurm/cluster.sh
. "$SRC/tests/slurm/cluster.sh"

TAP_N=0 TAP_BAD=0 DIR='' USER_A=${CLF_TEST_USER:-daemon}

skip_all() {
	case ,${CLF_REQUIRE:-}, in
	*,slurm,*) echo "not ok 1 - $1 (CLF_REQUIRE=slurm)"; echo 1..1; exit 1 ;;
	*) echo "1..0 # SKIP $1"; exit 0 ;;
	esac
}
ok() { # STATUS NAME...
	local s=$1
	shift
	TAP_N=$((TAP_N + 1))
	if [ "$s" -eq 0 ]; then
		echo "ok $TAP_N - $*"
	else
		TAP_BAD=$((TAP_BAD + 1))
		echo "not ok $TAP_N - $*"
	fi
	return "$s"
}
is() { # GOT WANT NAME
	[ "$1" = "$2" ]
	ok $? "$3" || printf '#   got: %s\n#  want: %s\n' "$1" "$2"
}
like() { # TEXT REGEX NAME
	printf '%s' "$1" | grep -Eq -- "$2"
	ok $? "$3" || { printf '%s\n' "$1" | head -n 20 | sed 's/^/#   got: /'; printf '#  want: %s\n' "$2"; }
}
unlike() {
	! printf '%s' "$1" | grep -Eq -- "$2"
	ok $? "$3" || { printf '%s\n' "$1" | head -n 20 | sed 's/^/#   got: /'; printf '#  not: %s\n' "$2"; }
}
finish() {
	echo "1..$TAP_N"
	[ "$TAP_BAD" -eq 0 ]
}

[ "$(id -u)" = 0 ] || skip_all "not root"
for p in slurmctld slurmd munged sbatch runuser; do
	command -v "$p" >/dev/null || skip_all "$p is not installed"
done
for p in .libs/spank_closfold.so .libs/job_submit_closfold.so .libs/prep_closfold.so closfoldd closfold-slurm; do
	[ -e "$CLF_BUILD/$p" ] || skip_all "$p is not built (--with-slurm-source)"
done

# A directory that plugins trust: all its parents are root's and not writable by others, which /tmp is not.
# shellcheck disable=SC2317
cleanup() {
	local s=$?
	[ -n "$DIR" ] || exit "$s"
	[ "$TAP_BAD" -eq 0 ] && [ "$s" -eq 0 ] || { echo "# logs of closfold:"; grep -h closfold "$DIR/log/slurmctld.log" | tail -n 15 | sed 's/^/# /'; }
	cluster_down "$DIR"
	${END_HOOK:-true} "$DIR"
	if [ -n "${CLF_KEEP:-}" ]; then echo "# kept: $DIR"; else rm -rf "$DIR"; fi
	exit "$s"
}
begin() { # NODES
	NODES=${1:-16}
	DIR=$(mktemp -d /run/clf.XXXXXX) && chmod 755 "$DIR" || exit 1
	trap cleanup EXIT
	mkdir "$DIR/out" && chmod 1777 "$DIR/out"
	cd "$DIR/out" || exit 1
	export CLUSTER_POLICY=${CLUSTER_POLICY:-$SRC/tests/slurm/policy.json}
	${BEGIN_HOOK:-true} "$DIR" || exit 1
	cluster_up "$DIR" "$NODES" || { ok 1 "cluster starts"; finish; exit 1; }
	in_force 1 || { ok 1 "policy in force"; finish; exit 1; }
}

# Waits until slurmctld has said N times that a policy is in force for its nodes.
in_force() {
	wait_for 10 "[ \$(grep -c 'policy .* in force (generation' $DIR/log/slurmctld.log) -ge $1 ]"
}
wait_for() { # SECONDS SHELL-WORDS
	local end=$((SECONDS + $1))
	while ! eval "$2"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
u() { cluster_as "$USER_A" "$@" 2>&1; }
root() { timeout 30 "$@" 2>&1; }
# A flagged job as it is meant to be: granted, small. More options, then the command for --wrap.
FLAGGED="--data-class=personal --data-grant=G-17 -A lab"
submit() { # OPTIONS...: prints the job id or sbatch's words
	u sbatch --parsable -o "$DIR/out/%j.out" "$@" || true
}
field() { # JOBID NAME: from scontrol show job
	timeout 10 scontrol show job "$1" 2>/dev/null | grep -oE "(^| )$2=[^ ]*" | head -n 1 | sed "s/^ *$2=//"
}
job_line() { timeout 10 scontrol -o show job "$1" 2>/dev/null; }
wait_state() { # JOBID STATE-REGEX [SECONDS]
	wait_for "${3:-20}" "field $1 JobState | grep -Eq '^($2)\$'"
}
clean() { # cancel everything and wait until it is gone
	root scancel -u "$USER_A" >/dev/null
	root scancel -u root >/dev/null
	wait_for 30 '[ -z "$(timeout 5 squeue -h 2>/dev/null)" ]'
}
nodes_idle() { wait_for "${1:-30}" "[ \"\$(timeout 5 sinfo -h -p main -t idle -o %D)\" = $NODES ]"; }
query() { timeout 10 "$CLF_BUILD/closfold-slurm" "$@"; }
