/* Operations that read and write at computed places as StableHLO: gather, scatter, segments, sorts,
 * sums along a line.
 *
 * A device cannot fail where an index is outside: reading takes the nearest place, and what would
 * be written there is left out, as on TensorFlow's GPUs and TPUs. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/spec.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "0, 1, 4" of the numbers from `first` to before `last`, appended behind what is there. */
static void list(char *out, size_t room, int32_t first, int32_t last) {
    size_t size = strlen(out);
    for (int32_t d = first; d < last && size < room; d++)
        size += (size_t)snprintf(out + size, room - size, "%s%d", size > 0 ? ", " : "", d);
}

enum { LIST = 64 };

/* Rows of indices name places along leading dimensions: `named` says which. The lists are those of
 * gather's and scatter's dimension numbers. */
typedef struct places {
    leati_hlo_value rows; /* [..., number of named dimensions] */
    char windows[LIST];   /* dimensions of the slices in the result */
    char collapsed[LIST]; /* dimensions that are named */
    leat_shape slice;     /* of one row's slice, in the tensor's dimensions */
} places;

static leati_hlo_value gather(leati_emit *emit, leati_hlo_value x, const places *at,
                              const leat_shape *shape) {
    char attributes[LEATI_HLO_ATTRIBUTES], sizes[LEATI_HLO_ATTRIBUTES / 4];
    snprintf(attributes, sizeof attributes,
             "dimension_numbers = #stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = "
             "[%s], start_index_map = [%s], index_vector_dim = %d>, slice_sizes = %s, "
             "indices_are_sorted = false",
             at->windows, at->collapsed, at->collapsed,
             leati_hlo_shape(&emit->hlo, at->rows).rank - 1,
             leati_hlo_array(sizes, sizeof sizes, at->slice.dims, at->slice.rank));
    return leati_hlo_add(&emit->hlo, "gather", (leati_hlo_value[]){x, at->rows}, 2, NULL,
                         attributes, leati_hlo_dtype(&emit->hlo, x), shape);
}

/* `fold`: NULL: the last one stays. */
static leati_hlo_value scatter(leati_emit *emit, leati_hlo_value x, leati_hlo_value updates,
                               const places *at, const char *fold) {
    char attributes[LEATI_HLO_ATTRIBUTES], region[LEATI_HLO_REGION];
    leati_hlo_type type = leati_hlo_type_of(&emit->hlo, x);
    snprintf(attributes, sizeof attributes,
             "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [%s], "
             "inserted_window_dims = [%s], scatter_dims_to_operand_dims = [%s], "
             "index_vector_dim = %d>, indices_are_sorted = false, unique_indices = false",
             at->windows, at->collapsed, at->collapsed,
             leati_hlo_shape(&emit->hlo, at->rows).rank - 1);
    return leati_hlo_add(&emit->hlo, "scatter", (leati_hlo_value[]){x, at->rows, updates}, 3,
                         leati_hlo_fold_region(region, fold, type.dtype), attributes, type.dtype,
                         &type.shape);
}

/* ---- gather and its gradient ---- */

/* Where tf.gather reads: `batch` leading dimensions in common, then indices along `axis`. */
static void gather_places(leati_emit *emit, const leat_shape *params, leati_hlo_value indices,
                          int32_t axis, int32_t batch, places *out) {
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_hlo_shape(hlo, indices), column = shape;
    leat_dtype dtype = leati_hlo_dtype(hlo, indices);
    leati_hlo_value columns[LEAT_MAX_RANK + 1];
    *out = (places){.slice = *params};
    column.dims[column.rank++] = 1;
    for (int32_t d = 0; d < batch; d++)
        columns[d] = leati_hlo_reshape(hlo, leati_hlo_iota(hlo, dtype, &shape, d), &column);
    columns[batch] = leati_hlo_reshape(hlo, indices, &column);
    out->rows = leati_hlo_concatenate(hlo, columns, batch + 1, shape.rank);
    /* The result: batch, dimensions up to the axis, the indices', those behind the axis. */
    list(out->windows, LIST, batch, axis);
    list(out->windows, LIST, axis + shape.rank - batch, params->rank - 1 + shape.rank - batch);
    list(out->collapsed, LIST, 0, batch);
    list(out->collapsed, LIST, axis, axis + 1);
    for (int32_t d = 0; d < batch; d++)
        out->slice.dims[d] = 1;
    out->slice.dims[axis] = 1;
}

