/* Pictures [..., H, W, C] as StableHLO: mirrored, turned, scaled.
 *
 * Scaling is linear along each side: a picture's lines are a matrix times its lines. The matrix is
 * what the operation itself makes, on the host, of a picture whose channel c is 1 at place c. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include "exec/compute.h"
#include "graph/support/picture/resize.h"
#include <stdio.h>
#include <string.h>

static leati_hlo_value mirror(leati_hlo *hlo, leati_hlo_value x, int32_t from_end) {
    int64_t axis = leati_hlo_shape(hlo, x).rank - from_end;
    return leati_hlo_reverse(hlo, x, &axis, 1);
}

/* Height and width in each other's place. */
static leati_hlo_value swap_sides(leati_hlo *hlo, leati_hlo_value x) {
    int32_t rank = leati_hlo_shape(hlo, x).rank;
    int64_t order[LEAT_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        order[d] = d;
    order[rank - 3] = rank - 2;
    order[rank - 2] = rank - 3;
    return leati_hlo_transpose(hlo, x, order);
}

/* `text`: how far the dimension is from the end. */
leat_status leati_emit_flip(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = mirror(&emit->hlo, emit->inputs[0], emit->text[0] - '0');
    return LEAT_OK;
}

leat_status leati_emit_swap_sides(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = swap_sides(&emit->hlo, emit->inputs[0]);
    return LEAT_OK;
}

leat_status leati_emit_rot90(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    int64_t turns = (leati_emit_int(emit, "k") % 4 + 4) % 4;
    leati_hlo_value x = emit->inputs[0];
    if (turns == 1)
        x = swap_sides(hlo, mirror(hlo, x, 2));
    else if (turns == 2)
        x = mirror(hlo, mirror(hlo, x, 2), 3);
    else if (turns == 3)
        x = mirror(hlo, swap_sides(hlo, x), 2);
    emit->outputs[0] = x;
    return LEAT_OK;
}

/* ---- scaling ---- */

/* [to, from]: how much of each place goes into each place of the result. */
static leat_status weights(leati_emit *emit, int64_t from, int64_t to, leat_tensor *out,
                           leat_error *err) {
    int64_t sizes[2] = {to, 1};
    struct leati_resize_args args = *(const struct leati_resize_args *)emit->node->source->args;
    leati_node node = {
        .op = &leati_tensor_op_resize, .args = &args, .num_inputs = 1, .num_outputs = 1};
    leati_value type = {.type = {.dtype = LEAT_FLOAT32, .shape = LEAT_SHAPE(to, 1, from)}};
    leati_call_context context = {.num_replicas = 1};
    leat_tensor unit;
    args.size = (leati_ints){.values = sizes, .count = 2};
    args.preserve_aspect_ratio = false;
    if (from * to > 1 << 20)
        return leati_emit_lacks(emit, "scaling of pictures so large", err);
    LEATI_TRY(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(from, 1, from), &unit, err));
    memset(unit.data, 0, leat_tensor_bytes(&unit));
    for (int64_t i = 0; i < from; i++)
        ((float *)unit.data)[i * from + i] = 1;
    leat_status status = leati_compute(&node, &type, &unit, &context, out, err);
    leat_tensor_unref(&unit);
    return status;
}

/* Sums over dimension `axis` of x with a column of the matrix [to, from], or of it turned. */
static leati_hlo_value scale_side(leati_hlo *hlo, leati_hlo_value matrix, leati_hlo_value x,
                                  int32_t axis, bool turned) {
    leat_shape shape = leati_hlo_shape(hlo, x), sides = leati_hlo_shape(hlo, matrix);
    leat_shape flat = LEAT_SHAPE(1, 1), moved = shape;
    int64_t order[LEAT_MAX_RANK], back[LEAT_MAX_RANK];
    for (int32_t d = 0; d < shape.rank; d++) {
        order[d] = d == 0 ? axis : d <= axis ? d - 1 : d;
        moved.dims[d] = shape.dims[order[d]];
        flat.dims[d > 0] *= moved.dims[d];
    }
    for (int32_t d = 0; d < shape.rank; d++)
        back[order[d]] = d;
    x = leati_hlo_reshape(hlo, leati_hlo_transpose(hlo, x, order), &flat);
    x = leati_hlo_matmul(hlo, matrix, x, turned, false);
    moved.dims[0] = sides.dims[turned];
    return leati_hlo_transpose(hlo, leati_hlo_reshape(hlo, x, &moved), back);
}

