/* Saving and restoring the ring of shuffle.
 *
 * Where the input can be replayed, positions are saved: for the front slice the pair and the
 * elements drawn, for every slice the outcomes consumed, which of them were errors, and the input's
 * state at the start of its epoch. Restoring runs the ring over numbers of outcomes to learn which
 * elements of the front slice are still in it, lets the input advance, and pulls only those; of the
 * slices behind it all elements are. So at most buffer_size elements are computed again. Over other
 * inputs, and where data are asked for, the elements themselves are saved.
 *
 * A state that does not fit the input or itself gives DATA_LOSS; the iterator is then of no use. */
#include "base/minmax.h"
#include "data/kept/shuffle_ring.h"
#include "data/values/values.h"
#include <stdlib.h>

/* FRESH: the first epoch has not begun; the input, if open, still stands in one before. */
typedef enum saved_as { SAVED_FRESH = 0, SAVED_POSITIONS, SAVED_DATA } saved_as;

/* Position of the slice's first element. */
static int64_t slice_start(const leati_shuffle_ring *ring, int slice) {
    return slice == 0 ? ring->start : ring->slices[slice - 1].end;
}

/* ---- saving ---- */

static leat_status save_elements(const leati_shuffle_ring *ring, int slice, leati_writer *out,
                                 leat_error *err) {
    int64_t start = slice_start(ring, slice), end = ring->slices[slice].end;
    leati_put_int(out, end - start);
    for (int64_t at = start; at < end; at++) {
        size_t slot = ring->slots[at % ring->size];
        for (int c = 0; c < ring->reservoir.num_columns; c++) {
            const leati_reservoir_column *column = &ring->reservoir.columns[c];
            leat_tensor row = column->row_bytes > 0
                                  ? leat_tensor_view(column->dtype, column->shape,
                                                     column->data + slot * column->row_bytes)
                                  : column->tensors[slot];
            LEATI_TRY(leati_values_put_tensor(out, &row, err));
        }
    }
    return LEAT_OK;
}

static bool holds_objects(const leati_shuffle_ring *ring) {
    for (int c = 0; c < ring->reservoir.num_columns; c++)
        if (ring->reservoir.columns[c].dtype == LEAT_OBJECT)
            return true;
    return false;
}

static saved_as how_to_save(const leati_shuffle_ring *ring, leat_iterator_save_mode mode) {
    if (!ring->epoch_open)
        return SAVED_FRESH;
    /* Datasets as elements cannot be written as data. */
    if (mode == LEAT_SAVE_DATA && !holds_objects(ring))
        return SAVED_DATA;
    for (int i = 0; i < ring->num_slices; i++)
        if (ring->slices[i].snapshot.size == 0)
            return SAVED_DATA;
    return SAVED_POSITIONS;
}

static void save_positions(const leati_shuffle_slice *slice, leati_writer *out) {
    leati_put_uint(out, slice->num_errors);
    for (size_t i = 0; i < slice->num_errors; i++)
        leati_put_int(out, slice->errors[i]);
    leati_put_bytes(out, slice->snapshot.data, slice->snapshot.size);
}

leat_status leati_shuffle_save(leati_node_state *node, leati_shuffle_ring *ring, leati_writer *out,
                               leati_save_cost *cost, leat_error *err) {
    (void)node;
    saved_as how = how_to_save(ring, cost->mode);
    leati_seed_generator_save(ring->generator, out);
    leati_put_fixed64(out, ring->pair[0]);
    leati_put_fixed64(out, ring->pair[1]);
    leati_put_int(out, ring->emitted);
    leati_put_int(out, ring->epoch);
    leati_put_int(out, ring->owed);
    leati_put_uint(out, ring->produced);
    leati_put_uint(out, ring->last);
    leati_put_uint(out, how);
    leati_put_uint(out, ring->input_open);
    leati_put_uint(out, (uint64_t)ring->num_slices);
    leat_status status = LEAT_OK;
    for (int i = 0; i < ring->num_slices && status == LEAT_OK; i++) {
        leati_put_int(out, ring->slices[i].consumed);
        leati_put_uint(out, ring->slices[i].finished);
        if (how == SAVED_POSITIONS)
            save_positions(&ring->slices[i], out);
        else if (how == SAVED_DATA)
            status = save_elements(ring, i, out, err);
    }
    cost->data_elements += how == SAVED_DATA ? leati_shuffle_held(ring) : 0;
    if (how == SAVED_POSITIONS) {
        cost->replay_elements += leati_shuffle_held(ring);
        return status;
    }
    return status == LEAT_OK && ring->input_open ? leati_input_save(&ring->input, out, cost, err)
                                                 : status;
}

