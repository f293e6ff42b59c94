/* leat's side of stream_memory: large records of a list, ten times over, through shuffle(1000) and
 * batch(32) with two batches of prefetch. What counts is memory: the rate is the share of the peak
 * (of this process, all that it maps and touches) that the records in those buffers fill. */
#include "leat_bench.h"

enum { SHUFFLE = 1000, BATCH = 32, PREFETCH = 2, TIMES = 10 };

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_stream_memory SECONDS THREADS LIST\n");
        return 2;
    }
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(argv[3], &count);
    leat_dataset *ds = leat_dataset_tf_record((const char *const *)names, count, NULL, &err);
    ds = leat_dataset_shuffle(leat_dataset_repeat(ds, TIMES, &err), SHUFFLE, NULL, &err);
    ds = leat_dataset_prefetch(leat_dataset_batch(ds, BATCH, NULL, &err), PREFETCH, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = atoi(argv[2])};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "stream_memory", &err);
    leat_element element = {0};
    double bytes = 0, records = 0;
    while (leat_iterator_next(iterator, &element, &err) == LEAT_OK) {
        const leat_string *texts = element.tensors[0].data;
        for (int64_t i = 0; i < element.tensors[0].dims[0]; i++)
            bytes += (double)texts[i].size;
        records += (double)element.tensors[0].dims[0];
    }
    bench_check(err.code == LEAT_OUT_OF_RANGE, "stream_memory", &err);
    leat_element_fini(&element);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double held = bytes / records * (SHUFFLE + (PREFETCH + 1) * BATCH);
    printf("{\"rate\": %.4f, \"unit\": \"of the peak\", \"limit\": 1, \"peak_mb\": %.1f, "
           "\"beyond_mb\": %.1f}\n",
           held / (1024.0 * (double)usage.ru_maxrss), (double)usage.ru_maxrss / 1024,
           (1024.0 * (double)usage.ru_maxrss - held) / (1 << 20));
    leat_iterator_free(iterator);
    leat_dataset_unref(ds);
    return 0;
}
