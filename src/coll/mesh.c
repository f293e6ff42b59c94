/* Collectives between processes over TLS (coll/processes.h), where gloo would say everything in the
 * clear: a connection between every two ranks, and leat's own sums over them.
 *
 * Happy path: each rank gets its part of all ranks' values, adds it in rank order, as gloo.cc does,
 * and sends it to all; the next piece's values travel with a piece's sums. What is small goes to
 * all at once, and all add it. Every call is an exchange between all ranks, so all know that they
 * make the same one. Failures: as of gloo: the first one ends the collective, its text names what
 * the store knows, a lost rank or who holds the others up; abort wakes whoever waits. Locks: that
 * of the failure; the calls of a collective come from one thread at a time. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "coll/failure.h"
#include "coll/mesh_trade.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Bytes of a sum that are exchanged at once (each exchange waits for the slowest rank, whose core
 * others may want), and of one that each rank sends to all. */
enum { PIECE = 1 << 22, SMALL = 1 << 16, KNOWN_MS = 1000 };

typedef struct mesh {
    leati_collective base;
    leati_store *store;
    int rank;
    int64_t timeout_ms;
    leati_mesh_link *links; /* owned */
    leati_mesh_trades trades;
    leati_failure *failure;
    int wake; /* an eventfd */
    uint64_t calls;
    leati_collective_call call; /* the present one */
    char *received;             /* of the other ranks, for sums */
    size_t room;
    const void **inputs; /* num_ranks; for sums */
} mesh;

// ---- failures ----

/* What went wrong, and what the store knows of the others. */
static leat_status broken(mesh *m, const leat_error *said, leat_error *err) {
    const char *what = leati_call_kind_name(m->call.kind);
    leat_error reason = *said;
    if (said->code == LEAT_UNAVAILABLE) {
        /* Whoever ended may be known in a moment. */
        (void)poll(&(struct pollfd){.fd = m->wake, .events = POLLIN}, 1, KNOWN_MS);
    }
    if (leati_failure_happened(m->failure))
        return leati_failure_refuse(m->failure, err); /* by abort, which knows more */
    if (said->code == LEAT_DEADLINE_EXCEEDED) {
        leati_failure_late(m->store, m->rank, m->timeout_ms, what, said->text, &reason);
    } else if (said->code == LEAT_UNAVAILABLE) {
        char stalled[300] = "";
        leati_store_stalled(m->store, stalled, sizeof stalled);
        leati_fail(&reason, LEAT_ABORTED, "%s between processes: %.200s%s%s", what, said->text,
                   stalled[0] != '\0' ? "; " : "", stalled);
    }
    return leati_failure_happened(m->failure) ? leati_failure_refuse(m->failure, err)
                                              : leati_failure_report(m->failure, &reason, err);
}

static leat_status trade(mesh *m, leat_error *err) {
    leat_error local = {0};
    leat_status status = leati_mesh_trade(&m->trades, &m->call, &local);
    return status == LEAT_OK ? status : broken(m, &local, err);
}

/* Memory for what others send; a failure is the collective's, since they wait. */
static leat_status make_room(mesh *m, size_t size, leat_error *err) {
    if (leati_grow((void **)&m->received, &m->room, size, 1))
        return LEAT_OK;
    leat_error reason = {0};
    leati_fail(&reason, LEAT_RESOURCE_EXHAUSTED, "%s between processes: out of memory",
               leati_call_kind_name(m->call.kind));
    return leati_failure_report(m->failure, &reason, err);
}

static leat_status begin(mesh *m, leati_collective_call call, leat_error *err) {
    if (leati_failure_happened(m->failure))
        return leati_failure_refuse(m->failure, err);
    m->call = call;
    leati_store_note(m->store, ++m->calls, LEATI_PHASE_COLLECTIVE);
    return LEAT_OK;
}

static leat_status end(const mesh *m, leat_status status) {
    leati_store_note(m->store, m->calls, LEATI_PHASE_COMPUTE);
    return status;
}

// ---- sums ----

