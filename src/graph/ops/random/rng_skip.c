/* rng_skip: the state of a generator after some values more (tf.random.Generator.skip).
 *
 * Inputs are the state, int64 [3] of a counter of 128 bits, low half first, and a key, and how many
 * values are passed; each takes 256 steps of the counter. Fails on other shapes. No gradient, no
 * state, no locks. */
#include "graph/support/random/stateless.h"

static leat_status rng_skip_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(3);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_INT64, "the state", err));
    LEATI_TRY(leati_support_want_index(call, 1, "delta", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "delta", err));
    if (!leati_shape_compatible(&call->inputs[0].shape, &shape))
        return leati_refuse(err, SHAPE,
                            "the state has another shape than [3]: a counter of two and a key");
    return leati_op_infer_output(call, LEAT_INT64, &shape, NULL, err);
}

static leat_status rng_skip_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(3);
    /* The three numbers are read below without a further question. */
    if (call->inputs[0].rank != 1 || call->inputs[0].count != 3 || call->inputs[1].rank != 0)
        return leati_refuse(err, SHAPE,
                            "the state has %lld values; expected a counter of two and a key",
                            (long long)call->inputs[0].count);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        const uint64_t *from =
            (const uint64_t *)(const void *)leati_support_row_of(&call->inputs[0], row);
        uint64_t *to = (uint64_t *)(void *)leati_support_row_of(&call->outputs[0], row);
        uint64_t low = from[0], high = from[1], key = from[2];
        /* Wraps for a negative delta, as TensorFlow's unsigned one does. */
        uint64_t steps =
            (uint64_t)leati_support_index_at(&call->inputs[1], row, 0) * LEATI_BLOCKS_PER_VALUE;
        to[0] = low + steps;
        /* The carry: an unsigned sum below an addend has wrapped. */
        to[1] = high + (to[0] < low);
        to[2] = key;
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_rng_skip = {
    .name = "rng_skip",
    .version = 1,
    .doc = "The state of a generator after some values more (tf.random.Generator.skip).",
    .inputs = "state delta",
    .types = "int64 Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = rng_skip_infer,
    .kernel = rng_skip_kernel,
};
