/* group_by_window: elements gathered by key; when a group has as many as its window takes, a
 * function makes a dataset of them, whose elements follow (tf.data.Dataset.group_by_window).
 *
 * Groups lie in the order of their keys, and at the end of the input what is left of them follows
 * in that order. Keys of a block are computed at once where nobody sees it. An error of the input,
 * of a function or of an inner dataset is delivered at its place; a window size below 1 costs the
 * element; a group whose function fails (INTERNAL) is kept and tried again at the end, at every
 * further call, as in TensorFlow. Groups that outgrow the memory budget are an error at every call,
 * until there is room, and no element is lost. */
#include "data/run/inner.h"
#include "data/run/keys.h"
#include "data/run/origins.h"
#include "data/run/place.h"
#include "data/run/row_values.h"
#include "data/values/values.h"
#include <leat/data_ops.h>
#include <stdio.h>
#include <string.h>

struct group_args {
    leat_object *key_func, *reduce_func;
    int64_t window_size;
    leat_object *window_size_func;
};

/* No size; as a double, which holds this number exactly, for the row's default. */
#define NO_SIZE ((double)INT64_MIN)

static const leati_row group_rows[] = {
    {.name = "key_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct group_args, key_func),
     .doc = "From an element to its key, an int64 scalar."},
    {.name = "reduce_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct group_args, reduce_func),
     .doc = "From (key, dataset of the group's elements) to a dataset."},
    {.name = "window_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct group_args, window_size),
     .default_number = NO_SIZE,
     .doc = "Elements of a full group; either this or window_size_func."},
    {.name = "window_size_func",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_NONE,
     .offset = offsetof(struct group_args, window_size_func),
     .doc = "From a key to the elements of its full group, an int64 scalar."},
    {0},
};

struct group {
    int64_t key, size; /* of a full one */
    leati_block rows;
};

struct group_state {
    leati_keys keys;
    leati_called size; /* closed: one for all */
    bool ended;
    struct group *groups; /* by key */
    size_t num_groups, capacity;
    int64_t bytes;
    bool active; /* `inner` reads the dataset of the group with `active_key` */
    int64_t active_key, opened;
    leati_inner reduce;
    leati_input inner;
    leati_iteration iteration;
    leati_block piece, result;
};

static const struct group_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

/* ---- plan side ---- */

static leat_spec *int64_scalar(leat_error *err) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
}

/* What reduce_func takes: a key and a dataset of elements. Owned. */
static leat_spec *group_spec_of(const leat_spec *element, leat_error *err) {
    leat_spec *both[2] = {int64_scalar(err), leat_spec_dataset(leat_spec_ref(element), err)};
    return leat_spec_tuple(both, 2, err);
}

/* key_func takes elements, reduce_func a key and a dataset, window_size_func a key. */
static leat_spec *group_function_input(const void *args, leat_dataset *const *inputs,
                                       int num_inputs, const leati_row *row, leat_error *err) {
    (void)args;
    if (num_inputs != 1) {
        leati_refuse(err, VALUE, "group_by_window: expected one input, found %d", num_inputs);
        return NULL;
    }
    return row == &group_rows[0]   ? leat_spec_ref(inputs[0]->spec)
           : row == &group_rows[1] ? group_spec_of(inputs[0]->spec, err)
                                   : int64_scalar(err);
}

