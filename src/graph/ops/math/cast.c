/* cast: x as another dtype (tf.cast).
 *
 * Integers keep their low bits, numbers become true where they are not 0. Floats truncate towards
 * zero; where C leaves the result open they become the lowest int64 (int32 for narrow integers), as
 * TensorFlow's do on x86: no two machines disagree. Complex numbers lose their imaginary part on
 * the way to any other. The gradient is cast back.
 * Fails in inference on strings and objects. No state, no locks. */
#include "base/minmax.h"
#include "graph/known.h"
#include "graph/support/math/elementwise.h"

struct cast_args {
    leat_dtype dtype;
};

static const leati_row cast_rows[] = {
    {.name = "dtype",
     .type = LEATI_ROW_DTYPE,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct cast_args, dtype),
     .doc = "The dtype of the result."},
    {0},
};

/* Floats to integers without undefined behaviour, as x86's instructions have it: what does not fit,
 * and NaN, becomes the lowest value (of wide unsigned integers: the highest bit alone). The
 * conversion sees a clamped number, so that loops of it vectorise. */
static inline int32_t float_to_int32(float x) {
    float held = LEATI_MAX(x, -2147483648.0f);
    held = LEATI_MIN(held, 2147483520.0f); /* the largest float below 2^31 */
    int32_t whole = (int32_t)held;
    /* A NaN fails this comparison, and becomes the lowest value. */
    return x < 2147483648.0f ? whole : INT32_MIN;
}
static inline int32_t double_to_int32(double x) {
    double held = LEATI_MAX(x, -2147483648.0);
    int32_t whole = (int32_t)LEATI_MIN(held, 2147483647.0);
    return x < 2147483648.0 ? whole : INT32_MIN;
}
static inline int64_t double_to_int64(double x) {
    return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}
static inline uint64_t double_to_uint64(double x) {
    if (x >= 9223372036854775808.0 && x < 18446744073709551616.0)
        return (uint64_t)x;
    return (uint64_t)double_to_int64(x);
}
static inline uint32_t double_to_uint32(double x) {
    return x < 4294967296.0 ? (uint32_t)double_to_int64(x) : UINT32_C(1) << 31;
}

/* A lane from TYPE to OUT; LOAD makes the value x that STORE turns into OUT. */
#define CAST_LANE(VERSIONS, NAME, TYPE, OUT, LOAD, STORE)                                          \
    LEATI_LANE1_BY(VERSIONS, NAME, TYPE, OUT, OUT, STORE(LOAD(x)))

#define AS_IT_IS(x) (x)
#define IS_NOT_ZERO(x) ((x) != 0)

