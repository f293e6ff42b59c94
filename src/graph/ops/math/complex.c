/* complex, real, imag, conj, angle: complex numbers and their parts (tf.complex, tf.math.real and
 * so on).
 *
 * complex64 is made of float32 and complex128 of float64. The parts of other numbers are as if the
 * imaginary one were 0: bindings ask for complex ones alone. They fail in inference on other
 * dtypes, complex where dtypes differ or shapes do not broadcast. No state, no locks. */
#include "core/tensor.h"
#include "graph/support/math/elementwise.h"

/* ---- kernels ---- */
#define TO_PART(OP, EXPRESSION32, EXPRESSION64)                                                    \
    LEATI_LANE1(OP##_complex64, leati_complex64, leati_complex64, float, EXPRESSION32)             \
    LEATI_LANE1(OP##_complex128, leati_complex128, leati_complex128, double, EXPRESSION64)         \
    LEATI_ELEMENTWISE_TABLE(OP, infer_part, NULL, LEATI_TABLE_COMPLEX(OP))

static leat_status infer_part(leati_infer_call *call, leat_error *err) {
    const leati_type *in = &call->inputs[0];
    return leati_op_infer_output(call, leati_dtype_part(in->dtype), &in->shape, NULL, err);
}

TO_PART(real, crealf(x), creal(x))
TO_PART(imag, cimagf(x), cimag(x))
TO_PART(angle, cargf(x), carg(x))

LEATI_LANES1_COMPLEX(conj, conjf(x), conj(x))
LEATI_ELEMENTWISE_TABLE(conj, leati_op_infer_same, NULL, LEATI_TABLE_COMPLEX(conj))

LEATI_LANE2(complex_float32, float, float, leati_complex64, leati_complex64_of(x, y))
LEATI_LANE2(complex_float64, double, double, leati_complex128, leati_complex128_of(x, y))
static const leati_lane_function complex_lanes[LEAT_NUM_DTYPES] = {
    [LEAT_FLOAT32] = complex_float32, [LEAT_FLOAT64] = complex_float64};

static leat_status complex_infer(leati_infer_call *call, leat_error *err) {
    LEATI_TRY(leati_elementwise_check(call, 0, complex_lanes, err));
    LEATI_TRY(leati_op_infer_broadcast(call, err));
    leati_type *out = &call->outputs[0];
    out->dtype = out->dtype == LEAT_FLOAT32 ? LEAT_COMPLEX64 : LEAT_COMPLEX128;
    return LEAT_OK;
}

static leat_status complex_kernel(leati_kernel_call *call, leat_error *err) {
    return leati_elementwise_by_dtype(call, complex_lanes, 0, NULL, err);
}

/* ---- gradients ---- */
/* What flows into a complex number of which a part alone is used. */
static leat_value to_real(leat_value g) {
    return leat_op_complex(g, leat_op_zeros_like(g));
}

static leat_value to_imaginary(leat_value g) {
    return leat_op_complex(leat_op_zeros_like(g), g);
}

static leat_value to_angle(leat_value g, leat_value x) {
    leat_value turned = leat_op_complex(leat_op_imag(x), leat_op_real(x));
    return leat_op_negate(leat_op_multiply(to_real(g), leat_op_reciprocal(turned)));
}

static leat_status real_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = to_real(call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status imag_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = to_imaginary(call->output_gradients[0]);
    return LEAT_OK;
}

static leat_status angle_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = to_angle(call->output_gradients[0], call->inputs[0]);
    return LEAT_OK;
}

static leat_status conj_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    call->input_gradients[0] = leat_op_conj(call->output_gradients[0]);
    return LEAT_OK;
}

LEATI_GRADIENT2(complex, leat_op_real(g), leat_op_imag(g))

/* ---- descriptors ---- */
#define PART_OP(OP, ...)                                                                           \
    LEATI_ELEMENTWISE_OP(OP, 1, .inputs = "input", .types = "T", .outputs = "output",              \
                         .halves = LEATI_HALVES_NONE, .gradient = OP##_gradient, __VA_ARGS__)
PART_OP(angle, .doc = "The angle of a complex number, in radians (tf.math.angle).")
PART_OP(conj, .doc = "The conjugate of a complex number (tf.math.conj).")
PART_OP(imag, .doc = "The imaginary part of a complex number (tf.math.imag).")
PART_OP(real, .doc = "The real part of a complex number (tf.math.real).")
LEATI_ELEMENTWISE_OP2(complex,
                      .doc = "The complex numbers of two parts, float32 or float64, broadcast "
                             "(tf.complex).",
                      .names = "complex dtypes.complex", .inputs = "real imag", .types = "T T",
                      .outputs = "out", .halves = LEATI_HALVES_NONE, .gradient = complex_gradient)
