/* Places of sparse values; see places.h.
 *
 * Happy path: where an int64 counts the places of the shape, one pass over all gives their numbers
 * and says whether one lies outside or is out of order; only then they are looked at one by one,
 * for the text of the refusal, or sorted. No state, no locks. */
#include "graph/support/array/places.h"

#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/moving.h"
#include "graph/support/array/sorting.h"

#include <stdatomic.h>

leat_status leati_places_of(const leati_kernel_call *call, int indices, int shape, int64_t row,
                            leati_places *out, leat_error *err) {
    const leati_operand *in = &call->inputs[indices], *dims = &call->inputs[shape];
    if (in->rank != 2 || dims->rank != 1 || in->dims[1] != dims->count)
        return leati_refuse(err, SHAPE,
                            "indices of rank %d and a shape of %lld dimensions; expected "
                            "[n, rank] and [rank]",
                            (int)in->rank, (long long)dims->count);
    *out = (leati_places){.indices = (const int64_t *)(const void *)leati_support_row_of(in, row),
                          .shape = (const int64_t *)(const void *)leati_support_row_of(dims, row),
                          .count = in->dims[0],
                          .rank = in->dims[1]};
    return LEAT_OK;
}

/* The number of place i of all places of the shape. */
static leat_status number_of(const leati_places *p, int64_t i, int64_t *out, leat_error *err) {
    const int64_t *index = p->indices + i * p->rank;
    int64_t number = 0;
    for (int64_t d = 0; d < p->rank; d++) {
        if (index[d] < 0 || index[d] >= p->shape[d])
            return leati_refuse(err, VALUE,
                                "indices[%lld] has %lld for dimension %lld; expected 0 "
                                "to %lld",
                                (long long)i, (long long)index[d], (long long)d,
                                (long long)p->shape[d] - 1);
        if (__builtin_mul_overflow(number, p->shape[d], &number) ||
            __builtin_add_overflow(number, index[d], &number))
            return leati_refuse(err, SHAPE, "the shape has more places than an int64 counts");
    }
    *out = number;
    return LEAT_OK;
}

/* Can an int64 count the places of a shape? Only then is none of their numbers too large. */
static bool counts_all(const int64_t *shape, int64_t rank, int64_t *out) {
    *out = 1;
    for (int64_t d = 0; d < rank; d++)
        if (shape[d] < 0 || __builtin_mul_overflow(*out, shape[d], out))
            return false;
    return true;
}

/* A pass over all places. */
typedef struct numbering {
    const leati_places *p;
    int64_t *numbers;
    atomic_bool outside, falls; /* an index is no index; a number is less than the one before */
} numbering;

LEATI_ALWAYS_INLINE int64_t number_here(const leati_places *p, int64_t rank, int64_t i,
                                        bool *outside) {
    const int64_t *index = p->indices + i * rank;
    uint64_t number = 0;
    for (int64_t d = 0; d < rank; d++) {
        *outside |= (uint64_t)index[d] >= (uint64_t)p->shape[d];
        number = number * (uint64_t)p->shape[d] + (uint64_t)index[d];
    }
    return (int64_t)number;
}

LEATI_ALWAYS_INLINE void number_loop(numbering *n, int64_t rank, int64_t begin, int64_t end) {
    bool outside = false, falls = false;
    int64_t last = begin > 0 ? number_here(n->p, rank, begin - 1, &outside) : INT64_MIN;
    for (int64_t i = begin; i < end; i++) {
        int64_t number = number_here(n->p, rank, i, &outside);
        falls |= number < last;
        n->numbers[i] = last = number;
    }
    if (outside)
        atomic_store_explicit(&n->outside, true, memory_order_relaxed);
    if (falls)
        atomic_store_explicit(&n->falls, true, memory_order_relaxed);
}

static void number_steps(void *data, int64_t begin, int64_t end) {
    numbering *n = data;
    if (n->p->rank == 2)
        number_loop(n, 2, begin, end);
    else
        number_loop(n, n->p->rank, begin, end);
}

/* The numbers of all places as they come, in the arena. */
leat_status leati_places_number(leati_kernel_call *call, const leati_places *p, int64_t **out,
                                bool *rises, leat_error *err) {
    int64_t all = 0;
    numbering n = {.p = p};
    n.numbers = leati_arena_alloc(call->arena, (size_t)LEATI_MAX(p->count, 1) * sizeof *n.numbers);
    if (n.numbers == NULL)
        return leati_no_memory(err);
    if (counts_all(p->shape, p->rank, &all))
        leati_moving_share(p->count, (p->rank + 1) * (int64_t)sizeof(int64_t), number_steps, &n);
    else
        atomic_store(&n.outside, true); /* perhaps: one after the other */
    *out = n.numbers;
    *rises = !atomic_load(&n.falls);
    if (!atomic_load(&n.outside))
        return LEAT_OK;
    *rises = true;
    for (int64_t i = 0; i < p->count && !leati_stop_look_at(i); i++) {
        LEATI_TRY(number_of(p, i, &n.numbers[i], err));
        *rises = *rises && (i == 0 || n.numbers[i - 1] <= n.numbers[i]);
    }
    return LEAT_OK;
}

leat_status leati_places_sort(leati_kernel_call *call, const leati_places *p,
                              leati_places_order *out, leat_error *err) {
    leati_sorting sorting;
    bool rises = false;
    *out = (leati_places_order){0};
    LEATI_TRY(leati_places_number(call, p, &out->numbers, &rises, err));
    if (rises)
        return LEAT_OK;
    LEATI_TRY(leati_sorting_init(&sorting, LEAT_INT64, p->count, false, true, call->arena, err));
    out->order = leati_sorting_places(&sorting, out->numbers);
    return out->order == NULL ? leati_stop_check(err) : LEAT_OK;
}

leat_status leati_places_split_init(leati_places_split *s, leati_kernel_call *call,
                                    const int64_t *shape, int64_t rank, leat_error *err) {
    int64_t all = 0;
    *s = (leati_places_split){.shape = shape, .rank = rank};
    if (!counts_all(shape, rank, &all) || all >= INT64_C(1) << 50)
        return LEAT_OK;
    s->inverses = leati_arena_alloc(call->arena, (size_t)(rank + 1) * sizeof *s->inverses);
    if (s->inverses == NULL)
        return leati_no_memory(err);
    for (int64_t d = 0; d < rank; d++)
        s->inverses[d] = 1.0 / (double)shape[d];
    return LEAT_OK;
}

void leati_places_write(const leati_places_split *s, int64_t number, int64_t *to) {
    for (int64_t d = s->rank - 1; d > 0; d--) {
        int64_t size = s->shape[d];
        int64_t quotient =
            s->inverses != NULL ? (int64_t)((double)number * s->inverses[d]) : number / size;
        int64_t rest = number - quotient * size;
        /* A product is off by one at most. */
        int64_t off = rest < 0 ? -1 : rest >= size;
        to[d] = rest - off * size;
        number = quotient + off;
    }
    if (s->rank > 0)
        to[0] = number;
}
