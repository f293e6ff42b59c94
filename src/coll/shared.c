/* Collectives between processes of one host by shared memory (coll/processes.h).
 *
 * A segment has a head and two rows of slots, a slot per rank and row; a call moves its values in
 * pieces of a slot, the rows taking turns. Happy path of a sum: every rank copies its piece into
 * its slot and meets the others; then rank r combines the r-th part of all slots, in rank order,
 * into the first slot; after a second meeting all copy the result out. One who writes to a row has
 * met the others since they last read it. All ranks hold the same bits.
 *
 * Rank 0 makes the segment and removes its name as soon as all have opened it, so that nothing
 * stays behind. Failures: a deadline, unequal calls and abort set the first reason in the head; the
 * present and later calls of all ranks return it. A process that dies is noticed by the store,
 * whose callback aborts. Waiting spins briefly and then sleeps on a futex. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include "run/pool.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOT_BYTES = 1 << 19, NUM_ROWS = 2, SPINS = 20000, SLICE_MS = 50 };

typedef enum call_kind {
    CALL_BARRIER = 0,
    CALL_ALL_REDUCE,
    CALL_ALL_GATHER,
    CALL_BROADCAST
} call_kind;

static const char *const call_names[] = {"barrier", "all_reduce", "all_gather", "broadcast"};

typedef struct call_record {
    int64_t count;
    int32_t kind, dtype, parameter, reserved;
} call_record;

/* What a rank is calling; written before it meets the others. Calls take turns with the records,
 * because a rank may begin the next call while another still looks at this one. */
typedef struct rank_call {
    call_record records[2];
    atomic_uint arrivals; /* meetings that this rank has reached */
    char padding[12];
} rank_call;

typedef struct shared_head {
    atomic_uint arrived; /* at the present meeting */
    atomic_uint sleepers;
    char padding_a[56];
    atomic_uint generation; /* meetings held; the futex */
    char padding_b[60];
    atomic_uint failed; /* 1: somebody writes the reason; 2: it is there */
    int32_t code;
    char text[sizeof((leat_error *)NULL)->text];
    rank_call calls[];
} shared_head;

typedef struct shared_collective {
    leati_collective base;
    leati_store *store;
    int rank, spins, row;
    int64_t timeout_ms;
    uint64_t calls;
    shared_head *head;
    size_t head_bytes, size;
} shared_collective;

// ---- failure and meetings ----

static void sleep_on(shared_collective *c, unsigned generation) {
    struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
    atomic_fetch_add(&c->head->sleepers, 1);
    (void)syscall(SYS_futex, &c->head->generation, FUTEX_WAIT, generation, &slice, NULL, 0);
    atomic_fetch_sub(&c->head->sleepers, 1);
}

