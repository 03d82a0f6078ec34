#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Leases against the jobs that Slurm has: what is gone is released, what is unknown is left alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

my $d = Closfoldd->new;
my @jobs = map { { job_id => $_, submit_time => 1000 + $_, state => 'RUNNING', nodes => 'n[1-2]' } } 1 .. 3;
sub open_jobs { join ' ', sort map { $_->{job_id} } @{ $d->call({ op => 'lease.list' })->{leases} } }
sub reconcile { $d->call({ op => 'reconcile', @_ }) }

$d->start or BAIL_OUT($d->err);
$d->call($d->lease($_)) for 1 .. 4;
$d->query(\@jobs);
is(reconcile()->{young}, 1, 'a young lease without a job is left alone');
is(open_jobs(), '1 2 3 4', 'all are open');
sleep 2;
for my $bad ('exit 1', 'echo oops', 'echo "{\"job_id\":1"', "echo '{\"job_id\":1,\"submit_time\":1001,\"state\":\"RUNNING\"}'; exit 3", 'kill -9 $$') {
	$d->query($bad);
	my $r = reconcile();
	ok(!$r->{ok} && $r->{code} eq 'remote', "unknown: $r->{text}");
	is(open_jobs(), '1 2 3 4', 'nothing was changed');
}
ok(!$d->call({ op => 'status' })->{reconcile}{known}, 'and status says so');
unlink "$d->{dir}/query";
ok(!reconcile()->{ok}, 'a program that is not there is no list');
$d->query(\@jobs);
my $r = reconcile(dry_run => JSON::PP::true);
is(scalar @{ $r->{actions} }, 1, 'a dry run names what would go');
is(open_jobs(), '1 2 3 4', 'and takes nothing');
$r = reconcile();
is("$r->{actions}[0]{job_id} $r->{actions}[0]{why}", '4 job-gone', 'the job that is gone');
is(open_jobs(), '1 2 3', 'its lease is released');
$jobs[1]{submit_time} = 77;
$jobs[2]{state} = 'COMPLETED';
$d->query(\@jobs);
$r = reconcile();
is(join(' ', sort map { $_->{why} } @{ $r->{actions} }), 'job-ended job-id-reused', 'another job of the same id, and one that ended');
is(open_jobs(), '1', 'one is left');

# missed while closfoldd was away: found at start
$d->stop('KILL');
$d->query([]);
$d->start;
for (1 .. 100) { last if open_jobs() eq ''; select undef, undef, undef, 0.05 }
is(open_jobs(), '', 'at start, too');

# closfoldd answers while Slurm does not
$d->query('sleep 3');
my $slow = $d->peer;
$slow->send(3, '{"op":"reconcile"}');
my $t = Time::HiRes::time();
ok($d->peer->record($d->record)->{ok}, 'a record is taken while the list is awaited');
cmp_ok(Time::HiRes::time() - $t, '<', 1, 'at once');
my ($seq, $o) = $slow->receive;
ok($o->{ok}, 'and the list comes');
is($d->stop, 0, 'ends in order');
is(scalar(my @f = $d->events('finding.orphan-lease')), 4, 'each orphan is a finding in the log');
is(system("$FindBin::Bin/../lib/check-ocsf $d->{state}/log/*.jsonl >/dev/null"), 0, 'all records are valid');
done_testing();
