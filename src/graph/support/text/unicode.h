/* What strings mean as text: code points of an encoding, cases and scripts of letters.
 *
 * UTF-8 is read here; other encodings, cases and scripts are those of the library ICU. Where it was
 * left out of the build, what needs it is refused with UNIMPLEMENTED when a graph is built. */
#ifndef LEATI_GRAPH_SUPPORT_TEXT_UNICODE_H
#define LEATI_GRAPH_SUPPORT_TEXT_UNICODE_H

#include "graph/support/text/texts.h"

/* Encodings of letters' cases: nothing, or utf-8. */
LEAT_WARN_UNUSED leat_status leati_unicode_want_case_encoding(const char *encoding,
                                                              leat_error *err);
/* UNIMPLEMENTED without ICU; `what` needs it. */
LEAT_WARN_UNUSED leat_status leati_unicode_want_icu(const char *what, leat_error *err);

/* Appends text of UTF-8 in upper or lower case, as no language in particular has it; what is no
 * UTF-8 becomes U+FFFD. */
LEAT_WARN_UNUSED leat_status leati_unicode_case(leat_string text, bool upper, leati_writer *out,
                                                leat_error *err);

/* ICU's number of a code point's script; -1 for what is no code point. */
int32_t leati_unicode_script(int32_t point);

/* A code point that text may hold: not beyond Unicode, and no surrogate. */
bool leati_unicode_is_character(int32_t point);

/* ---- reading ---- */
/* How malformed bytes are taken. */
typedef enum leati_text_errors {
    LEATI_TEXT_REPLACE = 0,
    LEATI_TEXT_STRICT,
    LEATI_TEXT_IGNORE
} leati_text_errors;

/* "replace", "strict" or "ignore". */
LEAT_WARN_UNUSED leat_status leati_unicode_want_errors(const char *word, leati_text_errors *out,
                                                       leat_error *err);

/* Reads one encoding; for one thread. Close also after a failed open. */
typedef struct leati_decoder {
    void *converter; /* ICU's; NULL: UTF-8 */
    leati_text_errors errors;
    int32_t replacement;
    bool replace_controls; /* U+0000 to U+001F too */
} leati_decoder;

/* INVALID_ARGUMENT for a name that nobody knows, UNIMPLEMENTED for one that needs ICU. */
LEAT_WARN_UNUSED leat_status leati_unicode_decoder_open(leati_decoder *decoder,
                                                        const char *encoding, leat_error *err);
void leati_unicode_decoder_close(leati_decoder *decoder);
/* Takes the next code point that counts off [*at, end): 1 with the point and the place it began at,
 * 0 at the end, -1 where malformed bytes are refused. */
int leati_unicode_decoder_next(leati_decoder *decoder, const char **at, const char *end,
                               int32_t *point, const char **begin);

/* ---- writing ---- */
typedef enum leati_encoding { LEATI_UTF_8, LEATI_UTF_16_BE, LEATI_UTF_32_BE } leati_encoding;

/* UTF-8, UTF-16-BE or UTF-32-BE. */
LEAT_WARN_UNUSED leat_status leati_unicode_want_encoding(const char *name, leati_encoding *out,
                                                         leat_error *err);
/* Appends a code point. */
void leati_unicode_put_point(leati_writer *out, leati_encoding encoding, int32_t point);

#endif
