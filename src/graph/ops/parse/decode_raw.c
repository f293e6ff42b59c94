/* decode_raw: the bytes of strings as numbers along a new last dimension (tf.io.decode_raw).
 *
 * With a fixed length longer strings are cut and shorter ones filled up with zeros. Fails in
 * inference where the length is no multiple of the dtype's size; in a run without one where strings
 * have different lengths, or one that is no such multiple. No gradient, no locks. */
#include "base/minmax.h"
#include "graph/support/text/texts.h"

#include <string.h>

struct decode_raw_args {
    leat_dtype out_type;
    bool little_endian;
    int64_t fixed_length;
};

static const leati_row decode_raw_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct decode_raw_args, out_type),
     .doc = "The dtype of the numbers."},
    {.name = "little_endian",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct decode_raw_args, little_endian),
     .default_number = 1,
     .doc = "The lowest byte of a number comes first, else the highest."},
    {.name = "fixed_length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct decode_raw_args, fixed_length),
     .default_number = INT64_MIN,
     .doc = "Bytes that each string is cut or filled up to; none: strings have one length."},
    {0},
};

/* The row's default stands for "no length": numbers from 0 down are refused as wrong ones. */
static bool is_fixed(const struct decode_raw_args *args) {
    return args->fixed_length != INT64_MIN;
}

static leat_status decode_raw_infer(leati_infer_call *call, leat_error *err) {
    const struct decode_raw_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    if (args->out_type <= LEAT_INVALID || args->out_type > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "out_type is %s; expected a number or bool",
                            leat_dtype_name(args->out_type));
    int64_t size = (int64_t)leat_dtype_size(args->out_type), count = LEAT_UNKNOWN_DIM;
    if (is_fixed(args) && (args->fixed_length <= 0 || args->fixed_length % size != 0))
        return leati_refuse(
            err, VALUE,
            "fixed_length is %lld; expected a multiple of %lld, the size of %s, that "
            "is greater than zero",
            (long long)args->fixed_length, (long long)size, leat_dtype_name(args->out_type));
    if (is_fixed(args))
        count = args->fixed_length / size;
    if (shape.rank >= LEAT_MAX_RANK)
        return leati_refuse(err, SHAPE, "the rank would exceed %d", LEAT_MAX_RANK);
    if (shape.rank >= 0)
        shape.dims[shape.rank++] = count;
    return leati_op_infer_output(call, args->out_type, &shape, NULL, err);
}

/* The length that all strings of the one row have. */
static leat_status one_length(const leati_kernel_call *call, size_t size, size_t *length,
                              leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    const leat_string *strings = leati_text_strings_of(in, 0);
    /* Of no strings the new dimension has no values. */
    *length = in->count > 0 ? strings[0].size : 0;
    for (int64_t i = 1; i < in->count; i++)
        if (strings[i].size != *length)
            return leati_refuse(err, VALUE,
                                "string %lld has %zu bytes, string 0 has %zu; expected one length",
                                (long long)i, strings[i].size, *length);
    if (*length % size != 0)
        return leati_refuse(err, VALUE,
                            "a string of %zu bytes; expected a multiple of %zu, the size of its "
                            "numbers",
                            *length, size);
    return LEAT_OK;
}

/* Turns the bytes of each number around, in place. */
static void turn_bytes(char *at, size_t length, size_t size) {
    for (char *end = at + length; at < end; at += size) {
        for (size_t i = 0; i < size / 2; i++) {
            char low = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = low;
        }
    }
}

static leat_status decode_raw_kernel(leati_kernel_call *call, leat_error *err) {
    const struct decode_raw_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    bool turn = args->little_endian != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    size_t size = leat_dtype_size(args->out_type), length = (size_t)args->fixed_length;
    if (!is_fixed(args))
        LEATI_TRY(one_length(call, size, &length, err));
    shape.dims[shape.rank++] = (int64_t)(length / size);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t done = 0;
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(&call->outputs[0], row);
        /* Strings of no bytes leave an output without memory. */
        for (int64_t i = 0;
             i < in->count && length > 0 && !leati_stop_look_after((int64_t)length, &done);
             i++, to += length) {
            leat_string s = leati_text_strings_of(in, row)[i];
            size_t taken = LEATI_MIN(s.size, length);
            /* An empty string may have no address, which memcpy must not be given. */
            if (taken > 0)
                leati_stop_copy(to, s.data, taken);
            /* The zeros are those of missing bytes, so they are turned with the rest. */
            memset(to + taken, 0, length - taken);
            if (turn)
                turn_bytes(to, length, size);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_decode_raw = {
    .name = "decode_raw",
    .version = 1,
    .doc = "The bytes of strings as numbers (tf.io.decode_raw).",
    .names = "io.decode_raw",
    .inputs = "input_bytes",
    .signature = "input_bytes out_type little_endian fixed_length=null",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = decode_raw_rows,
    .args_size = sizeof(struct decode_raw_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = decode_raw_infer,
    .kernel = decode_raw_kernel,
};