static leat_status group_check(leat_dataset *dataset, leat_error *err) {
    const struct group_args *args = dataset->args;
    const leat_spec *element = dataset->inputs[0]->spec;
    /* One of them must be given: INT64_MIN is the row's default, which stands for none. */
    if ((args->window_size == INT64_MIN) == (args->window_size_func == NULL)) {
        return leati_refuse(
            err, VALUE,
            "group_by_window: Either the `window_size` argument or the `window_size_func` "
            "argument must be specified, and not both");
    }
    leat_status status = leati_keys_check_function("group_by_window", "key_func",
                                                   (const leat_function *)args->key_func,
                                                   leat_spec_ref(element), err);
    if (status == LEAT_OK && args->window_size_func != NULL) {
        status = leati_keys_check_function("group_by_window", "window_size_func",
                                           (const leat_function *)args->window_size_func,
                                           int64_scalar(err), err);
    }
    leat_spec *input = status == LEAT_OK ? group_spec_of(element, err) : NULL;
    if (status == LEAT_OK) {
        const leat_function *reduce = (const leat_function *)args->reduce_func;
        status = input == NULL ? LEAT_RESOURCE_EXHAUSTED
                               : leati_apply_check_function("group_by_window", "reduce_func",
                                                            reduce, input, err);
        if (status == LEAT_OK &&
            leat_spec_get_kind(leat_function_output(reduce)) != LEAT_SPEC_DATASET) {
            status = leati_refuse(err, STRUCTURE,
                                  "group_by_window: reduce_func returns no dataset; expected one "
                                  "(leat_graph_dataset_op)");
        }
    }
    leat_spec_unref(input);
    return status;
}

static leat_spec *group_spec(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leati_inner_spec((const leat_function *)args_of(dataset)->reduce_func);
}

/* The keys decide how many groups there are, and the function how many elements each gives. */
static int64_t group_cardinality(const leat_dataset *dataset) {
    return dataset->inputs[0]->cardinality == LEAT_INFINITE_CARDINALITY ? LEAT_INFINITE_CARDINALITY
                                                                        : LEAT_UNKNOWN_CARDINALITY;
}

static void *group_share(const leat_dataset *dataset, leat_error *err) {
    return leati_program_new((const leat_function *)args_of(dataset)->reduce_func, err);
}

static void group_unshare(void *shared) {
    leati_program_free(shared);
}

/* ---- run side ---- */

static leat_status group_open(leati_node_state *node, void *state, leat_error *err) {
    struct group_state *s = state;
    const struct group_args *args = args_of(node->dataset);
    leat_status status = leati_keys_open(&s->keys, node, args->key_func, err);
    if (status == LEAT_OK && args->window_size_func != NULL)
        status = leati_apply_open(&s->size, args->window_size_func, err);
    return status == LEAT_OK ? leati_inner_init(&s->reduce, node, err) : status;
}

