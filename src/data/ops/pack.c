/* pack: sequences of any length one after the other in windows of equal length.
 *
 * Beyond tf.data; the field calls it packing, or concat-then-split. The components of an element
 * are vectors of one length, the element's tokens. Happy path: room for several windows is taken
 * from pools, and each sequence is copied into it run by run; a window is handed on when it is
 * full, the last one at the input's end. Beside the components a window tells in segment_ids which
 * sequence of the window a token is of, from 1 on, and in positions its place in that sequence; in
 * the padding both are 0. With `split` a sequence goes on in the next window; without, one that
 * does not fit begins the next window.
 *
 * Failures: an error of the input ends its own place alone, as does an element whose components are
 * no vectors of one length, or that is longer than a window may hold (INVALID_ARGUMENT); the window
 * that was being filled waits for the next pull. Only then do tokens stay here, and what is saved
 * of them is where the input stood when their window began (the anchor), or the tokens themselves
 * where the input cannot be read again. No locks. */
#include "base/minmax.h"
#include "core/pools.h"
#include "data/run/rows.h"
#include "data/values/values.h"
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

/* A component of the windows. */
struct output {
    int input; /* the component of the input that it shows; POSITIONS or SEGMENT_IDS */
    leat_dtype dtype;
    size_t size;            /* of a value */
    const leat_tensor *pad; /* a scalar that the arguments own; NULL: zeros */
    leat_buffer *buffer;    /* room for `rows` windows, or NULL */
};

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
    leati_pools pools;
    struct output *outputs;
    int count;
    int64_t rows, row;         /* windows that the buffers have room for; the present one */
    int64_t fill;              /* tokens of the present window */
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
    leat_status status = check_vectors(input, err);
    return status == LEAT_OK ? check_pad(input, &args->pad_value, err) : status;
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

/* ---- room for windows ---- */

static void drop_room(struct pack_state *s) {
    for (int c = 0; c < s->count; c++) {
        leat_buffer_unref(s->outputs[c].buffer);
        s->outputs[c].buffer = NULL;
    }
    s->rows = s->row = 0;
}

/* Bytes of a window; SIZE_MAX: more than there can be. */
static size_t window_bytes(const struct pack_state *s, int64_t length) {
    size_t bytes = 0, part = 0;
    for (int c = 0; c < s->count; c++)
        if (!leati_mul_size((size_t)length, s->outputs[c].size, &part) ||
            !leati_add_size(bytes, part, &bytes))
            return SIZE_MAX;
    return bytes;
}

/* Room for up to `want` windows. A buffer of strings is told what to hold, which only a sole owner
 * may do; so it has one window. */
static leat_status take_room(struct pack_state *s, int64_t length, int64_t want, size_t target,
                             leat_error *err) {
    size_t window = window_bytes(s, length);
    target = target > 0 ? target : LEATI_BYTE_TARGET;
    size_t fit = window < target ? target / window : 1;
    s->rows = fit < (uint64_t)want ? (int64_t)fit : want;
    for (int c = 0; c < s->count; c++)
        s->rows = s->outputs[c].dtype == LEAT_STRING ? 1 : s->rows;
    for (int c = 0; c < s->count; c++) {
        size_t bytes = 0;
        if (!leati_mul_size((size_t)(s->rows * length), s->outputs[c].size, &bytes))
            bytes = SIZE_MAX;
        s->outputs[c].buffer = leati_pools_take(&s->pools, bytes, err);
        if (s->outputs[c].buffer == NULL) {
            drop_room(s);
            return LEAT_RESOURCE_EXHAUSTED;
        }
    }
    return LEAT_OK;
}

/* Where value `at` of the present window lies. */
static void *place_of(const struct pack_state *s, int c, int64_t length, int64_t at) {
    const struct output *output = &s->outputs[c];
    return (char *)output->buffer->data + (size_t)(s->row * length + at) * output->size;
}

/* Pads what is left of the present window. */
static leat_status pad_window(struct pack_state *s, int64_t length, leat_error *err) {
    leat_status status = LEAT_OK;
    for (int c = 0; c < s->count && status == LEAT_OK && s->fill < length; c++) {
        const struct output *output = &s->outputs[c];
        leati_rows_fill_values(place_of(s, c, length, s->fill), length - s->fill, output->size,
                               output->pad);
        if (output->dtype == LEAT_STRING && output->pad != NULL && output->pad->owner != NULL)
            status = leati_buffer_hold(output->buffer, output->pad->owner, err);
    }
    return status;
}

