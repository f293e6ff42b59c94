/* sparse_batch: stacks tensors of unequal shapes as sparse values (tf.data.Dataset.sparse_batch,
 * tf.data.experimental.dense_to_sparse_batch).
 *
 * The rows of a batch are kept as references until it is complete; then every value gets an index,
 * zeros too. The dense shape is row_shape, and the largest of the batch where that is unknown.
 * An element of another rank is INVALID_ARGUMENT, one that is larger than row_shape DATA_LOSS; such
 * an error and the input's are delivered at once and lose the rows gathered so far, as in
 * TensorFlow. Nothing is kept between pulls. No locks. */
#include "base/minmax.h"
#include "core/tensor.h"
#include "data/plan/argument_rows.h"
#include "data/run/input.h"
#include "data/run/origins.h"
#include <leat/data_ops.h>
#include <string.h>

struct sparse_batch_args {
    int64_t batch_size;
    leat_shape row_shape;
};

static const leati_row sparse_batch_rows[] = {
    LEATI_ROW_BATCH_SIZE(struct sparse_batch_args, "Elements of a batch."),
    {.name = "row_shape",
     .type = LEATI_ROW_SHAPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct sparse_batch_args, row_shape),
     .doc = "The dense shape of a row; -1 is the largest of the batch."},
    {0},
};

struct sparse_batch_state {
    leati_input input;
    leat_tensor *rows; /* of the batch that is being gathered */
    size_t count, capacity;
    leati_column origin; /* of the first of them */
};

static leat_status sparse_batch_check(leat_dataset *dataset, leat_error *err) {
    const struct sparse_batch_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    char text[256];
    if (leat_spec_get_kind(input) != LEAT_SPEC_TENSOR || leat_spec_dtype(input) == LEAT_OBJECT) {
        leat_spec_print(input, text, sizeof(text));
        return leati_refuse(err, STRUCTURE,
                            "sparse_batch: elements are %s; expected one dense component", text);
    }
    if (args->row_shape.rank < 0 || args->row_shape.rank >= LEAT_MAX_RANK) {
        return leati_refuse(err, SHAPE, "sparse_batch: row_shape has rank %d; expected 0 to %d",
                            args->row_shape.rank, LEAT_MAX_RANK - 1);
    }
    return LEAT_OK;
}

static leat_spec *sparse_batch_spec(const leat_dataset *dataset, leat_error *err) {
    const struct sparse_batch_args *args = dataset->args;
    leat_shape shape;
    if (leati_shape_prepend(&args->row_shape, LEAT_UNKNOWN_DIM, &shape, err) != LEAT_OK)
        return NULL;
    return leat_spec_sparse(leat_spec_dtype(dataset->inputs[0]->spec), shape, err);
}

static int64_t sparse_batch_cardinality(const leat_dataset *dataset) {
    const struct sparse_batch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    return input < 0 ? input : input / args->batch_size + (input % args->batch_size != 0);
}

static void drop_rows(struct sparse_batch_state *s) {
    leati_column_fini(&s->origin);
    for (size_t i = 0; i < s->count; i++)
        leat_tensor_unref(&s->rows[i]);
    s->count = 0;
}

/* Has an element the rank of row_shape, and is no dimension larger? */
static leat_status check_row(const struct sparse_batch_args *args, const leat_shape *row,
                             leat_error *err) {
    const leat_shape *allowed = &args->row_shape;
    char texts[2][128];
    bool larger = false;
    for (int32_t i = 0; i < row->rank && row->rank == allowed->rank; i++)
        larger = larger || (allowed->dims[i] >= 0 && row->dims[i] > allowed->dims[i]);
    if (row->rank == allowed->rank && !larger)
        return LEAT_OK;
    return leati_fail(err, larger ? LEAT_DATA_LOSS : LEAT_INVALID_ARGUMENT,
                      "Input element had shape (%s) that is %s the row shape (%s).",
                      leati_shape_text(row, texts[0]), larger ? "larger than" : "incompatible with",
                      leati_shape_text(allowed, texts[1]));
}

/* Reads rows until there are batch_size of them; END: before that. */
static leati_tail gather(struct sparse_batch_state *s, const struct sparse_batch_args *args,
                         leat_error *err) {
    while ((int64_t)s->count < args->batch_size) {
        int64_t left = args->batch_size - (int64_t)s->count, available = 0;
        leati_tail tail = leati_input_peek(&s->input, left, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            return tail;
        }
        int64_t n = LEATI_MIN(available, left), begin = leati_input_begin(&s->input);
        size_t needed = s->count + (size_t)n;
        if (!leati_grow((void **)&s->rows, &s->capacity, needed, sizeof(*s->rows))) {
            leati_no_memory(err);
            return LEATI_ERROR;
        }
        if (s->count == 0)
            leati_origins_share(&s->input.block, begin, &s->origin);
        for (int64_t i = 0; i < n; i++) {
            leat_shape shape = leati_column_row_shape(&s->input.block.columns[0], begin + i);
            if (check_row(args, &shape, err) != LEAT_OK) {
                /* The bad row and those before it in the batch are lost. */
                leati_input_consume(&s->input, i + 1);
                return LEATI_ERROR;
            }
            s->rows[s->count++] = leati_column_tensor(&s->input.block.columns[0], begin + i);
        }
        leati_input_consume(&s->input, n);
    }
    return LEATI_MORE;
}

