/* sort, argsort, top_k: the values of a line in order, their places, and the largest of them
 * (tf.sort, tf.argsort, tf.math.top_k).
 *
 * Equal values stay as they stand; a NaN is last going up, first going down. The gradient goes to
 * the places of the values. They fail on dtypes without an order, on axes outside the tensor, for
 * places that int32 does not count, and where top_k finds fewer values than k. No state, no locks.
 */
#include "base/isa.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/array/positions.h"
#include "graph/support/array/sorting.h"
#include "run/crew.h"

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

static leat_status direction_of(const struct sort_args *args, bool *descending, leat_error *err) {
    const char *text = args->direction != NULL ? args->direction : "";
    *descending = strcmp(text, "DESCENDING") == 0;
    if (*descending || strcmp(text, "ASCENDING") == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "direction is \"%.40s\"; expected ASCENDING or DESCENDING",
                        text);
}

/* Places count to INT32_MAX, as TensorFlow's do. */
static leat_status check_places(int64_t dim, leat_error *err) {
    if (dim <= INT32_MAX)
        return LEAT_OK;
    return leati_refuse(err, SHAPE,
                        "a line has %lld values; expected at most %d, since places are "
                        "int32: cut the line into parts",
                        (long long)dim, INT32_MAX);
}

static leat_status sorting_infer(leati_infer_call *call, bool places, leat_error *err) {
    const struct sort_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    bool descending = false;
    int32_t axis = 0;
    if (!leati_sorting_knows(in->dtype))
        return leati_refuse(err, DTYPE, "the values are %s; expected numbers",
                            leat_dtype_name(in->dtype));
    LEATI_TRY(direction_of(args, &descending, err));
    if (in->shape.rank >= 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    if (places && in->shape.rank >= 0)
        LEATI_TRY(check_places(in->shape.dims[axis], err));
    return leati_op_infer_output(call, places ? LEAT_INT32 : in->dtype, &in->shape, NULL, err);
}

/* Lines that do not lie densely are copied, as many at a time as stand side by side in 64 bytes. */
enum { SIDE_BY_SIDE = 64 };

struct lines {
    leati_sorting sorting;
    bool places;
    size_t dim, size; /* values of a line, bytes of a value */
    size_t inner;     /* values from one of a line to the next */
    size_t out_size;  /* bytes of what is written for a value */
    size_t at_once;   /* lines that are copied */
    char *copies;     /* of `slot` bytes each, and room for a result behind them */
    size_t slot;
};

static leat_status lines_init(struct lines *lines, leati_kernel_call *call, bool places,
                              int32_t axis, bool descending, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    *lines = (struct lines){.places = places,
                            .dim = (size_t)shape.dims[axis],
                            .size = leat_dtype_size(in->dtype),
                            .inner = 1};
    lines->out_size = places ? sizeof(int32_t) : lines->size;
    if (places)
        LEATI_TRY(check_places(shape.dims[axis], err));
    for (int32_t d = axis + 1; d < shape.rank; d++)
        lines->inner *= (size_t)shape.dims[d];
    LEATI_TRY(leati_sorting_init(&lines->sorting, in->dtype, shape.dims[axis], descending, places,
                                 call->arena, err));
    if (lines->inner == 1)
        return LEAT_OK;
    lines->at_once = LEATI_MIN(lines->inner, SIDE_BY_SIDE / lines->size);
    size_t bytes = 0;
    /* A line's places take the room of its values, which they may exceed. */
    if (!leati_mul_size(lines->dim, LEATI_MAX(lines->size, lines->out_size), &lines->slot) ||
        !leati_mul_size(lines->slot, lines->at_once + 1, &bytes))
        return leati_no_memory(err);
    lines->copies = leati_arena_alloc(call->arena, bytes);
    return lines->copies != NULL ? LEAT_OK : leati_no_memory(err);
}

static void sort_line(struct lines *lines, const char *line, char *to) {
    if (!lines->places) {
        leati_sorting_values(&lines->sorting, line, to);
        return;
    }
    const uint64_t *order = leati_sorting_places(&lines->sorting, line);
    int32_t *places = (int32_t *)(void *)to;
    for (size_t i = 0; order != NULL && i < lines->dim; i++)
        places[i] = (int32_t)order[i];
}

/* Between `count` lines that stand side by side and their copies: values of `size` bytes. */
#define COPY(NAME, TYPE)                                                                           \
    static void gather_##NAME(const struct lines *lines, const char *from, size_t count) {         \
        for (size_t k = 0; k < lines->dim; k++) {                                                  \
            const TYPE *row = (const TYPE *)(const void *)from + k * lines->inner;                 \
            for (size_t i = 0; i < count; i++)                                                     \
                ((TYPE *)(void *)(lines->copies + i * lines->slot))[k] = row[i];                   \
        }                                                                                          \
    }                                                                                              \
    static void scatter_##NAME(const struct lines *lines, char *to, size_t count) {                \
        for (size_t k = 0; k < lines->dim; k++) {                                                  \
            TYPE *row = (TYPE *)(void *)to + k * lines->inner;                                     \
            for (size_t i = 0; i < count; i++)                                                     \
                row[i] = ((const TYPE *)(const void *)(lines->copies + i * lines->slot))[k];       \
        }                                                                                          \
    }

