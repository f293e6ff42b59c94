/* dense_to_ragged: tensors of unequal shapes as ragged values (the first half of
 * tf.data.Dataset.ragged_batch, for which it stands in plans that run).
 *
 * A leaf whose spec has unknown dimensions becomes ragged down to the last of them; scalars, leaves
 * of a known shape, of an unknown rank, and ragged and sparse ones are handed on. The values are
 * the input's columns where only the first dimension is unknown, and views of them elsewhere, with
 * row splits that say what the shape said.
 * Failures: with row splits of int32 every element that would get some is INVALID_ARGUMENT, because
 * TensorFlow encodes these as int64 and then refuses its own batch. A leaf of ragged rank 0 or less
 * whose shape is known, which TensorFlow takes for a tensor, is refused at the start. No locks. */
#include "base/minmax.h"
#include "core/composite.h"
#include "data/plan/argument_rows.h"
#include "data/run/input.h"
#include <leat/data_ops.h>

struct dense_to_ragged_args {
    leat_dtype row_splits_dtype;
};

static const leati_row dense_to_ragged_rows[] = {
    LEATI_ROW_SPLITS_DTYPE(struct dense_to_ragged_args),
    {0},
};

struct dense_to_ragged_state {
    leati_input input;
    leati_block block; /* rows of the input that are being encoded; empty between pulls */
    int *levels;       /* per component of the input: row splits that its rows get */
    int num_columns;
    bool refused; /* no element can be encoded */
};

static leat_status dense_to_ragged_check(leat_dataset *dataset, leat_error *err) {
    const struct dense_to_ragged_args *args = dataset->args;
    if (args->row_splits_dtype == LEAT_INT32 || args->row_splits_dtype == LEAT_INT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE,
                        "dense_to_ragged: row_splits_dtype is %s; expected int32 or int64",
                        leat_dtype_name(args->row_splits_dtype));
}

/* The last unknown dimension of a dense leaf, -1 where it is to stay as it is. */
static int last_unknown(const leat_spec *leaf) {
    leat_shape shape = leat_spec_shape(leaf);
    int last = -1;
    for (int32_t i = 0; i < shape.rank && leat_spec_get_kind(leaf) == LEAT_SPEC_TENSOR; i++)
        last = shape.dims[i] < 0 ? i : last;
    return last;
}

static leat_spec *ragged_leaf(const leat_spec *leaf, int component, const void *context,
                              leat_error *err) {
    (void)component;
    const leat_dtype *splits = context;
    int rank = last_unknown(leaf);
    return rank < 0
               ? leati_spec_made(leaf, err)
               : leat_spec_ragged(leat_spec_dtype(leaf), leat_spec_shape(leaf), rank, *splits, err);
}

static leat_spec *dense_to_ragged_spec(const leat_dataset *dataset, leat_error *err) {
    const struct dense_to_ragged_args *args = dataset->args;
    return leati_spec_rewrite(dataset->inputs[0]->spec, ragged_leaf, &args->row_splits_dtype, err);
}

static leat_status dense_to_ragged_open(leati_node_state *node, void *state, leat_error *err) {
    struct dense_to_ragged_state *s = state;
    const struct dense_to_ragged_args *args = node->dataset->args;
    const leat_spec *spec = node->dataset->inputs[0]->spec;
    leati_leaf *leaves = NULL;
    int count = 0;
    s->num_columns = leat_spec_num_components(spec);
    s->levels = leati_alloc_zero((size_t)s->num_columns, sizeof(*s->levels));
    if (s->levels == NULL)
        return leati_no_memory(err);
    leat_status status = leati_spec_leaves(spec, &leaves, &count, err);
    for (int l = 0; l < count && status == LEAT_OK; l++) {
        leat_shape shape = leat_spec_shape(leaves[l].spec);
        int rank = last_unknown(leaves[l].spec);
        if (leat_spec_get_kind(leaves[l].spec) == LEAT_SPEC_RAGGED &&
            leat_spec_ragged_rank(leaves[l].spec) <= 0 && leati_shape_is_static(&shape)) {
            status =
                leati_refuse(err, SHAPE,
                             "ragged_batch: component %d was cut out of a ragged value and has "
                             "a known shape; batch it, or make a tensor of it first (map)",
                             leaves[l].first);
        }
        /* Other components of a ragged or sparse leaf keep level 0, like all that is handed on. */
        s->levels[leaves[l].first] = LEATI_MAX(rank, 0);
        s->refused = s->refused || (rank > 0 && args->row_splits_dtype == LEAT_INT32);
    }
    leati_free(leaves);
    return status == LEAT_OK ? leati_input_open(&s->input, node, 0, err) : status;
}

/* Can the rows of each level be counted? Dimensions may be large where another one is 0. */
static bool countable(const leat_shape *shape, int levels) {
    int64_t rows = 1;
    for (int i = 0; i <= levels; i++)
        if (__builtin_mul_overflow(rows, shape->dims[i], &rows))
            return false;
    return true;
}

/* The row splits of level `level` (0: the outermost) of a tensor of this shape: even ones. */
static leat_status even_splits(const leat_shape *shape, int level, leat_tensor *out,
                               leat_error *err) {
    int64_t rows = 1, size = shape->dims[level + 1];
    for (int i = 0; i <= level; i++)
        rows *= shape->dims[i];
    leat_status status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE(rows + 1), out, err);
    /* The last value is the number of rows of the next level, which countable has looked at. */
    for (int64_t i = 0; status == LEAT_OK && i <= rows; i++)
        ((int64_t *)out->data)[i] = i * size;
    return status;
}

