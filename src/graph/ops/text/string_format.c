/* string_format: a template whose placeholders stand for tensors as text (tf.strings.format).
 *
 * An axis of more than twice `summarize` values shows as many of its first and last ones. Strings
 * stand in quotes, booleans are 1 and 0, floats have as many digits as reading them back needs, of
 * a few fixed numbers. Fails in inference where the template has another number of placeholders
 * than there are tensors, without memory in a run. No gradient, no locks. */
#include "core/half.h"
#include "core/number.h"
#include "graph/support/text/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct string_format_args {
    char *template;
    char *placeholder;
    int64_t summarize;
};

static const leati_row string_format_rows[] = {
    {.name = "template",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct string_format_args, template),
     .doc = "The text around the tensors."},
    {.name = "placeholder",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct string_format_args, placeholder),
     .default_text = "{}",
     .doc = "What stands for a tensor in it."},
    {.name = "summarize",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct string_format_args, summarize),
     .default_number = 3,
     .minimum = -1,
     .maximum = INT64_MAX / 4,
     .doc = "How many values are shown at both ends of an axis; -1: all."},
    {0},
};

static leat_status string_format_infer(leati_infer_call *call, leat_error *err) {
    const struct string_format_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    const char *at = args->template == NULL ? "" : args->template;
    int places = 0;
    if (args->placeholder == NULL || args->placeholder[0] == '\0')
        return leati_refuse(err, VALUE, "the placeholder is empty; expected a text like {}");
    /* Placeholders do not overlap: the search goes on behind each. */
    while ((at = strstr(at, args->placeholder)) != NULL) {
        at += strlen(args->placeholder);
        places++;
    }
    if (places != call->num_inputs)
        return leati_refuse(err, STRUCTURE, "the template expects %d tensors, but there are %d",
                            places, call->num_inputs);
    for (int i = 0; i < call->num_inputs; i++)
        LEATI_TRY(leati_support_want_values(call, i, err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

static void put(leati_writer *out, const char *text) {
    leati_put_raw(out, text, strlen(text));
}

/* Bytes of UTF-8 stay, what cannot be printed is octal. */
static void put_string(leati_writer *out, leat_string s) {
    static const char escaped[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
    leati_put_raw(out, "\"", 1);
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        /* strchr would find the zero byte that ends the list. */
        const char *found = c == 0 ? NULL : strchr(escaped, c);
        char text[8];
        if (found != NULL)
            (void)snprintf(text, sizeof text, "\\%c", letters[found - escaped]);
        else if (c < 0x20 || c == 0x7f)
            (void)snprintf(text, sizeof text, "\\%03o", c);
        else
            (void)snprintf(text, sizeof text, "%c", c);
        put(out, text);
    }
    leati_put_raw(out, "\"", 1);
}

/* With the usual digits where they read back, else with enough. */
static void put_float(leati_writer *out, double value, bool wide) {
    char text[40];
    /* Decimals of 6 and 15 digits come back from float32 and float64; 9 and 17 tell all apart. */
    (void)snprintf(text, sizeof text, "%.*g", wide ? 15 : 6, value);
    if (wide ? strtod(text, NULL) != value : strtof(text, NULL) != (float)value)
        (void)snprintf(text, sizeof text, "%.*g", wide ? 17 : 9, value);
    /* printf shows the sign of a NaN. */
    if (value != value)
        (void)snprintf(text, sizeof text, "nan");
    put(out, text);
}

static void put_value(leati_writer *out, leat_dtype dtype, const void *at) {
    char text[24];
    long long number = 0;
    switch (dtype) {
    case LEAT_STRING: put_string(out, *(const leat_string *)at); return;
    case LEAT_FLOAT16:
        put_float(out, (double)leati_float_of_half(*(const uint16_t *)at), false);
        return;
    case LEAT_BFLOAT16:
        put_float(out, (double)leati_float_of_bfloat16(*(const uint16_t *)at), false);
        return;
    case LEAT_FLOAT32: put_float(out, (double)*(const float *)at, false); return;
    case LEAT_FLOAT64: put_float(out, *(const double *)at, true); return;
    case LEAT_UINT64:
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)*(const uint64_t *)at);
        put(out, text);
        return;
    case LEAT_COMPLEX64:
    case LEAT_COMPLEX128: put(out, "?"); return; /* as TensorFlow has them */
    case LEAT_BOOL: number = *(const bool *)at; break;
    case LEAT_INT8: number = *(const int8_t *)at; break;
    case LEAT_INT16: number = *(const int16_t *)at; break;
    case LEAT_INT32: number = *(const int32_t *)at; break;
    case LEAT_INT64: number = *(const int64_t *)at; break;
    case LEAT_UINT8: number = *(const uint8_t *)at; break;
    case LEAT_UINT16: number = *(const uint16_t *)at; break;
    default: number = *(const uint32_t *)at;
    }
    (void)snprintf(text, sizeof text, "%lld", number);
    put(out, text);
}

/* Between two values of an axis: a blank on the last, else as many lines as axes follow. */
static void put_space(leati_writer *out, int32_t axis, int32_t rank) {
    if (axis == rank - 1) {
        leati_put_raw(out, " ", 1);
        return;
    }
    for (int32_t i = axis; i < rank - 1; i++)
        leati_put_raw(out, "\n", 1);
    for (int32_t i = 0; i <= axis; i++)
        leati_put_raw(out, " ", 1);
}

/* The axes from `axis` on, whose first value lies at `at`. */
static void put_axis(leati_writer *out, const leati_operand *in, const char *at, int32_t axis,
                     int64_t ends) {
    int64_t count, step = (int64_t)leat_dtype_size(in->dtype);
    if (axis == in->rank) {
        put_value(out, in->dtype, at);
        return;
    }
    count = in->dims[axis];
    /* Bytes from one value of this axis to the next: all that lies within it. */
    for (int32_t d = axis + 1; d < in->rank; d++)
        step *= in->dims[d];
    leati_put_raw(out, "[", 1);
    for (int64_t i = 0; i < count; i++) {
        /* Jumps to the last `ends` values. With none of them there is nothing behind the dots. */
        if (i == ends && count > 2 * ends) {
            put_space(out, axis, in->rank);
            put(out, "...");
            i = count - ends;
            if (i == count)
                break;
        }
        if (i > 0)
            put_space(out, axis, in->rank);
        put_axis(out, in, at == NULL ? NULL : at + i * step, axis + 1, ends);
    }
    leati_put_raw(out, "]", 1);
}

static leat_status write_template(const leati_kernel_call *call, int64_t row, int64_t index,
                                  void *context, leati_writer *out, leat_error *err) {
    const struct string_format_args *args = call->args;
    const char *at = args->template == NULL ? "" : args->template;
    (void)index;
    (void)context;
    (void)err;
    for (int i = 0; i < call->num_inputs; i++) {
        const leati_operand *in = &call->inputs[i];
        const char *place = strstr(at, args->placeholder);
        int64_t ends = args->summarize;
        /* Capped, so that 2 * ends in put_axis does not overflow. */
        if (ends < 0 || ends > in->count)
            ends = in->count;
        /* Inference has counted the placeholders: there is one for each input. */
        leati_put_raw(out, at, (size_t)(place - at));
        put_axis(out, in, leati_support_row_of(in, row), 0, ends);
        at = place + strlen(args->placeholder);
    }
    put(out, at);
    return LEAT_OK;
}

static leat_status string_format_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    locale_t plain = leati_number_c_locale(), before = (locale_t)0;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    if (plain != (locale_t)0)
        /* printf and strtod must agree on a point, whatever the program's locale. */
        before = uselocale(plain);
    leat_status status = leati_text_collect(call, write_template, NULL, err);
    if (plain != (locale_t)0)
        (void)uselocale(before);
    return status;
}

leat_value leat_op_string_format(const char *template_text, const leat_value *values,
                                 int num_values, const char *placeholder, int64_t summarize) {
    struct string_format_args args = {.template = (char *)(uintptr_t)template_text,
                                      .placeholder = (char *)(uintptr_t)placeholder,
                                      .summarize = summarize};
    return leati_graph_build_many(&leati_tensor_op_string_format, &args, values, num_values);
}

const leati_tensor_op leati_tensor_op_string_format = {
    .name = "string_format",
    .version = 1,
    .doc = "A template whose placeholders stand for tensors as text (tf.strings.format).",
    .types = "*",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = string_format_rows,
    .args_size = sizeof(struct string_format_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = string_format_infer,
    .kernel = string_format_kernel,
};
