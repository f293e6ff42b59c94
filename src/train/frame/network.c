/* Models between symbols (keras.Model of inputs and outputs).
 *
 * Happy path: a symbol is a number in its network's list of inputs and calls, which is in an order
 * in which they can be computed; making the model traces it once for inputs of an unknown batch,
 * which builds the layers. Failures: symbols of another network, layers that are NULL or built
 * already, what layers refuse (naming the layer, what it expects, what it is given and by which
 * layer), memory; the network keeps the first. Belongs to one thread; no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/support/support.h"
#include "train/frame/model.h"
#include <string.h>

leat_network *leat_network_new(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_network *network = leati_alloc_zero(1, sizeof *network);
    if (network == NULL)
        leati_no_memory(err);
    return network;
}

void leat_network_free(leat_network *network) {
    if (network == NULL)
        return;
    for (int i = 0; i < network->num_layers; i++)
        leat_layer_free(network->layers[i]);
    leati_free(network->layers);
    leati_free(network->nodes);
    leati_free(network);
}

/* ---- symbols ---- */

static leat_symbol failed(leat_network *network, leat_status code, leat_reason reason,
                          const char *text) {
    /* Only the first failure is kept; later ones follow from it. */
    if (network != NULL && network->error.code == LEAT_OK)
        leati_fail_for(&network->error, code, reason, "%s", text);
    return (leat_symbol){.network = network, .id = -1};
}

static leat_symbol add_node(leat_network *network, const leati_symbol_node *node) {
    void *nodes = network->nodes;
    size_t needed = (size_t)network->num_nodes + 1;
    if (!leati_grow(&nodes, &network->node_capacity, needed, sizeof *node))
        return failed(network, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE,
                      "no memory for another symbol");
    network->nodes = nodes;
    network->nodes[network->num_nodes] = *node;
    return (leat_symbol){.network = network, .id = network->num_nodes++};
}

leat_symbol leat_network_input(leat_network *network, leat_shape shape) {
    leati_symbol_node node = {.layer = NULL};
    leat_error err = {0};
    if (network == NULL || network->error.code != LEAT_OK)
        return (leat_symbol){.network = network, .id = -1};
    if (shape.rank == LEAT_UNKNOWN_RANK || !leati_shape_is_valid(&shape))
        return failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE,
                      "the shape of an input has no known rank");
    if (leati_shape_prepend(&shape, LEAT_UNKNOWN_DIM, &node.shape, &err) != LEAT_OK)
        return failed(network, err.code, err.reason, err.text);
    return add_node(network, &node);
}

/* Makes the layer one of the network's. */
static bool adopt(leat_network *network, leat_layer *layer) {
    for (int i = 0; i < network->num_layers; i++)
        if (network->layers[i] == layer)
            /* A layer that is called again shares its weights and is owned already. */
            return true;
    void *layers = network->layers;
    size_t needed = (size_t)network->num_layers + 1;
    /* Its weights belong to another model, which would free them too. */
    if (layer->built || layer->adopted) {
        failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
               "a layer is built already; a layer belongs to one model");
        return false;
    }
    if (!leati_grow(&layers, &network->layer_capacity, needed, sizeof layer)) {
        failed(network, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "no memory for another layer");
        return false;
    }
    network->layers = layers;
    layer->adopted = true;
    /* From here on the network frees the layer, also if the call fails below. */
    network->layers[network->num_layers++] = layer;
    return true;
}

leat_symbol leat_network_call(leat_layer *layer, const leat_symbol *inputs, int num_inputs) {
    leat_network *network = inputs == NULL || num_inputs < 1 ? NULL : inputs[0].network;
    leati_symbol_node node = {.layer = layer, .num_inputs = num_inputs};
    if (network == NULL) {
        if (layer != NULL && !layer->adopted)
            leat_layer_free(layer);
        return (leat_symbol){.network = NULL, .id = -1};
    }
    if (layer == NULL)
        return failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                      "a layer of the network is NULL");
    if (!adopt(network, layer)) {
        if (!layer->adopted) /* one of another network stays its */
            leat_layer_free(layer);
        return (leat_symbol){.network = network, .id = -1};
    }
    if (num_inputs > LEATI_MOST_INPUTS)
        return failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                      "a layer is called with more than 8 inputs");
    for (int i = 0; i < num_inputs; i++) {
        if (inputs[i].network != network)
            return failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                          "an input is of another network");
        if (inputs[i].id < 0)
            return failed(network, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                          "an input of a layer has failed");
        node.inputs[i] = inputs[i].id;
    }
    return add_node(network, &node);
}

/* ---- computing ---- */

static int num_inputs_of(const leat_network *network) {
    int count = 0;
    for (int i = 0; i < network->num_nodes; i++)
        count += network->nodes[i].layer == NULL;
    return count;
}

