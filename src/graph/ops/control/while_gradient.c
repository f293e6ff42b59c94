/* while_gradient: what flows through a loop backwards.
 *
 * Inputs are those of the loop, then one gradient for each floating-point variable's last value and
 * one start value (zeros) for each floating-point invariant's gradient, in order; the results are
 * what these became. The kernel runs the loop again, keeping the variables of every iteration, as
 * TensorFlow's accumulators do, and then runs `reverse`, the gradient of one iteration, from the
 * last to the first. Random nodes draw what they drew before, because an iteration's scope depends
 * on its number alone. Memory grows with the number of iterations. It has no gradient itself.
 * Failures name the iteration. No locks. */
#include "graph/ops/control/while_gradient.h"
#include "core/spec.h"
#include "graph/interpret.h"
#include "graph/ops/control/while.h"
#include "graph/support/support.h"
#include <string.h>

struct while_gradient_args {
    leat_object *cond, *body, *reverse;
    int64_t num_variables, maximum_iterations;
    int64_t forward; /* number of the loop's node, -1: not known */
};

static const leati_row while_gradient_rows[] = {
    {.name = "cond",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct while_gradient_args, cond),
     .doc = "The loop's condition."},
    {.name = "body",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct while_gradient_args, body),
     .doc = "The loop's body."},
    {.name = "reverse",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct while_gradient_args, reverse),
     .doc = "The gradient of one iteration; it adds to the invariants' gradients."},
    {.name = "num_variables",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct while_gradient_args, num_variables),
     .minimum = 1,
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many inputs are loop variables."},
    {.name = "maximum_iterations",
     .type = LEATI_ROW_INT,
     .offset = offsetof(struct while_gradient_args, maximum_iterations),
     .default_number = -1,
     .doc = "The loop's limit."},
    {.name = "forward",
     .type = LEATI_ROW_INT,
     .flags = LEATI_CONSTRUCT,
     .offset = offsetof(struct while_gradient_args, forward),
     .default_number = -1,
     .minimum = -1,
     .maximum = INT64_MAX,
     .doc = "The number of the loop's node, whose random numbers are drawn again; -1: unknown."},
    {0},
};

extern const leati_tensor_op leati_tensor_op_while_gradient;

/* ---- inference ---- */

/* A gradient has the dtype of its source and, as far as that is known, its shape. */
static leat_status infer_gradients(leati_infer_call *call, int num_sources, leat_error *err) {
    const struct while_gradient_args *args = call->args;
    const leat_function *reverse = leati_branch(args->reverse);
    int given = num_sources;
    for (int i = 0; i < num_sources; i++) {
        leati_type source = call->inputs[i];
        if (!leati_graph_dtype_is_trainable(source.dtype))
            continue;
        if (given >= call->num_inputs || call->inputs[given].dtype != source.dtype)
            return leati_refuse(err, DTYPE,
                                "input %d has no gradient of its dtype among the last inputs", i);
        /* A variable's shape may change from iteration to iteration, with it the gradient's. */
        leat_shape shape = i < args->num_variables
                               ? leati_shape_join(&source.shape, &call->inputs[given].shape)
                               : source.shape;
        LEATI_TRY(leati_op_infer_output(call, source.dtype, &shape, NULL, err));
        given++;
    }
    /* One result of reverse for each gradient, which the next iteration takes. */
    if (given != call->num_inputs || reverse->num_outputs != given - num_sources)
        return leati_refuse(err, VALUE, "%d gradients are given and reverse makes %d; expected %d",
                            call->num_inputs - num_sources, (int)reverse->num_outputs,
                            given - num_sources);
    return LEAT_OK;
}

