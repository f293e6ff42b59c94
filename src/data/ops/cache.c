/* cache: the first complete iteration keeps the elements, later ones read them (Dataset.cache).
 *
 * An iterator decides when it opens, and anew in every epoch, whether it reads or writes. A writer
 * hands on its input's elements and keeps them: in memory in a list of its own, which the node's
 * iterators share once it is complete (the input ended, or its known cardinality is reached; the
 * first one to complete wins), or in files. Who does not get so far keeps nothing; errors pass.
 *
 * Failures: a cache that outgrows the iterator's memory budget, or a disk that is full, is one
 * error; the iteration then goes on without keeping anything. A second writer of the same files is
 * ALREADY_EXISTS at every call.
 *
 * Saved as a position and, where the input can be replayed, the input's state from before the
 * first element: restoring in a process that has not the cached elements computes them again. Over
 * other inputs a memory cache is saved with its elements, and a half-written file cache not at
 * all. Locks: those of data/kept/cache_store.c. */
#include "base/minmax.h"
#include "data/kept/cache_access.h"
#include "data/kept/cache_file.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>

static const leati_row cache_row_table[] = {
    {.name = "filename",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     .offset = offsetof(leati_cache_args, filename),
     .doc = "Prefix of the files of the cache; none or empty: in memory."},
    {0},
};

/* PASS: gave up keeping. */
enum cache_mode { CACHE_READ = 0, CACHE_WRITE, CACHE_PASS };

struct cache_state {
    enum cache_mode mode;
    leati_input input;      /* closed until somebody writes */
    leati_writer origin;    /* the input's state before its first element; empty: not replayable */
    bool begun;             /* `origin` is known */
    int64_t outcomes;       /* of the input, in this epoch */
    int64_t position;       /* rows read */
    bool complete;          /* what is written has been published */
    leati_cache_rows *rows; /* in memory: being written or read; a reference */
    leati_cache_cursor cursor;
    leati_cache_writer *writer; /* in files */
    leati_cache_reader *reader;
};

/* ---- epochs ---- */

static void forget(leati_node_state *node, struct cache_state *s) {
    leati_cache_rows_unref(s->rows);
    leati_cache_writer_discard(s->writer);
    leati_cache_reader_close(s->reader);
    /* The input, which is reset, and the origin's memory outlive an epoch. */
    *s = (struct cache_state){.mode = s->mode, .input = s->input, .origin = s->origin};
    s->origin.size = 0;
    s->origin.failed = false;
    leat_status status = leati_budget_holder_set(&node->holder, 0, &(leat_error){0});
    (void)status; /* shrinking never fails */
}

/* What others keep counts here too, as far as the budget goes. */
static void hold(leati_node_state *node, const struct cache_state *s) {
    leat_status status = leati_budget_holder_set(&node->holder, s->rows->bytes, &(leat_error){0});
    (void)status;
    leati_counter_set(&node->counters.bytes_held, s->rows->bytes);
    leati_counter_set(&node->counters.depth, s->rows->rows);
}

static leat_status open_input(leati_node_state *node, struct cache_state *s, leat_error *err) {
    return s->input.child != NULL ? leati_input_reset(&s->input, err)
                                  : leati_input_open(&s->input, node, 0, err);
}

static leat_status compute_rows(leati_node_state *node, struct cache_state *s, const void *origin,
                                size_t size, int64_t rows, leat_error *err);

/* What the state tells of the node's store is computed here. */
static leat_status complete_store(leati_node_state *node, struct cache_state *s,
                                  const leati_reader *origin, int64_t rows, leat_error *err) {
    LEATI_TRY(compute_rows(node, s, origin->data, origin->size, rows, err));
    LEATI_TRY(leati_cache_store_publish(node, s->rows, err));
    s->mode = CACHE_READ;
    s->outcomes = 0;
    return LEAT_OK;
}

