/* leat's side of cnn_step: the training step of the demo's CNN on one batch in memory, one replica:
 * forward, loss, gradients, Adam. */
#include "leat_bench.h"
#include <unistd.h>

/* One batch of pictures and labels, the same numbers every time. */
static void fill(leat_per_replica *batch, int64_t side, int64_t rows) {
    leat_error err = {0};
    leat_tensor tensors[2] = {{0}};
    leat_spec *children[] = {leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(rows, side, side, 1), &err),
                             leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(rows), &err)};
    leat_spec *spec = leat_spec_tuple(children, 2, &err);
    bench_check(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(rows, side, side, 1), &tensors[0], &err) ==
                    LEAT_OK,
                "pictures", &err);
    bench_check(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(rows), &tensors[1], &err) == LEAT_OK,
                "labels", &err);
    for (int64_t i = 0; i < rows * side * side; i++)
        ((float *)tensors[0].data)[i] = (float)(i * 2654435761u % 997) / 997;
    for (int64_t i = 0; i < rows; i++)
        ((int64_t *)tensors[1].data)[i] = i % 10;
    static leat_element element;
    bench_check(leat_element_set(&element, spec, tensors, &err) == LEAT_OK, "batch", &err);
    *batch = (leat_per_replica){.elements = &element, .num_replicas = 1};
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: leat_cnn_step SECONDS THREADS SIDE BATCH\n");
        return 2;
    }
    leat_error err = {0};
    double seconds = atof(argv[1]);
    int64_t side = atoi(argv[3]), rows = atoi(argv[4]);
    /* Logical devices split the cores: as many as leave THREADS of them to the first. */
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), threads = atoi(argv[2]);
    bench_check(leat_device_set_logical_cpus(cores > threads ? cores / threads : 1, &err) ==
                    LEAT_OK,
                "devices", &err);
    const char *device = "CPU:0";
    leat_strategy *strategy = leat_strategy_mirrored(
        &(leat_strategy_mirrored_options){LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = &device,
                                          .num_devices = 1},
        &err);
    bench_check(strategy != NULL, "strategy", &err);
    bench_trainer trainer;
    bench_trainer_open(&trainer, strategy, LEAT_SHAPE(side, side, 1), rows);
    leat_step *step = leat_step_new(bench_train_step, &trainer, &err);
    leat_per_replica batch, loss = {0};
    fill(&batch, side, rows);
    bench_result result = {.unit = "steps/s"};
    for (int i = 0; i < 20; i++)
        bench_check(leat_strategy_run(strategy, step, &batch, &loss, &err) == LEAT_OK, "step",
                    &err);
    double start = bench_now(), cpu = bench_cpu();
    while (bench_now() - start < seconds) {
        bench_check(leat_strategy_run(strategy, step, &batch, &loss, &err) == LEAT_OK, "step",
                    &err);
        result.units++;
    }
    result.seconds = bench_now() - start;
    result.cpu_seconds = bench_cpu() - cpu;
    char *explained = leat_step_explain(step, &err);
    if (explained != NULL && getenv("LEAT_BENCH_EXPLAIN") != NULL)
        fprintf(stderr, "%s", explained);
    leat_text_free(explained);
    bench_print(&result);
    leat_per_replica_fini(&loss);
    leat_element_fini(&batch.elements[0]);
    leat_step_free(step);
    bench_trainer_close(&trainer);
    leat_strategy_unref(strategy);
    return 0;
}
