/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node says of itself: sysfs trees made here, lldpd's own output (tests/data/lldp), and reports that are none.
 */
#include "daemon/node_facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/node_report.h"
#include "golden.h"
#include "tap.h"

static char root[400];

/* A file below root; directories are made. */
static void put(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *fmt, ...)
{
	char path[1024], name[512];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(name, sizeof name, fmt, ap);
	va_end(ap);
	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
		*p = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void new_root(const char *name)
{
	snprintf(root, sizeof root, "%s/%s", clf_test_dir(), name);
	if (mkdir(root, 0755))
		abort();
}

static void make_hca(const char *dev, int port, const char *pkeys[])
{
	char base[200];

	snprintf(base, sizeof base, "class/infiniband/%s", dev);
	put("0c42:a103:0000:1000\n", "%s/node_guid", base);
	put("0c42:a103:0000:1000\n", "%s/sys_image_guid", base);
	put("InfiniBand\n", "%s/ports/%d/link_layer", base, port);
	put("4: ACTIVE\n", "%s/ports/%d/state", base, port);
	put("200 Gb/sec (4X HDR)\n", "%s/ports/%d/rate", base, port);
	put("fe80:0000:0000:0000:0c42:a103:0000:1001\n", "%s/ports/%d/gids/0", base, port);
	for (int i = 0; pkeys[i]; i++)
		put(pkeys[i], "%s/ports/%d/pkeys/%d", base, port, i);
}

static void make_nic(const char *name, const char *mac, const char *type, const char *carrier)
{
	put(mac, "class/net/%s/address", name);
	put(type, "class/net/%s/type", name);
	if (carrier)
		put(carrier, "class/net/%s/carrier", name);
}

static json_t *facts(const json_t *lldp)
{
	struct clf_error err = { 0 };
	json_t *r = clf_node_facts("n1", root, lldp, &err);

	if (ok(r != NULL, "a report: %s", err.text))
		ok(!clf_node_report_check(r, "n1", &err), "which its own reader takes: %s", err.text);
	return r;
}

/* Canonical text of a member. */
static void is_member(const json_t *o, const char *name, const char *want, const char *what)
{
	json_t *v = json_object_get(o, name);
	CLF_AUTO_FREE char *got = v ? clf_json_canonical(v) : NULL;

	is_str(got, want, "%s", what);
}

static void test_whole(void)
{
	const char *keys[] = { "0x8101\n", "0x7fff\n", "0x0000\n", "0x8009\n", "0x0000\n", "0x0000\n", NULL };
	const char *plain[] = { "0xffff\n", NULL };
	json_auto_t *lldp = json_loads("{\"eth0\":[{\"port\":\"swp1\",\"pvid\":100}],\"eth9\":[{}]}", 0, NULL);
	json_auto_t *r = NULL;

	new_root("whole");
	make_hca("mlx5_10", 1, plain);
	make_hca("mlx5_2", 1, keys);
	make_nic("lo", "00:00:00:00:00:00\n", "772\n", "1\n");
	make_nic("eth0", "02:00:00:00:00:01\n", "1\n", "1\n");
	make_nic("eth1", "02:00:00:00:00:02\n", "1\n", "0\n");
	make_nic("ib0", "20:00:10:8b:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:00:10:01\n", "32\n", "1\n");
	make_nic("dummy0", "00:00:00:00:00:00\n", "1\n", "1\n");
	r = facts(lldp);
	is_member(r, "ib",
		  "[{\"device\":\"mlx5_2\",\"link_layer\":\"InfiniBand\",\"node_guid\":\"0x0c42a10300001000\","
		  "\"pkeys\":[\"0x8101\",\"0x7fff\",\"0x0000\",\"0x8009\"],\"port\":1,"
		  "\"port_guid\":\"0x0c42a10300001001\",\"rate\":\"200 Gb/sec (4X HDR)\",\"state\":\"ACTIVE\","
		  "\"sys_image_guid\":\"0x0c42a10300001000\"},"
		  "{\"device\":\"mlx5_10\",\"link_layer\":\"InfiniBand\",\"node_guid\":\"0x0c42a10300001000\","
		  "\"pkeys\":[\"0xffff\"],\"port\":1,\"port_guid\":\"0x0c42a10300001001\","
		  "\"rate\":\"200 Gb/sec (4X HDR)\",\"state\":\"ACTIVE\",\"sys_image_guid\":\"0x0c42a10300001000\"}]",
		  "ports of sysfs, the key table up to its last entry");
	is_member(r, "net",
		  "[{\"link\":true,\"lldp\":[{\"port\":\"swp1\",\"pvid\":100}],\"mac\":\"02:00:00:00:00:01\","
		  "\"name\":\"eth0\"},{\"link\":false,\"lldp\":[],\"mac\":\"02:00:00:00:00:02\",\"name\":\"eth1\"}]",
		  "interfaces with an Ethernet address, and their neighbours");
	ok(json_is_boolean(json_object_get(json_object_get(r, "clock"), "synchronised")), "the clock's state");
	ok(json_string_value(json_object_get(r, "boot_id")), "boot id");
}

static void test_absent(void)
{
	json_auto_t *r = NULL, *s = NULL;

	new_root("nothing");
	r = facts(NULL);
	ok(!json_object_get(r, "ib") && !json_object_get(r, "net"), "without sysfs nothing is said of ports");
	new_root("no-lldp");
	make_nic("eth0", "02:00:00:00:00:01\n", "1\n", NULL);
	s = facts(NULL);
	is_member(s, "net", "[{\"mac\":\"02:00:00:00:00:01\",\"name\":\"eth0\"}]",
		  "no carrier to be read, no LLDP: both absent");
}

static void test_odd(void)
{
	static char huge[5000];
	const char *none[] = { NULL }, *odd[] = { "0x8101\n", "8101\n", NULL };
	json_auto_t *r = NULL, *s = NULL;
	const json_t *p;

	memset(huge, 'a', sizeof huge - 1);
	new_root("odd");
	make_hca("a", 1, none);
	put(huge, "class/infiniband/a/ports/1/state");
	put("fe80::1\n", "class/infiniband/a/ports/1/gids/0");
	put("0C42:a103:0000:1000\n", "class/infiniband/a/node_guid");
	put("", "class/infiniband/a/sys_image_guid");
	put("200\x01Gb\n", "class/infiniband/a/ports/1/rate");
	make_hca("b", 1, odd);
	put("x", "class/infiniband/c/ports/zero/state");
	put("x", "class/infiniband/c/ports/256/state");
	make_nic("eth0", "02:00:00:00:00:0G\n", "1\n", "1\n");
	make_nic("eth1", "02:00:00:00:00:01\n", "1\n", "yes\n");
	r = facts(NULL);
	p = json_array_get(json_object_get(r, "ib"), 0);
	ok(!json_object_get(p, "state"), "a value that does not end is absent");
	ok(!json_object_get(p, "port_guid"), "so is a GID in another form");
	ok(!json_object_get(p, "node_guid") && !json_object_get(p, "sys_image_guid"), "and a GUID that is none");
	ok(!json_object_get(p, "pkeys"), "a table that is not there is unknown, not empty");
	is_member(p, "rate", "\"200?Gb\"", "control characters do not get in");
	p = json_array_get(json_object_get(r, "ib"), 1);
	ok(!json_object_get(p, "pkeys"), "one bad entry makes the table unknown");
	put("0x8101x\n", "class/infiniband/b/ports/1/pkeys/1");
	s = facts(NULL);
	ok(!json_object_get(json_array_get(json_object_get(s, "ib"), 1), "pkeys"), "so does one with a tail");
	is_int((long long) json_array_size(json_object_get(r, "ib")), 2, "names that are no port numbers are no ports");
	is_member(r, "net", "[{\"mac\":\"02:00:00:00:00:01\",\"name\":\"eth1\"}]",
		  "an address that is none is no interface, a carrier that is none is unknown");
}

/* ---- LLDP */

static json_t *lldp_file(const char *name)
{
	char path[512];
	char *text;
	struct clf_error err = { 0 };
	json_t *r;

	snprintf(path, sizeof path, "%s/tests/data/lldp/%s", clf_test_srcdir(), name);
	text = golden_read(path);
	r = clf_lldp_parse(text ? text : "", &err);
	ok(r != NULL, "%s is read: %s", name, err.text);
	free(text);
	return r;
}

static void test_lldp(void)
{
	json_auto_t *host = lldp_file("host.json"), *none = lldp_file("none.json"), *pvid = lldp_file("pvid.json"),
		    *two = lldp_file("two.json");

	is_member(host, "clfv1", "[{\"age_s\":35,\"chassis\":\"5a:ee:49:bb:cc:b3\",\"port\":\"5a:ee:49:bb:cc:b3\"}]",
		  "a neighbour without PVID");
	is_int((long long) json_object_size(none), 0, "nobody");
	is_member(pvid, "clfv1", "[{\"age_s\":1,\"chassis\":\"02:00:00:00:00:12\",\"port\":\"swp1\",\"pvid\":100}]",
		  "a switch that names the VLAN");
	is_member(two, "clfv1",
		  "[{\"age_s\":1,\"chassis\":\"02:00:00:00:00:12\",\"port\":\"swp1\",\"pvid\":100},"
		  "{\"age_s\":0,\"chassis\":\"02:00:00:00:00:13\",\"port\":\"swp7\",\"pvid\":200}]",
		  "two neighbours stay two");
}

#define ONE(members) "{\"lldp\":[{\"interface\":[{\"name\":\"e\",\"via\":\"LLDP\"" members "}]}]}"

static void test_lldp_odd(void)
{
	static const struct {
		const char *what, *json, *want;
	} cases[] = {
		{ "no members", ONE(""), "{\"e\":[{}]}" },
		{ "several VLANs of the port",
		  ONE(",\"vlan\":[{\"vlan-id\":\"1\",\"pvid\":true},{\"vlan-id\":\"2\",\"pvid\":true}]"),
		  "{\"e\":[{}]}" },
		{ "a tagged VLAN", ONE(",\"vlan\":[{\"vlan-id\":\"7\",\"pvid\":false}]"), "{\"e\":[{}]}" },
		{ "VLAN 0", ONE(",\"vlan\":[{\"vlan-id\":\"0\",\"pvid\":true}]"), "{\"e\":[{}]}" },
		{ "VLAN 4095", ONE(",\"vlan\":[{\"vlan-id\":\"4095\",\"pvid\":true}]"), "{\"e\":[{}]}" },
		{ "a number where a text is due", ONE(",\"vlan\":[{\"vlan-id\":7,\"pvid\":true}]"), "{\"e\":[{}]}" },
		{ "days", ONE(",\"age\":\"2 days, 01:02:03\""), "{\"e\":[{\"age_s\":176523}]}" },
		{ "an age that is none", ONE(",\"age\":\"1 day, 25:00:00\""), "{\"e\":[{}]}" },
		{ "an age with a tail", ONE(",\"age\":\"0 day, 00:00:01 x\""), "{\"e\":[{}]}" },
		{ "a chassis that is no address", ONE(",\"chassis\":[{\"id\":[{\"type\":\"local\",\"value\":\"x\"}]}]"),
		  "{\"e\":[{}]}" },
		{ "a chassis that only looks like one",
		  ONE(",\"chassis\":[{\"id\":[{\"type\":\"mac\",\"value\":\"02:00\"}]}]"), "{\"e\":[{}]}" },
		{ "another protocol", "{\"lldp\":[{\"interface\":[{\"name\":\"e\",\"via\":\"CDPv2\"}]}]}", "{}" },
	};
	static const char *const bad[] = { "",
					   "[]",
					   "{}",
					   "{\"lldp\":[]}",
					   "{\"lldp\":{}}",
					   "{\"lldp\":[7]}",
					   "{\"lldp\":[{\"interface\":{}}]}",
					   "{\"lldp\":[{\"interface\":[{}]}]}",
					   "{\"lldp\":[{\"interface\":[7]}]}",
					   "{\"lldp\":[{}]} x" };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct clf_error err = { 0 };
		json_auto_t *r = clf_lldp_parse(cases[i].json, &err);
		CLF_AUTO_FREE char *got = r ? clf_json_canonical(r) : NULL;

		is_str(got, cases[i].want, "LLDP: %s", cases[i].what);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_error err = { 0 };
		json_auto_t *r = clf_lldp_parse(bad[i], &err);

		ok(!r && err.code == CLF_E_PARSE, "no lldpcli: '%s': %s", bad[i], err.text);
	}
}

