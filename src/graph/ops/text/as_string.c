/* as_string: numbers as text, "true" or "false" of booleans, strings as they are
 * (tf.strings.as_string).
 *
 * Without arguments floats have six digits after the point; precision, scientific, shortest, width
 * and fill are those of printf, and the decimal point is a point in every locale; they are each
 * part's of complex numbers, which stand in parentheses. Fails in
 * inference where the dtype has no such argument, without memory in a run. No gradient, no locks.
 */
#include "core/half.h"
#include "core/number.h"
#include "core/tensor.h"
#include "graph/support/text/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct as_string_args {
    int64_t precision;
    bool scientific;
    bool shortest;
    int64_t width;
    char *fill;
};

#define ROW(field) .offset = offsetof(struct as_string_args, field)
#define MOST_DIGITS 100000

static const leati_row as_string_rows[] = {
    {.name = "precision",
     .type = LEATI_ROW_INT,
     ROW(precision),
     .default_number = -1,
     .minimum = INT32_MIN,
     .maximum = MOST_DIGITS,
     .doc = "Digits after the point of floats, or of shortest in all; negative: six."},
    {.name = "scientific",
     .type = LEATI_ROW_BOOL,
     ROW(scientific),
     .doc = "Floats with an exponent."},
    {.name = "shortest",
     .type = LEATI_ROW_BOOL,
     ROW(shortest),
     .doc = "Floats with an exponent where that is shorter, without zeros at the end."},
    {.name = "width",
     .type = LEATI_ROW_INT,
     ROW(width),
     .default_number = -1,
     .minimum = INT32_MIN,
     .maximum = MOST_DIGITS,
     .doc = "The least number of bytes; negative: none."},
    {.name = "fill",
     .type = LEATI_ROW_STRING,
     ROW(fill),
     .default_text = "",
     .doc = "What fills up to the width: nothing for blanks, or one of 0, -, +, # and a blank, "
            "which mean what they mean to printf."},
    {0},
};

/* Is it a dtype of floats, or of pairs of them? */
static bool has_point(leat_dtype dtype) {
    return leati_dtype_is_float(dtype) || leati_dtype_is_complex(dtype);
}

static leat_status as_string_infer(leati_infer_call *call, leat_error *err) {
    const struct as_string_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    const char *fill = args->fill == NULL ? "" : args->fill;
    /* Dtypes are ordered: the comparisons below take ranges of their numbers. */
    bool is_float = has_point(dtype), is_text = dtype == LEAT_STRING;
    if ((dtype < LEAT_BOOL || dtype > LEAT_FLOAT64) && !is_text && !is_float)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers, bool or string",
                            leat_dtype_name(dtype));
    if (fill[0] != '\0' && (fill[1] != '\0' || strchr(" +-0#", fill[0]) == NULL))
        return leati_refuse(
            err, VALUE, "fill is \"%.40s\"; expected \"\" or one of \" \", +, -, 0 and #", fill);
    if ((args->scientific || args->shortest) && !is_float && !is_text)
        return leati_refuse(err, VALUE, "scientific and shortest are not for %s; expected floats",
                            leat_dtype_name(dtype));
    if (args->scientific && args->shortest)
        return leati_refuse(err, VALUE,
                            "scientific and shortest are both set; expected one of them");
    if (args->precision >= 0 && !is_float && !is_text)
        return leati_refuse(err, VALUE, "precision is not for %s; expected floats",
                            leat_dtype_name(dtype));
    return leati_op_infer_output(call, LEAT_STRING, &call->inputs[0].shape, NULL, err);
}

/* ---- whole numbers, which need no format ---- */

