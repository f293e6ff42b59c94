/* Datasets that are values: see row_values.h. The rows are an object among the arguments of an
 * operator of no table; iterating hands on views of them. */
#include "data/run/row_values.h"
#include "base/minmax.h"
#include "data/run/state.h"
#include "data/values/values.h"

/* ---- the rows ---- */

struct rows_value {
    leat_object object;
    leati_block block;
};

static void rows_value_free(leat_object *object) {
    struct rows_value *value = (struct rows_value *)object;
    leati_block_fini(&value->block);
    leati_free(value);
}

static const leati_object_type rows_type = {.name = "rows", .free = rows_value_free};

/* ---- the operator ---- */

struct rows_args {
    leat_object *rows;
    leat_spec *spec;
};

static const leati_row rows_rows[] = {
    {.name = "rows",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct rows_args, rows),
     .doc = "The rows."},
    {.name = "spec",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct rows_args, spec),
     .doc = "What they are."},
    {0},
};

struct rows_state {
    int64_t next;
};

static const leati_block *block_of(const leat_dataset *dataset) {
    const struct rows_args *args = dataset->args;
    return &((const struct rows_value *)args->rows)->block;
}

static leat_spec *rows_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_spec_ref(((const struct rows_args *)dataset->args)->spec);
}

static int64_t rows_cardinality(const leat_dataset *dataset) {
    return block_of(dataset)->n;
}

static leati_tail rows_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    struct rows_state *s = state;
    const leati_block *block = block_of(node->dataset);
    int64_t left = block->n - s->next, n = LEATI_MIN(left, want);
    leati_block_clear(out);
    if (n > 0 && leati_block_slice(block, s->next, n, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    s->next += n;
    /* With the last rows, so that nobody has to ask once more. */
    return s->next == block->n ? LEATI_END : LEATI_MORE;
}

static leat_status rows_restored(leati_node_state *node, void *state, leat_error *err) {
    int64_t next = ((struct rows_state *)state)->next, count = block_of(node->dataset)->n;
    return next >= 0 && next <= count
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "a saved place of %lld among %lld rows",
                            (long long)next, (long long)count);
}

static const leati_dataset_op rows_op = {
    .name = "rows",
    .version = 1,
    .doc = "The rows of a block.",
    .flow = LEATI_SOURCE,
    .args_size = sizeof(struct rows_args),
    .rows = rows_rows,
    .spec = rows_spec,
    .cardinality = rows_cardinality,
    .state_size = sizeof(struct rows_state),
    .saved = {LEATI_SAVED(struct rows_state, next)},
    .restored = rows_restored,
    .pull = rows_pull,
};

/* ---- making and looking ---- */

leat_dataset *leati_row_values_dataset(const leati_block *block, const leat_spec *spec,
                                       leat_error *err) {
    struct rows_value *value = leati_alloc_zero(1, sizeof(*value));
    if (value == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&value->object, &rows_type);
    leat_dataset *dataset = NULL;
    leat_status status =
        block->n > 0 ? leati_block_slice(block, 0, block->n, &value->block, err) : LEAT_OK;
    if (status == LEAT_OK) {
        struct rows_args args = {.rows = &value->object, .spec = (leat_spec *)spec};
        dataset = leati_dataset_new(&rows_op, &args, NULL, 0, err);
    }
    /* The node has a reference; without a node this frees the rows. */
    leati_object_unref(value);
    return dataset;
}

static const leati_block *rows_of(const leat_object *object) {
    const leat_dataset *dataset = (const leat_dataset *)object;
    return leati_dataset_of_object_check(object) && dataset->op == &rows_op ? block_of(dataset)
                                                                            : NULL;
}

static bool is_rows(const leat_object *object) {
    return rows_of(object) != NULL;
}

static leat_status put_rows(leati_writer *out, const leat_object *object, leat_error *err) {
    const leati_block *rows = rows_of(object);
    return leati_values_put_block(out, rows, 0, rows->n, err);
}

static leat_dataset *get_rows(leati_reader *in, const leat_spec *element, leat_error *err) {
    leati_block rows = {0};
    leat_dataset *out = NULL;
    if (leati_values_get_block(in, element, &rows, err) == LEAT_OK)
        out = leati_row_values_dataset(&rows, element, err);
    leati_block_fini(&rows);
    return out;
}

const leati_value_form leati_value_form_rows = {.is = is_rows, .put = put_rows, .get = get_rows};

leat_spec *leati_row_values_windows_spec(const leat_spec *spec, leat_error *err) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT)
        return leat_spec_dataset(leat_spec_ref(spec), err);
    int count = leat_spec_num_children(spec);
    leat_spec **children = leati_alloc_zero((size_t)count + 1, sizeof(*children));
    leat_spec *out = NULL;
    if (children == NULL) {
        leati_no_memory(err);
    } else {
        for (int i = 0; i < count; i++)
            children[i] = leati_row_values_windows_spec(leat_spec_child(spec, i), err);
        out = leati_spec_composite(spec, children, err);
    }
    leati_free(children);
    return out;
}

/* Counts *index down to the leaf, and the components before it up. */
static const leat_spec *find_leaf(const leat_spec *spec, int *index, int *begin) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind != LEAT_SPEC_TUPLE && kind != LEAT_SPEC_DICT) {
        if (*index == 0)
            return spec;
        --*index;
        *begin += leat_spec_num_components(spec);
        return NULL;
    }
    const leat_spec *found = NULL;
    for (int i = 0; i < leat_spec_num_children(spec) && found == NULL; i++)
        found = find_leaf(leat_spec_child(spec, i), index, begin);
    return found;
}

const leat_spec *leati_row_values_leaf(const leat_spec *spec, int index, int *begin) {
    *begin = 0;
    return find_leaf(spec, &index, begin);
}
