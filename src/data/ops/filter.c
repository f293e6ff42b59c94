/* filter: the elements for which a predicate is true (tf.data.Dataset.filter).
 *
 * The predicate runs over whole blocks; what it keeps is a selection of the input's rows, not a
 * copy. Where the input can be read ahead, more is asked for than wanted, by the share that was
 * kept so far; elsewhere one element for each that is lacking, and one at a time where the
 * predicate or the input has effects. An error of the input or of the predicate is delivered at its
 * place; what the predicate kept before it comes first. */
#include "base/minmax.h"
#include "core/pools.h"
#include "data/run/apply.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>

struct filter_args {
    leat_object *predicate;
};

static const leati_row filter_rows[] = {
    {.name = "predicate",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct filter_args, predicate),
     .doc = "A function of an element's components to a bool scalar."},
    {0},
};

enum { MOST_ASKED = 65536 };

struct filter_state {
    leati_input input;
    leati_program *program;
    leati_scratch *scratch;
    leati_block flags;   /* what the predicate said about the rows of the input's block */
    leati_pools pools;   /* of row numbers */
    int64_t calls;       /* of the predicate, failed ones included */
    int64_t asked, kept; /* of late: how many rows to ask for */
    bool one_by_one;     /* somebody has effects */
    bool input_pure;
};

static const leat_function *predicate_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct filter_args *)dataset->args)->predicate;
}

static leat_status filter_check(leat_dataset *dataset, leat_error *err) {
    return leati_apply_check_predicate("filter", predicate_of(dataset), dataset->inputs[0]->spec,
                                       err);
}

static leat_status filter_open(leati_node_state *node, void *state, leat_error *err) {
    struct filter_state *s = state;
    const leat_function *predicate = predicate_of(node->dataset);
    s->program = leati_program_new(predicate, err);
    if (s->program == NULL)
        return err->code;
    s->scratch = leati_program_scratch_new(s->program, err);
    if (s->scratch == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    s->one_by_one = leati_graph_function_has(predicate, LEATI_IMPURE | LEATI_STATEFUL) ||
                    !node->dataset->inputs[0]->replayable;
    s->input_pure = node->dataset->inputs[0]->pure;
    return leati_input_open(&s->input, node, 0, err);
}

/* How many rows of the input to look at for `want` more. */
static int64_t rows_to_ask(const struct filter_state *s, int64_t want) {
    if (s->one_by_one)
        return 1;
    if (!s->input_pure || s->asked == 0)
        return want;
    /* One more of both keeps the share above 0 where nothing was kept. */
    double share = (double)(s->kept + 1) / (double)(s->asked + 1);
    double ask = (double)want / share;
    return ask < MOST_ASKED ? (int64_t)ask + 1 : MOST_ASKED;
}

/* Numbers of the first `most` rows with a true flag, relative to the block; *looked is how many
 * flags were read for them. */
static int64_t select_rows(const struct filter_state *s, int64_t most, uint32_t *rows,
                           int64_t *looked) {
    const leati_column *column = &s->flags.columns[0];
    int64_t n = 0, begin = leati_input_begin(&s->input), i = 0;
    for (; i < s->flags.n && n < most; i++) {
        /* Written in any case and counted where the flag is true: a branch would be mispredicted
         * often. */
        rows[n] = (uint32_t)(begin + i);
        n += *(const bool *)leati_column_row(column, i);
    }
    *looked = i;
    return n;
}

/* Turns the flags into a view of what is kept, at most `want` rows. */
static leat_status keep(struct filter_state *s, int64_t want, leati_block *out, leat_error *err) {
    int64_t looked = 0;
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)s->flags.n * sizeof(uint32_t), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    uint32_t *rows = leat_buffer_data(buffer);
    int64_t n = select_rows(s, want, rows, &looked);
    leat_status status = LEAT_OK;
    /* All were kept: no row numbers are needed. */
    if (n == looked)
        status = leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, out, err);
    else if (n > 0)
        status = leati_block_select(&s->input.block, rows, buffer, n, out, err);
    leat_buffer_unref(buffer);
    if (status == LEAT_OK) {
        leati_input_consume(&s->input, looked);
        s->calls += looked;
        /* What older blocks count is halved with each new one, so that the share follows the
         * data. */
        s->asked = s->asked / 2 + looked;
        s->kept = s->kept / 2 + n;
    }
    return status;
}

static leati_tail filter_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct filter_state *s = state;
    leati_block_clear(out);
    /* A block that is handed on has a row: blocks of which nothing is kept are passed. */
    while (out->n == 0) {
        int64_t ask = rows_to_ask(s, want), available = 0;
        leati_tail tail = leati_input_peek(&s->input, ask, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            return tail;
        }
        int64_t n = LEATI_MIN(available, ask);
        leat_error error = {0};
        leat_status status =
            leati_run_rows(node, s->program, s->scratch, &s->input.block,
                           leati_input_begin(&s->input), n, s->calls, &s->flags, &error);
        if (status == LEAT_OK) {
            status = leati_apply_check_flags(&s->flags, &error);
            s->flags.n = status == LEAT_OK ? s->flags.n : 0;
        }
        bool want_more = s->flags.n > 0 && keep(s, want, out, err) == LEAT_OK;
        if (s->flags.n > 0 && !want_more) {
            leati_block_clear(&s->flags);
            leati_block_clear(out);
            return LEATI_ERROR;
        }
        /* A failure behind other rows is met again by the next pull: these go first. */
        bool failed = status != LEAT_OK && s->flags.n == 0;
        leati_block_clear(&s->flags);
        if (failed) {
            leati_input_consume(&s->input, 1);
            s->calls++;
            /* A function's OUT_OF_RANGE would be taken for the end of the elements. */
            leati_apply_as_internal("predicate", &error);
            *err = error;
            return LEATI_ERROR;
        }
    }
    return LEATI_MORE;
}

static void filter_close(leati_node_state *node, void *state) {
    (void)node;
    struct filter_state *s = state;
    leati_input_close(&s->input);
    leati_block_fini(&s->flags);
    leati_pools_close(&s->pools);
    leati_program_scratch_free(s->scratch);
    leati_program_free(s->program);
}

const leati_dataset_op leati_op_filter = {
    .name = "filter",
    .version = 1,
    .doc = "The elements for which `predicate` is true. Saved as the number of calls and the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.filter",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct filter_args),
    .rows = filter_rows,
    .check = filter_check,
    .state_size = sizeof(struct filter_state),
    .saved = {LEATI_SAVED_KEPT(struct filter_state, calls)},
    .open = filter_open,
    .pull = filter_pull,
    .close = filter_close,
};

leat_dataset *leat_dataset_filter(leat_dataset *input, leat_function *predicate, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset *dataset = NULL;
    if (predicate == NULL) {
        if (err->code == LEAT_OK)
            leati_refuse(err, VALUE, "filter: predicate is NULL; pass a function");
        leat_dataset_unref(input);
        return NULL;
    }
    dataset = leati_dataset_new(&leati_op_filter,
                                &(struct filter_args){.predicate = (leat_object *)predicate},
                                &input, 1, err);
    leat_function_unref(predicate);
    return dataset;
}