/* ---- restoring positions ---- */

typedef struct live_element {
    int64_t outcome; /* of the input in its epoch */
    int64_t at;      /* place in the ring */
} live_element;

static int by_outcome(const void *a, const void *b) {
    int64_t x = ((const live_element *)a)->outcome, y = ((const live_element *)b)->outcome;
    return (x > y) - (x < y);
}

/* Elements that came in the slice's epoch so far, of which `drawn` have left. */
static leat_status count_elements(const leati_shuffle_ring *ring, int slice, int64_t drawn,
                                  int64_t *elements, leat_error *err) {
    const leati_shuffle_slice *s = &ring->slices[slice];
    *elements = s->consumed - (int64_t)s->num_errors;
    bool fits = drawn >= 0 && drawn <= *elements && s->consumed >= 0 &&
                (slice == 0 || *elements <= ring->size - (slice_start(ring, slice) - ring->start));
    return fits ? LEAT_OK
                : leati_fail(err, LEAT_DATA_LOSS,
                             "shuffle: a saved state of %lld emitted of %lld elements in a buffer "
                             "of %lld",
                             (long long)drawn, (long long)*elements, (long long)ring->size);
}

/* Runs the ring over numbers of outcomes instead of elements. numbers[] has a place for each of the
 * ring's. Afterwards the words stand where they stood. */
static void replay(leati_shuffle_ring *ring, int64_t *numbers) {
    leati_shuffle_slice *front = &ring->slices[0];
    int64_t size = ring->size, outcome = 0, emitted = 0;
    size_t error = 0;
    ring->words = leati_words_new(ring->pair[0], ring->pair[1]);
    ring->start = front->end = 0;
    for (;;) {
        /* Before every draw the ring is as full as it gets, just as it was in the run. */
        while (front->end - ring->start < size && outcome < front->consumed) {
            if (error < front->num_errors && front->errors[error] == outcome)
                error++;
            else
                numbers[front->end++ % size] = outcome;
            outcome++;
        }
        if (emitted == ring->emitted)
            return;
        int64_t filled = front->end - ring->start;
        int64_t at = (ring->start + (int64_t)leati_words_next(&ring->words) % filled) % size;
        numbers[at] = numbers[ring->start % size];
        ring->start++;
        emitted++;
    }
}

/* Which elements of the front slice are in the ring. Owned, in the order of their outcomes. */
static leat_status live_in_front(leati_shuffle_ring *ring, live_element **live, leat_error *err) {
    int64_t elements = 0;
    LEATI_TRY(count_elements(ring, 0, ring->emitted, &elements, err));
    int64_t places = LEATI_MIN(elements, ring->size);
    int64_t *numbers = leati_alloc((size_t)places, sizeof(*numbers));
    *live = leati_alloc((size_t)places, sizeof(**live));
    if (numbers == NULL || *live == NULL) {
        leati_free(numbers);
        return leati_no_memory(err);
    }
    replay(ring, numbers);
    int64_t start = ring->start, held = ring->slices[0].end - start;
    for (int64_t i = 0; i < held; i++) {
        int64_t at = (start + i) % ring->size;
        (*live)[i] = (live_element){.outcome = numbers[at], .at = at};
    }
    leati_free(numbers);
    /* The input gives them in this order, whatever places they have. */
    qsort(*live, (size_t)held, sizeof(**live), by_outcome);
    return LEAT_OK;
}

/* The same for a slice behind the front one: all of its elements. */
static leat_status live_behind(leati_shuffle_ring *ring, int slice, live_element **live,
                               leat_error *err) {
    leati_shuffle_slice *s = &ring->slices[slice];
    int64_t start = slice_start(ring, slice), elements = 0, outcome = 0;
    LEATI_TRY(count_elements(ring, slice, 0, &elements, err));
    *live = leati_alloc((size_t)elements, sizeof(**live));
    if (*live == NULL)
        return leati_no_memory(err);
    size_t error = 0;
    for (int64_t i = 0; i < elements; outcome++) {
        if (error < s->num_errors && s->errors[error] == outcome) {
            error++;
        } else {
            (*live)[i] = (live_element){.outcome = outcome, .at = (start + i) % ring->size};
            i++;
        }
    }
    s->end = start + elements;
    return LEAT_OK;
}

