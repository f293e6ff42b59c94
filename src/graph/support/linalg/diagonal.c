/* Diagonals of matrices; see diagonal.h. Fails where a diagonal is outside the matrix. No state, no
 * locks. */
#include "graph/support/linalg/diagonal.h"
#include "base/minmax.h"

#include <string.h>

const leati_row leati_diag_part_rows[] = {
    LEATI_ROW_DIAGONALS,
    LEATI_ROW_DIAGONAL_PADDING,
    LEATI_ROW_DIAGONAL_ALIGN,
    {0},
};

const leati_row leati_set_diag_rows[] = {
    LEATI_ROW_DIAGONALS,
    LEATI_ROW_DIAGONAL_ALIGN,
    {0},
};

leat_status leati_diagonal_want_fixed(const leati_infer_call *call, int index, leat_error *err) {
    leat_dtype dtype = call->inputs[index].dtype;
    if (dtype >= LEAT_BOOL && dtype <= LEAT_FLOAT64)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "the values are %s; expected numbers or bool",
                        leat_dtype_name(dtype));
}

leat_status leati_diagonals_read(leati_diagonals *out, const struct leati_diagonal_args *args,
                                 leat_error *err) {
    static const char *const aligns[] = {"LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"};
    int align = 0;
    while (align < 4 && strcmp(args->align, aligns[align]) != 0)
        align++;
    if (align == 4)
        return leati_refuse(err, VALUE,
                            "align is %.32s; expected RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or "
                            "RIGHT_RIGHT",
                            args->align);
    if (args->k.count > 2)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "diag_index must have only one or two elements, received %d elements",
                          (int)args->k.count);
    *out = (leati_diagonals){.above_right = align >= 2, .below_right = align % 2 == 1};
    if (args->k.count > 0) {
        out->low = args->k.values[0];
        out->high = args->k.values[args->k.count - 1];
    }
    if (out->low > out->high)
        return leati_fail(err, LEAT_INVALID_ARGUMENT,
                          "lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
                          (long long)out->low, (long long)out->high);
    return LEAT_OK;
}

static int64_t length_of(const leati_diagonals *d, int64_t k) {
    int64_t rows = d->rows + LEATI_MIN(k, 0), columns = d->columns - LEATI_MAX(k, 0);
    return LEATI_MIN(rows, columns);
}

leat_status leati_diagonals_of(leati_diagonals *out, const struct leati_diagonal_args *args,
                               const leat_shape *in, leat_error *err) {
    LEATI_TRY(leati_diagonals_read(out, args, err));
    if (in->rank < 2)
        return leati_refuse(err, SHAPE, "input must be at least 2-dim, received rank %d",
                            (int)in->rank);
    out->rows = in->dims[in->rank - 2];
    out->columns = in->dims[in->rank - 1];
    out->longest = LEAT_UNKNOWN_DIM;
    if (out->rows < 0 || out->columns < 0)
        return LEAT_OK;
    int64_t ends[] = {out->low, out->high};
    for (int i = 0; i < 2; i++)
        if (ends[i] != 0 && (ends[i] <= -out->rows || ends[i] >= out->columns))
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "diagonal %lld is out of bound: it must be between %lld and %lld",
                              (long long)ends[i], (long long)-out->rows, (long long)out->columns);
    int64_t rows = out->rows + LEATI_MIN(out->high, 0);
    int64_t columns = out->columns - LEATI_MAX(out->low, 0);
    out->longest = LEATI_MIN(rows, columns);
    return LEAT_OK;
}

leat_shape leati_diagonals_shape(const leati_diagonals *d, const leat_shape *in) {
    leat_shape out = {.rank = 0};
    for (int32_t i = 0; i < in->rank - 2; i++)
        out.dims[out.rank++] = in->dims[i];
    if (d->low != d->high)
        out.dims[out.rank++] = d->high - d->low + 1;
    out.dims[out.rank++] = d->longest;
    return out;
}

void leati_diagonals_copy(const leati_diagonals *d, size_t size, char *matrix, char *array,
                          bool to_array) {
    for (int64_t k = d->low; k <= d->high; k++) {
        int64_t length = length_of(d, k), line = (d->high - k) * d->longest;
        bool right = k >= 0 ? d->above_right : d->below_right;
        char *compact = array + (size_t)(line + (right ? d->longest - length : 0)) * size;
        char *value = matrix + (size_t)((k < 0 ? -k : 0) * d->columns + LEATI_MAX(k, 0)) * size;
        for (int64_t i = 0; i < length; i++) {
            memcpy(to_array ? compact : value, to_array ? value : compact, size);
            compact += size;
            value += (size_t)(d->columns + 1) * size;
        }
    }
}
