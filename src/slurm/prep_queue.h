/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prep_queue.h - starts and ends of jobs between slurmctld and closfoldd: many at once, one connection, every start
 * answered exactly once.
 *
 *   start: asked --> (reply ok) stamp, answer "go"
 *                --> (refused, lost, too late) note, hold after N, answer "fail"
 *          refused by the plugin itself: note, answer "fail", nothing is asked
 *   end:   told  --> closed, answered; too late: answered, and told again until closfoldd has confirmed
 * An end for a job whose start is still open marks that start dead: it is answered, but never stamped, and its lease
 * closed behind its reply.
 *
 * Seam: the functions of prep_io.h are slurmctld's side, another file in tests. Threads: add from any, step from one.
 * Time: milliseconds of a clock that does not jump.
 * Memory: create/destroy; requests are copied.
 */
#ifndef CLF_SLURM_PREP_QUEUE_H
#define CLF_SLURM_PREP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/client.h"

#define CLF_PREP_QUEUE_MAX 100000

struct clf_prep_job {
	uint32_t job_id;
	int64_t submit_time_s;
	json_t *ask;        /* stolen: the lease.open or lease.close request */
	const char *refuse; /* start: why the plugin itself refuses (copied), NULL = ask */
	bool detached;      /* end: nobody waits for an answer */
};
struct clf_prep_queue;

struct clf_prep_queue *clf_prep_queue_create(uint32_t start_timeout_ms, uint32_t start_failures, struct clf_error *err);
void clf_prep_queue_destroy(struct clf_prep_queue *q);
/* -1 only when the queue is full or memory ends: the caller must then answer by itself. */
CLF_MUST_USE int clf_prep_queue_start(struct clf_prep_queue *q, const struct clf_prep_job *job);
CLF_MUST_USE int clf_prep_queue_end(struct clf_prep_queue *q, const struct clf_prep_job *job);
/* Send what waits, take what came, answer what is due. Returns ms until the next deadline, -1 for none. */
int clf_prep_queue_step(struct clf_prep_queue *q, struct clf_client *c);
uint32_t clf_prep_queue_length(struct clf_prep_queue *q);

#endif
