/* group_by_reducer: the elements of each key folded into a state, which a function makes the result
 * of (tf.data.experimental.group_by_reducer).
 *
 * The whole input is read before the first result; results follow in the order of keys. Keys and
 * results are computed for many rows at once where nobody sees it, states one after the other. A
 * state lies in a slot of a store by columns, numbered as its key came.
 *
 * Failures, each one outcome, after which reading goes on: of the input, of key_func and init_func
 * (they cost the element; a key whose init_func failed is tried with its next element), of
 * reduce_func (the state stays as it was), of finalize_func (it costs the key). One that would mean
 * the end is INTERNAL. */
#include "base/minmax.h"
#include "data/run/fold.h"
#include "data/run/keys.h"
#include "data/values/key_table.h"
#include "data/values/reservoir.h"
#include "data/values/values.h"
#include <leat/data_ops.h>
#include <string.h>

struct reducer_args {
    leat_object *key_func, *init_func, *reduce_func, *finalize_func;
};

enum { KEY, INIT, REDUCE, FINALIZE };

#define FUNCTION(field)                                                                            \
    .type = LEATI_ROW_FUNCTION, .flags = LEATI_REQUIRED,                                           \
    .offset = offsetof(struct reducer_args, field)

static const leati_row reducer_rows[] = {
    [KEY] = {.name = "key_func",
             FUNCTION(key_func),
             .doc = "From an element to its key, an int64 scalar."},
    [INIT] = {.name = "init_func",
              FUNCTION(init_func),
              .doc = "From a key to the state before its first element."},
    [REDUCE] = {.name = "reduce_func",
                FUNCTION(reduce_func),
                .doc = "From (state, element) to the next state."},
    [FINALIZE] = {.name = "finalize_func",
                  FUNCTION(finalize_func),
                  .doc = "From a key's last state to its result."},
    {0},
};

struct reducer_state {
    leati_keys keys;
    leati_called init, reduce, finalize;
    leat_spec *spec; /* of a state */
    leati_key_table table;
    leati_reservoir states; /* slot i: of key number i; empty once its result is out */
    uint32_t *order;        /* numbers of the keys in their order; NULL before the input's end */
    int64_t done;           /* how many of them are out */
    leati_block row, in, result, state;
};

static const leat_function *function_of(const leat_object *object) {
    return (const leat_function *)object;
}

/* ---- plan side ---- */

