/* Layers, losses, metrics, optimizers, initializers and schedules by name and without variables,
 * for bindings.
 *
 * Happy path: a part is a kind with arguments that were read from JSON; its calls check counts and
 * hand on to what layers, losses, metrics and optimizers with variables use too. Failures:
 * INVALID_ARGUMENT for a part of another sort or another number of values, those of the kinds,
 * memory. Parts are immutable; no locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/json.h"
#include "graph/graph.h"
#include "graph/support/support.h"
#include "train/frame/initializer.h"
#include "train/frame/layer.h"
#include "train/frame/loss.h"
#include "train/frame/metric.h"
#include "train/frame/optimizer.h"
#include "train/frame/schedule.h"
#include "train/frame/weights.h"
#include <string.h>

typedef enum part_sort {
    LAYER = 0,
    LOSS,
    METRIC,
    OPTIMIZER,
    INITIALIZER,
    SCHEDULE,
    NUM_SORTS
} part_sort;

struct leat_part {
    part_sort sort;
    const leati_kind *kind;
    void *args; /* owned */
};

static const struct {
    const char *name;
    const leati_kind *const *(*kinds)(size_t *count);
} sorts[NUM_SORTS] = {
    [LAYER] = {"layer", leati_kinds_layer},
    [LOSS] = {"loss", leati_kinds_loss},
    [METRIC] = {"metric", leati_kinds_metric},
    [OPTIMIZER] = {"optimizer", leati_kinds_optimizer},
    [INITIALIZER] = {"initializer", leati_kinds_initializer},
    [SCHEDULE] = {"schedule", leati_kinds_schedule},
};

/* ---- life ---- */

static leat_status read_args(const leati_kind *kind, const char *config, void **out,
                             leat_error *err) {
    json_t *json = NULL;
    if (config != NULL) {
        json = leati_json_parse(config, strlen(config), err);
        /* Text that is no JSON is refused; without text the defaults are taken. */
        if (json == NULL)
            return LEAT_INVALID_ARGUMENT;
    }
    leat_status status = leati_kind_args_read(kind, json, out, err);
    json_decref(json);
    return status;
}

leat_part *leat_part_new(const char *sort, const char *name, const char *config, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int at = 0;
    size_t count = 0;
    while (at < NUM_SORTS && (sort == NULL || strcmp(sorts[at].name, sort) != 0))
        at++;
    if (at == NUM_SORTS) {
        leati_fail(err, LEAT_NOT_FOUND,
                   "there is no sort \"%.60s\"; there is layer, loss, metric, optimizer, "
                   "initializer and schedule",
                   sort == NULL ? "" : sort);
        return NULL;
    }
    const leati_kind *const *kinds = sorts[at].kinds(&count);
    /* An optimizer without a name is the program's own, which is in no table. */
    const leati_kind *kind = at == OPTIMIZER && name == NULL
                                 ? &leati_optimizer_own.kind
                                 : leati_kind_find(kinds, count, sort, name, err);
    void *args;
    if (kind == NULL || read_args(kind, config, &args, err) != LEAT_OK)
        return NULL;
    leat_part *part = leati_alloc_zero(1, sizeof *part);
    if (part == NULL) {
        leati_kind_args_free(kind, args);
        leati_no_memory(err);
        return NULL;
    }
    *part = (leat_part){.sort = (part_sort)at, .kind = kind, .args = args};
    return part;
}

bool leati_kind_part_is(const leat_part *part, const char *sort) {
    return strcmp(sorts[part->sort].name, sort) == 0;
}

void leat_part_free(leat_part *part) {
    if (part == NULL)
        return;
    leati_kind_args_free(part->kind, part->args);
    leati_free(part);
}

/* The descriptor of a part of this sort; NULL with INVALID_ARGUMENT. */
static const void *kind_of(const leat_part *part, part_sort sort, leat_error *err) {
    if (part != NULL && part->sort == sort)
        return part->kind;
    leati_refuse(err, VALUE, "expected a part that is a %s; found %s%s", sorts[sort].name,
                 part == NULL ? "NULL" : "a ", part == NULL ? "" : sorts[part->sort].name);
    return NULL;
}

/* ---- states ---- */

