/* resize: pictures [H, W, C] or [N, H, W, C] scaled to another size, as float32 (tf.image.resize).
 *
 * Happy path: a plan of the same sizes comes from the process's store of idle ones, uint8 and
 * float32 are read where they are, other numbers are cast into the arena first. Fails on empty
 * pictures; a method other than bilinear is UNIMPLEMENTED. No gradient. One lock guards the store;
 * nothing is called while it is held. */
#include "graph/ops/resize.h"
#include "graph/ops/support.h"
#include "image/resize.h"

#include <pthread.h>
#include <string.h>

struct resize_args {
    leati_ints size;
    char *method;
    bool antialias;
};

static const leati_row resize_rows[] = {
    {.name = "size",
     .type = LEATI_ROW_INTS,
     .flags = LEATI_REQUIRED | LEATI_TENSOR,
     .offset = offsetof(struct resize_args, size),
     .doc = "Height and width of the result, in pixels."},
    {.name = "method",
     .type = LEATI_ROW_STRING,
     .offset = offsetof(struct resize_args, method),
     .default_text = "bilinear",
     .doc = "bilinear."},
    {.name = "antialias",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct resize_args, antialias),
     .doc = "Blend all pixels that a smaller picture's pixel covers."},
    {0},
};

/* ---- the store ---- */
enum { MAX_IDLE = 16 };

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_resize_plan store[MAX_IDLE]; /* store_lock */
static int num_idle;                      /* store_lock */

static leati_resize_plan take_plan(int32_t height, int32_t width) {
    leati_resize_plan plan = {0};
    pthread_mutex_lock(&store_lock);
    if (num_idle > 0) {
        int found = num_idle - 1;
        for (int i = 0; i < num_idle; i++)
            if (store[i].y.in == height && store[i].x.in == width)
                found = i;
        plan = store[found];
        store[found] = store[--num_idle];
    }
    pthread_mutex_unlock(&store_lock);
    return plan;
}

static void give_plan(leati_resize_plan *plan) {
    pthread_mutex_lock(&store_lock);
    bool kept = num_idle < MAX_IDLE;
    if (kept)
        store[num_idle++] = *plan;
    pthread_mutex_unlock(&store_lock);
    if (!kept)
        leati_resize_fini(plan);
}

void leati_resize_plans_trim(void) {
    leati_resize_plan idle[MAX_IDLE];
    pthread_mutex_lock(&store_lock);
    int count = num_idle;
    memcpy(idle, store, sizeof idle);
    num_idle = 0;
    pthread_mutex_unlock(&store_lock);
    for (int i = 0; i < count; i++)
        leati_resize_fini(&idle[i]);
}

/* ---- the operation ---- */
static leat_status resized(const struct resize_args *args, const leat_shape *in, leat_shape *out,
                           leat_error *err) {
    char text[128];
    const char *method = args->method == NULL ? "" : args->method;
    static const char *const others[] = {"nearest",  "area",          "bicubic", "lanczos3",
                                         "lanczos5", "mitchellcubic", "gaussian"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(method, others[i]) == 0)
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "method \"%s\" is not implemented yet; use \"bilinear\"", method);
    if (strcmp(method, "bilinear") != 0)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "method is \"%.40s\"; expected \"bilinear\"",
                          method);
    if (args->size.count != 2 || args->size.values[0] < 1 || args->size.values[1] < 1)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "size has %d numbers; expected a height and a width of at least 1",
                          (int)args->size.count);
    *out = *in;
    if (in->rank < 0)
        return LEAT_OK;
    if (in->rank != 3 && in->rank != 4)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "the pictures have shape %s; expected [H, W, C] or [N, H, W, C]",
                          leati_shape_text(in, text));
    out->dims[in->rank - 3] = args->size.values[0];
    out->dims[in->rank - 2] = args->size.values[1];
    return LEAT_OK;
}

