/* rebatch: cuts and joins batches into batches of other sizes (tf.data.Dataset.rebatch; kernel:
 * RebatchDatasetV2).
 *
 * The input's rows are one stream; sizes are taken from the list in turn, over and over. A size of
 * 0 gives an element without rows, or an error where a leaf has none, as long as the end has not
 * been seen. A batch that lies within one input element is a view. The input element being cut
 * stays unconsumed in `input`, so the state is positions: the place in the list and the offset. An
 * input's error loses the rows gathered so far, as in TensorFlow; the next batch, of the same size,
 * starts with the next element. */
#include "base/minmax.h"
#include "data/plan/argument_rows.h"
#include "data/run/rows.h"
#include <leat/data_ops.h>
#include <string.h>

struct rebatch_args {
    leati_ints batch_size;
    bool drop_remainder;
};

static const leati_row rebatch_rows[] = {
    {.name = "batch_size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct rebatch_args, batch_size),
     .doc = "Rows of a batch, or a list of sizes taken in turn."},
    LEATI_ROW_DROP_REMAINDER(struct rebatch_args),
    {0},
};

struct rebatch_state {
    leati_input input;
    leati_leaves leaves;
    leati_pieces pieces;
    bool ended;     /* a batch met the input's end; sizes of 0 give nothing from then on */
    int32_t next;   /* place in the list of sizes */
    int64_t offset; /* rows of the input's present element that were given away */
    int64_t rows;   /* of the present element, -1: not looked at yet */
};

static leat_status rebatch_check(leat_dataset *dataset, leat_error *err) {
    const struct rebatch_args *args = dataset->args;
    for (int i = 0; i < args->batch_size.count; i++) {
        if (args->batch_size.values[i] < 0) {
            return leati_refuse(err, VALUE, "rebatch: batch_size %lld; expected at least 0",
                                (long long)args->batch_size.values[i]);
        }
    }
    if (args->batch_size.count == 0) {
        return leati_refuse(err, VALUE,
                            "rebatch: batch_size is an empty list; expected at least one size");
    }
    return LEAT_OK;
}

/* The batch dimensions that are known before the run. */
struct known_size {
    int64_t size; /* LEAT_UNKNOWN_DIM: none is */
    bool differ;
};

/* Called for the shape of each component, of which it changes nothing. */
static int64_t note_size(const leat_shape *shape, const void *context) {
    struct known_size *known = *(struct known_size *const *)context;
    int64_t size = shape->rank > 0 ? shape->dims[0] : LEAT_UNKNOWN_DIM;
    known->differ = known->differ || (known->size >= 0 && size >= 0 && size != known->size);
    known->size = size >= 0 ? size : known->size;
    return size;
}

static int64_t static_size(const leat_shape *shape, const void *context) {
    (void)shape;
    return *(const int64_t *)context;
}

/* The input's spec with the batch dimensions that `size` says, refused in TensorFlow's words. */
static leat_spec *resized(const leat_dataset *dataset,
                          int64_t (*size)(const leat_shape *, const void *), const void *context,
                          leat_error *err) {
    leat_error local = {0};
    leat_spec *spec = leati_spec_resize(dataset->inputs[0]->spec, size, context, &local);
    if (spec == NULL) {
        leati_prefix(&local,
                     local.reason == LEAT_REASON_SHAPE
                         ? "rebatch: Invalid `batch_sizes`. Expected dataset with rank of >= 1 "
                           "but found a dataset with scalar elements; batch them first"
                         : "rebatch");
        *err = local;
    }
    return spec;
}

/* The static batch dimension is known if all sizes are equal and every batch is full, which the
 * known batch dimension of any component says for all. A size of 0 divides every dimension, as in
 * TensorFlow. */
static leat_spec *rebatch_spec(const leat_dataset *dataset, leat_error *err) {
    const struct rebatch_args *args = dataset->args;
    int64_t size = args->batch_size.values[0];
    struct known_size known = {.size = LEAT_UNKNOWN_DIM}, *noted = &known;
    bool equal = true;
    for (int i = 1; i < args->batch_size.count; i++)
        equal = equal && args->batch_size.values[i] == size;
    leat_spec *input = resized(dataset, note_size, &noted, err);
    if (input == NULL)
        return NULL;
    leat_spec_unref(input);
    if (equal && !args->drop_remainder && known.differ) {
        leati_refuse(err, VALUE,
                     "rebatch: the batches of the components differ in size, one has %lld rows; "
                     "expected one size for all",
                     (long long)known.size);
        return NULL;
    }
    bool full = args->drop_remainder || (known.size >= 0 && (size == 0 || known.size % size == 0));
    size = equal && full ? size : LEAT_UNKNOWN_DIM;
    return resized(dataset, static_size, &size, err);
}

static int64_t rebatch_cardinality(const leat_dataset *dataset) {
    int64_t input = dataset->inputs[0]->cardinality;
    return input == LEAT_INFINITE_CARDINALITY ? input : LEAT_UNKNOWN_CARDINALITY;
}

static leat_status rebatch_open(leati_node_state *node, void *state, leat_error *err) {
    struct rebatch_state *s = state;
    leat_status status = leati_rows_open(&s->leaves, &s->input, node, err);
    s->input.ends_at_error = true;
    return status;
}

static int64_t next_size(const leati_node_state *node, struct rebatch_state *s) {
    const struct rebatch_args *args = node->dataset->args;
    int64_t size = args->batch_size.values[s->next];
    s->next = (s->next + 1) % args->batch_size.count;
    return size;
}