/* Of each rank `bytes` bytes: this rank's at `own`, the others' in `received`, where rank r's begin
 * at r * bytes. Combined in rank order into `out`, which may be `own`. */
static void combine(mesh *m, leati_combination how, const char *own, size_t bytes, char *out) {
    for (int r = 0; r < m->base.num_ranks; r++)
        m->inputs[r] = r == m->rank ? own : m->received + (size_t)r * bytes;
    void *outputs[] = {out};
    leati_reducer_combine(how, m->inputs, m->base.num_ranks, 0, outputs, 1, 0,
                          (int64_t)(bytes / leat_dtype_size(how.dtype)));
}

/* The bytes of a piece that a rank combines. */
static leati_mesh_part part_of(const mesh *m, leati_mesh_part piece, size_t item, int rank) {
    leati_part part = leati_coll_part_of((int64_t)(piece.size / item), m->base.num_ranks, rank);
    return (leati_mesh_part){piece.data + (size_t)part.begin * item,
                             (size_t)(part.end - part.begin) * item};
}

/* To each rank its part of the piece, and from each what it has of this rank's. */
static void share_values(mesh *m, leati_mesh_part piece, size_t item) {
    size_t mine = part_of(m, piece, item, m->rank).size;
    for (int r = 0; r < m->base.num_ranks; r++) {
        leati_mesh_share *share = &m->trades.shares[r];
        if (r != m->rank) {
            share->out[1] = part_of(m, piece, item, r);
            share->in[1] = (leati_mesh_part){m->received + (size_t)r * mine, mine};
        }
    }
}

/* To all this rank's part, which is the sum now, and from each its own. */
static void share_sums(mesh *m, leati_mesh_part piece, size_t item) {
    for (int r = 0; r < m->base.num_ranks; r++) {
        leati_mesh_share *share = &m->trades.shares[r];
        if (r != m->rank) {
            share->out[0] = part_of(m, piece, item, m->rank);
            share->in[0] = part_of(m, piece, item, r);
        }
    }
}

static leati_mesh_part piece_of(char *data, size_t bytes, size_t at, size_t item) {
    size_t most = PIECE / item * item;
    return (leati_mesh_part){data + at, LEATI_MIN(bytes - at, most)};
}

static leat_status sum_pieces(mesh *m, leati_combination how, char *data, size_t bytes,
                              leat_error *err) {
    size_t item = leat_dtype_size(how.dtype);
    leati_mesh_part piece = piece_of(data, bytes, 0, item);
    size_t ranks = (size_t)m->base.num_ranks;
    /* For every piece: a part is rounded up to 64 values, or has what the others leave. */
    LEATI_TRY(make_room(m, (piece.size / item / ranks + 64 + ranks) * item * ranks, err));
    share_values(m, piece, item);
    LEATI_TRY(trade(m, err));
    for (size_t at = 0; at < bytes;) {
        leati_mesh_part mine = part_of(m, piece, item, m->rank);
        combine(m, how, mine.data, mine.size, mine.data);
        share_sums(m, piece, item);
        at += piece.size;
        if (at < bytes) {
            piece = piece_of(data, bytes, at, item);
            share_values(m, piece, item);
        }
        LEATI_TRY(trade(m, err));
    }
    return LEAT_OK;
}

/* All get all values. */
static leat_status sum_small(mesh *m, leati_combination how, char *data, size_t bytes,
                             leat_error *err) {
    LEATI_TRY(make_room(m, bytes * (size_t)m->base.num_ranks, err));
    for (int r = 0; r < m->base.num_ranks; r++) {
        if (r != m->rank) {
            m->trades.shares[r].out[0] = (leati_mesh_part){data, bytes};
            m->trades.shares[r].in[0] = (leati_mesh_part){m->received + (size_t)r * bytes, bytes};
        }
    }
    LEATI_TRY(trade(m, err));
    combine(m, how, data, bytes, data);
    return LEAT_OK;
}

static bool is_small(const mesh *m, size_t bytes) {
    return bytes <= SMALL / (size_t)m->base.num_ranks;
}

