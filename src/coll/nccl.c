/* Collectives between accelerators by NCCL (coll/processes.h): values lie in the device's memory.
 *
 * The communicator does not block: a call begins its work on a stream of the collective's own and
 * then asks the communicator and the stream until both are done, the deadline has passed or
 * somebody aborted. Rank 0's identity of the job travels through the store.
 *
 * Failures: what NCCL or CUDA reports, a deadline and abort set the first reason; the present and
 * later calls return it. The communicator is then aborted by the thread that calls, which ends the
 * kernels that wait for other ranks. Locks: those of the reason. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/calls.h"
#include "coll/failure.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <string.h>
#include <time.h>

enum { TESTS = 2000, PAUSE_NS = 50000 };

typedef struct nccl_collective {
    leati_collective base;
    leati_store *store;
    int rank, device;
    int64_t timeout_ms;
    uint64_t calls;
    ncclComm_t comm;     /* NULL: none, or aborted; of the calling thread */
    cudaStream_t stream; /* NULL: none */
    void *one;           /* a value on the device, for barriers */
    leati_failure *failure;
} nccl_collective;

/* A call under way. */
typedef struct transfer {
    nccl_collective *c;
    leati_collective_kind kind;
    int64_t deadline_ns;
    leat_error *err;
} transfer;

// ---- failure ----

/* From the thread that calls: ends what still runs on the device. */
static void drop_communicator(nccl_collective *c) {
    if (c->comm != NULL) {
        (void)ncclCommAbort(c->comm);
        c->comm = NULL;
    }
}

static leat_status refuse(nccl_collective *c, leat_error *err) {
    drop_communicator(c);
    return leati_failure_refuse(c->failure, err);
}

static leat_status report(const transfer *t, const leat_error *reason) {
    /* The reason first: aborting takes long, and other threads ask meanwhile. */
    leat_status status = leati_failure_report(t->c->failure, reason, t->err);
    drop_communicator(t->c);
    return status;
}

static leat_status report_late(const transfer *t) {
    leat_error reason = {0};
    leati_failure_late(t->c->store, t->c->rank, t->c->timeout_ms, leati_call_kind_name(t->kind),
                       "another process", &reason);
    return report(t, &reason);
}

static leat_status report_text(const transfer *t, const char *who, const char *text) {
    leat_error reason = {0};
    leati_fail(&reason, LEAT_ABORTED, "%s on GPU %d: %s: %.200s", leati_call_kind_name(t->kind),
               t->c->device, who, text);
    return report(t, &reason);
}

