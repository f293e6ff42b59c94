/* segment_max, segment_mean, segment_min, segment_prod, segment_sum, and unsorted_segment_max,
 * unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sum: slices of the first dimensions
 * of `data` combined by the number that `segment_ids` gives each (tf.math.segment_max and so on).
 * segment_spread, for their gradients, gives slices back; unsorted_segment_join joins strings.
 *
 * Segments of segment_* are sorted, and there is one more of them than the last number; those of
 * unsorted_segment_* are as many as `num_segments` says, and a negative number leaves a slice out.
 * Slices are combined in their order, so the result does not depend on threads
 * (support/math/segment.c). Integers wrap, and their means are rounded towards zero. They fail
 * where the numbers' shape is not that of the first dimensions of the data, where sorted numbers
 * fall, and where a number is no segment. No state, no locks. */
#include "graph/support/math/segment.h"
#include "graph/support/text/texts.h"

#include <string.h>

static const leati_row segment_rows[] = {
    {.name = "num_segments",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct leati_segment_args, num_segments),
     .maximum = INT64_MAX,
     .doc = "How many segments there are."},
    {0},
};

static leat_status check_shapes(const leat_shape *data, const leat_shape *ids, leat_error *err) {
    char texts[2][128];
    bool fits = data->rank < 0 || ids->rank < 0 || ids->rank <= data->rank;
    for (int32_t d = 0; fits && data->rank >= 0 && d < ids->rank; d++)
        fits = data->dims[d] == ids->dims[d] || data->dims[d] == LEAT_UNKNOWN_DIM ||
               ids->dims[d] == LEAT_UNKNOWN_DIM;
    if (fits)
        return LEAT_OK;
    return leati_refuse(
        err, SHAPE, "segment_ids has shape %s and data %s; expected the first dimensions of data",
        leati_shape_text(ids, texts[0]), leati_shape_text(data, texts[1]));
}

/* The shape of the segments of data. */
static leat_shape segments(const leat_shape *data, const leat_shape *ids, int64_t count) {
    leat_shape out = {.rank = LEAT_UNKNOWN_RANK};
    if (data->rank < 0 || ids->rank < 0)
        return out;
    out = (leat_shape){.rank = 1, .dims = {count}};
    for (int32_t d = ids->rank; d < data->rank; d++)
        out.dims[out.rank++] = data->dims[d];
    return out;
}

static leat_status segment_shape(const leat_shape *data, const leat_shape *ids, int64_t count,
                                 leat_shape *out, leat_error *err) {
    LEATI_TRY(check_shapes(data, ids, err));
    *out = segments(data, ids, count);
    return LEAT_OK;
}

static leat_status want_inputs(leati_infer_call *call, leati_combine_kind kind, leat_error *err) {
    LEATI_TRY(leati_combine_want(call, kind, 0, "the data", err));
    LEATI_TRY(leati_support_want_index(call, 1, "segment_ids", err));
    return check_shapes(&call->inputs[0].shape, &call->inputs[1].shape, err);
}

static leat_status sorted_infer(leati_infer_call *call, leati_combine_kind kind, leat_error *err) {
    const leat_shape vector = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(want_inputs(call, kind, err));
    LEATI_TRY(leati_support_want_rank(call, 1, 1, "segment_ids", err));
    leat_shape shape = segments(&call->inputs[0].shape, &vector, LEAT_UNKNOWN_DIM);
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* How many segments sorted numbers name. */
static leat_status count_segments(const leati_operand *ids, int64_t *out, leat_error *err) {
    int64_t last = -1;
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = leati_support_index_at(ids, 0, i);
        if (id < 0)
            return leati_refuse(err, VALUE, "segment_ids[%lld] is %lld; segment ids must be >= 0",
                                (long long)i, (long long)id);
        if (id < last)
            return leati_refuse(err, VALUE,
                                "segment_ids[%lld] is %lld behind %lld: segment ids are not "
                                "increasing; sort them or use unsorted_segment_*",
                                (long long)i, (long long)id, (long long)last);
        last = id;
    }
    *out = last + 1;
    return LEAT_OK;
}

/* `mean`: divide sums by how many slices they have. Segments without slices are 0, or 1 where
 * `kind` is a product. */
