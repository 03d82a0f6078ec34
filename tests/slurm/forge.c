/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forge.c - a client that fills spank_job_env as it likes, as any program linked with libslurm can.
 * usage: forge [-A ACCOUNT] [-p PARTITION] [-l LICENCES] [-N NODES] [-e: exclusive] NAME=VALUE...   prints the job id,
 * or Slurm's refusal (exit 1) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

int main(int argc, char **argv)
{
	job_desc_msg_t d;
	submit_response_msg_t *r = NULL;
	char *env[] = { "PATH=/usr/bin:/bin", NULL };
	int c;

	slurm_init(NULL);
	slurm_init_job_desc_msg(&d);
	while ((c = getopt(argc, argv, "A:p:l:N:e")) != -1)
		switch (c) {
		case 'A':
			d.account = optarg;
			break;
		case 'p':
			d.partition = optarg;
			break;
		case 'l':
			d.licenses = optarg;
			break;
		case 'N':
			d.min_nodes = d.max_nodes = (uint32_t) atoi(optarg);
			break;
		case 'e':
			d.shared = 0;
			break;
		default:
			return 2;
		}
	d.name = "forged";
	d.script = "#!/bin/sh\nsleep 5\n";
	d.work_dir = "/";
	d.std_out = "/dev/null";
	d.std_err = "/dev/null";
	d.environment = env;
	d.env_size = 1;
	d.user_id = getuid();
	d.group_id = getgid();
	d.spank_job_env = argv + optind;
	d.spank_job_env_size = (uint32_t) (argc - optind);
	if (slurm_submit_batch_job(&d, &r)) {
		fprintf(stderr, "forge: %s\n", slurm_strerror(slurm_get_errno()));
		return 1;
	}
	if (r->job_submit_user_msg)
		fprintf(stderr, "forge: %s\n", r->job_submit_user_msg);
	printf("%u\n", r->job_id);
	return 0;
}
