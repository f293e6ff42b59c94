/* What it costs to know each row's file and byte (data/run/origins): records read and parsed below
 * an operator that calls a function, so that rows have origins, beside the same below one that
 * calls none. Both pass blocks on and do nothing else, on one thread; they take turns of 10 ms of
 * the processor's time, and the limit is the rate without origins. */
#include "data/plan/dataset.h"
#include "data/run/input.h"
#include "leat_bench.h"

enum { TURN_US = 10000 };

/* Of the operator with a function; nobody passes one. */
struct over_args {
    leat_object *function;
};

static const leati_row calling_rows[] = {
    {.name = "function", .type = LEATI_ROW_FUNCTION, .doc = "Never called."},
    {0},
};
static const leati_row plain_rows[] = {{0}};

static leat_status over_open(leati_node_state *node, void *state, leat_error *err) {
    return leati_input_open(state, node, 0, err);
}

static leati_tail over_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    (void)node;
    return leati_input_take(state, want, out, err);
}

static void over_close(leati_node_state *node, void *state) {
    (void)node;
    leati_input_close(state);
}

#define OVER(word, row_table, size)                                                                \
    {                                                                                              \
        .name = word, .version = 1, .doc = "Passes blocks on.", .num_inputs = 1,                   \
        .flow = LEATI_ONE_TO_ONE, .args_size = size, .rows = row_table,                            \
        .state_size = sizeof(leati_input), .open = over_open, .pull = over_pull,                   \
        .close = over_close                                                                        \
    }

static const leati_dataset_op calling = OVER("calling", calling_rows, sizeof(struct over_args));
static const leati_dataset_op plain = OVER("plain", plain_rows, 0);

static leat_iterator *iterate(const char *list, bool small, const leati_dataset_op *op) {
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(list, &count);
    struct over_args args = {0};
    leat_spec *spec = bench_record_features(small, &err);
    leat_dataset *ds = leat_dataset_tf_record((const char *const *)names, count, NULL, &err);
    ds = leat_dataset_map(ds, LEAT_TRACE(bench_parse_record, spec, leat_dataset_spec(ds), &err),
                          NULL, &err);
    ds = leat_dataset_repeat(leat_dataset_batch(ds, small ? 1024 : 32, NULL, &err), -1, &err);
    ds = ds == NULL ? NULL : leati_dataset_new(op, &args, &ds, 1, &err);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = 1, .rewrites = false,
                                     .autotune = false};
    leat_iterator *iterator = leat_iterator_new(ds, &options, &err);
    bench_check(iterator != NULL, "origins", &err);
    leat_dataset_unref(ds);
    leat_spec_unref(spec);
    return iterator;
}

/* Records in one turn, and the processor's time that they took. */
static void take_turn(leat_iterator *iterator, bench_result *result) {
    leat_error err = {0};
    leat_element element = {0};
    double start = bench_cpu(), now = start;
    while (now - start < TURN_US * 1e-6) {
        bench_check(leat_iterator_next(iterator, &element, &err) == LEAT_OK, "next", &err);
        result->units += (double)element.tensors[0].dims[0];
        now = bench_cpu();
    }
    result->seconds += now - start;
    result->cpu_seconds = result->seconds;
    leat_element_fini(&element);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: leat_origins SECONDS THREADS LIST small|large\n");
        return 2;
    }
    bool small = strcmp(argv[4], "small") == 0;
    leat_iterator *with = iterate(argv[3], small, &calling);
    leat_iterator *without = iterate(argv[3], small, &plain);
    bench_result result = {.unit = "records/CPU s"}, limit = {0}, warm = {0};
    for (double start = bench_now(); bench_now() - start < atof(argv[1]);) {
        bool warming = warm.units == 0;
        take_turn(with, warming ? &warm : &result);
        take_turn(without, warming ? &warm : &limit);
    }
    result.limit = limit.units / limit.seconds;
    bench_print(&result);
    leat_iterator_free(with);
    leat_iterator_free(without);
    return 0;
}
