/* from_list: the elements of a list, which may differ in shape
 * (tf.data.experimental.from_list).
 *
 * The list is one structure, a tuple of the elements; blocks refer to their tensors. Elements
 * without a common spec and an empty list are refused when the operator is built. */
#include "base/minmax.h"
#include "core/composite.h"
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct from_list_args {
    leat_element elements;
};

static const leati_row from_list_rows[] = {
    {.name = "elements",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED | LEATI_REFERENCED,
     .offset = offsetof(struct from_list_args, elements),
     .doc = "The elements, as one tuple."},
    {0},
};

struct from_list_state {
    int64_t next;
};

static const leat_element *list_of(const leat_dataset *dataset) {
    return &((const struct from_list_args *)dataset->args)->elements;
}

static int64_t from_list_cardinality(const leat_dataset *dataset) {
    return leat_spec_num_children(list_of(dataset)->spec);
}

static leat_status from_list_check(leat_dataset *dataset, leat_error *err) {
    const leat_spec *spec = list_of(dataset)->spec;
    if (leati_spec_has_composite(spec)) {
        return leati_refuse(
            err, VALUE,
            "from_list: elements have ragged or sparse tensors; expected dense ones, "
            "or use from_tensors for each and concatenate");
    }
    if (leat_spec_get_kind(spec) == LEAT_SPEC_TUPLE && leat_spec_num_children(spec) > 0)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "from_list: Invalid `elements`. `elements` should not be empty. If you want an "
        "empty dataset, use `tf.data.Dataset.range(0)`. Expected a list");
}

/* What all elements are. */
static leat_spec *from_list_spec(const leat_dataset *dataset, leat_error *err) {
    const leat_spec *list = list_of(dataset)->spec;
    leat_spec *spec = leat_spec_ref(leat_spec_child(list, 0));
    /* What differs among the elements' shapes becomes unknown; dtypes and structures must be
     * equal. */
    for (int i = 1; i < leat_spec_num_children(list) && spec != NULL; i++) {
        leat_error local = {0};
        leat_spec *both = leati_spec_join(spec, leat_spec_child(list, i), &local);
        leat_spec_unref(spec);
        spec = both;
        /* Only what the elements are is refused; want of memory passes on as it is. */
        if (spec == NULL && local.code == LEAT_INVALID_ARGUMENT)
            leati_refuse(err, VALUE,
                         "from_list: Invalid `elements`. The elements are not all of one dtype and "
                         "structure: element %d: %s",
                         i, local.text);
        else if (spec == NULL)
            leati_error_pass(err, &local);
    }
    return spec;
}

/* `out` becomes n elements: those of the indices, or without them those from `first` on. */
static leat_status list_rows(const leat_dataset *dataset, const int64_t *indices, int64_t first,
                             int64_t n, leati_block *out, leat_error *err) {
    const leat_element *list = list_of(dataset);
    const leat_spec *spec = dataset->spec;
    int columns = leat_spec_num_components(spec);
    leat_status status = leati_block_prepare(out, columns, err);
    for (int c = 0; c < columns && n > 0 && status == LEAT_OK; c++) {
        /* An array of tensors, because rows may differ in shape. */
        leat_buffer *buffer = leati_buffer_of_tensors(n, err);
        if (buffer == NULL) {
            leati_block_clear(out);
            return LEAT_RESOURCE_EXHAUSTED;
        }
        leat_tensor *rows = leat_buffer_data(buffer);
        for (int64_t i = 0; i < n; i++) {
            /* All elements have the same components: those of number `at` begin at at * columns. */
            int64_t at = indices != NULL ? indices[i] : first + i;
            rows[i] = leat_tensor_ref(&list->tensors[at * columns + c]);
        }
        leati_column_tensors(&out->columns[c], leat_spec_component_dtype(spec, c), buffer);
    }
    out->n = status == LEAT_OK ? n : 0;
    return status;
}

static leati_tail from_list_pull(leati_node_state *node, void *state, int64_t want,
                                 leati_block *out, leat_error *err) {
    struct from_list_state *s = state;
    int64_t left = from_list_cardinality(node->dataset) - s->next, n = LEATI_MIN(left, want);
    /* At the end n is 0: an empty block with the end behind it. */
    if (list_rows(node->dataset, NULL, s->next, n, out, err) != LEAT_OK)
        return LEATI_ERROR;
    s->next += n;
    return n == left ? LEATI_END : LEATI_MORE;
}

static leati_tail from_list_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                    leat_error *err) {
    struct from_list_state *s = state;
    int64_t left = from_list_cardinality(node->dataset) - s->next;
    (void)err;
    *passed = left < n ? left : n;
    s->next += *passed;
    return *passed == left ? LEATI_END : LEATI_MORE;
}

static leat_status from_list_restored(leati_node_state *node, void *state, leat_error *err) {
    struct from_list_state *s = state;
    int64_t count = from_list_cardinality(node->dataset);
    return s->next >= 0 && s->next <= count
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "from_list: a saved place of %lld among %lld",
                            (long long)s->next, (long long)count);
}

static leat_status from_list_at(leati_access *access, const int64_t *indices, int64_t n,
                                leati_block *out, leat_error *err) {
    n = leati_access_checked(access, indices, n, err);
    return n == 0 ? err->code : list_rows(access->node.dataset, indices, 0, n, out, err);
}

const leati_dataset_op leati_op_from_list = {
    .name = "from_list",
    .version = 1,
    .doc = "The elements of a list. Saved as the position; restoring costs nothing.",
    .names = "Dataset.from_list experimental.from_list",
    .shown = "List",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_ROWS,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct from_list_args),
    .rows = from_list_rows,
    .check = from_list_check,
    .spec = from_list_spec,
    .cardinality = from_list_cardinality,
    .state_size = sizeof(struct from_list_state),
    .saved = {LEATI_SAVED(struct from_list_state, next)},
    .restored = from_list_restored,
    .pull = from_list_pull,
    .advance = from_list_advance,
    .at = from_list_at,
};

leat_dataset *leat_dataset_from_list(const leat_element *elements, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct from_list_args args = {0};
    if (elements != NULL)
        args.elements = *elements;
    return leati_dataset_new(&leati_op_from_list, &args, NULL, 0, err);
}
