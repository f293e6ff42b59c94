/* Tasks whose elements go to files (saving.h): nobody reads them from the worker. No locks: the
 * task's. */
#include "base/error.h"
#include "service/worker/task.h"

static bool room(leati_worker_task *task) {
    (void)task;
    return false;
}

static bool bare(const leati_worker_task *task) {
    (void)task;
    return false;
}

static leat_status put(leati_worker_task *task, leati_worker_chunk *chunk,
                       leati_worker_chunks *dropped, leat_error *err) {
    (void)task;
    leati_worker_chunks_add(dropped, chunk);
    return leati_fail(err, LEAT_INTERNAL, "a stream of a snapshot has no chunks for readers");
}

static leat_status join(leati_worker_task *task, leati_worker_reader *reader, leat_error *err) {
    (void)reader;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "task %lld writes a snapshot to %.300s; load that",
                      (long long)task->about.task, task->about.snapshot);
}

static leati_worker_taken take(leati_worker_task *task, leati_worker_reader *reader,
                               int64_t elements, int64_t bytes, leati_worker_outcome *out,
                               leati_worker_chunks *dropped, leat_error *err) {
    (void)elements, (void)bytes, (void)out, (void)dropped;
    (void)!join(task, reader, err);
    return LEATI_WORKER_FAILED;
}

static void leave(leati_worker_task *task, leati_worker_reader *reader,
                  leati_worker_chunks *dropped) {
    (void)task, (void)reader, (void)dropped;
}

static bool done(const leati_worker_task *task) {
    (void)task;
    return true;
}

static int64_t held(const leati_worker_task *task) {
    (void)task;
    return 0;
}

static void fini(leati_worker_task *task) {
    (void)task;
}

const leati_worker_runner leati_worker_runner_stored = {
    .name = "stored",
    .size = 1,
    .room = room,
    .bare = bare,
    .put = put,
    .join = join,
    .take = take,
    .leave = leave,
    .done = done,
    .held = held,
    .fini = fini,
};
