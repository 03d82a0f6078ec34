#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One job of the test suite, the same for a developer and for CI:
#
#   contrib/ci/run.sh JOB...      gcc clang sanitizers oom crash lint slurm fabric demo dist bench
#   contrib/ci/run.sh all         every job but bench
#
# Build trees are kept under CLF_BUILD (default: build/ in the source tree). The last line is the sum over all jobs,
# "N passed, N failed, N skipped"; exit status 1 when anything failed or a job could not run.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLF_BUILD:-$top/build}
jobs=$(nproc)
export CLF_REQUIRE=${CLF_REQUIRE:-}
passed=0 failed=0 skipped=0 broken=()

say() { printf '\n== %s\n' "$*"; }

# tree NAME CONFIGURE-ARGUMENTS...: a configured build tree; configures once
tree() {
	local dir=$build/$1
	shift
	[ -x "$top/configure" ] && [ "$top/configure" -nt "$top/configure.ac" ] || "$top/autogen.sh" >"$build/autogen.log" 2>&1 ||
		{ tail -5 "$build/autogen.log"; return 1; }
	mkdir -p "$dir"
	cd "$dir" || return 1
	[ -f Makefile ] || "$top/configure" --enable-werror --with-slurm-source="$build/slurm/source" --with-slurm-build="$build/slurm/build" "$@" >configure.out 2>&1 ||
		{ tail -5 configure.out; return 1; }
	make -s -j"$jobs" all
}

# counted NAME COMMAND...: run, show, and add the totals of its last line
counted() {
	local name=$1 log=$build/$1.log line rc
	shift
	"$@" 2>&1 | tee "$log"
	rc=${PIPESTATUS[0]}
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -1)
	if [ -n "$line" ]; then
		read -r p _ f _ s _ <<<"$line"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		[ "$rc" -eq 0 ] || [ "$f" -gt 0 ] || { failed=$((failed + 1)); broken+=("$name"); }
	elif [ "$rc" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		broken+=("$name")
	fi
}

job() {
	say "$1"
	case $1 in
	gcc) counted gcc eval 'tree gcc CC=gcc && make -s check' ;;
	clang) counted clang eval 'tree clang CC=clang && make -s check' ;;
	sanitizers) counted sanitizers eval 'tree sanitizers CC=gcc --enable-sanitizers=address,undefined CFLAGS="-O1 -g" && make -s check' ;;
	oom) counted oom eval 'tree gcc CC=gcc && CLF_REQUIRE=$CLF_REQUIRE,oom make -s check-oom' ;;
	crash) counted crash eval 'tree gcc CC=gcc && make -s check-crash' ;;
	lint) counted lint eval 'tree gcc CC=gcc && make -s lint' ;;
	fabric) counted fabric eval 'tree gcc CC=gcc && CLF_REQUIRE=$CLF_REQUIRE,fabric,slurm make -s check-fabric' ;;
	slurm) counted slurm eval 'tree gcc CC=gcc && CLF_REQUIRE=$CLF_REQUIRE,slurm,root make -s check-slurm' ;;
	demo) counted demo "$top/contrib/quickstart" demo ;;
	dist) counted dist eval 'tree gcc CC=gcc && make -s dist' ;;
	bench) counted bench eval 'tree gcc CC=gcc && make -s bench' ;;
	*)
		echo "run.sh: no job '$1'" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$build"
"$top/contrib/get-slurm-source" "$build/slurm" || exit 1
list=("$@")
[ "$1" = all ] && list=(gcc clang sanitizers oom crash lint slurm fabric demo dist)
for j in "${list[@]}"; do
	start=$SECONDS
	job "$j"
	printf '== %s took %d s\n' "$j" $((SECONDS - start))
done
[ ${#broken[@]} -eq 0 ] || printf '\nnot clean: %s\n' "${broken[*]}"
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
