/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ovsdb driver without a switch: messages, answers that lie, configuration, attestation. */
#include "fabric/ovsdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/driver.h"
#include "fabric/ovsdb_image.h"
#include "ovsdb_fake.h"
#include "tap.h"

static int64_t in_ms(int ms)
{
	return clf_clock_system.boot_us(NULL) + ms * 1000;
}

static int64_t now_ms(void)
{
	return clf_clock_system.boot_us(NULL) / 1000;
}

/* messages */

static void frames_whole(void)
{
	static const char text[] = " {\"a\":\"x}\\\"{[\",\"b\":[1,{\"c\":null}]}\n{\"d\":2}{\"e\":";
	struct clf_ovsdb_frames f = CLF_OVSDB_FRAMES_INIT;
	json_t *m = NULL;
	int n = 0;

	for (const char *p = text; *p; p++) {
		if (clf_ovsdb_frames_add(&f, p, 1, NULL) || clf_ovsdb_frames_next(&f, &m, NULL))
			break;
		if (!m)
			continue;
		n++;
		if (n == 1)
			is_str(json_string_value(json_object_get(m, "a")), "x}\"{[",
			       "byte by byte: brackets in a string");
		if (n == 2)
			is_int(json_integer_value(json_object_get(m, "d")), 2, "byte by byte: the next one");
		json_decref(m);
	}
	is_int(n, 2, "two messages, the third is not complete");
	clf_ovsdb_frames_done(&f);
	ok(!clf_ovsdb_frames_add(&f, text, sizeof text - 1, NULL) && !clf_ovsdb_frames_next(&f, &m, NULL) && m,
	   "all at once: first");
	json_decref(m);
	ok(!clf_ovsdb_frames_next(&f, &m, NULL) && m, "second");
	json_decref(m);
	ok(!clf_ovsdb_frames_next(&f, &m, NULL) && !m, "no third");
	clf_ovsdb_frames_done(&f);
}

static void frames_bad(void)
{
	static const char *const bad[] = { "[1]",
					   "x",
					   "\"{}\"",
					   "}",
					   "{\"a\":}",
					   "{\"a\":1]",
					   "{\"a\":1,\"a\":2}",
					   "{\"a\":[}]",
					   "{\"a\":\"\\ud800\"}",
					   "{'a':1}",
					   "HTTP/1.1 200 OK" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct clf_ovsdb_frames f = CLF_OVSDB_FRAMES_INIT;
		struct clf_error err = { 0 };
		json_t *m = NULL;

		ok(!clf_ovsdb_frames_add(&f, bad[i], strlen(bad[i]), NULL) && clf_ovsdb_frames_next(&f, &m, &err) &&
			   err.code == CLF_E_REMOTE && !m,
		   "'%s' is refused", bad[i]);
		clf_ovsdb_frames_done(&f);
	}
}

static void frames_deep_and_large(void)
{
	struct clf_ovsdb_frames f = CLF_OVSDB_FRAMES_INIT;
	struct clf_error err = { 0 };
	char block[4096];
	json_t *m = NULL;
	int rc = 0;

	memset(block, '[', sizeof block);
	ok(!clf_ovsdb_frames_add(&f, "{\"a\":", 5, NULL) && !clf_ovsdb_frames_add(&f, block, sizeof block, NULL) &&
		   clf_ovsdb_frames_next(&f, &m, &err),
	   "4096 levels are refused");
	clf_ovsdb_frames_done(&f);
	f.buf.max = 10000;
	memset(block, 'x', sizeof block);
	err = (struct clf_error){ 0 };
	rc = clf_ovsdb_frames_add(&f, "{\"a\":\"", 6, NULL);
	for (int i = 0; !rc && i < 5; i++)
		rc = clf_ovsdb_frames_add(&f, block, sizeof block, &err) || clf_ovsdb_frames_next(&f, &m, &err);
	ok(rc && err.code == CLF_E_REMOTE && strstr(err.text, "larger than"), "a message past the cap is refused");
	clf_ovsdb_frames_done(&f);
}

/* results of a transaction */

static const struct {
	const char *ops, *results, *says; /* says NULL: good */
	enum clf_code code;
} answers[] = {
	{ "[{\"op\":\"wait\"},{\"op\":\"update\"}]", "[{},{\"count\":1}]", NULL, CLF_OK },
	{ "[{\"op\":\"select\"}]", "[{\"rows\":[]}]", NULL, CLF_OK },
	{ "[{\"op\":\"wait\"},{\"op\":\"update\"}]", "[{\"error\":\"timed out\",\"details\":\"x\"},null]",
	  "somebody else changed a port meanwhile (operation 0)", CLF_E_CONFLICT },
	{ "[{\"op\":\"update\"},{\"op\":\"update\"},{\"op\":\"mutate\"}]",
	  "[{\"count\":1},{\"error\":\"constraint violation\",\"details\":\"tag 5000\"},null]",
	  "operation 1 (update) was refused: constraint violation: tag 5000; nothing was changed", CLF_E_REMOTE },
	{ "[{\"op\":\"assert\"}]", "[{\"error\":\"not owner\"}]", "went to another client", CLF_E_CONFLICT },
	{ "[{\"op\":\"update\"}]", "[{\"count\":1},{\"error\":\"I/O error\"}]", "operation 1 (commit) was refused",
	  CLF_E_REMOTE },
	{ "[{\"op\":\"update\"}]", "[{\"count\":0}]", "did not meet its one row", CLF_E_CONFLICT },
	{ "[{\"op\":\"mutate\"}]", "[{\"count\":2}]", "did not meet its one row", CLF_E_CONFLICT },
	{ "[{\"op\":\"update\"}]", "[{}]", "did not meet its one row", CLF_E_CONFLICT },
	{ "[{\"op\":\"update\"}]", "[{\"count\":\"1\"}]", "did not meet its one row", CLF_E_CONFLICT },
	{ "[{\"op\":\"wait\"},{\"op\":\"update\"}]", "[{}]", "1 results for 2 operations", CLF_E_REMOTE },
	{ "[{\"op\":\"wait\"}]", "[null]", "has no result", CLF_E_REMOTE },
	{ "[{\"op\":\"wait\"}]", "[{},{}]", "2 results for 1 operations", CLF_E_REMOTE },
	{ "[{\"op\":\"select\"}]", "[{\"rows\":{}}]", "has no rows", CLF_E_REMOTE },
	{ "[{\"op\":\"wait\"}]", "{}", "no list", CLF_E_REMOTE },
	{ "[{\"op\":\"wait\"}]", "7", "no list", CLF_E_REMOTE },
};

