/* What all layers share: making, building with checked shapes, calling, weights.
 *
 * A layer draws the seed of its weights when it is made, so weights do not depend on when layers
 * are built; it is built once, at its first call, for the shape that it meets. Failures:
 * INVALID_ARGUMENT naming the layer, what it expects, what it was given and which layer gave it;
 * what the operations of the layer report, with its name. Layers belong to one thread; no locks. */
#include "train/frame/layer.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/spec.h"
#include "graph/graph.h"
#include "graph/support/support.h"
#include <string.h>
#include <strings.h>

static leat_layer *layer_of_args(const leati_layer_kind *kind, void *args, leat_error *err) {
    const char *name = ((struct leati_layer_args *)args)->name;
    leat_layer *layer = leati_alloc_zero(1, sizeof *layer);
    /* A copy, because the model may give the layer another name and the arguments stay as they were
     * given. */
    char *own = leati_strdup(name != NULL ? name : kind->prefix);
    if (layer == NULL || own == NULL) {
        leati_free(layer);
        leati_free(own);
        leati_kind_args_free(&kind->kind, args);
        leati_no_memory(err);
        return NULL;
    }
    *layer = (leat_layer){.kind = kind, .args = args, .name = own};
    if (kind->seed != NULL) {
        leati_seed_argument seed = kind->seed(args);
        /* Drawn now and not when built: the order of construction decides, not that of calls. */
        layer->seed = seed.given ? seed.value : leati_random_layer_seed();
    }
    return layer;
}

leat_layer *leati_layer_new(const leati_layer_kind *kind, const void *args, leat_error *err) {
    void *copy;
    if (leati_kind_args_copy(&kind->kind, args, &copy, err) != LEAT_OK)
        return NULL;
    return layer_of_args(kind, copy, err);
}

leat_layer *leati_layer_from_json(const char *name, const json_t *config, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_layer(&count);
    const leati_kind *kind = leati_kind_find(kinds, count, "layer", name, err);
    void *args;
    if (kind == NULL || leati_kind_args_read(kind, config, &args, err) != LEAT_OK)
        return NULL;
    return layer_of_args((const leati_layer_kind *)(const void *)kind, args, err);
}

void leati_layer_unbuild(leat_layer *layer) {
    for (int i = 0; i < layer->num_weights; i++)
        leat_variable_unref(layer->weights[i]);
    layer->num_weights = 0;
    layer->built = false;
}

void leat_layer_free(leat_layer *layer) {
    if (layer == NULL)
        return;
    leati_layer_unbuild(layer);
    /* Before the arguments are freed, because it reads them. */
    if (layer->kind->release != NULL)
        layer->kind->release(layer->args);
    leati_kind_args_free(&layer->kind->kind, layer->args);
    leati_free(layer->name);
    leati_free(layer);
}

leat_status leati_layer_rename(leat_layer *layer, const char *name, leat_error *err) {
    char *own = leati_strdup(name);
    if (own == NULL)
        return leati_no_memory(err);
    leati_free(layer->name);
    layer->name = own;
    return LEAT_OK;
}

/* ---- shapes ---- */

/* Who gave a layer its input, for messages. */
static const char *origin(const leat_layer *before, char text[128]) {
    leat_error cut = {0};
    if (before == NULL)
        return "the model's input";
    /* Used as a formatter that cuts; no failure is reported by it. */
    leati_fail(&cut, LEAT_OK, "the output of layer \"%.80s\"", before->name);
    memcpy(text, cut.text, 127);
    text[127] = '\0';
    return text;
}

static leat_status fail_shape(const leat_layer *layer, const leat_shape *input,
                              const leat_layer *before, leat_error *err) {
    char given[128], built[128], from[128];
    if (layer->built)
        return leati_refuse(
            err, SHAPE,
            "layer \"%.80s\" (%s) was built for inputs of shape %s and is given %s, "
            "%s; make another layer, or give it that shape again",
            layer->name, layer->kind->kind.name, leati_shape_text(&layer->input, built),
            leati_shape_text(input, given), origin(before, from));
    return leati_refuse(err, SHAPE,
                        "layer \"%.80s\" (%s) expects an input of shape %s and is given %s, %s",
                        layer->name, layer->kind->kind.name, layer->kind->expects,
                        leati_shape_text(input, given), origin(before, from));
}

static bool shape_fits(const leat_layer *layer, const leat_shape *input) {
    const leati_layer_kind *kind = layer->kind;
    if (kind->rank > 0 ? input->rank != kind->rank : input->rank < kind->min_rank)
        return false;
    if (!kind->fixed_last)
        return true;
    int64_t last = input->dims[input->rank - 1];
    int64_t want = layer->built ? layer->input.dims[layer->input.rank - 1] : last;
    /* An unknown last dimension (-1) does not fit either: weights need its size. */
    return last > 0 && last == want;
}

/* ---- without variables ---- */

/* What the rows cannot say about several inputs. */
static leat_status check_inputs(const leati_layer_kind *kind, int num_inputs, leat_error *err) {
    if (kind->merges ? num_inputs >= 1 : num_inputs == 1 || (kind->labels && num_inputs == 2))
        return LEAT_OK;
    return leati_refuse(err, STRUCTURE, "%s takes %s; %d inputs were given", kind->kind.name,
                        kind->merges ? "one input or more" : "one input", num_inputs);
}

