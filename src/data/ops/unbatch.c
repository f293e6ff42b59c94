/* unbatch: the rows of every element as elements of their own (tf.data.Dataset.unbatch).
 *
 * A block is consecutive rows of one input element, views as far as its leaves are dense, and the
 * element stays unconsumed in `input` until its last row is given out; elements without rows give
 * nothing. Components with unequal numbers of rows, scalars where the rank was not known before,
 * sparse vectors and sparse indices out of order are INVALID_ARGUMENT and cost their element. No
 * locks. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/run/row_values.h"
#include "data/run/rows.h"
#include <leat/data_ops.h>

struct unbatch_args {
    bool unused; /* there is no argument */
};

static const leati_row unbatch_rows[] = {{0}};

struct unbatch_state {
    leati_input input;
    leati_leaves leaves;
    int64_t offset; /* rows of the input's present element that were given out */
    int64_t rows;   /* of the present element, -1: not looked at yet */
};

struct unbatch_access {
    leati_leaves leaves;
    leati_block element; /* of the input, kept for the next of its rows */
    int64_t number;      /* of that element; -1: none */
};

/* The number of rows that the dense leaves have as far as it is known before, or (`ragged`) that
 * all but sparse leaves have; LEAT_UNKNOWN_DIM otherwise. *other: another number that one has. */
static int64_t static_rows(const leat_spec *spec, bool ragged, int64_t *other) {
    int64_t rows = LEAT_UNKNOWN_DIM;
    const leat_spec *leaf = NULL;
    int begin = 0;
    *other = LEAT_UNKNOWN_DIM;
    for (int l = 0; (leaf = leati_row_values_leaf(spec, l, &begin)) != NULL; l++) {
        leat_shape shape = leat_spec_shape(leaf);
        leat_spec_kind kind = leat_spec_get_kind(leaf);
        bool counts = kind == LEAT_SPEC_TENSOR || (ragged && kind == LEAT_SPEC_RAGGED);
        if (counts && shape.rank > 0 && shape.dims[0] >= 0) {
            rows = rows < 0 ? shape.dims[0] : rows;
            *other = shape.dims[0] != rows ? shape.dims[0] : *other;
        }
    }
    return rows;
}

/* Row splits and sparse indices tell their rows when they come; so do unknown dimensions. */
static leat_status unbatch_check(leat_dataset *dataset, leat_error *err) {
    int64_t other, rows = static_rows(dataset->inputs[0]->spec, false, &other);
    if (other < 0)
        return LEAT_OK;
    char text[256];
    leat_spec_print(dataset->inputs[0]->spec, text, sizeof(text));
    return leati_refuse(err, SHAPE,
                        "unbatch: only supported for datasets of elements whose components have a "
                        "matching leading dimension. Encountered both %lld and %lld, in %s",
                        (long long)rows, (long long)other, text);
}

static leat_spec *unbatch_spec(const leat_dataset *dataset, leat_error *err) {
    /* A record of its own to put a prefix before: err may be NULL. */
    leat_error local = {0};
    leat_spec *spec = leati_spec_unbatch(dataset->inputs[0]->spec, &local);
    if (spec == NULL) {
        leati_prefix(&local, local.reason == LEAT_REASON_SHAPE
                                 ? "unbatch: Cannot unbatch an input with scalar components"
                                 : "unbatch");
        *err = local;
    }
    return spec;
}

static int64_t unbatch_cardinality(const leat_dataset *dataset) {
    int64_t input = dataset->inputs[0]->cardinality, product = 0;
    int64_t other, rows = static_rows(dataset->inputs[0]->spec, true, &other);
    if (input < 0)
        return input;
    return rows > 0 && !__builtin_mul_overflow(input, rows, &product) ? product
                                                                      : LEAT_UNKNOWN_CARDINALITY;
}

static void unbatch_start(leati_node_state *node, void *state) {
    (void)node;
    ((struct unbatch_state *)state)->rows = -1;
}

static leat_status unbatch_open(leati_node_state *node, void *state, leat_error *err) {
    struct unbatch_state *s = state;
    return leati_rows_open(&s->leaves, &s->input, node, err);
}

static void next_element(struct unbatch_state *s) {
    leati_input_consume(&s->input, 1);
    s->offset = 0;
    s->rows = -1;
}

