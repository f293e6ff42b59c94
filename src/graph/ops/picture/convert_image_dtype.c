/* convert_image_dtype: pictures of another dtype, scaled so that 1.0 is an integer's largest value
 * (tf.image.convert_image_dtype).
 *
 * Integers become floats by a multiplication with 1 / maximum; floats become integers by one with
 * maximum + 0.5 and truncation; integers change width by powers of two; floats are cast. The steps
 * run the kernels of cast, multiply, floordiv and clip_by_value on arrays in the arena. Fails in
 * inference on strings and bool. No gradient but between floats. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/math/elementwise.h"
#include "graph/support/math/saturate.h"
#include "graph/support/picture/pictures.h"

#include <math.h>

static const leati_row convert_rows[] = {
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_convert_args, dtype),
     .doc = "The dtype of the result."},
    {.name = "saturate",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_convert_args, saturate),
     .doc = "Clip what the result cannot hold."},
    {0},
};

static leat_status convert_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_convert_args *args = call->args;
    leat_dtype from = call->inputs[0].dtype;
    if (from <= LEAT_BOOL || from > LEAT_FLOAT64 || args->dtype <= LEAT_BOOL ||
        args->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "from %s to %s; expected numbers", leat_dtype_name(from),
                            leat_dtype_name(args->dtype));
    return leati_op_infer_output(call, args->dtype, &call->inputs[0].shape, NULL, err);
}

/* Runs an elementwise operation of a value and a scalar of its dtype. */
static leat_status with_number(leati_kernel_call *call, const leati_tensor_op *op,
                               const leati_operand *in, double number, leati_operand *out,
                               leat_error *err) {
    leati_operand operands[2] = {*in, {.dtype = in->dtype, .count = 1}};
    /* 8 bytes hold a number of any dtype; of rank 0 and stride 0 it goes to every value. */
    operands[1].data = leati_arena_alloc(call->arena, 8);
    if (operands[1].data == NULL)
        return leati_no_memory(err);
    leati_support_store_number(in->dtype, number, operands[1].data);
    return leati_support_inner_run(call, op, NULL, operands, 2, in->dtype, out, err);
}

/* Clips to what `dtype` holds. From int64 to uint64 TensorFlow's upper bound wraps to -1, which
 * leaves nothing but zeros. */
static leat_status clip(leati_kernel_call *call, const leati_operand *in, leat_dtype dtype,
                        leati_operand *out, leat_error *err) {
    if (in->dtype == LEAT_INT64 && dtype == LEAT_UINT64)
        return with_number(call, &leati_tensor_op_multiply, in, 0, out, err);
    return leati_saturate(call, in, dtype, out, err);
}

/* The values before the last cast to the result's dtype. */
static leat_status before_cast(leati_kernel_call *call, leati_operand *x, leat_error *err) {
    const struct leati_convert_args *args = call->args;
    leat_dtype from = call->inputs[0].dtype, to = args->dtype;
    *x = call->inputs[0];
    /* Floats can hold what comes: these are cast first and scaled then. */
    if (from == to || leati_dtype_is_float(to))
        return LEAT_OK;
    /* Integers lose bits by a division before the cast, and gain them behind it. */
    int down = leati_dtype_is_float(from) ? 0 : leati_saturate_bits(from) - leati_saturate_bits(to);
    if (leati_dtype_is_float(from))
        /* The half makes of truncation a rounding, and gives 1.0 the largest value. */
        LEATI_TRY(with_number(call, &leati_tensor_op_multiply, x, leati_saturate_largest(to) + 0.5,
                              x, err));
    else if (down > 0)
        LEATI_TRY(with_number(call, &leati_tensor_op_floordiv, x, ldexp(1, down), x, err));
    return args->saturate ? clip(call, x, to, x, err) : LEAT_OK;
}

/* ---- what most pictures are: bytes and float32, in one pass ---- */
LEATI_LANE1(unit_of_byte, uint8_t, uint32_t, float, (float)x *(float)(1.0 / 255))

/* As multiplied, clipped and cut off below; a NaN is 0. */
LEATI_ALWAYS_INLINE uint8_t byte_of(float number) {
    float above = number > 0.0F ? number : 0.0F;
    return (uint8_t)(int32_t)(above < 255.0F ? above : 255.0F);
}
LEATI_LANE1(byte_of_unit, float, float, uint8_t, byte_of(x * 255.5F))

static leati_lane_function lane_of(leat_dtype from, const struct leati_convert_args *args) {
    if (from == LEAT_UINT8 && args->dtype == LEAT_FLOAT32)
        return unit_of_byte;
    return from == LEAT_FLOAT32 && args->dtype == LEAT_UINT8 && args->saturate ? byte_of_unit
                                                                               : NULL;
}

static leat_status convert_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_convert_args *args = call->args;
    leat_dtype from = call->inputs[0].dtype, to = args->dtype;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_operand x, cast;
    leati_lane_function lane = lane_of(from, args);
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    if (lane != NULL)
        return leati_elementwise(call, lane, NULL, err);
    LEATI_TRY(before_cast(call, &x, err));
    double factor = 1;
    if (leati_dtype_is_float(to) && !leati_dtype_is_float(from))
        factor = 1 / leati_saturate_largest(from);
    else if (!leati_dtype_is_float(to) && !leati_dtype_is_float(from) &&
             leati_saturate_bits(to) > leati_saturate_bits(from))
        factor = ldexp(1, leati_saturate_bits(to) - leati_saturate_bits(from));
    /* Nothing behind the cast: it can write to the output. */
    if (factor == 1)
        return leati_support_inner_cast_into(call, &x, &call->outputs[0], err);
    LEATI_TRY(leati_support_inner_cast(call, &x, to, &cast, err));
    LEATI_TRY(with_number(call, &leati_tensor_op_multiply, &cast, factor, &cast, err));
    return leati_support_inner_cast_into(call, &cast, &call->outputs[0], err);
}

static leat_status convert_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    leat_dtype from = leat_value_dtype(call->inputs[0]);
    /* Between floats the conversion is a cast; to integers nothing flows. */
    if (leati_dtype_is_float(from))
        call->input_gradients[0] = leat_op_cast(call->output_gradients[0], from);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_convert_image_dtype = {
    .name = "convert_image_dtype",
    .version = 1,
    .doc = "Pictures of another dtype, scaled so that 1.0 is an integer's largest value "
           "(tf.image.convert_image_dtype).",
    .names = "image.convert_image_dtype",
    .inputs = "image",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_PYTHON,
    .rows = convert_rows,
    .args_size = sizeof(struct leati_convert_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = convert_infer,
    .kernel = convert_kernel,
    .gradient = convert_gradient,
};
