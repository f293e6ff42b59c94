/* Max pooling whose windows do not overlap: geometry and state shared with its gradient. */
#ifndef LEATI_EXEC_CPU_MAX_POOL2D_APART_H
#define LEATI_EXEC_CPU_MAX_POOL2D_APART_H

#include "exec/cpu/cpu.h"
#include "graph/support/picture/window.h"

typedef struct leati_pool_apart {
    leati_conv_plan plan;
    int32_t input, output; /* values */
    int32_t winners;       /* value: of each result, the number of its place in the window, int32;
                              -1: nobody asks */
} leati_pool_apart;

/* Four channels, in vectors of the compiler's. */
#define LEATI_LANES 4
typedef float leati_floats_lane __attribute__((vector_size(16)));
typedef int32_t leati_ints_lane __attribute__((vector_size(16)));

/* The part of a window that lies inside its picture. */
typedef struct leati_pool_window {
    int64_t first;         /* its first pixel, counted over all pictures */
    int64_t height, width; /* in pixels */
    int32_t number;        /* of its first place in the window */
} leati_pool_window;

/* The window of a pixel of the result, counted over all pictures. */
leati_pool_window leati_max_pool2d_window_at(const leati_conv_plan *plan, int64_t pixel);

#endif