/* `out` becomes the `n` windows from `first` on. */
static leat_status hand_on(struct pack_state *s, int64_t length, int64_t first, int64_t n,
                           leati_block *out, leat_error *err) {
    LEATI_TRY(leati_block_prepare(out, s->count, err));
    leat_shape shape = LEAT_SHAPE(length);
    for (int c = 0; c < s->count; c++) {
        struct output *output = &s->outputs[c];
        int64_t stride = length * (int64_t)output->size;
        leati_column_strided(&out->columns[c], output->dtype, &shape,
                             (char *)output->buffer->data + first * stride, stride,
                             leat_buffer_ref(output->buffer));
    }
    out->n = n;
    return LEAT_OK;
}

/* ---- taking sequences ---- */

static leat_status pack_open(leati_node_state *node, void *state, leat_error *err) {
    struct pack_state *s = state;
    const leat_spec *spec = node->dataset->spec;
    const struct pack_args *args = node->dataset->args;
    s->count = leat_spec_num_components(spec);
    s->outputs = leati_alloc_zero((size_t)s->count, sizeof(*s->outputs));
    if (s->outputs == NULL)
        return leati_no_memory(err);
    for (int i = 0, c = 0, in = 0; i < leat_spec_num_children(spec); i++) {
        const char *key = leat_spec_key(spec, i);
        for (int n = leat_spec_num_components(leat_spec_child(spec, i)); n > 0; n--, c++) {
            struct output *output = &s->outputs[c];
            output->dtype = leat_spec_component_dtype(spec, c);
            output->size = leat_dtype_size(output->dtype);
            output->input = !is_added(key) ? in++ : key[0] == 'p' ? POSITIONS : SEGMENT_IDS;
            if (output->input >= 0 && args->pad_value.num_tensors > 0) {
                bool one = args->pad_value.num_tensors == 1;
                output->pad = &args->pad_value.tensors[one ? 0 : output->input];
            }
        }
    }
    leat_status status = leati_input_open(&s->input, node, 0, err);
    if (status == LEAT_OK && leati_input_pure(&s->input))
        s->input.snapshots = LEATI_SNAPSHOTS_ALWAYS;
    return status;
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
    s->anchor.since += s->fill > 0;
}

