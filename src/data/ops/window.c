/* window: consecutive elements as datasets, one per component (tf.data.Dataset.window).
 *
 * The elements that the present window spans are kept in `buffer`; a window is a view of them, and
 * then `shift` elements are dropped, where the next window begins behind them without keeping them.
 * An error of the input takes the place of its element: a window that has it fails with it, and the
 * next one begins `shift` further; one that is passed between two windows is never seen. All as in
 * TensorFlow. Cancelling, deadlines and want of memory belong to no element and are delivered at
 * once. */
#include "base/minmax.h"
#include "data/run/input.h"
#include "data/run/origins.h"
#include "data/run/row_values.h"
#include "data/values/values.h"
#include <leat/data_ops.h>
#include <string.h>

struct window_args {
    int64_t size, shift, stride;
    bool drop_remainder;
};

static const leati_row window_rows[] = {
    {.name = "size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct window_args, size),
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "Elements in a window."},
    {.name = "shift",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct window_args, shift),
     .default_number = (double)LEAT_UNSET,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "Elements from the beginning of a window to that of the next; without it, `size`."},
    {.name = "stride",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct window_args, stride),
     .default_number = 1,
     .minimum = 1,
     .maximum = INT64_MAX,
     .doc = "Elements from one of a window to its next."},
    {.name = "drop_remainder",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct window_args, drop_remainder),
     .doc = "Leave out windows that the end cuts short."},
    {0},
};

enum { MOST_AHEAD = 1024 };

struct window_state {
    leati_input input;
    leati_block buffer;  /* the good elements of the present span */
    leat_error **places; /* for each outcome of the span its error, or NULL for an element */
    size_t length, capacity;
    size_t errors;   /* among them */
    int64_t discard; /* outcomes still to pass before the next window */
    bool ended;      /* the input */
    int num_leaves;
    leati_block piece, view;
};

static const struct window_args *args_of(const leat_dataset *dataset) {
    return dataset->args;
}

static int64_t shift_of(const struct window_args *args) {
    return args->shift == LEAT_UNSET ? args->size : args->shift;
}

/* Outcomes that a window spans. */
static int64_t span_of(const struct window_args *args) {
    /* A span that int64 cannot hold is longer than any input. */
    int64_t most = (INT64_MAX - 1) / args->stride;
    return args->size - 1 > most ? INT64_MAX : (args->size - 1) * args->stride + 1;
}

static leat_spec *window_spec(const leat_dataset *dataset, leat_error *err) {
    return leati_row_values_windows_spec(dataset->inputs[0]->spec, err);
}

static int64_t window_cardinality(const leat_dataset *dataset) {
    const struct window_args *args = dataset->args;
    int64_t n = dataset->inputs[0]->cardinality, shift = shift_of(args);
    if (n < 0)
        return n;
    if (args->drop_remainder) {
        int64_t span = span_of(args);
        return n < span ? 0 : (n - span) / shift + 1;
    }
    return n / shift + (n % shift != 0);
}

static leat_status window_open(leati_node_state *node, void *state, leat_error *err) {
    struct window_state *s = state;
    int begin = 0;
    while (leati_row_values_leaf(node->dataset->inputs[0]->spec, s->num_leaves, &begin) != NULL)
        s->num_leaves++;
    leat_status status = leati_input_open(&s->input, node, 0, err);
    s->input.ends_at_error = true;
    return status;
}

/* ---- the buffer ---- */

static leat_status add_places(struct window_state *s, int64_t n, leat_error *err) {
    if (!leati_grow((void **)&s->places, &s->capacity, s->length + (size_t)n, sizeof(*s->places)))
        return leati_no_memory(err);
    memset((void *)(s->places + s->length), 0, (size_t)n * sizeof(*s->places));
    return LEAT_OK;
}

static leat_status add_error(struct window_state *s, const leat_error *error, leat_error *err) {
    /* Errors are rare and large: places hold pointers to them. */
    leat_error *copy = leati_alloc(1, sizeof(*copy));
    leat_status status = copy == NULL ? leati_no_memory(err) : add_places(s, 1, err);
    if (status != LEAT_OK) {
        leati_free(copy);
        return status;
    }
    *copy = *error;
    s->places[s->length++] = copy;
    s->errors++;
    return LEAT_OK;
}

static leat_status add_elements(struct window_state *s, int64_t n, leat_error *err) {
    leat_status status = add_places(s, n, err);
    if (status == LEAT_OK) {
        status =
            leati_block_slice(&s->input.block, leati_input_begin(&s->input), n, &s->piece, err);
    }
    if (status == LEAT_OK)
        status = leati_block_append(&s->buffer, &s->piece, err);
    leati_block_clear(&s->piece);
    s->length += status == LEAT_OK ? (size_t)n : 0;
    return status;
}

