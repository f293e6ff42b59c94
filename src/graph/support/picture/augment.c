/* What the random distortions of pictures share; see augment.h.
 *
 * Numbers are TensorFlow's: a float from the first word of the stream, an integer as its remainder.
 * The stateful forms draw as random_uniform does, with which they share streams, as there. A drawn
 * number becomes the argument of another operation's kernel, which runs for one row. One
 * picture is mirrored where its number is below 0.5; of several in one tensor, those whose number
 * is above. No state, no locks. */
#include "graph/support/picture/augment.h"

#include "graph/support/array/gather.h"
#include "graph/support/array/moving.h"
#include "graph/support/picture/colour.h"
#include "graph/support/random/stateless.h"
#include "image/flip.h"

#include <string.h>

/* ---- numbers ---- */

static float draw_float(leati_philox *philox, double low, double high) {
    uint32_t words[4];
    leati_philox_next(philox, words);
    /* Scaled in float32, as TensorFlow's random_uniform does. */
    float from = (float)low;
    return leati_uniform_float(words[0]) * ((float)high - from) + from;
}

static const struct leati_augment_args *args_of(const void *args) {
    return args;
}

/* ---- other operations with a number that was drawn ---- */

/* Runs the kernel of `op` for one row of input 0. */
static leat_status run_row(leati_kernel_call *call, int64_t row, const leati_tensor_op *op,
                           const void *args, leat_error *err) {
    leati_operand in = call->inputs[0], out = call->outputs[0];
    leati_kernel_call inner = *call;
    in.data = leati_support_row_of(&in, row);
    inner.n = 1;
    inner.inputs = &in;
    inner.num_inputs = 1;
    inner.args = args;
    /* Of one row the output may have no memory yet: the kernel then makes it. */
    if (call->n > 1) {
        out.data = leati_support_row_of(&out, row);
        inner.outputs = &out;
    }
    return op->kernel(&inner, err);
}

/* Infers as `op` with arguments that it takes. */
static leat_status infer_as(leati_infer_call *call, const leati_tensor_op *op, const void *args,
                            leat_error *err) {
    leati_infer_call inner = *call;
    inner.args = args;
    inner.num_inputs = 1;
    /* The number is drawn, so for the other operation it is no value that the run computes. */
    inner.unknown = 0;
    leat_status status = op->infer(&inner, err);
    /* The outputs are an array that both calls share. */
    call->num_outputs = inner.num_outputs;
    return status;
}

static leat_status infer_adjusted(leati_infer_call *call, const leati_tensor_op *op,
                                  leat_error *err) {
    const struct leati_adjust_args args = {0};
    return infer_as(call, op, &args, err);
}

static leat_status adjust(leati_kernel_call *call, int64_t row, leati_philox philox,
                          const leati_tensor_op *op, bool symmetric, leat_error *err) {
    const struct leati_augment_args *args = args_of(call->args);
    /* The symmetric forms have max_delta alone. */
    double low = symmetric ? -args->random.high : args->random.low;
    const struct leati_adjust_args adjusted = {
        .amount = (double)draw_float(&philox, low, args->random.high)};
    return run_row(call, row, op, &adjusted, err);
}

static leat_status check_delta(const struct leati_augment_args *args, leat_error *err) {
    if (args->random.high >= 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "max_delta is %.9g; expected 0 or more", args->random.high);
}

static leat_status check_turn(const struct leati_augment_args *args, leat_error *err) {
    if (args->random.high >= 0 && args->random.high <= 0.5)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "max_delta is %.9g; expected a number in [0, 0.5]",
                        args->random.high);
}

static leat_status check_range(const struct leati_augment_args *args, leat_error *err) {
    if (args->random.low >= 0 && args->random.low < args->random.high)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "lower is %.9g and upper %.9g; expected 0 <= lower < upper",
                        args->random.low, args->random.high);
}

