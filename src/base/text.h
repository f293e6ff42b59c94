/* A growing text. {0} is empty; after a failed allocation `failed` is set and further calls do
 * nothing, so that a printer checks once at its end. */
#ifndef LEATI_BASE_TEXT_H
#define LEATI_BASE_TEXT_H

#include <leat/base.h>
#include <stdarg.h>

typedef struct leati_text {
    char *data; /* terminated when size > 0 or after any append */
    size_t size;
    size_t capacity;
    bool failed;
} leati_text;

void leati_text_add(leati_text *text, const char *bytes, size_t size);
void leati_text_addf(leati_text *text, const char *format, ...) LEAT_PRINTF(2, 3);
/* Appends `bytes` quoted as a C-like literal: printable ASCII as it is, the rest as \xNN. */
void leati_text_add_quoted(leati_text *text, const char *bytes, size_t size);
/* Appends bytes for a page of HTML: markup as references, what is not printable ASCII as \xNN. */
void leati_text_add_markup(leati_text *text, const char *bytes, size_t size);
/* Gives the terminated text to the caller (leati_free), or NULL if an allocation failed; the struct
 * is empty again. */
char *leati_text_take(leati_text *text);
void leati_text_fini(leati_text *text);

enum { LEATI_TEXT_BYTES = 24 };
/* A number of bytes in the unit that suits it: "512 bytes", "12.5 MiB". */
void leati_text_of_bytes(char out[LEATI_TEXT_BYTES], double bytes);

#endif
