/* Packs of tensors (coll/pack.h).
 *
 * Planning goes through the tensors in order with one open pack per dtype; packs are then numbered
 * by their last tensor, which is when they are whole if tensors come in order. A packer has the
 * memory of all packs in one piece, so that a round allocates nothing.
 *
 * Failures: a sum that fails is reported by whoever begins, awaits or finishes next. Locks: none of
 * its own. */
#include "coll/pack.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum { FIRST_BYTES = 1 << 20, BYTES = 25 << 20, ALIGNMENT = 64 };

// ---- planning ----

/* While planning: the pack that takes more tensors of a dtype, and the last tensor of each. */
typedef struct open_packs {
    int open[LEAT_NUM_DTYPES]; /* -1: none */
    int *last;                 /* per pack */
} open_packs;

static leat_status check_tensor(const leati_pack_tensor *tensor, int index, leat_error *err) {
    size_t bytes = 0;
    if (leat_dtype_size(tensor->dtype) == 0 || tensor->dtype >= LEAT_NUM_DTYPES ||
        tensor->count < 0 ||
        !leati_mul_size((size_t)tensor->count, leat_dtype_size(tensor->dtype), &bytes) ||
        bytes > PTRDIFF_MAX) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "tensor %d of a pack has %lld values of %s; expected a number of numbers",
                          index, (long long)tensor->count, leat_dtype_name(tensor->dtype));
    }
    return LEAT_OK;
}

static void place(leati_packing *p, open_packs *plan, int tensor, const leati_pack_tensor *what,
                  int64_t bytes_per_pack) {
    int *open = &plan->open[what->dtype];
    if (*open < 0) {
        *open = p->num_packs++;
        p->packs[*open] = (leati_pack){.dtype = what->dtype};
    }
    leati_pack *pack = &p->packs[*open];
    p->places[tensor] = (leati_pack_place){.pack = *open, .at = pack->count};
    pack->count += what->count;
    pack->num_tensors++;
    plan->last[*open] = tensor;
    int64_t most = bytes_per_pack > 0 ? bytes_per_pack : *open == 0 ? FIRST_BYTES : BYTES;
    if (pack->count > most / (int64_t)leat_dtype_size(what->dtype)) {
        *open = -1;
    }
}

/* Numbers the packs by their last tensor: a later one moves down past those that end before it. */
static void sort_packs(leati_packing *p, int *last) {
    for (int i = 1; i < p->num_packs; i++) {
        for (int at = i; at > 0 && last[at - 1] > last[at]; at--) {
            int other = last[at];
            leati_pack pack = p->packs[at];
            last[at] = last[at - 1];
            last[at - 1] = other;
            p->packs[at] = p->packs[at - 1];
            p->packs[at - 1] = pack;
            for (int t = 0; t < p->num_tensors; t++) {
                int number = p->places[t].pack;
                p->places[t].pack = number == at ? at - 1 : number == at - 1 ? at : number;
            }
        }
    }
}

leat_status leati_packing_init(leati_packing *packing, const leati_pack_tensor *tensors, int count,
                               int64_t bytes_per_pack, leat_error *err) {
    *packing = (leati_packing){.num_tensors = count};
    if (bytes_per_pack < 0) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "bytes_per_pack is %lld; expected 0 (chosen for you) or more",
                          (long long)bytes_per_pack);
    }
    for (int i = 0; i < count; i++) {
        leat_status status = check_tensor(&tensors[i], i, err);
        if (status != LEAT_OK) {
            return status;
        }
    }
    open_packs plan = {.last = leati_alloc((size_t)count, sizeof *plan.last)};
    packing->places = leati_alloc((size_t)count, sizeof *packing->places);
    packing->packs = leati_alloc((size_t)count, sizeof *packing->packs);
    if (plan.last == NULL || packing->places == NULL || packing->packs == NULL) {
        leati_free(plan.last);
        leati_packing_fini(packing);
        return leati_no_memory(err, (size_t)count * sizeof *packing->packs);
    }
    for (int d = 0; d < LEAT_NUM_DTYPES; d++) {
        plan.open[d] = -1;
    }
    for (int i = 0; i < count; i++) {
        place(packing, &plan, i, &tensors[i], bytes_per_pack);
    }
    sort_packs(packing, plan.last);
    leati_free(plan.last);
    return LEAT_OK;
}

void leati_packing_fini(leati_packing *packing) {
    leati_free(packing->places);
    leati_free(packing->packs);
    *packing = (leati_packing){0};
}

// ---- a rank's packs ----

typedef struct pack_state {
    char *values;
    int missing; /* tensors that are not ready */
    uint64_t ticket;
} pack_state;

struct leati_packs {
    const leati_packing *packing;
    leati_collective *collective;
    int rank;
    leati_reduction reduction;
    char *memory; /* of all packs; owned */
    pack_state *packs;
    bool *ready; /* per tensor */
    int num_begun;
};

static void begin_round(leati_packs *p) {
    for (int i = 0; i < p->packing->num_packs; i++) {
        p->packs[i].missing = p->packing->packs[i].num_tensors;
    }
    if (p->packing->num_tensors > 0) {
        memset(p->ready, 0, (size_t)p->packing->num_tensors * sizeof *p->ready);
    }
    p->num_begun = 0;
}

