/* fake_quant_with_min_max_args, _vars and _vars_per_channel, and the gradient of each: numbers as
 * they would be if they were stored in a few bits (tf.quantization.fake_quant_with_min_max_args and
 * so on).
 *
 * The bounds are attributes, scalars, or vectors with a pair for each place of the last dimension.
 * They are moved a little, so that 0 is one of the numbers between them. Gradients pass where a
 * number lies between the bounds; what lies beyond one flows to that bound, added in double in
 * parts that are cut by sizes alone. All of float32. They fail where shapes do not fit and, of
 * attributes, where min is not below max; and without memory. No state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "graph/support/support.h"
#include "run/crew.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct fake_args {
    double min, max;
    int64_t num_bits;
    bool narrow_range;
};

#define BITS_ROWS                                                                                  \
    {.name = "num_bits",                                                                           \
     .type = LEATI_ROW_INT,                                                                        \
     .offset = offsetof(struct fake_args, num_bits),                                               \
     .default_number = 8,                                                                          \
     .minimum = 2,                                                                                 \
     .maximum = 16,                                                                                \
     .doc = "How many bits a number would have."},                                                 \
        {.name = "narrow_range",                                                                   \
         .type = LEATI_ROW_BOOL,                                                                   \
         .offset = offsetof(struct fake_args, narrow_range),                                       \
         .doc = "Without the lowest of the numbers that the bits can tell apart."},                \
    {                                                                                              \
        0                                                                                          \
    }

static const leati_row args_rows[] = {{.name = "min",
                                       .type = LEATI_ROW_FLOAT,
                                       .offset = offsetof(struct fake_args, min),
                                       .default_number = -6,
                                       .doc = "The lower bound."},
                                      {.name = "max",
                                       .type = LEATI_ROW_FLOAT,
                                       .offset = offsetof(struct fake_args, max),
                                       .default_number = 6,
                                       .doc = "The upper bound."},
                                      BITS_ROWS};
static const leati_row vars_rows[] = {BITS_ROWS};

/* ---- inference ---- */
/* Bounds are inputs `at` and the one behind it. */
static leat_status want_bounds(const leati_infer_call *call, int at, int32_t rank, leat_shape *out,
                               leat_error *err) {
    const leat_shape *x = &call->inputs[0].shape;
    *out = (leat_shape){.rank = rank, .dims = {LEAT_UNKNOWN_DIM}};
    if (rank == 1 && x->rank == 0)
        return leati_refuse(err, SHAPE,
                            "inputs are a scalar; expected channels, one for each "
                            "pair of bounds");
    if (rank == 1 && x->rank > 0)
        out->dims[0] = x->dims[x->rank - 1];
    for (int i = at; i < at + 2; i++) {
        const leat_shape *bound = &call->inputs[i].shape;
        LEATI_TRY(leati_support_want_rank(call, i, rank, i == at ? "min" : "max", err));
        if (rank == 1 && bound->rank == 1) {
            LEATI_TRY(leati_support_want_equal_dims(bound->dims[0], out->dims[0],
                                                    "bounds, one for each channel", err));
            if (out->dims[0] == LEAT_UNKNOWN_DIM)
                out->dims[0] = bound->dims[0];
        }
    }
    return LEAT_OK;
}

static leat_status want_floats(const leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_FLOAT32, "inputs", err));
    return leati_support_want_same_dtypes(call, err);
}

static leat_status check_args(const struct fake_args *args, leat_error *err) {
    if (args->min < args->max)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "min has to be smaller than max, was: %g >= %g", args->min,
                        args->max);
}

static leat_status rounded_infer(leati_infer_call *call, int bounds, int32_t rank,
                                 leat_error *err) {
    leat_shape shape;
    LEATI_TRY(want_floats(call, err));
    LEATI_TRY(bounds == 0 ? check_args(call->args, err)
                          : want_bounds(call, bounds, rank, &shape, err));
    return leati_op_infer_output(call, LEAT_FLOAT32, &call->inputs[0].shape, NULL, err);
}

