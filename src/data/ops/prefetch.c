/* prefetch: a thread of its own keeps elements ready (tf.data.Dataset.prefetch).
 *
 * The work is the ring's (data/ahead/ring.h), without a function. Order and errors are the input's.
 * A buffer of 0, and a dataset inside a function, pass the input's blocks on without a thread. */
#include "data/access/access.h"
#include "data/ahead/ring.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct prefetch_args {
    int64_t buffer_size;
};

static const leati_row prefetch_rows[] = {
    {.name = "buffer_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     .offset = offsetof(struct prefetch_args, buffer_size),
     .default_number = LEAT_AUTOTUNE,
     .doc = "How many elements are kept ready; AUTOTUNE or none: as many as help; 0: none."},
    {0},
};

struct prefetch_state {
    leati_ring *ring;  /* NULL: the input is read inline */
    leati_input input; /* only then */
};

static leat_status prefetch_check(leat_dataset *dataset, leat_error *err) {
    const struct prefetch_args *args = dataset->args;
    if (args->buffer_size >= LEAT_AUTOTUNE)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "prefetch: buffer_size must be >= 0 or set buffer_size to be -1 for "
                        "auto-tuning; found %lld",
                        (long long)args->buffer_size);
}

static bool prefetch_reads_ahead(const leat_dataset *dataset) {
    return ((const struct prefetch_args *)dataset->args)->buffer_size != 0;
}

static leat_status prefetch_open(leati_node_state *node, void *state, leat_error *err) {
    const struct prefetch_args *args = node->dataset->args;
    struct prefetch_state *s = state;
    if (!prefetch_reads_ahead(node->dataset) || node->iteration->inline_only)
        return leati_input_open(&s->input, node, 0, err);
    /* AUTOTUNE, -1, is the ring's word, too. */
    leati_ring_options options = {.limit = args->buffer_size};
    s->ring = leati_ring_new(node, &options, err);
    return s->ring == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

static leati_tail prefetch_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                                leat_error *err) {
    (void)node;
    struct prefetch_state *s = state;
    return s->ring != NULL ? leati_ring_pull(s->ring, want, out, err)
                           : leati_input_take(&s->input, want, out, err);
}

static leati_tail prefetch_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                   leat_error *err) {
    (void)node;
    struct prefetch_state *s = state;
    return s->ring != NULL ? leati_ring_advance(s->ring, n, passed, err)
                           : leati_input_advance(&s->input, n, passed, err);
}

static leat_status prefetch_save(leati_node_state *node, void *state, leati_writer *out,
                                 leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct prefetch_state *s = state;
    return s->ring != NULL ? leati_ring_save(s->ring, out, cost, err)
                           : leati_input_save(&s->input, out, cost, err);
}

static leat_status prefetch_restore(leati_node_state *node, void *state, leati_reader *in,
                                    leat_error *err) {
    (void)node;
    struct prefetch_state *s = state;
    return s->ring != NULL ? leati_ring_restore(s->ring, in, err)
                           : leati_input_restore(&s->input, in, err);
}

static leat_status prefetch_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct prefetch_state *s = state;
    return s->ring != NULL ? leati_ring_reset(s->ring, err) : leati_input_reset(&s->input, err);
}

static void prefetch_close(leati_node_state *node, void *state) {
    (void)node;
    struct prefetch_state *s = state;
    /* Only one of the two is open; closing the other does nothing. */
    leati_ring_free(s->ring);
    leati_input_close(&s->input);
}

/* What is asked for by number is not read ahead: nobody knows the next one. */
static leat_status prefetch_at(leati_access *access, const int64_t *indices, int64_t n,
                               leati_block *out, leat_error *err) {
    return leati_access_input(access, 0, indices, n, out, err);
}

static bool prefetch_changes_nothing(const leat_dataset *dataset) {
    const struct prefetch_args *args = dataset->args;
    return args->buffer_size == 0;
}

const leati_dataset_op leati_op_prefetch = {
    .name = "prefetch",
    .version = 1,
    .doc =
        "A thread keeps up to `buffer_size` elements ready. Saved as a snapshot of the input and "
        "the number of outcomes since; restoring passes these, a block at most, without "
        "computing pure maps. Over inputs with effects the buffered elements themselves are "
        "saved, and restoring costs nothing.",
    .names = "Dataset.prefetch",
    .signature = "buffer_size",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct prefetch_args),
    .rows = prefetch_rows,
    .check = prefetch_check,
    .changes_nothing = prefetch_changes_nothing,
    .reads_ahead = prefetch_reads_ahead,
    .state_size = sizeof(struct prefetch_state),
    .open = prefetch_open,
    .pull = prefetch_pull,
    .advance = prefetch_advance,
    .save = prefetch_save,
    .restore = prefetch_restore,
    .reset = prefetch_reset,
    .close = prefetch_close,
    .at = prefetch_at,
};

leat_dataset *leat_dataset_prefetch(leat_dataset *input, int64_t buffer_size, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct prefetch_args args = {.buffer_size = buffer_size};
    return leati_dataset_new(&leati_op_prefetch, &args, &input, 1, err);
}
