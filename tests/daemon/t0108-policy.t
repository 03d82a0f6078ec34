#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Policy files come and go: a good one is recorded, then published; a broken one changes nothing and is said.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

my $d = Closfoldd->new;
my $file = "$d->{dir}/policy.json";
my $J = $Closfoldd::JSON;
sub status { $d->call({ op => 'status' })->{policy} }
sub manifest { $J->decode(Closfoldd::read_file("$d->{state}/snapshot/snapshot.json") // '{}') }
sub wait_for { my $f = shift; for (1 .. 100) { return 1 if $f->(); select undef, undef, undef, 0.05 } return 0 }

$d->start or BAIL_OUT($d->err);
my $first = status();
ok($first->{in_force} && $first->{generation} == 1, 'in force from the start');
is(manifest()->{generation}, 1, 'and published');
is(manifest()->{policy}, $first->{sha256}, 'under its hash');
ok(-s "$d->{state}/snapshot/$first->{sha256}.json", 'with its text');

my $p = Closfoldd::default_policy();
$p->{version} = 2;
$p->{zones}{secure}{nodes} = 'n[1-4]';
Closfoldd::write_file($file, $J->encode($p));
ok(wait_for(sub { status()->{generation} == 2 }), 'a new file is picked up by itself');
is(manifest()->{generation}, 2, 'published');
ok(!$d->call($d->lease(1, nodes => 'n5'))->{ok}, 'and obeyed: n5 is out of the zone now');

Closfoldd::write_file($file, '{"format":"closfold-policy/1",');
ok(wait_for(sub { status()->{error} }), 'a broken file is said: ' . status()->{error});
like(status()->{error}, qr/policy\.json:1:/, 'with its place');
is(status()->{generation}, 2, 'the old one stays in force');
is(manifest()->{generation}, 2, 'and published');
ok($d->call($d->lease(2, nodes => 'n4'))->{ok}, 'and obeyed');
my $r = $d->call({ op => 'policy.reload' });
ok(!$r->{ok} && $r->{code} eq 'parse', "reload says it: $r->{text}");
is(system("@{[Closfoldd::bin('closfold')]} status --conf $d->{dir}/closfold.conf >/dev/null") >> 8, 1, 'closfold status is 1');
unlink $file;
ok(!$d->call({ op => 'policy.reload' })->{ok}, 'a file that is gone changes nothing either');
ok(status()->{in_force}, 'still in force');

$p->{version} = 3;
Closfoldd::write_file($file, $J->encode($p));
kill 'HUP', $d->daemon_pid;
ok(wait_for(sub { status()->{generation} == 3 && !status()->{error} }), 'SIGHUP reads it again');
$r = $d->call({ op => 'policy.reload' });
is($r->{policy_sha256}, status()->{sha256}, 'reload answers with what is in force');
$d->stop;
$d->start;
is(status()->{generation}, 3, 'the same policy at a restart is no new generation');
$d->stop;
is(scalar(my @a = $d->events('policy.apply')), 3, 'each application is recorded');
cmp_ok(scalar(my @b = $d->events('policy.reject')), '>=', 2, 'and each rejection');

unlink $file;
ok($d->start, 'without a policy it starts');
ok(!status()->{in_force} , 'and says that none is in force');
ok(!$d->call($d->lease(3))->{ok}, 'a flagged job is refused');
$d->stop;
done_testing();