/* The place of `key` among the groups, or where it belongs. */
static size_t place_of(const struct group_state *s, int64_t key) {
    size_t low = 0, high = s->num_groups;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->groups[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static leat_status add_group(struct group_state *s, size_t place, int64_t key, int64_t size,
                             leat_error *err) {
    if (!leati_grow((void **)&s->groups, &s->capacity, s->num_groups + 1, sizeof(*s->groups)))
        return leati_no_memory(err);
    /* Groups may move: what a block owns does not lie in it. */
    memmove(&s->groups[place + 1], &s->groups[place], (s->num_groups - place) * sizeof(*s->groups));
    s->groups[place] = (struct group){.key = key, .size = size};
    s->num_groups++;
    return LEAT_OK;
}

static void remove_group(struct group_state *s, size_t place) {
    s->bytes -= (int64_t)leati_block_bytes(&s->groups[place].rows);
    leati_block_fini(&s->groups[place].rows);
    s->num_groups--;
    memmove(&s->groups[place], &s->groups[place + 1], (s->num_groups - place) * sizeof(*s->groups));
}

static void clear_groups(struct group_state *s) {
    while (s->num_groups > 0)
        remove_group(s, s->num_groups - 1);
    s->bytes = 0;
}

/* `out` becomes one row: the key, and a dataset of `rows`. */
static leat_status arguments(int64_t key, leat_dataset *dataset, const leati_block *rows,
                             leati_block *out, leat_error *err) {
    leat_tensor tensors[2] = {{0}, {0}};
    leat_status status = leati_block_prepare(out, 2, err);
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_INT64, LEAT_SCALAR, &key, &tensors[0], err);
    /* The tensor has a reference of its own to the dataset. */
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(LEAT_OBJECT, LEAT_SCALAR, &dataset, &tensors[1], err);
    for (int c = 0; c < 2 && status == LEAT_OK; c++)
        leati_column_constant(&out->columns[c], &tensors[c]);
    /* What is made of a group is named after its first element. */
    if (status == LEAT_OK)
        leati_origins_share(rows, 0, &out->origins);
    out->n = status == LEAT_OK ? 1 : 0;
    leat_tensor_unref(&tensors[0]);
    leat_tensor_unref(&tensors[1]);
    return status;
}

static leat_status window_size(leati_node_state *node, struct group_state *s, int64_t key,
                               int64_t *size, leat_error *err) {
    *size = args_of(node->dataset)->window_size;
    leat_status status = LEAT_OK;
    if (s->size.program != NULL) {
        status = leati_key_row(key, &s->piece, err);
        if (status == LEAT_OK) {
            status = leati_run_rows(node, s->size.program, s->size.scratch, &s->piece, 0, 1,
                                    s->keys.calls, &s->result, err);
        }
        if (status == LEAT_OK)
            *size = *(const int64_t *)leati_column_row(&s->result.columns[0], 0);
        else
            leati_apply_as_internal("window_size_func", err);
        leati_block_clear(&s->piece);
        leati_block_clear(&s->result);
    }
    if (status == LEAT_OK && *size <= 0) {
        status = leati_refuse(err, VALUE,
                              "Window size must be greater than zero, but got %lld for key %lld",
                              (long long)*size, (long long)key);
    }
    return status;
}

/* What the function itself fails with is INTERNAL in TensorFlow. */
static void reduce_failed(leat_error *err) {
    /* These say nothing of the function: callers look for the codes themselves. */
    if (err->code != LEAT_RESOURCE_EXHAUSTED && err->code != LEAT_CANCELLED &&
        err->code != LEAT_DEADLINE_EXCEEDED) {
        char before[64];
        snprintf(before, sizeof(before), "reduce_func failed with %s", leat_status_name(err->code));
        leati_error_wrap(err, LEAT_INTERNAL, before);
    }
}

/* Opens the dataset of the group at `place`. */
static leat_status open_group(leati_node_state *node, struct group_state *s, size_t place,
                              int64_t call, leat_error *err) {
    struct group *group = &s->groups[place];
    leat_dataset *dataset =
        leati_row_values_dataset(&group->rows, node->dataset->inputs[0]->spec, err);
    if (dataset == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = arguments(group->key, dataset, &group->rows, &s->piece, err);
    leat_dataset_unref(dataset);
    if (status == LEAT_OK) {
        status =
            leati_inner_open(&s->reduce, node, &s->piece, 0, call, &s->iteration, &s->inner, err);
    }
    leati_block_clear(&s->piece);
    /* A failure in place of a window's end is told once, and then the group is done with. */
    s->inner.ends_at_error = true;
    s->active = status == LEAT_OK;
    s->active_key = group->key;
    if (status != LEAT_OK) {
        reduce_failed(err);
        status = err->code;
    }
    return status;
}

/* Adds the input's next row to the group of `key`; full groups are opened. *taken: the row is in
 * its group, or costs the failure; otherwise it waits for memory. */
static leat_status add_row(leati_node_state *node, struct group_state *s, int64_t key, bool *taken,
                           leat_error *err) {
    size_t place = place_of(s, key);
    leat_status status = LEAT_OK;
    *taken = true;
    /* The size is asked for with a key's first element and holds until the group is given out. */
    if (place == s->num_groups || s->groups[place].key != key) {
        int64_t size = 0;
        LEATI_TRY(window_size(node, s, key, &size, err));
        status = add_group(s, place, key, size, err);
    }
    if (status == LEAT_OK) {
        const leati_input *input = &s->keys.input;
        status = leati_block_slice(&input->block, leati_input_begin(input), 1, &s->piece, err);
    }
    if (status == LEAT_OK) {
        int64_t bytes = (int64_t)leati_block_bytes(&s->piece);
        status = leati_block_append(&s->groups[place].rows, &s->piece, err);
        s->bytes += status == LEAT_OK ? bytes : 0;
    }
    leati_block_clear(&s->piece);
    *taken = status == LEAT_OK;
    /* Equal, not at least: a full group whose function failed grows on and waits for the end, as in
     * TensorFlow. */
    if (status == LEAT_OK && s->groups[place].rows.n == s->groups[place].size)
        status = open_group(node, s, place, s->opened++, err);
    return status;
}

/* Takes one element of the input to its group. MORE, or ERROR, or END of the input. */
static leati_tail next_row(leati_node_state *node, struct group_state *s, leat_error *err) {
    int64_t key = 0;
    bool taken = false;
    /* Before a row is asked for, so that a refusal loses none. */
    if (leati_budget_holder_set(&node->holder, s->bytes, err) != LEAT_OK)
        return LEATI_ERROR;
    leati_tail tail = leati_keys_next(&s->keys, node, &key, err);
    if (tail != LEATI_MORE)
        return tail;
    leat_error error = {0};
    leat_status status = add_row(node, s, key, &taken, &error);
    /* Only now: add_row takes the row from the front of the input. */
    if (taken)
        leati_keys_consume(&s->keys);
    if (status != LEAT_OK) {
        *err = error;
        return LEATI_ERROR;
    }
    return LEATI_MORE;
}

static void close_inner(struct group_state *s) {
    if (s->active) {
        leati_input_close(&s->inner);
        s->active = false;
    }
}

static leati_tail group_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                             leat_error *err) {
    struct group_state *s = state;
    leati_block_clear(out);
    for (;;) {
        if (s->active) {
            leati_tail tail = leati_input_take(&s->inner, want, out, err);
            if (tail != LEATI_END)
                return tail;
            close_inner(s);
            /* A saved state needs the rows of the group until its dataset has ended. */
            remove_group(s, place_of(s, s->active_key));
            if (out->n > 0)
                return LEATI_MORE;
        } else if (!s->ended) {
            leati_tail tail = next_row(node, s, err);
            s->ended = tail == LEATI_END;
            if (tail == LEATI_ERROR)
                return tail;
        } else if (s->num_groups == 0) {
            return LEATI_END;
        } else if (open_group(node, s, 0, s->opened++, err) != LEAT_OK) {
            return LEATI_ERROR;
        }
    }
}

static leat_status group_save(leati_node_state *node, void *state, leati_writer *out,
                              leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct group_state *s = state;
    leati_put_int(out, s->keys.calls);
    leati_put_int(out, s->opened);
    leati_put_uint(out, s->ended);
    leati_put_uint(out, s->num_groups);
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < s->num_groups && status == LEAT_OK; i++) {
        leati_put_int(out, s->groups[i].key);
        leati_put_int(out, s->groups[i].size);
        cost->data_elements += s->groups[i].rows.n;
        status = leati_values_put_block(out, &s->groups[i].rows, 0, s->groups[i].rows.n, err);
    }
    leati_put_uint(out, s->active);
    leati_put_int(out, s->active_key);
    if (status == LEAT_OK)
        status = leati_input_save(&s->keys.input, out, cost, err);
    return status == LEAT_OK && s->active ? leati_input_save(&s->inner, out, cost, err) : status;
}

