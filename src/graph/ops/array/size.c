/* size: the number of values of a tensor, as int32 or int64 (tf.size). No gradient, no state, no
 * locks. */
#include "graph/support/array/counts.h"

const leati_row leati_counts_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct leati_counts_args, out_type),
     .default_number = LEAT_INT32,
     .doc = "int32 or int64."},
    {0},
};

leat_status leati_counts_check(const struct leati_counts_args *args, leat_error *err) {
    if (args->out_type == LEAT_INT32 || args->out_type == LEAT_INT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "out_type is %s; expected int32 or int64",
                        leat_dtype_name(args->out_type));
}

void leati_counts_write(leati_kernel_call *call, const int64_t *numbers, int64_t count) {
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < count; i++)
            if (out->dtype == LEAT_INT32)
                ((int32_t *)to)[i] = (int32_t)numbers[i];
            else
                ((int64_t *)to)[i] = numbers[i];
    }
}

static leat_status size_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_counts_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_counts_check(args, err));
    return leati_op_infer_output(call, args->out_type, &scalar, NULL, err);
}

static leat_status size_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    leati_counts_write(call, &call->inputs[0].count, 1);
    return LEAT_OK;
}

leat_value leat_op_size(leat_value x, leat_dtype dtype) {
    struct leati_counts_args args = {.out_type = dtype};
    return leati_graph_build1(&leati_tensor_op_size, &args, x);
}

const leati_tensor_op leati_tensor_op_size = {
    .name = "size",
    .version = 1,
    .doc = "The number of values (tf.size).",
    .names = "size",
    .inputs = "input",
    .signature = "input out_type=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .of_shape = "size",
    .rows = leati_counts_rows,
    .args_size = sizeof(struct leati_counts_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = size_infer,
    .kernel = size_kernel,
};
