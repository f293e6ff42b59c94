/* What each replica receives: ten numbers with labels in batches of two, distributed over two
 * replicas, so that each of them gets one number and one label at every step.
 *
 *     per_replica [REPLICAS]
 *     leat launch -n 2 -- per_replica
 *
 * As one of several processes of a job it is a worker with one replica, and prints what that gets.
 */
#include <leat/leat.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 10

/* Ten (number, label) pairs; the label says whether the number is odd. Owned; NULL on failure. */
static leat_dataset *numbers(leat_error *err) {
    float x[COUNT];
    int64_t y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = i % 2;
    }
    leat_spec *spec =
        leat_spec_tuple((leat_spec *[]){leat_spec_tensor(LEAT_FLOAT32, LEAT_SHAPE(COUNT), err),
                                        leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(COUNT), err)},
                        2, err);
    leat_tensor tensors[2] = {{0}, {0}};
    leat_element element = {0};
    leat_dataset *dataset = NULL;
    if (spec != NULL &&
        leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(COUNT), x, &tensors[0], err) == LEAT_OK &&
        leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(COUNT), y, &tensors[1], err) == LEAT_OK &&
        leat_element_set(&element, spec, tensors, err) == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    leat_spec_unref(spec);
    return dataset;
}

static leat_status print_steps(leat_distributed_dataset *dataset, leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    if (iterator == NULL)
        return err->code;
    leat_per_replica batch = {0};
    leat_status status;
    char text[4096];
    for (int step = 0; (status = leat_distributed_iterator_next(iterator, &batch, err)) == LEAT_OK;
         step++) {
        leat_per_replica_print(&batch, text, sizeof text);
        printf("step %d: %s\n", step, text);
    }
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status; /* the end is no failure */
}

/* Workers of the job that a launcher's variables describe, else the devices of this process. */
static leat_strategy *make_strategy(int replicas, leat_error *err) {
    if (getenv("TF_CONFIG") != NULL)
        return leat_strategy_multi_worker_mirrored(NULL, err);
    return leat_device_set_logical_cpus(replicas, err) == LEAT_OK
               ? leat_strategy_mirrored(NULL, err)
               : NULL;
}

static leat_status run(int replicas, leat_error *err) {
    leat_strategy *strategy = make_strategy(replicas, err);
    if (strategy == NULL)
        return err->code;
    leat_dataset *batches = leat_dataset_batch(numbers(err), 2, NULL, err);
    leat_distributed_dataset *dataset =
        leat_strategy_distribute_dataset(strategy, batches, NULL, err);
    leat_status status = dataset != NULL ? LEAT_OK : err->code;
    if (status == LEAT_OK) {
        printf("%d replicas\n", leat_strategy_num_replicas(strategy));
        status = print_steps(dataset, err);
    }
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
    return status;
}

int main(int argc, char **argv) {
    leat_error err = {0};
    if (run(argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2, &err) == LEAT_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    return 1;
}