static void check_results(void)
{
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		json_t *ops = json_loads(answers[i].ops, 0, NULL),
		       *res = json_loads(answers[i].results, JSON_DECODE_ANY, NULL);
		struct clf_error err = { 0 };
		int rc = clf_ovsdb_results_check(ops, res, &err);

		ok(rc == (answers[i].says ? -1 : 0) && err.code == answers[i].code &&
			   (!answers[i].says || strstr(err.text, answers[i].says)),
		   "%s of %s: %s", answers[i].results, answers[i].ops, err.code ? err.text : "good");
		json_decref(ops);
		json_decref(res);
	}
}

/* a server that lies */

static char socket_path[200];

static int ask(enum fake_how how, int at, bool write, int ms, struct fake *f, struct clf_error *err)
{
	struct clf_stream_conf remote = { .remote = socket_path };
	CLF_CLEANUP(clf_ovsdb_closep) struct clf_ovsdb *db = NULL;
	json_t *ops = json_pack("[{s:s,s:s,s:[],s:{s:i}}]", "op", "update", "table", "Port", "where", "row", "tag", 5);
	json_t *res = NULL;
	int rc;

	fake_start(f, socket_path + 5, how, at, "{}");
	rc = clf_ovsdb_open(&remote, in_ms(ms), &db, err);
	if (!rc && write)
		rc = clf_ovsdb_wait_lock(db, in_ms(ms), err);
	if (rc)
		json_decref(ops);
	else
		rc = clf_ovsdb_transact(db, ops, write, in_ms(ms), &res, err);
	json_decref(res);
	clf_ovsdb_close(db);
	db = NULL;
	fake_stop(f);
	return rc;
}

static const struct {
	enum fake_how how;
	enum clf_code code;
	const char *name, *says;
} lies[] = {
	{ FAKE_MUTE, CLF_E_TIMEOUT, "hang after accept", "no answer from unix:" },
	{ FAKE_HANG, CLF_E_TIMEOUT, "no answer", "no answer from unix:" },
	{ FAKE_STALLED, CLF_E_TIMEOUT, "half an answer, then silence", "no answer from unix:" },
	{ FAKE_CLOSE, CLF_E_REMOTE, "hangs up", "closed" },
	{ FAKE_TRUNCATED, CLF_E_REMOTE, "half an answer", "closed" },
	{ FAKE_GARBAGE, CLF_E_REMOTE, "no JSON", "malformed" },
	{ FAKE_HUGE, CLF_E_REMOTE, "endless answer", "larger than" },
	{ FAKE_WRONG_ID, CLF_E_REMOTE, "answer to another request", "id of no request" },
	{ FAKE_NO_RESULT, CLF_E_REMOTE, "no result", "no result" },
	{ FAKE_RPC_ERROR, CLF_E_REMOTE, "refused as a whole", "unknown database" },
	{ FAKE_FEWER, CLF_E_REMOTE, "a result too few", "results for" },
	{ FAKE_NULLS, CLF_E_REMOTE, "nulls", "no result" },
	{ FAKE_COUNT_0, CLF_E_CONFLICT, "count 0", "did not meet" },
	{ FAKE_COUNT_2, CLF_E_CONFLICT, "count 2", "did not meet" },
	{ FAKE_COMMIT_FAILS, CLF_E_REMOTE, "commit fails", "constraint violation" },
	{ FAKE_GOOD, CLF_OK, "good", "" },
	{ FAKE_ECHO_FIRST, CLF_OK, "keepalive before the answer", "" },
};

static void lying_server(void)
{
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		int ms = lies[i].code == CLF_E_TIMEOUT ? 300 : 5000;
		int64_t began = now_ms(), took;
		struct clf_error err = { 0 };
		struct fake f;
		int rc = ask(lies[i].how, 1, true, ms, &f, &err);

		took = now_ms() - began;
		ok(rc == (lies[i].code ? -1 : 0) && err.code == lies[i].code && strstr(err.text, lies[i].says),
		   "%s: %s", lies[i].name, err.code ? err.text : "good");
		ok(took < ms + 200, "%s: within its time (%d ms)", lies[i].name, (int) took);
		if (lies[i].how == FAKE_ECHO_FIRST)
			ok(f.echoed, "keepalive was answered while waiting");
	}
}

