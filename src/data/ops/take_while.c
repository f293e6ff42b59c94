/* take_while: the elements before the first one for which a predicate is false
 * (tf.data.Dataset.take_while).
 *
 * The predicate runs over whole blocks where nobody sees that more was asked for; elsewhere one
 * element at a time. What comes out is a view of the input's rows. The first false ends the
 * iteration, and nothing behind it is delivered. An error of the input or of the predicate is
 * delivered at its place and does not end anything, as in TensorFlow. */
#include "base/minmax.h"
#include "data/run/apply.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct take_while_args {
    leat_object *predicate;
};

static const leati_row take_while_rows[] = {
    {.name = "predicate",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct take_while_args, predicate),
     .doc = "A function of an element's components to a bool scalar."},
    {0},
};

struct take_while_state {
    leati_input input;
    leati_scratch *scratch;
    leati_block flags; /* what the predicate said about the rows of the input's block */
    int64_t calls;     /* of the predicate, failed ones included */
    bool one_by_one;   /* looking at an element too many would be seen */
};

static const leat_function *predicate_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct take_while_args *)dataset->args)->predicate;
}

static leat_status take_while_check(leat_dataset *dataset, leat_error *err) {
    return leati_apply_check_predicate("take_while", predicate_of(dataset),
                                       dataset->inputs[0]->spec, err);
}

static void *take_while_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new(predicate_of(dataset), err);
}

static void take_while_unshare(void *shared) {
    leati_program_free(shared);
}

static leat_status take_while_open(leati_node_state *node, void *state, leat_error *err) {
    struct take_while_state *s = state;
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    s->scratch = program == NULL ? NULL : leati_program_scratch_new(program, err);
    if (s->scratch == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    s->one_by_one = !node->dataset->pure;
    return leati_input_open(&s->input, node, 0, err);
}

/* How many of the flags in front are true. */
static int64_t count_true(const leati_block *flags) {
    int64_t n = 0;
    while (n < flags->n && *(const bool *)leati_column_row(&flags->columns[0], n))
        n++;
    return n;
}

/* The predicate's answers about the next rows: LEAT_OK with at least one, or the failure of the
 * first row. */
static leat_status ask(leati_node_state *node, struct take_while_state *s, int64_t n,
                       leat_error *err) {
    const leati_program *program = leati_dataset_shared(node->dataset, err);
    leat_error error = {0};
    leat_status status =
        program == NULL
            ? LEAT_RESOURCE_EXHAUSTED
            : leati_run_rows(node, program, s->scratch, &s->input.block,
                             leati_input_begin(&s->input), n, s->calls, &s->flags, &error);
    /* Rows before one that failed are an answer; the failed one is asked about again. */
    if (s->flags.n > 0) {
        leat_error shape = {0};
        status = leati_apply_check_flags(&s->flags, &shape);
        error = shape;
    }
    /* Where there is no program the error stands in err already. */
    if (status != LEAT_OK && program != NULL) {
        leati_apply_as_internal("predicate", &error);
        *err = error;
    }
    return status == LEAT_OK ? LEAT_OK : err->code;
}

static leati_tail take_while_pull(leati_node_state *node, void *state, int64_t want,
                                  leati_block *out, leat_error *err) {
    struct take_while_state *s = state;
    leati_block_clear(out);
    int64_t most = s->one_by_one ? 1 : want, available = 0;
    leati_tail tail = leati_input_peek(&s->input, most, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        return tail;
    }
    int64_t n = LEATI_MIN(available, most);
    if (ask(node, s, n, err) != LEAT_OK) {
        leati_block_clear(&s->flags);
        leati_input_consume(&s->input, 1);
        s->calls++;
        return LEATI_ERROR;
    }
    n = count_true(&s->flags);
    bool ends = n < s->flags.n;
    leati_block_clear(&s->flags);
    /* Where the first element is false the slice is empty, and the end comes with it. */
    if (leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    /* The element that ended it is passed, too: nothing asks about it twice. */
    leati_input_consume(&s->input, n + ends);
    s->calls += n + ends;
    return ends ? LEATI_END : LEATI_MORE;
}

static void take_while_close(leati_node_state *node, void *state) {
    (void)node;
    struct take_while_state *s = state;
    leati_input_close(&s->input);
    leati_block_fini(&s->flags);
    leati_program_scratch_free(s->scratch);
}

const leati_dataset_op leati_op_take_while = {
    .name = "take_while",
    .version = 1,
    .doc = "The elements before the first one for which `predicate` is false. Saved as the number "
           "of calls and the input's position; restoring costs the input's.",
    .names = "Dataset.take_while experimental.take_while",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct take_while_args),
    .rows = take_while_rows,
    .check = take_while_check,
    .share = take_while_share,
    .unshare = take_while_unshare,
    .state_size = sizeof(struct take_while_state),
    .saved = {LEATI_SAVED_KEPT(struct take_while_state, calls)},
    .open = take_while_open,
    .pull = take_while_pull,
    .close = take_while_close,
};

leat_dataset *leat_dataset_take_while(leat_dataset *input, leat_function *predicate,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct take_while_args args = {.predicate = (leat_object *)predicate};
    leat_dataset *dataset =
        leati_apply_function_is_missing(predicate, "take_while", "predicate", &input, 1, err)
            ? NULL
            : leati_dataset_new(&leati_op_take_while, &args, &input, 1, err);
    leat_function_unref(predicate);
    return dataset;
}
