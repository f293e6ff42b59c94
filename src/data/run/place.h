/* Where a failing row came from: the user's function, and the file and byte that the row's strings
 * point into. Operator and element number are added where the error leaves its operator
 * (data/run/state.c); base/error.h puts all of it into the sentence. */
#ifndef LEATI_DATA_RUN_PLACE_H
#define LEATI_DATA_RUN_PLACE_H

#include "core/block.h"
#include "graph/graph.h"

/* Adds to the failure of row `row` of `block` in `function` (NULL: none) what is known of its
 * place. The row's strings may point into memory that a file was read into; then file and byte are
 * named. A function that reads files names the path that it was given. A failure within a dataset
 * that the function made is told as this row's. */
void leati_place_row(const leat_function *function, const leati_block *block, int64_t row,
                     leat_error *err);
/* Is the string the whole data of a TFRecord record, whose header stands before it in `source`,
 * memory with a path (core/buffer.h)? */
bool leati_place_is_record(const leat_buffer *source, const leat_string *string);
/* Does the function read files whose names it is given, and which component of its arguments (a
 * string scalar) is the name? -1: none. */
int leati_place_path_component(const leat_function *function, const leati_block *block,
                               int64_t row);

#endif