/* Passes what the input delivers up to outcome `target` of the epoch: elements unseen, errors by
 * asking for them, because only they say what becomes of the outcomes behind them. */
static leat_status advance_to(leati_input *input, const leati_shuffle_slice *slice,
                              int64_t *position, int64_t target, leat_error *err) {
    size_t next = 0;
    /* Errors before the position have been passed on the way to it. */
    while (next < slice->num_errors && slice->errors[next] < *position)
        next++;
    leat_error local = {0};
    while (*position < target) {
        bool error = next < slice->num_errors && slice->errors[next] == *position;
        int64_t stop =
            next < slice->num_errors && slice->errors[next] < target ? slice->errors[next] : target;
        int64_t passed = 0;
        leati_tail tail = LEATI_MORE;
        if (error) {
            int64_t available = 0;
            tail = leati_input_peek(input, 1, NULL, &available, &local);
            passed = available > 0 || tail == LEATI_ERROR;
            leati_input_consume(input, passed);
            next++;
        } else {
            tail = leati_input_advance(input, stop - *position, &passed, &local);
        }
        *position += passed;
        if (passed == 0 || !leati_state_recurs(&local)) {
            return tail == LEATI_ERROR
                       ? (*err = local, local.code)
                       : leati_fail(err, LEAT_DATA_LOSS,
                                    "shuffle: the input ended after %lld outcomes, %lld were read "
                                    "before",
                                    (long long)*position, (long long)target);
        }
    }
    return LEAT_OK;
}

/* The input has given its end: a cache below is complete since then. */
static leat_status pass_end(leati_shuffle_ring *ring, const leati_shuffle_slice *s,
                            leat_error *err) {
    int64_t available = 0;
    leat_error local = {0};
    if (leati_input_peek(&ring->input, 1, NULL, &available, &local) == LEATI_END)
        return LEAT_OK;
    if (!leati_state_recurs(&local)) {
        *err = local;
        return local.code;
    }
    return leati_fail(err, LEAT_DATA_LOSS,
                      "shuffle: the input goes on after outcome %lld, where it ended before",
                      (long long)s->consumed);
}

/* Pulls the live elements of a slice into their places, in the input's order. */
static leat_status refill(leati_shuffle_ring *ring, int slice, const live_element *live,
                          leat_error *err) {
    leati_shuffle_slice *s = &ring->slices[slice];
    int64_t count = s->end - slice_start(ring, slice), position = 0;
    int64_t used = LEATI_MIN(s->end, ring->size);
    leat_status status = LEAT_OK;
    /* All places first: elements come in the input's order, and lie anywhere in the ring. */
    for (int64_t at = (int64_t)ring->reservoir.size; at < used && status == LEAT_OK; at++) {
        uint32_t slot = 0;
        status = leati_shuffle_slot(ring, at, &slot, err);
    }
    for (int64_t i = 0; i < count && status == LEAT_OK;) {
        status = advance_to(&ring->input, s, &position, live[i].outcome, err);
        int64_t run = 1, available = 0;
        /* Neighbours in the input are asked for in one request. */
        while (i + run < count && live[i + run].outcome == live[i].outcome + run)
            run++;
        if (status != LEAT_OK)
            break;
        leat_error local = {0};
        leati_tail tail = leati_input_peek(&ring->input, run, NULL, &available, &local);
        if (available == 0) {
            return leati_fail(
                err, LEAT_DATA_LOSS, "shuffle: element %lld of the input did not come again: %s",
                (long long)live[i].outcome, tail == LEATI_ERROR ? local.text : "the input ended");
        }
        int64_t n = LEATI_MIN(available, run);
        for (int64_t k = 0; k < n; k++) {
            leati_reservoir_put(&ring->reservoir, &ring->slots[live[i + k].at], 1,
                                &ring->input.block, leati_input_begin(&ring->input) + k);
        }
        leati_input_consume(&ring->input, n);
        position += n;
        i += n;
    }
    if (status == LEAT_OK)
        status = advance_to(&ring->input, s, &position, s->consumed, err);
    return status == LEAT_OK && s->finished ? pass_end(ring, s, err) : status;
}