static leat_status sorted_kernel(leati_kernel_call *call, leati_combine_kind kind, bool mean,
                                 leat_error *err) {
    const leati_operand *data = &call->inputs[0], *ids = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(data), numbers = leati_support_operand_shape(ids);
    int64_t count = 0;
    LEATI_TRY(check_shapes(&from, &numbers, err));
    if (ids->rank != 1)
        return leati_refuse(err, SHAPE, "segment_ids has rank %d; expected rank 1", (int)ids->rank);
    LEATI_TRY(count_segments(ids, &count, err));
    leat_shape shape = segments(&from, &numbers, count);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    if (out->count == 0)
        return LEAT_OK;
    leati_segment_sorted(call, kind, mean, count);
    return LEAT_OK;
}

static leat_status unsorted_infer(leati_infer_call *call, leati_combine_kind kind,
                                  leat_error *err) {
    const struct leati_segment_args *args = call->args;
    LEATI_TRY(want_inputs(call, kind, err));
    leat_shape shape = segments(&call->inputs[0].shape, &call->inputs[1].shape,
                                call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->num_segments);
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* Segments without slices are what combining starts with. */
static leat_status unsorted_kernel(leati_kernel_call *call, leati_combine_kind kind,
                                   leat_error *err) {
    const struct leati_segment_args *args = call->args;
    const leati_operand *data = &call->inputs[0], *ids = &call->inputs[1], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(data), numbers = leati_support_operand_shape(ids);
    leat_shape shape;
    LEATI_TRY(segment_shape(&from, &numbers, args->num_segments, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n; row++) {
        if (out->count > 0)
            leati_combine_start(kind, data->dtype, leati_support_row_of(out, row), out->count);
        int64_t i = leati_segment_unsorted(call, row, kind, args->num_segments);
        if (i == ids->count)
            continue;
        call->failed_row = row;
        return leati_refuse(err, VALUE, "segment_ids[%lld] = %lld is out of range [0, %lld)",
                            (long long)i, (long long)leati_support_index_at(ids, row, i),
                            (long long)args->num_segments);
    }
    return LEAT_OK;
}

/* ---- gradients ---- */
/* To each slice of `data` that of its segment in `values`; zeros where a slice has none. */
static leat_value spread(leat_value values, leat_value ids, leat_value data) {
    return leati_graph_build3(&leati_tensor_op_segment_spread, NULL, values, ids, data);
}

/* Of a maximum or minimum: slices that tie share it. `op` adds up segments of the same kind. */
static leat_status extreme_gradient(leati_gradient_call *call, const leati_tensor_op *op,
                                    leat_error *err) {
    leat_value data = call->inputs[0], ids = call->inputs[1], g = call->output_gradients[0];
    (void)err;
    leat_value holds =
        leat_op_cast(leat_op_equal(data, spread(call->outputs[0], ids, data)), leat_value_dtype(g));
    /* How many slices of each segment have its extreme. */
    leat_value ties = leati_graph_build2(op, call->args, holds, ids);
    leat_value share = spread(leat_op_divide_no_nan(g, ties), ids, data);
    call->input_gradients[0] = leat_op_multiply(share, holds);
    return LEAT_OK;
}

/* Of a product: that of all slices but the one. `sum` and `product` combine segments of the same
 * kind. */
static leat_status product_gradient(leati_gradient_call *call, const leati_tensor_op *sum,
                                    const leati_tensor_op *product, leat_error *err) {
    leat_value x = call->inputs[0], ids = call->inputs[1], g = call->output_gradients[0];
    leat_dtype dtype = leat_value_dtype(x);
    (void)err;
    leat_value zero = leat_op_equal(x, leat_op_zeros_like(x)), one = leat_op_ones_like(x);
    leat_value others = leat_op_select(zero, one, x); /* the data with ones in place of zeros */
    leat_value zeros = leati_graph_build2(sum, call->args, leat_op_cast(zero, dtype), ids);
    leat_value rest = leati_graph_build2(product, call->args, others, ids);
    leat_value many = spread(zeros, ids, x);
    leat_value left =
        leat_op_subtract(many, leat_op_cast(zero, dtype)); /* zeros among the others */
    /* Where another slice is 0 the product of all others is 0, whatever `rest` says; where only
     * this one is 0, it is `rest`. */
    leat_value slope = leat_op_divide(spread(rest, ids, x), others);
    slope =
        leat_op_select(leat_op_equal(left, leat_op_zeros_like(x)), slope, leat_op_zeros_like(x));
    call->input_gradients[0] = leat_op_multiply(spread(g, ids, x), slope);
    return LEAT_OK;
}

static leat_status sum_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = spread(call->output_gradients[0], call->inputs[1], call->inputs[0]);
    return LEAT_OK;
}

static leat_status segment_mean_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value ids = call->inputs[1], x = call->inputs[0], g = call->output_gradients[0];
    (void)err;
    leat_value counts = leat_op_segment_sum(leat_op_ones_like(x), ids);
    call->input_gradients[0] = spread(leat_op_divide_no_nan(g, counts), ids, x);
    return LEAT_OK;
}

