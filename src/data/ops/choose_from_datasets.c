/* choose_from_datasets: elements of the inputs in the order that a dataset of numbers gives
 * (tf.data.Dataset.choose_from_datasets).
 *
 * The choice is the last input of the plan's node. Each number takes one element of the input it
 * names (data/run/directed.h); the iteration ends with the choice, with the last input, or, where
 * stop_on_empty_dataset is set, with the first one. Failures: a number outside of the inputs is one
 * INVALID_ARGUMENT; errors of the inputs and of the choice are handed on, one outcome each. No
 * locks. */
#include "data/plan/choice.h"
#include "data/run/directed.h"
#include <leat/data_ops.h>

struct choose_args {
    leat_object *choice_dataset; /* always NULL: the choice is an input */
    bool choice_is_input;
    bool stop_on_empty_dataset;
};

#define ROW(field) .offset = offsetof(struct choose_args, field)

static const leati_row choose_rows[] = {
    {.name = "choice_dataset",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_NODE,
     ROW(choice_dataset),
     .doc = "A dataset of int64 scalars, the numbers of the datasets to take from."},
    {.name = "choice_dataset_is_input",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     ROW(choice_is_input),
     .doc = "The last input is the choice."},
    {.name = "stop_on_empty_dataset",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(stop_on_empty_dataset),
     .default_number = 1,
     .doc = "End with the first dataset that ends; else its numbers are passed over."},
    {0},
};

struct choose_state {
    leati_input choice;
    leati_directed directed;
};

static leat_status choose_check(leat_dataset *dataset, leat_error *err) {
    const struct choose_args *args = dataset->args;
    leat_shape scalar = LEAT_SCALAR;
    /* A plan may lack the choice: without this its last dataset would be taken for it. */
    if (!args->choice_is_input || dataset->num_inputs == 0) {
        return leati_refuse(err, VALUE,
                            "choose_from_datasets: argument choice_dataset is missing; give a "
                            "dataset of int64 scalars");
    }
    if (dataset->num_inputs == 1) {
        return leati_refuse(
            err, VALUE,
            "choose_from_datasets: Invalid `datasets`. `datasets` should not be empty.");
    }
    const leat_spec *spec = dataset->inputs[dataset->num_inputs - 1]->spec;
    leat_shape shape = leat_spec_shape(spec);
    if (leat_spec_get_kind(spec) != LEAT_SPEC_TENSOR || leat_spec_dtype(spec) != LEAT_INT64 ||
        !leati_shape_equal(&shape, &scalar)) {
        char text[256];
        leat_spec_print(spec, text, sizeof(text));
        return leati_refuse(
            err, STRUCTURE,
            "choose_from_datasets: Invalid `choice_dataset`. Elements of `choice_dataset` "
            "must be scalar `tf.int64` tensors but are %s",
            text);
    }
    return LEAT_OK;
}

static leat_spec *choose_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_directed_spec(dataset, NULL, dataset->num_inputs - 1, err);
}

static int64_t choose_cardinality(const leat_dataset *dataset) {
    return leati_directed_cardinality(dataset, NULL, dataset->num_inputs - 1);
}

static leat_status choose_open(leati_node_state *node, void *state, leat_error *err) {
    struct choose_state *s = state;
    const struct choose_args *args = node->dataset->args;
    int last = node->dataset->num_inputs - 1;
    /* The choice is opened first, as in TensorFlow: opening may draw seeds that the inputs
     * share. */
    LEATI_TRY(leati_input_open(&s->choice, node, last, err));
    return leati_directed_open(&s->directed, node, NULL, last, args->stop_on_empty_dataset, err);
}