void leati_model_network_run(const leat_network *network, const leat_value *inputs, bool training,
                             leat_value *outputs) {
    leat_graph *graph = inputs[0].graph;
    leat_value *values = leati_alloc((size_t)network->num_nodes, sizeof *values);
    leat_error err = {0};
    int next = 0;
    if (values == NULL) {
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return;
    }
    /* The inputs of a node stand before it in the list, for a symbol exists only after its call. */
    for (int i = 0; i < network->num_nodes; i++) {
        const leati_symbol_node *node = &network->nodes[i];
        leat_value given[LEATI_MOST_INPUTS];
        for (int k = 0; k < node->num_inputs; k++)
            given[k] = values[node->inputs[k]];
        /* The layer that made the first input, for messages; NULL where that is an input of the
         * model. */
        values[i] = node->layer == NULL
                        ? inputs[next++]
                        : leati_layer_call(node->layer, given, node->num_inputs, training,
                                           network->nodes[node->inputs[0]].layer);
    }
    for (int i = 0; i < network->num_outputs; i++)
        outputs[i] = values[network->outputs[i]];
    leati_free(values);
}

void leat_model_call_all(leat_model *model, const leat_value *inputs, int num_inputs, bool training,
                         leat_value *outputs, int num_outputs) {
    leat_graph *graph = inputs == NULL || num_inputs < 1 ? NULL : inputs[0].graph;
    /* Failed from the start, since every way out below leaves them. */
    for (int i = 0; i < num_outputs; i++)
        outputs[i] = (leat_value){.graph = graph, .id = -1};
    for (int i = 0; i < num_inputs; i++)
        if (graph == NULL || inputs[i].graph != graph || leati_support_value_failed(inputs[i]))
            return;
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    if (model == NULL || model->network == NULL || num_inputs != num_inputs_of(model->network) ||
        num_outputs != model->network->num_outputs) {
        leati_support_build_error(
            graph, LEAT_REASON_STRUCTURE,
            "leat_model_call_all: the model is not one of a network with this number "
            "of inputs and outputs");
        return;
    }
    leati_model_network_run(model->network, inputs, training, outputs);
}

/* ---- the model ---- */

/* Traces the network once, for what layers make on the way. */
static leat_status build(const leat_network *network, leat_error *err) {
    leat_graph *graph = leat_graph_new_eager(err);
    leat_status status = LEAT_RESOURCE_EXHAUSTED;
    leat_value inputs[LEATI_MOST_INPUTS], outputs[LEATI_MOST_INPUTS];
    int count = 0;
    if (graph == NULL)
        return status;
    for (int i = 0; i < network->num_nodes; i++) {
        leat_shape one = network->nodes[i].shape;
        if (network->nodes[i].layer != NULL)
            continue;
        /* The layers forget the batch's dimension again when they are built. */
        one.dims[0] = 1;
        inputs[count++] = leat_op_zeros(graph, one, LEAT_FLOAT32);
    }
    leati_model_network_run(network, inputs, false, outputs);
    status = graph->error.code;
    if (status != LEAT_OK)
        *err = graph->error;
    leat_graph_free(graph);
    return status;
}

static leat_status set_outputs(leat_network *network, const leat_symbol *outputs, int num_outputs,
                               leat_error *err) {
    int inputs = num_inputs_of(network);
    if (network->error.code != LEAT_OK)
        return leati_error_pass(err, &network->error);
    if (inputs < 1 || inputs > LEATI_MOST_INPUTS || num_outputs < 1 ||
        num_outputs > LEATI_MOST_INPUTS)
        return leati_refuse(err, VALUE, "a model of %d inputs and %d outputs; expected 1 to %d",
                            inputs, num_outputs, LEATI_MOST_INPUTS);
    for (int i = 0; i < num_outputs; i++) {
        if (outputs[i].network != network || outputs[i].id < 0)
            return leati_refuse(err, VALUE, "output %d is not a symbol of the network", i);
        network->outputs[network->num_outputs++] = outputs[i].id;
    }
    return LEAT_OK;
}

leat_model *leat_network_model(leat_network *network, const leat_symbol *outputs, int num_outputs,
                               leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (network == NULL) {
        leati_refuse(err, VALUE, "the network is NULL");
        return NULL;
    }
    leat_model *model = leati_alloc_zero(1, sizeof *model);
    leat_status status =
        model == NULL ? leati_no_memory(err) : set_outputs(network, outputs, num_outputs, err);
    if (model == NULL) {
        leat_network_free(network);
        return NULL;
    }
    /* The model owns the layers now; the network keeps pointers to them in its nodes. */
    *model = (leat_model){
        .layers = network->layers, .num_layers = network->num_layers, .network = network};
    network->layers = NULL;
    network->num_layers = 0;
    if (status == LEAT_OK)
        status = leati_model_name_layers(model, err);
    if (status == LEAT_OK)
        status = build(network, err);
    if (status == LEAT_OK)
        status = leati_model_collect(model, err);
    model->built = status == LEAT_OK;
    if (status == LEAT_OK)
        return model;
    leat_model_free(model);
    return NULL;
}
