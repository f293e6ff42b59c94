/* pack: sequences of any length one after the other in windows of equal length.
 *
 * Beyond tf.data; the field calls it packing. The components of an element are vectors of one
 * length, the element's tokens. Happy path: room for several windows is taken from pools, and each
 * sequence is copied into it run by run; a full window is handed on, the last one at the end.
 * Beside the components a window tells in segment_ids which sequence of the window a token is of,
 * from 1 on, and in positions its place in that sequence; in the padding both are 0. With `split`
 * a sequence goes on in the next window; without, one that does not fit begins the next window.
 *
 * Failures: an error of the input ends its own place alone, as does an element whose components
 * are no vectors of one length, or that is longer than a window may hold (INVALID_ARGUMENT); the
 * window that was being filled waits for the next pull. Only then do tokens stay here, and what is
 * saved of them is where the input stood when their window began (the anchor), or the tokens
 * themselves where the input cannot be read again. No locks. */
#include "base/minmax.h"
#include "data/run/input.h"
#include "data/run/windows.h"
#include <leat/data_ops.h>
#include <string.h>

#define MOST_ASKED 4096 /* elements at once */

struct pack_args {
    int64_t length;
    bool split, truncate, drop_remainder;
    leat_element pad_value;
};

#define ROW(field) .offset = offsetof(struct pack_args, field)

static const leati_row pack_rows[] = {
    {.name = "length",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(length),
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "Tokens of a window."},
    {.name = "split",
     .type = LEATI_ROW_BOOL,
     ROW(split),
     .default_number = 1,
     .doc = "A sequence that does not fit goes on in the next window; else it begins there."},
    {.name = "truncate",
     .type = LEATI_ROW_BOOL,
     ROW(truncate),
     .doc = "Without split: cut a sequence longer than a window; else it is an error."},
    {.name = "pad_value",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_NONE,
     ROW(pad_value),
     .doc = "A scalar, or a structure of them; none: 0, false or \"\"."},
    {.name = "drop_remainder",
     .type = LEATI_ROW_BOOL,
     ROW(drop_remainder),
     .doc = "Leave out a last window that is not full."},
    {0},
};

enum { POSITIONS = -1, SEGMENT_IDS = -2 };

/* Where the input stood when the present window began. Valid while the window has tokens. */
struct anchor {
    bool current;          /* in the block that `input` holds; else `snapshot` is from before it */
    leati_writer snapshot; /* empty: the input gave none */
    leati_save_cost cost;  /* of restoring it */
    int64_t index;         /* outcomes of the block before the window's first sequence */
    int64_t offset;        /* tokens of that sequence before the window */
    int64_t since;         /* outcomes consumed from there on */
};

struct pack_state {
    leati_input input;
    leati_run_windows windows;
    int *inputs;               /* the component that each of the windows' shows, or what is added */
    int32_t segment;           /* its sequences */
    bool closed;               /* it takes no more, though it is not full */
    int64_t offset;            /* tokens of the input's present sequence that were taken */
    int64_t sequences, tokens; /* seen so far, for how many to ask for */
    struct anchor anchor;
};

/* ---- the plan side ---- */

static bool all_tensors(const leat_spec *spec) {
    leat_spec_kind kind = leat_spec_get_kind(spec);
    if (kind == LEAT_SPEC_TENSOR)
        return leat_spec_dtype(spec) != LEAT_OBJECT;
    bool good = kind == LEAT_SPEC_TUPLE || kind == LEAT_SPEC_DICT;
    for (int i = 0; i < leat_spec_num_children(spec) && good; i++)
        good = all_tensors(leat_spec_child(spec, i));
    return good;
}

