/* while: a loop over tensors, whose condition and body are functions.
 *
 * Inputs are the loop variables, then loop invariants; both functions take all of them. Inference
 * joins the variables' types with what the body makes of them until nothing changes, so that a
 * dimension that grows is unknown; with shape_invariants the body must keep those. The kernel runs
 * row by row with the reference interpreter. Random nodes draw other numbers in each iteration. The
 * gradient is a node of while_gradient. Flags are those of the functions. Failures name the
 * iteration, counted from 0, and the function. No locks. */
#include "graph/ops/control/while.h"
#include "base/hash.h"
#include "core/spec.h"
#include "graph/interpret.h"
#include "graph/ops/control/while_gradient.h"
#include "run/cancel.h"
#include <leat/ops.h>
#include <string.h>

static const leati_row while_rows[] = {
    {.name = "cond",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_while_args, cond),
     .doc = "The function that says whether another iteration follows: a bool scalar."},
    {.name = "body",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct leati_while_args, body),
     .doc = "The function that gives the loop variables' next values."},
    {.name = "num_variables",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct leati_while_args, num_variables),
     .default_number = -1,
     .minimum = -1,
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many inputs are loop variables; the others do not change. -1: all."},
    {.name = "maximum_iterations",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     .offset = offsetof(struct leati_while_args, maximum_iterations),
     .default_number = -1,
     .doc = "The loop ends after so many iterations; a negative number means no limit."},
    {.name = "shape_invariants",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct leati_while_args, shape_invariants),
     .doc = "The shapes that the variables keep, one component for each; without, they follow."},
    {0},
};

extern const leati_tensor_op leati_tensor_op_while;

static leat_status count_variables(int64_t num_variables, int num_inputs, int *out,
                                   leat_error *err) {
    int64_t count = num_variables < 0 ? num_inputs : num_variables;
    if (count < 1 || count > num_inputs || count > LEAT_MAX_OUTPUTS)
        return leati_refuse(err, VALUE,
                            "%lld of %d inputs are loop variables; expected from 1 to %d of them",
                            (long long)count, num_inputs, LEAT_MAX_OUTPUTS);
    *out = (int)count;
    return LEAT_OK;
}

/* ---- inference ---- */

/* The variables start with the shapes that the caller names. */
static leat_status apply_invariants(const leat_spec *spec, leati_type *types, int count,
                                    leat_error *err) {
    char wanted[128], found[128];
    if (leat_spec_num_components(spec) != count)
        return leati_refuse(err, STRUCTURE,
                            "shape_invariants has %d components for %d loop variables",
                            leat_spec_num_components(spec), count);
    for (int i = 0; i < count; i++) {
        leat_shape shape = leat_spec_component_shape(spec, i);
        /* The shape that covers both is the invariant, unless that does not cover the value. */
        leat_shape both = leati_shape_join(&shape, &types[i].shape);
        if (!leati_shape_equal(&both, &shape))
            return leati_refuse(err, SHAPE,
                                "loop variable %d has shape %s, which its shape invariant %s does "
                                "not cover",
                                i, leati_shape_text(&types[i].shape, found),
                                leati_shape_text(&shape, wanted));
        types[i].shape = shape;
    }
    return LEAT_OK;
}

static leat_status fail_shape(int i, const leat_shape *before, const leat_shape *after,
                              leat_error *err) {
    char enters[128], leaves[128];
    return leati_refuse(err, SHAPE,
                        "loop variable %d has shape %s before an iteration and %s after it; let "
                        "the functions take a shape that covers both (shape_invariants)",
                        i, leati_shape_text(before, enters), leati_shape_text(after, leaves));
}

