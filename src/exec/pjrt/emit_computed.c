/* Operations with attributes that the run computes, and their gradients, where the attributes turn
 * out to be constants: the operation alone, with the attributes bound, is printed in their place.
 *
 * Fails where an attribute is not known when the step is compiled. */
#include "exec/pjrt/emit.h"

#include "base/error.h"
#include "core/tensor.h"
#include "graph/computed.h"
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

leat_status leati_emit_computed(leati_emit *emit, leat_error *err) {
    const struct leati_computed_args *args = emit->node->source->args;
    return print(emit, emit->num_inputs - args->bound.count, false, err);
}

leat_status leati_emit_computed_gradient(leati_emit *emit, leat_error *err) {
    return print(emit, (int)leati_emit_int(emit, "num_inputs"), true, err);
}