static leat_status read_gather(leati_emit *emit, int params, int indices, places *out,
                               leat_error *err) {
    leat_shape from = leati_emit_input_shape(emit, params);
    leat_shape at = leati_emit_input_shape(emit, indices);
    int32_t batch = leati_emit_axis(leati_emit_int(emit, "batch_dims"), at.rank);
    int64_t named = leati_emit_int(emit, "axis");
    int32_t axis = named == INT64_MIN ? batch : leati_emit_axis(named, from.rank);
    if (at.rank == LEAT_MAX_RANK)
        return leati_emit_lacks(emit, "indices of so many dimensions", err);
    gather_places(emit, &from, emit->inputs[indices], axis, batch, out);
    return LEAT_OK;
}

leat_status leati_emit_gather(leati_emit *emit, leat_error *err) {
    places at;
    leat_shape params = leati_emit_input_shape(emit, 0);
    if (leati_shape_count(&params) == 0) {
        /* There is no nearest place either. */
        emit->outputs[0] = leati_hlo_fill(&emit->hlo, 0, leati_emit_input_dtype(emit, 0),
                                          leati_emit_shape(emit, 0));
        return LEAT_OK;
    }
    LEATI_TRY(read_gather(emit, 0, 1, &at, err));
    emit->outputs[0] = gather(emit, emit->inputs[0], &at, leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* Inputs: the gradient, params, indices. */
leat_status leati_emit_gather_grad(leati_emit *emit, leat_error *err) {
    places at;
    LEATI_TRY(read_gather(emit, 1, 2, &at, err));
    leati_hlo_value zeros =
        leati_hlo_fill(&emit->hlo, 0, leati_emit_input_dtype(emit, 0), leati_emit_shape(emit, 0));
    emit->outputs[0] = scatter(emit, zeros, emit->inputs[0], &at, "add");
    return LEAT_OK;
}

/* ---- gather_nd and scatter_nd ---- */

static void nd_places(leati_emit *emit, const leat_shape *tensor, leati_hlo_value rows,
                      places *out) {
    leat_shape shape = leati_hlo_shape(&emit->hlo, rows);
    int32_t depth = (int32_t)shape.dims[shape.rank - 1];
    *out = (places){.rows = rows, .slice = *tensor};
    list(out->windows, LIST, shape.rank - 1, shape.rank - 1 + tensor->rank - depth);
    list(out->collapsed, LIST, 0, depth);
    for (int32_t d = 0; d < depth; d++)
        out->slice.dims[d] = 1;
}

leat_status leati_emit_gather_nd(leati_emit *emit, leat_error *err) {
    (void)err;
    places at;
    leat_shape tensor = leati_emit_input_shape(emit, 0);
    nd_places(emit, &tensor, emit->inputs[1], &at);
    emit->outputs[0] = gather(emit, emit->inputs[0], &at, leati_emit_shape(emit, 0));
    return LEAT_OK;
}

/* Inputs: the tensor, unless `text` begins with 'z' (zeros), rows of indices, updates. Without a
 * text they take the places' values; of two for one place either, as on TensorFlow's GPUs. */
leat_status leati_emit_scatter_nd(leati_emit *emit, leat_error *err) {
    bool zeros = emit->text[0] == 'z', subtract = strcmp(emit->text, "subtract") == 0;
    const leati_hlo_value *rest = emit->inputs + !zeros;
    leati_hlo_value updates = rest[1];
    const char *fold = zeros ? "add" : emit->text;
    leat_dtype dtype = leati_hlo_dtype(&emit->hlo, updates);
    places at;
    nd_places(emit, leati_emit_shape(emit, 0), rest[0], &at);
    leati_hlo_value start =
        zeros ? leati_hlo_fill(&emit->hlo, 0, dtype, leati_emit_shape(emit, 0)) : emit->inputs[0];
    if (subtract && dtype >= LEAT_UINT8 && dtype <= LEAT_UINT64)
        return leati_emit_lacks(emit, "a difference of unsigned integers", err);
    if (subtract)
        updates = leati_hlo_unary(&emit->hlo, "negate", updates);
    if (dtype == LEAT_BOOL && fold[0] != '\0')
        fold = "or";
    emit->outputs[0] = scatter(emit, start, updates, &at, subtract ? "add" : fold);
    return LEAT_OK;
}

/* ---- segments ---- */

leat_status leati_emit_segment(leati_emit *emit, leat_error *err) {
    (void)err;
    const char *fold = emit->text;
    double start = strcmp(fold, "add") == 0        ? 0
                   : strcmp(fold, "multiply") == 0 ? 1
                   : strcmp(fold, "maximum") == 0  ? -INFINITY
                                                   : INFINITY;
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    leat_shape ids = leati_emit_input_shape(emit, 1), column = ids;
    const leat_shape *out = leati_emit_shape(emit, 0);
    if (ids.rank == LEAT_MAX_RANK)
        return leati_emit_lacks(emit, "segments of so many dimensions", err);
    /* Where floats had no value TensorFlow has the least, or the largest, number of the dtype. */
    if (isinf(start) && dtype == LEAT_FLOAT32)
        start = start > 0 ? 3.402823466e+38 : -3.402823466e+38;
    else if (isinf(start) && dtype == LEAT_FLOAT64)
        start = start > 0 ? 1.7976931348623157e+308 : -1.7976931348623157e+308;
    else if (isinf(start) && dtype >= LEAT_FLOAT16)
        return leati_emit_lacks(emit, "the least number of this dtype", err);
    column.dims[column.rank++] = 1;
    places at = {.rows = leati_hlo_reshape(&emit->hlo, emit->inputs[1], &column)};
    list(at.windows, LIST, ids.rank, ids.rank + out->rank - 1);
    list(at.collapsed, LIST, 0, 1);
    leati_hlo_value zeros = leati_hlo_fill(&emit->hlo, start, dtype, out);
    emit->outputs[0] = scatter(emit, zeros, emit->inputs[0], &at, fold);
    return LEAT_OK;
}

/* ---- along a line ---- */

leat_status leati_emit_one_hot(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_dtype of_indices = leati_emit_input_dtype(emit, 0), dtype = leati_emit_dtype(emit, 0);
    int64_t named = leati_emit_int(emit, "axis"), axes[LEAT_MAX_RANK];
    int32_t axis = named < 0 ? shape->rank - 1 : (int32_t)named;
    const leat_element *values[2] = {leati_emit_element(emit, "off_value"),
                                     leati_emit_element(emit, "on_value")};
    leati_hlo_value filled[2];
    for (int32_t d = 0, at = 0; d < shape->rank; d++)
        if (d != axis)
            axes[at++] = d;
    leati_hlo_value wide = leati_hlo_broadcast_in(hlo, emit->inputs[0], shape, axes);
    leati_hlo_value hot =
        leati_hlo_compare(hlo, "EQ", wide, leati_hlo_iota(hlo, of_indices, shape, axis));
    for (int i = 0; i < 2; i++) {
        if (values[i]->num_tensors == 1) {
            leati_hlo_value number = leati_hlo_constant(hlo, &values[i]->tensors[0]);
            filled[i] = leati_hlo_broadcast(hlo, leati_hlo_convert(hlo, number, dtype), shape);
        } else {
            filled[i] = leati_hlo_fill(hlo, i, dtype, shape);
        }
    }
    emit->outputs[0] = leati_hlo_select(hlo, hot, filled[1], filled[0]);
    return LEAT_OK;
}

/* The first place of the largest, or least, number. */
leat_status leati_emit_arg(leati_emit *emit, leat_error *err) {
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0), out = leati_emit_dtype(emit, 0);
    int32_t axis = leati_emit_axis(leati_emit_int(emit, "axis"), shape.rank);
    bool least = strcmp(emit->text, "minimum") == 0;
    double start = least ? INFINITY : -INFINITY;
    leati_hlo_value x = emit->inputs[0];
    if (dtype > LEAT_FLOAT64)
        return leati_emit_lacks(emit, "complex numbers", err);
    if (dtype == LEAT_BOOL)
        x = leati_hlo_convert(hlo, x, LEAT_UINT8);
    if (dtype >= LEAT_FLOAT16)
        /* A NaN never wins. */
        x = leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", x, x), x,
                             leati_hlo_fill_like(hlo, start, x));
    leati_hlo_value best = leati_hlo_reduce(hlo, emit->text, x, start, UINT32_C(1) << axis, true);
    leati_hlo_value same = leati_hlo_compare(hlo, "EQ", x, leati_hlo_broadcast(hlo, best, &shape));
    leati_hlo_value place = leati_hlo_iota(hlo, LEAT_INT64, &shape, axis);
    place = leati_hlo_select(hlo, same, place,
                             leati_hlo_fill_like(hlo, (double)shape.dims[axis], place));
    place = leati_hlo_reduce(hlo, "minimum", place, INFINITY, UINT32_C(1) << axis, false);
    emit->outputs[0] = leati_hlo_convert(hlo, place, out);
    return LEAT_OK;
}

