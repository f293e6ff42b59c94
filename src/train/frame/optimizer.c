/* What all optimizers share: variables of their own, the sum of gradients over replicas, clipping,
 * weight decay, accumulation, moving averages, the counter of steps.
 *
 * Happy path of an application, traced once into a step: gradients are summed over replicas (only
 * where the variables have copies on several), then clipped, and each variable is decayed and
 * updated; every replica does the same to its own copy, so the copies stay equal. Clipping comes
 * after the sum, so a run does not depend on the number of replicas. The optimizer's variables are
 * made at the first application and lie where the variables lie that they belong to. Failures: the
 * graph's; a variable that cannot be made leaves the optimizer as it was. An optimizer belongs to
 * one thread; no locks. */
#include "train/frame/optimizer.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/text.h"
#include "core/json.h"
#include "graph/support/support.h"
#include "graph/variable.h"
#include "train/frame/weights.h"
#include <string.h>

struct leat_optimizer {
    const leati_optimizer_kind *kind;
    void *args;                                /* owned */
    leat_variable *iterations, *learning_rate; /* owned; NULL before the first application */
    leat_variable *common;                     /* the same; NULL also where the kind shares none */
    leat_part *schedule;                       /* owned; NULL: the rate is a variable */
    leati_slots *slots;                        /* references, also to the variables themselves */
    size_t num_slots, slot_capacity;
    leat_variable **variables; /* all of the above, borrowed */
    size_t num_variables, variable_capacity;
};

static const struct leati_optimizer_args *shared_args(const leat_optimizer *optimizer) {
    return optimizer->args;
}