/* NAME is FROM_to. */
#define CAST_TO_COMPLEX(NAME, TYPE, LOAD)                                                          \
    CAST_LANE(LEATI_ISA_PLAIN_ONLY, NAME##_complex64, TYPE, leati_complex64, LOAD, AS_IT_IS)       \
    CAST_LANE(LEATI_ISA_PLAIN_ONLY, NAME##_complex128, TYPE, leati_complex128, LOAD, AS_IT_IS)

/* From an integer or bool to everything. */
#define CAST_FROM_INTEGER(FROM, TYPE, VERSIONS)                                                    \
    CAST_LANE(VERSIONS, FROM##_to_bool, TYPE, bool, AS_IT_IS, IS_NOT_ZERO)                         \
    CAST_LANE(VERSIONS, FROM##_to_int8, TYPE, int8_t, AS_IT_IS, AS_IT_IS)                          \
    CAST_LANE(VERSIONS, FROM##_to_int16, TYPE, int16_t, AS_IT_IS, AS_IT_IS)                        \
    CAST_LANE(VERSIONS, FROM##_to_int32, TYPE, int32_t, AS_IT_IS, AS_IT_IS)                        \
    CAST_LANE(VERSIONS, FROM##_to_int64, TYPE, int64_t, AS_IT_IS, AS_IT_IS)                        \
    CAST_LANE(VERSIONS, FROM##_to_uint8, TYPE, uint8_t, AS_IT_IS, AS_IT_IS)                        \
    CAST_LANE(VERSIONS, FROM##_to_uint16, TYPE, uint16_t, AS_IT_IS, AS_IT_IS)                      \
    CAST_LANE(VERSIONS, FROM##_to_uint32, TYPE, uint32_t, AS_IT_IS, AS_IT_IS)                      \
    CAST_LANE(VERSIONS, FROM##_to_uint64, TYPE, uint64_t, AS_IT_IS, AS_IT_IS)                      \
    CAST_LANE(VERSIONS, FROM##_to_float16, TYPE, uint16_t, (float), leati_half_of_float)           \
    CAST_LANE(VERSIONS, FROM##_to_bfloat16, TYPE, uint16_t, (float), leati_bfloat16_of_float)      \
    CAST_LANE(VERSIONS, FROM##_to_float32, TYPE, float, AS_IT_IS, AS_IT_IS)                        \
    CAST_LANE(VERSIONS, FROM##_to_float64, TYPE, double, AS_IT_IS, AS_IT_IS)                       \
    CAST_TO_COMPLEX(FROM##_to, TYPE, AS_IT_IS)

/* From a float: LOAD gives float or double, NARROW its int32. */
#define CAST_FROM_FLOAT(FROM, TYPE, LOAD, NARROW, VERSIONS)                                        \
    CAST_FROM_PART(FROM, TYPE, LOAD, NARROW, VERSIONS)                                             \
    CAST_TO_COMPLEX(FROM##_to, TYPE, LOAD)
/* The same to what is not complex. */
#define CAST_FROM_PART(FROM, TYPE, LOAD, NARROW, VERSIONS)                                         \
    CAST_LANE(VERSIONS, FROM##_to_bool, TYPE, bool, LOAD, IS_NOT_ZERO)                             \
    CAST_LANE(VERSIONS, FROM##_to_int8, TYPE, int8_t, LOAD, NARROW)                                \
    CAST_LANE(VERSIONS, FROM##_to_int16, TYPE, int16_t, LOAD, NARROW)                              \
    CAST_LANE(VERSIONS, FROM##_to_int32, TYPE, int32_t, LOAD, NARROW)                              \
    CAST_LANE(VERSIONS, FROM##_to_int64, TYPE, int64_t, LOAD, double_to_int64)                     \
    CAST_LANE(VERSIONS, FROM##_to_uint8, TYPE, uint8_t, LOAD, NARROW)                              \
    CAST_LANE(VERSIONS, FROM##_to_uint16, TYPE, uint16_t, LOAD, NARROW)                            \
    CAST_LANE(VERSIONS, FROM##_to_uint32, TYPE, uint32_t, LOAD, double_to_uint32)                  \
    CAST_LANE(VERSIONS, FROM##_to_uint64, TYPE, uint64_t, LOAD, double_to_uint64)                  \
    CAST_LANE(VERSIONS, FROM##_to_float64, TYPE, double, LOAD, AS_IT_IS)

CAST_FROM_INTEGER(bool, bool, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_INTEGER(int8, int8_t, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_INTEGER(int16, int16_t, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_INTEGER(int32, int32_t, LEATI_ISA)
CAST_FROM_INTEGER(int64, int64_t, LEATI_ISA)
CAST_FROM_INTEGER(uint8, uint8_t, LEATI_ISA)
CAST_FROM_INTEGER(uint16, uint16_t, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_INTEGER(uint32, uint32_t, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_INTEGER(uint64, uint64_t, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_FLOAT(float16, uint16_t, leati_float_of_half, float_to_int32, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_FLOAT(bfloat16, uint16_t, leati_float_of_bfloat16, float_to_int32, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_FLOAT(float32, float, AS_IT_IS, float_to_int32, LEATI_ISA)
CAST_FROM_FLOAT(float64, double, AS_IT_IS, double_to_int32, LEATI_ISA_PLAIN_ONLY)
/* The imaginary part is dropped. */
CAST_FROM_PART(complex64, leati_complex64, crealf, float_to_int32, LEATI_ISA_PLAIN_ONLY)
CAST_FROM_PART(complex128, leati_complex128, creal, double_to_int32, LEATI_ISA_PLAIN_ONLY)
CAST_TO_COMPLEX(complex64_to, leati_complex64, (leati_complex64))
CAST_TO_COMPLEX(complex128_to, leati_complex128, (leati_complex128))

/* Between floats. */
#define CAST_HALF(HALF, DTYPE)                                                                     \
    static void HALF##_to_float32(leati_lane *lane) {                                              \
        leati_elementwise_widen(lane, DTYPE);                                                      \
    }                                                                                              \
    static void float32_to_##HALF(leati_lane *lane) {                                              \
        leati_elementwise_narrow(lane, DTYPE);                                                     \
    }
CAST_HALF(float16, LEAT_FLOAT16)
CAST_HALF(bfloat16, LEAT_BFLOAT16)
#define CAST_TO_HALVES(FROM, TYPE, LOAD)                                                           \
    CAST_LANE(LEATI_ISA_PLAIN_ONLY, FROM##_to_float16, TYPE, uint16_t, LOAD, leati_half_of_float)  \
    CAST_LANE(LEATI_ISA_PLAIN_ONLY, FROM##_to_bfloat16, TYPE, uint16_t, LOAD,                      \
              leati_bfloat16_of_float)
CAST_TO_HALVES(float16, uint16_t, leati_float_of_half)
CAST_TO_HALVES(bfloat16, uint16_t, leati_float_of_bfloat16)
CAST_TO_HALVES(float64, double, (float))
CAST_TO_HALVES(complex64, leati_complex64, crealf)
CAST_TO_HALVES(complex128, leati_complex128, (float)creal)
CAST_LANE(LEATI_ISA_PLAIN_ONLY, complex64_to_float32, leati_complex64, float, crealf, AS_IT_IS)
CAST_LANE(LEATI_ISA_PLAIN_ONLY, complex128_to_float32, leati_complex128, float, creal, AS_IT_IS)
CAST_LANE(LEATI_ISA, float32_to_float32, float, float, AS_IT_IS, AS_IT_IS)
CAST_LANE(LEATI_ISA, float64_to_float32, double, float, AS_IT_IS, AS_IT_IS)

#define CAST_TABLE(FROM)                                                                           \
    {                                                                                              \
        [LEAT_BOOL] = FROM##_to_bool, [LEAT_INT8] = FROM##_to_int8,                                \
        [LEAT_INT16] = FROM##_to_int16, [LEAT_INT32] = FROM##_to_int32,                            \
        [LEAT_INT64] = FROM##_to_int64, [LEAT_UINT8] = FROM##_to_uint8,                            \
        [LEAT_UINT16] = FROM##_to_uint16, [LEAT_UINT32] = FROM##_to_uint32,                        \
        [LEAT_UINT64] = FROM##_to_uint64, [LEAT_FLOAT16] = FROM##_to_float16,                      \
        [LEAT_BFLOAT16] = FROM##_to_bfloat16, [LEAT_FLOAT32] = FROM##_to_float32,                  \
        [LEAT_FLOAT64] = FROM##_to_float64, [LEAT_COMPLEX64] = FROM##_to_complex64,                \
        [LEAT_COMPLEX128] = FROM##_to_complex128                                                   \
    }

static const leati_lane_function cast_lanes[LEAT_NUM_DTYPES][LEAT_NUM_DTYPES] = {
    [LEAT_BOOL] = CAST_TABLE(bool),
    [LEAT_INT8] = CAST_TABLE(int8),
    [LEAT_INT16] = CAST_TABLE(int16),
    [LEAT_INT32] = CAST_TABLE(int32),
    [LEAT_INT64] = CAST_TABLE(int64),
    [LEAT_UINT8] = CAST_TABLE(uint8),
    [LEAT_UINT16] = CAST_TABLE(uint16),
    [LEAT_UINT32] = CAST_TABLE(uint32),
    [LEAT_UINT64] = CAST_TABLE(uint64),
    [LEAT_FLOAT16] = CAST_TABLE(float16),
    [LEAT_BFLOAT16] = CAST_TABLE(bfloat16),
    [LEAT_FLOAT32] = CAST_TABLE(float32),
    [LEAT_FLOAT64] = CAST_TABLE(float64),
    [LEAT_COMPLEX64] = CAST_TABLE(complex64),
    [LEAT_COMPLEX128] = CAST_TABLE(complex128)};

static leat_status cast_infer(leati_infer_call *call, leat_error *err) {
    const struct cast_args *args = call->args;
    leat_dtype from = call->inputs[0].dtype;
    if (args->dtype >= LEAT_NUM_DTYPES || cast_lanes[from][args->dtype] == NULL)
        return leati_refuse(
            err, DTYPE,
            "no cast from %s to %s; expected numbers or bool (string_to_number reads "
            "text, as_string writes it)",
            leat_dtype_name(from), leat_dtype_name(args->dtype));
    return leati_op_infer_output(call, args->dtype, &call->inputs[0].shape, NULL, err);
}

static leat_status cast_kernel(leati_kernel_call *call, leat_error *err) {
    const struct cast_args *args = call->args;
    return leati_elementwise(call, cast_lanes[call->inputs[0].dtype][args->dtype], NULL, err);
}

static leat_status cast_gradient(leati_gradient_call *call, leat_error *err) {
    (void)err;
    const struct cast_args *args = call->args;
    leat_dtype from = leat_value_dtype(call->inputs[0]);
    /* Integers are steps: nothing flows through them. */
    if (leati_graph_dtype_is_trainable(from) && leati_graph_dtype_is_trainable(args->dtype))
        call->input_gradients[0] = leat_op_cast(call->output_gradients[0], from);
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_cast = {
    .name = "cast",
    .version = 1,
    .doc = "x as another dtype: floats truncate, integers keep their low bits, complex numbers "
           "become their real part (tf.cast).",
    .names = "cast dtypes.cast",
    .inputs = "x",
    .types = "T",
    .outputs = "y",
    .halves = LEATI_HALVES_OWN,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = cast_rows,
    .args_size = sizeof(struct cast_args),
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_ELEMENTWISE,
    .infer = cast_infer,
    .kernel = cast_kernel,
    .gradient = cast_gradient,
    .known = leati_known_same,
};