/* Opens, and begins another epoch. */
static leat_status begin_epoch(leati_node_state *node, void *state, leat_error *err) {
    struct cache_state *s = state;
    const char *prefix = leati_cache_prefix(node->dataset);
    forget(node, s);
    s->mode = CACHE_WRITE;
    if (prefix == NULL) {
        leati_reader origin = {0};
        LEATI_TRY(leati_cache_store_find(node, &s->rows, err));
        int64_t expected = leati_cache_store_expected(leati_cache_store_of(node, err), &origin);
        if (s->rows == NULL && expected >= 0)
            return complete_store(node, s, &origin, expected, err);
        if (s->rows != NULL) {
            s->mode = CACHE_READ;
            hold(node, s);
            return LEAT_OK;
        }
        return open_input(node, s, err);
    }
    bool complete = false;
    LEATI_TRY(leati_cache_file_complete(prefix, &complete, err));
    if (!complete)
        return open_input(node, s, err);
    s->mode = CACHE_READ;
    return leati_cache_reader_open(prefix, &s->reader, err);
}

/* ---- writing ---- */

/* Remembers where the input starts, and gets the list ready. */
static leat_status begin_list(leati_node_state *node, struct cache_state *s, leat_error *err) {
    leat_status status = LEAT_OK;
    if (!s->begun && leati_own_replays(node->iteration->own, node->dataset->inputs[0])) {
        leati_save_cost cost = {0};
        status = leati_input_save(&s->input, &s->origin, &cost, err);
        if (status != LEAT_OK) {
            s->origin.size = 0;
            s->origin.failed = false;
        }
        status = status == LEAT_FAILED_PRECONDITION ? LEAT_OK : status; /* cannot be saved */
    }
    s->begun = s->begun || status == LEAT_OK;
    if (status == LEAT_OK && leati_cache_prefix(node->dataset) == NULL && s->rows == NULL) {
        leati_cache_rows *rows = leati_cache_rows_new(err);
        if (rows == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        leati_put_raw(&rows->origin, s->origin.data, s->origin.size);
        if (rows->origin.failed) {
            leati_cache_rows_unref(rows);
            return leati_no_memory(err);
        }
        s->rows = rows;
    }
    return status;
}

/* The files are begun when the first element is asked for. */
static leat_status begin_writing(leati_node_state *node, struct cache_state *s, leat_error *err) {
    LEATI_TRY(begin_list(node, s, err));
    if (leati_cache_prefix(node->dataset) == NULL || s->writer != NULL || s->complete)
        return LEAT_OK;
    return leati_cache_writer_open(leati_cache_prefix(node->dataset), &s->writer, err);
}

static leat_status give_up(leati_node_state *node, struct cache_state *s, leat_status status,
                           leat_error *err) {
    int64_t outcomes = s->outcomes;
    leati_prefix(err, "the cache is not kept");
    forget(node, s);
    s->mode = CACHE_PASS;
    s->outcomes = outcomes;
    return status;
}

static leat_status publish(leati_node_state *node, struct cache_state *s, leat_error *err) {
    if (s->complete)
        return LEAT_OK;
    if (s->rows == NULL) {
        leati_cache_writer *writer = s->writer;
        s->writer = NULL; /* given to finish */
        leat_status status = leati_cache_writer_finish(writer, err);
        s->complete = status == LEAT_OK;
        return status == LEAT_OK ? LEAT_OK : give_up(node, s, status, err);
    }
    LEATI_TRY(leati_cache_store_publish(node, s->rows, err));
    s->complete = true;
    return LEAT_OK;
}

/* Keeps n rows of the input's block. Without memory for them nothing has changed. */
static leat_status keep(leati_node_state *node, struct cache_state *s, int64_t n, leat_error *err) {
    int64_t begin = leati_input_begin(&s->input), known = node->dataset->inputs[0]->cardinality;
    leat_status status = LEAT_OK;
    if (s->complete)
        return LEAT_OK;
    if (s->writer != NULL) {
        status = leati_cache_writer_add(s->writer, &s->input.block, begin, n, err);
        return status == LEAT_OK ? LEAT_OK : give_up(node, s, status, err);
    }
    LEATI_TRY(leati_cache_rows_add(s->rows, &s->input.block, begin, n, err));
    status = leati_budget_holder_set(&node->holder, s->rows->bytes, err);
    if (status != LEAT_OK)
        return give_up(node, s, status, err);
    hold(node, s);
    return known >= 0 && s->rows->rows == known ? publish(node, s, err) : LEAT_OK;
}

static leati_tail cache_write(leati_node_state *node, struct cache_state *s, int64_t want,
                              leati_block *out, leat_error *err) {
    int64_t available = 0;
    if (begin_writing(node, s, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        s->outcomes += tail == LEATI_ERROR;
        return tail == LEATI_END && publish(node, s, err) != LEAT_OK ? LEATI_ERROR : tail;
    }
    int64_t n = LEATI_MIN(available, want);
    if (leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, out, err) != LEAT_OK ||
        keep(node, s, n, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_input_consume(&s->input, n);
    s->outcomes += n;
    return LEATI_MORE;
}

/* ---- reading ---- */

static leati_tail cache_read(const leati_node_state *node, struct cache_state *s, int64_t want,
                             leati_block *out, leat_error *err) {
    leat_status status = LEAT_OK;
    if (s->reader != NULL)
        status = leati_cache_reader_read(s->reader, node->dataset->spec, want, out, err);
    else if (s->position < s->rows->rows)
        status = leati_cache_rows_view(s->rows, &s->cursor, s->position, want, out, err);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    s->position += out->n;
    return out->n == 0 ? LEATI_END : LEATI_MORE;
}

static leati_tail cache_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct cache_state *s = state;
    if (s->mode == CACHE_PASS) {
        leati_tail tail = leati_input_take(&s->input, want, out, err);
        s->outcomes += out->n + (tail == LEATI_ERROR);
        return tail;
    }
    leati_block_clear(out);
    return s->mode == CACHE_READ ? cache_read(node, s, want, out, err)
                                 : cache_write(node, s, want, out, err);
}

/* What stands in memory is passed by counting. */
static leati_tail cache_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                leat_error *err) {
    struct cache_state *s = state;
    if (s->mode == CACHE_READ && s->rows != NULL) {
        int64_t left = s->rows->rows - s->position;
        *passed = left < n ? left : n;
        s->position += *passed;
        return *passed < n ? LEATI_END : LEATI_MORE;
    }
    return leati_state_node_advance_by_pulling(node, n, passed, err);
}

/* ---- saving ---- */

/* What follows in the state: the input's state before the first element, the elements, nothing,
 * because the state has the store once. */
enum { FROM_ORIGIN = 0, FROM_ROWS, FROM_STORE };

static leat_status save_reading(const leati_node_state *node, struct cache_state *s,
                                leati_writer *out, leati_save_cost *cost, leat_error *err) {
    leati_put_int(out, s->position);
    if (s->rows == NULL)
        return LEAT_OK; /* the files have the rest */
    leati_cache_rows *rows = s->rows;
    bool positions = leati_cache_store_replays(node, rows, cost);
    bool has = leati_cache_store_has(node, rows, cost);
    leati_put_int(out, rows->rows);
    leati_put_uint(out, has ? FROM_STORE : positions ? FROM_ORIGIN : FROM_ROWS);
    if (has)
        return LEAT_OK;
    cost->data_elements += positions ? 0 : rows->rows;
    if (!positions)
        return leati_cache_rows_save(rows, out, err);
    /* Where the state has the store's rows they are counted there. */
    if (!leati_own_lists(node->iteration->own, node->dataset))
        cost->replay_elements += rows->rows;
    leati_put_bytes(out, rows->origin.data, rows->origin.size);
    return LEAT_OK;
}

static leat_status save_writing(leati_node_state *node, struct cache_state *s, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    LEATI_TRY(begin_list(node, s, err));
    leati_put_int(out, s->outcomes);
    if (s->complete && leati_cache_store_has(node, s->rows, cost)) {
        leati_put_uint(out, FROM_STORE);
        return leati_input_save(&s->input, out, cost, err);
    }
    if (s->origin.size > 0 && (cost->mode != LEAT_SAVE_DATA || s->rows == NULL)) {
        leati_put_uint(out, FROM_ORIGIN);
        leati_put_bytes(out, s->origin.data, s->origin.size);
        cost->replay_elements += s->outcomes;
        return LEAT_OK;
    }
    if (s->rows == NULL) {
        return leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "%s: a file cache that is being filled cannot be saved over an input that cannot be "
            "replayed; save when the first epoch is over, or declare the callbacks pure",
            node->name);
    }
    leati_put_uint(out, FROM_ROWS);
    cost->data_elements += s->rows->rows;
    leati_put_uint(out, s->complete);
    LEATI_TRY(leati_cache_rows_save(s->rows, out, err));
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status cache_save(leati_node_state *node, void *state, leati_writer *out,
                              leati_save_cost *cost, leat_error *err) {
    struct cache_state *s = state;
    leati_put_uint(out, s->mode);
    switch (s->mode) {
    case CACHE_READ: return save_reading(node, s, out, cost, err);
    case CACHE_WRITE: return save_writing(node, s, out, cost, err);
    default: leati_put_int(out, s->outcomes); return leati_input_save(&s->input, out, cost, err);
    }
}

/* Starts over as a writer whose input stands at `origin`. */
static leat_status restore_origin(leati_node_state *node, struct cache_state *s, const void *origin,
                                  size_t size, leat_error *err) {
    forget(node, s);
    s->mode = CACHE_WRITE;
    leati_put_raw(&s->origin, origin, size);
    leat_status status = s->origin.failed ? leati_no_memory(err) : open_input(node, s, err);
    leati_reader in = {.data = origin, .size = size};
    if (status == LEAT_OK)
        status = leati_input_restore(&s->input, &in, err);
    s->begun = status == LEAT_OK;
    return status;
}

/* Takes what was taken before, up to `outcomes` of the input or `rows` kept. */
static leat_status replay(leati_node_state *node, struct cache_state *s, int64_t outcomes,
                          int64_t rows, leat_error *err) {
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && s->outcomes < outcomes &&
           (rows < 0 || s->rows == NULL || s->rows->rows < rows)) {
        leat_error local = {0};
        int64_t before = s->outcomes, want = rows < 0 ? outcomes - before : rows;
        leati_tail tail = cache_pull(node, s, want, &block, &local);
        bool short_of_it =
            s->outcomes < outcomes && (rows < 0 || s->rows == NULL || s->rows->rows < rows);
        if (tail == LEATI_END && short_of_it) {
            status = leati_fail(err, LEAT_DATA_LOSS,
                                "%s: the input ended after %lld outcomes, more were read before; "
                                "restore with the same input files",
                                node->name, (long long)s->outcomes);
        } else if (tail == LEATI_ERROR && (s->outcomes == before || !leati_state_recurs(&local))) {
            status = local.code;
            *err = local;
        }
    }
    leati_block_fini(&block);
    return status;
}

