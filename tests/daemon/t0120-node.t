#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Node daemons and who pretends to be one: reports, forgeries, replays, garbage, slow and many peers, restarts, a munged that hangs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use NodeWire;
use Time::HiRes qw(sleep time);

my $w = NodeWire->new;
ok($w->controller, 'the controller listens') or BAIL_OUT($w->err);

# ---- a real node daemon
{
	ok($w->node('n1'), 'a node daemon starts');
	my $r = $w->line(sub { ($_[0]{report} // '') eq 'n1' });
	ok($r && $r->{facts}{format} eq 'closfold-node/1' && $r->{facts}{node} eq 'n1', 'its report arrives');
	ok($r && exists $r->{facts}{clock}{synchronised} && $r->{facts}{boot_id}, 'with clock and boot id');
	is_deeply($w->call('nodes', 'nodes')->{nodes}, ['n1'], 'it is in the list');
	my $a = $w->ask('n1', 3000, { op => 'report' });
	ok($a->{reply}{ok} && $a->{reply}{facts}{time_ms} >= $r->{facts}{time_ms}, 'asked, it makes a fresh one');
	is($w->ask('n1', 3000, { op => 'nonsense' })->{code}, 'invalid', 'an unknown question is refused by it');
	is($w->ask('n1', 3000, { op => 'probe', nonce => 'x' })->{code}, 'invalid', 'so is a probe that is none');
	is($w->ask('n9', 3000, { op => 'report' })->{code}, 'notfound', 'a node that is not there is said to be');
	my $s = $w->call('status', 'status')->{status};
	ok($s->{connected} == 1 && $s->{fresh} == 1 && $s->{munge}{ok}, 'status counts it');
}

# ---- a peer of the test's own, and all that it must not do
{
	my $p = $w->connect(name => 'x1');
	my $welcome = $p->hello(nonce => 'a' x 32);
	ok($welcome && $welcome->{op} eq 'welcome' && $welcome->{nonce} eq 'a' x 32 && length $welcome->{session} == 32, 'hello is welcomed with a session');
	is($welcome->{from}, 'controller', 'by the controller');
	is_deeply([ grep { $_ eq 'x1' } @{ $w->call('nodes', 'nodes')->{nodes} } ], [], 'that alone is no node');
	$p->report;
	my $ack = $p->receive;
	ok($ack && $ack->{op} eq 'ack' && $ack->{re} == 2 && $ack->{session} eq $p->{session}, 'a report is acknowledged');
	ok($w->facts('x1'), 'and known');
	$p->report(facts => { net => [ { name => 'eth0', link => JSON::PP::true } ] });
	ok($w->line(sub { ($_[0]{report} // '') eq 'x1' && $_[0]{facts} && $_[0]{facts}{net} }), 'a change is told');
	$p->receive;
	my $n = () = grep { ($_->{report} // '') eq 'x1' } @{ $w->{lines} };
	$p->report(facts => { net => [ { name => 'eth0', link => JSON::PP::true } ], time_ms => 5 });
	$p->receive;
	$w->call('spin', 'spin');
	is(scalar(grep { ($_->{report} // '') eq 'x1' } @{ $w->{lines} }), $n, 'the same again is not');
	my $q = $w->ask_only('x1', 5000, { op => 'report' });
	my $m = $p->receive;
	is($m->{ask}{op}, 'report', 'a question comes');
	$p->send(op => 'answer', re => $m->{seq}, answer => { ok => JSON::PP::true, facts => { format => 'closfold-node/1', node => 'x1' } });
	ok($w->answer($q)->{reply}{ok}, 'its answer is taken');
	$p->send(op => 'answer', re => $m->{seq}, answer => { ok => JSON::PP::true, facts => { format => 'closfold-node/1', node => 'x1' } });
	$w->call('spin', 'spin');
	ok(!$w->answer($q, 0.3), 'and only once');
	my @q = map { $w->ask_only('x1', 5000, { op => "q$_" }) } 1 .. 3;
	my @m = map { $p->receive } 1 .. 3;
	$p->send(op => 'answer', re => 4711, answer => { ok => JSON::PP::true });
	$p->send(op => 'answer', re => $m[$_]{seq}, answer => { ok => JSON::PP::true, to => $m[$_]{ask}{op} }) for 2, 0, 1;
	is_deeply([ map { $w->answer($q[$_])->{reply}{to} } 0 .. 2 ], [qw(q1 q2 q3)], 'answers in any order go to their questions');
}
ok($w->said(qr/node 'x1'.*hung up/), 'a node that leaves is said to');

# what ends a connection, and what the log says of it; before is what is said first
my $up = sub { $_[0]->up };
my $cases = 0;
for my $case (
	[ 'nobody says hello', undef, sub { $_[0]->send(op => 'hello', node => 'n1', nonce => 'a' x 32, opts => ['-U', 'nobody']) }, qr/uid \d+: only root/ ],
	[ 'nobody reports', $up, sub { $_[0]->send(op => 'report', facts => {}, opts => ['-U', 'nobody']) }, qr/uid \d+: only root/ ],
	[ 'no encryption', undef, sub { $_[0]->send(op => 'hello', node => 'x1', nonce => 'a' x 32, opts => [ '-c', 'none' ]) }, qr/not encrypted/ ],
	[ 'no credential', undef, sub { $_[0]->frame('hello there') }, qr/bad credential/ ],
	[ 'binary garbage', undef, sub { $_[0]->frame(join '', map { chr(1 + int rand 255) } 1 .. 500) }, qr/bad credential/ ],
	[ 'a frame of length 0', undef, sub { $_[0]->raw("\0\0\0\0") }, qr/frame of 0 bytes/ ],
	[ 'a frame of 4 GiB', undef, sub { $_[0]->raw("\xff\xff\xff\xff") }, qr/frame of 4294967295 bytes/ ],
	[ 'a stranger with a frame over 64 KiB', undef, sub { $_[0]->raw(pack 'V', 65537) }, qr/frame of 65537 bytes, from 1 to 65536/ ],
	[ 'a node with a frame over 1 MiB', $up, sub { $_[0]->raw(pack 'V', (1 << 20) + 1) }, qr/frame of 1048577 bytes, from 1 to 1048576/ ],
	[ 'a NUL in a frame', undef, sub { $_[0]->frame("MUNGE:\0:") }, qr/NUL/ ],
	[ 'no JSON', undef, sub { $_[0]->frame($w->encode('not json')) }, qr/not valid JSON/ ],
	[ 'a list', undef, sub { $_[0]->frame($w->encode('[1]')) }, qr/no v 1, seq or from/ ],
	[ 'a key twice', undef, sub { $_[0]->frame($w->encode('{"v":1,"v":1,"seq":1,"from":"node","op":"hello"}')) }, qr/duplicate/ ],
	[ 'deep nesting', undef, sub { $_[0]->frame($w->encode('{"v":1,"x":' . '[' x 100 . ']' x 100 . '}')) }, qr/nested/ ],
	[ 'another version', undef, sub { $_[0]->send(v => 2, op => 'hello') }, qr/no v 1/ ],
	[ 'a message of a controller', undef, sub { $_[0]->send(from => 'controller', op => 'hello', node => 'x1', nonce => 'a' x 32) }, qr/of a 'controller'/ ],
	[ 'a report before hello', undef, sub { $_[0]->report }, qr/where hello is due/ ],
	[ 'a name with a slash', undef, sub { $_[0]->send(op => 'hello', node => '../x', nonce => 'a' x 32) }, qr/without a node name/ ],
	[ 'no nonce', undef, sub { $_[0]->send(op => 'hello', node => 'x1') }, qr/nonce/ ],
	[ 'no session', $up, sub { $_[0]->send(op => 'report', facts => {}, session => undef) }, qr/another session/ ],
	[ 'a session that is not its own', $up, sub { $_[0]->send(op => 'report', facts => {}, session => 'b' x 32) }, qr/another session/ ],
	[ 'the same number again', $up, sub { $_[0]{seq}--; $_[0]->report }, qr/message 2 after message 2/ ],
	[ 'a lower number', $up, sub { $_[0]->send(op => 'report', facts => {}, seq => 1) }, qr/message 1 after message 2/ ],
	[ 'a negative number', $up, sub { $_[0]->send(op => 'report', facts => {}, seq => -1) }, qr/message -1 after/ ],
	[ 'hello again', $up, sub { $_[0]->send(op => 'hello', node => 'x1', nonce => 'a' x 32) }, qr/unknown message 'hello'/ ],
	[ 'an unknown message', $up, sub { $_[0]->send(op => 'lease.open') }, qr/unknown message/ ],
	[ 'a report of another node', $up, sub { $_[0]->report(facts => { node => 'n1' }) }, qr/report of node 'n1' from node 'x2'/ ],
	[ 'a report that is none', $up, sub { $_[0]->report(facts => { net => 7 }) }, qr/'net' is not an array/ ],
) {
	my ($what, $before, $do, $says) = @$case;
	# its log says 20 lines a minute
	if ($cases++ % 8 == 0) { $w->stop_controller; $w->controller }
	my $p = $w->connect(name => 'x2', from => '127.0.0.2');
	ok(!$before || $before->($p), "$what: first all is well") if $before;
	my $at = length $w->err;
	$do->($p);
	ok($p->gone, "$what: hung up");
	my $log = '';
	for (1 .. 200) { $log = substr $w->err, $at; last if $log =~ $says; sleep 0.01 }
	like($log, $says, "$what: and said");
}
{
	$w->stop_controller;
	$w->controller;
	my $at = length $w->err;
	for (1 .. 60) { my $p = $w->connect(from => '127.0.0.2'); $p->frame('garbage'); $p->gone }
	my $lines = () = substr($w->err, $at) =~ /bad credential/g;
	cmp_ok($lines, '<=', 20, "of 60 refusals in a minute $lines are in the log");
	$w->cmd('tick 60001');
	ok($w->said(qr/4\d more messages/), 'and the others are counted');
	cmp_ok($w->call('status', 'status')->{status}{refused}, '>=', 60, 'as by status');
	$w->stop_controller;
	$w->controller;
}
ok($w->facts('n1'), 'the real node is still known') and is($w->facts('n1')->{node}, 'n1', 'as itself');

# ---- replay
{
	my $p = $w->connect(name => 'x3');
	my $cred = $w->encode($p->message(op => 'hello', node => 'x3', nonce => 'c' x 32));
	$p->frame($cred);
	my $welcome = $p->receive;
	ok($welcome, 'a credential is good once');
	my $q = $w->connect(name => 'x3');
	$q->frame($cred);
	ok($q->gone, 'on another connection it is not');
	ok($w->said(qr/was used before/), 'and that is said');
	# one that was caught and never arrived: the hello is taken, but there is no session for whoever plays it
	my $late = $w->connect(name => 'x3');
	$late->frame($w->encode($late->message(op => 'hello', node => 'n1', nonce => 'd' x 32)));
	ok($late->receive, 'a caught hello is welcomed');
	is($w->facts('n1')->{node}, 'n1', 'but takes nobody\'s place');
	is(scalar(() = $w->err =~ /node 'n1' is connected a second time/g), 0, 'without a word of its session');
}

# ---- a second connection of a node
{
	my $p = $w->connect(name => 'x4');
	$p->up;
	my $asked = $w->ask_only('x4', 20000, { op => 'report' });
	my $q = $w->connect(name => 'x4');
	ok($q->up, 'a second one comes up');
	ok($p->gone, 'and the first is hung up on');
	ok($w->said(qr/node 'x4' is connected a second time/), 'which is said');
	is($w->answer($asked)->{code}, 'remote', 'what was asked on the first is answered');
	$asked = $w->ask_only('x4', 5000, { op => 'report' });
	ok($q->receive->{ask}, 'questions go to the second');
	is($w->answer($asked, 7)->{code}, 'timeout', 'one that is not answered ends by its time');
	my $other = $w->ask_only('x4', 20000, { op => 'report' });
	$q->receive;
	close $q->{s};
	is($w->answer($other)->{code}, 'remote', 'and when the node leaves, at once');
}

# ---- many and slow ones, of an address of their own
{
	my @many = grep { defined } map { $w->connect(from => '127.0.0.3') } 1 .. 40;
	sleep 0.3;
	my $open = grep { !$_->gone(0.02) } @many;
	cmp_ok($open, '<=', 16, "of 40 silent connections of one address $open are held");
	my $p = $w->connect(name => 'x5');
	ok($p->up, 'another address is served meanwhile');
	my $began = time;
	my ($slow) = grep { !$_->{gone} } @many;
	$slow->raw(pack 'V', 5000); # and then a byte now and then: in time for every read, never whole
	for (1 .. 40) { last unless $slow->raw('M'); last if $slow->gone(0.5) }
	ok($slow->{gone} && time - $began < 15, 'one that sends a byte now and then is hung up on');
	ok($w->said(qr/has not shown who it is in 10 s/), 'and that is said');
	ok($p->raw('') && !$p->gone(0.1), 'one that is known is not');
}

# ---- silence and staleness, by a tick from the future
{
	my $p = $w->connect(name => 'x6');
	$p->up;
	$w->cmd('tick 94000');
	ok($w->facts('x6'), 'a report of 94 s is knowledge');
	$w->cmd('tick 96000');
	ok($w->line(sub { ($_[0]{report} // '') eq 'x6' && !defined $_[0]{facts} }), 'after three missed reports it is not, and that is told');
	ok($p->gone, 'and a silent node is hung up on');
	ok(!$w->call('facts x6', 'age_ms')->{facts}, 'nothing is known of it');
	ok($w->line(sub { ($_[0]{report} // '') eq 'n1' && $_[0]{facts} }, 20) || $w->facts('n1', 20), 'a daemon that was dropped comes back');
}

# ---- munged hangs
{
	$w->facts('n1', 20);
	$w->munged('STOP');
	my $n = $w->ask_only('n1', 1500, { op => 'report' });
	my $began = time;
	$w->call('spin', 'spin', 3) for 1 .. 20;
	cmp_ok(time - $began, '<', 1, 'munged stopped: the loop goes on');
	my $a = $w->answer($n, 5);
	is($a && $a->{code}, 'timeout', 'a question ends by its time');
	cmp_ok(time - $began, '<', 3, 'which is kept');
	$w->munged('CONT');
	my $ok;
	for (1 .. 20) { $a = $w->ask('n1', 3000, { op => 'report' }); last if $ok = $a->{reply}; sleep 0.5 }
	ok($ok, 'munged goes on, and so do we');
}
# ---- and is away
{
	$w->munged('TERM');
	for (1 .. 200) { last unless -S $w->{sock}; sleep 0.01 }
	my $a = $w->ask('n1', 3000, { op => 'report' });
	ok($a->{code} && $a->{code} =~ /remote|timeout|notfound/, "munged away: $a->{text}");
	for (1 .. 100) { last if $w->said(qr/munged cannot be reached/); sleep 0.1 }
	ok($w->said(qr/munged cannot be reached/), 'and said so');
	ok(!$w->call('status', 'status')->{status}{munge}{ok}, 'status knows');
	my $d = $w->{dir};
	system("/usr/sbin/munged --force --key-file=$d/munge/key --socket=$d/munge/sock --pid-file=$d/munge/pid --log-file=$d/munge/log --seed-file=$d/munge/seed >$d/munge/said 2>&1");
	my $ok;
	for (1 .. 40) { $a = $w->ask('n1', 3000, { op => 'report' }); last if $ok = $a->{reply}; sleep 0.5 }
	ok($ok, 'back, the node is, too');
}

# ---- restarts
{
	is($w->stop_controller, 0, 'the controller ends in order');
	ok($w->controller, 'and starts again at the same port');
	my $f = $w->facts('n1', 15);
	ok($f && $f->{node} eq 'n1', 'the node comes back by itself');
	my $n = $w->ask_only('n1', 60000, { op => 'probe', nonce => '0' x 32, deadline_ms => 9000, wait => JSON::PP::true, probes => [ { nic => 'lo', mac => '02:00:00:00:00:01' } ] });
	$w->call('spin', 'spin');
	sleep 0.3;
	is($w->stop_node('n1'), 0, 'SIGTERM ends the node daemon in order');
	is($w->answer($n)->{code}, 'remote', 'what it was asked is answered');
	$w->node('n1');
	ok($w->connected(1, 15), 'and it can be started again');
	$n = $w->ask_only('n1', 60000, { op => 'probe', nonce => '0' x 32, deadline_ms => 9000, wait => JSON::PP::true, probes => [ { nic => 'lo', mac => '02:00:00:00:00:01' } ] });
	$w->cmd('quit');
	is($w->answer($n)->{code}, 'remote', 'at the controller\'s end all questions are answered');
}
# ---- answers of a connection that has ended are not given on the next, whose numbers begin anew
{
	$w->controller;
	ok($w->connected(1, 15) && $w->facts('n1', 15), 'a new connection');
	my $long = sub { my ($ms) = @_; return { op => 'probe', nonce => '1' x 32, deadline_ms => $ms, wait => JSON::PP::true, probes => [ { nic => 'lo', mac => '02:00:00:00:00:01' } ] } };
	$w->ask_only('n1', 60000, $long->(4000)) for 1 .. 4;
	$w->call('spin', 'spin');
	sleep 0.3;
	$w->stop_controller('KILL');
	$w->controller;
	ok($w->connected(1, 15), 'another one');
	my $began = time;
	my @n = map { $w->ask_only('n1', 60000, $long->(6000)) } 1 .. 4;
	my @a = map { $w->answer($_, 20) } @n;
	ok(time - $began > 5.5, sprintf 'each question has its own answer, after %.1f s', time - $began);
	is(scalar(grep { $_ && $_->{reply} } @a), 4, 'and has one');
	$w->stop_controller;
}

# ---- who pretends to be the controller
{
	my $l = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => 0) or die;
	$w->node('n2', conf => { controller => '127.0.0.1:' . $l->sockport });
	# answers hello with these members and options of munge, and tells whether the node hangs up
	my $pretend = sub {
		my ($members, @opts) = @_;
		my $s = $l->accept or die;
		my $p = bless { s => $s, wire => $w, seq => 0, buf => '', name => 'c' }, 'NodeWire::Peer';
		my $hello = $p->receive(10);
		$p->send(from => 'controller', op => 'welcome', session => '5' x 32, nonce => $hello->{nonce}, %$members, opts => \@opts);
		return ($p, $hello, scalar $p->gone(3));
	};
	my ($p, $hello, $gone) = $pretend->({ nonce => '0' x 32 });
	ok($hello->{op} eq 'hello' && $hello->{node} eq 'n2' && length $hello->{nonce} == 32 && !exists $hello->{session}, 'a node says hello');
	ok($gone, 'a welcome to another hello is none');
	ok(($pretend->({}, '-U', 'nobody'))[2], 'nor is one of nobody');
	ok(($pretend->({ from => 'node' }))[2], 'nor its own words');
	ok(($pretend->({ session => 'short' }))[2], 'nor one without a session');
	($p, $hello, $gone) = $pretend->({});
	ok(!$gone, 'the right one is');
	$p->{session} = '6' x 32;
	$p->send(from => 'controller', op => 'ask', ask => { op => 'report' });
	ok($p->gone, 'a question of another session ends it');
	ok($w->said(qr/uid \d+: only root/, 'n2') && $w->said(qr/no welcome to this connection/, 'n2') && $w->said(qr/another session/, 'n2'), 'all of which is said');
	is($w->stop_node('n2'), 0, 'it ends in order');
}
unlike($w->err . $w->err('n1') . $w->err('n2'), qr/[^\x20-\x7e\n]/, 'nothing hostile in the messages');
done_testing();
