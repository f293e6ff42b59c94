/* max_pool_with_argmax: the largest element of each window and where it lies
 * (tf.nn.max_pool_with_argmax).
 *
 * Pictures are [N, H, W, C]. A place is (row * width + column) * channels + channel, with the
 * pictures in front of it where `include_batch_in_index`; of equal elements the first counts. Rows
 * of the result are pieces that the crew shares. Fails where shapes do not fit. No gradient: places
 * say where it flows. No state, no locks. */
#include "graph/support/picture/window.h"
#include "run/crew.h"

struct argmax_args {
    struct leati_pool_args pool;
    bool include_batch_in_index;
};

static const leati_row argmax_rows[] = {
    {.name = "ksize",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct argmax_args, pool.ksize),
     .doc = "Height and width of the window."},
    {.name = "strides",
     .type = LEATI_ROW_INTS,
     .offset = offsetof(struct argmax_args, pool.strides),
     .doc = "Steps of the window along height and width; empty: its size."},
    {.name = "padding",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct argmax_args, pool.padding),
     .default_text = "VALID",
     .doc = "VALID or SAME."},
    {.name = "include_batch_in_index",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct argmax_args, include_batch_in_index),
     .doc = "Count the elements of the pictures in front, too."},
    {0},
};

typedef struct work {
    const leati_conv_plan *plan;
    const char *x;
    char *values;
    int64_t *places;
    bool batch;
} work;

/* A row of the result. */
#define FIND(TYPE)                                                                                 \
    static void find_##TYPE(void *data, int64_t piece) {                                           \
        const work *w = data;                                                                      \
        const leati_conv_plan *plan = w->plan;                                                     \
        int64_t n = plan->channels, picture = piece / plan->y.out, y = piece % plan->y.out;        \
        int64_t size = plan->y.in * plan->x.in * n, ky0, ky1, kx0, kx1;                            \
        int64_t before = w->batch ? picture * size : 0;                                            \
        const TYPE *in = (const TYPE *)(const void *)w->x + picture * size;                        \
        TYPE *out = (TYPE *)(void *)w->values + piece * plan->x.out * n;                           \
        int64_t *places = w->places + piece * plan->x.out * n;                                     \
        leati_window_range(&plan->y, y, &ky0, &ky1);                                               \
        for (int64_t x = 0; x < plan->x.out; x++, out += n, places += n) {                         \
            leati_window_range(&plan->x, x, &kx0, &kx1);                                           \
            for (int64_t ky = ky0; ky < ky1; ky++)                                                 \
                for (int64_t kx = kx0; kx < kx1; kx++) {                                           \
                    int64_t iy = y * plan->y.stride - plan->y.before + ky;                         \
                    int64_t at = (iy * plan->x.in + x * plan->x.stride - plan->x.before + kx) * n; \
                    bool first = ky == ky0 && kx == kx0;                                           \
                    for (int64_t c = 0; c < n; c++)                                                \
                        if (first || in[at + c] > out[c]) {                                        \
                            out[c] = in[at + c];                                                   \
                            places[c] = before + at + c;                                           \
                        }                                                                          \
                }                                                                                  \
        }                                                                                          \
    }
FIND(float)
FIND(double)
FIND(int8_t)
FIND(int16_t)
FIND(int32_t)
FIND(int64_t)
FIND(uint8_t)
FIND(uint16_t)
FIND(uint32_t)
FIND(uint64_t)

static leati_crew_piece *const finders[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = find_float,  [LEAT_FLOAT64] = find_double,  [LEAT_INT8] = find_int8_t,
    [LEAT_INT16] = find_int16_t,  [LEAT_INT32] = find_int32_t,   [LEAT_INT64] = find_int64_t,
    [LEAT_UINT8] = find_uint8_t,  [LEAT_UINT16] = find_uint16_t, [LEAT_UINT32] = find_uint32_t,
    [LEAT_UINT64] = find_uint64_t};

static leat_status max_pool_with_argmax_infer(leati_infer_call *call, leat_error *err) {
    const struct argmax_args *args = call->args;
    leat_dtype dtype = call->inputs[0].dtype;
    leat_shape x, out;
    leati_conv_plan plan;
    if (finders[dtype] == NULL)
        return leati_refuse(err, DTYPE, "the input is %s; expected real numbers",
                            leat_dtype_name(dtype));
    LEATI_TRY(leati_window_want_rank4(call, 0, "the input", &x, err));
    LEATI_TRY(leati_window_pool_plan_init(&plan, &args->pool, &x, &out, err));
    LEATI_TRY(leati_op_infer_output(call, dtype, &out, NULL, err));
    return leati_op_infer_output(call, LEAT_INT64, &out, NULL, err);
}

#define NS_PER_ELEMENT 1.0

static leat_status max_pool_with_argmax_kernel(leati_kernel_call *call, leat_error *err) {
    const struct argmax_args *args = call->args;
    const leati_operand *x = &call->inputs[0];
    leat_shape from = leati_support_operand_shape(x), shape;
    leati_conv_plan plan;
    LEATI_TRY(leati_window_pool_plan_init(&plan, &args->pool, &from, &shape, err));
    for (int i = 0; i < 2; i++)
        LEATI_TRY(leati_support_output_like(call, i, &shape, err));
    double ns = (double)call->outputs[0].count * (double)(plan.y.kernel * plan.x.kernel);
    for (int64_t row = 0; row < call->n && call->outputs[0].count > 0; row++) {
        work w = {.plan = &plan,
                  .x = leati_support_row_of(x, row),
                  .values = leati_support_row_of(&call->outputs[0], row),
                  .places = (int64_t *)(void *)leati_support_row_of(&call->outputs[1], row),
                  .batch = args->include_batch_in_index};
        leati_crew_share(ns * NS_PER_ELEMENT, plan.batch * plan.y.out, finders[x->dtype], &w);
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_max_pool_with_argmax = {
    .name = "max_pool_with_argmax",
    .version = 1,
    .doc = "The largest element of each window and its place (tf.raw_ops.MaxPoolWithArgmax).",
    .types = "T",
    .outputs = "MaxPoolWithArgmax(output argmax)",
    .halves = LEATI_HALVES_FLOAT,
    .rows = argmax_rows,
    .args_size = sizeof(struct argmax_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = max_pool_with_argmax_infer,
    .kernel = max_pool_with_argmax_kernel,
};
