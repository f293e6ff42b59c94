/* Numbers in text: what the C library reads, apart from what it alone takes (hexadecimal digits,
 * names of NaNs), and with leat's rules for white space. */
#include "core/number.h"
#include "fuzz.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of the text without white space at its ends. */
static bool trimmed(const uint8_t *data, size_t size, char *out, size_t room) {
    while (size > 0 && strchr(" \t\n\v\f\r", data[0]) != NULL && data[0] != 0) {
        data++;
        size--;
    }
    while (size > 0 && strchr(" \t\n\v\f\r", data[size - 1]) != NULL && data[size - 1] != 0)
        size--;
    if (size == 0 || size >= room)
        return false;
    memcpy(out, data, size);
    out[size] = '\0';
    return strspn(out, "0123456789+-.eE") == size; /* one notation of both */
}

static void check_integer(leat_string text, const char *trim) {
    char *end = NULL;
    int64_t found = 0;
    errno = 0;
    long long expected = strtoll(trim, &end, 10);
    bool good = *end == '\0' && end != trim && errno == 0;
    if (leati_number_parse(text, LEAT_INT64, &found) != good || (good && found != expected))
        fuzz_broken("\"%s\" as int64: expected %d %lld, found %lld", trim, good, expected,
                    (long long)found);
    int32_t small = 0;
    good = good && expected >= INT32_MIN && expected <= INT32_MAX;
    if (leati_number_parse(text, LEAT_INT32, &small) != good || (good && small != expected))
        fuzz_broken("\"%s\" as int32: expected %d %lld, found %d", trim, good, expected, small);
}

static void check_float(leat_string text, const char *trim) {
    char *end = NULL;
    double found = 0;
    float small = 0;
    double expected = strtod(trim, &end);
    bool good = *end == '\0' && end != trim;
    float expected_small = strtof(trim, NULL);
    if (leati_number_parse(text, LEAT_FLOAT64, &found) != good ||
        (good && memcmp(&found, &expected, sizeof found) != 0))
        fuzz_broken("\"%s\" as float64: expected %d %a, found %a", trim, good, expected, found);
    if (leati_number_parse(text, LEAT_FLOAT32, &small) != good ||
        (good && memcmp(&small, &expected_small, sizeof small) != 0))
        fuzz_broken("\"%s\" as float32: expected %d %a, found %a", trim, good,
                    (double)expected_small, (double)small);
}

static void run(const uint8_t *data, size_t size) {
    char trim[256];
    double value;
    leat_string text = {(const char *)data, size};
    (void)leati_number_parse(text, LEAT_FLOAT64, &value);
    (void)leati_number_parse(text, LEAT_FLOAT32, &value);
    (void)leati_number_parse(text, LEAT_INT64, &value);
    if (trimmed(data, size, trim, sizeof trim)) {
        check_integer(text, trim);
        check_float(text, trim);
    }
}

static void seeds(void) {
    static const char *const texts[] = {
        "0",      "-17",      " 42 ",       "9223372036854775808",
        "1.5e-3", "+.5",      "1e400",      "-2147483649",
        "nan",    "-inf",     "0x1p3",      "4.9406564584124654e-324",
        "1e",     "infinity", "2147483647", "3.4028235677973366e38"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed(texts[i], strlen(texts[i]));
}

const fuzz_target fuzz_number = {
    .name = "number",
    .doc = "numbers in text",
    .run = run,
    .most = 300,
    .seeds = seeds,
};
