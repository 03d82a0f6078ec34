#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The verifier does not believe the file: another host's OpenSM reads another one, lies, or the witness does. HA included.
. "$(dirname "$0")/lib.sh"
fabric --leaves 8 --hosts 16 --spines 4 --aggregation
real=$work/real.conf
cat >"$work/publish" <<'END'
#!/bin/bash
# The other host's program: what it is told to do with the file lies in $0.sed; then it tells its OpenSM, and what it read.
cat >"$0.in"
sed -f "$0.sed" "$0.in" >"$0.new" && mv "$0.new" "$(cat "$0.to")"
pid=$(cat "$0.pid" 2>/dev/null) && kill -HUP "$pid" 2>/dev/null
[ ! -e "$0.fail" ] || exit 1
sha256sum <"$0.in" | cut -d ' ' -f 1
END
chmod +x "$work/publish"
echo "$real" >"$work/publish.to"
: >"$work/publish.sed"
cp "$work/publish.sed" "$real"
conf "\"copies\":[{\"name\":\"sm2\",\"publish\":[\"$work/publish\"]}]"
drive_start
d sync 500
sm_start sm 1 "$real"
cp "$work/sm.pid" "$work/publish.pid"
d sync
d check
like "$(q '.out[] | select(.level == "info") | .code')" sharp-node "Aggregation Nodes are told"
like "$(findings)" mkey-zero "and M_Keys of 0"
unlike "$(findings)" 'copy-unconfirmed|default-full|unknown-ca' "nothing else is wrong"

stranger() { echo "s/^closfold_010[0-9]=.*:/&\n$(guid "$1")=full,/" >"$work/publish.sed"; }
stranger 99
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" conflict "another port with the job's key: not verified"
like "$(text_of A)" "$(guid 99) holds 0x0101" "the stranger is named"
d audit
like "$(findings)" foreign-member "the audit finds it too"
: >"$work/publish.sed"
d close A
d sync
is "$(code_of A)" ok "closed"
echo "/^closfold/,\$s/^$(guid 5)=full,//;/^\$/d" >"$work/publish.sed"
d open A 0x0101 "$(guids 4 5 6 7)"
d sync 2500
is "$(code_of A)" timeout "a port left out: not verified"
like "$(text_of A)" "$(guid 5)" "the port is named"
d close A
: >"$work/publish.sed"
d sync
echo "s/^ALL=limited/ALL=full/" >"$work/publish.sed"
d open A 0x0101 "$(guids 4 5 6 7)"
d sync 2500
case $(code_of A) in conflict | timeout) ok 0 "full members of the default partition: not verified" ;; *) ok 1 "full members of the default partition: not verified" ;; esac
d audit
like "$(findings)" default-full "and a finding"
d close A
: >"$work/publish.sed"
d sync
is "$(code_of A)" ok "closed"

echo "s/^SELF=full,/&\n$(guid 99)=full,/" >"$work/publish.sed"
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" conflict "one port elsewhere that is full in the default partition: not verified, though the job's tables are right"
like "$(text_of A)" "full members of the default.*$(guid 99)" "it is named"
d close A
: >"$work/publish.sed"
d sync
is "$(code_of A)" ok "closed"

touch "$work/publish.fail"
d open A 0x0101 "$(guids 4 5)"
d sync
is "$(code_of A)" remote "a copy that is not confirmed: no job starts"
like "$(text_of A)" sm2 "the host is named"
d check
like "$(findings)" copy-unconfirmed "check says so"
d close A
d sync
is "$(code_of A)" ok "an end is not held up by it"
rm "$work/publish.fail"
drive_stop

# HA: the standby has an older file, the master dies. Here the master is on this host, the copy is the standby's.
sm_kill
conf "\"copies\":[{\"name\":\"sm2\",\"publish\":[\"$work/publish\"]}]"
sed -i "s/\"sm_ports\":\[/&\"$(guid 2)\",/" "$fabrics"
drive_start
d sync 500
sm_start sm 1 "$part"
d sync
sm_start standby 2 "$real"
cp "$work/standby.pid" "$work/publish.pid"
d open H 0x0105 "$(guids 10 11 12)"
d sync
is "$(code_of H)" ok "HA a job runs"
d audit
grep -q closfold_0105 "$real"
ok $? "HA: the standby had the file before"
sed -i '/^closfold_0105/,$d' "$real" # ... and loses it
sm_kill
settle 20 eval 'd audit; [[ "$(findings)" == *sm-changed* ]]'
ok $? "HA: the change of the subnet manager is a finding"
settle 10 eval '[ "$(pkeys_of 10)" != 8105,7fff ]'
ok $? "HA: the older file took the key away"
d audit
like "$(findings)" net-wrong "HA: which the audit finds"
d sync
is "$(pkeys_of 10) $(pkeys_of 12)" "8105,7fff 8105,7fff" "HA: the next sync brings it back"
d audit
unlike "$(findings)" 'net-wrong|default-full' "HA: all is right"
drive_stop

# Witnesses that lie, hang, or die.
lying() {
	conf
	sed -i "s/\"sm_ports\":\[/&\"$(guid 2)\",/; s|\"witness\":\[[^]]*\]|\"witness\":[\"/bin/bash\",\"-c\",\"$1\"]|" "$fabrics"
	drive_start
	d open W 0x0106 "$(guids 20)"
	d sync 1500
	like "$(code_of W)" "$2" "$3"
	drive_stop
}
lying 'exit 0' remote "a witness that ends"
lying 'sleep 99' timeout "a witness that hangs"
lying 'echo hello; sleep 99' remote "a witness of another kind"
lying 'echo closfold-ibwitness/1 ready; while read l; do echo port 0x0 ok; done' remote "a witness that talks nonsense"
lying 'echo closfold-ibwitness/1 ready; while :; do echo -n xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; sleep 0.1; done' timeout "a witness that never ends its line"
finish