/* The rows of a complete cache, from the input's state before the first of them. */
static leat_status compute_rows(leati_node_state *node, struct cache_state *s, const void *origin,
                                size_t size, int64_t rows, leat_error *err) {
    LEATI_TRY(restore_origin(node, s, origin, size, err));
    LEATI_TRY(begin_list(node, s, err));
    return replay(node, s, INT64_MAX, rows, err);
}

/* The rows of the node's store, if they are from `origin` (NULL: of any). */
static leat_status take_store(leati_node_state *node, struct cache_state *s, const void *origin,
                              size_t size, bool *taken, leat_error *err) {
    leati_cache_rows *rows = NULL;
    LEATI_TRY(leati_cache_store_find(node, &rows, err));
    *taken = rows != NULL && (origin == NULL || leati_cache_store_is_from(rows, origin, size));
    leati_cache_rows_unref(*taken ? s->rows : rows);
    if (*taken) {
        s->rows = rows;
        hold(node, s);
    }
    return LEAT_OK;
}

static leat_status no_store(const leati_node_state *node, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "%s: a state without the cache's rows", node->name);
}

/* Reads the elements of a complete cache, or brings the input to where they come again and takes
 * them, unless this process has them. */
static leat_status restore_rows(leati_node_state *node, struct cache_state *s, uint64_t from,
                                int64_t rows, leati_reader *in, leat_error *err) {
    bool taken = false;
    if (from == FROM_STORE) {
        LEATI_TRY(take_store(node, s, NULL, 0, &taken, err));
        return taken ? LEAT_OK : no_store(node, err);
    }
    if (from == FROM_ROWS) {
        forget(node, s);
        s->mode = CACHE_WRITE;
        s->rows = leati_cache_rows_new(err);
        return s->rows == NULL ? LEAT_RESOURCE_EXHAUSTED
                               : leati_cache_rows_load(s->rows, node->dataset->spec, in, err);
    }
    const void *origin = NULL;
    size_t size = 0;
    LEATI_TRY(leati_get_bytes(in, &origin, &size, err));
    LEATI_TRY(take_store(node, s, origin, size, &taken, err));
    return taken ? LEAT_OK : compute_rows(node, s, origin, size, rows, err);
}

