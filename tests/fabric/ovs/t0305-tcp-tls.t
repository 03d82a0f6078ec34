#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# TCP that idles longer than the server's patience, and TLS with certificates on both sides. F10.
. "$(dirname "$0")/test.sh"
command -v openssl >/dev/null || require fabric "no openssl command"
why=$(ovs_missing)
[ -z "$why" ] || require fabric "Open vSwitch: $why"
port=$((20000 + $$ % 20000))

diag "F10: idle TCP"
OVS_TCP=$port begin
start_drive
clients() { ss -Htn state established "( sport = :$port )" | awk '{print $4}'; }
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "over TCP"
before=$(clients)
like "$before" '127.0.0.1:[0-9]+' "one connection stays open"
d 'check'
like "$out" '"code":"insecure","level":"warn","subject":"leaf1"' "check does not like it"
sleep 12
is "$(clients)" "$before" "F10: after 12 s it is still the same one: keepalive was answered"
is "$(ovs_db "$D" leaf1 --columns=tag list port swp1 | tr -dc 0-9)" 100 "(the job's port is as it was)"

diag "F10: and while waiting for a switch that hangs"
kill -STOP "$(ovs_pid "$D" leaf2 vsw)"
d 'close j' 'sync 14000'
like "$(of j)" '"code":"timeout"' "hung: timeout after the whole time"
like "$(of j)" '"cur_cfg":[0-9]+,"error":"switch .leaf2.: ovs-vswitchd is at' "not a broken connection"
kill -CONT "$(ovs_pid "$D" leaf2 vsw)"
d 'open j 100 leaf1/swp1 leaf2/swp1' 'close j' 'sync'
like "$(of j | tail -1)" '"op":"close".*"word":"verified"' "released"
# a connection that the server closed is opened again without a word
ovs-appctl -t "$D/leaf1/db.ctl" ovsdb-server/reconnect
ovs-appctl -t "$D/leaf2/db.ctl" ovsdb-server/reconnect
sleep 0.3
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "after the server hung up: reopened"
d 'close j' 'sync'
stop_drive
sed 's/127.0.0.1:/192.0.2.7:/' "$F" >"$F.far"
run "$DRIVE" "$F.far" eth
exits 3 "plain TCP to another host is refused"
like "$err" 'neither encrypted nor authenticated' "and says why"
ovs_down "$D"

diag "TLS"
T=$work/tls
mkdir -p "$T"
new_ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/$1.key" -out "$T/$1.pem" -subj "/CN=$1" -days 2 2>/dev/null; }
new_cert() { # NAME CA EXT
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/$1.key" -out "$T/$1.csr" -subj "/CN=$1" 2>/dev/null
	openssl x509 -req -in "$T/$1.csr" -CA "$T/$2.pem" -CAkey "$T/$2.key" -CAcreateserial -days 2 -out "$T/$1.pem" \
		-extfile <(echo "$3") 2>/dev/null
}
new_ca ca && new_ca evil && new_cert srv ca subjectAltName=IP:127.0.0.1 && new_cert cli ca extendedKeyUsage=clientAuth &&
	new_cert stranger evil extendedKeyUsage=clientAuth && new_cert other ca subjectAltName=DNS:other.example
ok $? "certificates are made"
OVS_TCP=$((port + 10)) OVS_TLS=$T ovs_up "$D"
ovs_fabrics_file "$D" >"$F"
start_drive
d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync'
like "$(of j)" '"word":"verified"' "mutual TLS: verified"
d 'close j' 'sync'
like "$(of j)" '"word":"verified"' "and closed"
d 'check'
unlike "$out" '"level":"(error|warn)"' "check is content"
sleep 11
d 'open j 100 leaf1/swp1 leaf2/swp1' 'close j' 'sync'
like "$(of j | tail -1)" '"word":"verified"' "after 11 idle seconds too"
stop_drive

refused() { # TEXT PATTERN SED...
	sed "${@:3}" "$F" >"$F.x"
	start_drive "$F.x"
	d 'open j 100 leaf1/swp1 leaf2/swp1' 'sync 3000'
	like "$(of j)" '"code":"remote"' "$1: unreachable"
	like "$(of j)" "$2" "$1: says why"
	is "$(port leaf1 swp1 tag)" 3001 "$1: nothing written"
	stop_drive
}
refused "another authority's client certificate" 'connect|broke|closed' 's/cli\./stranger./g'
refused "a server of another authority" '[Cc]ertificate|SSL' 's/ca\.pem/evil.pem/g'
refused "a server that is called otherwise" "no alternative certificate subject name|does not match|SSL" 's/ssl:127.0.0.1/ssl:localhost/g'
sed 's/"key":"[^"]*","cert":"[^"]*",//g' "$F" >"$F.x"
run "$DRIVE" "$F.x" eth
exits 3 "ssl: without a certificate is refused in fabrics.json"
run openssl s_client -connect 127.0.0.1:$((port + 10)) -CAfile "$T/ca.pem" -quiet
like "$out$err" 'alert|certificate required|handshake failure' "(and by the server)"
sed 's#"remote":"ssl:\([^"]*\)","key":"[^"]*","cert":"[^"]*","ca":"[^"]*"#"remote":"tcp:\1"#' "$F" >"$F.x"
start_drive "$F.x"
d 'open j 100 leaf1/swp1' 'sync 3000'
like "$(of j)" '"code":"(remote|timeout)"' "plain TCP to a TLS port gets nowhere"
finish
