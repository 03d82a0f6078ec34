# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += libclf_place.la
libclf_place_la_SOURCES = \
	src/place/explain.c src/place/explain.h \
	src/place/order.c src/place/order.h \
	src/place/pick.c src/place/pick.h \
	src/place/place.c src/place/place.h \
	src/place/search.c src/place/search.h
