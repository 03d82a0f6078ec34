# CLF_SUMMARY: what will be built, and what a missing optional part costs.
AC_DEFUN([CLF_SUMMARY], [
AC_MSG_NOTICE([
closfold $PACKAGE_VERSION

  core, closfoldd, closfold ........ yes
  spank_closfold.so ................ $clf_have_slurm (Slurm $clf_slurm_version)
  job_submit, prep ................. $clf_have_slurm_source
  InfiniBand libraries ............. $clf_have_ib
  compiler ......................... $CC, sanitizers: $enable_sanitizers
])
AS_IF([test "x$clf_have_slurm" != xyes],
  [AC_MSG_NOTICE([without Slurm: no plugin is built; fabrics can be read and jobs placed on paper only])])
AS_IF([test "x$clf_have_slurm_source" != xyes],
  [AC_MSG_NOTICE([without --with-slurm-source: job_submit_closfold.so and prep_closfold.so are not built, so NOTHING IS ENFORCED on this cluster; contrib/get-slurm-source fetches the source])])
AS_IF([test "x$clf_have_ib" != xyes],
  [AC_MSG_NOTICE([without libibumad, libibmad, libibnetdisc: P_Key tables cannot be read back from ports, so the InfiniBand fabric driver will refuse to verify])])
])
