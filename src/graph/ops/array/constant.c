/* constant: a tensor that the graph carries. The kernel hands out a view of it, one row shared by
 * all; nothing is copied. `spec` keeps what inference knows as little as it did when the value was
 * an argument. No inputs, so no gradient. Fails where the attribute is no single tensor, or not of
 * the spec. */
#include "core/spec.h"
#include "graph/node_args.h"
#include "graph/support/support.h"

static const leati_row constant_rows[] = {
    {.name = "value",
     .type = LEATI_ROW_ELEMENT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_constant_args, value),
     .doc = "The tensor."},
    {.name = "spec",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct leati_constant_args, spec),
     .doc = "What inference may know of it; without, the tensor's own dtype and shape."},
    {0},
};

static leat_status constant_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_constant_args *args = call->args;
    if (args->value.num_tensors != 1 ||
        (args->spec != NULL && leat_spec_num_components(args->spec) != 1))
        return leati_refuse(err, STRUCTURE, "value must be one tensor, found a structure of %d",
                            args->value.num_tensors);
    const leat_tensor *tensor = &args->value.tensors[0];
    leat_shape shape = leat_tensor_shape(tensor);
    if (args->spec != NULL) {
        /* The spec may know less than the tensor, but nothing else. */
        LEATI_TRY(leati_spec_check_tensor(args->spec, 0, tensor, err));
        shape = leat_spec_component_shape(args->spec, 0);
    }
    return leati_op_infer_output(call, tensor->dtype, &shape, NULL, err);
}

static leat_status constant_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_constant_args *args = call->args;
    const leat_tensor *tensor = &args->value.tensors[0];
    /* A stride of 0: all rows are the one tensor. */
    return leati_op_kernel_view(call, 0, tensor->rank, tensor->dims, tensor->data, 0, tensor->owner,
                                err);
}

const leati_tensor_op leati_tensor_op_constant = {
    .name = "constant",
    .version = 1,
    .doc = "A tensor that is part of the graph (tf.constant).",
    .types = "",
    .outputs = "output",
    .halves = LEATI_HALVES_OWN,
    .rows = constant_rows,
    .args_size = sizeof(struct leati_constant_args),
    .infer = constant_infer,
    .kernel = constant_kernel,
};

leat_status leati_graph_constant(leat_graph *graph, const leat_tensor *tensor, leat_value *out,
                                 leat_error *err) {
    leat_error failure = {0};
    leat_tensor owned = {0};
    struct leati_constant_args args = {0};
    /* `failure` is a record of its own, because err may be NULL and is read below. */
    leat_spec *spec = leat_spec_tensor(tensor->dtype, leat_tensor_shape(tensor), &failure);
    if (spec == NULL)
        goto end;
    if (tensor->owner != NULL)
        owned = leat_tensor_ref(tensor);
    else if (leat_tensor_copy_of(tensor->dtype, leat_tensor_shape(tensor), tensor->data, &owned,
                                 &failure) != LEAT_OK)
        goto end;
    if (leat_element_set(&args.value, spec, &owned, &failure) != LEAT_OK)
        goto end;
    *out = leati_graph_node(graph, &leati_tensor_op_constant, &args, NULL, 0);
end:
    /* The node has references of its own by now. */
    leat_element_fini(&args.value);
    leat_tensor_unref(&owned);
    leat_spec_unref(spec);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}

const leat_tensor *leati_node_constant(const leati_node *node) {
    const struct leati_constant_args *args = node->args;
    /* With a spec, inference may know no more than that says: the value stays hidden. */
    return node->op == &leati_tensor_op_constant && args->spec == NULL ? &args->value.tensors[0]
                                                                       : NULL;
}

const leat_tensor *leati_op_infer_constant(const leati_infer_call *call, int index) {
    int32_t node = call->body != NULL ? call->body->values[call->ids[index]].node : -1;
    return node < 0 ? NULL : leati_node_constant(&call->body->nodes[node]);
}
