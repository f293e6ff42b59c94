/* shuffle: TensorFlow's order bit for bit (tf.data.Dataset.shuffle; reference: ShuffleDataset's
 * sampling from a buffer).
 *
 * Per element: fill the buffer, draw a word, emit slot (start + word mod filled) mod size, put what
 * stood at `start` in its place. An epoch's stream of words comes from a pair that the node's seed
 * generator hands out when the epoch begins; the generator is shared by all iterators of the node.
 * The input is opened (or reset) at the first fill of an epoch, as in TensorFlow, because that may
 * draw seeds too. An input's error is delivered when the fill meets it; what is buffered stays.
 *
 * Saved as positions where the input can be replayed: the pair, the elements emitted, the outcomes
 * consumed and the input's state at the start of the epoch. Restoring simulates the slots, lets the
 * input advance, and pulls only the elements that are still buffered: at most buffer_size of them
 * are computed. Over other inputs the buffer itself is saved. */
#include "base/random.h"
#include "data/input.h"
#include "data/reservoir.h"
#include "data/seed_generator.h"
#include "data/values.h"
#include <leat/data_ops.h>
#include <stdlib.h>
#include <string.h>

struct shuffle_args {
    int64_t buffer_size;
    leati_seed_argument seed;
    bool reshuffle_each_iteration;
    bool resolved;
    int64_t pair[2];
};

#define ROW(field) .offset = offsetof(struct shuffle_args, field)

static const leati_row shuffle_rows[] = {
    {.name = "buffer_size",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     ROW(buffer_size),
     .doc = "How many elements the buffer holds, at least 1; -2 (UNKNOWN_CARDINALITY) holds the "
            "whole input."},
    {.name = "seed",
     .type = LEATI_ROW_SEED,
     .flags = LEATI_NONE,
     ROW(seed),
     .doc = "Seed of the order."},
    {.name = "reshuffle_each_iteration",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(reshuffle_each_iteration),
     .default_number = 1,
     .doc = "Another order in every epoch and iterator."},
    {.name = "resolved",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_CONSTRUCT,
     ROW(resolved),
     .doc = "The pair was made."},
    {.name = "pair_0",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(pair[0]),
     .doc = "First number of the resolved seed pair."},
    {.name = "pair_1",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     ROW(pair[1]),
     .doc = "Second number of the resolved seed pair."},
    {0},
};

struct shuffle_state {
    leati_input input;
    bool input_open;    /* `input` was opened at least once */
    bool epoch_open;    /* the input stands in this epoch */
    bool finished;      /* the input's end was seen */
    uint64_t pair[2];   /* of this epoch */
    leati_words words;  /* of the pair */
    int64_t start, end; /* the filled part of the ring: end - start elements */
    int64_t emitted;    /* elements of this epoch */
    int64_t consumed;   /* outcomes of the input in this epoch */
    int64_t *errors;    /* which of them were errors, ascending */
    size_t num_errors, error_capacity;
    leati_writer epoch_snapshot; /* the input's state at the start of the epoch; empty for inputs
                                    that cannot be replayed */
    leati_reservoir reservoir;
    uint32_t *slots; /* slot of the ring -> slot of the reservoir */
    size_t slot_capacity;
};

static leat_status shuffle_check(leat_dataset *dataset, leat_error *err) {
    struct shuffle_args *args = dataset->args;
    if (args->buffer_size < 1 && args->buffer_size != LEAT_UNKNOWN_CARDINALITY) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "shuffle: buffer_size is %lld; expected at least 1, or -2 "
                          "(UNKNOWN_CARDINALITY) for the whole "
                          "input",
                          (long long)args->buffer_size);
    }
    if (!args->resolved) {
        leati_resolve_seed(args->seed, &args->pair[0], &args->pair[1]);
        leati_fresh_seed_if_zero(&args->pair[0], &args->pair[1]);
        args->resolved = true;
    }
    return LEAT_OK;
}

