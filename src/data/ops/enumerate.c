/* enumerate: pairs of a number and an element (tf.data.Dataset.enumerate).
 *
 * The numbers start at `start` and count outcomes: an element that failed has used its number, as
 * in TensorFlow, where they come from a zipped range. Adds a column to views of its input's blocks.
 */
#include "base/minmax.h"
#include "core/pools.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct enumerate_args {
    int64_t start;
};

static const leati_row enumerate_rows[] = {
    {.name = "start",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct enumerate_args, start),
     .doc = "The first number."},
    {0},
};

struct enumerate_state {
    leati_input input;
    leati_block block; /* of the input, on its way */
    leati_pools pools; /* of numbers */
    int64_t position;  /* outcomes so far */
};

static leat_spec *enumerate_spec(const leat_dataset *dataset, leat_error *err) {
    leat_spec *children[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                              leat_spec_ref(dataset->inputs[0]->spec)};
    return leat_spec_tuple(children, 2, err);
}

static leat_status enumerate_open(leati_node_state *node, void *state, leat_error *err) {
    struct enumerate_state *s = state;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    /* TensorFlow's zip lets go of its inputs when one of them ends, also where that comes with an
     * error. */
    s->input.ends_at_error = true;
    return status;
}

static leat_status add_numbers(const leati_node_state *node, struct enumerate_state *s,
                               leati_block *out, leat_error *err) {
    const struct enumerate_args *args = node->dataset->args;
    int64_t n = s->block.n;
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)n * sizeof(int64_t), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_block_prepare(out, s->block.num_columns + 1, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        return status;
    }
    int64_t *numbers = leat_buffer_data(buffer);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (int64_t)((uint64_t)args->start + (uint64_t)(s->position + i));
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&out->columns[0], LEAT_INT64, &scalar, numbers, sizeof(int64_t), buffer);
    for (int c = 0; c < s->block.num_columns; c++)
        leati_column_copy(&s->block.columns[c], &out->columns[c + 1]);
    leati_column_copy(&s->block.origins, &out->origins);
    out->n = n;
    s->position += n;
    return LEAT_OK;
}

/* How many numbers are left: as in TensorFlow the largest int64 is not among them. */
static int64_t numbers_left(const leati_node_state *node, const struct enumerate_state *s) {
    const struct enumerate_args *args = node->dataset->args;
    int64_t last = 0, left = 0;
    /* Where the sum overflows the numbers ran out before. */
    if (__builtin_add_overflow(args->start, s->position, &last))
        return 0;
    return __builtin_sub_overflow(INT64_MAX, last, &left) ? INT64_MAX : left;
}

static leati_tail enumerate_pull(leati_node_state *node, void *state, int64_t want,
                                 leati_block *out, leat_error *err) {
    struct enumerate_state *s = state;
    int64_t available = 0;
    leati_block_clear(out);
    int64_t left = numbers_left(node, s);
    /* TensorFlow's zip asks the range first and, where that has ended, not the dataset. */
    if (left == 0)
        return LEATI_END;
    want = LEATI_MIN(left, want);
    leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
    if (available == 0) {
        /* A failed element uses its number up. */
        s->position += tail == LEATI_ERROR;
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        return tail;
    }
    int64_t n = LEATI_MIN(available, want);
    leat_status status =
        leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, &s->block, err);
    if (status == LEAT_OK)
        status = add_numbers(node, s, out, err);
    leati_block_clear(&s->block);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_input_consume(&s->input, n);
    return LEATI_MORE;
}

static leati_tail enumerate_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                    leat_error *err) {
    (void)node;
    struct enumerate_state *s = state;
    leati_tail tail = leati_input_advance(&s->input, n, passed, err);
    s->position += *passed;
    return tail;
}

static void enumerate_close(leati_node_state *node, void *state) {
    (void)node;
    struct enumerate_state *s = state;
    leati_block_fini(&s->block);
    leati_pools_close(&s->pools);
    leati_input_close(&s->input);
}

/* TensorFlow zips a range without end, which has no random access. */
static leat_status enumerate_at(leati_access *access, const int64_t *indices, int64_t n,
                                leati_block *out, leat_error *err) {
    (void)out;
    return leati_access_checked(access, indices, n, err) == 0
               ? err->code
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "the numbers have no end, which does not allow random access; zip with "
                            "a range of the dataset's length");
}

const leati_dataset_op leati_op_enumerate = {
    .name = "enumerate",
    .version = 1,
    .doc = "Pairs of a number, counted from `start`, and an element. Saved as the number and the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.enumerate experimental.enumerate_dataset",
    .shown = "Zip",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct enumerate_args),
    .rows = enumerate_rows,
    .spec = enumerate_spec,
    .state_size = sizeof(struct enumerate_state),
    .open = enumerate_open,
    .saved = {LEATI_SAVED(struct enumerate_state, position)},
    .pull = enumerate_pull,
    .advance = enumerate_advance,
    .close = enumerate_close,
    .at = enumerate_at,
};

leat_dataset *leat_dataset_enumerate(leat_dataset *input, int64_t start, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_enumerate, &(struct enumerate_args){.start = start}, &input,
                             1, err);
}
