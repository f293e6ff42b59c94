/* Normalization: the input less a mean, divided by the root of a variance that were given or found
 * beforehand (keras.layers.Normalization).
 *
 * What is given are arguments, what was found are weights, whose `count` nothing reads. Failures:
 * one of mean and variance alone, axes whose sizes are unknown. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/normalize.h"

struct normalization_args {
    char *name; /* first: struct leati_layer_args */
    leati_ints axis;
    leati_floats mean, variance;
    bool invert, whole;
};

static const leati_row normalization_rows[] = {
    LEATI_LAYER_ROW(normalization_args, axis, INTS,
                    .doc = "The dimensions of which each place has numbers of its own; the last by "
                           "default."),
    LEATI_LAYER_ROW(normalization_args, mean, FLOATS, .doc = "The mean; none: found beforehand."),
    LEATI_LAYER_ROW(normalization_args, variance, FLOATS,
                    .doc = "The variance; none: found beforehand."),
    LEATI_LAYER_ROW(normalization_args, invert, BOOL, .doc = "Whether to go the other way."),
    LEATI_LAYER_ROW(normalization_args, whole, BOOL,
                    .doc =
                        "One mean and one variance for all values, whatever `axis` says: axis=None "
                        "of Keras."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status normalization_check(const void *arguments, leat_error *err) {
    const struct normalization_args *args = arguments;
    if (args->mean.count == args->variance.count)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "%d numbers in mean and %d in variance; expected as many, or none in both",
                        (int)args->mean.count, (int)args->variance.count);
}

static leat_status normalization_weights(const void *arguments, const leat_shape *input,
                                         leati_weights *out, leat_error *err) {
    const struct normalization_args *args = arguments;
    static const char *const names[2] = {"mean", "variance"};
    static const char *const initializers[2] = {"zeros", "ones"};
    leat_shape shape = {.rank = 0};
    if (!args->whole)
        LEATI_TRY(leati_normalize_shape(&args->axis, input, &shape, err));
    /* What is given needs no weights. */
    for (int i = 0; i < 2 && args->mean.count == 0; i++)
        out->list[out->count++] = (leati_weight){
            .name = names[i], .shape = shape, .initializer = initializers[i], .fixed = true};
    return LEAT_OK;
}

/* Numbers, or a weight, as a value that broadcasts against x along the axes. */
static leat_value spread(const struct normalization_args *args, leat_value x,
                         const leati_floats *numbers, const leat_value *weight) {
    leat_shape in = leat_value_shape(x), shape = {.rank = in.rank};
    bool mask[LEAT_MAX_RANK] = {false};
    int64_t count = 1;
    leat_error err = {0};
    if (!args->whole && leati_normalize_axes(&args->axis, in.rank, mask, &err) != LEAT_OK)
        return leati_graph_error(x.graph, &err);
    for (int32_t d = 0; d < in.rank; d++) {
        /* An unknown size makes the product wrong, and then no count of numbers fits. */
        shape.dims[d] = mask[d] ? in.dims[d] : 1;
        count *= shape.dims[d];
    }
    if (weight != NULL)
        return leat_op_reshape(*weight, shape.dims, shape.rank);
    if (numbers->count == 1)
        return leati_support_number(x.graph, leat_value_dtype(x), numbers->values[0]);
    if (numbers->count != count)
        return leati_support_build_error(
            x.graph, LEAT_REASON_SHAPE,
            "mean and variance have not as many numbers as the axes have "
            "places");
    return leat_op_reshape(leati_layer_numbers_value(x, numbers), shape.dims, shape.rank);
}

static leat_value normalization_call(const leati_pass *pass) {
    const struct normalization_args *args = pass->args;
    leat_value x = pass->inputs[0];
    bool given = args->mean.count > 0;
    if (!leati_graph_dtype_is_floating(leat_value_dtype(x)))
        x = leat_op_cast(x, LEAT_FLOAT32);
    leat_value mean = spread(args, x, &args->mean, given ? NULL : &pass->weights[0]);
    leat_value variance = spread(args, x, &args->variance, given ? NULL : &pass->weights[1]);
    if (leati_support_value_failed(mean) || leati_support_value_failed(variance))
        return mean;
    leat_value least = leati_support_number(x.graph, leat_value_dtype(x), 1e-7);
    /* At least 1e-7, so that values that never vary divide by that. */
    leat_value deviation = leat_op_maximum(leat_op_sqrt(variance), least);
    if (args->invert)
        return leat_op_add(mean, leat_op_multiply(x, deviation));
    return leat_op_divide(leat_op_subtract(x, mean), deviation);
}

const leati_layer_kind leati_layer_normalization = {
    .kind =
        {
            .name = "Normalization",
            .doc = "The input less a mean, divided by the root of a variance "
                   "(keras.layers.Normalization).",
            .rows = normalization_rows,
            .signature = "axis=-1 mean=null variance=null invert",
            .config = "axis invert",
            .args_size = sizeof(struct normalization_args),
            .check = normalization_check,
        },
    .prefix = "normalization",
    .min_rank = 1,
    .expects = "[batch, ...]",
    .weights = normalization_weights,
    .masks = true,
    .call = normalization_call,
};
