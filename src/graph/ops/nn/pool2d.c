/* max_pool2d, avg_pool2d: the maximum, or the mean, of each window of pictures [N, H, W, C]
 * (tf.nn.max_pool2d and avg_pool2d). max_pool2d_grad, avg_pool2d_grad: their gradients
 * (tf.raw_ops.MaxPoolGrad and AvgPoolGrad); inputs are the pooling's input, of max_pool2d its
 * output, the gradient. max_pool2d_grad_grad: the values of a tensor, of the input's shape, where
 * max_pool2d found its maxima (tf.raw_ops.MaxPoolGradGrad), which is what flows back through
 * max_pool2d_grad.
 *
 * Padding counts as minus infinity, and not at all in means. The whole gradient of a window goes to
 * its first largest value in row-major order; in means its pixels share it. Windows that lie side
 * by side take one pixel each at a time, and rows of results are shared by the crew, or whole
 * pictures where gradients of several rows meet. Fails where windows or shapes do not fit. No
 * state, no locks. */
#include "base/isa.h"
#include "base/minmax.h"
#include "core/half.h"
#include "graph/support/array/moving.h"
#include "graph/support/picture/window.h"

static const leati_row pool_rows[] = {
    {.name = "ksize",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_pool_args, ksize),
     .doc = "Height and width of the window."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct leati_pool_args, strides),
     .doc = "Steps of the window along height and width; empty: its size."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct leati_pool_args, padding),
     .default_text = "VALID",
     .doc = "VALID or SAME."},
    {0},
};

static leat_status pool2d_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, shape;
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* ---- windows side by side ---- */
enum { SHORT = 8 /* channels of a pixel that is too short to be a loop of its own */ };

/* One pixel of each of some windows: joined with what was before. */
typedef struct taps {
    const char *in;
    char *out;
    int64_t windows, in_step, out_step; /* steps in values */
    int64_t channels;
    int64_t pixels; /* of a whole window */
    bool first;     /* nothing was before */
} taps;

typedef void taps_function(const taps *t);

