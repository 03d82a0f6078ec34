/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_audit.c - acknowledged, durable records a second from N clients of a real closfoldd (./closfoldd, or
 * $CLOSFOLDD), the latency of one, and how fast the log verifies. The disk is that of $TMPDIR. */
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/record.h"
#include "audit/verify.h"
#include "wire/client.h"

#define SECONDS     2
#define SAMPLES_MAX 200000

static char dir[200], sock[256];

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void put_file(const char *name, const char *text)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) == EOF || fclose(f))
		perror(path);
}

static pid_t start_daemon(void)
{
	const char *prog = getenv("CLOSFOLDD") ? getenv("CLOSFOLDD") : "./closfoldd";
	char conf[2000], path[300];
	struct passwd *pw = getpwuid(geteuid());
	pid_t pid;

	snprintf(conf, sizeof conf,
		 "policy = %s/policy.json\ntopology =\nstate_dir = %s/state\nruntime_dir = %s/run\nslurm_query = "
		 "/bin/true\nslurm_user = %s\n",
		 dir, dir, dir, pw ? pw->pw_name : "root");
	put_file("closfold.conf", conf);
	snprintf(path, sizeof path, "%s/closfold.conf", dir);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execl(prog, prog, "-f", path, (char *) NULL);
		_exit(127);
	}
	for (int i = 0; i < 200 && access(sock, F_OK); i++)
		usleep(20000);
	return pid;
}

/* A record of about `size` bytes. */
static char *record(uint64_t seq, size_t size, size_t *len)
{
	static char pad[4096];
	json_t *detail;
	struct clf_record_facts f = { .event = CLF_EV_JOB_DECISION,
				      .cluster = "bench",
				      .job_id = 7,
				      .submit_time_s = 1796115660,
				      .decision = "0123456789abcdef0123456789abcdef",
				      .uid = 4242,
				      .has_uid = true,
				      .user = "u1",
				      .account = "acct",
				      .ok = true,
				      .status_code = "permit",
				      .message = "job permitted",
				      .producer = "bench",
				      .producer_seq = seq };
	char *out = NULL;

	memset(pad, 'x', sizeof pad - 1);
	detail = json_pack("{s:s#}", "pad", pad, (int) (size > 1200 ? size - 1200 : 0));
	f.detail = detail;
	if (clf_record_make(&f, &clf_clock_system, &out, len, NULL))
		out = NULL;
	json_decref(detail);
	return out;
}

/* One record is made; its number is then changed in place (seven digits each time), so that the time measured is
 * closfoldd's. */
static void client(uint64_t *count, uint32_t *us, double until)
{
	CLF_CLEANUP(clf_client_destroyp) struct clf_client *c = clf_client_create(sock, NULL);
	size_t len = 0;
	CLF_AUTO_FREE char *r = record(1000000, 2200, &len);
	char *seq = r ? memmem(r, len, "\"seq\":1000000", 13) : NULL;
	uint64_t n = 0;

	while (c && seq && now_s() < until) {
		char digits[21];
		double t = now_s();

		snprintf(digits, sizeof digits, "%llu", (unsigned long long) (1000001 + n));
		memcpy(seq + 6, digits, 7);
		if (clf_client_record(c, r, len, 5000, NULL))
			break;
		if (n < SAMPLES_MAX)
			us[n] = (uint32_t) ((now_s() - t) * 1e6);
		n++;
	}
	*count = n;
	_exit(0);
}

static int by_size(const void *a, const void *b)
{
	return (*(const uint32_t *) a > *(const uint32_t *) b) - (*(const uint32_t *) a < *(const uint32_t *) b);
}

static void run(int clients)
{
	size_t bytes = (size_t) clients * (SAMPLES_MAX * sizeof(uint32_t) + sizeof(uint64_t));
	char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t *counts = (void *) shared, total = 0, k = 0;
	uint32_t *us = (void *) (shared + (size_t) clients * sizeof(uint64_t)), *all;
	double from = now_s();

	for (int i = 0; i < clients; i++)
		if (!fork())
			client(&counts[i], us + (size_t) i * SAMPLES_MAX, from + SECONDS);
	for (int i = 0; i < clients; i++)
		wait(NULL);

	double took = now_s() - from;

	for (int i = 0; i < clients; i++)
		total += counts[i];
	all = malloc((size_t) total * sizeof *all + 1);
	for (int i = 0; all && i < clients; i++)
		for (uint64_t j = 0; j < counts[i] && j < SAMPLES_MAX; j++)
			all[k++] = us[(size_t) i * SAMPLES_MAX + j];
	if (all && k) {
		qsort(all, k, sizeof *all, by_size);
		printf("{\"bench\":\"audit.record\",\"clients\":%d,\"record_bytes\":2200,\"acked_per_s\":%.0f,\"p50_"
		       "us\":%u,\"p99_us\":%u}\n",
		       clients, (double) total / took, all[k / 2], all[k * 99 / 100]);
	}
	free(all);
	munmap(shared, bytes);
}

static void run_verify(void)
{
	struct clf_verify_result r;
	struct clf_error err = { 0 };
	char log[300];
	double t = now_s();

	snprintf(log, sizeof log, "%s/state/log", dir);
	if (clf_verify_log(log, NULL, 0, 0, &r, &err)) {
		fprintf(stderr, "verify: %s\n", err.text);
		return;
	}
	t = now_s() - t;
	printf("{\"bench\":\"audit.verify\",\"verdict\":\"%s\",\"records\":%llu,\"mb\":%.0f,\"mb_per_s\":%.0f}\n",
	       clf_verdict_name(r.verdict), (unsigned long long) r.checked, (double) r.bytes / 1e6,
	       (double) r.bytes / 1e6 / t);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char rm[300];
	pid_t pid;

	snprintf(dir, sizeof dir, "%s/clfbenchXXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(sock, sizeof sock, "%s/run/closfoldd.sock", dir);
	put_file("policy.json", "{}");
	pid = start_daemon();
	run(1);
	run(16);
	run(64);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	run_verify();
	snprintf(rm, sizeof rm, "%s", dir);
	if (!fork())
		execlp("rm", "rm", "-rf", rm, (char *) NULL);
	wait(NULL);
	return 0;
}