leat_status leati_optimizer_check(const void *arguments, leat_error *err) {
    const struct leati_optimizer_args *args = arguments;
    const double numbers[] = {args->learning_rate, args->weight_decay, args->clipnorm,
                              args->global_clipnorm, args->clipvalue};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        /* Written so that NaN is refused too. */
        if (!(numbers[i] >= 0))
            return leati_refuse(
                err, VALUE,
                "learning_rate %g, weight_decay %g, clipnorm %g, global_clipnorm %g, "
                "clipvalue %g; expected no negative number",
                numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    if ((args->clipnorm > 0) + (args->global_clipnorm > 0) + (args->clipvalue > 0) > 1)
        return leati_refuse(err, VALUE,
                            "only one of clipnorm, global_clipnorm and clipvalue can be set");
    if (!(args->ema_momentum >= 0 && args->ema_momentum <= 1))
        return leati_refuse(err, VALUE, "ema_momentum is %g; expected 0 to 1", args->ema_momentum);
    return LEAT_OK;
}

leat_status leati_optimizer_read_shared(double learning_rate, const leat_optimizer_options *options,
                                        struct leati_optimizer_args *out, leat_error *err) {
    leat_optimizer_options o = {LEAT_OPTIMIZER_DEFAULTS};
    LEATI_TRY(LEATI_OPTIONS(leat_optimizer_options, &o, options, err));
    *out =
        (struct leati_optimizer_args){.name = leati_kind_borrow_text(o.name),
                                      .learning_rate = learning_rate,
                                      .weight_decay = o.weight_decay,
                                      .clipnorm = o.clipnorm,
                                      .global_clipnorm = o.global_clipnorm,
                                      .clipvalue = o.clipvalue,
                                      .use_ema = o.use_ema,
                                      .ema_momentum = o.ema_momentum,
                                      .ema_overwrite_frequency = o.ema_overwrite_frequency,
                                      .gradient_accumulation_steps = o.gradient_accumulation_steps,
                                      .exact_slices = o.exact_slices};
    return LEAT_OK;
}

/* ---- life ---- */

static leat_optimizer *optimizer_of_args(const leati_optimizer_kind *kind, void *args,
                                         leat_error *err) {
    leat_optimizer *optimizer = leati_alloc_zero(1, sizeof *optimizer);
    if (optimizer == NULL) {
        leati_kind_args_free(&kind->kind, args);
        leati_no_memory(err);
        return NULL;
    }
    *optimizer = (leat_optimizer){.kind = kind, .args = args};
    return optimizer;
}

leat_optimizer *leati_optimizer_new(const leati_optimizer_kind *kind, const void *args,
                                    leat_error *err) {
    void *copy;
    if (leati_kind_args_copy(&kind->kind, args, &copy, err) != LEAT_OK)
        return NULL;
    return optimizer_of_args(kind, copy, err);
}

leat_optimizer *leat_optimizer_named(const char *name, const char *config, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    json_t *json = config == NULL ? NULL : leati_json_parse(config, strlen(config), err);
    if (config != NULL && json == NULL)
        return NULL;
    leat_optimizer *optimizer = leati_optimizer_from_json(name, json, err);
    json_decref(json);
    return optimizer;
}

leat_optimizer *leati_optimizer_from_json(const char *name, const json_t *config, leat_error *err) {
    size_t count;
    const leati_kind *const *kinds = leati_kinds_optimizer(&count);
    const leati_kind *kind = leati_kind_find(kinds, count, "optimizer", name, err);
    void *args;
    if (kind == NULL || leati_kind_args_read(kind, config, &args, err) != LEAT_OK)
        return NULL;
    return optimizer_of_args((const leati_optimizer_kind *)(const void *)kind, args, err);
}

static void slots_fini(leati_slots *slots) {
    leat_variable_unref(slots->variable);
    leat_variable_unref(slots->average);
    leat_variable_unref(slots->accumulator);
    for (int i = 0; i < slots->count; i++)
        leat_variable_unref(slots->own[i]);
}

void leat_optimizer_free(leat_optimizer *optimizer) {
    if (optimizer == NULL)
        return;
    for (size_t i = 0; i < optimizer->num_slots; i++)
        slots_fini(&optimizer->slots[i]);
    leat_variable_unref(optimizer->iterations);
    leat_variable_unref(optimizer->learning_rate);
    leat_variable_unref(optimizer->common);
    leati_kind_args_free(&optimizer->kind->kind, optimizer->args);
    leat_part_free(optimizer->schedule);
    leati_free(optimizer->slots);
    leati_free(optimizer->variables);
    leati_free(optimizer);
}

leat_variable *const *leat_optimizer_variables(const leat_optimizer *optimizer, int *count) {
    *count = optimizer == NULL ? 0 : (int)optimizer->num_variables;
    return optimizer == NULL ? NULL : optimizer->variables;
}

leat_status leat_optimizer_set_learning_rate(leat_optimizer *optimizer, double learning_rate,
                                             leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (optimizer == NULL || !(learning_rate >= 0))
        return leati_refuse(err, VALUE,
                            "the optimizer is NULL, or its learning rate %g is negative",
                            learning_rate);
    if (optimizer->schedule != NULL)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the optimizer's learning rate is that of a schedule; make another "
                          "optimizer to set it");
    leat_status status = LEAT_OK;
    if (optimizer->learning_rate != NULL) {
        float narrow = (float)learning_rate;
        leat_tensor value = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &narrow);
        status = leat_variable_assign(optimizer->learning_rate, &value, err);
    }
    if (status == LEAT_OK)
        /* Kept beside the variable: before the first application there is none yet. */
        ((struct leati_optimizer_args *)optimizer->args)->learning_rate = learning_rate;
    return status;
}

leat_status leat_optimizer_set_schedule(leat_optimizer *optimizer, leat_part *schedule,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = LEAT_OK;
    if (optimizer == NULL || schedule == NULL || !leati_kind_part_is(schedule, "schedule"))
        status = leati_refuse(err, VALUE, "the optimizer is NULL, or the part is no schedule");
    else if (optimizer->iterations != NULL)
        /* Later on the rate is a variable of steps that were traced already. */
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "a schedule is set before the first application");
    if (status != LEAT_OK) {
        /* The schedule is given, also on failure. */
        leat_part_free(schedule);
        return status;
    }
    leat_part_free(optimizer->schedule);
    optimizer->schedule = schedule;
    return LEAT_OK;
}

/* ---- the optimizer's variables ---- */

/* Gives the list room for as many more as one variable can need. */
static leat_status reserve(leat_optimizer *optimizer, leat_error *err) {
    /* The kind's slots, average and accumulator, then the counter, the rate and what is shared. */
    size_t variables = optimizer->num_variables + LEATI_MAX_SLOTS + 5;
    if (leati_grow((void **)&optimizer->slots, &optimizer->slot_capacity, optimizer->num_slots + 1,
                   sizeof *optimizer->slots) &&
        leati_grow((void **)&optimizer->variables, &optimizer->variable_capacity, variables,
                   sizeof *optimizer->variables))
        return LEAT_OK;
    return leati_no_memory(err);
}

