/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/node_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strv.h"
#include "daemon/node_report.h"

#define VALUE_MAX 256 /* of one file; sysfs values here are one short line */

/* ---- sysfs */

/* The one line of dir/name in value (without its end). -1 with errno: not to be read, or longer than a value may be. */
static int read_value(const char *dir, const char *name, char value[VALUE_MAX])
{
	char path[PATH_MAX], buf[VALUE_MAX];
	ssize_t n;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int) sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	/* Not to wait for a peer, where somebody put a FIFO in sysfs's place. */
	CLF_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof buf);
	if (n < 0 || n == sizeof buf || memchr(buf, 0, (size_t) n)) {
		errno = n < 0 ? errno : EINVAL;
		return -1;
	}
	while (n && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
		n--;
	buf[n] = '\0';
	clf_printable(buf);
	strcpy(value, buf);
	return 0;
}

/* Names in dir, sorted; -1 with errno when there is no such directory. At most `max`: more are not ours. */
static int list_dir(const char *dir, size_t max, struct clf_strv *out)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int rc = 0;

	if (!d)
		return -1;
	while (!rc && out->n < max && (e = readdir(d)))
		if (e->d_name[0] != '.' && strlen(e->d_name) < 64 && !strpbrk(e->d_name, " \t\n"))
			rc = clf_strv_add(out, e->d_name, NULL);
	closedir(d);
	clf_strv_sort(out);
	return rc;
}

/* Fails by memory only: a value that is NULL is left out. */
static int put(json_t *o, const char *name, json_t *value)
{
	return value ? json_object_set_new(o, name, value) : 0;
}

/* "0c42:a103:0000:1001" from `at` on, as 0x and 16 digits; NULL where it is none. */
static json_t *guid(const char *s)
{
	char out[19] = "0x";
	size_t n = 2;

	for (int i = 0; i < 19; i++) {
		if (i % 5 == 4 ? s[i] != ':' : !s[i] || !strchr("0123456789abcdef", s[i]))
			return NULL;
		if (i % 5 != 4)
			out[n++] = s[i];
	}
	out[n] = '\0';
	return s[19] ? NULL : json_string(out);
}

static json_t *guid_value(const char *dir, const char *name)
{
	char v[VALUE_MAX];

	return read_value(dir, name, v) ? NULL : guid(v);
}

/* Low half of GID 0. */
static json_t *port_guid(const char *dir)
{
	char v[VALUE_MAX];

	return read_value(dir, "gids/0", v) || strlen(v) != 39 || v[19] != ':' ? NULL : guid(v + 20);
}

static json_t *text_value(const char *dir, const char *name)
{
	char v[VALUE_MAX];

	return read_value(dir, name, v) || strlen(v) > 63 ? NULL : json_string(v);
}

/* "4: ACTIVE" */
static json_t *state(const char *dir)
{
	char v[VALUE_MAX];
	const char *word;

	if (read_value(dir, "state", v))
		return NULL;
	word = strstr(v, ": ");
	return word && word[2] && strlen(word + 2) < 64 ? json_string(word + 2) : NULL;
}

/* The table up to its last entry that is not 0. One entry that cannot be read makes all of it unknown. */
static json_t *pkeys(const char *dir)
{
	json_auto_t *list = json_array();
	size_t used = 0;

	for (unsigned i = 0; i < CLF_REPORT_PKEYS; i++) {
		char name[32], v[VALUE_MAX];

		snprintf(name, sizeof name, "pkeys/%u", i);
		if (read_value(dir, name, v)) {
			if (errno == ENOENT && i)
				break;
			return NULL;
		}
		if (strlen(v) != 6 || strncmp(v, "0x", 2) != 0 || strspn(v + 2, "0123456789abcdef") != 4)
			return NULL;
		if (json_array_append_new(list, json_string(v)))
			return NULL;
		if (strcmp(v, "0x0000") != 0)
			used = i + 1;
	}
	while (json_array_size(list) > used)
		json_array_remove(list, json_array_size(list) - 1);
	return json_incref(list);
}

static int add_ib_port(json_t *list, const char *device_dir, const char *device, const char *port)
{
	char dir[PATH_MAX];
	unsigned long long n;
	json_t *o;

	if (!clf_parse_u64(port, strlen(port), &n) || !n || n > 255 ||
	    snprintf(dir, sizeof dir, "%s/ports/%s", device_dir, port) >= (int) sizeof dir)
		return 0;
	o = json_pack("{s:s,s:i}", "device", device, "port", (int) n);
	if (!o || put(o, "link_layer", text_value(dir, "link_layer")) || put(o, "state", state(dir)) ||
	    put(o, "rate", text_value(dir, "rate")) || put(o, "port_guid", port_guid(dir)) ||
	    put(o, "node_guid", guid_value(device_dir, "node_guid")) ||
	    put(o, "sys_image_guid", guid_value(device_dir, "sys_image_guid")) || put(o, "pkeys", pkeys(dir))) {
		json_decref(o);
		return -1;
	}
	return json_array_append_new(list, o);
}