COPY(8, uint8_t)
COPY(16, uint16_t)
COPY(32, uint32_t)
COPY(64, uint64_t)

static void gather(const struct lines *lines, const char *from, size_t count) {
    switch (lines->size) {
    case 1: gather_8(lines, from, count); break;
    case 2: gather_16(lines, from, count); break;
    case 4: gather_32(lines, from, count); break;
    default: gather_64(lines, from, count); break;
    }
}

static void scatter(const struct lines *lines, char *to, size_t count) {
    switch (lines->out_size) {
    case 1: scatter_8(lines, to, count); break;
    case 2: scatter_16(lines, to, count); break;
    case 4: scatter_32(lines, to, count); break;
    default: scatter_64(lines, to, count); break;
    }
}

/* The lines of one row: dense ones, or groups of those that stand side by side. */
static void sort_row(struct lines *lines, const char *from, char *to, size_t count) {
    const size_t block = lines->dim * lines->inner;
    int64_t done = 0;
    if (lines->inner == 1) {
        for (size_t at = 0; at < count && !leati_stop_look_after((int64_t)lines->dim * 8, &done);
             at += lines->dim)
            sort_line(lines, from + at * lines->size, to + at * lines->out_size);
        return;
    }
    char *result = lines->copies + lines->at_once * lines->slot;
    for (size_t at = 0; at < count; at += block) {
        for (size_t first = 0; first < lines->inner; first += lines->at_once) {
            size_t together = LEATI_MIN(lines->at_once, lines->inner - first);
            if (leati_stop_look_after((int64_t)(lines->dim * together) * 8, &done))
                return;
            gather(lines, from + (at + first) * lines->size, together);
            for (size_t i = 0; i < together; i++) {
                char *copy = lines->copies + i * lines->slot;
                sort_line(lines, copy, result);
                memcpy(copy, result, lines->dim * lines->out_size);
            }
            scatter(lines, to + (at + first) * lines->out_size, together);
        }
    }
}

/* Fills output 0 with the sorted values, or with their places as int32. */
static leat_status sorting_kernel(leati_kernel_call *call, bool places, leat_error *err) {
    const struct sort_args *args = call->args;
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    struct lines lines;
    bool descending = false;
    int32_t axis = 0;
    LEATI_TRY(direction_of(args, &descending, err));
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in->count == 0)
        return LEAT_OK;
    LEATI_TRY(lines_init(&lines, call, places, axis, descending, err));
    for (int64_t row = 0; row < call->n && !leati_stop_stopped(); row++)
        sort_row(&lines, leati_support_row_of(in, row), leati_support_row_of(out, row),
                 (size_t)in->count);
    return LEAT_OK;
}

static leat_status sort_infer(leati_infer_call *call, leat_error *err) {
    return sorting_infer(call, false, err);
}

static leat_status sort_kernel(leati_kernel_call *call, leat_error *err) {
    return sorting_kernel(call, false, err);
}