static leat_spec *int64_scalar(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

/* What a function takes follows from the functions before it; rows are read in their order. */
static leat_spec *reducer_function_input(const void *all, leat_dataset *const *inputs,
                                         int num_inputs, const leati_row *row, leat_error *err) {
    const struct reducer_args *args = all;
    if (num_inputs != 1) {
        leati_refuse(err, VALUE, "group_by_reducer: expected one input, found %d", num_inputs);
        return NULL;
    }
    switch (row - reducer_rows) {
    case KEY: return leat_spec_ref(inputs[0]->spec);
    case INIT: return int64_scalar(err);
    case REDUCE:
        if (args->init_func != NULL) {
            return leati_fold_input(leat_function_output(function_of(args->init_func)),
                                    inputs[0]->spec, err);
        }
        break;
    default:
        if (args->reduce_func != NULL) {
            /* The state as reduce_func takes it: where calls change its shape, that is wider than
             * the shape of init_func's result. */
            const leat_spec *both = leat_function_input(function_of(args->reduce_func));
            if (leat_spec_get_kind(both) == LEAT_SPEC_TUPLE)
                return leat_spec_ref(leat_spec_child(both, 0));
        }
    }
    leati_refuse(err, VALUE,
                 "group_by_reducer: %s cannot be made: the function before it is missing; give "
                 "key_func, init_func, reduce_func and finalize_func",
                 row->name);
    return NULL;
}

/* Only reduce_func is given what it returned: it may have to be made again for other shapes. */
static leat_spec *reducer_function_again(const leat_function *function, const leat_spec *input,
                                         const leati_row *row, leat_error *err) {
    return row == &reducer_rows[REDUCE]
               ? leati_fold_relax(input, leat_function_output(function), err)
               : NULL;
}

static leat_status reducer_check(leat_dataset *dataset, leat_error *err) {
    static const char op[] = "group_by_reducer";
    const struct reducer_args *args = dataset->args;
    const leat_spec *element = dataset->inputs[0]->spec;
    leat_status status = leati_keys_check_function(op, "key_func", function_of(args->key_func),
                                                   leat_spec_ref(element), err);
    if (status != LEAT_OK)
        return status;
    leat_spec *key = int64_scalar(err);
    status = key == NULL ? LEAT_RESOURCE_EXHAUSTED
                         : leati_apply_check_function(op, "init_func", function_of(args->init_func),
                                                      key, err);
    leat_spec_unref(key);
    if (status == LEAT_OK) {
        const leat_function *reduce = function_of(args->reduce_func);
        status = leati_fold_check(op, "reduce_func", reduce,
                                  leat_function_output(function_of(args->init_func)), element,
                                  reduce == NULL ? NULL : leat_function_output(reduce), err);
    }
    if (status != LEAT_OK)
        return status;
    leat_spec *state = leati_fold_state(leat_function_output(function_of(args->init_func)),
                                        function_of(args->reduce_func), err);
    status = state == NULL ? LEAT_RESOURCE_EXHAUSTED
                           : leati_apply_check_function(
                                 op, "finalize_func", function_of(args->finalize_func), state, err);
    leat_spec_unref(state);
    return status;
}

static leat_spec *reducer_spec(const leat_dataset *dataset, leat_error *err) {
    const struct reducer_args *args = dataset->args;
    return leati_spec_made(leat_function_output(function_of(args->finalize_func)), err);
}

static int64_t reducer_cardinality(const leat_dataset *dataset) {
    (void)dataset;
    return LEAT_UNKNOWN_CARDINALITY; /* as many as there are keys */
}

/* ---- run side ---- */

static leat_status reducer_open(leati_node_state *node, void *state, leat_error *err) {
    struct reducer_state *s = state;
    const struct reducer_args *args = node->dataset->args;
    leat_status status = leati_apply_open(&s->init, args->init_func, err);
    if (status == LEAT_OK)
        status = leati_apply_open(&s->reduce, args->reduce_func, err);
    if (status == LEAT_OK)
        status = leati_apply_open(&s->finalize, args->finalize_func, err);
    if (status == LEAT_OK) {
        s->spec = leati_fold_state(leat_function_output(function_of(args->init_func)),
                                   function_of(args->reduce_func), err);
        status = s->spec == NULL ? LEAT_RESOURCE_EXHAUSTED
                                 : leati_reservoir_init(&s->states, s->spec, err);
    }
    return status == LEAT_OK ? leati_keys_open(&s->keys, node, args->key_func, err) : status;
}

/* The states of `n` keys, in order from number `first` of `order` (NULL: of the keys as they came),
 * as rows of `out`. Their slots are empty until put_back. */
static leat_status take_states(struct reducer_state *s, const uint32_t *order, int64_t first,
                               int64_t n, leati_block *out, leat_error *err) {
    leat_status status = leati_reservoir_begin(&s->states, n, out, err);
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        uint32_t slot = order == NULL ? (uint32_t)(first + i) : order[first + i];
        leati_reservoir_exchange(&s->states, &slot, 1, out, i, NULL, 0, 0);
    }
    out->n = status == LEAT_OK ? n : 0;
    return status;
}

/* Puts rows from `begin` on back to where take_states took them. */
static void put_back(struct reducer_state *s, const uint32_t *order, int64_t first, int64_t begin,
                     const leati_block *rows) {
    for (int64_t i = begin; i < rows->n; i++) {
        uint32_t slot = order == NULL ? (uint32_t)(first + i) : order[first + i];
        leati_reservoir_put(&s->states, &slot, 1, rows, i);
    }
}

