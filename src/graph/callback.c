/* Users' C functions: the object that a graph holds, the gate before it, and the registry.
 *
 * A callback that was not declared pure is called by one thread at a time. The gate is a counter
 * under `lock`, which is free while the user's code runs, so a callback may use the library, and
 * even call itself. A waiting thread waits for the user's code alone. The registry has a lock of
 * its own; it is never held together with another one. */
#include "graph/callback.h"
#include "graph/graph.h"
#include <string.h>

static void callback_free(leat_object *object) {
    leati_callback *callback = (leati_callback *)(void *)object;
    if (callback->release)
        callback->release(callback->context);
    pthread_mutex_destroy(&callback->lock);
    pthread_cond_destroy(&callback->idle);
    leati_free(callback->name);
    leati_free(callback);
}

static const leati_object_type callback_type = {.name = "callback", .free = callback_free};

bool leati_object_is_callback(const leat_object *object) {
    return object && object->type == &callback_type;
}

/* Owned; NULL without memory, and then the context is not released. */
static leati_callback *callback_new(leat_callback function, void *context, const char *name,
                                    uint32_t flags, leat_error *err) {
    leati_callback *callback = leati_alloc_zero(1, sizeof *callback);
    if (!callback) {
        leati_no_memory(err, sizeof *callback);
        return NULL;
    }
    leati_object_init(&callback->object, &callback_type);
    pthread_mutex_init(&callback->lock, NULL);
    pthread_cond_init(&callback->idle, NULL);
    callback->function = function;
    callback->context = context;
    callback->flags = flags;
    callback->name = leati_strdup(name);
    if (name && !callback->name) {
        leati_no_memory(err, strlen(name) + 1);
        leati_object_unref(callback);
        return NULL;
    }
    return callback;
}

/* ---- calling ---- */

static void enter(leati_callback *callback) {
    pthread_mutex_lock(&callback->lock);
    while (callback->busy && !pthread_equal(callback->caller, pthread_self()))
        pthread_cond_wait(&callback->idle, &callback->lock);
    callback->busy++;
    callback->caller = pthread_self();
    pthread_mutex_unlock(&callback->lock);
}

static void leave(leati_callback *callback) {
    pthread_mutex_lock(&callback->lock);
    if (--callback->busy == 0)
        pthread_cond_signal(&callback->idle);
    pthread_mutex_unlock(&callback->lock);
}

leat_status leati_callback_run(leati_callback *callback, const leat_element *in, leat_element *out,
                               leat_error *err) {
    leat_error failure = {0};
    bool pure = (callback->flags & LEAT_PURE) != 0;
    if (!pure)
        enter(callback);
    leat_status status = callback->function(callback->context, in, out, &failure);
    if (!pure)
        leave(callback);
    if (!status)
        return LEAT_OK;
    leati_fail(err, status, "%s",
               failure.text[0] ? failure.text : "it failed without writing a text");
    leati_prefix(err, "callback \"%s\"", callback->name ? callback->name : "(unnamed)");
    return status;
}

/* ---- the registry ---- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_callback **registry; /* guarded by registry_lock, as the next two */
static size_t num_registered, registry_capacity;

/* The place of a name; num_registered where there is none. The lock is held. */
static size_t find_place(const char *name) {
    size_t at = 0;
    while (at < num_registered && strcmp(registry[at]->name, name) != 0)
        at++;
    return at;
}

/* Owned; NULL: not registered. */
static leati_callback *find_registered(const char *name) {
    pthread_mutex_lock(&registry_lock);
    size_t at = find_place(name);
    leati_callback *found = at < num_registered ? leati_object_ref(registry[at]) : NULL;
    pthread_mutex_unlock(&registry_lock);
    return found;
}

/* Puts `callback` (given; NULL: nothing) in the place of what `name` meant; returns that (owned).
 * False without memory. */
static bool replace(const char *name, leati_callback *callback, leati_callback **old) {
    bool ok = true;
    *old = NULL;
    pthread_mutex_lock(&registry_lock);
    size_t at = find_place(name);
    if (at < num_registered) {
        *old = registry[at];
        registry[at] = callback ? callback : registry[--num_registered];
    } else if (callback) {
        ok = leati_grow((void **)&registry, &registry_capacity, num_registered + 1,
                        sizeof(leati_callback *));
        if (ok)
            registry[num_registered++] = callback;
    }
    if (!num_registered) {
        leati_free(registry);
        registry = NULL;
        registry_capacity = 0;
    }
    pthread_mutex_unlock(&registry_lock);
    return ok;
}

