/* What the files of the JSON forms share; no other file needs it. */
#ifndef LEATI_CORE_JSON_PARTS_H
#define LEATI_CORE_JSON_PARTS_H

#include "core/json.h"

/* Writes RESOURCE_EXHAUSTED and returns NULL. */
void *leati_json_no_memory(leat_error *err);

/* What a value is, with its article, for messages. Static text. */
const char *leati_json_type(const json_t *json);

/* The number of bytes of a string in either form, checked; then the bytes, for a value that was. */
LEAT_WARN_UNUSED leat_status leati_json_string_size(const json_t *json, size_t *out,
                                                    leat_error *err);
void leati_json_string_bytes(const json_t *json, char *bytes);

LEAT_WARN_UNUSED leat_status leati_json_to_dtype(const json_t *json, leat_dtype *out,
                                                 leat_error *err);

/* A tensor from the flat list of its values. */
LEAT_WARN_UNUSED leat_status leati_json_to_values(leat_dtype dtype, const leat_shape *shape,
                                                  const json_t *values, leat_tensor *out,
                                                  leat_error *err);

/* A tensor from a bare value or nested list, by the rule of tf.constant. */
LEAT_WARN_UNUSED leat_status leati_json_to_bare(const json_t *json, leat_tensor *out,
                                                leat_error *err);

/* The members of an object in the order of their keys: *out gets `json_object_size` borrowed keys
 * (leati_free). */
LEAT_WARN_UNUSED leat_status leati_json_sorted_keys(const json_t *object, const char ***out,
                                                    leat_error *err);

#endif
