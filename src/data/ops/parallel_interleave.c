/* parallel_interleave: the legacy form of interleave
 * (tf.data.experimental.parallel_interleave).
 *
 * The order is that of interleave's parallel form (data/ahead/cycle.h): round robin, an element in
 * place of each dataset that has ended, errors counted as elements. One difference: where no
 * element is left for the place of a dataset that ends within its block, the next dataset gives
 * only what the block lacks. With sloppy=True the dataset that is ready goes first.
 * buffer_output_elements and prefetch_input_elements bound what TensorFlow's threads read ahead;
 * here they are checked and change nothing that can be seen.
 *
 * Failures: an error of the input, of the function or of an inner dataset is one outcome. No
 * locks. */
#include "data/ahead/cycle.h"
#include "data/run/apply.h"
#include <leat/data_ops.h>

struct legacy_args {
    leat_object *map_func;
    int64_t cycle_length;
    int64_t block_length;
    bool sloppy;
    int64_t buffer_output_elements;
    int64_t prefetch_input_elements;
    int64_t num_parallel_calls;
};

#define ROW(field) .offset = offsetof(struct legacy_args, field)

static const leati_row legacy_rows[] = {
    {.name = "map_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(map_func),
     .doc = "From an element to a dataset."},
    {.name = "cycle_length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(cycle_length),
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many datasets are read in turns."},
    {.name = "block_length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(block_length),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many elements one gives before the next one's turn."},
    {.name = "sloppy",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(sloppy),
     .doc = "True: the dataset that is ready goes first."},
    {.name = "buffer_output_elements",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(buffer_output_elements),
     .default_number = (double)LEAT_UNSET,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many elements of each dataset may be ready; none: 2 * block_length."},
    {.name = "prefetch_input_elements",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     ROW(prefetch_input_elements),
     .default_number = (double)LEAT_UNSET,
     .maximum = INT64_MAX,
     .doc = "How many datasets may be opened ahead; none: 2 * cycle_length."},
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_calls),
     .default_number = (double)LEAT_UNSET,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "How many datasets are read ahead at a time; none: as many as help."},
    {0},
};

static const leat_function *function_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct legacy_args *)dataset->args)->map_func;
}

/* What bounds TensorFlow's buffers has been checked by the rows and is not looked at again. */
static leat_status legacy_check(leat_dataset *dataset, leat_error *err) {
    return leati_inner_check(dataset, function_of(dataset), err);
}

static leat_spec *legacy_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leati_inner_spec(function_of(dataset));
}

/* In any order: what comes again does not come in the same order. */
static bool legacy_pure(const leat_dataset *dataset) {
    return leati_inner_pure(dataset) && !((const struct legacy_args *)dataset->args)->sloppy;
}

static leat_status legacy_open(leati_node_state *node, void *state, leat_error *err) {
    const struct legacy_args *args = node->dataset->args;
    /* Without a number as many are read ahead as help; the order does not depend on how many. */
    int64_t calls = args->num_parallel_calls;
    /* Parallel whether or not threads read ahead: this form alone has TensorFlow's order behind
     * errors. */
    const leati_cycle_options options = {.cycle_length = args->cycle_length,
                                         .block_length = args->block_length,
                                         .parallel = true,
                                         .keeps_block = true,
                                         .any_order = args->sloppy,
                                         .limit = calls == LEAT_UNSET ? LEAT_AUTOTUNE : calls};
    (void)state;
    return leati_cycle_open(node, &options, err);
}

const leati_dataset_op leati_op_parallel_interleave = {
    .name = "parallel_interleave",
    .version = 1,
    .doc = "The elements of cycle_length datasets that `map_func` returns, block_length of each in "
           "turn. Saved as the input's position and, for each open dataset, the element it was "
           "made from and its position; restoring calls the function once for each and reads "
           "again what was read ahead.",
    .names = "Dataset.parallel_interleave experimental.parallel_interleave",
    .signature = "map_func cycle_length block_length=1 sloppy=false "
                 "buffer_output_elements=null prefetch_input_elements=null "
                 "num_parallel_calls=null",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_CALLS,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_APART,
    .args_size = sizeof(struct legacy_args),
    .rows = legacy_rows,
    .check = legacy_check,
    .spec = legacy_spec,
    .pure = legacy_pure,
    .share = leati_inner_share,
    .unshare = leati_inner_unshare,
    .state_size = sizeof(leati_cycle),
    .open = legacy_open,
    .pull = leati_cycle_pull,
    .advance = leati_cycle_advance,
    .save = leati_cycle_save,
    .restore = leati_cycle_restore,
    .reset = leati_cycle_reset,
    .close = leati_cycle_close,
};

leat_dataset *
leat_dataset_parallel_interleave(leat_dataset *input, leat_function *function, int64_t cycle_length,
                                 const leat_dataset_parallel_interleave_options *options,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_parallel_interleave_options o = {LEAT_DATASET_PARALLEL_INTERLEAVE_DEFAULTS};
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_parallel_interleave_options, &o, options, &input, 1,
                              err) &&
        !leati_apply_function_is_missing(function, "parallel_interleave", "map_func", &input, 1,
                                         err)) {
        struct legacy_args args = {.map_func = (leat_object *)function,
                                   .cycle_length = cycle_length,
                                   .block_length = o.block_length,
                                   .sloppy = o.sloppy,
                                   .buffer_output_elements = o.buffer_output_elements,
                                   .prefetch_input_elements = o.prefetch_input_elements,
                                   .num_parallel_calls = o.num_parallel_calls};
        dataset = leati_dataset_new(&leati_op_parallel_interleave, &args, &input, 1, err);
    }
    leat_function_unref(function);
    return dataset;
}
