/* map: a function on every element (tf.data.Dataset.map).
 *
 * Without num_parallel_calls the rows of the input's blocks run on the consumer's thread, a block
 * at a time; the result has at most the bytes that the consumer wishes for, and where it offers
 * rows of a batch, the function writes there. With num_parallel_calls a ring (data/ahead/ring.h)
 * runs tasks on the pool, unless the function has effects (then one call at a time, in order) or
 * the dataset is inside a function.
 *
 * A row that fails costs its own place: the rows before it are delivered, then the error, and the
 * next pull goes on behind it. Calls are numbered by outcomes of the input, over all epochs; the
 * number is part of the key of random operations. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/ahead/ring.h"
#include "data/run/apply.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <stdio.h>

struct map_args {
    leat_object *function;
    int64_t num_parallel_calls;
    int8_t deterministic;
    bool synchronous;
    bool use_unbounded_threadpool;
};

#define ROW(field) .offset = offsetof(struct map_args, field)

static const leati_row map_rows[] = {
    {.name = "map_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     ROW(function),
     .doc = "The function of an element's components."},
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_calls),
     .default_number = (double)LEAT_UNSET,
     .doc = "How many calls run at a time on the pool; none: one, on the consumer's thread."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "False: parallel calls are delivered as they finish."},
    {.name = "synchronous",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(synchronous),
     .doc = "Never run in parallel; not together with num_parallel_calls."},
    {.name = "use_unbounded_threadpool",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(use_unbounded_threadpool),
     .doc = "Accepted; calls run on the process's pool."},
    {0},
};

struct map_state {
    leati_ring *ring; /* NULL: sequential, with what follows */
    leati_input input;
    const leati_program *program; /* the node's */
    leati_scratch *scratch;
    bool effects;     /* the function has some: one row at a time */
    int64_t ordinal;  /* of the next call */
    double row_bytes; /* of results, measured; 0: not yet */
};

struct map_access {
    const leati_program *program; /* the node's */
    leati_scratch *scratch;
    leati_block block; /* of the input */
    bool one_by_one;   /* the function has effects, or draws numbers by the call's ordinal */
};

static leat_function *function_of(const leat_dataset *dataset) {
    const struct map_args *args = dataset->args;
    return (leat_function *)args->function;
}

static leat_status map_check(leat_dataset *dataset, leat_error *err) {
    const struct map_args *args = dataset->args;
    bool parallel = args->num_parallel_calls != LEAT_UNSET;
    if (parallel && args->num_parallel_calls < 1 && args->num_parallel_calls != LEAT_AUTOTUNE) {
        return leati_refuse(
            err, VALUE, "map: num_parallel_calls is %lld; expected at least 1, or AUTOTUNE (-1)",
            (long long)args->num_parallel_calls);
    }
    if (parallel && args->synchronous) {
        return leati_refuse(err, VALUE,
                            "map: synchronous and num_parallel_calls exclude each other; give one");
    }
    return leati_apply_check_function("map", "map_func", function_of(dataset),
                                      dataset->inputs[0]->spec, err);
}

static leat_spec *map_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_spec_made(leat_function_output(function_of(dataset)), err);
}

static bool has_effects(const leat_dataset *dataset) {
    return leati_graph_function_has(function_of(dataset), LEATI_IMPURE | LEATI_STATEFUL);
}

/* Effects come in order, one at a time and on the consumer's thread. */
static bool map_reads_ahead(const leat_dataset *dataset) {
    const struct map_args *args = dataset->args;
    return args->num_parallel_calls != LEAT_UNSET && !has_effects(dataset);
}

/* What comes in any order does not come again in the same one: readers must not replay it. */
static bool map_pure(const leat_dataset *dataset) {
    const struct map_args *args = dataset->args;
    return !has_effects(dataset) && !(map_reads_ahead(dataset) && args->deterministic == 0);
}

/* The compiled function belongs to the node, so that the iterators of a dataset share it. */
static void *map_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new(function_of(dataset), err);
}

static void map_unshare(void *shared) {
    leati_program_free(shared);
}

