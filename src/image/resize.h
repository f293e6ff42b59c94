/* Resizing to float, by TensorFlow's half-pixel rule, with all methods of tf.image.resize.
 *
 * Output sample i looks at c = (i + 0.5) * in / out. Bilinear without antialias is a blend of the
 * two nearest inputs; every other method is a weighted sum of a span of inputs, separable in y and
 * x: with antialias the method's kernel grows with the shrinking factor. Samples beyond the border
 * are left out, and the weights of the others made to sum up to 1. */
#ifndef LEATI_IMAGE_RESIZE_H
#define LEATI_IMAGE_RESIZE_H

#include <leat/base.h>

typedef enum leati_resize_method {
    LEATI_RESIZE_BILINEAR,
    LEATI_RESIZE_NEAREST, /* for leati_resize_pick and _spread alone */
    LEATI_RESIZE_BICUBIC, /* Keys, a = -0.5; without antialias from a table of 1024 steps */
    LEATI_RESIZE_AREA,    /* means of what an output covers; antialias has no effect */
    LEATI_RESIZE_LANCZOS3,
    LEATI_RESIZE_LANCZOS5,
    LEATI_RESIZE_GAUSSIAN, /* radius 1.5, sigma 0.5 */
    LEATI_RESIZE_MITCHELLCUBIC
} leati_resize_method;

/* Where one dimension takes its samples from. Output i is lower[i] + (upper[i] - lower[i]) *
 * lerp[i] (bilinear without antialias), or the sum of count[i] samples from lower[i] on by
 * weights[i * span ...]. */
typedef struct leati_resize_axis {
    int32_t in, out;
    float start, extent; /* of the samples, what is resized */
    int32_t span;        /* most samples that an output looks at; 0: two neighbours */
    /* Outputs in [inside, interior) have an upper neighbour that is not the last sample. */
    int32_t inside, interior;
    int32_t *lower, *upper, *count;
    float *lerp, *weights;
    void *memory; /* of all five; owned */
    size_t capacity;
} leati_resize_axis;

/* Tables and working rows, kept from picture to picture: {0} is valid and empty. For one thread at
 * a time. */
typedef struct leati_resize_plan {
    leati_resize_axis y, x;
    int32_t channels;
    leati_resize_method method;
    bool antialias;
    bool mirrored; /* results run from the right to the left */
    /* NULL: the best that run here; set by a test. Plain C is the oracle of the others. */
    const struct leati_resize_kernels *kernels;
    float *rows;                           /* owned: two blended rows, or one row of sums */
    size_t capacity;                       /* floats in rows */
    size_t row_width;                      /* floats from one row to the next */
    struct leati_resize_pick_group *picks; /* of the x axis, where it streams; owned */
    int32_t *pick_from; /* the first byte of a row that each reads; behind them */
    size_t num_picks, pick_capacity;
    int32_t reach; /* the most bytes that a pick's results span */
} leati_resize_plan;

/* Prepares the plan for pictures of in_height x in_width x channels (any number of channels from
 * 1). Costs nothing if the plan is for these sizes already; allocates only where tables must grow.
 * INVALID_ARGUMENT unless all sizes are positive and fit. */
LEAT_WARN_UNUSED leat_status leati_resize_prepare(leati_resize_plan *plan, int32_t in_height,
                                                  int32_t in_width, int32_t out_height,
                                                  int32_t out_width, int32_t channels,
                                                  leati_resize_method method, bool antialias,
                                                  leat_error *err);
/* The part of a picture that is resized, in its pixels, whole or not: [y, y + height) and so on. */
typedef struct leati_resize_view {
    float y, x, height, width;
} leati_resize_view;
/* The same for a part of the picture alone; samples beyond the part, but of the picture, may count.
 */
LEAT_WARN_UNUSED leat_status leati_resize_prepare_view(leati_resize_plan *plan, int32_t in_height,
                                                       int32_t in_width, int32_t out_height,
                                                       int32_t out_width, int32_t channels,
                                                       leati_resize_method method, bool antialias,
                                                       const leati_resize_view *view,
                                                       leat_error *err);
void leati_resize_fini(leati_resize_plan *plan);

/* Resizes by a prepared plan. Strides count bytes from row to row (at least a row; those of floats
 * are multiples of 4); in and out do not overlap. Bit for bit the same on every machine and path.
 */
void leati_resize_u8(leati_resize_plan *plan, const uint8_t *in, size_t in_stride, float *out,
                     size_t out_stride);
void leati_resize_f32(leati_resize_plan *plan, const float *in, size_t in_stride, float *out,
                      size_t out_stride);

/* Who takes results row by row, from the first to the last: `row` says where row y shall be written
 * (room for a row of floats), `done` is called when it is there. A failure of `done` ends it. */
typedef struct leati_resize_sink {
    float *(*row)(void *context, int32_t y);
    leat_status (*done)(void *context, int32_t y, leat_error *err); /* may be NULL */
    void *context;
    /* Results are more than caches hold, and nobody reads them soon: they may be written past
     * these.
     */
    bool far;
} leati_resize_sink;
/* Is a result of so many bytes one for `far`? */
static inline bool leati_resize_is_far(size_t bytes) {
    return bytes >= (size_t)4 << 20;
}