static leat_status resize_infer(leati_infer_call *call, leat_error *err) {
    leat_shape shape;
    leat_dtype dtype = call->inputs[0].dtype;
    if (dtype <= LEAT_BOOL || dtype > LEAT_FLOAT64)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "the pictures are %s; expected numbers",
                          leat_dtype_name(dtype));
    if (call->unknown != 0) {
        shape = call->inputs[0].shape;
        for (int32_t d = shape.rank - 3; shape.rank >= 3 && d < shape.rank - 1; d++)
            shape.dims[d] = LEAT_UNKNOWN_DIM;
    } else {
        LEATI_TRY(resized(call->args, &call->inputs[0].shape, &shape, err));
    }
    return leati_infer_output(call, LEAT_FLOAT32, &shape, NULL, err);
}

/* The input as uint8 or float32. */
static leat_status readable(leati_kernel_call *call, leati_operand *in, leat_error *err) {
    *in = call->inputs[0];
    if (in->dtype == LEAT_UINT8 || in->dtype == LEAT_FLOAT32)
        return LEAT_OK;
    return leati_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, in, err);
}

/* One picture after the other, in `count` pieces. */
static void resize_row(leati_resize_plan *plan, const leati_operand *in, int64_t row, char *out,
                       int64_t count) {
    size_t size = leat_dtype_size(in->dtype);
    size_t stride = (size_t)plan->x.in * (size_t)plan->channels * size;
    size_t out_stride = (size_t)plan->x.out * (size_t)plan->channels * sizeof(float);
    const char *from = leati_row_of(in, row);
    for (int64_t i = 0; i < count; i++) {
        if (in->dtype == LEAT_UINT8)
            leati_resize_u8(plan, (const uint8_t *)from, stride, (float *)(void *)out, out_stride);
        else
            leati_resize_f32(plan, (const float *)(const void *)from, stride, (float *)(void *)out,
                             out_stride);
        from += stride * (size_t)plan->y.in;
        out += out_stride * (size_t)plan->y.out;
    }
}

static leat_status resize_kernel(leati_kernel_call *call, leat_error *err) {
    const struct resize_args *args = call->args;
    leat_shape from = leati_operand_shape(&call->inputs[0]), shape;
    leati_operand in;
    LEATI_TRY(resized(args, &from, &shape, err));
    LEATI_TRY(leati_output_like(call, 0, &shape, err));
    LEATI_TRY(readable(call, &in, err));
    const int64_t *dims = &from.dims[from.rank - 3];
    for (int i = 0; i < 3; i++)
        if (dims[i] < 1 || dims[i] > INT32_MAX || (i < 2 && args->size.values[i] > INT32_MAX))
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "a picture of %lld x %lld with %lld channels cannot be resized",
                              (long long)dims[0], (long long)dims[1], (long long)dims[2]);
    leati_resize_plan plan = take_plan((int32_t)dims[0], (int32_t)dims[1]);
    leat_status status = leati_resize_prepare(
        &plan, (int32_t)dims[0], (int32_t)dims[1], (int32_t)args->size.values[0],
        (int32_t)args->size.values[1], (int32_t)dims[2], args->antialias, err);
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++)
        resize_row(&plan, &in, row, leati_row_of(&call->outputs[0], row),
                   from.rank == 4 ? from.dims[0] : 1);
    give_plan(&plan);
    return status;
}

leat_value leat_resize(leat_value images, int64_t height, int64_t width, const char *method) {
    int64_t size[2] = {height, width};
    struct resize_args args = {.size = {.values = size, .count = 2},
                               .method = (char *)(uintptr_t)(method ? method : "bilinear")};
    return leati_op1(&leati_tensor_op_resize, &args, images);
}

const leati_tensor_op leati_tensor_op_resize = {
    .name = "resize",
    .version = 1,
    .doc = "Pictures scaled to another size, as float32 (tf.image.resize).",
    .names = "image.resize",
    .inputs = "images",
    .signature = "images size method preserve_aspect_ratio=false antialias",
    .rows = resize_rows,
    .args_size = sizeof(struct resize_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = resize_infer,
    .kernel = resize_kernel,
};
