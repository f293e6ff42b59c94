/* Steps: a traced function, compiled once per replica and shape of its arguments, run on all
 * replicas at once. The caller may bring the traced functions along.
 *
 * Happy path of leat_strategy_run: each replica's element finds its entry (a trace for these
 * shapes); all replicas then run at the same time on their own threads: compile on first use,
 * inputs to the device, run, outputs back. Replicas whose elements differ in shape use different
 * entries of the same tracer, so they make the same collective calls. A step that takes less time
 * than waking a thread, and exchanges nothing, runs on the caller's thread for one replica after
 * the other. A failed trace or compilation leaves no entry behind. A step belongs to one thread at
 * a time and to the strategy that ran it first. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/element.h"
#include "dist/step_explain.h"
#include "dist/strategy.h"
#include "dist/values.h"
#include "graph/body.h"
#include <string.h>

enum { BRIEF_NS = 20000 }; /* of all replicas together */
enum { FEW_TENSORS = 16 }; /* of a replica's arguments and results: more are allocated */

typedef struct step_entry {
    leat_spec *input;      /* static */
    leat_function *traced; /* what the caller brought, NULL: the step's tracer made it */
    leat_function *function;
    leati_executable **executables; /* one per local replica, NULL until it is needed there */
    bool apart; /* it exchanges nothing and calls no user's code: replicas need not run at once */
    int64_t ns; /* that one replica takes, about; 0: not known */
    struct step_entry *next;
} step_entry;

struct leat_step {
    leat_tracer tracer; /* NULL: the caller brings functions */
    void *context;
    leat_strategy *strategy; /* a reference; NULL before the first run */
    step_entry *entries;
    step_entry **chosen; /* one per local replica, of the present run; owned */
};

