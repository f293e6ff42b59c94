/* The structs of Arrow's C data and stream interfaces, as their specification lays them down. */
#ifndef LEAT_PYTHON_ARROW_H
#define LEAT_PYTHON_ARROW_H

#include <stdint.h>

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *self); /* NULL: it was released, or moved elsewhere */
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *self);
    void *private_data;
} arrow_array;

typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *self, arrow_schema *out);
    int (*get_next)(struct arrow_stream *self, arrow_array *out);
    const char *(*get_last_error)(struct arrow_stream *self);
    void (*release)(struct arrow_stream *self);
    void *private_data;
} arrow_stream;

#define ARROW_SCHEMA "arrow_schema"
#define ARROW_ARRAY "arrow_array"
#define ARROW_STREAM "arrow_array_stream"

#endif
