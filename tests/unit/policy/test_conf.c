/* SPDX-License-Identifier: GPL-2.0-or-later */
/* closfold.conf: the table of keys, the example and the man page say the same; a folder for each way to be wrong
 * (tests/conf/bad-*). */
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "policy/conf.h"
#include "tap.h"

static const char *write_conf(const char *text)
{
	static char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/closfold.conf", clf_test_dir());
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		perror(path);
	return path;
}

static void check_defaults(const struct clf_conf *c, const char *what)
{
	is_str(c->cluster, "cluster", "%s: cluster", what);
	is_str(c->policy, "/etc/closfold/policy.json", "%s: policy", what);
	is_str(c->topology, "/etc/closfold/topology.json", "%s: topology", what);
	is_str(c->state_dir, "/var/lib/closfold", "%s: state_dir", what);
	is_str(c->runtime_dir, "/run/closfold", "%s: runtime_dir", what);
	is_str(c->fabrics, "", "%s: fabrics", what);
	is_str(c->slurm_query, CLF_PKGLIBEXECDIR "/closfold-slurm", "%s: slurm_query", what);
	is_str(c->slurm_conf, "", "%s: slurm_conf", what);
	is_str(c->slurm_user, "slurm", "%s: slurm_user", what);
	ok(c->reject_on_error, "%s: on_error", what);
	is_int(c->submit_timeout_ms, 50, "%s: submit_timeout_ms", what);
	is_int(c->start_timeout_ms, 30000, "%s: start_timeout_ms", what);
	is_int(c->start_failures, 3, "%s: start_failures", what);
	is_int(c->reconcile_s, 60, "%s: reconcile_s", what);
	is_int(c->lease_grace_s, 120, "%s: lease_grace_s", what);
	is_str(c->listen, "", "%s: listen", what);
	is_str(c->munge_socket, "", "%s: munge_socket", what);
	is_str(c->controller, "", "%s: controller", what);
	is_str(c->node_name, "", "%s: node_name", what);
	is_str(c->sysfs, "/sys", "%s: sysfs", what);
	is_str(c->lldp_socket, "", "%s: lldp_socket", what);
	is_str(c->probe_nics, "", "%s: probe_nics", what);
}

static void test_defaults(void)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = clf_conf_default(NULL), *empty = NULL;
	struct clf_error err = { 0 };

	if (ok(c != NULL, "defaults"))
		check_defaults(c, "without a file");
	if (ok(!clf_conf_load(write_conf(""), &empty, &err), "an empty file loads: %s", err.text))
		check_defaults(empty, "empty file");
}

static void test_all(void)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = NULL;
	struct clf_error err = { 0 };

	if (!ok(!clf_conf_load(
			write_conf(
				"# all keys\r\ncluster=asha\n  policy =\t/p/x#y.json  # why\ntopology "
				"=\nstate_dir = /s\n"
				"runtime_dir = /r\nfabrics = /f\nslurm_query = /q\nslurm_conf = "
				"/etc/slurm.conf\nslurm_user = s_1\n"
				"on_error = accept\nsubmit_timeout_ms = 1\nstart_timeout_ms = "
				"600000\nstart_failures = 100\n"
				"reconcile_s = 86400\nlease_grace_s = 1\n"
				"listen = [::1]:7321\nmunge_socket = /m\ncontroller = "
				"ctl.site-1.in:65535\nnode_name = n1\nsysfs = /t\n"
				"lldp_socket = /l\nprobe_nics = eth0 eth1.5\nnode_check = /n\nlease_public_key = /k"),
			&c, &err),
		"a file with every key loads: %d %s", err.line, err.text))
		return;
	is_str(c->cluster, "asha", "cluster");
	is_str(c->policy, "/p/x#y.json", "policy, and its comment is none of it");
	is_str(c->topology, "", "topology may be empty");
	is_str(c->state_dir, "/s", "state_dir");
	is_str(c->runtime_dir, "/r", "runtime_dir");
	is_str(c->slurm_query, "/q", "slurm_query");
	is_str(c->fabrics, "/f", "fabrics");
	is_str(c->node_check, "/n", "node_check");
	is_str(c->lease_key, "/k", "lease_public_key");
	is_str(c->slurm_conf, "/etc/slurm.conf", "slurm_conf");
	is_str(c->slurm_user, "s_1", "slurm_user");
	ok(!c->reject_on_error, "on_error");
	is_int(c->submit_timeout_ms, 1, "submit_timeout_ms");
	is_int(c->start_timeout_ms, 600000, "start_timeout_ms");
	is_int(c->start_failures, 100, "start_failures");
	is_int(c->reconcile_s, 86400, "reconcile_s");
	is_int(c->lease_grace_s, 1, "lease_grace_s");
	is_str(c->listen, "[::1]:7321", "listen");
	is_str(c->munge_socket, "/m", "munge_socket");
	is_str(c->controller, "ctl.site-1.in:65535", "controller");
	is_str(c->node_name, "n1", "node_name");
	is_str(c->sysfs, "/t", "sysfs");
	is_str(c->lldp_socket, "/l", "lldp_socket");
	is_str(c->probe_nics, "eth0 eth1.5", "probe_nics");
}