/* The indices of all values of `row`, each behind the number of its row. */
static int64_t *put_indices(const leat_tensor *row, int64_t number, int64_t *to) {
    int64_t at[LEAT_MAX_RANK] = {0};
    int64_t count = leat_tensor_count(row);
    for (int64_t i = 0; i < count; i++) {
        *to++ = number;
        memcpy(to, at, (size_t)row->rank * sizeof(*to));
        to += row->rank;
        /* Counts on: a dimension that is full starts over, and the one before it moves. */
        for (int32_t d = row->rank - 1; d >= 0 && ++at[d] == row->dims[d]; d--)
            at[d] = 0;
    }
    return to;
}

/* The rows as vectors, one after the other. */
static leat_status join_values(struct sparse_batch_state *s, leat_tensor *out, leat_error *err) {
    /* The shapes are overwritten: these references are this state's, and their indices are made. */
    for (size_t i = 0; i < s->count; i++) {
        s->rows[i].dims[0] = leat_tensor_count(&s->rows[i]);
        s->rows[i].rank = 1;
    }
    return leati_tensor_concat(s->rows, 1, (int64_t)s->count, out, err);
}

/* The gathered rows as indices, values and dense shape. */
static leat_status put_batch(struct sparse_batch_state *s, const struct sparse_batch_args *args,
                             leat_tensor out[3], leat_error *err) {
    int32_t rank = args->row_shape.rank;
    int64_t count = 0, sizes[LEAT_MAX_RANK] = {0};
    /* Counted while the rows have their own shapes: join_values makes vectors of them. */
    for (size_t i = 0; i < s->count; i++) {
        count += leat_tensor_count(&s->rows[i]);
        for (int32_t d = 0; d < rank; d++)
            sizes[d] = LEATI_MAX(s->rows[i].dims[d], sizes[d]);
    }
    leat_status status =
        leat_tensor_new(LEAT_INT64, LEAT_SHAPE(count, (int64_t)rank + 1), &out[0], err);
    if (status == LEAT_OK)
        status = leat_tensor_new(LEAT_INT64, LEAT_SHAPE((int64_t)rank + 1), &out[2], err);
    /* The caller releases the parts that were made. */
    if (status != LEAT_OK)
        return status;
    int64_t *indices = out[0].data, *shape = out[2].data;
    shape[0] = (int64_t)s->count;
    for (int32_t d = 0; d < rank; d++)
        shape[d + 1] = args->row_shape.dims[d] >= 0 ? args->row_shape.dims[d] : sizes[d];
    for (size_t i = 0; i < s->count; i++)
        indices = put_indices(&s->rows[i], (int64_t)i, indices);
    return join_values(s, &out[1], err);
}

static leati_tail sparse_batch_pull(leati_node_state *node, void *state, int64_t want,
                                    leati_block *out, leat_error *err) {
    (void)want;
    struct sparse_batch_state *s = state;
    const struct sparse_batch_args *args = node->dataset->args;
    leat_tensor parts[3] = {0};
    leati_block_clear(out);
    leati_tail tail = gather(s, args, err);
    if (tail != LEATI_ERROR && s->count > 0) {
        leat_status status = put_batch(s, args, parts, err);
        if (status == LEAT_OK)
            status = leati_block_prepare(out, 3, err);
        for (int p = 0; p < 3 && status == LEAT_OK; p++)
            leati_column_constant(&out->columns[p], &parts[p]);
        if (status == LEAT_OK) {
            /* The reference moves on, so that drop_rows finds none. */
            out->origins = s->origin;
            s->origin = (leati_column){0};
        }
        out->n = status == LEAT_OK;
        tail = status == LEAT_OK ? tail : LEATI_ERROR;
    }
    for (int p = 0; p < 3; p++)
        leat_tensor_unref(&parts[p]);
    drop_rows(s);
    return tail;
}

static void sparse_batch_close(leati_node_state *node, void *state) {
    (void)node;
    struct sparse_batch_state *s = state;
    leati_input_close(&s->input);
    drop_rows(s);
    leati_free(s->rows);
}

const leati_dataset_op leati_op_sparse_batch = {
    .name = "sparse_batch",
    .version = 1,
    .doc =
        "Stacks `batch_size` consecutive tensors of unequal shapes as one sparse value. Saved as "
        "the input's position (never inside a batch); restoring costs the input's.",
    .names = "Dataset.sparse_batch experimental.dense_to_sparse_batch",
    .shown = "DenseToSparseBatch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct sparse_batch_args),
    .rows = sparse_batch_rows,
    .check = sparse_batch_check,
    .spec = sparse_batch_spec,
    .cardinality = sparse_batch_cardinality,
    .state_size = sizeof(struct sparse_batch_state),
    .pull = sparse_batch_pull,
    .close = sparse_batch_close,
};

leat_dataset *leat_dataset_sparse_batch(leat_dataset *input, int64_t batch_size,
                                        leat_shape row_shape, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct sparse_batch_args args = {.batch_size = batch_size, .row_shape = row_shape};
    return leati_dataset_new(&leati_op_sparse_batch, &args, &input, 1, err);
}
