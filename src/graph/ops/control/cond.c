/* cond: one of two functions, chosen by a scalar; the operation whose attributes are graphs.
 *
 * Inputs are the predicate and what both branches take. Inference joins the outputs of the branches
 * for the very types of the inputs. The kernel runs the chosen branch for each row with the
 * reference interpreter. The gradient is a cond over the branches' gradient functions, which
 * compute the forward nodes again; random nodes draw the same numbers there, because they keep
 * their seeds and the ordinal of the call. Failures of a branch say which one. Flags are those of
 * the branches. No locks. */
#include "core/spec.h"
#include "graph/interpret.h"
#include "graph/support/control/branch.h"
#include <leat/ops.h>
#include <string.h>

struct cond_args {
    leat_object *then_branch, *else_branch;
    int64_t forward; /* number of the node that this one computes again, -1: none */
};

static const leati_row cond_rows[] = {
    {.name = "then_branch",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct cond_args, then_branch),
     .doc = "The function where the predicate holds."},
    {.name = "else_branch",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct cond_args, else_branch),
     .doc = "The function where it does not."},
    {.name = "forward",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct cond_args, forward),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT64_MAX,
     .doc = "The node whose branches this one, its gradient, computes again; -1: none."},
    {0},
};

extern const leati_tensor_op leati_tensor_op_cond;

static const char *const branch_names[2] = {"else_branch", "then_branch"};

static leat_function *branch_of(const struct cond_args *args, int which) {
    return leati_branch(which ? args->then_branch : args->else_branch);
}

/* ---- inference ---- */

