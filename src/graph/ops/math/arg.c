/* argmax, argmin: the index of the largest or smallest value along a dimension (tf.math.argmax,
 * tf.math.argmin). The first of equals is found; a NaN never wins over a number that came before.
 *
 * Of dtypes that many programs use, lines of neighbours are searched in runs, whose best is found
 * first and then its place, and other lines side by side. The crew shares lines, and runs of a long
 * one. They fail where the dimension is empty or outside the input. No gradient, no state, no
 * locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "core/half.h"
#include "graph/support/math/elementwise.h"
#include "run/crew.h"

struct arg_args {
    int64_t axis;
    leat_dtype output_type;
};

static const leati_row arg_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE | LEATI_TENSOR,
     .offset = offsetof(struct arg_args, axis),
     .doc = "The dimension to search; negative counts from the end."},
    {.name = "output_type",
     .type = LEATI_ROW_DTYPE,
     .offset = offsetof(struct arg_args, output_type),
     .default_number = LEAT_INT64,
     .doc = "int32 or int64; of argmax also int16 or uint16."},
    {0},
};

/* The place of the first best of n values, `step` values apart; LOAD makes a number of one. */
#define ARG_SEARCH(NAME, TYPE, LOAD, BETTER)                                                       \
    static int64_t NAME(const char *data, int64_t n, int64_t step) {                               \
        const TYPE *values = (const TYPE *)data;                                                   \
        int64_t best = 0;                                                                          \
        for (int64_t i = 1; i < n && !leati_stop_look_at(i); i++)                                  \
            if (LOAD(values[i * step]) BETTER LOAD(values[best * step]))                           \
                best = i;                                                                          \
        return best;                                                                               \
    }
