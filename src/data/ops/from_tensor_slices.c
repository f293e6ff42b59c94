/* from_tensor_slices: the rows of tensors along their first axis
 * (tf.data.Dataset.from_tensor_slices).
 *
 * A source without children whose blocks are views of the tensors: nothing of a dense leaf is
 * copied, ragged and sparse ones are cut, and position and advance are arithmetic. All leaves have
 * the same first dimension, which is the cardinality. Failures come at construction alone. */
#include "base/minmax.h"
#include "core/pools.h"
#include "data/access/access.h"
#include "data/run/row_values.h"
#include "data/run/rows.h"
#include <leat/data_ops.h>

struct slices_args {
    leat_element tensors;
};

static const leati_row slices_rows[] = {
    {.name = "tensors",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED | LEATI_REFERENCED,
     .offset = offsetof(struct slices_args, tensors),
     .doc = "A structure of tensors whose first dimensions are equal."},
    {0},
};

struct slices_state {
    leati_leaves leaves;
    leati_block whole; /* the tensors as one element */
    int64_t rows;
    int64_t next; /* row of the next element */
};

static const leat_tensor *tensors_of(const leat_dataset *dataset) {
    return ((const struct slices_args *)dataset->args)->tensors.tensors;
}

struct slices_access {
    leati_leaves leaves;
    leati_block whole; /* the tensors as one element */
    leati_block all;   /* scratch */
    leati_pools pools; /* of row numbers */
};

static leat_status refuse_scalar(int component, leat_error *err) {
    return leati_refuse(err, SHAPE,
                        "from_tensor_slices: Unbatching a tensor is only supported for rank >= 1; "
                        "component %d is a scalar: use from_tensors",
                        component);
}

static leat_status refuse_rows(int64_t first, int64_t own, int component, leat_error *err) {
    return leati_refuse(err, SHAPE,
                        "from_tensor_slices: Dimensions %lld and %lld are not compatible: the rows "
                        "of component 0 and of component %d",
                        (long long)first, (long long)own, component);
}

/* Has a leaf as many rows as the first one, whose number *rows becomes? */
static leat_status check_leaf(const leati_leaf *leaf, const leat_tensor *tensors, bool later,
                              int64_t *rows, leat_error *err) {
    int64_t own = 0;
    /* A sparse leaf's first component is its indices, a matrix: only dense ones can be scalars. */
    if (tensors[leaf->first].rank == 0)
        return refuse_scalar(leaf->first, err);
    leat_status status = leati_composite_rows(leaf->spec, &tensors[leaf->first], &own, err);
    if (status != LEAT_OK) {
        leati_prefix(err, "from_tensor_slices: component %d of tensors", leaf->first);
        return status;
    }
    if (later && own != *rows)
        return refuse_rows(*rows, own, leaf->first, err);
    *rows = own;
    return LEAT_OK;
}

static leat_status slices_check(leat_dataset *dataset, leat_error *err) {
    const struct slices_args *args = dataset->args;
    const leat_tensor *tensors = tensors_of(dataset);
    if (args->tensors.num_tensors == 0) {
        return leati_refuse(
            err, SHAPE,
            "from_tensor_slices: Invalid `element`. `element` should not be empty: expected "
            "at least one tensor of rank 1 or more");
    }
    for (int c = 0; c < args->tensors.num_tensors; c++) {
        if (tensors[c].dtype == LEAT_INVALID) {
            return leati_refuse(err, DTYPE,
                                "from_tensor_slices: component %d of tensors has no dtype", c);
        }
    }
    leati_leaves leaves = {0};
    int64_t first = 0;
    leat_status status = leati_leaves_init(&leaves, args->tensors.spec, err);
    for (int l = 0; l < leaves.count && status == LEAT_OK; l++)
        status = check_leaf(&leaves.items[l], tensors, l > 0, &first, err);
    leati_leaves_fini(&leaves);
    return status;
}

/* The same of tensors that come in the run, as far as their spec says it. */
static leat_spec *slices_spec_of_elements(const leat_spec *tensors, leat_error *err) {
    int64_t rows = LEAT_UNKNOWN_DIM;
    const leat_spec *leaf = NULL;
    int begin = 0;
    for (int l = 0; (leaf = leati_row_values_leaf(tensors, l, &begin)) != NULL; l++) {
        leat_shape shape = leat_spec_shape(leaf);
        bool dense = leat_spec_get_kind(leaf) == LEAT_SPEC_TENSOR;
        if (dense && shape.rank == 0) {
            refuse_scalar(begin, err);
            return NULL;
        }
        /* How many rows ragged and sparse leaves have is known in the run alone. */
        int64_t own = dense && shape.rank > 0 ? shape.dims[0] : LEAT_UNKNOWN_DIM;
        if (rows >= 0 && own >= 0 && own != rows) {
            refuse_rows(rows, own, begin, err);
            return NULL;
        }
        rows = own >= 0 ? own : rows;
    }
    return leati_spec_unbatch(tensors, err);
}

static leat_spec *slices_spec(const leat_dataset *dataset, leat_error *err) {
    const struct slices_args *args = dataset->args;
    int count = args->tensors.num_tensors;
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc((size_t)count, sizeof(*shapes));
    leat_spec *whole = NULL, *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
    } else {
        for (int c = 0; c < count; c++) {
            dtypes[c] = tensors_of(dataset)[c].dtype;
            shapes[c] = leat_tensor_shape(&tensors_of(dataset)[c]);
        }
        whole = leati_spec_like(args->tensors.spec, dtypes, shapes, err);
        spec = whole == NULL ? NULL : leati_spec_unbatch(whole, err);
    }
    leat_spec_unref(whole);
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

