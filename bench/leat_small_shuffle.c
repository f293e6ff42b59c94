/* leat's side of small_shuffle: a million rows of 32 floats and an int32 label in memory: shuffle
 * (buffer 100,000), x * 2 + 1, batch 256, repeat. */
#include "leat_bench.h"

enum { ROWS = 1000000, WIDTH = 32 };

static int scale(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor two = leat_scalar_float32(2), one = leat_scalar_float32(1);
    leat_value doubled =
        leat_op_multiply(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &two));
    outputs[0] = leat_op_add(doubled, leat_graph_tensor(graph, &one));
    outputs[1] = leat_graph_argument(graph, 1);
    leat_tensor_unref(&two);
    leat_tensor_unref(&one);
    return 2;
}

static leat_dataset *rows_in_memory(leat_error *err) {
    leat_tensor tensors[2] = {{0}};
    bench_check(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(ROWS, WIDTH), &tensors[0], err) == LEAT_OK,
                "rows", err);
    bench_check(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(ROWS), &tensors[1], err) == LEAT_OK, "rows",
                err);
    for (int64_t i = 0; i < (int64_t)ROWS * WIDTH; i++)
        ((float *)tensors[0].data)[i] = (float)(i * 2654435761u % 1000) / 1000;
    for (int32_t i = 0; i < ROWS; i++)
        ((int32_t *)tensors[1].data)[i] = i % 10;
    leat_spec *children[] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(ROWS, WIDTH), err),
                             leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(ROWS), err)};
    leat_spec *spec = leat_spec_tuple(children, 2, err);
    leat_element element = {0};
    bench_check(spec != NULL && leat_element_set(&element, spec, tensors, err) == LEAT_OK, "rows",
                err);
    leat_dataset *dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_spec_unref(spec);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    return dataset;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: leat_small_shuffle SECONDS THREADS\n");
        return 2;
    }
    leat_error err = {0};
    leat_dataset *ds = rows_in_memory(&err);
    ds = leat_dataset_shuffle(
        ds, 100000,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)}, &err);
    ds = leat_dataset_map(ds, LEAT_TRACE(scale, NULL, leat_dataset_spec(ds), &err), NULL, &err);
    ds = leat_dataset_batch(ds, 256, NULL, &err);
    ds = leat_dataset_repeat(ds, -1, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "small_shuffle", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "elements/s");
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