static leat_status while_gradient_infer(leati_infer_call *call, leat_error *err) {
    const struct while_gradient_args *args = call->args;
    leat_object *const functions[3] = {args->cond, args->body, args->reverse};
    for (int i = 0; i < 3; i++)
        if (!leati_graph_object_is_function(functions[i]))
            return leati_refuse(err, STRUCTURE, "%s is not a function",
                                while_gradient_rows[i].name);
    int num_sources = (int)leati_branch(args->body)->body.num_arguments;
    if (leati_branch(args->cond)->body.num_arguments != num_sources ||
        leati_branch(args->cond)->num_outputs != 1 ||
        leati_branch(args->body)->num_outputs != args->num_variables ||
        args->num_variables > num_sources || num_sources > call->num_inputs ||
        leati_branch(args->reverse)->body.num_arguments != call->num_inputs)
        return leati_refuse(err, VALUE,
                            "the functions do not belong to one loop; take the gradient of while");
    return infer_gradients(call, num_sources, err);
}

/* ---- kernel ---- */

/* One row's run: the variables before every iteration, then what flows back. */
struct backward {
    leati_loop loop;
    const leat_function *reverse;
    leat_tensor *history; /* num_variables per iteration; owned */
    size_t num_kept, capacity;
    leat_tensor *inputs;           /* of reverse */
    leat_tensor *gradients, *next; /* as many as reverse makes; owned */
};

/* References, not copies: an iteration makes new tensors and leaves the old ones. */
static leat_status keep_variables(struct backward *run, leat_error *err) {
    size_t count = (size_t)run->loop.num_variables;
    /* Grown before any reference is taken, so a failure leaves nothing half done. */
    if (!leati_grow((void **)&run->history, &run->capacity, run->num_kept + count,
                    sizeof *run->history))
        return leati_no_memory(err);
    for (size_t i = 0; i < count; i++)
        run->history[run->num_kept++] = leat_tensor_ref(&run->loop.values[i]);
    return LEAT_OK;
}

static void drop_variables(struct backward *run) {
    for (int i = 0; i < run->loop.num_variables; i++)
        leat_tensor_unref(&run->history[--run->num_kept]);
}

static leat_status run_forward(struct backward *run, leat_error *err) {
    bool more = false;
    leat_status status = leati_while_test(&run->loop, &more, err);
    while (status == LEAT_OK && more) {
        status = keep_variables(run, err);
        if (status == LEAT_OK)
            status = leati_while_step(&run->loop, err);
        if (status == LEAT_OK)
            status = leati_while_test(&run->loop, &more, err);
    }
    return status;
}

static leat_status run_back(struct backward *run, leat_error *err) {
    /* What reverse takes lies as [variables, invariants, gradients]; invariants are
     * written once. */
    size_t variables = (size_t)run->loop.num_variables, sources = (size_t)run->loop.num_inputs;
    size_t gradients = (size_t)run->reverse->num_outputs;
    memcpy(run->inputs + variables, run->loop.values + variables,
           (sources - variables) * sizeof *run->inputs);
    while (run->num_kept > 0) {
        int64_t iteration = --run->loop.iteration;
        /* The iteration's own context: random nodes draw what they drew on the way forward. */
        leati_call_context context = leati_while_context(&run->loop, iteration);
        memcpy(run->inputs, run->history + run->num_kept - variables,
               variables * sizeof *run->inputs);
        memcpy(run->inputs + sources, run->gradients, gradients * sizeof *run->inputs);
        leat_status status = leati_interpret(run->reverse, run->inputs, &context, run->next, err);
        if (status != LEAT_OK)
            return leati_prefix(err, "gradient of iteration %lld", (long long)iteration);
        /* The references of `next` move to `gradients`. */
        for (size_t i = 0; i < gradients; i++) {
            leat_tensor_unref(&run->gradients[i]);
            run->gradients[i] = run->next[i];
        }
        /* What was kept is used once: memory falls on the way back. */
        drop_variables(run);
    }
    return LEAT_OK;
}

