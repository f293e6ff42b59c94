/* dataset_reduce: runs through a dataset inside a function (tf.data.Dataset.reduce, and `for` over
 * a dataset, in a function that is traced).
 *
 * Inputs: the dataset, the loop variables, then captured values. `body` takes the variables, the
 * components of an element and the captured values, and gives the variables' next values; with
 * `can_stop` a bool scalar before them: whether to go on. Nothing is pulled after a body that says
 * no. Inference joins the variables' types with what body makes of them, as `while` does.
 *
 * Each row makes an iterator. In a call on the user's own thread (leat_function_call) it is one
 * like the user's, with threads; in a pipeline or a step it runs inline on the thread that
 * computes, with a random scope of its own, because tasks of the pool may not wait. Body draws
 * other random numbers in each iteration. What can be seen of the dataset outside (a shuffle's
 * generator, a callback) makes the node stateful.
 *
 * Failures name the element, counted from 0; those of the dataset name its operators. No gradient,
 * as in TensorFlow. No locks. */
#include "base/hash.h"
#include "core/spec.h"
#include "data/plan/dataset.h"
#include "data/run/iterator.h"
#include "graph/body.h"
#include "graph/interpret.h"
#include "graph/kernel_host.h"
#include "graph/ops/control/while.h"
#include "graph/support/support.h"
#include <string.h>

struct dataset_reduce_args {
    leat_object *body;
    int64_t num_variables;
    bool can_stop, stateful;
    leat_spec *shape_invariants;
};

static const leati_row dataset_reduce_rows[] = {
    {.name = "body",
     .type = LEATI_ROW_FUNCTION,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct dataset_reduce_args, body),
     .doc =
         "The function of variables, element and captured values to the variables' next values."},
    {.name = "num_variables",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED,
     .offset = offsetof(struct dataset_reduce_args, num_variables),
     .maximum = LEAT_MAX_OUTPUTS,
     .doc = "How many inputs after the dataset are variables; those that follow are captured."},
    {.name = "can_stop",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct dataset_reduce_args, can_stop),
     .doc = "Whether the body's first result says if the loop goes on."},
    {.name = "stateful",
     .type = LEATI_ROW_BOOL,
     .offset = offsetof(struct dataset_reduce_args, stateful),
     .doc = "Whether others can see that the dataset was run through."},
    {.name = "shape_invariants",
     .type = LEATI_ROW_SPEC,
     .offset = offsetof(struct dataset_reduce_args, shape_invariants),
     .doc = "The shapes that the variables keep, one component for each; without, they follow."},
    {0},
};

/* ---- inference ---- */

/* The node's inputs and the dataset's elements as body takes them. */
static void order_types(const leati_infer_call *call, const leat_spec *element, leati_type *types) {
    const struct dataset_reduce_args *args = call->args;
    int variables = (int)args->num_variables, at = variables;
    memcpy(types, call->inputs + 1, (size_t)variables * sizeof *types);
    for (int i = 0; i < leat_spec_num_components(element); i++)
        types[at++] = (leati_type){.dtype = leat_spec_component_dtype(element, i),
                                   .shape = leat_spec_component_shape(element, i),
                                   .element = leati_spec_component_element(element, i)};
    for (int i = 1 + variables; i < call->num_inputs; i++)
        types[at++] = call->inputs[i];
}

/* The first result of a body that can stop the loop. */
static leat_status check_stop(const leat_object *object, leat_error *err) {
    const leat_function *body = (const leat_function *)(const void *)object;
    const leati_type *type = &body->body.values[body->outputs[0]].type;
    char found[128];
    /* A rank that is unknown (-1) is looked at in the run. */
    return type->dtype == LEAT_BOOL && type->shape.rank <= 0
               ? LEAT_OK
               : leati_refuse(err, SHAPE,
                              "body says with %s of shape %s whether to go on; expected a bool "
                              "scalar",
                              leat_dtype_name(type->dtype), leati_shape_text(&type->shape, found));
}

static leat_status infer_types(leati_infer_call *call, leati_type *types, int num_types,
                               leat_error *err) {
    const struct dataset_reduce_args *args = call->args;
    leati_loop_types loop = {.body = args->body,
                             .first = args->can_stop,
                             .shape_invariants = args->shape_invariants,
                             .types = types,
                             .num_types = num_types,
                             .num_variables = (int)args->num_variables};
    leat_status status = leati_while_join(call, &loop, err);
    if (status == LEAT_OK && args->can_stop)
        status = check_stop(args->body, err);
    return status != LEAT_OK ? status : leati_while_outputs(call, &loop, err);
}

