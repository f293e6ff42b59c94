/* in_top_k: is each line's target among its k largest predictions (tf.math.in_top_k)?
 *
 * Inputs: targets [n], predictions [n, classes]. A target that ties with the k-th counts. A target
 * that is no class, or a line with a prediction that is not finite, is false. Fails where shapes do
 * not fit. No gradient, no state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "graph/support/array/moving.h"

#include <float.h>
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

typedef struct compared {
    const float *line;
    int64_t classes, larger, most;
    float target;
    bool finite;
} compared;

LEATI_ALWAYS_INLINE void compare_loop(compared *all) {
    const float *line = all->line, target = all->target;
    int64_t larger = 0;
    bool finite = true;
    /* In parts that an int32 counts, so that a vector of floats has one of counts. Once enough are
     * larger the rest decides nothing. */
    for (int64_t at = 0, part = 64; at < all->classes && larger < all->most; at += part) {
        part = LEATI_MIN(2 * part, 1 << 20);
        int32_t n = (int32_t)LEATI_MIN(all->classes - at, part), count = 0, others = 0;
        for (int32_t c = 0; c < n; c++) {
            count += line[at + c] > target;
            others += !(fabsf(line[at + c]) <= FLT_MAX);
        }
        larger += count;
        finite = finite && others == 0;
    }
    all->larger = larger;
    all->finite = finite;
}
LEATI_ISA(compare, compare_loop, compared *)

/* Counts what lies above the target instead of sorting: what ties with it does not push it out. */
static bool is_in(const float *line, int64_t classes, int64_t target, int64_t k) {
    if (target < 0 || target >= classes || !isfinite(line[target]))
        return false;
    compared all = {.line = line, .classes = classes, .target = line[target], .most = k};
    compare(&all);
    /* As TensorFlow has it, a line that cannot be put in order is false for any target. */
    return all.finite && all.larger < k;
}

typedef struct in_top_work {
    const leati_operand *targets, *lines, *out;
    int64_t row, classes, k;
} in_top_work;

static void in_top_steps(void *data, int64_t begin, int64_t end) {
    const in_top_work *w = data;
    const float *line = (const float *)(const void *)leati_support_row_of(w->lines, w->row);
    bool *to = (bool *)leati_support_row_of(w->out, w->row);
    for (int64_t i = begin; i < end; i++)
        to[i] = is_in(line + i * w->classes, w->classes,
                      leati_support_index_at(w->targets, w->row, i), w->k);
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
    in_top_work work = {.targets = targets,
                        .lines = lines,
                        .out = &call->outputs[0],
                        .classes = lines->dims[1],
                        .k = args->k};
    for (work.row = 0; work.row < call->n; work.row++)
        leati_moving_share(targets->count, 4 * work.classes, in_top_steps, &work);
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
