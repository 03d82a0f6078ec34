#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A job's life as closfoldd sees it: granted, asked again, refused, counted, ended; all of it in the log, and there after a restart.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

my $d = Closfoldd->new(conf => { start_failures => 2 });
ok($d->start, 'starts') or BAIL_OUT($d->err);
my $r = $d->call($d->lease(7));
ok($r->{ok} && $r->{lease}, 'a lease is granted');
my $id = $r->{lease};
$r = $d->call($d->lease(7));
is($r->{lease}, $id, 'asked again, the same one');
ok($r->{again}, 'and it says so');
isnt($d->call($d->lease(7, submit_time => 5000))->{lease}, $id, 'another submit time is another job');

$r = $d->call($d->lease(8, nodes => 'n[7-9]'));
ok(!$r->{ok}, 'nodes outside the zone are refused');
is($r->{code}, 'denied', 'code');
like($r->{text}, qr/n9/, 'the node is named');
ok($r->{advice} && $r->{rule}, 'rule and advice');
is($r->{failures}, 1, 'first failure');
ok(!$r->{hold}, 'is no reason to hold');
$r = $d->call($d->lease(8, nodes => 'n[7-9]'));
is($r->{failures}, 2, 'second failure');
ok($r->{hold}, 'is: start_failures is 2');
ok(!$d->call($d->lease(11, grant => 'G-18'))->{ok}, 'an unknown grant is refused');
ok(!$d->call($d->lease(12, nodes => 'n[1-'))->{ok}, 'nodes that cannot be read are refused');
ok($d->call($d->lease(13, class => 'public', grant => undef, nodes => 'n9'))->{ok}, 'an unflagged job needs no zone');

$r = $d->call({ op => 'lease.close', job_id => 99, submit_time => 1, reason => 'ended' });
ok($r->{ok} && $r->{lease} eq '', 'the end of an unknown job is no error');
for my $bad ({ op => 'lease.open' }, $d->lease(0), $d->lease(7, uid => -1), $d->lease(7, nodes => 7), $d->lease(7, submit_time => 'x'),
	{ op => 'lease.close', job_id => 7 }, { op => 'nonsense' }, { no => 'op' }) {
	$r = $d->call($bad);
	ok(!$r->{ok} && $r->{code} eq 'invalid', "refused: " . ($r->{text} // ''));
}

# requeue on other nodes: the old lease goes first
my $new = $d->call($d->lease(7, restart => 1, nodes => 'n[3-4]'))->{lease};
isnt($new, $id, 'a new run on other nodes has a new lease');
is($d->call({ op => 'lease.show', lease => $id })->{lease}{state}, 'closed', 'and the old one is closed');

is($d->stop, 0, 'SIGTERM ends it in order');
ok($d->start, 'starts again');
my @open = map { $_->{id} } @{ $d->call({ op => 'lease.list' })->{leases} };
ok((grep { $_ eq $new } @open), 'the lease is there after a restart');
is($d->call($d->lease(8, nodes => 'n[7-9]'))->{failures}, 3, 'and so is the count of failures');
my $fixed = $d->call($d->lease(8));
ok($fixed->{ok}, 'the job starts when its nodes are right');
is($d->call({ op => 'lease.show', lease => $fixed->{lease} })->{failures}, 0, 'and its failures are forgotten');
ok($d->call({ op => 'lease.close', job_id => 7, submit_time => 1007, reason => 'ended' })->{ok}, 'the job ends');
is($d->call({ op => 'lease.show', lease => $new })->{lease}{state}, 'closed', 'its lease is closed');
$d->stop('KILL');
ok($d->start, 'starts after kill -9');
is($d->call({ op => 'lease.show', lease => $new })->{lease}{state}, 'closed', 'still closed');
isnt($d->call($d->lease(20))->{lease}, $new, 'ids are not given twice');
$d->stop;

is(scalar(grep { $_->{unmapped}{closfold}{job_id} == 7 } $d->events('job.allocate')), 3, 'each lease is in the log');
is(scalar(grep { $_->{unmapped}{closfold}{job_id} == 8 } $d->events('job.refuse')), 3, 'each refusal');
ok((grep { $_->{unmapped}{closfold}{job_id} == 7 && $_->{status_code} eq 'ended' } $d->events('job.end')), 'and the end');
ok((grep { ($_->{message} // '') =~ /no wire was programmed/ } $d->events('net.verify')), 'the null driver says that it programs nothing');
is(system("$FindBin::Bin/../lib/check-ocsf $d->{state}/log/*.jsonl >/dev/null"), 0, 'all records are valid OCSF 1.8.0 and canonical');
is(system(Closfoldd::bin('closfold'), 'audit', 'verify', '--conf', "$d->{dir}/closfold.conf"), 0, 'and the log verifies');
done_testing();
