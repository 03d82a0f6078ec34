#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Probes over real interfaces: nodes in network namespaces, on one bridge and on two, with lldpd at both ends.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use NodeWire;
use Time::HiRes qw(sleep time);

my $id = "clfp$$";
my @spaces;
my @lldpd;
my $owner = $$;
END {
	if ($owner == $$) {
		local $?;
		kill 'TERM', @lldpd;
		system("ip netns del $_ 2>/dev/null") for @spaces;
	}
}
sub run { my ($cmd) = @_; my $rc = system("$cmd >/dev/null 2>&1"); return $rc == 0 }
sub must { my ($cmd) = @_; run($cmd) or die "failed: $cmd\n" }

NodeWire::need('fabric', $> == 0, 'network namespaces need root');
push @spaces, "$id-sw";
NodeWire::need('fabric', run("ip netns add $id-sw && ip -n $id-sw link add br0 type bridge && ip -n $id-sw link add br1 type bridge && ip -n $id-sw link add mgmt type bridge"),
	'no network namespaces or bridges here');
must("ip -n $id-sw link set $_ up") for qw(lo br0 br1 mgmt);
must("ip -n $id-sw addr add 10.77.0.100/24 dev mgmt");

# name => bridge; each has eth0 on port swp<name> and a management interface
my %on = (n1 => 'br0', n2 => 'br0', n3 => 'br0', s1 => 'br1', s2 => 'br1');
my $k = 0;
for my $n (sort keys %on) {
	push @spaces, "$id-$n";
	must("ip netns add $id-$n");
	must("ip -n $id-sw link add swp-$n type veth peer name eth0 netns $id-$n");
	must("ip -n $id-sw link set swp-$n master $on{$n} up");
	must("ip -n $id-sw link add m-$n type veth peer name mgmt0 netns $id-$n");
	must("ip -n $id-sw link set m-$n master mgmt up");
	must("ip -n $id-$n addr add 10.77.0." . ++$k . "/24 dev mgmt0");
	must("ip -n $id-$n link set $_ up") for qw(lo eth0 mgmt0);
}
sub move { my ($n, $bridge) = @_; must("ip -n $id-sw link set swp-$n master $bridge") }

my $w = NodeWire->new;
my $d = $w->{dir};
$w->{port} = 7321;
ok($w->controller(prefix => [ 'ip', 'netns', 'exec', "$id-sw" ], listen => '10.77.0.100:7321'), 'the controller listens') or BAIL_OUT($w->err);

my $lldp = -x '/usr/sbin/lldpd' && getpwnam '_lldpd';
if ($lldp) {
	mkdir '/run/lldpd'; # its chroot, as the package's service makes it
	for my $n (sort keys %on, 'sw') {
		NodeWire::write_file("$d/lldp-$n.conf", "configure lldp tx-interval 1\nconfigure lldp portidsubtype ifname\n");
		my $ifs = $n eq 'sw' ? 'swp-*' : 'eth0';
		push @lldpd, $w->spawn("lldpd-$n", undef, undef, 'ip', 'netns', 'exec', "$id-$n", '/usr/sbin/lldpd', '-d', '-u', "$d/lldp-$n.sock", '-O', "$d/lldp-$n.conf", '-I', $ifs);
	}
}
for my $n (sort keys %on) {
	$w->node($n, prefix => [ 'ip', 'netns', 'exec', "$id-$n" ], conf => { controller => '10.77.0.100:7321', probe_nics => 'eth0', lldp_socket => "$d/lldp-$n.sock" });
}
my %mac;
for my $n (sort keys %on) {
	my $f = $w->facts($n, 20);
	($mac{$n}) = map { $_->{mac} } grep { $_->{name} eq 'eth0' && $_->{link} } @{ $f->{net} || [] };
	ok($mac{$n}, "$n reports its interface with a link");
}
my $nonce = sub { return sprintf '%032x', int rand 2**31 };
sub probe { my ($from, $nonce, $ms, $wait, @to) = @_; return $w->ask($from, $ms + 3000, { op => 'probe', nonce => $nonce, deadline_ms => $ms, wait => $wait ? JSON::PP::true : JSON::PP::false,
	probes => [ map { { nic => 'eth0', ref $_ ? %$_ : (mac => $mac{$_}, node => $_) } } @to ] })->{reply} }
sub seen { my ($n, $nonce) = @_; return $w->ask($n, 3000, { op => 'probe_seen', nonce => $nonce })->{reply} }