#define ADJUSTING(NAME, OP, CHECK, SYMMETRIC)                                                      \
    static leat_status NAME##_infer(leati_infer_call *call, leat_error *err) {                     \
        return infer_adjusted(call, &leati_tensor_op_##OP, err);                                   \
    }                                                                                              \
    static leat_status NAME##_apply(leati_kernel_call *call, int64_t row, leati_philox philox,     \
                                    leat_error *err) {                                             \
        return adjust(call, row, philox, &leati_tensor_op_##OP, SYMMETRIC, err);                   \
    }                                                                                              \
    const leati_augment leati_augment_##NAME = {                                                   \
        .check = CHECK, .infer = NAME##_infer, .apply = NAME##_apply}

ADJUSTING(brightness, adjust_brightness, check_delta, true);
ADJUSTING(contrast, adjust_contrast, check_range, false);
ADJUSTING(saturation, adjust_saturation, check_range, false);
ADJUSTING(hue, adjust_hue, check_turn, true);

/* ---- quality ---- */

static leat_status check_quality(const struct leati_augment_args *args, leat_error *err) {
    /* Bounds are integers in TensorFlow; fractions are cut off, and may leave nothing between. */
    if (args->random.low >= 0 && args->random.high <= 100 &&
        (int64_t)args->random.low < (int64_t)args->random.high)
        return LEAT_OK;
    return leati_refuse(
        err, VALUE,
        "min_jpeg_quality is %.9g and max_jpeg_quality %.9g; expected 0 <= min < max "
        "<= 100",
        args->random.low, args->random.high);
}

static leat_status quality_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_quality_args args = {0};
    return infer_as(call, &leati_tensor_op_adjust_jpeg_quality, &args, err);
}

static leat_status quality_apply(leati_kernel_call *call, int64_t row, leati_philox philox,
                                 leat_error *err) {
    const struct leati_random_args *range = &args_of(call->args)->random;
    uint32_t words[4], width = (uint32_t)((int64_t)range->high - (int64_t)range->low);
    leati_philox_next(&philox, words);
    const struct leati_quality_args args = {.jpeg_quality = (int64_t)range->low + words[0] % width};
    return run_row(call, row, &leati_tensor_op_adjust_jpeg_quality, &args, err);
}

const leati_augment leati_augment_quality = {
    .check = check_quality, .infer = quality_infer, .apply = quality_apply, .integers = true};

/* ---- mirroring ---- */

static leat_status flip_infer(leati_infer_call *call, leat_error *err) {
    return leati_frames_infer(call, LEATI_KEEP, LEATI_KEEP, call->inputs[0].dtype, err);
}

static leat_status flip(leati_kernel_call *call, int64_t row, leati_philox philox, bool up_down,
                        leat_error *err) {
    leati_frames in;
    uint32_t words[4] = {0};
    LEATI_TRY(leati_frames_begin(call, LEATI_KEEP, LEATI_KEEP, &in, err));
    size_t pixel = (size_t)in.channels * leat_dtype_size(call->inputs[0].dtype);
    size_t stride = (size_t)in.width * pixel, picture = (size_t)in.height * stride;
    const char *from = leati_support_row_of(&call->inputs[0], row);
    char *to = leati_support_row_of(&call->outputs[0], row);
    for (int64_t i = 0; i < in.count && picture > 0; i++, from += picture, to += picture) {
        /* A block of the stream has four words, one for each picture. */
        if (i % 4 == 0)
            leati_philox_next(&philox, words);
        float number = leati_uniform_float(words[i % 4]);
        bool one = call->inputs[0].rank == 3;
        /* TensorFlow's two kernels: one picture is mirrored below 0.5, each of several above it. */
        if (one ? number >= 0.5F : number <= 0.5F)
            memcpy(to, from, picture);
        else if (up_down)
            leati_flip_up_down(from, stride, to, stride, (size_t)in.height, (size_t)in.width,
                               pixel);
        else
            leati_flip_left_right(from, stride, to, stride, (size_t)in.height, (size_t)in.width,
                                  pixel);
    }
    return LEAT_OK;
}

static leat_status flip_left_right_apply(leati_kernel_call *call, int64_t row, leati_philox philox,
                                         leat_error *err) {
    return flip(call, row, philox, false, err);
}

static leat_status flip_up_down_apply(leati_kernel_call *call, int64_t row, leati_philox philox,
                                      leat_error *err) {
    return flip(call, row, philox, true, err);
}

int64_t leati_augment_pictures(const leati_operand *in) {
    return in->rank == 4 ? in->dims[0] : 1;
}

const leati_augment leati_augment_flip_left_right = {
    .infer = flip_infer, .apply = flip_left_right_apply, .numbers = leati_augment_pictures};
const leati_augment leati_augment_flip_up_down = {
    .infer = flip_infer, .apply = flip_up_down_apply, .numbers = leati_augment_pictures};

/* ---- crops ---- */

