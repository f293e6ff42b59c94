/* The inside of models: layers, and in which order they compute. */
#ifndef LEATI_TRAIN_FRAME_MODEL_H
#define LEATI_TRAIN_FRAME_MODEL_H

#include "train/frame/layer.h"

enum { LEATI_MOST_INPUTS = 8 }; /* of one call, and outputs of a model */

/* One symbol of a network: an input, or a call of a layer. */
typedef struct leati_symbol_node {
    leat_layer *layer; /* borrowed from the network's list; NULL: an input */
    leat_shape shape;  /* of an input, batch's dimension included */
    int32_t inputs[LEATI_MOST_INPUTS];
    int num_inputs;
} leati_symbol_node;

struct leat_network {
    leat_layer **layers; /* owned, in the order of their first calls */
    int num_layers;
    leati_symbol_node *nodes; /* owned */
    int num_nodes;
    size_t layer_capacity, node_capacity;
    int32_t outputs[LEATI_MOST_INPUTS];
    int num_outputs;
    leat_error error; /* the first failure */
};

struct leat_model {
    leat_layer **layers; /* owned */
    int num_layers;
    leat_network *network; /* owned, without its layers; NULL: the layers follow each other */
    bool built;
    leat_variable **trainable; /* borrowed from the layers */
    int num_trainable;
};

/* Gives layers without a name of their own names that are unique. */
LEAT_WARN_UNUSED leat_status leati_model_name_layers(leat_model *model, leat_error *err);
/* Finds the trainable weights of built layers. */
LEAT_WARN_UNUSED leat_status leati_model_collect(leat_model *model, leat_error *err);
/* Adds the operations of a network's calls. */
void leati_model_network_run(const leat_network *network, const leat_value *inputs, bool training,
                             leat_value *outputs);

#endif