leat_step *leat_step_new(leat_tracer tracer, void *context, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_step *step = leati_alloc_zero(1, sizeof(*step));
    if (step == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    step->tracer = tracer;
    step->context = context;
    return step;
}

static void entry_free(step_entry *entry, const leat_strategy *strategy) {
    /* Compiled only where the entry has run. */
    for (int r = 0; entry->executables != NULL && r < strategy->num_local; r++)
        if (entry->executables[r] != NULL)
            strategy->devices[r]->ops->release(entry->executables[r]);
    leati_free(entry->executables);
    leat_function_unref(entry->traced);
    leat_function_unref(entry->function);
    leat_spec_unref(entry->input);
    leati_free(entry);
}

void leat_step_free(leat_step *step) {
    if (step == NULL)
        return;
    while (step->entries != NULL) {
        step_entry *entry = step->entries;
        step->entries = entry->next;
        entry_free(entry, step->strategy);
    }
    leat_strategy_unref(step->strategy);
    leati_free(step->chosen);
    leati_free(step);
}

/* ---- entries ---- */

static bool entry_fits(const step_entry *entry, const leat_element *element) {
    if (leat_spec_num_components(entry->input) != element->num_tensors)
        return false;
    for (int c = 0; c < element->num_tensors; c++) {
        leat_shape have = leat_tensor_shape(&element->tensors[c]);
        leat_shape want = leat_spec_component_shape(entry->input, c);
        if (leat_spec_component_dtype(entry->input, c) != element->tensors[c].dtype ||
            !leati_shape_equal(&have, &want))
            return false;
    }
    return true;
}

/* The element's structure with the shapes that its tensors have. Owned. */
static leat_spec *static_spec(const leat_element *element, leat_error *err) {
    size_t count = (size_t)element->num_tensors;
    leat_dtype *dtypes = leati_alloc(count, sizeof(*dtypes));
    leat_shape *shapes = leati_alloc(count, sizeof(*shapes));
    leat_spec *spec = NULL;
    if (dtypes == NULL || shapes == NULL) {
        leati_no_memory(err);
        goto done;
    }
    for (size_t c = 0; c < count; c++) {
        dtypes[c] = element->tensors[c].dtype;
        shapes[c] = leat_tensor_shape(&element->tensors[c]);
        if (dtypes[c] == LEAT_STRING || dtypes[c] == LEAT_OBJECT) {
            leati_refuse(
                err, DTYPE,
                "argument %zu of the step is a %s tensor; a step takes numbers: convert it "
                "in the pipeline",
                c, leat_dtype_name(dtypes[c]));
            goto done;
        }
    }
    spec = leati_spec_like(element->spec, dtypes, shapes, err);
done:
    leati_free(dtypes);
    leati_free(shapes);
    return spec;
}

/* Every variable has a copy on every replica: one made outside the scope has not. */
static leat_status check_variables(const leat_function *function, const leat_strategy *strategy,
                                   leat_error *err) {
    for (size_t n = 0; n < function->body.num_nodes; n++) {
        const leati_node *node = &function->body.nodes[n];
        for (const leati_row *row = node->op->rows; row != NULL && row->type != LEATI_ROW_END;
             row++) {
            if (row->type != LEATI_ROW_OBJECT)
                continue;
            const leat_object *object =
                *(leat_object *const *)((const char *)node->args + row->offset);
            if (!leati_variable_is_object(object))
                continue;
            const leat_variable *variable = (const leat_variable *)object;
            int copies = variable->num_copies + variable->num_elsewhere;
            if (variable->num_copies != strategy->num_local || copies != strategy->num_replicas) {
                return leati_fail(
                    err, LEAT_FAILED_PRECONDITION,
                    "variable \"%s\" has %d copies, the strategy %d replicas; create it between "
                    "leat_strategy_enter and leat_strategy_exit",
                    leat_variable_name(variable), copies, strategy->num_replicas);
            }
        }
    }
    return LEAT_OK;
}

/* May replicas run it one after the other? */
static bool is_apart(const leat_function *function) {
    /* Collectives are both; a variable's assignment is stateful alone and touches this replica's
     * copy. */
    const uint32_t exchanges = LEATI_STATEFUL | LEATI_NO_EAGER;
    bool apart = true;
    for (size_t n = 0; n < function->body.num_nodes; n++) {
        uint32_t flags = leati_body_node_flags(&function->body.nodes[n]);
        apart = apart && (flags & exchanges) != exchanges && (flags & LEATI_IMPURE) == 0;
    }
    return apart;
}

/* What the replicas run of a traced function: its nodes that count. */
static leat_status prune(const leat_step *step, step_entry *entry, leat_function *traced,
                         leat_error *err) {
    leat_status status = check_variables(traced, step->strategy, err);
    if (status == LEAT_OK) {
        entry->function = leati_graph_function_prune(traced, err);
        status = entry->function == NULL ? err->code : LEAT_OK;
    }
    if (status == LEAT_OK)
        entry->apart = is_apart(entry->function);
    return status;
}

static leat_status trace(leat_step *step, step_entry *entry, leat_error *err) {
    leat_status status = leat_strategy_enter(step->strategy, err);
    if (status != LEAT_OK)
        return status;
    leat_error local = {0};
    /* Within the scope, so that variables which the tracer makes are mirrored. */
    leat_function *traced = LEAT_TRACE(step->tracer, step->context, entry->input, &local);
    leat_strategy_exit(step->strategy);
    status = traced == NULL ? local.code : prune(step, entry, traced, &local);
    leat_function_unref(traced);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

/* Makes an entry complete: from what the caller brought, or by tracing for the element. */
static leat_status fill_entry(leat_step *step, step_entry *entry, const leat_element *element,
                              leat_function *brought, leat_error *err) {
    entry->executables =
        leati_alloc_zero((size_t)step->strategy->num_local, sizeof(*entry->executables));
    if (entry->executables == NULL)
        return leati_no_memory(err);
    if (brought != NULL) {
        entry->traced = leat_function_ref(brought);
        entry->input = leat_spec_ref(leat_function_input(brought));
        return prune(step, entry, brought, err);
    }
    if (step->tracer == NULL) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the step has no tracer; run it with leat_strategy_run_functions");
    }
    entry->input = static_spec(element, err);
    return entry->input == NULL ? err->code : trace(step, entry, err);
}

/* The entry for `brought`, or where that is NULL for the element's shapes; a new one if need be. */
static leat_status find_entry(leat_step *step, const leat_element *element, leat_function *brought,
                              step_entry **out, leat_error *err) {
    if (brought == NULL && element->spec == NULL)
        return leati_refuse(err, STRUCTURE, "leat_strategy_run: the arguments hold no element");
    for (step_entry *entry = step->entries; entry != NULL; entry = entry->next) {
        /* A function that the caller brings is its own key: the caller knows for which shapes it
         * was traced. */
        if (entry->traced == brought && (brought != NULL || entry_fits(entry, element))) {
            *out = entry;
            return LEAT_OK;
        }
    }
    leat_error local = {0};
    step_entry *entry = leati_alloc_zero(1, sizeof(*entry));
    if (entry == NULL)
        return leati_no_memory(err);
    if (fill_entry(step, entry, element, brought, &local) != LEAT_OK) {
        *err = local;
        entry_free(entry, step->strategy);
        return local.code;
    }
    entry->next = step->entries;
    step->entries = entry;
    *out = entry;
    return LEAT_OK;
}

/* ---- running ---- */

typedef struct step_job {
    leat_strategy *strategy;
    step_entry **entries; /* one per local replica */
    const leat_per_replica *args;
    leat_per_replica *out;
    int64_t step;
    bool brief; /* one replica after the other, on one thread */
} step_job;

/* Copies a host tensor to the device, or refers to it where the device's memory is the host's. */
static leat_status to_device(leati_device *device, const leat_tensor *host, leat_tensor *out,
                             leat_error *err) {
    leat_buffer *buffer = NULL;
    size_t bytes = leat_tensor_bytes(host);
    leat_shape shape = leat_tensor_shape(host);
    leat_status status = device->ops->alloc(device, host->dtype, &shape, &buffer, err);
    if (status == LEAT_OK)
        status = device->ops->upload(device, host->data, buffer, bytes, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        return status;
    }
    *out = *host;
    out->owner = buffer;
    /* An address of the device, not for the host to read. */
    out->data = leat_buffer_data(buffer);
    return LEAT_OK;
}

static leat_status to_host(leati_device *device, leat_tensor *tensor, leat_error *err) {
    if (tensor->owner == NULL || tensor->owner->device == NULL)
        return LEAT_OK;
    leat_tensor host = {0};
    leat_status status = leat_tensor_new(tensor->dtype, leat_tensor_shape(tensor), &host, err);
    if (status == LEAT_OK) {
        status =
            device->ops->download(device, tensor->owner, host.data, leat_tensor_bytes(&host), err);
    }
    if (status != LEAT_OK) {
        leat_tensor_unref(&host);
        return status;
    }
    leat_tensor_unref(tensor);
    *tensor = host;
    return LEAT_OK;
}

static leat_status run_executable(const step_job *job, int replica, step_entry *entry,
                                  leat_tensor *inputs, leat_tensor *outputs, leat_error *err) {
    leati_device *device = job->strategy->devices[replica];
    const leat_element *element = &job->args->elements[replica];
    leat_status status = LEAT_OK;
    bool host = device->host_memory;
    for (int c = 0; c < element->num_tensors && status == LEAT_OK; c++)
        if (host)
            inputs[c] = leat_tensor_ref(&element->tensors[c]);
        else
            status = to_device(device, &element->tensors[c], &inputs[c], err);
    leati_call_context context = {.step = job->step,
                                  .replica = job->strategy->first_replica + replica,
                                  .first_replica = job->strategy->first_replica,
                                  .num_replicas = job->strategy->num_replicas,
                                  .collective = job->strategy->collective,
                                  .bytes_per_pack = job->strategy->bytes_per_pack};
    /* Each replica's thread fills its own place, so no lock is needed. */
    if (status == LEAT_OK && entry->executables[replica] == NULL) {
        status = device->ops->compile(device, entry->function, &context,
                                      &entry->executables[replica], err);
    }
    if (status != LEAT_OK)
        return status;
    leati_run_args args = {.inputs = inputs,
                           .num_inputs = element->num_tensors,
                           .outputs = outputs,
                           .num_outputs = entry->function->num_outputs,
                           .context = &context,
                           .brief = job->brief};
    status = device->ops->run(entry->executables[replica], &args, err);
    for (int i = 0; i < entry->function->num_outputs && status == LEAT_OK; i++)
        status = to_host(device, &outputs[i], err);
    return status;
}

/* A longer run counts little: the thread may have been interrupted. */
static void note_time(step_entry *entry, int64_t ns) {
    entry->ns = entry->ns == 0 || ns < entry->ns ? ns : entry->ns + (ns - entry->ns) / 8;
    /* 0 stands for "not known". */
    entry->ns += entry->ns == 0;
}

static leat_status run_replica(void *context, int replica, leat_error *err) {
    const step_job *job = context;
    step_entry *entry = job->entries[replica];
    int num_inputs = job->args->elements[replica].num_tensors,
        num_outputs = entry->function->num_outputs;
    leat_tensor few[FEW_TENSORS] = {{0}}, *tensors = few;
    if (num_inputs + num_outputs > FEW_TENSORS)
        tensors = leati_alloc_zero((size_t)(num_inputs + num_outputs), sizeof(*tensors));
    if (tensors == NULL)
        return leati_no_memory(err);
    leat_tensor *outputs = tensors + num_inputs;
    bool known = entry->executables[replica] != NULL;
    int64_t start = leati_now_ns();
    leat_status status = run_executable(job, replica, entry, tensors, outputs, err);
    /* Not a run that compiled. A brief job is timed as a whole, by whoever runs it. */
    if (replica == 0 && known && !job->brief)
        note_time(entry, leati_now_ns() - start);
    if (status == LEAT_OK && job->out != NULL) {
        status =
            leati_element_give(&job->out->elements[replica], entry->function->output, outputs, err);
    }
    for (int i = 0; i < num_inputs + num_outputs; i++)
        leat_tensor_unref(&tensors[i]);
    if (tensors != few)
        leati_free(tensors);
    return status;
}

static leat_status prepare(leat_strategy *strategy, leat_step *step, const leat_per_replica *args,
                           leat_error *err) {
    if (strategy == NULL || step == NULL || args == NULL) {
        return leati_refuse(err, VALUE, "leat_strategy_run: %s is NULL",
                            strategy == NULL ? "strategy"
                            : step == NULL   ? "step"
                                             : "args");
    }
    if (args->num_replicas != strategy->num_local) {
        return leati_refuse(err, STRUCTURE, "arguments for %d replicas; the strategy has %d",
                            args->num_replicas, strategy->num_local);
    }
    if (step->strategy != NULL && step->strategy != strategy) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "the step was run under another strategy; make one step per strategy");
    }
    if (step->strategy == NULL)
        step->strategy = leat_strategy_ref(strategy);
    return strategy->workers == NULL ? LEAT_OK : leati_workers_check(strategy->workers, err);
}

