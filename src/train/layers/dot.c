/* Dot: for each row, products of two inputs summed along an axis of each (keras.layers.Dot). Happy
 * path: the axes are brought together, and what is left of both becomes a matrix product.
 * Failures: other than two inputs, sizes that differ, more unknown sizes than a product can keep.
 * No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <string.h>

struct dot_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints axes;
    bool normalize;
};

static const leati_row dot_rows[] = {
    LEATI_LAYER_ROW(dot_args, axes, INTS, .flags = LEATI_REQUIRED,
                    .doc = "The axis of both, or one for each; not the batch's."),
    LEATI_LAYER_ROW(dot_args, normalize, BOOL,
                    .doc = "Whether both are divided by their norms first: cosines."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status dot_check(const void *arguments, leat_error *err) {
    const struct dot_args *args = arguments;
    LEATI_TRY(leati_layer_check_numbers(&args->axes, "axes", 2, err));
    for (int32_t i = 0; i < args->axes.count; i++)
        if (args->axes.values[i] == 0)
            return leati_refuse(err, VALUE, "axes has 0, the batch; expected an axis of the rows");
    return args->axes.count > 0 ? LEAT_OK
                                : leati_refuse(err, VALUE, "axes is empty; expected an axis");
}

/* x divided by its norm along an axis (keras.utils.normalize). */
static leat_value normalized(leat_value x, int32_t axis) {
    const int64_t axes[1] = {axis};
    leat_value sum = leat_op_reduce_sum(leat_op_square(x), axes, 1, true);
    leat_value least = leati_support_number(x.graph, leat_value_dtype(x), 1e-12);
    return leat_op_multiply(x, leat_op_rsqrt(leat_op_maximum(sum, least)));
}

/* x as [batch, rest, size] (`last`) or [batch, size, rest]; a vector's rest is 1. */
static leat_value as_matrix(leat_value x, int32_t axis, bool last) {
    leat_shape shape = leat_value_shape(x);
    int64_t order[LEAT_MAX_RANK] = {0}, flat[3] = {shape.dims[0], 0, 0}, rest = 1;
    int32_t at = 1;
    if (!last)
        order[at++] = axis;
    for (int32_t d = 1; d < shape.rank; d++)
        if (d != axis) {
            order[at++] = d;
            /* One unknown size makes the product unknown, and -1 stands for it in the reshape. */
            rest = rest < 0 || shape.dims[d] < 0 ? -1 : rest * shape.dims[d];
        }
    if (last)
        order[at] = axis;
    flat[last ? 2 : 1] = shape.dims[axis];
    flat[last ? 1 : 2] = rest;
    return leat_op_reshape(leat_op_transpose(x, order, shape.rank), flat, 3);
}

static int unknown_sizes(const leat_shape *shape) {
    int count = 0;
    for (int32_t d = 0; d < shape->rank; d++)
        count += shape->dims[d] < 0;
    return count;
}

static leat_value dot_call(const leati_pass *pass) {
    static const char too_unknown[] = "only one dimension, as the batch's, may be unknown";
    const struct dot_args *args = pass->args;
    leat_graph *graph = pass->inputs[0].graph;
    leat_shape out = {.rank = 1};
    leat_value sides[2];
    int64_t axes[2];
    leat_error err = {0};
    if (pass->num_inputs != 2)
        return leati_support_build_error(
            graph, LEAT_REASON_STRUCTURE,
            "a `Dot` layer should be called on a list of exactly 2 inputs");
    /* One number counts for both inputs. */
    leati_layer_numbers_of(&args->axes, -1, 2, axes);
    for (int i = 0; i < 2; i++) {
        leat_shape shape = leat_value_shape(pass->inputs[i]);
        int32_t axis = 0;
        if (leati_support_normal_axis(axes[i], shape.rank, &axis, &err) != LEAT_OK)
            return leati_graph_error(graph, &err);
        if (axis == 0)
            return leati_support_build_error(graph, LEAT_REASON_VALUE,
                                             "axes names the batch; expected an axis of the rows");
        if (unknown_sizes(&shape) > 1)
            return leati_support_build_error(graph, LEAT_REASON_SHAPE, too_unknown);
        /* Either input's batch will do; they are compared by the product. */
        out.dims[0] = shape.dims[0];
        for (int32_t d = 1; d < shape.rank && out.rank < LEAT_MAX_RANK; d++)
            if (d != axis)
                out.dims[out.rank++] = shape.dims[d];
        sides[i] = args->normalize ? normalized(pass->inputs[i], axis) : pass->inputs[i];
        /* [batch, rest, size] times [batch, size, rest] sums along the axes. */
        sides[i] = as_matrix(sides[i], axis, i == 0);
    }
    if (unknown_sizes(&out) > 1)
        return leati_support_build_error(graph, LEAT_REASON_SHAPE, too_unknown);
    if (out.rank == 1) /* two vectors: one number for each row */
        out.dims[out.rank++] = 1;
    return leat_op_reshape(leat_op_matmul(sides[0], sides[1], false, false), out.dims, out.rank);
}

const leati_layer_kind leati_layer_dot = {
    .kind =
        {
            .name = "Dot",
            .doc = "For each row, products of two inputs summed along an axis of each "
                   "(keras.layers.Dot).",
            .rows = dot_rows,
            .signature = "axes normalize",
            .args_size = sizeof(struct dot_args),
            .check = dot_check,
        },
    .prefix = "dot",
    .merges = true,
    .min_rank = 2,
    .expects = "[batch, ...]",
    .call = dot_call,
};
