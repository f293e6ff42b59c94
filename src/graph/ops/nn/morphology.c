/* dilation2d, dilation2d_backprop_input, dilation2d_backprop_filter: the largest sum of a picture's
 * and a filter's values in each window, and its gradients (tf.nn.dilation2d).
 *
 * Pictures are [N, H, W, C], filters [h, w, C]; places outside of the picture do not count. A
 * gradient goes to the first of the largest sums. Rows of a result are pieces that the crew shares;
 * the filter's gradient is added picture by picture, in double. They fail where shapes do not fit,
 * and without memory. No second gradient, no state, no locks. */
#include "base/isa.h"
#include "graph/support/picture/window.h"
#include "run/crew.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const leati_row dilation2d_rows[] = {
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_conv_args, strides),
     .doc = "Steps of the window along height and width; empty: 1."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_conv_args, padding),
     .default_text = "VALID",
     .doc = "VALID or SAME."},
    {.name = "rates",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_conv_args, dilations),
     .doc = "Distances of the window's places along height and width; empty: 1."},
    {0},
};

/* ---- geometry ---- */
/* A convolution of one filter has these windows. */
static leat_status plan_init(leati_conv_plan *plan, const struct leati_conv_args *args,
                             const leat_shape *x, const leat_shape *filter, leat_shape *out,
                             leat_error *err) {
    leat_shape whole = LEAT_SHAPE(filter->dims[0], filter->dims[1], filter->dims[2], 1);
    if (filter->rank != 3)
        return leati_refuse(err, SHAPE, "filters have rank %d; expected 3: height, width, channels",
                            (int)filter->rank);
    if (x->rank == 4)
        LEATI_TRY(leati_support_want_equal_dims(x->dims[3], filter->dims[2],
                                                "channels of input and filters", err));
    LEATI_TRY(leati_window_conv_plan_init(plan, args, x, &whole, out, err));
    out->dims[3] = plan->channels;
    return LEAT_OK;
}

/* The plan of what is known of inputs 0 and 1. */
static leat_status infer_plan(leati_infer_call *call, leat_shape *x, leat_shape *filter,
                              leat_shape *out, leat_error *err) {
    leati_conv_plan plan;
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", x, err));
    LEATI_TRY(leati_support_want_rank(call, 1, 3, "filters", err));
    *filter = call->inputs[1].shape;
    if (filter->rank < 0)
        *filter = LEAT_SHAPE(LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM, LEAT_UNKNOWN_DIM);
    return plan_init(&plan, call->args, x, filter, out, err);
}

/* A row of results of one picture. */
typedef struct line {
    const leati_conv_plan *plan;
    const char *picture, *filter;
    char *out;
    int64_t y;
} line;

typedef void line_function(line *l);

/* Where a window's place lies in the picture. */
static inline int64_t place_of(const leati_window_axis *axis, int64_t i, int64_t k) {
    return i * axis->stride - axis->before + k * axis->dilation;
}

