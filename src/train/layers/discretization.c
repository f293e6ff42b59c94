/* Discretization: the number of the bin that each value falls into (keras.layers.Discretization).
 *
 * A value on a boundary belongs to the bin above it, a NaN to the last. Failures: no boundaries, or
 * some that do not rise; another output_mode. No state, no locks. */
#include "base/error.h"
#include "graph/support/support.h"
#include "train/support/categories.h"

struct discretization_args {
    char *name; /* first: struct leati_layer_args */
    leati_floats bin_boundaries;
    char *output_mode;
};

static const leati_row discretization_rows[] = {
    LEATI_LAYER_ROW(discretization_args, bin_boundaries, FLOATS, .flags = LEATI_REQUIRED,
                    .doc = "Where bins end and the next begin, rising."),
    LEATI_LAYER_ROW(discretization_args, output_mode, STRING, .default_text = "int",
                    .doc = "\"int\": the number; or as in CategoryEncoding."),
    LEATI_LAYER_NAME,
    {0},
};

static leat_status discretization_check(const void *arguments, leat_error *err) {
    const struct discretization_args *args = arguments;
    if (args->bin_boundaries.count == 0)
        return leati_refuse(err, VALUE, "bin_boundaries is empty; expected one number or more");
    for (int32_t i = 1; i < args->bin_boundaries.count; i++)
        /* Equal boundaries are let through: the bin between them is empty. */
        if (!(args->bin_boundaries.values[i] >= args->bin_boundaries.values[i - 1]))
            return leati_refuse(err, VALUE,
                                "bin_boundaries has %g behind %g; expected rising numbers",
                                args->bin_boundaries.values[i], args->bin_boundaries.values[i - 1]);
    return leati_categories_check(args->output_mode, err);
}

static leat_value discretization_call(const leati_pass *pass) {
    const struct discretization_args *args = pass->args;
    leat_value x = pass->inputs[0];
    if (!leati_graph_dtype_is_floating(leat_value_dtype(x)))
        x = leat_op_cast(x, LEAT_FLOAT32);
    leat_value boundaries = leati_layer_numbers_value(x, &args->bin_boundaries);
    /* As many comparisons as boundaries, and the bins passed are counted: no search is needed for a
     * few. */
    leat_value below = leat_op_less(leat_op_expand_dims(x, -1), boundaries);
    /* Not "greater or equal": a NaN is not below any boundary, so it passes them all. */
    leat_value passed = leat_op_cast(leat_op_logical_not(below), LEAT_INT32);
    leat_value bins = leat_op_reduce_sum(passed, (const int64_t[]){-1}, 1, false);
    return leati_categories_encode(bins, args->output_mode, args->bin_boundaries.count + 1);
}

const leati_layer_kind leati_layer_discretization = {
    .kind =
        {
            .name = "Discretization",
            .doc = "The number of the bin of each value (keras.layers.Discretization).",
            .rows = discretization_rows,
            .signature = "bin_boundaries=null num_bins=null epsilon=0.01 output_mode sparse=false",
            .args_size = sizeof(struct discretization_args),
            .check = discretization_check,
        },
    .prefix = "discretization",
    .expects = "[batch, ...]",
    .call = discretization_call,
};
