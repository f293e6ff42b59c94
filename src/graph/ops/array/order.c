/* sort, argsort, top_k: the values of a line in order, their places, and the largest of them
 * (tf.sort, tf.argsort, tf.math.top_k). A merge sort of places: stable, and the same on every
 * machine.
 *
 * Equal values stay as they stand; a NaN is last going up, first going down. The gradient goes to
 * the places of the values. They fail on dtypes without an order, on axes outside the tensor, and
 * where top_k finds fewer values than k. No state, no locks. */
#include "base/minmax.h"
#include "graph/support/array/positions.h"
#include "graph/support/math/elementwise.h"

#include <string.h>

struct sort_args {
    int64_t axis;
    char *direction;
    bool stable;
};

#define SORT_ROWS                                                                                  \
    {.name = "axis",                                                                               \
     .type = LEATI_ROW_INT,                                                                        \
     .offset = offsetof(struct sort_args, axis),                                                   \
     .default_number = -1,                                                                         \
     .doc = "The dimension to sort along; negative counts from the end."},                         \
    {                                                                                              \
        .name = "direction", .type = LEATI_ROW_STRING,                                             \
        .offset = offsetof(struct sort_args, direction), .default_text = "ASCENDING",              \
        .doc = "ASCENDING or DESCENDING."                                                          \
    }

static const leati_row sort_rows[] = {SORT_ROWS, {0}};

static const leati_row argsort_rows[] = {
    SORT_ROWS,
    {.name = "stable",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct sort_args, stable),
     .doc = "Of no effect: equal values always stay in order."},
    {0},
};

/* Does value i stand before value j, going up? A NaN stands behind all. */
typedef bool (*before_function)(const char *data, int64_t i, int64_t j);

/* Only a NaN differs from itself; two of them are equal here, so they keep their order. */
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

static bool sorting_knows(leat_dtype dtype) {
    return dtype < LEAT_NUM_DTYPES && before[dtype] != NULL;
}

/* The places of n values, `step` values apart, in order: equal ones stay as they stand, NaN is last
 * going up and first going down. `places` and `scratch` have room for n. */
static void sorting_line(leat_dtype dtype, const char *data, int64_t n, int64_t step,
                         bool descending, int64_t *places, int64_t *scratch) {
    before_function less = before[dtype];
    for (int64_t i = 0; i < n; i++)
        places[i] = i;
    /* Merges from below: runs of `width` places become runs of twice as many. */
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = LEATI_MIN(start + width, n);
            int64_t end = LEATI_MIN(middle + width, n);
            int64_t a = start, b = middle;
            for (int64_t k = start; k < end; k++) {
                /* A side that is used up has no place to read; it is not compared then. */
                int64_t x = a < middle ? places[a] * step : 0, y = b < end ? places[b] * step : 0;
                /* The second side goes first only if it must: that keeps equal values as they
                 * stand. */
                bool second =
                    a == middle || (b < end && (descending ? less(data, x, y) : less(data, y, x)));
                scratch[k] = second ? places[b++] : places[a++];
            }
        }
        /* Copied back after each pass, so that the result is in `places` whatever their number. */
        memcpy(places, scratch, (size_t)n * sizeof *places);
    }
}

static leat_status direction_of(const struct sort_args *args, bool *descending, leat_error *err) {
    const char *text = args->direction != NULL ? args->direction : "";
    *descending = strcmp(text, "DESCENDING") == 0;
    if (*descending || strcmp(text, "ASCENDING") == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "direction is \"%.40s\"; expected ASCENDING or DESCENDING",
                        text);
}