/* The result of a call, whose components must fit, becomes the state in an empty slot. */
static leat_status keep_result(struct reducer_state *s, uint32_t slot, leat_error *err) {
    leat_status status = leati_fold_split(&s->result, s->spec, &s->row, NULL, err);
    /* A state lives long: it must not pin what it was computed from. */
    if (status == LEAT_OK)
        status = leati_fold_compact(&s->row, err);
    if (status == LEAT_OK)
        leati_reservoir_put(&s->states, &slot, 1, &s->row, 0);
    leati_block_clear(&s->row);
    leati_block_clear(&s->result);
    return status;
}

/* The first state of a new key. */
static leat_status add_key(leati_node_state *node, struct reducer_state *s, int64_t key,
                           leat_error *err) {
    leat_status status = leati_key_row(key, &s->row, err);
    if (status == LEAT_OK) {
        status = leati_run_rows(node, s->init.program, s->init.scratch, &s->row, 0, 1,
                                s->keys.calls, &s->result, err);
        if (status != LEAT_OK)
            leati_apply_as_internal("init_func", err);
    }
    /* Room comes first: once a state is in its slot, nothing may fail. */
    if (status == LEAT_OK)
        status = leati_key_table_reserve(&s->table, err);
    /* A slot may be left over from a key whose first state failed. */
    if (status == LEAT_OK && s->states.size == s->table.count)
        status = leati_reservoir_grow(&s->states, 1, err);
    if (status == LEAT_OK)
        status = keep_result(s, s->table.count, err);
    if (status == LEAT_OK)
        status = leati_key_table_add(&s->table, key, err);
    leati_block_clear(&s->row);
    return status;
}

/* The input's next row goes into the state in `slot`. */
static leat_status add_row(leati_node_state *node, struct reducer_state *s, size_t slot,
                           leat_error *err) {
    const leati_input *input = &s->keys.input;
    leat_status status = take_states(s, NULL, (int64_t)slot, 1, &s->state, err);
    if (status == LEAT_OK)
        status = leati_fold_join(&s->state, &input->block, leati_input_begin(input), &s->in, err);
    if (status == LEAT_OK) {
        status = leati_run_rows(node, s->reduce.program, s->reduce.scratch, &s->in, 0, 1,
                                s->keys.calls, &s->result, err);
        if (status != LEAT_OK)
            leati_apply_as_internal("reduce_func", err);
    }
    if (status == LEAT_OK)
        status = keep_result(s, slot, err);
    /* The state from before the call goes back to its slot, which must not stay empty. */
    if (status != LEAT_OK)
        put_back(s, NULL, (int64_t)slot, 0, &s->state);
    leati_block_clear(&s->state);
    leati_block_clear(&s->in);
    return status;
}

static leat_status hold(leati_node_state *node, struct reducer_state *s, leat_error *err) {
    int64_t bytes = leati_reservoir_bytes(&s->states) + leati_key_table_bytes(&s->table);
    return leati_budget_holder_set(&node->holder, bytes, err);
}

static leat_status next_row(leati_node_state *node, struct reducer_state *s, int64_t key,
                            leat_error *err) {
    leat_status status = LEAT_OK;
    if (leati_key_table_find(&s->table, key) < 0)
        status = add_key(node, s, key, err);
    if (status == LEAT_OK)
        status = add_row(node, s, (size_t)leati_key_table_find(&s->table, key), err);
    return status == LEAT_OK ? hold(node, s, err) : status;
}

/* Reads the input to its end: END, or an ERROR in between. */
static leati_tail read_all(leati_node_state *node, struct reducer_state *s, leat_error *err) {
    for (;;) {
        int64_t key = 0;
        leati_tail tail = leati_keys_next(&s->keys, node, &key, err);
        if (tail != LEATI_MORE)
            return tail;
        leat_error error = {0};
        leat_status status = next_row(node, s, key, &error);
        /* Only now: the functions read the row where it lies. */
        leati_keys_consume(&s->keys);
        if (status != LEAT_OK) {
            *err = error;
            return LEATI_ERROR;
        }
    }
}

