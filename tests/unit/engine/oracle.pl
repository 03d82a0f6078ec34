#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Second opinion on decisions: makes random policies and jobs, and says by itself what must come out.
# Usage: oracle.pl SEED POLICIES JOBS. Output lines: "P<tab>policy JSON", then for each job "J<tab>fields...<tab>allow<tab>class<tab>flagged".
# Written from docs/formats/policy.md, not from the C code: it judges a job partition by partition on sets of names.
use strict;
use warnings;

my ($seed, $npol, $njobs) = @ARGV;
srand($seed);

my @users = ('asha', 'meena', 'ravi', 'guest');
my @accounts = ('acct-a', 'acct-b', 'acct-c');
my @partitions = ('p1', 'p2', 'p3');
my @purposes = ('dpv:R', 'dpv:S', 'dpv:T');
my @hosts = map { "n$_" } 1 .. 10;

sub pick { $_[rand @_] }
sub chance { rand() < $_[0] }
sub some { my @l = grep { chance(0.5) } @_; @l ? \@l : [pick(@_)] }    # a list of the policy is never empty

sub json {
	my $v = shift;
	return '"' . $v . '"' unless ref $v;
	return $$v if ref $v eq 'SCALAR';    # number or word as it is
	return '[' . join(',', map { json($_) } @$v) . ']' if ref $v eq 'ARRAY';
	return '{' . join(',', map { json($_) . ':' . json($v->{$_}) } sort keys %$v) . '}';
}

sub stamp { my $s = shift; my ($sec, $min, $h, $d, $m, $y) = gmtime $s; sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $y + 1900, $m + 1, $d, $h, $min, $sec }

sub make_policy {
	my @levels = map { "l$_" } 0 .. 1 + int rand 4;
	my $flag = int rand @levels;
	my (%p, %terms, %zones);
	my @z = map { "z$_" } 0 .. int rand 3;
	$zones{$_} = { nodes => join ',', @{ some(@hosts, 'x1') } } for @z;
	for my $i (0 .. $#levels) {
		next if $i < $flag && chance(0.7);
		$terms{ $levels[$i] } = { exclusive => \($i >= $flag || chance(0.5) ? 'true' : 'false') };
		$terms{ $levels[$i] }{zone} = pick(@z) if $i >= $flag || chance(0.5);
	}
	my @rules = map {
		my %when;
		$when{classes} = some(@levels) if chance(0.5);
		$when{accounts} = some(@accounts) if chance(0.4);
		$when{users} = some(@users) if chance(0.3);
		$when{partitions} = some(@partitions) if chance(0.4);
		$when{purposes} = some(@purposes) if chance(0.3);
		{ id => "r$_", effect => chance(0.85) ? 'permit' : 'forbid', when => \%when, message => 'm' }
	} 1 .. int rand 9;
	my @grants = map {
		my %allow;
		$allow{accounts} = some(@accounts) if chance(0.7);
		$allow{users} = some(@users) if !$allow{accounts} || chance(0.4);
		$allow{partitions} = some(@partitions) if chance(0.3);
		$allow{max_nodes} = \(1 + int rand 6) if chance(0.3);
		my $from = 1000 + int rand 100;
		{   id => "G$_", class => pick(@levels), purpose => pick(@purposes), fiduciary => 'f', contract => 'c', basis => 's6-consent',
			datasets => ['d'], allow => \%allow, revoked => \(chance(0.05) ? 'true' : 'false'), valid => { from => stamp($from), until => stamp($from + 1 + int rand 100) },
			_from => $from, _until => undef }
	} 1 .. 1 + int rand 4;
	$p{classes} = { levels => \@levels, default => pick(@levels), flagged_from => $levels[$flag] };
	$p{floors} = { accounts => { map { $_ => pick(@levels) } grep { chance(0.3) } @accounts }, partitions => { map { $_ => pick(@levels) } grep { chance(0.3) } @partitions } } if chance(0.6);
	return ({ %p, format => 'closfold-policy/1', id => 'r', version => \1, zones => \%zones, terms => \%terms, rules => \@rules,
			grants => [map { my %g = %$_; delete $g{_from}; delete $g{_until}; \%g } @grants] });
}

sub seconds { my $t = shift; $t =~ /T00:(\d+):(\d+)Z$/ or die $t; 60 * $1 + $2 }

sub make_job {
	my $p = shift;
	my @levels = @{ $p->{classes}{levels} };
	my %j = (user => pick(@users, @users, ''), account => pick(@accounts, @accounts, 'Acct-A', 'acct-z', ''), accountless => chance(0.7) ? 1 : 0,
		partition => pick(@partitions, @partitions, 'p1,p2', 'p2,,p3', 'p1,p2,p3', 'p9', ''), claim => pick(@levels, '', '', 'l9'), grant => pick('G1', 'G1', 'G2', 'G3', 'G4', '', '', 'G9'),
		had => chance(0.2) ? pick(@levels, 'l7') : '', hadgrant => chance(0.2) ? pick('G1', 'G2', 'G9') : '', min => int rand 8, max => 0, req => '', exc => '', nodes => '', now => 1000 + int rand 150);
	$j{max} = $j{min} + int rand 3 if chance(0.5);
	$j{req} = join ',', @{ some(@hosts[0 .. 2 + int rand 6]) } if chance(0.2);
	$j{exc} = join ',', @{ some(@hosts, 'y7') } if chance(0.2);
	$j{nodes} = join ',', @{ some(@hosts[0 .. int rand 4]) } if chance(0.2);
	aim($p, \%j) if chance(0.6);
	return \%j;
}