static leat_status dataset_reduce_infer(leati_infer_call *call, leat_error *err) {
    const struct dataset_reduce_args *args = call->args;
    const leat_spec *element =
        call->inputs[0].dtype == LEAT_OBJECT ? call->inputs[0].element : NULL;
    if (element == NULL)
        return leati_refuse(err, STRUCTURE, "input 0 is no dataset");
    if (args->num_variables < 1 || args->num_variables > call->num_inputs - 1)
        return leati_refuse(err, VALUE,
                            "%lld of %d inputs are loop variables; expected from 1 to %d",
                            (long long)args->num_variables, call->num_inputs, call->num_inputs - 1);
    int count = call->num_inputs - 1 + leat_spec_num_components(element);
    leati_type *types = leati_alloc((size_t)count, sizeof *types);
    if (types == NULL)
        return leati_no_memory(err);
    leat_error failure = {0};
    order_types(call, element, types);
    leat_status status = infer_types(call, types, count, &failure);
    leati_free(types);
    if (status != LEAT_OK)
        *err = failure;
    return status != LEAT_OK ? failure.code : LEAT_OK;
}

/* ---- kernel ---- */

/* One run through a dataset. */
typedef struct reduction {
    const leat_function *body;
    int num_variables, num_components, num_captures;
    bool can_stop;
    leati_call_context context;
    leat_tensor *values; /* the variables (owned), the element's components, captured values */
    leat_tensor *next;   /* what body gives */
} reduction;

/* Body on the variables and an element; *more says whether the loop goes on. */
static leat_status step(reduction *r, const leat_element *element, int64_t number, bool *more,
                        leat_error *err) {
    leati_call_context context = r->context;
    /* The first element keeps the call's own scope, as the first iteration of `while` does. */
    int64_t key[2] = {number, 0};
    context.scope = number ? leati_hash(key, sizeof key, context.scope) : context.scope;
    if (element->num_tensors != r->num_components)
        return leati_refuse(err, STRUCTURE,
                            "element %lld has %d components; the function was made for %d",
                            (long long)number, element->num_tensors, r->num_components);
    for (int i = 0; i < r->num_components; i++)
        /* Borrowed: the element stays until body has run. */
        r->values[r->num_variables + i] = element->tensors[i];
    leat_status status = leati_interpret(r->body, r->values, &context, r->next, err);
    if (status != LEAT_OK)
        return leati_prefix(err, "element %lld", (long long)number);
    int first = r->can_stop;
    if (first && (r->next[0].dtype != LEAT_BOOL || r->next[0].rank != 0))
        status = leati_refuse(err, SHAPE,
                              "element %lld: what says whether to go on has rank %d; expected a "
                              "bool scalar",
                              (long long)number, (int)r->next[0].rank);
    else
        *more = !first || *(const bool *)r->next[0].data;
    if (first)
        leat_tensor_unref(&r->next[0]);
    for (int i = 0; i < r->num_variables; i++) {
        leat_tensor_unref(&r->values[i]);
        /* Also where the body says no: these are the loop's results. */
        r->values[i] = r->next[first + i];
    }
    return status;
}

static leat_status run_through(reduction *r, leat_iterator *iterator, leat_error *err) {
    leat_element element = {0};
    leat_status status = LEAT_OK;
    bool more = true;
    for (int64_t number = 0; status == LEAT_OK && more; number++) {
        bool ended = false;
        status = leati_iterator_element(iterator, &element, &ended, err);
        if (ended)
            break;
        if (status == LEAT_OK)
            status = step(r, &element, number, &more, err);
    }
    leat_element_fini(&element);
    return status;
}

static leat_status reduce_row(leati_kernel_call *call, int64_t row, reduction *r, leat_error *err) {
    leat_object *object = *(leat_object **)(void *)leati_support_row_of(&call->inputs[0], row);
    if (!leati_dataset_of_object_check(object))
        return leati_fail(err, LEAT_INTERNAL, "input 0 is no dataset");
    leat_iterator *iterator = NULL;
    r->context = leati_branch_context(call, row, -1, 0);
    leat_status status = leati_iterator_inside((leat_dataset *)object, &r->context, &iterator, err);
    if (status != LEAT_OK)
        return status;
    int captures = r->num_variables + r->num_components;
    for (int i = 1; i < call->num_inputs; i++) {
        leat_tensor tensor = leati_kernel_operand_tensor(&call->inputs[i], row);
        if (i <= r->num_variables)
            /* Variables are replaced and released at each element; captured values are only
             * read. */
            r->values[i - 1] = leat_tensor_ref(&tensor);
        else
            r->values[captures + i - 1 - r->num_variables] = tensor;
    }
    status = run_through(r, iterator, err);
    for (int i = 0; i < r->num_variables; i++) {
        if (status == LEAT_OK)
            status = leati_kernel_store(call, i, row, &r->values[i], err);
        leat_tensor_unref(&r->values[i]);
    }
    leat_iterator_free(iterator);
    return status;
}

