/* Where an element came from, for the text of its error:
 *
 *     map "decode" (user.c:41): element 17 of train-03.tfrecord at byte 9312: not a JPEG
 *
 * Operator and element number are known where an error leaves its operator (data/run/state.c), the
 * user's function and the file where it arises, perhaps on another thread. So whoever runs a
 * function writes what it knows in front of the text, marked, and the framework puts it in its
 * place. */
#ifndef LEATI_DATA_RUN_PLACE_H
#define LEATI_DATA_RUN_PLACE_H

#include "core/block.h"
#include "graph/graph.h"

/* Marks the failure of row `row` of `block` in `function` (NULL: none). The row's strings may point
 * into memory that a file was read into; then file and byte are named. A function that reads files
 * names the path that it was given. Nothing is known: the text stays as it is. */
void leati_mark_origin(const leat_function *function, const leati_block *block, int64_t row,
                       leat_error *err);
/* Is the string the whole data of a TFRecord record, whose header stands before it in `source`,
 * memory with a path (core/buffer.h)? */
bool leati_is_record(const leat_buffer *source, const leat_string *string);
/* Does the function read files whose names it is given, and which component of its arguments (a
 * string scalar) is the name? -1: none. */
int leati_path_component(const leat_function *function, const leati_block *block, int64_t row);
/* Gives the error another code and puts `before` and ": " in front of its text, behind a mark. */
void leati_wrap_error(leat_error *err, leat_status code, const char *before);
/* Puts operator, element number and what the mark says in front of the text. */
void leati_place_error(const char *name, int64_t element, leat_error *err);

/* The parts of a text that leati_place_error wrote; views of the text. */
typedef struct leati_place {
    const char *op; /* operator, label and function */
    size_t op_size;
    int64_t element; /* -1: the text has no place, and all of it is the reason */
    const char *file;
    size_t file_size;   /* 0: unknown */
    int64_t byte;       /* -1: unknown */
    const char *reason; /* to the text's end */
} leati_place;
void leati_read_place(const char *text, leati_place *out);

#endif