/* Of values v of `in` and a of `out`. */
#define TAPS(NAME, TYPE, FIRST, NEXT, VERSIONS)                                                    \
    LEATI_ALWAYS_INLINE void NAME##_dense(const taps *t, const TYPE *in, TYPE *out, int64_t n) {   \
        if (t->first) {                                                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                TYPE v = in[i];                                                                    \
                out[i] = (TYPE)(FIRST);                                                            \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE v = in[i], a = out[i];                                                            \
            (void)a;                                                                               \
            out[i] = (TYPE)(NEXT);                                                                 \
        }                                                                                          \
    }                                                                                              \
    LEATI_ALWAYS_INLINE void NAME##_loop(const taps *t) {                                          \
        const TYPE *in = (const TYPE *)(const void *)t->in;                                        \
        TYPE *out = (TYPE *)(void *)t->out;                                                        \
        const int64_t windows = t->windows, n = t->channels;                                       \
        const int64_t in_step = t->in_step, out_step = t->out_step;                                \
        const bool first = t->first;                                                               \
        if (in_step == n && out_step == n)                                                         \
            NAME##_dense(t, in, out, windows *n);                                                  \
        else if (n >= SHORT)                                                                       \
            for (int64_t w = 0; w < windows; w++)                                                  \
                NAME##_dense(t, in + w * in_step, out + w * out_step, n);                          \
        else                                                                                       \
            for (int64_t w = 0; w < windows; w++)                                                  \
                for (int64_t c = 0; c < n; c++) {                                                  \
                    TYPE v = in[w * in_step + c], a = first ? 0 : out[w * out_step + c];           \
                    (void)a;                                                                       \
                    out[w * out_step + c] = first ? (TYPE)(FIRST) : (TYPE)(NEXT);                  \
                }                                                                                  \
    }                                                                                              \
    VERSIONS(NAME, NAME##_loop, const taps *)
/* The first pixel is copied: no start value is needed, such as minus infinity. */
#define MAXIMUM(TYPE, VERSIONS) TAPS(most_##TYPE, TYPE, v, LEATI_MAX(v, a), VERSIONS)
MAXIMUM(float, LEATI_ISA)
MAXIMUM(double, LEATI_ISA)
MAXIMUM(int8_t, LEATI_ISA_PLAIN_ONLY)
MAXIMUM(int16_t, LEATI_ISA_PLAIN_ONLY)
MAXIMUM(int32_t, LEATI_ISA_PLAIN_ONLY)
MAXIMUM(int64_t, LEATI_ISA_PLAIN_ONLY)
MAXIMUM(uint8_t, LEATI_ISA_PLAIN_ONLY)
MAXIMUM(uint16_t, LEATI_ISA_PLAIN_ONLY)
/* Sums, what becomes of them behind the last pixel, and the way back. */
TAPS(sum_float, float, 0 + v, a + v, LEATI_ISA)
TAPS(sum_double, double, 0 + v, a + v, LEATI_ISA)
TAPS(mean_float, float, v, v / (float)t->pixels, LEATI_ISA)
TAPS(mean_double, double, v, v / (double)t->pixels, LEATI_ISA)
TAPS(share_float, float, 0 + v / (float)t->pixels, a + v / (float)t->pixels, LEATI_ISA)
TAPS(share_double, double, 0 + v / (double)t->pixels, a + v / (double)t->pixels, LEATI_ISA)

/* Halves are rounded after each step, as TensorFlow does, which counts pixels in them, too: from
 * MOST on one more is none. */
#define HALVES(NAME, MOST, WIDE, NARROW)                                                           \
    TAPS(sum_##NAME, uint16_t, NARROW(0 + WIDE(v)), NARROW(WIDE(a) + WIDE(v)),                     \
         LEATI_ISA_PLAIN_ONLY)                                                                     \
    TAPS(mean_##NAME, uint16_t, v, NARROW(WIDE(v) / (float)LEATI_MIN(t->pixels, MOST)),            \
         LEATI_ISA_PLAIN_ONLY)                                                                     \
    TAPS(share_##NAME, uint16_t, NARROW(0 + WIDE(NARROW(PART(WIDE, NARROW)))),                     \
         NARROW(WIDE(a) + WIDE(NARROW(PART(WIDE, NARROW)))), LEATI_ISA_PLAIN_ONLY)
#define PART(WIDE, NARROW) (WIDE(v) * WIDE(NARROW(1.0f / (float)t->pixels)))
HALVES(float16, 2048, leati_float_of_half, leati_half_of_float)
HALVES(bfloat16, 256, leati_float_of_bfloat16, leati_bfloat16_of_float)

/* TensorFlow has no maxima of other integers. */
static taps_function *const maxima[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = most_float, [LEAT_FLOAT64] = most_double,  [LEAT_INT8] = most_int8_t,
    [LEAT_INT16] = most_int16_t, [LEAT_INT32] = most_int32_t,   [LEAT_INT64] = most_int64_t,
    [LEAT_UINT8] = most_uint8_t, [LEAT_UINT16] = most_uint16_t,
};
static taps_function *const sums[LEAT_NUM_DTYPES] = {[LEAT_FLOAT16] = sum_float16,
                                                     [LEAT_BFLOAT16] = sum_bfloat16,
                                                     [LEAT_FLOAT32] = sum_float,
                                                     [LEAT_FLOAT64] = sum_double};
static taps_function *const means[LEAT_NUM_DTYPES] = {[LEAT_FLOAT16] = mean_float16,
                                                      [LEAT_BFLOAT16] = mean_bfloat16,
                                                      [LEAT_FLOAT32] = mean_float,
                                                      [LEAT_FLOAT64] = mean_double};
static taps_function *const shares[LEAT_NUM_DTYPES] = {[LEAT_FLOAT16] = share_float16,
                                                       [LEAT_BFLOAT16] = share_bfloat16,
                                                       [LEAT_FLOAT32] = share_float,
                                                       [LEAT_FLOAT64] = share_double};

/* A row of the call. A step is some windows of a row of results, or of all rows of a picture. */
typedef struct pooling {
    const leati_conv_plan *plan;
    taps_function *join, *end; /* end: behind the last pixel; NULL: nothing */
    bool back;                 /* from the results' places to the pictures' */
    bool alone;                /* with back: each pixel is of one window, and not written before */
    const char *from;
    char *to;
    int64_t pixel;        /* bytes */
    int64_t each, blocks; /* windows of a step, steps of a row of results */
    int64_t rows;         /* of results in a step */
} pooling;

/* The windows of which no column lies outside: [*first, *last). */
static void whole_windows(const leati_window_axis *axis, int64_t *first, int64_t *last) {
    int64_t room = axis->in + axis->before - axis->kernel;
    *last = room < 0 ? 0 : LEATI_MIN(room / axis->stride + 1, axis->out);
    *first = LEATI_MIN((axis->before + axis->stride - 1) / axis->stride, *last);
}

/* Windows from (y, x) on that have the same columns; `picture` comes before them all. */
static void pool_windows(const pooling *p, int64_t picture, int64_t y, int64_t x, int64_t windows,
                         int64_t *done) {
    const leati_window_axis *down = &p->plan->y, *right = &p->plan->x;
    int64_t n = p->plan->channels, ky0, ky1, kx0, kx1;
    leati_window_range(down, y, &ky0, &ky1);
    leati_window_range(right, x, &kx0, &kx1);
    int64_t result = ((picture * down->out + y) * right->out + x) * p->pixel, step = right->stride;
    taps t = {.windows = windows,
              .in_step = (p->back ? 1 : step) * n,
              .out_step = (p->back ? step : 1) * n,
              .channels = n,
              .pixels = (ky1 - ky0) * (kx1 - kx0),
              .first = !p->back || p->alone};
    for (int64_t ky = ky0; ky < ky1; ky++)
        for (int64_t k = kx0; k < kx1; k++) {
            if (leati_stop_look_after(windows * n, done))
                return;
            /* From the last column to the first a pixel is met by windows from left to right. */
            int64_t kx = p->back ? kx0 + kx1 - 1 - k : k;
            int64_t iy = y * down->stride - down->before + ky;
            int64_t ix = x * step - right->before + kx;
            int64_t place = ((picture * down->in + iy) * right->in + ix) * p->pixel;
            t.in = p->from + (p->back ? result : place);
            t.out = p->to + (p->back ? place : result);
            p->join(&t);
            t.first = p->alone;
        }
    t.in = t.out;
    t.in_step = t.out_step;
    if (p->end != NULL)
        p->end(&t);
}

static void pool_steps(void *data, int64_t begin, int64_t end) {
    const pooling *p = data;
    int64_t first, last, done = 0, rows = p->plan->y.out;
    whole_windows(&p->plan->x, &first, &last);
    for (int64_t step = begin; step < end; step++) {
        int64_t row = step / p->blocks * p->rows, x0 = step % p->blocks * p->each;
        int64_t x1 = LEATI_MIN(x0 + p->each, p->plan->x.out);
        for (int64_t i = row; i < row + p->rows; i++)
            for (int64_t x = x0, n = 0; x < x1; x += n) {
                n = x >= first && x < last ? LEATI_MIN(last, x1) - x : 1;
                pool_windows(p, i / rows, i % rows, x, n, &done);
            }
    }
}

enum { STEP = 1 << 15 }; /* values of a step, where a row of results has so many */

/* All windows of one row of the call. */
static void pool_all(pooling *p, leat_dtype dtype) {
    const leati_conv_plan *plan = p->plan;
    int64_t size = (int64_t)leat_dtype_size(dtype), window = plan->y.kernel * plan->x.kernel;
    p->pixel = plan->channels * size;
    p->each = LEATI_MAX(STEP / LEATI_MAX(window * plan->channels, 1), 1);
    /* Windows that share pixels of a gradient come one after the other. */
    p->rows = p->back && plan->y.stride < plan->y.kernel ? plan->y.out : 1;
    bool whole = p->rows > 1 || (p->back && plan->x.stride < plan->x.kernel);
    if (whole || p->each > plan->x.out)
        p->each = plan->x.out;
    p->blocks = (plan->x.out + p->each - 1) / p->each;
    leati_moving_share(plan->batch * plan->y.out / p->rows * p->blocks,
                       p->rows * p->each * (window + 1) * p->pixel, pool_steps, p);
}

static leat_status max_pool2d_infer(leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (maxima[dtype] == NULL)
        return leati_refuse(err, DTYPE,
                            "the input is %s; expected floats, or integers that are none of "
                            "uint32 and uint64",
                            leat_dtype_name(dtype));
    return pool2d_infer(call, err);
}

static leat_status want_mean(const leati_infer_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    if (sums[dtype] != NULL)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "the input is %s; expected a float", leat_dtype_name(dtype));
}

