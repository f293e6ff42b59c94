/* leat's side of jpeg_rrc: the files of a list, over and over: read, a random part of 8 % to all of
 * the picture, decode (accurate DCT), crop, bilinear 224 x 224, random flip, divide by 255, float32
 * batches of 64. With QUALITY exact, or none, the numbers are those of decoding everything and
 * cropping then. */
#include "leat_bench.h"

static leat_value constant(leat_graph *graph, leat_dtype dtype, leat_shape shape,
                           const void *data) {
    leat_tensor tensor = {0};
    leat_error err = {0};
    bench_check(leat_tensor_copy_of(dtype, shape, data, &tensor, &err) == LEAT_OK, "tensor", &err);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

/* A random window of the picture as four numbers: its corner and its size. */
static void draw_window(leat_graph *graph, leat_value contents, leat_value *window) {
    const double ratios[2] = {3.0 / 4, 4.0 / 3}, areas[2] = {0.08, 1};
    const leat_op_stateless_sample_distorted_bounding_box_options options = {
        LEAT_OP_STATELESS_SAMPLE_DISTORTED_BOUNDING_BOX_DEFAULTS,
        .aspect_ratio_range = ratios,
        .num_aspect_ratio_range = 2,
        .area_range = areas,
        .num_area_range = 2,
        .max_attempts = 10,
        .use_image_if_no_bounding_boxes = true};
    const leat_op_random_uniform_options whole = {LEAT_OP_RANDOM_UNIFORM_DEFAULTS,
                                                  .maxval = 1 << 30, .dtype = LEAT_INT64};
    leat_value seed = leat_op_random_uniform(graph, LEAT_SHAPE(2), &whole);
    leat_value none = constant(graph, LEAT_FLOAT32, LEAT_SHAPE(1, 0, 4), "");
    leat_value box[2], parts[3];
    box[0] = leat_op_stateless_sample_distorted_bounding_box(
        leat_op_extract_jpeg_shape(contents, LEAT_INT32), none, seed, &options, &box[1], NULL);
    for (int i = 0; i < 2; i++) {
        if (leat_graph_call(graph, "unstack", "{\"axis\": 0}", &box[i], 1, parts, 3) != 3)
            return;
        window[2 * i] = parts[0];
        window[2 * i + 1] = parts[1];
    }
}

static int load(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0)), inputs[5] = {0},
               crop = {0};
    draw_window(graph, contents, inputs + 1);
    if (leat_graph_call(graph, "decode_jpeg",
                        "{\"channels\": 3, \"dct_method\": \"INTEGER_ACCURATE\"}", &contents, 1,
                        inputs, 1) != 1 ||
        leat_graph_call(graph, "computed",
                        "{\"op\": \"crop_to_bounding_box\", \"arguments\": \"{"
                        "\\\"offset_height\\\": 0, \\\"offset_width\\\": 0, "
                        "\\\"target_height\\\": 1, \\\"target_width\\\": 1}\", \"bound\": ["
                        "\"offset_height\", \"offset_width\", \"target_height\", "
                        "\"target_width\"]}",
                        inputs, 5, &crop, 1) != 1)
        return -1;
    outputs[0] = bench_flip_and_scale(graph, leat_op_resize(crop, (int64_t[]){224, 224}, 2, NULL));
    return 1;
}

int main(int argc, char **argv) {
    return bench_pictures(argc, argv, "jpeg_rrc", load);
}
