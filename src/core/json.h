/* The JSON forms of core's types, by jansson: literals, elements, specs and argument rows, as
 * golden/README.md has them. */
#ifndef LEATI_CORE_JSON_H
#define LEATI_CORE_JSON_H

#include "core/row.h"
#include <jansson.h>

/* Reads `text` (depth and size capped); errors carry line and column. Owned (json_decref). */
json_t *leati_json_parse(const char *text, size_t size, leat_error *err);

/* Text of `json` on several lines, in leati_alloc's memory. Owned (leati_free). */
char *leati_json_print(const json_t *json, leat_error *err);

/* {"dtype", "shape", "data"}. */
json_t *leati_json_of_tensor(const leat_tensor *tensor, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_json_to_tensor(const json_t *json, leat_tensor *out,
                                                  leat_error *err);

/* A tensor literal, {"tuple": [...]} or {"dict": {...}}; a bare number, text or list is a tensor of
 * int64, float32, string or bool (Python's conversion rules in tf.constant: int32 for literals
 * given bare is NOT used here). */
json_t *leati_json_of_element(const leat_element *element, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_json_to_element(const json_t *json, leat_element *out,
                                                   leat_error *err);

/* {"dtype", "shape"} (-1 unknown, null unknown rank), {"tuple"}, {"dict"}, {"dataset": spec}. */
json_t *leati_json_of_spec(const leat_spec *spec, leat_error *err);
leat_spec *leati_json_to_spec(const json_t *json, leat_error *err);

/* How functions (which core does not know) are written and read; NULL: such a row is UNIMPLEMENTED.
 */
typedef struct leati_json_functions {
    void *context;
    json_t *(*write)(void *context, const leat_object *function, leat_error *err);
    leat_object *(*read)(void *context, const leati_row *row, const json_t *json, leat_error *err);
} leati_json_functions;

/* An object with one member per argument that differs from its default (all of them when `all`). */
json_t *leati_json_of_rows(const leati_row *rows, const void *args, bool all,
                           const leati_json_functions *functions, leat_error *err);
/* Fills `args` (zeroed): defaults, then the members of `json`; unknown, missing or ill-typed names
 * are INVALID_ARGUMENT naming `what`. */
LEAT_WARN_UNUSED leat_status leati_json_to_rows(const json_t *json, const leati_row *rows,
                                                void *args, const char *what,
                                                const leati_json_functions *functions,
                                                leat_error *err);

#endif