#define ARG_SEARCHES(NAME, TYPE, LOAD)                                                             \
    ARG_SEARCH(argmax_##NAME, TYPE, LOAD, >)                                                       \
    ARG_SEARCH(argmin_##NAME, TYPE, LOAD, <)

ARG_SEARCHES(bool, bool, )
ARG_SEARCHES(int8, int8_t, )
ARG_SEARCHES(int16, int16_t, )
ARG_SEARCHES(int32, int32_t, )
ARG_SEARCHES(int64, int64_t, )
ARG_SEARCHES(uint8, uint8_t, )
ARG_SEARCHES(uint16, uint16_t, )
ARG_SEARCHES(uint32, uint32_t, )
ARG_SEARCHES(uint64, uint64_t, )
ARG_SEARCHES(float16, uint16_t, leati_float_of_half)
ARG_SEARCHES(bfloat16, uint16_t, leati_float_of_bfloat16)
ARG_SEARCHES(float32, float, )
ARG_SEARCHES(float64, double, )

typedef int64_t (*search_function)(const char *data, int64_t n, int64_t step);

static const search_function searches[2][LEAT_NUM_DTYPES] = {
    {LEATI_TABLE_NUMBER(argmax), [LEAT_BOOL] = argmax_bool},
    {LEATI_TABLE_NUMBER(argmin), [LEAT_BOOL] = argmin_bool},
};

/* ---- fast searches ---- */
enum { PIECE = 1 << 16, TILE = 256 }; /* values, lines */
#define NS_PER_BYTE 0.08

/* Lines of n values: each dense, `step` values behind the last, or side by side where `step` is 1
 * and each line's next value is `next` values further. */
typedef struct arg_lines {
    const char *data;
    int64_t n, step, next, lines;
    int64_t *places;
} arg_lines;

/* LOAD makes a V of a TYPE. In line_NAME, `start` is a number that came before: -1 where none is
 * better. */
#define FAST_SEARCH(NAME, TYPE, V, LOAD, PLACE, BETTER)                                            \
    LEATI_ALWAYS_INLINE int64_t line_##NAME(const TYPE *x, int64_t n, V start) {                   \
        enum { LANES = 128 / sizeof(V), RUN = 1024 };                                              \
        int64_t found = -1, i = 0;                                                                 \
        V best = start;                                                                            \
        for (; n - i >= LANES; i += LEATI_MIN(n - i, RUN) / LANES * LANES) {                       \
            int64_t run = LEATI_MIN(n - i, RUN) / LANES * LANES;                                   \
            V lanes[LANES];                                                                        \
            for (int k = 0; k < LANES; k++)                                                        \
                lanes[k] = best;                                                                   \
            for (int64_t j = i; j < i + run; j += LANES)                                           \
                for (int k = 0; k < LANES; k++) {                                                  \
                    V value = LOAD(x[j + k]);                                                      \
                    lanes[k] = value BETTER lanes[k] ? value : lanes[k];                           \
                }                                                                                  \
            for (int half = LANES / 2; half > 0; half /= 2)                                        \
                for (int k = 0; k < half; k++)                                                     \
                    lanes[k] = lanes[k + half] BETTER lanes[k] ? lanes[k + half] : lanes[k];       \
            if (lanes[0] BETTER best) {                                                            \
                best = lanes[0];                                                                   \
                found = i;                                                                         \
            }                                                                                      \
        }                                                                                          \
        /* Of the run only the best is known, not yet its place. */                                \
        while (found >= 0 && !(LOAD(x[found]) == best))                                            \
            found++;                                                                               \
        for (; i < n; i++)                                                                         \
            if (LOAD(x[i]) BETTER best) {                                                          \
                best = LOAD(x[i]);                                                                 \
                found = i;                                                                         \
            }                                                                                      \
        return found;                                                                              \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void dense_loop_##NAME(const arg_lines *l) {                               \
        const TYPE *x = (const TYPE *)(const void *)l->data;                                       \
        for (int64_t k = 0; k < l->lines; k++, x += l->step) {                                     \
            int64_t place = line_##NAME(x, l->n, LOAD(x[0]));                                      \
            l->places[k] = place < 0 ? 0 : place;                                                  \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(dense_##NAME, dense_loop_##NAME, const arg_lines *)                                  \
    LEATI_ALWAYS_INLINE void beside_loop_##NAME(const arg_lines *l) {                              \
        const TYPE *x = (const TYPE *)(const void *)l->data;                                       \
        V best[TILE];                                                                              \
        PLACE place[TILE];                                                                         \
        int64_t lines = l->lines;                                                                  \
        for (int64_t k = 0; k < lines; k++) {                                                      \
            best[k] = LOAD(x[k]);                                                                  \
            place[k] = 0;                                                                          \
        }                                                                                          \
        for (int64_t i = 1; i < l->n; i++) {                                                       \
            x += l->next;                                                                          \
            for (int64_t k = 0; k < lines; k++) {                                                  \
                V value = LOAD(x[k]);                                                              \
                bool better = value BETTER best[k];                                                \
                place[k] = better ? (PLACE)i : place[k];                                           \
                best[k] = better ? value : best[k];                                                \
            }                                                                                      \
        }                                                                                          \
        for (int64_t k = 0; k < lines; k++)                                                        \
            l->places[k] = place[k];                                                               \
    }                                                                                              \
    LEATI_ISA(beside_##NAME, beside_loop_##NAME, const arg_lines *)                                \
    /* One run of a long line, which begins with `first`. */                                       \
    static int64_t run_##NAME(const char *data, const char *first, int64_t n) {                    \
        V start = LOAD(*(const TYPE *)(const void *)first);                                        \
        return start != start ? -1 : line_##NAME((const TYPE *)(const void *)data, n, start);      \
    }                                                                                              \
    static bool better_##NAME(const char *data, int64_t i, int64_t best) {                         \
        const TYPE *x = (const TYPE *)(const void *)data;                                          \
        return LOAD(x[i]) BETTER LOAD(x[best]);                                                    \
    }
#define FAST_SEARCHES(NAME, TYPE, V, LOAD, PLACE)                                                  \
    FAST_SEARCH(argmax_##NAME, TYPE, V, LOAD, PLACE, >)                                            \
    FAST_SEARCH(argmin_##NAME, TYPE, V, LOAD, PLACE, <)
FAST_SEARCHES(float32, float, float, , int32_t)
FAST_SEARCHES(float64, double, double, , int64_t)
FAST_SEARCHES(int32, int32_t, int32_t, , int32_t)
FAST_SEARCHES(int64, int64_t, int64_t, , int64_t)
FAST_SEARCHES(uint8, uint8_t, uint8_t, , int32_t)
FAST_SEARCHES(float16, uint16_t, float, leati_float_of_half, int32_t)
FAST_SEARCHES(bfloat16, uint16_t, float, leati_float_of_bfloat16, int32_t)

typedef struct fast_search {
    void (*dense)(const arg_lines *lines);
    void (*beside)(const arg_lines *lines);
    int64_t (*run)(const char *data, const char *first, int64_t n);
    bool (*better)(const char *data, int64_t i, int64_t best);
} fast_search;

#define FAST(NAME)                                                                                 \
    { dense_##NAME, beside_##NAME, run_##NAME, better_##NAME }
static const fast_search fast_searches[2][LEAT_NUM_DTYPES] = {
    {[LEAT_FLOAT32] = FAST(argmax_float32),
     [LEAT_FLOAT64] = FAST(argmax_float64),
     [LEAT_INT32] = FAST(argmax_int32),
     [LEAT_INT64] = FAST(argmax_int64),
     [LEAT_UINT8] = FAST(argmax_uint8),
     [LEAT_FLOAT16] = FAST(argmax_float16),
     [LEAT_BFLOAT16] = FAST(argmax_bfloat16)},
    {[LEAT_FLOAT32] = FAST(argmin_float32),
     [LEAT_FLOAT64] = FAST(argmin_float64),
     [LEAT_INT32] = FAST(argmin_int32),
     [LEAT_INT64] = FAST(argmin_int64),
     [LEAT_UINT8] = FAST(argmin_uint8),
     [LEAT_FLOAT16] = FAST(argmin_float16),
     [LEAT_BFLOAT16] = FAST(argmin_bfloat16)},
};

static leat_status without_axis(const struct arg_args *args, const leat_shape *in, int32_t *axis,
                                leat_shape *out, leat_error *err) {
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, axis, err));
    /* Refused even where the other dimensions leave no result, as in TensorFlow. */
    if (in->dims[*axis] == 0)
        return leati_refuse(
            err, SHAPE, "dimension %d is empty: it has no largest or smallest value", (int)*axis);
    out->rank = 0;
    for (int32_t d = 0; d < in->rank; d++)
        if (d != *axis)
            out->dims[out->rank++] = in->dims[d];
    return LEAT_OK;
}

static leat_status arg_infer(leati_infer_call *call, bool smallest, leat_error *err) {
    const struct arg_args *args = call->args;
    leat_shape shape = {.rank = LEAT_UNKNOWN_RANK};
    int32_t axis = 0;
    if (searches[0][call->inputs[0].dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers or booleans",
                            leat_dtype_name(call->inputs[0].dtype));
    if (args->output_type != LEAT_INT32 && args->output_type != LEAT_INT64 &&
        (smallest || (args->output_type != LEAT_INT16 && args->output_type != LEAT_UINT16)))
        return leati_refuse(err, DTYPE, "output_type is %s; expected int32 or int64%s",
                            leat_dtype_name(args->output_type),
                            smallest ? "" : ", int16 or uint16");
    if (call->unknown != 0) { /* the axis */
        /* One dimension goes, whichever it is. */
        shape.rank = call->inputs[0].shape.rank > 0 ? call->inputs[0].shape.rank - 1 : shape.rank;
        for (int32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    } else if (call->inputs[0].shape.rank >= 0) {
        LEATI_TRY(without_axis(args, &call->inputs[0].shape, &axis, &shape, err));
    }
    return leati_op_infer_output(call, args->output_type, &shape, NULL, err);
}

/* ---- the walk ---- */
typedef struct arg_run {
    const leati_operand *in, *out;
    search_function slow;
    const fast_search *fast; /* without functions: slow */
    int64_t dim, inner;      /* values of a line, how far they are apart */
    int64_t tile, tiles;     /* lines of a tile, tiles of the neighbours that `inner` is */
    int64_t each, all, part; /* tiles of a row, of all rows, of a piece */
    const char *line;        /* a long one, and the best place of each run of it */
    int64_t *places;
} arg_run;

static void store_place(const leati_operand *out, char *to, int64_t i, int64_t place) {
    switch (out->dtype) {
    case LEAT_INT32: ((int32_t *)(void *)to)[i] = (int32_t)place; break;
    case LEAT_INT64: ((int64_t *)(void *)to)[i] = place; break;
    /* int16 and uint16 have the same bits for the places that both can say. */
    default: ((uint16_t *)(void *)to)[i] = (uint16_t)place;
    }
}

/* Lines along the axis stand side by side, `inner` of them; then follow `dim` times as many values.
 */
static void search_tile(const arg_run *run, int64_t index) {
    int64_t row = index / run->each, tile = index % run->each, places[TILE];
    int64_t size = (int64_t)leat_dtype_size(run->in->dtype);
    int64_t outer = tile / run->tiles, first = tile % run->tiles * run->tile;
    arg_lines lines = {.n = run->dim, .step = 1, .next = run->inner, .places = places};
    int64_t from = outer * run->inner * run->dim + first, to = outer * run->inner + first;
    lines.lines = LEATI_MIN(run->inner - first, run->tile);
    if (run->inner == 1) {
        /* Tiles are of lines one behind the other. */
        to = tile * run->tile;
        from = to * run->dim;
        lines.step = run->dim;
        lines.lines = LEATI_MIN(run->out->count - to, run->tile);
    }
    lines.data = leati_support_row_of(run->in, row) + from * size;
    if (run->fast->dense == NULL || run->dim > INT32_MAX)
        for (int64_t k = 0; k < lines.lines; k++)
            places[k] = run->slow(lines.data + k * lines.step * size, run->dim, run->inner);
    else
        (run->inner == 1 ? run->fast->dense : run->fast->beside)(&lines);
    for (int64_t k = 0; k < lines.lines; k++)
        store_place(run->out, leati_support_row_of(run->out, row), to + k, places[k]);
}

static void search_piece(void *data, int64_t piece) {
    const arg_run *run = data;
    int64_t end = LEATI_MIN((piece + 1) * run->part, run->all), done = 0;
    for (int64_t i = piece * run->part; i < end; i++) {
        search_tile(run, i);
        if (leati_stop_look_after(run->dim * run->tile, &done))
            return;
    }
}

static void search_run(void *data, int64_t piece) {
    const arg_run *run = data;
    int64_t from = piece * PIECE, size = (int64_t)leat_dtype_size(run->in->dtype);
    int64_t place =
        run->fast->run(run->line + from * size, run->line, LEATI_MIN(run->dim - from, PIECE));
    run->places[piece] = place < 0 ? -1 : from + place;
}

/* Lines that are pieces by themselves. */
static leat_status search_long(arg_run *run, leati_kernel_call *call, double ns, leat_error *err) {
    int64_t pieces = (run->dim + PIECE - 1) / PIECE;
    size_t bytes = (size_t)run->dim * leat_dtype_size(run->in->dtype);
    run->places = leati_arena_alloc(call->arena, (size_t)pieces * sizeof(int64_t));
    if (run->places == NULL)
        return leati_no_memory(err);
    for (int64_t k = 0; k < call->n * run->out->count && !leati_stop_stopped(); k++) {
        int64_t row = k / run->out->count, i = k % run->out->count, best = 0;
        run->line = leati_support_row_of(run->in, row) + (size_t)i * bytes;
        leati_crew_share(ns, pieces, search_run, run);
        for (int64_t p = 0; p < pieces && !leati_stop_stopped(); p++)
            if (run->places[p] >= 0 && run->fast->better(run->line, run->places[p], best))
                best = run->places[p];
        store_place(run->out, leati_support_row_of(run->out, row), i, best);
    }
    return LEAT_OK;
}

static leat_status arg_kernel(leati_kernel_call *call, bool smallest, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from = leati_support_operand_shape(in), shape = {0};
    int32_t axis = 0;
    LEATI_TRY(without_axis(call->args, &from, &axis, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    arg_run run = {.in = in, .out = out, .dim = from.dims[axis], .inner = 1, .tiles = 1};
    run.slow = searches[smallest][in->dtype];
    run.fast = &fast_searches[smallest][in->dtype];
    for (int32_t d = axis + 1; d < from.rank; d++)
        run.inner *= from.dims[d];
    if (out->count == 0)
        return LEAT_OK;
    double ns = (double)run.dim * (double)leat_dtype_size(in->dtype) * NS_PER_BYTE;
    if (run.inner == 1 && run.dim > 2 * PIECE && run.fast->dense != NULL)
        return search_long(&run, call, ns, err);
    if (run.inner == 1) {
        run.tile = LEATI_MIN(LEATI_MAX(PIECE / run.dim, 1), TILE);
        run.each = (out->count + run.tile - 1) / run.tile;
    } else {
        run.tile = TILE;
        run.tiles = (run.inner + TILE - 1) / TILE;
        run.each = out->count / run.inner * run.tiles;
    }
    run.all = run.each * call->n;
    run.part = LEATI_MAX(PIECE / (run.dim * LEATI_MIN(run.tile, out->count)), 1);
    leati_crew_share(ns * (double)(out->count * call->n), (run.all + run.part - 1) / run.part,
                     search_piece, &run);
    return LEAT_OK;
}

#define ARG(OP, SMALLEST, ...)                                                                     \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return arg_infer(call, SMALLEST, err);                                                     \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return arg_kernel(call, SMALLEST, err);                                                    \
    }                                                                                              \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "input",                                                                         \
        .signature = "input axis=null output_type",                                                \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = LEATI_HALVES_OWN,                                                                \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = arg_rows,                                                                          \
        .args_size = sizeof(struct arg_args),                                                      \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
ARG(argmax, false,
    .doc =
        "The index of the largest value along a dimension, the first of equals (tf.math.argmax).",
    .names = "math.argmax argmax")
ARG(argmin, true,
    .doc =
        "The index of the smallest value along a dimension, the first of equals (tf.math.argmin).",
    .names = "math.argmin argmin")