static leat_status check_vectors(const leat_spec *input, leat_error *err) {
    int64_t known = LEAT_UNKNOWN_DIM;
    if (!all_tensors(input) || leat_spec_num_components(input) == 0) {
        return leati_refuse(
            err, STRUCTURE,
            "pack: the elements are no structure of dense tensors; expected vectors "
            "of one length");
    }
    for (int c = 0; c < leat_spec_num_components(input); c++) {
        leat_shape shape = leat_spec_component_shape(input, c);
        char text[128];
        if (shape.rank != LEAT_UNKNOWN_RANK && shape.rank != 1) {
            return leati_refuse(
                err, SHAPE,
                "pack: component %d has shape %s; expected a vector: reshape it in a "
                "map before",
                c, leati_shape_text(&shape, text));
        }
        int64_t size = shape.rank == 1 ? shape.dims[0] : LEAT_UNKNOWN_DIM;
        if (size >= 0 && known >= 0 && size != known) {
            return leati_refuse(err, SHAPE,
                                "pack: component %d has %lld values, another one %lld; expected "
                                "vectors of one length",
                                c, (long long)size, (long long)known);
        }
        known = size >= 0 ? size : known;
    }
    return LEAT_OK;
}

/* The input's structure with leaves of one shape. Owned. */
static leat_spec *with_shape(const leat_spec *input, leat_shape shape, leat_error *err) {
    size_t count = (size_t)leat_spec_num_components(input);
    leat_dtype *dtypes = leati_alloc(count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(count, sizeof(*shapes));
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
    } else {
        for (size_t c = 0; c < count; c++) {
            dtypes[c] = leat_spec_component_dtype(input, (int)c);
            shapes[c] = shape;
        }
        spec = leati_spec_like(input, dtypes, shapes, err);
    }
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

static leat_status check_pad(const leat_spec *input, const leat_element *pad, leat_error *err) {
    char text[200];
    if (pad->spec == NULL || leat_spec_get_kind(pad->spec) == LEAT_SPEC_NONE)
        return LEAT_OK;
    bool fits = leat_spec_get_kind(pad->spec) == LEAT_SPEC_TENSOR && pad->tensors[0].rank == 0;
    for (int c = 0; c < leat_spec_num_components(input) && fits; c++)
        fits = pad->tensors[0].dtype == leat_spec_component_dtype(input, c);
    if (fits)
        return LEAT_OK;
    leat_spec *expected = with_shape(input, LEAT_SCALAR, err);
    if (expected == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    fits = leat_spec_equal(expected, pad->spec);
    leat_spec_print(expected, text, sizeof(text));
    leat_spec_unref(expected);
    return fits ? LEAT_OK
                : leati_refuse(err, SHAPE,
                               "pack: pad_value does not fit the elements; expected %s, or one "
                               "scalar where all dtypes are equal",
                               text);
}

static leat_status pack_check(leat_dataset *dataset, leat_error *err) {
    const struct pack_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    if (args->split && args->truncate) {
        return leati_refuse(err, VALUE,
                            "pack: truncate with split, where nothing is cut; give one of them");
    }
    LEATI_TRY(check_vectors(input, err));
    return check_pad(input, &args->pad_value, err);
}

static bool is_added(const char *key) {
    return strcmp(key, "positions") == 0 || strcmp(key, "segment_ids") == 0;
}

/* A dict of the input's entries, or of "tokens" where it is no dict, and what is added. */
static leat_spec *pack_spec(const leat_dataset *dataset, leat_error *err) {
    const struct pack_args *args = dataset->args;
    const leat_spec *input = dataset->inputs[0]->spec;
    leat_spec *shown = with_shape(input, LEAT_SHAPE(args->length), err);
    if (shown == NULL)
        return NULL;
    bool dict = leat_spec_get_kind(shown) == LEAT_SPEC_DICT;
    int count = dict ? leat_spec_num_children(shown) : 1;
    const char **keys = leati_alloc((size_t)count + 2, sizeof(*keys));
    leat_spec **children = leati_alloc((size_t)count + 2, sizeof(leat_spec *));
    leat_spec *spec = NULL;
    if (keys == NULL || children == NULL) {
        leati_no_memory(err);
        goto done;
    }
    for (int i = 0; dict && i < count; i++) {
        if (is_added(leat_spec_key(shown, i))) {
            leati_refuse(err, STRUCTURE,
                         "pack: the elements have an entry \"%s\", which pack adds; rename it in a "
                         "map before",
                         leat_spec_key(shown, i));
            goto done;
        }
    }
    for (int i = 0; i < count; i++) {
        keys[i] = dict ? leat_spec_key(shown, i) : "tokens";
        children[i] = leat_spec_ref(dict ? leat_spec_child(shown, i) : shown);
    }
    keys[count] = "positions";
    children[count] = leat_spec_tensor(LEAT_INT32, LEAT_SHAPE(args->length), err);
    keys[count + 1] = "segment_ids";
    children[count + 1] = leat_spec_ref(children[count]);
    spec = leat_spec_dict(keys, children, count + 2, err);
done:
    leati_free(keys);
    leati_free(children);
    leat_spec_unref(shown);
    return spec;
}

static int64_t pack_cardinality(const leat_dataset *dataset) {
    int64_t input = dataset->inputs[0]->cardinality;
    return input == LEAT_INFINITE_CARDINALITY ? input : LEAT_UNKNOWN_CARDINALITY;
}

/* ---- taking sequences ---- */

static leat_status pack_open(leati_node_state *node, void *state, leat_error *err) {
    struct pack_state *s = state;
    const leat_spec *spec = node->dataset->spec;
    const struct pack_args *args = node->dataset->args;
    LEATI_TRY(leati_windows_open(&s->windows, spec, args->length, err));
    s->inputs = leati_alloc((size_t)s->windows.count, sizeof(*s->inputs));
    if (s->inputs == NULL)
        return leati_no_memory(err);
    for (int i = 0, c = 0, in = 0; i < leat_spec_num_children(spec); i++) {
        const char *key = leat_spec_key(spec, i);
        for (int n = leat_spec_num_components(leat_spec_child(spec, i)); n > 0; n--, c++) {
            s->inputs[c] = !is_added(key) ? in++ : key[0] == 'p' ? POSITIONS : SEGMENT_IDS;
            if (s->inputs[c] >= 0 && args->pad_value.num_tensors > 0) {
                bool one = args->pad_value.num_tensors == 1;
                s->windows.columns[c].pad = &args->pad_value.tensors[one ? 0 : s->inputs[c]];
            }
        }
    }
    LEATI_TRY(leati_input_open(&s->input, node, 0, err));
    if (leati_input_pure(&s->input))
        s->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return LEAT_OK;
}

/* The length of the sequence in row `row`, cut where the arguments say so. */
static leat_status sequence_length(const struct pack_args *args, const leati_block *block,
                                   int64_t row, int64_t *length, leat_error *err) {
    for (int c = 0; c < block->num_columns; c++) {
        leat_shape shape = leati_column_row_shape(&block->columns[c], row);
        char text[128];
        if (shape.rank != 1) {
            return leati_refuse(err, SHAPE, "component %d has shape %s; expected a vector", c,
                                leati_shape_text(&shape, text));
        }
        if (c > 0 && shape.dims[0] != *length) {
            return leati_refuse(err, SHAPE,
                                "component %d has %lld values, component 0 has %lld; expected "
                                "vectors of one length",
                                c, (long long)shape.dims[0], (long long)*length);
        }
        *length = shape.dims[0];
    }
    int64_t most = args->split ? INT32_MAX : args->length;
    if (*length > most && !args->truncate) {
        return leati_refuse(err, VALUE, "a sequence of %lld values; expected at most %lld%s",
                            (long long)*length, (long long)most,
                            args->split ? "" : ": use split, truncate or a greater length");
    }
    *length = *length < most ? *length : most;
    return LEAT_OK;
}

/* Consumes the outcome in front. */
static void pass(struct pack_state *s) {
    leati_input_consume(&s->input, 1);
    s->offset = 0;
    s->anchor.since += s->windows.fill > 0; /* an empty window has no anchor yet */
}

/* Copies `n` tokens of the sequence in row `row`. */
static leat_status copy_run(struct pack_state *s, int64_t row, int64_t n, leat_error *err) {
    s->segment++;
    for (int c = 0; c < s->windows.count; c++) {
        void *to = leati_windows_at(&s->windows, c, s->windows.fill);
        if (s->inputs[c] < 0) {
            bool counts = s->inputs[c] == POSITIONS;
            int32_t *numbers = to, first = counts ? (int32_t)s->offset : s->segment;
            for (int32_t i = 0; i < n; i++)
                numbers[i] = counts ? first + i : first;
            continue;
        }
        const leati_column *column = &s->input.block.columns[s->inputs[c]];
        const char *from = leati_column_row(column, row);
        size_t size = s->windows.columns[c].size;
        memcpy(to, from + (size_t)s->offset * size, (size_t)n * size);
        leat_status status = leati_column_hold(column, row, 1, s->windows.columns[c].buffer, err);
        if (status != LEAT_OK) {
            s->segment--;
            return status;
        }
    }
    return LEAT_OK;
}

/* The input is about to give its next block: what the window needs of the old one stays. */
static void keep_snapshot(struct pack_state *s) {
    const leati_input *input = &s->input;
    bool used_up = input->loaded && input->tail != LEATI_END &&
                   input->consumed == input->block.n + (input->tail == LEATI_ERROR);
    if (s->windows.fill > 0 && s->anchor.current && used_up) {
        leati_writer kept = s->input.snapshot;
        s->input.snapshot = s->anchor.snapshot;
        s->input.snapshot.size = 0; /* its memory is for the next one */
        s->anchor.snapshot = kept;
        s->anchor.cost = input->cost;
        s->anchor.current = false;
    }
}

/* How many elements to ask for: about as many as `windows` windows need, where more than that does
 * no harm. */
static int64_t to_ask(const struct pack_state *s, int64_t length, int64_t windows) {
    if (s->tokens == 0 || !leati_input_pure(&s->input))
        return 1;
    double need = (double)length * (double)windows * (double)s->sequences / (double)s->tokens;
    return need < MOST_ASKED ? 1 + (int64_t)need : MOST_ASKED;
}

/* Takes what the present window still holds of the sequence in front, or closes the window. ERROR:
 * one outcome of the input, or one sequence, is an error and consumed. */
static leati_tail take_sequence(const struct pack_args *args, struct pack_state *s, int64_t windows,
                                leat_error *err) {
    int64_t available = 0, n = 0;
    keep_snapshot(s);
    leati_tail tail =
        leati_input_peek(&s->input, to_ask(s, args->length, windows), NULL, &available, err);
    if (available == 0) {
        if (tail == LEATI_ERROR)
            pass(s);
        return tail;
    }
    int64_t row = leati_input_begin(&s->input);
    if (sequence_length(args, &s->input.block, row, &n, err) != LEAT_OK) {
        pass(s);
        return LEATI_ERROR;
    }
    int64_t left = n - s->offset, room = args->length - s->windows.fill;
    if (left > room && !args->split) {
        s->closed = true;
        return LEATI_MORE;
    }
    int64_t run = LEATI_MIN(left, room);
    if (run > 0 && s->windows.fill == 0) {
        s->anchor.current = true;
        s->anchor.index = row;
        s->anchor.offset = s->offset;
        s->anchor.since = 0;
    }
    if (run > 0 && copy_run(s, row, run, err) != LEAT_OK)
        return LEATI_ERROR;
    s->windows.fill += LEATI_MAX(run, 0);
    s->offset += LEATI_MAX(run, 0);
    if (s->offset >= n) { /* at once for a sequence without tokens */
        s->sequences++;
        s->tokens += n;
        pass(s);
    }
    return LEATI_MORE;
}

static bool is_complete(const struct pack_args *args, const struct pack_state *s) {
    return s->closed || s->windows.fill == args->length;
}

static void begin_window(struct pack_state *s) {
    s->windows.fill = 0;
    s->segment = 0;
    s->closed = false;
}

/* What is left when a pull ends with `tail`: the window that an error broke off. */
static void settle(leati_node_state *node, struct pack_state *s, leati_tail tail) {
    bool kept = s->windows.fill > 0 && tail == LEATI_ERROR;
    size_t bytes = kept ? leati_windows_held(&s->windows) : 0;
    if (!kept) { /* no window waits for the next pull */
        begin_window(s);
        leati_windows_drop(&s->windows);
    }
    if (node->holder.bytes != (int64_t)bytes &&
        leati_budget_holder_set(&node->holder, (int64_t)bytes, &(leat_error){0}) != LEAT_OK)
        return; /* a refusal: the memory is there already, and it is that of one pull */
}

static leati_tail pack_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    struct pack_state *s = state;
    const struct pack_args *args = node->dataset->args;
    int64_t first = s->windows.row, n = 0;
    leati_tail tail = LEATI_MORE;
    leati_block_clear(out);
    if (s->windows.rows == 0 &&
        leati_windows_take(&s->windows, want, out->byte_target, err) != LEAT_OK)
        return LEATI_ERROR;
    int64_t most = LEATI_MIN(s->windows.rows - first, want);
    while (n < most && tail == LEATI_MORE) {
        tail = take_sequence(args, s, most - n, err);
        bool last = tail == LEATI_END && s->windows.fill > 0 && !args->drop_remainder;
        if (last || (tail == LEATI_MORE && is_complete(args, s))) {
            tail = leati_windows_pad(&s->windows, err) == LEAT_OK ? tail : LEATI_ERROR;
            n += tail != LEATI_ERROR;
            s->windows.row += tail != LEATI_ERROR;
            begin_window(s);
        }
    }
    if (n > 0 && leati_windows_hand_on(&s->windows, first, n, out, err) != LEAT_OK)
        tail = LEATI_ERROR;
    settle(node, s, tail);
    return tail;
}

/* ---- saving ---- */

enum { SAVED_NOTHING = 0, SAVED_ANCHOR, SAVED_TOKENS };

static leat_status save_anchor(struct pack_state *s, const leati_writer *snapshot,
                               leati_writer *out, leati_save_cost *cost, leat_error *err) {
    leati_put_uint(out, SAVED_ANCHOR);
    leati_put_bytes(out, snapshot->data, snapshot->size);
    leati_put_int(out, s->anchor.index);
    leati_put_int(out, s->anchor.offset);
    leati_put_int(out, s->anchor.since);
    leati_put_int(out, s->windows.fill);
    cost->replay_elements += s->anchor.index + s->anchor.since;
    leati_op_save_cost_add(cost, s->anchor.current ? &s->input.cost : &s->anchor.cost);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status pack_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    struct pack_state *s = state;
    (void)node;
    const leati_writer *snapshot = s->anchor.current ? &s->input.snapshot : &s->anchor.snapshot;
    if (s->windows.fill > 0 && snapshot->size > 0 && cost->mode != LEAT_SAVE_DATA)
        return save_anchor(s, snapshot, out, cost, err);
    leati_put_uint(out, s->windows.fill > 0 ? SAVED_TOKENS : SAVED_NOTHING);
    if (s->windows.fill > 0) {
        cost->data_elements += s->segment;
        leati_put_int(out, s->segment);
        LEATI_TRY(leati_windows_put(&s->windows, out, err));
    }
    leati_put_int(out, s->offset);
    return leati_input_save(&s->input, out, cost, err);
}

static leat_status damaged(leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "pack: the saved state does not fit the plan");
}