static leat_status join_outputs(leati_infer_call *call, const leat_function *then_branch,
                                const leat_function *else_branch, leat_error *err) {
    if (then_branch->num_outputs != else_branch->num_outputs)
        return leati_refuse(err, STRUCTURE,
                            "then_branch has %d outputs and else_branch %d; they must agree",
                            (int)then_branch->num_outputs, (int)else_branch->num_outputs);
    for (int32_t i = 0; i < then_branch->num_outputs; i++) {
        const leati_type *a = &then_branch->body.values[then_branch->outputs[i]].type;
        const leati_type *b = &else_branch->body.values[else_branch->outputs[i]].type;
        if (a->dtype != b->dtype)
            return leati_refuse(err, DTYPE,
                                "output %d is %s in then_branch and %s in else_branch; cast one",
                                (int)i, leat_dtype_name(a->dtype), leat_dtype_name(b->dtype));
        leati_type both;
        leat_status status = leati_op_infer_join(call, a, b, &both, err);
        if (status != LEAT_OK)
            return leati_prefix(err, "output %d", (int)i);
        status = leati_op_infer_output(call, both.dtype, &both.shape, both.element, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

static leat_status cond_infer(leati_infer_call *call, leat_error *err) {
    const leati_type *predicate = &call->inputs[0];
    char found[128];
    /* An unknown rank, -1, passes; the kernel looks again. */
    if (predicate->dtype != LEAT_BOOL || predicate->shape.rank > 0)
        return leati_refuse(err, SHAPE, "the predicate is %s of shape %s; expected a bool scalar",
                            leat_dtype_name(predicate->dtype),
                            leati_shape_text(&predicate->shape, found));
    /* A record of its own, because err may be NULL and is read below. */
    leat_error failure = {0};
    const struct cond_args *args = call->args;
    int count = call->num_inputs - 1;
    leat_function *then_branch = leati_branch_specialise("then_branch", args->then_branch,
                                                         call->inputs + 1, count, &failure);
    leat_function *else_branch = NULL;
    if (then_branch != NULL)
        else_branch = leati_branch_specialise("else_branch", args->else_branch, call->inputs + 1,
                                              count, &failure);
    if (else_branch != NULL)
        /* What this returns stands in `failure`. */
        join_outputs(call, then_branch, else_branch, &failure);
    leat_function_unref(then_branch);
    leat_function_unref(else_branch);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}

/* ---- kernel ---- */

static leat_status cond_row(leati_kernel_call *call, int64_t row, leat_tensor *inputs,
                            leat_tensor *outputs, leat_error *err) {
    int which =
        *(const bool *)(const void *)(call->inputs[0].data + row * call->inputs[0].row_stride);
    const struct cond_args *args = call->args;
    leati_call_context context = leati_branch_context(call, row, args->forward, which);
    for (int i = 1; i < call->num_inputs; i++)
        inputs[i - 1] = leati_kernel_operand_tensor(&call->inputs[i], row);
    /* Where the branch fails it sets no outputs, and releasing zeros does nothing. */
    memset(outputs, 0, (size_t)call->num_outputs * sizeof *outputs);
    leat_status status = leati_interpret(branch_of(args, which), inputs, &context, outputs, err);
    if (status != LEAT_OK)
        leati_prefix(err, "%s", branch_names[which]);
    for (int i = 0; status == LEAT_OK && i < call->num_outputs; i++)
        status = leati_kernel_store(call, i, row, &outputs[i], err);
    for (int i = 0; i < call->num_outputs; i++)
        leat_tensor_unref(&outputs[i]);
    return status;
}

static leat_status cond_kernel(leati_kernel_call *call, leat_error *err) {
    size_t count = (size_t)call->num_inputs + (size_t)call->num_outputs;
    leat_tensor *tensors = leati_arena_alloc(call->arena, count * sizeof *tensors);
    if (tensors == NULL)
        return leati_no_memory(err);
    if (call->inputs[0].rank != 0)
        return leati_refuse(err, SHAPE, "the predicate has rank %d; expected a bool scalar",
                            (int)call->inputs[0].rank);
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        status = cond_row(call, row, tensors, tensors + call->num_inputs, err);
        if (status != LEAT_OK)
            call->failed_row = row;
    }
    return status;
}

/* ---- gradient ---- */

/* What the gradient node takes: the inputs, then a gradient for each floating output. */
static int gradient_inputs(const leati_gradient_call *call, leat_value *inputs) {
    int count = 0;
    for (int i = 0; i < call->num_inputs; i++)
        inputs[count++] = call->inputs[i];
    for (int i = 0; i < call->num_outputs; i++) {
        if (!leati_graph_dtype_is_trainable(leat_value_dtype(call->outputs[i])))
            continue;
        leat_value gradient = call->output_gradients[i];
        /* The branches' gradients take one for each floating output; where nothing flows it is
         * zeros. */
        inputs[count++] = gradient.id < 0 ? leat_op_zeros_like(call->outputs[i]) : gradient;
    }
    return count;
}

static leat_status cond_gradient(leati_gradient_call *call, leat_error *err) {
    const struct cond_args *args = call->args;
    size_t room = (size_t)call->num_inputs + (size_t)call->num_outputs;
    leat_value *inputs = leati_alloc(room, sizeof *inputs);
    leat_error failure = {0};
    leat_function *reverse[2] = {0};
    if (inputs == NULL)
        leati_no_memory(&failure);
    for (int which = 0; which < 2 && failure.code == LEAT_OK; which++) {
        /* Both are needed, because the predicate is not known yet. */
        reverse[which] = leati_graph_function_gradient(branch_of(args, which), &failure);
        if (reverse[which] == NULL)
            leati_prefix(&failure, "%s", branch_names[which]);
    }
    if (failure.code == LEAT_OK) {
        struct cond_args reverse_args = {.then_branch = &reverse[1]->object,
                                         .else_branch = &reverse[0]->object,
                                         .forward = leati_branch_forward_number(call)};
        int count = gradient_inputs(call, inputs);
        leat_value next =
            leati_graph_node(call->graph, &leati_tensor_op_cond, &reverse_args, inputs, count);
        /* The outputs are gradients of the floating inputs, in order; without a node the graph
         * keeps the error. */
        for (int i = 1; i < call->num_inputs && next.id >= 0; i++)
            if (leati_graph_dtype_is_trainable(leat_value_dtype(call->inputs[i]))) {
                call->input_gradients[i] = next;
                next.id++;
            }
    }
    leati_free(inputs);
    /* The node has references of its own. */
    leat_function_unref(reverse[0]);
    leat_function_unref(reverse[1]);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}

/* leati_body_node_flags adds those of the branches. */
static uint32_t cond_flags(const void *args) {
    return ((const struct cond_args *)args)->forward < 0 ? 0 : LEATI_REPLAYS;
}

const leati_tensor_op leati_tensor_op_cond = {
    .name = "cond",
    .version = 1,
    .doc = "The outputs of one of two functions, chosen by a bool scalar (tf.cond).",
    .types = "*",
    .outputs = "*output",
    .halves = LEATI_HALVES_OWN,
    .rows = cond_rows,
    .args_size = sizeof(struct cond_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = cond_infer,
    .kernel = cond_kernel,
    .gradient = cond_gradient,
    .node_flags = cond_flags,
};

int leat_op_cond(leat_value predicate, leat_function *then_branch, leat_function *else_branch,
                 const leat_value *inputs, int num_inputs, leat_value *outputs) {
    leat_graph *graph = predicate.graph;
    if (graph == NULL || graph->error.code != LEAT_OK)
        return -1;
    if (!leati_branch_given(graph, "cond", (leat_function *[]){then_branch, else_branch}, 2))
        return -1;
    leat_value *all = leati_alloc((size_t)num_inputs + 1, sizeof *all);
    if (all == NULL) {
        leat_error err = {0};
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return -1;
    }
    all[0] = predicate;
    for (int i = 0; i < num_inputs; i++)
        all[i + 1] = inputs[i];
    struct cond_args args = {
        .then_branch = &then_branch->object, .else_branch = &else_branch->object, .forward = -1};
    leat_value first = leati_graph_node(graph, &leati_tensor_op_cond, &args, all, num_inputs + 1);
    leati_free(all);
    if (first.id < 0)
        return -1;
    for (int i = 0; i < then_branch->num_outputs; i++)
        outputs[i] = (leat_value){.graph = graph, .id = first.id + i};
    return then_branch->num_outputs;
}
