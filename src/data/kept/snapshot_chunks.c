/* The source of a snapshot's chunks, which stands in no table: see snapshot_chunks.h.
 *
 * Happy path: the state is read, then the folder is listed, so that a state that says DONE makes
 * the list complete; chunks that are new are given in the order of their numbers, and where there
 * are none the source waits, with pauses that grow, and looks again. Of a snapshot that was
 * finished when the plan was made the list is read once, and its order is the plan's.
 *
 * Failures: what the writer failed with, as soon as ERROR is there; DATA_LOSS where chunks are gone
 * or there twice; CANCELLED while it waits. Saved as a number where the order is fixed, else as the
 * chunks that were found; restoring reads nothing. Locks: a gate of the state, a leaf. */
#include "data/kept/snapshot_chunks.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "data/kept/saved_reader.h"
#include "data/kept/saved_rows.h"
#include "data/kept/saved_shard.h"
#include "data/kept/snapshot_files.h"
#include "data/run/state.h"
#include "run/queue.h"
#include <stdlib.h>

enum { FIRST_PAUSE_MS = 5, LONGEST_PAUSE_MS = 500, NS_PER_MS = 1000000 };

struct chunks_args {
    char *folder;
    leat_spec *element_spec;
    int64_t compression;
    int64_t chunks; /* LEATI_SNAPSHOT_UNFINISHED, or how many there are */
};

#define ROW(field) .offset = offsetof(struct chunks_args, field)

static const leati_row chunks_rows[] = {
    {.name = "folder",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     ROW(folder),
     .doc = "The snapshot's folder."},
    {.name = "element_spec",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     ROW(element_spec),
     .doc = "What the elements of its chunks are."},
    {.name = "compression",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(compression),
     .doc = "The number of its compression."},
    {.name = "chunks",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(chunks),
     .doc = "How many there are; -1: more may come."},
    {0},
};

struct chunks_state {
    leati_gate *gate;
    leati_snapshot_chunk *queue; /* in the order in which they are given */
    size_t count, capacity;
    int64_t next;                /* of the queue */
    leati_snapshot_chunk *known; /* the same, sorted */
    size_t num_known;
    bool complete; /* the queue is all */
    int64_t pause_ms;
};

static const struct chunks_args *args_of(const leati_node_state *node) {
    return node->dataset->args;
}

/* ---- looking ---- */

static int compare(const void *a, const void *b) {
    const leati_snapshot_chunk *x = a, *y = b;
    int by_chunk = (x->chunk > y->chunk) - (x->chunk < y->chunk);
    return by_chunk != 0 ? by_chunk : (x->stream > y->stream) - (x->stream < y->stream);
}

static int compare_by_stream(const void *a, const void *b) {
    const leati_snapshot_chunk *x = a, *y = b;
    int by_stream = (x->stream > y->stream) - (x->stream < y->stream);
    return by_stream != 0 ? by_stream : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* Has each stream, of a finished snapshot, its chunks from 0 on, each once? */
static leat_status check_all(const char *folder, const leati_snapshot_chunk *chunks, size_t count,
                             leat_error *err) {
    leati_snapshot_chunk *sorted = leati_alloc(count, sizeof *sorted);
    leat_status status = sorted == NULL && count > 0 ? leati_no_memory(err) : LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++)
        sorted[i] = chunks[i];
    if (status == LEAT_OK && count > 1)
        qsort(sorted, count, sizeof *sorted, compare_by_stream);
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        bool first = i == 0 || sorted[i - 1].stream != sorted[i].stream;
        int64_t expected = first ? 0 : sorted[i - 1].chunk + 1;
        if (sorted[i].chunk != expected)
            status = leati_fail_in_file(
                err, LEAT_DATA_LOSS, folder, -1, false,
                "chunk %lld of stream %lld %s; bring the file back, or save the dataset again",
                (long long)(sorted[i].chunk > expected ? expected : sorted[i].chunk),
                (long long)sorted[i].stream,
                sorted[i].chunk > expected ? "is gone" : "is there twice");
    }
    leati_free(sorted);
    return status;
}