static leati_tail unbatch_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    (void)node;
    struct unbatch_state *s = state;
    leati_block_clear(out);
    for (;;) {
        int64_t available = 0;
        leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            return tail;
        }
        int64_t at = leati_input_begin(&s->input);
        if (s->rows < 0 &&
            leati_leaves_rows(&s->leaves, &s->input.block, at, &s->rows, err) != LEAT_OK) {
            next_element(s);
            return LEATI_ERROR;
        }
        /* A restored offset may lie behind the element's rows, if the input has changed. */
        int64_t left = s->offset < s->rows ? s->rows - s->offset : 0;
        int64_t n = LEATI_MIN(left, want);
        if (n > 0 &&
            leati_rows_cut(&s->leaves, &s->input.block, at, s->offset, n, out, err) != LEAT_OK)
            return LEATI_ERROR;
        s->offset += n;
        /* Also for an element without rows. */
        if (s->offset >= s->rows)
            next_element(s);
        if (n > 0)
            return LEATI_MORE;
    }
}

static leat_status unbatch_restored(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct unbatch_state *s = state;
    return s->offset >= 0
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "unbatch: a saved position of %lld in an element",
                            (long long)s->offset);
}

static void unbatch_close(leati_node_state *node, void *state) {
    (void)node;
    struct unbatch_state *s = state;
    leati_input_close(&s->input);
    leati_leaves_fini(&s->leaves);
}

static leat_status unbatch_access_open(leati_access *access, leat_error *err) {
    struct unbatch_access *a = access->state;
    a->number = -1;
    return leati_leaves_init(&a->leaves, access->node.dataset->inputs[0]->spec, err);
}

/* An element that cannot be computed again as it was is not kept, as TensorFlow keeps none. */
static leat_status unbatch_at(leati_access *access, const int64_t *indices, int64_t n,
                              leati_block *out, leat_error *err) {
    const leat_dataset *dataset = access->node.dataset;
    struct unbatch_access *a = access->state;
    if (leati_access_checked(access, indices, n, err) == 0)
        return err->code;
    /* Only a known number of rows makes the cardinality known: `size` is above 0. */
    int64_t other, size = static_rows(dataset->inputs[0]->spec, true, &other), found = 0;
    int64_t number = indices[0] / size, row = indices[0] % size, run = 1;
    leat_status status = LEAT_OK;
    if (a->number != number || !dataset->inputs[0]->replayable) {
        a->number = -1;
        status = leati_access_input(access, 0, &number, 1, &a->element, err);
    }
    if (status == LEAT_OK) {
        a->number = number;
        status = leati_leaves_rows(&a->leaves, &a->element, 0, &found, err);
    }
    if (status == LEAT_OK && found != size) {
        status = leati_refuse(err, VALUE, "%lld rows; expected the spec's %lld", (long long)found,
                              (long long)size);
    }
    /* Indices that follow each other within the element are one view. */
    while (run < n && row + run < size && indices[run] == indices[0] + run)
        run++;
    return status == LEAT_OK ? leati_rows_cut(&a->leaves, &a->element, 0, row, run, out, err)
                             : status;
}

static void unbatch_access_close(leati_access *access) {
    struct unbatch_access *a = access->state;
    leati_block_fini(&a->element);
    leati_leaves_fini(&a->leaves);
}

/* TensorFlow asks unbatch by number, but does not shuffle it so. */
static leat_status unbatch_indexable(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "global_shuffle does not stand over unbatch; shuffle the batches, or unbatch "
                      "behind it");
}

const leati_dataset_op leati_op_unbatch = {
    .name = "unbatch",
    .version = 1,
    .doc = "The rows of each element, one by one. Saved as positions; restoring costs one input "
           "element.",
    .names = "Dataset.unbatch experimental.unbatch",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_APART,
    .args_size = sizeof(struct unbatch_args),
    .rows = unbatch_rows,
    .check = unbatch_check,
    .spec = unbatch_spec,
    .cardinality = unbatch_cardinality,
    .state_size = sizeof(struct unbatch_state),
    .saved = {LEATI_SAVED(struct unbatch_state, offset)},
    .start = unbatch_start,
    .restored = unbatch_restored,
    .open = unbatch_open,
    .pull = unbatch_pull,
    .close = unbatch_close,
    .access_size = sizeof(struct unbatch_access),
    .access_open = unbatch_access_open,
    .at = unbatch_at,
    .access_close = unbatch_access_close,
    .indexable = unbatch_indexable,
};

leat_dataset *leat_dataset_unbatch(leat_dataset *input, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_unbatch, NULL, &input, 1, err);
}
