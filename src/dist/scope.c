/* A strategy's scope: where variables are created, and what worker processes make of them.
 *
 * Every variable gets a copy per replica of this process, all with the initial value; under several
 * workers with that of worker 0, so that random initial values are equal everywhere. Failures:
 * another strategy's scope is open; workers create different variables, which names the worker; a
 * worker without memory for one, which ends the job. No locks: scopes belong to their thread. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "core/spec.h"
#include "dist/strategy.h"
#include <stdio.h>
#include <string.h>

enum { MOST_SCOPES = 16, MOST_NAME = 32 };

typedef struct scope {
    leat_strategy *strategy; /* a reference */
    leati_variable_creator creator;
    const leati_variable_creator *outer;
} scope;

/* In an array that does not move: `outer` and the thread's creator point into it. */
static _Thread_local scope scopes[MOST_SCOPES];
static _Thread_local int num_scopes;

static leat_status place_alloc(void *device, leat_dtype dtype, const leat_shape *shape,
                               leat_buffer **out, leat_error *err) {
    return ((leati_device *)device)->ops->alloc(device, dtype, shape, out, err);
}

static leat_status place_upload(void *device, const void *from, leat_buffer *to, size_t size,
                                leat_error *err) {
    return ((leati_device *)device)->ops->upload(device, from, to, size, err);
}

static leat_status place_download(void *device, const leat_buffer *from, void *to, size_t size,
                                  leat_error *err) {
    return ((leati_device *)device)->ops->download(device, from, to, size, err);
}

/* What a variable of all workers has in the other processes. */
static leat_status combine_workers(leat_object *owner, leati_variable_combination how, void *data,
                                   int64_t count, leat_dtype dtype, leat_error *err) {
    const leat_strategy *s = (const leat_strategy *)(void *)owner;
    leati_collective *between = leati_workers_collective(s->workers);
    int worker = leati_workers_number(s->workers);
    return how == LEATI_VARIABLE_SUM
               ? between->ops->all_reduce(between, worker, data, count, dtype, LEATI_REDUCTION_SUM,
                                          err)
               : between->ops->broadcast(between, worker, 0, data, count, dtype, err);
}

/* The initial value that worker 0 has, a tensor of its own. */
static leat_status value_of_chief(const leat_strategy *s, const leat_variable *variable,
                                  const leat_tensor *initial, leat_tensor *out, leat_error *err) {
    /* Compared before the values are sent, because another shape would end the exchange in other
     * words. */
    char text[LEATI_WORKERS_SAYING], shape[128];
    leat_shape found = leat_tensor_shape(initial);
    const char *full = leati_shape_text(&found, shape), *dtype = leat_dtype_name(variable->dtype);
    size_t length = strlen(variable->name), wanted;
    wanted =
        (size_t)snprintf(text, sizeof text, "variable \"%s\", %s %s", variable->name, dtype, full);
    /* What is compared has a limit: of a long name the end stands there, and a hash of all. */
    if (wanted >= sizeof text) {
        snprintf(text, sizeof text, "variable \"...%s\", %s %.30s, checksum %08x",
                 variable->name + (length > MOST_NAME ? length - MOST_NAME : 0), dtype, full,
                 (unsigned)leati_hash(full, strlen(full), leati_hash(variable->name, length, 0)));
    }
    leat_status status = leati_workers_same(s->workers, text, err);
    if (status == LEAT_OK)
        status = leat_tensor_copy_of(initial->dtype, found, initial->data, out, err);
    if (status == LEAT_OK && leat_tensor_bytes(out) > 0) {
        leati_collective *between = leati_workers_collective(s->workers);
        status = between->ops->broadcast(between, leati_workers_number(s->workers), 0, out->data,
                                         (int64_t)leat_tensor_bytes(out), LEAT_UINT8, err);
    }
    return status;
}

/* Gives the variable one copy per replica of this process, all with the initial value. Reading a
 * sync-on-read variable whose copies are summed then gives a multiple of it, as in TensorFlow. */
static leat_status place_variable(void *context, leat_variable *variable,
                                  const leat_tensor *initial, leat_error *err) {
    leat_strategy *s = context;
    size_t bytes = leat_tensor_bytes(initial);
    leat_tensor chief = {0};
    variable->copies = leati_alloc_zero((size_t)s->num_local, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero((size_t)s->num_local, sizeof(leati_variable_place));
    leat_status status = LEAT_OK;
    if (variable->copies == NULL || variable->places == NULL) {
        status = leati_no_memory(err);
    } else {
        variable->num_copies = s->num_local;
        /* The copies lie on the strategy's devices, which must live as long. */
        variable->owner = &leat_strategy_ref(s)->object;
    }
    if (status == LEAT_OK && s->workers != NULL) {
        variable->num_elsewhere = s->num_replicas - s->num_local;
        variable->combine_elsewhere = combine_workers;
        status = value_of_chief(s, variable, initial, &chief, err);
        /* Also where it failed: the loop below is then not entered. */
        initial = &chief;
    }
    for (int r = 0; r < variable->num_copies && status == LEAT_OK; r++) {
        leati_device *device = s->devices[r];
        variable->places[r] = (leati_variable_place){.device = device,
                                                     .alloc = place_alloc,
                                                     .upload = place_upload,
                                                     .download = place_download};
        status = device->ops->alloc(device, variable->dtype, &variable->shape, &variable->copies[r],
                                    err);
        if (status == LEAT_OK)
            status = device->ops->upload(device, initial->data, variable->copies[r], bytes, err);
    }
    leat_tensor_unref(&chief);
    /* A worker that cannot place its variable would leave the others waiting at the next
     * exchange. */
    return s->workers == NULL ? status : leati_workers_end(s->workers, variable->name, status, err);
}

leat_status leat_strategy_enter(leat_strategy *strategy, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (strategy == NULL)
        return leati_refuse(err, VALUE, "leat_strategy_enter: strategy is NULL");
    /* The same strategy may be entered again, as in TensorFlow. */
    if (num_scopes > 0 && scopes[num_scopes - 1].strategy != strategy) {
        return leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "the scope of another strategy is open; leave it before entering this one");
    }
    if (num_scopes == MOST_SCOPES) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%d scopes are open; leat_strategy_exit is missing", MOST_SCOPES);
    }
    scope *top = &scopes[num_scopes++];
    top->strategy = leat_strategy_ref(strategy);
    top->creator = (leati_variable_creator){.place = place_variable, .context = strategy};
    top->outer = leati_variable_set_creator(strategy->kind->places_nothing ? NULL : &top->creator);
    return LEAT_OK;
}

void leat_strategy_exit(leat_strategy *strategy) {
    if (num_scopes == 0 || scopes[num_scopes - 1].strategy != strategy)
        return;
    scope *top = &scopes[--num_scopes];
    leati_variable_set_creator(top->outer);
    leat_strategy_unref(top->strategy);
    top->strategy = NULL;
}