/* Fills the window again from where it began; errors were delivered before. */
static leat_status refill(const struct pack_args *args, struct pack_state *s, int64_t outcomes,
                          int64_t fill, leat_error *err) {
    for (int64_t i = 0; i < outcomes; i++) {
        leat_error passed = {0};
        leati_tail tail = take_sequence(args, s, 1, &passed);
        if (tail == LEATI_ERROR && passed.code == LEAT_RESOURCE_EXHAUSTED)
            return leati_error_pass(err, &passed);
        if (tail == LEATI_END || is_complete(args, s))
            break;
    }
    if (s->windows.fill != fill || s->anchor.since != outcomes) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "pack: %lld outcomes again gave %lld tokens, when it was saved %lld; "
                          "restore with the same input files",
                          (long long)s->anchor.since, (long long)s->windows.fill, (long long)fill);
    }
    return LEAT_OK;
}

static leat_status restore_anchor(const struct pack_args *args, struct pack_state *s,
                                  leati_reader *in, leat_error *err) {
    const void *data = NULL;
    leati_reader snapshot = {0};
    int64_t numbers[4] = {0}, passed = 0;
    LEATI_TRY(leati_get_bytes(in, &data, &snapshot.size, err));
    snapshot.data = data;
    for (int i = 0; i < 4; i++) {
        LEATI_TRY(leati_get_int(in, &numbers[i], err));
        if (numbers[i] < 0)
            return damaged(err);
    }
    if (numbers[1] > INT32_MAX || numbers[3] >= args->length)
        return damaged(err);
    LEATI_TRY(leati_state_node_restore(s->input.child, &snapshot, err));
    leat_error local = {0};
    leati_input_advance(&s->input, numbers[0], &passed, &local);
    if (passed != numbers[0])
        return damaged(err);
    s->offset = numbers[1];
    return refill(args, s, numbers[2], numbers[3], err);
}

