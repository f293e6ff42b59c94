/* The frame of the builders; see build.h. */
#include "graph/build.h"

#include "base/minmax.h"
#include "base/options.h"
#include "base/random.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/node_args.h"
#include <assert.h>
#include <string.h>

void leati_build_begin(leati_build *build, const leati_tensor_op *op, leat_graph *graph) {
    /* The table of operations decides the size, never a caller. */
    assert(op->args_size <= LEATI_BUILD_ARGS);
    build->op = op;
    build->graph = graph;
    build->inputs = build->own;
    build->num_inputs = 0;
    /* Member by member: zeroing the whole struct, with its text and arrays, costs more than the
     * rest. */
    build->error.code = LEAT_OK;
    memset(build->args, 0, op->args_size);
    leati_rows_borrow_defaults(op->rows, build->args);
}

void leati_build_input(leati_build *build, leat_value value) {
    assert(build->num_inputs < LEATI_BUILD_INPUTS);
    build->own[build->num_inputs++] = value;
}

void leati_build_input_if(leati_build *build, leat_value value) {
    if (value.graph != NULL || value.id != 0) /* one that failed is given */
        leati_build_input(build, value);
}

void leati_build_inputs(leati_build *build, const leat_value *values, int num_values) {
    build->inputs = values;
    build->num_inputs = values != NULL ? num_values : 0;
}

static const leati_row *row_of(const leati_build *build, const char *name, leati_row_type type) {
    const leati_row *row = leati_rows_find(build->op->rows, name);
    assert(row != NULL && row->type == type);
    return row;
}

/* Where the argument lies. */
static void *member_of(leati_build *build, const char *name, leati_row_type type) {
    return build->args + row_of(build, name, type)->offset;
}

void leati_build_bool(leati_build *build, const char *name, bool value) {
    *(bool *)member_of(build, name, LEATI_ROW_BOOL) = value;
}

void leati_build_int(leati_build *build, const char *name, int64_t value) {
    int64_t *at = member_of(build, name, LEATI_ROW_INT);
    /* The row's default stands where the caller says nothing. */
    *at = value != LEAT_UNSET ? value : *at;
}

void leati_build_float(leati_build *build, const char *name, double value) {
    *(double *)member_of(build, name, LEATI_ROW_FLOAT) = value;
}

void leati_build_text(leati_build *build, const char *name, const char *value) {
    char **at = member_of(build, name, LEATI_ROW_STRING);
    *at = value != NULL ? (char *)(uintptr_t)value : *at;
}

void leati_build_dtype(leati_build *build, const char *name, leat_dtype value) {
    leat_dtype *at = member_of(build, name, LEATI_ROW_DTYPE);
    *at = value != LEAT_INVALID ? value : *at;
}

void leati_build_shape(leati_build *build, const char *name, leat_shape value) {
    *(leat_shape *)member_of(build, name, LEATI_ROW_SHAPE) = value;
}

void leati_build_seed(leati_build *build, const char *name, const int64_t *value) {
    leati_seed_argument *at = member_of(build, name, LEATI_ROW_SEED);
    if (value != NULL)
        *at = (leati_seed_argument){.given = true, .value = *value};
}

void leati_build_element(leati_build *build, const char *name, const leat_element *value) {
    leat_element *at = member_of(build, name, LEATI_ROW_ELEMENT);
    if (value != NULL)
        *at = *value;
}

void leati_build_options(leati_build *build, void *own, size_t size, const void *options,
                         const char *type) {
    if (build->error.code == LEAT_OK)
        build->error.code = leati_options_read(own, size, size, options, type, &build->error);
}

/* What the caller's list becomes: NULL is none, which is an empty one where there must be one. The
 * number of its values. */
static int32_t list_of(leati_build *build, const leati_row *row, const void **values, int count) {
    /* Of the largest alignment among lists: it stands for an empty list of floats, too. */
    static const int64_t nothing;
    /* For rows that must be given NULL means "not given", so an empty list needs an address. */
    bool required = row->flags & LEATI_REQUIRED;
    if (build->error.code == LEAT_OK && (count < 0 || (*values == NULL && count > 0 && required)))
        leati_refuse(&build->error, VALUE,
                     "%s is %s of %d values; expected 0 or more, that are there", row->name,
                     *values == NULL ? "NULL, a list" : "a list", count);
    if (*values != NULL)
        return LEATI_MAX(count, 0);
    *values = required ? &nothing : NULL;
    return 0;
}

