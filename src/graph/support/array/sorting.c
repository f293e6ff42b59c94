/* The order of lines of values; see sorting.h. A merge sort of places: stable, and the same on
 * every machine. Fails on dtypes without an order, on axes outside the tensor, without memory. No
 * locks. */
#include "graph/support/array/sorting.h"

#include "base/minmax.h"
#include "graph/support/math/elementwise.h"

#include <string.h>

#define SORT_ROWS                                                                                  \
    {.name = "axis",                                                                               \
     .type = LEATI_ROW_INT,                                                                        \
     .offset = offsetof(struct leati_sort_args, axis),                                             \
     .default_number = -1,                                                                         \
     .doc = "The dimension to sort along; negative counts from the end."},                         \
    {                                                                                              \
        .name = "direction", .type = LEATI_ROW_STRING,                                             \
        .offset = offsetof(struct leati_sort_args, direction), .default_text = "ASCENDING",        \
        .doc = "ASCENDING or DESCENDING."                                                          \
    }

const leati_row leati_sort_rows[] = {SORT_ROWS, {0}};

const leati_row leati_argsort_rows[] = {
    SORT_ROWS,
    {.name = "stable",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_sort_args, stable),
     .doc = "Of no effect: equal values always stay in order."},
    {0},
};

/* Does value i stand before value j, going up? A NaN stands behind all. */
typedef bool (*before_function)(const char *data, int64_t i, int64_t j);

#define BEFORE(NAME, TYPE, LOAD)                                                                   \
    static bool NAME(const char *data, int64_t i, int64_t j) {                                     \
        TYPE const *values = (TYPE const *)(const void *)data;                                     \
        return LOAD(values[i]) < LOAD(values[j]) ||                                                \
               (LOAD(values[j]) != LOAD(values[j]) && LOAD(values[i]) == LOAD(values[i]));         \
    }
#define PLAIN(x) (x)

BEFORE(before_int8, int8_t, PLAIN)
BEFORE(before_int16, int16_t, PLAIN)
BEFORE(before_int32, int32_t, PLAIN)
BEFORE(before_int64, int64_t, PLAIN)
BEFORE(before_uint8, uint8_t, PLAIN)
BEFORE(before_uint16, uint16_t, PLAIN)
BEFORE(before_uint32, uint32_t, PLAIN)
BEFORE(before_uint64, uint64_t, PLAIN)
BEFORE(before_float16, uint16_t, leati_float_of_half)
BEFORE(before_bfloat16, uint16_t, leati_float_of_bfloat16)
BEFORE(before_float32, float, PLAIN)
BEFORE(before_float64, double, PLAIN)

static const before_function before[LEAT_NUM_DTYPES] = {LEATI_TABLE_NUMBER(before)};

bool leati_sorting_knows(leat_dtype dtype) {
    return dtype < LEAT_NUM_DTYPES && before[dtype] != NULL;
}

void leati_sorting_line(leat_dtype dtype, const char *data, int64_t n, int64_t step,
                        bool descending, int64_t *places, int64_t *scratch) {
    before_function less = before[dtype];
    for (int64_t i = 0; i < n; i++)
        places[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = LEATI_MIN(start + width, n);
            int64_t end = LEATI_MIN(middle + width, n);
            int64_t a = start, b = middle;
            for (int64_t k = start; k < end; k++) {
                int64_t x = a < middle ? places[a] * step : 0, y = b < end ? places[b] * step : 0;
                bool second =
                    a == middle || (b < end && (descending ? less(data, x, y) : less(data, y, x)));
                scratch[k] = second ? places[b++] : places[a++];
            }
        }
        memcpy(places, scratch, (size_t)n * sizeof *places);
    }
}

static leat_status direction_of(const struct leati_sort_args *args, bool *descending,
                                leat_error *err) {
    const char *text = args->direction != NULL ? args->direction : "";
    *descending = strcmp(text, "DESCENDING") == 0;
    if (*descending || strcmp(text, "ASCENDING") == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "direction is \"%.40s\"; expected ASCENDING or DESCENDING",
                        text);
}

leat_status leati_sorting_infer(leati_infer_call *call, leat_dtype dtype, leat_error *err) {
    const struct leati_sort_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    bool descending = false;
    int32_t axis = 0;
    if (!leati_sorting_knows(in->dtype))
        return leati_refuse(err, DTYPE, "the values are %s; expected numbers",
                            leat_dtype_name(in->dtype));
    LEATI_TRY(direction_of(args, &descending, err));
    if (in->shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    return leati_op_infer_output(call, dtype, &in->shape, NULL, err);
}

leat_status leati_sorting_kernel(leati_kernel_call *call, bool places, leat_error *err) {
    const struct leati_sort_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    bool descending = false;
    int32_t axis = 0;
    LEATI_TRY(direction_of(args, &descending, err));
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    size_t dim = (size_t)shape.dims[axis], bytes = 0, size = leat_dtype_size(in->dtype);
    int64_t inner = 1;
    for (int32_t d = axis + 1; d < shape.rank; d++)
        inner *= shape.dims[d];
    if (!leati_mul_size(dim, 2 * sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    int64_t *order = leati_arena_alloc(call->arena, bytes);
    if (order == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count / (int64_t)dim; i++) {
            int64_t first = i / inner * (int64_t)dim * inner + i % inner;
            leati_sorting_line(in->dtype, from + (size_t)first * size, (int64_t)dim, inner,
                               descending, order, order + dim);
            for (size_t k = 0; k < dim; k++) {
                size_t at = (size_t)(first + (int64_t)k * inner);
                if (places)
                    ((int32_t *)(void *)to)[at] = (int32_t)order[k];
                else
                    memcpy(to + at * size, from + (size_t)(first + order[k] * inner) * size, size);
            }
        }
    }
    return LEAT_OK;
}
