/* sample_distorted_bounding_box, stateless_sample_distorted_bounding_box: a random part of a
 * picture that covers enough of a box (tf.image.sample_distorted_bounding_box). Results are begin,
 * size and the part as a box.
 *
 * Words of the stream decide, one after the other, the proportions, the height and the place of a
 * part of the picture, until one fits the picture and covers enough of a box, as in TensorFlow:
 * floats and roundings are its own. The numbers go on from call to call, and a call reserves a
 * block for each attempt; a seed of 0 means none, as in TensorFlow, and without a seed the numbers
 * differ from run to run whatever the global seed is. Of the stateless form the seed decides. Fails
 * in a run on boxes outside of [0, 1], on sizes that an int32 cannot hold, and without boxes. No
 * gradient. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/random/random.h"
#include "graph/support/random/stateless.h"
#include <inttypes.h>
#include <leat/ops.h>
#include <math.h>

struct box_args {
    struct leati_random_args random; /* the stateful form's seeds */
    double min_object_covered;
    leati_floats aspect_ratio_range, area_range;
    int64_t max_attempts;
    bool use_image_if_no_bounding_boxes;
};

/* The rows of both forms, to put into a list. */
#define BOX_ROWS                                                                                   \
    {.name = "min_object_covered",                                                                 \
     .type = LEATI_ROW_FLOAT,                                                                      \
     .flags = LEATI_TENSOR,                                                                        \
     .offset = offsetof(struct box_args, min_object_covered),                                      \
     .default_number = 0.1,                                                                        \
     .doc = "The part of one of the boxes that must be inside, 0 or more."},                       \
        {.name = "aspect_ratio_range",                                                             \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct box_args, aspect_ratio_range),                                  \
         .doc = "The least and the greatest width over height; without it 0.75 and 1.33."},        \
        {.name = "area_range",                                                                     \
         .type = LEATI_ROW_FLOATS,                                                                 \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct box_args, area_range),                                          \
         .doc = "The least and the greatest part of the picture's area; without it 0.05 and 1."},  \
        {.name = "max_attempts",                                                                   \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_NONE,                                                                      \
         .offset = offsetof(struct box_args, max_attempts),                                        \
         .default_number = 100,                                                                    \
         .doc = "How often to try before the whole picture is taken."},                            \
    {                                                                                              \
        .name = "use_image_if_no_bounding_boxes", .type = LEATI_ROW_BOOL, .flags = LEATI_NONE,     \
        .offset = offsetof(struct box_args, use_image_if_no_bounding_boxes),                       \
        .doc = "Take the picture as the box where there is none; else that is an error."           \
    }

enum { SIZE, BOXES };

/* ---- inference ---- */

static leat_status check_pair(const leati_floats *range, const char *name, double most,
                              leat_error *err) {
    /* The standard range stands for a missing one. */
    if (range->values == NULL ||
        (range->count == 2 && range->values[0] > 0 && range->values[1] > 0 &&
         range->values[0] <= most && range->values[1] <= most))
        return LEAT_OK;
    return leati_refuse(err, VALUE, "%s has %d numbers; expected two above 0, at most %g", name,
                        (int)range->count, most);
}

static leat_status check_args(const struct box_args *args, leat_error *err) {
    LEATI_TRY(check_pair(&args->aspect_ratio_range, "aspect_ratio_range", HUGE_VAL, err));
    LEATI_TRY(check_pair(&args->area_range, "area_range", 1, err));
    if (args->min_object_covered >= 0 && args->max_attempts > 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "min_object_covered is %g and max_attempts %" PRId64
                        "; expected 0 or more, and at least 1",
                        args->min_object_covered, args->max_attempts);
}

