/* cumsum, cumprod, cumulative_logsumexp: running totals along a dimension, of sums, of products,
 * and of the logarithm of a sum of exponentials (tf.math.cumsum and so on).
 *
 * Integers wrap; floats narrower than float32 add up in float. Of logarithms, the largest value so
 * far is taken out of the sum, so it does not overflow; where a value's own place is left out the
 * first result is minus infinity. The crew shares lines. They fail where the axis is outside the
 * input. No state, no locks. */
#include "base/minmax.h"
#include "base/stop.h"
#include "graph/support/math/elementwise.h"
#include "run/crew.h"

#include <float.h>
#include <string.h>

struct cumulate_args {
    int64_t axis;
    bool exclusive, reverse;
};

static const leati_row cumulate_rows[] = {
    {.name = "axis",
     .type = LEATI_ROW_INT,
     .flags = LEATI_TENSOR,
     .offset = offsetof(struct cumulate_args, axis),
     .doc = "The dimension along which totals run; negative counts from the end."},
    {.name = "exclusive",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct cumulate_args, exclusive),
     .doc = "Leave a value's own place out of its total."},
    {.name = "reverse",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct cumulate_args, reverse),
     .doc = "Run from the end."},
    {0},
};

/* Lines of n values, `step` values apart, which may be negative; the first values of lines are
 * `apart` values apart. */
enum { TILE = 256, PIECE = 1 << 15 }; /* lines, values */
typedef struct total_lines {
    char *to;
    const char *from;
    int64_t n, step, apart, lines;
    bool exclusive;
} total_lines;

