/* Rings: what they hold, stages and pieces, and the memory that is used again. See ring_parts.h.
 *
 * Every change of a list changes its counts with it; LEATI_ASSERT compares them where tests run
 * under the sanitizers. Locks: the gate, which the caller holds; references are dropped without. */
#include "base/debug.h"
#include "base/minmax.h"
#include "data/ahead/ring_parts.h"
#include <string.h>

enum {
    BLOCKED = 32, /* pieces per thread behind one that takes long */
    MOST_BLOCKED = 512
};

void leati_ring_account(leati_ring *ring) {
    leati_counters *counters = &ring->node->counters;
    leati_counter_set(&counters->depth, ring->queue.undelivered);
    leati_counter_set(&counters->bytes_held, ring->queue.held);
    if (ring->options.program == NULL)
        leati_counter_set(&counters->depth_limit, leati_autotune_knob_get(&ring->knob));
    else
        leati_counter_set(&counters->parallelism, leati_ring_parallelism(ring));
    /* A ring over the limit only takes in less; it does not fail. */
    leat_error unwanted;
    if (leati_budget_holder_set(&ring->node->holder, ring->queue.held,
                                leati_error_unwanted(&unwanted)) != LEAT_OK)
        return;
}

void leati_ring_assert(const leati_ring *ring) {
#ifdef LEATI_DEBUG
    const leati_ring_queue *queue = &ring->queue;
    int64_t pieces = 0, running = 0, outcomes = 0, uncut_bytes = 0, held = 0;
    for (const leati_ring_piece *piece = queue->pieces; piece != NULL; piece = piece->next) {
        assert(piece->rows >= 0 && piece->stage->pieces > 0);
        pieces++;
        running += !piece->done;
        outcomes += piece->rows + (piece->last && piece->stage->tail == LEATI_ERROR);
        held += piece->done ? piece->bytes : 0; /* the rest may be a task's */
    }
    for (const leati_ring_stage *stage = queue->uncut; stage != NULL; stage = stage->next) {
        assert(!stage->closed && stage->cut <= stage->rows.n);
        outcomes += stage->rows.n - stage->cut + (stage->tail == LEATI_ERROR);
        uncut_bytes += (stage->rows.n - stage->cut) * stage->per_row;
    }
    for (const leati_ring_stage *stage = queue->stages; stage != NULL; stage = stage->next)
        held += stage->bytes;
    assert(pieces == queue->num_pieces && running == queue->running);
    assert(outcomes == queue->undelivered && uncut_bytes == queue->uncut_bytes);
    assert(running > 0 ? held <= queue->held : held == queue->held);
#else
    (void)ring;
#endif
}

leati_ring_stage *leati_ring_take_stage(leati_ring *ring) {
    leati_queue_gate_lock(ring->gate);
    leati_ring_stage *stage = ring->spare.stages;
    if (stage != NULL)
        ring->spare.stages = stage->next;
    leati_queue_gate_unlock(ring->gate);
    return stage != NULL ? stage : leati_alloc_zero(1, sizeof(*stage));
}

void leati_ring_add_stage(leati_ring *ring, leati_ring_stage *stage) {
    stage->next = NULL;
    *ring->queue.stages_end = stage;
    ring->queue.stages_end = &stage->next;
    if (ring->queue.uncut == NULL)
        ring->queue.uncut = stage;
    int64_t outcomes = stage->rows.n + (stage->tail == LEATI_ERROR);
    stage->index = ring->queue.next_index;
    leati_ring_snapshot *snapshot = stage->snapshot = ring->snapshots.last;
    if (snapshot != NULL) {
        snapshot->refs++;
        /* The first error behind the snapshot: who replays beyond it must ask for errors. */
        if (stage->tail == LEATI_ERROR && snapshot->error == INT64_MAX)
            snapshot->error = stage->index + stage->rows.n;
    }
    ring->queue.next_index += outcomes;
    ring->queue.undelivered += outcomes;
    ring->queue.uncut_bytes += stage->rows.n * stage->per_row;
    ring->queue.held += stage->bytes;
    ring->signals.input_ended = stage->tail == LEATI_END;
    leati_ring_cut(ring);
    leati_ring_account(ring);
}

void leati_ring_fill_stage(leati_ring_stage *stage) {
    stage->bytes = (int64_t)leati_block_bytes(&stage->rows);
    stage->per_row = stage->rows.n > 0 ? stage->bytes / stage->rows.n : 0;
    stage->cut = 0;
    stage->pieces = 0;
    stage->closed = false;
}

void leati_ring_bury_stage(leati_ring *ring, leati_ring_stage *stage) {
    stage->next = ring->spare.dead;
    ring->spare.dead = stage;
}

