/* Operations that are put together of others, which emit.def has: a small graph in their place,
 * inferred, simplified and printed as a function among attributes is.
 *
 * Failures: what the builder refuses, a graph that does not infer, memory. No locks. */
#include "exec/pjrt/emit_compose.h"

#include "base/error.h"
#include "core/spec.h"
#include "core/tensor.h"

enum { MOST_INPUTS = 16 };

/* A graph whose arguments are such values as the inputs are. Owned; NULL with err. */
static leat_graph *open_graph(const leati_emit *emit, leat_value *in, leat_error *err) {
    leat_spec *components[MOST_INPUTS];
    for (int i = 0; i < emit->num_inputs; i++)
        components[i] =
            leat_spec_tensor(leati_emit_input_dtype(emit, i), leati_emit_input_shape(emit, i), err);
    /* It takes the components, and says what is missing of them. */
    leat_spec *spec = leat_spec_tuple(components, emit->num_inputs, err);
    leat_graph *graph = spec == NULL ? NULL : leat_graph_new(spec, err);
    leat_spec_unref(spec);
    for (int i = 0; graph != NULL && i < emit->num_inputs; i++)
        in[i] = leat_graph_argument(graph, i);
    return graph;
}

leat_status leati_emit_compose(leati_emit *emit, leati_emit_builder *build, leat_error *err) {
    leat_value in[MOST_INPUTS], out[LEAT_MAX_OUTPUTS];
    const leat_tensor *known[MOST_INPUTS];
    if (emit->num_inputs < 1 || emit->num_inputs > MOST_INPUTS)
        return leati_emit_lacks(emit, "a node of so many inputs", err);
    leat_graph *graph = open_graph(emit, in, err);
    if (graph == NULL)
        return err->code;
    build(emit, in, out);
    leat_function *function = leat_graph_finish(graph, out, emit->node->num_outputs, NULL, err);
    if (function == NULL)
        return err->code;
    for (int i = 0; i < emit->num_inputs; i++)
        known[i] = leati_emit_known(emit, i);
    leati_emit_inside inside = {0};
    leat_status status = leati_emit_inside_init(
        emit, emit->node->source->op->name, &function->object, emit->inputs, known, &inside, err);
    if (status == LEAT_OK)
        status = leati_emit_inside_print(emit, &inside, emit->inputs, emit->outputs, err);
    leati_emit_inside_fini(&inside);
    leat_function_unref(function);
    return status;
}

/* ---- for builders ---- */

leat_value leati_emit_constant(leat_graph *graph, leat_dtype dtype, leat_shape shape,
                               const void *values) {
    leat_error err = {0};
    leat_tensor tensor;
    if (leat_tensor_copy_of(dtype, shape, values, &tensor, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    leat_value out = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return out;
}

leat_value leati_emit_number_like(leat_value like, double number) {
    return leati_support_number(like.graph, leat_value_dtype(like), number);
}

leat_value leati_emit_part_along(leat_value x, int32_t axis, int64_t first, int64_t count) {
    int64_t begin[LEAT_MAX_RANK] = {0}, size[LEAT_MAX_RANK];
    int32_t rank = leat_value_shape(x).rank;
    for (int32_t d = 0; d < rank; d++)
        size[d] = -1;
    begin[leati_emit_axis(axis, rank)] = first;
    size[leati_emit_axis(axis, rank)] = count;
    return leat_op_slice(x, begin, rank, size, rank);
}