static leat_status sorted_extreme_gradient(leati_gradient_call *call, leat_error *err) {
    return extreme_gradient(call, &leati_tensor_op_segment_sum, err);
}

static leat_status unsorted_extreme_gradient(leati_gradient_call *call, leat_error *err) {
    return extreme_gradient(call, &leati_tensor_op_unsorted_segment_sum, err);
}

static leat_status sorted_product_gradient(leati_gradient_call *call, leat_error *err) {
    return product_gradient(call, &leati_tensor_op_segment_sum, &leati_tensor_op_segment_prod, err);
}

static leat_status unsorted_product_gradient(leati_gradient_call *call, leat_error *err) {
    return product_gradient(call, &leati_tensor_op_unsorted_segment_sum,
                            &leati_tensor_op_unsorted_segment_prod, err);
}

/* ---- kernel, builder and descriptor of each ---- */
#define SEGMENT(OP, ...)                                                                           \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "data segment_ids",                                                              \
        .types = "T Tindices",                                                                     \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define SORTED(OP, KIND, MEAN, ...)                                                                \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return sorted_infer(call, KIND, err);                                                      \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return sorted_kernel(call, KIND, MEAN, err);                                               \
    }                                                                                              \
    SEGMENT(OP, .rows = leati_no_rows, __VA_ARGS__)
#define UNSORTED(OP, KIND, ...)                                                                    \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return unsorted_infer(call, KIND, err);                                                    \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return unsorted_kernel(call, KIND, err);                                                   \
    }                                                                                              \
    SEGMENT(OP, .rows = segment_rows, .args_size = sizeof(struct leati_segment_args), __VA_ARGS__)
#define IN_SORTED " of the slices of each segment of a tensor, whose numbers are sorted "
#define IN_UNSORTED " of the slices of each of num_segments segments of a tensor "
SORTED(segment_max, LEATI_COMBINE_LATER_MAXIMUM, false,
       .doc = "The maxima" IN_SORTED "(tf.math.segment_max).", .names = "math.segment_max",
       .gradient = sorted_extreme_gradient)
SORTED(segment_mean, LEATI_COMBINE_SUM, true,
       .doc = "The means" IN_SORTED "(tf.math.segment_mean).", .names = "math.segment_mean",
       .gradient = segment_mean_gradient)
SORTED(segment_min, LEATI_COMBINE_LATER_MINIMUM, false,
       .doc = "The minima" IN_SORTED "(tf.math.segment_min).", .names = "math.segment_min",
       .gradient = sorted_extreme_gradient)
SORTED(segment_prod, LEATI_COMBINE_PRODUCT, false,
       .doc = "The products" IN_SORTED "(tf.math.segment_prod).", .names = "math.segment_prod",
       .gradient = sorted_product_gradient)
SORTED(segment_sum, LEATI_COMBINE_SUM, false, .doc = "The sums" IN_SORTED "(tf.math.segment_sum).",
       .names = "math.segment_sum", .gradient = sum_gradient)
UNSORTED(unsorted_segment_max, LEATI_COMBINE_LATER_MAXIMUM,
         .doc = "The maxima" IN_UNSORTED "(tf.math.unsorted_segment_max).",
         .names = "math.unsorted_segment_max", .gradient = unsorted_extreme_gradient)
UNSORTED(unsorted_segment_min, LEATI_COMBINE_LATER_MINIMUM,
         .doc = "The minima" IN_UNSORTED "(tf.math.unsorted_segment_min).",
         .names = "math.unsorted_segment_min", .gradient = unsorted_extreme_gradient)
