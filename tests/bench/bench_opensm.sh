#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long a flagged start takes on real OpenSM in a simulated fabric, against the time OpenSM itself needs.
#
#   tests/bench/bench_opensm.sh [ROUNDS]     (10; CLF_BUILDDIR: where closfold was built)
#
# "own" is OpenSM alone: rename, SIGHUP, and the job's tables polled until all are right, without the driver. "start" is the
# driver's whole sync: lint, write, signal, poll, and the whole fabric read for strangers. "witness" is one reading of all
# tables. The simulator shares the processor with OpenSM and with us, and has no wire.
CLF_SRCDIR=$(cd "$(dirname "$0")/../.." && pwd)
: "${CLF_BUILDDIR:=$PWD}"
. "$CLF_SRCDIR/tests/fabric/opensm/lib.sh"
rounds=${1:-10}

measure() { # NAME, argv of the witness, file with and without the net, key, ports: median of OpenSM alone
	perl - "$@" <<'END'
use strict;
use warnings;
use IPC::Open2;
use JSON::PP;
use Time::HiRes qw(time sleep);
my ($rounds, $argv, $part, $with, $without, $pid, $key, @ports) = @ARGV;
open2(my $from, my $to, @{ decode_json($argv) }) or die;
$to->autoflush(1);
<$from>;
sub ask { print $to "$_[0]\n"; my @l; while (<$from>) { return @l if /^end/; die $_ if /^error/; push @l, $_ } die }
sub publish { my $f = shift; system('cp', $f, "$part.new") and die; my $t = time; rename "$part.new", $part; kill HUP => $pid; return $t }
sub wait_for { my ($re, $n) = @_; for (1 .. 20000) { return if $n == grep { /$re/ } ask("read 2000 @ports"); sleep 0.002 } die "never right\n" }
my (@own, @all);
for (1 .. $rounds) {
	my $t = publish($with);
	wait_for(qr/ table=$key,7fff /, scalar @ports);
	push @own, 1e3 * (time - $t);
	publish($without);
	wait_for(qr/ table=8001,7fff /, scalar @ports);
	sleep 0.5;
}
for (1 .. $rounds) { my $t = time; ask('all 5000'); push @all, 1e3 * (time - $t) }
my $t = time;
ask('discover');
my $disc = 1e3 * (time - $t);
sub med { my @s = sort { $a <=> $b } @_; return $s[$#s / 2] }
printf "%.1f %.1f %.1f %.1f %.1f\n", med(@own), (sort { $a <=> $b } @own)[-1], med(@all), (sort { $a <=> $b } @all)[-1], $disc;
END
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[NR] }'; }

bench() { # NAME HOSTS_OF_THE_JOB RAILS
	local all ports starts='' ends='' n=$3 own own_max wit wit_max disc start start_max end end_max
	conf
	sm_start
	HOSTS=0
	drive_start
	all=$(sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' "$work/fabric.net" | while read -r g; do printf '0x%016x ' "0x$g"; done)
	d known "${all//$(guid 1) /}"
	d sync
	ports=$(for h in $(seq 2 $(($2 + 1))); do for r in $(seq "$n"); do guid "$h" "$r"; done; done | tr '\n' ' ')
	cp "$part" "$work/without"
	for i in $(seq "$rounds"); do
		d open "A" 0x0101 "$ports"
		d sync 30000
		[ "$(code_of A)" = ok ] || { echo "a start failed: $(text_of A)"; return 1; }
		starts="$starts$(q 'select(has("sync")) | .ms')
"
		[ "$i" -gt 1 ] || cp "$part" "$work/with"
		d close A
		d sync 30000
		ends="$ends$(q 'select(has("sync")) | .ms')
"
		sleep 0.5
	done
	drive_stop
	# shellcheck disable=SC2086 # a list of ports
	read -r own own_max wit wit_max disc < <(measure "$rounds" "$(witness_argv)" "$part" "$work/with" "$work/without" "$(cat "$work/sm.pid")" 8101 $ports)
	read -r start start_max < <(printf '%s' "$starts" | median)
	read -r end end_max < <(printf '%s' "$ends" | median)
	perl -e 'my ($name, $ports, $own, $ownm, $start, $startm, $end, $endm, $wit, $witm, $disc) = @ARGV;
		printf "{\"fabric\":\"%s\",\"job_ports\":%d,\"own_ms\":%.1f,\"own_max_ms\":%.1f,\"start_ms\":%.1f,\"start_max_ms\":%.1f,\"end_ms\":%.1f,\"end_max_ms\":%.1f,\"ratio\":%.2f,\"witness_all_ms\":%.1f,\"witness_all_max_ms\":%.1f,\"discover_ms\":%.1f}\n",
		$name, $ports, $own, $ownm, $start, $startm, $end, $endm, $start / $own, $wit, $witm, $disc' \
		"$1" "$(echo "$ports" | wc -w)" "$own" "$own_max" "$start" "$start_max" "$end" "$end_max" "$wit" "$wit_max" "$disc"
	stop_all
	rm -rf "$work"/sm.* "$work/console" "$part"
}

fabric --leaves 8 --hosts 16 --spines 4
bench "128 HCAs" 16 1
fabric --leaves 8 --hosts 16 --rails 8 --spines 4
bench "1024 HCAs, 8 rails" 8 8
fabric --leaves 8 --hosts 16 --rails 8 --spines 4
bench "1024 HCAs, 8 rails, half of them" 64 8
