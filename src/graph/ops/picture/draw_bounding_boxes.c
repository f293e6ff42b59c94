/* draw_bounding_boxes: frames of one pixel drawn into pictures [N, H, W, C]
 * (tf.image.draw_bounding_boxes).
 *
 * Boxes [N, n, 4] are y1 x1 y2 x2 in fractions of the last row and column. Box i takes colour i,
 * modulo their number; without colours those of TensorFlow's table. A box that is turned over or
 * outside is not drawn. Fails in inference on shapes that do not fit together. No gradient, no
 * state, no locks. */
#include "base/minmax.h"
#include "graph/support/support.h"

#include <string.h>

enum { IMAGES, BOXES, COLOURS, TABLE = 10 };

/* TensorFlow's colours, RGBA. */
static const float table[TABLE][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5F, 0, 0.5F, 1},
    {0.5F, 0.5F, 0, 1}, {0.5F, 0, 0, 1}, {0, 0, 0.5F, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

static bool check_channels(int64_t channels, const leat_shape *colours) {
    if (channels >= 0 && channels != 1 && channels != 3 && channels != 4)
        return false;
    /* Colours may have more channels than the pictures, which are not read. */
    return colours == NULL || colours->rank != 2 || colours->dims[1] < 0 ||
           channels <= colours->dims[1];
}

static leat_status check_shapes(const leat_shape *images, const leat_shape *boxes,
                                const leat_shape *colours, leat_error *err) {
    char texts[3][128];
    bool fits = (images->rank < 0 || images->rank == 4) && (boxes->rank < 0 || boxes->rank == 3) &&
                (colours == NULL || colours->rank < 0 || colours->rank == 2);
    if (fits && images->rank == 4)
        fits = check_channels(images->dims[3], colours);
    if (fits && boxes->rank == 3)
        fits = boxes->dims[2] < 0 || boxes->dims[2] == 4;
    if (fits && images->rank == 4 && boxes->rank == 3 && images->dims[0] >= 0)
        fits = boxes->dims[0] < 0 || boxes->dims[0] == images->dims[0];
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE,
        "images %s, boxes %s, colors %s; expected [N, H, W, 1, 3 or 4], [N, n, 4] and "
        "as many channels in each of the colors",
        leati_shape_text(images, texts[0]), leati_shape_text(boxes, texts[1]),
        colours == NULL ? "none" : leati_shape_text(colours, texts[2]));
}

static leat_status draw_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[IMAGES].dtype;
    if (dtype < LEAT_FLOAT16 || dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the images are %s; expected floats",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_dtype(call, BOXES, LEAT_FLOAT32, "boxes", err));
    if (call->num_inputs > COLOURS)
        LEATI_TRY(leati_support_want_dtype(call, COLOURS, LEAT_FLOAT32, "colors", err));
    LEATI_TRY(check_shapes(&call->inputs[IMAGES].shape, &call->inputs[BOXES].shape,
                           call->num_inputs > COLOURS ? &call->inputs[COLOURS].shape : NULL, err));
    return leati_op_infer_same(call, err);
}

/* A picture that is drawn into, and what: one pixel of `size` bytes. */
typedef struct canvas {
    char *pixels;
    int64_t height, width;
    size_t size;
    /* Room for four channels of the widest float. */
    _Alignas(8) char colour[4 * sizeof(double)];
} canvas;

static void draw_line(const canvas *c, int64_t y, int64_t x, int64_t down, int64_t right,
                      int64_t count) {
    for (int64_t i = 0; i < count; i++)
        memcpy(c->pixels + (size_t)((y + i * down) * c->width + x + i * right) * c->size, c->colour,
               c->size);
}

static int64_t place(float fraction, int64_t size) {
    float at = fraction * (float)(size - 1);
    /* Far away and NaN become places outside, as the cast of such a float is undefined. */
    return at >= -1e15F && at <= 1e15F ? (int64_t)at
           : at > 0                    ? INT64_C(1) << 50
                                       : -(INT64_C(1) << 50);
}

static void draw_box(const canvas *c, const float *box) {
    int64_t top = place(box[0], c->height), left = place(box[1], c->width);
    int64_t bottom = place(box[2], c->height), right = place(box[3], c->width);
    if (top > bottom || left > right || top >= c->height || bottom < 0 || left >= c->width ||
        right < 0)
        return;
    /* The part of each side that is visible; a side outside is not drawn, the others may be. */
    int64_t y = LEATI_MAX(top, 0), x = LEATI_MAX(left, 0);
    int64_t rows = (bottom < c->height ? bottom : c->height - 1) - y + 1;
    int64_t columns = (right < c->width ? right : c->width - 1) - x + 1;
    if (top >= 0)
        draw_line(c, top, x, 0, 1, columns);
    if (bottom < c->height)
        draw_line(c, bottom, x, 0, 1, columns);
    if (left >= 0)
        draw_line(c, y, left, 1, 0, rows);
    if (right < c->width)
        draw_line(c, y, right, 1, 0, rows);
}

/* The colour of box `index` as a pixel of the canvas. */
static void mix(const leati_kernel_call *call, int64_t row, int64_t index, int64_t channels,
                canvas *c) {
    const leati_operand *colours = call->num_inputs > COLOURS ? &call->inputs[COLOURS] : NULL;
    leat_dtype dtype = call->inputs[IMAGES].dtype;
    for (int64_t k = 0; k < channels; k++) {
        /* Grey pictures get white boxes from the table. */
        double value = channels == 1 ? 1 : (double)table[index % TABLE][k];
        if (colours != NULL && colours->count > 0) {
            const float *list = (const float *)(const void *)leati_support_row_of(colours, row);
            value = (double)list[index % colours->dims[0] * colours->dims[1] + k];
        }
        leati_support_store_number(dtype, value, c->colour + (size_t)k * leat_dtype_size(dtype));
    }
}

static leat_status draw_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[IMAGES], *boxes = &call->inputs[BOXES];
    leat_shape shape = leati_support_operand_shape(in),
               box_shape = leati_support_operand_shape(boxes), colours;
    if (call->num_inputs > COLOURS)
        colours = leati_support_operand_shape(&call->inputs[COLOURS]);
    LEATI_TRY(check_shapes(&shape, &box_shape, call->num_inputs > COLOURS ? &colours : NULL, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    canvas c = {.height = in->dims[1],
                .width = in->dims[2],
                .size = (size_t)in->dims[3] * leat_dtype_size(in->dtype)};
    size_t picture = (size_t)(c.height * c.width) * c.size;
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        const float *box = (const float *)(const void *)leati_support_row_of(boxes, row);
        c.pixels = leati_support_row_of(&call->outputs[0], row);
        /* The pictures first, then boxes over them: later boxes lie on top. */
        memcpy(c.pixels, leati_support_row_of(in, row), (size_t)in->dims[0] * picture);
        for (int64_t i = 0; i < in->dims[0]; i++, c.pixels += picture) {
            for (int64_t k = 0; k < boxes->dims[1]; k++, box += 4) {
                mix(call, row, k, in->dims[3], &c);
                draw_box(&c, box);
            }
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_draw_bounding_boxes = {
    .name = "draw_bounding_boxes",
    .version = 1,
    .doc = "Frames of one pixel drawn into pictures (tf.image.draw_bounding_boxes).",
    .names = "image.draw_bounding_boxes",
    .inputs = "images boxes colors",
    .types = "T float32 float32",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = draw_infer,
    .kernel = draw_kernel,
};