UNSORTED(unsorted_segment_prod, LEATI_COMBINE_PRODUCT,
         .doc = "The products" IN_UNSORTED "(tf.math.unsorted_segment_prod).",
         .names = "math.unsorted_segment_prod", .gradient = unsorted_product_gradient)
UNSORTED(unsorted_segment_sum, LEATI_COMBINE_SUM,
         .doc = "The sums" IN_UNSORTED "(tf.math.unsorted_segment_sum).",
         .names = "math.unsorted_segment_sum", .gradient = sum_gradient)

/* ---- segment_spread: inputs values, segment_ids, data ---- */
static leat_status segment_spread_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_combine_want(call, LEATI_COMBINE_SUM, 0, "the values", err));
    LEATI_TRY(leati_support_want_index(call, 1, "segment_ids", err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &call->inputs[2].shape, NULL, err);
}

static leat_status segment_spread_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *values = &call->inputs[0], *ids = &call->inputs[1];
    const leati_operand *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(&call->inputs[2]);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    int64_t segments = values->rank > 0 ? values->dims[0] : 0;
    if (out->count == 0)
        return LEAT_OK;
    /* Checked against each other, because other shapes would lead out of bounds. */
    int64_t each = ids->count > 0 ? out->count / ids->count : 0;
    if (each * ids->count != out->count || (segments > 0 && values->count != segments * each))
        return leati_refuse(err, SHAPE,
                            "%lld values of %lld segments do not fit %lld values of %lld slices",
                            (long long)values->count, (long long)segments, (long long)out->count,
                            (long long)ids->count);
    size_t bytes = (size_t)each * leat_dtype_size(out->dtype);
    for (int64_t row = 0; row < call->n; row++) {
        char *to = leati_support_row_of(out, row);
        for (int64_t i = 0; i < ids->count; i++, to += bytes) {
            int64_t id = leati_support_index_at(ids, row, i);
            /* Slices that were left out got no share, so they get zeros. */
            if (id >= 0 && id < segments)
                memcpy(to, leati_support_row_of(values, row) + (size_t)id * bytes, bytes);
            else
                memset(to, 0, bytes);
        }
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_segment_spread = {
    .name = "segment_spread",
    .version = 1,
    .doc = "To each slice of data that of its segment in values (for gradients).",
    .types = "T Tindices U",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = leati_no_rows,
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = segment_spread_infer,
    .kernel = segment_spread_kernel,
};

/* ---- unsorted_segment_join ---- */
/* A segment without strings is empty, and the separator stands behind what is not empty alone, as
 * in TensorFlow. One pass adds lengths, a second writes. */
struct join_args {
    int64_t num_segments;
    char *separator;
};

static const leati_row join_rows[] = {
    {.name = "num_segments",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct join_args, num_segments),
     .maximum = INT64_MAX,
     .doc = "How many segments there are."},
    {.name = "separator",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct join_args, separator),
     .default_text = "",
     .doc = "What stands between two strings."},
    {0},
};

enum { INPUTS, IDS };

static leat_status unsorted_segment_join_infer(leati_infer_call *call, leat_error *err) {
    const struct join_args *args = call->args;
    leat_shape shape;
    LEATI_TRY(leati_support_want_dtype(call, INPUTS, LEAT_STRING, "the input", err));
    LEATI_TRY(leati_support_want_index(call, IDS, "segment_ids", err));
    if (call->inputs[IDS].shape.rank == 0)
        return leati_refuse(err, SHAPE, "segment_ids is a scalar; expected one or more dimensions");
    LEATI_TRY(segment_shape(&call->inputs[INPUTS].shape, &call->inputs[IDS].shape,
                            call->unknown != 0 ? LEAT_UNKNOWN_DIM : args->num_segments, &shape,
                            err));
    return leati_op_infer_output(call, LEAT_STRING, &shape, NULL, err);
}

static leat_status check_ids(leati_kernel_call *call, int64_t count, leat_error *err) {
    const leati_operand *ids = &call->inputs[IDS];
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < ids->count; i++) {
            int64_t id = leati_support_index_at(ids, row, i);
            if (id >= 0 && id < count)
                continue;
            call->failed_row = row;
            return leati_refuse(err, VALUE, "segment_ids[%lld] = %lld is out of range [0, %lld)",
                                (long long)i, (long long)id, (long long)count);
        }
    return LEAT_OK;
}

