/* This process's place in a job of several: the store where they meet, and the collective between
 * them. */
#ifndef LEATI_DIST_WORKERS_H
#define LEATI_DIST_WORKERS_H

#include "coll/coll.h"
#include "coll/store.h"
#include <leat/dist.h>

typedef struct leati_workers leati_workers;

/* Joins the job that the cluster describes: waits for all, compares what must be equal, and
 * connects them. `num_replicas`: of this process. Owned. NULL with LEAT_OK in `err`: a job of one
 * worker. */
leati_workers *leati_workers_join(const leat_cluster *cluster,
                                  const leat_strategy_multi_worker_mirrored_options *options,
                                  int num_replicas, leat_error *err);
/* Leaves the job; waits until the threads that may abort the collective have ended. NULL is
 * allowed. Afterwards the collective may be closed, and `leati_workers_free` called. */
void leati_workers_leave(leati_workers *workers);
void leati_workers_free(leati_workers *workers);

/* The collective with one rank per process. Borrowed. */
leati_collective *leati_workers_collective(const leati_workers *workers);
/* The same, given to what is built on it; then the one that is to be aborted when a worker is lost
 * (borrowed, until the job is left). */
leati_collective *leati_workers_give(leati_workers *workers);
void leati_workers_watch(leati_workers *workers, leati_collective *collective);

int leati_workers_count(const leati_workers *workers);
int leati_workers_number(const leati_workers *workers); /* this one's */
/* What messages call a worker: "worker 1 (10.0.0.7:2222)". Borrowed. */
const char *leati_workers_name(const leati_workers *workers, int worker);
leati_store *leati_workers_store(const leati_workers *workers);
/* "2 workers over shared memory, this is worker 1 (10.0.0.7:2222)". Borrowed. */
const char *leati_workers_describe(const leati_workers *workers);

/* Has the job failed? Then ABORTED with the reason. */
LEAT_WARN_UNUSED leat_status leati_workers_check(leati_workers *workers, leat_error *err);
/* Ends the job with this worker's failure. */
void leati_workers_fail(leati_workers *workers, const leat_error *why);
/* At the end of an exchange outside of steps, which is `what` ("reduce"): where this worker had no
 * memory for its part, it ends the job, since the others wait for it. Returns `status`. */
leat_status leati_workers_end(leati_workers *workers, const char *what, leat_status status,
                              const leat_error *err);
/* Writes the slowest stage of what a worker reads; may leave `text` empty. From any thread. */
typedef void (*leati_stage_writer)(void *input, char *text, size_t size);
/* From now on this worker reads `input` (borrowed until the next call); `stage` NULL: it has done
 * so. For stall reports. */
void leati_workers_reading(leati_workers *workers, leati_stage_writer stage, void *input);
/* What this worker is doing, for stall reports. */
void leati_workers_note(leati_workers *workers, leati_store_phase phase);

/* Bytes of what workers say, with the terminator. */
enum { LEATI_WORKERS_SAYING = 128 };
/* Do all workers say the same now? FAILED_PRECONDITION names the first that differs from worker 0,
 * and both texts; 127 bytes of them count. Cheap: one exchange. */
LEAT_WARN_UNUSED leat_status leati_workers_same(leati_workers *workers, const char *text,
                                                leat_error *err);

#endif
