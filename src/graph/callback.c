/* Users' C functions: the object that a graph holds, and the registry.
 *
 * A callback that was not declared pure is called by one thread at a time; it may use the library,
 * and even call itself. No lock is held while it runs. */
#include "graph/callback.h"
#include "base/fork.h"
#include "core/names.h"
#include "graph/graph.h"
#include <string.h>

static void callback_free(leat_object *object) {
    leati_callback *callback = (leati_callback *)(void *)object;
    if (callback->release != NULL)
        callback->release(callback->context);
    leati_turn_fini(&callback->turn);
    leati_free(callback->name);
    leati_free(callback);
}

static const leati_object_type callback_type = {.name = "callback", .free = callback_free};

bool leati_callback_is_object(const leat_object *object) {
    return object != NULL && object->type == &callback_type;
}

/* Owned; NULL without memory, and then the context is not released. */
static leati_callback *callback_new(leat_callback function, void *context, const char *name,
                                    uint32_t flags, leat_error *err) {
    leati_callback *callback = leati_alloc_zero(1, sizeof *callback);
    if (callback == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&callback->object, &callback_type);
    leati_turn_init(&callback->turn);
    callback->function = function;
    callback->context = context;
    callback->flags = flags;
    callback->name = leati_strdup(name);
    if (name != NULL && callback->name == NULL) {
        leati_no_memory(err);
        /* `release` is not set yet: the context stays the caller's. */
        leati_object_unref(callback);
        return NULL;
    }
    return callback;
}

/* ---- calling ---- */

leat_status leati_callback_run(leati_callback *callback, const leat_element *in, leat_element *out,
                               leat_error *err) {
    leat_error failure = {0};
    bool pure = (callback->flags & LEAT_PURE) != 0;
    /* A turn, not a mutex: the callback may call itself, directly or through a pipeline that it
     * reads. */
    if (!pure)
        leati_turn_enter(&callback->turn);
    leat_status status = callback->function(callback->context, in, out, &failure);
    if (!pure)
        leati_turn_leave(&callback->turn);
    if (status == LEAT_OK)
        return LEAT_OK;
    return leati_fail_callback(err, status, &failure, "callback", callback->name);
}

/* ---- the registry ---- */

static leati_names registry = {.lock = PTHREAD_MUTEX_INITIALIZER};
LEATI_FORK_LOCK(callbacks, &registry.lock);

leat_status leat_callback_register(const char *name, leat_callback callback, void *context,
                                   uint32_t flags, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_callback *object = NULL;
    if (name == NULL || !*name)
        return leati_refuse(err, VALUE, "a registered callback needs a name");
    if (callback != NULL && (object = callback_new(callback, context, name, flags, err)) == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* NULL takes the name away; functions that hold the callback keep it. */
    return leati_names_set(&registry, name, object != NULL ? &object->object : NULL, err);
}

leat_status leati_callback_check_registered(const leat_object *object, leat_error *err) {
    const leati_callback *callback = (const leati_callback *)(const void *)object;
    leati_callback *found = leati_names_find(&registry, callback->name);
    /* Whether it is there is the whole question; the pointer is compared only. */
    leati_object_unref(found);
    if (found != NULL)
        return LEAT_OK;
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "callback \"%s\" is not registered, so it cannot be written; name it with "
                      "leat_callback_register",
                      callback->name != NULL ? callback->name : "(unnamed)");
}

static leat_status fail_unregistered(const char *name, leat_error *err) {
    return leati_fail(err, LEAT_NOT_FOUND,
                      "callback \"%s\" is not registered; call leat_callback_register before "
                      "reading",
                      name != NULL ? name : "(unnamed)");
}

leat_status leati_callback_resolve(const leati_tensor_op *op, void *args, leat_error *err) {
    struct leati_call_args *call = args;
    /* Attributes from a C program have the callback; only those read from text have a name
     * alone. */
    if (op != &leati_tensor_op_call || call->callback != NULL)
        return LEAT_OK;
    leati_callback *found = leati_names_find(&registry, call->name);
    if (found == NULL)
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
    if (graph == NULL)
        return NULL;
    struct leati_call_args args = {.name = callback->name,
                                   .callback = &callback->object,
                                   .input = (leat_spec *)input,
                                   .output = (leat_spec *)output,
                                   .pure = (callback->flags & LEAT_PURE) != 0};
    int num_inputs = graph->body.num_arguments, num_outputs = leat_spec_num_components(output);
    int32_t *ids = leati_alloc((size_t)num_inputs, sizeof *ids);
    if (ids == NULL) {
        leati_no_memory(err);
        leat_graph_free(graph);
        return NULL;
    }
    /* Arguments are values 0, 1, ... of a body, so the call takes all of them in order. */
    for (int i = 0; i < num_inputs; i++)
        ids[i] = i;
    int32_t first = leati_graph_add(graph, &leati_tensor_op_call, &args, ids, num_inputs);
    leati_free(ids);
    for (int i = 0; first >= 0 && i < num_outputs; i++)
        values[i] = (leat_value){.graph = graph, .id = first + i};
    /* After a failure the graph's error decides and `values`, which is not filled, is not read. */
    return leat_graph_finish(graph, values, first < 0 ? 0 : num_outputs, output, err);
}

leat_function *leat_function_from_callback(leat_callback callback, void *context,
                                           void (*release)(void *context), const char *name,
                                           uint32_t flags, leat_spec *input, leat_spec *output,
                                           leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_function *function = NULL;
    leati_callback *object = NULL;
    if (callback != NULL && input != NULL && output != NULL)
        object = callback_new(callback, context, name, flags, err);
    /* A spec that is NULL because making it failed has left its reason in `err`: that one stays. */
    else if (err->code == LEAT_OK)
        leati_refuse(err, VALUE, "%s of the callback function is NULL",
                     callback == NULL ? "the callback"
                     : input != NULL  ? "the output spec"
                                      : "the input spec");
    if (object != NULL) {
        /* From here on the object releases the context, also when building fails. */
        object->release = release;
        function = build(object, input, output, err);
        leati_object_unref(object);
    } else if (release != NULL) {
        release(context);
    }
    leat_spec_unref(input);
    leat_spec_unref(output);
    return function;
}

leat_function *leati_callback_function_named(const char *name, const leat_spec *input,
                                             const leat_spec *output, leat_error *err) {
    leati_callback *found = leati_names_find(&registry, name);
    leat_function *function = NULL;
    if (found != NULL)
        function = build(found, input, output, err);
    else
        fail_unregistered(name, err);
    leati_object_unref(found);
    return function;
}
