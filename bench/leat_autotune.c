/* A pipeline with AUTOTUNE everywhere beside the same pipeline with every setting of a grid:
 *
 *   leat_autotune SECONDS THREADS pictures|records LIST
 *   leat_autotune SECONDS THREADS uneven
 *
 * First all take turns, and the setting with the best median is chosen; then it and the tuned one
 * take turns, and the median of the ratios of neighbouring turns counts: a setting that was lucky
 * when it was chosen has to show it again. The tuner starts from nothing and its trials count.
 * stderr tells the setting, and with LEAT_BENCH_EXPLAIN set what the tuner did. */
#include "leat_bench.h"

enum {
    CALLS = 4,
    BUFFERS = 3,
    SETTINGS = CALLS * BUFFERS,
    CHOOSING = 3, /* turns of each setting */
    JUDGING = 12, /* turns of the chosen one */
    PICTURES = 2,
    RECORDS = 1024,
    NUMBERS = 50
};

typedef struct pipeline {
    const char *name;
    char **files;
    int count, threads;
    leat_spec *features;
} pipeline;

static leat_dataset *pictures(const pipeline *p, int64_t calls, leat_error *err) {
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = calls};
    leat_dataset *ds = leat_dataset_repeat(bench_name_dataset(p->files, p->count, err), -1, err);
    leat_function *load = LEAT_TRACE(bench_load_picture, NULL, leat_dataset_spec(ds), err);
    return leat_dataset_batch(leat_dataset_map(ds, load, &parallel, err), PICTURES, NULL, err);
}

static leat_dataset *records(const pipeline *p, int64_t calls, leat_error *err) {
    leat_dataset_tf_record_options reading = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .num_parallel_reads = calls};
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = calls};
    leat_dataset *ds =
        leat_dataset_tf_record((const char *const *)p->files, p->count, &reading, err);
    leat_function *parse = LEAT_TRACE(bench_parse_record, p->features, leat_dataset_spec(ds), err);
    ds = leat_dataset_map(ds, parse, &parallel, err);
    return leat_dataset_repeat(leat_dataset_batch(ds, RECORDS, NULL, err), -1, err);
}

static leat_dataset *uneven(int64_t calls, leat_error *err) {
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = calls};
    leat_dataset *ds = leat_dataset_range(0, INT64_MAX, 1, NULL, err);
    return leat_dataset_batch(leat_dataset_map(ds, bench_uneven_function(ds, err), &parallel, err),
                              NUMBERS, NULL, err);
}

static leat_iterator *iterate(const pipeline *p, int64_t calls, int64_t buffer) {
    leat_error err = {0};
    leat_dataset *ds = strcmp(p->name, "pictures") == 0  ? pictures(p, calls, &err)
                       : strcmp(p->name, "records") == 0 ? records(p, calls, &err)
                                                         : uneven(calls, &err);
    ds = leat_dataset_prefetch(ds, buffer, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = p->threads};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, p->name, &err);
    leat_dataset_unref(ds);
    return iterator;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *rates, int count) {
    qsort(rates, (size_t)count, sizeof(*rates), ascending);
    return (rates[(count - 1) / 2] + rates[count / 2]) / 2;
}

/* One turn of an iterator. What it prepared while others had their turns is taken first and not
 * counted. */
static bench_result turn(leat_iterator *iterator, double seconds, const char *unit) {
    bench_drain(iterator, seconds / 4, unit);
    return bench_drain(iterator, seconds * 3 / 4, unit);
}

/* The number of the setting that is best by the median of a few turns. */
static int choose(leat_iterator **fixed, leat_iterator *tuned, double seconds, const char *unit) {
    double rates[SETTINGS][CHOOSING], best = 0;
    int chosen = 0;
    for (int i = 0; i < CHOOSING; i++) {
        for (int s = 0; s < SETTINGS; s++) {
            bench_result one = turn(fixed[s], seconds, unit);
            rates[s][i] = one.units / one.seconds;
        }
        turn(tuned, seconds, unit);
    }
    for (int s = 0; s < SETTINGS; s++) {
        double rate = median(rates[s], CHOOSING);
        chosen = rate > best ? s : chosen;
        best = rate > best ? rate : best;
    }
    return chosen;
}

static void judge(leat_iterator *fixed, leat_iterator *tuned, double seconds,
                  bench_result *result) {
    double ratios[JUDGING], rates[JUDGING];
    for (int i = 0; i < JUDGING; i++) {
        bench_result one = turn(fixed, seconds, result->unit), other;
        other = turn(tuned, seconds, result->unit);
        rates[i] = other.units / other.seconds;
        ratios[i] = rates[i] / (one.units / one.seconds);
        result->cpu_seconds += other.cpu_seconds;
    }
    result->units = median(rates, JUDGING);
    result->limit = result->units / median(ratios, JUDGING);
    result->seconds = 1;
}

int main(int argc, char **argv) {
    static const int64_t buffers[BUFFERS] = {1, 2, 8};
    bool listed = argc == 5;
    if (argc < 4 || argc > 5 || listed != (strcmp(argv[3], "uneven") != 0)) {
        fprintf(stderr, "usage: leat_autotune SECONDS THREADS pictures|records LIST | uneven\n");
        return 2;
    }
    leat_error err = {0};
    pipeline p = {.name = argv[3], .threads = atoi(argv[2])};
    p.files = listed ? bench_names(argv[4], &p.count) : NULL;
    p.features = bench_record_features(true, &err);
    leat_iterator *fixed[SETTINGS], *tuned = iterate(&p, LEAT_AUTOTUNE, LEAT_AUTOTUNE);
    for (int s = 0; s < SETTINGS; s++)
        fixed[s] = iterate(&p, s / BUFFERS + 1, buffers[s % BUFFERS]);
    double seconds = atof(argv[1]) / (CHOOSING * (SETTINGS + 1) + 2 * JUDGING);
    bench_result result = {.unit = "elements/s"};
    int s = choose(fixed, tuned, seconds, result.unit);
    judge(fixed[s], tuned, seconds, &result);
    fprintf(stderr, "best setting: num_parallel_calls %d, buffer_size %d\n", s / BUFFERS + 1,
            (int)buffers[s % BUFFERS]);
    char *table = getenv("LEAT_BENCH_EXPLAIN") != NULL ? leat_iterator_explain(tuned, &err) : NULL;
    fprintf(stderr, "%s", table != NULL ? table : "");
    leat_text_free(table);
    bench_print(&result);
    leat_iterator_free(tuned);
    for (s = 0; s < SETTINGS; s++)
        leat_iterator_free(fixed[s]);
    leat_spec_unref(p.features);
    return 0;
}