/* One row: each string goes behind those of its segment, `values` strings to a slice. In the first
 * pass, where `to` is NULL, the results' sizes are found. */
static leat_status join_row(const leati_kernel_call *call, int64_t row, int64_t values, char **to,
                            leat_error *err) {
    const struct join_args *args = call->args;
    const leati_operand *in = &call->inputs[INPUTS];
    const char *separator = args->separator == NULL ? "" : args->separator;
    const leat_string *from = leati_text_strings_of(in, row);
    leat_string *results = leati_text_strings_of(&call->outputs[0], row);
    size_t between = strlen(separator);
    for (int64_t i = 0; i < in->count; i++) {
        /* String i is number i % values of slice i / values. */
        int64_t at =
            leati_support_index_at(&call->inputs[IDS], row, i / values) * values + i % values;
        /* Nothing written yet: by size in the first pass, by place in the second. */
        bool empty = to == NULL ? results[at].size == 0 : to[at] == results[at].data;
        size_t gap = empty ? 0 : between;
        if (to == NULL) {
            if (!leati_add_size(results[at].size, gap, &results[at].size) ||
                !leati_add_size(results[at].size, from[i].size, &results[at].size))
                return leati_no_memory(err);
            continue;
        }
        if (gap > 0)
            memcpy(to[at], separator, gap);
        if (from[i].size > 0)
            memcpy(to[at] + gap, from[i].data, from[i].size);
        to[at] += gap + from[i].size;
    }
    return LEAT_OK;
}

/* Gives each result its bytes out of one piece. */
static leat_status hand_out(leati_kernel_call *call, leat_error *err) {
    const leati_operand *out = &call->outputs[0];
    size_t total = 0;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++)
            if (!leati_add_size(total, leati_text_strings_of(out, row)[i].size, &total))
                return leati_no_memory(err);
    char *text = leati_op_kernel_text(call, 0, total, err);
    if (text == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (int64_t row = 0; row < call->n; row++)
        for (int64_t i = 0; i < out->count; i++) {
            leat_string *s = leati_text_strings_of(out, row) + i;
            s->data = text;
            text += s->size;
        }
    return LEAT_OK;
}

static leat_status unsorted_segment_join_kernel(leati_kernel_call *call, leat_error *err) {
    const struct join_args *args = call->args;
    leat_shape from = leati_support_operand_shape(&call->inputs[INPUTS]), shape;
    leat_shape ids = leati_support_operand_shape(&call->inputs[IDS]);
    if (ids.rank == 0)
        return leati_refuse(err, SHAPE, "segment_ids is a scalar; expected one or more dimensions");
    LEATI_TRY(segment_shape(&from, &ids, args->num_segments, &shape, err));
    LEATI_TRY(check_ids(call, args->num_segments, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    const leati_operand *out = &call->outputs[0];
    if (out->count == 0 || call->n == 0)
        return LEAT_OK;
    /* Where the next string of each result goes. */
    size_t size = (size_t)out->count * sizeof(char *);
    char **to = leati_arena_alloc(call->arena, size);
    if (to == NULL)
        return leati_no_memory(err);
    int64_t values = out->count / args->num_segments;
    for (int64_t row = 0; row < call->n; row++) {
        memset(leati_text_strings_of(out, row), 0, (size_t)out->count * sizeof(leat_string));
        LEATI_TRY(join_row(call, row, values, NULL, err));
    }
    LEATI_TRY(hand_out(call, err));
    for (int64_t row = 0; row < call->n; row++) {
        for (int64_t i = 0; i < out->count; i++)
            to[i] = (char *)(uintptr_t)leati_text_strings_of(out, row)[i].data;
        LEATI_TRY(join_row(call, row, values, to, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_unsorted_segment_join = {
    .name = "unsorted_segment_join",
    .version = 1,
    .doc = "The strings of each of num_segments segments joined, in their order "
           "(tf.strings.unsorted_segment_join).",
    .names = "strings.unsorted_segment_join",
    .inputs = "inputs segment_ids",
    .types = "string Tindices",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = join_rows,
    .args_size = sizeof(struct join_args),
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = unsorted_segment_join_infer,
    .kernel = unsorted_segment_join_kernel,
};
