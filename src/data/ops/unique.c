/* unique: the first occurrence of each element (tf.data.Dataset.unique).
 *
 * A set of the values that came so far decides; what is kept of a block is a selection of its rows,
 * not a copy. Errors of the input are delivered at their places. A set that outgrows the memory
 * budget is an error at every call, until there is room, and no row is lost. Elements of several
 * components and other dtypes than int32, int64 and string are refused when the operator is built.
 */
#include "base/minmax.h"
#include "core/composite.h"
#include "core/pools.h"
#include "data/run/input.h"
#include "data/values/seen.h"
#include <leat/data_ops.h>

struct unique_args {
    char unused;
};

static const leati_row unique_rows[] = {{0}};

struct unique_state {
    leati_input input;
    leati_seen seen;
    leati_pools pools; /* of row numbers */
};

static leat_status unique_check(leat_dataset *dataset, leat_error *err) {
    const leat_spec *spec = dataset->inputs[0]->spec;
    bool one = leat_spec_num_components(spec) == 1 && !leati_spec_has_composite(spec);
    leat_dtype dtype = one ? leat_spec_component_dtype(spec, 0) : LEAT_INVALID;
    if (dtype == LEAT_INT32 || dtype == LEAT_INT64 || dtype == LEAT_STRING)
        return LEAT_OK;
    if (leat_spec_get_kind(spec) == LEAT_SPEC_TENSOR) {
        return leati_refuse(err, DTYPE,
                            "unique: does not support type tf.%s -- only `tf.int32`, `tf.int64`, "
                            "and `tf.string` are supported",
                            leat_dtype_name(dtype));
    }
    char text[256];
    leat_spec_print(spec, text, sizeof(text));
    return leati_refuse(err, STRUCTURE,
                        "unique: elements are %s; expected one component of int32, int64 or string",
                        text);
}

/* Looks at `n` rows and notes the fresh ones; stops early without memory. */
static leat_status look(struct unique_state *s, int64_t n, uint32_t *rows, int64_t *looked,
                        int64_t *kept, leat_error *err) {
    const leati_column *column = &s->input.block.columns[0];
    int64_t begin = leati_input_begin(&s->input);
    for (*looked = 0, *kept = 0; *looked < n; ++*looked) {
        bool fresh = false;
        leat_status status = leati_seen_add(&s->seen, column, begin + *looked, &fresh, err);
        /* A row that found no memory is not looked at: rows before it go out first. */
        if (status != LEAT_OK)
            return *kept > 0 ? LEAT_OK : status;
        /* Written in any case and counted if fresh: no branch that would be mispredicted. */
        rows[*kept] = (uint32_t)(begin + *looked);
        *kept += fresh;
    }
    return LEAT_OK;
}

/* The fresh ones among the next `n` rows. */
static leat_status keep(leati_node_state *node, struct unique_state *s, int64_t n, leati_block *out,
                        leat_error *err) {
    int64_t looked = 0, kept = 0;
    /* Before a row is looked at, so that a refusal loses none: they wait until there is room. */
    LEATI_TRY(leati_budget_holder_set(&node->holder, leati_seen_bytes(&s->seen), err));
    leat_buffer *buffer = leati_pools_take(&s->pools, (size_t)n * sizeof(uint32_t), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = look(s, n, leat_buffer_data(buffer), &looked, &kept, err);
    if (status == LEAT_OK && kept == looked) {
        status = leati_block_slice(&s->input.block, leati_input_begin(&s->input), kept, out, err);
    } else if (status == LEAT_OK && kept > 0) {
        status =
            leati_block_select(&s->input.block, leat_buffer_data(buffer), buffer, kept, out, err);
    }
    leat_buffer_unref(buffer);
    /* The set has the rows now: they would not be fresh a second time. */
    leati_input_consume(&s->input, looked);
    /* What is too much by now is refused at the next row. */
    leat_status held =
        leati_budget_holder_set(&node->holder, leati_seen_bytes(&s->seen), &(leat_error){0});
    (void)held;
    return status;
}

static leati_tail unique_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct unique_state *s = state;
    leati_block_clear(out);
    /* A block that is handed on has a row: blocks without a fresh one are passed. */
    while (out->n == 0) {
        int64_t available = 0;
        leati_tail tail = leati_input_peek(&s->input, want, NULL, &available, err);
        if (available == 0) {
            leati_input_consume(&s->input, tail == LEATI_ERROR);
            return tail;
        }
        if (keep(node, s, LEATI_MIN(available, want), out, err) != LEAT_OK) {
            leati_block_clear(out);
            return LEATI_ERROR;
        }
    }
    return LEATI_MORE;
}

static leat_status unique_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct unique_state *s = state;
    leati_seen_save(&s->seen, out);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status unique_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    (void)node;
    struct unique_state *s = state;
    leati_seen_clear(&s->seen);
    leat_status status = leati_seen_restore(&s->seen, in, err);
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static void unique_start(leati_node_state *node, void *state) {
    (void)node;
    leati_seen_clear(&((struct unique_state *)state)->seen);
}

static void unique_close(leati_node_state *node, void *state) {
    (void)node;
    struct unique_state *s = state;
    leati_input_close(&s->input);
    leati_seen_fini(&s->seen);
    leati_pools_close(&s->pools);
}

const leati_dataset_op leati_op_unique = {
    .name = "unique",
    .version = 1,
    .doc = "The first occurrence of each element. Saved as the values that came so far and the "
           "input's position; restoring costs the input's.",
    .names = "Dataset.unique experimental.unique",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct unique_args),
    .rows = unique_rows,
    .check = unique_check,
    .state_size = sizeof(struct unique_state),
    .start = unique_start,
    .pull = unique_pull,
    .save = unique_save,
    .restore = unique_restore,
    .close = unique_close,
};

leat_dataset *leat_dataset_unique(leat_dataset *input, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_dataset_new(&leati_op_unique, NULL, &input, 1, err);
}
