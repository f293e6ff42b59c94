/* From a picture's bytes to the rows of a smaller or larger one, in one pass: decoding, cutting a
 * window out, computing with pixels, resizing. What the operations compute one after the other, bit
 * for bit, but no whole picture lies in memory between them where format and method allow it, and
 * of a JPEG nothing is decoded that the window does not need. Less exact qualities decode a JPEG
 * smaller than it is where the result is smaller, too. */
#ifndef LEATI_GRAPH_SUPPORT_PICTURE_STREAM_H
#define LEATI_GRAPH_SUPPORT_PICTURE_STREAM_H

#include "graph/support/picture/pictures.h"
#include "graph/support/picture/resize.h"

typedef struct leati_picture_stream {
    /* Either bytes to decode, or pixels [height, width, channels]: uint8 or float32, or numbers
     * that `convert` reads. */
    const leat_string *contents; /* NULL: pixels */
    leati_picture_op op;
    leati_decode_options options; /* with a window of its own for decode_and_crop_jpeg */
    const void *pixels;
    leat_dtype dtype;
    int64_t pixel_height, pixel_width;
    /* Called once, when the picture's size is known: makes `window`, which is all of it, the part
     * that is wanted. NULL: all. */
    leat_status (*window)(void *context, leati_window *window, leat_error *err);
    /* Computes a line of the part that is resized, of dtype `converted`: uint8 or float32. NULL:
     * lines are resized as they are. */
    leat_status (*convert)(void *context, const void *line, void *out, leat_error *err);
    leat_dtype converted;
    void *context;
    int32_t height, width, channels; /* of the result */
    leati_resize_method method;      /* not NEAREST */
    bool antialias;
    bool mirrored; /* from the right to the left */
    leati_picture_quality quality;
    leati_arena *arena; /* for what must lie in memory as a whole */
    int64_t *recovered; /* counts pictures that were cut short and filled; may be NULL */
} leati_picture_stream;

/* Runs it; the sink gets `height` rows of width * channels floats. INVALID_ARGUMENT where one of
 * the operations would refuse, though by another text. No locks but the stores' of decoders and of
 * plans. */
LEAT_WARN_UNUSED leat_status leati_stream_run(const leati_picture_stream *stream,
                                              const leati_resize_sink *sink, leat_error *err);

#endif
