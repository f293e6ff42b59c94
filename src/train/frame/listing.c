/* The six tables as JSON, for bindings that offer each line under Keras' name with Keras'
 * parameters.
 *
 * Happy path: the words of a kind's signature become a list of objects. Failures: memory alone, for
 * which JSON in a signature that does not parse counts too. No locks. */
#include "base/error.h"
#include "core/json.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include "train/frame/optimizer.h"
#include <leat/train.h>
#include <string.h>

/* Adds `item` (given; NULL: no memory) to a list. */
static bool append(json_t *list, json_t *item) {
    return json_array_append_new(list, item) == 0;
}

/* NAME or NAME=JSON. */
static json_t *describe_word(const char *word, size_t size) {
    const char *equals = memchr(word, '=', size);
    size_t name = equals == NULL ? size : (size_t)(equals - word);
    json_t *object = json_object();
    bool good = object != NULL && leati_json_put(object, "name", json_stringn(word, name));
    if (good && equals != NULL) {
        /* Signatures are the library's own text: only a mistake in a table does not parse. */
        leat_error ignored = {0};
        good = leati_json_put(object, "default",
                              leati_json_parse(equals + 1, size - name - 1, &ignored));
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *describe_signature(const char *text) {
    /* null tells the binding that the rows are the signature; "" gives an empty list, no
     * parameters. */
    if (text == NULL)
        return json_null();
    json_t *list = json_array();
    bool good = list != NULL;
    for (text += strspn(text, " "); good && *text != '\0'; text += strspn(text, " ")) {
        size_t size = strcspn(text, " ");
        good = append(list, describe_word(text, size));
        text += size;
    }
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static bool put_layer(json_t *object, const leati_kind *kind) {
    const leati_layer_kind *layer = (const leati_layer_kind *)(const void *)kind;
    return leati_json_put(object, "prefix", json_string(layer->prefix)) &&
           leati_json_put(object, "merges", json_boolean(layer->merges)) &&
           leati_json_put(object, "weights", json_boolean(layer->weights != NULL)) &&
           leati_json_put(object, "freezes", json_boolean(layer->freezes)) &&
           leati_json_put(object, "takes_integers", json_boolean(layer->takes_integers)) &&
           leati_json_put(object, "prepares", json_boolean(layer->prepares)) &&
           leati_json_put(object, "masks", json_boolean(layer->masks)) &&
           leati_json_put(object, "labels", json_boolean(layer->labels)) &&
           leati_json_put(object, "rank", json_integer(layer->rank)) &&
           leati_json_put(object, "min_rank", json_integer(layer->min_rank)) &&
           leati_json_put(object, "fixed_last", json_boolean(layer->fixed_last));
}

static bool put_loss(json_t *object, const leati_kind *kind) {
    static const char *const names[] = {"predictions", "classes", "sequences"};
    const leati_loss_kind *loss = (const leati_loss_kind *)(const void *)kind;
    return leati_json_put(object, "labels", json_string(names[loss->labels]));
}

static bool put_metric(json_t *object, const leati_kind *kind) {
    const leati_metric_kind *metric = (const leati_metric_kind *)(const void *)kind;
    return leati_json_put(object, "prefix", json_string(metric->prefix)) &&
           leati_json_put(object, "values", json_integer(metric->num_values)) &&
           leati_json_put(object, "takes", json_string(metric->takes)) &&
           leati_json_put(object, "is_mean", json_boolean(metric->values != NULL)) &&
           leati_json_put(object, "keeps_dtypes", json_boolean(metric->keeps_dtypes));
}

static bool put_optimizer(json_t *object, const leati_kind *kind) {
    const leati_optimizer_kind *optimizer = (const leati_optimizer_kind *)(const void *)kind;
    return leati_json_put(object, "by_variable", json_boolean(optimizer->slots_of != NULL)) &&
           leati_json_put(object, "shares", json_boolean(optimizer->begin != NULL));
}

static bool put_initializer(json_t *object, const leati_kind *kind) {
    const leati_initializer_kind *initializer = (const leati_initializer_kind *)(const void *)kind;
    return leati_json_put(object, "identifier", json_string(initializer->identifier)) &&
           leati_json_put(object, "random", json_boolean(initializer->random));
}

static json_t *describe(const leati_kind *kind, bool (*put)(json_t *, const leati_kind *)) {
    json_t *object = json_object();
    if (object != NULL && leati_json_put(object, "name", json_string(kind->name)) &&
        leati_json_put(object, "doc", json_string(kind->doc)) &&
        leati_json_put(object, "arguments", leati_json_describe_rows(kind->rows)) &&
        leati_json_put(object, "signature", describe_signature(kind->signature)) &&
        leati_json_put(object, "config",
                       kind->config == NULL ? json_null() : json_string(kind->config)) &&
        (put == NULL || put(object, kind)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *describe_table(const leati_kind *const *kinds, size_t count,
                              bool (*put)(json_t *, const leati_kind *)) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < count && good; i++)
        good = append(list, describe(kinds[i], put));
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

char *leat_parts_json(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    static const struct {
        const char *name;
        const leati_kind *const *(*kinds)(size_t *count);
        bool (*put)(json_t *object, const leati_kind *kind);
    } tables[] = {
        {"layers", leati_kinds_layer, put_layer},
        {"losses", leati_kinds_loss, put_loss},
        {"metrics", leati_kinds_metric, put_metric},
        {"optimizers", leati_kinds_optimizer, put_optimizer},
        {"initializers", leati_kinds_initializer, put_initializer},
        {"schedules", leati_kinds_schedule, NULL},
    };
    json_t *root = json_object();
    bool good = root != NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && good; i++) {
        size_t count;
        const leati_kind *const *kinds = tables[i].kinds(&count);
        good = leati_json_put(root, tables[i].name, describe_table(kinds, count, tables[i].put));
    }
    char *text = NULL;
    if (good)
        text = leati_json_print(root, 0, false, err);
    else
        leati_no_memory(err);
    json_decref(root);
    return text;
}