static size_t write_unsigned(uint64_t value, bool negative, char *to) {
    /* 20 digits of 2^64 - 1 and a sign fit; they come from the last to the first. */
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

static int64_t signed_of(leat_dtype dtype, const char *at) {
    switch (dtype) {
    case LEAT_INT8: return *(const int8_t *)at;
    case LEAT_INT16: return *(const int16_t *)(const void *)at;
    case LEAT_INT32: return *(const int32_t *)(const void *)at;
    default: return *(const int64_t *)(const void *)at;
    }
}

static uint64_t unsigned_of(leat_dtype dtype, const char *at) {
    switch (dtype) {
    case LEAT_UINT8: return *(const uint8_t *)at;
    case LEAT_UINT16: return *(const uint16_t *)(const void *)at;
    case LEAT_UINT32: return *(const uint32_t *)(const void *)at;
    default: return *(const uint64_t *)(const void *)at;
    }
}

static bool is_signed(leat_dtype dtype) {
    return dtype == LEAT_INT8 || dtype == LEAT_INT16 || dtype == LEAT_INT32 || dtype == LEAT_INT64;
}

static size_t plain_text(const leati_kernel_call *call, int64_t row, int64_t index, char *to) {
    const leati_operand *in = &call->inputs[0];
    const char *at = leati_support_row_of(in, row) + (size_t)index * leat_dtype_size(in->dtype);
    if (in->dtype == LEAT_BOOL) {
        bool value = *(const bool *)at;
        if (to != NULL)
            memcpy(to, value ? "true" : "false", value ? 4 : 5);
        return value ? 4 : 5;
    }
    if (!is_signed(in->dtype))
        return write_unsigned(unsigned_of(in->dtype, at), false, to);
    int64_t value = signed_of(in->dtype, at);
    /* Negated as unsigned, since the lowest int64 has no positive counterpart. */
    return write_unsigned(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, to);
}

/* ---- by a format of printf's ---- */

/* float16 and bfloat16 have no value that a double cannot hold. */
static double float_of(leat_dtype dtype, const char *at) {
    switch (dtype) {
    case LEAT_FLOAT16: return (double)leati_float_of_half(*(const uint16_t *)(const void *)at);
    case LEAT_BFLOAT16: return (double)leati_float_of_bfloat16(*(const uint16_t *)(const void *)at);
    case LEAT_FLOAT32: return (double)*(const float *)(const void *)at;
    default: return *(const double *)(const void *)at;
    }
}

/* What printf is told; width and precision are numbers beside it. */
typedef struct format {
    char text[16];
    int width, precision; /* negative: not told */
} format;

static format format_of(const struct as_string_args *args, leat_dtype dtype) {
    /* Every integer is widened to 64 bits before it is printed, so two conversions do. */
    const char *end = is_signed(dtype) ? "lld" : "llu";
    format f = {.width = args->width > 0 ? (int)args->width : 0,
                .precision = args->precision >= 0 ? (int)args->precision : -1};
    if (has_point(dtype))
        end = args->shortest ? "g" : args->scientific ? "e" : "f";
    else if (dtype == LEAT_STRING && args->width <= 0)
        f.precision = -1; /* without a width TensorFlow leaves strings as they are */
    /* "%", a flag, "*.*" and up to three letters fit. A negative precision is none. */
    (void)snprintf(f.text, sizeof f.text, "%%%s*.*%s", args->fill == NULL ? "" : args->fill, end);
    return f;
}

/* The format is built above from checked parts; the compiler cannot know them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int print(const format *f, leat_dtype dtype, const char *at, char *to, size_t size) {
    if (dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64)
        return snprintf(to, size, f->text, f->width, f->precision, float_of(dtype, at));
    if (is_signed(dtype))
        return snprintf(to, size, f->text, f->width, f->precision, (long long)signed_of(dtype, at));
    return snprintf(to, size, f->text, f->width, f->precision,
                    (unsigned long long)unsigned_of(dtype, at));
}

#pragma GCC diagnostic pop

/* A string as %s has it, but with bytes of any value. */
static void put_string(const format *f, const char *fill, const leat_string *s, leati_writer *out) {
    size_t size =
        f->precision >= 0 && s->size > (size_t)f->precision ? (size_t)f->precision : s->size;
    size_t blanks = (size_t)f->width > size ? (size_t)f->width - size : 0;
    /* "-" is the only one of printf's flags that matters to %s. */
    bool left = fill != NULL && fill[0] == '-';
    for (size_t i = 0; i < blanks && !left; i++)
        leati_put_raw(out, " ", 1);
    leati_put_raw(out, s->data, size);
    for (size_t i = 0; i < blanks && left; i++)
        leati_put_raw(out, " ", 1);
}

/* Six digits behind the point, as "%f" writes them: the number times a million is an integer and a
 * rest, both exact, and a rest of one half goes to the even one. 0 where the number is too large or
 * none; `to` has room for 24 bytes. */
static size_t write_six(double value, char *to) {
    uint64_t bits, whole;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF);
    uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFu) | (exponent > 0 ? UINT64_C(1) << 52 : 0);
    int shift = 1075 - (exponent > 0 ? exponent : 1);
    if (!(fabs(value) < 9e12))
        return 0;
    unsigned __int128 scaled = (unsigned __int128)mantissa * 1000000, half = 1;
    whole = 0;
    if (shift < 100) { /* else it is below a half: 53 bits and 20 */
        half <<= shift - 1;
        unsigned __int128 rest = scaled & (2 * half - 1);
        whole = (uint64_t)(scaled >> shift);
        whole += rest > half || (rest == half && whole % 2 == 1);
    }
    size_t size = write_unsigned(whole / 1000000, bits >> 63 != 0, to);
    uint64_t behind = whole % 1000000;
    to[size] = '.';
    for (size_t k = 6; k > 0; k--, behind /= 10)
        to[size + k] = (char)('0' + behind % 10);
    return size + 7;
}

