/* Tensors as numpy's str() prints them. Two passes over the values that will be shown: the first
 * finds the common width (and, for floats, whether fixed or scientific notation), the second
 * prints. Nothing is allocated and nothing fails; the text is cut by the sink. No locks. */
#include "core/tensor_print.h"

#include "base/minmax.h"
#include "core/half.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* numpy's print options. */
#define THRESHOLD 1000
#define EDGE_ITEMS 3
#define LINE_WIDTH 75
#define PRECISION 8

/* Longest text of one number: the largest double has 309 digits in fixed notation. */
#define NUMBER 352

/* How all values of one array are printed. */
struct layout {
    const leat_tensor *tensor;
    const struct layout *imaginary; /* of complex numbers, whose real parts this one is of */
    leat_dtype dtype;               /* of the parts; of other tensors their own */
    bool signs;                     /* a plus, too, as numpy has it before imaginary parts */
    bool summary;
    bool scientific;
    int left;  /* characters before the point, or all of them where there is none */
    int right; /* digits after the point; -1: not a float */
    int power; /* of scientific notation: digits of the exponent */
    /* What the first pass has seen of finite values other than zero. */
    double smallest;
    double largest;
};

/* A number that is printed. */
static double value_at(const struct layout *layout, int64_t index) {
    leat_tensor parts = *layout->tensor;
    parts.dtype = layout->dtype;
    /* The two parts of a complex number lie side by side. */
    bool pairs = layout->dtype != layout->tensor->dtype;
    return leati_tensor_float_at(&parts, pairs ? 2 * index + layout->signs : index);
}

static bool reads_back(leat_dtype dtype, const char *text, double value) {
    double back = strtod(text, NULL);
    /* In the value's own precision: 0.1f needs one digit as a float32 and 17 as a double. */
    if (dtype == LEAT_FLOAT64)
        return back == value;
    if (dtype == LEAT_FLOAT16)
        return leati_float_of_half(leati_half_of_float((float)back)) == (float)value;
    return (float)back == (float)value;
}

/* The significant digits that are needed, 1 to 17, to read the value back in its dtype. */
static int digits_needed(leat_dtype dtype, double value) {
    int digits = 1;
    for (; digits < 17; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (reads_back(dtype, text, value))
            break;
    }
    return digits;
}

static int decimal_exponent(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return atoi(strchr(text, 'e') + 1);
}

/* Fixed notation with at most `most` digits after the point, without trailing zeros; the point
 * stays. */
static void fixed_text(leat_dtype dtype, double value, int most, char *text) {
    int digits = digits_needed(dtype, value);
    int exponent = value == 0 ? 0 : decimal_exponent(value, digits);
    /* Digits behind the point: all but the first one and those that the exponent moves before
     * it. */
    int after = digits - 1 - exponent;
    if (after < 0 || value == 0)
        after = 0;
    if (after > most)
        after = most;
    /* '#' keeps the point where no digit follows it, as numpy does in arrays ("1."). */
    int length = snprintf(text, NUMBER, "%#.*f", after, value);
    for (; after > 0 && text[length - 1] == '0'; after--)
        text[--length] = '\0';
}

/* Scientific notation with exactly `after` digits behind the point and at least `power` of the
 * exponent. Returns how many the exponent has. */
static int scientific_text(double value, int after, int power, char *text) {
    int length = snprintf(text, NUMBER, "%#.*e", after, value);
    /* Behind the "e" and the sign. */
    char *digits = strchr(text, 'e') + 2;
    int found = (int)(text + length - digits);
    for (; found < power; found++) {
        memmove(digits + 1, digits, (size_t)found + 1);
        digits[0] = '0';
    }
    return found;
}

/* Characters from the point on. */
static int behind_point(const struct layout *layout) {
    return layout->right + (layout->scientific ? layout->power + 3 : 1);
}

/* A scalar as Python's repr has floats: fixed from 1e-4 to below 1e16, at least one digit behind
 * the point. */
