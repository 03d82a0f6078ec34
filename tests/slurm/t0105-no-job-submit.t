#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The second line of defence: jobs that never met job_submit are stopped at the start, by prep, and by the node when prep is missing.
. "$(dirname "$0")/lib.sh"
export CLUSTER_JOBSUBMIT=none CLUSTER_CONF='start_failures = 1' CLUSTER_LICENSES=closfold_key:4
begin 16
forge="$CLF_BUILD/tests/slurm/forge" o=_SLURM_SPANK_OPTION_closfold_data
stopped() { # JOBID NAME REASON
	wait_for 20 "job_line $1 | grep -q note="
	like "$(job_line "$1")" "JobState=PENDING Reason=JobHeldAdmin.*note=.*$3" "$2"
}
stopped "$(submit -A health --wrap 'sleep 5')" "no option, account with a floor" 'grant|label'
stopped "$(submit -A lab -p secure --wrap 'sleep 5')" "partition with a floor" 'grant|label'
stopped "$(submit $FLAGGED -N1 -x 'n[9-16]' --exclusive -L closfold_key --wrap 'sleep 5')" "all terms kept, but no decision" 'did not pass'
stopped "$(submit $FLAGGED -N1 -w n12 --wrap 'sleep 5')" "outside the zone" 'outside'
d=0123456789abcdef0123456789abcdef
stopped "$(u "$forge" -A health -N1 -e -l closfold_key CLOSFOLD_DECISION=$d CLOSFOLD_CLASS=personal CLOSFOLD_GRANT=G-17 CLOSFOLD_FLAGGED=1 \
	CLOSFOLD_LEASE=L1-1 ${o}_class=personal ${o}_grant=G-17)" "forged stamps" 'did not pass|outside'
stopped "$(u "$forge" -A health CLOSFOLD_DECISION=$d CLOSFOLD_CLASS=public CLOSFOLD_FLAGGED=0)" "forged, lower" 'grant|label'
out=$(u srun -A health -N1 hostname)
like "$out" 'closfold|PrologSlurmctld failed' "srun is killed, with the reason"
unlike "$out" "^$(hostname -s)" "and did not run"
is "$(u srun -A lab -N1 hostname)" "$(hostname)" "an ordinary job runs"
clean
like "$(cat "$DIR"/lib/log/seg/* "$DIR"/lib/log/*.jsonl 2>/dev/null; grep -rh start-refused "$DIR/lib" | head -n 1)" 'start-refused' "refusals are recorded"

# prep missing too: the node refuses what is stamped flagged
sed -i '/^PrEpPlugins/d' "$DIR/slurm.conf"
sed -i 's/^PluginDir=/JobSubmitPlugins=closfold\nPluginDir=/' "$DIR/slurm.conf"
cluster_ctld_stop "$DIR"
cluster_ctld_start "$DIR"
j=$(submit $FLAGGED -N1 --wrap "touch $DIR/out/ran")
wait_for 20 "timeout 5 sinfo -h -t drain -o %D | grep -q 1"
ok $? "without prep the node's prolog fails"
[ ! -e "$DIR/out/ran" ]
ok $? "and the job has not run" || job_line "$j"
finish