static leat_status sorting_infer(leati_infer_call *call, leat_dtype dtype, leat_error *err) {
    const struct sort_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    bool descending = false;
    int32_t axis = 0;
    if (!sorting_knows(in->dtype))
        return leati_refuse(err, DTYPE, "the values are %s; expected numbers",
                            leat_dtype_name(in->dtype));
    LEATI_TRY(direction_of(args, &descending, err));
    if (in->shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    return leati_op_infer_output(call, dtype, &in->shape, NULL, err);
}

/* Fills output 0 with the sorted values, or with their places as int32. */
static leat_status sorting_kernel(leati_kernel_call *call, bool places, leat_error *err) {
    const struct sort_args *args = call->args;
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
    /* Places and scratch of one line; all lines share them. */
    if (!leati_mul_size(dim, 2 * sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    int64_t *order = leati_arena_alloc(call->arena, bytes);
    if (order == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n && in->count > 0; row++) {
        const char *from = leati_support_row_of(in, row);
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < in->count / (int64_t)dim; i++) {
            /* Lines along the axis stand side by side, `inner` of them; then follow `dim` times as
             * many values. */
            int64_t first = i / inner * (int64_t)dim * inner + i % inner;
            sorting_line(in->dtype, from + (size_t)first * size, (int64_t)dim, inner, descending,
                         order, order + dim);
            for (size_t k = 0; k < dim; k++) {
                size_t at = (size_t)(first + (int64_t)k * inner);
                if (places)
                    /* int32, as TensorFlow's argsort gives. */
                    ((int32_t *)(void *)to)[at] = (int32_t)order[k];
                else
                    memcpy(to + at * size, from + (size_t)(first + order[k] * inner) * size, size);
            }
        }
    }
    return LEAT_OK;
}

static leat_status sort_infer(leati_infer_call *call, leat_error *err) {
    return sorting_infer(call, call->inputs[0].dtype, err);
}

static leat_status sort_kernel(leati_kernel_call *call, leat_error *err) {
    return sorting_kernel(call, false, err);
}

static leat_status argsort_infer(leati_infer_call *call, leat_error *err) {
    return sorting_infer(call, LEAT_INT32, err);
}

static leat_status argsort_kernel(leati_kernel_call *call, leat_error *err) {
    return sorting_kernel(call, true, err);
}

/* The sorted dimension changes places with the last. */
static leat_value axis_last(leat_value x, int32_t rank, int32_t axis) {
    int64_t perm[LEAT_MAX_RANK];
    if (axis == rank - 1)
        return x;
    for (int32_t d = 0; d < rank; d++)
        perm[d] = d == axis ? rank - 1 : d == rank - 1 ? axis : d;
    return leat_op_transpose(x, perm, rank);
}

static leat_status sort_gradient(leati_gradient_call *call, leat_error *err) {
    const struct sort_args *args = call->args;
    leat_value x = call->inputs[0];
    int32_t rank = leat_value_shape(x).rank, axis = 0;
    if (rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    LEATI_TRY(leati_support_normal_axis(args->axis, rank, &axis, err));
    struct sort_args order = {.axis = args->axis, .direction = args->direction};
    /* Sorting is stable, so this finds the very places that the node found. */
    leat_value places = leati_graph_build1(&leati_tensor_op_argsort, &order, x);
    leat_value at = leati_positions_gather_last(axis_last(leati_positions(x), rank, axis),
                                                axis_last(places, rank, axis));
    /* Places and gradient are both read flat: it is enough that their dimensions have one order. */
    call->input_gradients[0] =
        leati_positions_add_at(axis_last(call->output_gradients[0], rank, axis), at, x);
    return LEAT_OK;
}

#define SORT(OP, ...)                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = #OP,                                                                              \
        .inputs = "values",                                                                        \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_PYTHON,                                                          \
        .rows = OP##_rows,                                                                         \
        .args_size = sizeof(struct sort_args),                                                     \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
SORT(sort, .doc = "The values in order along a dimension (tf.sort).", .gradient = sort_gradient)
SORT(argsort,
     .doc = "The places of the values, as int32, in their order along a dimension (tf.argsort).")

/* ---- top_k ---- */
struct top_k_args {
    int64_t k;
    bool sorted;
    leat_dtype index_type;
};

static const leati_row top_k_rows[] = {
    {.name = "k",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct top_k_args, k),
     .default_number = 1,
     .maximum = INT64_MAX,
     .doc = "How many values."},
    {.name = "sorted",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct top_k_args, sorted),
     .default_number = 1,
     .doc = "Of no effect: the values are always in order."},
    {.name = "index_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct top_k_args, index_type),
     .default_number = LEAT_INT32,
     .doc = "The dtype of the places: int16, int32 or int64."},
    {0},
};

static leat_status top_k_shape(const struct top_k_args *args, const leat_shape *in, leat_shape *out,
                               leat_error *err) {
    *out = *in;
    if (in->rank < 0)
        return LEAT_OK;
    if (in->rank == 0)
        return leati_refuse(err, SHAPE, "the input is a scalar; input must be >= 1-D");
    int64_t dim = in->dims[in->rank - 1];
    if (dim != LEAT_UNKNOWN_DIM && dim < args->k)
        return leati_refuse(err, SHAPE,
                            "the last dimension has %lld values; input must have at least k (%lld) "
                            "columns",
                            (long long)dim, (long long)args->k);
    if (args->index_type == LEAT_INT16 && dim > INT16_MAX)
        return leati_refuse(err, SHAPE,
                            "the last dimension has %lld values, more than index_type int16 counts",
                            (long long)dim);
    out->dims[in->rank - 1] = args->k;
    return LEAT_OK;
}

static leat_status top_k_infer(leati_infer_call *call, leat_error *err) {
    const struct top_k_args *args = call->args;
    leat_shape shape = call->inputs[0].shape;
    if (!sorting_knows(call->inputs[0].dtype))
        return leati_refuse(err, DTYPE, "the values are %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->index_type != LEAT_INT16 && args->index_type != LEAT_INT32 &&
        args->index_type != LEAT_INT64)
        return leati_refuse(err, DTYPE, "index_type is %s; expected int16, int32 or int64",
                            leat_dtype_name(args->index_type));
    /* Where the run computes k, so is the last dimension of both outputs. */
    if (call->unknown == 0)
        LEATI_TRY(top_k_shape(args, &call->inputs[0].shape, &shape, err));
    else if (shape.rank > 0)
        shape.dims[shape.rank - 1] = LEAT_UNKNOWN_DIM;
    LEATI_TRY(leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err));
    return leati_op_infer_output(call, args->index_type, &shape, NULL, err);
}

