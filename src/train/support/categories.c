/* What layers share that give numbers of categories (train/support/categories.h). Failures are the
 * graph's. No state, no locks. */
#include "train/support/categories.h"
#include "base/error.h"
#include "graph/support/support.h"
#include <string.h>

leat_status leati_categories_check(const char *output_mode, leat_error *err) {
    static const char *const modes[] = {"int", "one_hot", "multi_hot", "count"};
    for (int i = 0; i < 4 && output_mode != NULL; i++)
        if (strcmp(output_mode, modes[i]) == 0)
            return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "output_mode is \"%.60s\"; expected int, one_hot, multi_hot or count",
                        output_mode == NULL ? "" : output_mode);
}

leat_value leati_categories_encode(leat_value numbers, const char *output_mode, int64_t depth) {
    if (leati_support_value_failed(numbers) || strcmp(output_mode, "int") == 0)
        return numbers;
    leat_shape shape = leat_value_shape(numbers);
    if (shape.rank < 0)
        return leati_support_build_error(
            numbers.graph, LEAT_REASON_SHAPE,
            "the rank of the input is unknown; use leat_op_ensure_shape");
    bool one = strcmp(output_mode, "one_hot") == 0;
    if (shape.rank == 0)
        /* One number is a row of one. */
        numbers = leat_op_expand_dims(numbers, 0);
    else if (one && shape.rank > 1 && shape.dims[shape.rank - 1] == 1)
        /* [batch, 1] gives [batch, depth], not [batch, 1, depth], as in Keras. */
        numbers = leat_op_squeeze(numbers, (const int64_t[]){shape.rank - 1}, 1);
    /* A number outside gives a vector of zeros, and none is counted. */
    leat_value vectors = leat_op_one_hot(
        numbers, depth,
        &(leat_op_one_hot_options){LEAT_OP_ONE_HOT_DEFAULTS, .dtype = LEAT_FLOAT32});
    /* The dimension of a row's numbers: behind the batch's, where there is one. */
    const int64_t row[1] = {shape.rank > 1 ? 1 : 0};
    if (one)
        return vectors;
    return strcmp(output_mode, "count") == 0 ? leat_op_reduce_sum(vectors, row, 1, false)
                                             : leat_op_reduce_max(vectors, row, 1, false);
}
