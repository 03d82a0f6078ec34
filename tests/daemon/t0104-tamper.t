#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A torn end is a crash, and is recorded; a cut or changed log is not, and closfoldd does not go on behind it unasked.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

my $d = Closfoldd->new;
my $conf = "$d->{dir}/closfold.conf";
my $log = "$d->{state}/log/" . '0' x 20 . '.jsonl';
sub verify {
	my $out = `@{[Closfoldd::bin('closfold')]} audit verify --json @_`;
	return ($? >> 8, $Closfoldd::JSON->decode($out));
}
$d->start or BAIL_OUT($d->err);
$d->peer->record($d->record) for 1 .. 5;
$d->stop;
my $whole = Closfoldd::read_file($log);
my ($rc, $v) = verify("--conf $conf");
is("$rc $v->{verdict}", '0 intact', 'intact');
my $head = "$v->{checked}:$v->{head}";

# bytes of a write that was never acknowledged
{ open my $f, '>>', $log; print $f '{"action_id":1,"act' }
($rc, $v) = verify("--conf $conf");
is("$rc $v->{verdict}", '0 torn-tail', 'a torn tail is no tampering');
ok($d->start, 'closfoldd starts behind it');
$d->stop;
my ($torn) = $d->events('log.torn');
ok($torn, 'and records it');
is($torn->{unmapped}{closfold}{log}{bytes}, 19, 'with the bytes it cut off');
is((verify("--conf $conf"))[1]{verdict}, 'intact', 'intact again');
$whole = Closfoldd::read_file($log);

# cut at a record's end: only a head from elsewhere shows it
(my $cut = $whole) =~ s/[^\n]*\n[^\n]*\n\z//;
Closfoldd::write_file($log, $cut);
($rc, $v) = verify("--conf $conf");
is("$rc $v->{verdict}", '1 truncated', 'a cut tail shows against the ledger');
mkdir "$d->{dir}/copy";
Closfoldd::write_file("$d->{dir}/copy/" . '0' x 20 . '.jsonl', $cut);
($rc, $v) = verify("--log $d->{dir}/copy");
is("$rc $v->{verdict} $v->{anchored}", '0 intact 0', 'a copy alone cannot show it, and says that nothing backs it');
($rc, $v) = verify("--log $d->{dir}/copy --expect $head");
is("$rc $v->{verdict}", '0 intact', 'an older head is still met');
ok(!$d->start, 'closfoldd does not start behind a cut log');
like($d->err, qr/cut short.*--accept-damaged-log/s, 'and says what to do');
is(Closfoldd::read_file($log), $cut, 'nor does it touch it');

# a changed record
(my $changed = $whole) =~ s/job permitted/job forbidden/;
Closfoldd::write_file($log, $changed);
($rc, $v) = verify("--conf $conf");
is("$rc $v->{verdict}", '1 modified', 'a changed record is seen');
ok($v->{bad}{line} >= 3 && $v->{bad}{file} && $v->{bad}{what}, "its place is named: $v->{bad}{what}");
ok(!$d->start, 'closfoldd does not start');
ok($d->start('--accept-damaged-log'), 'but when told to');
ok($d->peer->record($d->record)->{ok}, 'and takes records');
$d->stop;
my ($start) = grep { $_->{status_code} eq 'damage-accepted' } $d->events('log.start');
ok($start, 'that it was told is in the log');
($rc, $v) = verify("--conf $conf");
is($rc, 1, 'verify still says so');

Closfoldd::write_file("$d->{dir}/empty.x", '');
mkdir "$d->{dir}/none";
($rc, $v) = verify("--log $d->{dir}/none");
is("$rc $v->{verdict}", '1 empty', 'nothing checked is not verified');
is(system("@{[Closfoldd::bin('closfold')]} audit verify --log $d->{dir}/nowhere 2>/dev/null") >> 8, 3, 'no log: 3');
is(system("@{[Closfoldd::bin('closfold')]} audit verify --log $d->{dir}/copy --expect 1:xyz 2>/dev/null") >> 8, 2, 'a bad head: 2');
done_testing();