static void lock(void)
{
	struct clf_error err = { 0 };
	struct fake f;
	int64_t began = now_ms();

	ok(ask(FAKE_NOT_LOCKED, 0, true, 300, &f, &err) && err.code == CLF_E_CONFLICT &&
		   strstr(err.text, "is held by another") && !f.transacts && now_ms() - began < 600,
	   "the lock is another's: bounded wait, nothing written");
	err = (struct clf_error){ 0 };
	ok(!ask(FAKE_NOT_LOCKED, 0, false, 300, &f, &err) && f.transacts == 1, "reading needs no lock");
	err = (struct clf_error){ 0 };
	ok(!ask(FAKE_NOT_LOCKED, 1, true, 3000, &f, &err) && f.writes == 1, "it comes over: written, with assert");
}

static void no_server(void)
{
	struct clf_stream_conf remote = { .remote = "unix:/nowhere/at.all" };
	struct clf_ovsdb *db = NULL;
	struct clf_error err = { 0 };

	ok(clf_ovsdb_open(&remote, in_ms(1000), &db, &err) && err.code == CLF_E_REMOTE &&
		   strstr(err.text, "No such file"),
	   "no server: %s", err.text);
	err = (struct clf_error){ 0 };
	ok(clf_ovsdb_open(&remote, in_ms(-5), &db, &err) && err.code == CLF_E_TIMEOUT, "no time: timeout");
	remote.remote = "tcp:127.0.0.1:1";
	err = (struct clf_error){ 0 };
	ok(clf_ovsdb_open(&remote, in_ms(1000), &db, &err) && err.code == CLF_E_REMOTE, "nobody listens: %s", err.text);
	remote.remote = "ftp:x";
	err = (struct clf_error){ 0 };
	ok(clf_ovsdb_open(&remote, in_ms(1000), &db, &err) && err.code == CLF_E_INVALID, "no such transport");
}

/* configuration */

#define SW(members) "{\"name\":\"a\",\"remote\":\"unix:/run/a\",\"uplinks\":[\"u1\"]," members "}"
#define PORTS(list) "\"switches\":[" SW("\"ports\":[" list "]") "]"
#define PORT(port, node, nic, q)                                                                                       \
	"{\"port\":\"" port "\",\"node\":\"" node "\",\"nic\":\"" nic "\",\"quarantine\":" q "}"
#define REMOTE(more) "\"switches\":[{\"name\":\"a\",\"uplinks\":[],\"ports\":[]," more "}]"

