/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays files through a fuzz target, without a fuzzer: FILE or DIR... are inputs, each one test; none: the target's
 * corpus. With -r SECONDS it also changes them at random (bytes flipped, cut, doubled, spliced) for that long; -s SEED
 * repeats a run. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX  (1u << 16)
#define INPUTS_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	uint8_t *data;
	size_t size;
} inputs[INPUTS_MAX];
static size_t ninputs;
static uint64_t state;

static uint64_t rnd(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % n;
}

static void load(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(INPUT_MAX);

	if (!f || !data || ninputs == INPUTS_MAX) {
		perror(path);
		exit(1);
	}
	inputs[ninputs].data = data;
	inputs[ninputs].size = fread(data, 1, INPUT_MAX, f);
	ninputs++;
	fclose(f);
}

static void load_dir(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			load(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	else
		load(dir);
}

/* fuzz_policy: tests/fuzz/corpus/policy */
static void load_corpus(const char *program)
{
	const char *name = strstr(program, "fuzz_"), *srcdir = getenv("CLF_SRCDIR");
	char dir[4096];

	for (const char *next; name && (next = strstr(name + 1, "fuzz_"));)
		name = next;
	snprintf(dir, sizeof dir, "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", name ? name + 5 : "");
	load_dir(dir);
}

static size_t change(uint8_t *buf, size_t size)
{
	for (uint64_t k = rnd(6) + 1; k && size; k--) {
		size_t at = rnd(size), n = rnd(16) + 1, other = rnd(ninputs), from;

		n = n > size - at ? size - at : n;
		switch (rnd(6)) {
		case 0:
			buf[at] ^= (uint8_t) (1u << rnd(8));
			break;
		case 1:
			buf[at] = (uint8_t) rnd(256);
			break;
		case 2:
			memmove(buf + at, buf + at + n, size - at - n);
			size -= n;
			break;
		case 3:
			if (size + n > INPUT_MAX)
				break;
			memmove(buf + at + n, buf + at, size - at);
			size += n;
			break;
		case 4:
			buf[at] = (uint8_t) "\"{}[],:0-\n\\%x"[rnd(13)];
			break;
		default:
			from = inputs[other].size ? rnd(inputs[other].size) : 0;
			n = n > inputs[other].size - from ? inputs[other].size - from : n;
			memcpy(buf + at, inputs[other].data + from, n);
		}
	}
	return size;
}

int main(int argc, char **argv)
{
	static uint8_t buf[INPUT_MAX];
	time_t end = 0;
	int opt;

	state = 1;
	while ((opt = getopt(argc, argv, "r:s:")) != -1) {
		if (opt == 'r')
			end = time(NULL) + atoi(optarg);
		else if (opt == 's')
			state = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		load_dir(argv[i]);
	if (optind == argc)
		load_corpus(argv[0]);
	for (size_t i = 0; i < ninputs; i++) {
		LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
		printf("ok %zu - input %zu, %zu bytes\n", i + 1, i + 1, inputs[i].size);
	}
	printf("1..%zu\n", ninputs);
	fflush(stdout);
	for (unsigned long runs = 0; ninputs && time(NULL) < end; runs++) {
		size_t which = rnd(ninputs), size = inputs[which].size;

		memcpy(buf, inputs[which].data, size);
		size = change(buf, size);
		LLVMFuzzerTestOneInput(buf, size);
		if (runs % 100000 == 0)
			fprintf(stderr, "# %lu runs\n", runs);
	}
	return ninputs ? 0 : 1;
}
