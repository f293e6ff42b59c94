/* Text as code points; see unicode.h. Fails as said there, and without memory. No locks. */
#include "graph/support/text/unicode.h"

#include <string.h>
#include <strings.h>
#ifdef LEATI_HAVE_ICU
#include <unicode/ucnv.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#endif

leat_status leati_unicode_want_icu(const char *what, leat_error *err) {
#ifdef LEATI_HAVE_ICU
    (void)what;
    (void)err;
    return LEAT_OK;
#else
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "%s needs the library ICU, which this build lacks: install libicu-dev and "
                      "build again",
                      what);
#endif
}

leat_status leati_unicode_want_case_encoding(const char *encoding, leat_error *err) {
    if (encoding == NULL || encoding[0] == '\0')
        return LEAT_OK;
    if (strcmp(encoding, "utf-8") != 0)
        return leati_refuse(err, VALUE, "encoding is \"%.40s\"; expected \"utf-8\" or \"\"",
                            encoding);
    return leati_unicode_want_icu("the case of letters outside of ASCII", err);
}

bool leati_unicode_is_character(int32_t point) {
    return point >= 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

leat_status leati_unicode_want_errors(const char *word, leati_text_errors *out, leat_error *err) {
    static const char *const words[] = {"replace", "strict", "ignore"};
    for (int i = 0; i < 3; i++) {
        if (word != NULL && strcmp(word, words[i]) == 0) {
            *out = (leati_text_errors)i;
            return LEAT_OK;
        }
    }
    return leati_refuse(err, VALUE, "errors is \"%.40s\"; expected replace, strict or ignore",
                        word == NULL ? "" : word);
}

leat_status leati_unicode_want_encoding(const char *name, leati_encoding *out, leat_error *err) {
    static const char *const names[] = {"UTF-8", "UTF-16-BE", "UTF-32-BE"};
    for (int i = 0; i < 3; i++) {
        if (name != NULL && strcmp(name, names[i]) == 0) {
            *out = (leati_encoding)i;
            return LEAT_OK;
        }
    }
    return leati_refuse(
        err, VALUE, "the output's encoding is \"%.40s\"; expected UTF-8, UTF-16-BE or UTF-32-BE",
        name == NULL ? "" : name);
}

void leati_unicode_put_point(leati_writer *out, leati_encoding encoding, int32_t point) {
    char bytes[4];
    if (encoding == LEATI_UTF_8) {
        leati_put_raw(out, bytes, leati_text_utf8_put(point, bytes));
        return;
    }
    /* A surrogate pair: 0xd7c0 is 0xd800 less the 0x10000 >> 10 that the format takes off first. */
    if (encoding == LEATI_UTF_16_BE && point >= 0x10000) {
        leati_unicode_put_point(out, encoding, 0xd7c0 + (point >> 10));
        point = 0xdc00 | (point & 0x3ff);
    }
    for (int i = 0; i < 4; i++)
        /* Big-endian; UTF-16 keeps the last two bytes. */
        bytes[i] = (char)(point >> (24 - 8 * i));
    leati_put_raw(out, encoding == LEATI_UTF_32_BE ? bytes : bytes + 2,
                  encoding == LEATI_UTF_32_BE ? 4 : 2);
}

/* ---- reading ---- */

leat_status leati_unicode_decoder_open(leati_decoder *d, const char *encoding, leat_error *err) {
    d->converter = NULL;
    /* UTF-8 needs no ICU, whatever the case of its letters, as ICU compares names. */
    if (encoding != NULL &&
        (strcasecmp(encoding, "UTF-8") == 0 || strcasecmp(encoding, "UTF8") == 0))
        return LEAT_OK;
    LEATI_TRY(leati_unicode_want_icu("an encoding other than UTF-8", err));
#ifdef LEATI_HAVE_ICU
    UErrorCode code = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(encoding == NULL ? "" : encoding, &code);
    if (U_FAILURE(code))
        return leati_refuse(err, VALUE, "could not create converter for input encoding: %.60s",
                            encoding == NULL ? "" : encoding);
    d->converter = converter;
    /* Malformed bytes are to be reported, not replaced as ICU does by itself. */
    ucnv_setToUCallBack(converter, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, &code);
#endif
    return LEAT_OK;
}

void leati_unicode_decoder_close(leati_decoder *d) {
#ifdef LEATI_HAVE_ICU
    if (d->converter != NULL)
        ucnv_close(d->converter);
#endif
    d->converter = NULL;
}

/* One code point, or -1 for malformed bytes. False where nothing is left that is one. */
static bool next_point(leati_decoder *d, const char **at, const char *end, int32_t *point) {
    if (d->converter == NULL) {
        *at += leati_text_utf8_next(*at, end, point);
        return true;
    }
#ifdef LEATI_HAVE_ICU
    UErrorCode code = U_ZERO_ERROR;
    *point = ucnv_getNextUChar(d->converter, at, end, &code);
    /* What is left stands for no character, such as a sequence that switches a state. */
    if (code == U_INDEX_OUTOFBOUNDS_ERROR)
        return false;
    if (U_FAILURE(code)) {
        *point = -1;
        /* Goes on behind the malformed bytes: *at has passed them. */
        ucnv_resetToUnicode(d->converter);
    }
#endif
    return true;
}

int leati_unicode_decoder_next(leati_decoder *d, const char **at, const char *end, int32_t *point,
                               const char **begin) {
#ifdef LEATI_HAVE_ICU
    /* Before a string's first character *begin is *at: what the last string left is forgotten. */
    if (d->converter != NULL && *at == *begin)
        ucnv_resetToUnicode(d->converter);
#endif
    while (*at < end) {
        *begin = *at;
        if (!next_point(d, at, end, point))
            return 0;
        if (*point < 0 && d->errors == LEATI_TEXT_STRICT)
            return -1;
        bool replaced = *point < 0 || (d->replace_controls && *point <= 0x1f);
        if (replaced && d->errors == LEATI_TEXT_IGNORE)
            continue;
        if (replaced)
            *point = d->replacement;
        return 1;
    }
    return 0;
}

/* ---- letters ---- */

int32_t leati_unicode_script(int32_t point) {
#ifdef LEATI_HAVE_ICU
    UErrorCode code = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(point, &code);
    return U_FAILURE(code) ? -1 : (int32_t)script;
#else
    (void)point;
    return -1;
#endif
}

#ifdef LEATI_HAVE_ICU
/* The text in UTF-16, in the other case, and back. */
static leat_status change_case(leat_string text, bool upper, UChar *units, int32_t capacity,
                               leati_writer *out, leat_error *err) {
    UErrorCode code = U_ZERO_ERROR;
    UChar *changed = units + capacity;
    int32_t size = 0, most = 3 * capacity;
    u_strFromUTF8WithSub(units, capacity, &size, text.data, (int32_t)text.size, 0xfffd, NULL,
                         &code);
    if (U_SUCCESS(code))
        size = upper ? u_strToUpper(changed, most, units, size, "", &code)
                     : u_strToLower(changed, most, units, size, "", &code);
    for (int32_t i = 0; i < size && U_SUCCESS(code);) {
        UChar32 point;
        U16_NEXT(changed, i, size, point);
        leati_unicode_put_point(out, LEATI_UTF_8, point);
    }
    if (U_FAILURE(code) && code != U_STRING_NOT_TERMINATED_WARNING)
        return leati_fail(err, LEAT_INTERNAL, "ICU cannot change the case of a text: %s",
                          u_errorName(code));
    return LEAT_OK;
}
#endif

leat_status leati_unicode_case(leat_string text, bool upper, leati_writer *out, leat_error *err) {
#ifdef LEATI_HAVE_ICU
    if (text.size == 0)
        return LEAT_OK;
    if (text.size > INT32_MAX / 4)
        return leati_refuse(err, VALUE, "a string of %zu bytes; expected less than 512 MiB",
                            text.size);
    /* A unit becomes at most three. */
    UChar *units = leati_alloc(4 * (text.size + 1), sizeof *units);
    if (units == NULL)
        return leati_no_memory(err);
    leat_status status = change_case(text, upper, units, (int32_t)text.size + 1, out, err);
    leati_free(units);
    return status;
#else
    (void)text;
    (void)upper;
    (void)out;
    return leati_unicode_want_icu("the case of letters outside of ASCII", err);
#endif
}