/* Resizing while the rows of the picture come, for plans that leati_resize_streams. */
typedef struct leati_resize_stream {
    leati_resize_plan *plan;
    leati_resize_sink sink;
    const struct leati_resize_kernels *kernels;
    void (*rows)(const float *a, const float *b, float lerp, float *out, size_t count);
    bool fast; /* kernels->blend takes the plan */
    float *blended[2];
    int32_t held[2]; /* which source row each holds; -1: none */
    int32_t next;    /* the output row that comes next */
} leati_resize_stream;

/* Is it enough to see each row of the picture once? (Bilinear without antialias.) */
bool leati_resize_streams(leati_resize_method method, bool antialias);
/* Mirrors results along their width, by a prepared plan of any method but NEAREST, until the next
 * prepare. */
void leati_resize_mirror(leati_resize_plan *plan, bool mirrored);
/* Starts, then takes rows y = 0, 1, ... of in_width pixels; the last one completes the result. */
void leati_resize_begin(leati_resize_stream *stream, leati_resize_plan *plan,
                        const leati_resize_sink *sink);
LEAT_WARN_UNUSED leat_status leati_resize_push(leati_resize_stream *stream, const uint8_t *row,
                                               int32_t y, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_resize_push_f32(leati_resize_stream *stream, const float *row,
                                                   int32_t y, leat_error *err);
/* Does a result read row y, which comes next? Else it need not be pushed. */
bool leati_resize_wants(const leati_resize_stream *stream, int32_t y);
/* Resizes a whole picture into a sink, by any plan but one of method NEAREST. */
LEAT_WARN_UNUSED leat_status leati_resize_u8_to(leati_resize_plan *plan, const uint8_t *in,
                                                size_t in_stride, const leati_resize_sink *sink,
                                                leat_error *err);
LEAT_WARN_UNUSED leat_status leati_resize_f32_to(leati_resize_plan *plan, const float *in,
                                                 size_t in_stride, const leati_resize_sink *sink,
                                                 leat_error *err);

/* Picks the nearest pixels, of `pixel_size` bytes, by a plan of method NEAREST. */
void leati_resize_pick(const leati_resize_plan *plan, const void *in, size_t in_stride, void *out,
                       size_t out_stride, size_t pixel_size);

/* The transposed map, which is the gradient: `gradient`, dense and of the output's size, is spread
 * over `out`, dense and of the input's size. */
void leati_resize_spread(leati_resize_plan *plan, const float *gradient, float *out);

/* ---- between resize.c and resize_weights.c ---- */

/* The most samples that an output of the axis looks at. */
int32_t leati_resize_span(const leati_resize_axis *axis, leati_resize_method method,
                          bool antialias);
/* Fills lower, count and weights, for which there is room. */
void leati_resize_fill_weights(leati_resize_axis *axis, leati_resize_method method, bool antialias);

/* ---- between resize.c and its faster paths ---- */

/* Sixteen results of a blended row: the bytes that they blend lie within 128 bytes from a place on;
 * pairs[4 k] and pairs[4 k + 2] say where in them the left and the right one of result k are. Lanes
 * beyond the row blend byte 0. */
typedef struct leati_resize_pick_group {
    uint8_t pairs[64];
    float lerp[16];
} leati_resize_pick_group;

/* The inner loops for one kind of processor. They compute exactly what plain C does, operation by
 * operation, so their results agree in every bit. */
typedef struct leati_resize_kernels {
    const char *name;
    bool (*runs_here)(void);
    /* Does `blend` take the plan's x axis? Asked when the axis is ready. */
    bool (*takes)(const leati_resize_plan *plan);
    /* Blends one row of bytes horizontally; `out` has room for a float more than the row. */
    void (*blend)(const leati_resize_plan *plan, const uint8_t *in, float *out);
    /* Blends a row as `blend` does and makes with it a row of the result: out[i] = above[i] +
     * (own[i] - above[i]) * lerp, so that computing and writing overlap. `far`: past the caches;
     * then `out` lies at a border of 64 bytes. NULL: one after the other. */
    void (*blend_below)(const leati_resize_plan *plan, const uint8_t *in, const float *above,
                        float lerp, float *own, float *out, bool far);
    /* The same as `blend` for a row of floats of 3 channels; NULL: plain C. */
    void (*blend_f32_x3)(const leati_resize_axis *x, const float *in, float *out);
    /* out[i] = a[i] + (b[i] - a[i]) * lerp. */
    void (*rows)(const float *a, const float *b, float lerp, float *out, size_t count);
    /* The same past the caches; NULL: there is no such way. Behind the last of such rows `settle`
     * makes them visible to other threads in order. */
    void (*rows_far)(const float *a, const float *b, float lerp, float *out, size_t count);
    void (*settle)(void);
    /* sum[i] += in[i] * weight. */
    void (*add_u8)(float *sum, const uint8_t *in, float weight, size_t count);
    void (*add_f32)(float *sum, const float *in, float weight, size_t count);
    /* Sums pixels of 3 channels by the weights of x; `in` and `out` have room for a float more. */
    void (*sum_x3)(const leati_resize_axis *x, const float *in, float *out);
} leati_resize_kernels;

extern const leati_resize_kernels leati_resize_plain;
/* The fastest that run here; index 0 is the best, the last one leati_resize_plain; NULL behind it.
 */
const leati_resize_kernels *leati_resize_kernels_at(int index);
/* What this kind of processor has, best first, ended by NULL; resize_x86.c or resize_neon.c. */
extern const leati_resize_kernels *const leati_resize_fast[];

#endif
