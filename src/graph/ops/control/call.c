/* call: a user's C function on one element after the other (leat_function_from_callback).
 *
 * Happy path: each row becomes an element of `input` that borrows the operands' memory; the
 * result, checked against `output`, is stored. Not differentiable. Impure unless declared pure.
 * Failures carry the user's code and text under the callback's name, and the row. Locks: the
 * callback's gate (graph/callback.c), free while the user's code runs. */
#include "core/spec.h"
#include "graph/callback.h"
#include "graph/kernel_host.h"

static const leati_row call_rows[] = {
    {.name = "name",
     .type = LEATI_ROW_STRING,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_call_args, name),
     .doc = "The name under which the callback is registered."},
    {.name = "callback",
     .type = LEATI_ROW_OBJECT,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct leati_call_args, callback),
     .doc = "The callback itself; found by name when the graph is read back."},
    {.name = "input",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_call_args, input),
     .doc = "The spec of the elements that the callback takes."},
    {.name = "output",
     .type = LEATI_ROW_SPEC,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_call_args, output),
     .doc = "The spec of the elements that it returns."},
    {.name = "pure",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct leati_call_args, pure),
     .doc = "Whether its result depends on its arguments alone."},
    {0},
};

static leat_status call_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_call_args *args = call->args;
    /* A graph that was read back has no callback until its name is resolved. */
    if (args->input == NULL || args->output == NULL || !leati_callback_is_object(args->callback))
        return leati_refuse(err, VALUE,
                            "no callback; make the function with leat_function_from_callback");
    int expected = leat_spec_num_components(args->input);
    if (call->num_inputs != expected)
        return leati_refuse(err, STRUCTURE, "the callback takes %d components, found %d inputs",
                            expected, call->num_inputs);
    for (int i = 0; i < expected; i++) {
        leat_shape shape = leat_spec_component_shape(args->input, i);
        if (call->inputs[i].dtype != leat_spec_component_dtype(args->input, i) ||
            !leati_shape_compatible(&shape, &call->inputs[i].shape))
            return leati_refuse(err, STRUCTURE, "input %d does not fit what the callback takes", i);
    }
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < leat_spec_num_components(args->output); i++) {
        leat_shape shape = leat_spec_component_shape(args->output, i);
        status = leati_op_infer_output(call, leat_spec_component_dtype(args->output, i), &shape,
                                       leati_spec_component_element(args->output, i), err);
    }
    return status;
}

/* The result of one call must fit what was promised. */
static leat_status check_result(const struct leati_call_args *args, const leat_element *out,
                                leat_error *err) {
    int expected = leat_spec_num_components(args->output);
    if (out->num_tensors != expected)
        return leati_refuse(err, STRUCTURE,
                            "it returned %d components, but promised %d; fill `out` with "
                            "leat_element_set",
                            out->num_tensors, expected);
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < expected; i++)
        status = leati_spec_check_tensor(args->output, i, &out->tensors[i], err);
    return status;
}

static leat_status call_row(leati_kernel_call *call, int64_t row, leat_tensor *tensors,
                            leat_error *err) {
    const struct leati_call_args *args = call->args;
    leati_callback *callback = (leati_callback *)(void *)args->callback;
    leat_element in = {.spec = args->input, .tensors = tensors, .num_tensors = call->num_inputs};
    leat_element out = {0};
    for (int i = 0; i < call->num_inputs; i++)
        tensors[i] = leati_kernel_operand_tensor(&call->inputs[i], row);
    if (call->context != NULL && call->context->callbacks != NULL)
        ++*call->context->callbacks;
    leat_status status = leati_callback_run(callback, &in, &out, err);
    if (status == LEAT_OK) {
        status = check_result(args, &out, err);
        if (status != LEAT_OK)
            leati_prefix(err, "callback \"%s\"",
                         callback->name != NULL ? callback->name : "(unnamed)");
    }
    for (int i = 0; status == LEAT_OK && i < out.num_tensors; i++)
        status = leati_kernel_store(call, i, row, &out.tensors[i], err);
    /* Also where the callback failed: it may have filled a part. */
    leat_element_fini(&out);
    return status;
}

static leat_status call_kernel(leati_kernel_call *call, leat_error *err) {
    /* One more, so that a callback without inputs does not ask for nothing. */
    size_t size = ((size_t)call->num_inputs + 1) * sizeof(leat_tensor);
    leat_tensor *tensors = leati_arena_alloc(call->arena, size);
    if (tensors == NULL)
        return leati_no_memory(err);
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        status = call_row(call, row, tensors, err);
        if (status != LEAT_OK)
            call->failed_row = row;
    }
    return status;
}

static uint32_t call_flags(const void *args) {
    return ((const struct leati_call_args *)args)->pure ? 0 : LEATI_IMPURE;
}

const leati_tensor_op leati_tensor_op_call = {
    .name = "call",
    .version = 1,
    .doc = "Calls a C function on each element (tf.py_function's counterpart).",
    .types = "*",
    .outputs = "*output",
    .halves = LEATI_HALVES_OWN,
    .rows = call_rows,
    .args_size = sizeof(struct leati_call_args),
    .max_inputs = -1,
    .flags = LEATI_IMPURE,
    .infer = call_infer,
    .kernel = call_kernel,
    .node_flags = call_flags,
};
