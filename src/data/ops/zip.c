/* zip: one element of each input side by side (tf.data.Dataset.zip).
 *
 * Every step takes one element of each input, also after one of them failed or ended, so that they
 * stay in step; the first error is the step's (but want of memory goes before others, because an
 * input that had none may be out of step), any end is the end. Over pure inputs the steps are
 * taken by blocks: views of what all inputs have ready. Elsewhere one step at a time, because the
 * inputs behind the one that ends must not be asked for more than TensorFlow asks. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct zip_args {
    leat_spec *structure; /* a tree whose leaves stand for the inputs; NULL: a tuple of them */
};

static const leati_row zip_rows[] = {
    {.name = "structure",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct zip_args, structure),
     .doc = "The tree of the inputs."},
    {0},
};

struct zip_state {
    leati_input *inputs;
    int num_inputs;
    bool ended;
};

struct zip_access {
    leati_block block; /* of an input */
    bool one_by_one;   /* somebody would see that more was asked for than used */
};

static int count_leaves(const leat_spec *structure) {
    leat_spec_kind kind = leat_spec_get_kind(structure);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return 1;
    int count = 0;
    for (int i = 0; i < leat_spec_num_children(structure); i++)
        count += count_leaves(leat_spec_child(structure, i));
    return count;
}

static leat_status zip_check(leat_dataset *dataset, leat_error *err) {
    const struct zip_args *args = dataset->args;
    if (dataset->num_inputs == 0)
        return leati_refuse(err, VALUE, "zip: there is no input; expected at least one dataset");
    if (args->structure != NULL && count_leaves(args->structure) != dataset->num_inputs) {
        return leati_refuse(err, VALUE,
                            "zip: structure has %d leaves; expected one for each of %d datasets",
                            count_leaves(args->structure), dataset->num_inputs);
    }
    return LEAT_OK;
}

/* The structure with the inputs' specs in place of its leaves. Owned. */
static leat_spec *fill_structure(const leat_dataset *dataset, const leat_spec *structure, int *next,
                                 leat_error *err) {
    leat_spec_kind kind = structure == NULL ? LEAT_SPEC_TUPLE : leat_spec_get_kind(structure);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return leat_spec_ref(dataset->inputs[(*next)++]->spec);
    int count = structure == NULL ? dataset->num_inputs : leat_spec_num_children(structure);
    leat_spec **children = leati_alloc_zero((size_t)count, sizeof(*children));
    leat_spec *spec = NULL;
    if (children == NULL) {
        leati_no_memory(err);
    } else {
        for (int i = 0; i < count; i++) {
            children[i] = structure == NULL
                              ? leat_spec_ref(dataset->inputs[i]->spec)
                              : fill_structure(dataset, leat_spec_child(structure, i), next, err);
        }
        /* A child that failed is NULL; the constructors release the others and fail. */
        spec = structure == NULL ? leat_spec_tuple(children, count, err)
                                 : leati_spec_composite(structure, children, err);
    }
    leati_free(children);
    return spec;
}

static leat_spec *zip_spec(const leat_dataset *dataset, leat_error *err) {
    int next = 0;
    return fill_structure(dataset, ((const struct zip_args *)dataset->args)->structure, &next, err);
}

static int64_t zip_cardinality(const leat_dataset *dataset) {
    int64_t least = LEAT_INFINITE_CARDINALITY;
    for (int i = 0; i < dataset->num_inputs; i++) {
        int64_t n = dataset->inputs[i]->cardinality;
        if (n == LEAT_UNKNOWN_CARDINALITY)
            return n;
        /* Infinite is a negative number but the largest of all. */
        if (n != LEAT_INFINITE_CARDINALITY && (least == LEAT_INFINITE_CARDINALITY || n < least))
            least = n;
    }
    return least;
}

static leat_status zip_open(leati_node_state *node, void *state, leat_error *err) {
    struct zip_state *s = state;
    int count = node->dataset->num_inputs;
    s->inputs = leati_alloc_zero((size_t)count, sizeof(*s->inputs));
    if (s->inputs == NULL)
        return leati_no_memory(err);
    for (; s->num_inputs < count; s->num_inputs++) {
        LEATI_TRY(leati_input_open(&s->inputs[s->num_inputs], node, s->num_inputs, err));
        /* An end that comes as an error ends TensorFlow's zip, too. */
        s->inputs[s->num_inputs].ends_at_error = true;
    }
    return LEAT_OK;
}