/* The chunks that are there now, and whether they are all. The writer's failure is one here. */
static leat_status look(const char *folder, leati_snapshot_chunk **out, size_t *count, bool *all,
                        leat_error *err) {
    leati_snapshot_state state = LEATI_SNAPSHOT_WRITING;
    leat_error why = {0};
    LEATI_TRY(leati_snapshot_state_read(folder, &state, &why, err));
    if (state == LEATI_SNAPSHOT_FAILED)
        return leati_fail_in_file(err, why.code, folder, -1, false,
                                  "the snapshot could not be written: %s", why.text);
    LEATI_TRY(leati_snapshot_chunks_list(folder, out, count, err));
    *all = state == LEATI_SNAPSHOT_DONE;
    leat_status status = *all ? check_all(folder, *out, *count, err) : LEAT_OK;
    if (status != LEAT_OK)
        leati_free(*out);
    return status;
}

leat_status leati_snapshot_count(const char *folder, int64_t *chunks, int64_t *elements,
                                 leat_error *err) {
    leati_snapshot_chunk *found = NULL;
    size_t count = 0;
    bool all = false;
    LEATI_TRY(look(folder, &found, &count, &all, err));
    *chunks = all ? (int64_t)count : LEATI_SNAPSHOT_UNFINISHED;
    *elements = all ? 0 : LEAT_UNKNOWN_CARDINALITY;
    for (size_t i = 0; i < count && *elements >= 0; i++)
        *elements = found[i].elements < 0 || *elements > INT64_MAX - found[i].elements
                        ? LEAT_UNKNOWN_CARDINALITY
                        : *elements + found[i].elements;
    leati_free(found);
    return LEAT_OK;
}

/* Puts those of `found` that are not known behind the queue; `found` (given) is known then. */
static leat_status add_new(struct chunks_state *s, leati_snapshot_chunk *found, size_t count,
                           leat_error *err) {
    size_t before = s->count;
    for (size_t i = 0; i < count; i++) {
        if (s->num_known > 0 &&
            bsearch(&found[i], s->known, s->num_known, sizeof *found, compare) != NULL)
            continue;
        void *queue = s->queue;
        if (!leati_grow(&queue, &s->capacity, s->count + 1, sizeof *found)) {
            s->count = before;
            leati_free(found);
            return leati_no_memory(err);
        }
        s->queue = queue;
        s->queue[s->count++] = found[i];
    }
    leati_free(s->known);
    s->known = found;
    s->num_known = count;
    return LEAT_OK;
}

static leat_status look_again(leati_node_state *node, struct chunks_state *s, leat_error *err) {
    const struct chunks_args *args = args_of(node);
    leati_snapshot_chunk *found = NULL;
    size_t count = 0;
    bool all = false;
    LEATI_TRY(look(args->folder, &found, &count, &all, err));
    if (args->chunks >= 0 && (!all || (int64_t)count != args->chunks)) {
        leati_free(found);
        return leati_fail_in_file(
            err, LEAT_FAILED_PRECONDITION, args->folder, -1, false,
            "the snapshot had %lld chunks when the plan was made, and has %zu "
            "now; load it again",
            (long long)args->chunks, count);
    }
    LEATI_TRY(add_new(s, found, count, err));
    s->complete = all;
    return LEAT_OK;
}

/* Waits for a while, or until the iterator is cancelled. */
static leat_status wait_a_while(leati_node_state *node, struct chunks_state *s, leat_error *err) {
    leat_error local = {0};
    int64_t waited_ns = 0;
    s->pause_ms = LEATI_MIN(s->pause_ms * 2, (int64_t)LONGEST_PAUSE_MS);
    int64_t until = leati_now_ns() + s->pause_ms * NS_PER_MS;
    leati_queue_gate_lock(s->gate);
    leat_status status = leati_queue_gate_wait(s->gate, LEATI_WAIT_IO, until, &waited_ns, &local);
    leati_queue_gate_unlock(s->gate);
    leati_counter_add(&node->counters.waiting_ns, waited_ns);
    return status == LEAT_DEADLINE_EXCEEDED || status == LEAT_OK ? LEAT_OK
                                                                 : leati_error_pass(err, &local);
}

