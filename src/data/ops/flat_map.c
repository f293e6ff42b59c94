/* flat_map: the elements of the datasets that a function returns, one dataset after the other
 * (tf.data.Dataset.flat_map).
 *
 * The input's element stays unconsumed in `input` while its dataset is read, so a state is
 * positions: of the input, and of the inner iteration, which restoring opens again by calling the
 * function. The inner dataset runs inline, on the thread that pulls, with a random scope of its
 * own. A failing function costs its element; an error of the inner dataset is delivered and the
 * inner iteration goes on; both as in TensorFlow. */
#include "data/run/apply.h"
#include "data/run/inner.h"
#include <leat/data_ops.h>

struct flat_map_args {
    leat_object *map_func;
};

static const leati_row flat_map_rows[] = {
    {.name = "map_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct flat_map_args, map_func),
     .doc = "From an element to a dataset."},
    {0},
};

struct flat_map_state {
    leati_input input;
    leati_input inner;
    bool open;    /* `inner` reads the dataset of the input's present element */
    int64_t call; /* number of the input's present outcome */
    leati_iteration iteration;
    leati_inner caller;
};

static const leat_function *function_of(const leat_dataset *dataset) {
    return (const leat_function *)((const struct flat_map_args *)dataset->args)->map_func;
}

static leat_status flat_map_check(leat_dataset *dataset, leat_error *err) {
    return leati_inner_check(dataset, function_of(dataset), err);
}

static leat_spec *flat_map_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leati_inner_spec(function_of(dataset));
}

static leat_status flat_map_open(leati_node_state *node, void *state, leat_error *err) {
    struct flat_map_state *s = state;
    leat_status status = leati_inner_init(&s->caller, node, err);
    if (status == LEAT_OK)
        status = leati_input_open(&s->input, node, 0, err);
    /* An element is worked on before it is consumed: the input's state from before it must be
     * known. */
    s->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return status;
}

static void close_inner(struct flat_map_state *s) {
    if (s->open) {
        leati_input_close(&s->inner);
        s->open = false;
    }
}

/* The present element is done with. */
static void next_call(struct flat_map_state *s) {
    close_inner(s);
    leati_input_consume(&s->input, 1);
    s->call++;
}

/* Calls the function on the element that the input shows and opens the dataset it returns. */
static leat_status open_inner(leati_node_state *node, struct flat_map_state *s, leat_error *err) {
    leat_status status =
        leati_inner_open(&s->caller, node, &s->input.block, leati_input_begin(&s->input), s->call,
                         &s->iteration, &s->inner, err);
    s->open = status == LEAT_OK;
    return status;
}

/* Makes sure that an inner iteration is open: MORE, or END or ERROR of the input, or the function's
 * error. */
static leati_tail next_inner(leati_node_state *node, struct flat_map_state *s, leat_error *err) {
    if (s->open)
        return LEATI_MORE;
    int64_t available = 0;
    leati_tail tail = leati_input_peek(&s->input, 1, NULL, &available, err);
    if (available == 0) {
        if (tail == LEATI_ERROR)
            next_call(s);
        return tail;
    }
    if (open_inner(node, s, err) != LEAT_OK) {
        next_call(s);
        return LEATI_ERROR;
    }
    return LEATI_MORE;
}

static leati_tail flat_map_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                                leat_error *err) {
    struct flat_map_state *s = state;
    for (;;) {
        leati_tail tail = next_inner(node, s, err);
        if (tail != LEATI_MORE) {
            leati_block_clear(out);
            return tail;
        }
        tail = leati_input_take(&s->inner, want, out, err);
        if (tail != LEATI_END)
            return tail;
        /* The element counts as used only now: until here a saved state needs it. */
        next_call(s);
        if (out->n > 0)
            return LEATI_MORE;
    }
}

