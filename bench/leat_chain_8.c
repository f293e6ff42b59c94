/* leat's side of chain_8: range, eight maps x + 1, batch 1024 or what is given, on the consumer's
 * thread. The rate is elements times maps. */
#include "leat_bench.h"

static int add_one(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor one = leat_scalar_int64(1);
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &one));
    leat_tensor_unref(&one);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: leat_chain_8 SECONDS THREADS [BATCH]\n");
        return 2;
    }
    leat_error err = {0};
    leat_dataset *ds = leat_dataset_range(0, INT64_MAX, 1, NULL, &err);
    for (int i = 0; i < 8; i++)
        ds = leat_dataset_map(ds, LEAT_TRACE(add_one, NULL, leat_dataset_spec(ds), &err), NULL,
                              &err);
    ds = leat_dataset_batch(ds, argc > 3 ? atoi(argv[3]) : 1024, NULL, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "chain_8", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "element maps/s");
    result.units *= 8;
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
