/* A pipeline and a training step of about the same cost: each alone, then together. A unit is a
 * batch of 16 pictures, decoded and resized to 64 x 64, and a step of the demo's CNN on it. The
 * limit is the lower of the slower one's rate and what the cores allow: THREADS / (CPU seconds of a
 * unit in the pipeline + in training). */
#include "leat_bench.h"

enum { BATCH = 16, SIDE = 64 };

static int load(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value picture = leat_op_decode_jpeg(
        leat_op_read_file(leat_graph_argument(graph, 0)),
        &(leat_op_decode_jpeg_options){LEAT_OP_DECODE_JPEG_DEFAULTS, .channels = 3});
    leat_tensor scale = leat_scalar_float32(1 / 255.0f), label = leat_scalar_int64(3);
    outputs[0] = leat_op_multiply(leat_op_resize(picture, (int64_t[]){SIDE, SIDE}, 2, NULL),
                                  leat_graph_tensor(graph, &scale));
    outputs[1] = leat_graph_tensor(graph, &label);
    leat_tensor_unref(&scale);
    leat_tensor_unref(&label);
    return 2;
}

static leat_dataset *pipeline(const char *list, int threads) {
    leat_error err = {0};
    int count = 0;
    char **names = bench_names(list, &count);
    leat_dataset *ds = leat_dataset_repeat(bench_name_dataset(names, count, &err), -1, &err);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = threads};
    ds = leat_dataset_map(ds, LEAT_TRACE(load, NULL, leat_dataset_spec(ds), &err), &parallel, &err);
    ds = leat_dataset_batch(
        ds, BATCH,
        &(leat_dataset_batch_options){LEAT_DATASET_BATCH_DEFAULTS, .drop_remainder = true}, &err);
    ds = leat_dataset_prefetch(ds, 4, &err);
    bench_check(ds != NULL, "pipeline", &err);
    return ds;
}

typedef struct rates {
    double per_second, cpu_per_unit;
} rates;

typedef struct work {
    leat_strategy *strategy;
    leat_step *step;
    leat_distributed_iterator *iterator;
    leat_per_replica batch, loss;
} work;

/* Runs the two parts that are asked for over and over, once as start-up. */
static rates measure(work *w, bool read, bool train, double seconds) {
    leat_error err = {0};
    double start = 0, cpu = 0, units = -1;
    while (units < 1 || bench_now() - start < seconds) {
        if (units < 0) {
            start = bench_now();
            cpu = bench_cpu();
        }
        if (read)
            bench_check(leat_distributed_iterator_next(w->iterator, &w->batch, &err) == LEAT_OK,
                        "next", &err);
        if (train)
            bench_check(leat_strategy_run(w->strategy, w->step, &w->batch, &w->loss, &err) ==
                            LEAT_OK,
                        "step", &err);
        units++;
        if (units == 0) {
            start = bench_now();
            cpu = bench_cpu();
        }
    }
    double elapsed = bench_now() - start;
    return (rates){.per_second = units / elapsed, .cpu_per_unit = (bench_cpu() - cpu) / units};
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: leat_pipeline_and_training SECONDS THREADS LIST\n");
        return 2;
    }
    leat_error err = {0};
    double seconds = atof(argv[1]);
    int threads = atoi(argv[2]);
    work w = {.strategy = leat_strategy_mirrored(NULL, &err)};
    bench_check(w.strategy != NULL, "strategy", &err);
    bench_trainer trainer;
    bench_trainer_open(&trainer, w.strategy, LEAT_SHAPE(SIDE, SIDE, 3), BATCH);
    w.step = leat_step_new(bench_train_step, &trainer, &err);
    leat_distributed_dataset *dataset =
        leat_strategy_distribute_dataset(w.strategy, pipeline(argv[3], threads), NULL, &err);
    bench_check(dataset != NULL, "distribute", &err);
    w.iterator = leat_distributed_iterator_new(dataset, &err);
    bench_check(w.iterator != NULL, "iterator", &err);
    rates reading = measure(&w, true, false, seconds / 3);
    /* Without a reader in the background: its buffers are full and it rests. */
    rates training = measure(&w, false, true, seconds / 3);
    rates both = measure(&w, true, true, seconds / 3);
    double slower =
        reading.per_second < training.per_second ? reading.per_second : training.per_second;
    double cores = threads / (reading.cpu_per_unit + training.cpu_per_unit);
    bench_result result = {.unit = "units/s",
                           .units = both.per_second,
                           .seconds = 1,
                           .cpu_seconds = both.cpu_per_unit * both.per_second,
                           .limit = slower < cores ? slower : cores};
    fprintf(stderr,
            "pipeline alone %.1f, training alone %.1f, cores allow %.1f, together %.1f units/s\n",
            reading.per_second, training.per_second, cores, both.per_second);
    bench_print(&result);
    leat_per_replica_fini(&w.batch);
    leat_per_replica_fini(&w.loss);
    leat_distributed_iterator_free(w.iterator);
    leat_distributed_dataset_free(dataset);
    leat_step_free(w.step);
    bench_trainer_close(&trainer);
    leat_strategy_unref(w.strategy);
    return 0;
}
