/* keras.Sequential: layers one after the other.
 *
 * Layers without a name of their own get their kind's name, numbered where it repeats, as Keras
 * does. Building traces the layers once into a graph that is thrown away, so the shapes between
 * layers are those that inference gives. Failures: INVALID_ARGUMENT naming the layer, what it
 * expects, what it was given and which layer gave it; a failed build leaves no variables behind. A
 * model belongs to one thread; no locks. */
#include "train/frame/model.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/support/support.h"
#include "graph/variable.h"
#include <string.h>

/* ---- names ---- */

static bool name_taken(const leat_model *model, int before, const char *name) {
    for (int i = 0; i < before; i++)
        if (strcmp(model->layers[i]->name, name) == 0)
            return true;
    return false;
}

/* "dense", "dense_1", ... for layers that were given no name. */
static leat_status name_layer(leat_model *model, int index, leat_error *err) {
    leat_layer *layer = model->layers[index];
    bool own = ((const struct leati_layer_args *)layer->args)->name != NULL;
    /* The first of a kind keeps the plain name. */
    if (!name_taken(model, index, layer->name))
        return LEAT_OK;
    if (own)
        return leati_refuse(err, VALUE,
                            "two layers have the name \"%.80s\"; names of layers are unique",
                            layer->name);
    /* One layer before has the plain name, so at most index - 1 of these are taken: one is free. */
    for (int number = 1; number <= index; number++) {
        leati_text name = {0};
        leati_text_addf(&name, "%s_%d", layer->kind->prefix, number);
        leat_status status = LEAT_OK;
        bool taken = !name.failed && name_taken(model, index, name.data);
        if (name.failed)
            status = leati_no_memory(err);
        else if (!taken)
            status = leati_layer_rename(layer, name.data, err);
        leati_text_fini(&name);
        if (status != LEAT_OK || !taken)
            return status;
    }
    return LEAT_OK;
}

leat_status leati_model_name_layers(leat_model *model, leat_error *err) {
    for (int i = 0; i < model->num_layers; i++)
        LEATI_TRY(name_layer(model, i, err));
    return LEAT_OK;
}

/* ---- life ---- */

static leat_status check_layers(leat_layer *const *layers, int num_layers, leat_error *err) {
    if (layers == NULL || num_layers < 1)
        return leati_refuse(err, VALUE, "a sequential model has %d layers; expected at least one",
                            num_layers);
    for (int i = 0; i < num_layers; i++) {
        /* Layers are often made in the call's own list: the failure of such a constructor is
         * reported, not the NULL it left. */
        if (layers[i] == NULL && err->code != LEAT_OK)
            return err->code;
        if (layers[i] == NULL)
            return leati_refuse(err, VALUE, "layer %d of the model is NULL", i);
        if (layers[i]->built)
            return leati_refuse(err, VALUE,
                                "layer \"%.80s\" is built already; a layer belongs to one model",
                                layers[i]->name);
        for (int k = 0; k < i; k++)
            if (layers[k] == layers[i])
                return leati_refuse(err, VALUE, "layers %d and %d of the model are the same object",
                                    k, i);
    }
    return LEAT_OK;
}

/* Each layer once, though the same one may stand twice in the list. */
static void free_layers(leat_layer *const *layers, int num_layers) {
    for (int i = 0; layers != NULL && i < num_layers; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || layers[k] == layers[i];
        if (!seen)
            leat_layer_free(layers[i]);
    }
}

leat_model *leat_model_sequential(leat_layer *const *layers, int num_layers, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_model *model = NULL;
    leat_layer **own = NULL;
    leat_status status = check_layers(layers, num_layers, err);
    if (status == LEAT_OK) {
        model = leati_alloc_zero(1, sizeof *model);
        own = leati_alloc((size_t)num_layers, sizeof(leat_layer *));
        if (model == NULL || own == NULL)
            status = leati_no_memory(err);
    }
    if (status != LEAT_OK) {
        free_layers(layers, num_layers);
        leati_free(model);
        leati_free(own);
        return NULL;
    }
    /* A copy, since the caller's list is borrowed, though its layers are given. */
    memcpy(own, layers, (size_t)num_layers * sizeof *own);
    *model = (leat_model){.layers = own, .num_layers = num_layers};
    if (leati_model_name_layers(model, err) == LEAT_OK)
        return model;
    leat_model_free(model);
    return NULL;
}