/* The values that a slot starts with. Owned. */
static leat_status start_of(leat_variable *variable, const leati_weight *slot, leat_tensor *out,
                            leat_error *err) {
    if (slot->copies)
        return leat_variable_read(variable, out, err);
    LEATI_TRY(leat_tensor_new(slot->dtype, slot->shape, out, err));
    memset(out->data, 0, leat_tensor_bytes(out));
    /* Integer slots (Adafactor's unused factors) start at 0 only. */
    for (int64_t i = 0; slot->start != 0 && i < leat_tensor_count(out); i++)
        if (out->dtype == LEAT_FLOAT64)
            ((double *)out->data)[i] = slot->start;
        else if (out->dtype == LEAT_FLOAT32)
            ((float *)out->data)[i] = (float)slot->start;
    return LEAT_OK;
}

/* What all variables share, a scalar of the first one's dtype. */
static leat_status make_common(const leat_variable *like, leat_variable **out, leat_error *err) {
    const leati_weight number = {.shape = LEAT_SCALAR, .dtype = like->dtype, .start = 1};
    leat_tensor start = {0};
    LEATI_TRY(start_of(NULL, &number, &start, err));
    leat_status status = leati_weights_variable_like(like, "product", &start, out, err);
    leat_tensor_unref(&start);
    return status;
}

/* The counter, the learning rate and what is shared, placed like the first variable. */
static leat_status make_own(leat_optimizer *optimizer, const leat_variable *like, leat_error *err) {
    const int64_t none = 0;
    const float rate = (float)shared_args(optimizer)->learning_rate;
    if (optimizer->iterations != NULL)
        return LEAT_OK;
    leat_tensor start = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &none);
    leat_tensor size = leat_tensor_view(LEAT_FLOAT32, LEAT_SCALAR, &rate);
    leat_variable *iterations = NULL, *learning_rate = NULL, *common = NULL;
    leat_status status = leati_weights_variable_like(like, "iteration", &start, &iterations, err);
    if (status == LEAT_OK && optimizer->schedule == NULL)
        status = leati_weights_variable_like(like, "learning_rate", &size, &learning_rate, err);
    if (status == LEAT_OK && optimizer->kind->begin != NULL)
        status = make_common(like, &common, err);
    /* `common` is the last one made, so it is NULL here. */
    if (status != LEAT_OK) {
        leat_variable_unref(iterations);
        leat_variable_unref(learning_rate);
        return status;
    }
    optimizer->iterations = iterations;
    optimizer->learning_rate = learning_rate;
    optimizer->common = common;
    /* In Keras' order of an optimizer's variables; what is absent takes no place. */
    leat_variable *const own[] = {iterations, learning_rate, common};
    for (int i = 0; i < 3; i++)
        if (own[i] != NULL)
            optimizer->variables[optimizer->num_variables++] = own[i];
    return LEAT_OK;
}

leat_status leati_optimizer_slots(const leati_optimizer_kind *kind, const void *arguments,
                                  const leat_variable *variable, leati_weights *out,
                                  leat_error *err) {
    const struct leati_optimizer_args *args = arguments;
    const leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};
    const leati_weight like = {.shape = variable == NULL ? unknown : variable->shape,
                               .dtype = variable == NULL ? LEAT_INVALID : variable->dtype,
                               .initializer = "zeros",
                               .fixed = true};
    *out = (leati_weights){.count = 0};
    const char *const shared[2] = {args->use_ema ? "average" : NULL,
                                   args->gradient_accumulation_steps > 1 ? "gradient_accumulator"
                                                                         : NULL};
    for (int i = 0; i < 2; i++) {
        if (shared[i] == NULL)
            continue;
        out->list[out->count] = like;
        out->list[out->count++].name = shared[i];
    }
    if (kind->slots_of != NULL && variable == NULL)
        return leati_refuse(err, VALUE,
                            "what %s keeps depends on the variable; use leat_part_slots_json",
                            kind->kind.name);
    if (kind->slots_of != NULL)
        return kind->slots_of(args, variable, out, err);
    const char *const *names = kind->slots == NULL ? NULL : kind->slots(args);
    for (int i = 0; names != NULL && names[i] != NULL; i++) {
        out->list[out->count] = like;
        out->list[out->count].start = kind->slot_start == NULL ? 0 : kind->slot_start(args, i);
        out->list[out->count++].name = names[i];
    }
    return LEAT_OK;
}

