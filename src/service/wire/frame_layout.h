/* Where the numbers of a frame stand; shared by the writer (frame.c) and the reader (frame_read.c).
 * Changing a line changes what other versions of the library understand: frame_test.c pins it.
 *
 *     head, 48 bytes     0 "LFRM", 4 version, 5 kind, 6 compression, 7 zero, 8 position, 16 n,
 *                        24 components (4 bytes), 28 bytes of the table (4 bytes),
 *                        32 bytes of the payload, 40 the same as they are sent
 *     table              for each component: 0 form, 1 rank, 2 zeros, 8 name of the dtype filled
 *                        with zeros, 16 place in the payload, 24 bytes there, 32 dimensions
 *     payload            from the next multiple of 64 on
 *
 * Of ERROR and GONE the table is the error (data/values), and there is no payload. A component's
 * place is a multiple of 64. What lies there, by form:
 *
 *     ROWS, ONE          the values of n rows, or of the one row that all are. Of strings: the
 *                        length of each in 8 bytes, then their bytes
 *     SHAPES             for each row its rank and dimensions, 8 bytes each; then the values of
 *                        the rows, each row's from a multiple of 8 on. Of strings: all lengths,
 *                        then the bytes */
#ifndef LEATI_SERVICE_WIRE_FRAME_LAYOUT_H
#define LEATI_SERVICE_WIRE_FRAME_LAYOUT_H

#include "file/wire.h"
#include "service/wire/frame.h"

#define LEATI_FRAME_MAGIC "LFRM"
#define LEATI_FRAME_CREDIT_MAGIC "LCRD"

enum {
    LEATI_FRAME_VERSION = 1,
    LEATI_FRAME_HEAD = 48,
    LEATI_FRAME_ENTRY = 32, /* of the table, without dimensions */
    LEATI_FRAME_ALIGN = 64,
    LEATI_FRAME_DTYPE = 8, /* bytes of a dtype's name */
    /* A message is at least its payload's size by this: what sender and receiver agree on, so that
       memory is bounded by what has come. */
    LEATI_FRAME_MOST_RATIO = 1024,
    LEATI_FRAME_MOST_ROWS = 1 << 30
};

typedef enum leati_frame_form {
    LEATI_FRAME_ROWS = 0,
    LEATI_FRAME_ONE,
    LEATI_FRAME_SHAPES,
    LEATI_FRAME_NUM_FORMS
} leati_frame_form;

/* A component of a frame. */
typedef struct leati_frame_component {
    leati_frame_form form;
    leat_dtype dtype;
    leat_shape shape; /* of a row; not of SHAPES */
    uint64_t offset, size;
} leati_frame_component;

static inline size_t leati_frame_align(size_t at, size_t to) {
    return (at + to - 1) / to * to;
}

/* The library's compression of a frame's; LEAT_COMPRESSION_NONE for PLAIN and unknown numbers. */
leat_compression leati_frame_codec(leati_frame_compression compression);

#endif