static leat_status restore_file_position(const leati_node_state *node, struct cache_state *s,
                                         leati_reader *in, leat_error *err) {
    LEATI_TRY(leati_get_int(in, &s->position, err));
    if (s->reader == NULL) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%s: the files of the cache are gone; restore them with the state, or "
                          "start anew",
                          node->name);
    }
    return leati_cache_reader_seek(s->reader, s->position, err);
}

static leat_status restore_reading(leati_node_state *node, struct cache_state *s, leati_reader *in,
                                   leat_error *err) {
    if (leati_cache_prefix(node->dataset) != NULL)
        return restore_file_position(node, s, in, err);
    int64_t position = 0, rows = 0;
    uint64_t from = 0;
    LEATI_TRY(leati_get_int(in, &position, err));
    LEATI_TRY(leati_get_int(in, &rows, err));
    LEATI_TRY(leati_get_uint(in, &from, err));
    LEATI_TRY(restore_rows(node, s, from, rows, in, err));
    if (from != FROM_STORE)
        LEATI_TRY(leati_cache_store_publish(node, s->rows, err));
    if (s->rows->rows != rows || position < 0 || position > rows) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved position %lld of %lld", node->name,
                          (long long)position, (long long)rows);
    }
    s->mode = CACHE_READ;
    s->position = position;
    return LEAT_OK;
}

