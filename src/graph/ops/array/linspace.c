/* linspace: numbers in equal steps from start to stop, both among them (tf.linspace).
 *
 * The bounds are scalars. Fails where fewer than none is asked for. The gradient weighs each number
 * by its place between the bounds. No state, no locks. */
#include "graph/support/support.h"

struct linspace_args {
    int64_t num;
};

static const leati_row linspace_rows[] = {
    {.name = "num",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct linspace_args, num),
     .minimum = 0,
     .maximum = INT64_MAX,
     .doc = "How many numbers."},
    {0},
};

static leat_status linspace_infer(leati_infer_call *call, leat_error *err) {
    const struct linspace_args *args = call->args;
    leat_shape shape = LEAT_SHAPE(call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->num);
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_support_want_float(call, 0, "a bound", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "start", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "stop", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* Each place is computed from the start alone, so that no error adds up; the first and the last
 * are the bounds, also infinite ones. */
#define FILL(TYPE)                                                                                 \
    do {                                                                                           \
        TYPE start = *(const TYPE *)(const void *)leati_support_row_of(&call->inputs[0], row);     \
        TYPE stop = *(const TYPE *)(const void *)leati_support_row_of(&call->inputs[1], row);      \
        TYPE step = num > 1 ? (stop - start) / (TYPE)(num - 1) : 0;                                \
        TYPE *to = (TYPE *)(void *)leati_support_row_of(&call->outputs[0], row);                   \
        for (int64_t i = 0; i < num; i++)                                                          \
            to[i] = i == 0 ? start : i == num - 1 ? stop : start + step * (TYPE)i;                 \
    } while (0)

static leat_status linspace_kernel(leati_kernel_call *call, leat_error *err) {
    const struct linspace_args *args = call->args;
    int64_t num = args->num;
    leat_shape shape = LEAT_SHAPE(num);
    /* Bounds of unknown rank have passed inference. */
    for (int i = 0; i < 2; i++)
        if (call->inputs[i].rank != 0)
            return leati_refuse(err, SHAPE, "a bound has rank %d; expected rank 0",
                                (int)call->inputs[i].rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++)
        if (call->inputs[0].dtype == LEAT_FLOAT32)
            FILL(float);
        else
            FILL(double);
    return LEAT_OK;
}

static leat_status linspace_gradient(leati_gradient_call *call, leat_error *err) {
    leat_graph *graph = call->graph;
    leat_dtype dtype = leat_value_dtype(call->inputs[0]);
    leat_value g = call->output_gradients[0];
    (void)err;
    /* Number i is start + (stop - start) t[i], where t runs from 0 to 1: t is the share of the
     * gradient that goes to stop. */
    leat_value zero = leati_support_number(graph, dtype, 0),
               one = leati_support_number(graph, dtype, 1);
    /* One number alone is the start. */
    leat_value parts = leati_graph_build2(&leati_tensor_op_linspace, call->args, zero, one);
    leat_value to_stop = leat_op_reduce_sum(leat_op_multiply(g, parts), NULL, 0, false);
    call->input_gradients[0] = leat_op_subtract(leat_op_reduce_sum(g, NULL, 0, false), to_stop);
    call->input_gradients[1] = to_stop;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_linspace = {
    .name = "linspace",
    .version = 1,
    .doc = "Numbers in equal steps from start to stop, both among them (tf.linspace).",
    .names = "linspace",
    .inputs = "start stop",
    .signature = "start stop num name axis=0",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_FLOAT,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = linspace_rows,
    .args_size = sizeof(struct linspace_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = linspace_infer,
    .kernel = linspace_kernel,
    .gradient = linspace_gradient,
};