static leat_status make_slot(leat_variable *variable, const leati_weight *slot, leat_variable **out,
                             leat_error *err) {
    leati_text path = {0};
    leat_tensor start = {0};
    leati_text_addf(&path, "%s_%s", leat_variable_name(variable), slot->name);
    leat_status status = path.failed ? leati_no_memory(err) : start_of(variable, slot, &start, err);
    if (status == LEAT_OK)
        status = leati_weights_variable_like(variable, path.data, &start, out, err);
    leat_tensor_unref(&start);
    leati_text_fini(&path);
    return status;
}

static leat_status make_slots(leat_optimizer *optimizer, leat_variable *variable, leat_error *err) {
    const struct leati_optimizer_args *args = optimizer->args;
    leati_slots slots = {.variable = leat_variable_ref(variable)};
    leati_weights wanted;
    leat_variable *made[LEATI_MAX_WEIGHTS];
    int count = 0;
    leat_status status = leati_optimizer_slots(optimizer->kind, args, variable, &wanted, err);
    while (status == LEAT_OK && count < wanted.count) {
        /* Into a list of their own first: until all are made the optimizer stays as it was. */
        status = make_slot(variable, &wanted.list[count], &made[count], err);
        count += status == LEAT_OK;
    }
    if (status != LEAT_OK) {
        while (count > 0)
            leat_variable_unref(made[--count]);
        leat_variable_unref(slots.variable);
        return status;
    }
    /* Room was reserved before, so nothing below can fail. */
    leati_optimizer_slots_sort(args, made, count, &slots);
    optimizer->slots[optimizer->num_slots++] = slots;
    for (int i = 0; i < count; i++)
        optimizer->variables[optimizer->num_variables++] = made[i];
    return LEAT_OK;
}

void leati_optimizer_slots_sort(const struct leati_optimizer_args *args, leat_variable *const *made,
                                int count, leati_slots *out) {
    /* The order is that of leati_optimizer_slots: what is shared first. */
    int at = 0;
    if (args->use_ema)
        out->average = made[at++];
    if (args->gradient_accumulation_steps > 1)
        out->accumulator = made[at++];
    while (at < count && out->count < LEATI_MAX_SLOTS)
        out->own[out->count++] = made[at++];
}

static leati_slots *find_slots(const leat_optimizer *optimizer, const leat_variable *variable) {
    for (size_t i = 0; i < optimizer->num_slots; i++)
        if (optimizer->slots[i].variable == variable)
            return &optimizer->slots[i];
    return NULL;
}

static leat_status check_variable(const leat_optimizer *optimizer, leat_variable *const *variables,
                                  int index, leat_error *err) {
    const leat_variable *variable = variables[index];
    if (variable == NULL)
        return leati_refuse(err, VALUE, "variable %d is NULL", index);
    for (int k = 0; k < index; k++)
        if (variables[k] == variable)
            return leati_refuse(err, VALUE, "variable \"%.80s\" is named twice", variable->name);
    /* All variables of an optimizer have the same replicas, for the counter lies where they lie. */
    int copies = optimizer->iterations != NULL ? optimizer->iterations->num_copies
                                               : variables[0]->num_copies;
    if (variable->num_copies == copies)
        return LEAT_OK;
    return leati_refuse(err, VALUE,
                        "variable \"%.80s\" has %d copies, others of the optimizer %d; create all "
                        "variables under one strategy's scope",
                        variable->name, variable->num_copies, copies);
}