static leat_status all_reduce(leati_collective *collective, int rank, void *data, int64_t count,
                              leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    mesh *m = (mesh *)collective;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    (void)rank;
    if (status != LEAT_OK || count == 0)
        return status;
    LEATI_TRY(begin(m,
                    (leati_collective_call){.count = count,
                                            .kind = LEATI_CALL_ALL_REDUCE,
                                            .dtype = (int32_t)dtype,
                                            .parameter = (int32_t)reduction},
                    err));
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    leati_combination how = {dtype, reduction};
    return end(m, (is_small(m, bytes) ? sum_small : sum_pieces)(m, how, data, bytes, err));
}

static leat_status reduce_scatter(leati_collective *collective, int rank, const void *data,
                                  int64_t count, leat_dtype dtype, leati_reduction reduction,
                                  void *out, leat_error *err) {
    mesh *m = (mesh *)collective;
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || count == 0)
        return status;
    LEATI_TRY(begin(m,
                    (leati_collective_call){.count = count,
                                            .kind = LEATI_CALL_REDUCE_SCATTER,
                                            .dtype = (int32_t)dtype,
                                            .parameter = (int32_t)reduction},
                    err));
    size_t block = (size_t)count * leat_dtype_size(dtype);
    char *own = (char *)(uintptr_t)data; /* only sent from */
    status = make_room(m, block * (size_t)m->base.num_ranks, err);
    for (int r = 0; r < m->base.num_ranks && status == LEAT_OK; r++) {
        if (r != m->rank) {
            m->trades.shares[r].out[0] = (leati_mesh_part){own + (size_t)r * block, block};
            m->trades.shares[r].in[0] = (leati_mesh_part){m->received + (size_t)r * block, block};
        }
    }
    if (status == LEAT_OK)
        status = trade(m, err);
    if (status == LEAT_OK)
        combine(m, (leati_combination){dtype, reduction}, own + (size_t)rank * block, block, out);
    return end(m, status);
}

// ---- values ----

static leat_status all_gather(leati_collective *collective, int rank, const void *data,
                              int64_t count, leat_dtype dtype, void *out, leat_error *err) {
    mesh *m = (mesh *)collective;
    size_t bytes = (size_t)count * leat_dtype_size(dtype);
    char *own = (char *)out + (size_t)rank * bytes;
    if (bytes == 0)
        return LEAT_OK;
    LEATI_TRY(begin(m,
                    (leati_collective_call){
                        .count = count, .kind = LEATI_CALL_ALL_GATHER, .dtype = (int32_t)dtype},
                    err));
    if (own != data)
        memcpy(own, data, bytes);
    for (int r = 0; r < m->base.num_ranks; r++) {
        if (r != m->rank) {
            m->trades.shares[r].out[0] = (leati_mesh_part){own, bytes};
            m->trades.shares[r].in[0] = (leati_mesh_part){(char *)out + (size_t)r * bytes, bytes};
        }
    }
    return end(m, trade(m, err));
}

/* The root sends each rank a part, and all send theirs to the others: no rank sends everything to
 * everybody. */
static leat_status broadcast_parts(mesh *m, int root, leati_mesh_part all, leat_error *err) {
    for (int r = 0; r < m->base.num_ranks; r++)
        if (m->rank == root && r != root)
            m->trades.shares[r].out[0] = part_of(m, all, 1, r);
    if (m->rank != root)
        m->trades.shares[root].in[0] = part_of(m, all, 1, m->rank);
    LEATI_TRY(trade(m, err));
    for (int r = 0; r < m->base.num_ranks; r++) {
        if (r == m->rank)
            continue;
        if (r != root)
            m->trades.shares[r].out[0] = part_of(m, all, 1, m->rank);
        if (m->rank != root)
            m->trades.shares[r].in[0] = part_of(m, all, 1, r);
    }
    return trade(m, err);
}

