/* Products of complex numbers, and sums of those of the highest rank, in float64; see leati_reduce.
 * Each value of the result takes its numbers in their order. Fails without memory. No locks. */
#include "graph/support/math/reduce.h"

#include "base/stop.h"
#include "core/complex.h"

typedef struct pairs {
    const leati_operand *in;
    int64_t steps[LEAT_MAX_RANK]; /* of the result, in values; 0: reduced */
    leati_reduce_kind kind;
    leati_complex128 *to;
} pairs;

static leati_complex128 number_at(const leati_operand *in, const char *row, int64_t i) {
    return in->dtype == LEAT_COMPLEX64
               ? (leati_complex128)((const leati_complex64 *)(const void *)row)[i]
               : ((const leati_complex128 *)(const void *)row)[i];
}

/* All numbers of a row, in their order, each to its place. */
static void walk(const pairs *p, const char *row) {
    const leati_operand *in = p->in;
    int64_t counters[LEAT_MAX_RANK] = {0}, place = 0;
    for (int64_t i = 0; i < in->count && !leati_stop_look_at(i); i++) {
        leati_complex128 x = number_at(in, row, i);
        p->to[place] = p->kind == LEATI_REDUCE_PROD ? p->to[place] * x : p->to[place] + x;
        for (int32_t d = in->rank - 1; d >= 0; d--) {
            place += p->steps[d];
            if (++counters[d] < in->dims[d])
                break;
            place -= p->steps[d] * in->dims[d];
            counters[d] = 0;
        }
    }
}

leat_status leati_reduce_complex(leati_kernel_call *call, const bool *mask, leati_reduce_kind kind,
                                 leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    pairs p = {.in = in, .kind = kind};
    int64_t step = 1, reduced = 1;
    for (int32_t d = in->rank - 1; d >= 0; d--) {
        p.steps[d] = mask[d] ? 0 : step;
        step *= mask[d] ? 1 : in->dims[d];
        reduced *= mask[d] ? in->dims[d] : 1;
    }
    size_t bytes = 0;
    if (!leati_mul_size((size_t)out->count, sizeof *p.to, &bytes))
        return leati_no_memory(err);
    p.to = leati_arena_alloc(call->arena, bytes);
    if (p.to == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < out->count; i++)
            p.to[i] = kind == LEATI_REDUCE_PROD ? 1 : 0;
        walk(&p, leati_support_row_of(in, row));
        for (int64_t i = 0; i < out->count; i++) {
            leati_complex128 x = kind == LEATI_REDUCE_MEAN ? p.to[i] / (double)reduced : p.to[i];
            if (out->dtype == LEAT_COMPLEX64)
                ((leati_complex64 *)(void *)to)[i] = (leati_complex64)x;
            else
                ((leati_complex128 *)(void *)to)[i] = x;
        }
    }
    return LEAT_OK;
}