/* Joins variable `i` with what an iteration makes of it; *changed where that says less. */
static leat_status join_variable(leati_infer_call *call, const leati_loop_types *loop, int i,
                                 const leati_type *made, bool *changed, leat_error *err) {
    leati_type joined, *type = &loop->types[i];
    /* A dtype cannot become less certain, as shapes can. */
    if (made->dtype != type->dtype)
        return leati_refuse(err, DTYPE, "loop variable %d is %s, but body makes it %s; cast it", i,
                            leat_dtype_name(type->dtype), leat_dtype_name(made->dtype));
    leat_status status = leati_op_infer_join(call, type, made, &joined, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "loop variable %d", i);
    bool same = leati_shape_equal(&joined.shape, &type->shape);
    if (!same && loop->shape_invariants != NULL)
        return fail_shape(i, &type->shape, &made->shape, err);
    /* Elements of datasets are joined, too; a spec that changes asks for another round. */
    if (type->element != NULL && joined.element != NULL &&
        !leat_spec_equal(type->element, joined.element))
        same = false;
    *changed = *changed || !same;
    *type = joined;
    return LEAT_OK;
}

/* One round: what body makes of variables of these types. */
static leat_status join_round(leati_infer_call *call, const leati_loop_types *loop, bool *changed,
                              leat_error *err) {
    const leat_function *given = (const leat_function *)(const void *)loop->body;
    leat_function *body =
        leati_branch_specialise("body", loop->body, loop->types, loop->num_types, err);
    int count = loop->num_variables + loop->first;
    if (body == NULL)
        return LEAT_INVALID_ARGUMENT; /* the text and the code stand in err */
    leat_status status = LEAT_OK;
    if (body->num_outputs != count)
        status = leati_refuse(err, VALUE, "body has %d outputs for %d loop variables; expected %d",
                              (int)body->num_outputs, loop->num_variables, count);
    for (int i = 0; status == LEAT_OK && i < loop->num_variables; i++) {
        const leati_type *made = &body->body.values[body->outputs[loop->first + i]].type;
        const leati_type *taken = &given->body.values[i].type;
        /* The body was built for shapes that fit `taken`: another one could not enter the next
         * iteration. A wrong dtype has a better text below. */
        if (made->dtype == taken->dtype && !leati_shape_compatible(&taken->shape, &made->shape))
            status = fail_shape(i, &taken->shape, &made->shape, err);
        else
            status = join_variable(call, loop, i, made, changed, err);
    }
    leat_function_unref(body);
    return status;
}

leat_status leati_while_join(leati_infer_call *call, const leati_loop_types *loop,
                             leat_error *err) {
    leat_status status = LEAT_OK;
    bool changed = true;
    if (loop->shape_invariants != NULL)
        status = apply_invariants(loop->shape_invariants, loop->types, loop->num_variables, err);
    /* Each round that changes a type takes at least a dimension or a rank away, so this ends. */
    while (status == LEAT_OK && changed) {
        changed = false;
        status = join_round(call, loop, &changed, err);
    }
    return status;
}

leat_status leati_while_outputs(leati_infer_call *call, const leati_loop_types *loop,
                                leat_error *err) {
    leat_status status = LEAT_OK;
    for (int i = 0; status == LEAT_OK && i < loop->num_variables; i++) {
        const leati_type *type = &loop->types[i];
        status = leati_op_infer_output(call, type->dtype, &type->shape, type->element, err);
    }
    return status;
}

/* The condition's result must be a bool scalar. */
static leat_status check_cond(const leati_infer_call *call, const leati_type *types,
                              leat_error *err) {
    const struct leati_while_args *args = call->args;
    leat_function *cond = leati_branch_specialise("cond", args->cond, types, call->num_inputs, err);
    if (cond == NULL)
        return LEAT_INVALID_ARGUMENT;
    leat_status status = LEAT_OK;
    char found[128];
    if (cond->num_outputs != 1) {
        status = leati_refuse(err, SHAPE, "cond has %d outputs; expected a bool scalar",
                              (int)cond->num_outputs);
    } else {
        const leati_type *type = &cond->body.values[cond->outputs[0]].type;
        if (type->dtype != LEAT_BOOL || type->shape.rank > 0)
            status =
                leati_refuse(err, SHAPE, "cond gives %s of shape %s; expected a bool scalar",
                             leat_dtype_name(type->dtype), leati_shape_text(&type->shape, found));
    }
    leat_function_unref(cond);
    return status;
}

