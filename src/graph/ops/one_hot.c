/* one_hot: 1 at the index along a new last dimension, 0 elsewhere (tf.one_hot).
 *
 * An index outside [0, depth) gives zeros. No gradient, no state, no locks. */
#include "graph/ops/support.h"

#include "core/half.h"

#include <string.h>

struct one_hot_args {
    int64_t depth;
    leat_dtype dtype;
};

static const leati_row one_hot_rows[] = {
    {.name = "depth",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct one_hot_args, depth),
     .maximum = INT64_MAX,
     .doc = "The size of the new dimension."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct one_hot_args, dtype),
     .default_number = LEAT_FLOAT32,
     .doc = "The dtype of the result, a number or bool."},
    {0},
};

static leat_status one_hot_infer(leati_infer_call *call, leat_error *err) {
    const struct one_hot_args *args = call->args;
    const leat_shape *in = &call->inputs[0].shape;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype != LEAT_UINT8)
        LEATI_TRY(leati_want_index(call, 0, "the index", err));
    if (args->dtype <= LEAT_INVALID || args->dtype > LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "dtype is %s; expected a number or bool",
                          leat_dtype_name(args->dtype));
    if (in->rank >= LEAT_MAX_RANK)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the rank would exceed %d", LEAT_MAX_RANK);
    if (in->rank >= 0) {
        shape = *in;
        shape.dims[shape.rank++] = call->unknown ? LEAT_UNKNOWN_DIM : args->depth;
    }
    return leati_infer_output(call, args->dtype, &shape, NULL, err);
}

/* The bytes of 1 in a dtype; returns their number. */
static size_t one_of(leat_dtype dtype, unsigned char *bytes) {
    size_t size = leat_dtype_size(dtype);
    float single = 1;
    double wide = 1;
    uint16_t half = dtype == LEAT_FLOAT16 ? leati_half_of_float(1) : leati_bfloat16_of_float(1);
    uint64_t integer = 1; /* little-endian: its first bytes are 1 in every width */
    const void *from = &integer;
    if (dtype == LEAT_FLOAT32)
        from = &single;
    else if (dtype == LEAT_FLOAT64)
        from = &wide;
    else if (dtype == LEAT_FLOAT16 || dtype == LEAT_BFLOAT16)
        from = &half;
    memcpy(bytes, from, size);
    return size;
}

static leat_status one_hot_kernel(leati_kernel_call *call, leat_error *err) {
    const struct one_hot_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_operand_shape(in);
    unsigned char one[8];
    size_t size = one_of(args->dtype, one);
    shape.dims[shape.rank++] = args->depth;
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        char *to = leati_row_of(out, row);
        memset(to, 0, (size_t)out->count * size);
        for (int64_t i = 0; i < in->count; i++) {
            int64_t index = in->dtype == LEAT_UINT8 ? ((const uint8_t *)leati_row_of(in, row))[i]
                                                    : leati_index_at(in, row, i);
            if (index >= 0 && index < args->depth)
                memcpy(to + (size_t)(i * args->depth + index) * size, one, size);
        }
    }
    return LEAT_OK;
}

leat_value leat_one_hot(leat_value indices, int64_t depth, leat_dtype dtype) {
    struct one_hot_args args = {.depth = depth, .dtype = dtype};
    return leati_op1(&leati_tensor_op_one_hot, &args, indices);
}

const leati_tensor_op leati_tensor_op_one_hot = {
    .name = "one_hot",
    .version = 1,
    .doc = "1 at the index along a new last dimension, 0 elsewhere (tf.one_hot).",
    .names = "one_hot",
    .inputs = "indices",
    .signature = "indices depth on_value=null off_value=null axis=null dtype=null",
    .rows = one_hot_rows,
    .args_size = sizeof(struct one_hot_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = one_hot_infer,
    .kernel = one_hot_kernel,
};
