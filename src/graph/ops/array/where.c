/* where: the places of values that are not 0 or false, as rows of indices (tf.where with a
 * condition alone).
 *
 * In row-major order. How many there are is data, so rows run one at a time. Fails in inference on
 * strings. No state, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/support.h"

static leat_status where_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM, call->inputs[0].shape.rank);
    if (dtype != LEAT_BOOL && !leati_dtype_is_number(dtype))
        return leati_refuse(err, DTYPE, "the condition is %s; expected bool or numbers",
                            leat_dtype_name(dtype));
    if (call->inputs[0].shape.rank < 0)
        shape.dims[1] = LEAT_UNKNOWN_DIM;
    return leati_op_infer_output(call, LEAT_INT64, &shape, NULL, err);
}

/* Writes the places from `i` to `n` of a line behind `found` others; how many there are then. Each
 * place is written, and the next one over it unless it is held: no branch that a processor would
 * have to guess. Ends behind the last of `count`. */
static int64_t write_part(const bool *holds, int64_t i, int64_t n, const int64_t *prefix,
                          int32_t rank, int64_t *out, int64_t found, int64_t count) {
    if (rank == 0)
        return count;
    if (rank == 1)
        for (; i < n && found < count; i++) {
            out[found] = i;
            found += holds[i];
        }
    else if (rank == 2)
        for (; i < n && found < count; i++) {
            out[2 * found] = prefix[0];
            out[2 * found + 1] = i;
            found += holds[i];
        }
    else
        for (; i < n && found < count; i++) {
            if (!holds[i])
                continue;
            int64_t *to = out + found++ * rank;
            for (int32_t d = 0; d < rank - 1; d++)
                to[d] = prefix[d];
            to[rank - 1] = i;
        }
    return found;
}

static int64_t count_held(const bool *holds, int64_t n) {
    int64_t count = 0, done = 0;
    for (int64_t at = 0, end; at < n && !leati_stop_look_after(LEATI_STOP_WORK, &done); at = end) {
        end = LEATI_MIN(n, at + LEATI_STOP_WORK);
        for (int64_t i = at; i < end; i++)
            count += holds[i];
    }
    return count;
}

static leat_status where_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leati_operand truth;
    LEATI_TRY(leati_support_inner_truth(call, in, &truth, err));
    const bool *holds = (const bool *)truth.data;
    int64_t count = count_held(holds, in->count), done = 0;
    leat_shape shape = LEAT_SHAPE(count, in->rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t *to = (int64_t *)(void *)call->outputs[0].data;
    int64_t last = in->rank > 0 ? in->dims[in->rank - 1] : 1, found = 0;
    int64_t prefix[LEAT_MAX_RANK] = {0};
    for (int64_t line = 0; line * last < in->count && found < count && !leati_stop_stopped();
         line++) {
        /* The last dimension runs fastest: remainders give the indices from the back. */
        int64_t rest = line;
        for (int32_t d = in->rank - 2; d >= 0; d--) {
            prefix[d] = rest % in->dims[d];
            rest /= in->dims[d];
        }
        for (int64_t i = 0, end; i < last; i = end) {
            end = LEATI_MIN(last, i + LEATI_STOP_WORK);
            if (leati_stop_look_after(end - i, &done))
                break;
            found = write_part(holds + line * last, i, end, prefix, in->rank, to, found, count);
        }
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