static leat_status restore_groups(leati_node_state *node, struct group_state *s, uint64_t count,
                                  leati_reader *in, leat_error *err) {
    leat_status status = LEAT_OK;
    for (uint64_t i = 0; i < count && status == LEAT_OK; i++) {
        int64_t key = 0, size = 0;
        status = leati_get_int(in, &key, err);
        if (status == LEAT_OK)
            status = leati_get_int(in, &size, err);
        /* Groups are found by halving: an order that is broken would lose some. */
        if (status == LEAT_OK && i > 0 && s->groups[i - 1].key >= key) {
            status =
                leati_fail(err, LEAT_DATA_LOSS, "%s: saved groups are not in order", node->name);
        }
        if (status == LEAT_OK)
            status = add_group(s, (size_t)i, key, size, err);
        if (status == LEAT_OK) {
            status =
                leati_values_get_block(in, node->dataset->inputs[0]->spec, &s->groups[i].rows, err);
        }
        if (status == LEAT_OK)
            s->bytes += (int64_t)leati_block_bytes(&s->groups[i].rows);
    }
    return status;
}

static leat_status restore_active(leati_node_state *node, struct group_state *s, leati_reader *in,
                                  leat_error *err) {
    size_t place = place_of(s, s->active_key);
    if (place == s->num_groups || s->groups[place].key != s->active_key) {
        return leati_fail(err, LEAT_DATA_LOSS, "%s: the group that was being read is not saved",
                          node->name);
    }
    /* By the number of the call that opened it first: random operations draw the same again. */
    leat_status status = open_group(node, s, place, s->opened - 1, err);
    return status == LEAT_OK ? leati_input_restore(&s->inner, in, err) : status;
}

