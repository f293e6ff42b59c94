/* Wider loops for what is done to every value of a picture: arithmetic of float32 and the cast from
 * uint8. Each value is computed by the same single operation as in plain C, so results are the same
 * bits. */
#ifndef LEATI_GRAPH_SUPPORT_MATH_WIDE_H
#define LEATI_GRAPH_SUPPORT_MATH_WIDE_H

#include "graph/support/math/elementwise.h"

typedef enum leati_wide_op {
    LEATI_WIDE_ADD = 0,
    LEATI_WIDE_SUBTRACT,
    LEATI_WIDE_MULTIPLY,
    LEATI_WIDE_DIVIDE,
    LEATI_WIDE_OPS
} leati_wide_op;

/* out[i] = a[i] op b[i]; a step of 0 stands for one value shared by all, else it is 1. */
typedef void leati_wide_loop(const float *a, int64_t a_step, const float *b, int64_t b_step,
                             float *out, int64_t n);

typedef struct leati_wide {
    const char *name;
    bool (*runs_here)(void);
    leati_wide_loop *loops[LEATI_WIDE_OPS];
    void (*cast_u8)(const uint8_t *in, float *out, int64_t n); /* to float32 */
} leati_wide;

/* Those that run here, best first; the last one is plain C; NULL behind it. */
const leati_wide *leati_wide_at(int index);

/* Runs the loop of the best over a lane of float32 (of uint8, for the cast); false if its values do
 * not lie densely: then nothing was done. */
bool leati_wide_run(leati_wide_op op, leati_lane *lane);
bool leati_wide_cast(leati_lane *lane);

/* The lanes of float dtypes of an operation of two operands whose float32 has a wide loop. */
#define LEATI_LANES2_FLOAT_WIDE(OP, WIDE, FLOAT32, FLOAT64)                                        \
    LEATI_LANE2_HALF(OP##_float16, half, uint16_t, leati_half_of_float, FLOAT32)                   \
    LEATI_LANE2_HALF(OP##_bfloat16, bfloat16, uint16_t, leati_bfloat16_of_float, FLOAT32)          \
    LEATI_LANE2(OP##_plain, float, float, float, FLOAT32)                                          \
    LEATI_LANE2(OP##_float64, double, double, double, FLOAT64)                                     \
    static void OP##_float32(leati_lane *lane) {                                                   \
        if (!leati_wide_run(WIDE, lane))                                                           \
            OP##_plain(lane);                                                                      \
    }

#endif
