/* Functions as TensorFlow's GraphDef, for TensorBoard's pictures of graphs.
 *
 * Happy path: a node for each argument, operation and variable, with the names of those whose
 * values it takes; functions inside (branches, bodies of loops) are nodes below the name of the
 * node that calls them. Attributes say the dtype and the shapes of the outputs.
 * The message is for looking at: operations have leat's names, and nothing reads it back.
 * Failures: memory. No locks. */
#include "base/bytes.h"
#include "base/text.h"
#include "file/tensor_proto.h"
#include "graph/function.h"
#include "graph/variable.h"
#include <leat/summary.h>
#include <string.h>

/* Fields of GraphDef, NodeDef, AttrValue, its ListValue, VersionDef and entries of maps. */
enum {
    GRAPH_NODE = 1,
    GRAPH_VERSIONS = 4,
    NODE_NAME = 1,
    NODE_OP = 2,
    NODE_INPUT = 3,
    NODE_ATTRIBUTE = 5,
    ATTRIBUTE_LIST = 1,
    ATTRIBUTE_TYPE = 6,
    LIST_SHAPE = 7,
    VERSIONS_PRODUCER = 1,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2
};

/* What GraphDefs of TensorFlow 2 say of themselves. */
#define PRODUCER 1882

struct writing {
    leati_writer out;
    leati_text text; /* the name that is being made */
    const leat_variable **variables;
    size_t num_variables, capacity;
};

static void put_text(leati_writer *out, uint32_t number, const leati_text *text) {
    leati_tensor_proto_put_field(out, number, text->data, text->size);
    /* Failures are collected and asked for once, at the end: nothing written after one is used. */
    out->failed = out->failed || text->failed;
}

/* An entry of a node's map of attributes. */
static void put_attribute(leati_writer *node, const char *name, const leati_writer *value) {
    leati_writer entry = {0};
    leati_tensor_proto_put_field(&entry, ENTRY_KEY, name, strlen(name));
    leati_tensor_proto_put_field(&entry, ENTRY_VALUE, value->data, value->size);
    leati_tensor_proto_put_field(node, NODE_ATTRIBUTE, entry.data, entry.size);
    node->failed = node->failed || entry.failed || value->failed;
    leati_writer_fini(&entry);
}

/* The dtype of the first of `count` values and the shapes of all. */
static void put_types(leati_writer *node, const leati_value *values, int32_t count) {
    leati_writer attribute = {0}, list = {0};
    /* TensorBoard shows one dtype, "T"; objects have none that TensorFlow knows. */
    if (count > 0 && leati_tensor_proto_of_dtype(values[0].type.dtype) != 0) {
        leati_tensor_proto_put_number_field(&attribute, ATTRIBUTE_TYPE,
                                            leati_tensor_proto_of_dtype(values[0].type.dtype));
        put_attribute(node, "T", &attribute);
    }
    for (int32_t i = 0; i < count; i++) {
        leati_writer shape = {0};
        leati_tensor_proto_put_shape(&shape, &values[i].type.shape);
        leati_tensor_proto_put_field(&list, LIST_SHAPE, shape.data, shape.size);
        list.failed = list.failed || shape.failed;
        leati_writer_fini(&shape);
    }
    leati_writer_fini(&attribute);
    attribute = (leati_writer){0};
    leati_tensor_proto_put_field(&attribute, ATTRIBUTE_LIST, list.data, list.size);
    attribute.failed = attribute.failed || list.failed;
    put_attribute(node, "_output_shapes", &attribute);
    leati_writer_fini(&attribute);
    leati_writer_fini(&list);
}

/* Makes `writing->text` the name of a node, or of one of its outputs. */
static void name_node(struct writing *writing, const leati_body *body, const char *prefix,
                      int32_t node) {
    writing->text.size = 0;
    leati_text_addf(&writing->text, "%s%s_%d", prefix, body->nodes[node].op->name, (int)node);
}

static void put_input(struct writing *writing, leati_writer *node, const leati_body *body,
                      const char *prefix, int32_t id) {
    const leati_value *value = &body->values[id];
    if (value->node < 0) {
        writing->text.size = 0;
        leati_text_addf(&writing->text, "%sargument_%d", prefix, (int)value->output);
    } else {
        name_node(writing, body, prefix, value->node);
        /* GraphDef leaves out the number of a first output. */
        if (value->output > 0)
            leati_text_addf(&writing->text, ":%d", (int)value->output);
    }
    put_text(node, NODE_INPUT, &writing->text);
}

static void end_node(struct writing *writing, leati_writer *node) {
    leati_tensor_proto_put_field(&writing->out, GRAPH_NODE, node->data, node->size);
    writing->out.failed = writing->out.failed || node->failed;
    leati_writer_fini(node);
}