static void map_remark(const leat_dataset *dataset, const char *name, leati_text *text) {
    const leati_program *program = leati_dataset_shared(dataset, &(leat_error){0});
    char before[160];
    snprintf(before, sizeof(before), "%.80s: one pass over each picture: ", name);
    if (program != NULL)
        leati_program_describe(program, before, text);
}

static leat_status map_open(leati_node_state *node, void *state, leat_error *err) {
    const struct map_args *args = node->dataset->args;
    struct map_state *s = state;
    s->program = leati_dataset_shared(node->dataset, err);
    if (s->program == NULL)
        return err->code;
    s->effects = has_effects(node->dataset);
    if (map_reads_ahead(node->dataset) && !node->iteration->inline_only) {
        leati_ring_options options = {.program = s->program,
                                      .any_order = args->deterministic == 0,
                                      .limit = args->num_parallel_calls};
        s->ring = leati_ring_new(node, &options, err);
        return s->ring == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    s->scratch = leati_program_scratch_new(s->program, err);
    return s->scratch == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_input_open(&s->input, node, 0, err);
}

/* How many rows to compute for a request. */
static int64_t rows_for(const struct map_state *s, int64_t want, const leati_block *out) {
    if (s->effects)
        return 1;
    /* A consumer that offers rows has said how many fit; before the first rows nobody knows their
     * size. */
    if (out->destinations != NULL || out->byte_target == 0 || s->row_bytes == 0)
        return want;
    double rows = (double)out->byte_target / s->row_bytes;
    return rows < 1 ? 1 : rows < (double)want ? (int64_t)rows : want;
}

static leati_tail map_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    struct map_state *s = state;
    if (s->ring != NULL)
        return leati_ring_pull(s->ring, want, out, err);
    int64_t available = 0, rows = rows_for(s, want, out);
    leati_tail tail = leati_input_peek(&s->input, rows, NULL, &available, err);
    if (available == 0) {
        leati_block_clear(out);
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        s->ordinal += tail == LEATI_ERROR;
        return tail;
    }
    rows = LEATI_MIN(available, rows);
    leat_status status = leati_apply(node, s->program, s->scratch, &s->input.block,
                                     leati_input_begin(&s->input), rows, s->ordinal, out, err);
    int64_t outcomes = out->n + (status != LEAT_OK);
    leati_input_consume(&s->input, outcomes);
    s->ordinal += outcomes;
    if (out->n > 0 && out->destinations == NULL)
        s->row_bytes = (double)leati_block_bytes(out) / (double)out->n;
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leati_tail map_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                              leat_error *err) {
    struct map_state *s = state;
    if (s->ring != NULL)
        return leati_ring_advance(s->ring, n, passed, err);
    if (!s->effects) {
        leati_tail tail = leati_input_advance(&s->input, n, passed, err);
        s->ordinal += *passed;
        return tail;
    }
    /* Effects are wanted for what is passed, too, and later calls may depend on them. */
    leati_block block = {0};
    leati_tail tail = LEATI_MORE;
    while (*passed < n && tail != LEATI_END) {
        tail = map_pull(node, state, 1, &block, err);
        *passed += block.n + (tail == LEATI_ERROR);
    }
    leati_block_fini(&block);
    return tail == LEATI_END ? LEATI_END : LEATI_MORE;
}

