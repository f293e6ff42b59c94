/* Functions with a chain of operations around a resize, for tests. Header only; include it after
 * "support/cmocka.h". */
#ifndef TEST_CHAIN_H
#define TEST_CHAIN_H

#include "graph/computed.h"
#include <leat/ops.h>
#include <string.h>

static inline leat_value numbers(leat_graph *graph, leat_dtype dtype, leat_shape shape,
                                 const void *data) {
    leat_tensor tensor = leat_tensor_view(dtype, shape, data);
    return leat_graph_tensor(graph, &tensor);
}

static inline leat_value number(leat_graph *graph, float value) {
    return numbers(graph, LEAT_FLOAT32, LEAT_SCALAR, &value);
}

static inline leat_value call(leat_graph *graph, const char *op, const char *args,
                              leat_value input) {
    leat_value outputs[LEAT_MAX_OUTPUTS];
    if (leat_graph_call(graph, op, args, &input, 1, outputs, LEAT_MAX_OUTPUTS) != 1)
        return (leat_value){.graph = graph, .id = -1};
    return outputs[0];
}

static inline leat_value decoded(leat_graph *graph) {
    return call(graph, "decode_jpeg", "{\"channels\": 3, \"dct_method\": \"INTEGER_ACCURATE\"}",
                leat_graph_argument(graph, 0));
}

static inline leat_value heads(leat_graph *graph) {
    leat_value draw = leat_op_random_uniform(graph, LEAT_SCALAR, NULL);
    return leat_op_less(draw, number(graph, 0.5F));
}

static inline int trace_plain(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_resize(decoded(graph), (int64_t[]){24, 31}, 2, NULL);
    return 1;
}

/* As in training: mirrored now and then, scaled. */
static inline int trace_usual(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value picture = leat_op_resize(decoded(graph), (int64_t[]){24, 31}, 2, NULL);
    leat_value flipped = leat_op_select(heads(graph), leat_op_flip_left_right(picture), picture);
    outputs[0] = leat_op_multiply(flipped, number(graph, 1 / 255.0F));
    return 1;
}

/* Mean and deviation for each channel, then a narrower type. */
static inline int trace_normalised(void *context, leat_graph *graph, leat_value *outputs,
                                   int capacity) {
    (void)context;
    const float mean[3] = {120.5F, 110, 100}, deviation[3] = {58, 57.5F, 61};
    leat_value picture = leat_op_resize(decoded(graph), (int64_t[]){40, 200}, 2, NULL);
    picture = leat_op_subtract(picture, numbers(graph, LEAT_FLOAT32, LEAT_SHAPE(3), mean));
    picture = leat_op_divide(picture, numbers(graph, LEAT_FLOAT32, LEAT_SHAPE(1, 1, 3), deviation));
    outputs[0] = leat_op_cast(leat_op_flip_up_down(picture), LEAT_BFLOAT16);
    return 1;
}

/* A window by constants, all kinds of mirroring, and a value that is read twice. */
static inline int trace_window(void *context, leat_graph *graph, leat_value *outputs,
                               int capacity) {
    (void)context;
    const int64_t seed[2] = {3, 4};
    leat_value picture = leat_op_crop_to_bounding_box(decoded(graph), 1, 2, 3, 4);
    picture = leat_op_resize(picture, (int64_t[]){17, 19}, 2, NULL);
    leat_value seeds = numbers(graph, LEAT_INT64, LEAT_SHAPE(2), seed);
    picture = leat_op_stateless_random_flip_left_right(picture, seeds);
    leat_value turned = leat_op_flip_up_down(leat_op_flip_left_right(picture));
    picture = leat_op_select(heads(graph), turned, picture);
    outputs[0] = leat_op_multiply(picture, leat_op_add(picture, number(graph, 1)));
    return 1;
}

/* A window by numbers that the run computes: random, so that it often leaves the picture. */
static inline int trace_random_window(void *context, leat_graph *graph, leat_value *outputs,
                                      int capacity) {
    (void)context;
    leat_op_random_uniform_options options = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS, .maxval = 30};
    leat_value numbers_of[4];
    for (int i = 0; i < 4; i++)
        numbers_of[i] =
            leat_op_cast(leat_op_random_uniform(graph, LEAT_SCALAR, &options), LEAT_INT64);
    static const char *const names[] = {"target_width", "offset_height", "target_height",
                                        "offset_width"};
    leat_string bound[4];
    for (int i = 0; i < 4; i++)
        bound[i] = (leat_string){.data = names[i], .size = strlen(names[i])};
    const struct leati_box_args box = {.target_height = 1, .target_width = 1};
    leat_value picture = decoded(graph);
    picture.id = leati_graph_add_computed(graph, &leati_tensor_op_crop_to_bounding_box, &box,
                                          &picture, 1, bound, numbers_of, 4);
    picture = leat_op_resize(picture, (int64_t[]){9, 9}, 2, NULL);
    outputs[0] = leat_op_multiply(picture, number(graph, 0.5F));
    return 1;
}