/* ---- reports that are none */

#define REPORT(members) "{\"format\":\"closfold-node/1\",\"node\":\"n1\"" members "}"
static const struct {
	const char *json, *says;
} bad_reports[] = {
	{ "[]", "an object" },
	{ "{}", "'format' is not there" },
	{ "{\"format\":\"closfold-node/2\",\"node\":\"n1\"}", "not closfold-node/1" },
	{ "{\"format\":\"closfold-node/1\",\"node\":\"n2\"}", "of node 'n2' from node 'n1'" },
	{ REPORT(",\"time_ms\":-1"), "time_ms" },
	{ REPORT(",\"time_ms\":1.5"), "time_ms" },
	{ REPORT(",\"ib\":{}"), "'ib'" },
	{ REPORT(",\"ib\":[7]"), "'ib' is not an object" },
	{ REPORT(",\"ib\":[{\"port\":1}]"), "ib.device" },
	{ REPORT(",\"ib\":[{\"device\":\"a b\",\"port\":1}]"), "ib.device" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":0}]"), "ib.port" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":1,\"port_guid\":\"0x0C42a10300001001\"}]"), "ib.port_guid" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":1,\"port_guid\":\"0x42\"}]"), "ib.port_guid" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":1,\"pkeys\":[\"0x8101\",7]}]"), "ib.pkeys" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":1,\"pkeys\":[\"8101\"]}]"), "ib.pkeys" },
	{ REPORT(",\"ib\":[{\"device\":\"a\",\"port\":1},{\"device\":\"a\",\"port\":1}]"), "'a/1' is there twice" },
	{ REPORT(",\"net\":[{\"mac\":\"02:00:00:00:00:01\"}]"), "net.name" },
	{ REPORT(",\"net\":[{\"name\":\"e\",\"mac\":\"02:00:00:00:00:0A\"}]"), "net.mac" },
	{ REPORT(",\"net\":[{\"name\":\"e\",\"link\":1}]"), "net.link" },
	{ REPORT(",\"net\":[{\"name\":\"e\"},{\"name\":\"e\"}]"), "'e' is there twice" },
	{ REPORT(",\"net\":[{\"name\":\"e\",\"lldp\":[{\"pvid\":0}]}]"), "net.lldp.pvid" },
	{ REPORT(",\"net\":[{\"name\":\"e\",\"lldp\":[{\"pvid\":4095}]}]"), "net.lldp.pvid" },
	{ REPORT(",\"net\":[{\"name\":\"e\",\"lldp\":[{\"age_s\":-1}]}]"), "net.lldp.age_s" },
	{ REPORT(",\"clock\":{\"synchronised\":\"yes\"}"), "clock.synchronised" },
	{ REPORT(",\"clock\":true"), "'clock'" },
};

