# SPDX-License-Identifier: GPL-2.0-or-later
libclf_fabric_la_SOURCES += \
	src/fabric/drv_ovsdb.c \
	src/fabric/ovsdb.c src/fabric/ovsdb.h \
	src/fabric/ovsdb_attest.c src/fabric/ovsdb_audit.c src/fabric/ovsdb_check.c \
	src/fabric/ovsdb_conf.c src/fabric/ovsdb_conf.h \
	src/fabric/ovsdb_drv.h src/fabric/ovsdb_goal.c \
	src/fabric/ovsdb_image.c src/fabric/ovsdb_image.h \
	src/fabric/ovsdb_sw.c src/fabric/ovsdb_sw.h src/fabric/ovsdb_sync.c \
	src/fabric/stream.c src/fabric/stream.h
libclf_fabric_la_CPPFLAGS += $(CURL_CFLAGS)
libclf_fabric_la_LIBADD = $(CURL_LIBS) -lpthread