static bool is_of_an_element(leat_status code) {
    return code != LEAT_CANCELLED && code != LEAT_DEADLINE_EXCEEDED &&
           code != LEAT_RESOURCE_EXHAUSTED;
}

/* Reads until the buffer spans a window, or the input ends. */
static leat_status fill(leati_node_state *node, struct window_state *s, leat_error *err) {
    int64_t span = span_of(args_of(node->dataset));
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && s->discard > 0 && !s->ended) {
        int64_t passed = 0;
        leati_tail tail = leati_input_advance(&s->input, s->discard, &passed, err);
        s->discard -= passed;
        s->ended = tail == LEATI_END;
        /* Failed elements count as passed; an error that stopped the passing is no element's. */
        status = tail == LEATI_ERROR && s->discard > 0 ? err->code : LEAT_OK;
    }
    while (status == LEAT_OK && (int64_t)s->length < span && !s->ended) {
        int64_t need = span - (int64_t)s->length, available = 0;
        int64_t ask = leati_input_pure(&s->input) && need < MOST_AHEAD ? MOST_AHEAD : need;
        leat_error error = {0};
        leati_tail tail = leati_input_peek(&s->input, ask, NULL, &available, &error);
        if (available > 0) {
            int64_t n = LEATI_MIN(available, need);
            status = add_elements(s, n, err);
            leati_input_consume(&s->input, status == LEAT_OK ? n : 0);
        } else if (tail == LEATI_END || leati_input_failed_at_end(&s->input)) {
            s->ended = true; /* such an error waits behind the last window */
        } else if (is_of_an_element(error.code)) {
            status = add_error(s, &error, err);
            leati_input_consume(&s->input, status == LEAT_OK);
        } else {
            leati_input_consume(&s->input, 1);
            *err = error;
            status = error.code;
        }
    }
    if (status == LEAT_OK) {
        status =
            leati_budget_holder_set(&node->holder, (int64_t)leati_block_bytes(&s->buffer), err);
    }
    return status;
}

static void drop_places(struct window_state *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->errors -= s->places[i] != NULL;
        leati_free(s->places[i]);
    }
    s->length -= n;
    /* Of an empty array nothing is moved: it may be NULL. */
    if (s->length > 0)
        memmove((void *)s->places, (void *)(s->places + n), s->length * sizeof(*s->places));
}

/* Moves on to where the next window begins. What it does not keep is passed at once, as in
 * TensorFlow, whose functions run at this place. */
static leat_status shift_on(leati_node_state *node, struct window_state *s, leat_error *err) {
    int64_t shift = shift_of(args_of(node->dataset)), good = 0;
    size_t drop = shift < (int64_t)s->length ? (size_t)shift : s->length;
    for (size_t i = 0; i < drop; i++)
        good += s->places[i] == NULL;
    leat_status status = LEAT_OK;
    if (good == s->buffer.n)
        leati_block_clear(&s->buffer);
    else
        status = leati_block_slice(&s->buffer, good, s->buffer.n - good, &s->buffer, err);
    if (status == LEAT_OK) {
        s->discard = s->ended ? 0 : shift - (int64_t)drop;
        drop_places(s, drop);
    }
    return status;
}

/* ---- windows ---- */