static leat_status part_infer(leati_infer_call *call, leat_error *err) {
    const leat_shape *boxes = &call->inputs[BOXES].shape, *size = &call->inputs[SIZE].shape;
    leat_dtype dtype = call->inputs[SIZE].dtype;
    leat_shape three = LEAT_SHAPE(3), one = LEAT_SHAPE(1, 1, 4);
    /* These dtypes are numbered in a row. */
    if (dtype < LEAT_INT8 || dtype > LEAT_UINT8)
        return leati_refuse(err, DTYPE,
                            "image_size is %s; expected uint8, int8, int16, int32 or int64",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_rank(call, SIZE, 1, "image_size", err));
    if (size->rank == 1)
        LEATI_TRY(
            leati_support_want_equal_dims(size->dims[0], 3, "the numbers of image_size", err));
    LEATI_TRY(leati_support_want_dtype(call, BOXES, LEAT_FLOAT32, "bounding_boxes", err));
    LEATI_TRY(leati_support_want_rank(call, BOXES, 3, "bounding_boxes", err));
    if (boxes->rank == 3)
        LEATI_TRY(leati_support_want_equal_dims(boxes->dims[2], 4, "the numbers of a box", err));
    if (call->unknown == 0)
        LEATI_TRY(check_args(call->args, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &three, NULL, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &three, NULL, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &one, NULL, err);
}

/* Memory for the three results. */
static leat_status begin(leati_kernel_call *call, leat_error *err) {
    const leati_operand *size = &call->inputs[SIZE], *boxes = &call->inputs[BOXES];
    leat_shape three = LEAT_SHAPE(3), one = LEAT_SHAPE(1, 1, 4);
    LEATI_TRY(check_args(call->args, err));
    if (size->rank != 1 || size->count != 3 || boxes->rank != 3 || boxes->dims[2] != 4)
        return leati_refuse(err, SHAPE,
                            "image_size has %" PRId64
                            " numbers, bounding_boxes rank %d; expected 3, "
                            "and [N, n, 4]",
                            size->count, (int)boxes->rank);
    LEATI_TRY(leati_support_output_like(call, 0, &three, err));
    LEATI_TRY(leati_support_output_like(call, 1, &three, err));
    return leati_support_output_like(call, 2, &one, err);
}

/* ---- drawing ---- */

typedef struct rectangle {
    int32_t left, top, right, bottom;
} rectangle;

/* What a part has to be, and the words that decide. */
typedef struct sampler {
    int32_t height, width;
    float least_area, most_area, covered;
    const float *boxes;
    int64_t num_boxes;
    leati_words words;
} sampler;

/* A number in [0, n), n > 0: TensorFlow's, which rejects the words that would make some likelier.
 */
static int32_t draw(leati_words *words, int32_t n) {
    uint32_t size = (uint32_t)n, word = leati_words_next(words);
    /* A power of two divides 2^32: the low bits are even. */
    if ((size & (size - 1)) == 0)
        return (int32_t)(word & (size - 1));
    /* The first 2^32 mod size words are rejected, so that each remainder is left equally often. */
    uint32_t low = UINT32_MAX % size + 1;
    while (word < low)
        word = leati_words_next(words);
    return (int32_t)(word % size);
}

/* The greatest height of a part of these proportions that is as wide as the picture. */
static int32_t height_limit(const sampler *s, float aspect) {
    int32_t height = (int32_t)lrintf(sqrtf(s->most_area / aspect));
    if (lrintf((float)height * aspect) > s->width) {
        /* The height whose width just rounds to the picture's: half a pixel more at most. */
        height = (int32_t)(((double)s->width + 0.5 - (double)0.0000001F) / (double)aspect);
        if (lrintf((float)height * aspect) > s->width)
            height--;
    }
    return LEATI_MIN(height, s->height);
}

/* Sides are below 2^31, their product is not. */
static float pixels_of(int32_t width, int32_t height) {
    return (float)((int64_t)width * height);
}

/* False where no part of these proportions fits. */
static bool draw_part(sampler *s, float aspect, rectangle *out) {
    if (aspect <= 0 || s->width <= 0 || s->height <= 0 || s->least_area > s->most_area)
        return false;
    /* height^2 aspect = area, for the least area; rounded as TensorFlow does. */
    int32_t height = (int32_t)lrintf(sqrtf(s->least_area / aspect));
    int32_t limit = height_limit(s, aspect);
    if (height >= limit)
        height = limit;
    else
        height += draw(&s->words, limit - height + 1);
    int32_t width = (int32_t)lrintf((float)height * aspect);
    /* Rounding may leave the range of areas by one row. */
    if (pixels_of(width, height) < s->least_area) {
        height++;
        width = (int32_t)lrintf((float)height * aspect);
    }
    if (pixels_of(width, height) > s->most_area) {
        height--;
        width = (int32_t)lrintf((float)height * aspect);
    }
    float area = pixels_of(width, height);
    if (area < s->least_area || area > s->most_area || width > s->width || height > s->height ||
        width <= 0 || height <= 0)
        return false;
    /* No word is taken where there is one place only: the count of words is TensorFlow's, too. */
    out->top = height < s->height ? draw(&s->words, s->height - height) : 0;
    out->left = width < s->width ? draw(&s->words, s->width - width) : 0;
    out->bottom = out->top + height;
    out->right = out->left + width;
    return true;
}

static float area_of(const rectangle *r) {
    return pixels_of(r->right - r->left, r->bottom - r->top);
}

static int32_t larger(int32_t a, int32_t b) {
    return LEATI_MAX(a, b);
}

/* The pixel at a part of a side; a float may round the side up. */
static int32_t pixel_at(float part, int32_t side) {
    int64_t pixel = (int64_t)(part * (float)side);
    return pixel < side ? (int32_t)pixel : side;
}

static rectangle box_at(const sampler *s, int64_t i) {
    const float *box = s->boxes + 4 * i;
    /* y x y x in fractions; truncated to pixels. */
    return (rectangle){pixel_at(box[1], s->width), pixel_at(box[0], s->height),
                       pixel_at(box[3], s->width), pixel_at(box[2], s->height)};
}

/* Is enough of one of the boxes inside? Without boxes the picture is the box. */
static bool covers(const sampler *s, const rectangle *part) {
    for (int64_t i = 0; i < (s->num_boxes > 0 ? s->num_boxes : 1) && area_of(part) >= 1; i++) {
        rectangle box = {0, 0, s->width, s->height};
        if (s->num_boxes > 0)
            box = box_at(s, i);
        /* -larger(-a, -b) is the smaller of two. */
        rectangle both = {larger(part->left, box.left), larger(part->top, box.top),
                          -larger(-part->right, -box.right), -larger(-part->bottom, -box.bottom)};
        if (both.left > both.right || both.top > both.bottom)
            both = (rectangle){0};
        if (area_of(&box) >= 1 && area_of(&both) / area_of(&box) >= s->covered)
            return true;
    }
    return false;
}

/* ---- rows ---- */

static int64_t number_at(const leati_operand *operand, int64_t row, int64_t i) {
    const char *data = leati_support_row_of(operand, row);
    switch (operand->dtype) {
    case LEAT_INT8: return ((const int8_t *)data)[i];
    case LEAT_UINT8: return ((const uint8_t *)data)[i];
    case LEAT_INT16: return ((const int16_t *)(const void *)data)[i];
    default: return leati_support_index_at(operand, row, i);
    }
}

static leat_status begin_row(const leati_kernel_call *call, int64_t row, sampler *s,
                             leat_error *err) {
    const struct box_args *args = call->args;
    const leati_operand *boxes = &call->inputs[BOXES];
    int64_t height = number_at(&call->inputs[SIZE], row, 0);
    int64_t width = number_at(&call->inputs[SIZE], row, 1);
    if (height < 0 || width < 0 || height >= INT32_MAX || width >= INT32_MAX)
        return leati_refuse(
            err, VALUE, "image_size is %" PRId64 " x %" PRId64 "; expected sides below 2^31 - 1",
            height, width);
    s->height = (int32_t)height;
    s->width = (int32_t)width;
    s->boxes = (const float *)(const void *)leati_support_row_of(boxes, row);
    s->num_boxes = boxes->count / 4;
    s->covered = (float)args->min_object_covered;
    if (s->num_boxes == 0 && !args->use_image_if_no_bounding_boxes)
        return leati_refuse(err, VALUE,
                            "bounding_boxes holds no box; expected one, or "
                            "use_image_if_no_bounding_boxes");
    for (int64_t i = 0; i < 4 * s->num_boxes; i++)
        /* NaN is refused, too. */
        if (!(s->boxes[i] >= 0 && s->boxes[i] <= 1))
            return leati_refuse(
                err, VALUE, "box %" PRId64 " has the coordinate %.9g; expected numbers in [0, 1]",
                i / 4, (double)s->boxes[i]);
    const double *area = args->area_range.values;
    s->least_area = (float)(area != NULL ? area[0] : 0.05) * (float)s->width * (float)s->height;
    s->most_area = (float)(area != NULL ? area[1] : 1) * (float)s->width * (float)s->height;
    return LEAT_OK;
}

static void write_row(leati_kernel_call *call, int64_t row, const sampler *s,
                      const rectangle *part) {
    leat_dtype dtype = call->inputs[SIZE].dtype;
    size_t size = leat_dtype_size(dtype);
    const int32_t begin[3] = {part->top, part->left, 0};
    /* All channels: -1, which is 255 in bytes. */
    const int32_t extent[3] = {part->bottom - part->top, part->right - part->left,
                               dtype == LEAT_UINT8 ? UINT8_MAX : -1};
    for (size_t i = 0; i < 3; i++) {
        leati_support_store_number(dtype, begin[i],
                                   leati_support_row_of(&call->outputs[0], row) + i * size);
        leati_support_store_number(dtype, extent[i],
                                   leati_support_row_of(&call->outputs[1], row) + i * size);
    }
    float *box = (float *)(void *)leati_support_row_of(&call->outputs[2], row);
    /* Of a picture without pixels this is 0 / 0, NaN. */
    box[0] = (float)part->top / (float)s->height;
    box[1] = (float)part->left / (float)s->width;
    box[2] = (float)part->bottom / (float)s->height;
    box[3] = (float)part->right / (float)s->width;
}

/* Draws the box of row `row`. */
static leat_status draw_row(leati_kernel_call *call, int64_t row, leati_philox philox,
                            leat_error *err) {
    const struct box_args *args = call->args;
    const double *aspect = args->aspect_ratio_range.values;
    float low = (float)(aspect != NULL ? aspect[0] : 0.75);
    float high = (float)(aspect != NULL ? aspect[1] : 1.33);
    sampler s = {.words = {.philox = philox, .used = 4}};
    rectangle part;
    bool found = false;
    LEATI_TRY(begin_row(call, row, &s, err));
    for (int64_t i = 0; i < args->max_attempts && !found; i++) {
        /* One word for the proportions, also of an attempt that then fails. */
        float drawn = leati_uniform_float(leati_words_next(&s.words)) * (high - low) + low;
        found = draw_part(&s, drawn, &part) && covers(&s, &part);
    }
    if (!found)
        /* After all attempts, the whole picture. */
        part = (rectangle){0, 0, s.width, s.height};
    write_row(call, row, &s, &part);
    return LEAT_OK;
}

/* ---- builders ---- */

static const leati_row box_rows[] = {BOX_ROWS, LEATI_SEED_ROWS};

static leat_status box_complete(leat_graph *graph, void *node_args, leat_error *err) {
    struct leati_random_args *args = node_args;
    if (graph == NULL || args->graph_seed != 0 || args->op_seed != 0)
        return LEAT_OK;
    /* Seed 0 is none here, though elsewhere it is a seed like any other. */
    if (args->seed.given && args->seed.value != 0)
        return leati_random_complete(graph, args, err);
    args->unseeded = true;
    leati_random_fresh_seed_if_zero(&args->graph_seed, &args->op_seed);
    return LEAT_OK;
}

static leat_status box_kernel(leati_kernel_call *call, leat_error *err) {
    const struct box_args *args = call->args;
    LEATI_TRY(begin(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox philox;
        call->failed_row = row;
        LEATI_TRY(leati_random_stream(call, &leati_tensor_op_sample_distorted_bounding_box, row,
                                      (uint64_t)args->max_attempts, &philox, err));
        LEATI_TRY(draw_row(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

static const leati_row stateless_rows[] = {BOX_ROWS, {0}};

static leat_status stateless_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, 2, false, err));
    return part_infer(call, err);
}

static leat_status stateless_kernel(leati_kernel_call *call, leat_error *err) {
    leati_philox philox;
    LEATI_TRY(begin(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, 2, false, row, &philox, err));
        LEATI_TRY(draw_row(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_sample_distorted_bounding_box = {
    .name = "sample_distorted_bounding_box",
    .version = 1,
    .doc = "A random part of a picture that covers enough of a box: begin, size and the part as a "
           "box (tf.image.sample_distorted_bounding_box).",
    .names = "image.sample_distorted_bounding_box",
    .inputs = "image_size bounding_boxes",
    .signature = "image_size bounding_boxes seed=0 min_object_covered aspect_ratio_range "
                 "area_range max_attempts=null use_image_if_no_bounding_boxes=null",
    .types = "T float32",
    .outputs = "SampleDistortedBoundingBoxV2(begin size bboxes)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = box_rows,
    .args_size = sizeof(struct box_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_RANDOM,
    .infer = part_infer,
    .complete = box_complete,
    .kernel = box_kernel,
};

const leati_tensor_op leati_tensor_op_stateless_sample_distorted_bounding_box = {
    .name = "stateless_sample_distorted_bounding_box",
    .version = 1,
    .doc = "A random part of a picture that covers enough of a box: begin, size and the part as a "
           "box (tf.image.stateless_sample_distorted_bounding_box).",
    .names = "image.stateless_sample_distorted_bounding_box",
    .inputs = "image_size bounding_boxes seed",
    .signature = "image_size bounding_boxes seed min_object_covered aspect_ratio_range area_range "
                 "max_attempts=null use_image_if_no_bounding_boxes=null",
    .types = "T float32 Tseed",
    .outputs = "StatelessSampleDistortedBoundingBox(begin size bboxes)",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = stateless_rows,
    .args_size = sizeof(struct box_args),
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = stateless_infer,
    .kernel = stateless_kernel,
};
