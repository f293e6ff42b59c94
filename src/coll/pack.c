/* Packs of tensors (coll/pack.h).
 *
 * Planning goes through the tensors in order with one open pack per dtype; packs are then numbered
 * by their last tensor, which is when they are whole if tensors come in order. What lies between
 * two tensors of a pack is zero when the pack is summed.
 *
 * Failures: a sum that fails is reported by whoever begins or awaits next. Locks: none of its own.
 */
#include "coll/pack.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "run/trace.h"
#include <stdio.h>
#include <string.h>

enum { LEAST_BYTES = 1 << 20, MOST_BYTES = 25 << 20, SHARES = 8, ALIGNMENT = 64 };

// ---- planning ----

/* While planning: the pack that takes more tensors of a dtype, and the last tensor of each. */
typedef struct open_packs {
    int64_t first_bytes, other_bytes; /* behind which the first pack and the others are closed */
    int group;
    int open[LEAT_NUM_DTYPES];      /* -1: none */
    int64_t bytes[LEAT_NUM_DTYPES]; /* of the open pack's tensors */
    int *last;                      /* per pack */
} open_packs;

static leat_status check_tensor(const leati_pack_tensor *tensor, int index, leat_error *err) {
    size_t bytes = 0;
    /* Rounded up to the alignment it must still be a size. */
    if (leat_dtype_size(tensor->dtype) == 0 || tensor->dtype >= LEAT_NUM_DTYPES ||
        tensor->count < 0 ||
        !leati_mul_size((size_t)tensor->count, leat_dtype_size(tensor->dtype), &bytes) ||
        bytes > PTRDIFF_MAX - ALIGNMENT) {
        return leati_refuse(
            err, DTYPE, "tensor %d of a pack has %lld values of %s; expected a number of numbers",
            index, (long long)tensor->count, leat_dtype_name(tensor->dtype));
    }
    return LEAT_OK;
}

static void close_all(open_packs *plan, int group) {
    plan->group = group;
    for (int d = 0; d < LEAT_NUM_DTYPES; d++)
        plan->open[d] = -1;
}

/* The pack that the next tensor goes into. */
static int open_for(leati_packing *p, open_packs *plan, const leati_pack_tensor *what) {
    /* A group is awaited as a whole: what comes later must not hold it up in a shared pack. */
    if (what->group != plan->group)
        close_all(plan, what->group);
    int *open = &plan->open[what->dtype];
    if (*open < 0 || p->packs[*open].reduction != what->reduction) {
        *open = p->num_packs++;
        plan->bytes[what->dtype] = 0;
        p->packs[*open] =
            (leati_pack){.dtype = what->dtype, .reduction = what->reduction, .group = what->group};
    }
    return *open;
}

/* False: more than memory can hold. */
static bool place(leati_packing *p, open_packs *plan, int tensor, const leati_pack_tensor *what) {
    int number = open_for(p, plan, what);
    leati_pack *pack = &p->packs[number];
    /* Sizes of dtypes are powers of two and divide the alignment. */
    int64_t item = (int64_t)leat_dtype_size(what->dtype), unit = ALIGNMENT / item;
    int64_t at = (pack->count + unit - 1) / unit * unit;
    /* Room for the tensor and for the gap behind it. */
    if (at > PTRDIFF_MAX / item - unit - what->count)
        return false;
    p->places[tensor] = (leati_pack_place){.pack = number, .at = at, .count = what->count};
    pack->count = at + what->count;
    pack->num_tensors++;
    plan->last[number] = tensor;
    /* Of tensors alone, so that gaps do not change which tensors go together. */
    plan->bytes[what->dtype] += what->count * item;
    if (plan->bytes[what->dtype] > (number == 0 ? plan->first_bytes : plan->other_bytes))
        plan->open[what->dtype] = -1;
    return true;
}

