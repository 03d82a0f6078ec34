/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ibwitness_main.c - closfold-ibwitness: what the ports of an InfiniBand fabric say, asked by SMP and not of the subnet
 * manager.
 *
 *   closfold-ibwitness [-C DIR] [-d CA] [-p PORT] [-w WINDOW] [-t MS]
 *
 * A co-process: requests on standard input, answers on standard output, a line each (docs/formats/ibwitness.md); it
 * ends with its input. It sends nothing but Get, so it cannot change a fabric.
 */
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lex.h"
#include "fabric/ibwitness.h"

#define LINE_MAX_BYTES (4u << 20)
#define DEADLINE_MAX   600000

static struct {
	struct wit_conf conf;
	struct wit_mad mad;
	struct wit_fabric fabric;
	bool discovered;
} W = { .conf = { .window = 8, .timeout_ms = 100 }, .mad = { .fd = -1 } };

static void say_keys(const char *name, const uint16_t *keys, uint16_t n)
{
	printf(" %s=", name);
	for (uint16_t i = 0; i < n; i++)
		printf("%s%04x", i ? "," : "", keys[i]);
	if (!n)
		putchar('-');
}

static const char *state_word(enum wit_state s)
{
	static const char *const words[] = { "ok", "down", "silent", "moved", "twice" };

	return words[s];
}

static void say_port(const struct wit_port *p)
{
	printf("port 0x%016" PRIx64 " %s", p->guid, state_word(p->state));
	if (p->state == WIT_PORT_OK) {
		printf(" via=%s lid=%u link=%u cap=%u mkey=%d", p->directed ? "route" : "lid", p->path.lid, p->link,
		       p->cap, p->has_mkey);
		say_keys("table", p->keys, p->nkeys);
	}
	if (p->has_switch)
		printf(" switch=0x%016" PRIx64 ":%u swcap=%u", p->switch_guid, p->switch_port, p->switch_cap);
	if (p->switch_read)
		say_keys("swtable", p->switch_keys, p->nswitch);
	printf(" dev=0x%x desc=%s\n", p->device, p->desc);
}

static int discover(struct clf_error *err)
{
	struct wit_fabric f;

	wit_mad_close(&W.mad);
	if (wit_discover(&W.conf, &f, err))
		return -1;
	wit_fabric_done(&W.fabric);
	W.fabric = f;
	W.discovered = true;
	return 0;
}

static int ready(struct clf_error *err)
{
	if (!W.discovered && discover(err))
		return -1;
	return W.mad.fd >= 0 ? 0 : wit_mad_open(&W.mad, &W.conf, err);
}

static int do_discover(struct clf_error *err)
{
	int64_t began = wit_now_ms();

	if (discover(err))
		return -1;
	printf("end discover ports=%zu switches=%u ms=%lld\n", W.fabric.n, W.fabric.switches,
	       (long long) (wit_now_ms() - began));
	return 0;
}

static int answer(const char *verb, struct wit_port **ports, size_t n, bool switches, int64_t deadline,
		  struct clf_error *err)
{
	int64_t began = wit_now_ms();
	unsigned long sent = W.mad.sent;

