/* Numbers as text says them; see number.h. Locks: the one of pthread_once. */
#include "core/number.h"
#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    /* 2^63 itself has no positive int64. */
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *out = value;
    return value >= lowest && value <= highest;
}

/* No sign but "+". */
static bool parse_unsigned(leat_string s, uint64_t highest, uint64_t *out) {
    size_t at = s.size > 0 && s.data[0] == '+' ? 1 : 0;
    uint64_t value = 0;
    if (at == s.size)
        return false;
    for (; at < s.size; at++) {
        int digit = s.data[at] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *out = value;
    return value <= highest;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t leati_number_c_locale(void) {
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale;
}

/* Digits, with a point among them or not, of which those of a double are exact: of at most 15
 * digits over a power of ten up to 22 both are, and so is the rounding of their quotient. False
 * where strtod is to say. */
static bool parse_digits(leat_string s, double *out) {
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool negative = s.data[0] == '-', point = false;
    size_t begin = negative || s.data[0] == '+' ? 1 : 0, digits = 0, behind = 0;
    int64_t value = 0;
    for (size_t at = begin; at < s.size; at++) {
        int digit = s.data[at] - '0';
        if (s.data[at] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit < 0 || digit > 9 || ++digits > 15)
            return false;
        value = 10 * value + digit;
        behind += point;
    }
    if (digits == 0)
        return false;
    double number = (double)value / powers[behind];
    *out = negative ? -number : number;
    return true;
}

/* Whether a double that was rounded lies where a float's rounding of the exact number may be
 * another one: next to the middle of two floats, or below the normal ones. */
static bool is_between_floats(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint64_t rest = bits & 0x1FFFFFFFu;
    double size = number < 0 ? -number : number;
    return (rest >= 0x0FFFFFFFu && rest <= 0x10000001u) ||
           (size != 0 && (size < 1.2e-38 || size > 3.4e38));
}

/* `wide` chooses the precision; text longer than any number of use is refused. */
static bool parse_float(leat_string s, bool wide, double *out) {
    char text[256], *end = NULL;
    if (s.size == 0 || s.size >= sizeof text)
        return false;
    if (parse_digits(s, out) && (wide || !is_between_floats(*out)))
        return true;
    memcpy(text, s.data, s.size);
    text[s.size] = '\0';
    locale_t plain = leati_number_c_locale();
    /* Without memory for the locale the program's own has to do. */
    if (plain == (locale_t)0)
        *out = wide ? strtod(text, &end) : (double)strtof(text, &end);
    else
        *out = wide ? strtod_l(text, &end, plain) : (double)strtof_l(text, &end, plain);
    /* A NUL inside ends strtod early, too. */
    return end == text + s.size;
}

bool leati_number_parse(leat_string text, leat_dtype dtype, void *out) {
    leat_string s = trimmed(text);
    int64_t integer = 0;
    uint64_t natural = 0;
    double number = 0;
    switch (dtype) {
    case LEAT_INT32:
        if (!parse_integer(s, INT32_MIN, INT32_MAX, &integer))
            return false;
        *(int32_t *)out = (int32_t)integer;
        return true;
    case LEAT_UINT32:
        if (!parse_unsigned(s, UINT32_MAX, &natural))
            return false;
        *(uint32_t *)out = (uint32_t)natural;
        return true;
    case LEAT_UINT64: return parse_unsigned(s, UINT64_MAX, out);
    case LEAT_INT64: return parse_integer(s, INT64_MIN, INT64_MAX, out);
    case LEAT_FLOAT32:
        if (!parse_float(s, false, &number))
            return false;
        *(float *)out = (float)number;
        return true;
    default: return parse_float(s, true, out);
    }
}
