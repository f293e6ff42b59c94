/* Printing JSON with the fewest digits (15 to 17) that read back the same, which jansson does not.
 * Members come in the order of insertion or sorted (canonical text, for fingerprints). Failure: no
 * memory, found at the end by the text's sticky flag. Depth is that of the value, which parsing and
 * the builders bound. No locks. */
#include "core/json_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    leati_text text;
    int indent;
    bool sorted;
};

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of an object in order; NULL without memory. */
static const char **sorted_keys(const json_t *object) {
    size_t count = json_object_size(object);
    const char **keys = leati_alloc(count, sizeof *keys);
    if (keys == NULL)
        return NULL;
    size_t i = 0;
    void *walk = json_object_iter((json_t *)(uintptr_t)object);
    for (; walk != NULL && i < count;
         walk = json_object_iter_next((json_t *)(uintptr_t)object, walk))
        keys[i++] = json_object_iter_key(walk);
    /* By bytes: canonical text must not depend on a locale. */
    qsort(keys, count, sizeof *keys, compare_keys);
    return keys;
}

leat_status leati_json_sorted_keys(const json_t *object, const char ***out, leat_error *err) {
    const char **keys = sorted_keys(object);
    if (keys == NULL)
        return leati_no_memory(err);
    *out = keys;
    return LEAT_OK;
}

static void print_string(struct printer *printer, const char *bytes, size_t size) {
    leati_text *text = &printer->text;
    leati_text_add(text, "\"", 1);
    size_t written = 0;
    for (size_t i = 0; i < size; i++) {
        /* Bytes from 0x80 on are UTF-8, which jansson has checked, and stay as they are. */
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\')
            continue;
        leati_text_add(text, bytes + written, i - written);
        written = i + 1;
        if (c == '"' || c == '\\')
            leati_text_addf(text, "\\%c", c);
        else if (c == '\n')
            leati_text_add(text, "\\n", 2);
        else if (c == '\t')
            leati_text_add(text, "\\t", 2);
        else
            leati_text_addf(text, "\\u%04x", c);
    }
    leati_text_add(text, bytes + written, size - written);
    leati_text_add(text, "\"", 1);
}

/* The decimal point of a locale becomes a full stop; a number without point or exponent gets ".0",
 * so that it reads back as a real. */
static void print_real(struct printer *printer, double value) {
    char number[40];
    /* 15 digits always survive a double, 17 always name it. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    bool real = false;
    for (char *c = number; *c; c++) {
        if (strchr("0123456789+-", *c) != NULL)
            continue;
        real = true;
        /* Neither digit, sign nor exponent: the locale's decimal point. */
        if (*c != 'e')
            *c = '.';
    }
    leati_text_addf(&printer->text, "%s%s", number, real ? "" : ".0");
}

static void new_line(struct printer *printer, int depth) {
    if (printer->indent == 0)
        return;
    leati_text_add(&printer->text, "\n", 1);
    for (int i = 0; i < depth * printer->indent; i++)
        leati_text_add(&printer->text, " ", 1);
}

static void print_value(struct printer *printer, const json_t *json, int depth);

static void print_member(struct printer *printer, const char *key, const json_t *value, bool first,
                         int depth) {
    if (!first)
        leati_text_add(&printer->text, printer->indent ? "," : ", ", printer->indent ? 1 : 2);
    new_line(printer, depth);
    print_string(printer, key, strlen(key));
    leati_text_add(&printer->text, ": ", 2);
    print_value(printer, value, depth);
}

static void print_object(struct printer *printer, const json_t *json, int depth) {
    leati_text_add(&printer->text, "{", 1);
    if (printer->sorted) {
        const char **keys = sorted_keys(json);
        if (keys == NULL) {
            printer->text.failed = true;
            return;
        }
        for (size_t i = 0; i < json_object_size(json); i++)
            print_member(printer, keys[i], json_object_get(json, keys[i]), i == 0, depth + 1);
        leati_free(keys);
    } else {
        json_t *object = (json_t *)(uintptr_t)json;
        const char *key;
        json_t *value;
        bool first = true;
        json_object_foreach(object, key, value) {
            print_member(printer, key, value, first, depth + 1);
            first = false;
        }
    }
    if (json_object_size(json) > 0)
        new_line(printer, depth);
    leati_text_add(&printer->text, "}", 1);
}

/* Lists of numbers and texts stay on one line: tensors would fill pages otherwise. */
static void print_array(struct printer *printer, const json_t *json, int depth) {
    bool broken = false;
    size_t i;
    json_t *value;
    json_array_foreach((json_t *)(uintptr_t)json, i, value) {
        broken = broken || json_is_object(value) || json_is_array(value);
    }
    leati_text_add(&printer->text, "[", 1);
    json_array_foreach((json_t *)(uintptr_t)json, i, value) {
        if (i > 0)
            leati_text_add(&printer->text, ", ", broken && printer->indent ? 1 : 2);
        if (broken)
            new_line(printer, depth + 1);
        print_value(printer, value, depth + 1);
    }
    if (broken)
        new_line(printer, depth);
    leati_text_add(&printer->text, "]", 1);
}

static void print_value(struct printer *printer, const json_t *json, int depth) {
    switch (json_typeof(json)) {
    case JSON_OBJECT: print_object(printer, json, depth); break;
    case JSON_ARRAY: print_array(printer, json, depth); break;
    case JSON_STRING:
        print_string(printer, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        leati_text_addf(&printer->text, "%" PRId64, (int64_t)json_integer_value(json));
        break;
    case JSON_REAL: print_real(printer, json_real_value(json)); break;
    case JSON_NULL: leati_text_add(&printer->text, "null", 4); break;
    default: leati_text_addf(&printer->text, "%s", json_is_true(json) ? "true" : "false"); break;
    }
}

char *leati_json_print(const json_t *json, int indent, bool sorted, leat_error *err) {
    struct printer printer = {.indent = indent, .sorted = sorted};
    print_value(&printer, json, 0);
    char *text = leati_text_take(&printer.text);
    if (text == NULL)
        leati_no_memory(err);
    return text;
}