static leat_status group_restore(leati_node_state *node, void *state, leati_reader *in,
                                 leat_error *err) {
    struct group_state *s = state;
    uint64_t ended = 0, count = 0, active = 0;
    clear_groups(s);
    leat_status status = leati_get_int(in, &s->keys.calls, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->opened, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &count, err);
    if (status == LEAT_OK)
        status = restore_groups(node, s, count, in, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &active, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->active_key, err);
    if (status == LEAT_OK)
        status = leati_input_restore(&s->keys.input, in, err);
    s->ended = ended != 0;
    return status == LEAT_OK && active != 0 ? restore_active(node, s, in, err) : status;
}

static leat_status group_reset(leati_node_state *node, void *state, leat_error *err) {
    (void)node;
    struct group_state *s = state;
    close_inner(s);
    clear_groups(s);
    s->ended = false;
    return leati_keys_reset(&s->keys, err);
}

static void group_close(leati_node_state *node, void *state) {
    (void)node;
    struct group_state *s = state;
    close_inner(s);
    clear_groups(s);
    leati_free(s->groups);
    leati_keys_close(&s->keys);
    leati_apply_close(&s->size);
    leati_inner_fini(&s->reduce);
    leati_block_fini(&s->piece);
    leati_block_fini(&s->result);
}

const leati_dataset_op leati_op_group_by_window = {
    .name = "group_by_window",
    .version = 1,
    .doc = "The elements of the datasets that `reduce_func` makes of groups of elements with one "
           "key. Saved as the elements of all groups and the positions of the input and of the "
           "dataset being read; restoring calls the function once.",
    .names = "Dataset.group_by_window experimental.group_by_window",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct group_args),
    .rows = group_rows,
    .check = group_check,
    .spec = group_spec,
    .function_input = group_function_input,
    .cardinality = group_cardinality,
    .share = group_share,
    .unshare = group_unshare,
    .state_size = sizeof(struct group_state),
    .open = group_open,
    .pull = group_pull,
    .save = group_save,
    .restore = group_restore,
    .reset = group_reset,
    .close = group_close,
};

leat_dataset *leat_dataset_group_by_window(leat_dataset *input, leat_function *key_func,
                                           leat_function *reduce_func, int64_t window_size,
                                           leat_function *window_size_func, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct group_args args = {.key_func = (leat_object *)key_func,
                              .reduce_func = (leat_object *)reduce_func,
                              .window_size = window_size_func == NULL ? window_size : INT64_MIN,
                              .window_size_func = (leat_object *)window_size_func};
    leat_dataset *dataset = NULL;
    if (!leati_apply_function_is_missing(key_func, "group_by_window", "key_func", &input, 1, err) &&
        !leati_apply_function_is_missing(reduce_func, "group_by_window", "reduce_func", &input, 1,
                                         err))
        dataset = leati_dataset_new(&leati_op_group_by_window, &args, &input, 1, err);
    leat_function_unref(key_func);
    leat_function_unref(reduce_func);
    leat_function_unref(window_size_func);
    return dataset;
}
