/* Elementwise kernels: the loops, written once.
 *
 * An operation names one expression per kind of number; the macros below make a *lane* of it for
 * each dtype: a function over n values whose operands lie any number of bytes apart, with plain
 * loops for operands that are dense or constant, which the compiler turns into vector code for each
 * instruction set (base/isa.h); others are brought there by pieces, and float16 and bfloat16 go
 * through the loops of float32. An operand may be the result itself. leati_elementwise walks rows
 * and broadcast dimensions, merged into as few loops as their strides allow, so a block of dense
 * scalars is one call of one lane, and shares what is much between the crew's threads.
 *
 * In an expression, x, y and z are the operands (of the dtype; float for float16 and bfloat16), T
 * is the dtype and U an unsigned type at least as wide in which integers wrap as TensorFlow's do.
 */
#ifndef LEATI_GRAPH_SUPPORT_MATH_ELEMENTWISE_H
#define LEATI_GRAPH_SUPPORT_MATH_ELEMENTWISE_H

#include "base/isa.h"
#include "core/complex.h"
#include "core/half.h"
#include "graph/support/math/functions.h"
#include "graph/support/support.h"

#include <math.h>

typedef struct leati_lane {
    char *out;
    const char *in[3];
    int64_t out_step; /* bytes */
    int64_t in_step[3];
    int64_t n;
    int64_t failed; /* set by a lane that refuses value `failed` of its n; -1 at first */
} leati_lane;

typedef void (*leati_lane_function)(leati_lane *lane);

/* Runs `function` over all rows and values with numpy's broadcasting. If a lane refuses a value,
 * the call's failed_row is set and `refusal` is the text of the INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_elementwise(leati_kernel_call *call,
                                               leati_lane_function function, const char *refusal,
                                               leat_error *err);
/* The same of a function that takes `ns` nanoseconds for a value, many more than reading it. */
LEAT_WARN_UNUSED leat_status leati_elementwise_slow(leati_kernel_call *call,
                                                    leati_lane_function function, double ns,
                                                    const char *refusal, leat_error *err);
/* The same with the function for input `index`'s dtype from a table of LEAT_NUM_DTYPES. */
LEAT_WARN_UNUSED leat_status leati_elementwise_by_dtype(leati_kernel_call *call,
                                                        const leati_lane_function *lanes, int index,
                                                        const char *refusal, leat_error *err);
/* INVALID_ARGUMENT unless the table has a function for the dtype of input `index`. */
LEAT_WARN_UNUSED leat_status leati_elementwise_check(const leati_infer_call *call, int index,
                                                     const leati_lane_function *lanes,
                                                     leat_error *err);

#define LEATI_UNUSED __attribute__((unused))

/* Runs `dense`, of so many operands that lie value behind value (one of two may be a constant), and
 * brings them there by pieces where they do not. */
void leati_elementwise_run(leati_lane *lane, leati_lane_function dense, int operands,
                           size_t in_size, size_t out_size);
/* The same of float16 or bfloat16 by the lane of float32, whose results are `out_size` bytes, or 2
 * of halves. */
void leati_elementwise_run_halves(leati_lane *lane, leat_dtype half, leati_lane_function of_floats,
                                  int operands, size_t out_size);

/* The lanes of float16 or bfloat16 to float32, and back. */
void leati_elementwise_widen(leati_lane *lane, leat_dtype half);
void leati_elementwise_narrow(leati_lane *lane, leat_dtype half);

#define LEATI_LANE_OF_HALVES(NAME, DTYPE, FLOAT32, OPERANDS, OUT_SIZE)                             \
    static void NAME(leati_lane *lane) {                                                           \
        leati_elementwise_run_halves(lane, DTYPE, FLOAT32, OPERANDS, OUT_SIZE);                    \
    }