/* Up to `want` results. */
static leati_tail finalize(leati_node_state *node, struct reducer_state *s, int64_t want,
                           leati_block *out, leat_error *err) {
    int64_t left = (int64_t)s->table.count - s->done;
    /* Where calls would be seen, none is made before its result is asked for. */
    int64_t n = s->keys.one_by_one ? 1 : want;
    n = LEATI_MIN(n, left);
    if (n == 0)
        return LEATI_END;
    leat_status status = take_states(s, s->order, s->done, n, &s->state, err);
    if (status == LEAT_OK) {
        status = leati_run_rows(node, s->finalize.program, s->finalize.scratch, &s->state, 0, n,
                                s->done, out, err);
        /* Computed and failed states leave the store; what was taken behind a failure goes back. */
        int64_t passed = out->n + (status != LEAT_OK);
        put_back(s, s->order, s->done, passed, &s->state);
        s->done += passed;
        if (status != LEAT_OK)
            leati_apply_as_internal("finalize_func", err);
    }
    leati_block_clear(&s->state);
    return status == LEAT_OK ? LEATI_MORE : LEATI_ERROR;
}

static void forget(struct reducer_state *s) {
    leati_key_table_clear(&s->table);
    leati_reservoir_clear(&s->states);
    leati_free(s->order);
    s->order = NULL;
    s->done = 0;
}

static leati_tail reducer_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    struct reducer_state *s = state;
    leati_block_clear(out);
    if (s->order == NULL) {
        leati_tail tail = read_all(node, s, err);
        if (tail == LEATI_ERROR) {
            if (leati_input_failed_at_end(&s->keys.input))
                forget(s); /* TensorFlow ends without a result then */
            return tail;
        }
        s->order = leati_key_table_sorted(&s->table, err);
        if (s->order == NULL)
            return LEATI_ERROR;
    }
    return finalize(node, s, want, out, err);
}

/* ---- saving ---- */

static leat_status reducer_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    struct reducer_state *s = state;
    int64_t count = (int64_t)s->table.count;
    (void)node;
    leati_put_int(out, s->keys.calls);
    leati_put_uint(out, s->order != NULL);
    leati_put_int(out, s->done);
    leati_key_table_save(&s->table, out);
    leat_status status = LEAT_OK;
    /* A slot is read by emptying it, so the states go out and back. */
    if (count > s->done) {
        status = take_states(s, s->order, s->done, count - s->done, &s->state, err);
        if (status == LEAT_OK) {
            status = leati_values_put_block(out, &s->state, 0, s->state.n, err);
            put_back(s, s->order, s->done, 0, &s->state);
        }
        leati_block_clear(&s->state);
    }
    return status == LEAT_OK ? leati_input_save(&s->keys.input, out, cost, err) : status;
}

static leat_status restore_states(leati_node_state *node, struct reducer_state *s, bool ended,
                                  leati_reader *in, leat_error *err) {
    int64_t count = (int64_t)s->table.count;
    /* There are no results before the input's end. */
    if (s->done < 0 || s->done > count || (s->done > 0 && !ended)) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: %lld results of %lld saved keys", node->name,
                          (long long)s->done, (long long)count);
    }
    leat_status status = LEAT_OK;
    /* The order follows from the keys: it is not saved. */
    if (ended) {
        s->order = leati_key_table_sorted(&s->table, err);
        status = s->order == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    /* Slots of results that are out stay empty. */
    if (status == LEAT_OK)
        status = leati_reservoir_grow(&s->states, s->table.count, err);
    if (status == LEAT_OK && count > s->done) {
        status = leati_values_get_block(in, s->spec, &s->state, err);
        if (status == LEAT_OK && s->state.n != count - s->done) {
            status = leati_fail(err, LEAT_DATA_LOSS, "%s: %lld saved states; expected %lld",
                                node->name, (long long)s->state.n, (long long)(count - s->done));
        }
        if (status == LEAT_OK)
            put_back(s, s->order, s->done, 0, &s->state);
        leati_block_clear(&s->state);
    }
    return status;
}