/* Sums or products of all values up to each, as windows that end there. */
leat_status leati_emit_cumulative(leati_emit *emit, leat_error *err) {
    char attributes[LEATI_HLO_ATTRIBUTES], region[LEATI_HLO_REGION], pads[LEATI_HLO_ATTRIBUTES / 4];
    char array[LEATI_HLO_ATTRIBUTES / 4];
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    int32_t axis = leati_emit_axis(leati_emit_int(emit, "axis"), shape.rank);
    bool exclusive = leati_emit_bool(emit, "exclusive"), back = leati_emit_bool(emit, "reverse");
    int64_t size[LEAT_MAX_RANK], dim = shape.rank > 0 ? shape.dims[axis] : 0;
    if (dim == 0 || shape.rank == 0)
        return leati_emit_lacks(emit, "a line without values", err);
    leati_hlo_value start =
        leati_hlo_fill(hlo, strcmp(emit->text, "multiply") == 0, dtype, &LEAT_SCALAR);
    size_t used = 0;
    for (int32_t d = 0; d < shape.rank; d++) {
        size[d] = d == axis ? dim : 1;
        /* An exclusive sum's window ends one place before. */
        int64_t whole = d == axis ? dim - 1 : 0, shift = d == axis && exclusive;
        used += (size_t)snprintf(pads + used, sizeof pads - used, "%s[%" PRId64 ", %" PRId64 "]",
                                 d > 0 ? ", " : "", back ? -shift : whole + shift,
                                 back ? whole + shift : -shift);
    }
    snprintf(attributes, sizeof attributes,
             "window_dimensions = %s, padding = dense<[%s]> : tensor<%dx2xi64>",
             leati_hlo_array(array, sizeof array, size, shape.rank), pads, shape.rank);
    emit->outputs[0] =
        leati_hlo_add(hlo, "reduce_window", (leati_hlo_value[]){emit->inputs[0], start}, 2,
                      leati_hlo_fold_region(region, emit->text, dtype), attributes, dtype, &shape);
    return LEAT_OK;
}

