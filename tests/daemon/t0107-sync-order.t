#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# No answer before the sync: in the daemon's system calls, each reply to a record or a lease follows an fdatasync of the log (and, for a
# lease, of the ledger) that came after the message was read.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

plan skip_all => Closfoldd::lacking('strace', 'no strace') unless grep { -x "$_/strace" } split /:/, $ENV{PATH};
my $trace;
my $d = Closfoldd->new;
$trace = "$d->{dir}/trace";
$d->{prefix} = [ 'strace', '-f', '-y', '-e', 'trace=recvfrom,sendto,fdatasync,pwrite64,fsync', '-s', '400', '-o', $trace ];
eval { $d->start } or plan skip_all => Closfoldd::lacking('strace', 'strace cannot trace here');

my @pids;
for my $k (1 .. 4) {
	my $pid = fork;
	if (!$pid) {
		$d->{run} = sprintf '%016x', $k;
		my $p = $d->peer;
		for my $n (1 .. 25) { $p->record($d->record(seq => $n)); $p->call($d->lease($k * 100 + $n)) if $n % 5 == 0 }
		POSIX::_exit(0);
	}
	push @pids, $pid;
}
waitpid $_, 0 for @pids;
$d->stop;

# By descriptor of the peer: what it was promised, and what has been synced since.
my (%owes, %begun, $acks, $leases, $early, $syncs);
for (split /\n/, Closfoldd::read_file($trace)) {
	# a call that another thread's line came into stands in two pieces
	if (/^(\d+) +(.*) <unfinished \.\.\.>$/) { $begun{$1} = $2; next }
	if (/^(\d+) +<\.\.\. \w+ resumed>(.*)$/) { $_ = "$1 " . (delete($begun{$1}) // '') . $2 }
	if (/recvfrom\((\d+)<.*?"CLF1\\1\\0(\\[0-9]+)/) {
		my ($fd, $type) = ($1, $2);
		$owes{$fd} = { log => 1 } if $type eq '\1';
		$owes{$fd} = { log => 1, ledger => 1 } if /lease\.open/;
	} elsif (/fdatasync\(\d+<([^>]*)>\)\s+= 0/ || /fsync\(\d+<([^>]*)>\)\s+= 0/) {
		my $file = $1;
		my $what = $file =~ /\.jsonl/ ? 'log' : $file =~ /ledger\.journal/ ? 'ledger' : next;
		$syncs++;
		delete $owes{$_}{$what} for keys %owes;
	} elsif (/sendto\((\d+)<.*?"CLF1\\1\\0\\4\\0/ && $owes{$1}) {
		my ($fd, $owed) = ($1, delete $owes{$1});
		$acks++;
		$leases++ if /lease/;
		$early++ if %$owed;
		diag($_) if %$owed;
	}
}
cmp_ok($acks // 0, '>=', 100, ($acks // 0) . ' answers were seen');
cmp_ok($leases // 0, '>=', 15, 'leases among them');
cmp_ok($syncs // 0, '>', 0, ($syncs // 0) . ' syncs were seen');
is($early // 0, 0, 'no answer left before the sync that it promises');
done_testing();
