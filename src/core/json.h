/* The JSON forms of core's types, by jansson: literals, elements, specs and argument rows, as
 * golden/README.md has them. */
#ifndef LEATI_CORE_JSON_H
#define LEATI_CORE_JSON_H

#include "core/row.h"
#include <jansson.h>

/* What leati_json_parse accepts: deeper nesting or more bytes are INVALID_ARGUMENT. A plan nests
 * one level per operator; structures and specs have LEATI_MAX_DEPTH. */
#define LEATI_JSON_MAX_DEPTH 1024
#define LEATI_JSON_MAX_SIZE (256u << 20)

/* Reads `text` (depth and size capped; an integer of 2^63 or more becomes its decimal text); errors
 * carry line and column. Owned (json_decref). */
json_t *leati_json_parse(const char *text, size_t size, leat_error *err);
/* A shallow copy of an object, whole or RESOURCE_EXHAUSTED; of NULL an empty one. Owned. */
json_t *leati_json_copy(const json_t *json, leat_error *err);

/* The text of a value: members in the order of insertion, or sorted where `sorted`; one line where
 * `indent` is 0; floats with the fewest digits that read back the same. Owned (leati_free), NULL
 * without memory. */
char *leati_json_print(const json_t *json, int indent, bool sorted, leat_error *err);

/* {"dtype", "shape", "data"}, or of 4 KiB of numbers and more {"dtype", "shape", "packed"}: their
 * little-endian bytes as base64 (base/base64.h). Either form is read. Objects are UNIMPLEMENTED. */
json_t *leati_json_of_tensor(const leat_tensor *tensor, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_json_to_tensor(const json_t *json, leat_tensor *out,
                                                  leat_error *err);

/* A number: an integer as an int, a float as a real (float32 as its shortest decimal), nan and
 * infinities as text, integers of 2^63 and more as decimal text. NULL without memory. */
json_t *leati_json_of_value(const leat_tensor *tensor, int64_t index);
/* A float64 as a value. */
json_t *leati_json_of_double(double value);
/* Text where every byte is printable ASCII, else {"hex": "00ff"}. */
json_t *leati_json_of_string(const char *bytes, size_t size);
/* Reads either form; the bytes are new memory (leati_free), terminated. */
LEAT_WARN_UNUSED leat_status leati_json_to_string(const json_t *json, char **bytes, size_t *size,
                                                  leat_error *err);
/* Reads a number, "nan", "inf" or "-inf". */
LEAT_WARN_UNUSED leat_status leati_json_to_double(const json_t *json, double *out, leat_error *err);
/* A list of dimensions (-1 or null: unknown), or null for an unknown rank. */
json_t *leati_json_of_shape(const leat_shape *shape);
LEAT_WARN_UNUSED leat_status leati_json_to_shape(const json_t *json, leat_shape *out,
                                                 leat_error *err);

/* Writes an object value (a dataset of a window) in an element; owned, NULL on failure. */
typedef json_t *(*leati_json_object_writer)(void *context, leat_object *object, leat_error *err);

/* A tensor literal, {"tuple": [...]}, {"dict": {...}}, {"ragged": {"values", "row_splits"}} (with
 * "row_splits_dtype": "int32" where they are not int64), {"sparse": {"indices", "values",
 * "dense_shape"}} or, for None, null. A bare number, text, {"hex"}, bool or list of these is a
 * tensor by the rule of tf.constant: int32 (int64 where a value needs it), float32, string, bool. A
 * list of structures is a tuple. {"required": dtype} is an empty vector of that dtype, as
 * csv_dataset takes it. */
json_t *leati_json_of_element(const leat_element *element, leat_error *err);
/* The same, where `write` (may be NULL) turns objects into values; NULL: they are UNIMPLEMENTED. */
json_t *leati_json_of_element_with(const leat_element *element, leati_json_object_writer write,
                                   void *context, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_json_to_element(const json_t *json, leat_element *out,
                                                   leat_error *err);

/* {"dtype", "shape"} (-1 unknown, null unknown rank), {"tuple"}, {"dict"}, {"dataset": spec},
 * {"ragged": {"dtype", "shape", "ragged_rank", "row_splits_dtype"}},
 * {"sparse": {"dtype", "shape"}}, {"optional": spec}, and null for None. */
json_t *leati_json_of_spec(const leat_spec *spec, leat_error *err);
leat_spec *leati_json_to_spec(const json_t *json, leat_error *err);

/* How functions (which core does not know) are written and read; NULL: such a row is UNIMPLEMENTED.
 */
typedef struct leati_json_functions {
    void *context;
    /* The structure of tensors for {"given": number}; NULL: refused. */
    leat_status (*given)(void *context, int64_t number, leat_element *out, leat_error *err);
    json_t *(*write)(void *context, const leat_object *function, leat_error *err);
    leat_object *(*read)(void *context, const leati_row *row, const json_t *json, leat_error *err);
    /* The same for OBJECT rows; NULL: they are UNIMPLEMENTED unless absent. */
    json_t *(*write_object)(void *context, const leat_object *object, leat_error *err);
    leat_object *(*read_object)(void *context, const leati_row *row, const json_t *json,
                                leat_error *err);
} leati_json_functions;

/* An object with one member per argument that differs from its default (all of them when `all`).
 */
json_t *leati_json_of_rows(const leati_row *rows, const void *args, bool all,
                           const leati_json_functions *functions, leat_error *err);
/* Fills `args` (zeroed): defaults, then the members of `json`; unknown, missing or ill-typed names
 * are INVALID_ARGUMENT naming `what`. */
LEAT_WARN_UNUSED leat_status leati_json_to_rows(const json_t *json, const leati_row *rows,
                                                void *args, const char *what,
                                                const leati_json_functions *functions,
                                                leat_error *err);

/* ---- describing rows ---- */
/* A default that is a value, and an INT's that stands for None: a number that nobody gives. */
bool leati_json_row_has_default(const leati_row *row);
bool leati_json_row_is_none(const leati_row *row);

/* Some value that the row's reader takes, for an argument whose value is not known yet. Owned; NULL
 * without memory. */
json_t *leati_json_row_placeholder(const leati_row *row);

/* [{"name", "type", "required", "default", "minimum", "maximum", "autotune", "none", "node",
 * "tensor", "doc"}], without rows that constructors fill. "default" (null: None) stands where the
 * row is not required, the flags where they are true. Owned; NULL without memory. */
json_t *leati_json_describe_rows(const leati_row *rows);

/* Adds `value` (given; NULL: memory ran out) under `key`; false without memory. */
bool leati_json_put(json_t *object, const char *key, json_t *value);

#endif
