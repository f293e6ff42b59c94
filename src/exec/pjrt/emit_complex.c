/* Complex numbers, their parts, and Fourier transforms as StableHLO. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

leati_hlo_value leati_emit_part(leati_emit *emit, const char *which, leati_hlo_value x) {
    leati_hlo_type type = leati_hlo_type_of(&emit->hlo, x);
    leat_dtype part = leati_dtype_part(type.dtype);
    if (part != type.dtype)
        return leati_hlo_add(&emit->hlo, which, &x, 1, NULL, NULL, part, &type.shape);
    return which[0] == 'r' ? x : leati_hlo_fill_like(&emit->hlo, 0, x);
}

/* A complex number of its parts. */
static leati_hlo_value whole(leati_emit *emit, leati_hlo_value real, leati_hlo_value imag) {
    leati_hlo_type type = leati_hlo_type_of(&emit->hlo, real);
    leat_dtype dtype = type.dtype == LEAT_FLOAT32 ? LEAT_COMPLEX64 : LEAT_COMPLEX128;
    return leati_hlo_add(&emit->hlo, "complex", (leati_hlo_value[]){real, imag}, 2, NULL, NULL,
                         dtype, &type.shape);
}

leati_hlo_value leati_emit_conjugate(leati_emit *emit, leati_hlo_value x) {
    if (!leati_dtype_is_complex(leati_hlo_dtype(&emit->hlo, x)))
        return x;
    return whole(emit, leati_emit_part(emit, "real", x),
                 leati_hlo_unary(&emit->hlo, "negate", leati_emit_part(emit, "imag", x)));
}

leat_status leati_emit_complex(leati_emit *emit, leat_error *err) {
    (void)err;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    emit->outputs[0] = whole(emit, leati_hlo_broadcast(&emit->hlo, emit->inputs[0], shape),
                             leati_hlo_broadcast(&emit->hlo, emit->inputs[1], shape));
    return LEAT_OK;
}

/* `text`: real, imag, angle or conj. */
leat_status leati_emit_complex_part(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_value x = emit->inputs[0];
    leati_hlo_value real = leati_emit_part(emit, "real", x),
                    imag = leati_emit_part(emit, "imag", x);
    switch (emit->text[0]) {
    case 'r': emit->outputs[0] = real; break;
    case 'i': emit->outputs[0] = imag; break;
    case 'a': emit->outputs[0] = leati_hlo_binary(hlo, "atan2", imag, real); break;
    default: emit->outputs[0] = leati_emit_conjugate(emit, x);
    }
    return LEAT_OK;
}

/* ---- transforms ---- */

static leati_hlo_value transform(leati_emit *emit, const char *kind, leati_hlo_value x,
                                 int64_t length, leat_dtype dtype, int64_t line) {
    char attributes[128];
    leat_shape shape = leati_hlo_shape(&emit->hlo, x);
    shape.dims[shape.rank - 1] = line;
    snprintf(attributes, sizeof attributes,
             "fft_type = #stablehlo<fft_type %s>, fft_length = array<i64: %" PRId64 ">", kind,
             length);
    return leati_hlo_add(&emit->hlo, "fft", &x, 1, NULL, attributes, dtype, &shape);
}

/* One dimension after the other, each as the last. */
leat_status leati_emit_fft(leati_emit *emit, leat_error *err) {
    const leati_ints *axes = leati_emit_ints(emit, "axes");
    leati_hlo_value x = emit->inputs[0];
    leat_shape shape = leati_emit_input_shape(emit, 0);
    for (int32_t d = 0; d < shape.rank; d++)
        if (shape.dims[d] == 0)
            return leati_emit_lacks(emit, "a transform of no values", err);
    for (int i = 0; i < axes->count; i++) {
        int32_t axis = leati_emit_axis(axes->values[i], shape.rank);
        int64_t order[LEAT_MAX_RANK];
        for (int32_t d = 0; d < shape.rank; d++)
            order[d] = d;
        order[axis] = shape.rank - 1;
        order[shape.rank - 1] = axis;
        x = leati_hlo_transpose(&emit->hlo, x, order);
        x = transform(emit, leati_emit_bool(emit, "inverse") ? "IFFT" : "FFT", x, shape.dims[axis],
                      leati_hlo_dtype(&emit->hlo, x), shape.dims[axis]);
        x = leati_hlo_transpose(&emit->hlo, x, order);
    }
    emit->outputs[0] = x;
    return LEAT_OK;
}

/* The last dimension as long as `length`, cut or with zeros. */
static leati_hlo_value fit(leati_emit *emit, leati_hlo_value x, int64_t length) {
    leat_shape shape = leati_hlo_shape(&emit->hlo, x);
    int64_t after[LEAT_MAX_RANK] = {0};
    after[shape.rank - 1] = length - shape.dims[shape.rank - 1];
    if (after[shape.rank - 1] == 0)
        return x;
    leati_hlo_value zero =
        leati_hlo_fill(&emit->hlo, 0, leati_hlo_dtype(&emit->hlo, x), &LEAT_SCALAR);
    return leati_hlo_pad(&emit->hlo, x, zero, NULL, after, NULL);
}

/* Of real numbers, and with `text` "back" to them. */
leat_status leati_emit_rfft(leati_emit *emit, leat_error *err) {
    bool back = emit->text[0] == 'b';
    const leat_shape *out = leati_emit_shape(emit, 0);
    leat_shape in = leati_emit_input_shape(emit, 0);
    int64_t named = leati_emit_int(emit, "length"), line = in.dims[in.rank - 1];
    int64_t length = back ? out->dims[out->rank - 1] : named >= 0 ? named : line;
    if (leati_shape_count(&in) == 0 || leati_shape_count(out) == 0)
        return leati_emit_lacks(emit, "a transform of no values", err);
    leati_hlo_value x = fit(emit, emit->inputs[0], back ? length / 2 + 1 : length);
    emit->outputs[0] = transform(emit, back ? "IRFFT" : "RFFT", x, length,
                                 leati_emit_dtype(emit, 0), out->dims[out->rank - 1]);
    return LEAT_OK;
}