static leat_status reducer_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    struct reducer_state *s = state;
    uint64_t ended = 0;
    forget(s);
    LEATI_TRY(leati_get_int(in, &s->keys.calls, err));
    LEATI_TRY(leati_get_uint(in, &ended, err));
    LEATI_TRY(leati_get_int(in, &s->done, err));
    LEATI_TRY(leati_key_table_restore(&s->table, in, err));
    LEATI_TRY(restore_states(node, s, ended != 0, in, err));
    LEATI_TRY(hold(node, s, err));
    return leati_input_restore(&s->keys.input, in, err);
}

static leat_status reducer_reset(leati_node_state *node, void *state, leat_error *err) {
    struct reducer_state *s = state;
    (void)node;
    forget(s);
    return leati_keys_reset(&s->keys, err);
}

static void reducer_close(leati_node_state *node, void *state) {
    struct reducer_state *s = state;
    (void)node;
    leati_keys_close(&s->keys);
    leati_apply_close(&s->init);
    leati_apply_close(&s->reduce);
    leati_apply_close(&s->finalize);
    leati_key_table_fini(&s->table);
    leati_reservoir_fini(&s->states);
    leati_free(s->order);
    leati_block_fini(&s->row);
    leati_block_fini(&s->in);
    leati_block_fini(&s->result);
    leati_block_fini(&s->state);
    leat_spec_unref(s->spec);
}

const leati_dataset_op leati_op_group_by_reducer = {
    .name = "group_by_reducer",
    .version = 1,
    .doc = "For each key, in the order of keys, what `finalize_func` makes of a state that "
           "`init_func` began and `reduce_func` took through the key's elements. Saved as keys and "
           "states; restoring costs the input's.",
    .names = "Dataset.group_by_reducer experimental.group_by_reducer",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_REFUSED,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct reducer_args),
    .rows = reducer_rows,
    .check = reducer_check,
    .spec = reducer_spec,
    .function_input = reducer_function_input,
    .function_again = reducer_function_again,
    .cardinality = reducer_cardinality,
    .state_size = sizeof(struct reducer_state),
    .open = reducer_open,
    .pull = reducer_pull,
    .save = reducer_save,
    .restore = reducer_restore,
    .reset = reducer_reset,
    .close = reducer_close,
};

leat_dataset *leat_dataset_group_by_reducer(leat_dataset *input, leat_function *key_func,
                                            const leat_reducer *reducer, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    static const leat_reducer none = {0};
    const leat_reducer *r = reducer != NULL ? reducer : &none;
    struct reducer_args args = {.key_func = (leat_object *)key_func,
                                .init_func = (leat_object *)r->init_func,
                                .reduce_func = (leat_object *)r->reduce_func,
                                .finalize_func = (leat_object *)r->finalize_func};
    const struct {
        leat_function *function;
        const char *argument;
    } given[] = {{key_func, "key_func"},
                 {r->init_func, "reducer.init_func"},
                 {r->reduce_func, "reducer.reduce_func"},
                 {r->finalize_func, "reducer.finalize_func"}};
    leat_dataset *dataset = NULL;
    bool missing = false;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]) && !missing; i++) {
        missing = leati_apply_function_is_missing(given[i].function, "group_by_reducer",
                                                  given[i].argument, &input, 1, err);
    }
    if (!missing)
        dataset = leati_dataset_new(&leati_op_group_by_reducer, &args, &input, 1, err);
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        leat_function_unref(given[i].function);
    return dataset;
}