/* Copies `n` tokens of the sequence in row `row`. */
static leat_status copy_run(struct pack_state *s, int64_t length, int64_t row, int64_t n,
                            leat_error *err) {
    s->segment++;
    for (int c = 0; c < s->count; c++) {
        struct output *output = &s->outputs[c];
        void *to = place_of(s, c, length, s->fill);
        if (output->input < 0) {
            bool counts = output->input == POSITIONS;
            int32_t *numbers = to, first = counts ? (int32_t)s->offset : s->segment;
            for (int32_t i = 0; i < n; i++)
                numbers[i] = counts ? first + i : first;
            continue;
        }
        const leati_column *column = &s->input.block.columns[output->input];
        const char *from = leati_column_row(column, row);
        memcpy(to, from + (size_t)s->offset * output->size, (size_t)n * output->size);
        leat_status status = leati_column_hold(column, row, 1, output->buffer, err);
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
    if (s->fill > 0 && s->anchor.current && used_up) {
        leati_writer kept = s->input.snapshot;
        s->input.snapshot = s->anchor.snapshot;
        s->input.snapshot.size = 0;
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
    int64_t left = n - s->offset, room = args->length - s->fill;
    if (left > room && !args->split) {
        s->closed = true;
        return LEATI_MORE;
    }
    int64_t run = LEATI_MIN(left, room);
    if (run > 0 && s->fill == 0) {
        s->anchor.current = true;
        s->anchor.index = row;
        s->anchor.offset = s->offset;
        s->anchor.since = 0;
    }
    if (run > 0 && copy_run(s, args->length, row, run, err) != LEAT_OK)
        return LEATI_ERROR;
    s->fill += LEATI_MAX(run, 0);
    s->offset += LEATI_MAX(run, 0);
    if (s->offset >= n) {
        s->sequences++;
        s->tokens += n;
        pass(s);
    }
    return LEATI_MORE;
}

static bool is_complete(const struct pack_args *args, const struct pack_state *s) {
    return s->closed || s->fill == args->length;
}

static void begin_window(struct pack_state *s) {
    s->fill = 0;
    s->segment = 0;
    s->closed = false;
}

/* What is left when a pull ends with `tail`: the window that an error broke off. */
static void settle(leati_node_state *node, struct pack_state *s, leati_tail tail) {
    bool kept = s->fill > 0 && tail == LEATI_ERROR;
    size_t bytes = 0;
    for (int c = 0; c < s->count && kept; c++)
        bytes += s->outputs[c].buffer->size;
    if (!kept) {
        begin_window(s);
        drop_room(s);
    }
    if (node->holder.bytes != (int64_t)bytes &&
        leati_budget_holder_set(&node->holder, (int64_t)bytes, NULL) != LEAT_OK)
        return; /* a refusal: the memory is there already, and it is that of one pull */
}

static leati_tail pack_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                            leat_error *err) {
    struct pack_state *s = state;
    const struct pack_args *args = node->dataset->args;
    int64_t length = args->length, first = s->row, n = 0;
    leati_tail tail = LEATI_MORE;
    leati_block_clear(out);
    if (s->rows == 0 && take_room(s, length, want, out->byte_target, err) != LEAT_OK)
        return LEATI_ERROR;
    int64_t most = LEATI_MIN(s->rows - first, want);
    while (n < most && tail == LEATI_MORE) {
        tail = take_sequence(args, s, most - n, err);
        bool last = tail == LEATI_END && s->fill > 0 && !args->drop_remainder;
        if (last || (tail == LEATI_MORE && is_complete(args, s))) {
            tail = pad_window(s, length, err) == LEAT_OK ? tail : LEATI_ERROR;
            n += tail != LEATI_ERROR;
            s->row += tail != LEATI_ERROR;
            begin_window(s);
        }
    }
    if (n > 0 && hand_on(s, length, first, n, out, err) != LEAT_OK)
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
    leati_put_int(out, s->fill);
    cost->replay_elements += s->anchor.index + s->anchor.since;
    leati_op_save_cost_add(cost, s->anchor.current ? &s->input.cost : &s->anchor.cost);
    return out->failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status save_tokens(struct pack_state *s, int64_t length, leati_writer *out,
                               leat_error *err) {
    leat_status status = LEAT_OK;
    leati_put_uint(out, SAVED_TOKENS);
    leati_put_int(out, s->segment);
    for (int c = 0; c < s->count && status == LEAT_OK; c++) {
        leat_tensor tokens = {.dtype = s->outputs[c].dtype, .rank = 1, .dims = {s->fill}};
        tokens.data = place_of(s, c, length, 0);
        status = leati_values_put_tensor(out, &tokens, err);
    }
    return status;
}

static leat_status pack_save(leati_node_state *node, void *state, leati_writer *out,
                             leati_save_cost *cost, leat_error *err) {
    struct pack_state *s = state;
    const struct pack_args *args = node->dataset->args;
    const leati_writer *snapshot = s->anchor.current ? &s->input.snapshot : &s->anchor.snapshot;
    if (s->fill > 0 && snapshot->size > 0 && cost->mode != LEAT_SAVE_DATA)
        return save_anchor(s, snapshot, out, cost, err);
    leat_status status = LEAT_OK;
    if (s->fill > 0) {
        cost->data_elements += s->segment;
        status = save_tokens(s, args->length, out, err);
    } else {
        leati_put_uint(out, SAVED_NOTHING);
    }
    leati_put_int(out, s->offset);
    return status == LEAT_OK ? leati_input_save(&s->input, out, cost, err) : status;
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
    if (s->fill != fill || s->anchor.since != outcomes) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "pack: %lld outcomes again gave %lld tokens, when it was saved %lld; "
                          "restore with the same input files",
                          (long long)s->anchor.since, (long long)s->fill, (long long)fill);
    }
    return LEAT_OK;
}

