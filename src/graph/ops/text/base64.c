/* encode_base64, decode_base64: bytes as text of 64 letters that are safe in web addresses, and
 * back (tf.io.encode_base64, tf.io.decode_base64).
 *
 * The alphabet ends in "-" and "_"; "=" at the end may stand or be left out. They fail in inference
 * on other dtypes; decoding fails in a run on other letters and on lengths that no bytes have. No
 * gradient, no locks. */
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
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const struct encode_base64_args *args = call->args;
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    size_t at = 0;
    /* Three bytes are four letters of 6 bits; a rest of `left` bytes needs left + 1 of them. */
    for (size_t i = 0; i < s->size; i += 3) {
        size_t left = s->size - i;
        uint32_t bits = (uint32_t)(uint8_t)s->data[i] << 16;
        bits |= left > 1 ? (uint32_t)(uint8_t)s->data[i + 1] << 8 : 0;
        bits |= left > 2 ? (uint32_t)(uint8_t)s->data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++) {
            bool filler = k > left;
            if (filler && !args->pad)
                continue;
            if (to != NULL)
                to[at] = filler ? '=' : letters[bits >> (18 - 6 * k) & 63];
            at++;
        }
    }
    return at;
}

static leat_status encode_base64_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    return leati_text_write(call, encoded, err);
}

/* ---- decode_base64 ---- */
/* The six bits of a letter; -1: none. */
static int bits_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

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
    for (size_t i = 0; i < size; i++)
        if (bits_of(s->data[i]) < 0)
            return leati_refuse(err, VALUE,
                                "invalid character found in base64: byte %d at place %zu",
                                (int)(uint8_t)s->data[i], i);
    return LEAT_OK;
}

static size_t decoded(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    size_t size = letters_of(s), at = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 6 | (uint32_t)bits_of(s->data[i]);
        /* The first letter of four gives no byte yet. */
        if (i % 4 == 0)
            continue;
        if (to != NULL)
            to[at] = (char)(bits >> (6 - 2 * (i % 4)) & 255);
        at++;
    }
    return at;
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