static const char *dtype_of(const leati_weight *weight) {
    return leat_dtype_name(weight->dtype == LEAT_INVALID ? LEAT_FLOAT32 : weight->dtype);
}

static json_t *describe_state(const leati_weight *weight) {
    json_t *object = json_object();
    if (object != NULL && leati_json_put(object, "name", json_string(weight->name)) &&
        leati_json_put(object, "shape", leati_json_of_shape(&weight->shape)) &&
        leati_json_put(object, "initializer", json_string(weight->initializer)) &&
        leati_json_put(object, "trainable", json_boolean(!weight->fixed)) &&
        leati_json_put(object, "start", leati_json_of_double(weight->start)) &&
        leati_json_put(object, "copies", json_boolean(weight->copies)) &&
        leati_json_put(object, "dtype", json_string(dtype_of(weight))) &&
        leati_json_put(object, "is_seed", json_boolean(weight->is_seed)))
        return object;
    json_decref(object);
    return NULL;
}

/* The states of a metric; without shapes those that do not depend on them. */
static leat_status list_metric_states(const leat_part *part, const leat_shape *inputs,
                                      int num_inputs, leati_weights *out, leat_error *err) {
    const leati_metric_kind *kind = (const leati_metric_kind *)(const void *)part->kind;
    /* A metric can be asked before it has seen values: no shapes at all are fine. */
    if (num_inputs != 0 && num_inputs != kind->num_values)
        return leati_refuse(err, SHAPE, "%s takes %s; %d shapes were given", kind->kind.name,
                            kind->takes, num_inputs);
    return leati_metric_states(kind, part->args, num_inputs == 0 ? NULL : inputs, out, err);
}

static const leati_optimizer_kind *optimizer_of(const leat_part *part) {
    return (const leati_optimizer_kind *)(const void *)part->kind;
}

static leat_status list_states(const leat_part *part, const leat_shape *inputs, int num_inputs,
                               leati_weights *out, leat_error *err) {
    *out = (leati_weights){.count = 0};
    if (part == NULL)
        return leati_refuse(err, VALUE, "the part is NULL");
    if (part->sort == LAYER)
        return leati_layer_weights((const leati_layer_kind *)(const void *)part->kind, part->args,
                                   inputs, num_inputs, out, err);
    if (part->sort == METRIC)
        return list_metric_states(part, inputs, num_inputs, out, err);
    /* Without a variable; kinds whose slots depend on it refuse and name the other function. */
    return part->sort == OPTIMIZER
               ? leati_optimizer_slots(optimizer_of(part), part->args, NULL, out, err)
               : LEAT_OK;
}

/* Owned text; NULL on failure. */
static char *print_states(const leati_weights *states, leat_error *err) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (int i = 0; i < states->count && good; i++)
        good = json_array_append_new(list, describe_state(&states->list[i])) == 0;
    char *text = NULL;
    if (good)
        text = leati_json_print(list, 0, false, err);
    else
        leati_no_memory(err);
    json_decref(list);
    return text;
}

char *leat_part_states_json(const leat_part *part, const leat_shape *inputs, int num_inputs,
                            leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_weights states;
    if (list_states(part, inputs, num_inputs, &states, err) != LEAT_OK)
        return NULL;
    return print_states(&states, err);
}

char *leat_part_slots_json(const leat_part *part, const leat_variable *variable, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_weights slots;
    if (kind_of(part, OPTIMIZER, err) == NULL)
        return NULL;
    if (variable == NULL) {
        leati_refuse(err, VALUE, "the variable is NULL");
        return NULL;
    }
    if (leati_optimizer_slots(optimizer_of(part), part->args, variable, &slots, err) != LEAT_OK)
        return NULL;
    return print_states(&slots, err);
}

/* ---- calls ---- */

/* The graph of the first value, if it and all values can be used; else NULL. */
static leat_graph *graph_of(const leat_value *values, int count) {
    leat_graph *graph = count < 1 || values == NULL ? NULL : values[0].graph;
    /* Values of a failed graph have nothing to be added to, and the graph keeps its first error. */
    if (graph == NULL || graph->error.code != LEAT_OK)
        return NULL;
    for (int i = 0; i < count; i++)
        if (leati_support_value_failed(values[i]))
            return NULL;
    return graph;
}