static leati_tail flat_map_advance(leati_node_state *node, void *state, int64_t n, int64_t *passed,
                                   leat_error *err) {
    struct flat_map_state *s = state;
    while (*passed < n) {
        leati_tail tail = next_inner(node, s, err);
        int64_t more = 0;
        if (tail == LEATI_ERROR && leati_state_recurs(err)) {
            ++*passed; /* one error outcome of the input or the function, as before */
            continue;
        }
        if (tail != LEATI_MORE)
            return tail;
        tail = leati_input_advance(&s->inner, n - *passed, &more, err);
        *passed += more;
        if (tail == LEATI_END)
            next_call(s);
        else if (tail == LEATI_ERROR)
            return tail;
    }
    return LEATI_MORE;
}

static leati_tail flat_map_skip(leati_node_state *node, void *state, int64_t n, int64_t *skipped,
                                leat_error *err) {
    struct flat_map_state *s = state;
    while (*skipped < n) {
        leati_tail tail = next_inner(node, s, err);
        int64_t more = 0;
        if (tail != LEATI_MORE)
            return tail;
        tail = leati_input_skip(&s->inner, n - *skipped, &more, err);
        *skipped += more;
        if (tail == LEATI_END)
            next_call(s);
        else if (tail == LEATI_ERROR)
            return tail;
    }
    return LEATI_MORE;
}

static leat_status flat_map_save(leati_node_state *node, void *state, leati_writer *out,
                                 leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct flat_map_state *s = state;
    leati_put_int(out, s->call);
    leati_put_uint(out, s->open);
    /* The inner position comes behind the input's, whose element makes the inner dataset anew. */
    leat_status status = leati_input_save(&s->input, out, cost, err);
    return status == LEAT_OK && s->open ? leati_input_save(&s->inner, out, cost, err) : status;
}

static leat_status flat_map_restore(leati_node_state *node, void *state, leati_reader *in,
                                    leat_error *err) {
    struct flat_map_state *s = state;
    uint64_t open = 0;
    leat_status status = leati_get_int(in, &s->call, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &open, err);
    if (status == LEAT_OK)
        status = leati_input_restore(&s->input, in, err);
    if (status != LEAT_OK || open == 0)
        return status;
    int64_t available = 0;
    leat_error local = {0};
    leati_input_peek(&s->input, 1, NULL, &available, &local);
    if (available == 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "%s: the element whose dataset was being read did not come again",
                          node->name);
    }
    /* The same element and the same number of the call give the same dataset, random numbers
     * included. */
    status = open_inner(node, s, err);
    return status == LEAT_OK ? leati_input_restore(&s->inner, in, err) : status;
}

static void flat_map_start(leati_node_state *node, void *state) {
    (void)node;
    close_inner(state);
}

static void flat_map_close(leati_node_state *node, void *state) {
    (void)node;
    struct flat_map_state *s = state;
    close_inner(s);
    leati_inner_fini(&s->caller);
    leati_input_close(&s->input);
}

const leati_dataset_op leati_op_flat_map = {
    .name = "flat_map",
    .version = 1,
    .doc = "The elements of the datasets that `map_func` returns, one dataset after the other. "
           "Saved as the input's and the inner "
           "position; restoring calls the function once.",
    .names = "Dataset.flat_map",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_CALLS,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_APART,
    .args_size = sizeof(struct flat_map_args),
    .rows = flat_map_rows,
    .check = flat_map_check,
    .spec = flat_map_spec,
    .share = leati_inner_share,
    .unshare = leati_inner_unshare,
    .state_size = sizeof(struct flat_map_state),
    .start = flat_map_start,
    .open = flat_map_open,
    .pull = flat_map_pull,
    .advance = flat_map_advance,
    .skip = flat_map_skip,
    .save = flat_map_save,
    .restore = flat_map_restore,
    .close = flat_map_close,
};

leat_dataset *leat_dataset_flat_map(leat_dataset *input, leat_function *function, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct flat_map_args args = {.map_func = (leat_object *)function};
    leat_dataset *dataset =
        leati_apply_function_is_missing(function, "flat_map", "map_func", &input, 1, err)
            ? NULL
            : leati_dataset_new(&leati_op_flat_map, &args, &input, 1, err);
    leat_function_unref(function);
    return dataset;
}