static leat_status while_gradient_row(leati_kernel_call *call, int64_t row, struct backward *run,
                                      leat_error *err) {
    leati_while_start(&run->loop, call, row);
    for (int i = 0; i < call->num_outputs; i++) {
        leat_tensor start =
            leati_kernel_operand_tensor(&call->inputs[run->loop.num_inputs + i], row);
        run->gradients[i] = leat_tensor_ref(&start);
    }
    leat_status status = run_forward(run, err);
    if (status == LEAT_OK)
        status = run_back(run, err);
    for (int i = 0; status == LEAT_OK && i < call->num_outputs; i++)
        status = leati_kernel_store(call, i, row, &run->gradients[i], err);
    /* A failure leaves what the way back has not used. */
    while (run->num_kept > 0)
        drop_variables(run);
    for (int i = 0; i < call->num_outputs; i++)
        leat_tensor_unref(&run->gradients[i]);
    leati_while_end(&run->loop);
    return status;
}

static leat_status while_gradient_kernel(leati_kernel_call *call, leat_error *err) {
    const struct while_gradient_args *args = call->args;
    struct backward run = {.reverse = leati_branch(args->reverse),
                           .loop = {.cond = leati_branch(args->cond),
                                    .body = leati_branch(args->body),
                                    .num_variables = (int)args->num_variables,
                                    .maximum = args->maximum_iterations,
                                    .forward = args->forward}};
    run.loop.num_inputs = (int)run.loop.body->body.num_arguments;
    size_t inputs = (size_t)call->num_inputs, sources = (size_t)run.loop.num_inputs;
    size_t variables = (size_t)run.loop.num_variables, outputs = (size_t)call->num_outputs;
    /* One piece for all tensors of a row; the rows use it one after the other. */
    size_t count = inputs + sources + variables + 2 * outputs;
    leat_tensor *tensors = leati_arena_alloc(call->arena, count * sizeof *tensors);
    if (tensors == NULL)
        return leati_no_memory(err);
    run.inputs = tensors;
    run.loop.values = run.inputs + inputs;
    run.loop.next = run.loop.values + sources;
    run.gradients = run.loop.next + variables;
    run.next = run.gradients + outputs;
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        status = while_gradient_row(call, row, &run, err);
        if (status != LEAT_OK)
            call->failed_row = row;
    }
    leati_free(run.history);
    return status;
}

const leati_tensor_op leati_tensor_op_while_gradient = {
    .name = "while_gradient",
    .version = 1,
    .doc = "What flows back through a loop (the gradient of while).",
    .types = "*",
    .outputs = "*outputs",
    .halves = LEATI_HALVES_OWN,
    .rows = while_gradient_rows,
    .args_size = sizeof(struct while_gradient_args),
    .min_inputs = 1,
    .max_inputs = -1,
    .flags = LEATI_REPLAYS,
    .infer = while_gradient_infer,
    .kernel = while_gradient_kernel,
};

/* ---- the gradient of while ---- */

/* The arguments of one iteration's reverse: those of body, the gradients of its floating-point
 * results, the gradients of the invariants so far. Owned. */