static leat_status restore_anchor(const struct pack_args *args, struct pack_state *s,
                                  leati_reader *in, leat_error *err) {
    const void *data = NULL;
    leati_reader snapshot = {0};
    int64_t numbers[4] = {0}, passed = 0;
    leat_status status = leati_get_bytes(in, &data, &snapshot.size, err);
    snapshot.data = data;
    for (int i = 0; i < 4 && status == LEAT_OK; i++) {
        status = leati_get_int(in, &numbers[i], err);
        if (status == LEAT_OK && numbers[i] < 0)
            status = damaged(err);
    }
    if (status == LEAT_OK && (numbers[1] > INT32_MAX || numbers[3] >= args->length))
        status = damaged(err);
    if (status == LEAT_OK)
        status = leati_state_node_restore(s->input.child, &snapshot, err);
    if (status != LEAT_OK)
        return status;
    leat_error local = {0};
    leati_input_advance(&s->input, numbers[0], &passed, &local);
    if (passed != numbers[0])
        return damaged(err);
    s->offset = numbers[1];
    return refill(args, s, numbers[2], numbers[3], err);
}

static leat_status restore_tokens(int64_t length, struct pack_state *s, leati_reader *in,
                                  leat_error *err) {
    int64_t segment = 0;
    leat_status status = leati_get_int(in, &segment, err);
    for (int c = 0; c < s->count && status == LEAT_OK; c++) {
        struct output *output = &s->outputs[c];
        leat_tensor tokens = {0};
        status = leati_values_get_tensor(in, &tokens, err);
        bool fits = status == LEAT_OK && tokens.dtype == output->dtype && tokens.rank == 1 &&
                    tokens.dims[0] > 0 && tokens.dims[0] < length &&
                    (c == 0 || tokens.dims[0] == s->fill);
        if (status == LEAT_OK && (!fits || segment < 1 || segment > tokens.dims[0]))
            status = damaged(err);
        if (status == LEAT_OK) {
            s->fill = tokens.dims[0];
            memcpy(place_of(s, c, length, 0), tokens.data, (size_t)s->fill * output->size);
            if (output->dtype == LEAT_STRING)
                status = leati_buffer_hold(output->buffer, tokens.owner, err);
        }
        leat_tensor_unref(&tokens);
    }
    s->segment = (int32_t)segment;
    s->anchor.current = false;
    s->anchor.snapshot.size = 0;
    return status;
}

static leat_status pack_restore(leati_node_state *node, void *state, leati_reader *in,
                                leat_error *err) {
    struct pack_state *s = state;
    const struct pack_args *args = node->dataset->args;
    uint64_t how = 0;
    leat_status status = leati_get_uint(in, &how, err);
    if (status == LEAT_OK && how > SAVED_TOKENS)
        status = damaged(err);
    if (status == LEAT_OK && how != SAVED_NOTHING)
        status = take_room(s, args->length, 1, 0, err);
    if (status == LEAT_OK && how == SAVED_ANCHOR)
        return restore_anchor(args, s, in, err);
    if (status == LEAT_OK && how == SAVED_TOKENS)
        status = restore_tokens(args->length, s, in, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->offset, err);
    if (status == LEAT_OK && (s->offset < 0 || s->offset > INT32_MAX))
        status = damaged(err);
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static leat_status pack_reset(leati_node_state *node, void *state, leat_error *err) {
    struct pack_state *s = state;
    begin_window(s);
    drop_room(s);
    s->offset = 0;
    leat_status status = leati_budget_holder_set(&node->holder, 0, err);
    return status == LEAT_OK ? leati_input_reset(&s->input, err) : status;
}

static void pack_close(leati_node_state *node, void *state) {
    (void)node;
    struct pack_state *s = state;
    if (s->outputs != NULL)
        drop_room(s);
    leati_free(s->outputs);
    leati_writer_fini(&s->anchor.snapshot);
    leati_pools_close(&s->pools);
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
    struct pack_args args = {.length = length, .split = true};
    if (options != NULL) {
        args.split = !options->no_split;
        args.truncate = options->truncate;
        args.drop_remainder = options->drop_remainder;
        if (options->pad_value != NULL)
            args.pad_value = *options->pad_value;
    }
    return leati_dataset_new(&leati_op_pack, &args, &input, 1, err);
}