/* TensorFlow's own window, and a method that looks at many rows, mirrored. */
static inline int trace_tensorflow_window(void *context, leat_graph *graph, leat_value *outputs,
                                          int capacity) {
    (void)context;
    const int32_t window[4] = {1, 1, 5, 6};
    leat_value inputs[2] = {leat_graph_argument(graph, 0),
                            numbers(graph, LEAT_INT32, LEAT_SHAPE(4), window)};
    leat_value picture;
    if (leat_graph_call(graph, "decode_and_crop_jpeg", "{\"channels\": 3}", inputs, 2, &picture,
                        1) != 1)
        return -1;
    picture = call(graph, "resize", "{\"size\": [11, 4], \"antialias\": true}", picture);
    outputs[0] = leat_op_flip_left_right(picture);
    return 1;
}

/* What each channel is divided by comes with the row. */
static inline int trace_row_numbers(void *context, leat_graph *graph, leat_value *outputs,
                                    int capacity) {
    (void)context;
    leat_value picture =
        call(graph, "decode_image", "{\"channels\": 3, \"expand_animations\": false}",
             leat_graph_argument(graph, 0));
    picture =
        leat_op_resize(picture, (int64_t[]){12, 10}, 2,
                       &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS, .method = "bicubic"});
    leat_value scale =
        leat_op_add(leat_op_random_uniform(graph, LEAT_SHAPE(3), NULL), number(graph, 1));
    outputs[0] = leat_op_divide(picture, scale);
    outputs[1] = leat_graph_argument(graph, 0);
    return 2;
}

/* The resized picture leaves, too: the chain ends there. */
static inline int trace_two_exits(void *context, leat_graph *graph, leat_value *outputs,
                                  int capacity) {
    (void)context;
    outputs[0] = leat_op_resize(decoded(graph), (int64_t[]){8, 8}, 2, NULL);
    outputs[1] = leat_op_multiply(outputs[0], number(graph, 2));
    return 2;
}

/* The middle of the picture, as floats. */
static inline int trace_middle(void *context, leat_graph *graph, leat_value *outputs,
                               int capacity) {
    (void)context;
    leat_value picture = leat_op_convert_image_dtype(decoded(graph), LEAT_FLOAT32, false);
    outputs[0] = leat_op_resize(leat_op_central_crop(picture, 0.6), (int64_t[]){20, 25}, 2, NULL);
    return 1;
}

/* Numbers for each channel on both sides of resize, several windows, and all types between. */
static inline int trace_computed_before(void *context, leat_graph *graph, leat_value *outputs,
                                        int capacity) {
    (void)context;
    const float mean[3] = {0.5F, 0.25F, 0.125F};
    const int64_t begin[3] = {1, 0, 0}, size[3] = {-1, 20, 3};
    leat_value means = numbers(graph, LEAT_FLOAT32, LEAT_SHAPE(3), mean);
    leat_value picture =
        leat_op_cast(leat_op_slice(decoded(graph), begin, 3, size, 3), LEAT_FLOAT64);
    picture = leat_op_central_crop(leat_op_cast(picture, LEAT_FLOAT32), 0.9);
    picture = leat_op_subtract(leat_op_divide(picture, number(graph, 255)), means);
    picture = call(graph, "resize", "{\"size\": [14, 31], \"method\": \"bicubic\"}", picture);
    outputs[0] = leat_op_add(leat_op_flip_left_right(picture), means);
    return 1;
}

/* Bytes that stay bytes, of a part that is counted from the end. */
static inline int trace_negative(void *context, leat_graph *graph, leat_value *outputs,
                                 int capacity) {
    (void)context;
    const uint8_t most = 255;
    leat_value picture =
        call(graph, "strided_slice", "{\"begin\": [-20, 3], \"end\": [0, -2], \"end_mask\": 1}",
             decoded(graph));
    picture = leat_op_subtract(numbers(graph, LEAT_UINT8, LEAT_SCALAR, &most), picture);
    outputs[0] = leat_op_resize(picture, (int64_t[]){15, 16}, 2, NULL);
    return 1;
}