static leat_value call_layer(const leat_part *part, const leati_pass *pass, int num_weights) {
    const leati_layer_kind *kind = (const leati_layer_kind *)(const void *)part->kind;
    /* On the stack, hence the bound on inputs. */
    leat_shape shapes[LEAT_MAX_OUTPUTS];
    leat_graph *graph = pass->inputs[0].graph;
    leati_weights weights;
    leat_error err = {0};
    if (pass->num_inputs > LEAT_MAX_OUTPUTS)
        leati_refuse(&err, VALUE, "more than %d inputs", LEAT_MAX_OUTPUTS);
    for (int i = 0; i < pass->num_inputs && err.code == LEAT_OK; i++)
        shapes[i] = leat_value_shape(pass->inputs[i]);
    if (err.code == LEAT_OK &&
        leati_layer_weights(kind, part->args, shapes, pass->num_inputs, &weights, &err) ==
            LEAT_OK &&
        weights.count != num_weights)
        leati_refuse(&err, VALUE, "%d weights were given; expected %d", num_weights, weights.count);
    for (int i = 0; i < num_weights && pass->updates != NULL; i++)
        /* Also where the call is refused below: an update that nobody sets is a failed value. */
        pass->updates[i] = (leat_value){.graph = graph, .id = -1};
    if (err.code != LEAT_OK)
        return leati_graph_error(graph, &err);
    leat_value output = leati_layer_pass(kind, pass);
    if (graph->error.code != LEAT_OK)
        leati_prefix(&graph->error, "layer %s", kind->kind.name);
    return output;
}

/* The last value is a mask if it is bool; what is left behind labels and predictions are weights.
 */
static leat_value call_loss(const leat_part *part, const leat_value *inputs, int num_inputs) {
    const leati_loss_kind *kind = (const leati_loss_kind *)(const void *)part->kind;
    leat_error err = {0};
    /* Keras' weights are numbers, so a bool behind labels and predictions can only be a mask. */
    bool masked = num_inputs > 2 && leat_value_dtype(inputs[num_inputs - 1]) == LEAT_BOOL;
    int numbers = masked ? num_inputs - 1 : num_inputs;
    if (numbers == 2 || numbers == 3)
        return leati_loss_pass(kind, part->args, inputs[0], inputs[1],
                               numbers == 3 ? &inputs[2] : NULL, masked ? &inputs[numbers] : NULL);
    leati_refuse(&err, STRUCTURE,
                 "a loss takes labels, predictions, maybe weights and maybe a mask; %d values were "
                 "given",
                 num_inputs);
    return leati_graph_error(inputs[0].graph, &err);
}

/* What a metric takes the mean of. */
static leat_value call_metric(const leat_part *part, const leat_value *inputs, int num_inputs) {
    const leati_metric_kind *kind = (const leati_metric_kind *)(const void *)part->kind;
    leat_error err = {0};
    if (kind->values != NULL && num_inputs == kind->num_values)
        return leat_op_cast(kind->values(part->args, inputs), LEAT_FLOAT32);
    leati_refuse(&err, VALUE,
                 kind->values == NULL ? "%s is no mean of values; update its states"
                                      : "%s takes %s alone",
                 kind->kind.name, kind->takes);
    return leati_graph_error(inputs[0].graph, &err);
}

leat_value leat_part_call(const leat_part *part, const leat_value *inputs, int num_inputs,
                          const leat_value *weights, int num_weights, bool training,
                          leat_value *updates) {
    leat_graph *graph = graph_of(inputs, num_inputs);
    leat_value failed = {.graph = num_inputs < 1 ? NULL : inputs[0].graph, .id = -1};
    leat_error err = {0};
    if (graph == NULL || (num_weights > 0 && graph_of(weights, num_weights) == NULL))
        return failed;
    if (part != NULL && part->sort == LOSS)
        return call_loss(part, inputs, num_inputs);
    if (part != NULL && part->sort == SCHEDULE && num_inputs == 1)
        return leati_schedule_rate((const leati_schedule_kind *)(const void *)part->kind,
                                   part->args, inputs[0]);
    if (part != NULL && part->sort == METRIC)
        return call_metric(part, inputs, num_inputs);
    if (kind_of(part, LAYER, &err) == NULL)
        /* A wrong part fails the graph that would have held its operations. */
        return leati_graph_error(graph, &err);
    const leati_pass pass = {.args = part->args,
                             .inputs = inputs,
                             .num_inputs = num_inputs,
                             .weights = weights,
                             .updates = updates,
                             .training = training};
    return call_layer(part, &pass, num_weights);
}