static leat_status dataset_reduce_kernel(leati_kernel_call *call, leat_error *err) {
    const struct dataset_reduce_args *args = call->args;
    reduction r = {.body = leati_branch(args->body),
                   .num_variables = (int)args->num_variables,
                   .num_captures = call->num_inputs - 1 - (int)args->num_variables,
                   .can_stop = args->can_stop};
    /* Body takes all inputs but the dataset, and in its place the components of an element. */
    r.num_components = r.body->body.num_arguments - (call->num_inputs - 1);
    size_t count = (size_t)r.body->body.num_arguments + (size_t)r.body->num_outputs;
    r.values = leati_arena_alloc(call->arena, count * sizeof *r.values);
    if (r.values == NULL)
        return leati_no_memory(err);
    r.next = r.values + r.body->body.num_arguments;
    leat_status status = LEAT_OK;
    for (int64_t row = 0; status == LEAT_OK && row < call->n; row++) {
        status = reduce_row(call, row, &r, err);
        if (status != LEAT_OK)
            call->failed_row = row;
    }
    return status;
}

static uint32_t dataset_reduce_flags(const void *node_args) {
    const struct dataset_reduce_args *args = node_args;
    return LEATI_COSTLY | (args->stateful ? LEATI_STATEFUL : 0);
}

const leati_tensor_op leati_tensor_op_dataset_reduce = {
    .name = "dataset_reduce",
    .version = 1,
    .doc = "Runs a function on a state and each element of a dataset (tf.data.Dataset.reduce, and "
           "`for` over a dataset).",
    .types = "*",
    .outputs = "*components",
    .halves = LEATI_HALVES_OWN,
    .rows = dataset_reduce_rows,
    .args_size = sizeof(struct dataset_reduce_args),
    .min_inputs = 2,
    .max_inputs = -1,
    .infer = dataset_reduce_infer,
    .kernel = dataset_reduce_kernel,
    .node_flags = dataset_reduce_flags,
};

/* Can others see that the dataset of this value is run through? What a function is given as an
 * argument is taken for an element's. */
static bool is_shared(const leat_graph *graph, int32_t id) {
    const leati_body *body = &graph->body;
    if (body->values[id].node < 0)
        return false;
    const leati_node *node = &body->nodes[body->values[id].node];
    bool shared = (leati_body_node_flags(node) & (LEATI_IMPURE | LEATI_STATEFUL)) != 0;
    for (int32_t i = 0; i < node->num_inputs && !shared; i++)
        shared = body->values[node->inputs[i]].type.dtype == LEAT_OBJECT &&
                 is_shared(graph, node->inputs[i]);
    return shared;
}

int leat_graph_dataset_reduce(leat_value dataset, leat_function *body, const leat_value *variables,
                              int num_variables, const leat_value *captures, int num_captures,
                              const leat_graph_dataset_reduce_options *options,
                              leat_value *outputs) {
    leat_graph_dataset_reduce_options o = {LEAT_GRAPH_DATASET_REDUCE_DEFAULTS};
    leat_graph *graph = dataset.graph;
    if (graph == NULL || graph->error.code != LEAT_OK || dataset.id < 0 ||
        !leati_branch_given(graph, "dataset_reduce", (leat_function *[]){body}, 1) ||
        !LEATI_GRAPH_OPTIONS(leat_graph_dataset_reduce_options, &o, options, graph))
        return -1;
    size_t count = 1 + (size_t)num_variables + (size_t)num_captures;
    leat_value *all = leati_alloc(count, sizeof *all);
    if (all == NULL) {
        leat_error err = {0};
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return -1;
    }
    all[0] = dataset;
    for (int i = 0; i < num_variables; i++)
        all[1 + i] = variables[i];
    for (int i = 0; i < num_captures; i++)
        all[1 + num_variables + i] = captures[i];
    struct dataset_reduce_args args = {.body = &body->object,
                                       .num_variables = num_variables,
                                       .can_stop = o.can_stop,
                                       .stateful = o.is_shared || is_shared(graph, dataset.id),
                                       .shape_invariants =
                                           (leat_spec *)(uintptr_t)o.shape_invariants};
    leat_value first =
        leati_graph_node(graph, &leati_tensor_op_dataset_reduce, &args, all, (int)count);
    leati_free(all);
    if (first.id < 0)
        return -1;
    for (int i = 0; i < num_variables; i++)
        outputs[i] = (leat_value){.graph = graph, .id = first.id + i};
    return num_variables;
}
