#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# As root closfoldd takes no configuration and no policy that somebody else could have written.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use Test::More;
use Closfoldd;

plan skip_all => Closfoldd::lacking('root', 'not root') if $>;
my $open = tempdir('clfdXXXXXX', DIR => '/tmp', CLEANUP => 1);
my $d = Closfoldd->new(conf => { policy => "$open/policy.json" });
Closfoldd::write_file("$open/policy.json", $Closfoldd::JSON->encode(Closfoldd::default_policy()));
$d->start or BAIL_OUT($d->err);
my $p = $d->call({ op => 'status' })->{policy};
ok(!$p->{in_force}, 'a policy below a directory that all may write is not taken');
like($p->{error}, qr/not trusted.*tmp/, "and it is said: $p->{error}");
ok(!-e "$d->{state}/snapshot/snapshot.json", 'nothing is published');
$d->stop;

$d = Closfoldd->new;
chmod 0666, "$d->{dir}/policy.json";
$d->start or BAIL_OUT($d->err);
like($d->call({ op => 'status' })->{policy}{error}, qr/writable/, 'nor a policy that all may write');
$d->stop;

my $e = Closfoldd->new;
chmod 0666, "$e->{dir}/closfold.conf";
ok(!$e->start, 'a configuration that all may write: no start');
like($e->err, qr/closfold\.conf.*not trusted/, 'with the reason');
done_testing;