#define DILATE(NAME, TYPE, UTYPE, LOWEST, VERSIONS)                                                \
    LEATI_ALWAYS_INLINE void NAME##_loop(line *l) {                                                \
        const leati_conv_plan *plan = l->plan;                                                     \
        const int64_t n = plan->channels;                                                          \
        int64_t ky0, ky1, kx0, kx1;                                                                \
        leati_window_range(&plan->y, l->y, &ky0, &ky1);                                            \
        for (int64_t x = 0; x < plan->x.out; x++) {                                                \
            TYPE *out = (TYPE *)(void *)l->out + x * n;                                            \
            for (int64_t c = 0; c < n; c++)                                                        \
                out[c] = LOWEST;                                                                   \
            leati_window_range(&plan->x, x, &kx0, &kx1);                                           \
            for (int64_t ky = ky0; ky < ky1; ky++)                                                 \
                for (int64_t kx = kx0; kx < kx1; kx++) {                                           \
                    int64_t at =                                                                   \
                        place_of(&plan->y, l->y, ky) * plan->x.in + place_of(&plan->x, x, kx);     \
                    const TYPE *in = (const TYPE *)(const void *)l->picture + at * n;              \
                    const TYPE *w =                                                                \
                        (const TYPE *)(const void *)l->filter + (ky * plan->x.kernel + kx) * n;    \
                    LEATI_INDEPENDENT                                                              \
                    for (int64_t c = 0; c < n; c++) {                                              \
                        TYPE sum = (TYPE)((UTYPE)in[c] + (UTYPE)w[c]);                             \
                        out[c] = sum > out[c] ? sum : out[c];                                      \
                    }                                                                              \
                }                                                                                  \
        }                                                                                          \
    }                                                                                              \
    VERSIONS(NAME, NAME##_loop, line *)
DILATE(dilate_float32, float, float, -FLT_MAX, LEATI_ISA)
DILATE(dilate_float64, double, double, -DBL_MAX, LEATI_ISA)
DILATE(dilate_int8, int8_t, uint32_t, INT8_MIN, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_int16, int16_t, uint32_t, INT16_MIN, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_int32, int32_t, uint32_t, INT32_MIN, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_int64, int64_t, uint64_t, INT64_MIN, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_uint8, uint8_t, uint32_t, 0, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_uint16, uint16_t, uint32_t, 0, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_uint32, uint32_t, uint32_t, 0, LEATI_ISA_PLAIN_ONLY)
DILATE(dilate_uint64, uint64_t, uint64_t, 0, LEATI_ISA_PLAIN_ONLY)

static line_function *const dilates[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = dilate_float32, [LEAT_FLOAT64] = dilate_float64, [LEAT_INT8] = dilate_int8,
    [LEAT_INT16] = dilate_int16,     [LEAT_INT32] = dilate_int32,     [LEAT_INT64] = dilate_int64,
    [LEAT_UINT8] = dilate_uint8,     [LEAT_UINT16] = dilate_uint16,   [LEAT_UINT32] = dilate_uint32,
    [LEAT_UINT64] = dilate_uint64};

/* ---- forward ---- */
static leat_status dilation2d_infer(leati_infer_call *call, leat_error *err) {
    leat_shape x, filter, out;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dilates[dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected real numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(infer_plan(call, &x, &filter, &out, err));
    return leati_op_infer_output(call, dtype, &out, NULL, err);
}

/* Of one row of the call. */
typedef struct work {
    const leati_conv_plan *plan;
    leat_dtype dtype;
    const char *x, *filter;
    const void *gradient;
    char *out;
    double *sums;
} work;

#define NS_PER_SUM 0.5

static double ns_of(const leati_conv_plan *plan) {
    return (double)(plan->batch * plan->y.out * plan->x.out) *
           (double)(plan->y.kernel * plan->x.kernel * plan->channels) * NS_PER_SUM;
}

static void dilate_piece(void *data, int64_t piece) {
    const work *w = data;
    const leati_conv_plan *plan = w->plan;
    int64_t size = (int64_t)leat_dtype_size(w->dtype) * plan->channels;
    int64_t picture = piece / plan->y.out;
    line l = {.plan = plan,
              .picture = w->x + picture * plan->y.in * plan->x.in * size,
              .filter = w->filter,
              .out = w->out + piece * plan->x.out * size,
              .y = piece % plan->y.out};
    dilates[w->dtype](&l);
}

static leat_status dilation2d_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = call->inputs;
    leat_shape x = leati_support_operand_shape(&in[0]),
               filter = leati_support_operand_shape(&in[1]);
    leat_shape shape;
    leati_conv_plan plan;
    LEATI_TRY(plan_init(&plan, call->args, &x, &filter, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        work w = {.plan = &plan,
                  .dtype = in[0].dtype,
                  .x = leati_support_row_of(&in[0], row),
                  .filter = leati_support_row_of(&in[1], row),
                  .out = leati_support_row_of(&call->outputs[0], row)};
        leati_crew_share(ns_of(&plan), plan.batch * plan.y.out, dilate_piece, &w);
    }
    return LEAT_OK;
}

/* ---- backward ---- */
/* The place of the window whose sum is the first of the largest, of output (y, x) and a channel. */
#define BEST(TYPE, LOWEST)                                                                         \
    static void best_##TYPE(const leati_conv_plan *plan, const TYPE *picture, const TYPE *filter,  \
                            int64_t y, int64_t x, int64_t c, int64_t *best_y, int64_t *best_x) {   \
        int64_t ky0, ky1, kx0, kx1, n = plan->channels;                                            \
        TYPE most = LOWEST;                                                                        \
        leati_window_range(&plan->y, y, &ky0, &ky1);                                               \
        leati_window_range(&plan->x, x, &kx0, &kx1);                                               \
        *best_y = ky0;                                                                             \
        *best_x = kx0;                                                                             \
        for (int64_t ky = ky0; ky < ky1; ky++)                                                     \
            for (int64_t kx = kx0; kx < kx1; kx++) {                                               \
                int64_t at = place_of(&plan->y, y, ky) * plan->x.in + place_of(&plan->x, x, kx);   \
                TYPE sum = picture[at * n + c] + filter[(ky * plan->x.kernel + kx) * n + c];       \
                if (sum > most) {                                                                  \
                    most = sum;                                                                    \
                    *best_y = ky;                                                                  \
                    *best_x = kx;                                                                  \
                }                                                                                  \
            }                                                                                      \
    }                                                                                              \
    /* Adds a picture's gradients to the picture's places, or, as doubles, to the filter's. */     \
    static void flow_##TYPE(const work *w, int64_t picture) {                                      \
        const leati_conv_plan *plan = w->plan;                                                     \
        int64_t n = plan->channels, pixels = plan->y.out * plan->x.out, best_y, best_x;            \
        int64_t from = picture * plan->y.in * plan->x.in * n;                                      \
        const TYPE *in = (const TYPE *)(const void *)w->x + from;                                  \
        const TYPE *g = (const TYPE *)w->gradient + picture * pixels * n;                          \
        int64_t of_filter = picture * plan->y.kernel * plan->x.kernel * n;                         \
        for (int64_t at = 0; at < pixels * n; at++) {                                              \
            int64_t c = at % n, y = at / n / plan->x.out, x = at / n % plan->x.out;                \
            best_##TYPE(plan, in, (const TYPE *)(const void *)w->filter, y, x, c, &best_y,         \
                        &best_x);                                                                  \
            if (w->sums != NULL)                                                                   \
                w->sums[of_filter + (best_y * plan->x.kernel + best_x) * n + c] += (double)g[at];  \
            else                                                                                   \
                ((TYPE *)(void *)w->out)[from +                                                    \
                                         (place_of(&plan->y, y, best_y) * plan->x.in +             \
                                          place_of(&plan->x, x, best_x)) *                         \
                                             n +                                                   \
                                         c] += g[at];                                              \
        }                                                                                          \
    }
