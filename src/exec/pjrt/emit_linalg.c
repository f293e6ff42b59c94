/* Products and factors of matrices as StableHLO. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include <stdio.h>

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

/* x without what lies more than `lower` diagonals below the main one, or `upper` above; negative:
 * all of them stay. */
static leati_hlo_value band(leati_emit *emit, leati_hlo_value x, int64_t lower, int64_t upper) {
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_hlo_shape(hlo, x);
    leati_hlo_value row = leati_hlo_iota(hlo, LEAT_INT64, &shape, shape.rank - 2);
    leati_hlo_value column = leati_hlo_iota(hlo, LEAT_INT64, &shape, shape.rank - 1);
    leati_hlo_value above = leati_hlo_binary(hlo, "subtract", column, row);
    leati_hlo_value zero = leati_hlo_fill_like(hlo, 0, x), is_out = -1;
    if (lower >= 0)
        is_out =
            leati_hlo_compare(hlo, "LT", above, leati_hlo_fill_like(hlo, -(double)lower, above));
    if (upper >= 0) {
        leati_hlo_value over =
            leati_hlo_compare(hlo, "GT", above, leati_hlo_fill_like(hlo, (double)upper, above));
        is_out = is_out < 0 ? over : leati_hlo_binary(hlo, "or", is_out, over);
    }
    return is_out < 0 ? x : leati_hlo_select(hlo, is_out, zero, x);
}

leat_status leati_emit_band_part(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = band(emit, emit->inputs[0], leati_emit_int(emit, "num_lower"),
                            leati_emit_int(emit, "num_upper"));
    return LEAT_OK;
}

/* The device gives what it wants above the diagonal, and NaN for a matrix that has no factor. */
leat_status leati_emit_cholesky(leati_emit *emit, leat_error *err) {
    (void)err;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leati_hlo_value x = leati_hlo_add(&emit->hlo, "cholesky", emit->inputs, 1, NULL, "lower = true",
                                      leati_emit_dtype(emit, 0), shape);
    emit->outputs[0] = band(emit, x, -1, 0);
    return LEAT_OK;
}

/* Stacks of triangles and of right sides are broadcast to each other. */
leat_status leati_emit_triangular_solve(leati_emit *emit, leat_error *err) {
    (void)err;
    char attributes[160];
    const leat_shape *out = leati_emit_shape(emit, 0);
    leat_shape matrix = *out;
    matrix.dims[out->rank - 1] = matrix.dims[out->rank - 2];
    leati_hlo_value operands[2] = {leati_hlo_broadcast(&emit->hlo, emit->inputs[0], &matrix),
                                   leati_hlo_broadcast(&emit->hlo, emit->inputs[1], out)};
    snprintf(attributes, sizeof attributes,
             "left_side = true, lower = %s, unit_diagonal = false, transpose_a = "
             "#stablehlo<transpose %s>",
             leati_emit_bool(emit, "lower") ? "true" : "false",
             leati_emit_bool(emit, "adjoint") ? "ADJOINT" : "NO_TRANSPOSE");
    emit->outputs[0] = leati_hlo_add(&emit->hlo, "triangular_solve", operands, 2, NULL, attributes,
                                     leati_emit_dtype(emit, 0), out);
    return LEAT_OK;
}
