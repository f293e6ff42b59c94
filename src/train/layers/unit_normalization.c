/* UnitNormalization: the input divided by its length along axes (keras.layers.UnitNormalization).
 * Failures: axes that are not there. No state, no locks. */
#include "graph/support/support.h"
#include "train/support/normalize.h"

struct unit_normalization_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints axis;
};

static const leati_row unit_normalization_rows[] = {
    LEATI_LAYER_ROW(unit_normalization_args, axis, INTS,
                    .doc = "The dimensions that are one vector together; the last by default."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_value unit_normalization_call(const leati_pass *pass) {
    const struct unit_normalization_args *args = pass->args;
    const int64_t last[1] = {-1};
    leat_value x = pass->inputs[0];
    bool given = args->axis.count > 0;
    if (!leati_graph_dtype_is_floating(leat_value_dtype(x)))
        x = leat_op_cast(x, LEAT_FLOAT32);
    leat_value squares = leat_op_reduce_sum(leat_op_square(x), given ? args->axis.values : last,
                                            given ? args->axis.count : 1, true);
    if (leati_support_value_failed(squares))
        return squares;
    /* rsqrt(0) and its slope are infinite, and 0 times that NaN; 1e12 times 0 is 0. */
    leat_value least = leati_support_number(x.graph, leat_value_dtype(x), 1e-24);
    return leat_op_multiply(x, leat_op_rsqrt(leat_op_maximum(squares, least)));
}

const leati_layer_kind leati_layer_unit_normalization = {
    .kind =
        {
            .name = "UnitNormalization",
            .doc = "The input divided by its length (keras.layers.UnitNormalization).",
            .rows = unit_normalization_rows,
            .signature = "axis=-1",
            .args_size = sizeof(struct unit_normalization_args),
        },
    .prefix = "unit_normalization",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = unit_normalization_call,
};
