/* dataset_constant: a dataset that was made outside, as a value inside a function.
 *
 * It is the very node: its seed generator and its memory cache are shared by all who iterate over
 * it, as those of a captured variant are in TensorFlow. So the function is as pure as the plan: one
 * whose iterators can see each other makes the function stateful, one with effects makes it
 * impure. JSON holds the plan; what is read back is a node of its own. Fails where the plan cannot
 * be written. No locks. */
#include "data/functions/dataset_constant.h"
#include "graph/support/support.h"

static const leati_row dataset_constant_rows[] = {
    {.name = "dataset",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_dataset_constant_args, dataset),
     .doc = "The dataset, as a plan."},
    {0},
};

static leat_status dataset_constant_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_dataset_constant_args *args = call->args;
    if (!leati_dataset_of_object_check(args->dataset))
        return leati_refuse(err, STRUCTURE, "the constant is no dataset");
    leat_shape scalar = LEAT_SCALAR;
    return leati_op_infer_output(call, LEAT_OBJECT, &scalar,
                                 ((const leat_dataset *)args->dataset)->spec, err);
}

static leat_status dataset_constant_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_dataset_constant_args *args = call->args;
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        /* Each row of an object column owns a reference. */
        *(leat_object **)(void *)leati_support_row_of(&call->outputs[0], row) =
            leati_object_ref(args->dataset);
    }
    return LEAT_OK;
}

static bool reads_files(const leat_dataset *dataset) {
    bool reads = (dataset->op->flags & LEATI_OP_READS_FILES) != 0;
    for (int i = 0; i < dataset->num_inputs; i++)
        reads = reads || reads_files(dataset->inputs[i]);
    return reads;
}

static uint32_t dataset_constant_flags(const void *node_args) {
    const struct leati_dataset_constant_args *args = node_args;
    if (!leati_dataset_of_object_check(args->dataset))
        return 0;
    const leat_dataset *dataset = (const leat_dataset *)args->dataset;
    /* Whoever runs through it waits for the files, wherever in the plan they are read. */
    uint32_t flags = reads_files(dataset) ? LEATI_COSTLY : 0;
    flags |= dataset->replayable ? 0 : LEATI_IMPURE;
    return flags | (dataset->pure ? 0 : LEATI_STATEFUL);
}

static json_t *write_dataset(void *context, const leat_object *object, leat_error *err) {
    (void)context;
    return leati_plan_write((const leat_dataset *)object, err);
}

static leat_object *read_dataset(void *context, const leati_row *row, const json_t *json,
                                 leat_error *err) {
    (void)context;
    (void)row;
    leat_error local = {0};
    /* Without a reader: the plan of a constant refers to nothing outside of it. */
    leat_dataset *dataset = leati_plan_read(json, NULL, &local);
    if (dataset == NULL)
        *err = local;
    return (leat_object *)dataset;
}

static const leati_json_functions dataset_json = {.write_object = write_dataset,
                                                  .read_object = read_dataset};

const leati_tensor_op leati_tensor_op_dataset_constant = {
    .name = "dataset_constant",
    .version = 1,
    .doc = "A dataset that was made outside the function.",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = dataset_constant_rows,
    .args_size = sizeof(struct leati_dataset_constant_args),
    .infer = dataset_constant_infer,
    .kernel = dataset_constant_kernel,
    .node_flags = dataset_constant_flags,
    .objects = &dataset_json,
};

leat_value leat_graph_dataset(leat_graph *graph, leat_dataset *dataset) {
    if (dataset == NULL) {
        return leati_support_build_error(graph, LEAT_REASON_VALUE,
                                         "leat_graph_dataset: dataset is NULL; pass one");
    }
    struct leati_dataset_constant_args args = {.dataset = &dataset->object};
    return leati_graph_node(graph, &leati_tensor_op_dataset_constant, &args, NULL, 0);
}