/* An entry for each replica's element. What keeps this worker from running would leave the others
 * waiting: they are told. */
static leat_status find_entries(leat_step *step, leat_function *const *functions,
                                const leat_per_replica *args, leat_error *err) {
    const leat_strategy *strategy = step->strategy;
    leat_error local = {0};
    leat_status status = LEAT_OK;
    if (step->chosen == NULL) {
        step->chosen = leati_alloc_zero((size_t)strategy->num_local, sizeof(*step->chosen));
        status = step->chosen == NULL ? leati_no_memory(&local) : LEAT_OK;
    }
    for (int r = 0; r < strategy->num_local && status == LEAT_OK; r++) {
        status = find_entry(step, &args->elements[r], functions == NULL ? NULL : functions[r],
                            &step->chosen[r], &local);
    }
    if (status != LEAT_OK && strategy->workers != NULL)
        leati_workers_fail(strategy->workers, &local);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

/* Does the step take less time than waking the replicas' threads? Only where all devices are this
 * host's processor, so that any thread may use them. */
static bool is_brief(const step_job *job) {
    const leat_strategy *strategy = job->strategy;
    bool brief = true;
    for (int r = 0; r < strategy->num_local && brief; r++) {
        const step_entry *entry = job->entries[r];
        brief = (entry->apart || strategy->num_replicas == 1) && entry->executables[r] != NULL &&
                entry->ns > 0 && entry->ns < BRIEF_NS / strategy->num_local &&
                strategy->devices[r]->host_memory;
    }
    return brief;
}

static leat_status run_job(step_job *job, leat_error *err) {
    leat_strategy *strategy = job->strategy;
    job->brief = is_brief(job);
    if (!job->brief)
        return leati_strategy_run_on_replicas(strategy, run_replica, job, err);
    int64_t start = leati_now_ns();
    leat_status status = leati_strategy_run_in_turn(strategy, run_replica, job, err);
    note_time(job->entries[0], (leati_now_ns() - start) / strategy->num_local);
    return status;
}

/* `functions`: what the caller brought for each replica, or NULL. */
static leat_status run(leat_strategy *strategy, leat_step *step, leat_function *const *functions,
                       const leat_per_replica *args, leat_per_replica *out, leat_error *err) {
    leat_status status = prepare(strategy, step, args, err);
    if (status == LEAT_OK && out != NULL)
        status = leati_values_reset(out, strategy->num_local, err);
    /* On the caller's thread: tracing calls the user's code and may make variables. */
    if (status == LEAT_OK)
        status = find_entries(step, functions, args, err);
    if (status != LEAT_OK)
        return status;
    /* As in TensorFlow, setting the global seed starts the draws of steps anew. */
    if (strategy->seed_epoch != leati_random_seed_epoch()) {
        strategy->seed_epoch = leati_random_seed_epoch();
        strategy->steps = 0;
    }
    step_job job = {.strategy = strategy,
                    .entries = step->chosen,
                    .args = args,
                    .out = out,
                    .step = strategy->steps++};
    status = run_job(&job, err);
    if (status != LEAT_OK && out != NULL)
        for (int r = 0; r < out->num_replicas; r++)
            leat_element_clear(&out->elements[r]);
    return status;
}

leat_status leat_strategy_run(leat_strategy *strategy, leat_step *step,
                              const leat_per_replica *args, leat_per_replica *out,
                              leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return run(strategy, step, NULL, args, out, err);
}

leat_status leat_strategy_run_functions(leat_strategy *strategy, leat_step *step,
                                        leat_function *const *functions,
                                        const leat_per_replica *args, leat_per_replica *out,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    for (int r = 0; r < leat_strategy_num_local_replicas(strategy); r++) {
        if (functions == NULL || functions[r] == NULL) {
            return leati_refuse(
                err, VALUE, "leat_strategy_run_functions: there is no function for replica %d", r);
        }
    }
    return run(strategy, step, functions, args, out, err);
}

/* What the executables of replica 0 say, one after the other. Owned (leati_free); NULL with err. */
static char *explain_lines(const leat_step *step, leat_error *err) {
    leati_text text = {0};
    for (const step_entry *entry = step->entries; entry != NULL; entry = entry->next) {
        leati_device *device = step->strategy->devices[0];
        if (entry->executables[0] == NULL || device->ops->explain == NULL)
            continue;
        size_t size = device->ops->explain(entry->executables[0], NULL, 0) + 1;
        char *part = leati_alloc(size, 1);
        if (part == NULL) {
            text.failed = true;
            break;
        }
        device->ops->explain(entry->executables[0], part, size);
        leati_text_addf(&text, "%s", part);
        leati_free(part);
    }
    char *lines = leati_text_take(&text);
    if (lines == NULL)
        leati_no_memory(err);
    return lines;
}

char *leat_step_explain(const leat_step *step, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (step == NULL) {
        leati_refuse(err, VALUE, "leat_step_explain: step is NULL");
        return NULL;
    }
    char *lines = explain_lines(step, err), *table = NULL;
    if (lines != NULL) {
        table = leati_step_table(lines, err);
        leati_free(lines);
    }
    return table;
}

leat_status leat_step_get_times(const leat_step *step, leat_step_times *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (step == NULL || out == NULL) {
        return leati_refuse(err, VALUE, "leat_step_get_times: %s is NULL",
                            step == NULL ? "step" : "out");
    }
    char *lines = explain_lines(step, err);
    if (lines == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    *out = (leat_step_times){0};
    leati_step_add_times(lines, out);
    leati_free(lines);
    return LEAT_OK;
}