static void test_bad_reports(void)
{
	json_auto_t *good = json_loads(REPORT(",\"future\":{\"x\":1},\"net\":[{\"name\":\"e\",\"speed\":5}]"), 0, NULL);
	json_auto_t *many = json_loads(REPORT(""), 0, NULL);
	json_t *list = json_array();
	struct clf_error err = { 0 };

	for (size_t i = 0; i < sizeof bad_reports / sizeof *bad_reports; i++) {
		json_auto_t *r = json_loads(bad_reports[i].json, 0, NULL);
		struct clf_error why = { 0 };

		if (!r)
			abort();
		ok(clf_node_report_check(r, "n1", &why) && why.code == CLF_E_PARSE &&
			   strstr(why.text, bad_reports[i].says),
		   "refused: %s", why.text);
	}
	ok(!clf_node_report_check(good, "n1", &err), "unknown members are passed over: %s", err.text);
	for (int i = 0; i < 257; i++)
		json_array_append_new(list, json_pack("{s:s+}", "name", "e", i < 26 ? "a" : "b"));
	json_object_set_new(many, "net", list);
	ok(clf_node_report_check(many, "n1", &err) && strstr(err.text, "'net'"), "257 interfaces: %s", err.text);
}

static void test_gist(void)
{
	json_auto_t *a = json_loads(
		REPORT(",\"time_ms\":1,\"clock\":{},\"net\":[{\"name\":\"e\",\"lldp\":[{\"age_s\":1}]}]"), 0, NULL);
	json_auto_t *b =
		json_loads(REPORT(",\"time_ms\":2,\"net\":[{\"name\":\"e\",\"lldp\":[{\"age_s\":9}]}]"), 0, NULL);
	json_auto_t *c = json_loads(REPORT(",\"net\":[{\"name\":\"e\",\"lldp\":[{\"pvid\":9}]}]"), 0, NULL);
	json_auto_t *ga = clf_node_report_gist(a), *gb = clf_node_report_gist(b), *gc = clf_node_report_gist(c);

	ok(json_equal(ga, gb), "times, ages and clock are no change");
	ok(!json_equal(ga, gc), "a VLAN is");
	ok(json_object_get(a, "time_ms") && json_object_get(a, "clock"), "and the report itself is as it was");
}

int main(void)
{
	test_whole();
	test_absent();
	test_odd();
	test_lldp();
	test_lldp_odd();
	test_bad_reports();
	test_gist();
	return done_testing();
}