static const struct {
	const char *section, *says; /* says NULL: good */
} confs[] = {
	{ PORTS(PORT("p1", "n1", "eth0", "3001") "," PORT("p2", "n2", "eth0", "3002")), NULL },
	{ "\"rest\":\"quarantine\"," PORTS(""), NULL },
	{ "\"rest\":50," PORTS(""), NULL },
	{ "\"reserved\":[\"1002-1005\"]," PORTS(""), NULL },
	{ REMOTE("\"remote\":\"tcp:127.0.0.1:6640\""), NULL },
	{ REMOTE("\"remote\":\"tcp:[::1]:6640\""), NULL },
	{ REMOTE("\"remote\":\"tcp:10.0.0.1:6640\",\"insecure\":true"), NULL },
	{ REMOTE("\"remote\":\"ssl:leaf1:6640\",\"key\":\"/k\",\"cert\":\"/c\",\"ca\":\"/a\""), NULL },
	{ REMOTE("\"remote\":\"unix:/x\",\"chassis\":\"02:00:00:00:00:0A\""), NULL },
	{ "\"rest\":\"free\"," PORTS(""), "'rest' is" },
	{ "\"rest\":true," PORTS(""), "'rest' is" },
	{ "\"rest\":105," PORTS(""), "inside the range of job keys" },
	{ "\"rest\":1," PORTS(""), "from 2 to 4094" },
	{ "\"rest\":4095," PORTS(""), "from 2 to 4094" },
	{ "\"rest\":3001," PORTS(PORT("p1", "n1", "eth0", "3001")), "ordinary network's id" },
	{ "\"reserved\":[\"90-110\"]," PORTS(""), "reserved by the switches" },
	{ "\"reserved\":[\"9\"]," PORTS(""), "no range" },
	{ "\"reserved\":[\"9-8\"]," PORTS(""), "no range" },
	{ "\"reserved\":[7]," PORTS(""), "no range" },
	{ "\"reserved\":[\"3000-3100\"]," PORTS(PORT("p1", "n1", "eth0", "3001")), "reserved id" },
	{ "\"lldp_max_age_s\":0," PORTS(""), "lldp_max_age_s" },
	{ "\"settle_ms\":5001," PORTS(""), "settle_ms" },
	{ "\"rset\":50," PORTS(""), "rset" },
	{ "\"switches\":[]", "from 1 to 1024" },
	{ PORTS(PORT("p1", "n1", "eth0", "3001") "," PORT("p1", "n2", "eth0", "3002")), "port 'p1' is there twice" },
	{ PORTS(PORT("p1", "n1", "eth0", "3001") "," PORT("p2", "n1", "eth0", "3002")),
	  "NIC 'n1 eth0' is on two ports" },
	{ PORTS(PORT("p1", "n1", "eth0", "3001") "," PORT("p2", "n2", "eth0", "3001")), "port 'p1' has this id too" },
	{ PORTS(PORT("p1", "n1", "eth0", "101")), "inside the range of job keys" },
	{ PORTS(PORT("p1", "n1", "eth0", "4095")), "from 2 to 4094" },
	{ PORTS(PORT("p1", "n1", "eth0", "\"3001\"")), "quarantine" },
	{ PORTS(PORT("u1", "n1", "eth0", "3001")), "'u1' is an uplink" },
	{ PORTS(PORT("p 1", "n1", "eth0", "3001")), "no name" },
	{ PORTS(PORT("p/1", "n1", "eth0", "3001")), "no name" },
	{ PORTS(PORT("", "n1", "eth0", "3001")), "no name" },
	{ PORTS("{\"port\":\"p1\",\"node\":\"n1\",\"nic\":\"eth0\"}"), "quarantine" },
	{ PORTS("{\"port\":\"p1\",\"node\":\"n1\",\"nic\":\"eth0\",\"quarantine\":3001,\"vlan\":1}"), "vlan" },
	{ "\"switches\":[" SW("\"ports\":[]") "," SW("\"ports\":[]") "]", "switch 'a' is there twice" },
	{ "\"switches\":[" SW(
		  "\"ports\":[]") ",{\"name\":\"b\",\"remote\":\"unix:/run/a\",\"uplinks\":[],\"ports\":[]}]",
	  "has this remote too" },
	{ "\"switches\":[{\"name\":\"a\",\"remote\":\"unix:/a\",\"ports\":[]}]", "uplinks" },
	{ "\"switches\":[{\"name\":\"a\",\"remote\":\"unix:/a\",\"uplinks\":[\"u\",\"u\"],\"ports\":[]}]",
	  "there twice" },
	{ "\"switches\":[{\"name\":\"a\",\"remote\":\"unix:/a\",\"uplinks\":[1],\"ports\":[]}]", "list of port names" },
	{ REMOTE("\"remote\":\"tcp:10.0.0.1:6640\""), "neither encrypted nor authenticated" },
	{ REMOTE("\"remote\":\"tcp:127.0.0.1.example:6640\""), "neither encrypted nor authenticated" },
	{ REMOTE("\"remote\":\"tcp:127.0.0.1\""), "none of" },
	{ REMOTE("\"remote\":\"tcp:u@127.0.0.1:80\""), "none of" },
	{ REMOTE("\"remote\":\"unix:relative\""), "none of" },
	{ REMOTE("\"remote\":\"http://x:1\""), "none of" },
	{ REMOTE("\"remote\":\"ssl:leaf1:6640\""), "needs 'key', 'cert' and 'ca'" },
	{ REMOTE("\"remote\":\"ssl:leaf1:6640\",\"key\":\"/k\",\"cert\":\"/c\""), "needs 'key', 'cert' and 'ca'" },
	{ REMOTE("\"remote\":\"unix:/a\",\"ca\":\"/a\""), "are for ssl:" },
	{ REMOTE("\"remote\":\"unix:/a\",\"chassis\":\"leaf1\""), "no MAC address" },
};

static void write_conf(const char *section, char *path, size_t size)
{
	FILE *f;

	snprintf(path, size, "%s/fabrics.json", clf_test_dir());
	f = fopen(path, "w");
	if (!f)
		abort();
	fprintf(f,
		"{\"format\":\"closfold-fabrics/"
		"1\",\"fabrics\":[{\"name\":\"e\",\"driver\":\"ovsdb\",\"keys\":\"100-107\","
		"\"ovsdb\":{%s}}]}",
		section);
	fclose(f);
}

static int open_driver(const char *section, struct clf_fabrics **set, void **self, struct clf_error *err)
{
	char path[300];

	write_conf(section, path, sizeof path);
	if (clf_fabrics_load(path, set, err))
		abort();
	return clf_drv_ovsdb.open(&(*set)->v[0], NULL, self, err);
}

static void configuration(void)
{
	for (size_t i = 0; i < sizeof confs / sizeof *confs; i++) {
		struct clf_fabrics *set = NULL;
		struct clf_error err = { 0 };
		void *self = NULL;
		int rc = open_driver(confs[i].section, &set, &self, &err);

		if (confs[i].says)
			ok(rc && err.code == CLF_E_PARSE && err.line == 1 && strstr(err.text, confs[i].says),
			   "refused, with its place: %s", err.text);
		else
			ok(!rc, "good: %s (%s)", confs[i].section, err.text);
		if (!rc)
			clf_drv_ovsdb.close(self);
		clf_fabrics_destroy(set);
	}
}

/* attestation */

#define FACTS(lldp)               "{\"net\":[{\"name\":\"eth0\",\"link\":true,\"lldp\":[" lldp "]}]}"
#define SAYS(chassis, port, more) "{\"chassis\":\"" chassis "\",\"port\":\"" port "\"" more "}"
#define GOOD_MAC                  "02:00:00:00:00:0a"