static bool has_six(const struct as_string_args *args) {
    return args->precision < 0 && !args->scientific && !args->shortest && args->width <= 0 &&
           (args->fill == NULL || args->fill[0] == '\0');
}

static leat_status write_number(const struct as_string_args *args, const format *f,
                                leat_dtype dtype, const char *at, leati_writer *out,
                                leat_error *err) {
    /* Doubles have up to 309 digits before the point: few results are longer. */
    char text[512], *longer = NULL;
    int size = 0;
    if (leati_dtype_is_float(dtype) && has_six(args))
        size = (int)write_six(float_of(dtype, at), text);
    if (size == 0)
        size = print(f, dtype, at, text, sizeof text);
    /* snprintf said how much it needs; a width or precision can ask for MOST_DIGITS. */
    if (size >= (int)sizeof text) {
        longer = leati_alloc(1, (size_t)size + 1);
        if (longer == NULL)
            return leati_no_memory(err);
        (void)print(f, dtype, at, longer, (size_t)size + 1);
    }
    if (size > 0)
        leati_put_raw(out, longer == NULL ? text : longer, (size_t)size);
    leati_free(longer);
    return LEAT_OK;
}

static leat_status write_value(const leati_kernel_call *call, int64_t row, int64_t index,
                               void *context, leati_writer *out, leat_error *err) {
    const struct as_string_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    const char *at = leati_support_row_of(in, row) + (size_t)index * leat_dtype_size(in->dtype);
    leat_dtype part = leati_dtype_part(in->dtype);
    if (in->dtype == LEAT_STRING) {
        put_string(context, args->fill, (const leat_string *)(const void *)at, out);
        return LEAT_OK;
    }
    if (part == in->dtype)
        return write_number(args, context, part, at, out, err);
    leati_put_raw(out, "(", 1);
    LEATI_TRY(write_number(args, context, part, at, out, err));
    leati_put_raw(out, ",", 1);
    LEATI_TRY(write_number(args, context, part, at + leat_dtype_size(part), out, err));
    leati_put_raw(out, ")", 1);
    return LEAT_OK;
}

static leat_status as_string_kernel(leati_kernel_call *call, leat_error *err) {
    const struct as_string_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leat_dtype dtype = call->inputs[0].dtype;
    bool whole = !has_point(dtype) && dtype != LEAT_STRING;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (dtype == LEAT_BOOL ||
        /* Nothing to format: digits are written without printf. */
        (whole && args->width <= 1 && (args->fill == NULL || args->fill[0] == '\0')))
        return leati_text_write(call, plain_text, err);
    format f = format_of(args, dtype);
    locale_t plain = leati_number_c_locale(), before = (locale_t)0;
    if (plain != (locale_t)0)
        /* Of this thread alone; where there is no such locale, the user's stays. */
        before = uselocale(plain);
    leat_status status = leati_text_collect(call, write_value, &f, err);
    if (plain != (locale_t)0)
        (void)uselocale(before);
    return status;
}

const leati_tensor_op leati_tensor_op_as_string = {
    .name = "as_string",
    .version = 1,
    .doc = "Numbers as text, true or false of booleans (tf.strings.as_string).",
    .names = "strings.as_string as_string",
    .inputs = "input",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .by_value = true,
    .rows = as_string_rows,
    .args_size = sizeof(struct as_string_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = as_string_infer,
    .kernel = as_string_kernel,
};
