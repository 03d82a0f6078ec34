# SPDX-License-Identifier: GPL-2.0-or-later
# Closfoldd.pm - a closfoldd in a directory of its own, and a peer written from docs/formats/wire.md alone.
package Closfoldd;
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Socket;
use Time::HiRes qw(sleep time);

our $JSON = JSON::PP->new->canonical->utf8->allow_nonref;
my $builddir = $ENV{CLF_BUILDDIR} || '.';

# To be asked before each skip: dies where CLF_REQUIRE (a comma list) names the tag, so that CI cannot pass over it. Returns the reason.
sub lacking {
	my ($tag, $why) = @_;
	die "'$tag' is required here, but: $why\n" if (',' . ($ENV{CLF_REQUIRE} // '') . ',') =~ /,\Q$tag\E,/;
	return $why;
}

# A tree that was not built has nothing to test.
unless (-x "$builddir/closfoldd" && -x "$builddir/closfold") {
	lacking('daemon', "closfoldd is not built in $builddir");
	print "1..0 # SKIP closfoldd is not built in $builddir\n";
	exit 0;
}

sub bin { my $p = "$builddir/$_[0]"; return -x $p ? $p : die "no program $p: build first\n" }

sub default_policy {
	return {
		format => 'closfold-policy/1', id => 'test', version => 1,
		classes => { levels => [ 'public', 'internal', 'personal' ], default => 'internal', flagged_from => 'personal' },
		zones => { secure => { nodes => 'n[1-8]' } },
		floors => { accounts => {} },
		terms => { personal => { zone => 'secure', exclusive => JSON::PP::true } },
		rules => [ { id => 'health-1', effect => 'permit', when => { classes => ['personal'], accounts => ['acct-health'] } } ],
		grants => [ {
			id => 'G-17', class => 'personal', purpose => 'dpv:ResearchAndDevelopment', fiduciary => 'hosp-01',
			contract => 'DPA-1', basis => 's6-consent', datasets => ['ds-1'],
			valid => { from => '2020-01-01T00:00:00Z', until => '2120-01-01T00:00:00Z' },
			allow => { accounts => ['acct-health'] },
		} ],
	};
}

sub write_file
{
	my ($path, $text) = @_;
	open my $f, '>', "$path.new" or die "$path: $!";
	print $f $text;
	close $f or die "$path: $!";
	rename "$path.new", $path or die "$path: $!";
}
sub read_file { my ($path) = @_; local $/; open my $f, '<', $path or return undef; binmode $f; my $t = <$f>; return $t }

sub new {
	my ($class, %o) = @_;
	# as root closfoldd takes no file below a directory that others may write, as /tmp is
	my $dir = $o{dir} || tempdir('clfdXXXXXX', $> ? (TMPDIR => 1) : (DIR => '/run'), CLEANUP => 1);
	my $self = bless { dir => $dir, prefix => $o{prefix} || [], seq => 0, owner => $$,
		run => sprintf('%08x%08x', int(rand(2**31)), $$) }, $class;
	mkdir "$dir/run"; mkdir "$dir/state";
	$self->{state} = "$dir/state";
	$self->{sock} = "$dir/run/closfoldd.sock";
	write_file("$dir/policy.json", $JSON->encode(default_policy())) unless -e "$dir/policy.json";
	$self->query($o{jobs} || []);
	my $user = getpwuid($>);
	my %conf = (cluster => 'asha', policy => "$dir/policy.json", topology => '', state_dir => "$dir/state", runtime_dir => "$dir/run",
		slurm_user => $user, slurm_query => "$dir/query", reconcile_s => 3600, lease_grace_s => 1, %{ $o{conf} || {} });
	write_file("$dir/closfold.conf", join '', map { "$_ = $conf{$_}\n" } sort keys %conf);
	return $self;
}

# What the fake Slurm query prints; a string is a shell script's body.
sub query {
	my ($self, $jobs) = @_;
	my $body = ref $jobs ? join('', map { "echo '" . $JSON->encode($_) . "'\n" } @$jobs) : $jobs;
	write_file("$self->{dir}/query", "#!/bin/sh\n$body\n");
	chmod 0755, "$self->{dir}/query";
}

# undef when it ended instead of answering; then {status} has its exit status.
sub start {
	my ($self, @args) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDERR, '>>', "$self->{dir}/err";
		open STDOUT, '>&', \*STDERR;
		exec @{ $self->{prefix} }, bin('closfoldd'), '-f', "$self->{dir}/closfold.conf", @args or POSIX::_exit(127);
	}
	$self->{pid} = $pid;
	for (1 .. 500) {
		if (waitpid($pid, WNOHANG) == $pid) { $self->{pid} = 0; $self->{status} = $? >> 8; return undef }
		my $p = $self->peer;
		# the pid file is this run's: a socket that answers may be another's
		return $self if $p && $p->call({ op => 'status' }) && (@{ $self->{prefix} } || $self->daemon_pid == $pid);
		sleep 0.02;
	}
	die "closfoldd does not answer: " . $self->err;
}

sub err { return read_file("$_[0]{dir}/err") // '' }
# The daemon may be a child of a prefix command (strace): its own pid is in the pid file.
sub daemon_pid { my $p = read_file("$_[0]{dir}/run/closfoldd.pid"); return $p ? int $p : 0 }

sub stop {
	my ($self, $sig) = @_;
	return unless $self->{pid};
	kill $sig || 'TERM', @{ $self->{prefix} } ? $self->daemon_pid : $self->{pid};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
	return $self->{status} = $? & 127 ? 128 + ($? & 127) : $? >> 8;
}
sub DESTROY { my $self = shift; local ($?, $@); $self->stop('KILL') if $self->{pid} && $self->{owner} == $$ }

sub peer {
	my ($self) = @_;
	socket(my $s, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
	connect($s, pack_sockaddr_un($self->{sock})) or return undef;
	return bless { s => $s, seq => 0 }, 'Closfoldd::Peer';
}

sub call { my ($self, $req) = @_; my $p = $self->peer or return undef; return $p->call($req) }

sub lease {
	my ($self, $job, %o) = @_;
	return { op => 'lease.open', job_id => $job, submit_time => 1000 + $job, uid => 4242, user => 'u1', account => 'acct-health',
		partition => 'gpu', class => 'personal', grant => 'G-17', decision => 'd' x 32, nodes => 'n[1-2]', min_nodes => 2, %o };
}

my $uid = 0;
# A record's bytes, as docs/formats/audit-record.md has them.
sub record {
	my ($self, %o) = @_;
	my $n = $o{seq} // ++$self->{seq};
	return $JSON->encode({
		activity_id => 1, category_uid => 1, class_uid => 1006, type_uid => 100601, severity_id => 1, time => 1796115660000,
		timezone_offset => 330, status_id => 1, status_code => 'permit', message => $o{message} // 'job permitted',
		device => { hostname => 'ctl0', type_id => 1 }, actor => { process => { name => 'slurmctld', pid => $$ } },
		job => { name => 'asha/1', run_state_id => 2 },
		metadata => { version => '1.8.0', uid => sprintf('%08x%024x', $$, ++$uid),
			product => { name => 'closfold', vendor_name => 'closfold', version => '0.1.0' },
			profiles => [ 'host', 'security_control' ], correlation_uid => 'asha/1/1000', %{ $o{metadata} || {} } },
		unmapped => { closfold => { schema => 'closfold-event/1', event => 'job.decision',
			clock => { boot_us => 1, sync => JSON::PP::true },
			producer => { name => 'test', boot_id => 'b' x 32, run => $o{run} // $self->{run}, seq => $n },
			%{ $o{closfold} || {} } } },
	});
}

# All lines of the log, in order.
sub log_lines { my ($self) = @_; return map { split /\n/, read_file($_) } sort glob("$self->{state}/log/*.jsonl") }
sub log_records { my ($self) = @_; return map { $JSON->decode($_) } $self->log_lines }
sub events { my ($self, $name) = @_; return grep { $_->{unmapped}{closfold}{event} eq $name } $self->log_records }

package Closfoldd::Peer;

sub send { my ($p, $type, $body) = @_; $p->{seq}++; return $p->raw(pack('a4vvQ<', 'CLF1', 1, $type, $p->{seq}) . $body) }
sub raw { my ($p, $bytes) = @_; return defined CORE::send($p->{s}, $bytes, Socket::MSG_NOSIGNAL()) }
# (seq, object), or () when nothing comes in time or the peer has gone (then $p->{gone}).
sub receive {
	my ($p, $timeout) = @_;
	my $r = '';
	vec($r, fileno($p->{s}), 1) = 1;
	return () unless select($r, undef, undef, $timeout // 20);
	my $got = '';
	my $ok = recv($p->{s}, $got, 1 << 18, 0);
	if (!defined $ok || $got eq '') { $p->{gone} = 1; return () }
	my ($magic, $version, $type, $seq) = unpack 'a4vvQ<', $got;
	die "bad reply\n" unless $magic eq 'CLF1' && $version == 1 && $type == 4;
	return ($seq, $Closfoldd::JSON->decode(substr $got, 16));
}
sub call { my ($p, $req) = @_; $p->send(3, ref $req ? $Closfoldd::JSON->encode($req) : $req) or return undef; my ($seq, $o) = $p->receive; return $o }
sub record { my ($p, $bytes) = @_; $p->send(1, $bytes) or return undef; my ($seq, $o) = $p->receive; return $o }

1;
