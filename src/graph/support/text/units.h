/* What a string is counted in: the argument `unit` of tf.strings. Header only. */
#ifndef LEATI_GRAPH_SUPPORT_TEXT_UNITS_H
#define LEATI_GRAPH_SUPPORT_TEXT_UNITS_H

#include "graph/support/text/texts.h"

#include <string.h>

#define LEATI_UNIT_ROW(ARGS)                                                                       \
    {                                                                                              \
        .name = "unit", .type = LEATI_ROW_STRING, .offset = offsetof(ARGS, unit),                  \
        .default_text = "BYTE", .doc = "BYTE, or UTF8_CHAR for the characters of UTF-8.",          \
    }

static char leati_bytes_unit[] = "BYTE";
static char leati_character_unit[] = "UTF8_CHAR";

static inline bool leati_unit_is_character(const char *unit) {
    return unit != NULL && strcmp(unit, leati_character_unit) == 0;
}

static inline leat_status leati_units_want(const char *unit, leat_error *err) {
    if (unit == NULL || leati_unit_is_character(unit) || strcmp(unit, leati_bytes_unit) == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "unit is \"%.40s\"; expected BYTE or UTF8_CHAR", unit);
}

static inline int64_t leati_units_count_characters(const leat_string *s) {
    int64_t count = 0;
    for (size_t i = 0; i < s->size; i++)
        count += !leati_text_is_trail(s->data[i]);
    return count;
}

#endif
