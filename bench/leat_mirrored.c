/* leat's side of mirrored: what distributing adds to a step. Global batches of 64 rows of 32 floats
 * from memory, two replicas, a step that sums its rows, the sum of both.
 *
 *   leat_mirrored SECONDS input|step|sum
 *
 * input: a step of the distributed dataset, beside a step of the plain one. step: the same with
 * Strategy.run and Strategy.reduce on two replicas, beside one replica. sum: the same with a sum
 * over replicas in the step, so that the two meet. They alternate in turns of
 * 10 ms, and the median of the differences counts. The rate is 1 / what distributing adds; the
 * limit is 20 microseconds. */
#include "leat_bench.h"

enum { ROWS = 65536, COLUMNS = 32, BATCH = 64, MOST_TURNS = 4096 };

static leat_dataset *batches(void) {
    leat_error err = {0};
    leat_tensor tensors[2] = {{0}};
    leat_spec *children[] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(ROWS, COLUMNS), &err),
                             leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(ROWS), &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    leat_element element = {0};
    bench_check(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(ROWS, COLUMNS), &tensors[0], &err) ==
                        LEAT_OK &&
                    leat_tensor_new(LEAT_INT32, LEAT_SHAPE(ROWS), &tensors[1], &err) == LEAT_OK,
                "rows", &err);
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++)
        ((float *)tensors[0].data)[i] = (float)(i * 2654435761u % 997) / 997;
    for (int32_t i = 0; i < ROWS; i++)
        ((int32_t *)tensors[1].data)[i] = i;
    bench_check(leat_element_set(&element, spec, tensors, &err) == LEAT_OK, "rows", &err);
    leat_dataset *ds = leat_dataset_from_tensor_slices(&element, &err);
    ds = leat_dataset_repeat(ds, -1, &err);
    ds = leat_dataset_batch(
        ds, BATCH,
        &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true}, &err);
    ds = leat_dataset_prefetch(ds, 2, &err);
    bench_check(ds != NULL, "dataset", &err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
    return ds;
}

/* `context`: over all replicas? */
static int sum_rows(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value sum = leat_op_reduce_sum(leat_graph_argument(graph, 0), NULL, 0, false);
    outputs[0] = sum;
    if (*(const bool *)context)
        leat_op_all_reduce(&sum, 1, LEAT_AGGREGATION_SUM, outputs);
    return 1;
}

/* A dataset on a strategy, or (strategy NULL) without one. */
typedef struct side {
    leat_strategy *strategy;
    leat_distributed_dataset *distributed;
    leat_distributed_iterator *replicas;
    leat_dataset *dataset;
    leat_iterator *iterator;
    leat_step *step; /* NULL: only read */
    leat_per_replica batch, result;
    leat_element element, total;
} side;

/* `sums` NULL: no step. */
static void open_side(side *s, int replicas, bool *sums) {
    static const char *const devices[] = {"CPU:0", "CPU:1"};
    leat_error err = {0};
    *s = (side){0};
    if (replicas == 0) {
        s->dataset = batches();
        s->iterator = leat_iterator_new(s->dataset, NULL, &err);
        bench_check(s->iterator != NULL, "iterator", &err);
        return;
    }
    s->strategy = leat_strategy_mirrored(
        &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = devices,
                                          .num_devices = replicas},
        &err);
    bench_check(s->strategy != NULL, "strategy", &err);
    s->distributed = leat_strategy_distribute_dataset(s->strategy, batches(), NULL, &err);
    bench_check(s->distributed != NULL, "distribute", &err);
    s->replicas = leat_distributed_iterator_new(s->distributed, &err);
    bench_check(s->replicas != NULL, "iterator", &err);
    s->step = sums != NULL ? leat_step_new(sum_rows, sums, &err) : NULL;
}

static void close_side(side *s) {
    leat_per_replica_fini(&s->batch);
    leat_per_replica_fini(&s->result);
    leat_element_fini(&s->element);
    leat_element_fini(&s->total);
    leat_step_free(s->step);
    leat_distributed_iterator_free(s->replicas);
    leat_distributed_dataset_free(s->distributed);
    leat_iterator_free(s->iterator);
    leat_dataset_unref(s->dataset);
    leat_strategy_unref(s->strategy);
}

static void one(side *s) {
    leat_error err = {0};
    if (s->iterator != NULL) {
        bench_check(leat_iterator_next(s->iterator, &s->element, &err) == LEAT_OK, "next", &err);
        return;
    }
    bench_check(leat_distributed_iterator_next(s->replicas, &s->batch, &err) == LEAT_OK, "next",
                &err);
    if (s->step != NULL) {
        bench_check(leat_strategy_run(s->strategy, s->step, &s->batch, &s->result, &err) == LEAT_OK,
                    "run", &err);
        bench_check(leat_strategy_reduce(s->strategy, LEAT_REDUCE_SUM, &s->result, LEAT_NO_AXIS,
                                         &s->total, &err) == LEAT_OK,
                    "reduce", &err);
    }
}

/* Seconds of a step in a turn of 10 ms. */
static double turn(side *s) {
    double start = bench_now(), elapsed = 0;
    int steps = 0;
    do {
        for (int i = 0; i < 16; i++)
            one(s);
        steps += 16;
        elapsed = bench_now() - start;
    } while (elapsed < 0.01);
    return elapsed / steps;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: leat_mirrored SECONDS input|step|sum\n");
        return 2;
    }
    leat_error err = {0};
    bool sums = strcmp(argv[2], "sum") == 0, with_step = sums || strcmp(argv[2], "step") == 0;
    bench_check(leat_device_set_logical_cpus(2, &err) == LEAT_OK, "devices", &err);
    side plain, mirrored;
    open_side(&plain, with_step ? 1 : 0, with_step ? &sums : NULL);
    open_side(&mirrored, 2, with_step ? &sums : NULL);
    static double alone[MOST_TURNS], both[MOST_TURNS];
    double start = bench_now(), cpu = bench_cpu();
    int turns = 0;
    turn(&plain);
    turn(&mirrored);
    while (turns < 3 || (bench_now() - start < atof(argv[1]) && turns < MOST_TURNS)) {
        alone[turns] = turn(&plain);
        both[turns++] = turn(&mirrored);
    }
    qsort(alone, (size_t)turns, sizeof *alone, by_value);
    qsort(both, (size_t)turns, sizeof *both, by_value);
    double added = both[turns / 10] - alone[turns / 10];
    if (getenv("LEAT_BENCH_EXPLAIN") != NULL)
        fprintf(stderr, "a step is %.2f us alone and %.2f us distributed\n",
                1e6 * alone[turns / 10], 1e6 * both[turns / 10]);
    bench_result result = {.unit = "1/s of what is added",
                           .units = 1,
                           .seconds = added > 1e-7 ? added : 1e-7,
                           .cpu_seconds = bench_cpu() - cpu,
                           .limit = 1 / 20e-6};
    bench_print(&result);
    close_side(&plain);
    close_side(&mirrored);
    return 0;
}
