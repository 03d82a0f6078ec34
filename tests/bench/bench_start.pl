#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# What a flagged start and end cost beside stock Slurm: from the request at closfoldd's socket to its answer - policy, ledger, fabric, read-back, records,
# syncs to disk. bench_start.pl BUILDDIR [ROUNDS]: real Open vSwitch, then real OpenSM on ibsim. Root. Medians and worst cases in ms.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
BEGIN { $ENV{CLF_BUILDDIR} = shift @ARGV || '.' }
use Closfoldd;
use Time::HiRes qw(time sleep);

my $rounds = shift @ARGV || 20;
my $src = "$FindBin::Bin/../..";
my $job = 0;
my $at_end;
END { local $?; $at_end->() if $at_end }

sub stats { my @s = sort { $a <=> $b } @_; return sprintf '%7.1f %7.1f', $s[ @s / 2 ], $s[-1] }

sub measure {
	my ($d, $what, $nodes) = @_;
	my (@open, @close, $bad);
	for (1 .. $rounds) {
		$job++;
		my $p = $d->peer;
		my $t = time;
		my $r = $p->call($d->lease($job, nodes => $nodes));
		if (!$r->{ok}) { $bad //= $r->{text}; next }
		push @open, 1000 * (time - $t);
		$t = time;
		$p->call({ op => 'lease.close', job_id => $job, submit_time => 1000 + $job, reason => 'end' });
		push @close, 1000 * (time - $t);
	}
	printf "%-34s start %s   end %s   (median, max of %d)%s\n", $what, stats(@open), stats(@close), scalar @open, $bad ? "; refused: $bad" : '';
}

sub policy { # zone over all nodes
	my ($d, $zone) = @_;
	my $p = Closfoldd::default_policy();
	$p->{zones}{secure}{nodes} = $zone;
	Closfoldd::write_file("$d->{dir}/policy.json", $Closfoldd::JSON->encode($p));
}

sub null {
	my $d = Closfoldd->new;
	policy($d, 'n[1-128]');
	$d->start or die $d->err;
	measure($d, 'no fabric, 8 nodes', 'n[1-8]');
	$d->stop;
}

sub ovs {
	my $fab = File::Temp::tempdir('clf-fabXXXXXX', DIR => '/run', CLEANUP => 1);
	my $sh = sub { my $out = `bash -c '. "$src/tests/fabric/ovs/lib.sh"; $_[0]'`; return $out };
	$at_end = sub { $sh->("ovs_down $fab/ovs") };
	$sh->("OVS_NODES=64 OVS_KEYS=100-139 OVS_TRUNK=\$(seq -s, 100 139) ovs_up $fab/ovs");
	my $d = Closfoldd->new(conf => { fabrics => "$fab/fabrics.json" });
	policy($d, 'n[1-128]');
	Closfoldd::write_file("$fab/fabrics.json", $sh->("ovs_fabrics_file $fab/ovs"));
	$d->start or die $d->err;
	sleep 1;
	measure($d, "Open vSwitch, $_ ports", "n[1-$_]") for 1, 8, 32, 128;
	$d->stop;
	$at_end->();
	undef $at_end;
}

# The fabric and its OpenSM in a shell of their own, which ends with its standard input.
sub opensm {
	my ($label, $gen, $hosts, @sizes) = @_;
	my $dir = File::Temp::tempdir('clf-ibXXXXXX', DIR => '/run', CLEANUP => 1);
	open my $sh, '|-', 'bash', '-c', qq{
		export CLF_SRCDIR="$src" CLF_BUILDDIR="$ENV{CLF_BUILDDIR}"
		. "$src/tests/fabric/opensm/lib.sh" >/dev/null
		part=$dir/partitions.conf
		fabric $gen
		sm_start
		ports=\$(for i in \$(seq 2 $hosts); do printf '"n%d":["%s"],' \$((i - 1)) "\$(guid \$i)"; done)
		conf "\\"ports\\":{\${ports%,}}"
		cp "\$fabrics" $dir/fabrics.json
		cat >/dev/null
	} or die;
	for (1 .. 600) { last if -e "$dir/fabrics.json"; sleep 0.1 }
	my $d = Closfoldd->new(conf => { fabrics => "$dir/fabrics.json" });
	policy($d, 'n[1-' . ($hosts - 1) . ']');
	$d->start or die $d->err;
	sleep 4;
	measure($d, "$label, $_ ports", "n[1-$_]") for @sizes;
	$d->stop;
	close $sh;
}

null();
ovs();
opensm('OpenSM, 128 HCAs', '--leaves 8 --hosts 16 --spines 4', 128, 4, 16);
opensm('OpenSM, 1024 HCAs', '--leaves 32 --hosts 32 --spines 16', 1024, 64);