void leat_part_update(const leat_part *part, const leat_value *values, int num_values,
                      const leat_value *states, int num_states, leat_value *updates) {
    leat_graph *graph = graph_of(values, num_values);
    leati_weights wanted;
    leat_error err = {0};
    if (graph == NULL || (num_states > 0 && graph_of(states, num_states) == NULL))
        return;
    const leati_metric_kind *kind = kind_of(part, METRIC, &err);
    if (kind == NULL) {
        leati_graph_error(graph, &err);
        return;
    }
    leat_shape shapes[2] = {LEAT_SCALAR, LEAT_SCALAR};
    /* Sample weights follow the values and do not decide the shapes of states. */
    for (int i = 0; i < num_values && i < 2; i++)
        shapes[i] = leat_value_shape(values[i]);
    if (leati_metric_states(kind, part->args, shapes, &wanted, &err) == LEAT_OK &&
        ((num_values != kind->num_values && num_values != kind->num_values + 1) ||
         num_states != wanted.count))
        leati_refuse(
            &err, STRUCTURE,
            "%s takes %s, sample weights if there are any, and %d states; %d values and %d "
            "states were given",
            kind->kind.name, kind->takes, wanted.count, num_values, num_states);
    if (err.code != LEAT_OK) {
        leati_graph_error(graph, &err);
        return;
    }
    for (int i = 0; i < num_states; i++)
        updates[i] = (leat_value){.graph = graph, .id = -1};
    bool weighted = num_values > kind->num_values;
    const leati_pass pass = {.args = part->args,
                             .inputs = values,
                             .num_inputs = kind->num_values,
                             .sample_weight = weighted ? &values[kind->num_values] : NULL,
                             .weights = states,
                             .updates = updates};
    leati_metric_pass(kind, &pass);
}

leat_value leat_part_result(const leat_part *part, const leat_value *states, int num_states) {
    leat_graph *graph = graph_of(states, num_states);
    leat_value failed = {.graph = num_states < 1 ? NULL : states[0].graph, .id = -1};
    leati_weights wanted;
    leat_error err = {0};
    if (graph == NULL)
        return failed;
    /* Checked after the graph: without states there is nowhere to report to. */
    const leati_metric_kind *kind = kind_of(part, METRIC, &err);
    if (kind == NULL)
        return leati_graph_error(graph, &err);
    /* Only the number of states is compared, and that does not depend on shapes. */
    const leat_shape any[2] = {LEAT_SHAPE(1, 1), LEAT_SHAPE(1, 1)};
    if (leati_metric_states(kind, part->args, any, &wanted, &err) != LEAT_OK)
        return leati_graph_error(graph, &err);
    if (num_states == wanted.count)
        return leati_metric_result_of(kind, part->args, states);
    leati_refuse(&err, STRUCTURE, "%s keeps %d states; %d were given", kind->kind.name,
                 wanted.count, num_states);
    return leati_graph_error(graph, &err);
}

/* ---- optimizers ---- */

