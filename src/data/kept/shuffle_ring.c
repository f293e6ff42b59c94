/* The ring of shuffle: epochs, filling, drawing. See shuffle_ring.h for the data.
 *
 * Filling follows TensorFlow's fused operator: it goes on into the next epoch when the back one has
 * ended, epochs remain and there is room. An exhausted front slice is dropped after the fill, and
 * the next epoch's seed pair is drawn when its first element is: an end or an error that comes
 * before finds the seed generator as TensorFlow leaves it. Where several epochs gave nothing
 * TensorFlow may draw from a front slice that is neither complete nor as large as the ring; here it
 * is filled first, so that the order is always that of shuffle and repeat as two operators.
 *
 * Not thread-safe: one operator's state owns a ring. */
#include "data/kept/shuffle_ring.h"
#include "base/minmax.h"
#include "data/run/own.h"

/* The most draws, or elements of the input, whose slots are worked out before their rows are moved:
 * few enough for these to wait in the processor's first cache. */
enum { RUN = 64 };

void leati_shuffle_slice_clear(leati_shuffle_slice *slice, int64_t end) {
    slice->end = end;
    slice->consumed = 0;
    slice->num_errors = 0;
    slice->finished = false;
    slice->snapshot.size = 0;
    slice->snapshot.failed = false;
}

void leati_shuffle_begin(leati_shuffle_ring *ring) {
    leati_seed_generator_next(ring->generator, ring->pair);
    ring->words = leati_words_new(ring->pair[0], ring->pair[1]);
    ring->epoch_open = ring->produced = ring->last = false;
    ring->epoch = ring->owed = ring->start = ring->emitted = 0;
    ring->num_slices = 1;
    leati_shuffle_slice_clear(&ring->slices[0], 0);
    leati_reservoir_clear(&ring->reservoir);
}

void leati_shuffle_close(leati_shuffle_ring *ring) {
    if (ring->input_open)
        leati_input_close(&ring->input);
    for (int i = 0; i < LEATI_SHUFFLE_SLICES; i++) {
        leati_writer_fini(&ring->slices[i].snapshot);
        leati_free(ring->slices[i].errors);
    }
    leati_reservoir_fini(&ring->reservoir);
    leati_free(ring->slots);
}

/* ---- epochs ---- */

static leat_status note_start(const leati_node_state *node, leati_shuffle_ring *ring,
                              leat_error *err) {
    leati_writer *snapshot = &leati_shuffle_back(ring)->snapshot;
    leati_save_cost cost = {0};
    if (!leati_own_replays(node->iteration->own, node->dataset->inputs[0]))
        return LEAT_OK;
    leat_status status = leati_input_save(&ring->input, snapshot, &cost, err);
    if (status != LEAT_OK) {
        snapshot->size = 0;
        snapshot->failed = false;
    }
    /* An input that cannot be saved costs the replay, not the epoch: data will be saved. */
    return status == LEAT_FAILED_PRECONDITION ? LEAT_OK : status;
}

leat_status leati_shuffle_open_epoch(leati_node_state *node, leati_shuffle_ring *ring,
                                     leat_error *err) {
    if (ring->epoch_open)
        return LEAT_OK;
    LEATI_TRY(ring->input_open ? leati_input_reset(&ring->input, err)
                               : leati_input_open(&ring->input, node, 0, err));
    ring->input_open = ring->epoch_open = true;
    return note_start(node, ring, err);
}

/* Drops the front slice. */
static void pop(leati_shuffle_ring *ring) {
    leati_shuffle_slice front = ring->slices[0];
    for (int i = 1; i < ring->num_slices; i++)
        ring->slices[i - 1] = ring->slices[i];
    /* Kept behind the others with its memory, for the next slice. */
    ring->slices[--ring->num_slices] = front;
    ring->owed++;
    ring->emitted = 0;
}

/* May the fill go on into another epoch? */
static bool epochs_remain(const leati_shuffle_ring *ring) {
    return ring->epochs < 0 ? !ring->last : ring->epoch + 1 < ring->epochs;
}

/* Resets the input and appends a slice for its new epoch; slices without elements make way. */
static leat_status next_epoch(const leati_node_state *node, leati_shuffle_ring *ring,
                              leat_error *err) {
    LEATI_TRY(leati_input_reset(&ring->input, err));
    int64_t end = leati_shuffle_back(ring)->end;
    bool empty = leati_shuffle_held(ring) == 0;
    /* So that an array of few slices does for any number of empty epochs. */
    while (empty && ring->num_slices > 1)
        pop(ring);
    ring->num_slices++;
    leati_shuffle_slice_clear(leati_shuffle_back(ring), end);
    if (empty)
        pop(ring);
    ring->epoch++;
    return note_start(node, ring, err);
}

