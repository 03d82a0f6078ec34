#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Peers that lie, flood, stall and ask for what is not theirs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Closfoldd;

my $d = Closfoldd->new;
ok($d->start, 'starts') or BAIL_OUT($d->err);
my $J = $Closfoldd::JSON;
my $head = sub { my ($magic, $version, $type) = @_; pack 'a4vvQ<', $magic, $version, $type, 1 };

for my $case (['wrong magic', $head->('CLF2', 1, 3) . '{}'], ['another version', $head->('CLF1', 2, 3) . '{}'],
	['unknown type', $head->('CLF1', 1, 9) . '{}'], ['a reply', $head->('CLF1', 1, 4) . '{}'], ['half a header', 'CLF1'],
	['no body', $head->('CLF1', 1, 3)], ['a record over its cap', $head->('CLF1', 1, 1) . 'x' x 61441]) {
	my $p = $d->peer;
	$p->raw($case->[1]);
	my ($seq, $r) = $p->receive;
	ok($r && !$r->{ok} && $r->{code} eq 'parse', "$case->[0]: " . ($r->{text} // 'no answer'));
	$p->receive;
	ok($p->{gone}, "$case->[0]: hung up");
}
my $p = $d->peer;
$p->raw($head->('CLF1', 1, 3) . ' ' x 140000);
$p->receive;
ok($p->{gone}, 'a packet over the cap: hung up');
for my $body ('', 'not json', '[1,2]', '{"op":"status","op":"status"}', '{"op":' . '[' x 5000 . ']' x 5000 . '}', "{\"op\":\"st\0atus\"}",
	"{\"op\":\"\xff\xfe\"}", '{"op":{"a":1}}', '{"op":1e999}') {
	my $r = eval { my $q = $d->peer; $q->send(3, $body); my ($s, $o) = $q->receive; $o };
	ok($r && !$r->{ok}, 'refused: ' . substr($body, 0, 20) =~ s/[^\x20-\x7e]/?/gr);
}
for my $bad (['forged sequence', metadata => { sequence => 5 }], ['forged log name', metadata => { log_name => 'x' }],
	['forged time', metadata => { logged_time => 1 }], ['forged prev', closfold => { prev => 'a' x 64 }]) {
	my $r = $d->peer->record($d->record(@$bad[1, 2]));
	ok(!$r->{ok} && $r->{code} eq 'denied', "$bad->[0] is refused");
}
for my $bad ('{}', '{"a":1} ', $d->record(message => "a\tb"), $d->record(metadata => { uid => 'short' }), $d->record(closfold => { schema => 'x' })) {
	my $r = $d->peer->record($bad);
	ok(!$r->{ok} && $r->{code} eq 'parse', 'bad record refused: ' . ($r->{text} // ''));
}

# a retry is acknowledged and not written again
my $rec = $d->record(message => 'only once');
ok($d->peer->record($rec)->{ok}, 'a record');
ok($d->peer->record($rec)->{known}, 'again: known');

# a peer that sends and never reads
my $deaf = $d->peer;
{
	my $flags = fcntl($deaf->{s}, Fcntl::F_GETFL(), 0);
	require Fcntl;
	fcntl($deaf->{s}, Fcntl::F_SETFL(), $flags | Fcntl::O_NONBLOCK());
	my $n = 0;
	for (1 .. 200000) { last unless $deaf->send(3, '{"op":"status"}'); $n++ }
	cmp_ok($n, '>', 0, "a deaf peer sent $n requests");
}
ok($d->call({ op => 'status' })->{ok}, 'others are served');

# many connections
my @many = grep { defined } map { $d->peer } 1 .. 700;
my $answered = grep { my $r = eval { $_->call({ op => 'status' }) }; $r && $r->{ok} } @many;
cmp_ok($answered, '<=', 512, "of 700 connections $answered are served");
@many = ();
undef $deaf;
select undef, undef, undef, 0.3;
ok($d->call({ op => 'status' })->{ok}, 'and afterwards all is well');

SKIP: {
	skip Closfoldd::lacking('root', 'only root can become somebody else'), 8 if $> != 0;
	my ($nobody) = (getpwnam 'nobody')[2];
	chmod 0755, $d->{dir};
	pipe my $rd, my $wr;
	my $pid = fork // die;
	if (!$pid) {
		$( = $) = "65534 65534";
		$> = $< = $nobody;
		my @r = map { my $x = $d->call($_); $x } { op => 'status' }, { op => 'lease.list' }, $d->lease(50), { op => 'reconcile' };
		push @r, eval { $d->peer->record($d->record) };
		my @held = grep { defined } map { $d->peer } 1 .. 100;
		my $served = grep { my $x = eval { $_->call({ op => 'status' }) }; $x } @held;
		syswrite $wr, $J->encode([ @r, $served ]);
		sleep 2;
		POSIX::_exit(0);
	}
	close $wr;
	sysread $rd, my $text, 65536;
	my ($status, $list, $open, $rec1, $record, $served) = @{ $J->decode($text) };
	ok($status->{ok}, 'anybody may ask for status');
	ok(!exists $status->{leases} && !exists $status->{pid}, 'without details');
	is($list->{code}, 'denied', 'not for leases');
	is($open->{code}, 'denied', 'may not open one');
	is($rec1->{code}, 'denied', 'nor reconcile');
	is($record->{code}, 'denied', 'nor write a record');
	cmp_ok($served, '<=', 32, "of 100 connections of others $served are served");
	ok($d->call($d->lease(51))->{ok}, 'while they hold them, Slurm is served');
	kill 'KILL', $pid;
	waitpid $pid, 0;
}
is($d->stop, 0, 'it still ends in order');
is(scalar(grep { ($_->{message} // '') eq 'only once' } $d->log_records), 1, 'the retried record is there once');
is(system(Closfoldd::bin('closfold'), 'audit', 'verify', '--conf', "$d->{dir}/closfold.conf"), 0, 'and the log verifies');
unlike($d->err, qr/[^\x20-\x7e\n]/, 'nothing hostile in its messages');
done_testing();
