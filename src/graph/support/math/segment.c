/* Slices combined into segments; see segment.h.
 *
 * Slices are combined in their order. Pieces are segments, or blocks of the values of all slices,
 * so the result does not depend on threads. Numbers of single values are added one after the other.
 * No failures, no state, no locks. */
#include "graph/support/math/segment.h"

#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/array/moving.h"

#include <string.h>

/* Divides the n values of a sum by how many slices it has. */
static void divide(leat_dtype dtype, char *to, int64_t n, int64_t count) {
    n *= leati_dtype_is_complex(dtype) ? 2 : 1;
    dtype = leati_dtype_part(dtype);
    size_t size = leat_dtype_size(dtype);
    leat_tensor all = {.dtype = dtype, .data = to};
    for (int64_t i = 0; i < n && dtype == LEAT_FLOAT32; i++)
        ((float *)(void *)to)[i] /= (float)count;
    for (int64_t i = 0; i < n && dtype != LEAT_FLOAT32; i++, to += size) {
        if (dtype == LEAT_UINT64) { /* some do not fit an int64 */
            *(uint64_t *)to /= (uint64_t)count;
        } else if (leati_dtype_is_integer(dtype)) {
            int64_t mean = leati_tensor_int_at(&all, i) / count;
            memcpy(to, &mean, size); /* little-endian: the low bytes */
        } else {
            (void)leati_support_store_number(dtype, leati_tensor_float_at(&all, i) / (double)count,
                                             to);
        }
    }
}

/* Slices of `values` values each that become segments; `row` is one of the call. A piece is some
 * segments, or where these are few a block of the values of all slices. */
typedef struct reducing {
    const leati_kernel_call *call;
    leati_combine_function combine;
    int64_t row, values, segments;
    int64_t columns, column_blocks; /* values of a piece, pieces of a slice */
    int64_t at_once;                /* segments of a piece */
    bool mean;
    size_t size;
} reducing;

enum { FEW = 8 /* segments */, COLUMNS = 1024, PIECE = 1 << 16 /* values */ };

static reducing reducing_of(const leati_kernel_call *call, leati_combine_kind kind, int64_t row,
                            int64_t segments) {
    const leati_operand *data = &call->inputs[0];
    reducing r = {.call = call,
                  .combine = leati_combine_of(kind, data->dtype),
                  .row = row,
                  .values = segments > 0 ? call->outputs[0].count / segments : 0,
                  .segments = segments,
                  .at_once = LEATI_MAX(segments, 1),
                  .size = leat_dtype_size(data->dtype)};
    r.columns = segments < FEW ? LEATI_MIN(r.values, COLUMNS) : r.values;
    r.column_blocks = r.columns > 0 ? (r.values + r.columns - 1) / r.columns : 0;
    return r;
}

/* Where a block of values of a slice lies among rows of them. */
static char *block_of(const reducing *r, const leati_operand *operand, int64_t slice,
                      int64_t first) {
    return leati_support_row_of(operand, r->row) + (size_t)(slice * r->values + first) * r->size;
}