static leat_spec *reverse_input(const leat_function *body, leat_error *err) {
    int arguments = body->body.num_arguments;
    size_t room = 2 * (size_t)arguments;
    leati_type *types = leati_alloc(room, sizeof *types);
    if (types == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    int count = 0;
    for (int i = 0; i < arguments; i++)
        types[count++] = body->body.values[i].type;
    /* The gradient of a variable is that of its next value, whose shape may be another one. */
    for (int i = 0; i < arguments; i++) {
        bool variable = i < body->num_outputs;
        leati_type type = body->body.values[variable ? body->outputs[i] : i].type;
        if (leati_graph_dtype_is_trainable(type.dtype))
            types[count++] = type;
    }
    leat_spec *spec = leati_function_spec_of_types(types, count, err);
    leati_free(types);
    return spec;
}

/* Calls the gradient of body and adds to what the invariants have. */
static int build_reverse(leat_graph *graph, const leat_function *body,
                         const leat_function *gradient, leat_value *values) {
    int arguments = body->body.num_arguments, floating = 0;
    leat_value *results = values + gradient->body.num_arguments;
    for (int i = 0; i < gradient->body.num_arguments; i++)
        values[i] = leat_graph_argument(graph, i);
    /* The graph keeps the error, and finishing without outputs reports it. */
    if (!leati_graph_inline(graph, gradient, values, results))
        return 0;
    for (int i = 0; i < arguments; i++) {
        if (!leati_graph_dtype_is_trainable(body->body.values[i].type.dtype))
            continue;
        /* A variable's gradient is passed on from iteration to iteration; an invariant is read in
         * each, so its parts are added up. */
        if (i >= body->num_outputs)
            results[floating] =
                leat_op_add(leat_graph_argument(graph, arguments + floating), results[floating]);
        floating++;
    }
    /* Both lie in one array and may overlap. */
    memmove(values, results, (size_t)floating * sizeof *values);
    return floating;
}

/* The gradient of one iteration. Owned. */
static leat_function *reverse_of(const leat_function *body, leat_error *err) {
    leat_function *reverse = NULL, *gradient = leati_graph_function_gradient(body, err);
    leat_spec *input = gradient != NULL ? reverse_input(body, err) : NULL;
    leat_graph *graph = NULL;
    leat_value *values = NULL;
    if (input != NULL) {
        size_t room = (size_t)gradient->body.num_arguments + (size_t)gradient->num_outputs;
        values = leati_alloc(room, sizeof *values);
        if (values == NULL)
            leati_no_memory(err);
        else
            graph = leat_graph_new(input, err);
    }
    if (graph != NULL) {
        int count = build_reverse(graph, body, gradient, values);
        reverse = leat_graph_finish(graph, values, count, NULL, err);
    }
    leati_free(values);
    leat_spec_unref(input);
    leat_function_unref(gradient);
    return reverse;
}

/* The loop's inputs, the gradients that arrive, and zeros for the invariants; their number. */
static int gradient_inputs(const leati_gradient_call *call, leat_value *inputs) {
    int count = 0;
    for (int i = 0; i < call->num_inputs; i++)
        inputs[count++] = call->inputs[i];
    for (int i = 0; i < call->num_inputs; i++) {
        if (!leati_graph_dtype_is_trainable(leat_value_dtype(call->inputs[i])))
            continue;
        /* Sums of the invariants begin with zeros, as variables do that nothing used. */
        if (i >= call->num_outputs)
            inputs[count++] = leat_op_zeros_like(call->inputs[i]);
        else if (call->output_gradients[i].id < 0)
            inputs[count++] = leat_op_zeros_like(call->outputs[i]);
        else
            inputs[count++] = call->output_gradients[i];
    }
    return count;
}

leat_status leati_while_differentiate(leati_gradient_call *call, leat_error *err) {
    const struct leati_while_args *args = call->args;
    leat_error failure = {0};
    size_t room = 2 * (size_t)call->num_inputs;
    leat_value *inputs = leati_alloc(room, sizeof *inputs);
    leat_function *reverse = NULL;
    if (inputs == NULL)
        leati_no_memory(&failure);
    else if ((reverse = reverse_of(leati_branch(args->body), &failure)) == NULL)
        leati_prefix(&failure, "body");
    if (reverse != NULL) {
        struct while_gradient_args gradient = {.cond = args->cond,
                                               .body = args->body,
                                               .reverse = &reverse->object,
                                               .num_variables = call->num_outputs,
                                               .maximum_iterations = args->maximum_iterations,
                                               .forward = leati_branch_forward_number(call)};
        int count = gradient_inputs(call, inputs);
        leat_value next = leati_graph_node(call->graph, &leati_tensor_op_while_gradient, &gradient,
                                           inputs, count);
        for (int i = 0; i < call->num_inputs && next.id >= 0; i++)
            if (leati_graph_dtype_is_trainable(leat_value_dtype(call->inputs[i]))) {
                call->input_gradients[i] = next;
                next.id++;
            }
    }
    leati_free(inputs);
    leat_function_unref(reverse);
    if (failure.code != LEAT_OK)
        *err = failure;
    return failure.code;
}