void leat_model_free(leat_model *model) {
    if (model == NULL)
        return;
    for (int i = 0; i < model->num_layers; i++)
        leat_layer_free(model->layers[i]);
    /* It holds no layers any more; those above were all of them. */
    leat_network_free(model->network);
    leati_free(model->layers);
    leati_free(model->trainable);
    leati_free(model);
}

/* ---- building ---- */

static leat_value call_layers(leat_model *model, leat_value value, bool training) {
    const leat_layer *before = NULL;
    if (model->network != NULL) {
        leat_value out = {.graph = value.graph, .id = -1};
        leat_model_call_all(model, &value, 1, training, &out, 1);
        return out;
    }
    for (int i = 0; i < model->num_layers; i++) {
        value = leati_layer_call(model->layers[i], &value, 1, training, before);
        before = model->layers[i];
    }
    return value;
}

leat_status leati_model_collect(leat_model *model, leat_error *err) {
    int count = 0;
    for (int i = 0; i < model->num_layers; i++)
        /* At least the number of those that are trainable. */
        count += model->layers[i]->num_weights;
    model->trainable = leati_alloc((size_t)count, sizeof(leat_variable *));
    if (model->trainable == NULL)
        return leati_no_memory(err);
    model->num_trainable = 0;
    for (int i = 0; i < model->num_layers; i++)
        for (int k = 0; k < model->layers[i]->num_weights; k++)
            if (model->layers[i]->weights[k]->trainable)
                model->trainable[model->num_trainable++] = model->layers[i]->weights[k];
    return LEAT_OK;
}

/* Calls the layers in a graph of their own, for the weights that they make on the way. */
static leat_status trace_layers(leat_model *model, const leat_shape *batched, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_FLOAT32, *batched, err);
    leat_graph *graph = spec == NULL ? NULL : leat_graph_new(spec, err);
    leat_spec_unref(spec);
    if (graph == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    call_layers(model, leat_graph_argument(graph, 0), false);
    leat_status status = graph->error.code;
    /* The graph goes, so its error is copied out first. */
    if (status != LEAT_OK)
        *err = graph->error;
    leat_graph_free(graph);
    return status;
}

leat_status leat_model_build(leat_model *model, leat_shape input, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_shape batched;
    if (model == NULL)
        return leati_refuse(err, VALUE, "the model is NULL");
    if (input.rank == LEAT_UNKNOWN_RANK || !leati_shape_is_valid(&input))
        return leati_refuse(err, SHAPE,
                            "a model is built for an input of a known rank; give leat_model_build "
                            "the shape of one row");
    leat_status status = leati_shape_prepend(&input, LEAT_UNKNOWN_DIM, &batched, err);
    if (status == LEAT_OK && model->built)
        return trace_layers(model, &batched, err); /* checks that the shape fits */
    if (status == LEAT_OK)
        status = trace_layers(model, &batched, err);
    if (status == LEAT_OK)
        status = leati_model_collect(model, err);
    for (int i = 0; status != LEAT_OK && i < model->num_layers; i++)
        /* A failed layer has no weights itself; those before it were built and must not stay. */
        leati_layer_unbuild(model->layers[i]);
    model->built = status == LEAT_OK;
    return status;
}

/* ---- use ---- */

leat_value leat_model_call(leat_model *model, leat_value input, bool training) {
    leat_graph *graph = input.graph;
    leat_value failed = {.graph = graph, .id = -1};
    if (graph == NULL || graph->error.code != LEAT_OK || input.id < 0)
        return failed;
    if (model == NULL)
        return leati_support_build_error(graph, LEAT_REASON_VALUE,
                                         "leat_model_call: the model is NULL");
    /* The batch's dimension is dropped: building puts an unknown one in its place. */
    leat_shape shape = leat_value_shape(input), row = {.rank = shape.rank - 1};
    if (!model->built) {
        leat_error err = {0};
        if (shape.rank < 1)
            return leati_support_build_error(
                graph, LEAT_REASON_SHAPE,
                "leat_model_call: the input has no batch dimension, or its rank "
                "is unknown; use leat_op_ensure_shape");
        memcpy(row.dims, shape.dims + 1, (size_t)row.rank * sizeof row.dims[0]);
        if (leat_model_build(model, row, &err) != LEAT_OK)
            return leati_graph_error(graph, &err);
    }
    return call_layers(model, input, training);
}

leat_variable *const *leat_model_trainable_variables(const leat_model *model, int *count) {
    *count = model == NULL ? 0 : model->num_trainable;
    return model == NULL ? NULL : model->trainable;
}
