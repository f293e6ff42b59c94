/* Errors: see error.h, and the names of status codes and reasons.
 *
 * Text is formatted aside and then copied, so that a caller may quote the old text of the same
 * record. Text that is too long is cut at a character boundary and ends in "...". The record keeps
 * where the place and the message begin in its text, so a place that becomes known later is written
 * into the sentence without anybody reading it. No locks. */
#include "base/error.h"

#include "base/alloc.h"
#include "base/debug.h"

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

static const char *const reason_names[] = {"NONE",  "DTYPE", "SHAPE",         "STRUCTURE",
                                           "VALUE", "END",   "AFTER_FAILURE", "CALLBACK"};

const char *leat_status_name(leat_status status) {
    unsigned index = (unsigned)status;
    return index < sizeof status_names / sizeof status_names[0] ? status_names[index] : "UNKNOWN";
}

const char *leat_reason_name(leat_reason reason) {
    unsigned index = (unsigned)reason;
    return index < sizeof reason_names / sizeof reason_names[0] ? reason_names[index] : "NONE";
}

/* The number of a name; -1 for another word. */
static int find_name(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

bool leati_status_from_name(const char *name, leat_status *out) {
    int found = find_name(status_names, sizeof status_names / sizeof status_names[0], name);
    *out = found < 0 ? LEAT_UNKNOWN : (leat_status)found;
    return found >= 0;
}

bool leati_reason_from_name(const char *name, leat_reason *out) {
    int found = find_name(reason_names, sizeof reason_names / sizeof reason_names[0], name);
    *out = found < 0 ? LEAT_REASON_NONE : (leat_reason)found;
    return found >= 0;
}

/* Ends a text that did not fit in dots, without leaving half of a UTF-8 sequence before them. */
static void cut(char *text, size_t size) {
    size_t end = size - 4; /* the dots and the terminator */
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

static void format_text(char *text, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= size)
        cut(text, size);
}

LEAT_PRINTF(3, 4) static size_t print(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    format_text(text, size, format, arguments);
    va_end(arguments);
    return strlen(text);
}

/* ---- what failed ---- */

static leat_status fail(leat_error *err, leat_status code, leat_reason reason, const char *format,
                        va_list arguments) {
    LEATI_ASSERT(err != NULL);
    char text[LEAT_ERROR_TEXT];
    format_text(text, sizeof text, format, arguments);
    err->code = code;
    err->reason = reason;
    err->at_end = err->decompressed = false;
    err->op[0] = err->function[0] = err->file[0] = '\0';
    err->element = err->byte = -1;
    err->place_at = err->message_at = 0;
    err->payload = 0;
    memcpy(err->text, text, strlen(text) + 1);
    return code;
}

leat_status leati_fail(leat_error *err, leat_status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    leat_status status = fail(err, code, LEAT_REASON_NONE, format, arguments);
    va_end(arguments);
    return status;
}

leat_status leati_fail_for(leat_error *err, leat_status code, leat_reason reason,
                           const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    leat_status status = fail(err, code, reason, format, arguments);
    va_end(arguments);
    return status;
}

leat_status leati_fail_in_file(leat_error *err, leat_status code, const char *path, int64_t byte,
                               bool decompressed, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(err, code, LEAT_REASON_NONE, format, arguments);
    va_end(arguments);
    leati_error_at_file(err, path, strlen(path), byte, decompressed);
    return code;
}

leat_status leati_fail_end(leat_error *err) {
    return leati_fail_for(err, LEAT_OUT_OF_RANGE, LEAT_REASON_END, "End of sequence");
}

bool leati_error_is_end(const leat_error *err) {
    return err->code == LEAT_OUT_OF_RANGE && err->reason == LEAT_REASON_END;
}

leat_status leati_error_pass(leat_error *err, const leat_error *failure) {
    LEATI_ASSERT(err != NULL);
    if (err != failure)
        *err = *failure;
    return failure->code;
}

leat_status leati_fail_callback(leat_error *err, leat_status status, const leat_error *failure,
                                const char *kind, const char *name) {
    /* The failure may be `err` itself, which is about to be written over. */
    uint64_t payload = failure->payload;
    leat_reason reason = failure->reason ? failure->reason : LEAT_REASON_CALLBACK;
    leati_fail_for(err, status, reason, "%s \"%s\": %s", kind, name != NULL ? name : "(unnamed)",
                   failure->text[0] ? failure->text : "it failed without writing a text");
    err->payload = payload;
    return status;
}

leat_status leat_error_set(leat_error *error, leat_status code, const char *format, ...) {
    if (error == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    leat_status status = fail(error, code, LEAT_REASON_NONE, format, arguments);
    va_end(arguments);
    return status;
}

/* What `place_at` is of a record that nobody will read, before its first failure. */
enum { UNWANTED = UINT16_MAX };

leat_error *leati_error_unwanted(leat_error *record) {
    record->code = LEAT_OK;
    record->reason = LEAT_REASON_NONE;
    record->at_end = record->decompressed = false;
    record->op[0] = record->function[0] = record->file[0] = record->text[0] = '\0';
    record->element = record->byte = 0;
    record->payload = 0;
    record->place_at = UNWANTED;
    record->message_at = 0;
    return record;
}

/* ---- the sentence ---- */

/* The text in its three parts; a record that a user's function filled has a message only. */
struct parts {
    char text[LEAT_ERROR_TEXT];
    size_t lead; /* bytes of context in front */
    const char *message;
};

static void split(const leat_error *err, struct parts *out) {
    memcpy(out->text, err->text, sizeof out->text);
    out->text[sizeof out->text - 1] = '\0';
    size_t size = strlen(out->text), at = err->message_at;
    out->lead = err->place_at < at && at <= size ? err->place_at : 0;
    out->message = out->text + (at <= size ? at : 0);
}

const char *leat_error_message(const leat_error *error) {
    return error->text + (error->message_at <= strlen(error->text) ? error->message_at : 0);
}

static size_t print_place(const leat_error *err, char *text, size_t size) {
    size_t used = print(text, size, "%s", err->op);
    if (used > 0 && err->function[0] != '\0')
        used += print(text + used, size - used, " (%s)", err->function);
    if (used > 0)
        used += print(text + used, size - used, ": element %lld", (long long)err->element);
    if (err->file[0] != '\0')
        used += print(text + used, size - used, "%s%.250s", used > 0 ? " of " : "", err->file);
    if (err->file[0] != '\0' && err->byte >= 0)
        used += print(text + used, size - used, " at byte %lld%s", (long long)err->byte,
                      err->decompressed ? " (decompressed)" : "");
    return used;
}

static void compose(leat_error *err, const struct parts *parts) {
    /* A path of 250 bytes, an operator, a function and numbers: less than the text has room for. */
    char place[LEAT_ERROR_TEXT] = "";
    size_t used = print_place(err, place, sizeof place);
    print(err->text, sizeof err->text, "%.*s%s%s%s", (int)parts->lead, parts->text, place,
          used > 0 ? ": " : "", parts->message);
    err->place_at = (uint16_t)parts->lead;
    err->message_at = (uint16_t)(parts->lead + used + (used > 0 ? 2 : 0));
}

leat_status leati_prefix(leat_error *err, const char *format, ...) {
    LEATI_ASSERT(err != NULL);
    char prefix[LEAT_ERROR_TEXT];
    struct parts old;
    va_list arguments;
    va_start(arguments, format);
    format_text(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    split(err, &old);
    size_t added = strlen(prefix) + 2;
    print(err->text, sizeof err->text, "%s: %s", prefix, old.text);
    /* Where the prefix pushes the place out of the record, the text becomes one message. */
    if (old.message > old.text + old.lead && added + err->message_at < sizeof err->text) {
        err->place_at = (uint16_t)(old.lead + added);
        err->message_at = (uint16_t)(err->message_at + added);
    } else {
        err->place_at = err->message_at = 0;
    }
    return err->code;
}

void leati_error_wrap(leat_error *err, leat_status code, const char *before) {
    LEATI_ASSERT(err != NULL);
    struct parts old;
    char message[LEAT_ERROR_TEXT];
    split(err, &old);
    print(message, sizeof message, "%s: %s", before, old.message);
    old.message = message;
    err->code = code;
    err->reason = LEAT_REASON_NONE;
    compose(err, &old);
}

void leati_error_at_file(leat_error *err, const char *path, size_t size, int64_t byte,
                         bool decompressed) {
    LEATI_ASSERT(err != NULL);
    if (err->op[0] != '\0' || err->file[0] != '\0' || size == 0)
        return;
    struct parts old;
    split(err, &old);
    print(err->file, sizeof err->file, "%.*s", (int)size, path);
    err->byte = byte;
    err->decompressed = decompressed;
    compose(err, &old);
}

void leati_error_at_function(leat_error *err, const char *function) {
    LEATI_ASSERT(err != NULL);
    if (err->op[0] != '\0' || err->function[0] != '\0')
        return;
    print(err->function, sizeof err->function, "%s", function);
}

bool leati_error_has_operator(const leat_error *err) {
    return err->op[0] != '\0';
}

void leati_error_settle(leat_error *err) {
    LEATI_ASSERT(err != NULL);
    if (err->op[0] == '\0')
        return;
    err->op[0] = err->function[0] = err->file[0] = '\0';
    err->element = err->byte = -1;
    err->decompressed = false;
    err->place_at = err->message_at = 0;
}

void leati_error_at_operator(leat_error *err, const char *name, int64_t element) {
    LEATI_ASSERT(err != NULL);
    if (err->op[0] != '\0')
        return;
    struct parts old;
    char message[LEAT_ERROR_TEXT];
    split(err, &old);
    /* Context that stood before a file's place stands behind the operator's. */
    print(message, sizeof message, "%.*s%s", (int)old.lead, old.text, old.message);
    old.message = message;
    old.lead = 0;
    print(err->op, sizeof err->op, "%s", name);
    err->element = element;
    compose(err, &old);
}

leat_status leati_no_memory(leat_error *err) {
    size_t refused = leati_alloc_refused();
    char bytes[48] = "";
    /* Where nobody is told, what is made of the missing result says it (leati_tensor_missing). */
    if (err->place_at != UNWANTED)
        leati_alloc_refused_forget();
    if (refused > 0 && refused < SIZE_MAX)
        snprintf(bytes, sizeof bytes, ": %zu bytes were refused", refused);
    return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                      "out of memory%s; use smaller buffers or batches, or raise the limit of the "
                      "process",
                      bytes);
}