leat_status leat_register_callback(const char *name, leat_callback callback, void *context,
                                   uint32_t flags, leat_error *err) {
    leati_callback *object = NULL, *old = NULL;
    if (!name || !*name)
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "a registered callback needs a name");
    if (callback && !(object = callback_new(callback, context, name, flags, err)))
        return LEAT_RESOURCE_EXHAUSTED;
    if (!replace(name, object, &old)) {
        leati_object_unref(object);
        return leati_no_memory(err, sizeof(leati_callback *));
    }
    leati_object_unref(old);
    return LEAT_OK;
}

leat_status leati_callback_check_registered(const leat_object *object, leat_error *err) {
    const leati_callback *callback = (const leati_callback *)(const void *)object;
    leati_callback *found = callback->name ? find_registered(callback->name) : NULL;
    leati_object_unref(found);
    if (found)
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "callback \"%s\" is not registered, so it cannot be written; name it with "
                      "leat_register_callback",
                      callback->name ? callback->name : "(unnamed)");
}

static leat_status fail_unregistered(const char *name, leat_error *err) {
    return leati_fail(err, LEAT_NOT_FOUND,
                      "callback \"%s\" is not registered; call leat_register_callback before "
                      "reading",
                      name ? name : "(unnamed)");
}

leat_status leati_callback_resolve(const leati_tensor_op *op, void *args, leat_error *err) {
    struct leati_call_args *call = args;
    if (op != &leati_tensor_op_call || call->callback)
        return LEAT_OK;
    leati_callback *found = call->name ? find_registered(call->name) : NULL;
    if (!found)
        return fail_unregistered(call->name, err);
    call->callback = &found->object;
    call->pure = (found->flags & LEAT_PURE) != 0;
    return LEAT_OK;
}

/* ---- functions ---- */

static leat_function *build(leati_callback *callback, const leat_spec *input,
                            const leat_spec *output, leat_error *err) {
    leat_value values[LEAT_MAX_OUTPUTS];
    leat_graph *graph = leat_graph_new(input, err);
    if (!graph)
        return NULL;
    struct leati_call_args args = {.name = callback->name,
                                   .callback = &callback->object,
                                   .input = (leat_spec *)input,
                                   .output = (leat_spec *)output,
                                   .pure = (callback->flags & LEAT_PURE) != 0};
    int num_inputs = graph->body.num_arguments, num_outputs = leat_spec_num_components(output);
    int32_t *ids = leati_alloc((size_t)num_inputs, sizeof *ids);
    if (!ids) {
        leati_no_memory(err, (size_t)num_inputs * sizeof *ids);
        leat_graph_free(graph);
        return NULL;
    }
    for (int i = 0; i < num_inputs; i++)
        ids[i] = i;
    int32_t first = leati_graph_add(graph, &leati_tensor_op_call, &args, ids, num_inputs);
    leati_free(ids);
    for (int i = 0; first >= 0 && i < num_outputs; i++)
        values[i] = (leat_value){.graph = graph, .id = first + i};
    return leat_graph_finish(graph, values, first < 0 ? 0 : num_outputs, output, err);
}

leat_function *(leat_callback_function)(leat_callback callback, void *context,
                                        void (*release)(void *context), const char *name,
                                        uint32_t flags, leat_spec *input, leat_spec *output,
                                        leat_error *err) {
    leat_function *function = NULL;
    leati_callback *object = NULL;
    if (callback && input && output)
        object = callback_new(callback, context, name, flags, err);
    else if (err && !err->code)
        leati_fail(err, LEAT_INVALID_ARGUMENT, "%s of the callback function is NULL",
                   !callback ? "the callback"
                   : input   ? "the output spec"
                             : "the input spec");
    if (object) {
        object->release = release;
        function = build(object, input, output, err);
        leati_object_unref(object);
    } else if (release) {
        release(context);
    }
    leat_spec_unref(input);
    leat_spec_unref(output);
    return function;
}

leat_function *leati_callback_function_named(const char *name, const leat_spec *input,
                                             const leat_spec *output, leat_error *err) {
    leati_callback *found = name ? find_registered(name) : NULL;
    leat_function *function = NULL;
    if (found)
        function = build(found, input, output, err);
    else
        fail_unregistered(name, err);
    leati_object_unref(found);
    return function;
}