/* Makes `view` the rows of the present window; *failed is the first error among them. */
static leat_status look(struct window_state *s, int64_t stride, const leat_error **failed,
                        leat_error *err) {
    /* Places 0, stride, 2 * stride and so on, as far as the span goes at the input's end. */
    int64_t n = ((int64_t)s->length - 1) / stride + 1;
    *failed = NULL;
    if (s->errors == 0)
        return leati_block_stride(&s->buffer, 0, stride, n, &s->view, err);
    leat_buffer *buffer = leat_buffer_new((size_t)n * sizeof(uint32_t), err);
    if (buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* Rows of the buffer are the good elements alone: a place's row is how many of them precede
     * it. */
    uint32_t *rows = leat_buffer_data(buffer), good = 0;
    int64_t taken = 0;
    for (size_t i = 0; i < s->length; i++) {
        if ((int64_t)i % stride == 0 && s->places[i] != NULL)
            *failed = *failed == NULL ? s->places[i] : *failed;
        else if ((int64_t)i % stride == 0)
            rows[taken++] = good;
        good += s->places[i] == NULL;
    }
    leat_status status = LEAT_OK;
    if (*failed == NULL)
        status = leati_block_select(&s->buffer, rows, buffer, n, &s->view, err);
    leat_buffer_unref(buffer);
    return status;
}

/* The dataset of one leaf's columns of `view`. */
static leat_dataset *leaf_dataset(const leati_node_state *node, struct window_state *s, int leaf,
                                  leat_error *err) {
    int begin = 0;
    const leat_spec *spec = leati_row_values_leaf(node->dataset->inputs[0]->spec, leaf, &begin);
    int count = leat_spec_num_components(spec);
    if (leati_block_prepare(&s->piece, count, err) != LEAT_OK)
        return NULL;
    for (int c = 0; c < count; c++)
        leati_column_copy(&s->view.columns[begin + c], &s->piece.columns[c]);
    leati_column_copy(&s->view.origins, &s->piece.origins);
    s->piece.n = s->view.n;
    leat_dataset *dataset = leati_row_values_dataset(&s->piece, spec, err);
    leati_block_clear(&s->piece);
    return dataset;
}

/* Makes columns for `want` windows in `out`, whose n stays 0. */
static leat_status make_columns(const struct window_state *s, int64_t want, leati_block *out,
                                leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    leat_status status = leati_block_prepare(out, s->num_leaves, err);
    for (int l = 0; l < s->num_leaves && status == LEAT_OK; l++) {
        /* Rows that are never filled are NULL. */
        leat_buffer *buffer = leati_buffer_of_objects(want, err);
        if (buffer == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        leati_column_strided(&out->columns[l], LEAT_OBJECT, &scalar, leat_buffer_data(buffer),
                             sizeof(leat_object *), buffer);
    }
    return status;
}

/* A window is named after its first element. */
static void note_origin(leati_node_state *node, const struct window_state *s, int64_t most,
                        leati_block *out) {
    int64_t origin = s->view.n > 0 ? leati_origin_of(&s->view, 0) : 0;
    if (origin != 0 && (out->origins.data != NULL || leati_origins_begin(node, most, out) != NULL))
        *(int64_t *)leati_column_row(&out->origins, out->n) = origin;
}

/* Writes the present window as row out->n of `most`. */
static leat_status add_window(leati_node_state *node, struct window_state *s, int64_t most,
                              leati_block *out, leat_error *err) {
    const leat_error *failed = NULL;
    leat_status status = look(s, args_of(node->dataset)->stride, &failed, err);
    if (status == LEAT_OK && failed != NULL) {
        *err = *failed;
        status = failed->code;
    } else {
        for (int l = 0; l < s->num_leaves && status == LEAT_OK; l++) {
            leat_object **place = leati_column_row(&out->columns[l], out->n);
            /* A window that failed half way may have left its dataset here. */
            leati_object_unref(*place);
            *place = (leat_object *)leaf_dataset(node, s, l, err);
            status = *place == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
        }
        note_origin(node, s, most, out);
    }
    leati_block_clear(&s->view);
    /* What is wrong with the window goes before what went wrong behind it. */
    leat_error other = {0};
    leat_status shifted = shift_on(node, s, &other);
    if (status == LEAT_OK && shifted != LEAT_OK) {
        *err = other;
        status = shifted;
    }
    out->n += status == LEAT_OK;
    return status;
}

/* No more windows: what failed in place of the input's end comes now. */
static leati_tail end_windows(struct window_state *s, leat_error *err) {
    int64_t available = 0;
    /* Behind the input's end a peek brings what failed in its place, if anything did. */
    leati_tail tail = s->ended ? leati_input_peek(&s->input, 1, NULL, &available, err) : LEATI_END;
    if (available > 0) {
        leati_fail(err, LEAT_DATA_LOSS,
                   "window: the input goes on where it ended before the state was saved; restore "
                   "with the same input");
        s->ended = false;
        return LEATI_ERROR;
    }
    leati_input_consume(&s->input, tail == LEATI_ERROR);
    return tail;
}

static leati_tail window_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                              leat_error *err) {
    struct window_state *s = state;
    const struct window_args *args = args_of(node->dataset);
    int64_t most = LEATI_MIN(want, MOST_AHEAD);
    if (make_columns(s, most, out, err) != LEAT_OK) {
        leati_block_clear(out);
        return LEATI_ERROR;
    }
    leati_tail tail = LEATI_MORE;
    while (out->n < most && tail == LEATI_MORE)
        if (fill(node, s, err) != LEAT_OK)
            tail = LEATI_ERROR;
        else if (s->length == 0 || (args->drop_remainder && (int64_t)s->length < span_of(args)))
            tail = end_windows(s, err);
        else if (add_window(node, s, most, out, err) != LEAT_OK)
            tail = LEATI_ERROR;
    if (out->n == 0)
        leati_block_clear(out);
    return tail;
}

/* ---- saving ---- */

static leat_status window_save(leati_node_state *node, void *state, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    struct window_state *s = state;
    leati_put_uint(out, s->ended);
    leati_put_int(out, s->discard);
    leati_put_uint(out, s->length);
    for (size_t i = 0; i < s->length; i++) {
        leati_put_uint(out, s->places[i] != NULL);
        if (s->places[i] != NULL)
            leati_values_put_error(out, s->places[i]);
    }
    cost->data_elements += s->buffer.n;
    leat_status status = leati_values_put_block(out, &s->buffer, 0, s->buffer.n, err);
    return status == LEAT_OK ? leati_input_save(&s->input, out, cost, err) : status;
}

static leat_status restore_places(struct window_state *s, uint64_t length, leati_reader *in,
                                  leat_error *err) {
    leat_status status = LEAT_OK;
    /* Each place takes a byte at least: no larger number is believed, or memory taken for it. */
    if (length > in->size - in->at) {
        return leati_fail(err, LEAT_DATA_LOSS, "a saved window of %llu elements in %zu bytes",
                          (unsigned long long)length, in->size - in->at);
    }
    for (uint64_t i = 0; i < length && status == LEAT_OK; i++) {
        uint64_t failed = 0;
        leat_error error = {0};
        status = leati_get_uint(in, &failed, err);
        if (status == LEAT_OK && failed != 0)
            status = leati_values_get_error(in, &error, err);
        if (status == LEAT_OK) {
            status = failed != 0 ? add_error(s, &error, err) : add_places(s, 1, err);
            s->length += status == LEAT_OK && failed == 0;
        }
    }
    return status;
}

static leat_status window_restore(leati_node_state *node, void *state, leati_reader *in,
                                  leat_error *err) {
    struct window_state *s = state;
    uint64_t ended = 0, length = 0;
    drop_places(s, s->length);
    leat_status status = leati_get_uint(in, &ended, err);
    if (status == LEAT_OK)
        status = leati_get_int(in, &s->discard, err);
    if (status == LEAT_OK)
        status = leati_get_uint(in, &length, err);
    if (status == LEAT_OK)
        status = restore_places(s, length, in, err);
    if (status == LEAT_OK)
        status = leati_values_get_block(in, node->dataset->inputs[0]->spec, &s->buffer, err);
    if (status == LEAT_OK && s->buffer.n + (int64_t)s->errors != (int64_t)s->length) {
        status =
            leati_fail(err, LEAT_DATA_LOSS, "%s: a saved window of %lld elements; expected %zu",
                       node->name, (long long)s->buffer.n, s->length - s->errors);
    }
    s->ended = ended != 0;
    return status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
}

static void window_start(leati_node_state *node, void *state) {
    (void)node;
    struct window_state *s = state;
    drop_places(s, s->length);
    leati_block_clear(&s->buffer);
    s->discard = 0;
    s->ended = false;
}

static void window_close(leati_node_state *node, void *state) {
    (void)node;
    struct window_state *s = state;
    leati_input_close(&s->input);
    drop_places(s, s->length);
    leati_free((void *)s->places);
    leati_block_fini(&s->buffer);
    leati_block_fini(&s->piece);
    leati_block_fini(&s->view);
}

const leati_dataset_op leati_op_window = {
    .name = "window",
    .version = 1,
    .doc = "Consecutive elements as datasets, one per component. Saved as the elements of the "
           "present window and the input's position; restoring costs the input's.",
    .names = "Dataset.window",
    .num_inputs = 1,
    .flow = LEATI_FEWER,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_APART,
    .args_size = sizeof(struct window_args),
    .rows = window_rows,
    .spec = window_spec,
    .cardinality = window_cardinality,
    .state_size = sizeof(struct window_state),
    .start = window_start,
    .open = window_open,
    .pull = window_pull,
    .save = window_save,
    .restore = window_restore,
    .close = window_close,
};

leat_dataset *leat_dataset_window(leat_dataset *input, int64_t size,
                                  const leat_dataset_window_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_window_options o = {LEAT_DATASET_WINDOW_DEFAULTS};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_window_options, &o, options, &input, 1, err))
        return NULL;
    struct window_args args = {
        .size = size, .shift = o.shift, .stride = o.stride, .drop_remainder = o.drop_remainder};
    return leati_dataset_new(&leati_op_window, &args, &input, 1, err);
}