static void *shuffle_share(const leat_dataset *dataset, leat_error *err) {
    const struct shuffle_args *args = dataset->args;
    return leati_seed_generator_new(args->pair[0], args->pair[1], !args->reshuffle_each_iteration,
                                    err);
}

static void shuffle_unshare(void *shared) {
    leati_seed_generator_free(shared);
}

/* ---- epochs ---- */

static leat_status begin_epoch(leati_node_state *node, struct shuffle_state *s, leat_error *err) {
    leati_seed_generator *generator = leati_dataset_shared(node->dataset, err);
    if (generator == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    leati_seed_generator_next(generator, s->pair);
    s->words = leati_words_new(s->pair[0], s->pair[1]);
    s->epoch_open = s->finished = false;
    s->start = s->end = s->emitted = s->consumed = 0;
    s->num_errors = 0;
    s->epoch_snapshot.size = 0;
    leati_reservoir_clear(&s->reservoir);
    return LEAT_OK;
}

static leat_status shuffle_open(leati_node_state *node, void *state, leat_error *err) {
    struct shuffle_state *s = state;
    leat_status status = leati_reservoir_init(&s->reservoir, node->dataset->spec, err);
    return status == LEAT_OK ? begin_epoch(node, s, err) : status;
}

static leat_status shuffle_reset(leati_node_state *node, void *state, leat_error *err) {
    return begin_epoch(node, state, err);
}

/* Opens or resets the input, and remembers where the epoch starts. */
static leat_status open_input(leati_node_state *node, struct shuffle_state *s, leat_error *err) {
    if (s->epoch_open) {
        return LEAT_OK;
    }
    leat_status status = s->input_open ? leati_input_reset(&s->input, err)
                                       : leati_input_open(&s->input, node, 0, err);
    if (status != LEAT_OK) {
        return status;
    }
    s->input_open = s->epoch_open = true;
    leati_save_cost cost = {0};
    if (node->dataset->inputs[0]->replayable) {
        status = leati_input_save(&s->input, &s->epoch_snapshot, &cost, err);
        if (status != LEAT_OK) {
            s->epoch_snapshot.size = 0;
            s->epoch_snapshot.failed = false;
        }
        status = status == LEAT_FAILED_PRECONDITION ? LEAT_OK : status;
    }
    return status;
}

/* ---- the ring ---- */

static int64_t ring_size(const leati_node_state *node) {
    const struct shuffle_args *args = node->dataset->args;
    return args->buffer_size < 0 ? INT64_MAX : args->buffer_size;
}

/* The reservoir's slot behind position `at` of the ring, which may be one beyond what was used so
 * far. */
static leat_status slot_of(struct shuffle_state *s, int64_t at, uint32_t *slot, leat_error *err) {
    if ((size_t)at < s->reservoir.size) {
        *slot = s->slots[at];
        return LEAT_OK;
    }
    if (!leati_grow((void **)&s->slots, &s->slot_capacity, s->reservoir.size + 1,
                    sizeof(*s->slots))) {
        return leati_no_memory(err, (s->reservoir.size + 1) * sizeof(*s->slots));
    }
    leat_status status = leati_reservoir_grow(&s->reservoir, 1, err);
    if (status == LEAT_OK) {
        *slot = (uint32_t)(s->reservoir.size - 1);
        s->slots[*slot] = *slot;
    }
    return status;
}

static leat_status note_error(struct shuffle_state *s, leat_error *err) {
    if (!leati_grow((void **)&s->errors, &s->error_capacity, s->num_errors + 1,
                    sizeof(*s->errors))) {
        return leati_no_memory(err, (s->num_errors + 1) * sizeof(*s->errors));
    }
    s->errors[s->num_errors++] = s->consumed;
    return LEAT_OK;
}

/* Puts up to `most` elements that the input has ready into the ring. */
static leat_status store(struct shuffle_state *s, int64_t size, int64_t available, int64_t most,
                         leat_error *err) {
    if (leati_input_begin(&s->input) == 0) {
        for (int c = 0; c < s->input.block.num_columns; c++) {
            if (s->reservoir.columns[c].row_bytes > 0) {
                continue;
            }
            leat_status status =
                leati_column_compact(&s->input.block.columns[c], s->input.block.n, err);
            if (status != LEAT_OK) {
                return status;
            }
        }
    }
    int64_t n = available < most ? available : most;
    for (int64_t i = 0; i < n; i++) {
        uint32_t slot = 0;
        leat_status status = slot_of(s, s->end % size, &slot, err);
        if (status != LEAT_OK) {
            return status;
        }
        leati_reservoir_put(&s->reservoir, slot, &s->input.block, leati_input_begin(&s->input));
        leati_input_consume(&s->input, 1);
        s->consumed++;
        s->end++;
    }
    return LEAT_OK;
}

/* Fills the ring. `more` is how many elements beyond a full ring the pull will need. */
static leati_tail fill(leati_node_state *node, struct shuffle_state *s, int64_t more,
                       leat_error *err) {
    int64_t size = ring_size(node);
    while (!s->finished && s->end - s->start < size) {
        if (open_input(node, s, err) != LEAT_OK) {
            return LEATI_ERROR;
        }
        int64_t lack = size - (s->end - s->start), available = 0;
        int64_t want = lack > INT64_MAX - more ? lack : lack + more;
        leati_tail tail =
            leati_input_peek(&s->input, want < 65536 ? want : 65536, NULL, &available, err);
        if (available > 0) {
            if (store(s, size, available, lack, err) != LEAT_OK) {
                return LEATI_ERROR;
            }
        } else if (tail == LEATI_ERROR) {
            leati_input_consume(&s->input, 1);
            /* Without a note of the error the epoch cannot be replayed: save data. */
            if (note_error(s, NULL) != LEAT_OK) {
                s->epoch_snapshot.size = 0;
            }
            s->consumed++;
            return LEATI_ERROR;
        } else {
            s->finished = true;
        }
    }
    return LEATI_MORE;
}

/* Draws one element from a ring that is not empty into row `row` of `out`. */
static void emit(struct shuffle_state *s, int64_t size, leati_block *out, int64_t row) {
    int64_t filled = s->end - s->start;
    uint32_t word = leati_words_next(&s->words);
    int64_t offset =
        filled <= UINT32_MAX ? (int64_t)(word % (uint32_t)filled) : (int64_t)word % filled;
    int64_t at = s->start + offset, first = s->start;
    if (at >= size) {
        at %= size;
    }
    if (first >= size) {
        first %= size;
    }
    uint32_t slot = s->slots[at];
    leati_reservoir_take(&s->reservoir, slot, out, row);
    s->slots[at] = s->slots[first];
    s->slots[first] = slot;
    s->start++;
    s->emitted++;
}

/* How many rows a block may have. */
static int64_t rows_wanted(const struct shuffle_state *s, int64_t want, const leati_block *out) {
    size_t row = 0;
    for (int c = 0; c < s->reservoir.num_columns; c++) {
        row += s->reservoir.columns[c].row_bytes;
    }
    int64_t most = out->byte_target == 0 || row == 0 ? want : (int64_t)(out->byte_target / row);
    most = most < 1 ? 1 : most;
    most = want < most ? want : most;
    return most < 4096 || out->destinations != NULL ? most : 4096;
}

static leati_tail shuffle_pull(leati_node_state *node, void *state, int64_t want, leati_block *out,
                               leat_error *err) {
    struct shuffle_state *s = state;
    int64_t n = rows_wanted(s, want, out), size = ring_size(node), count = 0;
    leati_tail tail = fill(node, s, n - 1, err);
    leati_block_clear(out);
    if (tail == LEATI_ERROR) {
        return tail;
    }
    if (s->start == s->end) {
        return LEATI_END;
    }
    if (leati_holder_set(&node->holder, leati_reservoir_bytes(&s->reservoir), err) != LEAT_OK ||
        leati_reservoir_begin(&s->reservoir, n, out, err) != LEAT_OK) {
        return LEATI_ERROR;
    }
    while (count < n && tail == LEATI_MORE) {
        if (s->start == s->end) {
            tail = LEATI_END;
            break;
        }
        emit(s, size, out, count++);
        if (count < n) {
            tail = fill(node, s, n - count - 1, err);
        }
    }
    out->n = count;
    leati_count_set(&node->counters.depth, s->end - s->start);
    leati_count_set(&node->counters.bytes_held, leati_reservoir_bytes(&s->reservoir));
    return tail;
}

/* ---- saving ---- */

static leat_status save_buffer(struct shuffle_state *s, int64_t size, leati_writer *out,
                               leat_error *err) {
    leati_put_int(out, s->end - s->start);
    for (int64_t at = s->start; at < s->end; at++) {
        size_t slot = s->slots[at % size];
        for (int c = 0; c < s->reservoir.num_columns; c++) {
            const leati_reservoir_column *column = &s->reservoir.columns[c];
            leat_tensor row = column->row_bytes > 0
                                  ? leat_tensor_view(column->dtype, column->shape,
                                                     column->data + slot * column->row_bytes)
                                  : column->tensors[slot];
            leat_status status = leati_put_tensor(out, &row, err);
            if (status != LEAT_OK) {
                return status;
            }
        }
    }
    return LEAT_OK;
}

static leat_status shuffle_save(leati_node_state *node, void *state, leati_writer *out,
                                leati_save_cost *cost, leat_error *err) {
    struct shuffle_state *s = state;
    leati_seed_generator *generator = leati_dataset_shared(node->dataset, err);
    if (generator == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    leati_seed_generator_save(generator, out);
    leati_put_fixed64(out, s->pair[0]);
    leati_put_fixed64(out, s->pair[1]);
    leati_put_int(out, s->emitted);
    leati_put_int(out, s->consumed);
    leati_put_uint(out, s->finished);
    /* 0: the epoch has not begun (the input still stands in the one before), 1: positions, 2: data.
     */
    uint64_t how = !s->epoch_open ? 0 : s->epoch_snapshot.size > 0 ? 1 : 2;
    leati_put_uint(out, how);
    leati_put_uint(out, s->input_open);
    if (how == 1) {
        leati_put_uint(out, s->num_errors);
        for (size_t i = 0; i < s->num_errors; i++) {
            leati_put_int(out, s->errors[i]);
        }
        leati_put_bytes(out, s->epoch_snapshot.data, s->epoch_snapshot.size);
        cost->replay_elements += s->end - s->start;
        return LEAT_OK;
    }
    if (how == 2) {
        leat_status status = save_buffer(s, ring_size(node), out, err);
        if (status != LEAT_OK) {
            return status;
        }
    }
    return s->input_open ? leati_input_save(&s->input, out, cost, err) : LEAT_OK;
}

typedef struct live_slot {
    int64_t outcome; /* of the input in this epoch */
    int64_t at;      /* position in the ring, modulo its size */
} live_slot;

static int by_outcome(const void *a, const void *b) {
    int64_t x = ((const live_slot *)a)->outcome, y = ((const live_slot *)b)->outcome;
    return (x > y) - (x < y);
}

/* Runs the ring over numbers of outcomes instead of elements. On success live[0 .. end - start) are
 * the buffered ones; the words stand where they stood. */
static leat_status simulate(leati_node_state *node, struct shuffle_state *s, live_slot **live,
                            leat_error *err) {
    int64_t size = ring_size(node), elements = s->consumed - (int64_t)s->num_errors, outcome = 0;
    int64_t ring = elements < size ? elements : size, emitted = 0;
    size_t error = 0;
    if (s->emitted < 0 || s->emitted > elements || s->consumed < 0 || elements < 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "shuffle: a saved state of %lld emitted of %lld elements",
                          (long long)s->emitted, (long long)elements);
    }
    int64_t *numbers = leati_alloc((size_t)ring, sizeof(*numbers));
    *live = leati_alloc((size_t)ring, sizeof(**live));
    if (numbers == NULL || *live == NULL) {
        leati_free(numbers);
        return leati_no_memory(err, (size_t)ring * sizeof(**live));
    }
    s->words = leati_words_new(s->pair[0], s->pair[1]);
    s->start = s->end = 0;
    for (;;) {
        while (s->end - s->start < size && outcome < s->consumed) {
            if (error < s->num_errors && s->errors[error] == outcome) {
                error++;
            } else {
                numbers[s->end++ % size] = outcome;
            }
            outcome++;
        }
        if (emitted == s->emitted) {
            break;
        }
        int64_t at = (s->start + (int64_t)leati_words_next(&s->words) % (s->end - s->start)) % size;
        numbers[at] = numbers[s->start % size];
        s->start++;
        emitted++;
    }
    for (int64_t i = s->start; i < s->end; i++) {
        (*live)[i - s->start] = (live_slot){.outcome = numbers[i % size], .at = i % size};
    }
    leati_free(numbers);
    qsort(*live, (size_t)(s->end - s->start), sizeof(**live), by_outcome);
    return LEAT_OK;
}

/* Passes what the input delivers up to outcome `target` of the epoch: elements unseen, errors by
 * asking for them, because only they say what becomes of the outcomes behind them. */
static leat_status advance_to(struct shuffle_state *s, int64_t *position, int64_t target,
                              leat_error *err) {
    size_t next = 0;
    while (next < s->num_errors && s->errors[next] < *position) {
        next++;
    }
    leat_error local = {0};
    while (*position < target) {
        bool error = next < s->num_errors && s->errors[next] == *position;
        int64_t stop = next < s->num_errors && s->errors[next] < target ? s->errors[next] : target;
        int64_t passed = 0;
        leati_tail tail = LEATI_MORE;
        if (error) {
            int64_t available = 0;
            tail = leati_input_peek(&s->input, 1, NULL, &available, &local);
            passed = available > 0 || tail == LEATI_ERROR;
            leati_input_consume(&s->input, passed);
            next++;
        } else {
            tail = leati_input_advance(&s->input, stop - *position, &passed, &local);
        }
        *position += passed;
        if (passed == 0 || local.code == LEAT_CANCELLED) {
            return tail == LEATI_ERROR && err != NULL
                       ? (*err = local, local.code)
                       : leati_fail(err, LEAT_DATA_LOSS,
                                    "shuffle: the input ended after %lld outcomes, %lld were read "
                                    "before",
                                    (long long)*position, (long long)target);
        }
    }
    return LEAT_OK;
}

/* Pulls the live elements into their slots, in input order. */
static leat_status refill(leati_node_state *node, struct shuffle_state *s, const live_slot *live,
                          leat_error *err) {
    int64_t size = ring_size(node), count = s->end - s->start, position = 0;
    int64_t used = s->end < size ? s->end : size;
    leat_status status = LEAT_OK;
    for (int64_t at = (int64_t)s->reservoir.size; at < used && status == LEAT_OK; at++) {
        uint32_t slot = 0;
        status = slot_of(s, at, &slot, err);
    }
    for (int64_t i = 0; i < count && status == LEAT_OK;) {
        status = advance_to(s, &position, live[i].outcome, err);
        int64_t run = 1, available = 0;
        while (i + run < count && live[i + run].outcome == live[i].outcome + run) {
            run++;
        }
        if (status != LEAT_OK) {
            break;
        }
        leat_error local = {0};
        leati_tail tail = leati_input_peek(&s->input, run, NULL, &available, &local);
        if (available == 0) {
            return leati_fail(
                err, LEAT_DATA_LOSS, "shuffle: element %lld of the input did not come again: %s",
                (long long)live[i].outcome, tail == LEATI_ERROR ? local.text : "the input ended");
        }
        int64_t n = available < run ? available : run;
        for (int64_t k = 0; k < n; k++) {
            leati_reservoir_put(&s->reservoir, s->slots[live[i + k].at], &s->input.block,
                                leati_input_begin(&s->input) + k);
        }
        leati_input_consume(&s->input, n);
        position += n;
        i += n;
    }
    if (status == LEAT_OK) {
        status = advance_to(s, &position, s->consumed, err);
    }
    /* The input has given its end: a cache below is complete since then. */
    if (status == LEAT_OK && s->finished) {
        int64_t available = 0;
        leat_error local = {0};
        if (leati_input_peek(&s->input, 1, NULL, &available, &local) != LEATI_END) {
            status = local.code == LEAT_CANCELLED && err != NULL
                         ? (*err = local, local.code)
                         : leati_fail(err, LEAT_DATA_LOSS,
                                      "shuffle: the input goes on after outcome %lld, where it "
                                      "ended before",
                                      (long long)s->consumed);
        }
    }
    return status;
}

static leat_status restore_positions(leati_node_state *node, struct shuffle_state *s,
                                     leati_reader *in, leat_error *err) {
    uint64_t errors = 0;
    leat_status status = leati_get_uint(in, &errors, err);
    int64_t consumed = s->consumed;
    for (uint64_t i = 0; i < errors && status == LEAT_OK; i++) {
        status = leati_get_int(in, &s->consumed, err);
        if (status == LEAT_OK) {
            status = note_error(s, err);
        }
    }
    s->consumed = consumed;
    const void *data = NULL;
    leati_reader snapshot = {0};
    if (status == LEAT_OK) {
        status = leati_get_bytes(in, &data, &snapshot.size, err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    snapshot.data = data;
    s->epoch_open = false;
    status = open_input(node, s, err);
    if (status == LEAT_OK) {
        status = leati_input_restore(&s->input, &snapshot, err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    s->epoch_snapshot.size = 0;
    leati_put_raw(&s->epoch_snapshot, data, snapshot.size);
    live_slot *live = NULL;
    status = simulate(node, s, &live, err);
    if (status == LEAT_OK) {
        status = refill(node, s, live, err);
    }
    leati_free(live);
    return status;
}

/* Reads one element's tensors and puts them into the next slot. `rows` and `columns` are scratch of
 * one entry per component. */
static leat_status restore_element(struct shuffle_state *s, leati_reader *in, leat_tensor *rows,
                                   leati_column *columns, leat_error *err) {
    leati_block block = {.n = 1, .num_columns = s->reservoir.num_columns, .columns = columns};
    leat_status status = LEAT_OK;
    uint32_t slot = 0;
    int read = 0;
    for (; read < block.num_columns && status == LEAT_OK; read++) {
        status = leati_get_tensor(in, &rows[read], err);
        if (status == LEAT_OK) {
            leati_column_constant(&columns[read], &rows[read]);
            leat_tensor_unref(&rows[read]);
        } else {
            break;
        }
    }
    if (status == LEAT_OK) {
        status = slot_of(s, s->end, &slot, err);
    }
    if (status == LEAT_OK) {
        leati_reservoir_put(&s->reservoir, slot, &block, 0);
        s->end++;
    }
    for (int c = 0; c < read; c++) {
        leat_buffer_unref(columns[c].owner);
    }
    return status;
}

static leat_status restore_data(struct shuffle_state *s, leati_reader *in, leat_error *err) {
    int64_t count = 0;
    leat_status status = leati_get_int(in, &count, err);
    s->words = leati_words_new(s->pair[0], s->pair[1]);
    leati_words_skip(&s->words, (uint64_t)s->emitted);
    s->start = s->end = 0;
    size_t count_columns = (size_t)s->reservoir.num_columns;
    leat_tensor *rows = leati_alloc_zero(count_columns, sizeof(*rows));
    leati_column *columns = leati_alloc_zero(count_columns, sizeof(*columns));
    if (rows == NULL || columns == NULL) {
        status = leati_no_memory(err, count_columns * sizeof(*columns));
    }
    for (int64_t i = 0; i < count && status == LEAT_OK; i++) {
        status = restore_element(s, in, rows, columns, err);
    }
    leati_free(rows);
    leati_free(columns);
    return status;
}

static leat_status shuffle_restore(leati_node_state *node, void *state, leati_reader *in,
                                   leat_error *err) {
    struct shuffle_state *s = state;
    leati_seed_generator *generator = leati_dataset_shared(node->dataset, err);
    uint64_t finished = 0, how = 0, opened = 0;
    leat_status status = generator == NULL ? LEAT_RESOURCE_EXHAUSTED
                                           : leati_seed_generator_restore(generator, in, err);
    for (int i = 0; i < 2 && status == LEAT_OK; i++) {
        status = leati_get_fixed64(in, &s->pair[i], err);
    }
    int64_t *numbers[] = {&s->emitted, &s->consumed};
    for (int i = 0; i < 2 && status == LEAT_OK; i++) {
        status = leati_get_int(in, numbers[i], err);
    }
    uint64_t *flags[] = {&finished, &how, &opened};
    for (int i = 0; i < 3 && status == LEAT_OK; i++) {
        status = leati_get_uint(in, flags[i], err);
    }
    if (status != LEAT_OK) {
        return status;
    }
    leati_reservoir_clear(&s->reservoir);
    s->num_errors = 0;
    s->finished = finished != 0;
    s->words = leati_words_new(s->pair[0], s->pair[1]);
    if (how == 1) {
        return restore_positions(node, s, in, err);
    }
    if (how == 2) {
        status = restore_data(s, in, err);
    }
    if (status == LEAT_OK && opened) {
        if (!s->input_open) {
            status = leati_input_open(&s->input, node, 0, err);
            s->input_open = status == LEAT_OK;
        }
        s->epoch_open = how == 2;
        status = status == LEAT_OK ? leati_input_restore(&s->input, in, err) : status;
    }
    return status;
}

static void shuffle_close(leati_node_state *node, void *state) {
    (void)node;
    struct shuffle_state *s = state;
    if (s->input_open) {
        leati_input_close(&s->input);
    }
    leati_reservoir_fini(&s->reservoir);
    leati_writer_fini(&s->epoch_snapshot);
    leati_free(s->errors);
    leati_free(s->slots);
}

const leati_dataset_op leati_op_shuffle = {
    .name = "shuffle",
    .version = 1,
    .doc = "The elements in a random order drawn from a buffer. Saved as positions (restoring "
           "computes at most buffer_size elements "
           "again) where the input can be replayed, else as the buffer's data.",
    .num_inputs = 1,
    .flow = LEATI_REORDERS,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_SEED_GENERATOR,
    .args_size = sizeof(struct shuffle_args),
    .rows = shuffle_rows,
    .check = shuffle_check,
    .share = shuffle_share,
    .unshare = shuffle_unshare,
    .state_size = sizeof(struct shuffle_state),
    .open = shuffle_open,
    .pull = shuffle_pull,
    .save = shuffle_save,
    .restore = shuffle_restore,
    .reset = shuffle_reset,
    .close = shuffle_close,
};

leat_dataset *leati_shuffle_resolved(leat_dataset *input, int64_t buffer_size,
                                     const int64_t pair[2], leat_error *err) {
    struct shuffle_args args = {.buffer_size = buffer_size,
                                .reshuffle_each_iteration = true,
                                .resolved = true,
                                .pair = {pair[0], pair[1]}};
    return leati_dataset_new(&leati_op_shuffle, &args, &input, 1, err);
}

leat_dataset *leat_shuffle(leat_dataset *input, int64_t buffer_size,
                           const leat_shuffle_options *options, leat_error *err) {
    struct shuffle_args args = {.buffer_size = buffer_size, .reshuffle_each_iteration = true};
    if (options != NULL) {
        args.seed =
            (leati_seed_argument){.given = options->seed.given, .value = options->seed.value};
        args.reshuffle_each_iteration = !options->no_reshuffle;
    }
    return leati_dataset_new(&leati_op_shuffle, &args, &input, 1, err);
}
