/* Operations whose values come from their inputs' as they are, in another order: diagonals, patches
 * of pictures, repeats. Where each comes from is found by running the operation once, on the host,
 * on numbered places; the program gathers, and a gradient scatters.
 *
 * Fails where an operation has so many values that the list of places is too large for a program.
 */
#include "exec/pjrt/emit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "exec/compute.h"
#include <string.h>

enum { MOST_PLACES = 1 << 18, MOST_INPUTS = 8 };

/* Numbers of places begin here, beyond any padding. */
#define FIRST_PLACE (INT64_C(1) << 40)

/* Of each value of a result: the place of the input's value in all inputs, one behind the other, or
 * -1. */
typedef struct places {
    leat_tensor list; /* int32; owned */
    bool all;         /* each has one */
} places;

/* What the operation gives for inputs that are numbered, those from `values` on as they are. */
static leat_status run_numbered(const leati_node *node, const leati_type *inputs, int count,
                                int values, const leat_tensor *rest, leat_tensor *out,
                                leat_error *err) {
    leat_tensor tensors[MOST_INPUTS] = {{0}};
    leati_value type = {.type = {.dtype = LEAT_INT64, .shape = leat_tensor_shape(out)}};
    leati_call_context context = {.num_replicas = 1};
    leat_status status = LEAT_OK;
    int64_t next = FIRST_PLACE;
    for (int i = 0; i < count && status == LEAT_OK; i++) {
        if (i >= values) {
            tensors[i] = leat_tensor_ref(rest);
            continue;
        }
        status = leat_tensor_new(LEAT_INT64, inputs[i].shape, &tensors[i], err);
        int64_t n = status == LEAT_OK ? leat_tensor_count(&tensors[i]) : 0;
        for (int64_t k = 0; k < n; k++)
            ((int64_t *)tensors[i].data)[k] = next++;
    }
    if (status == LEAT_OK)
        status = leati_compute(node, &type, tensors, &context, out, err);
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
    return status;
}

static leat_status find_places(const leati_emit *emit, const leati_node *node,
                               const leati_type *inputs, int count, int values,
                               const leat_tensor *rest, const leat_shape *shape, places *out,
                               leat_error *err) {
    leat_tensor numbers = leat_tensor_view(LEAT_INT64, *shape, NULL);
    int64_t n = leati_shape_count(shape);
    if (n > MOST_PLACES || count > MOST_INPUTS)
        return leati_emit_lacks(emit, "a result of so many values", err);
    LEATI_TRY(run_numbered(node, inputs, count, values, rest, &numbers, err));
    leat_status status = leat_tensor_new(LEAT_INT32, LEAT_SHAPE(n, 1), &out->list, err);
    out->all = true;
    for (int64_t i = 0; i < n && status == LEAT_OK; i++) {
        int64_t place = ((const int64_t *)numbers.data)[i] - FIRST_PLACE;
        ((int32_t *)out->list.data)[i] = place < 0 ? -1 : (int32_t)place;
        out->all = out->all && place >= 0;
    }
    leat_tensor_unref(&numbers);
    return status;
}

static leati_hlo_value flat(leati_hlo *hlo, leati_hlo_value x) {
    leat_shape shape = leati_hlo_shape(hlo, x), line = LEAT_SHAPE(leati_shape_count(&shape));
    return leati_hlo_reshape(hlo, x, &line);
}

/* The first `values` inputs' values at the places, padding where there is none. */
static void print_places(leati_emit *emit, int values, const places *at, double padding) {
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leati_hlo_value parts[MOST_INPUTS];
    for (int i = 0; i < values; i++)
        parts[i] = flat(hlo, emit->inputs[i]);
    leati_hlo_value x = leati_hlo_concatenate(hlo, parts, values, 0);
    leat_dtype dtype = leati_hlo_dtype(hlo, x);
    leati_hlo_value rows = leati_hlo_constant(hlo, &at->list);
    leat_shape line = LEAT_SHAPE(leati_shape_count(shape));
    leati_hlo_value wide = leati_hlo_fill(hlo, padding, dtype, &line);
    leat_shape all = leati_hlo_shape(hlo, x);
    if (all.dims[0] > 0)
        x = leati_hlo_add(hlo, "gather", (leati_hlo_value[]){x, rows}, 2, NULL,
                          "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], "
                          "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: "
                          "1>, indices_are_sorted = false",
                          dtype, &line);
    else
        x = wide;
    if (!at->all) {
        leati_hlo_value place = leati_hlo_reshape(hlo, rows, &line);
        leati_hlo_value is_there =
            leati_hlo_compare(hlo, "GE", place, leati_hlo_fill_like(hlo, 0, place));
        x = leati_hlo_select(hlo, is_there, x, wide);
    }
    emit->outputs[0] = leati_hlo_reshape(hlo, x, shape);
}

/* All inputs are values. */
leat_status leati_emit_places(leati_emit *emit, leat_error *err) {
    leati_type inputs[MOST_INPUTS];
    places at = {0};
    for (int i = 0; i < emit->num_inputs && i < MOST_INPUTS; i++)
        inputs[i].shape = leati_emit_input_shape(emit, i);
    LEATI_TRY(find_places(emit, emit->node->source, inputs, emit->num_inputs, emit->num_inputs,
                          NULL, leati_emit_shape(emit, 0), &at, err));
    print_places(emit, emit->num_inputs, &at, leati_emit_float(emit, "padding_value"));
    leat_tensor_unref(&at.list);
    return LEAT_OK;
}

/* The second input, numbers, must be known. */
leat_status leati_emit_places_by(leati_emit *emit, leat_error *err) {
    leati_type inputs[2] = {{.shape = leati_emit_input_shape(emit, 0)}};
    const leat_tensor *by = leati_emit_known(emit, 1);
    places at = {0};
    if (by == NULL)
        return leati_emit_lacks(emit, "an argument that the run computes", err);
    LEATI_TRY(find_places(emit, emit->node->source, inputs, 2, 1, by, leati_emit_shape(emit, 0),
                          &at, err));
    print_places(emit, 1, &at, 0);
    leat_tensor_unref(&at.list);
    return LEAT_OK;
}

/* Inputs: the patches' gradient, and pictures, whose shape counts. */
leat_status leati_emit_patches_grad(leati_emit *emit, leat_error *err) {
    char region[LEATI_HLO_REGION];
    leati_hlo *hlo = &emit->hlo;
    const leat_shape *shape = leati_emit_shape(emit, 0);
    leat_shape patches = leati_emit_input_shape(emit, 0),
               line = LEAT_SHAPE(leati_shape_count(shape));
    leati_type pictures = {.shape = *shape};
    leati_node node = *emit->node->source;
    places at = {0};
    node.op = &leati_tensor_op_extract_patches;
    node.num_inputs = 1;
    LEATI_TRY(find_places(emit, &node, &pictures, 1, 1, NULL, &patches, &at, err));
    leati_hlo_value g = flat(hlo, emit->inputs[0]);
    leat_dtype dtype = leati_hlo_dtype(hlo, g);
    /* What lies outside of a picture has place -1, and is left out. */
    leati_hlo_value operands[3] = {leati_hlo_fill(hlo, 0, dtype, &line),
                                   leati_hlo_constant(hlo, &at.list), g};
    leat_tensor_unref(&at.list);
    g = leati_hlo_add(hlo, "scatter", operands, 3, leati_hlo_fold_region(region, "add", dtype),
                      "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
                      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
                      "indices_are_sorted = false, unique_indices = false",
                      dtype, &line);
    emit->outputs[0] = leati_hlo_reshape(hlo, g, shape);
    return LEAT_OK;
}