static leat_status avg_pool2d_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(want_mean(call, err));
    return pool2d_infer(call, err);
}

/* Both pools: `end` is NULL, or what follows the joining. */
static leat_status pool_kernel(leati_kernel_call *call, taps_function *join, taps_function *end,
                               leat_error *err) {
    const leati_operand *input = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(input), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    /* Without values there is no memory, and no pixel to step by. */
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        pooling p = {.plan = &plan,
                     .join = join,
                     .end = end,
                     .from = leati_support_row_of(input, row),
                     .to = leati_support_row_of(&call->outputs[0], row)};
        pool_all(&p, input->dtype);
    }
    return LEAT_OK;
}

static leat_status max_pool2d_kernel(leati_kernel_call *call, leat_error *err) {
    return pool_kernel(call, maxima[call->inputs[0].dtype], NULL, err);
}

static leat_status max_pool2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad, call->args, call->inputs[0],
                           call->outputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

/* The mean is over the pixels that exist: those of the padding count neither above nor below. */
static leat_status avg_pool2d_kernel(leati_kernel_call *call, leat_error *err) {
    leat_dtype dtype = call->inputs[0].dtype;
    return pool_kernel(call, sums[dtype], means[dtype], err);
}

static leat_status avg_pool2d_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leati_graph_build2(&leati_tensor_op_avg_pool2d_grad, call->args,
                                                  call->inputs[0], call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status max_pool2d_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, gradient, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    /* TensorFlow's operation has the pooling's output; the kernel looks into the input alone. */
    LEATI_TRY(leati_window_want_result_shape(&output, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &input, NULL, err);
}

/* The window of one output pixel: values [y0, y1) x [x0, x1) of the picture. */
typedef struct span {
    int64_t y0, y1, x0, x1;
} span;

/* Sends a window's gradient to its largest value, or fetches what is there. */
#define ROUTE_TYPE(TYPE)                                                                           \
    static void route_##TYPE(const leati_conv_plan *plan, const span *s, const TYPE *picture,      \
                             const TYPE *from, TYPE *to, bool fetch) {                             \
        for (int64_t c = 0; c < plan->channels; c++) {                                             \
            int64_t best = (s->y0 * plan->x.in + s->x0) * plan->channels + c;                      \
            for (int64_t y = s->y0; y < s->y1; y++)                                                \
                for (int64_t x = s->x0; x < s->x1; x++) {                                          \
                    int64_t at = (y * plan->x.in + x) * plan->channels + c;                        \
                    best = picture[at] > picture[best] ? at : best;                                \
                }                                                                                  \
            if (fetch)                                                                             \
                to[c] = from[best];                                                                \
            else                                                                                   \
                to[best] += from[c];                                                               \
        }                                                                                          \
    }
