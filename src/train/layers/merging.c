/* Add, Average, Maximum, Minimum, Multiply, Subtract: the inputs joined value by value
 * (keras.layers.Add and its like). Failures: INVALID_ARGUMENT for one input alone, shapes that do
 * not broadcast; of Subtract other than two inputs. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"

static const leati_row merging_rows[] = {
    LEATI_LAYER_NAME,
    {0},
};

/* `join` over the inputs from the first to the last; where ranks differ, dimensions of size 1 come
 * behind the batch's. */
static leat_value merge(const leati_pass *pass, leat_value (*join)(leat_value, leat_value)) {
    leat_value joined = pass->inputs[0];
    int32_t rank = 0;
    for (int i = 0; i < pass->num_inputs; i++) {
        int32_t own = leat_value_shape(pass->inputs[i]).rank;
        rank = LEATI_MAX(own, rank);
    }
    for (int i = 0; i < pass->num_inputs; i++) {
        leat_value next = pass->inputs[i];
        /* As Keras does: the batch's dimension is first in all of them. */
        for (int32_t own = leat_value_shape(next).rank; own < rank; own++)
            next = leat_op_expand_dims(next, 1);
        /* The first may have gained dimensions too. */
        joined = i == 0 ? next : join(joined, next);
    }
    return joined;
}

static leat_value add_call(const leati_pass *pass) {
    return merge(pass, leat_op_add);
}

static leat_value multiply_call(const leati_pass *pass) {
    return merge(pass, leat_op_multiply);
}

static leat_value maximum_call(const leati_pass *pass) {
    return merge(pass, leat_op_maximum);
}

static leat_value minimum_call(const leati_pass *pass) {
    return merge(pass, leat_op_minimum);
}

static leat_value average_call(const leati_pass *pass) {
    leat_value sum = merge(pass, leat_op_add);
    if (leati_support_value_failed(sum))
        return sum;
    return leat_op_divide(
        sum, leati_support_number(sum.graph, leat_value_dtype(sum), (double)pass->num_inputs));
}

static leat_value subtract_call(const leati_pass *pass) {
    if (pass->num_inputs != 2)
        return leati_support_build_error(pass->inputs[0].graph, LEAT_REASON_STRUCTURE,
                                         "a `Subtract` layer should be called on exactly 2 inputs");
    return merge(pass, leat_op_subtract);
}

/* The descriptor of one layer. */
#define MERGING(ID, CLASS, DOC)                                                                    \
    const leati_layer_kind leati_layer_##ID = {                                                    \
        .kind =                                                                                    \
            {                                                                                      \
                .name = CLASS,                                                                     \
                .doc = DOC " (keras.layers." CLASS ").",                                           \
                .rows = merging_rows,                                                              \
                .signature = "",                                                                   \
                .args_size = sizeof(struct leati_layer_args),                                      \
            },                                                                                     \
        .prefix = #ID,                                                                             \
        .merges = true,                                                                            \
        .min_rank = 1,                                                                             \
        .expects = "[batch, ...]",                                                                 \
        .call = ID##_call,                                                                         \
    };
MERGING(add, "Add", "The sum of the inputs")
MERGING(average, "Average", "The mean of the inputs")
MERGING(maximum, "Maximum", "The largest of the inputs, value by value")
MERGING(minimum, "Minimum", "The smallest of the inputs, value by value")
MERGING(multiply, "Multiply", "The product of the inputs")
MERGING(subtract, "Subtract", "The first of two inputs less the second")
