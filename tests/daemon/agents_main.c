/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agents_main.c - one end of the node daemons' wire without the rest of closfoldd, for tests.
 *
 *   agents_main node CONF         clf_node_run()
 *   agents_main controller CONF   a loop around agents.h: commands on standard input, JSON lines on standard output
 *
 * Commands: ask NODE TIMEOUT_MS JSON | facts NODE | nodes | status | spin (answers at once: the loop lives) | quit
 *           tick MS (a tick that many ms later than it is) | verify NODES TIMEOUT_MS RUNG (of probes; fabric of a
 * played driver: a node's ports are "leaf1/" and what its neighbours say) Lines:    {"ready":PORT}
 * {"report":NODE,"facts":..} {"ask":N,"node":..,"reply":..|"code":..,"text":..}
 * {"facts":..,"age_ms":..}
 *           {"nodes":[..]} {"status":..} {"spin":N} {"verify":CODE,"text":..,"evidence":..} */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/hostlist.h"
#include "daemon/agents.h"
#include "daemon/node.h"
#include "daemon/verify_nodes.h"

#define BASE (UINT64_C(1) << 63)

static struct clf_agents *agents;
static bool stop;

static void say(json_t *line)
{
	json_dumpf(line, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	fflush(stdout);
	json_decref(line);
}

static void on_report(void *arg, const char *node, const json_t *facts)
{
	(void) arg;
	say(json_pack("{s:s,s:O?}", "report", node, "facts", facts));
}

static void on_answer(void *arg, const char *node, const json_t *reply, const struct clf_error *why)
{
	json_t *line = json_pack("{s:I,s:s,s:O?}", "ask", (json_int_t) (intptr_t) arg, "node", node, "reply", reply);

	if (why) {
		json_object_set_new(line, "code", json_string(clf_code_name(why->code)));
		json_object_set_new(line, "text", json_string(why->text));
	}
	say(line);
}

static void ask(const char *node, int timeout_ms, const char *json)
{
	static intptr_t n;
	struct clf_error err = { 0 };

	if (clf_agents_ask(agents, node, json_loads(json, 0, NULL), timeout_ms, on_answer, (void *) ++n, &err))
		say(json_pack("{s:I,s:s,s:s}", "ask", (json_int_t) n, "node", node, "text", err.text));
}

static void facts(const char *node)
{
	int64_t age = -1;
	const json_t *f = clf_agents_facts(agents, node, &age);

	say(json_pack("{s:O?,s:I}", "facts", f, "age_ms", (json_int_t) age));
}

static void nodes(void)
{
	json_t *list = json_array();
	const char *name;

	for (size_t i = 0; (name = clf_agents_next(agents, &i));)
		json_array_append_new(list, json_string(name));
	say(json_pack("{s:o}", "nodes", list));
}

/* ---- verify, on a fabric whose ports are what LLDP says */

static int ports(void *self, const char *node, const json_t *facts, struct clf_strv *out, struct clf_error *err)
{
	size_t i;
	json_t *nic;

	(void) self;
	json_array_foreach(json_object_get(facts, "net"), i, nic)
	{
		const json_t *n = json_array_get(json_object_get(nic, "lldp"), 0);
		const char *port = json_string_value(json_object_get(n, "port"));
		char text[128];

		snprintf(text, sizeof text, "leaf1/%.100s", port ? port : "");
		if (port && clf_strv_add(out, text, err))
			return -1;
	}
	return out->n ? 0 : clf_fail(err, CLF_E_NOTFOUND, "node '%s' has no port", node);
}

static enum clf_attest attest(void *self, const struct clf_net *net, const char *node, const json_t *facts, char *text,
			      size_t size)
{
	(void) self, (void) net, (void) node, (void) facts;
	snprintf(text, size, "seen");
	return CLF_ATTEST_OK;
}

static void verified(void *arg, const struct clf_error *why, const json_t *evidence)
{
	(void) arg;
	say(json_pack("{s:s,s:s,s:O}", "verify", clf_code_name(why->code), "text", why->text, "evidence", evidence));
}

static void verify(const char *names, int ms, const char *rung)
{
	static const struct clf_driver played = { .name = "ovsdb", .ports = ports, .attest = attest };
	static const struct clf_net net = { .lease = "l" };
	CLF_CLEANUP(clf_strv_done) struct clf_strv nodes = { 0 };
	struct clf_error err = { 0 };
	struct clf_verify_nodes in = { .agents = agents,
				       .driver = &played,
				       .fabric = "eth",
				       .driver_name = "ovsdb",
				       .probe = strcmp(rung, "require") ? CLF_RUNG_TRY : CLF_RUNG_REQUIRE,
				       .net = &net,
				       .nodes = &nodes,
				       .timeout_ms = ms };

	if (clf_hostlist_expand(names, 100, &nodes, &err) || clf_verify_nodes_start(&in, verified, NULL, NULL, &err))
		say(json_pack("{s:s,s:s}", "verify", clf_code_name(err.code), "text", err.text));
}

static void command(char *line)
{
	static int spins;
	char node[256], word[32];
	int ms, at = 0;

	if (sscanf(line, "tick %d", &ms) == 1)
		clf_agents_tick(agents, clf_clock_system.boot_us(NULL) / 1000 + ms);
	else if (sscanf(line, "verify %255s %d %31s", node, &ms, word) == 3)
		verify(node, ms, word);
	else if (sscanf(line, "ask %255s %d %n", node, &ms, &at) == 2 && at)
		ask(node, ms, line + at);
	else if (sscanf(line, "facts %255s", node) == 1)
		facts(node);
	else if (!strcmp(line, "nodes"))
		nodes();
	else if (!strcmp(line, "status"))
		say(json_pack("{s:o}", "status", clf_agents_status(agents)));
	else if (!strcmp(line, "spin"))
		say(json_pack("{s:i}", "spin", ++spins));
	else
		stop = true;
}

static void input(void)
{
	static char buf[1 << 16];
	static size_t len;
	ssize_t n = read(0, buf + len, sizeof buf - len - 1);
	char *nl;

	if (n <= 0) {
		stop = true;
		return;
	}
	len += (size_t) n;
	buf[len] = '\0';
	while (!stop && (nl = strchr(buf, '\n'))) {
		*nl = '\0';
		command(buf);
		len -= (size_t) (nl + 1 - buf);
		memmove(buf, nl + 1, len + 1);
	}
}

static int controller(const struct clf_conf *conf, const struct clf_log *sink, struct clf_error *err)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 0 }, ev[64];
	json_t *status;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &e) ||
	    clf_agents_open(&agents, conf, sink, epoll, BASE, err))
		return -1;
	clf_agents_on_report(agents, on_report, NULL);
	status = clf_agents_status(agents);
	say(json_pack("{s:O}", "ready", json_object_get(status, "port")));
	json_decref(status);
	while (!stop) {
		int n = epoll_wait(epoll, ev, 64, 500);

		for (int i = 0; i < n; i++) {
			if (ev[i].data.u64)
				clf_agents_ready(agents, ev[i].data.u64, ev[i].events);
			else
				input();
		}
		clf_agents_tick(agents, clf_clock_system.boot_us(NULL) / 1000);
	}
	clf_agents_close(agents);
	close(epoll);
	return 0;
}

int main(int argc, char **argv)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *conf = NULL;
	struct clf_log sink = clf_log_stderr(CLF_LOG_DEBUG);
	struct clf_error err = { 0 };
	int rc = -1;

	if (argc == 3 && !clf_conf_load(argv[2], &conf, &err))
		rc = !strcmp(argv[1], "node") ? clf_node_run(conf, &sink, &err) : controller(conf, &sink, &err);
	if (rc)
		fprintf(stderr, "agents_main: %s\n", err.text);
	return rc ? 1 : 0;
}
