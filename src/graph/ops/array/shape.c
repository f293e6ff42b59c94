/* shape: the dimensions of a tensor, as a vector of int32 or int64 (tf.shape). No gradient, no
 * state, no locks. */
#include "graph/known.h"
#include "graph/support/array/counts.h"

static leat_status shape_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_counts_args *args = call->args;
    int32_t rank = call->inputs[0].shape.rank;
    leat_shape shape = LEAT_SHAPE(rank >= 0 ? rank : LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_counts_check(args, err));
    return leati_op_infer_output(call, args->out_type, &shape, NULL, err);
}

static leat_status shape_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = LEAT_SHAPE(in->rank);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_counts_write(call, in->dims, in->rank);
    return LEAT_OK;
}

static bool shape_known(const leati_known_call *call, leati_known *out) {
    const leat_shape *shape = &call->types[0]->shape;
    if (shape->rank < 0)
        return false;
    *out = (leati_known){.rank = 1, .count = shape->rank};
    for (int32_t d = 0; d < shape->rank; d++)
        out->values[d] = shape->dims[d] < 0 ? LEATI_UNKNOWN_NUMBER : shape->dims[d];
    return true;
}

leat_value leat_op_shape(leat_value x, leat_dtype dtype) {
    struct leati_counts_args args = {.out_type = dtype};
    return leati_graph_build1(&leati_tensor_op_shape, &args, x);
}

const leati_tensor_op leati_tensor_op_shape = {
    .name = "shape",
    .version = 1,
    .doc = "The dimensions as a vector (tf.shape).",
    .names = "shape",
    .inputs = "input",
    .signature = "input out_type=null",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .of_shape = "dimensions",
    .rows = leati_counts_rows,
    .args_size = sizeof(struct leati_counts_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = shape_infer,
    .kernel = shape_kernel,
    .known = shape_known,
};