static const struct {
	const char *facts, *says;
	enum clf_attest want;
} attests[] = {
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":3")), "hears vlan 100 from a/p1", CLF_ATTEST_OK },
	{ FACTS(SAYS("02:00:00:00:00:0A", "p1", ",\"pvid\":100,\"age_s\":0")), "hears vlan 100", CLF_ATTEST_OK },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":3") "," SAYS(GOOD_MAC, "p1",
									   ",\"pvid\":100,\"age_s\":4")),
	  "hears vlan 100", CLF_ATTEST_OK },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":3") "," SAYS(GOOD_MAC, "p9", ",\"pvid\":7,\"age_s\":61")),
	  "hears vlan 100", CLF_ATTEST_OK },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"age_s\":3")), "announces no vlan", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":\"100\",\"age_s\":3")), "announces no vlan", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100")), "no LLDP that is fresh", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":61")), "no LLDP that is fresh", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":-1")), "no LLDP that is fresh", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":101,\"age_s\":3")), "hears vlan 101 from a/p1, not 100",
	  CLF_ATTEST_MISMATCH },
	{ FACTS(SAYS(GOOD_MAC, "p2", ",\"pvid\":100,\"age_s\":3")), "port p2, not p1", CLF_ATTEST_MISMATCH },
	{ FACTS(SAYS("02:00:00:00:00:0b", "p1", ",\"pvid\":100,\"age_s\":3")), "hears 02:00:00:00:00:0b",
	  CLF_ATTEST_MISMATCH },
	{ FACTS(SAYS("02:00:00:00:00:0b", "p1", ",\"age_s\":3")), "hears 02:00:00:00:00:0b", CLF_ATTEST_MISMATCH },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":3") "," SAYS("02:00:00:00:00:0b", "p1",
									   ",\"pvid\":100,\"age_s\":3")),
	  "two neighbours", CLF_ATTEST_UNATTESTED },
	{ FACTS(SAYS(GOOD_MAC, "p1", ",\"pvid\":100,\"age_s\":3") "," SAYS(GOOD_MAC, "p1",
									   ",\"pvid\":101,\"age_s\":3")),
	  "two neighbours", CLF_ATTEST_UNATTESTED },
	{ FACTS("{\"port\":\"p1\",\"pvid\":100,\"age_s\":3}"), "does not name itself", CLF_ATTEST_UNATTESTED },
	{ FACTS(""), "hears no LLDP", CLF_ATTEST_UNATTESTED },
	{ "{\"net\":[{\"name\":\"eth0\",\"link\":true}]}", "hears no LLDP", CLF_ATTEST_UNATTESTED },
	{ "{\"net\":[]}", "hears no LLDP", CLF_ATTEST_UNATTESTED },
	{ "{}", "hears no LLDP", CLF_ATTEST_UNATTESTED },
	{ "{\"net\":7}", "hears no LLDP", CLF_ATTEST_UNATTESTED },
};

#define ATTEST_CONF                                                                                                    \
	"\"switches\":[{\"name\":\"a\",\"remote\":\"unix:/run/a\",\"chassis\":\"" GOOD_MAC                             \
	"\",\"uplinks\":[],\"ports\":[" PORT("p1", "n1", "eth0", "3001") "," PORT(                                     \
		"p2", "n2", "eth0",                                                                                    \
		"3002") "," PORT("p3", "n2", "eth1",                                                                   \
				 "3003") "]},"                                                                         \
					 "{\"name\":\"b\",\"remote\":\"unix:/run/b\",\"uplinks\":[],\"ports\":[" PORT( \
						 "p1", "n3", "eth0", "3001") "]}]"

static void attest_cases(void *self, const struct clf_net *net)
{
	char text[300];

	for (size_t i = 0; i < sizeof attests / sizeof *attests; i++) {
		json_t *facts = json_loads(attests[i].facts, 0, NULL);
		enum clf_attest got = clf_drv_ovsdb.attest(self, net, "n1", facts, text, sizeof text);

		ok(got == attests[i].want && strstr(text, attests[i].says), "attest %s: %s", attests[i].facts, text);
		json_decref(facts);
	}
	is_int(clf_drv_ovsdb.attest(self, net, "n1", NULL, text, sizeof text), CLF_ATTEST_UNATTESTED,
	       "no report: unattested");
	is_int(clf_drv_ovsdb.attest(self, net, "n9", NULL, text, sizeof text), CLF_ATTEST_UNATTESTED,
	       "unknown node: %s", text);
}

static enum clf_attest attest_node(void *self, const struct clf_net *net, const char *node, const char *facts,
				   char *text, size_t size)
{
	json_t *j = json_loads(facts, 0, NULL);
	enum clf_attest a = clf_drv_ovsdb.attest(self, net, node, j, text, size);

	json_decref(j);
	return a;
}

static void attestation(void)
{
	struct clf_net net = { .key = 100 };
	struct clf_fabrics *set = NULL;
	struct clf_error err = { 0 };
	void *self = NULL;
	char text[300];
	const char *two = "{\"net\":[{\"name\":\"eth0\",\"lldp\":[" SAYS(
		GOOD_MAC, "p2",
		",\"pvid\":100,\"age_s\":1") "]},"
					     "{\"name\":\"eth1\",\"lldp\":[" SAYS(GOOD_MAC, "p3",
										  ",\"pvid\":100,\"age_s\":1") "]}]}";

	if (open_driver(ATTEST_CONF, &set, &self, &err))
		abort();
	ok(!clf_strv_add(&net.ports, "a/p1", NULL) && !clf_strv_add(&net.ports, "a/p2", NULL) &&
		   !clf_strv_add(&net.ports, "b/p1", NULL),
	   "a net");
	attest_cases(self, &net);
	ok(attest_node(self, &net, "n2", two, text, sizeof text) == CLF_ATTEST_MISMATCH &&
		   strstr(text, "not in the net"),
	   "R18: a second NIC outside the net: %s", text);
	ok(!clf_strv_add(&net.ports, "a/p3", NULL), "it is added");
	ok(attest_node(self, &net, "n2", two, text, sizeof text) == CLF_ATTEST_OK, "both NICs in: %s", text);
	ok(attest_node(self, &net, "n2", FACTS(SAYS(GOOD_MAC, "p2", ",\"pvid\":100,\"age_s\":1")), text, sizeof text) ==
			   CLF_ATTEST_UNATTESTED &&
		   strstr(text, "eth1"),
	   "one NIC silent: %s", text);
	ok(attest_node(self, &net, "n3", FACTS(SAYS("x", "p1", ",\"pvid\":100,\"age_s\":1")), text, sizeof text) ==
			   CLF_ATTEST_UNATTESTED &&
		   strstr(text, "no chassis"),
	   "no chassis to compare with: %s", text);
	clf_net_done(&net);
	clf_drv_ovsdb.close(self);
	clf_fabrics_destroy(set);
}

