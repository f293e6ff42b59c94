/* from_tensor_slices: the rows of tensors along their first axis
 * (tf.data.Dataset.from_tensor_slices).
 *
 * A source without children whose blocks are views of the tensors: nothing is copied, and position
 * and advance are arithmetic. All components have the same first dimension, which is the
 * cardinality. Failures come at construction alone. */
#include "core/pools.h"
#include "data/access.h"
#include "data/input.h"
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
    int64_t next; /* row of the next element */
};

static const leat_tensor *tensors_of(const leat_dataset *dataset) {
    return ((const struct slices_args *)dataset->args)->tensors.tensors;
}

struct slices_access {
    leati_block all;   /* scratch */
    leati_pools pools; /* of row numbers */
};

static leat_status slices_check(leat_dataset *dataset, leat_error *err) {
    const struct slices_args *args = dataset->args;
    const leat_tensor *tensors = tensors_of(dataset);
    if (args->tensors.num_tensors == 0) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "from_tensor_slices: tensors has no component; expected at least one "
                          "tensor of rank 1 or more");
    }
    for (int c = 0; c < args->tensors.num_tensors; c++) {
        if (tensors[c].dtype == LEAT_INVALID) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "from_tensor_slices: component %d of tensors has no dtype", c);
        }
        if (tensors[c].rank == 0) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "from_tensor_slices: component %d of tensors is a scalar; expected "
                              "rank 1 or more, or use from_tensors",
                              c);
        }
        if (tensors[c].dims[0] != tensors[0].dims[0]) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "from_tensor_slices: component %d of tensors has %lld rows, "
                              "component 0 has %lld; expected the same first dimension",
                              c, (long long)tensors[c].dims[0], (long long)tensors[0].dims[0]);
        }
    }
    return LEAT_OK;
}

/* Leaves whose rows are not rows of their components. */
static bool has_composite(const leat_spec *spec) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    for (int i = 0; i < leat_spec_num_children(spec); i++) {
        if (has_composite(leat_spec_child(spec, i))) {
            return true;
        }
    }
    return kind == LEAT_SPEC_RAGGED || kind == LEAT_SPEC_SPARSE;
}

static leat_spec *slices_spec(const leat_dataset *dataset, leat_error *err) {
    const struct slices_args *args = dataset->args;
    int count = args->tensors.num_tensors;
    if (has_composite(args->tensors.spec)) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "from_tensor_slices: ragged and sparse tensors are not sliced; slice their "
                   "dense form");
        return NULL;
    }
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc((size_t)count, sizeof(*shapes));
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err, (size_t)count * sizeof(*shapes));
    } else {
        for (int c = 0; c < count; c++) {
            const leat_tensor *tensor = &tensors_of(dataset)[c];
            dtypes[c] = tensor->dtype;
            shapes[c] = (leat_shape){.rank = tensor->rank - 1};
            for (int i = 1; i < tensor->rank; i++) {
                shapes[c].dims[i - 1] = tensor->dims[i];
            }
        }
        spec = leati_spec_like(args->tensors.spec, dtypes, shapes, err);
    }
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

static int64_t slices_cardinality(const leat_dataset *dataset) {
    return tensors_of(dataset)[0].dims[0];
}

static leat_status slices_open(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)state;
    (void)err;
    return LEAT_OK;
}

/* `out` becomes n rows from `begin` on: views. */
static leat_status view_rows(const leat_dataset *dataset, int64_t begin, int64_t n,
                             leati_block *out, leat_error *err) {
    const struct slices_args *args = dataset->args;
    leat_status status = leati_block_prepare(out, args->tensors.num_tensors, err);
    for (int c = 0; c < args->tensors.num_tensors && status == LEAT_OK; c++) {
        const leat_tensor *tensor = &args->tensors.tensors[c];
        leat_shape row = {.rank = tensor->rank - 1};
        size_t bytes = leat_dtype_size(tensor->dtype);
        for (int i = 1; i < tensor->rank; i++) {
            row.dims[i - 1] = tensor->dims[i];
            bytes *= (size_t)tensor->dims[i];
        }
        leati_column_strided(&out->columns[c], tensor->dtype, &row,
                             (char *)tensor->data + (size_t)begin * bytes, (int64_t)bytes,
                             leat_buffer_ref(tensor->owner));
    }
    out->n = status == LEAT_OK ? n : 0;
    return status;
}