/* Reads the positions of errors and, borrowed, the input's state at the start of the epoch. */
static leat_status read_positions(leati_shuffle_slice *slice, leati_reader *in,
                                  leati_reader *snapshot, leat_error *err) {
    uint64_t errors = 0;
    leat_status status = leati_get_uint(in, &errors, err);
    /* The function that notes an error notes `consumed`, which is lent to it for that. */
    int64_t consumed = slice->consumed;
    for (uint64_t i = 0; i < errors && status == LEAT_OK; i++) {
        int64_t before = i == 0 ? -1 : slice->errors[i - 1];
        status = leati_get_int(in, &slice->consumed, err);
        if (status == LEAT_OK && (slice->consumed <= before || slice->consumed >= consumed)) {
            status = leati_fail(err, LEAT_DATA_LOSS,
                                "shuffle: a saved state with an error at outcome %lld of %lld",
                                (long long)slice->consumed, (long long)consumed);
        }
        if (status == LEAT_OK)
            status = leati_shuffle_note_error(slice, err);
    }
    slice->consumed = consumed;
    const void *data = NULL;
    if (status == LEAT_OK)
        status = leati_get_bytes(in, &data, &snapshot->size, err);
    snapshot->data = data;
    return status;
}

static leat_status restore_positions(leati_node_state *node, leati_shuffle_ring *ring, int slice,
                                     leati_reader *in, leat_error *err) {
    leati_reader snapshot = {0};
    leati_shuffle_slice *s = &ring->slices[slice];
    leat_status status = read_positions(s, in, &snapshot, err);
    if (status == LEAT_OK && slice == 0) {
        ring->epoch_open = false;
        status = leati_shuffle_open_epoch(node, ring, err);
    } else if (status == LEAT_OK) {
        status = leati_input_reset(&ring->input, err);
    }
    if (status != LEAT_OK)
        return status;
    leati_reader start = snapshot;
    status = leati_input_restore(&ring->input, &start, err);
    if (status != LEAT_OK)
        return status;
    s->snapshot.size = 0;
    s->snapshot.failed = false;
    leati_put_raw(&s->snapshot, snapshot.data, snapshot.size);
    live_element *live = NULL;
    status = slice == 0 ? live_in_front(ring, &live, err) : live_behind(ring, slice, &live, err);
    if (status == LEAT_OK)
        status = refill(ring, slice, live, err);
    leati_free(live);
    return status;
}

/* ---- restoring data ---- */

/* Reads one element's tensors and puts them behind the slice's end. `columns` has an entry per
 * component. */
static leat_status restore_element(const leat_spec *spec, leati_shuffle_ring *ring,
                                   leati_shuffle_slice *slice, leati_reader *in,
                                   leati_column *columns, leat_error *err) {
    leati_block block = {.n = 1, .num_columns = ring->reservoir.num_columns, .columns = columns};
    leat_status status = LEAT_OK;
    uint32_t slot = 0;
    int read = 0;
    while (read < block.num_columns && status == LEAT_OK) {
        leat_tensor row = {0};
        status = leati_values_get_component(in, spec, read, &row, err);
        if (status == LEAT_OK)
            leati_column_constant(&columns[read++], &row);
        leat_tensor_unref(&row);
    }
    if (status == LEAT_OK)
        status = leati_shuffle_slot(ring, slice->end, &slot, err);
    if (status == LEAT_OK) {
        leati_reservoir_put(&ring->reservoir, &slot, 1, &block, 0);
        slice->end++;
    }
    for (int c = 0; c < read; c++)
        leat_buffer_unref(columns[c].owner);
    return status;
}

static leat_status restore_elements(const leat_spec *spec, leati_shuffle_ring *ring, int slice,
                                    leati_reader *in, leat_error *err) {
    leati_shuffle_slice *s = &ring->slices[slice];
    int64_t count = 0;
    leat_status status = leati_get_int(in, &count, err);
    s->end = slice_start(ring, slice);
    /* The ring's first element is at 0 here, so the end is also how many there are. */
    if (status == LEAT_OK && (count < 0 || count > ring->size - s->end)) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "shuffle: a saved state of %lld elements more than %lld in a buffer of "
                          "%lld",
                          (long long)count, (long long)s->end, (long long)ring->size);
    }
    leati_column *columns = leati_alloc_zero((size_t)ring->reservoir.num_columns, sizeof(*columns));
    if (columns == NULL)
        status = leati_no_memory(err);
    for (int64_t i = 0; i < count && status == LEAT_OK; i++)
        status = restore_element(spec, ring, s, in, columns, err);
    leati_free(columns);
    return status;
}