/* The values of a row with its first dimensions joined to one, and its row splits. */
static leat_status encode_row(leat_tensor row, int levels, leat_tensor *const *parts, int64_t at,
                              leat_error *err) {
    leat_shape shape = leat_tensor_shape(&row);
    leat_tensor flat = row;
    flat.rank = row.rank - levels;
    for (int i = 1; i <= levels; i++)
        flat.dims[0] *= row.dims[i];
    for (int i = 1; i < flat.rank; i++)
        flat.dims[i] = row.dims[i + levels];
    parts[0][at] = flat; /* the reference moves on */
    leat_status status = LEAT_OK;
    for (int l = 0; l < levels && status == LEAT_OK; l++)
        status = even_splits(&shape, l, &parts[l + 1][at], err);
    return status;
}

static leat_status encode_column(const leati_column *column, int64_t n, int levels,
                                 leati_column *out, leat_error *err) {
    leat_buffer *owners[LEATI_MAX_PARTS] = {NULL};
    leat_tensor *parts[LEATI_MAX_PARTS] = {NULL};
    leat_status status = LEAT_OK;
    for (int p = 0; p <= levels && status == LEAT_OK; p++) {
        owners[p] = leati_buffer_of_tensors(n, err);
        parts[p] = owners[p] == NULL ? NULL : leat_buffer_data(owners[p]);
        status = owners[p] == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    for (int64_t i = 0; i < n && status == LEAT_OK; i++)
        status = encode_row(leati_column_tensor(column, i), levels, parts, i, err);
    /* What was encoded before a failure goes with the arrays. */
    for (int p = 0; p <= levels; p++)
        if (status == LEAT_OK)
            leati_column_tensors(&out[p], p == 0 ? column->dtype : LEAT_INT64, owners[p]);
        else
            leat_buffer_unref(owners[p]);
    return status;
}

/* How many of the next n rows can be encoded. */
static int64_t encodable(const struct dense_to_ragged_state *s, int64_t n) {
    n = s->refused ? 0 : n;
    int64_t begin = leati_input_begin(&s->input);
    for (int c = 0; c < s->num_columns; c++) {
        for (int64_t i = 0; i < n && s->levels[c] > 0; i++) {
            leat_shape shape = leati_column_row_shape(&s->input.block.columns[c], begin + i);
            n = countable(&shape, s->levels[c]) ? n : i;
        }
    }
    return n;
}

static leat_status encode(const leati_node_state *node, struct dense_to_ragged_state *s,
                          leati_block *out, leat_error *err) {
    int columns = leat_spec_num_components(node->dataset->spec);
    leat_status status = leati_block_prepare(out, columns, err);
    for (int c = 0, to = 0; c < s->num_columns && status == LEAT_OK; c++) {
        if (s->levels[c] == 0) {
            leati_column_copy(&s->block.columns[c], &out->columns[to]);
        } else {
            status = encode_column(&s->block.columns[c], s->block.n, s->levels[c],
                                   &out->columns[to], err);
        }
        /* A ragged leaf takes one component for its values and one for each level of row splits. */
        to += s->levels[c] + 1;
    }
    leati_column_copy(&s->block.origins, &out->origins);
    out->n = s->block.n;
    return status;
}

static leati_tail dense_to_ragged_pull(leati_node_state *node, void *state, int64_t want,
                                       leati_block *out, leat_error *err) {
    struct dense_to_ragged_state *s = state;
    int64_t available = 0;
    leati_block_clear(out);
    leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
    if (available == 0) {
        leati_input_consume(&s->input, tail == LEATI_ERROR);
        return tail;
    }
    /* Rows before one that cannot be encoded go first; it fails when it stands in front. */
    int64_t n = encodable(s, LEATI_MIN(available, want));
    if (n == 0) {
        leati_input_consume(&s->input, 1);
        leati_refuse(err, VALUE,
                     s->refused
                         ? "ragged values of rank 2 and more have row splits of int64, not "
                           "int32, as in TensorFlow; leave row_splits_dtype at int64"
                         : "a ragged value has more than 2^63 - 1 rows; is a dimension wrong?");
        return LEATI_ERROR;
    }
    leat_status status =
        leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, &s->block, err);
    if (status == LEAT_OK)
        status = encode(node, s, out, err);
    leati_block_clear(&s->block);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_input_consume(&s->input, n);
    return LEATI_MORE;
}

static leati_tail dense_to_ragged_advance(leati_node_state *node, void *state, int64_t n,
                                          int64_t *passed, leat_error *err) {
    (void)node;
    return leati_input_advance(&((struct dense_to_ragged_state *)state)->input, n, passed, err);
}

static void dense_to_ragged_close(leati_node_state *node, void *state) {
    (void)node;
    struct dense_to_ragged_state *s = state;
    leati_input_close(&s->input);
    leati_block_fini(&s->block);
    leati_free(s->levels);
}

const leati_dataset_op leati_op_dense_to_ragged = {
    .name = "dense_to_ragged",
    .version = 1,
    .doc = "Tensors whose shapes are not known as ragged values, for ragged_batch. Saved as the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.dense_to_ragged",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct dense_to_ragged_args),
    .rows = dense_to_ragged_rows,
    .check = dense_to_ragged_check,
    .spec = dense_to_ragged_spec,
    .state_size = sizeof(struct dense_to_ragged_state),
    .open = dense_to_ragged_open,
    .pull = dense_to_ragged_pull,
    .advance = dense_to_ragged_advance,
    .close = dense_to_ragged_close,
};

leat_dataset *leati_dataset_dense_to_ragged(leat_dataset *input, leat_dtype row_splits_dtype,
                                            leat_error *err) {
    struct dense_to_ragged_args args = {.row_splits_dtype = row_splits_dtype};
    return leati_dataset_new(&leati_op_dense_to_ragged, &args, &input, 1, err);
}