/* Views of n elements of every input. */
static leat_status join(struct zip_state *s, int num_columns, int64_t n, leati_block *out,
                        leat_error *err) {
    LEATI_TRY(leati_block_prepare(out, num_columns, err));
    int next = 0;
    for (int i = 0; i < s->num_inputs; i++) {
        const leati_block *block = &s->inputs[i].block;
        for (int c = 0; c < block->num_columns; c++) {
            /* The blocks of the inputs differ in length, and so does where their readers stand. */
            leati_column_copy(&block->columns[c], &out->columns[next]);
            leati_column_skip(&out->columns[next++], leati_input_begin(&s->inputs[i]));
        }
        /* Rows are named after the first input that knows where they came from. */
        if (block->origins.data != NULL && out->origins.data == NULL) {
            leati_column_copy(&block->origins, &out->origins);
            leati_column_skip(&out->origins, leati_input_begin(&s->inputs[i]));
        }
    }
    for (int i = 0; i < s->num_inputs; i++)
        leati_input_consume(&s->inputs[i], n);
    out->n = n;
    return LEAT_OK;
}

static leati_tail zip_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                           leat_error *err) {
    struct zip_state *s = state;
    int64_t n = want;
    bool ended = false, failed = false, ended_first = false;
    leati_block_clear(out);
    if (s->ended)
        return LEATI_END;
    for (int i = 0; i < s->num_inputs; i++)
        n = leati_input_pure(&s->inputs[i]) ? n : 1;
    int64_t ready = n;
    for (int i = 0; i < s->num_inputs; i++) {
        int64_t available = 0;
        leat_error error = {0};
        leati_tail tail = leati_input_peek(&s->inputs[i], n, NULL, &available, &error);
        if (available == 0 && tail == LEATI_ERROR &&
            (!failed || error.code == LEAT_RESOURCE_EXHAUSTED))
            *err = error;
        ended = ended || (available == 0 && tail == LEATI_END);
        /* An end hides the errors of later inputs, an error the ends (as in TensorFlow). */
        ended_first = ended_first || (ended && !failed);
        failed = failed || (available == 0 && tail == LEATI_ERROR);
        ready = LEATI_MIN(available, ready);
    }
    if (ready > 0) {
        int columns = leat_spec_num_components(node->dataset->spec);
        return join(s, columns, ready, out, err) == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
    }
    /* Every input gives its outcome of this step away, so that they stay in step. */
    for (int i = 0; i < s->num_inputs; i++)
        leati_input_consume(&s->inputs[i], !s->inputs[i].ended);
    s->ended = ended;
    return failed && !ended_first ? LEATI_ERROR : LEATI_END;
}

/* May an input fail in the step in which a later one ends? That step is an outcome, where an end
 * alone is none, and advancing does not tell errors from elements. */
static bool may_fail_at_end(const leat_dataset *dataset) {
    bool may = false;
    for (int i = 0; i + 1 < dataset->num_inputs && !may; i++)
        may = !leati_state_cannot_fail(dataset->inputs[i]);
    return may;
}

static leati_tail zip_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                              leat_error *err) {
    struct zip_state *s = state;
    if (may_fail_at_end(node->dataset))
        return leati_state_node_advance_by_pulling(node, n, passed, err);
    *passed = n;
    for (int i = 0; i < s->num_inputs; i++) {
        int64_t own = 0;
        leati_tail tail = leati_input_advance(&s->inputs[i], n, &own, err);
        *passed = own < *passed ? own : *passed;
        if (tail == LEATI_ERROR)
            return tail;
    }
    /* Inputs beside the one that ended are ahead of it, which nobody asks about any more. */
    s->ended = *passed < n;
    return s->ended ? LEATI_END : LEATI_MORE;
}

static leat_status zip_save(leati_node_state *node, void *state, leati_writer *out,
                            leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct zip_state *s = state;
    leat_status status = LEAT_OK;
    leati_put_uint(out, s->ended);
    for (int i = 0; i < s->num_inputs && status == LEAT_OK; i++)
        status = leati_input_save(&s->inputs[i], out, cost, err);
    return status;
}

