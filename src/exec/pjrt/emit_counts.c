/* How many values lie below others, or in parts of a range, put together of comparisons and sums.
 * No failures of their own, no state. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include <string.h>

/* Each value is compared with all of its line. */
static void build_searchsorted(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const int64_t last = -1;
    bool right = strcmp(leati_emit_string(emit, "side"), "right") == 0;
    leat_value line = leat_op_expand_dims(in[0], -2), value = leat_op_expand_dims(in[1], -1);
    leat_value below = right ? leat_op_less_equal(line, value) : leat_op_less(line, value);
    out[0] = leat_op_reduce_sum(leat_op_cast(below, leati_emit_dtype(emit, 0)), &last, 1, false);
}
LEATI_EMIT_COMPOSED(searchsorted)

/* Inputs: values, and the two ends of the range. Values beyond them count for the parts there. */
static void build_histogram(const leati_emit *emit, const leat_value *in, leat_value *out) {
    const int64_t all = -1, parts = leati_emit_int(emit, "nbins");
    leat_value x = leat_op_reshape(leat_op_cast(in[0], LEAT_FLOAT64), &all, 1);
    leat_value range = leat_op_cast(in[1], LEAT_FLOAT64);
    leat_value low = leati_emit_part_along(range, 0, 0, 1);
    leat_value width = leat_op_subtract(leati_emit_part_along(range, 0, 1, 1), low);
    leat_value step = leat_op_divide(width, leati_emit_number_like(x, (double)parts));
    leat_value place = leat_op_divide(leat_op_subtract(leat_op_maximum(x, low), low), step);
    place = leat_op_clip_by_value(place, leati_emit_number_like(x, 0),
                                  leati_emit_number_like(x, (double)(parts - 1)));
    leat_value ones = leat_op_cast(leat_op_ones_like(x), leati_emit_dtype(emit, 0));
    out[0] = leat_op_unsorted_segment_sum(ones, leat_op_cast(place, LEAT_INT32), parts);
}
LEATI_EMIT_COMPOSED(histogram)