static leat_status top_k_kernel(leati_kernel_call *call, leat_error *err) {
    const struct top_k_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    LEATI_TRY(top_k_shape(args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    int64_t dim = from.dims[from.rank - 1], k = args->k;
    size_t size = leat_dtype_size(in->dtype), bytes = 0;
    if (!leati_mul_size((size_t)dim, 2 * sizeof(int64_t), &bytes))
        return leati_no_memory(err);
    int64_t *order = leati_arena_alloc(call->arena, bytes);
    if (order == NULL)
        return leati_no_memory(err);
    /* An output with values has k > 0, so lines are not empty. */
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        for (int64_t line = 0; line < in->count / dim; line++) {
            const char *data = leati_support_row_of(in, row) + (size_t)(line * dim) * size;
            /* A stable sort puts the lower place first where values are equal, as
             * TensorFlow does. */
            sorting_line(in->dtype, data, dim, 1, true, order, order + dim);
            for (int64_t i = 0; i < k; i++) {
                int64_t at = line * k + i;
                memcpy(leati_support_row_of(&call->outputs[0], row) + (size_t)at * size,
                       data + (size_t)order[i] * size, size);
                (void)leati_support_store_number(args->index_type, (double)order[i],
                                                 leati_support_row_of(&call->outputs[1], row) +
                                                     (size_t)at *
                                                         leat_dtype_size(args->index_type));
            }
        }
    }
    return LEAT_OK;
}

static leat_status top_k_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value x = call->inputs[0];
    if (leat_value_shape(x).rank < 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "the input's rank is not known; give it one with ensure_shape");
    /* Only the places were used; nothing flows through integers. */
    if (call->output_gradients[0].id < 0)
        return LEAT_OK;
    leat_value places = leat_op_cast(call->outputs[1], LEAT_INT64);
    leat_value at = leati_positions_gather_last(leati_positions(x), places);
    call->input_gradients[0] = leati_positions_add_at(call->output_gradients[0], at, x);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_top_k = {
    .name = "top_k",
    .version = 1,
    .doc = "The k largest values along the last dimension and their places (tf.math.top_k).",
    .names = "math.top_k nn.top_k",
    .inputs = "input",
    .types = "T",
    .outputs = "TopKV2(values indices)",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = top_k_rows,
    .args_size = sizeof(struct top_k_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = top_k_infer,
    .kernel = top_k_kernel,
    .gradient = top_k_gradient,
};
