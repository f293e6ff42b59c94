/* A dataset function: each worker makes the dataset of its own replicas, and takes every
 * num_input_pipelines-th batch of it. Alone this is one pipeline; as processes of one job the
 * workers print data that no other has:
 *
 *     leat launch -n 3 -- dataset_function
 */
#include <leat/leat.h>
#include <stdio.h>

enum { COUNT = 24, GLOBAL_BATCH = 6 };

/* What this worker's replicas receive. */
static leat_dataset *create(void *context, const leat_input_context *input, leat_error *err) {
    int64_t batch = 0;
    (void)context;
    if (leat_input_context_batch_size(input, GLOBAL_BATCH, &batch, err) != LEAT_OK)
        return NULL;
    leat_dataset *ds =
        leat_dataset_batch(leat_dataset_range(0, COUNT, 1, NULL, err), batch, NULL, err);
    return leat_dataset_shard(ds, input->num_input_pipelines, input->input_pipeline_id, err);
}

static leat_status print_steps(leat_distributed_dataset *dataset, leat_error *err) {
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, err);
    if (iterator == NULL)
        return err->code;
    leat_per_replica batch = {0};
    leat_status status;
    while ((status = leat_distributed_iterator_next(iterator, &batch, err)) == LEAT_OK) {
        for (int r = 0; r < batch.num_replicas; r++) {
            const leat_tensor *values = &batch.elements[r].tensors[0];
            for (int64_t i = 0; i < values->dims[0]; i++)
                printf("%s%lld", i > 0 ? " " : "", (long long)((const int64_t *)values->data)[i]);
            printf("\n");
        }
    }
    leat_per_replica_fini(&batch);
    leat_distributed_iterator_free(iterator);
    return status == LEAT_OUT_OF_RANGE ? LEAT_OK : status; /* the end is no failure */
}

int main(void) {
    leat_error err = {0};
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(NULL, &err);
    leat_distributed_dataset *dataset =
        strategy == NULL ? NULL
                         : leat_strategy_distribute_datasets_from_function(strategy, create, NULL,
                                                                           NULL, NULL, &err);
    leat_status status = dataset == NULL ? err.code : print_steps(dataset, &err);
    leat_distributed_dataset_free(dataset);
    leat_strategy_unref(strategy);
    if (status == LEAT_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", leat_status_name(err.code), err.text);
    return 1;
}
