/* check_numerics: the input unchanged; a run where a value is NaN or infinite fails with the
 * message (tf.debugging.check_numerics).
 *
 * Hands out a view. The gradient is checked, too. Fails in inference on other dtypes than floats.
 * No state, no locks. */
#include "core/half.h"
#include "graph/support/support.h"

#include <math.h>

struct check_numerics_args {
    char *message;
};

static const leati_row check_numerics_rows[] = {
    {.name = "message",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct check_numerics_args, message),
     .doc = "The beginning of the failure's text."},
    {0},
};

static leat_status check_numerics_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the input is %s; expected floats", leat_dtype_name(dtype));
    return leati_op_infer_same(call, err);
}

static double value_at(leat_dtype dtype, const char *data, int64_t i) {
    switch (dtype) {
    case LEAT_FLOAT16:
        return (double)leati_float_of_half(((const uint16_t *)(const void *)data)[i]);
    case LEAT_BFLOAT16:
        return (double)leati_float_of_bfloat16(((const uint16_t *)(const void *)data)[i]);
    case LEAT_FLOAT32: return (double)((const float *)(const void *)data)[i];
    default: return ((const double *)(const void *)data)[i];
    }
}

static leat_status check_row(const leati_kernel_call *call, int64_t row, leat_error *err) {
    const struct check_numerics_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    const char *data = leati_support_row_of(in, row);
    bool nan = false, inf = false;
    /* All values are read, because the text says whether there are infinities, NaN or both. */
    for (int64_t i = 0; i < in->count; i++) {
        double x = value_at(in->dtype, data, i);
        nan = nan || isnan(x);
        inf = inf || isinf(x);
    }
    if (!nan && !inf)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "%s : Tensor had %s values",
                        args->message != NULL ? args->message : "",
                        nan && inf ? "Inf and NaN"
                        : nan      ? "NaN"
                                   : "Inf");
}

static leat_status check_numerics_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(check_row(call, row, err));
    }
    call->failed_row = 0;
    return leati_support_view_as(call, &shape, err);
}

static leat_status check_numerics_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* A NaN may come up in the gradient alone, so that is checked with the same message. */
    call->input_gradients[0] =
        leati_graph_build1(&leati_tensor_op_check_numerics, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_check_numerics = {
    .name = "check_numerics",
    .version = 1,
    .doc = "The input unchanged; NaN and infinities fail the run with the message "
           "(tf.debugging.check_numerics).",
    .names = "debugging.check_numerics",
    .inputs = "tensor",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = check_numerics_rows,
    .args_size = sizeof(struct check_numerics_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = check_numerics_infer,
    .kernel = check_numerics_kernel,
    .gradient = check_numerics_gradient,
};