/* The size as a shape; -1 in an entry keeps it open. */
static leat_status crop_shape(const struct leati_augment_args *args, const leat_shape *whole,
                              leat_shape *out, leat_error *err) {
    char text[128];
    if (args->size.count > LEAT_MAX_RANK || (whole->rank >= 0 && args->size.count != whole->rank))
        return leati_refuse(
            err, SHAPE, "size has %d numbers, the value shape %s; expected one for each dimension",
            (int)args->size.count, leati_shape_text(whole, text));
    *out = (leat_shape){.rank = args->size.count};
    for (int32_t d = 0; d < out->rank; d++) {
        out->dims[d] = args->size.values[d];
        if (out->dims[d] < 0 ||
            (whole->rank >= 0 && whole->dims[d] >= 0 && out->dims[d] > whole->dims[d]))
            return leati_refuse(err, SHAPE,
                                "dimension %d of the crop is %lld, of the value, of shape %s; "
                                "expected at most its size",
                                (int)d, (long long)out->dims[d], leati_shape_text(whole, text));
    }
    return LEAT_OK;
}

static leat_status crop_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_augment_args *args = args_of(call->args);
    leat_shape shape = call->inputs[0].shape;
    if (call->inputs[0].dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "the value is %s; expected numbers",
                            leat_dtype_name(call->inputs[0].dtype));
    /* The rank stays, whatever the size will be. */
    for (int32_t d = 0; d < shape.rank && call->unknown != 0; d++)
        shape.dims[d] = LEAT_UNKNOWN_DIM;
    if (call->unknown == 0)
        LEATI_TRY(crop_shape(args, &call->inputs[0].shape, &shape, err));
    return leati_op_infer_output(call, call->inputs[0].dtype, &shape, NULL, err);
}

/* Where the crop begins along each dimension: TensorFlow draws from [0, 2^31 - 1) and takes the
 * remainder. */
static void draw_begin(leati_philox philox, const leat_shape *whole, const leat_shape *shape,
                       int64_t *begin) {
    uint32_t words[4] = {0};
    for (int32_t d = 0; d < shape->rank; d++) {
        if (d % 4 == 0)
            leati_philox_next(&philox, words);
        int64_t drawn = (int64_t)(words[d % 4] % (uint32_t)INT32_MAX);
        begin[d] = drawn % (whole->dims[d] - shape->dims[d] + 1);
    }
}

static leat_status crop_apply(leati_kernel_call *call, int64_t row, leati_philox philox,
                              leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    leat_shape whole = leati_support_operand_shape(in), shape;
    int64_t steps[LEAT_MAX_RANK], to_steps[LEAT_MAX_RANK], begin[LEAT_MAX_RANK], offset = 0;
    size_t size = leat_dtype_size(in->dtype);
    LEATI_TRY(crop_shape(args_of(call->args), &whole, &shape, err));
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    leati_support_dense_steps(&whole, size, steps);
    leati_support_dense_steps(&shape, size, to_steps);
    draw_begin(philox, &whole, &shape, begin);
    for (int32_t d = 0; d < shape.rank; d++)
        /* The crop is a view of the value with the value's own steps, from here on. */
        offset += begin[d] * steps[d];
    if (call->outputs[0].count > 0)
        leati_moving_strided(leati_support_row_of(&call->outputs[0], row), to_steps,
                             leati_support_row_of(in, row) + offset, steps, shape.dims, shape.rank,
                             size);
    return LEAT_OK;
}

static leat_status crop_window(const leati_kernel_call *call, leati_philox philox,
                               leati_window *out, leat_error *err) {
    leat_shape whole = leati_support_operand_shape(&call->inputs[0]), shape;
    int64_t begin[LEAT_MAX_RANK];
    LEATI_TRY(crop_shape(args_of(call->args), &whole, &shape, err));
    draw_begin(philox, &whole, &shape, begin);
    *out = (leati_window){
        .top = begin[0], .left = begin[1], .height = shape.dims[0], .width = shape.dims[1]};
    return LEAT_OK;
}

static int64_t crop_numbers(const leati_operand *in) {
    return in->rank;
}

const leati_augment leati_augment_crop = {.infer = crop_infer,
                                          .apply = crop_apply,
                                          .window = crop_window,
                                          .numbers = crop_numbers,
                                          .integers = true};

/* ---- the stateless forms ---- */

leat_status leati_augment_infer(leati_infer_call *call, const leati_augment *augment,
                                leat_error *err) {
    LEATI_TRY(leati_stateless_want_seed(call, call->num_inputs - 1, false, err));
    /* Arguments that the run computes are checked by the kernel. */
    if (augment->check != NULL && call->unknown == 0)
        LEATI_TRY(augment->check(call->args, err));
    return augment->infer(call, err);
}