static void scalar_text(leat_dtype dtype, double value, char *text) {
    if (isnan(value) || isinf(value)) {
        snprintf(text, NUMBER, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    int digits = digits_needed(dtype, value);
    int exponent = value == 0 ? 0 : decimal_exponent(value, digits);
    /* Python's repr of floats changes its notation there. */
    if (exponent < -4 || exponent >= 16) {
        snprintf(text, NUMBER, "%.*e", digits - 1, value);
        return;
    }
    int after = digits - 1 - exponent;
    snprintf(text, NUMBER, "%.*f", after > 1 ? after : 1, value);
}

static void whole_text(const leat_tensor *tensor, int64_t index, char *text) {
    if (tensor->dtype == LEAT_BOOL)
        snprintf(text, NUMBER, "%s", leati_tensor_int_at(tensor, index) ? "True" : "False");
    else if (tensor->dtype == LEAT_UINT64)
        snprintf(text, NUMBER, "%" PRIu64, ((const uint64_t *)tensor->data)[index]);
    else
        snprintf(text, NUMBER, "%" PRId64, leati_tensor_int_at(tensor, index));
}

/* Bytes as Python writes them: b'a\n\x00'. */
static void put_bytes(leati_text_sink *sink, const leat_string *string) {
    /* As Python does: double quotes only where the text has a single quote and no double one. */
    bool single = string->size > 0 && memchr(string->data, '\'', string->size) != NULL;
    bool both = single && memchr(string->data, '"', string->size) != NULL;
    const char *quote = single && !both ? "\"" : "'";
    leati_sink_put(sink, "b");
    leati_sink_put(sink, quote);
    for (size_t i = 0; i < string->size; i++) {
        unsigned char c = (unsigned char)string->data[i];
        if (c == '\\' || c == (unsigned char)quote[0])
            leati_sink_putf(sink, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            leati_sink_put(sink, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c >= 0x7f)
            leati_sink_putf(sink, "\\x%02x", c);
        else
            leati_sink_add(sink, &string->data[i], 1);
    }
    leati_sink_put(sink, quote);
}

/* Calls `visit` for each value that is shown below `axis`; `index` is of its first value. */
static void walk(struct layout *layout, int axis, int64_t index, int64_t count,
                 void (*visit)(struct layout *layout, int64_t index)) {
    const leat_tensor *tensor = layout->tensor;
    if (axis == tensor->rank) {
        visit(layout, index);
        return;
    }
    int64_t size = tensor->dims[axis];
    int64_t inner = size > 0 ? count / size : 0;
    bool cut = layout->summary && size > 2 * EDGE_ITEMS;
    for (int64_t i = 0; i < size; i++) {
        /* The first and the last three count for the width, as they alone are printed. */
        if (cut && i == EDGE_ITEMS)
            i = size - EDGE_ITEMS;
        walk(layout, axis + 1, index + i * inner, inner, visit);
    }
}

static void visit_magnitude(struct layout *layout, int64_t index) {
    double value = fabs(value_at(layout, index));
    if (!isfinite(value) || value == 0)
        return;
    /* numpy chooses the notation by the absolute values, without zeros, nan and inf. */
    if (value > layout->largest)
        layout->largest = value;
    if (layout->smallest == 0 || value < layout->smallest)
        layout->smallest = value;
}

static void widen(int *width, int needed) {
    if (needed > *width)
        *width = needed;
}

static void visit_width(struct layout *layout, int64_t index) {
    char text[NUMBER];
    leat_dtype dtype = layout->dtype;
    if (!leati_dtype_is_float(dtype)) {
        whole_text(layout->tensor, index, text);
        widen(&layout->left, (int)strlen(text));
        return;
    }
    double value = value_at(layout, index);
    const int sign = signbit(value) || layout->signs;
    if (!isfinite(value))
        return;
    if (layout->scientific) {
        int after = digits_needed(dtype, value) - 1;
        after = LEATI_MIN(after, PRECISION);
        widen(&layout->power, scientific_text(value, after, 0, text));
        for (const char *last = strchr(text, 'e') - 1; *last == '0'; last--)
            after--; /* where rounding left zeros */
        widen(&layout->right, after);
        widen(&layout->left, 1 + sign);
        return;
    }
    fixed_text(dtype, value, PRECISION, text);
    /* A locale may write a comma. */
    int point = (int)strcspn(text, ".,");
    widen(&layout->left, point + (sign && !signbit(value)));
    widen(&layout->right, (int)strlen(text) - point - 1);
}

/* nan and inf must fit beside the numbers. */
static void visit_special(struct layout *layout, int64_t index) {
    double value = value_at(layout, index);
    int length = (isnan(value) || value > 0) && !layout->signs ? 3 : 4;
    /* Special words end where the numbers' last digit does, so they borrow the places behind the
     * point. */
    if (!isfinite(value))
        widen(&layout->left, length - behind_point(layout));
}

static struct layout layout_of(const leat_tensor *tensor, bool imaginary) {
    int64_t count = leat_tensor_count(tensor);
    struct layout layout = {.tensor = tensor,
                            .summary = count > THRESHOLD,
                            .right = -1,
                            .signs = imaginary,
                            .dtype = leati_dtype_part(tensor->dtype)};
    if (tensor->dtype == LEAT_STRING || tensor->dtype == LEAT_OBJECT || count == 0)
        return layout;
    if (leati_dtype_is_float(layout.dtype)) {
        layout.right = 0;
        walk(&layout, 0, 0, count, visit_magnitude);
        /* numpy's rule for arrays: large, tiny, or more than three decades between the extremes. */
        layout.scientific = layout.largest >= 1e8 ||
                            (layout.largest > 0 &&
                             (layout.smallest < 1e-4 || layout.largest / layout.smallest > 1000));
    }
    walk(&layout, 0, 0, count, visit_width);
    if (leati_dtype_is_float(layout.dtype))
        walk(&layout, 0, 0, count, visit_special);
    return layout;
}

static void put_spaces(leati_text_sink *sink, int count) {
    for (int i = 0; i < count; i++)
        leati_sink_put(sink, " ");
}

/* One number of an array, padded to the common width; `unit` stands behind it. */
static void put_number(leati_text_sink *sink, const struct layout *layout, int64_t index,
                       const char *unit) {
    char text[NUMBER];
    const leat_tensor *tensor = layout->tensor;
    bool plus = false;
    int before; /* characters of `text` that stand to the left of the point */
    int after = 0;
    if (layout->right < 0) {
        whole_text(tensor, index, text);
        before = (int)strlen(text);
    } else {
        double value = value_at(layout, index);
        int behind = behind_point(layout);
        plus = layout->signs && (isnan(value) || !signbit(value));
        if (!isfinite(value))
            scalar_text(layout->dtype, value, text);
        else if (layout->scientific)
            scientific_text(value, layout->right, layout->power, text);
        else
            fixed_text(layout->dtype, value, layout->right, text);
        before = (int)strlen(text) - behind;
        if (isfinite(value) && !layout->scientific) {
            before = (int)strcspn(text, ".,");
            after = behind - ((int)strlen(text) - before);
        }
    }
    put_spaces(sink, layout->left - before - plus);
    leati_sink_put(sink, plus ? "+" : "");
    leati_sink_put(sink, text);
    leati_sink_put(sink, unit);
    put_spaces(sink, after);
}

static void put_word(leati_text_sink *sink, const struct layout *layout, int64_t index) {
    const leat_tensor *tensor = layout->tensor;
    if (tensor->dtype == LEAT_STRING)
        put_bytes(sink, (const leat_string *)tensor->data + index);
    else if (tensor->dtype == LEAT_OBJECT)
        leati_sink_put(sink, "<object>");
    else
        put_number(sink, layout, index, "");
    if (layout->imaginary != NULL)
        put_number(sink, layout->imaginary, index, "j");
}

/* A row of values: words separated by blanks, wrapped where the line would be too long. */
static void put_row(leati_text_sink *sink, const struct layout *layout, int64_t index, int indent,
                    int width) {
    int64_t size = layout->tensor->dims[layout->tensor->rank - 1];
    bool cut = layout->summary && size > 2 * EDGE_ITEMS;
    size_t start = (size_t)indent;
    size_t line = start;
    for (int64_t i = 0; i < size; i++) {
        bool dots = cut && i == EDGE_ITEMS;
        leati_text_sink word = {.at = dots ? 3 : 0}; /* measures only */
        if (!dots)
            put_word(&word, layout, index + i);
        /* numpy keeps a place for the bracket that closes the row. */
        if (line > start && line + word.at > (size_t)width - 1) {
            leati_sink_put(sink, "\n");
            put_spaces(sink, indent);
            line = start;
        } else if (line > start) {
            leati_sink_put(sink, " ");
        }
        if (dots) {
            leati_sink_put(sink, "...");
            i = size - EDGE_ITEMS - 1;
        } else {
            put_word(sink, layout, index + i);
        }
        line += word.at + 1;
    }
}

static void put_axis(leati_text_sink *sink, const struct layout *layout, int axis, int64_t index,
                     int64_t count) {
    const leat_tensor *tensor = layout->tensor;
    int left = tensor->rank - axis;
    int indent = axis + 1;
    leati_sink_put(sink, "[");
    if (left == 1) {
        put_row(sink, layout, index, indent, LINE_WIDTH - axis);
        leati_sink_put(sink, "]");
        return;
    }
    int64_t size = tensor->dims[axis];
    /* Values below one index of this axis. */
    int64_t inner = size > 0 ? count / size : 0;
    bool cut = layout->summary && size > 2 * EDGE_ITEMS;
    for (int64_t i = 0; i < size; i++) {
        bool dots = cut && i == EDGE_ITEMS;
        if (i > 0) {
            /* One empty line more for each dimension below, as numpy separates them. */
            for (int k = 1; k < left; k++)
                leati_sink_put(sink, "\n");
            put_spaces(sink, indent);
        }
        if (dots) {
            leati_sink_put(sink, "...");
            i = size - EDGE_ITEMS - 1;
        } else {
            put_axis(sink, layout, axis + 1, index + i * inner, inner);
        }
    }
    leati_sink_put(sink, "]");
}

/* A complex scalar as Python's str() has it. */
static void put_complex(leati_text_sink *sink, const leat_tensor *tensor) {
    char text[2][NUMBER];
    double parts[2];
    for (int i = 0; i < 2; i++) {
        struct layout one = {
            .tensor = tensor, .dtype = leati_dtype_part(tensor->dtype), .signs = i == 1};
        parts[i] = value_at(&one, 0);
        scalar_text(one.dtype, parts[i], text[i]);
        size_t length = strlen(text[i]);
        /* Whole parts have no point there. */
        if (length > 2 && strcmp(text[i] + length - 2, ".0") == 0)
            text[i][length - 2] = '\0';
    }
    const char *plus = isnan(parts[1]) || !signbit(parts[1]) ? "+" : "";
    if (parts[0] == 0 && !signbit(parts[0]))
        leati_sink_putf(sink, "%sj", text[1]);
    else
        leati_sink_putf(sink, "(%s%s%sj)", text[0], plus, text[1]);
}

void leati_tensor_print(leati_text_sink *sink, const leat_tensor *tensor) {
    char text[NUMBER];
    int64_t count = leat_tensor_count(tensor);
    if (tensor->rank > 0 && count == 0) {
        leati_sink_put(sink, "[]");
    } else if (tensor->rank > 0) {
        struct layout layout = layout_of(tensor, false);
        struct layout imaginary = {0};
        if (leati_dtype_is_complex(tensor->dtype)) {
            imaginary = layout_of(tensor, true);
            layout.imaginary = &imaginary;
        }
        put_axis(sink, &layout, 0, 0, count);
    } else if (tensor->dtype == LEAT_STRING) {
        put_bytes(sink, tensor->data);
    } else if (leati_dtype_is_complex(tensor->dtype)) {
        put_complex(sink, tensor);
    } else if (tensor->dtype == LEAT_OBJECT || leat_dtype_size(tensor->dtype) == 0) {
        leati_sink_putf(sink, "<%s>", leat_dtype_name(tensor->dtype));
    } else {
        if (leati_dtype_is_float(tensor->dtype))
            scalar_text(tensor->dtype, leati_tensor_float_at(tensor, 0), text);
        else
            whole_text(tensor, 0, text);
        leati_sink_put(sink, text);
    }
}
