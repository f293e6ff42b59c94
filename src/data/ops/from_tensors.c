/* from_tensors: one element, the tensors themselves (tf.data.Dataset.from_tensors).
 *
 * A source without children; its block is a view. Failures come at construction alone. */
#include "data/access/access.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct tensors_args {
    leat_element tensors;
};

static const leati_row tensors_rows[] = {
    {.name = "tensors",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED | LEATI_REFERENCED,
     .offset = offsetof(struct tensors_args, tensors),
     .doc = "A structure of tensors."},
    {0},
};

struct tensors_state {
    bool given;
};

static leat_status tensors_check(leat_dataset *dataset, leat_error *err) {
    const struct tensors_args *args = dataset->args;
    for (int c = 0; c < args->tensors.num_tensors; c++) {
        /* A tensor of a C caller that was zeroed and never filled in. */
        if (args->tensors.tensors[c].dtype == LEAT_INVALID) {
            return leati_refuse(err, DTYPE, "from_tensors: component %d of tensors has no dtype",
                                c);
        }
    }
    return LEAT_OK;
}

/* The shapes are those of the tensors, which may say more than the element's spec. */
static leat_spec *tensors_spec(const leat_dataset *dataset, leat_error *err) {
    const struct tensors_args *args = dataset->args;
    size_t count = (size_t)args->tensors.num_tensors;
    leat_dtype *dtypes = leati_alloc(count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(count, sizeof(*shapes));
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
    } else {
        for (size_t c = 0; c < count; c++) {
            dtypes[c] = args->tensors.tensors[c].dtype;
            shapes[c] = leat_tensor_shape(&args->tensors.tensors[c]);
        }
        spec = leati_spec_like(args->tensors.spec, dtypes, shapes, err);
    }
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

static leat_spec *tensors_spec_of_elements(const leat_spec *tensors, leat_error *err) {
    (void)err;
    return leat_spec_ref(tensors);
}

static int64_t tensors_cardinality(const leat_dataset *dataset) {
    (void)dataset;
    return 1;
}

static leati_tail tensors_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    (void)want;
    struct tensors_state *s = state;
    const struct tensors_args *args = node->dataset->args;
    leati_block_clear(out);
    if (s->given)
        return LEATI_END;
    if (leati_block_of_element(&args->tensors, out, err) != LEAT_OK)
        return LEATI_ERROR;
    s->given = true;
    return LEATI_END; /* with the element: nothing else can follow */
}

static leati_tail tensors_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                  leat_error *err) {
    (void)node;
    (void)n;
    (void)err;
    struct tensors_state *s = state;
    *passed = !s->given;
    s->given = true;
    return LEATI_END;
}

static leat_status tensors_at(leati_access *access, const int64_t *indices, int64_t n,
                              leati_block *out, leat_error *err) {
    const struct tensors_args *args = access->node.dataset->args;
    n = leati_access_checked(access, indices, n, err);
    leat_status status = n == 0 ? err->code : leati_block_of_element(&args->tensors, out, err);
    out->n = status == LEAT_OK ? n : 0; /* the columns repeat the one element */
    return status;
}

const leati_dataset_op leati_op_from_tensors = {
    .name = "from_tensors",
    .version = 1,
    .doc = "One element: the tensors themselves. Saved as whether it was given; restoring costs "
           "nothing.",
    .names = "Dataset.from_tensors",
    .shown = "Tensor",
    .num_inputs = 0,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_WHOLE,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_NEVER_FAILS,
    .args_size = sizeof(struct tensors_args),
    .rows = tensors_rows,
    .check = tensors_check,
    .spec = tensors_spec,
    .spec_of_elements = tensors_spec_of_elements,
    .cardinality = tensors_cardinality,
    .state_size = sizeof(struct tensors_state),
    .saved = {LEATI_SAVED(struct tensors_state, given)},
    .pull = tensors_pull,
    .advance = tensors_advance,
    .at = tensors_at,
};

leat_dataset *leat_dataset_from_tensors(const leat_element *tensors, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (tensors == NULL) {
        leati_refuse(err, VALUE, "from_tensors: tensors is NULL");
        return NULL;
    }
    return leati_dataset_new(&leati_op_from_tensors, &(struct tensors_args){.tensors = *tensors},
                             NULL, 0, err);
}