#define LEATI_LANES_OF_HALVES(OP, OPERANDS, OUT_SIZE)                                              \
    LEATI_LANE_OF_HALVES(OP##_float16, LEAT_FLOAT16, OP##_float32, OPERANDS, OUT_SIZE)             \
    LEATI_LANE_OF_HALVES(OP##_bfloat16, LEAT_BFLOAT16, OP##_float32, OPERANDS, OUT_SIZE)

/* ---- one operand ---- */
#define LEATI_LANE1(...) LEATI_LANE1_BY(LEATI_ISA, __VA_ARGS__)
/* Of dtypes that few programs use. */
#define LEATI_LANE1_RARE(...) LEATI_LANE1_BY(LEATI_ISA_PLAIN_ONLY, __VA_ARGS__)
#define LEATI_LANE1_BY(VERSIONS, NAME, TYPE, UTYPE, OUT, EXPRESSION)                               \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        typedef TYPE T LEATI_UNUSED;                                                               \
        typedef UTYPE U LEATI_UNUSED;                                                              \
        const TYPE *a = (const TYPE *)lane->in[0];                                                 \
        OUT *out = (OUT *)lane->out;                                                               \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0, n = lane->n; i < n; i++) {                                             \
            TYPE x = a[i];                                                                         \
            out[i] = (OUT)(EXPRESSION);                                                            \
        }                                                                                          \
    }                                                                                              \
    VERSIONS(NAME##_dense, NAME##_loop, leati_lane *)                                              \
    static void NAME(leati_lane *lane) {                                                           \
        leati_elementwise_run(lane, NAME##_dense, 1, sizeof(TYPE), sizeof(OUT));                   \
    }

/* In an expression of halves: a number as the half that is nearest to it. */
#define LEATI_R(NUMBER) leati_elementwise_rounded(NUMBER, rounding)
LEATI_ALWAYS_INLINE float leati_elementwise_rounded(float number, leat_dtype half) {
    return half == LEAT_FLOAT16 ? leati_float_as_half(number)
                                : leati_float_of_bfloat16(leati_bfloat16_of_float(number));
}

/* Of float16 or bfloat16 (HALF), giving HALF, computed in float32. */
#define LEATI_DTYPE_OF_half LEAT_FLOAT16
#define LEATI_DTYPE_OF_bfloat16 LEAT_BFLOAT16
#define LEATI_LANE1_HALF(NAME, HALF, EXPRESSION)                                                   \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        typedef float T LEATI_UNUSED;                                                              \
        const leat_dtype rounding LEATI_UNUSED = LEATI_DTYPE_OF_##HALF;                            \
        const float *a = (const float *)lane->in[0];                                               \
        float *out = (float *)lane->out;                                                           \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0, n = lane->n; i < n; i++) {                                             \
            float x = a[i];                                                                        \
            out[i] = (EXPRESSION);                                                                 \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(NAME##_floats, NAME##_loop, leati_lane *)                                            \
    LEATI_LANE_OF_HALVES(NAME, LEATI_DTYPE_OF_##HALF, NAME##_floats, 1, sizeof(uint16_t))

/* ---- two operands ---- */
#define LEATI_LOOP2(TYPE, OUT, X, Y, EXPRESSION)                                                   \
    do {                                                                                           \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            TYPE x = (X), y = (Y);                                                                 \
            out[i] = (OUT)(EXPRESSION);                                                            \
        }                                                                                          \
        return;                                                                                    \
    } while (0)

#define LEATI_LANE2(...) LEATI_LANE2_BY(LEATI_ISA, __VA_ARGS__)
#define LEATI_LANE2_RARE(...) LEATI_LANE2_BY(LEATI_ISA_PLAIN_ONLY, __VA_ARGS__)
#define LEATI_LANE2_BY(VERSIONS, NAME, TYPE, UTYPE, OUT, EXPRESSION)                               \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        typedef TYPE T LEATI_UNUSED;                                                               \
        typedef UTYPE U LEATI_UNUSED;                                                              \
        const int64_t n = lane->n;                                                                 \
        const TYPE *a = (const TYPE *)lane->in[0], *b = (const TYPE *)lane->in[1];                 \
        OUT *out = (OUT *)lane->out;                                                               \
        if (lane->in_step[1] == 0) {                                                               \
            const TYPE c = *b;                                                                     \
            LEATI_LOOP2(TYPE, OUT, a[i], c, EXPRESSION);                                           \
        }                                                                                          \
        if (lane->in_step[0] == 0) {                                                               \
            const TYPE c = *a;                                                                     \
            LEATI_LOOP2(TYPE, OUT, c, b[i], EXPRESSION);                                           \
        }                                                                                          \
        LEATI_LOOP2(TYPE, OUT, a[i], b[i], EXPRESSION);                                            \
    }                                                                                              \
    VERSIONS(NAME##_dense, NAME##_loop, leati_lane *)                                              \
    static void NAME(leati_lane *lane) {                                                           \
        leati_elementwise_run(lane, NAME##_dense, 2, sizeof(TYPE), sizeof(OUT));                   \
    }

#define LEATI_LANE2_HALF(NAME, HALF, EXPRESSION)                                                   \
    LEATI_ALWAYS_INLINE void NAME##_loop(leati_lane *lane) {                                       \
        typedef float T LEATI_UNUSED;                                                              \
        const leat_dtype rounding LEATI_UNUSED = LEATI_DTYPE_OF_##HALF;                            \
        const float *a = (const float *)lane->in[0], *b = (const float *)lane->in[1];              \
        float *out = (float *)lane->out;                                                           \
        LEATI_INDEPENDENT                                                                          \
        for (int64_t i = 0, n = lane->n; i < n; i++) {                                             \
            float x = a[i], y = b[i];                                                              \
            out[i] = (EXPRESSION);                                                                 \
        }                                                                                          \
    }                                                                                              \
    LEATI_ISA(NAME##_floats, NAME##_loop, leati_lane *)                                            \
    LEATI_LANE_OF_HALVES(NAME, LEATI_DTYPE_OF_##HALF, NAME##_floats, 2, sizeof(uint16_t))

/* ---- all dtypes of an operation ---- */
#define LEATI_LANES1_SIGNED(OP, INTEGER)                                                           \
    LEATI_LANE1_RARE(OP##_int8, int8_t, uint32_t, int8_t, INTEGER)                                 \
    LEATI_LANE1_RARE(OP##_int16, int16_t, uint32_t, int16_t, INTEGER)                              \
    LEATI_LANE1(OP##_int32, int32_t, uint32_t, int32_t, INTEGER)                                   \
    LEATI_LANE1(OP##_int64, int64_t, uint64_t, int64_t, INTEGER)
#define LEATI_LANES1_UNSIGNED(OP, INTEGER)                                                         \
    LEATI_LANE1(OP##_uint8, uint8_t, uint32_t, uint8_t, INTEGER)                                   \
    LEATI_LANE1_RARE(OP##_uint16, uint16_t, uint32_t, uint16_t, INTEGER)                           \
    LEATI_LANE1_RARE(OP##_uint32, uint32_t, uint32_t, uint32_t, INTEGER)                           \
    LEATI_LANE1_RARE(OP##_uint64, uint64_t, uint64_t, uint64_t, INTEGER)
#define LEATI_LANES1_FLOAT(OP, FLOAT32, FLOAT64)                                                   \
    LEATI_LANE1(OP##_float32, float, float, float, FLOAT32)                                        \
    LEATI_LANE1(OP##_float64, double, double, double, FLOAT64)                                     \
    LEATI_LANES_OF_HALVES(OP, 1, sizeof(uint16_t))

/* The same where TensorFlow rounds float16, bfloat16 or both after each step of the expression:
 * what stands for a half says LEATI_R(number) where it does. */
#define LEATI_LANES1_STEPS(OP, HALF, BFLOAT16, FLOAT32, FLOAT64)                                   \
    LEATI_LANE1_HALF(OP##_float16, half, HALF)                                                     \
    LEATI_LANE1_HALF(OP##_bfloat16, bfloat16, BFLOAT16)                                            \
    LEATI_LANE1(OP##_float32, float, float, float, FLOAT32)                                        \
    LEATI_LANE1(OP##_float64, double, double, double, FLOAT64)
#define LEATI_LANES2_STEPS(OP, HALVES, FLOAT32, FLOAT64)                                           \
    LEATI_LANE2_HALF(OP##_float16, half, HALVES)                                                   \
    LEATI_LANE2_HALF(OP##_bfloat16, bfloat16, HALVES)                                              \
    LEATI_LANE2(OP##_float32, float, float, float, FLOAT32)                                        \
    LEATI_LANE2(OP##_float64, double, double, double, FLOAT64)

#define LEATI_LANES2_INTEGER(OP, INTEGER)                                                          \
    LEATI_LANE2_RARE(OP##_int8, int8_t, uint32_t, int8_t, INTEGER)                                 \
    LEATI_LANE2_RARE(OP##_int16, int16_t, uint32_t, int16_t, INTEGER)                              \
    LEATI_LANE2(OP##_int32, int32_t, uint32_t, int32_t, INTEGER)                                   \
    LEATI_LANE2(OP##_int64, int64_t, uint64_t, int64_t, INTEGER)                                   \
    LEATI_LANE2(OP##_uint8, uint8_t, uint32_t, uint8_t, INTEGER)                                   \
    LEATI_LANE2_RARE(OP##_uint16, uint16_t, uint32_t, uint16_t, INTEGER)                           \
    LEATI_LANE2_RARE(OP##_uint32, uint32_t, uint32_t, uint32_t, INTEGER)                           \
    LEATI_LANE2_RARE(OP##_uint64, uint64_t, uint64_t, uint64_t, INTEGER)
#define LEATI_LANES2_FLOAT(OP, FLOAT32, FLOAT64)                                                   \
    LEATI_LANE2(OP##_float32, float, float, float, FLOAT32)                                        \
    LEATI_LANE2(OP##_float64, double, double, double, FLOAT64)                                     \
    LEATI_LANES_OF_HALVES(OP, 2, sizeof(uint16_t))

/* Of complex numbers, by the functions of core/complex.h. */
#define LEATI_LANES1_COMPLEX(OP, COMPLEX64, COMPLEX128)                                            \
    LEATI_LANE1_RARE(OP##_complex64, leati_complex64, leati_complex64, leati_complex64, COMPLEX64) \
    LEATI_LANE1_RARE(OP##_complex128, leati_complex128, leati_complex128, leati_complex128,        \
                     COMPLEX128)
#define LEATI_LANES2_COMPLEX(OP, COMPLEX64, COMPLEX128)                                            \
    LEATI_LANE2_RARE(OP##_complex64, leati_complex64, leati_complex64, leati_complex64, COMPLEX64) \
    LEATI_LANE2_RARE(OP##_complex128, leati_complex128, leati_complex128, leati_complex128,        \
                     COMPLEX128)

/* Comparisons: one expression for every number. */
#define LEATI_LANES2_COMPARE(OP, EXPRESSION)                                                       \
    LEATI_LANE2_RARE(OP##_int8, int8_t, uint32_t, bool, EXPRESSION)                                \
    LEATI_LANE2_RARE(OP##_int16, int16_t, uint32_t, bool, EXPRESSION)                              \
    LEATI_LANE2(OP##_int32, int32_t, uint32_t, bool, EXPRESSION)                                   \
    LEATI_LANE2(OP##_int64, int64_t, uint64_t, bool, EXPRESSION)                                   \
    LEATI_LANE2(OP##_uint8, uint8_t, uint32_t, bool, EXPRESSION)                                   \
    LEATI_LANE2_RARE(OP##_uint16, uint16_t, uint32_t, bool, EXPRESSION)                            \
    LEATI_LANE2_RARE(OP##_uint32, uint32_t, uint32_t, bool, EXPRESSION)                            \
    LEATI_LANE2_RARE(OP##_uint64, uint64_t, uint64_t, bool, EXPRESSION)                            \
    LEATI_LANE2(OP##_float32, float, float, bool, EXPRESSION)                                      \
    LEATI_LANE2(OP##_float64, double, double, bool, EXPRESSION)                                    \
    LEATI_LANES_OF_HALVES(OP, 2, sizeof(bool))

/* ---- tables, to stand between the braces of an array of LEAT_NUM_DTYPES ---- */
#define LEATI_TABLE_SIGNED(OP)                                                                     \
    [LEAT_INT8] = OP##_int8, [LEAT_INT16] = OP##_int16, [LEAT_INT32] = OP##_int32,                 \
    [LEAT_INT64] = OP##_int64
#define LEATI_TABLE_INTEGER(OP)                                                                    \
    LEATI_TABLE_SIGNED(OP), [LEAT_UINT8] = OP##_uint8, [LEAT_UINT16] = OP##_uint16,                \
                            [LEAT_UINT32] = OP##_uint32, [LEAT_UINT64] = OP##_uint64
#define LEATI_TABLE_FLOAT(OP)                                                                      \
    [LEAT_FLOAT16] = OP##_float16, [LEAT_BFLOAT16] = OP##_bfloat16, [LEAT_FLOAT32] = OP##_float32, \
    [LEAT_FLOAT64] = OP##_float64
#define LEATI_TABLE_NUMBER(OP) LEATI_TABLE_INTEGER(OP), LEATI_TABLE_FLOAT(OP)
#define LEATI_TABLE_COMPLEX(OP)                                                                    \
    [LEAT_COMPLEX64] = OP##_complex64, [LEAT_COMPLEX128] = OP##_complex128

/* ---- whole operations ---- */
/* The infer and kernel slots of an operation whose lanes are OP_lanes: RULE is the shared rule of
 * inference, INDEX the input whose dtype chooses the lane. */
#define LEATI_ELEMENTWISE_SLOTS(OP, RULE, INDEX, REFUSAL)                                          \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        LEATI_TRY(leati_elementwise_check(call, INDEX, OP##_lanes, err));                          \
        return RULE(call, err);                                                                    \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return leati_elementwise_by_dtype(call, OP##_lanes, INDEX, REFUSAL, err);                  \
    }

/* The same with OP_lanes, whose entries come last; input 0 chooses. */
#define LEATI_ELEMENTWISE_TABLE(OP, RULE, REFUSAL, ...)                                            \
    static const leati_lane_function OP##_lanes[LEAT_NUM_DTYPES] = {__VA_ARGS__};                  \
    LEATI_ELEMENTWISE_SLOTS(OP, RULE, 0, REFUSAL)

/* The same of operations that broadcast and take `ns` nanoseconds for a value. */
#define LEATI_ELEMENTWISE_SLOW(OP, NS, ...)                                                        \
    static const leati_lane_function OP##_lanes[LEAT_NUM_DTYPES] = {__VA_ARGS__};                  \
    static leat_status OP##_infer(leati_infer_call *call, leat_error *err) {                       \
        LEATI_TRY(leati_elementwise_check(call, 0, OP##_lanes, err));                              \
        return leati_op_infer_broadcast(call, err);                                                \
    }                                                                                              \
    static leat_status OP##_kernel(leati_kernel_call *call, leat_error *err) {                     \
        return leati_elementwise_slow(call, OP##_lanes[call->inputs[0].dtype], NS, NULL, err);     \
    }

/* Lanes, table and slots of an operation of floats. */
#define LEATI_FLOATS1(OP, FLOAT32, FLOAT64)                                                        \
    LEATI_LANES1_FLOAT(OP, FLOAT32, FLOAT64)                                                       \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_same, NULL, LEATI_TABLE_FLOAT(OP))
#define LEATI_FLOATS2(OP, FLOAT32, FLOAT64)                                                        \
    LEATI_LANES2_FLOAT(OP, FLOAT32, FLOAT64)                                                       \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, NULL, LEATI_TABLE_FLOAT(OP))

/* The same, of complex numbers too. */
#define LEATI_FLOATS1_COMPLEX(OP, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)                         \
    LEATI_LANES1_FLOAT(OP, FLOAT32, FLOAT64)                                                       \
    LEATI_LANES1_COMPLEX(OP, COMPLEX64, COMPLEX128)                                                \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_same, NULL, LEATI_TABLE_FLOAT(OP),                  \
                            LEATI_TABLE_COMPLEX(OP))
#define LEATI_FLOATS2_COMPLEX(OP, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)                         \
    LEATI_LANES2_FLOAT(OP, FLOAT32, FLOAT64)                                                       \
    LEATI_LANES2_COMPLEX(OP, COMPLEX64, COMPLEX128)                                                \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, NULL, LEATI_TABLE_FLOAT(OP),             \
                            LEATI_TABLE_COMPLEX(OP))

#define LEATI_FLOATS1_STEPS(OP, HALF, BFLOAT16, FLOAT32, FLOAT64)                                  \
    LEATI_LANES1_STEPS(OP, HALF, BFLOAT16, FLOAT32, FLOAT64)                                       \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_same, NULL, LEATI_TABLE_FLOAT(OP))
#define LEATI_FLOATS2_STEPS(OP, HALVES, FLOAT32, FLOAT64)                                          \
    LEATI_LANES2_STEPS(OP, HALVES, FLOAT32, FLOAT64)                                               \
    LEATI_ELEMENTWISE_TABLE(OP, leati_op_infer_broadcast, NULL, LEATI_TABLE_FLOAT(OP))

/* Complex x and y are their conjugates in a gradient, so that what is computed of them is the
 * conjugate of the derivative, by which TensorFlow multiplies g: the functions are analytic, and
 * real of real numbers.
 *
 * OP_gradient of one operand: what flows to x, where g flows to y = OP(x); of two operands, where g
 * flows to OP(x, y): what flows to each before it is summed down to the operand's shape. */
#define LEATI_GRADIENT1(OP, TO_X)                                                                  \
    static leat_status OP##_gradient(leati_gradient_call *call, leat_error *err) {                 \
        leat_value x LEATI_UNUSED = leati_support_conjugate(call->inputs[0]);                      \
        leat_value y LEATI_UNUSED = leati_support_conjugate(call->outputs[0]);                     \
        leat_value g LEATI_UNUSED = call->output_gradients[0];                                     \
        (void)err;                                                                                 \
        call->input_gradients[0] = TO_X;                                                           \
        return LEAT_OK;                                                                            \
    }
#define LEATI_GRADIENT2(OP, TO_X, TO_Y)                                                            \
    static leat_status OP##_gradient(leati_gradient_call *call, leat_error *err) {                 \
        leat_value x = leati_support_conjugate(call->inputs[0]);                                   \
        leat_value y = leati_support_conjugate(call->inputs[1]), g = call->output_gradients[0];    \
        (void)err;                                                                                 \
        call->input_gradients[0] = leati_op_gradient_unbroadcast(TO_X, x);                         \
        call->input_gradients[1] = leati_op_gradient_unbroadcast(TO_Y, y);                         \
        return LEAT_OK;                                                                            \
    }

/* The builder and the descriptor of an operation of one operand, or of two; other fields follow. */
#define LEATI_ELEMENTWISE_OP1(OP, ...)                                                             \
    LEATI_ELEMENTWISE_OP(OP, 1, .inputs = "x", .outputs = "y", __VA_ARGS__)
#define LEATI_ELEMENTWISE_OP2(OP, ...) LEATI_ELEMENTWISE_OP(OP, 2, __VA_ARGS__)
#define LEATI_ELEMENTWISE_OP(OP, INPUTS, ...)                                                      \
    const leati_tensor_op leati_tensor_op_##OP = {                                                 \
        .name = #OP,                                                                               \
        .version = 1,                                                                              \
        .checks = LEATI_CHECKS_IN_KERNEL,                                                          \
        .rows = leati_no_rows,                                                                     \
        .min_inputs = INPUTS,                                                                      \
        .max_inputs = INPUTS,                                                                      \
        .flags = LEATI_ELEMENTWISE,                                                                \
        .infer = OP##_infer,                                                                       \
        .kernel = OP##_kernel,                                                                     \
        __VA_ARGS__,                                                                               \
    };

/* The same of operations of numbers whose gradient is OP_gradient. */
#define LEATI_NUMBER_OP1(OP, ...)                                                                  \
    LEATI_ELEMENTWISE_OP1(OP, .types = "T", .halves = LEATI_HALVES_OWN, .gradient = OP##_gradient, \
                          __VA_ARGS__)
#define LEATI_NUMBER_OP2(OP, ...)                                                                  \
    LEATI_ELEMENTWISE_OP2(OP, .inputs = "x y", .types = "T T", .outputs = "z",                     \
                          .halves = LEATI_HALVES_OWN, .gradient = OP##_gradient, __VA_ARGS__)

#endif