/* Until there is a chunk to give, or there will be none. */
static leat_status find_next(leati_node_state *node, struct chunks_state *s, leat_error *err) {
    s->pause_ms = FIRST_PAUSE_MS;
    while (s->next == (int64_t)s->count && !s->complete) {
        LEATI_TRY(look_again(node, s, err));
        if (s->next == (int64_t)s->count && !s->complete)
            LEATI_TRY(wait_a_while(node, s, err));
    }
    return LEAT_OK;
}

/* ---- the operator ---- */

static leat_spec *chunks_spec(const leat_dataset *dataset, leat_error *err) {
    const struct chunks_args *args = dataset->args;
    return leat_spec_dataset(leat_spec_ref(args->element_spec), err);
}

static int64_t chunks_cardinality(const leat_dataset *dataset) {
    int64_t chunks = ((const struct chunks_args *)dataset->args)->chunks;
    return chunks < 0 ? LEAT_UNKNOWN_CARDINALITY : chunks;
}

/* What comes in which order depends on when one looks, while the snapshot is written. */
static bool chunks_pure(const leat_dataset *dataset) {
    return ((const struct chunks_args *)dataset->args)->chunks >= 0;
}

static leat_status chunks_open(leati_node_state *node, void *state, leat_error *err) {
    struct chunks_state *s = state;
    s->gate = leati_queue_gate_new("load", node->iteration->cancel, err);
    return s->gate == NULL ? err->code : LEAT_OK;
}

static leat_status put_chunk(leati_node_state *node, const leati_snapshot_chunk *chunk,
                             leat_object **out, leat_error *err) {
    const struct chunks_args *args = args_of(node);
    leati_saved_shard_kind kind = {(leat_compression)args->compression, args->element_spec,
                                   leati_saved_records(args->element_spec)};
    char *path = leati_snapshot_chunk_path(args->folder, chunk, err);
    if (path == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    *out = (leat_object *)leati_saved_shard_of_file(path, &kind, chunk->elements, err);
    leati_free(path);
    return *out == NULL ? err->code : LEAT_OK;
}

static leati_tail chunks_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    static const leat_shape scalar = {.rank = 0};
    struct chunks_state *s = state;
    leati_block_clear(out);
    if (find_next(node, s, err) != LEAT_OK)
        return LEATI_ERROR;
    int64_t n = LEATI_MIN(want, (int64_t)s->count - s->next);
    if (n == 0)
        return LEATI_END;
    leat_buffer *buffer = leati_buffer_of_objects(n, err);
    if (buffer == NULL || leati_block_prepare(out, 1, err) != LEAT_OK) {
        leat_buffer_unref(buffer);
        return LEATI_ERROR;
    }
    leat_object **objects = leat_buffer_data(buffer);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; i < n && status == LEAT_OK; i++)
        status = put_chunk(node, &s->queue[s->next + i], &objects[i], err);
    leati_column_strided(&out->columns[0], LEAT_OBJECT, &scalar, (void *)objects, sizeof *objects,
                         buffer);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    out->n = n;
    s->next += n;
    return LEATI_MORE;
}

static leat_status chunks_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    struct chunks_state *s = state;
    (void)cost;
    (void)err;
    leati_put_int(out, s->next);
    if (args_of(node)->chunks >= 0)
        return LEAT_OK;
    leati_put_uint(out, s->count);
    for (size_t i = 0; i < s->count; i++) {
        leati_put_int(out, s->queue[i].stream);
        leati_put_int(out, s->queue[i].chunk);
        leati_put_int(out, s->queue[i].elements);
    }
    return LEAT_OK;
}