/* Numbers the packs by their last tensor: a later one moves down past those that end before it. */
static void sort_packs(leati_packing *p, int *last) {
    /* Packs are few and almost in order: insertion moves hardly any. */
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

/* The limits where the caller gives none. */
static void choose_limits(open_packs *plan, const leati_pack_tensor *tensors, int count) {
    /* A double, since the sum of many int64 sizes may overflow, and a share need not be exact. */
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (double)tensors[i].count * (double)leat_dtype_size(tensors[i].dtype);
    double share = bytes / SHARES;
    plan->first_bytes = LEAST_BYTES;
    plan->other_bytes = share < LEAST_BYTES  ? LEAST_BYTES
                        : share > MOST_BYTES ? MOST_BYTES
                                             : (int64_t)share;
}

static leat_status place_all(leati_packing *packing, const leati_pack_tensor *tensors,
                             int64_t bytes_per_pack, open_packs *plan, leat_error *err) {
    plan->first_bytes = plan->other_bytes = bytes_per_pack;
    if (bytes_per_pack == 0)
        choose_limits(plan, tensors, packing->num_tensors);
    close_all(plan, 0);
    for (int i = 0; i < packing->num_tensors; i++)
        if (!place(packing, plan, i, &tensors[i]))
            return leati_no_memory(err);
    sort_packs(packing, plan->last);
    return LEAT_OK;
}

leat_status leati_pack_init(leati_packing *packing, const leati_pack_tensor *tensors, int count,
                            int64_t bytes_per_pack, leat_error *err) {
    *packing = (leati_packing){0};
    if (bytes_per_pack < 0) {
        return leati_refuse(err, VALUE,
                            "bytes_per_pack is %lld; expected 0 (chosen for you) or more",
                            (long long)bytes_per_pack);
    }
    for (int i = 0; i < count; i++) {
        leat_status status = check_tensor(&tensors[i], i, err);
        if (status != LEAT_OK)
            return status;
    }
    open_packs plan = {.last = leati_alloc((size_t)count, sizeof *plan.last)};
    packing->num_tensors = count;
    packing->places = leati_alloc((size_t)count, sizeof *packing->places);
    /* Never more packs than tensors. */
    packing->packs = leati_alloc((size_t)count, sizeof *packing->packs);
    leat_status status = plan.last == NULL || packing->places == NULL || packing->packs == NULL
                             ? leati_no_memory(err)
                             : place_all(packing, tensors, bytes_per_pack, &plan, err);
    leati_free(plan.last);
    if (status != LEAT_OK)
        leati_pack_fini(packing);
    return status;
}

void leati_pack_fini(leati_packing *packing) {
    leati_free(packing->places);
    leati_free(packing->packs);
    *packing = (leati_packing){0};
}

size_t leati_pack_bytes(const leati_packing *packing, int pack) {
    return (size_t)packing->packs[pack].count * leat_dtype_size(packing->packs[pack].dtype);
}

// ---- a rank's packs ----

typedef struct pack_state {
    char *values;
    int missing; /* tensors that are not ready */
    bool beside; /* begun by `start`: `ticket` tells when it is done */
    uint64_t ticket;
} pack_state;

struct leati_packs {
    const leati_packing *packing;
    leati_collective *collective; /* of this round; NULL: one rank */
    int rank;
    pack_state *packs;
    bool *ready; /* per tensor */
    int num_begun;
};

leati_packs *leati_packs_new(const leati_packing *packing, leat_error *err) {
    leati_packs *p = leati_alloc_zero(1, sizeof *p);
    if (p == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    p->packing = packing;
    p->packs = leati_alloc_zero((size_t)packing->num_packs, sizeof *p->packs);
    p->ready = leati_alloc_zero((size_t)packing->num_tensors, sizeof *p->ready);
    if (p->packs == NULL || p->ready == NULL) {
        leati_packs_free(p);
        leati_no_memory(err);
        return NULL;
    }
    return p;
}

void leati_packs_free(leati_packs *packs) {
    if (packs != NULL) {
        leati_free(packs->packs);
        leati_free(packs->ready);
        leati_free(packs);
    }
}

void leati_packs_place(leati_packs *packs, int pack, void *values) {
    packs->packs[pack].values = values;
}

void *leati_packs_values(const leati_packs *packs, int tensor) {
    leati_pack_place at = packs->packing->places[tensor];
    size_t item = leat_dtype_size(packs->packing->packs[at.pack].dtype);
    return packs->packs[at.pack].values + (size_t)at.at * item;
}

void leati_packs_begin(leati_packs *packs, leati_collective *collective, int rank) {
    packs->collective = collective;
    packs->rank = rank;
    packs->num_begun = 0;
    for (int i = 0; i < packs->packing->num_packs; i++) {
        packs->packs[i].missing = packs->packing->packs[i].num_tensors;
        packs->packs[i].beside = false;
    }
    for (int i = 0; i < packs->packing->num_tensors; i++)
        packs->ready[i] = false;
}

/* What lies between the tensor and the next one, or the end of the pack. */
static void clear_gap(const leati_packs *p, int tensor) {
    leati_pack_place at = p->packing->places[tensor];
    size_t item = leat_dtype_size(p->packing->packs[at.pack].dtype);
    size_t from = (size_t)(at.at + at.count) * item;
    size_t to = (from + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t end = leati_pack_bytes(p->packing, at.pack);
    /* Gaps are summed with the rest: what memory happens to hold there may be slow (denormal
     * numbers). */
    if (from < LEATI_MIN(to, end))
        memset(p->packs[at.pack].values + from, 0, LEATI_MIN(to, end) - from);
}

/* The moment at which a sum is handed over, for the trace. */
static void trace_begun(const leati_packs *p, int pack) {
    char name[48];
    leati_span span = leati_trace_begin();
    if (span.start_ns != 0) {
        snprintf(name, sizeof name, "begin pack %d of %d", pack + 1, p->packing->num_packs);
        leati_trace_end(span, "reduce", name);
    }
}

static leat_status begin_one(leati_packs *p, int number, bool beside, leat_error *err) {
    const leati_pack *pack = &p->packing->packs[number];
    pack_state *state = &p->packs[number];
    leati_collective *c = p->collective;
    if (c == NULL)
        return LEAT_OK;
    if (!beside || c->ops->start == NULL) {
        return c->ops->all_reduce(c, p->rank, state->values, pack->count, pack->dtype,
                                  pack->reduction, err);
    }
    leat_status status = c->ops->start(c, p->rank, state->values, pack->count, pack->dtype,
                                       pack->reduction, &state->ticket, err);
    if (status == LEAT_OK) {
        state->beside = true;
        trace_begun(p, number);
    }
    return status;
}

/* Begins the sums whose turn it is. */
static leat_status begin_whole(leati_packs *p, bool beside, leat_error *err) {
    leat_status status = LEAT_OK;
    /* In order, though a later pack may be whole: all ranks must make the same calls in turn. */
    while (status == LEAT_OK && p->num_begun < p->packing->num_packs &&
           p->packs[p->num_begun].missing == 0) {
        status = begin_one(p, p->num_begun, beside, err);
        p->num_begun += status == LEAT_OK;
    }
    return status;
}

leat_status leati_packs_ready(leati_packs *packs, int tensor, bool beside, leat_error *err) {
    if (tensor < 0 || tensor >= packs->packing->num_tensors || packs->ready[tensor]) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "tensor %d of %d is ready a second time; begin a new round first", tensor,
                          packs->packing->num_tensors);
    }
    packs->ready[tensor] = true;
    packs->packs[packs->packing->places[tensor].pack].missing--;
    clear_gap(packs, tensor);
    return begin_whole(packs, beside, err);
}

/* The packs of the group and of those before it. */
static int packs_until(const leati_packing *packing, int group) {
    int count = packing->num_packs;
    while (count > 0 && packing->packs[count - 1].group > group)
        count--;
    return count;
}

leat_status leati_packs_await(leati_packs *packs, int group, leat_error *err) {
    int count = packs_until(packs->packing, group);
    /* Nothing is left to compute beside a sum. */
    LEATI_TRY(begin_whole(packs, false, err));
    if (packs->num_begun < count) {
        int tensor = 0;
        /* There is one that is not ready, else every pack would have begun. */
        while (packs->ready[tensor])
            tensor++;
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "tensor %d of %d is not ready, so its pack cannot be summed", tensor,
                          packs->packing->num_tensors);
    }
    /* A sum is done after those before it. */
    while (count > 0 && !packs->packs[count - 1].beside)
        count--;
    leati_collective *c = packs->collective;
    return count == 0 ? LEAT_OK : c->ops->wait(c, packs->rank, packs->packs[count - 1].ticket, err);
}
