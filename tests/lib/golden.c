/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "golden.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

char *golden_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *data = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&data, &size, '\0', f) < 0 && !data)
		data = strdup("");
	fclose(f);
	return data;
}

bool golden(const char *path, const char *got, const char *name)
{
	char *want;
	bool pass;

	if (getenv("UPDATE")) {
		FILE *f = fopen(path, "w");

		pass = f && fputs(got, f) >= 0;
		return ok(f && !fclose(f) && pass, "%s: rewritten", name);
	}
	want = golden_read(path);
	pass = is_str(got, want, "%s", name);
	free(want);
	return pass;
}

int golden_each(const char *dir, const char *prefix, const char *suffix, void (*run)(const char *dir, const char *name))
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort), found = 0;

	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		size_t len = strlen(name), end = strlen(suffix);

		if (!strncmp(name, prefix, strlen(prefix)) && len >= end && !strcmp(name + len - end, suffix) &&
		    name[0] != '.') {
			run(dir, name);
			found++;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return found;
}
