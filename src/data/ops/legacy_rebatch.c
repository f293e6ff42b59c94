/* legacy_rebatch: splits every batch into the same number of pieces (kernel: RebatchDataset, the
 * first version, which tf.distribute uses where the batch size is unknown or pieces are sharded).
 *
 * An element of b rows gives num_replicas pieces of ceil(b / num_replicas) rows; the last ones may
 * be short or empty. Each leaf is cut by its own number of rows. The element being cut stays
 * unconsumed in `input`; the state is the number of the next piece. */
#include "data/run/origins.h"
#include "data/run/rows.h"

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
    leati_leaves leaves;
    int64_t piece; /* the next one of the present element */
};

/* The rows that each piece has; unknown where the last ones get fewer. */
static int64_t even_piece(const leat_shape *shape, const void *context) {
    const struct legacy_rebatch_args *args = context;
    int64_t rows = shape->rank > 0 ? shape->dims[0] : LEAT_UNKNOWN_DIM;
    return rows > 0 && rows % args->num_replicas == 0 ? rows / args->num_replicas
                                                      : LEAT_UNKNOWN_DIM;
}

static leat_spec *legacy_rebatch_spec(const leat_dataset *dataset, leat_error *err) {
    leat_error local = {0};
    leat_spec *spec =
        leati_spec_resize(dataset->inputs[0]->spec, even_piece, dataset->args, &local);
    if (spec == NULL) {
        leati_prefix(&local, "legacy_rebatch");
        *err = local;
    }
    return spec;
}

static int64_t legacy_rebatch_cardinality(const leat_dataset *dataset) {
    const struct legacy_rebatch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality, product = 0;
    /* A product that int64 cannot hold is not infinite but unknown. */
    if (input < 0 || __builtin_mul_overflow(input, args->num_replicas, &product))
        return input < 0 ? input : LEAT_UNKNOWN_CARDINALITY;
    return product;
}

static leat_status legacy_rebatch_open(leati_node_state *node, void *state, leat_error *err) {
    struct legacy_rebatch_state *s = state;
    return leati_rows_open(&s->leaves, &s->input, node, err);
}

static leati_tail legacy_rebatch_pull(leati_node_state *node, void *state, int64_t want,
                                      leati_block *out, leat_error *err) {
    (void)want;
    struct legacy_rebatch_state *s = state;
    const struct legacy_rebatch_args *args = node->dataset->args;
    int64_t available = 0;
    leati_block_clear(out);
    /* One element, whose other pieces later pulls give. */
    leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
    if (available == 0) {
        if (tail == LEATI_ERROR)
            leati_input_consume(&s->input, 1);
        return tail;
    }
    bool refused = false;
    leati_rows_piece piece = {.number = s->piece, .pieces = args->num_replicas};
    leat_status status =
        leati_rows_cut_part(&s->leaves, &s->input.block, leati_input_begin(&s->input),
                            leati_rows_piece_range, &piece, &refused, out, err);
    if (status != LEAT_OK)
        leati_prefix(err, "legacy_rebatch, for %lld replicas", (long long)args->num_replicas);
    /* A leaf that cannot be without rows costs this piece alone; whatever else is wrong with the
     * element would be met again by all its later pieces. */
    s->piece = status == LEAT_OK || refused ? s->piece + 1 : args->num_replicas;
    if (s->piece == args->num_replicas) {
        leati_input_consume(&s->input, 1);
        s->piece = 0;
    }
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static leat_status legacy_rebatch_restored(leati_node_state *node, void *state, leat_error *err) {
    const struct legacy_rebatch_args *args = node->dataset->args;
    struct legacy_rebatch_state *s = state;
    return s->piece >= 0 && s->piece < args->num_replicas
               ? LEAT_OK
               : leati_fail(err, LEAT_DATA_LOSS, "legacy_rebatch: a saved piece %lld of %lld",
                            (long long)s->piece, (long long)args->num_replicas);
}

static void legacy_rebatch_close(leati_node_state *node, void *state) {
    (void)node;
    struct legacy_rebatch_state *s = state;
    leati_input_close(&s->input);
    leati_leaves_fini(&s->leaves);
}

const leati_dataset_op leati_op_legacy_rebatch = {
    .name = "legacy_rebatch",
    .version = 1,
    .doc = "Every batch in `num_replicas` pieces. Saved as positions; restoring costs one input "
           "element.",
    .names = "Dataset.legacy_rebatch",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct legacy_rebatch_args),
    .rows = legacy_rebatch_rows,
    .spec = legacy_rebatch_spec,
    .cardinality = legacy_rebatch_cardinality,
    .state_size = sizeof(struct legacy_rebatch_state),
    .saved = {LEATI_SAVED(struct legacy_rebatch_state, piece)},
    .restored = legacy_rebatch_restored,
    .open = legacy_rebatch_open,
    .pull = legacy_rebatch_pull,
    .close = legacy_rebatch_close,
};
