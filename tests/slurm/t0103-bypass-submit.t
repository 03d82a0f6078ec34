#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job of a flagged account or partition cannot be submitted unrestricted, whatever the client says.
. "$(dirname "$0")/lib.sh"
begin 16
bound() { # JOBID NAME: the terms are on the job
	local l
	l=$(job_line "$1")
	like "$l" 'ExcNodeList=n\[9-16\].*OverSubscribe=NO.*Licenses=closfold_key:1.*AdminComment=closfold decision=[0-9a-f]* class=personal' "$2"
}
refused() { like "$1" 'refused by|Access/permission denied' "$2"; }
refused "$(submit -A health --wrap true)" "no option"
refused "$(submit -A health --data-class=public --wrap true)" "a lower class"
refused "$(submit -A lab -p secure --wrap true)" "a partition with a floor"
refused "$(submit -A lab -p main,secure --wrap true)" "several partitions, one with a floor"
refused "$(submit -A health -a 1-3 --wrap true)" "an array"
refused "$(u srun -A health -N1 true)" "srun"
refused "$(u salloc -A health -N1 true)" "salloc"
refused "$(u srun -A lab -p secure -N1 true)" "srun, by partition"
refused "$(u sbatch --parsable -A lab -N1 --wrap true : -A health -N1)" "a het job whose second component is of the account"
refused "$(u sbatch --parsable -A health -N1 --wrap true : -A lab -N1)" "a het job whose first component is"

# a configuration of the user's own, without the plugin
sed '/^PlugStackConfig/d' "$DIR/slurm.conf" >"$DIR/out/slurm.conf"
echo "PlugStackConfig=/dev/null" >>"$DIR/out/slurm.conf"
cp "$DIR/topology.conf" "$DIR/out/topology.conf"
chmod 644 "$DIR"/out/*.conf
refused "$(timeout 20 runuser -u "$USER_A" -- env SLURM_CONF="$DIR/out/slurm.conf" sbatch --parsable -A health --wrap true 2>&1)" \
	"a private SLURM_CONF without the plugin"

# environment
j=$(u env SLURM_SPANK__SLURM_SPANK_OPTION_closfold_data_class=personal SLURM_SPANK__SLURM_SPANK_OPTION_closfold_data_grant=G-17 \
	sbatch --parsable -H -A health -o /dev/null --wrap true)
bound "$j" "options from the environment are claims like typed ones"
refused "$(u env SLURM_SPANK__SLURM_SPANK_OPTION_closfold_data_class=public sbatch --parsable -A health --wrap true)" "also lower ones"

# a client of libslurm
forge="$CLF_BUILD/tests/slurm/forge"
refused "$(u "$forge" -A health CLOSFOLD_CLASS=public CLOSFOLD_FLAGGED=0)" "forged stamps do not help"
refused "$(u "$forge" -A health SPANK_CLOSFOLD_CLASS=public _SLURM_SPANK_OPTION_closfold_data_class=public)" "with SPANK_ in front"
o=_SLURM_SPANK_OPTION_closfold_data
j=$(u "$forge" -A health -N2 ${o}_class=personal ${o}_grant=G-17 CLOSFOLD_FLAGGED=0 SPANK_CLOSFOLD_FLAGGED=0 CLOSFOLD_FLAGGED=0 \
	CLOSFOLD_LEASE=L9-9 SPANK_CLOSFOLD_DECISION=0123456789abcdef0123456789abcdef)
bound "$j" "duplicates and a forged lease: the terms are on the job all the same"
wait_state "$j" RUNNING
ok $? "it starts: prep reads our stamps, not the forged ones before them"
unlike "$(job_line "$j")" 'L9-9|0123456789abcdef' "and nothing of the forgery"
clean

# good ones, every way in
j=$(submit $FLAGGED -N1 -a 1-2 -H --wrap true)
bound "$j" "array"
out=$(u sbatch --parsable -H $FLAGGED -N1 -o /dev/null --wrap true : $FLAGGED -N1)
h=${out%%;*}
l=$(timeout 5 scontrol -o show job "$h")
is "$(printf '%s\n' "$l" | grep -c 'ExcNodeList=n\[9-16\]')" 2 "het job: both components are restricted"
is "$(printf '%s\n' "$l" | grep -c 'Licenses=closfold_key:1')" 1 "het job: the leader alone holds the licence"
out=$(u salloc $FLAGGED -N1 scontrol -o show job)
like "$out" 'ExcNodeList=n\[9-16\].*OverSubscribe=NO' "salloc"
clean
# a job submitted inside a job
cat >"$DIR/out/inner.sh" <<S
#!/bin/sh
env -u SLURM_SPANK__SLURM_SPANK_OPTION_closfold_data_class -u SLURM_SPANK__SLURM_SPANK_OPTION_closfold_data_grant \
	sbatch --parsable -A health -o /dev/null --wrap true >$DIR/out/inner 2>&1
S
j=$(submit $FLAGGED -N1 -W "$DIR/out/inner.sh")
refused "$(cat "$DIR/out/inner")" "sbatch inside a job"
# a step from outside
j=$(submit $FLAGGED -N1 --wrap 'sleep 20')
wait_state "$j" RUNNING
like "$(timeout 20 runuser -u games -- env SLURM_CONF="$SLURM_CONF" srun --jobid="$j" --overlap id 2>&1)" 'error' "another user's srun --jobid"
is "$(u srun --jobid="$j" --overlap --data-class=public hostname | wc -l)" 1 "the owner's step runs inside the job"
like "$(job_line "$j")" 'class=personal' "and its claim changes nothing"
clean
finish