static leat_status split_infer(leati_infer_call *call, int bounds, int32_t rank, leat_error *err) {
    leat_shape shape = {.rank = 0};
    const leat_shape *gradients = &call->inputs[0].shape, *x = &call->inputs[1].shape;
    LEATI_TRY(want_floats(call, err));
    LEATI_TRY(leati_support_want_shape(gradients, x, "the gradients' shape", err));
    LEATI_TRY(bounds == 0 ? check_args(call->args, err)
                          : want_bounds(call, bounds, rank, &shape, err));
    LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, x->rank < 0 ? gradients : x, NULL, err));
    for (int i = 0; bounds > 0 && i < 2; i++)
        LEATI_TRY(leati_op_infer_output(call, LEAT_FLOAT32, &shape, NULL, err));
    return LEAT_OK;
}

/* ---- bounds ---- */
/* What numbers of a channel become; each array has a value for each of them. */
typedef struct limits {
    float *low, *high, *scale, *steps, *zero; /* steps: of a unit; zero: the step that 0 is */
    int64_t channels;
} limits;

static void find_limits(const struct fake_args *args, float low, float high, limits *out,
                        int64_t c) {
    /* No range: everything becomes 0, and gradients pass. */
    if (low == 0 && high == 0) {
        out->low[c] = -FLT_MAX;
        out->high[c] = FLT_MAX;
        out->scale[c] = out->steps[c] = out->zero[c] = 0;
        return;
    }
    float first = args->narrow_range ? 1 : 0, last = (float)((1 << args->num_bits) - 1);
    float scale = (high - low) / (last - first), zero = first - low / scale;
    /* 0 becomes one of the numbers. */
    float moved = zero < first ? first : zero > last ? last : roundf(zero);
    out->scale[c] = scale;
    out->steps[c] = 1.0f / scale;
    out->low[c] = (first - moved) * scale;
    out->high[c] = (last - moved) * scale;
    out->zero[c] = floorf(-out->low[c] * out->steps[c] + 0.5f);
}

/* The limits of a row of the call: of inputs `bounds` and the next, or 0: of the attributes. */
static void limits_of_row(const leati_kernel_call *call, int bounds, int64_t row, limits *out) {
    const struct fake_args *args = call->args;
    if (bounds == 0) {
        find_limits(args, (float)args->min, (float)args->max, out, 0);
        return;
    }
    const float *low =
        (const float *)(const void *)leati_support_row_of(&call->inputs[bounds], row);
    const float *high =
        (const float *)(const void *)leati_support_row_of(&call->inputs[bounds + 1], row);
    for (int64_t c = 0; c < out->channels; c++)
        find_limits(args, low[c], high[c], out, c);
}

/* Checks what inference may not have known and makes room for limits; `x` is the input that is
 * rounded. */
static leat_status begin(leati_kernel_call *call, int bounds, int32_t rank, const leati_operand *x,
                         limits *out, leat_error *err) {
    *out = (limits){.channels = 1};
    if (rank == 1 && x->rank == 0)
        return leati_refuse(err, SHAPE, "inputs are a scalar; expected channels");
    if (rank == 1)
        out->channels = x->dims[x->rank - 1];
    for (int i = bounds; bounds > 0 && i < bounds + 2; i++) {
        const leati_operand *bound = &call->inputs[i];
        if (bound->rank != rank || (rank == 1 && bound->dims[0] != out->channels))
            return leati_refuse(err, SHAPE, "%s has %lld values and rank %d; expected %s",
                                i == bounds ? "min" : "max", (long long)bound->count,
                                (int)bound->rank,
                                rank == 1 ? "one for each channel of the inputs" : "a scalar");
    }
    float *room = leati_arena_alloc(call->arena, 5 * (size_t)out->channels * sizeof *room);
    if (room == NULL)
        return leati_no_memory(err);
    float **arrays[5] = {&out->low, &out->high, &out->scale, &out->steps, &out->zero};
    for (int i = 0; i < 5; i++)
        *arrays[i] = room + i * out->channels;
    return LEAT_OK;
}