static leat_status infer_types(leati_infer_call *call, leati_type *types, int count,
                               leat_error *err) {
    const struct leati_while_args *args = call->args;
    leati_loop_types loop = {.body = args->body,
                             .shape_invariants = args->shape_invariants,
                             .types = types,
                             .num_types = call->num_inputs,
                             .num_variables = count};
    leat_status status = leati_while_join(call, &loop, err);
    if (status == LEAT_OK)
        status = check_cond(call, types, err);
    return status != LEAT_OK ? status : leati_while_outputs(call, &loop, err);
}

static leat_status while_infer(leati_infer_call *call, leat_error *err) {
    const struct leati_while_args *args = call->args;
    leat_error failure = {0};
    int count = 0;
    leati_type *types = NULL;
    if (count_variables(args->num_variables, call->num_inputs, &count, &failure) == LEAT_OK) {
        types = leati_alloc((size_t)call->num_inputs, sizeof *types);
        if (types == NULL)
            leati_no_memory(&failure);
    }
    if (types != NULL) {
        /* A copy, because joining widens the variables' types round by round. */
        memcpy(types, call->inputs, (size_t)call->num_inputs * sizeof *types);
        /* Where another function failed, the code stands in the error alone. */
        leat_status status = infer_types(call, types, count, &failure);
        if (status == LEAT_OK)
            failure.code = LEAT_OK;
    }
    leati_free(types);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}

/* ---- the loop ---- */

void leati_while_start(leati_loop *loop, const leati_kernel_call *call, int64_t row) {
    loop->iteration = 0;
    loop->context = leati_branch_context(call, row, loop->forward, 0);
    for (int i = 0; i < loop->num_inputs; i++) {
        leat_tensor tensor = leati_kernel_operand_tensor(&call->inputs[i], row);
        /* Variables are replaced and released, invariants stay the caller's. */
        loop->values[i] = i < loop->num_variables ? leat_tensor_ref(&tensor) : tensor;
    }
}

void leati_while_end(leati_loop *loop) {
    for (int i = 0; i < loop->num_variables; i++)
        leat_tensor_unref(&loop->values[i]);
}

/* Another scope than that of other iterations and, for `which` 1, of the body. */
static leati_call_context scoped(const leati_loop *loop, int64_t iteration, int64_t which) {
    leati_call_context context = loop->context;
    int64_t key[2] = {iteration, which};
    context.scope = leati_hash(key, sizeof key, context.scope);
    /* The condition is another function than the body, with streams of its own. */
    context.path += (uint64_t)which;
    return context;
}

leati_call_context leati_while_context(const leati_loop *loop, int64_t iteration) {
    return iteration ? scoped(loop, iteration, 0) : loop->context;
}

leat_status leati_while_test(const leati_loop *loop, bool *more, leat_error *err) {
    /* Zeros may be released, so a failure needs no case of its own. */
    leat_tensor result = {0};
    *more = false;
    /* A loop may never end: cancellation is looked at before each iteration. */
    if (leati_cancel_fired(loop->context.cancel))
        return leati_fail(err, LEAT_CANCELLED, "iteration %lld: the call was cancelled",
                          (long long)loop->iteration);
    /* At the limit the condition is not asked any more. */
    if (loop->maximum >= 0 && loop->iteration >= loop->maximum)
        return LEAT_OK;
    leati_call_context context = scoped(loop, loop->iteration, 1);
    leat_status status = leati_interpret(loop->cond, loop->values, &context, &result, err);
    /* Inference lets an unknown rank pass. */
    if (status == LEAT_OK && (result.dtype != LEAT_BOOL || result.rank != 0))
        status = leati_refuse(err, SHAPE, "the result has rank %d; expected a bool scalar",
                              (int)result.rank);
    if (status != LEAT_OK)
        leati_prefix(err, "iteration %lld: cond", (long long)loop->iteration);
    else
        *more = *(const bool *)result.data;
    leat_tensor_unref(&result);
    return status;
}

