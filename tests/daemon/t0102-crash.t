#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 in the middle of work, again and again, with eight producers: no acknowledged record is lost, none is doubled, the log verifies
# each time and a crash is never called tampering.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(sleep);
use Closfoldd;

my $rounds = $ENV{CLF_CRASH_ROUNDS} || 12;
my $d = Closfoldd->new(conf => { lease_grace_s => 86400 });

# A producer sends records and leases until its peer goes away; acknowledged ones go to a file.
sub producer {
	my ($round, $k) = @_;
	my $pid = fork // die;
	return $pid if $pid;
	$d->{run} = sprintf '%08x%08x', $round, $k;
	open my $out, '>>', "$d->{dir}/acked.$k" or POSIX::_exit(1);
	my $p = $d->peer or POSIX::_exit(0);
	for my $n (1 .. 100000) {
		my $text = "r$round p$k n$n";
		my $reply = $p->record($d->record(seq => $n, message => $text)) or last;
		syswrite $out, "$text\n" if $reply->{ok};
		next if $n % 10;
		my $job = $round * 1000000 + $k * 10000 + $n;
		my $lease = $p->call($d->lease($job)) or last;
		syswrite $out, "lease $job $lease->{lease}\n" if $lease->{ok};
	}
	POSIX::_exit(0);
}

my ($lost, $verdicts) = (0, 0);
for my $round (1 .. $rounds) {
	$d->start or BAIL_OUT('does not start: ' . $d->err);
	my @pids = map { producer($round, $_) } 1 .. 8;
	sleep(0.05 + rand 0.15);
	$d->stop('KILL');
	waitpid $_, 0 for @pids;
	my $out = `@{[Closfoldd::bin('closfold')]} audit verify --conf $d->{dir}/closfold.conf`;
	$verdicts++ if $? == 0;
	diag($out) if $?;
}
is($verdicts, $rounds, 'verify calls no crash tampering');
ok($d->start, 'starts after the last crash');
my $second = Closfoldd->new(dir => $d->{dir}, conf => { lease_grace_s => 86400 });
ok(!$second->start, 'a second daemon on the directory ends');
is($second->{status}, 7, 'with status 7');
like($second->err, qr/in use by another closfoldd \(process \d+\)/, 'and says who has it');
ok($d->call({ op => 'status' })->{ok}, 'the first one goes on');
my %leases = map { $_->{job_id} => $_->{id} } map { @$_ } map { $_->{leases} } do {
	my ($from, @pages) = (0);
	while (1) {
		my $r = $d->call({ op => 'lease.list', from => $from });
		push @pages, $r;
		last unless defined $r->{next};
		$from = $r->{next};
	}
	@pages;
};
is($d->stop, 0, 'stops');

my (%seen, $double);
for ($d->log_records) { my $m = $_->{message} // ''; $double++ if $seen{$m}++ && $m =~ /^r\d+ p/ }
my ($acks, $lease_acks) = (0, 0);
for my $k (1 .. 8) {
	open my $f, '<', "$d->{dir}/acked.$k" or next;
	while (<$f>) {
		chomp;
		if (/^lease (\d+) (\S+)/) { $lease_acks++; $lost++ unless ($leases{$1} // '') eq $2 }
		else { $acks++; $lost++ unless $seen{$_} }
	}
}
cmp_ok($acks, '>', 100, "$acks records were acknowledged");
cmp_ok($lease_acks, '>', 10, "$lease_acks leases were granted");
is($lost, 0, 'none of them is lost');
ok(!$double, 'none is there twice');
my $out = `@{[Closfoldd::bin('closfold')]} audit verify --conf $d->{dir}/closfold.conf --json`;
my $v = $Closfoldd::JSON->decode($out);
is($v->{verdict}, 'intact', 'the whole log is intact');
is($v->{anchored}, $v->{checked}, 'and backed by the ledger to its end');
is(system("$FindBin::Bin/../lib/check-ocsf $d->{state}/log/*.jsonl >/dev/null"), 0, 'every record is valid');
done_testing();