/* `>` lets the first of equal values win, and a window's first pixel if it is NaN. */
ROUTE_TYPE(float)
ROUTE_TYPE(double)

static span span_of(const leati_conv_plan *plan, int64_t y, int64_t x) {
    span s;
    int64_t ky0, ky1, kx0, kx1;
    leati_window_range(&plan->y, y, &ky0, &ky1);
    leati_window_range(&plan->x, x, &kx0, &kx1);
    s.y0 = y * plan->y.stride - plan->y.before + ky0;
    s.y1 = s.y0 + ky1 - ky0;
    s.x0 = x * plan->x.stride - plan->x.before + kx0;
    s.x1 = s.x0 + kx1 - kx0;
    return s;
}

/* Gradients of one row of the call; a step is a row of results, or all of a picture. */
typedef struct routing {
    const leati_conv_plan *plan;
    leat_dtype dtype;
    const char *in, *given;
    char *out;
    int64_t rows;
    bool fetch;
} routing;

static void route_steps(void *data, int64_t begin, int64_t end) {
    const routing *r = data;
    const leati_conv_plan *plan = r->plan;
    int64_t line = plan->x.out, windows = plan->y.out * line, done = 0;
    size_t pixel = (size_t)plan->channels * leat_dtype_size(r->dtype);
    size_t picture = (size_t)(plan->y.in * plan->x.in) * pixel;
    for (int64_t i = begin * r->rows * line; i < end * r->rows * line; i++) {
        if (leati_window_stops(plan, &done))
            return;
        span s = span_of(plan, i % windows / line, i % line);
        size_t whole = (size_t)(i / windows) * picture, part = (size_t)i * pixel;
        const char *taken = r->given + (r->fetch ? whole : part), *in = r->in + whole;
        char *to = r->out + (r->fetch ? part : whole);
        if (r->dtype == LEAT_FLOAT32)
            route_float(plan, &s, (const float *)(const void *)in,
                        (const float *)(const void *)taken, (float *)(void *)to, r->fetch);
        else
            route_double(plan, &s, (const double *)(const void *)in,
                         (const double *)(const void *)taken, (double *)(void *)to, r->fetch);
    }
}

