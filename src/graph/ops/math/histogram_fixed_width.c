/* histogram_fixed_width: how many values lie in each of `nbins` equal parts of a range
 * (tf.histogram_fixed_width). Inputs: values, value_range.
 *
 * Values below the range count for the first part, those above for the last. Fails where the
 * range is no pair of rising numbers. No gradient, no state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "core/tensor.h"
#include "graph/support/support.h"

#include <math.h>
#include <string.h>

struct histogram_args {
    int64_t nbins;
    leat_dtype dtype;
};

static const leati_row histogram_rows[] = {
    {.name = "nbins",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct histogram_args, nbins),
     .default_number = 100,
     .minimum = 1,
     .maximum = INT32_MAX,
     .doc = "How many parts the range has."},
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct histogram_args, dtype),
     .default_number = LEAT_INT32,
     .doc = "The dtype of the counts: int32 or int64."},
    {0},
};

static leat_status check_range(int64_t count, leat_error *err) {
    if (count == 2)
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "value_range should be a vector of 2 elements, but got %lld",
                        (long long)count);
}

static leat_status histogram_infer(leati_infer_call *call, leat_error *err) {
    const struct histogram_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape shape = LEAT_SHAPE(call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->nbins);
    if (dtype != LEAT_INT32 && dtype != LEAT_INT64 && dtype != LEAT_FLOAT32 &&
        dtype != LEAT_FLOAT64)
        return leati_refuse(err, DTYPE,
                            "the values are %s; expected int32, int64, float32 or float64",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "value_range", err));
    const leat_shape *range = &call->inputs[1].shape;
    if (range->rank == 1 && range->dims[0] != LEAT_UNKNOWN_DIM)
        LEATI_TRY(check_range(range->dims[0], err));
    if (args->dtype != LEAT_INT32 && args->dtype != LEAT_INT64)
        return leati_refuse(err, DTYPE, "dtype is %s; expected int32 or int64",
                            leat_dtype_name(args->dtype));
    return leati_op_infer_output(call, args->dtype, &shape, NULL, err);
}

/* Some values and the numbers of the parts in which they lie; bounds and values are compared as
 * doubles, whatever their dtype. */
enum { AT_ONCE = 256 };
typedef struct bins {
    const void *values;
    int64_t n;
    double low, step, last;
    int32_t places[AT_ONCE];
    bool nan; /* one of them is */
} bins;

/* Infinite steps make NaN of a place; those values count for the first part, too. */
#define BINS(NAME, TYPE)                                                                           \
    LEATI_ALWAYS_INLINE void NAME##_loop(bins *b) {                                                \
        const TYPE *x = b->values;                                                                 \
        int32_t *places = b->places, nan = 0;                                                      \
        double low = b->low, step = b->step, last = b->last;                                       \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < b->n; i++) {                                                       \
            double v = (double)x[i], place = ((v > low ? v : low) - low) / step;                   \
            nan |= v != v;                                                                         \
            place = place > 0 ? place : 0;                                                         \
            places[i] = (int32_t)(place < last ? place : last);                                    \
        }                                                                                          \
        b->nan = nan;                                                                              \
    }                                                                                              \
    LEATI_ISA(NAME, NAME##_loop, bins *)
BINS(bins_int32, int32_t)
BINS(bins_int64, int64_t)
BINS(bins_float32, float)
BINS(bins_float64, double)

static void find_bins(leat_dtype dtype, bins *b) {
    switch (dtype) {
    case LEAT_INT32: bins_int32(b); break;
    case LEAT_INT64: bins_int64(b); break;
    case LEAT_FLOAT32: bins_float32(b); break;
    default: bins_float64(b);
    }
}

/* Counts the values of a row; the place of the first that is NaN, or how many there are. */
static int64_t count_row(const leati_operand *values, int64_t row, leat_dtype dtype, bins *b,
                         char *to) {
    const char *from = leati_support_row_of(values, row);
    size_t size = leat_dtype_size(values->dtype);
    for (int64_t i = 0; i < values->count; i += AT_ONCE) {
        b->values = from + (size_t)i * size;
        b->n = LEATI_MIN(values->count - i, AT_ONCE);
        find_bins(values->dtype, b);
        if (b->nan) {
            leat_tensor all = {.dtype = values->dtype, .data = leati_support_row_of(values, row)};
            while (!isnan(leati_tensor_float_at(&all, i)))
                i++;
            return i;
        }
        for (int64_t k = 0; k < b->n && dtype == LEAT_INT32; k++)
            ((int32_t *)(void *)to)[b->places[k]]++;
        for (int64_t k = 0; k < b->n && dtype == LEAT_INT64; k++)
            ((int64_t *)(void *)to)[b->places[k]]++;
        if ((i & (LEATI_STOP_WORK - 1)) == LEATI_STOP_WORK - AT_ONCE && leati_stop_look())
            break;
    }
    return values->count;
}

static leat_status histogram_kernel(leati_kernel_call *call, leat_error *err) {
    const struct histogram_args *args = call->args;
    const leati_operand *values = &call->inputs[0], *range = &call->inputs[1];
    leat_shape shape = LEAT_SHAPE(args->nbins);
    /* A scalar counts as one value, a matrix as well: only a vector of two passes. */
    LEATI_TRY(check_range(range->rank == 1 ? range->count : 1, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        leat_tensor bounds = {.dtype = range->dtype, .data = leati_support_row_of(range, row)};
        double low = leati_tensor_float_at(&bounds, 0), high = leati_tensor_float_at(&bounds, 1);
        char *to = leati_support_row_of(&call->outputs[0], row);
        if (!(low < high)) {
            call->failed_row = row;
            return leati_refuse(
                err, VALUE,
                "value_range should satisfy value_range[0] < value_range[1], but got "
                "'[%g, %g]'",
                low, high);
        }
        memset(to, 0, (size_t)args->nbins * leat_dtype_size(args->dtype));
        bins b = {.low = low, .step = (high - low) / (double)args->nbins};
        b.last = (double)(args->nbins - 1);
        int64_t i = count_row(values, row, args->dtype, &b, to);
        if (i < values->count) {
            call->failed_row = row;
            return leati_refuse(err, VALUE, "Histogram values must not contain NaN; value %lld is",
                                (long long)i);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_histogram_fixed_width = {
    .name = "histogram_fixed_width",
    .version = 1,
    .doc = "How many values lie in each of nbins equal parts of a range "
           "(tf.histogram_fixed_width).",
    .names = "histogram_fixed_width",
    .inputs = "values value_range",
    .types = "T T",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = histogram_rows,
    .args_size = sizeof(struct histogram_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = histogram_infer,
    .kernel = histogram_kernel,
};