/* ---- order ---- */

/* Lines along `axis` in order, and their places (int32); a NaN is last going up, first down. */
static void sort_lines(leati_emit *emit, leati_hlo_value x, int32_t axis, bool down,
                       leati_hlo_value out[2]) {
    char attributes[128];
    leati_hlo *hlo = &emit->hlo;
    leati_hlo_type type = leati_hlo_type_of(hlo, x);
    leati_text region = {0};
    leati_hlo_type results[2] = {type, {LEAT_INT32, type.shape}};
    leati_hlo_value operands[2] = {x, leati_hlo_iota(hlo, LEAT_INT32, &type.shape, axis)};
    const char *kind = type.dtype >= LEAT_FLOAT16                            ? "TOTALORDER"
                       : type.dtype >= LEAT_UINT8 || type.dtype == LEAT_BOOL ? "UNSIGNED"
                                                                             : "SIGNED";
    leati_text scalar = {0};
    leati_hlo_add_type(&scalar, type.dtype, &LEAT_SCALAR);
    const char *t = scalar.failed ? "" : scalar.data;
    leati_text_addf(&region,
                    "{ ^bb0(%%a: %s, %%b: %s, %%i: tensor<i32>, %%j: tensor<i32>): %%c = "
                    "\"stablehlo.compare\"(%%a, %%b) {comparison_direction = "
                    "#stablehlo<comparison_direction %s>, compare_type = "
                    "#stablehlo<comparison_type %s>} : (%s, %s) -> tensor<i1> "
                    "\"stablehlo.return\"(%%c) : (tensor<i1>) -> () }",
                    t, t, down ? "GT" : "LT", kind, t, t);
    snprintf(attributes, sizeof attributes, "dimension = %d : i64, is_stable = true", axis);
    hlo->failed = hlo->failed || region.failed || scalar.failed;
    if (!hlo->failed) {
        out[0] =
            leati_hlo_add_several(hlo, "sort", operands, 2, region.data, attributes, results, 2);
        out[1] = out[0] + 1;
    }
    leati_text_fini(&region);
    leati_text_fini(&scalar);
}