/* ---- filling ---- */

leat_status leati_shuffle_slot(leati_shuffle_ring *ring, int64_t at, uint32_t *slot,
                               leat_error *err) {
    leati_reservoir *reservoir = &ring->reservoir;
    if ((size_t)at < reservoir->size) {
        *slot = ring->slots[at];
        return LEAT_OK;
    }
    if (!leati_grow((void **)&ring->slots, &ring->slot_capacity, reservoir->size + 1,
                    sizeof(*ring->slots)))
        return leati_no_memory(err);
    leat_status status = leati_reservoir_grow(reservoir, 1, err);
    if (status == LEAT_OK) {
        *slot = (uint32_t)(reservoir->size - 1);
        ring->slots[*slot] = *slot;
    }
    return status;
}

leat_status leati_shuffle_note_error(leati_shuffle_slice *slice, leat_error *err) {
    if (!leati_grow((void **)&slice->errors, &slice->error_capacity, slice->num_errors + 1,
                    sizeof(*slice->errors)))
        return leati_no_memory(err);
    slice->errors[slice->num_errors++] = slice->consumed;
    return LEAT_OK;
}

/* Puts up to `most` elements that the input has ready into the ring. */
static leat_status store(leati_shuffle_ring *ring, int64_t available, int64_t most,
                         leat_error *err) {
    leati_shuffle_slice *back = leati_shuffle_back(ring);
    leati_block *block = &ring->input.block;
    if (leati_input_begin(&ring->input) == 0) {
        for (int c = 0; c < block->num_columns; c++) {
            /* Rows of a fixed size are copied into the reservoir; others are references, and would
             * keep the whole memory of the block alive. */
            if (ring->reservoir.columns[c].row_bytes > 0)
                continue;
            leat_status status = leati_column_compact(&block->columns[c], block->n, err);
            if (status != LEAT_OK)
                return status;
        }
    }
    int64_t n = LEATI_MIN(available, most);
    for (int64_t done = 0; done < n;) {
        uint32_t slots[RUN];
        int64_t run = LEATI_MIN(n - done, RUN);
        for (int64_t i = 0; i < run; i++) {
            leat_status status =
                leati_shuffle_slot(ring, (back->end + i) % ring->size, &slots[i], err);
            if (status != LEAT_OK)
                return status;
        }
        leati_reservoir_put(&ring->reservoir, slots, run, block, leati_input_begin(&ring->input));
        leati_input_consume(&ring->input, run);
        back->consumed += run;
        back->end += run;
        ring->produced = true;
        done += run;
    }
    return LEAT_OK;
}

static leati_tail consume_error(leati_shuffle_ring *ring) {
    leati_shuffle_slice *back = leati_shuffle_back(ring);
    leati_input_consume(&ring->input, 1);
    /* Without a note of the error the epoch cannot be replayed: save data. */
    if (leati_shuffle_note_error(back, &(leat_error){0}) != LEAT_OK)
        back->snapshot.size = 0;
    back->consumed++;
    return LEATI_ERROR;
}

static leati_tail fill(leati_node_state *node, leati_shuffle_ring *ring, int64_t more,
                       leat_error *err) {
    for (;;) {
        int64_t held = leati_shuffle_held(ring), available = 0;
        if (held >= ring->size || (ring->num_slices == LEATI_SHUFFLE_SLICES && held > 0))
            return LEATI_MORE;
        if (leati_shuffle_back(ring)->finished) {
            if (!epochs_remain(ring))
                return LEATI_MORE;
            if (next_epoch(node, ring, err) != LEAT_OK)
                return LEATI_ERROR;
        }
        if (leati_shuffle_open_epoch(node, ring, err) != LEAT_OK)
            return LEATI_ERROR;
        /* TensorFlow reads one outcome of the fourth slice, and then begins no other. */
        bool one = ring->num_slices == LEATI_SHUFFLE_SLICES;
        int64_t lack = one ? 1 : ring->size - held;
        /* Beyond what is lacking, `more` draws will each make room for an element of the same
         * block. */
        int64_t want = one ? 1 : lack > INT64_MAX - more ? lack : lack + more;
        leati_tail tail =
            leati_input_peek(&ring->input, LEATI_MIN(want, 65536), NULL, &available, err);
        if (available > 0) {
            if (store(ring, available, lack, err) != LEAT_OK)
                return LEATI_ERROR;
        } else if (tail == LEATI_ERROR) {
            return consume_error(ring);
        } else {
            leati_shuffle_slice *back = leati_shuffle_back(ring);
            back->finished = true;
            /* Without this, an input that is empty or all errors would be repeated for ever. */
            ring->last =
                ring->epochs < 0 && !ring->shared && (back->consumed == 0 || !ring->produced);
        }
    }
}

