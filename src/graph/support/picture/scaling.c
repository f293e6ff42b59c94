/* What the operations that scale pictures share; see resize.h.
 *
 * Happy path: a plan of the same sizes comes from the process's store of idle ones; uint8 and
 * float32 are read where they are, other numbers are cast into the arena first; rows are written
 * where they stay. One lock guards the store; nothing is called while it is held. */
#include "base/fork.h"
#include "graph/support/picture/resize.h"

#include <pthread.h>
#include <string.h>

/* ---- the store ---- */
enum { MAX_IDLE = 16 };

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(scalings, &store_lock);
static leati_resize_plan store[MAX_IDLE]; /* store_lock */
static int num_idle;                      /* store_lock */

leati_resize_plan leati_resize_plan_take(int32_t height, int32_t width) {
    leati_resize_plan plan = {0};
    pthread_mutex_lock(&store_lock);
    if (num_idle > 0) {
        /* Without one of these sizes any will do: its memory may be large enough. */
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

void leati_resize_plan_give(leati_resize_plan *plan) {
    pthread_mutex_lock(&store_lock);
    bool kept = num_idle < MAX_IDLE;
    if (kept)
        store[num_idle++] = *plan;
    pthread_mutex_unlock(&store_lock);
    /* Freed outside of the lock: nobody waits for an allocator. */
    if (!kept)
        leati_resize_fini(plan);
}

void leati_resize_plans_trim(void) {
    leati_resize_plan idle[MAX_IDLE];
    pthread_mutex_lock(&store_lock);
    int count = num_idle;
    /* Taken out under the lock, freed behind it. */
    memcpy(idle, store, sizeof idle);
    num_idle = 0;
    pthread_mutex_unlock(&store_lock);
    for (int i = 0; i < count; i++)
        leati_resize_fini(&idle[i]);
}

/* ---- methods ---- */

leat_status leati_resize_method_of(const char *name, leati_resize_method *out, leat_error *err) {
    static const char *const names[] = {
        [LEATI_RESIZE_BILINEAR] = "bilinear", [LEATI_RESIZE_NEAREST] = "nearest",
        [LEATI_RESIZE_BICUBIC] = "bicubic",   [LEATI_RESIZE_AREA] = "area",
        [LEATI_RESIZE_LANCZOS3] = "lanczos3", [LEATI_RESIZE_LANCZOS5] = "lanczos5",
        [LEATI_RESIZE_GAUSSIAN] = "gaussian", [LEATI_RESIZE_MITCHELLCUBIC] = "mitchellcubic"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name == NULL ? "bilinear" : name, names[i]) == 0) {
            *out = (leati_resize_method)i;
            return LEAT_OK;
        }
    }
    return leati_refuse(err, VALUE,
                        "method is \"%.40s\"; expected \"bilinear\", \"nearest\", \"bicubic\", "
                        "\"area\", \"lanczos3\", \"lanczos5\", \"gaussian\" or \"mitchellcubic\"",
                        name);
}

leat_status leati_resize_dtype(leati_resize_method method, leat_dtype in, leat_dtype *out,
                               leat_error *err) {
    if (in <= LEAT_BOOL || in > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the pictures are %s; expected numbers",
                            leat_dtype_name(in));
    *out = method == LEATI_RESIZE_NEAREST ? in : LEAT_FLOAT32;
    return LEAT_OK;
}

/* ---- scaling ---- */

leat_status leati_resize_scale_readable(leati_kernel_call *call, leati_resize_method method,
                                        leati_operand *in, leat_error *err) {
    *in = call->inputs[0];
    if (method == LEATI_RESIZE_NEAREST || in->dtype == LEAT_UINT8 || in->dtype == LEAT_FLOAT32)
        return LEAT_OK;
    return leati_support_inner_cast(call, &call->inputs[0], LEAT_FLOAT32, in, err);
}

/* `width` is that of the whole picture, of which the plan's size may be a part. */
static void scale_picture(leati_resize_plan *plan, leat_dtype dtype, const char *from,
                          int64_t width, char *to, size_t to_stride) {
    size_t size = leat_dtype_size(dtype), pixel = (size_t)plan->channels * size;
    size_t stride = (size_t)width * pixel;
    /* Nearest copies whole pixels, of any dtype. */
    if (plan->method == LEATI_RESIZE_NEAREST)
        leati_resize_pick(plan, from, stride, to, to_stride, pixel);
    else if (dtype == LEAT_UINT8)
        leati_resize_u8(plan, (const uint8_t *)from, stride, (float *)(void *)to, to_stride);
    else
        leati_resize_f32(plan, (const float *)(const void *)from, stride, (float *)(void *)to,
                         to_stride);
}

