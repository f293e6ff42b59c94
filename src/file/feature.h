/* One list of a tf.train.Feature: counting and reading its values. Shared by the planned parser and
 * the iterator. */
#ifndef LEATI_FILE_FEATURE_H
#define LEATI_FILE_FEATURE_H

#include "file/wire.h"
#include <leat/file.h>

/* Field numbers of Feature's oneof. */
enum { LEATI_BYTES_LIST = 1, LEATI_FLOAT_LIST = 2, LEATI_INT64_LIST = 3 };

/* One entry of Features' map. */
typedef struct leati_feature_entry {
    leati_wire name;
    leati_wire feature;
} leati_feature_entry;

/* "bytes", "float", "int64": TensorFlow's word for a dtype that a feature can have, else "no". */
const char *leati_feature_word(leat_dtype dtype);

/* Splits an entry's message. False if it is malformed: *bad is then where. */
bool leati_feature_split(leati_wire entry, leati_feature_entry *out, const uint8_t **bad);

/* Finds the list of a Feature's message (the last one counts): its dtype (LEAT_INVALID: none set)
 * and message. False if it is malformed: *bad is then where. */
bool leati_feature_list(leati_wire feature, leat_dtype *dtype, leati_wire *list,
                        const uint8_t **bad);

/* Checks a list and counts its values; -1 if it is malformed: *bad is then where. */
int64_t leati_feature_count(leat_dtype dtype, leati_wire list, const uint8_t **bad);

/* Counts packed varints; -1 if the last one is cut or one is longer than ten bytes. */
int64_t leati_feature_count_varints(leati_wire packed);

/* Writes the first `capacity` values of a checked packed field of numbers. */
void leati_feature_unpack(leat_dtype dtype, leati_wire packed, void *to, int64_t capacity);

/* Writes the first `capacity` values of a checked list to `to` and returns how many. */
int64_t leati_feature_values(leat_dtype dtype, leati_wire list, void *to, int64_t capacity);

#endif