/* In their total order -0 is less than 0, and a NaN with a sign less than all: all alike first. */
static leati_hlo_value one_zero(leati_emit *emit, leati_hlo_value x) {
    leati_hlo *hlo = &emit->hlo;
    if (leati_hlo_dtype(hlo, x) < LEAT_FLOAT16)
        return x;
    leati_hlo_value zero = leati_hlo_fill_like(hlo, 0, x);
    x = leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", x, zero), zero, x);
    return leati_hlo_select(hlo, leati_hlo_compare(hlo, "EQ", x, x), x,
                            leati_hlo_fill_like(hlo, NAN, x));
}

/* The values of `x` at the places that sorting found along the axis. */
static leati_hlo_value at_places(leati_emit *emit, leati_hlo_value x, leati_hlo_value places_of,
                                 int32_t axis) {
    leat_shape from = leati_hlo_shape(&emit->hlo, x);
    /* Batch dimensions are those before the axis; the ones behind it are moved there. */
    int64_t order[LEAT_MAX_RANK], back[LEAT_MAX_RANK];
    for (int32_t d = 0; d < from.rank; d++) {
        order[d] = d < axis ? d : d + 1 < from.rank ? d + 1 : axis;
        back[order[d]] = d;
    }
    leati_hlo_value moved = leati_hlo_transpose(&emit->hlo, x, order);
    leati_hlo_value indices = leati_hlo_transpose(&emit->hlo, places_of, order);
    leat_shape of_moved = leati_hlo_shape(&emit->hlo, moved);
    leat_shape of_indices = leati_hlo_shape(&emit->hlo, indices);
    places at;
    gather_places(emit, &of_moved, indices, from.rank - 1, from.rank - 1, &at);
    moved = gather(emit, moved, &at, &of_indices);
    return leati_hlo_transpose(&emit->hlo, moved, back);
}

leat_status leati_emit_sort(leati_emit *emit, leat_error *err) {
    leat_shape shape = leati_emit_input_shape(emit, 0);
    int32_t axis = leati_emit_axis(leati_emit_int(emit, "axis"), shape.rank);
    bool down = strcmp(leati_emit_string(emit, "direction"), "DESCENDING") == 0;
    leati_hlo_value sorted[2] = {0, 0};
    if (leati_shape_count(&shape) == 0) {
        emit->outputs[0] = leati_hlo_fill(&emit->hlo, 0, leati_emit_dtype(emit, 0), &shape);
        return LEAT_OK;
    }
    if (shape.rank == 0)
        return leati_emit_lacks(emit, "a scalar", err);
    sort_lines(emit, one_zero(emit, emit->inputs[0]), axis, down, sorted);
    emit->outputs[0] =
        emit->text[0] == 'a' ? sorted[1] : at_places(emit, emit->inputs[0], sorted[1], axis);
    return LEAT_OK;
}

leat_status leati_emit_top_k(leati_emit *emit, leat_error *err) {
    (void)err;
    static const int64_t begin[LEAT_MAX_RANK], step[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leati_hlo_value sorted[2] = {0, 0};
    sort_lines(emit, one_zero(emit, emit->inputs[0]), shape->rank - 1, true, sorted);
    leati_hlo_value places_of = leati_hlo_slice(&emit->hlo, sorted[1], begin, shape->dims, step);
    emit->outputs[0] = at_places(emit, emit->inputs[0], places_of, shape->rank - 1);
    emit->outputs[1] = places_of;
    return LEAT_OK;
}

/* The first values of each sequence in reverse order: [input, seq_lengths]. */
leat_status leati_emit_reverse_sequence(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 0);
    int32_t seq = leati_emit_axis(leati_emit_int(emit, "seq_axis"), shape.rank);
    int64_t batch = leati_emit_axis(leati_emit_int(emit, "batch_axis"), shape.rank);
    leati_hlo_value length = leati_hlo_convert(hlo, emit->inputs[1], LEAT_INT32);
    length = leati_hlo_broadcast_in(hlo, length, &shape, &batch);
    leati_hlo_value place = leati_hlo_iota(hlo, LEAT_INT32, &shape, seq);
    leati_hlo_value turned =
        leati_hlo_binary(hlo, "subtract", leati_hlo_binary(hlo, "subtract", length, place),
                         leati_hlo_fill_like(hlo, 1, place));
    place = leati_hlo_select(hlo, leati_hlo_compare(hlo, "LT", place, length), turned, place);
    emit->outputs[0] = at_places(emit, emit->inputs[0], place, seq);
    return LEAT_OK;
}