static leat_status restore_writing(leati_node_state *node, struct cache_state *s, leati_reader *in,
                                   leat_error *err) {
    int64_t outcomes = 0, passed = 0;
    bool taken = false;
    uint64_t from = 0, complete = 0;
    LEATI_TRY(leati_get_int(in, &outcomes, err));
    LEATI_TRY(leati_get_uint(in, &from, err));
    if (from == FROM_STORE) {
        forget(node, s);
        s->mode = CACHE_WRITE;
        s->begun = s->complete = true;
        s->outcomes = outcomes;
        LEATI_TRY(take_store(node, s, NULL, 0, &taken, err));
        LEATI_TRY(taken ? open_input(node, s, err) : no_store(node, err));
        return leati_input_restore(&s->input, in, err);
    }
    if (from == FROM_ROWS) {
        forget(node, s);
        s->mode = CACHE_WRITE;
        s->begun = true;
        s->outcomes = outcomes;
        s->rows = leati_cache_rows_new(err);
        if (s->rows == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        LEATI_TRY(leati_get_uint(in, &complete, err));
        LEATI_TRY(leati_cache_rows_load(s->rows, node->dataset->spec, in, err));
        LEATI_TRY(open_input(node, s, err));
        LEATI_TRY(leati_input_restore(&s->input, in, err));
        return complete != 0 ? publish(node, s, err) : LEAT_OK;
    }
    const void *origin = NULL;
    size_t size = 0;
    bool done = s->reader != NULL; /* somebody else has completed the files meanwhile */
    LEATI_TRY(leati_get_bytes(in, &origin, &size, err));
    LEATI_TRY(restore_origin(node, s, origin, size, err));
    s->mode = done ? CACHE_PASS : s->mode;
    if (leati_cache_prefix(node->dataset) == NULL)
        LEATI_TRY(take_store(node, s, origin, size, &taken, err));
    /* All that was to be kept is there: what was taken need not be computed. */
    if (taken) {
        s->complete = true;
        s->outcomes = outcomes;
        leati_tail tail = leati_input_advance(&s->input, outcomes, &passed, err);
        return tail == LEATI_ERROR ? err->code : passed == outcomes ? LEAT_OK : no_store(node, err);
    }
    leati_cache_store_hide(node);
    return replay(node, s, outcomes, -1, err);
}

static leat_status cache_restore(leati_node_state *node, void *state, leati_reader *in,
                                 leat_error *err) {
    struct cache_state *s = state;
    uint64_t mode = 0;
    LEATI_TRY(leati_get_uint(in, &mode, err));
    switch (mode) {
    case CACHE_READ: return restore_reading(node, s, in, err);
    case CACHE_WRITE: return restore_writing(node, s, in, err);
    case CACHE_PASS:
        forget(node, s);
        s->mode = CACHE_PASS;
        LEATI_TRY(leati_get_int(in, &s->outcomes, err));
        LEATI_TRY(open_input(node, s, err));
        return leati_input_restore(&s->input, in, err);
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved mode of %llu", node->name,
                          (unsigned long long)mode);
    }
}

