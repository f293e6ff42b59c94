/* Reading JSON text. It is scanned before jansson sees it: for its depth, so that untrusted input
 * cannot make recursion deep, and for integers that do not fit 64 signed bits, which jansson
 * refuses and which are therefore put into quotes (the form in which uint64 tensors have them);
 * those that fit no 64 bits are refused here.
 * Failures: INVALID_ARGUMENT with line and column, RESOURCE_EXHAUSTED. No locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include <string.h>

/* Digits of the smallest integer that may not fit. */
#define LARGE_DIGITS 19
#define LARGEST "9223372036854775807"
#define LARGEST_OF_ALL "18446744073709551615" /* uint64's */

/* The deepest nesting of brackets outside of strings. */
static size_t depth_of(const char *text, size_t size) {
    size_t depth = 0;
    size_t deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        /* The character behind a backslash ends no string. A bracket that closes nothing is
         * jansson's to refuse, and must not make depth wrap around. */
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && (c == ']' || c == '}') && depth > 0)
            depth--;
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

/* The number of bytes of a too large non-negative integer at `at`, else 0. `before` is the
 * character in front of it. */
static size_t large_integer(const char *at, const char *end, char before) {
    size_t digits = 0;
    /* Negative ones are too small for any dtype, and digits of a fraction or an exponent are no
     * integer. */
    if (before == '-' || before == '.' || before == '+' || before == 'e' || before == 'E')
        return 0;
    while (at + digits < end && at[digits] >= '0' && at[digits] <= '9')
        digits++;
    char after = at + digits < end ? at[digits] : ' ';
    if (digits < LARGE_DIGITS || after == '.' || after == 'e' || after == 'E')
        return 0;
    /* Of one length, digits compare as numbers do. */
    return digits > LARGE_DIGITS || memcmp(at, LARGEST, LARGE_DIGITS) > 0 ? digits : 0;
}

/* Do so many digits, of a large integer, fit no dtype at all? Left alone they would become a text.
 */
static bool is_beyond(const char *at, size_t digits) {
    /* Zeros in front are no JSON, and are refused by jansson where they make it as long. */
    size_t most = strlen(LARGEST_OF_ALL);
    return digits > most || (digits == most && memcmp(at, LARGEST_OF_ALL, most) > 0);
}

/* Copies the text into `out` with quotes around integers that are too large; nothing is written
 * where there are none. */
static leat_status quote_large(const char *text, size_t size, leati_text *out, leat_error *err) {
    const char *end = text + size;
    const char *copied = text;
    bool quoted = false;
    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (quoted && *at == '\\')
            at++;
        if (quoted || *at < '0' || *at > '9')
            continue;
        size_t digits = large_integer(at, end, at > text ? at[-1] : ' ');
        if (is_beyond(at, digits))
            return leati_refuse(
                err, VALUE,
                "JSON has an integer of %zu digits, %.*s; expected at most " LARGEST_OF_ALL
                ", or a number with a fraction or an exponent",
                digits, (int)LEATI_MIN(digits, 40), at);
        if (digits > 0) {
            leati_text_add(out, copied, (size_t)(at - copied));
            leati_text_addf(out, "\"%.*s\"", (int)digits, at);
            copied = at + digits;
        }
        /* Past the rest of the number, which must not be judged again from its second digit. */
        while (at + 1 < end && at[1] >= '0' && at[1] <= '9')
            at++;
    }
    /* Nothing was put into quotes: the caller parses the text itself. */
    if (copied > text)
        leati_text_add(out, copied, (size_t)(end - copied));
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

json_t *leati_json_parse(const char *text, size_t size, leat_error *err) {
    if (size > LEATI_JSON_MAX_SIZE) {
        leati_refuse(err, VALUE, "expected at most %u bytes of JSON, found %zu",
                     LEATI_JSON_MAX_SIZE, size);
        return NULL;
    }
    size_t depth = depth_of(text, size);
    if (depth > LEATI_JSON_MAX_DEPTH) {
        leati_refuse(err, VALUE, "expected JSON of at most %d levels, found %zu",
                     LEATI_JSON_MAX_DEPTH, depth);
        return NULL;
    }
    leati_text copy = {0};
    if (quote_large(text, size, &copy, err) != LEAT_OK) {
        leati_text_fini(&copy);
        return NULL;
    }
    const char *source = copy.size > 0 ? copy.data : text;
    json_error_t error = {.text = ""};
    /* So that a refused allocation is known to be of this parsing. */
    leati_alloc_refused_forget();
    json_t *json = json_loadb(source, copy.size > 0 ? copy.size : size,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    leati_text_fini(&copy);
    if (json != NULL)
        return json;
    /* jansson may say nothing then, or that the text is wrong. */
    if (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0' ||
        leati_alloc_refused() > 0)
        return leati_json_no_memory(err);
    bool is_bytes = json_error_code(&error) == json_error_invalid_utf8;
    leati_refuse(err, VALUE, "JSON, line %d, column %d: %s%s", error.line, error.column, error.text,
                 is_bytes ? "; a string that is no UTF-8 is written as {\"hex\": \"00ff\"}" : "");
    return NULL;
}

json_t *leati_json_copy(const json_t *json, leat_error *err) {
    json_t *copy = json == NULL ? json_object() : json_copy((json_t *)(uintptr_t)json);
    /* Without memory jansson leaves out members and says nothing. */
    if (copy != NULL && json_object_size(copy) == json_object_size(json))
        return copy;
    json_decref(copy);
    leati_no_memory(err);
    return NULL;
}
