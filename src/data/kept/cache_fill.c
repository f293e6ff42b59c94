/* Rows for random access to a cache, read on demand: see cache_fill.h.
 *
 * Happy path: a row that is kept is given out as a view; else the caller becomes the reader, pulls
 * the next block of the input with nothing locked, appends it, and looks again. Callers that come
 * meanwhile get what is kept, or wait for the reader. Failures: those of the input, OUT_OF_RANGE
 * behind its end, want of memory (nothing is lost then). Locks: the gate guards all fields; the
 * iterator belongs to whoever has set `reading`. */
#include "data/kept/cache_fill.h"
#include "base/clock.h"
#include "data/access/access.h"
#include "data/run/iterator.h"
#include "run/queue.h"

struct leati_cache_fill {
    leati_gate *gate;
    leati_cache_rows *rows;
    leat_iterator *iterator; /* NULL: not begun */
    bool reading, ended;
};

leati_cache_fill *leati_cache_fill_new(leat_error *err) {
    leati_cache_fill *fill = leati_alloc_zero(1, sizeof(*fill));
    if (fill == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    fill->gate = leati_queue_gate_new("cache", NULL, err);
    fill->rows = fill->gate == NULL ? NULL : leati_cache_rows_new(err);
    if (fill->rows == NULL) {
        leati_cache_fill_free(fill);
        return NULL;
    }
    return fill;
}

void leati_cache_fill_free(leati_cache_fill *fill) {
    if (fill == NULL)
        return;
    leat_iterator_free(fill->iterator);
    leati_cache_rows_unref(fill->rows);
    if (fill->gate != NULL)
        leati_queue_gate_free(fill->gate);
    leati_free(fill);
}

/* The reader, without the gate: some rows are ready, or the end (*available 0), or an error, which
 * is passed. The input has been rewritten with the plan that it belongs to. */
static leat_status read_on(leati_cache_fill *fill, leat_dataset *input, int64_t *available,
                           leat_error *err) {
    if (fill->iterator == NULL) {
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
        options.rewrites = false;
        fill->iterator = leat_iterator_new(input, &options, err);
    }
    if (fill->iterator == NULL)
        return err->code;
    leati_tail tail = leati_iterator_peek(fill->iterator, available, err);
    if (*available > 0 || tail == LEATI_END)
        return LEAT_OK;
    /* The error is an outcome: once passed, the next caller reads on behind it. */
    leati_iterator_consume(fill->iterator, 1);
    return err->code;
}

/* With the gate locked. */
static leat_status keep(leati_cache_fill *fill, int64_t available, leat_error *err) {
    int64_t begin = 0;
    /* Rows that could not be kept are not consumed, and come again at the next call. */
    const leati_block *block = leati_iterator_block(fill->iterator, &begin);
    leat_status status = leati_cache_rows_add(fill->rows, block, begin, available, err);
    if (status == LEAT_OK)
        leati_iterator_consume(fill->iterator, available);
    return status;
}

/* With the gate locked, and locked again on return: one block more, or what another reader does. */
static leat_status extend(leati_cache_fill *fill, leat_dataset *input, leat_error *err) {
    if (fill->reading)
        return leati_queue_gate_wait(fill->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE, NULL, err);
    int64_t available = 0;
    fill->reading = true;
    leati_queue_gate_unlock(fill->gate);
    leat_status status = read_on(fill, input, &available, err);
    leati_queue_gate_lock(fill->gate);
    if (available > 0)
        status = keep(fill, available, err);
    fill->ended = status == LEAT_OK && available == 0;
    fill->reading = false;
    leati_queue_gate_wake(fill->gate);
    return status;
}

leat_status leati_cache_fill_row(leati_cache_fill *fill, leat_dataset *input,
                                 leati_cache_cursor *cursor, int64_t index, leati_block *out,
                                 int64_t *bytes, leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(fill->gate);
    /* What another reader brought may not reach far enough, so it is asked for again. */
    while (status == LEAT_OK && index >= fill->rows->rows && !fill->ended)
        status = extend(fill, input, err);
    if (status == LEAT_OK) {
        status = index < fill->rows->rows
                     ? leati_cache_rows_view(fill->rows, cursor, index, 1, out, err)
                     : leati_access_outside(index, fill->rows->rows, err);
    }
    *bytes = fill->rows->bytes;
    leati_queue_gate_unlock(fill->gate);
    return status;
}
