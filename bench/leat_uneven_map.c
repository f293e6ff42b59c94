/* A parallel map in which one element in a hundred costs a hundred times as much as the others. The
 * limit is the whole work shared evenly by the threads: THREADS over the processor's time that an
 * element takes on one thread, measured beside it. */
#include "leat_bench.h"

enum { ROUNDS = 4, BATCH = 100 };

/* Elements per second of the bare work on one thread. */
static double bare(double seconds) {
    double start = bench_now();
    int64_t n = 0;
    while (n % BENCH_RARE != 0 || bench_now() - start < seconds)
        bench_touch(&(uint64_t){bench_work(bench_steps_of(n++))});
    return (double)n / (bench_now() - start);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_uneven_map SECONDS THREADS ORDER\n");
        return 2;
    }
    leat_error err = {0};
    int threads = atoi(argv[2]);
    double seconds = atof(argv[1]) / ROUNDS / 2, limit = 0;
    leat_dataset *ds = leat_dataset_range(0, INT64_MAX, 1, NULL, &err);
    leat_dataset_map_options parallel = {
        LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = LEAT_AUTOTUNE,
        .deterministic = strcmp(argv[3], "any") == 0 ? LEAT_CHOICE_FALSE : LEAT_CHOICE_DEFAULT};
    ds = leat_dataset_batch(leat_dataset_map(ds, bench_uneven_function(ds, &err), &parallel, &err),
                            BATCH, NULL, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "uneven_map", &err);
    bench_result result = {.unit = "elements/s"};
    for (int i = 0; i < ROUNDS; i++) {
        limit += threads * bare(seconds) / ROUNDS;
        bench_result one = bench_drain(iterator, seconds, "elements/s");
        result.units += one.units;
        result.seconds += one.seconds;
        result.cpu_seconds += one.cpu_seconds;
    }
    result.limit = limit;
    fprintf(stderr, "processor's time: %.2f of %d threads\n", result.cpu_seconds / result.seconds,
            threads);
    bench_print(&result);
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