# A job that fits one of the grants, so that the later checks are reached.
sub aim {
	my ($p, $j) = @_;
	my $g = pick(@{ $p->{grants} });
	my $a = $g->{allow};
	@$j{qw(user account partition)} = (pick(@{ $a->{users} || \@users }), pick(@{ $a->{accounts} || \@accounts }), pick(@{ $a->{partitions} || \@partitions }));
	@$j{qw(claim had hadgrant grant)} = (chance(0.5) ? $g->{class} : '', '', '', $g->{id});
	$j->{now} = seconds($g->{valid}{from}) + int rand(seconds($g->{valid}{until}) - seconds($g->{valid}{from}));
	$j->{min} = $j->{max} = int rand 4;
	my $zone = ($p->{terms}{ $g->{class} } || {})->{zone};
	return unless defined $zone;
	my @in = grep { /^n/ } split /,/, $p->{zones}{$zone}{nodes};
	$j->{$_} = $j->{$_} ne '' && @in && chance(0.8) ? pick(@in) : '' for qw(req nodes);
	$j->{exc} = '' if chance(0.7);
}

sub has { my ($list, $w) = @_; return !$list || grep { $_ eq $w } @$list }

# Does a rule speak of a job in one partition: 1, 0, or undef for "cannot be told".
sub speaks {
	my ($r, $c, $part) = @_;
	my ($w, @open) = ($r->{when});
	return 0 unless has($w->{classes}, $c->{class});
	return 0 if $w->{purposes} && !($c->{purpose} ne '' && has($w->{purposes}, $c->{purpose}));
	for (['accounts', $c->{account}, !$c->{accountless}], ['users', $c->{user}, 1], ['partitions', $part, 1]) {
		my ($key, $value, $may_come) = @$_;
		next unless $w->{$key};
		if ($value eq '') { return 0 unless $may_come; push @open, $key; next }
		return 0 unless has($w->{$key}, $value);
	}
	return @open ? undef : 1;
}

sub judge {
	my ($p, $j) = @_;
	my @levels = @{ $p->{classes}{levels} };
	my %rank = map { $levels[$_] => $_ } 0 .. $#levels;
	my %grant = map { $_->{id} => $_ } @{ $p->{grants} };
	my ($fa, $fp) = ($p->{floors}{accounts} || {}, $p->{floors}{partitions} || {});
	my $account = lc $j->{account};
	my @parts = grep { $_ ne '' } split /,/, $j->{partition};
	my @no = ('0', 'unknown', '1');
	for ($j->{claim}, $j->{had}) { return @no if $_ ne '' && !defined $rank{$_} }
	return @no if $account eq '' && %$fa && !$j->{accountless};
	return @no if !@parts && %$fp;
	my $gid = $j->{grant} ne '' ? $j->{grant} : $j->{hadgrant};
	my $g = $grant{$gid};
	my @say = ($j->{claim}, $j->{had});
	@say = ($p->{classes}{default}) unless grep { $_ ne '' } @say;
	push @say, $g->{class} if $g;
	push @say, $fa->{$account} if $account ne '' && $fa->{$account};
	push @say, map { $fp->{$_} || () } @parts;
	my ($class) = sort { $rank{$b} <=> $rank{$a} } grep { $_ ne '' } @say;
	my $flagged = $rank{$class} >= $rank{ $p->{classes}{flagged_from} } ? 1 : 0;
	my @deny = (0, $class, $flagged);

	if ($gid ne '') {
		my $a = $g && $g->{allow};
		my $asked = $j->{min} > $j->{max} ? $j->{min} : $j->{max};
		return @deny unless $g && ${ $g->{revoked} } eq 'false' && $j->{now} >= seconds($g->{valid}{from}) && $j->{now} < seconds($g->{valid}{until});
		return @deny unless $rank{ $g->{class} } >= $rank{$class};
		return @deny unless (!$a->{users} || has($a->{users}, $j->{user})) && (!$a->{accounts} || has($a->{accounts}, $account));
		return @deny if $a->{partitions} && (!@parts || grep { !has($a->{partitions}, $_) } @parts);
		return @deny if $a->{max_nodes} && $asked > ${ $a->{max_nodes} };
	} elsif ($flagged) {
		return @deny;
	}

	my %c = (%$j, class => $class, account => $account, purpose => $g ? $g->{purpose} : '');
	for my $part (@parts ? @parts : ('')) {
		my ($permit, $forbid, $doubt) = (0, 0, 0);
		for my $r (@{ $p->{rules} }) {
			my $s = speaks($r, \%c, $part);
			if ($r->{effect} eq 'forbid') { $forbid = 1 if $s; $doubt = 1 unless defined $s }
			else                          { $permit = 1 if $s }
		}
		return @deny if $forbid || ($flagged && ($doubt || !$permit));
	}

	my $zone = ($p->{terms}{$class} || {})->{zone};
	if (defined $zone) {
		my %in = map { $_ => 1 } grep { /^n/ } split /,/, $p->{zones}{$zone}{nodes};
		my %gone = map { $_ => 1 } split /,/, $j->{exc};
		my $need = $j->{min} || 1;
		return @deny if !%in || $need > keys %in || $need > grep { !$gone{$_} } keys %in;
		for (split /,/, "$j->{req},$j->{nodes}") { return @deny if $_ ne '' && !$in{$_} }
		for ($j->{req}, $j->{nodes}) {
			my %n = map { $_ => 1 } split /,/;
			return @deny if $g && $g->{allow}{max_nodes} && keys %n > ${ $g->{allow}{max_nodes} };
		}
	}
	return (1, $class, $flagged);
}

for (1 .. $npol) {
	my $p = make_policy();
	print "P\t", json($p), "\n";
	for (1 .. $njobs) {
		my $j = make_job($p);
		print join("\t", 'J', @$j{qw(user account accountless partition claim grant had hadgrant min max req exc nodes now)}, judge($p, $j)), "\n";
	}
}
