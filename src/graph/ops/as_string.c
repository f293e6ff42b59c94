/* as_string: the decimal text of numbers, "true" or "false" of booleans (tf.strings.as_string).
 *
 * Floats have six digits after the point, as printf's %f. Fails in inference on strings, without
 * memory in a run. No gradient, no locks. */
#include "core/half.h"
#include "graph/ops/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static leat_status as_string_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype < LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the input is %s; expected numbers or bool",
                          leat_dtype_name(dtype));
    return leati_infer_output(call, LEAT_STRING, &call->inputs[0].shape, NULL, err);
}

static size_t write_unsigned(uint64_t value, bool negative, char *to) {
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    if (negative)
        digits[--at] = '-';
    if (to != NULL)
        memcpy(to, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static size_t write_signed(int64_t value, char *to) {
    return write_unsigned(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, to);
}

static size_t write_bytes(const char *text, size_t size, char *to) {
    if (to != NULL)
        memcpy(to, text, size);
    return size;
}

/* The decimal point is a point in every locale. */
static size_t write_float(double value, char *to) {
    char text[352];
    int size = snprintf(text, sizeof text, "%f", value);
    size_t length = size < 0 ? 0 : (size_t)size;
    if (isfinite(value) && length > 7)
        text[length - 7] = '.';
    return write_bytes(text, length, to);
}

static size_t text_of(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leati_operand *in = &call->inputs[0];
    const char *at = leati_row_of(in, row) + (size_t)index * leat_dtype_size(in->dtype);
    switch (in->dtype) {
    case LEAT_INT8: return write_signed(*(const int8_t *)at, to);
    case LEAT_INT16: return write_signed(*(const int16_t *)at, to);
    case LEAT_INT32: return write_signed(*(const int32_t *)at, to);
    case LEAT_INT64: return write_signed(*(const int64_t *)at, to);
    case LEAT_UINT8: return write_unsigned(*(const uint8_t *)at, false, to);
    case LEAT_UINT16: return write_unsigned(*(const uint16_t *)at, false, to);
    case LEAT_UINT32: return write_unsigned(*(const uint32_t *)at, false, to);
    case LEAT_UINT64: return write_unsigned(*(const uint64_t *)at, false, to);
    case LEAT_FLOAT16: return write_float((double)leati_float_of_half(*(const uint16_t *)at), to);
    case LEAT_BFLOAT16:
        return write_float((double)leati_float_of_bfloat16(*(const uint16_t *)at), to);
    case LEAT_FLOAT32: return write_float((double)*(const float *)at, to);
    case LEAT_FLOAT64: return write_float(*(const double *)at, to);
    default: return *(const bool *)at ? write_bytes("true", 4, to) : write_bytes("false", 5, to);
    }
}

static leat_status as_string_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    return leati_write_texts(call, text_of, err);
}

leat_value leat_as_string(leat_value x) {
    return leati_op1(&leati_tensor_op_as_string, NULL, x);
}

const leati_tensor_op leati_tensor_op_as_string = {
    .name = "as_string",
    .version = 1,
    .doc = "The decimal text of numbers, true or false of booleans (tf.strings.as_string).",
    .names = "strings.as_string as_string",
    .inputs = "input",
    .signature = "input precision=-1 scientific=false shortest=false width=-1 fill=\"\"",
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = as_string_infer,
    .kernel = as_string_kernel,
};