static leat_status argsort_infer(leati_infer_call *call, leat_error *err) {
    return sorting_infer(call, true, err);
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
    if (!leati_sorting_knows(call->inputs[0].dtype))
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

enum { TOP_PARTS = 8, TOP_LEAST = 1 << 16, TOP_MOST = 1 << 20 }; /* the latter in values */
#define NS_PER_VALUE 2.0

/* The lines of all rows in parts, each with memory of its own. */
typedef struct top_work {
    const leati_kernel_call *call;
    int64_t k, dim, lines; /* lines of a row */
    int64_t parts;
    leati_sorting_top tops[TOP_PARTS];
} top_work;

/* Of one float32 alone: the first of the largest numbers of a line, -1 where there is a NaN. */
typedef struct top_one {
    const float *line;
    int64_t n, place;
} top_one;

LEATI_ALWAYS_INLINE void top_one_loop(top_one *t) {
    enum { LANES = 64 };
    const float *x = t->line;
    float best[LANES], most = x[0];
    int32_t odd[LANES] = {0}, odds = 0;
    int64_t whole = t->n / LANES * LANES, at = 0;
    for (int k = 0; k < LANES; k++)
        best[k] = most;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) {
            odd[k] |= x[i + k] != x[i + k];
            best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
        }
    for (int k = 0; k < LANES; k++) {
        odds |= odd[k];
        most = best[k] > most ? best[k] : most;
    }
    for (int64_t i = whole; i < t->n; i++) {
        odds |= x[i] != x[i];
        most = x[i] > most ? x[i] : most;
    }
    for (int32_t here = 0; odds == 0 && at < whole; at += LANES) {
        for (int k = 0; k < LANES; k++)
            here |= x[at + k] == most;
        if (here != 0)
            break;
    }
    while (odds == 0 && x[at] != most)
        at++;
    t->place = odds == 0 ? at : -1;
}
LEATI_ISA(find_top_one, top_one_loop, top_one *)

static void top_line(const top_work *w, leati_sorting_top *top, int64_t row, int64_t line) {
    const leati_operand *in = &w->call->inputs[0], *out = w->call->outputs;
    const size_t size = leat_dtype_size(in->dtype), place = leat_dtype_size(out[1].dtype);
    const char *data = leati_support_row_of(in, row) + (size_t)(line * w->dim) * size;
    char *values = leati_support_row_of(&out[0], row) + (size_t)(line * w->k) * size;
    char *places = leati_support_row_of(&out[1], row) + (size_t)(line * w->k) * place;
    top_one one = {.line = (const float *)(const void *)data, .n = w->dim, .place = -1};
    if (w->k == 1 && in->dtype == LEAT_FLOAT32)
        find_top_one(&one);
    const int64_t *order = one.place >= 0 ? &one.place : leati_sorting_top_places(top, data);
    for (int64_t i = 0; order != NULL && i < w->k && !leati_stop_look_at(i); i++) {
        memcpy(values + (size_t)i * size, data + (size_t)order[i] * size, size);
        (void)leati_support_store_number(out[1].dtype, (double)order[i],
                                         places + (size_t)i * place);
    }
}

static void top_part(void *data, int64_t part) {
    top_work *w = data;
    int64_t all = w->call->n * w->lines, done = 0;
    for (int64_t i = all * part / w->parts; i < all * (part + 1) / w->parts; i++) {
        if (leati_stop_look_after(w->dim * 4, &done))
            return;
        top_line(w, &w->tops[part], i / w->lines, i % w->lines);
    }
}

static leat_status top_k_kernel(leati_kernel_call *call, leat_error *err) {
    const struct top_k_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    LEATI_TRY(top_k_shape(args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 1, &shape, err));
    int64_t dim = from.dims[from.rank - 1], k = args->k;
    if (call->outputs[0].count == 0)
        return LEAT_OK;
    top_work work = {.call = call, .k = k, .dim = dim, .lines = in->count / dim};
    int64_t count = LEATI_MIN(call->n * work.lines, TOP_PARTS);
    double values = (double)call->n * (double)in->count;
    /* What is little is one part, and so are long lines, for their memory. */
    work.parts = values < TOP_LEAST ? 1 : LEATI_MIN(count, LEATI_MAX(TOP_MOST / dim, 1));
    for (int64_t i = 0; i < work.parts; i++)
        LEATI_TRY(leati_sorting_top_init(&work.tops[i], in->dtype, dim, k, call->arena, err));
    leati_crew_share(values * NS_PER_VALUE, work.parts, top_part, &work);
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
