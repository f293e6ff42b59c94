/* saturate_cast: x as another dtype, clipped to what that holds (tf.saturate_cast).
 *
 * Clipping happens in x's dtype, whose number next to a bound and not beyond it counts; then the
 * values are cast, so that a NaN becomes what cast makes of it, and so does a float that an int64
 * just does not hold. Infinities become the largest finite numbers. The gradient is that of the two
 * steps. Fails in inference on what is no number. No state, no locks. */
#include "graph/support/math/saturate.h"

#include "base/minmax.h"
#include "core/half.h"

#include <math.h>

struct saturate_args {
    leat_dtype dtype;
};

static const leati_row saturate_rows[] = {
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct saturate_args, dtype),
     .doc = "The dtype of the result, a number."},
    {0},
};

static bool is_float(leat_dtype dtype) {
    return dtype >= LEAT_FLOAT16 && dtype <= LEAT_FLOAT64;
}

static bool is_signed(leat_dtype dtype) {
    return dtype >= LEAT_INT8 && dtype <= LEAT_INT64;
}

/* ---- bounds ---- */

static uint64_t largest_integer(leat_dtype dtype) {
    int bits = (int)leat_dtype_size(dtype) * 8 - (is_signed(dtype) ? 1 : 0);
    return UINT64_MAX >> (64 - bits);
}

static int64_t lowest_integer(leat_dtype dtype) {
    return is_signed(dtype) ? -(int64_t)largest_integer(dtype) - 1 : 0;
}

static double largest_float(leat_dtype dtype) {
    switch (dtype) {
    case LEAT_FLOAT16: return 65504;
    case LEAT_BFLOAT16: return (double)leati_float_of_bfloat16(0x7f7f);
    case LEAT_FLOAT32: return (double)0x1.fffffep127F;
    default: return 0x1.fffffffffffffp1023;
    }
}

/* The value of a float dtype that is nearest to a positive bound and not beyond it. */
static double within(leat_dtype dtype, double bound) {
    uint16_t half = leati_half_of_float((float)bound),
             brain = leati_bfloat16_of_float((float)bound);
    float single = (float)bound;
    switch (dtype) {
    case LEAT_FLOAT16:
        /* One less is the next number towards 0, as bits of positive floats are in the order of
         * their values. */
        half -= (double)leati_float_of_half(half) > bound;
        return (double)leati_float_of_half(half);
    case LEAT_BFLOAT16:
        brain -= (double)leati_float_of_bfloat16(brain) > bound;
        return (double)leati_float_of_bfloat16(brain);
    case LEAT_FLOAT32: return (double)((double)single > bound ? nextafterf(single, 0) : single);
    default: return bound;
    }
}

/* The bounds of a float dtype's values. */
static void float_bounds(leat_dtype from, leat_dtype to, double *low, double *high) {
    if (is_float(to)) {
        *high = within(from, fmin(largest_float(from), largest_float(to)));
        *low = -*high;
        return;
    }
    *high = within(from, (double)largest_integer(to));
    /* The lowest integer is a power of two or 0, which every float dtype has if it reaches that
     * far. */
    *low = -within(from, -(double)lowest_integer(to));
}

static void store_integer(leat_dtype dtype, uint64_t bits, void *to) {
    switch (leat_dtype_size(dtype)) {
    case 1: *(uint8_t *)to = (uint8_t)bits; break;
    case 2: *(uint16_t *)to = (uint16_t)bits; break;
    case 4: *(uint32_t *)to = (uint32_t)bits; break;
    default: *(uint64_t *)to = bits; break;
    }
}

bool leati_saturate_bounds(leat_dtype from, leat_dtype to, void *low, void *high) {
    double ends[2];
    if (is_float(from)) {
        float_bounds(from, to, &ends[0], &ends[1]);
        return leati_support_store_number(from, ends[0], low) &&
               leati_support_store_number(from, ends[1], high);
    }
    /* All integers lie within what floats reach, but for float16. */
    if (is_float(to) && to != LEAT_FLOAT16)
        return false;
    int64_t lowest = to == LEAT_FLOAT16 ? -65504 : lowest_integer(to), own = lowest_integer(from);
    uint64_t largest = to == LEAT_FLOAT16 ? 65504 : largest_integer(to);
    /* Where the target holds all of the dtype nothing is clipped. */
    if (own >= lowest && largest_integer(from) <= largest)
        return false;
    if (largest > largest_integer(from))
        largest = largest_integer(from);
    store_integer(from, (uint64_t)LEATI_MAX(own, lowest), low);
    store_integer(from, largest, high);
    return true;
}

leat_status leati_saturate(leati_kernel_call *call, const leati_operand *in, leat_dtype dtype,
                           leati_operand *out, leat_error *err) {
    leati_operand operands[3] = {
        *in, {.dtype = in->dtype, .count = 1}, {.dtype = in->dtype, .count = 1}};
    /* Two values of 8 bytes at most. */
    char *bounds = leati_arena_alloc(call->arena, 16);
    if (bounds == NULL)
        return leati_no_memory(err);
    operands[1].data = bounds;
    operands[2].data = bounds + 8;
    *out = *in;
    if (!leati_saturate_bounds(in->dtype, dtype, operands[1].data, operands[2].data))
        return LEAT_OK;
    return leati_support_inner_run(call, &leati_tensor_op_clip_by_value, NULL, operands, 3,
                                   in->dtype, out, err);
}

/* ---- slots ---- */

static leat_status saturate_infer(leati_infer_call *call, leat_error *err) {
    const struct saturate_args *args = call->args;
    leat_dtype from = call->inputs[0].dtype;
    if (from <= LEAT_BOOL || from > LEAT_FLOAT64 || args->dtype <= LEAT_BOOL ||
        args->dtype > LEAT_FLOAT64)
        return leati_refuse(err, DTYPE, "from %s to %s; expected numbers", leat_dtype_name(from),
                            leat_dtype_name(args->dtype));
    return leati_op_infer_output(call, args->dtype, &call->inputs[0].shape, NULL, err);
}

static leat_status saturate_kernel(leati_kernel_call *call, leat_error *err) {
    const struct saturate_args *args = call->args;
    leat_shape shape = leati_support_operand_shape(&call->inputs[0]);
    leati_operand clipped;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    LEATI_TRY(leati_saturate(call, &call->inputs[0], args->dtype, &clipped, err));
    return leati_support_inner_cast_into(call, &clipped, &call->outputs[0], err);
}

static leat_status saturate_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    const struct saturate_args *args = call->args;
    leat_value x = call->inputs[0];
    leat_dtype from = leat_value_dtype(x);
    double low, high;
    /* Nothing flows through integers. */
    if (!is_float(from) || !is_float(args->dtype))
        return LEAT_OK;
    float_bounds(from, args->dtype, &low, &high);
    leat_value outside =
        leat_op_logical_or(leat_op_less(x, leati_support_number(call->graph, from, low)),
                           leat_op_greater(x, leati_support_number(call->graph, from, high)));
    leat_value dy = leat_op_cast(call->output_gradients[0], from);
    call->input_gradients[0] = leat_op_select(outside, leat_op_zeros_like(dy), dy);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_saturate_cast = {
    .name = "saturate_cast",
    .version = 1,
    .doc = "x as another dtype, clipped to what that holds (tf.saturate_cast).",
    .names = "saturate_cast dtypes.saturate_cast",
    .inputs = "value",
    .types = "T",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = saturate_rows,
    .args_size = sizeof(struct saturate_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = saturate_infer,
    .kernel = saturate_kernel,
    .gradient = saturate_gradient,
};