static void forget(struct chunks_state *s) {
    leati_free(s->known);
    s->known = NULL;
    s->num_known = s->count = 0;
    s->next = 0;
    s->complete = false;
}

/* What was found becomes known; the first look adds what has come since. */
static leat_status get_queue(struct chunks_state *s, leati_reader *in, leat_error *err) {
    uint64_t count = 0;
    LEATI_TRY(leati_get_uint(in, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        leati_snapshot_chunk chunk = {0};
        void *queue = s->queue;
        LEATI_TRY(leati_get_int(in, &chunk.stream, err));
        LEATI_TRY(leati_get_int(in, &chunk.chunk, err));
        LEATI_TRY(leati_get_int(in, &chunk.elements, err));
        if (!leati_grow(&queue, &s->capacity, s->count + 1, sizeof chunk))
            return leati_no_memory(err);
        s->queue = queue;
        s->queue[s->count++] = chunk;
    }
    s->known = leati_alloc(s->count, sizeof *s->known);
    if (s->known == NULL && s->count > 0)
        return leati_no_memory(err);
    for (size_t i = 0; i < s->count; i++)
        s->known[i] = s->queue[i];
    s->num_known = s->count;
    if (s->count > 1)
        qsort(s->known, s->count, sizeof *s->known, compare);
    return LEAT_OK;
}

static leat_status chunks_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    struct chunks_state *s = state;
    int64_t next = 0, most = args_of(node)->chunks;
    forget(s);
    LEATI_TRY(leati_get_int(in, &next, err));
    if (most < 0)
        LEATI_TRY(get_queue(s, in, err));
    else
        LEATI_TRY(look_again(node, s, err));
    most = most < 0 ? (int64_t)s->count : most;
    if (next < 0 || next > most)
        return leati_fail(err, LEAT_DATA_LOSS, "%s: a saved place of %lld among %lld chunks",
                          node->name, (long long)next, (long long)most);
    s->next = next;
    return LEAT_OK;
}

static leat_status chunks_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)err;
    forget(state);
    return LEAT_OK;
}

static void chunks_close(leati_node_state *node, void *state) {
    struct chunks_state *s = state;
    (void)node;
    leati_queue_gate_free(s->gate);
    leati_free(s->queue);
    leati_free(s->known);
}

static const leati_dataset_op chunks_op = {
    .name = "snapshot_chunks",
    .version = 1,
    .doc = "The datasets of the chunks of a distributed snapshot.",
    .flow = LEATI_SOURCE,
    .splits = LEATI_SPLITS_ROWS,
    .args_size = sizeof(struct chunks_args),
    .rows = chunks_rows,
    .spec = chunks_spec,
    .cardinality = chunks_cardinality,
    .pure = chunks_pure,
    .state_size = sizeof(struct chunks_state),
    .open = chunks_open,
    .pull = chunks_pull,
    .save = chunks_save,
    .restore = chunks_restore,
    .reset = chunks_reset,
    .close = chunks_close,
};

leat_dataset *leati_snapshot_plan(const char *folder, const leat_spec *spec,
                                  const char *compression, int64_t chunks,
                                  const leat_object *reader_func, int64_t cycle_length,
                                  leat_error *err) {
    leat_compression number = LEAT_COMPRESSION_NONE;
    if (leati_saved_compression("load", compression, false, &number, err) != LEAT_OK)
        return NULL;
    struct chunks_args args = {.folder = (char *)(uintptr_t)folder, /* both are copied */
                               .element_spec = (leat_spec *)(uintptr_t)spec,
                               .compression = (int64_t)number,
                               .chunks = chunks};
    leat_dataset *source = leati_dataset_new(&chunks_op, &args, NULL, 0, err);
    return source == NULL ? NULL : leati_saved_read(source, reader_func, cycle_length, err);
}