static leati_tail slices_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct slices_state *s = state;
    int64_t left = tensors_of(node->dataset)[0].dims[0] - s->next, n = left < want ? left : want;
    leati_block_clear(out);
    if (n == 0) {
        return LEATI_END;
    }
    if (view_rows(node->dataset, s->next, n, out, err) != LEAT_OK) {
        return LEATI_ERROR;
    }
    s->next += n;
    return n == left ? LEATI_END : LEATI_MORE;
}

static leati_tail slices_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                 leat_error *err) {
    (void)err;
    struct slices_state *s = state;
    int64_t left = tensors_of(node->dataset)[0].dims[0] - s->next;
    *passed = left < n ? left : n;
    s->next += *passed;
    return *passed == left ? LEATI_END : LEATI_MORE;
}

static leat_status slices_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    (void)cost;
    (void)err;
    leati_put_int(out, ((struct slices_state *)state)->next);
    return LEAT_OK;
}

static leat_status slices_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    struct slices_state *s = state;
    int64_t rows = tensors_of(node->dataset)[0].dims[0];
    leat_status status = leati_get_int(in, &s->next, err);
    if (status == LEAT_OK && (s->next < 0 || s->next > rows)) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "from_tensor_slices: a saved position of %lld; expected 0 to %lld",
                          (long long)s->next, (long long)rows);
    }
    return status;
}

static leat_status slices_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    (void)err;
    ((struct slices_state *)state)->next = 0;
    return LEAT_OK;
}

/* Rows of memory that may be anywhere: a selection, whose numbers have 32 bits. */
static leat_status slices_at(leati_access *access, const int64_t *indices, int64_t n,
                             leati_block *out, leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    n = leati_access_checked(access, indices, n, err);
    if (n < 2 || dataset->cardinality > UINT32_MAX) {
        return n == 0 ? err->code : view_rows(dataset, indices[0], 1, out, err);
    }
    struct slices_access *a = access->state;
    leat_buffer *buffer = leati_pools_take(&a->pools, (size_t)n * sizeof(uint32_t), err);
    if (buffer == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    uint32_t *rows = leat_buffer_data(buffer);
    for (int64_t i = 0; i < n; i++) {
        rows[i] = (uint32_t)indices[i];
    }
    leat_status status = view_rows(dataset, 0, dataset->cardinality, &a->all, err);
    if (status == LEAT_OK) {
        status = leati_block_select(&a->all, rows, buffer, n, out, err);
    }
    leat_buffer_unref(buffer);
    leati_block_clear(&a->all);
    return status;
}

static void slices_access_close(leati_access *access) {
    struct slices_access *a = access->state;
    leati_block_fini(&a->all);
    leati_pools_close(&a->pools);
}

const leati_dataset_op leati_op_from_tensor_slices = {
    .name = "from_tensor_slices",
    .version = 1,
    .doc = "The rows of tensors along their first axis. Saved as one position; restoring costs "
           "nothing.",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .args_size = sizeof(struct slices_args),
    .rows = slices_rows,
    .check = slices_check,
    .spec = slices_spec,
    .spec_of_elements = leati_spec_unbatch,
    .cardinality = slices_cardinality,
    .state_size = sizeof(struct slices_state),
    .open = slices_open,
    .pull = slices_pull,
    .advance = slices_advance,
    .save = slices_save,
    .restore = slices_restore,
    .reset = slices_reset,
    .access_size = sizeof(struct slices_access),
    .at = slices_at,
    .access_close = slices_access_close,
};

leat_dataset *leat_from_tensor_slices(const leat_element *tensors, leat_error *err) {
    if (tensors == NULL) {
        leati_fail(err, LEAT_INVALID_ARGUMENT, "from_tensor_slices: tensors is NULL");
        return NULL;
    }
    return leati_dataset_new(&leati_op_from_tensor_slices,
                             &(struct slices_args){.tensors = *tensors}, NULL, 0, err);
}
