/* interleave: the elements of several datasets that a function returns, in turns
 * (tf.data.Dataset.interleave).
 *
 * cycle_length datasets are open at a time and give block_length elements each in turn; where one
 * has ended, the next element's dataset takes its place (data/ahead/cycle.h). The order is
 * TensorFlow's, whose sequential and parallel forms differ behind an error. num_parallel_calls
 * chooses the form and bounds how many datasets drivers read ahead; with deterministic=False the
 * one that is ready goes first, else nothing depends on threads. cycle_length AUTOTUNE becomes a
 * number when the plan is made, so that a written plan keeps its order on other machines.
 *
 * Failures: an error of the input, of the function or of an inner dataset is one outcome. No
 * locks. */
#include "data/ahead/cycle.h"
#include "data/run/apply.h"
#include <leat/data_ops.h>

struct interleave_args {
    leat_object *map_func;
    int64_t cycle_length;
    int64_t block_length;
    int64_t num_parallel_calls;
    int8_t deterministic;
};

#define ROW(field) .offset = offsetof(struct interleave_args, field)

static const leati_row interleave_rows[] = {
    {.name = "map_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(map_func),
     .doc = "From an element to a dataset."},
    {.name = "cycle_length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(cycle_length),
     .default_number = LEAT_AUTOTUNE,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many datasets are read in turns; AUTOTUNE or none: by the number of cores."},
    {.name = "block_length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(block_length),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many elements one gives before the next one's turn."},
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_calls),
     .default_number = (double)LEAT_UNSET,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "The parallel form: so many datasets, at most cycle_length, are read ahead at a "
            "time; none: the sequential one."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "False: in the parallel form the dataset that is ready goes first."},
    {0},
};

/* TensorFlow has a kernel for each form; which one is used, the argument alone decides. */
static bool is_parallel(const struct interleave_args *args) {
    return args->num_parallel_calls != LEAT_UNSET;
}

static const leat_function *function_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct interleave_args *)dataset->args)->map_func;
}

static leat_status interleave_check(leat_dataset *dataset, leat_error *err) {
    struct interleave_args *args = dataset->args;
    if (args->cycle_length == LEAT_AUTOTUNE) {
        args->cycle_length = leati_cycle_of_cores(args->num_parallel_calls);
        if (args->num_parallel_calls > args->cycle_length)
            args->num_parallel_calls = args->cycle_length; /* more are never open */
    } else if (is_parallel(args) && args->num_parallel_calls > args->cycle_length) {
        return leati_refuse(
            err, VALUE,
            "interleave: num_parallel_calls is %lld; expected at most cycle_length, "
            "which is %lld",
            (long long)args->num_parallel_calls, (long long)args->cycle_length);
    }
    return leati_inner_check(dataset, function_of(dataset), err);
}

static leat_spec *interleave_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leati_inner_spec(function_of(dataset));
}

static int64_t interleave_cardinality(const leat_dataset *dataset) {
    return is_parallel(dataset->args) &&
                   dataset->inputs[0]->cardinality == LEAT_INFINITE_CARDINALITY
               ? LEAT_INFINITE_CARDINALITY
               : LEAT_UNKNOWN_CARDINALITY;
}

/* deterministic=False means something in the parallel form alone. */
static bool is_sloppy(const struct interleave_args *args) {
    return is_parallel(args) && args->deterministic == 0;
}

/* In any order: what comes again does not come in the same order. */
static bool interleave_pure(const leat_dataset *dataset) {
    return leati_inner_pure(dataset) && !is_sloppy(dataset->args);
}

static leat_status interleave_open(leati_node_state *node, void *state, leat_error *err) {
    const struct interleave_args *args = node->dataset->args;
    /* The parallel form has an order of its own behind errors, also where nothing runs in
     * parallel. */
    const leati_cycle_options options = {.cycle_length = args->cycle_length,
                                         .block_length = args->block_length,
                                         .parallel = is_parallel(args),
                                         .any_order = is_sloppy(args),
                                         .limit = args->num_parallel_calls};
    (void)state;
    return leati_cycle_open(node, &options, err);
}

const leati_dataset_op leati_op_interleave = {
    .name = "interleave",
    .version = 1,
    .doc = "The elements of cycle_length datasets that `map_func` returns, block_length of each in "
           "turn. Saved as the input's position and, for each open dataset, the element it was "
           "made from and its position; restoring calls the function once for each and reads "
           "again what was read ahead.",
    .names = "Dataset.interleave",
    .shown = "Interleave num_parallel_calls:ParallelInterleave",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_CALLS,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_APART,
    .args_size = sizeof(struct interleave_args),
    .rows = interleave_rows,
    .check = interleave_check,
    .spec = interleave_spec,
    .cardinality = interleave_cardinality,
    .pure = interleave_pure,
    .share = leati_inner_share,
    .unshare = leati_inner_unshare,
    .state_size = sizeof(leati_cycle),
    .open = interleave_open,
    .pull = leati_cycle_pull,
    .advance = leati_cycle_advance,
    .skip = leati_cycle_skip,
    .save = leati_cycle_save,
    .restore = leati_cycle_restore,
    .reset = leati_cycle_reset,
    .close = leati_cycle_close,
};

leat_dataset *leat_dataset_interleave(leat_dataset *input, leat_function *function,
                                      const leat_dataset_interleave_options *options,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_interleave_options o = {LEAT_DATASET_INTERLEAVE_DEFAULTS};
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_interleave_options, &o, options, &input, 1, err) &&
        !leati_apply_function_is_missing(function, "interleave", "map_func", &input, 1, err)) {
        struct interleave_args args = {.map_func = (leat_object *)function,
                                       .cycle_length = o.cycle_length,
                                       .block_length = o.block_length,
                                       .num_parallel_calls = o.num_parallel_calls,
                                       .deterministic = (int8_t)o.deterministic};
        dataset = leati_dataset_new(&leati_op_interleave, &args, &input, 1, err);
    }
    leat_function_unref(function);
    return dataset;
}