enum { PER_VALUE = 16 }; /* bytes that could be moved while a value is compared */

/* The kernel of max_pool2d_grad; `fetch`: of its gradient, where input 2 has the picture's shape
 * and the output that of the pooling. */
static leat_status route(leati_kernel_call *call, bool fetch, leat_error *err) {
    const leati_operand *input = &call->inputs[0], *given = &call->inputs[2];
    leat_shape from = leati_support_operand_shape(input),
               found = leati_support_operand_shape(given), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, fetch ? &from : &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, fetch ? &shape : &from, err));
    const leati_operand *out = &call->outputs[0];
    /* Where windows share a pixel, what flows to it is added in their order. */
    bool apart = plan.y.stride >= plan.y.kernel;
    routing r = {.plan = &plan, .dtype = input->dtype, .fetch = fetch};
    r.rows = fetch || apart ? 1 : plan.y.out;
    int64_t each = r.rows * plan.x.out * plan.channels * plan.y.kernel * plan.x.kernel * PER_VALUE;
    for (int64_t row = 0; row < call->n && given->count > 0; row++) {
        r.in = leati_support_row_of(input, row);
        r.given = leati_support_row_of(given, row);
        r.out = leati_support_row_of(out, row);
        /* A fetch writes each value once. */
        if (!fetch)
            leati_moving_fill(r.out, out->count, &(double){0}, leat_dtype_size(out->dtype));
        leati_moving_share(plan.batch * plan.y.out / r.rows, each, route_steps, &r);
    }
    return LEAT_OK;
}

static leat_status max_pool2d_grad_kernel(leati_kernel_call *call, leat_error *err) {
    return route(call, false, err);
}

