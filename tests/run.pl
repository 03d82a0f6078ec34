#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Run TAP programs and print what failed, what was skipped and why, and as the last line "N passed, N failed, N skipped".
#
#   tests/run.pl [-v] [-j N] [--builddir DIR] FILE|DIR...
#
# A directory stands for its *.t files. A program that dies, prints no plan, or runs no test counts as one failure; a whole file that is
# skipped counts as one skip. Exit status 1 when anything failed or nothing ran.
# Tests find in the environment: CLF_SRCDIR and CLF_BUILDDIR (absolute), CLF_SHARED (data beside the source tree, where it exists).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Getopt::Long qw(:config bundling);
use TAP::Harness;

my ($verbose, $jobs, $builddir) = (0, 1, '.');
GetOptions('v|verbose' => \$verbose, 'j|jobs=i' => \$jobs, 'builddir=s' => \$builddir) or exit 2;
@ARGV or die "usage: tests/run.pl [-v] [-j N] [--builddir DIR] FILE|DIR...\n";

my $srcdir = abs_path(dirname(__FILE__) . '/..');
$ENV{CLF_SRCDIR} = $srcdir;
$ENV{CLF_BUILDDIR} = abs_path($builddir);
$ENV{CLF_SHARED} = "$srcdir/../shared" if !defined $ENV{CLF_SHARED} && -d "$srcdir/../shared";
$ENV{CLF_SHARED} = abs_path($ENV{CLF_SHARED}) if defined $ENV{CLF_SHARED} && -d $ENV{CLF_SHARED};
$ENV{LC_ALL} = 'C.UTF-8';
$ENV{TZ} = 'UTC';
delete @ENV{qw(CLOSFOLD_CONF CLOSFOLD_RANKS SLURM_CONF)};

my @files = map { -d $_ ? sort glob("$_/*.t") : $_ } @ARGV;
@files or do { print "no test found\n0 passed, 0 failed, 0 skipped\n"; exit 1 };

my (%not_ok, %skips, %said, %reason);
my $harness = TAP::Harness->new({
	verbosity => $verbose ? 1 : -3,
	jobs      => $jobs,
	merge     => 1,
	exec      => sub { my (undef, $f) = @_; -x $f ? [$f] : $f =~ /\.t$/ ? ['bash', $f] : [$f] },
});
$harness->callback(made_parser => sub {
	my ($parser, $job) = @_;
	my $name = $job->[1] // $job->[0];
	my $last = '';
	$parser->callback(ALL => sub {
		my $r = shift;
		if ($r->is_test && !$r->is_ok) { push @{ $not_ok{$name} }, $r->raw; $last = 'bad' }
		elsif ($r->is_test) {
			push @{ $skips{ $r->explanation || 'no reason given' } }, $name if $r->has_skip;
			$last = '';
		}
		elsif ($r->is_comment && $last eq 'bad') { push @{ $not_ok{$name} }, $r->raw if @{ $not_ok{$name} } < 200 }
		elsif ($r->is_plan && $r->has_skip && $r->explanation) { push @{ $skips{ $r->explanation } }, $name; $reason{ $r->explanation } = 1 }
		push @{ $said{$name} }, $r->raw if @{ $said{$name} // [] } < 400;
	});
});
my $agg = $harness->runtests(@files);

my ($passed, $failed, $skipped) = (0, 0, 0);
for my $p ($agg->parsers) {
	if ($p->skip_all) { $reason{ $p->skip_all } ? $skipped++ : $failed++; next }
	my $bad = () = $p->failed;
	my $skip = () = $p->skipped;
	$skipped += $skip;
	$failed += $bad;
	my $ran = $p->tests_run // 0;
	$passed += $ran - $bad - $skip;
	$failed++ if !$bad && ($p->has_problems || !$ran);
}
for my $name (sort $agg->descriptions) {
	my ($p) = $agg->parsers($name);
	next unless $p->skip_all ? !$reason{ $p->skip_all } : $p->has_problems || !$p->tests_run;
	print "\nFAILED $name", $p->exit ? ' (exit status ' . $p->exit . ')' : '', $p->wait && $p->wait & 127 ? ' (signal ' . ($p->wait & 127) . ')' : '', "\n";
	print "  $_\n" for map { split /\n/ } @{ $not_ok{$name} // [] };
	print "  $_\n" for $p->parse_errors;
	# a test that died without a "not ok": its last words
	my @tail = @{ $said{$name} // [] };
	@tail = @tail[-15 .. -1] if @tail > 15;
	print "  | $_\n" for $not_ok{$name} ? () : map { split /\n/ } @tail;
}
for my $why (sort keys %skips) {
	my %in = map { $_ => 1 } @{ $skips{$why} };
	printf "skipped %d: %s (%s)\n", scalar @{ $skips{$why} }, $why, join ', ', map { s{^\Q$srcdir\E/}{}r } sort keys %in;
}
print "\n$passed passed, $failed failed, $skipped skipped\n";
exit($failed || !($passed + $skipped) ? 1 : 0);