static int ports_of(void *self, const char *node, const char *facts, size_t *n, struct clf_error *err)
{
	json_t *j = facts ? json_loads(facts, 0, NULL) : NULL;
	struct clf_strv v = { 0 };
	int rc;

	*err = (struct clf_error){ 0 };
	rc = clf_drv_ovsdb.ports(self, node, j, &v, err);
	*n = v.n;
	clf_strv_done(&v);
	json_decref(j);
	return rc;
}

static void node_ports(void)
{
	struct clf_fabrics *set = NULL;
	struct clf_error err = { 0 };
	void *self = NULL;
	size_t n;

	if (open_driver(ATTEST_CONF, &set, &self, &err))
		abort();
	ok(!ports_of(self, "n2", NULL, &n, &err) && n == 2, "two NICs, two ports");
	ok(ports_of(self, "n9", NULL, &n, &err) && err.code == CLF_E_NOTFOUND && !n, "unknown node: %s", err.text);
	ok(!ports_of(self, "n1", FACTS(""), &n, &err) && n == 1, "the node reports its NIC");
	ok(ports_of(self, "n2", FACTS(""), &n, &err) && err.code == CLF_E_DENIED && !n, "one NIC is not there: %s",
	   err.text);
	ok(ports_of(self, "n1", "{\"net\":[{\"name\":\"eth0\",\"link\":false}]}", &n, &err) && err.code == CLF_E_DENIED,
	   "no link: %s", err.text);
	ok(!ports_of(self, "n1", "{}", &n, &err) && n == 1, "a report without NICs says nothing");
	clf_drv_ovsdb.close(self);
	clf_fabrics_destroy(set);
}

/* the driver against a server that lies */

#define OVS "\"Open_vSwitch\":[{\"cur_cfg\":5,\"next_cfg\":5}]"
#define BRIDGE                                                                                                         \
	"\"Bridge\":[{\"name\":\"br0\",\"controller\":[\"set\",[]],\"ports\":[\"set\",[[\"uuid\",\"P1\"],[\"uuid\","   \
	"\"P2\"]]]}]"
#define IFACE(u, more) "{\"_uuid\":[\"uuid\",\"" u "\"],\"name\":\"" u "\",\"error\":[\"set\",[]]," more "}"
#define UP             "\"ofport\":3,\"link_state\":\"up\""
#define IFACES         "\"Interface\":[" IFACE("I1", UP) "," IFACE("I2", UP) "]"
#define ROW(u, name, i, more)                                                                                          \
	"{\"_uuid\":[\"uuid\",\"" u "\"],\"name\":\"" name "\",\"interfaces\":[\"uuid\",\"" i "\"]," more "}"
#define MINE                                                                                                           \
	"\"tag\":100,\"trunks\":[\"set\",[]],\"vlan_mode\":\"access\",\"external_ids\":[\"map\",[[\"closfold-job\","   \
	"\"j\"]]]"
#define QUIET "\"tag\":3002,\"trunks\":[\"set\",[]],\"vlan_mode\":\"access\",\"external_ids\":[\"map\",[]]"
#define OTHER(tag, trunks, mode)                                                                                       \
	"\"tag\":" tag ",\"trunks\":" trunks ",\"vlan_mode\":" mode ",\"external_ids\":[\"map\",[]]"
#define NONE "[\"set\",[]]"
#define DB(mine, other)                                                                                                \
	"{" OVS "," BRIDGE "," IFACES ",\"Port\":[" ROW("P1", "p1", "I1", mine) "," ROW("P2", "p2", "I2", other) "]}"

