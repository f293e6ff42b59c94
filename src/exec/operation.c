/* Operations with their attributes read once: leat_operation.
 *
 * Happy path: types of the inputs go through inference on the stack, the kernel runs, and no graph
 * is made. Inputs' values are unknown to inference here, so an output that depends on them gets its
 * shape from the kernel. Failures: none of a run; whatever it does not do, errors included, is left
 * to a graph, which says why. No locks: an operation is immutable. */
#include "base/error.h"
#include "core/json.h"
#include "core/tensor.h"
#include "exec/compute.h"
#include "exec/cpu/single.h"
#include "graph/body.h"
#include "graph/halves.h"
#include "graph/input_type.h"
#include "graph/node_args.h"
#include "run/crew.h"
#include "run/pool.h"
#include <leat/bind.h>

#include <string.h>

/* Those with more inputs or outputs are left to a graph. */
enum { MOST_INPUTS = 8, MOST_OUTPUTS = 8 };

struct leat_operation {
    const leati_tensor_op *op;
    void *args; /* owned; NULL: it has none */
};

static bool has_function(const leati_tensor_op *op) {
    for (const leati_row *row = op->rows; row != NULL && row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_FUNCTION || row->type == LEATI_ROW_OBJECT)
            return true;
    return false;
}

/* What keeps state, draws numbers, runs functions or waits does so in the order of a graph. */
static bool needs_graph(const leati_tensor_op *op) {
    const uint32_t flags = LEATI_RANDOM | LEATI_STATEFUL | LEATI_IMPURE | LEATI_NO_EAGER |
                           LEATI_COSTLY | LEATI_REPLAYS;
    return op->flags & flags || op->node_flags != NULL || has_function(op);
}

static leat_status read_args(leat_operation *operation, const char *attributes, leat_error *err) {
    const leati_tensor_op *op = operation->op;
    json_t *json = NULL;
    if (attributes != NULL) {
        json = leati_json_parse(attributes, strlen(attributes), err);
        if (json == NULL)
            return err->code;
    }
    leat_status status = leati_node_args_read(NULL, op, json, 0, &operation->args, err);
    json_decref(json);
    if (status == LEAT_OK && op->rows != NULL)
        status = leati_rows_check(op->rows, operation->args, op->name, err);
    return status;
}

leat_operation *leat_operation_new(const char *name, const char *attributes, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const leati_tensor_op *op = leati_graph_op_find(name);
    if (op == NULL) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "no tensor operation is called \"%s\"; `leat ops` lists them",
                   name != NULL ? name : "(null)");
        return NULL;
    }
    if (needs_graph(op)) {
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "%s keeps state, draws numbers, runs functions or waits; call it in a graph",
                   op->name);
        return NULL;
    }
    leat_operation *operation = leati_alloc_zero(1, sizeof *operation);
    if (operation == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    operation->op = op;
    if (read_args(operation, attributes, err) == LEAT_OK)
        return operation;
    leati_prefix(err, "op %s", op->name);
    leat_operation_free(operation);
    return NULL;
}

void leat_operation_free(leat_operation *operation) {
    if (operation == NULL)
        return;
    leati_node_args_free(operation->op, operation->args);
    leati_free(operation);
}

bool leat_operation_is_brief(const leat_operation *operation) {
    return (operation->op->flags & LEATI_ELEMENTWISE) != 0;
}

/* Are these inputs that the kernel takes as they are, without a cast before it? */
static bool takes(const leati_tensor_op *op, const leat_tensor *inputs, int num_inputs) {
    const char *types = op->types;
    leati_input_type type = {0};
    if (num_inputs > MOST_INPUTS || num_inputs < op->min_inputs ||
        (op->max_inputs >= 0 && num_inputs > op->max_inputs))
        return false;
    for (int i = 0; i < num_inputs; i++)
        if (inputs[i].dtype == LEAT_STRING || inputs[i].dtype == LEAT_OBJECT ||
            (op->quotient && leati_dtype_is_integer(inputs[i].dtype)))
            return false;
    if (types == NULL || strchr(types, '<') == NULL)
        return true;
    for (int i = 0; i < num_inputs && leati_input_type_next(&types, &type); i++)
        if (leati_input_type_cast(&type, inputs[i].dtype) != inputs[i].dtype)
            return false;
    return true;
}

/* The types of the outputs as values of a node; how many, or -1. */
static int infer(const leat_operation *operation, const leat_tensor *inputs, int num_inputs,
                 leati_value *values) {
    leati_type in[MOST_INPUTS], out[MOST_OUTPUTS];
    leat_error ignored = {0};
    for (int i = 0; i < num_inputs; i++) {
        in[i].dtype = inputs[i].dtype;
        in[i].shape = leat_tensor_shape(&inputs[i]);
        in[i].element = NULL;
    }
    leati_infer_call call = {.inputs = in,
                             .num_inputs = num_inputs,
                             .args = operation->args,
                             .outputs = out,
                             .capacity = MOST_OUTPUTS};
    leat_status status = leati_halves_infer(operation->op, &call, &ignored);
    for (int i = 0; status == LEAT_OK && i < call.num_outputs; i++) {
        values[i].type = out[i];
        if (out[i].element != NULL || out[i].dtype == LEAT_STRING || out[i].dtype == LEAT_OBJECT)
            status = LEAT_UNIMPLEMENTED;
    }
    leati_op_infer_fini(&call);
    return status == LEAT_OK ? call.num_outputs : -1;
}

int leat_operation_run(const leat_operation *operation, const leat_tensor *inputs, int num_inputs,
                       leat_tensor *outputs, int capacity) {
    leati_value values[MOST_OUTPUTS];
    if (!takes(operation->op, inputs, num_inputs))
        return -1;
    int count = infer(operation, inputs, num_inputs, values);
    if (count < 0 || count > capacity)
        return -1;
    leati_node node = {.op = operation->op,
                       .args = operation->args,
                       .num_inputs = num_inputs,
                       .num_outputs = count};
    leati_call_context context = {.num_replicas = 1, .may_wait = true};
    int before = leati_crew_enter(leati_pool_num_cores());
    bool ran = false;
    leat_error ignored = {0};
    leat_status status = leati_single_run(&node, values, inputs, &context, outputs, &ran, &ignored);
    if (status == LEAT_OK && !ran)
        status = leati_compute(&node, values, inputs, &context, outputs, &ignored);
    leati_crew_leave(before);
    return status == LEAT_OK ? count : -1;
}
