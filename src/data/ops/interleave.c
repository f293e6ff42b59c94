/* interleave: the elements of several datasets that a function returns, in turns
 * (tf.data.Dataset.interleave).
 *
 * cycle_length datasets are open at a time and give block_length elements each in turn; where one
 * has ended, the next element's dataset takes its place (data/cycle.h). The order is TensorFlow's,
 * whose sequential and parallel forms differ behind an error. num_parallel_calls chooses the form;
 * the elements never depend on threads, and deterministic=False gives the same order as True.
 * cycle_length AUTOTUNE becomes a number when the plan is made, so that a written plan keeps its
 * order on other machines.
 *
 * Failures: an error of the input, of the function or of an inner dataset is one outcome. No
 * locks. */
#include "data/apply.h"
#include "data/cycle.h"
#include "run/pool.h"
#include <leat/data_ops.h>

#define NOT_PARALLEL INT64_MIN

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
     .default_number = (double)NOT_PARALLEL,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "The parallel form, with at most cycle_length calls; none: the sequential one."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "Accepted; the order is the same for False."},
    {0},
};

static bool is_parallel(const struct interleave_args *args) {
    return args->num_parallel_calls != NOT_PARALLEL;
}

static const leat_function *function_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct interleave_args *)dataset->args)->map_func;
}

/* TensorFlow's number for cycle_length AUTOTUNE. */
static int64_t cores_cycle(const struct interleave_args *args) {
    int64_t cores = leati_num_cores();
    if (!is_parallel(args)) {
        return cores;
    }
    if (args->num_parallel_calls == LEAT_AUTOTUNE) {
        return (cores + 2) / 3;
    }
    return args->num_parallel_calls < cores ? args->num_parallel_calls : cores;
}

static leat_status interleave_check(leat_dataset *dataset, leat_error *err) {
    struct interleave_args *args = dataset->args;
    if (args->cycle_length == LEAT_AUTOTUNE) {
        args->cycle_length = cores_cycle(args);
    } else if (is_parallel(args) && args->num_parallel_calls > args->cycle_length) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
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

static void *interleave_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new(function_of(dataset), err);
}

static void interleave_unshare(void *shared) {
    leati_program_free(shared);
}

static leat_status interleave_open(leati_node_state *node, void *state, leat_error *err) {
    const struct interleave_args *args = node->dataset->args;
    return leati_cycle_open(state, node, args->cycle_length, args->block_length, is_parallel(args),
                            err);
}

static leati_tail interleave_pull(leati_node_state *node, void *state, int64_t want,
                                  leati_block *out, leat_error *err) {
    return leati_cycle_pull(node, state, want, out, err);
}

static leati_tail interleave_advance(leati_node_state *node, void *state, int64_t n,
                                     int64_t *passed, leat_error *err) {
    return leati_cycle_advance(node, state, n, passed, err);
}

/* TensorFlow's sequential form lets the inner datasets skip in their own way, the parallel one
 * reads them. */
static leati_tail interleave_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                                  leat_error *err) {
    if (!is_parallel(node->dataset->args)) {
        return leati_cycle_skip(node, state, n, skipped, err);
    }
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    leati_tail tail = LEATI_MORE;
    while (*skipped < n && tail == LEATI_MORE) {
        tail = leati_cycle_pull(node, state, n - *skipped, &block, err);
        *skipped += block.n;
    }
    leati_block_fini(&block);
    return tail;
}

static leat_status interleave_save(leati_node_state *node, void *state, leati_writer *out,
                                   leati_save_cost *cost, leat_error *err) {
    return leati_cycle_save(node, state, out, cost, err);
}

static leat_status interleave_restore(leati_node_state *node, void *state, leati_reader *in,
                                      leat_error *err) {
    return leati_cycle_restore(node, state, in, err);
}

static leat_status interleave_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    return leati_cycle_reset(state, err);
}

static void interleave_close(leati_node_state *node, void *state) {
    (void)node;
    leati_cycle_close(state);
}

const leati_dataset_op leati_op_interleave = {
    .name = "interleave",
    .version = 1,
    .doc = "The elements of cycle_length datasets that `map_func` returns, block_length of each in "
           "turn. Saved as the input's position and, for each open dataset, the element it was "
           "made from and its position; restoring calls the function once for each.",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .args_size = sizeof(struct interleave_args),
    .rows = interleave_rows,
    .check = interleave_check,
    .spec = interleave_spec,
    .cardinality = interleave_cardinality,
    .share = interleave_share,
    .unshare = interleave_unshare,
    .state_size = sizeof(leati_cycle),
    .open = interleave_open,
    .pull = interleave_pull,
    .advance = interleave_advance,
    .skip = interleave_skip,
    .save = interleave_save,
    .restore = interleave_restore,
    .reset = interleave_reset,
    .close = interleave_close,
};

leat_dataset *leat_interleave(leat_dataset *input, leat_function *function,
                              const leat_interleave_options *options, leat_error *err) {
    struct interleave_args args = {.map_func = (leat_object *)function,
                                   .cycle_length = LEAT_AUTOTUNE,
                                   .block_length = 1,
                                   .num_parallel_calls = NOT_PARALLEL,
                                   .deterministic = -1};
    if (options != NULL) {
        args.cycle_length = options->cycle_length == 0 ? LEAT_AUTOTUNE : options->cycle_length;
        args.block_length = options->block_length == 0 ? 1 : options->block_length;
        args.num_parallel_calls =
            options->num_parallel_calls == 0 ? NOT_PARALLEL : options->num_parallel_calls;
        args.deterministic = options->not_deterministic ? 0 : -1;
    }
    leat_dataset *dataset =
        leati_function_is_missing(function, "interleave", "map_func", &input, 1, err)
            ? NULL
            : leati_dataset_new(&leati_op_interleave, &args, &input, 1, err);
    leat_function_unref(function);
    return dataset;
}