static const struct {
	const char *name, *tables, *says;
	enum clf_code code;
	enum fake_how how;
	int at;
} syncs[] = {
	{ "as it should be", DB(MINE, QUIET), "read back in vlan 100", CLF_OK, FAKE_GOOD, 1 },
	{ "R24: what was written is not there", DB(QUIET, QUIET), "is not what was written", CLF_E_CONFLICT, FAKE_GOOD,
	  1 },
	{ "writes that meet no row", DB(MINE, QUIET), "did not meet", CLF_E_CONFLICT, FAKE_COUNT_0, 2 },
	{ "F8: always somebody in between", DB(MINE, QUIET), "somebody else changed", CLF_E_CONFLICT, FAKE_WAIT_FAILS,
	  2 },
	{ "read-back hangs", DB(MINE, QUIET), "no answer", CLF_E_TIMEOUT, FAKE_HANG, 3 },
	{ "read-back is garbage", DB(MINE, QUIET), "malformed", CLF_E_REMOTE, FAKE_GARBAGE, 3 },
	{ "write hangs", DB(MINE, QUIET), "no answer", CLF_E_TIMEOUT, FAKE_HANG, 2 },
	{ "other port in the vlan", DB(MINE, OTHER("100", NONE, "\"access\"")), "carries vlan 100 too", CLF_E_CONFLICT,
	  FAKE_GOOD, 1 },
	{ "other port cleared", DB(MINE, OTHER(NONE, NONE, NONE)), "carries vlan 100 too", CLF_E_CONFLICT, FAKE_GOOD,
	  1 },
	{ "other port a trunk with it", DB(MINE, OTHER(NONE, "[\"set\",[99,100]]", "\"trunk\"")),
	  "carries vlan 100 too", CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "other port a trunk of it alone", DB(MINE, OTHER(NONE, "100", "\"trunk\"")), "carries vlan 100 too",
	  CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "other port a trunk of others", DB(MINE, OTHER(NONE, "[\"set\",[98,99]]", "\"trunk\"")), "read back in",
	  CLF_OK, FAKE_GOOD, 1 },
	{ "trunk with the tag but no native", DB(MINE, OTHER("100", "99", "\"trunk\"")), "read back in", CLF_OK,
	  FAKE_GOOD, 1 },
	{ "native-untagged in it", DB(MINE, OTHER("100", "99", "\"native-untagged\"")), "carries vlan 100 too",
	  CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "native-tagged without list", DB(MINE, OTHER("99", NONE, "\"native-tagged\"")), "carries vlan 100 too",
	  CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "dot1q-tunnel in it", DB(MINE, OTHER("100", NONE, "\"dot1q-tunnel\"")), "carries vlan 100 too",
	  CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "a mode nobody knows", DB(MINE, OTHER("99", NONE, "\"future\"")), "carries vlan 100 too", CLF_E_CONFLICT,
	  FAKE_GOOD, 1 },
	{ "tag is no number", DB(MINE, OTHER("\"x\"", NONE, NONE)), "has not the form", CLF_E_REMOTE, FAKE_GOOD, 1 },
	{ "trunks are no numbers", DB(MINE, OTHER("99", "[\"set\",[\"a\"]]", NONE)), "has not the form", CLF_E_REMOTE,
	  FAKE_GOOD, 1 },
	{ "a column is missing", DB(MINE, "\"tag\":5"), "has not the form", CLF_E_REMOTE, FAKE_GOOD, 1 },
	{ "empty database", "{}", "no cur_cfg", CLF_E_REMOTE, FAKE_GOOD, 1 },
	{ "no ports at all", "{" OVS ",\"Bridge\":[{\"name\":\"br0\",\"ports\":[\"set\",[]]}]}", "does not exist",
	  CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "a port on no bridge",
	  "{" OVS ",\"Bridge\":[{\"name\":\"br0\",\"ports\":[\"uuid\",\"P2\"]}]," IFACES
	  ",\"Port\":[" ROW("P1", "p1", "I1", MINE) "," ROW("P2", "p2", "I2", QUIET) "]}",
	  "does not exist", CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "a port twice",
	  "{" OVS "," BRIDGE "," IFACES ",\"Port\":[" ROW("P1", "p1", "I1", MINE) "," ROW("P2", "p1", "I2", QUIET) "]}",
	  "there twice", CLF_E_REMOTE, FAKE_GOOD, 1 },
	{ "an interface that is not listed",
	  "{" OVS "," BRIDGE ",\"Interface\":[],\"Port\":[" ROW("P1", "p1", "I1", MINE) "]}", "has not the form",
	  CLF_E_REMOTE, FAKE_GOOD, 1 },
	{ "no device yet",
	  "{" OVS "," BRIDGE
	  ",\"Interface\":[" IFACE("I1", "\"ofport\":[\"set\",[]],\"link_state\":[\"set\",[]]") "," IFACE(
		  "I2", UP) "],\"Port\":[" ROW("P1", "p1", "I1", MINE) "," ROW("P2", "p2", "I2", QUIET) "]}",
	  "has no device", CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "device error with a number",
	  "{" OVS "," BRIDGE ",\"Interface\":[{\"_uuid\":[\"uuid\",\"I1\"],\"name\":\"I1\",\"error\":\"burnt\"," UP
	  "}," IFACE("I2", UP) "],\"Port\":[" ROW("P1", "p1", "I1", MINE) "," ROW("P2", "p2", "I2", QUIET) "]}",
	  "burnt", CLF_E_CONFLICT, FAKE_GOOD, 1 },
	{ "lagging data plane",
	  "{\"Open_vSwitch\":[{\"cur_cfg\":5,\"next_cfg\":9}]," BRIDGE "," IFACES
	  ",\"Port\":[" ROW("P1", "p1", "I1", MINE) "," ROW("P2", "p2", "I2", QUIET) "]}",
	  "at configuration 5, not 9", CLF_E_TIMEOUT, FAKE_GOOD, 1 },
};

static int no_reals(const json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;
	int good = !json_is_real(j);

	json_object_foreach((json_t *) j, key, v) good = good && no_reals(v);
	json_array_foreach(j, i, v) good = good && no_reals(v);
	return good;
}

/* One switch, one port, one net that is to be opened. */
struct bed {
	struct clf_fabrics *set;
	struct clf_net net;
	struct fake fake;
	void *self;
};