/* The rows of the first leaf, whose values have been checked. */
static int64_t slices_cardinality(const leat_dataset *dataset) {
    const struct slices_args *args = dataset->args;
    const leat_tensor *tensors = tensors_of(dataset);
    const leat_spec *leaf = NULL;
    int begin = 0;
    /* A leaf without components (None) has no rows. */
    for (int l = 0; leaf == NULL || leat_spec_num_components(leaf) == 0; l++)
        leaf = leati_row_values_leaf(args->tensors.spec, l, &begin);
    /* The last component of a sparse value is its dense shape; the second one of a ragged value is
     * its outermost row splits, of which there is one more than rows. */
    switch (leat_spec_get_kind(leaf)) {
    case LEAT_SPEC_SPARSE: return ((const int64_t *)tensors[2].data)[0];
    case LEAT_SPEC_RAGGED:
        return leat_spec_ragged_rank(leaf) > 0 ? tensors[1].dims[0] - 1 : tensors[0].dims[0];
    default: return tensors[0].dims[0];
    }
}

static leat_status slices_open(leati_node_state *node, void *state, leat_error *err) {
    struct slices_state *s = state;
    const struct slices_args *args = node->dataset->args;
    leat_status status = leati_leaves_init(&s->leaves, args->tensors.spec, err);
    s->rows = slices_cardinality(node->dataset);
    return status == LEAT_OK ? leati_block_of_element(&args->tensors, &s->whole, err) : status;
}

static leati_tail slices_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    (void)node;
    struct slices_state *s = state;
    int64_t left = s->rows - s->next, n = LEATI_MIN(left, want);
    leati_block_clear(out);
    if (n == 0)
        return LEATI_END;
    if (leati_rows_cut(&s->leaves, &s->whole, 0, s->next, n, out, err) != LEAT_OK)
        return LEATI_ERROR;
    s->next += n;
    return n == left ? LEATI_END : LEATI_MORE;
}

static leati_tail slices_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    (void)err;
    (void)node;
    struct slices_state *s = state;
    int64_t left = s->rows - s->next;
    *passed = left < n ? left : n;
    s->next += *passed;
    return *passed == left ? LEATI_END : LEATI_MORE;
}

static leat_status slices_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct slices_state *s = state;
    return s->next >= 0 && s->next <= s->rows
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS,
                            "from_tensor_slices: a saved position of %lld; expected 0 to %lld",
                            (long long)s->next, (long long)s->rows);
}

static void slices_close(leati_node_state *node, void *state) {
    (void)node;
    struct slices_state *s = state;
    leati_block_fini(&s->whole);
    leati_leaves_fini(&s->leaves);
}

static leat_status slices_access_open(leati_access *access, leat_error *err) {
    struct slices_access *a = access->state;
    const struct slices_args *args = access->node.dataset->args;
    leat_status status = leati_leaves_init(&a->leaves, args->tensors.spec, err);
    return status == LEAT_OK ? leati_block_of_element(&args->tensors, &a->whole, err) : status;
}

/* Rows of memory that may be anywhere: a selection, whose numbers have 32 bits. Ragged and sparse
 * rows are cut one at a time. */
static leat_status slices_at(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    struct slices_access *a = access->state;
    n = leati_access_checked(access, indices, n, err);
    if (n < 2 || a->leaves.composite || dataset->cardinality > UINT32_MAX) {
        return n == 0 ? err->code
                      : leati_rows_cut(&a->leaves, &a->whole, 0, indices[0], 1, out, err);
    }
    leat_buffer *buffer = leati_pools_take(&a->pools, (size_t)n * sizeof(uint32_t), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    uint32_t *rows = leat_buffer_data(buffer);
    for (int64_t i = 0; i < n; i++)
        rows[i] = (uint32_t)indices[i];
    /* All rows are one view, and the selection another: nothing is copied. */
    leat_status status =
        leati_rows_cut(&a->leaves, &a->whole, 0, 0, dataset->cardinality, &a->all, err);
    if (status == LEAT_OK)
        status = leati_block_select(&a->all, rows, buffer, n, out, err);
    leat_buffer_unref(buffer);
    leati_block_clear(&a->all);
    return status;
}

static void slices_access_close(leati_access *access) {
    struct slices_access *a = access->state;
    leati_block_fini(&a->whole);
    leati_block_fini(&a->all);
    leati_pools_close(&a->pools);
    leati_leaves_fini(&a->leaves);
}

const leati_dataset_op leati_op_from_tensor_slices = {
    .name = "from_tensor_slices",
    .version = 1,
    .doc = "The rows of tensors along their first axis. Saved as one position; restoring costs "
           "nothing.",
    .names = "Dataset.from_tensor_slices",
    .shown = "TensorSlice",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_ROWS,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct slices_args),
    .rows = slices_rows,
    .check = slices_check,
    .spec = slices_spec,
    .spec_of_elements = slices_spec_of_elements,
    .cardinality = slices_cardinality,
    .state_size = sizeof(struct slices_state),
    .saved = {LEATI_SAVED(struct slices_state, next)},
    .restored = slices_restored,
    .open = slices_open,
    .pull = slices_pull,
    .advance = slices_advance,
    .close = slices_close,
    .access_size = sizeof(struct slices_access),
    .access_open = slices_access_open,
    .at = slices_at,
    .access_close = slices_access_close,
};

leat_dataset *leat_dataset_from_tensor_slices(const leat_element *tensors, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (tensors == NULL) {
        leati_refuse(err, VALUE, "from_tensor_slices: tensors is NULL");
        return NULL;
    }
    return leati_dataset_new(&leati_op_from_tensor_slices,
                             &(struct slices_args){.tensors = *tensors}, NULL, 0, err);
}
