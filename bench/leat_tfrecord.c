/* leat's side of the record cases: record files of a list, over and over: read with CRC, parse the
 * features of each Example, batch. The features are those that make_data.c writes. With THREADS
 * above 1 so many files are read at once. */
#include "leat_bench.h"

int main(int argc, char **argv) {
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: leat_tfrecord SECONDS THREADS LIST small|large [COMPRESSION]\n");
        return 2;
    }
    leat_error err = {0};
    int count = 0, threads = atoi(argv[2]);
    bool small = strcmp(argv[4], "small") == 0;
    char **names = bench_names(argv[3], &count);
    leat_spec *spec = bench_record_features(small, &err);
    leat_dataset_tf_record_options reading = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .compression_type = argc > 5 ? argv[5] : "",
                                              .num_parallel_reads = threads > 1 ? threads : 0};
    leat_dataset *ds = leat_dataset_tf_record((const char *const *)names, count, &reading, &err);
    ds = leat_dataset_map(ds, LEAT_TRACE(bench_parse_record, spec, leat_dataset_spec(ds), &err),
                          NULL, &err);
    ds = leat_dataset_repeat(leat_dataset_batch(ds, small ? 1024 : 32, NULL, &err), -1, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "tfrecord", &err);
    bench_result result = bench_drain(iterator, atof(argv[1]), "records/s");
    result.mean = 0;
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    leat_spec_unref(spec);
    return 0;
}