static void scale_row(leati_resize_plan *plan, const leati_scaling *scaling,
                      const leati_operand *in, const char *from, const leati_operand *out, char *to,
                      int64_t count) {
    size_t pixel = (size_t)plan->channels * leat_dtype_size(out->dtype);
    size_t stride = (size_t)scaling->canvas_width * pixel;
    size_t step = (size_t)plan->y.in * (size_t)plan->x.in * (size_t)plan->channels *
                  leat_dtype_size(in->dtype);
    /* Cleared for the padding alone: pixels are all written. */
    if (scaling->canvas_height != scaling->height || scaling->canvas_width != scaling->width)
        memset(to, 0, (size_t)count * (size_t)scaling->canvas_height * stride);
    to += (size_t)scaling->top * stride + (size_t)scaling->left * pixel;
    for (int64_t i = 0; i < count; i++)
        scale_picture(plan, in->dtype, from + (size_t)i * step, plan->x.in,
                      to + (size_t)i * (size_t)scaling->canvas_height * stride, stride);
}

leat_status leati_resize_scale(leati_kernel_call *call, const leati_scaling *scaling,
                               leat_error *err) {
    leati_frames frames;
    leati_operand in;
    LEATI_TRY(
        leati_frames_begin(call, scaling->canvas_height, scaling->canvas_width, &frames, err));
    if (frames.height < 1 || frames.width < 1 || frames.channels < 1 || frames.height > INT32_MAX ||
        frames.width > INT32_MAX || frames.channels > INT32_MAX || scaling->height > INT32_MAX ||
        scaling->width > INT32_MAX)
        return leati_refuse(
            err, SHAPE, "a picture of %lld x %lld with %lld channels cannot be resized",
            (long long)frames.height, (long long)frames.width, (long long)frames.channels);
    LEATI_TRY(leati_resize_scale_readable(call, scaling->method, &in, err));
    leati_resize_plan plan = leati_resize_plan_take((int32_t)frames.height, (int32_t)frames.width);
    leat_status status =
        leati_resize_prepare(&plan, (int32_t)frames.height, (int32_t)frames.width,
                             (int32_t)scaling->height, (int32_t)scaling->width,
                             (int32_t)frames.channels, scaling->method, scaling->antialias, err);
    for (int64_t row = 0; row < call->n && status == LEAT_OK; row++)
        scale_row(&plan, scaling, &in, leati_support_row_of(&in, row), &call->outputs[0],
                  leati_support_row_of(&call->outputs[0], row), frames.count);
    /* Also after a failure: what the plan has of memory is kept for the next one. */
    leati_resize_plan_give(&plan);
    return status;
}

leat_status leati_resize_scale_part(const leati_kernel_call *call, int64_t index,
                                    const leati_window *window, leati_resize_method method,
                                    bool antialias, leat_error *err) {
    const leati_operand *in = &call->inputs[0], *out = &call->outputs[0];
    leat_shape from_shape = leati_support_operand_shape(in),
               to_shape = leati_support_operand_shape(out);
    leati_frames from, to;
    LEATI_TRY(leati_frames_of(&from_shape, &from, err));
    LEATI_TRY(leati_frames_of(&to_shape, &to, err));
    size_t pixel = (size_t)from.channels * leat_dtype_size(in->dtype);
    size_t to_stride = (size_t)(to.width * to.channels) * leat_dtype_size(out->dtype);
    /* The part is read where it lies, by the stride of the whole picture. */
    const char *first =
        in->data +
        (size_t)((index * from.height + window->top) * from.width + window->left) * pixel;
    leati_resize_plan plan =
        leati_resize_plan_take((int32_t)window->height, (int32_t)window->width);
    leat_status status = leati_resize_prepare(
        &plan, (int32_t)window->height, (int32_t)window->width, (int32_t)to.height,
        (int32_t)to.width, (int32_t)from.channels, method, antialias, err);
    if (status == LEAT_OK)
        scale_picture(&plan, in->dtype, first, from.width,
                      out->data + (size_t)(index * to.height) * to_stride, to_stride);
    leati_resize_plan_give(&plan);
    return status;
}