static int add_ib(json_t *report, const char *sysfs)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv devices = { 0 };
	char base[PATH_MAX - 512], dir[PATH_MAX - 256], ports[PATH_MAX];
	json_auto_t *list = json_array();

	snprintf(base, sizeof base, "%s/class/infiniband", sysfs);
	if (list_dir(base, CLF_REPORT_PORTS, &devices))
		return errno == ENOMEM ? -1 : 0;
	for (size_t i = 0; i < devices.n; i++) {
		CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };

		snprintf(dir, sizeof dir, "%s/%s", base, devices.v[i]);
		snprintf(ports, sizeof ports, "%s/ports", dir);
		if (list_dir(ports, 255, &names))
			continue;
		for (size_t k = 0; k < names.n && json_array_size(list) < CLF_REPORT_PORTS; k++)
			if (add_ib_port(list, dir, devices.v[i], names.v[k]))
				return -1;
	}
	return json_object_set(report, "ib", list);
}

/* NULL: unknown. carrier of an interface that is down cannot be read, and says by that that there is no link. */
static json_t *carrier(const char *dir)
{
	char v[VALUE_MAX];

	if (read_value(dir, "carrier", v))
		return errno == EINVAL ? json_false() : NULL;
	return !strcmp(v, "1") ? json_true() : !strcmp(v, "0") ? json_false() : NULL;
}

static int add_nic(json_t *list, const char *base, const char *name, const json_t *lldp)
{
	char dir[PATH_MAX], mac[VALUE_MAX], type[VALUE_MAX];
	json_t *o, *neighbours = json_object_get(lldp, name);

	if (snprintf(dir, sizeof dir, "%s/%s", base, name) >= (int) sizeof dir || read_value(dir, "type", type) ||
	    atoi(type) == ARPHRD_LOOPBACK || read_value(dir, "address", mac) || !clf_mac_valid(mac) ||
	    !strcmp(mac, "00:00:00:00:00:00"))
		return 0;
	o = json_pack("{s:s,s:s}", "name", name, "mac", mac);
	if (!o || put(o, "link", carrier(dir)) ||
	    (lldp && put(o, "lldp", neighbours ? json_incref(neighbours) : json_array()))) {
		json_decref(o);
		return -1;
	}
	return json_array_append_new(list, o);
}

static int add_net(json_t *report, const char *sysfs, const json_t *lldp)
{
	CLF_CLEANUP(clf_strv_done) struct clf_strv names = { 0 };
	char base[PATH_MAX - 256];
	json_auto_t *list = json_array();

	snprintf(base, sizeof base, "%s/class/net", sysfs);
	if (list_dir(base, 4 * CLF_REPORT_PORTS, &names))
		return errno == ENOMEM ? -1 : 0;
	for (size_t i = 0; i < names.n && json_array_size(list) < CLF_REPORT_PORTS; i++)
		if (add_nic(list, base, names.v[i], lldp))
			return -1;
	return json_object_set(report, "net", list);
}

/* ---- the rest */

static json_t *boot_id(void)
{
	char v[VALUE_MAX];

	return read_value("/proc/sys/kernel/random", "boot_id", v) || !*v || strlen(v) > 63 ? NULL : json_string(v);
}

static int add_clock(json_t *report)
{
	struct timex t = { 0 };
	int rc = adjtimex(&t);

	return rc < 0 ? 0
		      : put(report, "clock",
			    json_pack("{s:b}", "synchronised", rc != TIME_ERROR && !(t.status & STA_UNSYNC)));
}

json_t *clf_node_facts(const char *node, const char *sysfs, const json_t *lldp, struct clf_error *err)
{
	json_auto_t *r = json_pack("{s:s,s:s,s:I}", "format", CLF_REPORT_FORMAT, "node", node, "time_ms",
				   (json_int_t) clf_clock_system.wall_ms(NULL));

	if (!r || put(r, "boot_id", boot_id()) || add_ib(r, sysfs) || add_net(r, sysfs, lldp) || add_clock(r)) {
		clf_fail(err, CLF_E_NOMEM, "out of memory");
		return NULL;
	}
	return json_incref(r);
}