static void wake_all(shared_collective *c) {
    (void)syscall(SYS_futex, &c->head->generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The first reason stays. */
static void fail_all(shared_collective *c, const leat_error *reason) {
    unsigned none = 0;
    if (atomic_compare_exchange_strong(&c->head->failed, &none, 1)) {
        c->head->code = (int32_t)reason->code;
        snprintf(c->head->text, sizeof c->head->text, "%s", reason->text);
        atomic_store(&c->head->failed, 2);
    }
    wake_all(c);
}

static leat_status failure(shared_collective *c, leat_error *err) {
    /* Whoever writes the reason needs a moment, or has died. */
    for (int i = 0; i < 1000 && atomic_load(&c->head->failed) == 1; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return leati_fail(err, LEAT_ABORTED, "the collective has failed: %s",
                      atomic_load(&c->head->failed) == 2 ? c->head->text
                                                         : "another process ended it");
}

static call_record *record_of(const shared_collective *c, int rank) {
    return &c->head->calls[rank].records[c->calls % 2];
}

static leat_status report_late(shared_collective *c, unsigned generation, leat_error *err) {
    char missing[128] = "", stalled[300] = "";
    size_t used = 0;
    for (int r = 0; r < c->base.num_ranks && used + 16 < sizeof missing; r++) {
        if (atomic_load(&c->head->calls[r].arrivals) == generation) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%d",
                                     used > 0 ? ", " : "", r);
        }
    }
    leati_store_stalled(c->store, stalled, sizeof stalled);
    leat_error reason = {0};
    leati_fail(&reason, LEAT_DEADLINE_EXCEEDED,
               "rank %d waited %lld ms in %s for rank %s%s%s; every process must make the same "
               "calls in the same order",
               c->rank, (long long)c->timeout_ms, call_names[record_of(c, c->rank)->kind], missing,
               stalled[0] != '\0' ? ": " : "", stalled);
    fail_all(c, &reason);
    if (err != NULL) {
        *err = reason;
    }
    return reason.code;
}

static leat_status meet(shared_collective *c, leat_error *err) {
    shared_head *head = c->head;
    if (atomic_load(&head->failed) != 0) {
        return failure(c, err);
    }
    unsigned generation = atomic_load(&head->generation);
    atomic_store(&head->calls[c->rank].arrivals, generation + 1);
    if (atomic_fetch_add(&head->arrived, 1) + 1 == (unsigned)c->base.num_ranks) {
        atomic_store(&head->arrived, 0);
        atomic_store(&head->generation, generation + 1);
        if (atomic_load(&head->sleepers) > 0) {
            wake_all(c);
        }
        return LEAT_OK;
    }
    for (int i = 0; i < c->spins; i++) {
        if (atomic_load_explicit(&head->generation, memory_order_acquire) != generation) {
            return LEAT_OK;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    int64_t deadline = leati_now_ns() + c->timeout_ms * 1000000;
    while (atomic_load(&head->generation) == generation) {
        if (atomic_load(&head->failed) != 0) {
            return failure(c, err);
        }
        if (leati_now_ns() >= deadline) {
            return report_late(c, generation, err);
        }
        sleep_on(c, generation);
    }
    return LEAT_OK;
}

// ---- calls ----

static char *slot(const shared_collective *c, int rank) {
    size_t index = (size_t)c->row * (size_t)c->base.num_ranks + (size_t)rank;
    return (char *)c->head + c->head_bytes + index * SLOT_BYTES;
}

/* Do all ranks make the same call? Asked after a meeting; all find the same answer. */
static leat_status check_equal(shared_collective *c, leat_error *err) {
    const call_record *first = record_of(c, 0);
    for (int r = 1; r < c->base.num_ranks; r++) {
        const call_record *other = record_of(c, r);
        if (other->kind != first->kind || other->count != first->count ||
            other->dtype != first->dtype || other->parameter != first->parameter) {
            leat_error reason = {0};
            leati_fail(&reason, LEAT_INTERNAL,
                       "rank %d called %s of %lld %s values, rank 0 %s of %lld %s values; "
                       "processes must make the same calls in the same order",
                       r, call_names[other->kind], (long long)other->count,
                       leat_dtype_name((leat_dtype)other->dtype), call_names[first->kind],
                       (long long)first->count, leat_dtype_name((leat_dtype)first->dtype));
            fail_all(c, &reason);
            if (err != NULL) {
                *err = reason;
            }
            return reason.code;
        }
    }
    return LEAT_OK;
}

static leat_status begin(shared_collective *c, call_kind kind, int64_t count, leat_dtype dtype,
                         int parameter, leat_error *err) {
    leati_store_note(c->store, ++c->calls, LEATI_PHASE_COLLECTIVE);
    *record_of(c, c->rank) = (call_record){
        .count = count, .kind = (int32_t)kind, .dtype = (int32_t)dtype, .parameter = parameter};
    leat_status status = meet(c, err);
    return status == LEAT_OK ? check_equal(c, err) : status;
}

static leat_status finish(shared_collective *c, leat_status status) {
    leati_store_note(c->store, c->calls, LEATI_PHASE_COMPUTE);
    return status;
}

/* Combines this rank's part of all slots into the first one. */
static void combine_part(shared_collective *c, int64_t count, size_t item, leati_reducer combine) {
    int ranks = c->base.num_ranks;
    int64_t part = (count / ranks + 63) / 64 * 64;
    int64_t from = part * c->rank < count ? part * c->rank : count;
    int64_t to = c->rank == ranks - 1 || from + part > count ? count : from + part;
    size_t at = (size_t)from * item;
    for (int r = 1; r < ranks && to > from; r++) {
        combine(slot(c, 0) + at, slot(c, 0) + at, slot(c, r) + at, (size_t)(to - from));
    }
}

static leat_status shared_all_reduce(leati_collective *collective, int rank, void *data,
                                     int64_t count, leat_dtype dtype, leati_reduction reduction,
                                     leat_error *err) {
    (void)rank;
    shared_collective *c = (shared_collective *)collective;
    leat_status status = leati_check_reduction(dtype, reduction, err);
    if (status != LEAT_OK) {
        return status;
    }
    size_t item = leat_dtype_size(dtype);
    int64_t most = (int64_t)(SLOT_BYTES / item);
    leati_reducer combine = leati_reducer_of(dtype, reduction);
    status = begin(c, CALL_ALL_REDUCE, count, dtype, (int)reduction, err);
    for (int64_t at = 0; at < count && status == LEAT_OK; at += most) {
        int64_t n = count - at < most ? count - at : most;
        char *piece = (char *)data + (size_t)at * item;
        memcpy(slot(c, c->rank), piece, (size_t)n * item);
        status = meet(c, err);
        if (status == LEAT_OK) {
            combine_part(c, n, item, combine);
            status = meet(c, err);
        }
        if (status == LEAT_OK) {
            memcpy(piece, slot(c, 0), (size_t)n * item);
        }
        c->row ^= 1;
    }
    if (status == LEAT_OK && reduction == LEATI_REDUCTION_MEAN) {
        leati_divide(data, count, dtype, c->base.num_ranks);
    }
    return finish(c, status);
}

static leat_status shared_all_gather(leati_collective *collective, int rank, const void *data,
                                     int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    (void)rank;
    shared_collective *c = (shared_collective *)collective;
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    leat_status status = begin(c, CALL_ALL_GATHER, count, dtype, 0, err);
    for (size_t at = 0; at < bytes && status == LEAT_OK; at += SLOT_BYTES) {
        size_t n = bytes - at < SLOT_BYTES ? bytes - at : SLOT_BYTES;
        memcpy(slot(c, c->rank), (const char *)data + at, n);
        status = meet(c, err);
        for (int r = 0; r < c->base.num_ranks && status == LEAT_OK; r++) {
            memcpy((char *)out + (size_t)r * bytes + at, slot(c, r), n);
        }
        c->row ^= 1;
    }
    return finish(c, status);
}

static leat_status shared_broadcast(leati_collective *collective, int rank, int root, void *data,
                                    int64_t count, leat_dtype dtype, leat_error *err) {
    (void)rank;
    shared_collective *c = (shared_collective *)collective;
    leat_status status = leati_check_root(root, c->base.num_ranks, err);
    if (status != LEAT_OK) {
        return status;
    }
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    status = begin(c, CALL_BROADCAST, count, dtype, root, err);
    for (size_t at = 0; at < bytes && status == LEAT_OK; at += SLOT_BYTES) {
        size_t n = bytes - at < SLOT_BYTES ? bytes - at : SLOT_BYTES;
        if (c->rank == root) {
            memcpy(slot(c, root), (const char *)data + at, n);
        }
        status = meet(c, err);
        if (status == LEAT_OK && c->rank != root) {
            memcpy((char *)data + at, slot(c, root), n);
        }
        c->row ^= 1;
    }
    return finish(c, status);
}

static leat_status shared_barrier(leati_collective *collective, int rank, leat_error *err) {
    (void)rank;
    shared_collective *c = (shared_collective *)collective;
    return finish(c, begin(c, CALL_BARRIER, 0, LEAT_INVALID, 0, err));
}

static void shared_abort(leati_collective *collective, const leat_error *reason) {
    fail_all((shared_collective *)collective, reason);
}

static void shared_close(leati_collective *collective) {
    shared_collective *c = (shared_collective *)collective;
    if (c->head != NULL) {
        (void)munmap(c->head, c->size);
    }
    leati_free(c);
}

static const leati_collective_ops shared_ops = {
    .name = "shared memory",
    .all_reduce = shared_all_reduce,
    .all_gather = shared_all_gather,
    .broadcast = shared_broadcast,
    .barrier = shared_barrier,
    .abort = shared_abort,
    .close = shared_close,
};

// ---- the segment ----

/* Rank 0's part: a new segment of its own name, all of it reserved. -1 with `err`. */
static int make_segment(shared_collective *c, char *name, size_t size, leat_error *err) {
    static atomic_int made;
    snprintf(name, size, "/leat-%ld-%d-%llx", (long)getpid(), atomic_fetch_add(&made, 1),
             (unsigned long long)leati_now_ns());
    int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int problem = file < 0 ? errno : posix_fallocate(file, 0, (off_t)c->size);
    if (problem != 0) {
        leati_fail(err, LEAT_UNAVAILABLE, "%zu bytes of shared memory: %s", c->size,
                   strerror(problem));
        if (file >= 0) {
            close(file);
            (void)shm_unlink(name);
        }
        return -1;
    }
    return file;
}

/* All have it open, or one has not: decided together, so that all go the same way. */
static leat_status all_opened(shared_collective *c, leat_status own, leat_error *err) {
    leati_meeting all;
    const char *mine = own == LEAT_OK ? "y" : "n";
    leat_status status =
        leati_store_meet(c->store, "shared memory opened", mine, 1, c->timeout_ms, &all, err);
    for (int r = 0; r < c->base.num_ranks && status == LEAT_OK; r++) {
        if (all.bytes[all.offset[r]] != 'y' && own == LEAT_OK) {
            own = leati_fail(err, LEAT_UNAVAILABLE,
                             "rank %d cannot open the shared memory of rank 0", r);
        }
    }
    leati_meeting_fini(&all);
    return status == LEAT_OK ? own : status;
}

static leat_status open_segment(shared_collective *c, leat_error *err) {
    char name[80] = "";
    int file = c->rank == 0 ? make_segment(c, name, sizeof name, err) : -1;
    leati_meeting all;
    leat_status status =
        leati_store_meet(c->store, "shared memory", name, strlen(name), c->timeout_ms, &all, err);
    if (status == LEAT_OK && c->rank != 0) {
        snprintf(name, sizeof name, "%.*s", (int)(all.offset[1] - all.offset[0]),
                 all.bytes + all.offset[0]);
        file = name[0] == '\0' ? -1 : shm_open(name, O_RDWR | O_CLOEXEC, 0);
    }
    leati_meeting_fini(&all);
    if (status != LEAT_OK) {
        if (file >= 0) {
            close(file);
        }
        return status;
    }
    void *map =
        file < 0 ? MAP_FAILED : mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    leat_status own = LEAT_OK;
    if (map == MAP_FAILED) {
        own = err != NULL && err->code != LEAT_OK
                  ? err->code
                  : leati_fail(err, LEAT_UNAVAILABLE,
                               "this process cannot open the shared memory "
                               "of rank 0");
    } else {
        c->head = map;
    }
    if (file >= 0) {
        close(file);
    }
    status = all_opened(c, own, err);
    if (c->rank == 0 && name[0] != '\0') {
        (void)shm_unlink(name);
    }
    return status;
}

leati_collective *leati_shared_collective_new(leati_store *store, int rank, int num_ranks,
                                              int64_t timeout_ms, leat_error *err) {
    shared_collective *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL) {
        leati_no_memory(err, sizeof *c);
        return NULL;
    }
    leat_error local = {0};
    c->base = (leati_collective){.ops = &shared_ops, .num_ranks = num_ranks};
    c->store = store;
    c->rank = rank;
    c->timeout_ms = timeout_ms;
    c->spins = leati_num_cores() >= num_ranks ? SPINS : 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t head = sizeof(shared_head) + (size_t)num_ranks * sizeof(rank_call);
    c->head_bytes = (head + page - 1) / page * page;
    c->size = c->head_bytes + (size_t)NUM_ROWS * (size_t)num_ranks * SLOT_BYTES;
    if (open_segment(c, &local) != LEAT_OK) {
        shared_close(&c->base);
        if (err != NULL) {
            *err = local;
        }
        return NULL;
    }
    return &c->base;
}
