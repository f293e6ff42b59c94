/* encode_base64: bytes as text of 64 letters that are safe in web addresses (tf.io.encode_base64).
 *
 * The alphabet ends in "-" and "_". Fails in inference on other dtypes. No gradient, no locks. */
#include "graph/support/text/texts.h"

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

static leat_status encode_base64_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the input", err));
    return leati_op_infer_same(call, err);
}

static size_t encoded(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const struct encode_base64_args *args = call->args;
    const leat_string *s = leati_text_strings_of(&call->inputs[0], row) + index;
    size_t at = 0;
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

leat_value leat_op_encode_base64(leat_value input, bool pad) {
    struct encode_base64_args args = {.pad = pad};
    return leati_graph_build1(&leati_tensor_op_encode_base64, &args, input);
}

const leati_tensor_op leati_tensor_op_encode_base64 = {
    .name = "encode_base64",
    .version = 1,
    .doc = "Bytes as text of 64 letters that are safe in web addresses (tf.io.encode_base64).",
    .names = "io.encode_base64",
    .inputs = "input",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = encode_base64_rows,
    .args_size = sizeof(struct encode_base64_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = encode_base64_infer,
    .kernel = encode_base64_kernel,
};