/* The selector of data/run/directed.h: the choice's next number. */
static leati_tail next_choice(leati_node_state *node, void *selector, int64_t want, int64_t *number,
                              leat_error *err) {
    (void)node;
    leati_input *choice = &((struct choose_state *)selector)->choice;
    int64_t available = 0;
    /* Numbers are read ahead only where nobody sees it, and no more of them than elements are
     * wanted. */
    leati_tail tail =
        leati_input_peek(choice, leati_input_pure(choice) ? want : 1, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(choice, tail == LEATI_ERROR);
        return tail;
    }
    /* Whether there is such an input, data/run/directed.h finds out. */
    *number = *(int64_t *)leati_column_row(&choice->block.columns[0], leati_input_begin(choice));
    leati_input_consume(choice, 1);
    return LEATI_MORE;
}

static leati_tail choose_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct choose_state *s = state;
    return leati_directed_pull(node, &s->directed, next_choice, s, want, out, err);
}

static leat_status choose_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct choose_state *s = state;
    leat_status status = leati_input_save(&s->choice, out, cost, err);
    return status == LEAT_OK ? leati_directed_save(&s->directed, out, cost, err) : status;
}

static leat_status choose_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    (void)node;
    struct choose_state *s = state;
    leat_status status = leati_input_restore(&s->choice, in, err);
    return status == LEAT_OK ? leati_directed_restore(&s->directed, in, err) : status;
}

static leat_status choose_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct choose_state *s = state;
    leat_status status = leati_input_reset(&s->choice, err);
    return status == LEAT_OK ? leati_directed_reset(&s->directed, err) : status;
}

static void choose_close(leati_node_state *node, void *state) {
    (void)node;
    struct choose_state *s = state;
    leati_directed_close(&s->directed);
    leati_input_close(&s->choice);
}

const leati_dataset_op leati_op_choose_from_datasets = {
    .name = "choose_from_datasets",
    .version = 1,
    .doc = "Elements of the inputs in the order that a dataset of their numbers gives. Saved as "
           "all inputs' positions; restoring costs the inputs'.",
    .names = "Dataset.choose_from_datasets experimental.choose_from_datasets",
    .shown = "DirectedInterleave",
    .num_inputs = -1,
    .flow = LEATI_MIXES,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_IN_STEP,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct choose_args),
    .rows = choose_rows,
    .check = choose_check,
    .spec = choose_spec,
    .cardinality = choose_cardinality,
    .share = leati_choices_share,
    .unshare = leati_choices_unshare,
    .state_size = sizeof(struct choose_state),
    .open = choose_open,
    .pull = choose_pull,
    .save = choose_save,
    .restore = choose_restore,
    .reset = choose_reset,
    .close = choose_close,
};

leat_dataset *
leat_dataset_choose_from_datasets(leat_dataset *const *inputs, int num_inputs, leat_dataset *choice,
                                  const leat_dataset_choose_from_datasets_options *options,
                                  leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_choose_from_datasets_options o = {LEAT_DATASET_CHOOSE_FROM_DATASETS_DEFAULTS};
    leat_dataset **all = num_inputs < 0 ? NULL : leati_alloc((size_t)num_inputs + 1, sizeof(*all));
    /* `all` is NULL for a negative number, too; then there are no inputs to release. */
    if (all == NULL) {
        leat_dataset_unref(choice);
        for (int i = 0; i < num_inputs; i++)
            leat_dataset_unref(inputs[i]);
        if (num_inputs < 0) {
            leati_refuse(err, VALUE, "choose_from_datasets: num_inputs is %d; expected at least 1",
                         num_inputs);
        } else {
            leati_no_memory(err);
        }
        return NULL;
    }
    for (int i = 0; i < num_inputs; i++)
        all[i] = inputs[i];
    all[num_inputs] = choice;
    leat_dataset *dataset = NULL;
    if (LEATI_DATASET_OPTIONS(leat_dataset_choose_from_datasets_options, &o, options, all,
                              num_inputs + 1, err)) {
        struct choose_args args = {.choice_is_input = true,
                                   .stop_on_empty_dataset = o.stop_on_empty_dataset};
        dataset =
            leati_dataset_new(&leati_op_choose_from_datasets, &args, all, num_inputs + 1, err);
    }
    leati_free((void *)all);
    return dataset;
}
