/* ReLU: the larger of the input and 0, with a slope below a threshold and a bound above if asked
 * (keras.layers.ReLU). Failures: negative numbers. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

struct re_lu_args {
    char *name;       /* first: struct leati_layer_args */
    double max_value; /* negative: none */
    double negative_slope, threshold;
};

static const leati_row re_lu_rows[] = {
    LEATI_LAYER_ROW(re_lu_args, max_value, FLOAT, .flags = LEATI_NONE, .default_number = -1,
                    .doc = "The largest value of the output; none: no bound."),
    LEATI_LAYER_ROW(re_lu_args, negative_slope, FLOAT,
                    .doc = "What values below the threshold "
                           "are multiplied by."),
    LEATI_LAYER_ROW(re_lu_args, threshold, FLOAT,
                    .doc = "The value from which on the input stays."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status re_lu_check(const void *arguments, leat_error *err) {
    const struct re_lu_args *args = arguments;
    const char *wrong = args->negative_slope < 0 ? "negative_slope" : "threshold";
    if (args->negative_slope >= 0 && args->threshold >= 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "%s of a ReLU layer cannot be None or a negative value; found %g", wrong,
                        args->negative_slope < 0 ? args->negative_slope : args->threshold);
}

static leat_value re_lu_call(const leati_pass *pass) {
    const struct re_lu_args *args = pass->args;
    leat_value x = pass->inputs[0], above = leat_op_relu(x);
    leat_dtype dtype = leat_value_dtype(x);
    leat_value threshold = leati_support_number(x.graph, dtype, args->threshold);
    if (args->threshold > 0)
        /* As a product, as Keras computes it: NaN and infinity times 0 are NaN. */
        above = leat_op_multiply(x, leat_op_cast(leat_op_greater(x, threshold), dtype));
    if (args->max_value >= 0)
        above = leat_op_clip_by_value(above, leati_support_number(x.graph, dtype, 0),
                                      leati_support_number(x.graph, dtype, args->max_value));
    if (args->negative_slope <= 0)
        return above;
    /* threshold - x, which is 0 from the threshold on. */
    leat_value below = leat_op_relu(leat_op_subtract(threshold, x));
    return leat_op_subtract(above, leati_support_times(below, args->negative_slope));
}

const leati_layer_kind leati_layer_re_lu = {
    .kind =
        {
            .name = "ReLU",
            .doc = "The larger of the input and 0 (keras.layers.ReLU).",
            .rows = re_lu_rows,
            .signature = "max_value=null negative_slope threshold",
            .args_size = sizeof(struct re_lu_args),
            .check = re_lu_check,
        },
    .prefix = "re_lu",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .masks = true,
    .call = re_lu_call,
};