/* The node of a variable, which is written when it is first met, as an input of `user`. */
static void put_variable(struct writing *writing, leati_writer *user,
                         const leat_variable *variable) {
    const char *name = variable->name != NULL && variable->name[0] ? variable->name : "variable";
    size_t number = 0;
    while (number < writing->num_variables && writing->variables[number] != variable)
        number++;
    bool is_known = number < writing->num_variables, is_taken = false;
    /* Other variables may have the same name, but names of nodes must differ. */
    for (size_t i = 0; i < number; i++)
        is_taken = is_taken || strcmp(writing->variables[i]->name, variable->name) == 0;
    writing->text.size = 0;
    leati_text_addf(&writing->text, "%s", name);
    if (is_taken)
        leati_text_addf(&writing->text, "_%zu", number);
    put_text(user, NODE_INPUT, &writing->text);
    /* Its node has been written for an earlier user; this one only needs the name. */
    if (is_known)
        return;
    void *variables = (void *)writing->variables;
    if (!leati_grow(&variables, &writing->capacity, number + 1, sizeof *writing->variables)) {
        writing->out.failed = true;
        return;
    }
    writing->variables = variables;
    writing->variables[writing->num_variables++] = variable;
    leati_writer node = {0};
    put_text(&node, NODE_NAME, &writing->text);
    leati_tensor_proto_put_field(&node, NODE_OP, "VarHandleOp", 11);
    end_node(writing, &node);
}

static void put_function(struct writing *writing, const leat_function *function,
                         const char *prefix);

/* The variables that an operation reads or assigns, and the functions that it calls. */
static void put_objects(struct writing *writing, leati_writer *node, const leati_body *body,
                        const char *prefix, int32_t number) {
    const leati_node *from = &body->nodes[number];
    for (const leati_row *row = from->op->rows; row != NULL && row->type != LEATI_ROW_END; row++) {
        const char *place = (const char *)from->args + row->offset;
        if (row->type == LEATI_ROW_OBJECT) {
            const leat_object *object = *(leat_object *const *)(const void *)place;
            if (object != NULL && leati_variable_is_object(object))
                put_variable(writing, node, (const leat_variable *)(const void *)object);
        } else if (row->type == LEATI_ROW_FUNCTION) {
            const leat_function *inner = *(leat_function *const *)(const void *)place;
            /* Not `writing->text`, which the nodes of the function overwrite. */
            leati_text below = {0};
            leati_text_addf(&below, "%s%s_%d/%s/", prefix, from->op->name, (int)number, row->name);
            if (inner != NULL && !below.failed)
                put_function(writing, inner, below.data);
            writing->out.failed = writing->out.failed || below.failed;
            leati_text_fini(&below);
        }
    }
}

static void put_function(struct writing *writing, const leat_function *function,
                         const char *prefix) {
    const leati_body *body = &function->body;
    for (int32_t i = 0; i < body->num_arguments; i++) {
        leati_writer node = {0};
        writing->text.size = 0;
        leati_text_addf(&writing->text, "%sargument_%d", prefix, (int)i);
        put_text(&node, NODE_NAME, &writing->text);
        leati_tensor_proto_put_field(&node, NODE_OP, "Placeholder", 11);
        put_types(&node, &body->values[i], 1);
        end_node(writing, &node);
    }
    for (size_t i = 0; i < body->num_nodes; i++) {
        const leati_node *from = &body->nodes[i];
        leati_writer node = {0};
        name_node(writing, body, prefix, (int32_t)i);
        put_text(&node, NODE_NAME, &writing->text);
        leati_tensor_proto_put_field(&node, NODE_OP, from->op->name, strlen(from->op->name));
        for (int32_t k = 0; k < from->num_inputs; k++)
            put_input(writing, &node, body, prefix, from->inputs[k]);
        /* Nodes of variables and functions go straight to `out`, before this one that is still
         * being made. */
        put_objects(writing, &node, body, prefix, (int32_t)i);
        put_types(&node, &body->values[from->first_output], from->num_outputs);
        end_node(writing, &node);
    }
}

static void forget(void *context, void *data, size_t size) {
    (void)context;
    (void)size;
    leati_free(data);
}

leat_buffer *leat_function_to_graph_def(const leat_function *function, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct writing writing = {0};
    put_function(&writing, function, "");
    leati_writer versions = {0};
    leati_tensor_proto_put_number_field(&versions, VERSIONS_PRODUCER, PRODUCER);
    leati_tensor_proto_put_field(&writing.out, GRAPH_VERSIONS, versions.data, versions.size);
    bool failed = writing.out.failed || versions.failed || writing.text.failed;
    leati_writer_fini(&versions);
    leati_text_fini(&writing.text);
    leati_free((void *)writing.variables);
    if (failed) {
        leati_writer_fini(&writing.out);
        leati_no_memory(err);
        return NULL;
    }
    return leat_buffer_adopt(writing.out.data, writing.out.size, forget, NULL, err);
}