	if (wit_read(&W.mad, ports, n, switches, deadline, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		say_port(ports[i]);
	printf("end %s ports=%zu mads=%lu ms=%lld\n", verb, n, W.mad.sent - sent, (long long) (wit_now_ms() - began));
	return 0;
}

static int do_all(bool switches, int64_t deadline, struct clf_error *err)
{
	struct wit_port **ports;
	int rc;

	if (ready(err))
		return -1;
	ports = calloc(W.fabric.n + 1, sizeof *ports);
	if (!ports)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	for (size_t i = 0; i < W.fabric.n; i++)
		ports[i] = &W.fabric.v[i];
	rc = answer("all", ports, W.fabric.n, switches, deadline, err);
	free(ports);
	return rc;
}

static int by_address(const void *a, const void *b)
{
	const struct wit_port *x = *(struct wit_port *const *) a, *y = *(struct wit_port *const *) b;

	return x < y ? -1 : x > y;
}

/* A port is read once, however often it was asked for. */
static void unique(struct wit_port **ports, size_t *n)
{
	size_t k = 0;

	if (*n)
		qsort(ports, *n, sizeof *ports, by_address);
	for (size_t i = 0; i < *n; i++)
		if (!k || ports[k - 1] != ports[i])
			ports[k++] = ports[i];
	*n = k;
}

/* Those that are not on the fabric are told first. */
static int pick(char *words, struct wit_port **ports, size_t *n, struct clf_error *err)
{
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		unsigned long long guid;
		struct wit_port *p;

		if (strlen(w) != 18 || !clf_parse_hex64(w, 18, &guid))
			return clf_fail(err, CLF_E_INVALID, "'%.20s' is no GUID like 0x0002c9030000abcd", w);
		p = wit_find(&W.fabric, guid);
		if (p)
			ports[(*n)++] = p;
		else
			printf("port 0x%016llx absent\n", guid);
	}
	unique(ports, n);
	return 0;
}

static int do_read(char *words, bool switches, int64_t deadline, struct clf_error *err)
{
	struct wit_port **ports;
	size_t n = 0;
	int rc;

	if (ready(err))
		return -1;
	ports = calloc(strlen(words) / 2 + 2, sizeof *ports);
	if (!ports)
		return clf_fail(err, CLF_E_NOMEM, "out of memory");
	rc = pick(words, ports, &n, err);
	if (!rc)
		rc = answer("read", ports, n, switches, deadline, err);
	free(ports);
	return rc;
}

/* Where does the SM of this port sit, and does it answer? Both asked each time: an SM moves. */
static int do_sm(int64_t deadline, struct clf_error *err)
{
	struct wit_path self = { 0 }, sm = { 0 };
	struct wit_query q = { .path = &self, .directed = true, .attr = UMAD_SM_ATTR_PORT_INFO };

	if (ready(err) || wit_mad_run(&W.mad, &q, 1, deadline, err))
		return -1;
	if (q.answer != WIT_OK)
		return clf_fail(err, CLF_E_REMOTE, "the InfiniBand port of this host does not answer");
	sm.lid = (uint16_t) mad_get_field(q.data, 0, IB_PORT_SMLID_F);
	q = (struct wit_query){ .path = &sm, .attr = UMAD_SM_ATTR_SM_INFO };
	if (sm.lid && wit_mad_run(&W.mad, &q, 1, deadline, err))
		return -1;
	if (!sm.lid || q.answer != WIT_OK)
		printf("sm silent lid=%u\n", sm.lid);
	else
		printf("sm ok lid=%u guid=0x%016" PRIx64 " priority=%u state=%u activity=%u\n", sm.lid,
		       mad_get_field64(q.data, 0, IB_SMINFO_GUID_F), mad_get_field(q.data, 0, IB_SMINFO_PRIO_F),
		       mad_get_field(q.data, 0, IB_SMINFO_STATE_F), mad_get_field(q.data, 0, IB_SMINFO_ACT_F));
	printf("end sm\n");
	return 0;
}

/* VERB [MS [GUID...]] */
static int request(char *line, struct clf_error *err)
{
	char *rest = line, *verb = strsep(&rest, " "), *ms = rest ? strsep(&rest, " ") : NULL;
	size_t len = strlen(verb);
	bool switches = len > 7 && !strcmp(verb + len - 7, "+switch");
	unsigned long long limit = 5000;

	if (ms && (!clf_parse_u64(ms, strlen(ms), &limit) || limit > DEADLINE_MAX))
		return clf_fail(err, CLF_E_INVALID, "'%.20s' is no time in milliseconds", ms);
	if (switches)
		verb[len - 7] = '\0';

	int64_t deadline = wit_now_ms() + (int64_t) limit;

	if (!strcmp(verb, "discover"))
		return do_discover(err);
	if (!strcmp(verb, "read") && rest)
		return do_read(rest, switches, deadline, err);
	if (!strcmp(verb, "all"))
		return do_all(switches, deadline, err);
	if (!strcmp(verb, "sm"))
		return do_sm(deadline, err);
	return clf_fail(err, CLF_E_INVALID, "no request '%.20s'", verb);
}

static int serve(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	printf("closfold-ibwitness/1 ready\n");
	fflush(stdout);
	while ((len = getline(&line, &cap, stdin)) > 0 && (size_t) len < LINE_MAX_BYTES) {
		struct clf_error err = { 0 };

		line[strcspn(line, "\n")] = '\0';
		if (request(line, &err)) {
			/* A port that broke is opened anew for the next request. */
			if (err.code == CLF_E_IO)
				wit_mad_close(&W.mad);
			printf("error %s %s\n", clf_code_name(err.code), err.text);
		}
		if (fflush(stdout))
			break;
	}
	free(line);
	wit_mad_close(&W.mad);
	wit_fabric_done(&W.fabric);
	return 0;
}

static int usage(void)
{
	fputs("usage: closfold-ibwitness [-C DIR] [-d CA] [-p PORT] [-w WINDOW] [-t MS]\n", stderr);
	return 2;
}

static bool number(const char *s, unsigned long long min, unsigned long long max, int *out)
{
	unsigned long long v;

	if (!clf_parse_u64(s, strlen(s), &v) || v < min || v > max)
		return false;
	*out = (int) v;
	return true;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "C:d:p:w:t:")) != -1) {
		if (c == 'C' && chdir(optarg)) {
			perror(optarg);
			return 3;
		}
		if (c == 'd')
			W.conf.ca = optarg;
		if (c == '?' || (c == 'p' && !number(optarg, 0, 254, &W.conf.port)) ||
		    (c == 'w' && !number(optarg, 1, 64, &W.conf.window)) ||
		    (c == 't' && !number(optarg, 1, 10000, &W.conf.timeout_ms)))
			return usage();
	}
	if (optind != argc)
		return usage();
	if (umad_init() < 0) {
		fputs("closfold-ibwitness: no InfiniBand management device on this host\n", stderr);
		return 3;
	}
	return serve();
}
