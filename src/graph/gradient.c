/* Gradients as a graph rewrite: the reverse pass.
 *
 * Happy path: mark what depends on the sources, give each target its seed, walk the nodes from the
 * last to the first, and let every operation on the way append the nodes of its own gradient; the
 * contributions to a value are added in that order. Integers and booleans carry no gradient and end
 * a path silently, as TensorFlow's do. Failures are the graph's: an operation on the way without a
 * gradient is UNIMPLEMENTED and named with its node. No locks: one builder. */
#include "core/spec.h"
#include "core/tensor.h"
#include "graph/function.h"
#include "graph/variable_ops.h"
#include <leat/ops.h>
#include <string.h>

/* One reverse pass over the nodes that the graph had when it began. */
struct pass {
    leat_graph *graph;
    size_t num_nodes, num_values;
    bool *reaches;      /* value: does it depend on a source? */
    bool *stops;        /* value: does its gradient go no further? */
    int32_t *gradients; /* value: id of its gradient so far; -1: none */
};

/* What a reverse pass ends at: `sources` get gradients, and through `stops` none flows. */
struct ends {
    const leat_value *sources, *stops;
    int num_sources, num_stops;
};

bool leati_graph_dtype_is_floating(leat_dtype dtype) {
    return dtype == LEAT_FLOAT32 || dtype == LEAT_FLOAT64 || dtype == LEAT_FLOAT16 ||
           dtype == LEAT_BFLOAT16;
}

bool leati_graph_dtype_is_trainable(leat_dtype dtype) {
    return leati_graph_dtype_is_floating(dtype) || leati_dtype_is_complex(dtype);
}

static bool is_trainable(const leat_graph *graph, int32_t value) {
    return leati_graph_dtype_is_trainable(graph->body.values[value].type.dtype);
}

static leat_status pass_init(struct pass *pass, leat_graph *graph, leat_error *err) {
    *pass = (struct pass){
        .graph = graph, .num_nodes = graph->body.num_nodes, .num_values = graph->body.num_values};
    pass->reaches = leati_alloc_zero(pass->num_values, sizeof(bool));
    pass->stops = leati_alloc_zero(pass->num_values, sizeof(bool));
    pass->gradients = leati_alloc(pass->num_values, sizeof *pass->gradients);
    if (pass->reaches == NULL || pass->stops == NULL || pass->gradients == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < pass->num_values; i++)
        pass->gradients[i] = -1;
    return LEAT_OK;
}

static void pass_fini(struct pass *pass) {
    leati_free(pass->reaches);
    leati_free(pass->stops);
    leati_free(pass->gradients);
}

/* Marks the stops, the sources and every floating or complex value computed from them, but for what
 * lies behind a stop or an operation that lets no gradient through. */
static void mark_reached(struct pass *pass, const struct ends *ends) {
    const leati_body *body = &pass->graph->body;
    for (int i = 0; i < ends->num_stops; i++)
        pass->stops[ends->stops[i].id] = true;
    for (int i = 0; i < ends->num_sources; i++)
        pass->reaches[ends->sources[i].id] = true;
    for (size_t i = 0; i < pass->num_nodes; i++) {
        const leati_node *node = &body->nodes[i];
        bool reached = false;
        /* One pass suffices, because inputs are always older than their node. */
        for (int32_t k = 0; k < node->num_inputs && node->op->gradient != leati_op_gradient_none;
             k++)
            reached = reached || pass->reaches[node->inputs[k]];
        /* An integer output ends the path here, so nodes behind it need no gradient of their
         * own. */
        for (int32_t k = 0; reached && k < node->num_outputs; k++) {
            int32_t id = node->first_output + k;
            if (is_trainable(pass->graph, id) && !pass->stops[id])
                pass->reaches[id] = true;
        }
    }
}

