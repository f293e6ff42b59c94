/* Text into memory of the caller by snprintf's rule: what fits is written and terminated, what does
 * not is only counted. Nothing is allocated, nothing fails. */
#ifndef LEATI_CORE_SINK_H
#define LEATI_CORE_SINK_H

#include <leat/base.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"

typedef struct leati_text_sink {
    char *text;
    size_t size;
    size_t at; /* bytes that a large enough array would hold by now */
} leati_text_sink;

static inline leati_text_sink leati_sink_over(char *text, size_t size) {
    if (size > 0)
        text[0] = '\0';
    return (leati_text_sink){.text = text, .size = size};
}

static inline void leati_sink_add(leati_text_sink *sink, const char *bytes, size_t count) {
    if (sink->at + 1 < sink->size) {
        size_t room = sink->size - 1 - sink->at;
        size_t part = LEATI_MIN(count, room);
        memcpy(sink->text + sink->at, bytes, part);
        sink->text[sink->at + part] = '\0';
    }
    sink->at += count;
}

static inline void leati_sink_put(leati_text_sink *sink, const char *text) {
    leati_sink_add(sink, text, strlen(text));
}

/* For pieces of at most 255 bytes. */
static inline void leati_sink_putf(leati_text_sink *sink, const char *format, ...)
    LEAT_PRINTF(2, 3);

static inline void leati_sink_putf(leati_text_sink *sink, const char *format, ...) {
    char piece[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (length > 0)
        leati_sink_add(sink, piece,
                       (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1);
}

#endif