leati_tail leati_shuffle_ready(leati_node_state *node, leati_shuffle_ring *ring, int64_t more,
                               leat_error *err) {
    const leati_shuffle_slice *front = &ring->slices[0];
    for (;;) {
        if (fill(node, ring, more, err) == LEATI_ERROR)
            return LEATI_ERROR;
        if (leati_shuffle_held(ring) == 0)
            return LEATI_END;
        /* The front slice is used up, and perhaps empty ones behind it. */
        while (front->end == ring->start)
            pop(ring);
        if (front->finished || leati_shuffle_held(ring) >= ring->size)
            break;
    }
    if (ring->owed > 0) {
        /* Epochs that gave no element had their pairs too, as in TensorFlow. */
        for (; ring->owed > 0; ring->owed--)
            leati_seed_generator_next(ring->generator, ring->pair);
        ring->words = leati_words_new(ring->pair[0], ring->pair[1]);
    }
    return LEATI_MORE;
}

/* How many draws follow one another, for the first of which the ring is ready, with no work between
 * them but that each leaves its place to the input's next element (*puts of them) or to nobody. */
static int64_t run_of_draws(const leati_shuffle_ring *ring, int64_t want, int64_t *puts) {
    const leati_shuffle_slice *back = &ring->slices[ring->num_slices - 1];
    const leati_input *input = &ring->input;
    int64_t front = ring->slices[0].end - ring->start; /* of one slice: with what comes, more */
    int64_t n = LEATI_MIN(want, RUN);
    *puts = 0;
    /* Nothing is read, so draws go on until the front slice is used up. */
    if (ring->num_slices == LEATI_SHUFFLE_SLICES || (back->finished && !epochs_remain(ring)))
        return n < front ? n : front;
    /* Only a full ring that a block at hand refills needs nothing else between two draws. */
    bool ready = input->loaded && input->consumed > 0 && input->consumed < input->block.n;
    if (!ready || back->finished || back->end - ring->start != ring->size)
        return 1;
    int64_t at_hand = input->block.n - input->consumed;
    /* Each draw but the last is followed by a put; what the last one leaves empty is fill's to see
     * to. */
    n = n <= at_hand ? n : at_hand + 1;
    n = ring->num_slices == 1 || n < front ? n : front;
    *puts = n - 1;
    return n;
}

/* Chooses the slots of n draws and asks for their memory: rows lie anywhere in it, and the way
 * there of one is hidden behind the others. */
static void choose(leati_shuffle_ring *ring, int64_t n, bool refilled, uint32_t *chosen) {
    uint32_t words[RUN];
    leati_words_take(&ring->words, words, n);
    int64_t filled = ring->slices[0].end - ring->start;
    int64_t first = ring->start % ring->size;
    for (int64_t i = 0; i < n; i++) {
        int64_t now = refilled ? filled : filled - i;
        /* TensorFlow's remainder is of 64 bits: a word of 32 is below any larger number. */
        int64_t offset = now <= UINT32_MAX ? (int64_t)(words[i] % (uint32_t)now) : words[i];
        int64_t at = first + offset;
        at = at >= ring->size ? at - ring->size : at;
        uint32_t slot = ring->slots[at];
        /* The hole goes to the front, where the slice shrinks and the next element is put. */
        ring->slots[at] = ring->slots[first];
        ring->slots[first] = chosen[i] = slot;
        leati_reservoir_look(&ring->reservoir, slot);
        first = first + 1 == ring->size ? 0 : first + 1;
    }
}

leati_tail leati_shuffle_draw(leati_node_state *node, leati_shuffle_ring *ring, int64_t n,
                              leati_block *out, leat_error *err) {
    leati_tail tail = LEATI_MORE;
    for (out->n = 0; tail == LEATI_MORE;) {
        leati_shuffle_slice *back = leati_shuffle_back(ring);
        leati_input *input = &ring->input;
        uint32_t slots[RUN];
        int64_t puts = 0, draws = run_of_draws(ring, n - out->n, &puts);
        choose(ring, draws, puts > 0 && ring->num_slices == 1, slots);
        leati_reservoir_exchange(&ring->reservoir, slots, draws, out, out->n, &input->block,
                                 puts > 0 ? leati_input_begin(input) : 0, puts);
        if (puts > 0) {
            leati_input_consume(input, puts);
            back->consumed += puts;
            back->end += puts;
        }
        ring->start += draws;
        ring->emitted += draws;
        out->n += draws;
        if (out->n == n)
            return tail;
        tail = leati_shuffle_ready(node, ring, n - out->n - 1, err);
    }
    return tail;
}