/* ---- pieces ---- */
/* Values of a row, or lines of channels; a piece is some of them. */
typedef struct work {
    const float *x, *gradients;
    float *out;
    double *sums; /* of each piece: what flows to low and to high, a value for each channel */
    const limits *limits;
    int64_t count, at_once; /* lines; of one channel a line is a value */
} work;

enum { VALUES = 1 << 15, MOST_PIECES = 64 };
#define NS_PER_VALUE 0.6

static int64_t cut(work *w) {
    w->at_once = LEATI_MAX(VALUES / LEATI_MAX(w->limits->channels, 1), 1);
    w->at_once = LEATI_MAX(w->at_once, (w->count + MOST_PIECES - 1) / MOST_PIECES);
    return (w->count + w->at_once - 1) / w->at_once;
}

typedef struct part {
    const float *x, *gradients;
    float *out;
    double *below, *above;
    const limits *limits;
    int64_t n;
} part;

/* The part of a work that a piece is. */
static part part_of(const work *w, int64_t piece) {
    int64_t channels = w->limits->channels, begin = piece * w->at_once;
    part p = {.x = w->x + begin * channels,
              .out = w->out + begin * channels,
              .limits = w->limits,
              .n = LEATI_MIN(w->count - begin, w->at_once)};
    if (w->gradients != NULL)
        p.gradients = w->gradients + begin * channels;
    if (w->sums != NULL) {
        p.below = w->sums + 2 * piece * channels;
        p.above = p.below + channels;
    }
    return p;
}

LEATI_ALWAYS_INLINE float rounded(float x, float low, float high, float scale, float steps,
                                  float zero) {
    float inside = x > high ? high : x; /* NaN stays */
    inside = inside < low ? low : inside;
    return floorf((inside - low) * steps - zero + 0.5f) * scale;
}

LEATI_ALWAYS_INLINE void round_loop(part *p) {
    const limits *l = p->limits;
    const float *x = p->x;
    float *out = p->out;
    const float low = l->low[0], high = l->high[0], scale = l->scale[0], steps = l->steps[0];
    const float zero = l->zero[0];
    LEATI_INDEPENDENT
    for (int64_t i = 0; i < p->n; i++)
        out[i] = rounded(x[i], low, high, scale, steps, zero);
}
LEATI_ISA(round_values, round_loop, part *)

LEATI_ALWAYS_INLINE void round_lines_loop(part *p) {
    const limits *l = p->limits;
    const float *low = l->low, *high = l->high, *scale = l->scale, *steps = l->steps;
    const float *zero = l->zero;
    for (int64_t line = 0; line < p->n; line++) {
        const float *x = p->x + line * l->channels;
        float *out = p->out + line * l->channels;
        LEATI_INDEPENDENT
        for (int64_t c = 0; c < l->channels; c++)
            out[c] = rounded(x[c], low[c], high[c], scale[c], steps[c], zero[c]);
    }
}
LEATI_ISA(round_lines, round_lines_loop, part *)

static void round_piece(void *data, int64_t piece) {
    const work *w = data;
    part p = part_of(w, piece);
    if (w->limits->channels == 1)
        round_values(&p);
    else
        round_lines(&p);
}

enum { LANES = 16 };

/* Sums go by lanes, so that all instruction sets add in one order. */
LEATI_ALWAYS_INLINE void split_loop(part *p) {
    const float *x = p->x, *g = p->gradients, low = p->limits->low[0], high = p->limits->high[0];
    double below[LANES] = {0}, above[LANES] = {0};
    float *out = p->out;
    int64_t i = 0;
    for (; i + LANES <= p->n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            float value = x[i + k], gradient = g[i + k];
            out[i + k] = value >= low && value <= high ? gradient : 0.0f;
            below[k] += (double)(value < low ? gradient : 0.0f);
            above[k] += (double)(value > high ? gradient : 0.0f);
        }
    for (; i < p->n; i++) {
        out[i] = x[i] >= low && x[i] <= high ? g[i] : 0.0f;
        below[0] += (double)(x[i] < low ? g[i] : 0.0f);
        above[0] += (double)(x[i] > high ? g[i] : 0.0f);
    }
    for (int k = 0; k < LANES; k++) {
        *p->below += below[k];
        *p->above += above[k];
    }
}
LEATI_ISA(split_values, split_loop, part *)