leat_status leati_augment_kernel(leati_kernel_call *call, const leati_augment *augment,
                                 leat_error *err) {
    leati_philox philox;
    if (augment->check != NULL)
        LEATI_TRY(augment->check(call->args, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(leati_stateless_stream(call, call->num_inputs - 1, false, row, &philox, err));
        LEATI_TRY(augment->apply(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

leat_status leati_augment_window(const leati_kernel_call *call, const leati_augment *augment,
                                 leati_window *out, leat_error *err) {
    leati_philox philox;
    if (augment->check != NULL)
        LEATI_TRY(augment->check(call->args, err));
    /* The same stream as the kernel's, so the window is the one that it would take. */
    LEATI_TRY(leati_stateless_stream(call, call->num_inputs - 1, false, 0, &philox, err));
    return augment->window(call, philox, out, err);
}

/* ---- gradients ---- */

static bool is_float(leat_value value) {
    return leat_value_dtype(value) >= LEAT_FLOAT16 && leat_value_dtype(value) <= LEAT_FLOAT64;
}

leat_status leati_augment_gradient_same(leati_gradient_call *call, leat_error *err) {
    (void)err;
    if (is_float(call->inputs[0]))
        call->input_gradients[0] = call->output_gradients[0];
    return LEAT_OK;
}

leat_status leati_augment_gradient_flip(leati_gradient_call *call, const leati_tensor_op *op,
                                        leat_error *err) {
    (void)err;
    /* By the same seed the same pictures are mirrored, back to what they were. */
    if (is_float(call->inputs[0]))
        call->input_gradients[0] =
            leati_graph_build2(op, call->args, call->output_gradients[0], call->inputs[1]);
    return LEAT_OK;
}

/* The places of the values, cropped alike, say where each came from. */
leat_status leati_augment_gradient_crop(leati_gradient_call *call, leat_error *err) {
    const struct leati_gather_args axis = {0};
    leat_value x = call->inputs[0];
    const int64_t flat = -1;
    (void)err;
    if (!is_float(x))
        return LEAT_OK;
    leat_value all = leat_op_reshape(x, &flat, 1);
    /* 0, 1, 2 and so on: an exclusive sum of ones. */
    leat_value places =
        leat_op_cumsum(leat_op_cast(leat_op_ones_like(all), LEAT_INT64), 0, true, false);
    leat_value taken = leati_graph_build2(&leati_tensor_op_stateless_random_crop, call->args,
                                          leat_op_reshape_like(places, x), call->inputs[1]);
    call->input_gradients[0] =
        leat_op_reshape_like(leati_graph_build3(&leati_tensor_op_gather_grad, &axis,
                                                call->output_gradients[0], all, taken),
                             x);
    return LEAT_OK;
}

/* ---- the stateful forms ---- */

leat_status leati_augment_image_infer(leati_infer_call *call, const leati_augment *augment,
                                      leat_error *err) {
    if (augment->check != NULL && call->unknown == 0)
        LEATI_TRY(augment->check(call->args, err));
    return augment->infer(call, err);
}

/* Row `row`'s numbers: those that random_uniform would draw there. */
static leat_status random_stream(const leati_kernel_call *call, const leati_augment *augment,
                                 int64_t row, leati_philox *out, leat_error *err) {
    /* The dtype that TensorFlow draws belongs to the key under which eager calls share a stream. */
    struct leati_random_args drawn = args_of(call->args)->random;
    leati_kernel_call drawing = *call;
    int64_t numbers = augment->numbers != NULL ? augment->numbers(&call->inputs[0]) : 1;
    uint64_t blocks = (uint64_t)numbers * LEATI_BLOCKS_PER_VALUE;
    drawn.dtype = augment->integers ? LEAT_INT32 : LEAT_FLOAT32;
    drawing.args = &drawn;
    return leati_random_stream(&drawing, &leati_tensor_op_random_uniform, row, blocks, out, err);
}

leat_status leati_augment_image_kernel(leati_kernel_call *call, const leati_augment *augment,
                                       leat_error *err) {
    if (augment->check != NULL)
        LEATI_TRY(augment->check(call->args, err));
    for (int64_t row = 0; row < call->n; row++) {
        leati_philox philox;
        call->failed_row = row;
        LEATI_TRY(random_stream(call, augment, row, &philox, err));
        LEATI_TRY(augment->apply(call, row, philox, err));
    }
    call->failed_row = 0;
    return LEAT_OK;
}

leat_status leati_augment_image_window(const leati_kernel_call *call, const leati_augment *augment,
                                       leati_window *out, leat_error *err) {
    leati_philox philox;
    if (augment->check != NULL)
        LEATI_TRY(augment->check(call->args, err));
    /* Row 0: of a chain of operations each row is a call of its own, with its ordinal. */
    LEATI_TRY(random_stream(call, augment, 0, &philox, err));
    return augment->window(call, philox, out, err);
}