/* A part by numbers that the run computes, as Python writes x[y:y + h, x:x + w]. */
static inline int trace_computed_slice(void *context, leat_graph *graph, leat_value *outputs,
                                       int capacity) {
    (void)context;
    leat_op_random_uniform_options options = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS, .minval = -5,
                                              .maxval = 30};
    leat_value ends[2];
    for (int i = 0; i < 2; i++)
        ends[i] = leat_op_cast(leat_op_random_uniform(graph, LEAT_SHAPE(2), &options), LEAT_INT32);
    leat_value inputs[3] = {decoded(graph), ends[0], ends[1]}, picture;
    if (leat_graph_call(graph, "computed",
                        "{\"op\": \"strided_slice\", \"arguments\": \"{\\\"begin\\\": [0, 0], "
                        "\\\"end\\\": [0, 0]}\", \"bound\": [\"begin\", \"end\"]}",
                        inputs, 3, &picture, 1) != 1)
        return -1;
    outputs[0] = leat_op_resize(picture, (int64_t[]){9, 8}, 2, NULL);
    return 1;
}

/* Random parts: of a size, and of a random one; some leave the smaller pictures. */
static inline int trace_random_crops(void *context, leat_graph *graph, leat_value *outputs,
                                     int capacity) {
    (void)context;
    const int64_t size[3] = {24, 20, 3}, seed[2] = {5, 6};
    leat_value seeds = numbers(graph, LEAT_INT64, LEAT_SHAPE(2), seed), picture = decoded(graph);
    outputs[0] =
        leat_op_resize(leat_op_random_crop(picture, size, 3, NULL), (int64_t[]){12, 12}, 2, NULL);
    picture = call(graph, "decode_image", "{\"channels\": 3, \"expand_animations\": false}",
                   leat_graph_argument(graph, 0));
    picture = leat_op_stateless_random_crop(picture, size, 3, seeds);
    outputs[1] =
        leat_op_resize(picture, (int64_t[]){7, 7}, 2,
                       &(leat_op_resize_options){LEAT_OP_RESIZE_DEFAULTS, .method = "area"});
    return 2;
}

static inline int trace_resized_crops(void *context, leat_graph *graph, leat_value *outputs,
                                      int capacity) {
    (void)context;
    const double scale[2] = {0.3, 0.9};
    const leat_op_stateless_random_resized_crop_options soft = {
        LEAT_OP_STATELESS_RANDOM_RESIZED_CROP_DEFAULTS, .scale = scale, .num_scale = 2,
        .antialias = true};
    const int64_t seed[2] = {7, 8};
    leat_value seeds = numbers(graph, LEAT_INT64, LEAT_SHAPE(2), seed);
    leat_value picture = leat_op_random_resized_crop(decoded(graph), (int64_t[]){12, 13}, 2, NULL);
    outputs[0] = leat_op_multiply(leat_op_flip_left_right(picture), number(graph, 0.5F));
    picture = call(graph, "decode_image", "{\"channels\": 1, \"expand_animations\": false}",
                   leat_graph_argument(graph, 0));
    outputs[1] = leat_op_stateless_random_resized_crop(
        leat_op_convert_image_dtype(picture, LEAT_FLOAT32, false), (int64_t[]){5, 6}, 2, seeds,
        &soft);
    return 2;
}

/* Channels in the opposite order are no window, and nor is a part of the channels. */
static inline int trace_no_windows(void *context, leat_graph *graph, leat_value *outputs,
                                   int capacity) {
    (void)context;
    leat_value turned = call(graph, "strided_slice",
                             "{\"begin\": [0, 0, 0], \"end\": [0, 0, 0], \"strides\": [1, 1, -1],"
                             " \"begin_mask\": 7, \"end_mask\": 7}",
                             decoded(graph));
    leat_value part = call(graph, "strided_slice",
                           "{\"begin\": [0, 0, 1], \"end\": [0, 0, 3], \"begin_mask\": 3, "
                           "\"end_mask\": 3}",
                           decoded(graph));
    outputs[0] = leat_op_resize(turned, (int64_t[]){6, 7}, 2, NULL);
    outputs[1] = leat_op_resize(part, (int64_t[]){6, 7}, 2, NULL);
    return 2;
}

#endif
