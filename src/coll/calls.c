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

leat_status leati_calls_same(const leati_collective_call *a, int rank_a,
                             const leati_collective_call *b, int rank_b, leat_error *err) {
    if (a->kind == b->kind && a->count == b->count && a->dtype == b->dtype &&
        a->parameter == b->parameter)
        return LEAT_OK;
    char parameters[64] = "";
    if (a->kind == b->kind && a->parameter != b->parameter) {
        snprintf(parameters, sizeof parameters, " (%s %d and %d)",
                 a->kind == LEATI_CALL_BROADCAST ? "roots" : "reductions", (int)a->parameter,
                 (int)b->parameter);
    }
    leat_reason reason = a->kind != b->kind     ? LEAT_REASON_NONE
                         : a->dtype != b->dtype ? LEAT_REASON_DTYPE
                         : a->count != b->count ? LEAT_REASON_SHAPE
                                                : LEAT_REASON_VALUE;
    return leati_fail_for(err, LEAT_INVALID_ARGUMENT, reason,
                          "%srank %d called %s of %lld %s values, rank %d %s of %lld %s "
                          "values%s; all ranks must make the same calls in the same order",
                          reason == LEAT_REASON_SHAPE ? "Shape mismatch: " : "", rank_a,
                          leati_call_kind_name(a->kind), (long long)a->count,
                          leat_dtype_name((leat_dtype)a->dtype), rank_b,
                          leati_call_kind_name(b->kind), (long long)b->count,
                          leat_dtype_name((leat_dtype)b->dtype), parameters);
}

leat_status leati_calls_compare(const leati_rank_call *calls, int num_ranks, int rank,
                                leat_error *err) {
    /* The others' numbers may be one ahead by now; this rank's tells which record is of this
     * call. */
    uint64_t turn = calls[rank].number % 2;
    for (int r = 1; r < num_ranks; r++)
        LEATI_TRY(leati_calls_same(&calls[r].records[turn], r, &calls[0].records[turn], 0, err));
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
