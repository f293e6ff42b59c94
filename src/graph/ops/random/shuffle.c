/* random_shuffle, stateless_shuffle: rows, along the first dimension, in a random order, or in that
 * of a seed (tf.random.shuffle, tf.random.experimental.stateless_shuffle), as TensorFlow's kernels
 * do on a CPU.
 *
 * A shuffle takes one word of the stream for each place but the last; see random.h and stateless.h.
 * They fail without memory and on what is no seed. No gradient, no state, no locks. */
#include "base/stop.h"
#include "graph/support/random/stateless.h"

#include <string.h>

static leat_status permute_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *shape = &call->inputs[0].shape;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, shape, NULL, err);
}

/* Gives output 0 its shape; how many blocks of a stream a row takes, 0: nothing is drawn. */
static leat_status permute_begin(leati_kernel_call *call, uint64_t *out_blocks, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    /* A shuffle of n rows takes n - 1 words, four a block, rounded up. One row takes none. */
    *out_blocks =
        in->rank == 0 || in->count <= 1 || in->dims[0] <= 1 ? 0 : ((uint64_t)in->dims[0] + 2) / 4;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Once for all rows: the output keeps the input's bytes alive. */
    return in->dtype == LEAT_STRING ? leati_support_hold_strings(call, 0, err) : LEAT_OK;
}

static leat_status permute_row(leati_kernel_call *call, int64_t row, leati_philox stream,
                               leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    const char *from = leati_support_row_of(in, row);
    char *to = leati_support_row_of(&call->outputs[0], row);
    int64_t count = in->rank == 0 ? 1 : in->dims[0]; /* a scalar is a row */
    if (in->count == 0)
        return LEAT_OK;
    /* A row of the first dimension, in bytes; strings are moved as pointers. */
    size_t size = (size_t)(in->count / count) * leat_dtype_size(in->dtype);
    int64_t *order = leati_arena_alloc(call->arena, (size_t)count * sizeof *order);
    if (order == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < count && !leati_stop_look_at(i); i++)
        order[i] = i;
    /* Fisher-Yates from the front, as TensorFlow does it. */
    leati_words words = {.philox = stream, .used = 4};
    /* The last place has nothing left to change with. */
    for (int64_t i = 0; i + 1 < count && in->count > 1 && !leati_stop_look_at(i); i++) {
        /* The remainder is not quite even, which is TensorFlow's choice, too. */
        int64_t other = i + leati_words_next(&words) % (uint32_t)(count - i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    int64_t done = 0;
    LEATI_TRY(leati_stop_check(err)); /* else places are missing */
    for (int64_t i = 0; i < count && !leati_stop_look_after(8 + (int64_t)size, &done); i++)
        /* Copied once: swapping the rows themselves would move each several times. */
        memcpy(to + (size_t)i * size, from + (size_t)order[i] * size, size);
    return LEAT_OK;
}

static const leati_row random_shuffle_rows[] = {LEATI_SEED_ROWS};

static leat_status random_shuffle_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(permute_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        LEATI_TRY(
            leati_random_stream(call, &leati_tensor_op_random_shuffle, row, blocks, &stream, err));
        LEATI_TRY(permute_row(call, row, stream, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_random_shuffle = {
    .name = "random_shuffle",
    .version = 1,
    .doc = "Rows, along the first dimension, in a random order (tf.random.shuffle).",
    .names = "random.shuffle",
    .inputs = "value",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = random_shuffle_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_RANDOM,
    .infer = permute_infer,
    .complete = leati_random_complete,
    .kernel = random_shuffle_kernel,
};

static const leati_row stateless_shuffle_rows[] = {LEATI_ALG_ROW, {0}};

static leat_status stateless_shuffle_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_check_alg(call->args, err));
    LEATI_TRY(leati_stateless_want_seed(call, 1, false, err));
    return permute_infer(call, err);
}

static leat_status stateless_shuffle_kernel(leati_kernel_call *call, leat_error *err) {
    uint64_t blocks = 0;
    LEATI_TRY(permute_begin(call, &blocks, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox stream;
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 1, false, row, &stream, err));
        LEATI_TRY(permute_row(call, row, stream, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_stateless_shuffle = {
    .name = "stateless_shuffle",
    .version = 1,
    .doc = "Rows, along the first dimension, in the order of a seed "
           "(tf.random.experimental.stateless_shuffle).",
    .names = "random.experimental.stateless_shuffle",
    .inputs = "value seed",
    .types = "T Tseed",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = stateless_shuffle_rows,
    .args_size = sizeof(struct leati_random_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = stateless_shuffle_infer,
    .kernel = stateless_shuffle_kernel,
};
