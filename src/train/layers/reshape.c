/* Reshape: the values of each row under another shape (keras.layers.Reshape). Failures: a shape of
 * another number of values. No state, no locks. */
#include "base/error.h"
#include "base/minmax.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct reshape_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints target_shape;
};

static const leati_row reshape_rows[] = {
    LEATI_LAYER_ROW(reshape_args, target_shape, INTS, .flags = LEATI_REQUIRED, .minimum = -1,
                    .maximum = INT64_MAX,
                    .doc = "The shape of a row, without the batch's dimension; -1 once for what "
                           "is left."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status reshape_check(const void *arguments, leat_error *err) {
    const struct reshape_args *args = arguments;
    int open = 0;
    for (int32_t i = 0; i < args->target_shape.count; i++)
        open += args->target_shape.values[i] < 0;
    if (open < 2 && args->target_shape.count < LEAT_MAX_RANK)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "target_shape has %d dimensions, %d of them -1; expected at most %d, and -1 "
        "at most once",
        (int)args->target_shape.count, open, LEAT_MAX_RANK - 1);
}

static leat_value reshape_call(const leati_pass *pass) {
    const struct reshape_args *args = pass->args;
    leat_value x = pass->inputs[0];
    leat_shape in = leat_value_shape(x), out = {.rank = args->target_shape.count + 1};
    /* `known` is what the numbers of target_shape hold together, without one left open. */
    int64_t known = 1, all = 1;
    bool empty = false;
    for (int32_t d = 1; d < in.rank; d++)
        all = all < 0 || in.dims[d] < 0 ? -1 : all * in.dims[d];
    for (int32_t d = 1; d < out.rank; d++) {
        out.dims[d] = args->target_shape.values[d - 1];
        if (__builtin_mul_overflow(known, LEATI_MAX(out.dims[d], 1), &known))
            return leati_support_build_error(x.graph, LEAT_REASON_SHAPE,
                                             "target_shape has more values than an int64 counts");
        empty = empty || out.dims[d] == 0;
    }
    /* One dimension is left for the run, and that is the batch's if its size is unknown. */
    out.dims[0] = in.dims[0];
    /* Nothing can be said of what is left beside a dimension of size 0. */
    for (int32_t d = 1; d < out.rank && all >= 0 && !empty; d++)
        if (out.dims[d] < 0)
            out.dims[d] = all / known;
    if (all < 0 && in.dims[0] < 0)
        return leati_support_build_error(x.graph, LEAT_REASON_SHAPE,
                                         "only the batch's dimension may be unknown");
    return leat_op_reshape(x, out.dims, out.rank);
}

const leati_layer_kind leati_layer_reshape = {
    .kind =
        {
            .name = "Reshape",
            .doc = "The values of each row under another shape (keras.layers.Reshape).",
            .rows = reshape_rows,
            .signature = "target_shape",
            .args_size = sizeof(struct reshape_args),
            .check = reshape_check,
        },
    .prefix = "reshape",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .call = reshape_call,
};