# ---- one network
{
	my $x = $nonce->();
	my $began = time;
	my $r = probe('n1', $x, 2000, 0, 'n2', 'n3');
	ok($r->{probes}[0]{reached} && $r->{probes}[1]{reached}, 'nodes of one network reach each other');
	cmp_ok($r->{probes}[0]{rtt_us}, '<', 500_000, "in $r->{probes}[0]{rtt_us} us");
	cmp_ok(time - $began, '<', 1.5, 'and the answer comes as soon as all have');
	my $s = seen('n2', $x);
	ok((grep { $_->{from} eq 'n1' && $_->{nic} eq 'eth0' } @{ $s->{seen} }), 'which the other saw');
	ok($s->{complete} && $s->{nics}[0]{nic} eq 'eth0' && $s->{nics}[0]{for_ms} > 0, 'and it listens since a while');
	is_deeply(seen('n2', $nonce->())->{seen}, [], 'of another nonce it saw nothing');
	$r = probe('n1', $nonce->(), 300, 0, { mac => $mac{n2}, node => 'n3' });
	ok(!$r->{probes}[0]{reached} && $r->{probes}[0]{other} eq 'n2', 'an address that is another node\'s is said to be');
	$r = probe('n1', $nonce->(), 300, 1, { mac => 'ff:ff:ff:ff:ff:ff' });
	is_deeply([ sort map { $_->{node} } @{ $r->{heard} } ], [qw(n2 n3)], 'all of the network answer what goes to everybody, and nobody else');
	$r = probe('n1', $nonce->(), 300, 0, { nic => 'eth7', mac => $mac{n2} });
	like($r->{probes}[0]{error} // '', qr/no such interface/, 'an interface that is not there');
	$r = probe('n1', $nonce->(), 300, 0, { nic => 'mgmt0', mac => $mac{n2} });
	like($r->{probes}[0]{error} // '', qr/no such interface/, 'one that is not in probe_nics is not used');
}
# ---- two networks
{
	my $x = $nonce->();
	my $r = probe('n1', $x, 400, 1, 's1', { mac => 'ff:ff:ff:ff:ff:ff' });
	ok(!$r->{probes}[0]{reached}, 'a stranger is not reached');
	ok(!(grep { $_->{node} =~ /^s/ } @{ $r->{heard} }), 'nor heard');
	is_deeply(seen('s1', $x)->{seen}, [], 'and saw nothing');
}
# ---- many frames that are none of ours
{
	my @flood = map { { mac => $mac{n2} } } 1 .. 500;
	my $r = probe('n1', $nonce->(), 1000, 0, @flood);
	is(scalar(grep { $_->{reached} } @{ $r->{probes} }), 500, '500 probes at once');
	is($w->ask('n1', 3000, { op => 'probe', nonce => '0' x 32, deadline_ms => 100, probes => [ map { { nic => 'eth0', mac => $mac{n2} } } 1 .. 513 ] })->{code}, 'invalid', '513 are too many');
	is($w->ask('n1', 3000, { op => 'probe', nonce => '0' x 32, deadline_ms => 10001, probes => [ { nic => 'eth0', mac => $mac{n2} } ] })->{code}, 'invalid', 'so are 10 s');
	my @n = map { $w->ask_only('n1', 5000, { op => 'probe', nonce => $nonce->(), deadline_ms => 1500, wait => JSON::PP::true, probes => [ { nic => 'eth0', mac => $mac{n2} } ] }) } 1 .. 20;
	my @a = map { $w->answer($_) } @n;
	is(scalar(grep { ($_->{code} // '') eq 'exhausted' } @a), 4, 'of 20 at a time four are refused');
}
# ---- the last rung as a whole
SKIP: {
	skip NodeWire::lacking('lldp', 'no lldpd here'), 12 unless $lldp;
	for my $n (sort keys %on) {
		my $port;
		for (1 .. 40) {
			my $f = $w->ask($n, 4000, { op => 'report' })->{reply}{facts};
			($port) = map { @{ $_->{lldp} || [] } == 1 ? $_->{lldp}[0]{port} : () } grep { $_->{name} eq 'eth0' } @{ $f->{net} || [] };
			last if $port;
			sleep 0.25;
		}
		is($port, "swp-$n", "$n: LLDP names the switch port");
	}
	my $v = $w->call('verify n[1-3] 6000 require', 'verify', 15);
	is($v->{verify}, 'ok', "isolated: $v->{text}");
	ok($v->{evidence}{positive}{done} == 3 && $v->{evidence}{negative}{done} == 1 && !@{ $v->{evidence}{skipped} }, 'all of it was looked at') or diag(explain($v));
	move('s1', 'br0');
	move('s2', 'br0');
	$v = $w->call('verify n[1-3] 6000 try', 'verify', 15);
	is($v->{verify}, 'conflict', "strangers in the job's network: $v->{text}");
	move('s1', 'br1');
	move('s2', 'br1');
	move('n3', 'br1');
	$v = $w->call('verify n[1-3] 6000 try', 'verify', 15);
	is($v->{verify}, 'conflict', "a node in another network: $v->{text}");
	ok($v->{evidence}{positive}{failed} > 0, 'positive probes failed');
	move('n3', 'br0');
	kill 'STOP', $w->{nodes}{$_} for qw(s1 s2);
	$v = $w->call('verify n[1-3] 4000 try', 'verify', 15);
	ok($v->{verify} eq 'ok' && $v->{evidence}{negative}{done} == 0 && @{ $v->{evidence}{skipped} } == 1, "strangers whose daemons hang are skipped: @{ $v->{evidence}{skipped} || [] } $v->{text}");
	$v = $w->call('verify n[1-3] 4000 require', 'verify', 15);
	is($v->{verify}, 'remote', "which is not enough where probes are required: $v->{text}");
	kill 'CONT', $w->{nodes}{$_} for qw(s1 s2);
}
# ---- links
{
	must("ip -n $id-n2 link set eth0 down");
	ok($w->line(sub { ($_[0]{report} // '') eq 'n2' && $_[0]{facts} && grep { $_->{name} eq 'eth0' && !$_->{link} } @{ $_[0]{facts}{net} } }, 12), 'a link that is lost is told within seconds');
	is_deeply(seen('n2', '0' x 32)->{nics}, [], 'and the node listens there no more');
	my $r = probe('n1', $nonce->(), 300, 0, 'n2');
	ok(!$r->{probes}[0]{reached}, 'nor answers');
	must("ip -n $id-n2 link set eth0 up");
	$w->ask('n2', 4000, { op => 'report' });
	ok(probe('n1', $nonce->(), 1000, 0, 'n2')->{probes}[0]{reached}, 'back, it does');
	ok($w->said(qr/node 'n1' comes from 10\.77\.0\.\d+, its munged says/), 'an address that is not munged\'s is in the log');
}
is($w->stop_node($_), 0, "$_ ends in order") for qw(n1 s1);
done_testing();
