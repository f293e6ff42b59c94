/* in_top_k: is each line's target among its k largest predictions (tf.math.in_top_k)?
 *
 * Inputs: targets [n], predictions [n, classes]. A target that ties with the k-th counts. A target
 * that is no class, or a line with a prediction that is not finite, is false. Fails where shapes do
 * not fit. No gradient, no state, no locks. */
#include "graph/support/support.h"

#include <math.h>

struct in_top_k_args {
    int64_t k;
};

static const leati_row in_top_k_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct in_top_k_args, k),
     .doc = "How many of the largest predictions."},
    {0},
};

static leat_status in_top_k_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_index(call, 0, "targets", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_FLOAT32, "predictions", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 1, "targets", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 2, "predictions", err));
    const leat_shape *targets = &call->inputs[0].shape, *lines = &call->inputs[1].shape;
    if (targets->rank == 1 && lines->rank == 2)
        LEATI_TRY(leati_support_want_equal_dims(targets->dims[0], lines->dims[0],
                                                "targets and lines of predictions", err));
    if (targets->rank == 1)
        shape.dims[0] = targets->dims[0];
    if (lines->rank == 2 && shape.dims[0] == LEAT_UNKNOWN_DIM)
        shape.dims[0] = lines->dims[0];
    return leati_op_infer_output(call, LEAT_BOOL, &shape, NULL, err);
}

/* Counts what lies above the target instead of sorting: what ties with it does not push it out. */
static bool is_in(const float *line, int64_t classes, int64_t target, int64_t k) {
    int64_t larger = 0;
    if (target < 0 || target >= classes || !isfinite(line[target]))
        return false;
    for (int64_t c = 0; c < classes; c++) {
        /* As TensorFlow has it, a line that cannot be put in order is false for any target. */
        if (!isfinite(line[c]))
            return false;
        larger += line[c] > line[target];
    }
    return larger < k;
}

static leat_status in_top_k_kernel(leati_kernel_call *call, leat_error *err) {
    const struct in_top_k_args *args = call->args;
    const leati_operand *targets = &call->inputs[0], *lines = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(targets);
    if (targets->rank != 1 || lines->rank != 2)
        return leati_refuse(err, SHAPE, "targets have rank %d and predictions %d; expected 1 and 2",
                            (int)targets->rank, (int)lines->rank);
    LEATI_TRY(leati_support_want_equal_dims(targets->dims[0], lines->dims[0],
                                            "targets and lines of predictions", err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t classes = lines->dims[1];
    for (int64_t row = 0; row < call->n; row++) {
        const float *line = (const float *)(const void *)leati_support_row_of(lines, row);
        bool *to = (bool *)leati_support_row_of(&call->outputs[0], row);
        for (int64_t i = 0; i < targets->count; i++)
            to[i] = is_in(line + i * classes, classes, leati_support_index_at(targets, row, i),
                          args->k);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_in_top_k = {
    .name = "in_top_k",
    .version = 1,
    .doc = "Is each line's target among its k largest predictions (tf.math.in_top_k)?",
    .names = "math.in_top_k nn.in_top_k",
    .inputs = "targets predictions",
    .types = "T float32",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = in_top_k_rows,
    .args_size = sizeof(struct in_top_k_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = in_top_k_infer,
    .kernel = in_top_k_kernel,
};