leat_status leati_while_step(leati_loop *loop, leat_error *err) {
    leati_call_context context = leati_while_context(loop, loop->iteration);
    leat_status status = leati_interpret(loop->body, loop->values, &context, loop->next, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "iteration %lld: body", (long long)loop->iteration);
    /* The references of `next` move to `values`. */
    for (int i = 0; i < loop->num_variables; i++) {
        leat_tensor_unref(&loop->values[i]);
        loop->values[i] = loop->next[i];
    }
    loop->iteration++;
    return LEAT_OK;
}

/* ---- kernel ---- */

static leat_status while_row(leati_kernel_call *call, int64_t row, leati_loop *loop,
                             leat_error *err) {
    bool more = false;
    leati_while_start(loop, call, row);
    leat_status status = leati_while_test(loop, &more, err);
    while (status == LEAT_OK && more) {
        status = leati_while_step(loop, err);
        if (status == LEAT_OK)
            status = leati_while_test(loop, &more, err);
    }
    for (int i = 0; status == LEAT_OK && i < loop->num_variables; i++)
        /* Stored only now: shapes may have changed in each iteration. */
        status = leati_kernel_store(call, i, row, &loop->values[i], err);
    leati_while_end(loop);
    return status;
}

static leat_status while_kernel(leati_kernel_call *call, leat_error *err) {
    const struct leati_while_args *args = call->args;
    leati_loop loop = {.cond = leati_branch(args->cond),
                       .body = leati_branch(args->body),
                       .num_inputs = call->num_inputs,
                       .num_variables = call->num_outputs,
                       .maximum = args->maximum_iterations,
                       .forward = -1};
    size_t count = (size_t)call->num_inputs + (size_t)call->num_outputs;
    loop.values = leati_arena_alloc(call->arena, count * sizeof *loop.values);
    if (loop.values == NULL)
        return leati_no_memory(err);
    loop.next = loop.values + call->num_inputs;
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        status = while_row(call, row, &loop, err);
        if (status != LEAT_OK)
            call->failed_row = row;
    }
    return status;
}

/* Nothing of its own; leati_body_node_flags adds those of the functions. */
const leati_tensor_op leati_tensor_op_while = {
    .name = "while",
    .version = 1,
    .doc = "Runs a function on the loop variables as long as another one holds (tf.while_loop).",
    .types = "*",
    .outputs = "*output",
    .halves = LEATI_HALVES_OWN,
    .rows = while_rows,
    .args_size = sizeof(struct leati_while_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = while_infer,
    .kernel = while_kernel,
    .gradient = leati_while_differentiate,
};

int leat_op_while(leat_function *cond, leat_function *body, const leat_value *variables,
                  int num_variables, const leat_value *invariants, int num_invariants,
                  const leat_op_while_options *options, leat_value *outputs) {
    leat_op_while_options o = {LEAT_OP_WHILE_DEFAULTS};
    leat_graph *graph = num_variables > 0 ? variables[0].graph : NULL;
    if (graph == NULL || graph->error.code != LEAT_OK ||
        !leati_branch_given(graph, "while", (leat_function *[]){cond, body}, 2) ||
        !LEATI_GRAPH_OPTIONS(leat_op_while_options, &o, options, graph))
        return -1;
    size_t count = (size_t)num_variables + (size_t)num_invariants;
    leat_value *all = leati_alloc(count, sizeof *all);
    if (all == NULL) {
        leat_error err = {0};
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return -1;
    }
    memcpy(all, variables, (size_t)num_variables * sizeof *all);
    if (num_invariants)
        memcpy(all + num_variables, invariants, (size_t)num_invariants * sizeof *all);
    struct leati_while_args args = {.cond = &cond->object,
                                    .body = &body->object,
                                    .num_variables = num_variables,
                                    .maximum_iterations = o.maximum_iterations,
                                    .shape_invariants = (leat_spec *)o.shape_invariants};
    leat_value first = leati_graph_node(graph, &leati_tensor_op_while, &args, all, (int)count);
    leati_free(all);
    if (first.id < 0)
        return -1;
    for (int i = 0; i < num_variables; i++)
        outputs[i] = (leat_value){.graph = graph, .id = first.id + i};
    return num_variables;
}
