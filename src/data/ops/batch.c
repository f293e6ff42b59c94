/* batch: stacks consecutive elements (tf.data.Dataset.batch).
 *
 * Small batches whose rows lie one after the other in the input's block are views of it, and so are
 * columns whose rows lie one after the other in the memory of several blocks, as a parallel map
 * lays them. Otherwise one batch is gathered into a slot from a pool; where the shapes are known
 * the slot's rows are offered to the input as destinations, so that the last operation of a map
 * writes straight into the batch. Ragged and sparse leaves are kept as references until the batch
 * is complete, and then stacked. An input's error is delivered at once and the rows gathered so far
 * are lost, as in TensorFlow; rows of unequal shapes cost the whole batch. Nothing is kept between
 * pulls but the pools. */
#include "base/minmax.h"
#include "data/access/access.h"
#include "data/plan/argument_rows.h"
#include "data/run/gather.h"
#include "data/run/input.h"
#include "data/run/origins.h"
#include <leat/data_ops.h>
#include <string.h>

struct batch_args {
    int64_t batch_size;
    bool drop_remainder;
    int64_t num_parallel_calls;
    int8_t deterministic;
    bool fused; /* with the map below: see gather_batch */
};

#define ROW(field) .offset = offsetof(struct batch_args, field)

static const leati_row batch_rows[] = {
    LEATI_ROW_BATCH_SIZE(struct batch_args, "Elements of a batch."),
    LEATI_ROW_DROP_REMAINDER(struct batch_args),
    {.name = "num_parallel_calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE | LEATI_NONE,
     ROW(num_parallel_calls),
     .doc = "Accepted; batches are gathered where their rows are made, in order."},
    {.name = "deterministic",
     .type = LEATI_ROW_BOOL_OR_NONE,
     .flags = LEATI_NONE,
     ROW(deterministic),
     .default_number = -1,
     .doc = "Accepted; the order is always that of the input."},
    {.name = "fused",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     ROW(fused),
     .doc = "A failed element costs exactly its batch (set by map_and_batch_fusion)."},
    {0},
};

struct batch_state {
    leati_input input;
    leati_gather slots;
};

struct batch_access {
    leati_gather slots;
    leati_block block; /* of the input */
};

/* Datasets have no batches. As in TensorFlow that is found out with the first of them. */
static leat_spec *batch_spec(const leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    for (int c = 0; c < leat_spec_num_components(input); c++)
        if (leat_spec_component_dtype(input, c) == LEAT_OBJECT)
            return leat_spec_ref(input);
    return leati_spec_batch(input, args->drop_remainder ? args->batch_size : LEAT_UNKNOWN_DIM, err);
}

static int64_t batch_cardinality(const leat_dataset *dataset) {
    const struct batch_args *args = dataset->args;
    int64_t input = dataset->inputs[0]->cardinality;
    if (input < 0)
        return input;
    return input / args->batch_size + (!args->drop_remainder && input % args->batch_size != 0);
}

static leat_status batch_check(leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    if (args->num_parallel_calls < LEAT_AUTOTUNE) {
        return leati_refuse(
            err, VALUE, "batch: num_parallel_calls is %lld; expected at least 1, or AUTOTUNE (-1)",
            (long long)args->num_parallel_calls);
    }
    return LEAT_OK;
}

static leat_status open_slots(const leat_dataset *dataset, leati_gather *slots, leat_error *err) {
    return leati_gather_open(dataset->inputs[0]->spec,
                             ((const struct batch_args *)dataset->args)->batch_size, slots, err);
}

static leat_status batch_open(leati_node_state *node, void *state, leat_error *err) {
    struct batch_state *s = state;
    LEATI_TRY(open_slots(node->dataset, &s->slots, err));
    return leati_input_open(&s->input, node, 0, err);
}

/* ---- the fast way: views of consecutive rows ---- */

/* Can rows be joined as they lie to one of one more dimension? A constant, with a stride of 0, has
 * one row's memory alone. */
static bool consecutive(const leati_column *column) {
    return column->form == LEATI_STRIDED && column->rank < LEAT_MAX_RANK &&
           column->stride == (int64_t)leati_column_row_bytes(column) && column->stride > 0;
}

static leat_status view_batches(struct batch_state *s, int64_t batch_size, int64_t batches,
                                leati_block *out, leat_error *err) {
    LEATI_TRY(leati_block_slice(&s->input.block, leati_input_begin(&s->input), batches * batch_size,
                                out, err));
    for (int c = 0; c < out->num_columns; c++) {
        leati_column *column = &out->columns[c];
        memmove(column->dims + 1, column->dims, (size_t)column->rank * sizeof(column->dims[0]));
        column->dims[0] = batch_size;
        column->rank++;
        column->stride *= batch_size;
    }
    if (out->origins.data != NULL && out->origins.form == LEATI_STRIDED)
        out->origins.stride *= batch_size; /* a batch is named after its first row */
    else if (out->origins.data != NULL)
        leati_column_fini(&out->origins);
    out->n = batches;
    leati_input_consume(&s->input, batches * batch_size);
    return LEAT_OK;
}

