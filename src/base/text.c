/* Growing text.
 *
 * Appending keeps the text terminated. After a failed allocation the text stays as it was, `failed`
 * is set and later appends do nothing; leati_text_take then gives NULL. No locks: one owner. */
#include "base/text.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* Makes room for `more` bytes and the terminator. */
static bool reserve(leati_text *text, size_t more) {
    size_t needed;
    if (text->failed)
        return false;
    void *data = text->data;
    if (!leati_add_size(text->size, more, &needed) || !leati_add_size(needed, 1, &needed) ||
        !leati_grow(&data, &text->capacity, needed, 1)) {
        text->failed = true;
        return false;
    }
    text->data = data;
    return true;
}

void leati_text_add(leati_text *text, const char *bytes, size_t size) {
    if (!reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void leati_text_addf(leati_text *text, const char *format, ...) {
    char small[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if ((size_t)length < sizeof small) {
        leati_text_add(text, small, (size_t)length);
        return;
    }
    /* Printed again, into the text itself: a long one costs no second buffer. */
    if (!reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->size += (size_t)length;
}

void leati_text_add_quoted(leati_text *text, const char *bytes, size_t size) {
    leati_text_add(text, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            leati_text_addf(text, "\\%c", c);
        else if (c >= 0x20 && c < 0x7F)
            leati_text_add(text, bytes + i, 1);
        else
            leati_text_addf(text, "\\x%02x", c);
    }
    leati_text_add(text, "\"", 1);
}

void leati_text_add_markup(leati_text *text, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            leati_text_addf(text, "&#%d;", c);
        else if (c >= 0x20 && c < 0x7f)
            leati_text_add(text, bytes + i, 1);
        else
            leati_text_addf(text, "\\x%02x", c);
    }
}

char *leati_text_take(leati_text *text) {
    char *data = NULL;
    /* An empty text may have no memory yet, and is given as "", not as NULL. */
    if (reserve(text, 0)) {
        data = text->data;
        data[text->size] = '\0';
    } else {
        leati_free(text->data);
    }
    *text = (leati_text){0};
    return data;
}

void leati_text_fini(leati_text *text) {
    leati_free(text->data);
    *text = (leati_text){0};
}

void leati_text_of_bytes(char out[LEATI_TEXT_BYTES], double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 6; unit++)
        bytes /= 1024;
    (void)snprintf(out, LEATI_TEXT_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}