leat_status leati_layer_weights(const leati_layer_kind *kind, const void *args,
                                const leat_shape *inputs, int num_inputs, leati_weights *out,
                                leat_error *err) {
    const char *name = ((const struct leati_layer_args *)args)->name;
    /* A layer that is only asked: not built, so shape_fits compares with the kind alone. */
    const leat_layer layer = {.kind = kind,
                              .name = leati_kind_borrow_text(name != NULL ? name : kind->prefix)};
    LEATI_TRY(check_inputs(kind, num_inputs, err));
    /* A second input of other kinds is labels, which have a shape of their own. */
    for (int i = 0; i < (kind->merges ? num_inputs : 1); i++)
        if (!shape_fits(&layer, &inputs[i]))
            return fail_shape(&layer, &inputs[i], NULL, err);
    *out = (leati_weights){.count = 0};
    if (kind->weights == NULL)
        return LEAT_OK;
    leat_status status = kind->weights(args, &inputs[0], out, err);
    if (status != LEAT_OK)
        leati_prefix(err, "layer \"%.80s\" (%s)", layer.name, kind->kind.name);
    return status;
}

leat_value leati_layer_pass(const leati_layer_kind *kind, const leati_pass *pass) {
    leat_graph *graph = pass->inputs[0].graph;
    leat_value failed = {.graph = graph, .id = -1};
    /* Not read by the caller: a failure becomes the graph's. */
    leat_error err = {0};
    if (check_inputs(kind, pass->num_inputs, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    return graph->error.code != LEAT_OK ? failed : kind->call(pass);
}

/* ---- with variables ---- */

/* The first value of a weight. */
static leat_status first_value(const leat_layer *layer, const leati_weight *weight,
                               leat_tensor *out, leat_error *err) {
    if (weight->is_seed) {
        LEATI_TRY(leat_tensor_new(LEAT_INT64, weight->shape, out, err));
        memset(out->data, 0, leat_tensor_bytes(out));
        /* The second number, how often it was drawn from, starts at 0. */
        *(int64_t *)out->data = layer->seed;
        return LEAT_OK;
    }
    const leati_initializer_kind *kind = leati_initializer_find(weight->initializer, err);
    if (kind == NULL)
        return LEAT_NOT_FOUND;
    /* All weights of a layer are drawn from its one seed. */
    return leati_initializer_run(kind, NULL, layer->seed, &weight->shape, out, err);
}

/* A new weight "<layer>/<name>". */
static leat_status add_weight(leat_layer *layer, const leati_weight *weight, leat_error *err) {
    leati_text path = {0};
    leati_text_addf(&path, "%s/%s", layer->name, weight->name);
    /* Zero, so that it can be released also where it was never made. */
    leat_tensor initial = {0};
    leat_status status = path.failed ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = first_value(layer, weight, &initial, err);
    if (status == LEAT_OK) {
        leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = path.data};
        options.trainable = !weight->fixed;
        leat_error own = {0};
        leat_variable *variable = leat_variable_new(&initial, &options, &own);
        if (variable == NULL)
            status = leati_error_pass(err, &own);
        else
            layer->weights[layer->num_weights++] = variable;
    }
    leat_tensor_unref(&initial);
    leati_text_fini(&path);
    return status;
}

leat_status leati_layer_build(leat_layer *layer, const leat_shape *input, const leat_layer *before,
                              leat_error *err) {
    if (!shape_fits(layer, input))
        return fail_shape(layer, input, before, err);
    if (layer->built)
        return LEAT_OK;
    layer->input = *input;
    /* Another batch size is no other shape: only the batch's dimension is forgotten. */
    if (input->rank > 0)
        layer->input.dims[0] = LEAT_UNKNOWN_DIM;
    leati_weights weights = {.count = 0};
    leat_status status = LEAT_OK;
    if (layer->kind->weights != NULL)
        status = layer->kind->weights(layer->args, &layer->input, &weights, err);
    for (int i = 0; i < weights.count && status == LEAT_OK; i++)
        status = add_weight(layer, &weights.list[i], err);
    if (status != LEAT_OK) {
        leati_prefix(err, "layer \"%.80s\" (%s)", layer->name, layer->kind->kind.name);
        /* Weights that were made before the failure go too: the layer can be built again. */
        leati_layer_unbuild(layer);
        return status;
    }
    layer->built = true;
    return LEAT_OK;
}

/* Reads the weights, calls the kind, assigns the weights that it changes. */
static leat_value call_with_variables(leat_layer *layer, const leat_value *inputs, int num_inputs,
                                      bool training) {
    leat_graph *graph = inputs[0].graph;
    leat_value weights[LEATI_MAX_WEIGHTS], updates[LEATI_MAX_WEIGHTS];
    for (int i = 0; i < layer->num_weights; i++) {
        weights[i] = leat_graph_read(graph, layer->weights[i]);
        /* Failed until the kind sets one: what stays failed is not assigned below. */
        updates[i] = (leat_value){.graph = graph, .id = -1};
    }
    const leati_pass pass = {.args = layer->args,
                             .inputs = inputs,
                             .num_inputs = num_inputs,
                             .weights = weights,
                             .updates = updates,
                             .training = training};
    leat_value output = leati_layer_pass(layer->kind, &pass);
    for (int i = 0; i < layer->num_weights; i++)
        if (updates[i].id >= 0)
            leat_graph_assign(graph, layer->weights[i], updates[i]);
    return output;
}

leat_value leati_layer_call(leat_layer *layer, const leat_value *inputs, int num_inputs,
                            bool training, const leat_layer *before) {
    leat_graph *graph = inputs[0].graph;
    leat_value failed = {.graph = graph, .id = -1};
    if (graph == NULL || graph->error.code != LEAT_OK)
        return failed;
    for (int i = 0; i < num_inputs; i++)
        if (leati_support_value_failed(inputs[i]))
            return failed;
    leat_error err = {0};
    /* A layer that merges is built for its first input's shape; its operations check the others. */
    leat_shape shape = leat_value_shape(inputs[0]);
    if (leati_layer_build(layer, &shape, before, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    leat_value output = call_with_variables(layer, inputs, num_inputs, training);
    /* The operation that failed does not know which layer it belongs to. */
    if (graph->error.code != LEAT_OK) {
        char given[128], from[128];
        leati_prefix(&graph->error, "layer \"%.80s\" (%s), given %s, %s", layer->name,
                     layer->kind->kind.name, leati_shape_text(&shape, given), origin(before, from));
    }
    return output;
}

/* ---- weights ---- */

leat_variable *leati_layer_weight(const leat_layer *layer, const char *name) {
    for (int i = 0; i < layer->num_weights; i++) {
        /* The path is "<layer>/<weight>", and the layer's name may have slashes itself. */
        const char *slash = strrchr(leat_variable_name(layer->weights[i]), '/');
        if (slash != NULL && strcmp(slash + 1, name) == 0)
            return layer->weights[i];
    }
    return NULL;
}

/* ---- arguments that several layers have ---- */

void leati_layer_numbers_of(const leati_ints *ints, int64_t standard, int count, int64_t *out) {
    for (int i = 0; i < count; i++)
        if (ints->count > i)
            out[i] = ints->values[i];
        else
            /* One number counts for all directions; a shorter list repeats its last. */
            out[i] = i > 0 ? out[i - 1] : standard;
}

leat_status leati_layer_check_numbers(const leati_ints *ints, const char *name, int count,
                                      leat_error *err) {
    if (ints->count <= 1 || ints->count == count)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "%s has %d numbers; expected one, or one for each of %d directions", name,
                        (int)ints->count, count);
}

leat_value leati_layer_numbers_value(leat_value like, const leati_floats *numbers) {
    leat_error err = {0};
    leat_tensor vector = {0};
    /* As float64 first: the cast to the value's dtype then rounds once. */
    if (leat_tensor_new(LEAT_FLOAT64, LEAT_SHAPE(numbers->count), &vector, &err) != LEAT_OK)
        return leati_graph_error(like.graph, &err);
    memcpy(vector.data, numbers->values, leat_tensor_bytes(&vector));
    leat_value out = leat_op_cast(leat_graph_tensor(like.graph, &vector), leat_value_dtype(like));
    leat_tensor_unref(&vector);
    return out;
}

static const char *const paddings[] = {[LEAT_VALID] = "valid", [LEAT_SAME] = "same"};

const char *leati_layer_padding_name(leat_padding padding) {
    return padding == LEAT_VALID || padding == LEAT_SAME ? paddings[padding]
                                                         : "of an unknown number";
}

leat_padding leati_layer_padding_of(const char *name) {
    /* Anything but "same" counts as valid; check_padding compares with the result. */
    return name != NULL && strcasecmp(name, paddings[LEAT_SAME]) == 0 ? LEAT_SAME : LEAT_VALID;
}

leat_status leati_layer_check_padding(const char *name, leat_error *err) {
    /* The name is compared with the spelling that it would be taken for. */
    if (name != NULL && strcasecmp(name, paddings[leati_layer_padding_of(name)]) == 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "padding \"%.60s\"; expected valid or same",
                        name == NULL ? "" : name);
}

bool leati_layer_channels_first(const char *data_format) {
    return data_format != NULL && strcmp(data_format, "channels_first") == 0;
}

leat_status leati_layer_check_data_format(const char *data_format, leat_error *err) {
    if (data_format == NULL || strcmp(data_format, "channels_last") == 0 ||
        leati_layer_channels_first(data_format))
        return LEAT_OK;
    return leati_refuse(
        err, VALUE, "data_format \"%.60s\"; expected channels_last or channels_first", data_format);
}

leat_status leati_layer_check_channels_last(const char *data_format, leat_error *err) {
    LEATI_TRY(leati_layer_check_data_format(data_format, err));
    if (!leati_layer_channels_first(data_format))
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "data_format \"%.60s\"; pictures have their channels last: transpose them",
                      data_format);
}
