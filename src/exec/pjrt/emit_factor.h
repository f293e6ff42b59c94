/* Stacks of matrices [count, rows, columns] of real numbers, for their factors. */
#ifndef LEATI_EXEC_PJRT_EMIT_FACTOR_H
#define LEATI_EXEC_PJRT_EMIT_FACTOR_H

#include "exec/pjrt/emit.h"

typedef struct leati_emit_factor {
    leati_hlo *hlo;
    int64_t count, rows, columns;
    leat_dtype dtype;
} leati_emit_factor;

/* Input 0 as a stack; false: it is complex, which the other refuses. */
bool leati_emit_factor_open(leati_emit *emit, leati_emit_factor *out, leati_hlo_value *x);
leat_status leati_emit_factor_lacks_complex(const leati_emit *emit, leat_error *err);

/* Ones on the diagonal, of a shape [count, rows, columns]. */
leati_hlo_value leati_emit_factor_eye(const leati_emit_factor *s, const leat_shape *shape);
/* The sum along an axis, which stays as 1. */
leati_hlo_value leati_emit_factor_sum(const leati_emit_factor *s, leati_hlo_value x, int32_t axis);
/* R of x, of all rows, and Q, square. */
leati_hlo_value leati_emit_factor_qr(const leati_emit_factor *s, leati_hlo_value x,
                                     leati_hlo_value *q);

#endif
