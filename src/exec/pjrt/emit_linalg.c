/* Products of matrices as StableHLO. */
#include "exec/pjrt/emit.h"

#include "base/error.h"

/* Leading dimensions are broadcast to each other. */
leat_status leati_emit_matmul(leati_emit *emit, leat_error *err) {
    (void)err;
    const leat_shape *out = leati_emit_shape(emit, 0);
    leati_hlo_value operands[2];
    for (int i = 0; i < 2; i++) {
        leat_shape shape = *out, own = leati_emit_input_shape(emit, i);
        for (int32_t d = 1; d <= 2; d++)
            shape.dims[out->rank - d] = own.dims[own.rank - d];
        operands[i] = leati_hlo_broadcast(&emit->hlo, emit->inputs[i], &shape);
    }
    emit->outputs[0] =
        leati_hlo_matmul(&emit->hlo, operands[0], operands[1], leati_emit_bool(emit, "transpose_a"),
                         leati_emit_bool(emit, "transpose_b"));
    return LEAT_OK;
}
