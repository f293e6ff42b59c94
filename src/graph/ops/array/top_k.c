/* top_k: the k largest values along the last dimension and their places (tf.math.top_k).
 *
 * In descending order, of equal values the first. Fails where the dimension has fewer values, or
 * the input is a scalar. The gradient goes to the places of the values. No state, no locks. */
#include "graph/support/array/positions.h"
#include "graph/support/array/sorting.h"

#include <string.h>

struct top_k_args {
    int64_t k;
    bool sorted;
    leat_dtype index_type;
};

static const leati_row top_k_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct top_k_args, k),
     .default_number = 1,
     .maximum = INT64_MAX,
     .doc = "How many values."},
    {.name = "sorted",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct top_k_args, sorted),
     .default_number = 1,
     .doc = "Of no effect: the values are always in order."},
    {.name = "index_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct top_k_args, index_type),
     .default_number = LEAT_INT32,
     .doc = "The dtype of the places: int16, int32 or int64."},
    {0},
};

static leat_status shape_of(const struct top_k_args *args, const leat_shape *in, leat_shape *out,
                            leat_error *err) {
    *out = *in;
    if (in->rank < 0)
        return LEAT_OK;
    if (in->rank == 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the input is a scalar; input must be >= 1-D");
    int64_t dim = in->dims[in->rank - 1];
    if (dim != LEAT_UNKNOWN_DIM && dim < args->k)
        return leati_refuse(err, SHAPE,
                            "the last dimension has %lld values; input must have at least k (%lld) "
                            "columns",
                            (long long)dim, (long long)args->k);
    out->dims[in->rank - 1] = args->k;
    return LEAT_OK;
}

static leat_status top_k_infer(leati_infer_call *call, leat_error *err) {
    const struct top_k_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    if (!leati_sorting_knows(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the values are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->index_type != LEAT_INT16 && args->index_type != LEAT_INT32 &&
        args->index_type != LEAT_INT64)
        return leati_refuse(err, DTYPE, "index_type is %s; expected int16, int32 or int64",
                            leat_dtype_name(args->index_type));
    if (call->unknown == 0)
        LEATI_TRY(shape_of(args, &call->inputs[0].shape, &shape, err));
    else if (shape.rank > 0)
        shape.dims[shape.rank - 1] = LEAT_UNKNOWN_DIM;
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return leati_op_infer_output(call, args->index_type, &shape, NULL, err);
}

static leat_status top_k_kernel(leati_kernel_call *call, leat_error *err) {
    const struct top_k_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    LEATI_TRY(shape_of(args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    int64_t dim = from.dims[from.rank - 1], k = args->k;
    size_t size = leat_dtype_size(in->dtype), bytes = 0;
    if (!leati_mul_size((size_t)dim, 2 * sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    int64_t *order = leati_arena_alloc(call->arena, bytes);
    if (order == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        for (int64_t line = 0; line < in->count / dim; line++) {
            const char *data = leati_support_row_of(in, row) + (size_t)(line * dim) * size;
            leati_sorting_line(in->dtype, data, dim, 1, true, order, order + dim);
            for (int64_t i = 0; i < k; i++) {
                int64_t at = line * k + i;
                memcpy(leati_support_row_of(&call->outputs[0], row) + (size_t)at * size,
                       data + (size_t)order[i] * size, size);
                (void)leati_support_store_number(args->index_type, (double)order[i],
                                                 leati_support_row_of(&call->outputs[1], row) +
                                                     (size_t)at *
                                                         leat_dtype_size(args->index_type));
            }
        }
    }
    return LEAT_OK;
}

static leat_status top_k_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0];
    if (leat_value_shape(x).rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    if (call->output_gradients[0].id < 0)
        return LEAT_OK;
    leat_value places = leat_op_cast(call->outputs[1], LEAT_INT64);
    leat_value at = leati_positions_gather_last(leati_positions(x), places);
    call->input_gradients[0] = leati_positions_add_at(call->output_gradients[0], at, x);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_top_k = {
    .name = "top_k",
    .version = 1,
    .doc = "The k largest values along the last dimension and their places (tf.math.top_k).",
    .names = "math.top_k nn.top_k",
    .inputs = "input",
    .types = "T",
    .outputs = "TopKV2(values indices)",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = top_k_rows,
    .args_size = sizeof(struct top_k_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = top_k_infer,
    .kernel = top_k_kernel,
    .gradient = top_k_gradient,
};
