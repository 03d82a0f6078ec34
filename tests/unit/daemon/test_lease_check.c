/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node's judgement on a signed lease and its own ports. */
#include "daemon/lease_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define LEASE(members)                                                                                                 \
	"{\"v\":1,\"cluster\":\"c\",\"lease\":\"L1-1\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n[1-4]\","           \
	"\"not_after_ms\":2000," members "}"
#define IB         "\"nets\":[{\"fabric\":\"ib\",\"driver\":\"opensm\",\"key\":257,\"env\":{\"A\":\"x%ky\",\"B\":\"0\"}}]"
#define PORT(keys) "{\"ib\":[{\"device\":\"mlx5_0\",\"link_layer\":\"InfiniBand\",\"pkeys\":" keys "}]}"

static const struct {
	const char *body, *facts, *says; /* says NULL: passes, with env as below */
	const char *env;
} cases[] = {
	{ LEASE("\"nets\":[]"), "{}", NULL, "" },
	{ LEASE(IB), PORT("[\"0x8101\",\"0x7fff\"]"), NULL, "A=x0x0101y\nB=0\n" },
	{ LEASE(IB), PORT("[\"0x8001\",\"0x7fff\"]"), "holds key 0x8001 at index 0", NULL },
	{ LEASE(IB), PORT("[\"0x0101\",\"0x7fff\"]"), "holds key 0x0101 at index 0", NULL }, /* limited only */
	{ LEASE(IB), PORT("[\"0x8101\",\"0xffff\"]"), "full member of 0xffff too", NULL },
	{ LEASE(IB), PORT("[\"0x8101\",\"0x7fff\",\"0x8001\"]"), "full member of 0x8001 too", NULL },
	{ LEASE(IB), PORT("[]"), "cannot be read", NULL },
	{ LEASE(IB), PORT("[\"rubbish\"]"), "cannot be read", NULL },
	{ LEASE(IB), "{\"ib\":[{\"device\":\"mlx5_0\",\"link_layer\":\"InfiniBand\"}]}", "cannot be read", NULL },
	{ LEASE(IB), "{\"ib\":[{\"device\":\"mlx5_1\",\"link_layer\":\"Ethernet\"}]}", "no InfiniBand port", NULL },
	{ LEASE(IB), "{}", "no InfiniBand port", NULL },
	{ LEASE("\"nets\":[{\"fabric\":\"ib\",\"driver\":\"opensm\",\"key\":257,\"nodes\":\"n[2-4]\"}]"), "{}", NULL,
	  "" },
	{ LEASE("\"nets\":[{\"fabric\":\"e\",\"driver\":\"ovsdb\",\"key\":100,\"env\":{\"IF\":\"eth0\"}}]"), "{}", NULL,
	  "IF=eth0\n" },
	{ LEASE("\"nets\":[{\"fabric\":\"e\",\"driver\":\"ovsdb\",\"key\":0}]"), "{}", "a net is wrong", NULL },
	{ LEASE("\"nets\":[{\"fabric\":\"e\",\"driver\":\"ovsdb\",\"key\":9,\"env\":{\"A\":\"1\\nB=2\"}}]"), "{}",
	  "a variable is wrong", NULL },
	{ "{\"v\":2,\"cluster\":\"c\",\"lease\":\"L\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n1\",\"nets\":[],"
	  "\"not_after_ms\":2000}",
	  "{}", "another version", NULL },
	{ "{\"v\":1,\"cluster\":\"d\",\"lease\":\"L\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n1\",\"nets\":[],"
	  "\"not_after_ms\":2000}",
	  "{}", "another cluster", NULL },
	{ "{\"v\":1,\"cluster\":\"c\",\"lease\":\"L\",\"job_id\":8,\"submit_time\":1,\"nodes\":\"n1\",\"nets\":[],"
	  "\"not_after_ms\":2000}",
	  "{}", "job 8's, not job 7's", NULL },
	{ "{\"v\":1,\"cluster\":\"c\",\"lease\":\"L\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n[2-9],n10,n11\","
	  "\"nets\":[],\"not_after_ms\":2000}",
	  "{}", "not for node 'n1'", NULL },
	{ "{\"v\":1,\"cluster\":\"c\",\"lease\":\"L\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n[1-\",\"nets\":[],"
	  "\"not_after_ms\":2000}",
	  "{}", "not for node 'n1'", NULL },
	{ "{\"v\":1,\"cluster\":\"c\",\"lease\":\"L\",\"job_id\":7,\"submit_time\":1,\"nodes\":\"n1\",\"nets\":[],"
	  "\"not_after_ms\":999}",
	  "{}", "expired", NULL },
	{ "{\"v\":1}", "{}", "cluster", NULL },
	{ "no json", "{}", "", NULL },
};

/* What another host said in this node's name is seen by the node itself. */
static void ports(const struct clf_lease_check *c)
{
	static const char *const tables[] = { "0x00000000000000a1", "0x00000000000000a2", "0x00000000000000a3" };
	CLF_CLEANUP(clf_strv_done) struct clf_strv have = { 0 };
	char mine[CLF_PORTS_DIGEST + 1], other[CLF_PORTS_DIGEST + 1];

	for (int n = 2; n <= 3; n++) { /* the node has two ports; the lease was made for two, for three */
		json_auto_t *facts =
			json_pack("{s:[{s:s,s:s,s:s,s:[s]},{s:s,s:s,s:s,s:[s]},{s:s,s:s,s:s}]}", "ib", "device", "b",
				  "link_layer", "InfiniBand", "port_guid", tables[1], "pkeys", "0x8101", "device", "a",
				  "link_layer", "InfiniBand", "port_guid", tables[0], "pkeys", "0x8101", "device", "e",
				  "link_layer", "Ethernet", "port_guid", "0x1");
		char body[600];
		struct clf_error err = { 0 };
		char *env = NULL;
		int rc;

		clf_strv_done(&have);
		have = (struct clf_strv){ 0 };
		for (int i = 0; i < n; i++)
			if (clf_strv_add(&have, tables[i], NULL))
				return;
		clf_ports_digest(&have, mine);
		have.v[0][3] = 'f';
		clf_ports_digest(&have, other);
		snprintf(body, sizeof body,
			 LEASE("\"nets\":[{\"fabric\":\"ib\",\"driver\":\"opensm\",\"key\":257,\"ports\":\"%s%s%s%s\"}"
			       "]"),
			 mine, other, other, other);
		rc = clf_lease_check(c, body, facts, &env, &err);
		if (n == 2)
			ok(!rc, "the ports that the lease was made for: %s", err.text);
		else
			ok(rc && strstr(err.text, "another host spoke in its name"), "one more than it has: %s",
			   err.text);
		free(env);
	}
}

int main(void)
{
	const struct clf_lease_check c = { .cluster = "c", .node = "n1", .job_id = 7, .now_ms = 1000 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_auto_t *facts = json_loads(cases[i].facts, 0, NULL);
		struct clf_error err = { 0 };
		char *env = NULL;
		int rc = clf_lease_check(&c, cases[i].body, facts, &env, &err);

		if (cases[i].says)
			ok(rc && strstr(err.text, cases[i].says), "refused: %s (%s)", cases[i].says, err.text);
		else
			ok(!rc && env && !strcmp(env, cases[i].env), "passes: %s%s", cases[i].body, err.text);
		free(env);
	}
	ports(&c);
	return done_testing();
}