/* Adds `gradient` to what has flowed into `value` so far. */
static leat_status accumulate(struct pass *pass, int32_t value, leat_value gradient,
                              leat_error *err) {
    leat_graph *graph = pass->graph;
    /* No gradient flows, or the graph has failed and keeps its error. */
    if (graph->error.code != LEAT_OK || gradient.id < 0)
        return LEAT_OK;
    leat_dtype expected = graph->body.values[value].type.dtype;
    if (leat_value_dtype(gradient) != expected)
        return leati_fail(err, LEAT_INTERNAL, "the gradient of a %s is %s",
                          leat_dtype_name(expected), leat_dtype_name(leat_value_dtype(gradient)));
    if (pass->gradients[value] >= 0)
        gradient =
            leat_op_add((leat_value){.graph = graph, .id = pass->gradients[value]}, gradient);
    /* The id, not a pointer: the array of values moves while it grows. */
    pass->gradients[value] = gradient.id;
    return LEAT_OK;
}

/* Calls the operation's own rewrite with arrays in `values`, and spreads what it returns. */
static leat_status call_gradient(struct pass *pass, const leati_node *node, leat_value *values,
                                 leat_error *err) {
    leat_graph *graph = pass->graph;
    leat_value *inputs = values, *input_gradients = inputs + node->num_inputs;
    leat_value *outputs = input_gradients + node->num_inputs;
    leat_value *output_gradients = outputs + node->num_outputs;
    for (int32_t i = 0; i < node->num_inputs; i++) {
        inputs[i] = (leat_value){.graph = graph, .id = node->inputs[i]};
        input_gradients[i] = (leat_value){.graph = graph, .id = -1};
    }
    for (int32_t i = 0; i < node->num_outputs; i++) {
        int32_t id = node->first_output + i;
        outputs[i] = (leat_value){.graph = graph, .id = id};
        output_gradients[i] =
            (leat_value){.graph = graph, .id = pass->stops[id] ? -1 : pass->gradients[id]};
    }
    leati_gradient_call call = {.graph = graph,
                                .inputs = inputs,
                                .num_inputs = node->num_inputs,
                                .outputs = outputs,
                                .output_gradients = output_gradients,
                                .num_outputs = node->num_outputs,
                                .args = node->args,
                                .input_gradients = input_gradients};
    leat_status status = node->op->gradient(&call, err);
    /* What an operation gives for inputs that no source reaches is dropped; pruning removes its
     * nodes. */
    for (int32_t i = 0; status == LEAT_OK && i < node->num_inputs; i++)
        if (pass->reaches[node->inputs[i]] && is_trainable(graph, node->inputs[i]))
            status = accumulate(pass, node->inputs[i], input_gradients[i], err);
    return status;
}

/* Does a gradient arrive at the node that must flow on to a source? */
static bool is_on_path(const struct pass *pass, const leati_node *node) {
    bool arrives = false, leaves = false;
    for (int32_t i = node->first_output; i < node->first_output + node->num_outputs; i++)
        arrives = arrives || (pass->gradients[i] >= 0 && !pass->stops[i]);
    for (int32_t i = 0; i < node->num_inputs; i++)
        leaves = leaves ||
                 (pass->reaches[node->inputs[i]] && is_trainable(pass->graph, node->inputs[i]));
    return arrives && leaves;
}

static leat_status pass_node(struct pass *pass, int32_t index, leat_error *err) {
    /* A copy: the array of nodes grows while the gradient is built. */
    leati_node node = pass->graph->body.nodes[index];
    if (!is_on_path(pass, &node))
        return LEAT_OK;
    leat_status status;
    if (node.op->gradient == NULL) {
        status = leati_fail(err, LEAT_UNIMPLEMENTED,
                            "it has no gradient, but lies between target and source; take the "
                            "gradient of a value before it");
    } else {
        size_t count = 2 * ((size_t)node.num_inputs + (size_t)node.num_outputs);
        leat_value *values = leati_alloc(count, sizeof *values);
        status = values != NULL ? call_gradient(pass, &node, values, err) : leati_no_memory(err);
        leati_free(values);
    }
    if (status != LEAT_OK)
        leati_prefix(err, "gradient of op %s (node %d)", node.op->name, (int)index);
    return status;
}

static bool all_of_graph(leat_graph *graph, const leat_value *values, int count, const char *what,
                         leat_error *err) {
    for (int i = 0; i < count; i++)
        if (values[i].graph != graph || values[i].id < 0 ||
            (size_t)values[i].id >= graph->body.num_values) {
            leati_refuse(err, VALUE, "%s %d is not a value of this graph", what, i);
            return false;
        }
    return true;
}

/* The reverse pass: out[i] becomes what flows from the targets, each started with its seed, into
 * source i of `ends`; zeros where nothing does. */
