/* Windows of equal length that are filled value by value, several in one buffer per component. One
 * thread at a time. */
#ifndef LEATI_DATA_RUN_WINDOWS_H
#define LEATI_DATA_RUN_WINDOWS_H

#include "core/pools.h"
#include "data/plan/op.h"

typedef struct leati_windows_column {
    leat_dtype dtype;
    size_t size;            /* of a value */
    const leat_tensor *pad; /* a scalar, borrowed; NULL: zeros */
    leat_buffer *buffer;    /* room for `rows` windows, or NULL */
} leati_windows_column;

typedef struct leati_run_windows {
    leati_pools pools;
    leati_windows_column *columns;
    int count;
    int64_t length;
    int64_t rows, row; /* windows that the buffers have room for; the present one */
    int64_t fill;      /* values of the present window */
} leati_run_windows;

/* For elements of `spec`. {0} before; leati_windows_close also after a failure. */
LEAT_WARN_UNUSED leat_status leati_windows_open(leati_run_windows *windows, const leat_spec *spec,
                                                int64_t length, leat_error *err);
void leati_windows_close(leati_run_windows *windows);

/* Room for up to `want` windows. A buffer of strings is told what to hold, which only a sole owner
 * may do; so it has one window. */
LEAT_WARN_UNUSED leat_status leati_windows_take(leati_run_windows *windows, int64_t want,
                                                size_t target, leat_error *err);
void leati_windows_drop(leati_run_windows *windows);
/* Bytes of the buffers, which are there. */
size_t leati_windows_held(const leati_run_windows *windows);
/* Where value `at` of the present window lies. */
void *leati_windows_at(const leati_run_windows *windows, int column, int64_t at);
/* Pads what is left of the present window. */
LEAT_WARN_UNUSED leat_status leati_windows_pad(leati_run_windows *windows, leat_error *err);
/* `out` becomes the `n` windows from `first` on. */
LEAT_WARN_UNUSED leat_status leati_windows_hand_on(leati_run_windows *windows, int64_t first,
                                                   int64_t n, leati_block *out, leat_error *err);

/* The values of the present window, which is not full; there is room for one. *fits: what was saved
 * can be such a window. */
LEAT_WARN_UNUSED leat_status leati_windows_put(const leati_run_windows *windows, leati_writer *out,
                                               leat_error *err);
LEAT_WARN_UNUSED leat_status leati_windows_get(leati_run_windows *windows, leati_reader *in,
                                               bool *fits, leat_error *err);

#endif