/* ---- the general way: gather one batch ---- */

/* What becomes of an error of the input. Fused with the map below, it takes its element's place,
 * and the batch fails when all its places are taken; else it ends the batch at once. Both are
 * TensorFlow's. Cancellation and want of memory stand for no element: they end the batch at once.
 */
static bool takes_a_place(struct batch_state *s, const struct batch_args *args, int64_t *filled,
                          const leat_error *error, leat_error *failure) {
    bool placeless = error->code == LEAT_CANCELLED || error->code == LEAT_RESOURCE_EXHAUSTED;
    leati_input_consume(&s->input, 1);
    if (failure->code == LEAT_OK || placeless)
        *failure = *error;
    ++*filled;
    return args->fused && !placeless;
}

static leati_tail gather_batch(leati_node_state *node, struct batch_state *s, leati_block *out,
                               leat_error *err) {
    const struct batch_args *args = node->dataset->args;
    int64_t filled = 0, available = 0;
    leat_error failure = {0};  /* the first: of the input, or unequal shapes */
    bool failed = false;       /* an element of the input failed */
    leati_column origin = {0}; /* of the first row */
    leati_tail tail = LEATI_MORE;
    while (filled < args->batch_size) {
        leat_error error = {0};
        tail = leati_input_peek(&s->input, args->batch_size - filled,
                                leati_gather_offer(&s->slots, filled, &error), &available, &error);
        if (available == 0 && tail == LEATI_ERROR) {
            failed = true;
            if (takes_a_place(s, args, &filled, &error, &failure))
                continue;
        }
        if (available == 0)
            break;
        int64_t n = LEATI_MIN(available, args->batch_size - filled);
        if (filled == 0)
            leati_origins_share(&s->input.block, leati_input_begin(&s->input), &origin);
        if (failure.code == LEAT_OK) {
            leat_status status =
                leati_gather_add(&s->slots, &s->input.block, leati_input_begin(&s->input), n,
                                 filled, args->batch_size, &failure);
            (void)status; /* stands in the failure */
        }
        leati_input_consume(&s->input, n);
        filled += n;
        tail = LEATI_MORE; /* an error that took a place is past */
    }
    bool enough = filled == args->batch_size || (filled > 0 && !args->drop_remainder);
    /* Fused with the map, rows of unequal shapes fail even where the batch is left out. */
    if (!failed && !enough && !(args->fused && failure.code != LEAT_OK)) {
        leati_column_fini(&origin);
        return LEATI_END;
    }
    if (failure.code == LEAT_OK &&
        leati_gather_finish(&s->slots, filled, out, &failure) == LEAT_OK) {
        out->origins = origin; /* the reference moves on */
        return tail;
    }
    leati_column_fini(&origin);
    *err = failure;
    return LEATI_ERROR;
}

static leati_tail batch_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct batch_state *s = state;
    const struct batch_args *args = node->dataset->args;
    size_t batch_bytes = s->slots.element_bytes * (size_t)args->batch_size;
    int64_t most = 1;
    /* Several batches in one block only as far as its preferred size goes. */
    if (batch_bytes > 0 && out->byte_target > batch_bytes)
        most = (int64_t)(out->byte_target / batch_bytes);
    int64_t batches = LEATI_MIN(want, most);
    leati_block_clear(out);
    int64_t available = 0;
    /* The slots have room for one batch; several at once are views of the input's block. */
    const leati_destination *destinations =
        batches == 1 ? leati_gather_offer(&s->slots, 0, err) : NULL;
    leati_tail tail =
        leati_input_peek(&s->input, batches * args->batch_size, destinations, &available, err);
    bool viewable = available >= args->batch_size;
    for (int c = 0; viewable && c < s->slots.num_columns; c++) {
        viewable = s->slots.columns[c].dtype != LEAT_OBJECT && !s->slots.columns[c].composite &&
                   consecutive(&s->input.block.columns[c]);
    }
    if (!viewable) {
        tail = gather_batch(node, s, out, err);
        leati_gather_drop(&s->slots);
        return tail;
    }
    batches = LEATI_MIN(available / args->batch_size, batches);
    leat_status status = view_batches(s, args->batch_size, batches, out, err);
    leati_gather_drop(&s->slots);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static void batch_close(leati_node_state *node, void *state) {
    (void)node;
    struct batch_state *s = state;
    leati_input_close(&s->input);
    leati_gather_close(&s->slots);
}

/* ---- random access ---- */

enum { MOST_ASKED = 4096 }; /* indices at once, whatever the batch size */

static leat_status batch_access_open(leati_access *access, leat_error *err) {
    return open_slots(access->node.dataset, &((struct batch_access *)access->state)->slots, err);
}