/* The first of the sorted slices whose segment is `segment` or a later one. */
static int64_t slice_from(const reducing *r, int64_t segment) {
    const leati_operand *ids = &r->call->inputs[1];
    int64_t low = 0, high = ids->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (leati_support_index_at(ids, r->row, middle) < segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sorted slices from `begin` to `end`, all those of their segments. */
static void reduce_sorted(const reducing *r, int64_t begin, int64_t end, int64_t first, int64_t n) {
    const leati_operand *ids = &r->call->inputs[1], *out = &r->call->outputs[0];
    int64_t last = -1, many = 0, done = 0;
    for (int64_t i = begin; i < end && !leati_stop_look_after(n + 1, &done); i++) {
        int64_t id = leati_support_index_at(ids, r->row, i);
        char *to = block_of(r, out, id, first);
        const char *slice = block_of(r, &r->call->inputs[0], i, first);
        many = id == last ? many + 1 : 1;
        /* A number that differs from the last begins another run. */
        if (many == 1)
            memcpy(to, slice, (size_t)n * r->size);
        else
            r->combine(to, slice, n);
        /* Divided once at the end of its run, not at each slice. */
        bool ends = i + 1 == end || leati_support_index_at(ids, r->row, i + 1) != id;
        if (r->mean && ends && many > 1)
            divide(out->dtype, to, n, many);
        last = id;
    }
}

static void sorted_steps(void *data, int64_t begin, int64_t end) {
    const reducing *r = data;
    for (int64_t step = begin; step < end; step++) {
        int64_t segment = step / r->column_blocks * r->at_once;
        int64_t first = step % r->column_blocks * r->columns;
        reduce_sorted(r, slice_from(r, segment), slice_from(r, segment + r->at_once), first,
                      LEATI_MIN(r->columns, r->values - first));
    }
}

void leati_segment_sorted(const leati_kernel_call *call, leati_combine_kind kind, bool mean,
                          int64_t segments) {
    const leati_operand *data = &call->inputs[0], *out = &call->outputs[0];
    reducing r = reducing_of(call, kind, 0, segments);
    /* As many segments as have about the slices of a piece. */
    double each = (double)call->inputs[1].count * (double)r.columns / (double)segments;
    r.at_once = each > PIECE ? 1 : (int64_t)(PIECE / LEATI_MAX(each, 1));
    r.mean = mean;
    /* This stays in segments without slices alone: the first slice of a segment replaces it. */
    leati_combine_start(kind == LEATI_COMBINE_PRODUCT ? kind : LEATI_COMBINE_SUM, data->dtype,
                        out->data, out->count);
    int64_t steps = (segments + r.at_once - 1) / r.at_once * r.column_blocks;
    leati_moving_share(steps, data->count / steps * (int64_t)r.size * 2, sorted_steps, &r);
}

/* ---- in any order ---- */
/* Slices of one value, as counts are: out[ids[i]] joined with data[i], to the first number that is
 * no segment; its place, or n. */
#define JOIN_NUMBERS(NAME, ID, TYPE, JOINED)                                                       \
    static int64_t join_##NAME(const void *numbers, const void *data, void *to, int64_t n,         \
                               int64_t segments) {                                                 \
        const ID *ids = numbers;                                                                   \
        const TYPE *x = data;                                                                      \
        TYPE *out = to;                                                                            \
        for (int64_t i = 0; i < n && !leati_stop_look_at(i); i++) {                                \
            if (ids[i] >= segments)                                                                \
                return i;                                                                          \
            if (ids[i] >= 0) {                                                                     \
                TYPE a = out[ids[i]], b = x[i];                                                    \
                out[ids[i]] = (JOINED);                                                            \
            }                                                                                      \
        }                                                                                          \
        return n;                                                                                  \
    }
/* As leati_combine_of's: of two that cannot be compared the one that comes stays. */
#define LARGER LEATI_MAX(a, b)
#define SMALLER LEATI_MIN(a, b)
#define JOIN_TYPE(DTYPE, TYPE, SUM)                                                                \
    JOIN_NUMBERS(sum_##DTYPE##_32, int32_t, TYPE, (TYPE)((SUM)a + (SUM)b))                         \
    JOIN_NUMBERS(sum_##DTYPE##_64, int64_t, TYPE, (TYPE)((SUM)a + (SUM)b))                         \
    JOIN_NUMBERS(largest_##DTYPE##_32, int32_t, TYPE, LARGER)                                      \
    JOIN_NUMBERS(largest_##DTYPE##_64, int64_t, TYPE, LARGER)                                      \
    JOIN_NUMBERS(smallest_##DTYPE##_32, int32_t, TYPE, SMALLER)                                    \
    JOIN_NUMBERS(smallest_##DTYPE##_64, int64_t, TYPE, SMALLER)
JOIN_TYPE(int32, int32_t, uint32_t)
JOIN_TYPE(int64, int64_t, uint64_t)
JOIN_TYPE(float32, float, float)
JOIN_TYPE(float64, double, double)

typedef int64_t join_function(const void *ids, const void *data, void *to, int64_t n,
                              int64_t segments);
#define JOINERS(KIND, BITS)                                                                        \
    {                                                                                              \
        [LEAT_INT32] = join_##KIND##_int32_##BITS, [LEAT_INT64] = join_##KIND##_int64_##BITS,      \
        [LEAT_FLOAT32] = join_##KIND##_float32_##BITS,                                             \
        [LEAT_FLOAT64] = join_##KIND##_float64_##BITS,                                             \
    }
static join_function *const joiners[LEATI_COMBINE_LATER_MAXIMUM + 1][2][LEAT_NUM_DTYPES] = {
    [LEATI_COMBINE_SUM] = {JOINERS(sum, 32), JOINERS(sum, 64)},
    [LEATI_COMBINE_LATER_MAXIMUM] = {JOINERS(largest, 32), JOINERS(largest, 64)},
    [LEATI_COMBINE_LATER_MINIMUM] = {JOINERS(smallest, 32), JOINERS(smallest, 64)},
};

/* Some segments, of which a piece finds its slices among all, and a block of their values. */
static void unsorted_steps(void *data, int64_t begin, int64_t end) {
    const reducing *r = data;
    const leati_operand *ids = &r->call->inputs[1];
    int64_t done = 0;
    for (int64_t step = begin; step < end; step++) {
        int64_t segment = step / r->column_blocks * r->at_once, most = segment + r->at_once;
        int64_t first = step % r->column_blocks * r->columns;
        int64_t n = LEATI_MIN(r->columns, r->values - first);
        for (int64_t i = 0; i < ids->count; i++) {
            int64_t id = leati_support_index_at(ids, r->row, i);
            bool own = id >= segment && id < most;
            if (leati_stop_look_after(own ? n + 1 : 1, &done))
                return;
            /* A negative number leaves its slice out. */
            if (own)
                r->combine(block_of(r, &r->call->outputs[0], id, first),
                           block_of(r, &r->call->inputs[0], i, first), n);
        }
    }
}

/* Slices of so many values take much longer than a look at all numbers. */
enum { WIDE = 64 };

int64_t leati_segment_unsorted(const leati_kernel_call *call, int64_t row, leati_combine_kind kind,
                               int64_t segments) {
    const leati_operand *data = &call->inputs[0], *ids = &call->inputs[1];
    join_function *join = joiners[kind][ids->dtype == LEAT_INT64][data->dtype];
    reducing r = reducing_of(call, kind, row, segments);
    if (r.values == 1 && join != NULL)
        return join(leati_support_row_of(ids, row), leati_support_row_of(data, row),
                    leati_support_row_of(&call->outputs[0], row), ids->count, segments);
    for (int64_t i = 0; i < ids->count && !leati_stop_look_at(i); i++)
        if (leati_support_index_at(ids, row, i) >= segments)
            return i;
    if (segments >= FEW && r.values >= WIDE)
        r.at_once = (segments + FEW - 1) / FEW;
    int64_t steps = r.column_blocks * ((segments + r.at_once - 1) / r.at_once);
    leati_moving_share(steps, data->count / LEATI_MAX(steps, 1) * (int64_t)r.size * 2,
                       unsorted_steps, &r);
    return ids->count;
}