static void next_element(struct rebatch_state *s) {
    leati_input_consume(&s->input, 1);
    s->offset = 0;
    s->rows = -1;
}

/* Gathers up to `size` rows. END: the input has no more (there may be rows all the same). */
static leati_tail gather_rows(struct rebatch_state *s, int64_t size, int64_t *rows,
                              leat_error *err) {
    *rows = 0;
    while (*rows < size) {
        int64_t available = 0;
        leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
        if (available == 0) {
            if (tail == LEATI_ERROR)
                leati_input_consume(&s->input, 1);
            s->ended = tail == LEATI_END;
            return tail;
        }
        int64_t at = leati_input_begin(&s->input);
        /* Once for each element; after restoring, too, because a state has only the offset. */
        if (s->rows < 0 &&
            leati_leaves_rows(&s->leaves, &s->input.block, at, &s->rows, err) != LEAT_OK) {
            next_element(s);
            return LEATI_ERROR;
        }
        if (s->offset > s->rows) {
            leati_fail(err, LEAT_DATA_LOSS,
                       "rebatch: a saved place of row %lld in an element of %lld; restore with the "
                       "same input",
                       (long long)s->offset, (long long)s->rows);
            next_element(s);
            return LEATI_ERROR;
        }
        int64_t left = s->rows - s->offset, n = LEATI_MIN(left, size - *rows);
        /* An element may have no rows. */
        if (n > 0 && leati_rows_pieces_add(&s->pieces, &s->leaves, &s->input.block, at, s->offset,
                                           n, err) != LEAT_OK)
            return LEATI_ERROR;
        *rows += n;
        s->offset += n;
        if (s->offset >= s->rows)
            next_element(s);
    }
    return LEATI_MORE;
}

/* An element without rows. */
static leat_status empty_element(const leati_node_state *node, const struct rebatch_state *s,
                                 leati_block *out, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int l = 0; l < s->leaves.count && status == LEAT_OK; l++)
        status = leati_leaves_check_empty("an empty batch", &s->leaves.items[l], err);
    return status == LEAT_OK ? leati_rows_empty_element(node->dataset->spec, out, err) : status;
}

static leati_tail rebatch_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    (void)want;
    struct rebatch_state *s = state;
    const struct rebatch_args *args = node->dataset->args;
    int32_t present = s->next;
    int64_t size = next_size(node, s), rows = 0;
    leati_block_clear(out);
    if (size == 0) {
        return s->ended                                      ? LEATI_END
               : empty_element(node, s, out, err) == LEAT_OK ? LEATI_MORE
                                                             : LEATI_ERROR;
    }
    leati_tail tail = gather_rows(s, size, &rows, err);
    /* A batch that an error broke off is tried again with its size. */
    if (tail == LEATI_ERROR || rows == 0 || (rows < size && args->drop_remainder)) {
        leati_rows_pieces_clear(&s->pieces);
        s->next = tail == LEATI_ERROR ? present : s->next;
        return tail;
    }
    /* The end is told by the next pull, because a size of 0 may come first only while it has not
     * been seen. */
    return leati_rows_pieces_join(&s->pieces, &s->leaves, out, err) == LEAT_OK ? LEATI_MORE
                                                                               : LEATI_ERROR;
}

static leat_status rebatch_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct rebatch_state *s = state;
    leati_put_int(out, s->next);
    leati_put_int(out, s->offset);
    leati_put_uint(out, s->ended);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status rebatch_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    const struct rebatch_args *args = node->dataset->args;
    struct rebatch_state *s = state;
    int64_t next = 0;
    uint64_t ended = 0;
    leat_status status = leati_get_int(in, &next, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->offset, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &ended, err);
    s->ended = ended != 0;
    if (status == LEAT_OK && (next < 0 || next >= args->batch_size.count || s->offset < 0)) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "rebatch: a saved place of %lld in a list of %d sizes", (long long)next,
                          args->batch_size.count);
    }
    s->next = (int32_t)next;
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static void rebatch_start(leati_node_state *node, void *state) {
    (void)node;
    struct rebatch_state *s = state;
    s->next = 0;
    s->offset = 0;
    s->rows = -1;
    s->ended = false;
}

static void rebatch_close(leati_node_state *node, void *state) {
    (void)node;
    struct rebatch_state *s = state;
    leati_input_close(&s->input);
    leati_rows_pieces_fini(&s->pieces);
    leati_leaves_fini(&s->leaves);
}

const leati_dataset_op leati_op_rebatch = {
    .name = "rebatch",
    .version = 1,
    .doc = "Batches of other sizes from the rows of the input's batches. Saved as positions; "
           "restoring costs one input element.",
    .names = "Dataset.rebatch",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct rebatch_args),
    .rows = rebatch_rows,
    .check = rebatch_check,
    .spec = rebatch_spec,
    .cardinality = rebatch_cardinality,
    .state_size = sizeof(struct rebatch_state),
    .start = rebatch_start,
    .open = rebatch_open,
    .pull = rebatch_pull,
    .save = rebatch_save,
    .restore = rebatch_restore,
    .close = rebatch_close,
};

leat_dataset *leat_dataset_rebatch(leat_dataset *input, const int64_t *batch_sizes, int num_sizes,
                                   bool drop_remainder, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct rebatch_args args = {
        .batch_size = {.values = (int64_t *)batch_sizes, .count = num_sizes},
        .drop_remainder = drop_remainder};
    return leati_dataset_new(&leati_op_rebatch, &args, &input, 1, err);
}