static leat_status max_pool2d_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Where the maxima lie does not change with small steps: input and output get nothing. */
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status max_pool2d_grad_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, output, given, shape;
    LEATI_TRY(leati_support_want_float(call, 0, "the input", err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the output", &output, err));
    LEATI_TRY(leati_window_want_rank4(call, 2, "the gradient", &given, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&output, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&given, &input, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

static leat_status max_pool2d_grad_grad_kernel(leati_kernel_call *call, leat_error *err) {
    return route(call, true, err);
}

static leat_status max_pool2d_grad_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[2] =
        leati_graph_build3(&leati_tensor_op_max_pool2d_grad, call->args, call->inputs[0],
                           call->inputs[1], call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status avg_pool2d_grad_infer(leati_infer_call *call, leat_error *err) {
    leati_conv_plan plan;
    leat_shape input, gradient, shape;
    LEATI_TRY(want_mean(call, err));
    LEATI_TRY(leati_support_want_same_dtypes(call, err));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &input, err));
    LEATI_TRY(leati_window_want_rank4(call, 1, "the gradient", &gradient, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &input, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&gradient, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &input, NULL, err);
}

/* Is each place of one window and no other? */
static bool is_tiled(const leati_window_axis *axis) {
    return axis->before == 0 && axis->stride == axis->kernel &&
           axis->in == axis->out * axis->kernel;
}

static leat_status avg_pool2d_grad_kernel(leati_kernel_call *call, leat_error *err) {
    /* Input 0 is asked for its shape alone: a mean's gradient does not depend on the values. */
    const leati_operand *gradient = &call->inputs[1];
    leat_shape from = leati_support_operand_shape(&call->inputs[0]);
    leat_shape found = leati_support_operand_shape(gradient), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, call->args, &from, &shape, err));
    LEATI_TRY(leati_window_want_result_shape(&found, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &from, err));
    const leati_operand *out = &call->outputs[0];
    for (int64_t row = 0; row < call->n && out->count > 0; row++) {
        pooling p = {.plan = &plan,
                     .join = shares[gradient->dtype],
                     .back = true,
                     .alone = is_tiled(&plan.y) && is_tiled(&plan.x),
                     .from = leati_support_row_of(gradient, row),
                     .to = leati_support_row_of(out, row)};
        if (!p.alone)
            leati_moving_fill(p.to, out->count, &(double){0}, leat_dtype_size(out->dtype));
        pool_all(&p, gradient->dtype);
    }
    return LEAT_OK;
}

static leat_status avg_pool2d_grad_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    /* Spreading a gradient is linear, and its transpose is the pooling itself. */
    call->input_gradients[1] =
        leati_graph_build1(&leati_tensor_op_avg_pool2d, call->args, call->output_gradients[0]);
    return LEAT_OK;
}

/* The descriptor of one operation. */
#define POOL_OP(NAME, HALF_KIND, DOC, ...)                                                         \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC " (tf.nn." #NAME ").",                                                          \
        .names = "nn." #NAME,                                                                      \
        .inputs = "input",                                                                         \
        .signature = "input ksize strides padding data_format=\"NHWC\"",                           \
        .types = "T",                                                                              \
        .outputs = "output",                                                                       \
        .halves = HALF_KIND,                                                                       \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = pool_rows,                                                                         \
        .args_size = sizeof(struct leati_pool_args),                                               \
        .min_inputs = 1,                                                                           \
        .max_inputs = 1,                                                                           \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
POOL_OP(max_pool2d, LEATI_HALVES_FLOAT, "The maximum of each window of pictures NHWC",
        .infer = max_pool2d_infer)
POOL_OP(avg_pool2d, LEATI_HALVES_OWN, "The mean of each window of pictures NHWC",
        .infer = avg_pool2d_infer)

/* The descriptor of a gradient. */
#define POOL_GRAD_OP(NAME, HALF_KIND, DOC, ...)                                                    \
    const leati_tensor_op leati_tensor_op_##NAME = {                                               \
        .name = #NAME,                                                                             \
        .version = 1,                                                                              \
        .doc = DOC,                                                                                \
        .outputs = "output",                                                                       \
        .halves = HALF_KIND,                                                                       \
        .rows = pool_rows,                                                                         \
        .args_size = sizeof(struct leati_pool_args),                                               \
        .infer = NAME##_infer,                                                                     \
        .kernel = NAME##_kernel,                                                                   \
        .gradient = NAME##_gradient,                                                               \
        __VA_ARGS__,                                                                               \
    };
POOL_GRAD_OP(
    max_pool2d_grad, LEATI_HALVES_FLOAT,
    "The gradient of max_pool2d, to a window's first largest value (tf.raw_ops.MaxPoolGrad).",
    .inputs = "input output gradient", .types = "T T T", .min_inputs = 3, .max_inputs = 3)
POOL_GRAD_OP(max_pool2d_grad_grad, LEATI_HALVES_FLOAT,
             "The values where max_pool2d found its maxima (tf.raw_ops.MaxPoolGradGrad).",
             .types = "T T T", .min_inputs = 3, .max_inputs = 3)
POOL_GRAD_OP(avg_pool2d_grad, LEATI_HALVES_OWN,
             "The gradient of avg_pool2d (tf.raw_ops.AvgPoolGrad).", .types = "T T",
             .min_inputs = 2, .max_inputs = 2)