static leat_status zip_restore(leati_node_state *node, void *state, leati_reader *in,
                               leat_error *err) {
    (void)node;
    struct zip_state *s = state;
    uint64_t ended = 0;
    leat_status status = leati_get_uint(in, &ended, err);
    s->ended = ended != 0;
    for (int i = 0; i < s->num_inputs && status == LEAT_OK; i++)
        status = leati_input_restore(&s->inputs[i], in, err);
    return status;
}

static leat_status zip_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct zip_state *s = state;
    leat_status status = LEAT_OK;
    s->ended = false;
    for (int i = 0; i < s->num_inputs && status == LEAT_OK; i++)
        status = leati_input_reset(&s->inputs[i], err);
    return status;
}

static void zip_close(leati_node_state *node, void *state) {
    (void)node;
    struct zip_state *s = state;
    for (int i = 0; i < s->num_inputs; i++)
        leati_input_close(&s->inputs[i]);
    leati_free(s->inputs);
}

/* One row of every input after the other, as TensorFlow asks them; the first failure is the row's.
 * What an input has answered beyond the shortest answer is asked again. */
static leat_status zip_at(leati_access *access, const int64_t *indices, int64_t n, leati_block *out,
                          leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    struct zip_access *a = access->state;
    int next = 0;
    n = leati_access_checked(access, indices, n, err);
    leat_status status =
        n == 0 ? err->code : leati_block_prepare(out, leat_spec_num_components(dataset->spec), err);
    for (int i = 0; i < dataset->num_inputs && status == LEAT_OK; i++) {
        status = leati_access_input(access, i, indices, a->one_by_one ? 1 : n, &a->block, err);
        n = status == LEAT_OK ? a->block.n : 0;
        for (int c = 0; c < a->block.num_columns && status == LEAT_OK; c++)
            leati_column_copy(&a->block.columns[c], &out->columns[next++]);
        leati_block_clear(&a->block);
    }
    out->n = n;
    return status;
}

static leat_status zip_access_open(leati_access *access, leat_error *err) {
    (void)err;
    ((struct zip_access *)access->state)->one_by_one = !access->node.dataset->replayable;
    return LEAT_OK;
}

static void zip_access_close(leati_access *access) {
    leati_block_fini(&((struct zip_access *)access->state)->block);
}

const leati_dataset_op leati_op_zip = {
    .name = "zip",
    .version = 1,
    .doc = "One element of each input side by side, until the first one ends. Saved as the inputs' "
           "positions; restoring costs the inputs'.",
    .names = "Dataset.zip",
    .num_inputs = -1,
    .flow = LEATI_MIXES,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_IN_STEP,
    .batches = LEATI_BATCHES_SAME,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct zip_args),
    .rows = zip_rows,
    .check = zip_check,
    .structure_argument = "structure",
    .spec = zip_spec,
    .cardinality = zip_cardinality,
    .state_size = sizeof(struct zip_state),
    .open = zip_open,
    .pull = zip_pull,
    .advance = zip_advance,
    .save = zip_save,
    .restore = zip_restore,
    .reset = zip_reset,
    .close = zip_close,
    .access_size = sizeof(struct zip_access),
    .access_open = zip_access_open,
    .at = zip_at,
    .access_close = zip_access_close,
};

leat_dataset *leat_dataset_zip(leat_dataset *const *inputs, int num_inputs, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_zip, NULL, inputs, num_inputs, err);
}

leat_dataset *leat_dataset_zip_structured(leat_dataset *const *inputs, int num_inputs,
                                          leat_spec *structure, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (structure == NULL) {
        /* An earlier failure among the inputs is the one to tell. */
        leat_error missing = {0};
        leati_refuse(&missing, STRUCTURE, "zip: structure is NULL; pass a spec");
        for (int i = 0; i < num_inputs; i++)
            leat_dataset_unref(inputs[i]);
        if (err->code == LEAT_OK)
            *err = missing;
        return NULL;
    }
    leat_dataset *dataset = leati_dataset_new(
        &leati_op_zip, &(struct zip_args){.structure = structure}, inputs, num_inputs, err);
    leat_spec_unref(structure);
    return dataset;
}
