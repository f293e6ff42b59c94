/* computed_gradient: what flows back through an operation some of whose attributes are values that
 * the run computes.
 *
 * Inputs are those of the node of computed, then a gradient for each floating-point output; the
 * results are gradients of the operation's own floating-point inputs. A gradient may depend on the
 * attributes, so the kernel binds them, builds the operation alone for the shapes found, takes its
 * gradient and runs that, row by row. No gradient of its own. Failures name the operation. No
 * locks. */
#include "graph/body.h"
#include "graph/computed.h"
#include "graph/function.h"
#include "graph/interpret.h"
#include "graph/node_args.h"
#include "graph/support/control/branch.h"
#include "graph/support/support.h"

struct computed_gradient_args {
    struct leati_computed_args computed; /* first */
    int64_t num_inputs;
};

static const leati_row computed_gradient_rows[] = {
    LEATI_COMPUTED_ROWS,
    {.name = "num_inputs",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct computed_gradient_args, num_inputs),
     .maximum = INT32_MAX,
     .doc = "How many inputs the operation has, without the bound ones."},
    {0},
};

static leat_status computed_gradient_infer(leati_infer_call *call, leat_error *err) {
    const struct computed_gradient_args *args = call->args;
    if (leati_computed_op(&args->computed) == NULL)
        return leati_fail(err, LEAT_INTERNAL, "the operation was not read");
    /* The rest must be gradients; how many is found when the function is made. */
    if (args->num_inputs + args->computed.bound.count > call->num_inputs)
        return leati_refuse(err, STRUCTURE,
                            "%d inputs are not those of an operation with %d and their gradients",
                            call->num_inputs, (int)args->num_inputs);
    for (int i = 0; i < args->num_inputs; i++)
        if (leati_graph_dtype_is_trainable(call->inputs[i].dtype))
            LEATI_TRY(leati_op_infer_output(call, call->inputs[i].dtype, &call->inputs[i].shape,
                                            NULL, err));
    return LEAT_OK;
}

/* The operation alone with these attributes, as a function of its inputs. Owned. */
static leat_function *operation_alone(const leati_tensor_op *op, const void *attributes,
                                      const leati_type *inputs, int count, leat_error *err) {
    leat_value outputs[LEAT_MAX_OUTPUTS];
    leat_spec *spec = leati_function_spec_of_types(inputs, count, err);
    leat_graph *graph = spec == NULL ? NULL : leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return NULL;
    for (int i = 0; i < count && i < LEAT_MAX_OUTPUTS; i++)
        outputs[i] = (leat_value){.graph = graph, .id = i};
    /* Where this fails the graph keeps the error, and finishing reports it and frees the graph. */
    leat_value first = leati_graph_node(graph, op, attributes, outputs, count);
    int made = leati_support_value_failed(first) ? 0 : graph->body.nodes[0].num_outputs;
    for (int i = 0; i < made; i++)
        outputs[i] = (leat_value){.graph = graph, .id = first.id + i};
    return leat_graph_finish(graph, outputs, made, NULL, err);
}

leat_function *leati_computed_function(const struct leati_computed_args *args,
                                       const leati_type *inputs, int count,
                                       const leati_operand *bound, int64_t row, bool reverse,
                                       leat_error *err) {
    const leati_tensor_op *op = leati_computed_op(args);
    void *attributes = NULL;
    if (leati_computed_bind(args, bound, row, &attributes, err) != LEAT_OK)
        return NULL;
    leat_function *forward = operation_alone(op, attributes, inputs, count, err);
    /* The function has a copy of the attributes. */
    leati_node_args_free(op, attributes);
    if (forward == NULL || !reverse)
        return forward;
    leat_function *backward = leati_graph_function_gradient(forward, err);
    leat_function_unref(forward);
    return backward;
}

/* Row `row` of the inputs and gradients goes into `tensors`, the results into `outputs`. */
static leat_status run_row(const leati_kernel_call *call, int64_t row, leat_tensor *tensors,
                           leat_tensor *outputs, leat_error *err) {
    const struct computed_gradient_args *args = call->args;
    const leati_tensor_op *op = leati_computed_op(&args->computed);
    int own = (int)args->num_inputs, bound = args->computed.bound.count;
    leat_error failure = {0};
    leati_type types[LEAT_MAX_OUTPUTS];
    for (int i = 0; i < own; i++) {
        tensors[i] = leati_kernel_operand_tensor(&call->inputs[i], row);
        types[i] = (leati_type){.dtype = tensors[i].dtype, .shape = leat_tensor_shape(&tensors[i])};
    }
    /* The reverse function does not know the bound inputs: gradients follow the operation's own. */
    for (int i = own + bound; i < call->num_inputs; i++)
        tensors[i - bound] = leati_kernel_operand_tensor(&call->inputs[i], row);
    /* Made anew for each row, because the shapes and the arguments may differ. */
    leat_function *reverse = leati_computed_function(&args->computed, types, own,
                                                     call->inputs + own, row, true, &failure);
    leat_status status = reverse == NULL ? failure.code : LEAT_OK;
    if (status == LEAT_OK && reverse->num_outputs != call->num_outputs)
        status = leati_fail(&failure, LEAT_INTERNAL, "the gradient has %d outputs; expected %d",
                            reverse->num_outputs, call->num_outputs);
    if (status == LEAT_OK) {
        leati_call_context context = leati_branch_context(call, row, -1, 0);
        status = leati_interpret(reverse, tensors, &context, outputs, &failure);
    }
    leat_function_unref(reverse);
    if (status == LEAT_OK)
        return LEAT_OK;
    leati_prefix(&failure, "%s", op->name);
    return leati_error_pass(err, &failure);
}

static leat_status computed_gradient_kernel(leati_kernel_call *call, leat_error *err) {
    const struct computed_gradient_args *args = call->args;
    size_t count = (size_t)call->num_inputs + (size_t)call->num_outputs;
    if (args->num_inputs > LEAT_MAX_OUTPUTS)
        return leati_fail(err, LEAT_UNIMPLEMENTED, "%lld inputs; expected at most %d",
                          (long long)args->num_inputs, LEAT_MAX_OUTPUTS);
    leat_tensor *tensors = leati_arena_alloc(call->arena, count * sizeof *tensors);
    if (tensors == NULL)
        return leati_no_memory(err);
    leat_tensor *outputs = tensors + call->num_inputs;
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        call->failed_row = row;
        /* A row that fails sets no outputs, so nothing is to be released. */
        LEATI_TRY(run_row(call, row, tensors, outputs, err));
        for (int i = 0; status == LEAT_OK && i < call->num_outputs; i++)
            status = leati_kernel_store(call, i, row, &outputs[i], err);
        for (int i = 0; i < call->num_outputs; i++)
            leat_tensor_unref(&outputs[i]);
    }
    return status;
}

leat_value leati_computed_gradient_node(leat_graph *graph, const struct leati_computed_args *args,
                                        int own, const leat_value *inputs, int num_inputs) {
    struct computed_gradient_args node = {.computed = *args, .num_inputs = own};
    return leati_graph_node(graph, &leati_tensor_op_computed_gradient, &node, inputs, num_inputs);
}

const leati_tensor_op leati_tensor_op_computed_gradient = {
    .name = "computed_gradient",
    .version = 1,
    .doc = "What flows back through an operation with computed attributes (for gradients).",
    .types = "*",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = computed_gradient_rows,
    .args_size = sizeof(struct computed_gradient_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = computed_gradient_infer,
    .kernel = computed_gradient_kernel,
    .complete = leati_computed_complete,
};
