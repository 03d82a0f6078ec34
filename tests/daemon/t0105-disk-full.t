#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk is full (a file size limit fills it at an exact byte; as root also a small tmpfs): nothing is acknowledged that is not durable,
# flagged jobs are refused, it is said, and with room again all goes on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

sub run_full {
	my ($d, $fill, $free, $what) = @_;
	ok($d->start, "$what: starts") or return diag($d->err);
	ok($d->call($d->lease(1))->{ok}, "$what: a lease while there is room");
	$fill->();
	my ($ok, $refused, $text) = (0, 0, ''); # the limit: shorter than any record, so that no new segment has room either
	my @acked;
	my $p = $d->peer;
	for (1 .. 400) {
		my $r = $p->record($d->record(message => "m$_"));
		if ($r->{ok}) { $ok++; push @acked, "m$_" } else { $refused++; $text = $r->{text}; last }
	}
	ok($refused, "$what: a record is refused after $ok: $text");
	my $r = $d->call($d->lease(2));
	ok(!$r->{ok} && $r->{code} eq 'io', "$what: a lease is refused: " . ($r->{text} // ''));
	my $s = $d->call({ op => 'status' });
	ok(!$s->{log}{writable} && $s->{log}{error}, "$what: status says so");
	is(system("@{[Closfoldd::bin('closfold')]} status --conf $d->{dir}/closfold.conf >/dev/null") >> 8, 1, "$what: closfold status is 1");
	is($s->{leases}{open}, 1, "$what: the refused lease is not in memory");
	$free->();
	ok($d->peer->record($d->record(message => 'after'))->{ok}, "$what: with room a record is taken");
	ok($d->call($d->lease(2))->{ok}, "$what: and a lease granted");
	ok($d->call({ op => 'status' })->{log}{writable}, "$what: status is good");
	is($d->stop, 0, "$what: ends in order");
	my %seen = map { ($_->{message} // '') => 1 } $d->log_records;
	is(scalar(grep { !$seen{$_} } @acked), 0, "$what: all acknowledged records are there");
	is(system("@{[Closfoldd::bin('closfold')]} audit verify --conf $d->{dir}/closfold.conf >/dev/null") >> 8, 0, "$what: the log verifies");
}

# prlimit changes the limit of the running daemon, down and up.
SKIP: {
	skip Closfoldd::lacking('root', 'no prlimit'), 1 unless grep { -x "$_/prlimit" } split /:/, $ENV{PATH};
	my $d = Closfoldd->new;
	run_full($d, sub { system 'prlimit', '--pid', $d->daemon_pid, '--fsize=600:' },
		sub { system 'prlimit', '--pid', $d->daemon_pid, '--fsize=unlimited:' }, 'limit');
}
SKIP: {
	skip Closfoldd::lacking('root', 'a tmpfs needs root'), 1 if $>;
	my $d = Closfoldd->new;
	skip Closfoldd::lacking('root', 'no tmpfs here'), 1 if system "mount -t tmpfs -o size=256k tmpfs $d->{state} 2>/dev/null";
	run_full($d, sub { system "dd if=/dev/zero of=$d->{state}/ballast bs=4k count=1000 2>/dev/null; truncate -s -12k $d->{state}/ballast" },
		sub { unlink "$d->{state}/ballast" }, 'tmpfs');
	$d->stop('KILL');
	system "umount $d->{state}";
}
done_testing();