static void bed_make(struct bed *b, enum fake_how how, int at, const char *tables)
{
	struct clf_error err = { 0 };
	char section[600];

	*b = (struct bed){ .net = { .lease = "j", .key = 100 } };
	snprintf(section, sizeof section,
		 "\"switches\":[{\"name\":\"a\",\"remote\":\"%s\",\"bridge\":\"br0\",\"uplinks\":[],\"ports\":[%s]}]",
		 socket_path, PORT("p1", "n1", "eth0", "3001"));
	fake_start(&b->fake, socket_path + 5, how, at, tables);
	if (open_driver(section, &b->set, &b->self, &err) || clf_strv_add(&b->net.ports, "a/p1", &err))
		abort();
}

static void bed_done(struct bed *b)
{
	clf_drv_ovsdb.close(b->self);
	fake_stop(&b->fake);
	clf_net_done(&b->net);
	clf_fabrics_destroy(b->set);
}

static struct clf_net_task bed_open(struct bed *b, int ms)
{
	struct clf_want want = { .nets = &b->net, .n = 1 };
	struct clf_net_task task = { .op = CLF_NET_OPEN, .net = &b->net };
	struct clf_error err = { 0 };

	if (clf_drv_ovsdb.sync(b->self, &want, &task, 1, ms, &err))
		abort();
	return task;
}

static void sync_case(size_t at)
{
	struct clf_net_task task;
	struct bed b;
	int64_t began = now_ms();

	bed_make(&b, syncs[at].how, syncs[at].at, syncs[at].tables);
	task = bed_open(&b, 600);
	ok(task.error.code == syncs[at].code &&
		   strstr(task.error.code ? task.error.text : task.report.text, syncs[at].says),
	   "%s: %s", syncs[at].name, task.report.text);
	ok(now_ms() - began < 900, "%s: within its time", syncs[at].name);
	ok(task.report.detail && no_reals(task.report.detail), "%s: a detail for the record", syncs[at].name);
	is_str(task.report.word,
	       syncs[at].code == CLF_OK           ? "verified"
	       : syncs[at].code == CLF_E_TIMEOUT  ? "timeout"
	       : syncs[at].code == CLF_E_CONFLICT ? "mismatch"
						  : "unreachable",
	       "%s: word", syncs[at].name);
	if (syncs[at].how == FAKE_WAIT_FAILS)
		is_int(b.fake.writes, 2, "%s: tried twice; what was in its network before stays", syncs[at].name);
	clf_net_task_done(&task);
	bed_done(&b);
}

/* A sync on a fabric of one switch asks three times: read, write, read again. */
static void idle_connection(void)
{
	struct clf_net_task task;
	struct bed b;

	bed_make(&b, FAKE_CLOSE_ONCE, 4, DB(MINE, QUIET));
	task = bed_open(&b, 2000);
	ok(!task.error.code && b.fake.connections == 1, "first sync: verified, one connection");
	clf_net_task_done(&task);
	task = bed_open(&b, 2000);
	ok(!task.error.code && b.fake.connections == 2, "a connection that was closed meanwhile is opened again: %s",
	   task.report.text);
	clf_net_task_done(&task);
	bed_done(&b);
}

/* A job runs on one switch; its network is looked at again while another switch, that it has nothing on, is away. */
static void running_job_keeps_its_ports(void)
{
	struct bed b = { .net = { .lease = "j", .key = 100 } };
	struct clf_net_task task;
	struct clf_error err = { 0 };
	char section[900];

	snprintf(section, sizeof section,
		 "\"switches\":[{\"name\":\"a\",\"remote\":\"%s\",\"bridge\":\"br0\",\"uplinks\":[],\"ports\":[%s]},"
		 "{\"name\":\"b\",\"remote\":\"%s.none\",\"bridge\":\"br0\",\"uplinks\":[],\"ports\":[%s]}]",
		 socket_path, PORT("p1", "n1", "eth0", "3001"), socket_path, PORT("p1", "n2", "eth0", "3001"));
	fake_start(&b.fake, socket_path + 5, FAKE_GOOD, 1, DB(MINE, QUIET));
	if (open_driver(section, &b.set, &b.self, &err) || clf_strv_add(&b.net.ports, "a/p1", &err))
		abort();
	task = bed_open(&b, 1000);
	is_int(task.error.code, CLF_E_REMOTE, "a switch that is away: not proven any more: %s", task.report.text);
	is_int(b.fake.last_tag, 100, "and the port of the running job stays in its vlan");
	clf_net_task_done(&task);
	bed_done(&b);
}

static void late_link(void)
{
	struct clf_net_task task;
	struct bed b;

	bed_make(&b, FAKE_LINK_LATE, 6, DB(MINE, QUIET));
	task = bed_open(&b, 2000);
	ok(!task.error.code && b.fake.transacts == 6, "link state that comes after cur_cfg is waited for: %s",
	   task.report.text);
	clf_net_task_done(&task);
	bed_done(&b);
}

int main(void)
{
	snprintf(socket_path, sizeof socket_path, "unix:%s/s", clf_test_dir());
	frames_whole();
	frames_bad();
	frames_deep_and_large();
	check_results();
	lying_server();
	lock();
	no_server();
	configuration();
	attestation();
	node_ports();
	for (size_t i = 0; i < sizeof syncs / sizeof *syncs; i++)
		sync_case(i);
	idle_connection();
	late_link();
	running_job_keeps_its_ports();
	return done_testing();
}