/* ---- restoring ---- */

typedef struct saved_header {
    uint64_t produced, last, how, opened, num_slices;
} saved_header;

static leat_status read_header(leati_shuffle_ring *ring, leati_reader *in, saved_header *header,
                               leat_error *err) {
    leat_status status = leati_seed_generator_restore(ring->generator, in, err);
    for (int i = 0; i < 2 && status == LEAT_OK; i++)
        status = leati_get_fixed64(in, &ring->pair[i], err);
    int64_t *numbers[] = {&ring->emitted, &ring->epoch, &ring->owed};
    for (int i = 0; i < 3 && status == LEAT_OK; i++)
        status = leati_get_int(in, numbers[i], err);
    uint64_t *flags[] = {&header->produced, &header->last, &header->how, &header->opened,
                         &header->num_slices};
    for (int i = 0; i < 5 && status == LEAT_OK; i++)
        status = leati_get_uint(in, flags[i], err);
    bool known = header->how <= SAVED_DATA && (header->opened || header->how != SAVED_DATA);
    uint64_t most = header->how == SAVED_FRESH ? 1 : LEATI_SHUFFLE_SLICES;
    if (status == LEAT_OK && (!known || header->num_slices < 1 || header->num_slices > most)) {
        status = leati_fail(err, LEAT_DATA_LOSS,
                            "shuffle: a saved state of kind %llu with %llu epochs, its input %s; "
                            "expected kind 0 with 1, or 1 or 2 with 1 to %d and an open input",
                            (unsigned long long)header->how, (unsigned long long)header->num_slices,
                            header->opened ? "open" : "not open", LEATI_SHUFFLE_SLICES);
    }
    return status;
}

/* The input behind data, or as it stood before the first epoch. */
static leat_status restore_input(leati_node_state *node, leati_shuffle_ring *ring, leati_reader *in,
                                 leat_error *err) {
    if (!ring->input_open) {
        LEATI_TRY(leati_input_open(&ring->input, node, 0, err));
        ring->input_open = true;
    }
    return leati_input_restore(&ring->input, in, err);
}

leat_status leati_shuffle_restore(leati_node_state *node, leati_shuffle_ring *ring,
                                  leati_reader *in, leat_error *err) {
    saved_header header = {0};
    leat_status status = read_header(ring, in, &header, err);
    if (status != LEAT_OK)
        return status;
    leati_reservoir_clear(&ring->reservoir);
    ring->words = leati_words_new(ring->pair[0], ring->pair[1]);
    ring->start = 0;
    ring->num_slices = 0;
    for (int i = 0; i < (int)header.num_slices && status == LEAT_OK; i++) {
        leati_shuffle_slice *slice = &ring->slices[i];
        uint64_t finished = 0;
        ring->num_slices = i + 1;
        leati_shuffle_slice_clear(slice, slice_start(ring, i));
        status = leati_get_int(in, &slice->consumed, err);
        if (status == LEAT_OK)
            status = leati_get_uint(in, &finished, err);
        slice->finished = finished != 0;
        if (status == LEAT_OK && header.how == SAVED_FRESH && (slice->consumed || finished)) {
            status = leati_fail(err, LEAT_DATA_LOSS,
                                "shuffle: a saved state of %lld outcomes read before the input was "
                                "begun; expected none",
                                (long long)slice->consumed);
        }
        if (status == LEAT_OK && header.how == SAVED_POSITIONS)
            status = restore_positions(node, ring, i, in, err);
        else if (status == LEAT_OK && header.how == SAVED_DATA)
            status = restore_elements(node->dataset->spec, ring, i, in, err);
    }
    ring->produced = header.produced != 0;
    ring->last = header.last != 0;
    if (header.how == SAVED_DATA)
        /* Each draw took one word. */
        leati_words_skip(&ring->words, (uint64_t)ring->emitted);
    if (header.how != SAVED_POSITIONS) {
        ring->epoch_open = header.how == SAVED_DATA;
        status = status == LEAT_OK && header.opened ? restore_input(node, ring, in, err) : status;
    }
    return status;
}
