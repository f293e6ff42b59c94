/* Sixteen record files read in turns: interleave's parallel form over files that are parsed where
 * they are read, batch 1024. The limit is what the threads could do if turns cost nothing: THREADS
 * times the rate of the same files one after the other, on one thread. The two alternate. */
#include "leat_bench.h"

enum { ROUNDS = 4, BATCH = 1024 };

static leat_function *parser(leat_error *err) {
    leat_spec *features = bench_record_features(true, err);
    leat_spec *record = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
    leat_function *function = LEAT_TRACE(bench_parse_record, features, record, err);
    leat_spec_unref(features);
    leat_spec_unref(record);
    bench_check(function != NULL, "parser", err);
    return function;
}

/* tf_record_dataset(name).map(parse) */
static int read_file(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_error err = {0};
    leat_value name = leat_graph_argument(graph, 0);
    leat_value records = leat_graph_dataset_op(graph, "tf_record_dataset", NULL, NULL, 0,
                                               (const char *[]){"filenames"}, &name, 1);
    leat_function *function = parser(&err);
    char *json = leat_function_to_json(function, &err);
    bench_check(json != NULL, "parser", &err);
    size_t size = strlen(json) + 32;
    char *args = bench_alloc(size);
    (void)context;
    snprintf(args, size, "{\"map_func\": %s}", json);
    outputs[0] = leat_graph_dataset_op(graph, "map", args, &records, 1, NULL, NULL, 0);
    free(args);
    leat_text_free(json);
    leat_function_unref(function);
    return 1;
}

static leat_iterator *iterate(leat_dataset *ds, int threads) {
    leat_error err = {0};
    ds = leat_dataset_repeat(leat_dataset_batch(ds, BATCH, NULL, &err), -1, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "interleave_16", &err);
    leat_dataset_unref(ds);
    return iterator;
}

static leat_iterator *in_turns(char **names, int count, int64_t block, int threads, bool sloppy) {
    leat_error err = {0};
    leat_dataset *ds = bench_name_dataset(names, count, &err);
    leat_dataset_interleave_options options = {
        LEAT_DATASET_INTERLEAVE_DEFAULTS, .cycle_length = 16, .block_length = block,
        .num_parallel_calls = LEAT_AUTOTUNE,
        .deterministic = sloppy ? LEAT_CHOICE_FALSE : LEAT_CHOICE_DEFAULT};
    leat_function *function = LEAT_TRACE(read_file, NULL, leat_dataset_spec(ds), &err);
    return iterate(leat_dataset_interleave(ds, function, &options, &err), threads);
}

static leat_iterator *in_a_row(char **names, int count) {
    leat_error err = {0};
    leat_dataset *ds = leat_dataset_tf_record((const char *const *)names, count, NULL, &err);
    return iterate(leat_dataset_map(ds, parser(&err), NULL, &err), 1);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: leat_interleave_16 SECONDS THREADS LIST BLOCK ORDER\n");
        return 2;
    }
    int count = 0, threads = atoi(argv[2]);
    char **names = bench_names(argv[3], &count);
    double seconds = atof(argv[1]) / ROUNDS / 2, alone = 0, alone_cpu = 0;
    /* The consumer is one of the threads. */
    leat_iterator *turns =
        in_turns(names, count, atoll(argv[4]), threads, strcmp(argv[5], "any") == 0);
    leat_iterator *row = in_a_row(names, count);
    bench_result result = {.unit = "records/s"};
    for (int i = 0; i < ROUNDS; i++) {
        bench_result one = bench_drain(row, seconds, "records/s");
        alone += one.units / one.seconds / ROUNDS;
        alone_cpu += one.cpu_seconds / one.units / ROUNDS;
        one = bench_drain(turns, seconds, "records/s");
        result.units += one.units;
        result.seconds += one.seconds;
        result.cpu_seconds += one.cpu_seconds;
    }
    result.limit = threads * alone;
    fprintf(stderr, "processor's time per record: %.0f ns in a row, %.0f ns in turns\n",
            1e9 * alone_cpu, 1e9 * result.cpu_seconds / result.units);
    bench_print(&result);
    leat_iterator_free(turns);
    leat_iterator_free(row);
    return 0;
}
