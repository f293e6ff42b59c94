/* string_to_number: the number that a string says (tf.strings.to_number).
 *
 * White space around it is allowed; a decimal point is a point in every locale. Fails in a run
 * where the text is no number or leaves the dtype's range, with the text and its row. No gradient,
 * no locks but the one of pthread_once. */
#include "graph/ops/texts.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct string_to_number_args {
    leat_dtype out_type;
};

static const leati_row string_to_number_rows[] = {
    {.name = "out_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct string_to_number_args, out_type),
     .default_number = LEAT_FLOAT32,
     .doc = "int32, int64, float32 or float64."},
    {0},
};

static leat_status string_to_number_infer(leati_infer_call *call, leat_error *err) {
    const struct string_to_number_args *args = call->args;
    leat_dtype dtype = args->out_type;
    LEATI_TRY(leati_want_dtype(call, 0, LEAT_STRING, "the input", err));
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32 &&
        dtype != LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "out_type is %s; expected int32, int64, float32 or float64",
                          leat_dtype_name(dtype));
    return leati_infer_output(call, dtype, &call->inputs[0].shape, NULL, err);
}

/* The text without white space around it. */
static leat_string trimmed(leat_string s) {
    while (s.size > 0 && isspace((unsigned char)s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size > 0 && isspace((unsigned char)s.data[s.size - 1]))
        s.size--;
    return s;
}

static bool parse_integer(leat_string s, int64_t lowest, int64_t highest, int64_t *out) {
    bool negative = s.size > 0 && s.data[0] == '-';
    size_t at = s.size > 0 && (s.data[0] == '-' || s.data[0] == '+') ? 1 : 0;
    int64_t value = 0; /* negative: the lowest has no positive */
    if (at == s.size)
        return false;
    for (; at < s.size; at++) {
        int digit = s.data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return value >= lowest && value <= highest;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* `wide` chooses the precision; text longer than any number of use is refused. */
static bool parse_float(leat_string s, bool wide, double *out) {
    char text[256], *end = NULL;
    if (s.size == 0 || s.size >= sizeof text || memchr(s.data, 'x', s.size) != NULL ||
        memchr(s.data, 'X', s.size) != NULL)
        return false;
    memcpy(text, s.data, s.size);
    text[s.size] = '\0';
    pthread_once(&c_locale_once, make_c_locale);
    if (c_locale == (locale_t)0)
        *out = wide ? strtod(text, &end) : (double)strtof(text, &end);
    else
        *out = wide ? strtod_l(text, &end, c_locale) : (double)strtof_l(text, &end, c_locale);
    return end == text + s.size;
}

static bool parse_to(leat_string s, leat_dtype dtype, char *to, int64_t index) {
    int64_t integer = 0;
    double number = 0;
    switch (dtype) {
    case LEAT_INT32:
        if (!parse_integer(s, INT32_MIN, INT32_MAX, &integer))
            return false;
        ((int32_t *)(void *)to)[index] = (int32_t)integer;
        return true;
    case LEAT_INT64: return parse_integer(s, INT64_MIN, INT64_MAX, (int64_t *)(void *)to + index);
    case LEAT_FLOAT32:
        if (!parse_float(s, false, &number))
            return false;
        ((float *)(void *)to)[index] = (float)number;
        return true;
    default: return parse_float(s, true, (double *)(void *)to + index);
    }
}

static leat_status string_to_number_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_operand_shape(in);
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < in->count; i++) {
            leat_string s = leati_strings_of(in, row)[i];
            if (parse_to(trimmed(s), out->dtype, leati_row_of(out, row), i))
                continue;
            call->failed_row = row;
            return leati_fail(err, LEAT_INVALID_ARGUMENT, "\"%.*s\" is not a number of %s",
                              (int)(s.size < 60 ? s.size : 60), s.data == NULL ? "" : s.data,
                              leat_dtype_name(out->dtype));
        }
    }
    return LEAT_OK;
}

leat_value leat_string_to_number(leat_value x, leat_dtype dtype) {
    struct string_to_number_args args = {.out_type = dtype};
    return leati_op1(&leati_tensor_op_string_to_number, &args, x);
}

const leati_tensor_op leati_tensor_op_string_to_number = {
    .name = "string_to_number",
    .version = 1,
    .doc = "The number that a string says (tf.strings.to_number).",
    .rows = string_to_number_rows,
    .args_size = sizeof(struct string_to_number_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = string_to_number_infer,
    .kernel = string_to_number_kernel,
};