static leat_status run_pass(leat_graph *graph, const leat_value *targets, const leat_value *seeds,
                            int num_targets, const struct ends *ends, leat_value *out,
                            leat_error *err) {
    struct pass pass = {0};
    const leat_value *sources = ends->sources;
    if (!all_of_graph(graph, sources, ends->num_sources, "source", err) ||
        !all_of_graph(graph, ends->stops, ends->num_stops, "stop", err))
        return LEAT_INVALID_ARGUMENT;
    leat_status status = pass_init(&pass, graph, err);
    /* A gradient of a gradient is built inside of a reverse pass, which goes on afterwards. */
    bool within = graph->reverses;
    graph->reverses = true;
    if (status == LEAT_OK)
        mark_reached(&pass, ends);
    for (int i = 0; status == LEAT_OK && i < num_targets; i++)
        status = accumulate(&pass, targets[i].id, seeds[i], err);
    /* Nodes that the pass appends lie behind num_nodes and are not visited. */
    for (size_t i = pass.num_nodes; status == LEAT_OK && graph->error.code == LEAT_OK && i-- > 0;)
        status = pass_node(&pass, (int32_t)i, err);
    for (int i = 0; status == LEAT_OK && i < ends->num_sources; i++) {
        out[i] = (leat_value){.graph = graph, .id = pass.gradients[sources[i].id]};
        if (out[i].id < 0)
            out[i] = leat_op_zeros_like(sources[i]);
    }
    graph->reverses = within;
    pass_fini(&pass);
    return status;
}

static void fail_all(leat_graph *graph, leat_value *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = (leat_value){.graph = graph, .id = -1};
}

static bool is_target(leat_graph *graph, leat_value target, leat_error *err) {
    if (!all_of_graph(graph, &target, 1, "target", err))
        return false;
    if (is_trainable(graph, target.id))
        return true;
    leati_refuse(err, DTYPE,
                 "the target of a gradient is %s; expected a floating-point or complex value",
                 leat_dtype_name(leat_value_dtype(target)));
    return false;
}

/* What can flow into a target: a value of its dtype, and of its shape as far as both are known. */
static bool is_upstream(leat_graph *graph, leat_value upstream, leat_value target,
                        leat_error *err) {
    char found[128], expected[128];
    if (!all_of_graph(graph, &upstream, 1, "upstream gradient", err))
        return false;
    leat_shape a = leat_value_shape(upstream), b = leat_value_shape(target);
    if (leat_value_dtype(upstream) == leat_value_dtype(target) && leati_shape_compatible(&a, &b))
        return true;
    leati_refuse(err, SHAPE,
                 "the upstream gradient is %s of shape %s; expected that of the target, %s of "
                 "shape %s",
                 leat_dtype_name(leat_value_dtype(upstream)), leati_shape_text(&a, found),
                 leat_dtype_name(leat_value_dtype(target)), leati_shape_text(&b, expected));
    return false;
}

/* `upstream` NULL: as in tf.gradients a target that is no scalar counts as the sum of its values.
 */
static void gradients(leat_value target, const leat_value *upstream, const struct ends *ends,
                      leat_value *out) {
    leat_graph *graph = target.graph;
    leat_error err = {0};
    if (graph == NULL || graph->error.code != LEAT_OK) {
        fail_all(graph, out, ends->num_sources);
        return;
    }
    if (is_target(graph, target, &err) &&
        (upstream == NULL || is_upstream(graph, *upstream, target, &err))) {
        leat_value seed = upstream == NULL ? leat_op_ones_like(target) : *upstream;
        run_pass(graph, &target, &seed, 1, ends, out, &err);
    }
    leati_graph_error(graph, &err);
    if (graph->error.code != LEAT_OK)
        fail_all(graph, out, ends->num_sources);
}

void leat_value_gradients(leat_value target, const leat_value *sources, int num_sources,
                          leat_value *out) {
    leat_value_gradients_until(target, NULL, sources, num_sources, NULL, 0, out);
}

void leat_value_gradients_from(leat_value target, leat_value upstream, const leat_value *sources,
                               int num_sources, leat_value *out) {
    leat_value_gradients_until(target, &upstream, sources, num_sources, NULL, 0, out);
}

