/* Operations with attributes that the run computes, and their gradients, where the attributes turn
 * out to be constants: the operation alone, with the attributes bound, is printed in their place.
 *
 * Where a slice begins, and nothing else of it, may be a value of the run.
 *
 * Fails where another attribute is not known when the step is compiled. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include "graph/computed.h"
#include <stdio.h>
#include <string.h>

/* What is bound, as the operand of one row. */
static leati_operand operand_of(const leat_tensor *tensor) {
    leat_shape shape = leat_tensor_shape(tensor);
    leati_operand out = {.data = tensor->data,
                         .dtype = tensor->dtype,
                         .rank = shape.rank,
                         .count = leat_tensor_count(tensor)};
    memcpy(out.dims, shape.dims, sizeof out.dims);
    return out;
}

static leat_status bound_operands(const leati_emit *emit, int first, int count, leati_operand *out,
                                  leat_error *err) {
    for (int i = 0; i < count; i++) {
        const leat_tensor *value = leati_emit_known(emit, first + i);
        if (value == NULL)
            return leati_emit_lacks(emit, "an argument that the run computes", err);
        out[i] = operand_of(value);
    }
    return LEAT_OK;
}

enum { MOST = 64 };

/* The node's inputs are `own` of the operation, those that are bound, and the gradients. */
static leat_status print(leati_emit *emit, int own, bool reverse, leat_error *err) {
    const struct leati_computed_args *args = emit->node->source->args;
    int bound = args->bound.count, count = emit->num_inputs - bound;
    leati_operand operands[MOST];
    leati_type types[MOST];
    leati_hlo_value arguments[MOST];
    if (emit->num_inputs > MOST)
        return leati_emit_lacks(emit, "a node of so many inputs", err);
    LEATI_TRY(bound_operands(emit, own, bound, operands, err));
    for (int i = 0; i < count; i++) {
        arguments[i] = emit->inputs[i < own ? i : i + bound];
        leati_hlo_type type = leati_hlo_type_of(&emit->hlo, arguments[i]);
        types[i] = (leati_type){.dtype = type.dtype, .shape = type.shape};
    }
    leat_function *function = leati_computed_function(args, types, own, operands, 0, reverse, err);
    if (function == NULL)
        return err->code;
    leati_emit_inside inside = {0};
    leat_status status =
        leati_emit_inside_init(emit, args->op, &function->object, arguments, NULL, &inside, err);
    if (status == LEAT_OK)
        status = leati_emit_inside_print(emit, &inside, arguments, emit->outputs, err);
    leati_emit_inside_fini(&inside);
    leat_function_unref(function);
    return status;
}

/* ---- slices that begin where the run says ---- */

/* Is `begin` all that is bound, and not known? The size is that of the result. */
static bool begins_anywhere(const leati_emit *emit, int own) {
    const struct leati_computed_args *args = emit->node->source->args;
    return leati_computed_op(args) == &leati_tensor_op_slice && args->bound.count == 1 &&
           own == 1 && strcmp(args->bound.values[0].data, "begin") == 0 &&
           leati_emit_known(emit, own) == NULL;
}

/* `x`, an update of it or none, and the numbers of `begin` as scalars; how many there are. */
static int add_begin(leati_emit *emit, leati_hlo_value *operands, int count) {
    leati_hlo *hlo = &emit->hlo;
    int64_t rank = leati_emit_input_shape(emit, 1).dims[0];
    for (int64_t d = 0; d < rank; d++) {
        leati_hlo_value one = leati_hlo_slice(hlo, emit->inputs[1], (int64_t[]){d},
                                              (int64_t[]){d + 1}, (int64_t[]){1});
        operands[count++] = leati_hlo_reshape(hlo, one, &LEAT_SCALAR);
    }
    return count;
}

leat_status leati_emit_computed(leati_emit *emit, leat_error *err) {
    const struct leati_computed_args *args = emit->node->source->args;
    if (begins_anywhere(emit, emit->num_inputs - args->bound.count)) {
        char sizes[LEATI_HLO_ATTRIBUTES / 4], attributes[LEATI_HLO_ATTRIBUTES];
        leati_hlo_value operands[1 + LEAT_MAX_RANK] = {emit->inputs[0]};
        const leat_shape *out = leati_emit_shape(emit, 0);
        snprintf(attributes, sizeof attributes, "slice_sizes = %s",
                 leati_hlo_array(sizes, sizeof sizes, out->dims, out->rank));
        emit->outputs[0] =
            leati_hlo_add(&emit->hlo, "dynamic_slice", operands, add_begin(emit, operands, 1), NULL,
                          attributes, leati_emit_dtype(emit, 0), out);
        return LEAT_OK;
    }
    return print(emit, emit->num_inputs - args->bound.count, false, err);
}

/* Inputs: those of the slice, and what flows to it. */
leat_status leati_emit_computed_gradient(leati_emit *emit, leat_error *err) {
    int own = (int)leati_emit_int(emit, "num_inputs");
    if (begins_anywhere(emit, own)) {
        const leat_shape *out = leati_emit_shape(emit, 0);
        leat_dtype dtype = leati_emit_dtype(emit, 0);
        leati_hlo_value operands[2 + LEAT_MAX_RANK] = {leati_hlo_fill(&emit->hlo, 0, dtype, out),
                                                       emit->inputs[2]};
        emit->outputs[0] = leati_hlo_add(&emit->hlo, "dynamic_update_slice", operands,
                                         add_begin(emit, operands, 2), NULL, NULL, dtype, out);
        return LEAT_OK;
    }
    return print(emit, own, true, err);
}
