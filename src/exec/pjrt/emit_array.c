/* Operations that move values as StableHLO: parts, joins, copies, filled tensors. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/element.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

static const int64_t ones[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};

/* ---- filled ---- */

leat_status leati_emit_number(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_fill(&emit->hlo, emit->text[0] - '0', leati_emit_dtype(emit, 0),
                                      leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* What is known of a static shape. */
leat_status leati_emit_dimensions(leati_emit *emit, leat_error *err) {
    (void)err;
    /* The input itself may not be there. */
    leat_shape shape = emit->simple->values[emit->node->inputs[0]].type->shape;
    int64_t numbers[LEAT_MAX_RANK + 1];
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, *leati_emit_shape(emit, 0), numbers);
    memcpy(numbers, shape.dims, sizeof shape.dims);
    if (emit->text[0] == 'r')
        numbers[0] = shape.rank;
    else if (emit->text[0] == 's')
        numbers[0] = leati_shape_count(&shape);
    emit->outputs[0] = leati_hlo_constant(&emit->hlo, &tensor);
    return LEAT_OK;
}

/* The last input everywhere in the result's shape. */
leat_status leati_emit_fill(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_broadcast(&emit->hlo, emit->inputs[emit->num_inputs - 1],
                                           leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* Input 0 everywhere in the result's shape. */
leat_status leati_emit_broadcast(leati_emit *emit, leat_error *err) {
    (void)err;
    emit->outputs[0] = leati_hlo_broadcast(&emit->hlo, emit->inputs[0], leati_emit_shape(emit, 0));
    return LEAT_OK;
}

leat_status leati_emit_cast(leati_emit *emit, leat_error *err) {
    leat_dtype from = leati_emit_input_dtype(emit, 0), to = leati_emit_dtype(emit, 0);
    leati_hlo_value x = emit->inputs[0];
    (void)err;
    if (!leati_dtype_is_complex(to) && leati_dtype_is_complex(from))
        x = leati_emit_part(emit, "real", x);
    emit->outputs[0] = leati_hlo_convert(&emit->hlo, x, to);
    return LEAT_OK;
}

/* numpy's where: all three broadcast. */
leat_status leati_emit_select(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo_value wide[3];
    for (int i = 0; i < 3; i++)
        wide[i] = leati_hlo_broadcast(&emit->hlo, emit->inputs[i], leati_emit_shape(emit, 0));
    emit->outputs[0] = leati_hlo_select(&emit->hlo, wide[0], wide[1], wide[2]);
    return LEAT_OK;
}

/* ---- joins and copies ---- */

leat_status leati_emit_concat(leati_emit *emit, leat_error *err) {
    (void)err;
    int32_t axis = leati_emit_axis(leati_emit_int(emit, "axis"), leati_emit_shape(emit, 0)->rank);
    emit->outputs[0] = leati_hlo_concatenate(&emit->hlo, emit->inputs, emit->num_inputs, axis);
    return LEAT_OK;
}

enum { MOST_PARTS = 1024 };

leat_status leati_emit_stack(leati_emit *emit, leat_error *err) {
    leati_hlo_value parts[MOST_PARTS];
    leat_shape part = *leati_emit_shape(emit, 0);
    int32_t axis = leati_emit_axis(leati_emit_int(emit, "axis"), part.rank);
    part.dims[axis] = 1;
    if (emit->num_inputs > MOST_PARTS)
        return leati_emit_lacks(emit, "a stack of so many parts", err);
    for (int i = 0; i < emit->num_inputs; i++)
        parts[i] = leati_hlo_reshape(&emit->hlo, emit->inputs[i], &part);
    emit->outputs[0] = leati_hlo_concatenate(&emit->hlo, parts, emit->num_inputs, axis);
    return LEAT_OK;
}

/* Outputs are parts of input 0 along an axis, one behind the other, `flat`: without it. */
static void emit_parts(leati_emit *emit, int32_t axis, bool flat) {
    leat_shape whole = leati_emit_input_shape(emit, 0);
    int64_t begin[LEAT_MAX_RANK] = {0}, end[LEAT_MAX_RANK];
    memcpy(end, whole.dims, sizeof end);
    end[axis] = 0;
    for (int i = 0; i < emit->node->num_outputs; i++) {
        const leat_shape *shape = leati_emit_shape(emit, i);
        begin[axis] = end[axis];
        end[axis] += flat ? 1 : shape->dims[axis];
        leati_hlo_value part = leati_hlo_slice(&emit->hlo, emit->inputs[0], begin, end, ones);
        emit->outputs[i] = leati_hlo_reshape(&emit->hlo, part, shape);
    }
}

/* Numbers in equal steps between two; the last is the bound itself. */
leat_status leati_emit_linspace(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_dtype dtype = leati_emit_dtype(emit, 0);
    double last = (double)shape->dims[0] - 1;
    leati_hlo_value place = leati_hlo_iota(hlo, dtype, shape, 0);
    leati_hlo_value start = leati_hlo_broadcast(hlo, emit->inputs[0], shape);
    leati_hlo_value stop = leati_hlo_broadcast(hlo, emit->inputs[1], shape);
    leati_hlo_value step =
        leati_hlo_binary(hlo, "divide", leati_hlo_binary(hlo, "subtract", stop, start),
                         leati_hlo_fill_like(hlo, LEATI_MAX(last, 1), stop));
    leati_hlo_value x =
        leati_hlo_binary(hlo, "add", start, leati_hlo_binary(hlo, "multiply", step, place));
    leati_hlo_value is_last =
        leati_hlo_compare(hlo, "GE", place, leati_hlo_fill_like(hlo, LEATI_MAX(last, 1), place));
    leati_hlo_value is_first =
        leati_hlo_compare(hlo, "EQ", place, leati_hlo_fill_like(hlo, 0, place));
    x = leati_hlo_select(hlo, is_last, stop, x);
    emit->outputs[0] = leati_hlo_select(hlo, is_first, start, x);
    return LEAT_OK;
}

leat_status leati_emit_split(leati_emit *emit, leat_error *err) {
    (void)err;
    int32_t rank = leati_emit_input_shape(emit, 0).rank;
    emit_parts(emit, leati_emit_axis(leati_emit_int(emit, "axis"), rank), emit->text[0] == 'u');
    return LEAT_OK;
}

leat_status leati_emit_tile(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *multiples = leati_emit_ints(emit, "multiples");
    leat_shape in = leati_emit_input_shape(emit, 0), wide = {.rank = 0};
    int64_t axes[LEAT_MAX_RANK];
    leati_hlo_value x = emit->inputs[0];
    if (2 * in.rank > LEAT_MAX_RANK) {
        /* One dimension after the other, joined. */
        for (int32_t d = 0; d < in.rank; d++) {
            leati_hlo_value parts[MOST_PARTS];
            if (multiples->values[d] > MOST_PARTS || multiples->values[d] == 0)
                return leati_emit_lacks(emit, "so many copies along one of many dimensions", err);
            for (int64_t i = 0; i < multiples->values[d]; i++)
                parts[i] = x;
            x = leati_hlo_concatenate(&emit->hlo, parts, (int)multiples->values[d], d);
        }
        emit->outputs[0] = x;
        return LEAT_OK;
    }
    for (int32_t d = 0; d < in.rank; d++) {
        wide.dims[wide.rank++] = multiples->values[d];
        axes[d] = wide.rank;
        wide.dims[wide.rank++] = in.dims[d];
    }
    x = leati_hlo_broadcast_in(&emit->hlo, x, &wide, axes);
    emit->outputs[0] = leati_hlo_reshape(&emit->hlo, x, leati_emit_shape(emit, 0));
    return LEAT_OK;
}

leat_status leati_emit_transpose(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *perm = leati_emit_ints(emit, "perm");
    int32_t rank = leati_emit_input_shape(emit, 0).rank;
    int64_t axes[LEAT_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        axes[d] = perm->values != NULL ? leati_emit_axis(perm->values[d], rank) : rank - 1 - d;
    emit->outputs[0] = leati_hlo_transpose(&emit->hlo, emit->inputs[0], axes);
    return LEAT_OK;
}

leat_status leati_emit_reverse(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *named = leati_emit_ints(emit, "axis");
    int32_t rank = leati_emit_input_shape(emit, 0).rank;
    int64_t axes[LEAT_MAX_RANK];
    for (int i = 0; i < named->count; i++)
        axes[i] = leati_emit_axis(named->values[i], rank);
    emit->outputs[0] = leati_hlo_reverse(&emit->hlo, emit->inputs[0], axes, named->count);
    return LEAT_OK;
}

leat_status leati_emit_roll(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *shift = leati_emit_ints(emit, "shift"), *axis = leati_emit_ints(emit, "axis");
    leat_shape shape = leati_emit_input_shape(emit, 0);
    leati_hlo_value x = emit->inputs[0];
    for (int i = 0; i < axis->count; i++) {
        int32_t d = leati_emit_axis(axis->values[i], shape.rank);
        int64_t dim = shape.dims[d], begin[LEAT_MAX_RANK] = {0}, end[LEAT_MAX_RANK];
        if (dim == 0)
            continue;
        int64_t at = ((-shift->values[i]) % dim + dim) % dim;
        leati_hlo_value parts[2];
        memcpy(end, shape.dims, sizeof end);
        begin[d] = at;
        parts[0] = leati_hlo_slice(&emit->hlo, x, begin, end, ones);
        begin[d] = 0;
        end[d] = at;
        parts[1] = leati_hlo_slice(&emit->hlo, x, begin, end, ones);
        x = leati_hlo_concatenate(&emit->hlo, parts, 2, d);
    }
    emit->outputs[0] = x;
    return LEAT_OK;
}

/* ---- parts ---- */

leat_status leati_emit_slice(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *begin = leati_emit_ints(emit, "begin");
    const leat_shape *part = leati_emit_shape(emit, 0);
    int64_t end[LEAT_MAX_RANK];
    for (int32_t d = 0; d < part->rank; d++)
        end[d] = begin->values[d] + part->dims[d];
    emit->outputs[0] = leati_hlo_slice(&emit->hlo, emit->inputs[0], begin->values, end, ones);
    return LEAT_OK;
}

static leati_hlo_value zero_of(leati_emit *emit, leat_dtype dtype) {
    return leati_hlo_fill(&emit->hlo, 0, dtype, &LEAT_SCALAR);
}

/* Input 0 within zeros of the result's shape. */
leat_status leati_emit_slice_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    const leati_ints *begin = leati_emit_ints(emit, "begin");
    const leat_shape *whole = leati_emit_shape(emit, 0);
    leat_shape part = leati_emit_input_shape(emit, 0);
    int64_t after[LEAT_MAX_RANK];
    for (int32_t d = 0; d < whole->rank; d++)
        after[d] = whole->dims[d] - begin->values[d] - part.dims[d];
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    emit->outputs[0] = leati_hlo_pad(&emit->hlo, emit->inputs[0], zero_of(emit, dtype),
                                     begin->values, after, NULL);
    return LEAT_OK;
}

/* What a strided slice takes along each dimension of the whole: values first, first + step, ... */
typedef struct strided {
    int64_t first[LEAT_MAX_RANK], step[LEAT_MAX_RANK], count[LEAT_MAX_RANK];
} strided;

static bool has(int64_t mask, int i) {
    return mask >> i & 1;
}

/* The bound of an entry, from its number, counted from the end if negative. */
static int64_t bound(int64_t number, bool left_out, bool at_end, int64_t dim, int64_t step) {
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? dim : dim - 1;
    if (left_out)
        return at_end == (step > 0) ? most : least;
    number = number < 0 ? number + dim : number;
    return number < least ? least : LEATI_MIN(number, most);
}

static void read_strided(const leati_emit *emit, const leat_shape *whole, strided *out) {
    const leati_ints *begin = leati_emit_ints(emit, "begin"), *end = leati_emit_ints(emit, "end");
    const leati_ints *strides = leati_emit_ints(emit, "strides");
    int64_t begins = leati_emit_int(emit, "begin_mask"), ends = leati_emit_int(emit, "end_mask");
    int64_t dots = leati_emit_int(emit, "ellipsis_mask");
    int64_t added = leati_emit_int(emit, "new_axis_mask");
    int64_t single = leati_emit_int(emit, "shrink_axis_mask");
    int32_t d = 0, named = 0;
    for (int i = 0; i < begin->count; i++)
        named += !has(dots, i) && !has(added, i);
    for (int i = 0; i < begin->count && d <= whole->rank; i++) {
        int64_t step = strides->count > i ? strides->values[i] : 1;
        if (has(dots, i)) {
            for (int32_t all = whole->rank - named; all > 0; all--, d++)
                out->first[d] = 0, out->step[d] = 1, out->count[d] = whole->dims[d];
        } else if (has(added, i)) {
            continue;
        } else if (has(single, i)) {
            int64_t at = begin->values[i];
            out->first[d] = at < 0 ? at + whole->dims[d] : at;
            out->step[d] = out->count[d] = 1;
            d++;
        } else {
            int64_t from = bound(begin->values[i], has(begins, i), false, whole->dims[d], step);
            int64_t to = bound(end->values[i], has(ends, i), true, whole->dims[d], step);
            int64_t span = step > 0 ? to - from : from - to, each = step > 0 ? step : -step;
            out->first[d] = from;
            out->step[d] = step;
            out->count[d] = span > 0 ? (span + each - 1) / each : 0;
            d++;
        }
    }
    for (; d < whole->rank; d++)
        out->first[d] = 0, out->step[d] = 1, out->count[d] = whole->dims[d];
}

/* The same with steps forward: which dimensions are mirrored. */
static int forward(strided *part, int32_t rank, int64_t *mirrored) {
    int count = 0;
    for (int32_t d = 0; d < rank; d++) {
        if (part->step[d] > 0)
            continue;
        part->first[d] += (part->count[d] - 1) * part->step[d];
        part->step[d] = -part->step[d];
        mirrored[count++] = d;
        if (part->count[d] == 0)
            part->first[d] = 0;
    }
    return count;
}

leat_status leati_emit_strided_slice(leati_emit *emit, leat_error *err) {
    (void)err;
    leat_shape whole = leati_emit_input_shape(emit, 0);
    strided part;
    int64_t end[LEAT_MAX_RANK], mirrored[LEAT_MAX_RANK];
    read_strided(emit, &whole, &part);
    int count = forward(&part, whole.rank, mirrored);
    for (int32_t d = 0; d < whole.rank; d++) {
        end[d] = part.count[d] > 0 ? part.first[d] + (part.count[d] - 1) * part.step[d] + 1
                                   : LEATI_MIN(part.first[d], whole.dims[d]);
        part.first[d] = LEATI_MIN(part.first[d], end[d]);
    }
    leati_hlo_value x = leati_hlo_slice(&emit->hlo, emit->inputs[0], part.first, end, part.step);
    x = leati_hlo_reverse(&emit->hlo, x, mirrored, count);
    emit->outputs[0] = leati_hlo_reshape(&emit->hlo, x, leati_emit_shape(emit, 0));
    return LEAT_OK;
}

leat_status leati_emit_strided_slice_grad(leati_emit *emit, leat_error *err) {
    (void)err;
    const leat_shape *whole = leati_emit_shape(emit, 0);
    strided part;
    int64_t after[LEAT_MAX_RANK], between[LEAT_MAX_RANK], mirrored[LEAT_MAX_RANK];
    leat_shape shape = {.rank = whole->rank};
    read_strided(emit, whole, &part);
    int count = forward(&part, whole->rank, mirrored);
    for (int32_t d = 0; d < whole->rank; d++) {
        shape.dims[d] = part.count[d];
        between[d] = part.step[d] - 1;
        if (part.count[d] == 0)
            part.first[d] = 0;
        after[d] = whole->dims[d] - part.first[d] -
                   (part.count[d] > 0 ? (part.count[d] - 1) * part.step[d] + 1 : 0);
    }
    leati_hlo_value x = leati_hlo_reshape(&emit->hlo, emit->inputs[0], &shape);
    x = leati_hlo_reverse(&emit->hlo, x, mirrored, count);
    emit->outputs[0] = leati_hlo_pad(&emit->hlo, x, zero_of(emit, leati_emit_input_dtype(emit, 0)),
                                     part.first, after, between);
    return LEAT_OK;
}

/* Entry i of an attribute that is one tensor of integers. */
static int64_t integer_at(const leat_tensor *tensor, int64_t i) {
    return tensor->dtype == LEAT_INT32 ? ((const int32_t *)tensor->data)[i]
                                       : ((const int64_t *)tensor->data)[i];
}

leat_status leati_emit_pad(leati_emit *emit, leat_error *err) {
    const leat_element *paddings = leati_emit_element(emit, "paddings");
    const leat_element *constant = leati_emit_element(emit, "constant_values");
    int32_t rank = leati_emit_input_shape(emit, 0).rank;
    int64_t before[LEAT_MAX_RANK], after[LEAT_MAX_RANK];
    if (strcmp(leati_emit_string(emit, "mode"), "CONSTANT") != 0 || paddings->num_tensors != 1)
        return leati_emit_lacks(emit, "mirrored padding", err);
    for (int32_t d = 0; d < rank; d++) {
        before[d] = integer_at(&paddings->tensors[0], 2 * (int64_t)d);
        after[d] = integer_at(&paddings->tensors[0], 2 * (int64_t)d + 1);
    }
    leati_hlo_value value = zero_of(emit, leati_emit_input_dtype(emit, 0));
    if (constant->num_tensors == 1) {
        value = leati_hlo_constant(&emit->hlo, &constant->tensors[0]);
        value = leati_hlo_convert(&emit->hlo, value, leati_emit_input_dtype(emit, 0));
    }
    emit->outputs[0] = leati_hlo_pad(&emit->hlo, emit->inputs[0], value, before, after, NULL);
    return LEAT_OK;
}