/* "#cluster = cluster" and above it "# word; default cluster; ..." for each key, in the order of the table. */
static void test_example(void)
{
	struct clf_conf_key_info k;
	char path[512];
	char *example, *man;

	snprintf(path, sizeof path, "%s/etc/closfold.conf.example", clf_test_srcdir());
	example = golden_read(path);
	snprintf(path, sizeof path, "%s/docs/man/closfold.conf.5", clf_test_srcdir());
	man = golden_read(path);
	if (!ok(example && man, "example and man page are there"))
		return;

	const char *at = example, *man_at = man;
	size_t n = 0;

	for (; clf_conf_key_get(n, &k); n++) {
		char line[256], facts[256], entry[512];

		snprintf(line, sizeof line, "\n#%s =%s%s\n", k.name, *k.default_text ? " " : "", k.default_text);
		snprintf(facts, sizeof facts, "\n# %s%s%s\n", k.type, *k.range ? ", " : "", k.range);
		snprintf(entry, sizeof entry, "\n.TP\n.B %s\n(%s%s%s; default: %s)\n", k.name, k.type,
			 *k.range ? ", " : "", k.range, *k.default_text ? k.default_text : "empty");

		const char *found = strstr(at, line), *fact = strstr(at, facts), *doc = strstr(man_at, entry);

		ok(found, "example: %s with its default, in order", k.name);
		ok(fact && found && fact < found, "example: %s with '%s %s'", k.name, k.type, k.range);
		ok(doc, "man page: %s with type, range and default", k.name);
		at = found ? found + 1 : at;
		man_at = doc ? doc + 1 : man_at;
	}
	ok(n == 24, "all keys of struct clf_conf");
	for (const char *p = example; (p = strstr(p, "\n#")); p++)
		if (p[2] != ' ' && p[2] != '\n')
			n--;
	is_int((long long) n, 0, "example: no key but those of the table");
	free(example);
	free(man);
}

static void bad_case(const char *dir, const char *name)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = NULL;
	struct clf_error err = { 0 };
	char path[512], expect[512], got[1024];

	snprintf(path, sizeof path, "%s/%s/closfold.conf", dir, name);
	snprintf(expect, sizeof expect, "%s/%s/expect.err", dir, name);
	if (!ok(clf_conf_load(path, &c, &err) == -1 && !c, "%s: refused", name))
		return;
	snprintf(got, sizeof got, "%s closfold.conf:%d:%d: %s\n", clf_code_name(err.code), err.line, err.column,
		 err.text);
	golden(expect, got, name);
}

static void test_huge(void)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = NULL;
	struct clf_error err = { 0 };
	char *text = malloc(1 << 20);

	if (!text)
		abort();
	memset(text, '#', (1 << 20) - 1);
	text[(1 << 20) - 1] = '\0';
	ok(clf_conf_load(write_conf(text), &c, &err) && err.code == CLF_E_NOMEM, "a megabyte is refused: %s", err.text);
	free(text);
}

int main(void)
{
	CLF_CLEANUP(clf_conf_destroyp) struct clf_conf *c = NULL;
	struct clf_error err = { 0 };
	char dir[512];

	test_defaults();
	test_all();
	test_example();
	test_huge();
	snprintf(dir, sizeof dir, "%s/tests/conf", clf_test_srcdir());
	ok(golden_each(dir, "bad-", "", bad_case) > 15, "there are cases");
	ok(clf_conf_load("/nonexistent/closfold.conf", &c, &err) && err.code == CLF_E_NOTFOUND,
	   "no file is CLF_E_NOTFOUND");
	return done_testing();
}