LEATI_ALWAYS_INLINE void split_lines_loop(part *p) {
    const limits *l = p->limits;
    const float *low = l->low, *high = l->high;
    double *below = p->below, *above = p->above;
    for (int64_t line = 0; line < p->n; line++) {
        const float *x = p->x + line * l->channels, *g = p->gradients + line * l->channels;
        float *out = p->out + line * l->channels;
        LEATI_INDEPENDENT
        for (int64_t c = 0; c < l->channels; c++) {
            out[c] = x[c] >= low[c] && x[c] <= high[c] ? g[c] : 0.0f;
            below[c] += (double)(x[c] < low[c] ? g[c] : 0.0f);
            above[c] += (double)(x[c] > high[c] ? g[c] : 0.0f);
        }
    }
}
LEATI_ISA(split_lines, split_lines_loop, part *)

static void split_piece(void *data, int64_t piece) {
    const work *w = data;
    part p = part_of(w, piece);
    if (w->limits->channels == 1)
        split_values(&p);
    else
        split_lines(&p);
}

/* ---- kernels ---- */
static leat_status rounded_kernel(leati_kernel_call *call, int bounds, int32_t rank,
                                  leat_error *err) {
    const leati_operand *x = &call->inputs[0];
    leat_shape shape = leati_support_operand_shape(x);
    limits all;
    LEATI_TRY(begin(call, bounds, rank, x, &all, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; x->count > 0 && row < call->n; row++) {
        limits_of_row(call, bounds, row, &all);
        work w = {.x = (const float *)(const void *)leati_support_row_of(x, row),
                  .out = (float *)(void *)leati_support_row_of(&call->outputs[0], row),
                  .limits = &all,
                  .count = x->count / all.channels};
        int64_t pieces = cut(&w);
        leati_crew_share((double)x->count * NS_PER_VALUE, pieces, round_piece, &w);
    }
    return LEAT_OK;
}

/* What the pieces found, added in their order. */
static void join_sums(const work *w, int64_t pieces, float *low, float *high) {
    int64_t channels = w->limits->channels;
    for (int64_t c = 0; c < channels; c++) {
        double below = 0, above = 0;
        for (int64_t piece = 0; piece < pieces; piece++) {
            below += w->sums[2 * piece * channels + c];
            above += w->sums[(2 * piece + 1) * channels + c];
        }
        low[c] = (float)below;
        high[c] = (float)above;
    }
}

static leat_status split_row(leati_kernel_call *call, int64_t row, work *w, bool told,
                             leat_error *err) {
    int64_t pieces = cut(w), channels = w->limits->channels;
    size_t size = 2 * (size_t)(pieces * channels) * sizeof *w->sums;
    float *to[3] = {0};
    for (int i = 0; i < (told ? 3 : 1); i++)
        to[i] = (float *)(void *)leati_support_row_of(&call->outputs[i], row);
    if (size > 0 && (w->sums = leati_arena_alloc(call->arena, size)) == NULL)
        return leati_no_memory(err);
    if (size > 0)
        memset(w->sums, 0, size);
    w->out = to[0];
    leati_crew_share((double)(w->count * channels) * NS_PER_VALUE, pieces, split_piece, w);
    if (told)
        join_sums(w, pieces, to[1], to[2]);
    return LEAT_OK;
}

static leat_status split_kernel(leati_kernel_call *call, int bounds, int32_t rank,
                                leat_error *err) {
    const leati_operand *gradients = &call->inputs[0], *x = &call->inputs[1];
    leat_shape shape = leati_support_operand_shape(x), vector = {.rank = rank};
    leat_shape found = leati_support_operand_shape(gradients);
    limits all;
    LEATI_TRY(leati_support_want_shape(&found, &shape, "the gradients' shape", err));
    LEATI_TRY(begin(call, bounds, rank, x, &all, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    vector.dims[0] = all.channels;
    for (int i = 1; bounds > 0 && i < 3; i++)
        LEATI_TRY(leati_support_output_like(call, i, &vector, err));
    for (int64_t row = 0; all.channels > 0 && row < call->n; row++) {
        limits_of_row(call, bounds, row, &all);
        work w = {.x = (const float *)(const void *)leati_support_row_of(x, row),
                  .gradients = (const float *)(const void *)leati_support_row_of(gradients, row),
                  .limits = &all,
                  .count = x->count / all.channels};
        LEATI_TRY(split_row(call, row, &w, bounds > 0, err));
    }
    return LEAT_OK;
}

/* ---- gradients ---- */
static leat_status flows_back(leati_gradient_call *call, const leati_tensor_op *op) {
    leat_value inputs[4] = {call->output_gradients[0]};
    for (int i = 0; i < call->num_inputs; i++)
        inputs[i + 1] = call->inputs[i];
    leat_value first = leati_graph_node(call->graph, op, call->args, inputs, call->num_inputs + 1);
    /* The graph keeps the error of a node that could not be added, and refuses to be finished. */
    for (int i = 0; i < call->num_inputs && !leati_support_value_failed(first); i++)
        call->input_gradients[i] = (leat_value){.graph = call->graph, .id = first.id + i};
    return LEAT_OK;
}

/* ---- descriptors ---- */
/* An operation and its gradient: inputs with bounds from BOUNDS on, 0: attributes. */
#define FAKE_QUANT(OP, BOUNDS, RANK, ROWS, INPUTS, WORDS, TYPES, OUTPUTS, DOC)                     \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return rounded_infer(call, BOUNDS, RANK, err);                                             \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return rounded_kernel(call, BOUNDS, RANK, err);                                            \
    }                                                                                              \
    static leat_status OP##_gradient_infer(leati_infer_call *call, leat_error *err) {              \
        return split_infer(call, (BOUNDS) ? (BOUNDS) + 1 : 0, RANK, err);                          \
    }                                                                                              \
    static leat_status OP##_gradient_kernel(leati_kernel_call *call, leat_error *err) {            \
        return split_kernel(call, (BOUNDS) ? (BOUNDS) + 1 : 0, RANK, err);                         \
    }                                                                                              \
    static leat_status OP##_flow(leati_gradient_call *call, leat_error *err) {                     \
        (void)err;                                                                                 \
        return flows_back(call, &leati_tensor_op_##OP##_gradient);                                 \
    }                                                                                              \
    FAKE_QUANT_OP(OP, INPUTS, ROWS, .inputs = "inputs" WORDS, .types = "float32" TYPES,            \
                  .outputs = "outputs", .gradient = OP##_flow,                                     \
                  .doc = DOC " (tf.quantization." #OP ").")                                        \
    FAKE_QUANT_OP(OP##_gradient, (INPUTS) + 1, ROWS, .inputs = "gradients inputs" WORDS,           \
                  .types = "float32 float32" TYPES, .outputs = OUTPUTS,                            \
                  .doc = "The gradient of " #OP " (tf.quantization." #OP "_gradient).")
#define FAKE_QUANT_OP(OP, INPUTS, ROWS, ...)                                                       \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .names = "quantization." #OP,                                                              \
        .halves = LEATI_HALVES_NONE,                                                               \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = ROWS,                                                                              \
        .args_size = sizeof(struct fake_args),                                                     \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define BOUND_GRADIENTS "(backprops_wrt_input backprop_wrt_min backprop_wrt_max)"
FAKE_QUANT(fake_quant_with_min_max_args, 0, 0, args_rows, 1, "", "", "backprops",
           "Numbers as a few bits hold them")
FAKE_QUANT(fake_quant_with_min_max_vars, 1, 0, vars_rows, 3, " min max", " float32 float32",
           "FakeQuantWithMinMaxVarsGradient" BOUND_GRADIENTS,
           "The same, of bounds that are scalars and have gradients")
FAKE_QUANT(fake_quant_with_min_max_vars_per_channel, 1, 1, vars_rows, 3, " min max",
           " float32 float32", "FakeQuantWithMinMaxVarsPerChannelGradient" BOUND_GRADIENTS,
           "The same, of bounds for each place of the last dimension")