/* NAME takes one line after the other, NAME_beside a value of each in turn, at most TILE. */
#define CUMULATE_LINE(NAME, TYPE, NUMBER, LOAD, STORE, START, UPDATE)                              \
    static void NAME(const total_lines *l) {                                                       \
        for (int64_t k = 0; k < l->lines; k++) {                                                   \
            const TYPE *x = (const TYPE *)(const void *)l->from + k * l->apart;                    \
            TYPE *y = (TYPE *)(void *)l->to + k * l->apart;                                        \
            NUMBER a = START;                                                                      \
            for (int64_t i = 0; i < l->n && !leati_stop_look_at(i); i++) {                         \
                NUMBER v = (NUMBER)LOAD(x[i * l->step]), before = a;                               \
                UPDATE;                                                                            \
                y[i * l->step] = (TYPE)STORE(l->exclusive ? before : a);                           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_beside(const total_lines *l) {                                              \
        const TYPE *x = (const TYPE *)(const void *)l->from;                                       \
        TYPE *y = (TYPE *)(void *)l->to;                                                           \
        NUMBER totals[TILE];                                                                       \
        for (int64_t k = 0; k < l->lines; k++)                                                     \
            totals[k] = START;                                                                     \
        for (int64_t i = 0; i < l->n && !leati_stop_look_at(i * TILE + TILE - 1); i++) {           \
            LEATI_INDEPENDENT                                                                      \
            for (int64_t k = 0; k < l->lines; k++) {                                               \
                NUMBER a = totals[k], v = (NUMBER)LOAD(x[k]), before = a;                          \
                UPDATE;                                                                            \
                totals[k] = a;                                                                     \
                y[k] = (TYPE)STORE(l->exclusive ? before : a);                                     \
            }                                                                                      \
            x += l->step;                                                                          \
            y += l->step;                                                                          \
        }                                                                                          \
    }
#define PLAIN(x) (x)
#define CUMULATE_TYPES(KIND, START, UPDATE)                                                        \
    CUMULATE_LINE(KIND##_int8, int8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                      \
    CUMULATE_LINE(KIND##_int16, int16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int32, int32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_int64, int64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint8, uint8_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                    \
    CUMULATE_LINE(KIND##_uint16, uint16_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint32, uint32_t, uint32_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_uint64, uint64_t, uint64_t, PLAIN, PLAIN, START, UPDATE)                  \
    CUMULATE_LINE(KIND##_float16, uint16_t, float, leati_float_of_half, leati_half_of_float,       \
                  START, UPDATE)                                                                   \
    CUMULATE_LINE(KIND##_bfloat16, uint16_t, float, leati_float_of_bfloat16,                       \
                  leati_bfloat16_of_float, START, UPDATE)                                          \
    CUMULATE_LINE(KIND##_float32, float, float, PLAIN, PLAIN, START, UPDATE)                       \
    CUMULATE_LINE(KIND##_float64, double, double, PLAIN, PLAIN, START, UPDATE)                     \
    CUMULATE_LINE(KIND##_complex64, leati_complex64, leati_complex64, PLAIN, PLAIN, START, UPDATE) \
    CUMULATE_LINE(KIND##_complex128, leati_complex128, leati_complex128, PLAIN, PLAIN, START,      \
                  UPDATE)

/* Integers add up unsigned and so wrap; those narrower than 32 bits keep their low ones. */
CUMULATE_TYPES(sum, 0, a += v)
CUMULATE_TYPES(prod, 1, a *= v)

typedef void (*line_function)(const total_lines *lines);
#define BESIDE(OP)                                                                                 \
    [LEAT_INT8] = OP##_int8_beside, [LEAT_INT16] = OP##_int16_beside,                              \
    [LEAT_INT32] = OP##_int32_beside, [LEAT_INT64] = OP##_int64_beside,                            \
    [LEAT_UINT8] = OP##_uint8_beside, [LEAT_UINT16] = OP##_uint16_beside,                          \
    [LEAT_UINT32] = OP##_uint32_beside, [LEAT_UINT64] = OP##_uint64_beside,                        \
    [LEAT_FLOAT16] = OP##_float16_beside, [LEAT_BFLOAT16] = OP##_bfloat16_beside,                  \
    [LEAT_FLOAT32] = OP##_float32_beside, [LEAT_FLOAT64] = OP##_float64_beside,                    \
    [LEAT_COMPLEX64] = OP##_complex64_beside, [LEAT_COMPLEX128] = OP##_complex128_beside
static const line_function lines[2][LEAT_NUM_DTYPES] = {
    {LEATI_TABLE_NUMBER(sum), LEATI_TABLE_COMPLEX(sum)},
    {LEATI_TABLE_NUMBER(prod), LEATI_TABLE_COMPLEX(prod)}};
static const line_function beside[2][LEAT_NUM_DTYPES] = {{BESIDE(sum)}, {BESIDE(prod)}};

static leat_status cumulate_infer(leati_infer_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    const leati_type *in = &call->inputs[0];
    int32_t axis = 0;
    if (lines[0][in->dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected numbers",
                            leat_dtype_name(in->dtype));
    if (in->shape.rank >= 0 && call->unknown == 0)
        LEATI_TRY(leati_support_normal_axis(args->axis, in->shape.rank, &axis, err));
    return leati_op_infer_same(call, err);
}

/* All lines along an axis: tiles of those that stand side by side, or of those one behind the
 * other where it is the last dimension. */
typedef struct cumulation {
    const leati_operand *in, *out;
    const struct cumulate_args *args;
    line_function dense, beside;
    int64_t dim, inner, tile, tiles; /* `tiles` of the `inner` lines side by side */
    int64_t each, all, part;         /* tiles of a row, of all rows, of a piece */
} cumulation;

static void cumulate_piece(void *data, int64_t piece) {
    const cumulation *c = data;
    int64_t size = (int64_t)leat_dtype_size(c->in->dtype), done = 0;
    int64_t end = LEATI_MIN((piece + 1) * c->part, c->all);
    for (int64_t i = piece * c->part; i < end; i++) {
        int64_t row = i / c->each, tile = i % c->each;
        int64_t first = tile % c->tiles * c->tile;
        int64_t at = tile / c->tiles * c->inner * c->dim + first;
        total_lines some = {
            .n = c->dim, .step = c->inner, .apart = 1, .exclusive = c->args->exclusive};
        some.lines = LEATI_MIN(c->inner - first, c->tile);
        if (c->inner == 1) {
            at = tile * c->tile * c->dim;
            some.apart = c->dim;
            some.lines = LEATI_MIN(c->in->count / c->dim - tile * c->tile, c->tile);
        }
        if (c->args->reverse) {
            at += (c->dim - 1) * c->inner;
            some.step = -c->inner;
        }
        some.from = leati_support_row_of(c->in, row) + at * size;
        some.to = leati_support_row_of(c->out, row) + at * size;
        (c->inner == 1 ? c->dense : c->beside)(&some);
        if (leati_stop_look_after(c->dim * some.lines, &done))
            return;
    }
}

/* `ns`: of a value, roughly. */
static leat_status over_lines(leati_kernel_call *call, line_function dense, line_function besides,
                              double ns, leat_error *err) {
    const struct cumulate_args *args = call->args;
    const leati_operand *in = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(in);
    int32_t axis = 0;
    LEATI_TRY(leati_support_normal_axis(args->axis, in->rank, &axis, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (in->count == 0)
        return LEAT_OK;
    cumulation c = {.in = in, .out = &call->outputs[0], .args = args, .dense = dense};
    c.beside = besides;
    c.dim = shape.dims[axis];
    c.inner = c.tiles = 1;
    for (int32_t d = axis + 1; d < shape.rank; d++)
        c.inner *= shape.dims[d];
    c.tile = TILE;
    if (c.inner == 1) {
        c.tile = LEATI_MIN(LEATI_MAX(PIECE / c.dim, 16), TILE);
        c.each = (in->count / c.dim + c.tile - 1) / c.tile;
    } else {
        c.tiles = (c.inner + TILE - 1) / TILE;
        c.each = in->count / c.dim / c.inner * c.tiles;
    }
    c.all = c.each * call->n;
    c.part = LEATI_MAX(PIECE / (c.dim * LEATI_MIN(c.tile, in->count / c.dim)), 1);
    leati_crew_share((double)(in->count * call->n) * ns, (c.all + c.part - 1) / c.part,
                     cumulate_piece, &c);
    return LEAT_OK;
}

static leat_status cumulate_kernel(leati_kernel_call *call, bool product, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    return over_lines(call, lines[product][dtype], beside[product][dtype], 1, err);
}

static leat_status cumsum_kernel(leati_kernel_call *call, leat_error *err) {
    return cumulate_kernel(call, false, err);
}

static leat_status cumprod_kernel(leati_kernel_call *call, leat_error *err) {
    return cumulate_kernel(call, true, err);
}

/* ---- cumulative_logsumexp ---- */
static leat_status logsumexp_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    return cumulate_infer(call, err);
}

/* log(e^a + e^b) is high + log(1 + e^(low - high)), which cannot overflow. An infinity is its own
 * sum, but a difference of two would be NaN. Lines are taken side by side, wherever they lie, so
 * that their functions are computed together. */
#define LOGSUMEXP_LINES(TYPE, EXP, LOG1P)                                                          \
    static inline TYPE add_##TYPE(TYPE a, TYPE b) {                                                \
        TYPE high = LEATI_MAX(a, b), low = LEATI_MIN(b, a);                                        \
        TYPE sum = high + LOG1P(EXP(low - high));                                                  \
        sum = high == INFINITY || high == -INFINITY ? high : sum;                                  \
        return a != a || b != b ? a + b : sum;                                                     \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void logsumexp_loop_##TYPE(const total_lines *l) {                         \
        TYPE totals[TILE], values[TILE], sums[TILE];                                               \
        for (int64_t k = 0; k < l->lines; k++)                                                     \
            totals[k] = -INFINITY;                                                                 \
        for (int64_t i = 0; i < l->n && !leati_stop_look_at(i * TILE + TILE - 1); i++) {           \
            const TYPE *x = (const TYPE *)(const void *)l->from + i * l->step;                     \
            TYPE *y = (TYPE *)(void *)l->to + i * l->step;                                         \
            for (int64_t k = 0; k < l->lines; k++)                                                 \
                values[k] = x[k * l->apart];                                                       \
            LEATI_INDEPENDENT                                                                      \
            for (int64_t k = 0; k < l->lines; k++)                                                 \
                sums[k] = add_##TYPE(totals[k], values[k]);                                        \
            const TYPE *out = l->exclusive ? totals : sums;                                        \
            for (int64_t k = 0; k < l->lines; k++)                                                 \
                y[k * l->apart] = out[k];                                                          \
            memcpy(totals, sums, (size_t)l->lines * sizeof(TYPE));                                 \
        }                                                                                          \
    }
LOGSUMEXP_LINES(float, leati_math_exp, leati_math_log1p)
LOGSUMEXP_LINES(double, exp, log1p)
LEATI_ISA(logsumexp_float, logsumexp_loop_float, const total_lines *)
LEATI_ISA_PLAIN_ONLY(logsumexp_double, logsumexp_loop_double, const total_lines *)

static leat_status logsumexp_kernel(leati_kernel_call *call, leat_error *err) {
    bool narrow = call->inputs[0].dtype == LEAT_FLOAT32;
    line_function function = narrow ? logsumexp_float : logsumexp_double;
    return over_lines(call, function, function, narrow ? 8 : 60, err);
}

/* ---- gradients ---- */
static leat_status cumsum_gradient(leati_gradient_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    (void)err;
    call->input_gradients[0] =
        leat_op_cumsum(call->output_gradients[0], args->axis, args->exclusive, !args->reverse);
    return LEAT_OK;
}

/* As TensorFlow's: NaN where the input is 0. */
static leat_status cumprod_gradient(leati_gradient_call *call, leat_error *err) {
    const struct cumulate_args *args = call->args;
    leat_value x = call->inputs[0];
    (void)err;
    leat_value weighted = leat_op_multiply(call->outputs[0], call->output_gradients[0]);
    leat_value sum = leat_op_cumsum(weighted, args->axis, args->exclusive, !args->reverse);
    call->input_gradients[0] = leat_op_divide(sum, x);
    return LEAT_OK;
}

/* The sums behind each place of exp(log(g) - result + x), where g is positive. */
static leat_value half_gradient(const leati_gradient_call *call, leat_value g) {
    const struct cumulate_args *args = call->args;
    leat_value x = call->inputs[0], zero = leat_op_zeros_like(x);
    /* Logarithms of nothing are the lowest number, not minus infinity, of which a difference could
     * be NaN. */
    leat_value lowest = leati_support_number(
        x.graph, leat_value_dtype(x), leat_value_dtype(x) == LEAT_FLOAT32 ? -FLT_MAX : -DBL_MAX);
    leat_value holds = leat_op_greater(g, zero);
    /* 1 stands where g is not positive, so that no NaN comes up even where it is not chosen. */
    leat_value log = leat_op_log(leat_op_select(holds, g, leat_op_ones_like(x)));
    log = leat_op_select(holds, leat_op_subtract(log, call->outputs[0]),
                         leat_op_broadcast_like(lowest, x));
    leat_value sums =
        leat_op_cumulative_logsumexp(log, args->axis, args->exclusive, !args->reverse);
    return leat_op_exp(leat_op_add(sums, x));
}

static leat_status logsumexp_gradient(leati_gradient_call *call, leat_error *err) {
    leat_value g = call->output_gradients[0];
    (void)err;
    /* A logarithm has no sign, so what is positive and what is negative are summed apart. */
    call->input_gradients[0] =
        leat_op_subtract(half_gradient(call, g), half_gradient(call, leat_op_negate(g)));
    return LEAT_OK;
}

/* ---- builder and descriptor of each ---- */
#define CUMULATIVE(OP, ...)                                                                        \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .inputs = "x",                                                                             \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = cumulate_rows,                                                                     \
        .args_size = sizeof(struct cumulate_args),                                                 \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        __VA_ARGS__,                                                                               \
    };
CUMULATIVE(cumprod, .doc = "The running product along a dimension (tf.math.cumprod).",
           .names = "math.cumprod", .halves = LEATI_HALVES_OWN, .infer = cumulate_infer,
           .kernel = cumprod_kernel, .gradient = cumprod_gradient)
CUMULATIVE(cumsum, .doc = "The running total along a dimension (tf.math.cumsum).",
           .names = "math.cumsum cumsum", .halves = LEATI_HALVES_OWN, .infer = cumulate_infer,
           .kernel = cumsum_kernel, .gradient = cumsum_gradient)
CUMULATIVE(cumulative_logsumexp,
           .doc = "The running logarithm of a sum of exponentials along a dimension "
                  "(tf.math.cumulative_logsumexp).",
           .names = "math.cumulative_logsumexp", .halves = LEATI_HALVES_FLOAT,
           .infer = logsumexp_infer, .kernel = logsumexp_kernel, .gradient = logsumexp_gradient)
