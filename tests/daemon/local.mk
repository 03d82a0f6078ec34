# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/daemon/agents_main
tests_daemon_agents_main_SOURCES = tests/daemon/agents_main.c
tests_daemon_agents_main_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_daemon_agents_main_LDADD = $(libclf_node_link)