void leat_value_gradients_until(leat_value target, const leat_value *upstream,
                                const leat_value *sources, int num_sources, const leat_value *stops,
                                int num_stops, leat_value *out) {
    struct ends ends = {sources, stops, num_sources, num_stops};
    gradients(target, upstream, &ends, out);
}

leat_value leati_op_gradient_unbroadcast(leat_value gradient, leat_value like) {
    if (gradient.id < 0)
        return gradient;
    leat_shape from = leat_value_shape(gradient), to = leat_value_shape(like);
    /* Equal unknown dimensions may differ in the run: there sum_like compares the shapes it
     * finds. */
    if (leati_shape_is_static(&from) && leati_shape_equal(&from, &to))
        return gradient;
    return leat_op_sum_like(gradient, like);
}

leat_status leati_op_gradient_none(leati_gradient_call *call, leat_error *err) {
    (void)call;
    (void)err;
    return LEAT_OK;
}

/* ---- variables ---- */

static bool node_reads(const leati_node *node, const leat_variable *variable) {
    return node->op == &leati_tensor_op_read_variable &&
           ((const struct leati_variable_args *)node->args)->variable == &variable->object;
}

/* Is the variable read inside a function of some node's attributes, where no gradient reaches it?
 */
static bool read_in_attribute(const leati_body *body, const leat_variable *variable) {
    for (size_t i = 0; i < body->num_nodes; i++) {
        const leati_node *node = &body->nodes[i];
        for (const leati_row *row = node->op->rows; row != NULL && row->type != LEATI_ROW_END;
             row++) {
            if (row->type != LEATI_ROW_FUNCTION)
                continue;
            const leat_function *function =
                *(leat_function *const *)(const void *)((const char *)node->args + row->offset);
            if (function == NULL)
                continue;
            for (size_t k = 0; k < function->body.num_nodes; k++)
                if (node_reads(&function->body.nodes[k], variable))
                    return true;
            if (read_in_attribute(&function->body, variable))
                return true;
        }
    }
    return false;
}

/* Every read of `variable` in the graph, or one new one; their number. */
static int collect_reads(leat_graph *graph, leat_variable *variable, leat_value *reads) {
    int count = 0;
    for (size_t i = 0; i < graph->body.num_nodes; i++)
        if (node_reads(&graph->body.nodes[i], variable))
            reads[count++] = (leat_value){.graph = graph, .id = graph->body.nodes[i].first_output};
    /* Never read: the new read is a source that the target does not depend on, and its gradient is
     * zeros. */
    if (!count)
        reads[count++] = leat_graph_read(graph, variable);
    return count;
}

/* Gradients by all reads, summed for each variable. `reads` has room for every node and variable.
 */
static leat_status variable_gradients(leat_value target, leat_variable *const *variables,
                                      int num_variables, leat_value *reads, leat_value *gradients,
                                      int *counts, leat_value *out, leat_error *err) {
    leat_graph *graph = target.graph;
    int total = 0;
    for (int i = 0; i < num_variables; i++) {
        if (variables[i] == NULL)
            return leati_refuse(err, VALUE, "variable %d is NULL", i);
        if (read_in_attribute(&graph->body, variables[i]))
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "variable %s is read inside a branch, which no gradient leaves; read "
                              "it before and pass it in as an input",
                              variables[i]->name);
        counts[i] = collect_reads(graph, variables[i], reads + total);
        total += counts[i];
    }
    leat_value_gradients(target, reads, total, gradients);
    const leat_value *next = gradients;
    for (int i = 0; i < num_variables; i++) {
        out[i] = *next++;
        /* Each read is a source of its own; the variable's gradient is the sum over them. */
        for (int k = 1; k < counts[i]; k++)
            out[i] = leat_op_add(out[i], *next++);
    }
    return LEAT_OK;
}