/* Counts the slots of each variable into `counts`. */
static leat_status check_application(const leat_part *part, const leat_application *given,
                                     const leat_own_updates *own, int *counts, leat_error *err) {
    int total = 0, number = 0, num_variables = given->count + (own == NULL ? 0 : own->num_idle);
    const struct {
        leat_variable *const *list;
        int count;
    } lists[] = {{given->variables, num_variables},
                 {given->slots, given->num_slots},
                 {own == NULL ? NULL : own->others, own == NULL ? 0 : own->num_others},
                 {&given->iterations, 1}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        /* Counted on over all lists, so the message gives the place in their sequence. */
        for (int i = 0; i < lists[k].count; i++, number++)
            if (lists[k].list[i] == NULL)
                return leati_refuse(err, VALUE, "variable or slot %d is NULL", number);
    if ((optimizer_of(part)->update == NULL) != (own != NULL && own->update != NULL))
        return leati_refuse(
            err, VALUE, "an optimizer of a program's own, and no other, takes a function `update`");
    for (int i = 0; i < num_variables; i++) {
        leati_weights wanted;
        LEATI_TRY(leati_optimizer_slots(optimizer_of(part), part->args, given->variables[i],
                                        &wanted, err));
        counts[i] = wanted.count;
        total += wanted.count;
    }
    /* The scalar that a kind's variables share stands behind all slots. */
    total += optimizer_of(part)->begin != NULL;
    if (given->num_slots == total)
        return LEAT_OK;
    return leati_refuse(err, STRUCTURE,
                        "%d slots were given for %d variables; %s keeps %d for them",
                        given->num_slots, num_variables, part->kind->name, total);
}

static leat_status apply(const leat_part *part, const leat_application *given,
                         const leat_own_updates *own, leat_graph *graph, leat_error *err) {
    if (kind_of(part, OPTIMIZER, err) == NULL)
        return LEAT_INVALID_ARGUMENT;
    size_t count = (size_t)given->count;
    size_t num_variables = count + (own == NULL ? 0 : (size_t)own->num_idle);
    leat_value *gradients = leati_alloc(count, sizeof *gradients);
    /* Zeros, as leati_optimizer_slots_sort counts on: it sets only what is in use. */
    leati_slots *slots = leati_alloc_zero(num_variables, sizeof *slots);
    int *counts = leati_alloc(num_variables, sizeof *counts);
    leat_status status = LEAT_OK;
    if (gradients == NULL || slots == NULL || counts == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK)
        status = check_application(part, given, own, counts, err);
    /* The copy follows the check, since a count that is wrong must not be read through. */
    if (status == LEAT_OK) {
        memcpy(gradients, given->gradients, count * sizeof *gradients);
        leat_variable *const *next = given->slots;
        for (size_t i = 0; i < num_variables; i++) {
            slots[i].variable = given->variables[i];
            leati_optimizer_slots_sort(part->args, next, counts[i], &slots[i]);
            /* Kinds without slots may be given no list at all. */
            next = next == NULL ? NULL : next + counts[i];
        }
        const leati_application application = {
            .kind = optimizer_of(part),
            .args = part->args,
            .graph = graph,
            .slots = slots,
            .gradients = gradients,
            .keeps = given->keeps,
            .alone = given->alone,
            .own = own,
            .count = given->count,
            /* The check counted it in, so there is a last one. */
            .common = optimizer_of(part)->begin == NULL ? NULL : given->slots[given->num_slots - 1],
            .iterations = given->iterations,
            .learning_rate = given->learning_rate};
        status = leati_optimizer_apply(&application, err);
    }
    leati_free(gradients);
    leati_free(slots);
    leati_free(counts);
    return status;
}

void leat_part_apply(const leat_part *part, const leat_application *application) {
    leat_part_apply_own(part, application, NULL);
}

void leat_part_apply_own(const leat_part *part, const leat_application *application,
                         const leat_own_updates *own) {
    leat_graph *graph =
        application == NULL ? NULL : graph_of(application->gradients, application->count);
    leat_error err = {0};
    /* Gradients were looked at by graph_of; the rate is a value of its own. */
    if (graph == NULL || leati_support_value_failed(application->learning_rate))
        return;
    if (apply(part, application, own, graph, &err) == LEAT_OK)
        return;
    leati_prefix(&err, "leat_part_apply");
    leati_graph_error(graph, &err);
}

leat_status leat_part_initialize(const leat_part *part, int64_t seed, leat_shape shape,
                                 leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const leati_initializer_kind *kind = kind_of(part, INITIALIZER, err);
    if (kind == NULL)
        return LEAT_INVALID_ARGUMENT;
    return leati_initializer_run(kind, part->args, seed, &shape, out, err);
}

/* ---- what bindings need beside ---- */

leat_variable *leat_variable_like(const leat_variable *like, const char *name,
                                  const leat_tensor *initial, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_variable *variable = NULL;
    if (like == NULL || initial == NULL) {
        leati_refuse(err, VALUE, "the variable or the initial value is NULL");
        return NULL;
    }
    return leati_weights_variable_like(like, name, initial, &variable, err) == LEAT_OK ? variable
                                                                                       : NULL;
}