void leati_build_ints(leati_build *build, const char *name, const int64_t *values, int count) {
    const leati_row *row = row_of(build, name, LEATI_ROW_INTS);
    leati_ints *at = (void *)(build->args + row->offset);
    const void *list = values;
    at->count = list_of(build, row, &list, count);
    at->values = (int64_t *)(uintptr_t)list;
}

void leati_build_floats(leati_build *build, const char *name, const double *values, int count) {
    const leati_row *row = row_of(build, name, LEATI_ROW_FLOATS);
    leati_floats *at = (void *)(build->args + row->offset);
    const void *list = values;
    at->count = list_of(build, row, &list, count);
    at->values = (double *)(uintptr_t)list;
}

leat_value leati_build_end(leati_build *build) {
    leat_graph *graph = build->graph;
    build->first = (leat_value){.graph = graph, .id = -1};
    build->num_outputs = 0;
    /* Builders without a graph among their parameters take the one of their inputs. */
    for (int i = 0; i < build->num_inputs && graph == NULL; i++)
        graph = build->inputs[i].graph;
    if (graph == NULL || graph->error.code != LEAT_OK)
        return (leat_value){.graph = graph, .id = -1};
    leat_status status = build->error.code;
    if (status == LEAT_OK)
        status = leati_rows_check(build->op->rows, build->args, build->op->name, &build->error);
    if (status == LEAT_OK && build->op->complete != NULL)
        status = build->op->complete(graph, build->args, &build->error);
    if (status != LEAT_OK) {
        leati_prefix(&build->error, "op %s (node %zu)", build->op->name, graph->body.num_nodes);
        return leati_graph_error(graph, &build->error);
    }
    build->first = leati_graph_node(graph, build->op, build->op->args_size > 0 ? build->args : NULL,
                                    build->inputs, build->num_inputs);
    /* The node just added is the last one: hooks compute and add none. */
    if (build->first.id >= 0)
        build->num_outputs = graph->body.nodes[graph->body.num_nodes - 1].num_outputs;
    return build->first;
}

void leati_build_output(const leati_build *build, int index, leat_value *out) {
    if (out != NULL)
        *out = (leat_value){.graph = build->first.graph,
                            .id = index < build->num_outputs ? build->first.id + index : -1};
}

int leati_build_list(leati_build *build, leat_value *outputs, int capacity) {
    leat_value first = leati_build_end(build);
    /* Values that the node does not have become failed ones, so that callers need not initialise
     * them. */
    for (int i = 0; i < capacity; i++)
        leati_build_output(build, i, &outputs[i]);
    return first.id >= 0 ? build->num_outputs : -1;
}

leat_value leati_graph_build_many(const leati_tensor_op *op, const void *args,
                                  const leat_value *inputs, int num_inputs) {
    if (num_inputs < 1)
        return (leat_value){.graph = NULL, .id = -1};
    /* The value of a builder that had no graph passes through; the graph in which it ends up
     * refuses it. */
    for (int i = 0; i < num_inputs; i++)
        if (inputs[i].graph == NULL)
            return (leat_value){.graph = inputs[0].graph, .id = -1};
    return leati_graph_node(inputs[0].graph, op, args, inputs, num_inputs);
}

leat_value leati_graph_build1(const leati_tensor_op *op, const void *args, leat_value a) {
    return leati_graph_build_many(op, args, &a, 1);
}

leat_value leati_graph_build2(const leati_tensor_op *op, const void *args, leat_value a,
                              leat_value b) {
    leat_value inputs[] = {a, b};
    return leati_graph_build_many(op, args, inputs, 2);
}

leat_value leati_graph_build3(const leati_tensor_op *op, const void *args, leat_value a,
                              leat_value b, leat_value c) {
    leat_value inputs[] = {a, b, c};
    return leati_graph_build_many(op, args, inputs, 3);
}
