/* decode_raw: the bytes of strings as little-endian numbers along a new last dimension
 * (tf.io.decode_raw).
 *
 * Fails in a run where strings have different lengths, or one that is no multiple of the dtype's
 * size. No gradient, no locks. */
#include "graph/ops/texts.h"

#include <string.h>

struct decode_raw_args {
    leat_dtype out_type;
};

static const leati_row decode_raw_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct decode_raw_args, out_type),
     .doc = "The dtype of the numbers."},
    {0},
};

static leat_status decode_raw_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_raw_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    if (args->out_type <= LEAT_INVALID || args->out_type > LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "out_type is %s; expected a number or bool",
                          leat_dtype_name(args->out_type));
    if (shape.rank >= LEAT_MAX_RANK)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the rank would exceed %d", LEAT_MAX_RANK);
    if (shape.rank >= 0)
        shape.dims[shape.rank++] = LEAT_UNKNOWN_DIM;
    return leati_infer_output(call, args->out_type, &shape, NULL, err);
}

static leat_status decode_raw_kernel(leati_kernel_call *call, leat_error *err) {
    const struct decode_raw_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    const leat_string *strings = leati_strings_of(in, 0);
    leat_shape shape = leati_operand_shape(in);
    size_t size = leat_dtype_size(args->out_type), length = in->count > 0 ? strings[0].size : 0;
    if (length % size != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "a string of %zu bytes; expected a multiple of %zu, the size of %s",
                          length, size, leat_dtype_name(args->out_type));
    for (int64_t i = 1; i < in->count; i++)
        if (strings[i].size != length)
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "string %lld has %zu bytes, string 0 has %zu; expected one length",
                              (long long)i, strings[i].size, length);
    shape.dims[shape.rank++] = (int64_t)(length / size);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    for (int64_t i = 0; i < in->count && length > 0; i++)
        memcpy(call->outputs[0].data + (size_t)i * length, strings[i].data, length);
    return LEAT_OK;
}

leat_value leat_decode_raw(leat_value x, leat_dtype dtype) {
    struct decode_raw_args args = {.out_type = dtype};
    return leati_op1(&leati_tensor_op_decode_raw, &args, x);
}

const leati_tensor_op leati_tensor_op_decode_raw = {
    .name = "decode_raw",
    .version = 1,
    .doc = "The bytes of strings as little-endian numbers (tf.io.decode_raw).",
    .names = "io.decode_raw",
    .inputs = "input_bytes",
    .signature = "input_bytes out_type little_endian=true fixed_length=null",
    .rows = decode_raw_rows,
    .args_size = sizeof(struct decode_raw_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = decode_raw_infer,
    .kernel = decode_raw_kernel,
};
