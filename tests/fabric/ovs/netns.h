/* SPDX-License-Identifier: GPL-2.0-or-later */
/* netns.h - enter a named network namespace; raw sockets. For the tools in this folder: a failure ends the program. */
#ifndef CLF_TESTS_OVS_NETNS_H
#define CLF_TESTS_OVS_NETNS_H

#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void enter(const char *name)
{
	char path[300];
	int fd;

	snprintf(path, sizeof path, "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "namespace %s", name);
	close(fd);
}

/* A packet socket on an interface of the namespace we are in; its address to mac. protocol 0: for sending only. */
static inline int raw_socket(const char *ifname, int protocol, unsigned char mac[6])
{
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons((unsigned short) protocol) };
	struct ifreq ifr = { 0 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", ifname);
	sll.sll_ifindex = (int) if_nametoindex(ifname);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &ifr) || bind(fd, (struct sockaddr *) &sll, sizeof sll))
		err(2, "interface %s", ifname);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return fd;
}

#endif
