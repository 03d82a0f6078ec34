#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another policy is in force without a restart; one that is broken is not, and says so.
. "$(dirname "$0")/lib.sh"
begin 12
apply() { # as closfoldd does when told: SIGHUP
	kill -HUP "$(cat "$DIR/closfoldd.pid")"
}
pid=$(cat "$DIR/slurmctld.pid")
is "$(u srun -A lab -N1 true)" "" "account lab is free"
sed 's/"health": "personal"/"health": "personal", "lab": "personal"/; s/"version": 1,/"version": 2,/' "$SRC/tests/slurm/policy.json" >"$DIR/policy.json"
apply
wait_for 10 "grep -q 'version 2 in force' $DIR/log/slurmctld.log"
ok $? "version 2 is in force"
like "$(submit -A lab --wrap true)" 'refused by' "account lab has a floor now"
echo '{ "format": "closfold-policy/1", ' >"$DIR/policy.json"
apply
sleep 2.5
like "$(submit -A lab --wrap true)" 'refused by' "a broken policy changes nothing"
like "$(cat "$DIR/log/closfoldd.log")" 'policy.json:[0-9]+' "and closfoldd says where it is broken"
# behind closfoldd's back
sha=$(grep -oE '"policy": ?"[0-9a-f]{64}"' "$DIR/lib/snapshot/snapshot.json" | grep -oE '[0-9a-f]{64}')
cp "$DIR/lib/snapshot/snapshot.json" "$DIR/lib/keep"
sed 's/"generation": *[0-9]*/"generation":99/' "$DIR/lib/keep" >"$DIR/lib/snapshot/snapshot.json"
cp "$DIR/lib/snapshot/$sha.json" "$DIR/lib/keep.json"
echo '{' >"$DIR/lib/snapshot/$sha.json"
wait_for 10 "grep -q 'old one stays in force' $DIR/log/slurmctld.log"
ok $? "a damaged snapshot keeps the old one, and the log says so"
sleep 2.5
is "$(grep -c 'old one stays in force' "$DIR/log/slurmctld.log")" 2 "once (job_submit and prep each)"
like "$(submit -A lab --wrap true)" 'refused by' "the old one is in force"
is "$(cat "$DIR/slurmctld.pid")" "$pid" "slurmctld was not restarted"
# the first submission after a restart meets the policy
cp "$DIR/lib/keep.json" "$DIR/lib/snapshot/$sha.json"
cp "$DIR/lib/keep" "$DIR/lib/snapshot/snapshot.json"
cluster_ctld_stop "$DIR"
cluster_ctld_start "$DIR"
# while slurmctld starts, the plugin has a policy but no nodes yet: the first submission must see both
is "$(field "$(submit $FLAGGED -N1 -H --wrap true)" ExcNodeList)" 'n[9-12]' "the first submission after a restart meets policy and nodes"
like "$(submit -A lab --wrap true)" 'refused by' "and the floor"
# nothing is in force
cluster_ctld_stop "$DIR"
mv "$DIR/lib/snapshot" "$DIR/lib/snapshot.away"
cluster_ctld_start "$DIR"
like "$(submit -A lab --wrap true)" 'no-policy' "no policy: refused (on_error = reject)"
echo 'on_error = accept' >>"$DIR/closfold.conf"
cluster_ctld_stop "$DIR"
cluster_ctld_start "$DIR"
like "$(submit -A lab --data-class=personal --wrap true)" 'no-policy' "on_error = accept: not for a job that asks for protection"
like "$(submit -A lab -H --wrap true)" '^[0-9]+$' "on_error = accept: an ordinary job is accepted"
finish