static leat_status prepare(leat_optimizer *optimizer, leat_variable *const *variables, int count,
                           leat_error *err) {
    if (optimizer == NULL)
        return leati_refuse(err, VALUE, "the optimizer is NULL");
    for (int i = 0; i < count; i++) {
        leat_status status = check_variable(optimizer, variables, i, err);
        if (status == LEAT_OK)
            /* Before anything is made, for one variable's needs: what comes after cannot fail for
             * lack of room. */
            status = reserve(optimizer, err);
        if (status == LEAT_OK)
            status = make_own(optimizer, variables[i], err);
        if (status == LEAT_OK && find_slots(optimizer, variables[i]) == NULL)
            status = make_slots(optimizer, variables[i], err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

leat_status leat_optimizer_build(leat_optimizer *optimizer, leat_variable *const *variables,
                                 int num_variables, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return prepare(optimizer, variables, num_variables, err);
}

/* ---- application ---- */

/* The rate of this step: a schedule's, or that of the variable. */
static leat_value rate_of(const leat_optimizer *optimizer, leat_graph *graph) {
    if (optimizer->schedule == NULL)
        return leat_graph_read(graph, optimizer->learning_rate);
    /* The schedule sees the steps done so far: 0 at the first one. */
    leat_value step = leat_graph_read(graph, optimizer->iterations);
    return leat_part_call(optimizer->schedule, &step, 1, NULL, 0, false, NULL);
}

/* Applies with the optimizer's own variables. */
static leat_status apply_own(leat_optimizer *optimizer, leat_graph *graph,
                             const leat_value *gradients, leat_variable *const *variables,
                             int count, leat_error *err) {
    leat_value *copy = leati_alloc((size_t)count, sizeof *copy);
    leati_slots *slots = leati_alloc((size_t)count, sizeof *slots);
    leat_status status = LEAT_OK;
    if (copy == NULL || slots == NULL)
        status = leati_no_memory(err);
    if (status == LEAT_OK) {
        /* The application overwrites gradients, and these are the caller's. */
        memcpy(copy, gradients, (size_t)count * sizeof *copy);
        for (int i = 0; i < count; i++)
            /* By value: `prepare` has made slots for each variable, so none is missing. */
            slots[i] = *find_slots(optimizer, variables[i]);
        const leati_application application = {.kind = optimizer->kind,
                                               .args = shared_args(optimizer),
                                               .graph = graph,
                                               .slots = slots,
                                               .gradients = copy,
                                               .count = count,
                                               .common = optimizer->common,
                                               .iterations = optimizer->iterations,
                                               .learning_rate = rate_of(optimizer, graph)};
        status = leati_optimizer_apply(&application, err);
    }
    leati_free(copy);
    leati_free(slots);
    return status;
}

void leat_optimizer_apply(leat_optimizer *optimizer, const leat_value *gradients,
                          leat_variable *const *variables, int count) {
    leat_graph *graph = count > 0 && gradients != NULL ? gradients[0].graph : NULL;
    leat_error err = {0};
    if (graph == NULL || graph->error.code != LEAT_OK)
        return;
    leat_status status = prepare(optimizer, variables, count, &err);
    if (status == LEAT_OK)
        status = apply_own(optimizer, graph, gradients, variables, count, &err);
    if (status != LEAT_OK) {
        leati_prefix(&err, "leat_optimizer_apply");
        leati_graph_error(graph, &err);
    }
}

void leat_optimizer_minimize(leat_optimizer *optimizer, leat_value loss,
                             leat_variable *const *variables, int count) {
    leat_graph *graph = loss.graph;
    leat_error err = {0};
    if (leati_support_value_failed(loss) || graph->error.code != LEAT_OK)
        return;
    if (variables == NULL || count < 1) {
        leati_support_build_error(
            graph, LEAT_REASON_VALUE,
            "leat_optimizer_minimize: there are no variables; build the model first");
        return;
    }
    leat_value *gradients = leati_alloc((size_t)count, sizeof *gradients);
    if (gradients == NULL) {
        leati_no_memory(&err);
        leati_graph_error(graph, &err);
        return;
    }
    leat_variable_gradients(loss, variables, count, gradients);
    leat_optimizer_apply(optimizer, gradients, variables, count);
    leati_free(gradients);
}

static const leati_row own_rows[] = {LEATI_OPTIMIZER_ROWS, {0}};

const leati_optimizer_kind leati_optimizer_own = {
    .kind =
        {
            .name = "Optimizer",
            .doc = "An optimizer of a program's own (keras.optimizers.Optimizer).",
            .rows = own_rows,
            .args_size = sizeof(struct leati_optimizer_args),
            .check = leati_optimizer_check,
        },
};
