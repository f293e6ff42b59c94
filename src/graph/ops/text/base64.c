/* encode_base64, decode_base64: bytes as text of 64 letters that are safe in web addresses, and
 * back (tf.io.encode_base64, tf.io.decode_base64).
 *
 * The alphabet ends in "-" and "_"; "=" at the end may stand or be left out. They fail in inference
 * on other dtypes; decoding fails in a run on other letters and on lengths that no bytes have. No
 * gradient, no locks. */
#include "base/base64.h"
#include "graph/support/text/texts.h"

#include <string.h>

static leat_status infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_same(call, err);
}

/* ---- encode_base64 ---- */
struct encode_base64_args {
    bool pad;
};

static const leati_row encode_base64_rows[] = {
    {.name = "pad",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct encode_base64_args, pad),
     .doc = "Fill the last four letters up with \"=\"."},
    {0},
};

static size_t encoded(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const struct encode_base64_args *args = call->args;
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    const size_t letters = leati_base64_letters(s->size);
    const size_t filling = args->pad ? (4 - letters % 4) % 4 : 0;
    if (to != NULL) {
        leati_base64_encode(s->data, s->size, to);
        memset(to + letters, '=', filling);
    }
    return letters + filling;
}

static leat_status encode_base64_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_write(call, encoded, err);
}

/* ---- decode_base64 ---- */
/* The letters before the filling at the end, of at most two. */
static size_t letters_of(const leat_string *s) {
    size_t size = s->size;
    /* Filling only completes a group of four; a third "=" is then found to be no letter. */
    for (int i = 0; i < 2 && s->size % 4 == 0 && size > 0 && s->data[size - 1] == '='; i++)
        size--;
    return size;
}

static leat_status check_text(const leat_string *s, leat_error *err) {
    size_t size = letters_of(s);
    /* One letter of 6 bits cannot be a byte. */
    if (size % 4 == 1)
        return leati_refuse(err, VALUE,
                            "base64 string length cannot be 1 modulo 4; found %zu letters", size);
    size_t place = leati_base64_decode(s->data, size, NULL);
    if (place < size)
        return leati_refuse(err, VALUE, "invalid character found in base64: byte %d at place %zu",
                            (int)(uint8_t)s->data[place], place);
    return LEAT_OK;
}

static size_t decoded(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    size_t size = letters_of(s);
    if (to != NULL)
        (void)leati_base64_decode(s->data, size, to);
    return leati_base64_bytes(size);
}

static leat_status decode_base64_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Everything is checked first: the function that writes runs twice and cannot fail. */
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        for (int64_t i = 0; i < in->count; i++)
            LEATI_TRY(check_text(leati_text_strings_of(in, row) + i, err));
    }
    call->failed_row = 0;
    return leati_text_write(call, decoded, err);
}

#define BASE64(OP, ...)                                                                            \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = "io." #OP,                                                                        \
        .inputs = "input",                                                                         \
        .types = "string",                                                                         \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .by_value = true,                                                                          \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = infer,                                                                            \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
BASE64(decode_base64,
       .doc = "The bytes that text of encode_base64 stands for (tf.io.decode_base64).",
       .rows = leati_no_rows)
BASE64(encode_base64,
       .doc = "Bytes as text of 64 letters that are safe in web addresses (tf.io.encode_base64).",
       .rows = encode_base64_rows, .args_size = sizeof(struct encode_base64_args))
