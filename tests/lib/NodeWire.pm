# SPDX-License-Identifier: GPL-2.0-or-later
# NodeWire.pm - a munged, a controller's end and node daemons of a test's own, and a peer written from docs/formats/node-wire.md alone.
package NodeWire;
use strict;
use warnings;
use File::Temp qw(tempdir);
use IO::Handle;
use IO::Socket::INET;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Time::HiRes qw(sleep time);

our $JSON = JSON::PP->new->canonical->utf8->allow_nonref;
my $builddir = $ENV{CLF_BUILDDIR} || '.';
my @kids;
my @all;

sub lacking {
	my ($tag, $why) = @_;
	die "'$tag' is required here, but: $why\n" if (',' . ($ENV{CLF_REQUIRE} // '') . ',') =~ /,\Q$tag\E,/;
	return $why;
}
# The whole file cannot run.
sub need {
	my ($tag, $ok, $why) = @_;
	return if $ok;
	lacking($tag, $why);
	print "1..0 # SKIP $why\n";
	exit 0;
}
sub write_file { my ($path, $text) = @_; open my $f, '>', $path or die "$path: $!"; print $f $text; close $f or die "$path: $!" }
sub read_file { my ($path) = @_; local $/; open my $f, '<', $path or return ''; return scalar <$f> // '' }

need('munge', -x '/usr/sbin/munged' && -x '/usr/bin/munge', 'munge is not installed');
need('daemon', -x "$builddir/tests/daemon/agents_main" && -x "$builddir/closfoldd", "closfoldd and tests/daemon/agents_main are not built in $builddir");

sub new {
	my ($class) = @_;
	my $dir = tempdir('clfnXXXXXX', $> ? (TMPDIR => 1) : (DIR => '/run'), CLEANUP => 1);
	chmod 0711, $dir;
	my $self = bless { dir => $dir, owner => $$, sock => "$dir/munge/sock", nodes => {} }, $class;
	mkdir "$dir/munge", 0711;
	open my $r, '<', '/dev/urandom' or die;
	sysread $r, my $key, 1024;
	umask 077;
	write_file("$dir/munge/key", $key);
	umask 022;
	system("/usr/sbin/munged --force --key-file=$dir/munge/key --socket=$dir/munge/sock --pid-file=$dir/munge/pid "
		. "--log-file=$dir/munge/log --seed-file=$dir/munge/seed >$dir/munge/said 2>&1");
	push @all, $self;
	need('munge', -S $self->{sock}, 'munged does not start: ' . read_file("$dir/munge/said"));
	return $self;
}
sub munged { my ($self, $sig) = @_; my $pid = int(read_file("$self->{dir}/munge/pid") || 0); kill $sig, $pid if $pid > 1; return $pid }

# A program with its standard error in a file. cmd: prefix and program.
sub spawn {
	my ($self, $name, $in, $out, @cmd) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDIN, '<&', $in or die if $in;
		open STDOUT, '>&', $out or die if $out;
		open STDERR, '>>', "$self->{dir}/$name.err" or die;
		open STDOUT, '>&', \*STDERR or die unless $out;
		exec @cmd or POSIX::_exit(127);
	}
	push @kids, $pid;
	return $pid;
}
sub reap {
	my ($pid, $sig) = @_;
	return undef unless $pid;
	kill $sig, $pid if $sig;
	for (1 .. 1000) {
		if (waitpid($pid, WNOHANG) == $pid) { @kids = grep { $_ != $pid } @kids; return $? & 127 ? 128 + ($? & 127) : $? >> 8 }
		sleep 0.01;
	}
	return undef;
}

sub controller {
	my ($self, %o) = @_;
	my $listen = $o{listen} || '127.0.0.1:' . ($self->{port} || 0);
	write_file("$self->{dir}/c.conf", "listen = $listen\nmunge_socket = $self->{sock}\n");
	pipe my $cr, my $cw or die;
	pipe my $lr, my $lw or die;
	$cw->autoflush(1);
	$self->{c} = $self->spawn('controller', $cr, $lw, @{ $o{prefix} || [] }, "$builddir/tests/daemon/agents_main", 'controller', "$self->{dir}/c.conf");
	close $cr; close $lw;
	@$self{qw(cw lr buf lines asks)} = ($cw, $lr, '', [], 0);
	my $ready = $self->line(sub { exists $_[0]{ready} }, 10) or return undef;
	return $self->{port} = $ready->{ready};
}
sub stop_controller {
	my ($self, $sig) = @_;
	print { $self->{cw} } "quit\n" unless $sig;
	my $rc = reap(delete $self->{c}, $sig);
	close $self->{cw}; close $self->{lr};
	return $rc;
}
sub err { my ($self, $name) = @_; return read_file("$self->{dir}/" . ($name // 'controller') . '.err') }
# Wait until the log of it has the pattern.
sub said {
	my ($self, $re, $name, $timeout) = @_;
	for (my $end = time + ($timeout // 10); time < $end; sleep 0.02) { return 1 if $self->err($name) =~ $re }
	return 0;
}

# The next line that fits; those before it are kept for others.
sub line {
	my ($self, $fits, $timeout) = @_;
	my $end = time + ($timeout // 10);
	while (1) {
		for my $i (0 .. $#{ $self->{lines} }) {
			return splice @{ $self->{lines} }, $i, 1 if $fits->($self->{lines}[$i]);
		}
		my $r = '';
		vec($r, fileno($self->{lr}), 1) = 1;
		my $left = $end - time;
		return undef if $left <= 0 || !select($r, undef, undef, $left) || !sysread($self->{lr}, $self->{buf}, 1 << 16, length $self->{buf});
		push @{ $self->{lines} }, $JSON->decode($1) while $self->{buf} =~ s/^(.*)\n//;
	}
}
sub cmd { my ($self, $text) = @_; print { $self->{cw} } "$text\n" }
sub call { my ($self, $text, $key, $timeout) = @_; $self->cmd($text); return $self->line(sub { exists $_[0]{$key} }, $timeout) }
sub ask_only { my ($self, $node, $ms, $q) = @_; $self->cmd("ask $node $ms " . $JSON->encode($q)); return ++$self->{asks} }
sub answer { my ($self, $n, $timeout) = @_; return $self->line(sub { ($_[0]{ask} // 0) == $n }, $timeout) }
sub ask { my ($self, $node, $ms, $q) = @_; return $self->answer($self->ask_only($node, $ms, $q), $ms / 1000 + 5) }
# Facts of a node, waited for; undef.
sub facts {
	my ($self, $node, $timeout) = @_;
	for (my $end = time + ($timeout // 10); time < $end; sleep 0.05) {
		my $f = $self->call("facts $node", 'age_ms') or return undef;
		return $f->{facts} if $f->{facts};
	}
	return undef;
}

# Wait until so many are connected.
sub connected {
	my ($self, $n, $timeout) = @_;
	for (my $end = time + ($timeout // 10); time < $end; sleep 0.05) { return 1 if $self->call('status', 'status')->{status}{connected} == $n }
	return 0;
}

sub node {
	my ($self, $name, %o) = @_;
	my %conf = (controller => "127.0.0.1:$self->{port}", munge_socket => $self->{sock}, node_name => $name, %{ $o{conf} || {} });
	write_file("$self->{dir}/$name.conf", join '', map { "$_ = $conf{$_}\n" } sort keys %conf);
	return $self->{nodes}{$name} = $self->spawn($name, undef, undef, @{ $o{prefix} || [] }, "$builddir/closfoldd", '--role', 'node', '-v', '-v', '-f', "$self->{dir}/$name.conf");
}
sub stop_node { my ($self, $name, $sig) = @_; return reap(delete $self->{nodes}{$name}, $sig || 'TERM') }

# Before the directory goes, with the pid file in it: END blocks run in the reverse order of their files.
sub end {
	my ($self) = @_;
	return if $self->{closed}++ || $self->{owner} != $$;
	kill 'CONT', @kids;
	my @left = @kids; # reap() takes from the list
	reap($_, 'KILL') for @left;
	$self->munged('CONT');
	my $pid = $self->munged('TERM');
	for (1 .. 200) { last unless $pid && kill 0, $pid; sleep 0.01 }
}
END { local $?; $_->end for @all }

# ---- a peer

sub connect {
	my ($self, %o) = @_;
	my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Proto => 'tcp', LocalAddr => $o{from} || '127.0.0.1', Timeout => 5) or return undef;
	$s->autoflush(1);
	return bless { s => $s, wire => $self, seq => 0, buf => '', name => $o{name} || 'x1' }, 'NodeWire::Peer';
}
sub encode {
	my ($self, $payload, @opts) = @_;
	write_file("$self->{dir}/payload", $payload);
	my $cred = `/usr/bin/munge -S $self->{sock} -i $self->{dir}/payload @opts`;
	chomp $cred;
	return $cred;
}

package NodeWire::Peer;
use Time::HiRes qw(sleep time);

sub raw { my ($p, $bytes) = @_; local $SIG{PIPE} = 'IGNORE'; return defined syswrite $p->{s}, $bytes }
sub frame { my ($p, $text) = @_; return $p->raw(pack('V', length $text) . $text) }
# A message as the format has it; members of %o replace or (undef) remove.
sub message {
	my ($p, %o) = @_;
	my %m = (v => 1, seq => ++$p->{seq}, from => 'node', $p->{session} ? (session => $p->{session}) : (), %o);
	delete $m{$_} for grep { !defined $m{$_} } keys %m;
	return $NodeWire::JSON->encode(\%m);
}
sub send { my ($p, %o) = @_; my @opts = @{ delete $o{opts} || [] }; return $p->frame($p->{wire}->encode($p->message(%o), @opts)) }
# The next message, decoded; undef when none comes in time or the other end has gone ({gone}).
sub receive {
	my ($p, $timeout) = @_;
	my $end = time + ($timeout // 5);
	while (length $p->{buf} < 4 || length $p->{buf} < 4 + unpack 'V', $p->{buf}) {
		my $r = '';
		vec($r, fileno($p->{s}), 1) = 1;
		my $left = $end - time;
		return undef if $left <= 0 || !select($r, undef, undef, $left);
		if (!sysread $p->{s}, $p->{buf}, 1 << 16, length $p->{buf}) { $p->{gone} = 1; return undef }
	}
	my $cred = substr $p->{buf}, 4, unpack('V', $p->{buf});
	substr($p->{buf}, 0, 4 + length $cred) = '';
	NodeWire::write_file("$p->{wire}{dir}/cred", $cred);
	my $text = `/usr/bin/unmunge -S $p->{wire}{sock} -i $p->{wire}{dir}/cred -m /dev/null`;
	return $NodeWire::JSON->decode($text);
}
sub gone { my ($p, $timeout) = @_; for (my $end = time + ($timeout // 5); !$p->{gone} && time < $end;) { $p->receive($end - time) } return $p->{gone} }
sub hello {
	my ($p, %o) = @_;
	my $nonce = $o{nonce} || sprintf '%032x', int rand 2**31;
	$p->send(op => 'hello', node => $p->{name}, nonce => $nonce, %o);
	my $w = $p->receive or return undef;
	$p->{session} = $w->{session};
	return $w;
}
sub report { my ($p, %o) = @_; return $p->send(op => 'report', facts => { format => 'closfold-node/1', node => $p->{name}, %{ $o{facts} || {} } }) }
sub up { my ($p) = @_; $p->hello or return undef; $p->report; return $p->receive }

1;