/* Nearest keeps its pictures' dtype: each line is one of the picture's. */
static leat_status read_side(leati_hlo *hlo, const leat_tensor *matrix, int32_t axis,
                             leati_hlo_value *x, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES], sizes[LEATI_HLO_ATTRIBUTES / 4], windows[64] = "";
    leat_shape sides = leat_tensor_shape(matrix), out = leati_hlo_shape(hlo, *x), one = out;
    leat_tensor places;
    LEATI_TRY(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(sides.dims[0], 1), &places, err));
    for (int64_t i = 0; i < sides.dims[0]; i++) {
        int32_t place = 0;
        while (((const float *)matrix->data)[i * sides.dims[2] + place] == 0)
            place++;
        ((int32_t *)places.data)[i] = place;
    }
    for (int32_t d = 0, size = 0; d < out.rank; d++)
        if (d != axis)
            size += snprintf(windows + size, sizeof windows - (size_t)size, "%s%d",
                             size > 0 ? ", " : "", d);
    one.dims[axis] = 1;
    out.dims[axis] = sides.dims[0];
    snprintf(attributes, sizeof attributes,
             "dimension_numbers = #stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = "
             "[%d], start_index_map = [%d], index_vector_dim = 1>, slice_sizes = %s, "
             "indices_are_sorted = true",
             windows, axis, axis, leati_hlo_array(sizes, sizeof sizes, one.dims, one.rank));
    leati_hlo_value operands[2] = {*x, leati_hlo_constant(hlo, &places)};
    leat_tensor_unref(&places);
    *x =
        leati_hlo_add(hlo, "gather", operands, 2, NULL, attributes, leati_hlo_dtype(hlo, *x), &out);
    return LEAT_OK;
}

static leat_status print_side(leati_emit *emit, int32_t axis, int64_t from, int64_t to, bool back,
                              leati_hlo_value *x, leat_error *err) {
    const struct leati_resize_args *args = emit->node->source->args;
    leat_tensor matrix;
    leat_status status = LEAT_OK;
    LEATI_TRY(weights(emit, from, to, &matrix, err));
    if (!back && strcmp(args->method, "nearest") == 0) {
        status = read_side(&emit->hlo, &matrix, axis, x, err);
    } else {
        leat_tensor view = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(to, from), matrix.data);
        *x = scale_side(&emit->hlo, leati_hlo_constant(&emit->hlo, &view),
                        leati_hlo_convert(&emit->hlo, *x, LEAT_FLOAT32), axis, back);
    }
    leat_tensor_unref(&matrix);
    return status;
}

/* Pictures; with `text` "back" the result's gradient, and pictures, whose shape counts. */
leat_status leati_emit_resize(leati_emit *emit, leat_error *err) {
    bool back = emit->text[0] == 'b';
    leat_shape in = leati_emit_input_shape(emit, 0), out = *leati_emit_shape(emit, 0);
    leati_hlo_value x = emit->inputs[0];
    for (int side = 0; side < 2; side++) {
        int32_t axis = in.rank - 3 + side;
        int64_t from = back ? out.dims[axis] : in.dims[axis];
        int64_t to = back ? in.dims[axis] : out.dims[axis];
        LEATI_TRY(print_side(emit, axis, from, to, back, &x, err));
    }
    emit->outputs[0] = x;
    return LEAT_OK;
}