static leat_status map_save(leati_node_state *node, void *state, leati_writer *out,
                            leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct map_state *s = state;
    if (s->ring != NULL)
        return leati_ring_save(s->ring, out, cost, err);
    leati_put_int(out, s->ordinal);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status map_restore(leati_node_state *node, void *state, leati_reader *in,
                               leat_error *err) {
    (void)node;
    struct map_state *s = state;
    if (s->ring != NULL)
        return leati_ring_restore(s->ring, in, err);
    leat_status status = leati_get_int(in, &s->ordinal, err);
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static leat_status map_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct map_state *s = state;
    return s->ring != NULL ? leati_ring_reset(s->ring, err) : leati_input_reset(&s->input, err);
}

static void map_close(leati_node_state *node, void *state) {
    (void)node;
    struct map_state *s = state;
    leati_ring_free(s->ring);
    leati_program_scratch_free(s->scratch);
    leati_input_close(&s->input);
}

static leat_status map_access_open(leati_access *access, leat_error *err) {
    struct map_access *a = access->state;
    a->program = leati_dataset_shared(access->node.dataset, err);
    a->scratch = a->program == NULL ? NULL : leati_program_scratch_new(a->program, err);
    /* Rows of one run have ordinals that follow each other, indices need not: a row that draws
     * numbers runs alone. */
    a->one_by_one = leati_graph_function_has(function_of(access->node.dataset),
                                             LEATI_IMPURE | LEATI_STATEFUL | LEATI_RANDOM);
    return a->scratch == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

/* Functions that draw numbers draw those of the element's index, which are those of a first epoch.
 * A function's OUT_OF_RANGE ends nothing here, and stays what it is where a user asks. */
static leat_status map_at(leati_access *access, const int64_t *indices, int64_t n, leati_block *out,
                          leat_error *err) {
    struct map_access *a = access->state;
    n = leati_access_checked(access, indices, n, err);
    leat_status status =
        n == 0 ? err->code
               : leati_access_input(access, 0, indices, a->one_by_one ? 1 : n, &a->block, err);
    if (status == LEAT_OK) {
        status = (access->for_iteration ? leati_apply : leati_run_rows)(
            &access->node, a->program, a->scratch, &a->block, 0, a->block.n, indices[0], out, err);
        /* Rows before a failed one are an answer; whoever asks on meets the failure as the first
         * row's. */
        status = out->n > 0 ? LEAT_OK : status;
    }
    leati_block_clear(&a->block);
    return status;
}

static void map_access_close(leati_access *access) {
    struct map_access *a = access->state;
    leati_program_scratch_free(a->scratch);
    leati_block_fini(&a->block);
}

/* Does the function return its arguments as they are? Batches of ragged and sparse values are made
 * anew all the same, which then stack whatever their sizes. */
static bool map_changes_nothing(const leat_dataset *dataset) {
    const leat_function *function =
        (const leat_function *)(const void *)((const struct map_args *)dataset->args)->function;
    if (function->body.num_nodes != 0 || function->num_outputs != function->body.num_arguments)
        return false;
    for (int32_t i = 0; i < function->num_outputs; i++)
        if (function->outputs[i] != i)
            return false;
    const leat_spec *input = dataset->inputs[0]->spec;
    return leat_spec_equal(dataset->spec, input) && !leati_spec_is_stacked(input);
}

const leati_dataset_op leati_op_map = {
    .name = "map",
    .version = 1,
    .doc = "`map_func` of every element. Saved as the input's position; results in flight are "
           "computed again, and outcomes passed while restoring are not computed. Without order "
           "the state lists what was delivered early.",
    .names = "Dataset.map",
    .signature = "map_func num_parallel_calls=null deterministic=null synchronous=null "
                 "use_unbounded_threadpool=false",
    .shown = "Map num_parallel_calls:ParallelMap",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct map_args),
    .rows = map_rows,
    .check = map_check,
    .spec = map_spec,
    .pure = map_pure,
    .changes_nothing = map_changes_nothing,
    .reads_ahead = map_reads_ahead,
    .share = map_share,
    .unshare = map_unshare,
    .remark = map_remark,
    .state_size = sizeof(struct map_state),
    .open = map_open,
    .pull = map_pull,
    .advance = map_advance,
    .save = map_save,
    .restore = map_restore,
    .reset = map_reset,
    .close = map_close,
    .access_size = sizeof(struct map_access),
    .access_open = map_access_open,
    .at = map_at,
    .access_close = map_access_close,
};

leat_dataset *leat_dataset_map(leat_dataset *input, leat_function *function,
                               const leat_dataset_map_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_map_options o = {LEAT_DATASET_MAP_DEFAULTS};
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_map_options, &o, options, &input, 1, err) &&
        !leati_apply_function_is_missing(function, "map", "map_func", &input, 1, err)) {
        struct map_args args = {.function = (leat_object *)function,
                                .num_parallel_calls = o.num_parallel_calls,
                                .deterministic = (int8_t)o.deterministic,
                                .synchronous = o.synchronous};
        dataset = leati_dataset_new(&leati_op_map, &args, &input, 1, err);
    }
    leat_function_unref(function);
    return dataset;
}
