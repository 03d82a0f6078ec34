#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A thousand random steps - start, end, requeue, forget, reconcile, closfoldd killed, switches hung, killed, changed by hand - on real
# Open vSwitch. After each: no key in two hands, no port of one job in another's network. In the end ledger, jobs and switches agree.
#
# CLF_STEPS, CLF_SEED: how many, which. Slurm is a list of jobs here, for a thousand steps of slurmctld take an hour.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../lib";
use Test::More;
use Closfoldd;
use Time::HiRes qw(sleep time);

my ($steps, $seed) = ($ENV{CLF_STEPS} || 1000, $ENV{CLF_SEED} || time);
my $ovs = "$FindBin::Bin/../ovs/lib.sh";
my $why = `bash -c '. "$ovs"; ovs_missing'`;
chomp $why;
if ($why) { plan skip_all => Closfoldd::lacking('fabric', "Open vSwitch: $why") }
srand $seed;
note "seed $seed";

my $fab = File::Temp::tempdir('clf-fabXXXXXX', DIR => '/run', CLEANUP => 1);
chmod 0755, $fab;
sub sh { my $out = `bash -c '. "$ovs"; $_[0]'`; return $out }
END { if ($fab) { local $?; sh("ovs_down $fab/ovs") } }
sh("OVS_KEYS=100-104 OVS_TRUNK=20,100,101,102,103,104 ovs_up $fab/ovs");
my $d = Closfoldd->new(conf => { fabrics => "$fab/fabrics.json", reconcile_s => 1, lease_grace_s => 1 });
Closfoldd::write_file("$fab/fabrics.json", sh("ovs_fabrics_file $fab/ovs 20") =~ s/"cool_down_s":0/"cool_down_s":0,"timeout_ms":700/r);
$d->start or BAIL_OUT($d->err);

