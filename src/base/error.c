/* Error text and the names of status codes.
 *
 * Text is formatted aside and then copied, so that a caller may quote the old text of the same
 * record. Text that is too long is cut at a character boundary and ends in "...". No locks. */
#include "base/error.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

const char *leat_status_name(leat_status status) {
    unsigned index = (unsigned)status;
    return index < sizeof status_names / sizeof status_names[0] ? status_names[index] : "UNKNOWN";
}

/* Ends a text that did not fit in dots, without leaving half of a UTF-8 sequence before them. */
static void cut(char text[LEAT_ERROR_TEXT]) {
    size_t end = LEAT_ERROR_TEXT - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

static void format_text(char text[LEAT_ERROR_TEXT], const char *format, va_list arguments) {
    int length = vsnprintf(text, LEAT_ERROR_TEXT, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if (length >= LEAT_ERROR_TEXT)
        cut(text);
}

leat_status leati_fail(leat_error *err, leat_status code, const char *format, ...) {
    if (err == NULL)
        return code;
    char text[LEAT_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, format, arguments);
    va_end(arguments);
    err->code = code;
    err->at_end = false;
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

leat_status leati_prefix(leat_error *err, const char *format, ...) {
    if (err == NULL)
        return LEAT_UNKNOWN;
    char prefix[LEAT_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    format_text(prefix, format, arguments);
    va_end(arguments);
    char old[LEAT_ERROR_TEXT];
    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = '\0';
    bool at_end = err->at_end;
    leati_fail(err, err->code, "%s: %s", prefix, old);
    err->at_end = at_end;
    return err->code;
}

leat_status leati_no_memory(leat_error *err) {
    size_t refused = leati_refused();
    char bytes[48] = "";
    if (err != NULL)
        leati_refused_forget();
    if (refused > 0 && refused < SIZE_MAX)
        snprintf(bytes, sizeof bytes, ": %zu bytes were refused", refused);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "out of memory%s; use smaller buffers or batches, or raise the limit of the "
                      "process",
                      bytes);
}