/* Rows first .. first + rows - 1 of the input into the slots. */
static leat_status gather_at(leati_access *access, int64_t first, int64_t rows, leat_error *err) {
    struct batch_access *a = access->state;
    int64_t most = LEATI_MIN(rows, MOST_ASKED), filled = 0;
    int64_t *below = leati_access_indices(access, most, err);
    leat_status status = below == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    while (status == LEAT_OK && filled < rows) {
        int64_t n = LEATI_MIN(rows - filled, most);
        for (int64_t i = 0; i < n; i++)
            below[i] = first + filled + i;
        /* What is offered begins behind the rows that came: the input may answer fewer than
         * asked. */
        a->block.destinations = leati_gather_offer(&a->slots, filled, err);
        status = leati_access_input(access, 0, below, n, &a->block, err);
        if (status == LEAT_OK)
            status = leati_gather_add(&a->slots, &a->block, 0, a->block.n, filled, rows, err);
        filled += a->block.n;
    }
    leati_block_clear(&a->block);
    return status;
}

/* One batch at a time. What TensorFlow runs as another operator, a batch with parallel calls and
 * one that is fused with the map below, has no random access there. */
static leat_status batch_at(leati_access *access, const int64_t *indices, int64_t n,
                            leati_block *out, leat_error *err) {
    (void)n;
    const leat_dataset *dataset = access->node.dataset;
    const struct batch_args *args = dataset->args;
    struct batch_access *a = access->state;
    if (args->num_parallel_calls != 0 || (args->fused && !access->for_iteration)) {
        return leati_fail(err, LEAT_UNIMPLEMENTED, "random access is not implemented for %s; %s",
                          args->fused ? "a batch that is fused with the map below"
                                      : "a batch with num_parallel_calls",
                          args->fused ? "switch map_and_batch_fusion off (with_options)"
                                      : "leave that argument out");
    }
    if (indices[0] < 0 || indices[0] >= dataset->cardinality)
        return leati_access_outside(indices[0], dataset->cardinality, err);
    int64_t first = indices[0] * args->batch_size, left = dataset->inputs[0]->cardinality - first;
    int64_t rows = LEATI_MIN(left, args->batch_size);
    leat_status status = gather_at(access, first, rows, err);
    if (status == LEAT_OK)
        status = leati_gather_finish(&a->slots, rows, out, err);
    leati_gather_drop(&a->slots);
    return status;
}

static void batch_access_close(leati_access *access) {
    struct batch_access *a = access->state;
    leati_block_fini(&a->block);
    leati_gather_close(&a->slots);
}

static leat_status batch_indexable(const leat_dataset *dataset, leat_error *err) {
    const struct batch_args *args = dataset->args;
    return args->drop_remainder && args->num_parallel_calls == 0 && !args->fused
               ? LEAT_OK
               : leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "global_shuffle stands only over batches with drop_remainder, without "
                            "num_parallel_calls, and not over map_and_batch");
}

/* With num_parallel_calls it is another operator in TensorFlow, which its strategies do not know.
 */
static bool batch_hides_size(const leat_dataset *dataset) {
    return ((const struct batch_args *)dataset->args)->num_parallel_calls != 0;
}

const leati_dataset_op leati_op_batch = {
    .name = "batch",
    .version = 1,
    .doc = "Stacks `batch_size` consecutive elements along a new first axis. Saved as the input's "
           "position (never inside a batch); "
           "restoring costs the input's.",
    .names = "Dataset.batch",
    .shown = "Batch num_parallel_calls:ParallelBatch",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_ROWS,
    .batch_size = "batch_size",
    .hides_batch_size = batch_hides_size,
    .args_size = sizeof(struct batch_args),
    .rows = batch_rows,
    .check = batch_check,
    .spec = batch_spec,
    .cardinality = batch_cardinality,
    .state_size = sizeof(struct batch_state),
    .open = batch_open,
    .pull = batch_pull,
    .close = batch_close,
    .access_size = sizeof(struct batch_access),
    .access_open = batch_access_open,
    .at = batch_at,
    .access_close = batch_access_close,
    .indexable = batch_indexable,
};

leat_dataset *leat_dataset_batch(leat_dataset *input, int64_t batch_size,
                                 const leat_dataset_batch_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_batch_options o = {LEAT_DATASET_BATCH_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_batch_options, &o, options, &input, 1, err))
        return NULL;
    struct batch_args args = {.batch_size = batch_size,
                              .drop_remainder = o.drop_remainder,
                              .num_parallel_calls = o.num_parallel_calls,
                              .deterministic = (int8_t)o.deterministic};
    return leati_dataset_new(&leati_op_batch, &args, &input, 1, err);
}

leat_dataset *leati_dataset_batch_fused(leat_dataset *input, int64_t batch_size,
                                        bool drop_remainder, leat_error *err) {
    struct batch_args args = {.batch_size = batch_size,
                              .drop_remainder = drop_remainder,
                              .deterministic = -1,
                              .fused = true};
    return leati_dataset_new(&leati_op_batch, &args, &input, 1, err);
}