leati_ring_stage *leati_ring_take_dead(leati_ring *ring) {
    leati_ring_stage *dead = ring->spare.dead;
    ring->spare.dead = NULL;
    return dead;
}

void leati_ring_drop_stage(leati_ring *ring, leati_ring_stage *stage) {
    LEATI_ASSERT(stage->pieces == 0);
    leati_ring_stage **at = &ring->queue.stages;
    while (*at != stage)
        at = &(*at)->next;
    *at = stage->next;
    if (ring->queue.stages_end == &stage->next)
        ring->queue.stages_end = at;
    ring->queue.held -= stage->bytes;
    leati_ring_snapshot_unref(ring, stage->snapshot);
    stage->snapshot = NULL;
    leati_ring_bury_stage(ring, stage);
}

void leati_ring_reap(leati_ring *ring, leati_ring_stage *dead) {
    if (dead == NULL)
        return;
    leati_ring_stage *last = NULL;
    for (leati_ring_stage *stage = dead; stage != NULL; stage = stage->next) {
        /* Without the gate: to drop the last references may free much memory. */
        leati_block_clear(&stage->rows);
        last = stage;
    }
    leati_queue_gate_lock(ring->gate);
    last->next = ring->spare.stages;
    ring->spare.stages = dead;
    leati_queue_gate_unlock(ring->gate);
}

void leati_ring_remove_piece(leati_ring *ring, leati_ring_piece *piece) {
    LEATI_ASSERT(piece->done && ring->queue.num_pieces > 0);
    leati_ring_piece **at = &ring->queue.pieces;
    while (*at != piece)
        at = &(*at)->next;
    *at = piece->next;
    if (ring->queue.pieces_end == &piece->next)
        ring->queue.pieces_end = at;
    ring->queue.num_pieces--;
    ring->queue.held -= piece->bytes;
    leati_ring_stage *stage = piece->stage;
    stage->pieces--;
    if (piece != &stage->whole) {
        piece->next = ring->spare.pieces;
        ring->spare.pieces = piece;
    }
    if (stage->closed && stage->pieces == 0)
        leati_ring_drop_stage(ring, stage);
}

leat_status leati_ring_make_pieces(leati_ring *ring, leat_error *err) {
    leati_ring_spare *spare = &ring->spare;
    int64_t most = ring->knob.maximum;
    spare->max_pieces = LEATI_MIN(BLOCKED * most, MOST_BLOCKED);
    spare->max_pieces += most + most / 2 + 2;
    spare->all_pieces = leati_alloc_zero((size_t)spare->max_pieces, sizeof(*spare->all_pieces));
    spare->workers = leati_pool_size(ring->node->iteration->pool);
    spare->scratches = leati_alloc_zero((size_t)spare->workers, sizeof(leati_scratch *));
    if (spare->all_pieces == NULL || spare->scratches == NULL)
        return leati_no_memory(err);
    for (int64_t i = spare->max_pieces - 1; i >= 0; i--) {
        spare->all_pieces[i].next = spare->pieces;
        spare->pieces = &spare->all_pieces[i];
    }
    return LEAT_OK;
}

void leati_ring_discard(leati_ring *ring) {
    while (ring->queue.pieces != NULL) {
        leati_ring_piece *piece = ring->queue.pieces;
        leati_block_clear(&piece->out);
        leati_ring_remove_piece(ring, piece);
    }
    while (ring->queue.stages != NULL)
        leati_ring_drop_stage(ring, ring->queue.stages);
    ring->queue.uncut = NULL;
    leati_ring_forget_batch(ring);
    leati_ring_reap(ring, leati_ring_take_dead(ring));
    LEATI_ASSERT(ring->queue.num_pieces == 0 && ring->queue.running == 0 && ring->queue.held == 0);
    ring->queue.undelivered = ring->queue.uncut_bytes = 0;
    ring->signals.input_ended = false;
    leati_ring_snapshot_unref(ring, ring->snapshots.last);
    ring->snapshots.last = NULL;
    memset(&ring->signals.trouble, 0, sizeof(ring->signals.trouble));
    leati_free(ring->wanted.ranges);
    ring->wanted = (leati_ring_wanted){0};
}

void leati_ring_free_spare(leati_ring *ring) {
    leati_ring_spare *spare = &ring->spare;
    for (leati_ring_stage *stage = spare->stages; stage != NULL;) {
        leati_ring_stage *next = stage->next;
        leati_block_fini(&stage->rows);
        leati_free(stage);
        stage = next;
    }
    for (int64_t i = 0; spare->all_pieces != NULL && i < spare->max_pieces; i++)
        leati_block_fini(&spare->all_pieces[i].out);
    for (int i = 0; spare->scratches != NULL && i < spare->workers; i++)
        leati_program_scratch_free(spare->scratches[i]);
    leati_free(spare->all_pieces);
    leati_free(spare->scratches);
}