BEST(float, -FLT_MAX)
BEST(double, -DBL_MAX)

static void flow_piece(void *data, int64_t piece) {
    const work *w = data;
    if (w->dtype == LEAT_FLOAT32)
        flow_float(w, piece);
    else
        flow_double(w, piece);
}

static leat_status infer_flow(leati_infer_call *call, bool to_filter, leat_error *err) {
    leat_shape x, filter, out, gradient;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(infer_plan(call, &x, &filter, &out, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &out, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, to_filter ? &filter : &x, NULL, err);
}

/* What the pictures' sums come to. */
static void join_sums(const work *w, const leati_operand *out, char *to) {
    int64_t pictures = w->plan->batch;
    for (int64_t i = 0; i < out->count; i++) {
        double sum = 0;
        for (int64_t picture = 0; picture < pictures; picture++)
            sum += w->sums[picture * out->count + i];
        if (w->dtype == LEAT_FLOAT32)
            ((float *)(void *)to)[i] = (float)sum;
        else
            ((double *)(void *)to)[i] = sum;
    }
}

static leat_status flow_kernel(leati_kernel_call *call, bool to_filter, leat_error *err) {
    const leati_operand *in = call->inputs;
    leat_shape x = leati_support_operand_shape(&in[0]),
               filter = leati_support_operand_shape(&in[1]);
    leat_shape shape, gradient = leati_support_operand_shape(&in[2]);
    leati_conv_plan plan;
    LEATI_TRY(plan_init(&plan, call->args, &x, &filter, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, to_filter ? &filter : &x, err));
    const leati_operand *out = &call->outputs[0];
    size_t size = (size_t)(plan.batch * out->count) * sizeof(double);
    double *sums = NULL;
    if (to_filter && size > 0 && (sums = leati_arena_alloc(call->arena, size)) == NULL)
        return leati_no_memory(err);
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        work w = {.plan = &plan,
                  .dtype = in[0].dtype,
                  .x = leati_support_row_of(&in[0], row),
                  .filter = leati_support_row_of(&in[1], row),
                  .gradient = leati_support_row_of(&in[2], row),
                  .out = leati_support_row_of(out, row),
                  .sums = sums};
        if (sums != NULL)
            memset(sums, 0, size);
        memset(w.out, 0, (size_t)out->count * leat_dtype_size(out->dtype));
        if (in[2].count > 0)
            leati_crew_share(4 * ns_of(&plan), plan.batch, flow_piece, &w);
        if (sums != NULL)
            join_sums(&w, out, w.out);
    }
    return LEAT_OK;
}

static leat_status dilation2d_gradient(leati_gradient_call *call, leat_error *err) {
    const leati_tensor_op *ops[2] = {&leati_tensor_op_dilation2d_backprop_input,
                                     &leati_tensor_op_dilation2d_backprop_filter};
    (void)err;
    for (int i = 0; i < 2; i++)
        call->input_gradients[i] = leati_graph_build3(ops[i], call->args, call->inputs[0],
                                                      call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

/* ---- descriptors ---- */
#define MORPHOLOGY(OP, INPUTS, ...)                                                                \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .halves = LEATI_HALVES_FLOAT,                                                              \
        .rows = dilation2d_rows,                                                                   \
        .args_size = sizeof(struct leati_conv_args),                                               \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };
#define BACKPROP(OP, TO_FILTER, WHAT)                                                              \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        return infer_flow(call, TO_FILTER, err);                                                   \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return flow_kernel(call, TO_FILTER, err);                                                  \
    }                                                                                              \
    MORPHOLOGY(OP, 3, .types = "T T T", .outputs = "backprop",                                     \
               .doc = "The gradient of dilation2d for the " WHAT ".")
MORPHOLOGY(dilation2d, 2, .types = "T T", .outputs = "output", .gradient = dilation2d_gradient,
           .doc = "The largest sum of a picture's and a filter's values in each window "
                  "(tf.raw_ops.Dilation2D).")
BACKPROP(dilation2d_backprop_input, false, "picture")
BACKPROP(dilation2d_backprop_filter, true, "filter")
