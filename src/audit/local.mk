# SPDX-License-Identifier: GPL-2.0-or-later
# The record is its own library: it runs inside slurmctld and links no libcrypto.
noinst_LTLIBRARIES += libclf_record.la libclf_audit.la
libclf_record_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libclf_record_la_SOURCES = \
	src/audit/canon.c src/audit/canon.h \
	src/audit/record.c src/audit/record.h
libclf_audit_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CRYPTO_CFLAGS)
libclf_audit_la_SOURCES = \
	src/audit/log.c src/audit/log.h src/audit/log_private.h src/audit/log_recover.c \
	src/audit/producers.c src/audit/producers.h \
	src/audit/query.c src/audit/query.h \
	src/audit/segment.c src/audit/segment.h \
	src/audit/sign.c src/audit/sign.h \
	src/audit/verify.c src/audit/verify.h
