#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a node hears from its switch by LLDP, heard by a real lldpd, against the net it should be in.
. "$(dirname "$0")/test.sh"
for c in lldpd lldpcli perl; do
	PATH=$PATH:/usr/sbin command -v $c >/dev/null || require fabric "no $c"
done
id _lldpd >/dev/null 2>&1 || require fabric "no user _lldpd"
begin
# lldpd does not start twice on one control socket, but wants its own directory to change root into
mkdir -p /run/lldpd
chmod 711 "$work" # lldpd and lldpcli give up root
ns=$(ovs_ns "$D" n1)
ip netns exec "$ns" lldpd -d -u "$work/lldpd.sock" -O "$work/none" -I eth0 >"$work/lldpd.log" 2>&1 &
echo $! >"$work/lldpd.pid"
for ((i = 0; i < 100; i++)); do [ ! -S "$work/lldpd.sock" ] || break; sleep 0.05; done

# docs/formats/node-report.md out of lldpctl's json0
facts() {
	ip netns exec "$ns" lldpcli -u "$work/lldpd.sock" -f json0 show neighbors details >"$work/json0" 2>/dev/null
	perl -MJSON::PP -e '
		my $d = decode_json(join "", <>);
		my (@n, @lldp);
		push @n, map { @{ $_->{interface} // [] } } @{ $d->{lldp} // [] };
		for my $i (@n) {
			next if $i->{name} ne "eth0";
			my %e = (chassis => $i->{chassis}[0]{id}[0]{value}, port => $i->{port}[0]{id}[0]{value});
			my ($v) = grep { $_->{pvid} } @{ $i->{vlan} // [] };
			$e{pvid} = 0 + $v->{"vlan-id"} if $v;
			my ($day, $h, $m, $s) = $i->{age} =~ /(\d+) days?, (\d+):(\d+):(\d+)/;
			$e{age_s} = (($day * 24 + $h) * 60 + $m) * 60 + $s;
			push @lldp, \%e;
		}
		print JSON::PP->new->canonical->encode({ format => "closfold-node/1", node => "n1",
			net => [{ name => "eth0", link => JSON::PP::true, lldp => \@lldp }] });' "$work/json0"
}
say() { ip netns exec "$(ovs_ns "$D" leaf1)" "$TOOLS/lldp" swp1 "$@"; }
heard() { # PATTERN: until the node reports it
	local i
	for ((i = 0; i < 60; i++)); do
		report=$(facts)
		! grep -qE "$1" <<<"$report" || return 0
		sleep 0.1
	done
	diag "lldpd never reported $1: $report"
	return 1
}
judge() { # WORD TEXT PATTERN
	d "attest j n1 $report"
	like "$out" "\"attest\":\"$1\",\"text\":\"[^\"]*$3" "$2"
}

start_drive
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "n1 is in vlan 100"
report=$(facts)
judge unattested "no frame yet" 'hears no LLDP; run lldpd'
d 'attest j n1 {}'
like "$out" '"unattested"' "no report of LLDP at all"
say 02:00:00:00:01:01 swp1 3001
heard '"pvid":3001'
ok $? "lldpd hears the switch"
judge mismatch "the vlan of before" 'hears vlan 3001 from leaf1/swp1, not 100'
say 02:00:00:00:01:01 swp1 100
heard '"pvid":100'
ok $? "the next frame replaces it"
judge ok "the right switch, port and vlan" 'n1 eth0 hears vlan 100 from leaf1/swp1'
say 02:00:00:00:01:01 swp1 -
heard '"lldp":\[[^]]*\]' && sleep 0.3 && report=$(facts)
judge unattested "a switch that sends no vlan" 'announces no vlan'
say 02:00:00:00:01:01 swp1 100
heard '"pvid":100'
say 02:00:00:00:01:02 swp1 100 4
heard '01:02.*01:01|01:01.*01:02'
ok $? "a second neighbour on the cable"
judge unattested "two neighbours" 'two neighbours'
sleep 5
report=$(facts)
judge ok "its TTL ends: one is left" 'vlan 100'
say 02:00:00:00:01:01 swp1 100 0
sleep 0.5
say 02:00:00:00:01:01 swp2 100
heard 'swp2'
judge mismatch "wired to another port" 'hears 02:00:00:00:01:01 port swp2, not swp1'
finish
