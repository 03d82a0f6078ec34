# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_place.la
libclf_place_la_SOURCES = \
	src/place/deep.c \
	src/place/explain.c src/place/explain.h \
	src/place/fabric.c src/place/fabric.h \
	src/place/fill.c \
	src/place/order.c src/place/order.h \
	src/place/pick.c src/place/pick.h \
	src/place/place.c src/place/place.h \
	src/place/pods.c \
	src/place/programme.c \
	src/place/search.c src/place/search.h src/place/search_ws.h