static leat_status restore_tokens(struct pack_state *s, leati_reader *in, leat_error *err) {
    int64_t segment = 0;
    bool fits = false;
    LEATI_TRY(leati_get_int(in, &segment, err));
    LEATI_TRY(leati_windows_get(&s->windows, in, &fits, err));
    if (!fits || segment < 1 || segment > s->windows.fill)
        return damaged(err);
    s->segment = (int32_t)segment;
    s->anchor.current = false;
    s->anchor.snapshot.size = 0;
    return LEAT_OK;
}

static leat_status pack_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    struct pack_state *s = state;
    uint64_t how = 0;
    LEATI_TRY(leati_get_uint(in, &how, err));
    if (how > SAVED_TOKENS)
        return damaged(err);
    if (how != SAVED_NOTHING) /* a window to be filled again */
        LEATI_TRY(leati_windows_take(&s->windows, 1, 0, err));
    if (how == SAVED_ANCHOR)
        return restore_anchor(node->dataset->args, s, in, err);
    if (how == SAVED_TOKENS)
        LEATI_TRY(restore_tokens(s, in, err));
    LEATI_TRY(leati_get_int(in, &s->offset, err));
    if (s->offset < 0 || s->offset > INT32_MAX)
        return damaged(err);
    return leati_input_restore(&s->input, in, err);
}

