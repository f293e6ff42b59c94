/* Records of calls and the parts of ranks (coll/calls.h). No locks: who reads a record has met the
 * rank that wrote it. */
#include "coll/calls.h"
#include "base/error.h"
#include "base/minmax.h"
#include <stdio.h>

const char *leati_call_kind_name(int32_t kind) {
    static const char *const names[LEATI_NUM_CALLS] = {"barrier", "all_reduce", "all_gather",
                                                       "reduce_scatter", "broadcast"};
    return kind >= 0 && kind < LEATI_NUM_CALLS ? names[kind] : "an unknown call";
}

void leati_call_record(leati_rank_call *own, leati_collective_call call) {
    /* The record of the call before stays where it is: another rank may still compare it. */
    own->number++;
    own->records[own->number % 2] = call;
}

const leati_collective_call *leati_call_present(const leati_rank_call *own) {
    return &own->records[own->number % 2];
}

leat_status leati_calls_compare(const leati_rank_call *calls, int num_ranks, int rank,
                                leat_error *err) {
    /* The others' numbers may be one ahead by now; this rank's tells which record is of this
     * call. */
    uint64_t turn = calls[rank].number % 2;
    const leati_collective_call *first = &calls[0].records[turn];
    for (int r = 1; r < num_ranks; r++) {
        const leati_collective_call *other = &calls[r].records[turn];
        if (other->kind != first->kind || other->count != first->count ||
            other->dtype != first->dtype || other->parameter != first->parameter) {
            char parameters[64] = "";
            if (other->kind == first->kind && other->parameter != first->parameter) {
                snprintf(parameters, sizeof parameters, " (%s %d and %d)",
                         other->kind == LEATI_CALL_BROADCAST ? "roots" : "reductions",
                         (int)other->parameter, (int)first->parameter);
            }
            leat_reason reason = other->kind != first->kind     ? LEAT_REASON_NONE
                                 : other->dtype != first->dtype ? LEAT_REASON_DTYPE
                                 : other->count != first->count ? LEAT_REASON_SHAPE
                                                                : LEAT_REASON_VALUE;
            return leati_fail_for(err, LEAT_INVALID_ARGUMENT, reason,
                                  "%srank %d called %s of %lld %s values, rank 0 %s of %lld %s "
                                  "values%s; all ranks must make the same calls in the same order",
                                  reason == LEAT_REASON_SHAPE ? "Shape mismatch: " : "", r,
                                  leati_call_kind_name(other->kind), (long long)other->count,
                                  leat_dtype_name((leat_dtype)other->dtype),
                                  leati_call_kind_name(first->kind), (long long)first->count,
                                  leat_dtype_name((leat_dtype)first->dtype), parameters);
        }
    }
    return LEAT_OK;
}

void leati_calls_missing_ranks(leati_rank_call *calls, int num_ranks, leati_call_stage stage,
                               uint64_t count, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    /* 16 bytes hold ", " and any int, so snprintf never cuts a number in two. */
    for (int r = 0; r < num_ranks && used + 16 < size; r++)
        if (atomic_load(&calls[r].reached[stage]) < count)
            used += (size_t)snprintf(text + used, size - used, "%s%d", used > 0 ? ", " : "", r);
}

static _Thread_local bool never_spins;

int leati_coll_spins(int spins) {
    return never_spins ? 0 : spins;
}

void leati_coll_never_spin(void) {
    never_spins = true;
}

leati_part leati_coll_part_of(int64_t count, int num_ranks, int rank) {
    /* Rounded up, so the last ranks may get nothing; what division leaves goes to the last one. */
    int64_t size = (count / num_ranks + 63) / 64 * 64;
    int64_t begin = LEATI_MIN(size * rank, count);
    bool last = rank == num_ranks - 1 || begin + size > count;
    return (leati_part){.begin = begin, .end = last ? count : begin + size};
}
