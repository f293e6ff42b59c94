/* Rings: results of a map where the consumer's batches want them.
 *
 * A consumer that fills batches offers memory for the rows that it asks for. A ring computes rows
 * before they are asked for; so it notes what was offered, how many rows make a batch and which
 * outcome begins one, takes buffers of that many rows from pools of its own, and lets each piece
 * write its rows at their place in the batch they will belong to. The batch then finds its rows one
 * after the other and is a view of them. Where an error shifts the batches, the next request says
 * so, and the few pieces in between are copied. Pieces end where batches do; so this is done for
 * large rows only. Failure: no memory. All but note with the gate locked. */
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include <string.h>

enum { LEAST_ROW_BYTES = 4096, MOST_BATCH_BYTES = 1 << 30 };

static leat_status reserve(leati_ring *ring, int num_columns, leat_error *err) {
    leati_lanes *lanes = &ring->lanes;
    size_t columns = (size_t)num_columns, pieces = (size_t)ring->spare.max_pieces;
    size_t count = 0;
    if (!leati_mul_size(columns, pieces + 1, &count))
        return leati_no_memory(err);
    lanes->offered = leati_alloc_zero(count, sizeof(*lanes->offered));
    lanes->pools = leati_alloc_zero(columns, sizeof(leati_buffer_pool *));
    lanes->buffers = leati_alloc_zero(columns, sizeof(leat_buffer *));
    if (lanes->offered == NULL || lanes->pools == NULL || lanes->buffers == NULL)
        return leati_no_memory(err);
    lanes->num_columns = num_columns;
    for (int64_t i = 0; i < ring->spare.max_pieces; i++)
        ring->spare.all_pieces[i].places = lanes->offered + (size_t)(i + 1) * columns;
    return LEAT_OK;
}

/* The first offer: what a batch is made of. */
static leat_status learn(leati_ring *ring, int64_t want, const leati_destination *offered,
                         int num_columns, leat_error *err) {
    leati_lanes *lanes = &ring->lanes;
    size_t row = 0, bytes = 0;
    for (int c = 0; c < num_columns; c++)
        row += (size_t)offered[c].stride;
    lanes->asked = true;
    /* In verification mode small rows go this way, too. */
    size_t least = ring->node->iteration->verify ? 1 : LEAST_ROW_BYTES;
    if (row < least || want < 2 || !leati_mul_size(row, (size_t)want, &bytes) ||
        bytes > MOST_BATCH_BYTES)
        return LEAT_OK;
    leat_status status = reserve(ring, num_columns, err);
    for (int c = 0; c < num_columns && status == LEAT_OK; c++) {
        lanes->offered[c] = offered[c];
        /* Kept is what a row is made of; the memory is the present batch's, and the ring computes
         * later ones. */
        lanes->offered[c].data = NULL;
        lanes->offered[c].owner = NULL;
        lanes->pools[c] = leati_buffer_pool_new((size_t)offered[c].stride * (size_t)want, err);
        status = lanes->pools[c] == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    lanes->rows = status == LEAT_OK ? want : 0;
    return status;
}

leat_status leati_ring_note(leati_ring *ring, int64_t want, const leati_destination *offered,
                            int num_columns, leat_error *err) {
    leati_lanes *lanes = &ring->lanes;
    if (ring->options.program == NULL || ring->options.any_order || offered == NULL)
        return LEAT_OK;
    leati_queue_gate_lock(ring->gate);
    leat_status status = lanes->asked ? LEAT_OK : learn(ring, want, offered, num_columns, err);
    if (want > lanes->rows)
        lanes->rows = 0; /* batches of another size than at first */
    /* Behind the rows that are asked for now the next batch begins. */
    lanes->border = leati_ring_first_left(ring) + want;
    leati_queue_gate_unlock(ring->gate);
    return status;
}

/* How far the outcome is from the beginning of its batch. */
static int64_t place_of(const leati_lanes *lanes, int64_t outcome) {
    /* The border may lie ahead of the outcome, and the remainder is negative then. */
    int64_t place = (outcome - lanes->border) % lanes->rows;
    return place < 0 ? place + lanes->rows : place;
}

int64_t leati_ring_rows_to_border(const leati_ring *ring, int64_t outcome, int64_t rows) {
    const leati_lanes *lanes = &ring->lanes;
    if (lanes->rows == 0)
        return rows;
    int64_t left = lanes->rows - place_of(lanes, outcome);
    return LEATI_MIN(rows, left);
}

static void drop_buffers(leati_lanes *lanes) {
    for (int c = 0; c < lanes->num_columns && lanes->buffers != NULL; c++) {
        leat_buffer_unref(lanes->buffers[c]);
        lanes->buffers[c] = NULL;
    }
}

/* Buffers for the batch that begins at outcome `first`. Without memory the piece has none, either:
 * then its own results fail, or they are copied. */
static bool take_buffers(leati_lanes *lanes, int64_t first) {
    if (lanes->buffers[0] != NULL && lanes->first == first)
        return true;
    drop_buffers(lanes);
    lanes->first = first;
    for (int c = 0; c < lanes->num_columns; c++) {
        lanes->buffers[c] = leati_buffer_pool_take(lanes->pools[c], &(leat_error){0});
        if (lanes->buffers[c] == NULL) {
            drop_buffers(lanes);
            return false;
        }
    }
    return true;
}

void leati_ring_place(leati_ring *ring, leati_ring_piece *piece) {
    leati_lanes *lanes = &ring->lanes;
    piece->placed = false;
    if (lanes->rows == 0 || piece->rows == 0)
        return;
    int64_t outcome = piece->stage->index + piece->begin, place = place_of(lanes, outcome);
    if (!take_buffers(lanes, outcome - place))
        return;
    for (int c = 0; c < lanes->num_columns; c++) {
        piece->places[c] = lanes->offered[c];
        piece->places[c].owner = leat_buffer_ref(lanes->buffers[c]);
        piece->places[c].data =
            (char *)leat_buffer_data(lanes->buffers[c]) + place * lanes->offered[c].stride;
    }
    piece->placed = true;
}

void leati_ring_unplace(leati_ring_piece *piece) {
    piece->out.destinations = NULL;
    if (!piece->placed)
        return;
    /* Once a piece has been placed, the number of columns stays; the gate is not needed. */
    for (int c = 0; c < piece->ring->lanes.num_columns; c++)
        leat_buffer_unref(piece->places[c].owner);
    piece->placed = false;
}

void leati_ring_forget_batch(leati_ring *ring) {
    drop_buffers(&ring->lanes);
}

void leati_ring_lanes_free(leati_ring *ring) {
    leati_lanes *lanes = &ring->lanes;
    drop_buffers(lanes);
    for (int c = 0; c < lanes->num_columns && lanes->pools != NULL; c++)
        leati_buffer_pool_close(lanes->pools[c]);
    leati_free(lanes->offered);
    leati_free(lanes->pools);
    leati_free(lanes->buffers);
}