/* True, or 1, at as many places from the front as each length says. */
leat_status leati_emit_sequence_mask(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    int64_t axes[LEAT_MAX_RANK];
    for (int32_t d = 0; d + 1 < shape->rank; d++)
        axes[d] = d;
    leati_hlo_value length = leati_hlo_broadcast_in(hlo, emit->inputs[0], shape, axes);
    leati_hlo_value place = leati_hlo_iota(hlo, dtype, shape, shape->rank - 1);
    emit->outputs[0] = leati_hlo_compare(hlo, "LT", place, length);
    return LEAT_OK;
}

/* Is each target among the k largest of its line? [targets, predictions] */
leat_status leati_emit_in_top_k(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    leat_shape shape = leati_emit_input_shape(emit, 1);
    leat_dtype dtype = leati_emit_input_dtype(emit, 0);
    leati_hlo_value lines = emit->inputs[1], zero = leati_hlo_fill_like(hlo, 0, lines);
    leati_hlo_value target = leati_hlo_broadcast_in(hlo, emit->inputs[0], &shape, (int64_t[]){0});
    leati_hlo_value hot =
        leati_hlo_compare(hlo, "EQ", leati_hlo_iota(hlo, dtype, &shape, 1), target);
    leati_hlo_value own = leati_hlo_reduce(hlo, "add", leati_hlo_select(hlo, hot, lines, zero), 0,
                                           UINT32_C(1) << 1, true);
    leati_hlo_value larger =
        leati_hlo_compare(hlo, "GT", lines, leati_hlo_broadcast(hlo, own, &shape));
    leati_hlo_value count = leati_hlo_reduce(hlo, "add", leati_hlo_convert(hlo, larger, LEAT_INT64),
                                             0, UINT32_C(1) << 1, false);
    leati_hlo_value is_in = leati_hlo_compare(
        hlo, "LT", count, leati_hlo_fill_like(hlo, (double)leati_emit_int(emit, "k"), count));
    /* A line that cannot be put in order is false, and so is a target that is no class. */
    leati_hlo_value finite =
        leati_hlo_add(hlo, "is_finite", &lines, 1, NULL, NULL, LEAT_BOOL, &shape);
    finite = leati_hlo_reduce(hlo, "and", finite, 1, UINT32_C(1) << 1, false);
    hot = leati_hlo_reduce(hlo, "or", hot, 0, UINT32_C(1) << 1, false);
    is_in = leati_hlo_binary(hlo, "and", is_in, finite);
    emit->outputs[0] = leati_hlo_binary(hlo, "and", is_in, hot);
    return LEAT_OK;
}

/* Rows, an index and a slice that takes its place. Outside it is written nowhere. */
leat_status leati_emit_array_write(leati_emit *emit, leat_error *err) {
    (void)err;
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_shape rows = leati_emit_input_shape(emit, 0);
    leati_hlo_value x = emit->inputs[0], at = leati_hlo_convert(hlo, emit->inputs[1], LEAT_INT64);
    if (!leati_shape_equal(&rows, shape)) /* nothing was written yet */
        x = leati_hlo_fill(hlo, 0, leati_emit_dtype(emit, 0), shape);
    if (shape->dims[0] == 0) {
        emit->outputs[0] = x;
        return LEAT_OK;
    }
    leati_hlo_value is_in = leati_hlo_binary(
        hlo, "and", leati_hlo_compare(hlo, "GE", at, leati_hlo_fill_like(hlo, 0, at)),
        leati_hlo_compare(hlo, "LT", at, leati_hlo_fill_like(hlo, (double)shape->dims[0], at)));
    at = leati_hlo_convert(hlo, at, LEAT_INT32);
    leat_shape row = leati_emit_input_shape(emit, 2);
    leati_hlo_value value = leati_hlo_select(hlo, leati_hlo_broadcast(hlo, is_in, &row),
                                             emit->inputs[2], leati_hlo_row(hlo, x, at));
    emit->outputs[0] = leati_hlo_set_row(hlo, x, at, value);
    return LEAT_OK;
}