/* The bytes of all packs, each at a multiple of the alignment; false: too many. */
static bool lay_out(const leati_packing *packing, pack_state *states, char *memory, size_t *size) {
    size_t at = 0;
    for (int i = 0; i < packing->num_packs; i++) {
        size_t bytes = 0;
        if (!leati_mul_size((size_t)packing->packs[i].count,
                            leat_dtype_size(packing->packs[i].dtype), &bytes) ||
            !leati_add_size(bytes, ALIGNMENT - 1, &bytes)) {
            return false;
        }
        if (states != NULL) {
            states[i].values = memory + at;
        }
        if (!leati_add_size(at, bytes / ALIGNMENT * ALIGNMENT, &at)) {
            return false;
        }
    }
    *size = at;
    return true;
}

leati_packs *leati_packs_new(const leati_packing *packing, leati_collective *collective, int rank,
                             leati_reduction reduction, leat_error *err) {
    size_t size = 0;
    if (!lay_out(packing, NULL, NULL, &size)) {
        leati_no_memory(err, SIZE_MAX);
        return NULL;
    }
    leati_packs *p = leati_alloc_zero(1, sizeof *p);
    if (p == NULL) {
        leati_no_memory(err, sizeof *p);
        return NULL;
    }
    p->packing = packing;
    p->collective = collective;
    p->rank = rank;
    p->reduction = reduction;
    p->memory = leati_alloc_aligned(size + ALIGNMENT, ALIGNMENT);
    p->packs = leati_alloc_zero((size_t)packing->num_packs, sizeof *p->packs);
    p->ready = leati_alloc_zero((size_t)packing->num_tensors, sizeof *p->ready);
    if (p->memory == NULL || p->packs == NULL || p->ready == NULL) {
        leati_packs_free(p);
        leati_no_memory(err, size);
        return NULL;
    }
    (void)lay_out(packing, p->packs, p->memory, &size);
    begin_round(p);
    return p;
}

void leati_packs_free(leati_packs *packer) {
    if (packer != NULL) {
        leati_free(packer->memory);
        leati_free(packer->packs);
        leati_free(packer->ready);
        leati_free(packer);
    }
}

void *leati_packs_values(leati_packs *packer, int tensor) {
    leati_pack_place place = packer->packing->places[tensor];
    size_t item = leat_dtype_size(packer->packing->packs[place.pack].dtype);
    return packer->packs[place.pack].values + (size_t)place.at * item;
}

/* Begins the sums whose turn it is. */
static leat_status begin_whole(leati_packs *p, leat_error *err) {
    const leati_collective_ops *ops = p->collective->ops;
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && p->num_begun < p->packing->num_packs &&
           p->packs[p->num_begun].missing == 0) {
        pack_state *state = &p->packs[p->num_begun];
        const leati_pack *pack = &p->packing->packs[p->num_begun];
        status = ops->start != NULL ? ops->start(p->collective, p->rank, state->values, pack->count,
                                                 pack->dtype, p->reduction, &state->ticket, err)
                                    : ops->all_reduce(p->collective, p->rank, state->values,
                                                      pack->count, pack->dtype, p->reduction, err);
        p->num_begun += status == LEAT_OK;
    }
    return status;
}

leat_status leati_packs_ready(leati_packs *packer, int tensor, leat_error *err) {
    if (tensor < 0 || tensor >= packer->packing->num_tensors || packer->ready[tensor]) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "tensor %d of %d is ready a second time; finish the round first", tensor,
                          packer->packing->num_tensors);
    }
    packer->ready[tensor] = true;
    packer->packs[packer->packing->places[tensor].pack].missing--;
    return begin_whole(packer, err);
}

/* The sum of a pack has begun; one that could not begin tries again and so says why. */
static leat_status check_begun(leati_packs *p, int pack, leat_error *err) {
    leat_status status = begin_whole(p, err);
    if (status != LEAT_OK || pack < p->num_begun) {
        return status;
    }
    int tensor = 0;
    while (p->ready[tensor]) {
        tensor++;
    }
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "tensor %d of %d is not ready, so its pack cannot be summed", tensor,
                      p->packing->num_tensors);
}

static leat_status await_begun(leati_packs *p, int pack, leat_error *err) {
    return p->collective->ops->wait == NULL
               ? LEAT_OK
               : p->collective->ops->wait(p->collective, p->rank, p->packs[pack].ticket, err);
}

leat_status leati_packs_await(leati_packs *packs, int tensor, leat_error *err) {
    int pack = packs->packing->places[tensor].pack;
    leat_status status = check_begun(packs, pack, err);
    return status == LEAT_OK ? await_begun(packs, pack, err) : status;
}

leat_status leati_packs_finish(leati_packs *packs, leat_error *err) {
    leat_status status = check_begun(packs, packs->packing->num_packs - 1, err);
    if (packs->num_begun > 0) {
        leat_status last = await_begun(packs, packs->num_begun - 1, status == LEAT_OK ? err : NULL);
        status = status == LEAT_OK ? last : status;
    }
    begin_round(packs);
    return status;
}