void leat_variable_gradients(leat_value target, leat_variable *const *variables, int num_variables,
                             leat_value *out) {
    leat_graph *graph = target.graph;
    fail_all(graph, out, num_variables);
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    leat_error err = {0};
    /* The same variable may be named twice, so each may need all reads of the graph. */
    size_t room = (graph->body.num_nodes + 1) * (size_t)num_variables;
    leat_value *reads = leati_alloc(room, sizeof *reads);
    leat_value *gradients = leati_alloc(room, sizeof *gradients);
    int *counts = leati_alloc((size_t)num_variables, sizeof *counts);
    if (reads == NULL || gradients == NULL || counts == NULL)
        leati_no_memory(&err);
    else
        variable_gradients(target, variables, num_variables, reads, gradients, counts, out, &err);
    leati_free(reads);
    leati_free(gradients);
    leati_free(counts);
    leati_graph_error(graph, &err);
    if (graph->error.code != LEAT_OK)
        fail_all(graph, out, num_variables);
}

/* ---- functions ---- */

/* The arguments of the gradient of `function` as a spec. Owned. */
static leat_spec *gradient_input(const leat_function *function, leat_error *err) {
    const leati_body *body = &function->body;
    size_t room = (size_t)body->num_arguments + (size_t)function->num_outputs;
    leati_type *types = leati_alloc(room, sizeof *types);
    if (types == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    int count = 0;
    for (int32_t i = 0; i < body->num_arguments; i++)
        types[count++] = body->values[i].type;
    for (int32_t i = 0; i < function->num_outputs; i++)
        if (leati_graph_dtype_is_trainable(body->values[function->outputs[i]].type.dtype))
            types[count++] = body->values[function->outputs[i]].type;
    leat_spec *spec = leati_function_spec_of_types(types, count, err);
    leati_free(types);
    return spec;
}

/* Builds forward nodes and reverse pass; `values` has room for twice the arguments and thrice the
 * outputs. Returns the number of results, which then stand at `*results`. */
static int build_gradient(leat_graph *graph, const leat_function *function, leat_value *values,
                          leat_value **results) {
    int num_arguments = function->body.num_arguments, num_outputs = function->num_outputs;
    leat_value *sources = values, *gradients = sources + num_arguments;
    leat_value *outputs = gradients + num_arguments, *targets = outputs + num_outputs;
    leat_value *seeds = targets + num_outputs;
    leat_error err = {0};
    int num_sources = 0, num_targets = 0;
    /* The array of the results serves as that of the inlined arguments first. */
    for (int i = 0; i < num_arguments; i++)
        gradients[i] = leat_graph_argument(graph, i);
    if (!leati_graph_inline(graph, function, gradients, outputs))
        return 0;
    for (int i = 0; i < num_arguments; i++)
        if (is_trainable(graph, i))
            sources[num_sources++] = leat_graph_argument(graph, i);
    for (int i = 0; i < num_outputs; i++)
        if (is_trainable(graph, outputs[i].id)) {
            targets[num_targets] = outputs[i];
            seeds[num_targets] = leat_graph_argument(graph, num_arguments + num_targets);
            num_targets++;
        }
    struct ends ends = {.sources = sources, .num_sources = num_sources};
    if (run_pass(graph, targets, seeds, num_targets, &ends, gradients, &err) != LEAT_OK)
        leati_graph_error(graph, &err);
    *results = gradients;
    return num_sources;
}

leat_function *leati_graph_function_gradient(const leat_function *function, leat_error *err) {
    if (leati_graph_function_has(function, LEATI_STATEFUL | LEATI_IMPURE)) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "no gradient of a function that reads or writes state or calls back; read "
                   "variables before it and pass them in");
        return NULL;
    }
    /* For build_gradient's five arrays: sources and gradients, then outputs, targets and seeds. */
    size_t room = 2 * (size_t)function->body.num_arguments + 3 * (size_t)function->num_outputs;
    leat_function *whole = NULL, *pruned = NULL;
    leat_graph *graph = NULL;
    leat_value *values = NULL, *results = NULL;
    leat_spec *input = gradient_input(function, err);
    if (input == NULL)
        return NULL;
    values = leati_alloc(room, sizeof *values);
    if (values == NULL)
        leati_no_memory(err);
    else
        graph = leat_graph_new(input, err);
    if (graph != NULL) {
        int count = build_gradient(graph, function, values, &results);
        whole = leat_graph_finish(graph, results, count, NULL, err);
    }
    /* Forward nodes of which no gradient needs the value would be computed for nothing. */
    if (whole != NULL)
        pruned = leati_graph_function_prune(whole, err);
    leat_function_unref(whole);
    leati_free(values);
    leat_spec_unref(input);
    return pruned;
}
