# SPDX-License-Identifier: GPL-2.0-or-later
# A verb adds its files and the libraries it needs.
bin_PROGRAMS += closfold
closfold_SOURCES = \
	src/cmd/main.c src/cmd/verbs.h \
	src/cmd/cmd.c src/cmd/cmd.h \
	src/cmd/cmd_audit.c src/cmd/cmd_fabric.c src/cmd/cmd_lease.c src/cmd/cmd_status.c \
	src/cmd/cmd_place.c src/cmd/cmd_topo.c src/cmd/topo_arg.c src/cmd/topo_arg.h \
	src/cmd/cmd_policy.c src/cmd/policy_check.c src/cmd/policy_check.h \
	src/cmd/policy_site.c src/cmd/policy_site.h \
	src/cmd/remote.c src/cmd/remote.h
closfold_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
closfold_LDADD = libclf_engine.la libclf_audit.la libclf_record.la libclf_lease.la libclf_wire.la libclf_policy.la \
	libclf_place.la libclf_topo.la libclf_hash.la libclf_base.la $(JANSSON_LIBS) $(CRYPTO_LIBS)