static void cache_close(leati_node_state *node, void *state) {
    struct cache_state *s = state;
    forget(node, s);
    leati_input_close(&s->input);
    leati_writer_fini(&s->origin);
}

/* ---- random access ---- */

static leat_status cache_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    if (leati_cache_prefix(access->node.dataset) != NULL) {
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "random access is not implemented for a cache in files; cache in memory");
    }
    return leati_cache_access_at(access, indices, n, out, err);
}

static leat_status cache_indexable(const leat_dataset *dataset, leat_error *err) {
    return leati_cache_prefix(dataset) == NULL
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "a cache in files does not support random access; cache in memory, or "
                            "behind global_shuffle");
}

const leati_dataset_op leati_op_cache = {
    .name = "cache",
    .version = 1,
    .doc = "The first complete iteration keeps the elements, later ones read them. Saved as a "
           "position where the input can be replayed (restoring in another process computes the "
           "elements again), else with the elements.",
    .names = "Dataset.cache",
    .signature = "filename=\"\"",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_SHARED_DRAW,
    .args_size = sizeof(leati_cache_args),
    .rows = cache_row_table,
    .share = leati_cache_store_share,
    .unshare = leati_cache_store_unshare,
    .shared_settle = leati_cache_store_settle,
    .shared_save = leati_cache_store_save,
    .shared_restore = leati_cache_store_restore,
    .shared_empty = leati_cache_store_empty,
    .state_size = sizeof(struct cache_state),
    .open = begin_epoch,
    .pull = cache_pull,
    .advance = cache_advance,
    .save = cache_save,
    .restore = cache_restore,
    .reset = begin_epoch,
    .close = cache_close,
    .access_size = sizeof(leati_cache_access),
    .at = cache_at,
    .access_close = leati_cache_access_close,
    .indexable = cache_indexable,
};

leat_dataset *leat_dataset_cache(leat_dataset *input, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_cache, NULL, &input, 1, err);
}

leat_dataset *leat_dataset_cache_to_file(leat_dataset *input, const char *filename,
                                         leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_cache_args args = {.filename = (char *)(uintptr_t)filename}; /* copied */
    return leati_dataset_new(&leati_op_cache, &args, &input, 1, err);
}
