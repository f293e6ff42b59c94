/* leat's side of jpeg_full: the files of a list, over and over: read, decode (accurate DCT),
 * bilinear 224 x 224, random flip, divide by 255, float32 batches of 64. */
#include "leat_bench.h"

static int load(void *context, leat_graph *graph, leat_value *outputs) {
    (void)context;
    leat_value contents = leat_read_file(leat_graph_argument(graph, 0)), decoded[LEAT_MAX_OUTPUTS];
    if (leat_graph_call(graph, "decode_jpeg",
                        "{\"channels\": 3, \"dct_method\": \"INTEGER_ACCURATE\"}", &contents, 1,
                        decoded) != 1)
        return -1;
    leat_value picture = leat_resize(decoded[0], 224, 224, NULL);
    leat_tensor half = leat_scalar_float32(0.5f), scale = leat_scalar_float32(1 / 255.0f);
    leat_value draw = leat_random_uniform(graph, LEAT_SCALAR, LEAT_FLOAT32, NULL);
    leat_value flip = leat_less(draw, leat_graph_tensor(graph, &half));
    leat_value chosen = leat_select(flip, leat_flip_left_right(picture), picture);
    outputs[0] = leat_multiply(chosen, leat_graph_tensor(graph, &scale));
    leat_tensor_unref(&half);
    leat_tensor_unref(&scale);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_jpeg_full SECONDS THREADS LIST\n");
        return 2;
    }
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(argv[3], &count);
    leat_dataset *ds = leat_repeat(bench_name_dataset(names, count, &err), -1, &err);
    leat_map_options parallel = {.num_parallel_calls = atoi(argv[2])};
    ds = leat_map(ds, leat_trace(load, NULL, leat_dataset_spec(ds), &err), &parallel, &err);
    ds = leat_batch(ds, 64, NULL, &err);
    leat_iterator_options options = {.num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "jpeg_full", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "images/s");
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