# Every port's VLAN as the switches' databases have it.
sub tags {
	my %t;
	for my $leaf ('leaf1', 'leaf2') {
		my $o = `ovs-vsctl --timeout=10 --db=unix:$fab/ovs/$leaf/db.sock --format=csv --no-headings --columns=name,tag list port 2>/dev/null`;
		while ($o =~ /^"?swp(\d+)"?,(\d+)/mg) { $t{ 'n' . ($leaf eq 'leaf1' ? $1 : $1 + 4) } = $2 }
	}
	return \%t;
}
sub pid { my ($s, $p) = @_; return int(Closfoldd::read_file("$fab/ovs/$s/$p.pid") // 0) }

# Jobs as Slurm would have them: id => { nodes, restart, gone }; two nodes each, fixed, so that two jobs may want the same.
my %nodes = (1 => 'n[1-2]', 2 => 'n[3-4]', 3 => 'n[5-6]', 4 => 'n[7-8]', 5 => 'n[2-3]', 6 => 'n[6-7]');
my %hosts = (1 => [1, 2], 2 => [3, 4], 3 => [5, 6], 4 => [7, 8], 5 => [2, 3], 6 => [6, 7]);
my (%live, %serial, %frozen, %asked, %granted);
my ($wrong, $starts, $refused, $kills) = (0, 0, 0, 0);
my $peer;

sub jobs_to_slurm {
	$d->query([ map { { job_id => $_, submit_time => 1000 + $_ + 100 * ($serial{$_} // 0), state => 'RUNNING', nodes => $nodes{$_} } } sort keys %live ]);
}
sub p { return $peer = $d->peer if !$peer || $peer->{gone}; return $peer }
# Replies that have come: a start that was granted is believed, as slurmctld would.
sub take {
	my ($wait) = @_;
	return unless $peer;
	while (my ($seq, $o) = $peer->receive($wait)) {
		my $a = delete $asked{$seq} or next;
		if ($a->{op} eq 'open') {
			$o->{ok} ? $starts++ : $refused++;
			# the job may have ended meanwhile: then nothing runs
			$granted{ $a->{job} } = $o->{lease} if $o->{ok} && $live{ $a->{job} } && $live{ $a->{job} } == $a->{run};
		}
		$wait = 0;
	}
	if ($peer->{gone}) { undef $peer; %asked = () }
}
my $run = 0;
sub start_job {
	my ($j) = @_;
	$live{$j} //= ++$run;
	jobs_to_slurm();
	my $q = p() or return;
	$q->send(3, $Closfoldd::JSON->encode($d->lease($j, submit_time => 1000 + $j + 100 * ($serial{$j} // 0), nodes => $nodes{$j}))) or return;
	$asked{ $q->{seq} } = { op => 'open', job => $j, run => $live{$j} };
}
sub end_job {
	my ($j, $told) = @_;
	delete $live{$j};
	delete $granted{$j};
	jobs_to_slurm();
	my $submit = 1000 + $j + 100 * ($serial{$j} // 0);
	$serial{$j}++; # a job of this id will be another one
	return unless $told;
	my $q = p() or return;
	$q->send(3, $Closfoldd::JSON->encode({ op => 'lease.close', job_id => $j, submit_time => $submit, reason => 'end' })) or return;
	$asked{ $q->{seq} } = { op => 'close', job => $j };
}
sub wrong { $wrong++; diag "step: $_[0]" if $wrong <= 10 }

# What must hold at every moment.
sub check {
	my ($step) = @_;
	my $q = $d->peer or return;
	my $l = $q->call({ op => 'lease.list' }) or return;
	my %by_key;
	for (@{ $l->{leases} || [] }) {
		for my $net (@{ $_->{nets} || [] }) {
			wrong("$step: key $net->{key} is $by_key{$net->{key}}'s and $_->{id}'s") if $by_key{ $net->{key} };
			$by_key{ $net->{key} } = $_->{id};
		}
	}
	my %lease = map { $_->{id} => $_ } @{ $l->{leases} || [] };
	my $t = tags();
	# a job that was granted, and has not ended, is alone in its network
	for my $j (keys %granted) {
		my $have = $lease{ $granted{$j} } or next;
		next if $have->{state} ne 'granted';
		my $key = $have->{nets}[0]{key};
		my %mine = map { ("n$_" => 1) } @{ $hosts{$j} };
		for (keys %$t) {
			wrong("$step: stranger $_ in network $key of job $j") if $t->{$_} == $key && !$mine{$_} && !$step->{by_hand};
		}
	}
}

for my $i (1 .. $steps) {
	my $r = rand;
	my $j = 1 + int rand 6;
	my $what;
	if ($r < 0.40) { start_job($j); $what = "start $j" }
	elsif ($r < 0.62) { end_job($j, 1) if $live{$j}; $what = "end $j" }
	elsif ($r < 0.68) { end_job($j, 0) if $live{$j}; $what = "end $j, nobody tells" }
	elsif ($r < 0.74) { # requeue: the end of the old run, the start of the new one
		if ($live{$j}) { end_job($j, 1); start_job($j) }
		$what = "requeue $j";
	}
	elsif ($r < 0.79) { my $q = $d->peer; $q->call({ op => 'reconcile' }) if $q; $what = 'reconcile' }
	elsif ($r < 0.84) {
		my $s = rand() < 0.5 ? 'leaf1' : 'leaf2';
		if ($frozen{$s}) { kill CONT => pid($s, 'vsw'); delete $frozen{$s} }
		elsif (!%frozen) { kill STOP => pid($s, 'vsw'); $frozen{$s} = 1 }
		$what = "hang or wake $s";
	}
	elsif ($r < 0.89) {
		$kills++;
		$d->stop('KILL');
		undef $peer;
		%asked = ();
		$d->start or die $d->err;
		$what = 'closfoldd killed';
	}
	elsif ($r < 0.90 && !%frozen) {
		my $s = rand() < 0.5 ? 'leaf1' : 'leaf2';
		kill KILL => pid($s, 'vsw');
		sleep 0.05;
		sh("ovs_start $fab/ovs $s vsw");
		$what = "$s killed";
	}
	else { $what = 'wait'; take(rand 0.3) }
	take(rand() < 0.5 ? 0 : 0.03);
	check("$i ($what)");
}
is($wrong, 0, "$steps steps: no key in two hands, no stranger in a network");
cmp_ok($starts, '>', $steps / 20, "$starts starts were granted");
cmp_ok($refused, '>', 0, "$refused were refused");
cmp_ok($kills, '>', $steps / 100, "$kills times closfoldd was killed");

# the end: nothing runs any more
kill CONT => pid($_, 'vsw') for keys %frozen;
%live = ();
jobs_to_slurm();
my $left;
for (1 .. 300) {
	my $q = $d->peer;
	$left = $q ? $q->call({ op => 'lease.list' })->{leases} : [1];
	last if !@$left && !grep { $_ != 20 } values %{ tags() };
	sleep 0.1;
}
is(scalar @$left, 0, 'all leases are closed') or diag $Closfoldd::JSON->encode($left);
my $t = tags();
is(join(' ', map { $t->{"n$_"} } 1 .. 8), join(' ', (20) x 8), 'all ports are at rest');
my $q = $d->peer;
my $v = $q->call({ op => 'fabric.verify', fabric => '' });
is(scalar(grep { $_->{level} eq 'error' } @{ $v->{fabrics}[0]{out} || [ { level => 'error' } ] }), 0, 'the switches say so too');
is($d->stop, 0, 'closfoldd ends well');
is(system(Closfoldd::bin('closfold'), 'audit', 'verify', '--log', "$d->{state}/log", '--json') >> 8, 0, 'the log verifies');
done_testing;
