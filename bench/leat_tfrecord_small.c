/* leat's side of tfrecord_small: record files of a list, over and over: read with CRC, parse the
 * four features of each Example, batch 1024. The features are those that make_data.c and prepare.py
 * write. */
#include "leat_bench.h"

static int parse(void *context, leat_graph *graph, leat_value *outputs) {
    return leat_parse_example(leat_graph_argument(graph, 0), context, NULL, outputs);
}

/* The features of a record. */
static leat_spec *features(leat_error *err) {
    const char *keys[] = {"data", "id", "label", "x"};
    leat_spec *children[] = {leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err),
                             leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(16), err)};
    return leat_spec_dict(keys, children, 4, err);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_tfrecord_small SECONDS THREADS LIST\n");
        return 2;
    }
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(argv[3], &count);
    leat_spec *spec = features(&err);
    leat_dataset *ds = leat_tf_record_dataset((const char *const *)names, count, NULL, &err);
    ds = leat_map(ds, leat_trace(parse, spec, leat_dataset_spec(ds), &err), NULL, &err);
    ds = leat_repeat(leat_batch(ds, 1024, NULL, &err), -1, &err);
    leat_iterator_options options = {.num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "tfrecord_small", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "records/s");
    result.mean = 0;
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    leat_spec_unref(spec);
    return 0;
}
