/* where: the places of values that are not 0 or false, as rows of indices (tf.where with a
 * condition alone).
 *
 * In row-major order. How many there are is data, so rows run one at a time. Fails in inference on
 * strings. No state, no locks. */
#include "graph/support/support.h"

#include <string.h>

static leat_status where_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM, call->inputs[0].shape.rank);
    if (dtype < LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the condition is %s; expected bool or numbers",
                            leat_dtype_name(dtype));
    if (call->inputs[0].shape.rank < 0)
        shape.dims[1] = LEAT_UNKNOWN_DIM;
    return leati_op_infer_output(call, LEAT_INT64, &shape, NULL, err);
}

static leat_status where_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leati_operand truth;
    /* As truth values, whatever the dtype; a NaN is true. */
    LEATI_TRY(leati_support_inner_cast(call, in, LEAT_BOOL, &truth, err));
    const bool *holds = (const bool *)truth.data;
    int64_t count = 0;
    for (int64_t i = 0; i < in->count; i++)
        count += holds[i];
    leat_shape shape = LEAT_SHAPE(count, in->rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    for (int64_t i = 0; i < in->count; i++) {
        /* The last dimension runs fastest: remainders give the indices from the back. */
        int64_t rest = i;
        for (int32_t d = in->rank - 1; holds[i] && d >= 0; d--) {
            to[d] = rest % in->dims[d];
            rest /= in->dims[d];
        }
        to += holds[i] ? in->rank : 0;
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_where = {
    .name = "where",
    .version = 1,
    .doc = "The places of values that are not 0 or false, as rows of indices (tf.where with a "
           "condition alone).",
    .names = "where",
    .inputs = "condition",
    .signature = "condition x=null y=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = where_infer,
    .kernel = where_kernel,
};