/* Until the communicator and the stream have done what NCCL accepted by `code`. */
static leat_status finish(const transfer *t, ncclResult_t code) {
    nccl_collective *c = t->c;
    for (int64_t tests = 1; code == ncclSuccess || code == ncclInProgress; tests++) {
        if (leati_failure_happened(c->failure))
            return refuse(c, t->err);
        /* A communicator that does not block may still be starting the work that it accepted. */
        ncclResult_t asked = ncclCommGetAsyncError(c->comm, &code);
        code = asked == ncclSuccess ? code : asked;
        if (code == ncclSuccess) {
            /* The communicator is done when the work is on the stream, the stream when the work is
             * over. */
            cudaError_t stream = c->stream == NULL ? cudaSuccess : cudaStreamQuery(c->stream);
            if (stream == cudaSuccess)
                return LEAT_OK;
            if (stream != cudaErrorNotReady)
                return report_text(t, "CUDA", cudaGetErrorString(stream));
        }
        if (tests > TESTS) {
            if (leati_now_ns() >= t->deadline_ns)
                return report_late(t);
            (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    }
    return report_text(t, "NCCL", ncclGetErrorString(code));
}

/* The device belongs to the calling thread, and calls may come from another one than before. */
static leat_status begin(transfer *t, leat_error *err) {
    t->err = err;
    t->deadline_ns = leati_clock_deadline_ns(t->c->timeout_ms);
    if (leati_failure_happened(t->c->failure))
        return refuse(t->c, err);
    cudaError_t code = cudaSetDevice(t->c->device);
    if (code != cudaSuccess)
        return report_text(t, "CUDA", cudaGetErrorString(code));
    leati_store_note(t->c->store, ++t->c->calls, LEATI_PHASE_COLLECTIVE);
    return LEAT_OK;
}

static leat_status end(const transfer *t, leat_status status) {
    leati_store_note(t->c->store, t->c->calls, LEATI_PHASE_COMPUTE);
    return status;
}

// ---- calls ----

/* NCCL's name of a dtype; false: it has none. */
static bool type_of(leat_dtype dtype, ncclDataType_t *out) {
    switch (dtype) {
    case LEAT_FLOAT16: *out = ncclFloat16; return true;
    case LEAT_BFLOAT16: *out = ncclBfloat16; return true;
    case LEAT_FLOAT32: *out = ncclFloat32; return true;
    case LEAT_FLOAT64: *out = ncclFloat64; return true;
    case LEAT_INT8: *out = ncclInt8; return true;
    case LEAT_UINT8: *out = ncclUint8; return true;
    case LEAT_INT32: *out = ncclInt32; return true;
    case LEAT_UINT32: *out = ncclUint32; return true;
    case LEAT_INT64: *out = ncclInt64; return true;
    case LEAT_UINT64: *out = ncclUint64; return true;
    /* Integers of 16 bits, which leati_reducer_check lets pass. */
    default: return false;
    }
}

static leat_status check_type(leat_dtype dtype, leati_reduction reduction, ncclDataType_t *out,
                              leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status == LEAT_OK && !type_of(dtype, out)) {
        status = leati_fail(err, LEAT_UNIMPLEMENTED, "NCCL adds no %s; cast to int32 first",
                            leat_dtype_name(dtype));
    }
    return status;
}

static ncclRedOp_t op_of(leati_reduction reduction) {
    return reduction == LEATI_REDUCTION_MAX    ? ncclMax
           : reduction == LEATI_REDUCTION_MEAN ? ncclAvg
                                               : ncclSum;
}

static leat_status nccl_all_reduce(leati_collective *collective, int rank, void *data,
                                   int64_t count, leat_dtype dtype, leati_reduction reduction,
                                   leat_error *err) {
    (void)rank;
    transfer t = {.c = (nccl_collective *)collective, .kind = LEATI_CALL_ALL_REDUCE};
    ncclDataType_t type = ncclFloat32;
    leat_status status = check_type(dtype, reduction, &type, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    return end(&t, finish(&t, ncclAllReduce(data, data, (size_t)count, type, op_of(reduction),
                                            t.c->comm, t.c->stream)));
}

static leat_status nccl_all_gather(leati_collective *collective, int rank, const void *data,
                                   int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    (void)rank;
    transfer t = {.c = (nccl_collective *)collective, .kind = LEATI_CALL_ALL_GATHER};
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    leat_status status = begin(&t, err);
    return status != LEAT_OK
               ? status
               : end(&t,
                     finish(&t, ncclAllGather(data, out, bytes, ncclInt8, t.c->comm, t.c->stream)));
}

static leat_status nccl_reduce_scatter(leati_collective *collective, int rank, const void *data,
                                       int64_t count, leat_dtype dtype, leati_reduction reduction,
                                       void *out, leat_error *err) {
    (void)rank;
    transfer t = {.c = (nccl_collective *)collective, .kind = LEATI_CALL_REDUCE_SCATTER};
    ncclDataType_t type = ncclFloat32;
    leat_status status = check_type(dtype, reduction, &type, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    return end(&t, finish(&t, ncclReduceScatter(data, out, (size_t)count, type, op_of(reduction),
                                                t.c->comm, t.c->stream)));
}

static leat_status nccl_broadcast(leati_collective *collective, int rank, int root, void *data,
                                  int64_t count, leat_dtype dtype, leat_error *err) {
    (void)rank;
    transfer t = {.c = (nccl_collective *)collective, .kind = LEATI_CALL_BROADCAST};
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    if (status != LEAT_OK || (status = begin(&t, err)) != LEAT_OK)
        return status;
    return end(
        &t, finish(&t, ncclBroadcast(data, data, bytes, ncclInt8, root, t.c->comm, t.c->stream)));
}

/* NCCL has none: the sum of one value. */
static leat_status nccl_barrier(leati_collective *collective, int rank, leat_error *err) {
    (void)rank;
    transfer t = {.c = (nccl_collective *)collective, .kind = LEATI_CALL_BARRIER};
    leat_status status = begin(&t, err);
    return status != LEAT_OK ? status
                             : end(&t, finish(&t, ncclAllReduce(t.c->one, t.c->one, 1, ncclInt32,
                                                                ncclMax, t.c->comm, t.c->stream)));
}

static void nccl_abort(leati_collective *collective, const leat_error *reason) {
    leati_failure_set(((nccl_collective *)collective)->failure, reason);
}

static void nccl_close(leati_collective *collective) {
    nccl_collective *c = (nccl_collective *)collective;
    if (c->comm != NULL && !leati_failure_happened(c->failure)) {
        transfer t = {.c = c,
                      .kind = LEATI_CALL_BARRIER,
                      .deadline_ns = leati_clock_deadline_ns(c->timeout_ms)};
        /* Finalizing waits for other ranks, too, so it has a deadline; beyond it the communicator
         * is aborted. */
        if (finish(&t, ncclCommFinalize(c->comm)) == LEAT_OK) {
            (void)ncclCommDestroy(c->comm);
            c->comm = NULL;
        }
    }
    drop_communicator(c);
    if (c->one != NULL)
        (void)cudaFree(c->one);
    if (c->stream != NULL)
        (void)cudaStreamDestroy(c->stream);
    leati_failure_free(c->failure);
    leati_free(c);
}

static const leati_collective_ops nccl_ops = {
    .name = "NCCL",
    .all_reduce = nccl_all_reduce,
    .all_gather = nccl_all_gather,
    .reduce_scatter = nccl_reduce_scatter,
    .broadcast = nccl_broadcast,
    .barrier = nccl_barrier,
    .abort = nccl_abort,
    .close = nccl_close,
};

// ---- life ----

/* A stream and a value on the device. Without a driver CUDA leaves the count as it was. */
static leat_status open_device(nccl_collective *c, leat_error *err) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || c->device < 0 || c->device >= count) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION, "GPU %d of %d: %s", c->device,
                          code == cudaSuccess ? count : 0,
                          code == cudaSuccess ? "there is no such device"
                                              : cudaGetErrorString(code));
    }
    code = cudaSetDevice(c->device);
    code =
        code == cudaSuccess ? cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking) : code;
    code = code == cudaSuccess ? cudaMalloc(&c->one, sizeof(int32_t)) : code;
    code = code == cudaSuccess ? cudaMemset(c->one, 0, sizeof(int32_t)) : code;
    return code == cudaSuccess ? LEAT_OK
                               : leati_fail(err, LEAT_UNAVAILABLE, "GPU %d: %s", c->device,
                                            cudaGetErrorString(code));
}

