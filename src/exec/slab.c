/* The memory plan shared by element programs and training steps: greedy by size.
 *
 * Intervals are placed from the largest to the smallest, each at the lowest offset where it fits
 * between those already placed that live at the same time; for lifetimes as networks have them
 * this stays within a few percent of the largest sum alive. Quadratic in the number of values,
 * which is hundreds. Failure: no memory for the order. No locks. */
#include "exec/slab.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include <stdlib.h>

#define ALIGNMENT 64

/* Larger first; then the earlier, so that the plan does not depend on the sort. */
static int by_size(const void *left, const void *right) {
    const leati_interval *a = *(leati_interval *const *)left, *b = *(leati_interval *const *)right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool alive_together(const leati_interval *a, const leati_interval *b) {
    return a->begin <= b->end && b->begin <= a->end;
}

/* Puts `placed[at]` in front of the first with a larger offset, to keep placed[0..at] in order. */
static void insert_by_offset(leati_interval **placed, size_t at) {
    leati_interval *one = placed[at];
    while (at > 0 && placed[at - 1]->offset > one->offset) {
        placed[at] = placed[at - 1];
        at--;
    }
    placed[at] = one;
}

/* The lowest free offset for `one` among `count` placed intervals in order of offset. */
static size_t lowest_offset(leati_interval *const *placed, size_t count,
                            const leati_interval *one) {
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const leati_interval *other = placed[i];
        /* What lives at another time may lie anywhere, also where this one goes. */
        if (!alive_together(one, other) || other->size == 0)
            continue;
        if (other->offset >= offset && other->offset - offset >= one->size)
            break;
        size_t end = other->offset + other->size;
        offset = LEATI_MAX(end, offset);
    }
    return offset;
}

leat_status leati_slab_plan(leati_interval *intervals, size_t count, size_t *total,
                            leat_error *err) {
    size_t sum = 0;
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        if (!leati_add_size(intervals[i].size, ALIGNMENT - 1, &intervals[i].size) ||
            !leati_add_size(sum, intervals[i].size, &sum))
            return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                              "the temporaries of the function exceed the address space");
        /* Whole lines of the cache: offsets stay aligned, and no two values share a line. */
        intervals[i].size = intervals[i].size / ALIGNMENT * ALIGNMENT;
    }
    leati_interval **order = leati_alloc(2 * count, sizeof *order);
    if (order == NULL)
        return leati_no_memory(err);
    leati_interval **placed = order + count;
    for (size_t i = 0; i < count; i++)
        order[i] = &intervals[i];
    qsort(order, count, sizeof *order, by_size);
    for (size_t i = 0; i < count; i++) {
        leati_interval *one = order[i];
        one->offset = lowest_offset(placed, i, one);
        if (one->offset + one->size > *total)
            *total = one->offset + one->size;
        placed[i] = one;
        insert_by_offset(placed, i);
    }
    leati_free(order);
    return LEAT_OK;
}

leat_status leati_slab_least(const leati_interval *intervals, size_t count, size_t *least,
                             leat_error *err) {
    size_t steps = 0, alive = 0;
    for (size_t i = 0; i < count; i++)
        steps = LEATI_MAX((size_t)intervals[i].end + 1, steps);
    size_t *begins = leati_alloc_zero(2 * steps, sizeof *begins);
    *least = 0;
    if (begins == NULL)
        return leati_no_memory(err);
    size_t *ends = begins + steps;
    for (size_t i = 0; i < count; i++) {
        begins[intervals[i].begin] += intervals[i].size;
        ends[intervals[i].end] += intervals[i].size;
    }
    for (size_t step = 0; step < steps; step++) {
        alive += begins[step];
        *least = alive > *least ? alive : *least;
        /* Taken off after the maximum, because an interval's end belongs to it. */
        alive -= ends[step];
    }
    leati_free(begins);
    return LEAT_OK;
}