static leat_status broadcast(leati_collective *collective, int rank, int root, void *data,
                             int64_t count, leat_dtype dtype, leat_error *err) {
    mesh *m = (mesh *)collective;
    leati_mesh_part all = {data, (size_t)count * leat_dtype_size(dtype)};
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    if (status != LEAT_OK || all.size == 0)
        return status;
    LEATI_TRY(begin(m,
                    (leati_collective_call){.count = count,
                                            .kind = LEATI_CALL_BROADCAST,
                                            .dtype = (int32_t)dtype,
                                            .parameter = root},
                    err));
    if (!is_small(m, all.size))
        return end(m, broadcast_parts(m, root, all, err));
    for (int r = 0; r < m->base.num_ranks && rank == root; r++)
        if (r != root)
            m->trades.shares[r].out[0] = all;
    if (rank != root)
        m->trades.shares[root].in[0] = all;
    return end(m, trade(m, err));
}

static leat_status barrier(leati_collective *collective, int rank, leat_error *err) {
    mesh *m = (mesh *)collective;
    (void)rank;
    LEATI_TRY(begin(m, (leati_collective_call){.kind = LEATI_CALL_BARRIER}, err));
    return end(m, trade(m, err));
}

// ---- life ----

static void abort_all(leati_collective *collective, const leat_error *reason) {
    mesh *m = (mesh *)collective;
    leati_failure_set(m->failure, reason);
    (void)!write(m->wake, &(uint64_t){1}, sizeof(uint64_t));
}

static void close_all(leati_collective *collective) {
    mesh *m = (mesh *)collective;
    if (m->links != NULL)
        leati_mesh_links_close(m->links, m->base.num_ranks);
    leati_mesh_trades_fini(&m->trades);
    leati_failure_free(m->failure);
    if (m->wake >= 0)
        close(m->wake);
    leati_free(m->links);
    leati_free(m->received);
    leati_free(m->inputs);
    leati_free(m);
}

static const leati_collective_ops mesh_ops = {.name = "TLS",
                                              .all_reduce = all_reduce,
                                              .all_gather = all_gather,
                                              .reduce_scatter = reduce_scatter,
                                              .broadcast = broadcast,
                                              .barrier = barrier,
                                              .abort = abort_all,
                                              .close = close_all};

static leat_status open_mesh(mesh *m, leat_error *err) {
    int num_ranks = m->base.num_ranks;
    m->failure = leati_failure_new("TLS", err);
    if (m->failure == NULL)
        return err->code;
    m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m->wake < 0)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "rank %d has no file descriptor; raise the limit (ulimit -n)", m->rank);
    m->inputs = leati_alloc_zero((size_t)num_ranks, sizeof *m->inputs);
    leati_mesh_link *links = leati_alloc((size_t)num_ranks, sizeof *links);
    if (m->inputs == NULL || links == NULL) {
        leati_free(links);
        return leati_no_memory(err);
    }
    m->links = links;
    leat_status status =
        leati_mesh_links_open(links, m->store, m->rank, num_ranks, m->timeout_ms, err);
    if (status == LEAT_OK)
        status = leati_mesh_trades_init(&m->trades, links, m->rank, num_ranks, m->wake,
                                        m->timeout_ms, err);
    return status;
}

leati_collective *leati_coll_mesh_new(leati_store *store, int rank, int num_ranks,
                                      int64_t timeout_ms, leat_error *err) {
    if (leati_store_tls(store) == NULL) {
        leati_fail(err, LEAT_FAILED_PRECONDITION,
                   "rank %d of %d by TLS: the job has none; set LEAT_TLS_CERT, LEAT_TLS_KEY and "
                   "LEAT_TLS_CA for every process",
                   rank, num_ranks);
        return NULL;
    }
    mesh *m = leati_alloc_zero(1, sizeof *m);
    if (m == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    m->base = (leati_collective){.ops = &mesh_ops, .num_ranks = num_ranks};
    m->store = store;
    m->rank = rank;
    m->timeout_ms = timeout_ms;
    m->wake = -1;
    leat_error local = {0};
    if (open_mesh(m, &local) != LEAT_OK) {
        leati_fail(err, local.code, "connecting rank %d with the others by TLS: %s", rank,
                   local.text);
        /* The others would wait for this rank. */
        leati_store_abort(store, &local);
        close_all(&m->base);
        return NULL;
    }
    return &m->base;
}