/* Everybody says whether it can, so that nobody waits for one that cannot; rank 0 says which job.
 */
static leat_status share_identity(nccl_collective *c, leat_status own, ncclUniqueId *id,
                                  leat_error *err) {
    leati_store_values all;
    /* An empty value says "not I"; those of ranks other than 0 have the right size and no
     * meaning. */
    size_t size = own == LEAT_OK ? sizeof *id : 0;
    leat_status status = leati_store_barrier(c->store, "NCCL", id, size, c->timeout_ms, &all,
                                             own == LEAT_OK ? err : &(leat_error){0});
    for (int r = 0; r < c->base.num_ranks && status == LEAT_OK && own == LEAT_OK; r++)
        if (all.offset[r + 1] - all.offset[r] != sizeof *id)
            status = leati_fail(err, LEAT_UNAVAILABLE, "rank %d cannot use its GPU by NCCL", r);
    if (status == LEAT_OK && own == LEAT_OK)
        memcpy(id, all.bytes + all.offset[0], sizeof *id);
    leati_store_values_fini(&all);
    return own == LEAT_OK ? status : own;
}

static leat_status open_nccl(nccl_collective *c, leat_error *err) {
    c->failure = leati_failure_new("NCCL", err);
    if (c->failure == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    ncclUniqueId id = {{0}};
    leat_status status = open_device(c, err);
    ncclResult_t code = status == LEAT_OK && c->rank == 0 ? ncclGetUniqueId(&id) : ncclSuccess;
    if (code != ncclSuccess)
        status = leati_fail(err, LEAT_UNAVAILABLE, "NCCL: %s", ncclGetErrorString(code));
    status = share_identity(c, status, &id, err);
    if (status != LEAT_OK)
        return status;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    /* Else ncclCommInitRankConfig waits for ranks that have died for as long as it likes. */
    config.blocking = 0;
    transfer t = {.c = c,
                  .kind = LEATI_CALL_BARRIER,
                  .deadline_ns = leati_clock_deadline_ns(c->timeout_ms),
                  .err = err};
    code = ncclCommInitRankConfig(&c->comm, c->base.num_ranks, id, c->rank, &config);
    return finish(&t, code);
}

leati_collective *leati_coll_nccl_new(leati_store *store, int rank, int num_ranks, int device,
                                      int64_t timeout_ms, leat_error *err) {
    if (leati_processes_check_clear(store, "NCCL", err) != LEAT_OK)
        return NULL;
    nccl_collective *c = leati_alloc_zero(1, sizeof *c);
    if (c == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leat_error local = {0};
    c->base = (leati_collective){.ops = &nccl_ops, .num_ranks = num_ranks};
    c->store = store;
    c->rank = rank;
    c->device = device;
    c->timeout_ms = timeout_ms;
    if (open_nccl(c, &local) != LEAT_OK) {
        nccl_close(&c->base);
        *err = local;
        return NULL;
    }
    return &c->base;
}
