/* Layers by Keras' name, and layers of a program's own.
 *
 * A program's layer is one kind whose arguments are the program's functions. Failures: those of the
 * functions, a list of weights that is full, names and arguments that are not there. No locks:
 * calls of the functions are the caller's. */
#include "base/error.h"
#include "core/json.h"
#include "graph/support/support.h"
#include "train/frame/layer.h"
#include <string.h>

leat_layer *leat_layer_named(const char *name, const char *config, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    json_t *json = NULL;
    if (config != NULL) {
        json = leati_json_parse(config, strlen(config), err);
        if (json == NULL)
            return NULL;
    }
    leat_layer *layer = leati_layer_from_json(name == NULL ? "" : name, json, err);
    json_decref(json);
    return layer;
}

/* ---- layers of a program's own ---- */

struct leat_weight_list {
    leati_weights *weights;
};

struct custom_args {
    char *name; /* first: struct leati_layer_args */
    leat_layer_description description;
};

static const leati_row custom_rows[] = {LEATI_LAYER_NAME, {0}};

leat_status leat_weight_list_add(leat_weight_list *list, const char *name, leat_shape shape,
                                 const char *initializer, bool trainable, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (list->weights->count == LEATI_MAX_WEIGHTS)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "weight \"%.60s\" is one too many: a layer has at most %d", name,
                          LEATI_MAX_WEIGHTS);
    /* `name` and `initializer` are borrowed: they are read until the layer is built. */
    list->weights->list[list->weights->count++] = (leati_weight){
        .name = name, .shape = shape, .initializer = initializer, .fixed = !trainable};
    return LEAT_OK;
}

static leat_status custom_weights(const void *arguments, const leat_shape *input,
                                  leati_weights *out, leat_error *err) {
    const leat_layer_description *own = &((const struct custom_args *)arguments)->description;
    leat_weight_list list = {.weights = out};
    return own->weights == NULL ? LEAT_OK : own->weights(own->data, *input, &list, err);
}

static leat_value custom_call(const leati_pass *pass) {
    const leat_layer_description *own = &((const struct custom_args *)pass->args)->description;
    return own->call(own->data, pass->inputs, pass->num_inputs, pass->weights, pass->training,
                     pass->updates);
}

static void custom_release(void *arguments) {
    const leat_layer_description *own = &((const struct custom_args *)arguments)->description;
    if (own->release != NULL)
        own->release(own->data);
}

static leati_seed_argument custom_seed(const void *args) {
    /* The kind has a seed function, though no argument, because it may have weights to draw. */
    (void)args;
    return (leati_seed_argument){.given = false};
}

static const leati_layer_kind custom_kind = {
    .kind =
        {
            .name = "Custom",
            .doc = "A layer of a program's own.",
            .rows = custom_rows,
            .args_size = sizeof(struct custom_args),
        },
    .prefix = "custom",
    /* The program's function decides how many inputs it takes, so any number is let through. */
    .merges = true,
    .expects = "what its function takes",
    .seed = custom_seed,
    .weights = custom_weights,
    .call = custom_call,
    .release = custom_release,
};

leat_layer *leat_layer_custom(const leat_layer_description *description, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (description == NULL || description->call == NULL) {
        leati_refuse(err, VALUE, "a layer of one's own has no function `call`");
        return NULL;
    }
    const struct custom_args args = {.name = leati_kind_borrow_text(description->name)};
    leat_layer *layer = leati_layer_new(&custom_kind, &args, err);
    if (layer != NULL)
        /* Set after the layer is made: if making it fails, the program's data stays its own. */
        ((struct custom_args *)layer->args)->description = *description;
    return layer;
}