static leat_status pack_reset(leati_node_state *node, void *state, leat_error *err) {
    struct pack_state *s = state;
    begin_window(s);
    leati_windows_drop(&s->windows);
    s->offset = 0;
    LEATI_TRY(leati_budget_holder_set(&node->holder, 0, err));
    return leati_input_reset(&s->input, err);
}

static void pack_close(leati_node_state *node, void *state) {
    (void)node;
    struct pack_state *s = state;
    leati_windows_close(&s->windows);
    leati_free(s->inputs);
    leati_writer_fini(&s->anchor.snapshot);
    leati_input_close(&s->input);
}

const leati_dataset_op leati_op_pack = {
    .name = "pack",
    .version = 1,
    .doc = "Sequences of any length one after the other in windows of `length` tokens, with "
           "segment_ids and positions. Saved as the input's position and a place in its sequence; "
           "after an error as the place where the window began, or its tokens where the input "
           "cannot be read again. Restoring costs the sequences of a window.",
    .names = "Dataset.pack experimental.pack",
    .num_inputs = 1,
    .flow = LEATI_MORE_OUT,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .args_size = sizeof(struct pack_args),
    .rows = pack_rows,
    .check = pack_check,
    .spec = pack_spec,
    .cardinality = pack_cardinality,
    .state_size = sizeof(struct pack_state),
    .open = pack_open,
    .pull = pack_pull,
    .save = pack_save,
    .restore = pack_restore,
    .reset = pack_reset,
    .close = pack_close,
};

leat_dataset *leat_dataset_pack(leat_dataset *input, int64_t length,
                                const leat_dataset_pack_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_pack_options o = {LEAT_DATASET_PACK_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_pack_options, &o, options, &input, 1, err))
        return NULL;
    struct pack_args args = {.length = length,
                             .split = o.split,
                             .truncate = o.truncate,
                             .drop_remainder = o.drop_remainder,
                             .pad_value = o.pad_value != NULL ? *o.pad_value : (leat_element){0}};
    return leati_dataset_new(&leati_op_pack, &args, &input, 1, err);
}
