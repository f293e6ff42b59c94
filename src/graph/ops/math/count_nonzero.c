/* count_nonzero: how many values are not 0, false or an empty string, over the named dimensions or
 * all (tf.math.count_nonzero).
 *
 * NaN counts. The numbers are summed as int64 and then cast. Fails where an axis is outside the
 * input. No gradient, no state, no locks. */
#include "core/tensor.h"
#include "graph/support/math/reduce.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct count_nonzero_args {
    struct leati_reduce_args reduce;
    leat_dtype dtype;
};

static const leati_row count_nonzero_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct count_nonzero_args, reduce.axis),
     .doc = "The dimensions to count over; none named: all."},
    {.name = "keepdims",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     .offset = offsetof(struct count_nonzero_args, reduce.keepdims),
     .doc = "Leave counted dimensions as 1."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct count_nonzero_args, dtype),
     .default_number = LEAT_INT64,
     .doc = "The dtype of the result, a number."},
    {0},
};

static leat_status count_nonzero_infer(leati_infer_call *call, leat_error *err) {
    const struct count_nonzero_args *args = call->args;
    LEATI_TRY(leati_support_want_values(call, 0, err));
    if (!leati_dtype_is_number(args->dtype))
        return leati_refuse(err, DTYPE, "dtype is %s; expected a number",
                            leat_dtype_name(args->dtype));
    return leati_reduce_infer_as(call, args->dtype, err);
}

/* Of each value of every row: is it anything? */
static leat_status find_truth(leati_kernel_call *call, leati_operand *truth, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    if (in->dtype != LEAT_STRING)
        return leati_support_inner_truth(call, in, truth, err);
    size_t bytes = 0;
    if (!leati_mul_size((size_t)in->count, (size_t)call->n, &bytes))
        return leati_no_memory(err);
    *truth = *in;
    truth->dtype = LEAT_BOOL;
    truth->owner = NULL;
    truth->row_stride = in->count;
    truth->data = leati_arena_alloc(call->arena, bytes);
    if (truth->data == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < in->count; i++)
            leati_support_row_of(truth, row)[i] = leati_text_strings_of(in, row)[i].size > 0;
    return LEAT_OK;
}

/* How many there are, as int64, over rows that lie one behind the other. */
static leat_status count(leati_kernel_call *call, const leati_operand *in, const bool *mask,
                         leati_operand *numbers, leat_error *err) {
    LEATI_TRY(leati_support_inner_memory(call, &call->outputs[0], LEAT_INT64, numbers, err));
    leati_kernel_call inner = *call;
    inner.inputs = in;
    inner.outputs = numbers;
    return leati_reduce(&inner, mask, LEATI_REDUCE_COUNT, err);
}

static leat_status count_nonzero_kernel(leati_kernel_call *call, leat_error *err) {
    const struct count_nonzero_args *args = call->args;
    leat_shape in = leati_support_operand_shape(&call->inputs[0]);
    const leati_operand *out = &call->outputs[0], *from = &call->inputs[0];
    leati_operand truth, numbers;
    bool mask[LEAT_MAX_RANK];
    LEATI_TRY(leati_reduce_mask(&args->reduce.axis, in.rank, mask, err));
    leat_shape shape = leati_reduce_shape(&in, mask, args->reduce.keepdims);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (from->dtype != LEAT_BOOL && from->dtype != LEAT_INT32 && from->dtype != LEAT_FLOAT32) {
        LEATI_TRY(find_truth(call, &truth, err));
        from = &truth;
    }
    LEATI_TRY(count(call, from, mask, &numbers, err));
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++) {
            int64_t number =
                ((const int64_t *)(const void *)leati_support_row_of(&numbers, row))[i];
            char *to = leati_support_row_of(out, row) + (size_t)i * leat_dtype_size(out->dtype);
            /* The imaginary part of a complex number is 0. */
            memset(to, 0, leat_dtype_size(out->dtype));
            /* A double counts exactly to 2^53, more values than memory holds. */
            (void)leati_support_store_number(leati_dtype_part(out->dtype), (double)number, to);
        }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_count_nonzero = {
    .name = "count_nonzero",
    .version = 1,
    .doc = "How many values are not 0, false or an empty string, over the named dimensions or "
           "all (tf.math.count_nonzero).",
    .names = "math.count_nonzero",
    .inputs = "input",
    .signature = "input axis keepdims=null dtype",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = count_nonzero_rows,
    .args_size = sizeof(struct count_nonzero_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = count_nonzero_infer,
    .kernel = count_nonzero_kernel,
};
