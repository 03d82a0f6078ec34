/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lldp.c - send one LLDP frame as a switch would, out of an interface of the namespace we are in.
 *
 *   lldp IFNAME CHASSIS_MAC PORT [PVID [TTL]]    PVID -: none
 *
 * Source: IEEE 802.1AB-2016 clause 8 (chassis, port, TTL, end), IEEE 802.1Q annex D.2.1 (Port VLAN ID, OUI 00-80-C2/1).
 */
#include "netns.h"

static unsigned char frame[600];
static size_t len;

static void tlv(unsigned type, const void *value, size_t n)
{
	frame[len++] = (unsigned char) (type << 1 | n >> 8);
	frame[len++] = (unsigned char) n;
	memcpy(frame + len, value, n);
	len += n;
}

static void read_mac(const char *s, unsigned char *mac)
{
	unsigned b[6];

	if (sscanf(s, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6)
		errx(2, "'%s' is no MAC address", s);
	for (int i = 0; i < 6; i++)
		mac[i] = (unsigned char) b[i];
}

int main(int argc, char **argv)
{
	static const unsigned char to[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e };
	unsigned char mac[6], own[6], chassis[7] = { 4 }, port[64] = { 5 }, ttl[2], vlan[6] = { 0x00, 0x80, 0xc2, 1 };
	unsigned long t = argc > 5 ? strtoul(argv[5], NULL, 10) : 120, v;
	int fd;

	if (argc < 4)
		errx(2, "usage: lldp IFNAME CHASSIS_MAC PORT [PVID|- [TTL]]");
	fd = raw_socket(argv[1], 0, own);
	read_mac(argv[2], mac);
	memcpy(chassis + 1, mac, 6);
	memcpy(frame, to, 6);
	memcpy(frame + 6, mac, 6);
	frame[12] = 0x88;
	frame[13] = 0xcc;
	len = 14;
	tlv(1, chassis, 7);
	snprintf((char *) port + 1, sizeof port - 1, "%s", argv[3]);
	tlv(2, port, 1 + strlen(argv[3]));
	ttl[0] = (unsigned char) (t >> 8);
	ttl[1] = (unsigned char) t;
	tlv(3, ttl, 2);
	tlv(5, "leaf-test", 9);
	if (argc > 4 && *argv[4] != '-') {
		v = strtoul(argv[4], NULL, 10);
		vlan[4] = (unsigned char) (v >> 8);
		vlan[5] = (unsigned char) v;
		tlv(127, vlan, 6);
	}
	tlv(0, "", 0);
	if (send(fd, frame, len < 60 ? 60 : len, 0) < 0)
		err(2, "send");
	return 0;
}
