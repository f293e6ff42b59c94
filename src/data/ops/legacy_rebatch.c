/* legacy_rebatch: splits every batch into the same number of pieces (kernel: RebatchDataset, the
 * first version, which tf.distribute uses where the batch size is unknown or pieces are sharded).
 *
 * An element of b rows gives num_replicas pieces of ceil(b / num_replicas) rows; the last ones may
 * be short or empty. Each component is cut by its own number of rows. The element being cut stays
 * unconsumed in `input`; the state is the number of the next piece. */
#include "data/rows.h"

struct legacy_rebatch_args {
    int64_t num_replicas;
};

static const leati_row legacy_rebatch_rows[] = {
    {.name = "num_replicas",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct legacy_rebatch_args, num_replicas),
     .minimum = 1,
     .maximum = 1 << 30,
     .doc = "Pieces of each element."},
    {0},
};

struct legacy_rebatch_state {
    leati_input input;
    int64_t piece; /* the next one of the present element */
};

static leat_spec *legacy_rebatch_spec(const leat_dataset *dataset, leat_error *err) {
    const struct legacy_rebatch_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    int count = leat_spec_num_components(input);
    leat_dtype *dtypes = leati_alloc((size_t)count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc((size_t)count, sizeof(*shapes));
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err, (size_t)count * sizeof(*shapes));
    } else {
        for (int c = 0; c < count; c++) {
            dtypes[c] = leat_spec_component_dtype(input, c);
            shapes[c] = leat_spec_component_shape(input, c);
            if (shapes[c].rank > 0) {
                int64_t rows = shapes[c].dims[0];
                bool even = rows > 0 && rows % args->num_replicas == 0;
                shapes[c].dims[0] = even ? rows / args->num_replicas : LEAT_UNKNOWN_DIM;
            }
        }
        spec = leati_spec_like(input, dtypes, shapes, err);
    }
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

static int64_t legacy_rebatch_cardinality(const leat_dataset *dataset) {
    const struct legacy_rebatch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality, product = 0;
    if (input < 0 || __builtin_mul_overflow(input, args->num_replicas, &product)) {
        return input < 0 ? input : LEAT_UNKNOWN_CARDINALITY;
    }
    return product;
}

static leat_status legacy_rebatch_open(leati_node_state *node, void *state, leat_error *err) {
    struct legacy_rebatch_state *s = state;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    s->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return status;
}

/* Piece number `piece` of element `at` of the input's block. */
static leat_status cut(const struct legacy_rebatch_state *s, int64_t at, int64_t pieces,
                       leati_block *out, leat_error *err) {
    const leati_block *block = &s->input.block;
    leat_status status = leati_block_prepare(out, block->num_columns, err);
    for (int c = 0; c < block->num_columns && status == LEAT_OK; c++) {
        leat_tensor whole = leati_column_tensor(&block->columns[c], at);
        if (whole.rank < 1) {
            status = leati_fail(
                err, LEAT_INVALID_ARGUMENT,
                "component %d is a scalar and cannot be split among %lld replicas; use batch", c,
                (long long)pieces);
        } else {
            int64_t rows = whole.dims[0], step = (rows + pieces - 1) / pieces;
            int64_t begin = s->piece * step < rows ? s->piece * step : rows;
            int64_t end = begin + step < rows ? begin + step : rows;
            leat_tensor part = leati_tensor_rows(&whole, begin, end - begin);
            leati_column_constant(&out->columns[c], &part);
            leat_tensor_unref(&part);
        }
        leat_tensor_unref(&whole);
    }
    if (status != LEAT_OK) {
        leati_block_clear(out);
        return status;
    }
    out->n = 1;
    return LEAT_OK;
}

static leati_tail legacy_rebatch_pull(leati_node_state *node, void *state, int64_t want,
                                      leati_block *out, leat_error *err) {
    (void)want;
    struct legacy_rebatch_state *s = state;
    const struct legacy_rebatch_args *args = node->dataset->args;
    int64_t available = 0;
    leati_block_clear(out);
    leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
    if (available == 0) {
        if (tail == LEATI_ERROR) {
            leati_input_consume(&s->input, 1);
        }
        return tail;
    }
    leat_status status = cut(s, leati_input_begin(&s->input), args->num_replicas, out, err);
    s->piece = status == LEAT_OK ? s->piece + 1 : args->num_replicas;
    if (s->piece == args->num_replicas) {
        leati_input_consume(&s->input, 1);
        s->piece = 0;
    }
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leat_status legacy_rebatch_save(leati_node_state *node, void *state, leati_writer *out,
                                       leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct legacy_rebatch_state *s = state;
    leati_put_int(out, s->piece);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status legacy_rebatch_restore(leati_node_state *node, void *state, leati_reader *in,
                                          leat_error *err) {
    const struct legacy_rebatch_args *args = node->dataset->args;
    struct legacy_rebatch_state *s = state;
    leat_status status = leati_get_int(in, &s->piece, err);
    if (status == LEAT_OK && (s->piece < 0 || s->piece >= args->num_replicas)) {
        return leati_fail(err, LEAT_DATA_LOSS, "legacy_rebatch: a saved piece %lld of %lld",
                          (long long)s->piece, (long long)args->num_replicas);
    }
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static leat_status legacy_rebatch_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct legacy_rebatch_state *s = state;
    s->piece = 0;
    return leati_input_reset(&s->input, err);
}

static void legacy_rebatch_close(leati_node_state *node, void *state) {
    (void)node;
    struct legacy_rebatch_state *s = state;
    if (s->input.child != NULL) {
        leati_input_close(&s->input);
    }
}

const leati_dataset_op leati_op_legacy_rebatch = {
    .name = "legacy_rebatch",
    .version = 1,
    .doc = "Every batch in `num_replicas` pieces. Saved as positions; restoring costs one input "
           "element.",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .args_size = sizeof(struct legacy_rebatch_args),
    .rows = legacy_rebatch_rows,
    .spec = legacy_rebatch_spec,
    .cardinality = legacy_rebatch_cardinality,
    .state_size = sizeof(struct legacy_rebatch_state),
    .open = legacy_rebatch_open,
    .pull = legacy_rebatch_pull,
    .save = legacy_rebatch_save,
    .restore = legacy_rebatch_restore,
    .reset = legacy_rebatch_reset,
    .close = legacy_rebatch_close,
};
