/* Functions among attributes; see branch.h. Failures name the attribute. No locks. */
#include "graph/support/control/branch.h"
#include "graph/draws.h"

leat_function *leati_branch_specialise(const char *name, const leat_object *object,
                                       const leati_type *types, int count, leat_error *err) {
    const leat_function *branch = (const leat_function *)(const void *)object;
    leat_function *special = NULL;
    if (!leati_graph_object_is_function(object))
        leati_refuse(err, STRUCTURE, "it is not a function");
    else if (branch->body.num_arguments != count)
        leati_refuse(err, STRUCTURE, "it takes %d arguments, found %d inputs",
                     (int)branch->body.num_arguments, count);
    else
        special = leati_graph_function_specialise(branch, types, err);
    if (special == NULL)
        leati_prefix(err, "%s", name);
    return special;
}

leati_call_context leati_branch_context(const leati_kernel_call *call, int64_t row, int64_t forward,
                                        int64_t which) {
    leati_call_context context = {.num_replicas = 1};
    if (call->context != NULL)
        context = *call->context;
    context = leati_draws_inside(&context, call->number, forward, which);
    /* Each row is a call of its own for what draws random numbers. */
    context.ordinal += row;
    return context;
}

int64_t leati_branch_forward_number(const leati_gradient_call *call) {
    const leati_body *body = &call->graph->body;
    return body->nodes[body->values[call->outputs[0].id].node].number;
}

bool leati_branch_given(leat_graph *graph, const char *op, leat_function *const *functions,
                        int count) {
    leat_error err = {0};
    for (int i = 0; i < count; i++)
        if (functions[i] == NULL)
            leati_refuse(&err, VALUE, "op %s: a function is NULL; pass one", op);
    /* Without a failure this does nothing. */
    leati_graph_error(graph, &err);
    return err.code == LEAT_OK;
}
