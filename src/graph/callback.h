/* Users' C functions as objects: what the operation `call` holds, and the registry of names. */
#ifndef LEATI_GRAPH_CALLBACK_H
#define LEATI_GRAPH_CALLBACK_H

#include "core/object.h"
#include "graph/op.h"
#include "run/turn.h"

typedef struct leati_callback {
    leat_object object;
    char *name; /* NULL: anonymous */
    leat_callback function;
    void *context;
    void (*release)(void *context); /* may be NULL */
    uint32_t flags;
    leati_turn turn;
} leati_callback;

/* Attributes of the operation `call`. */
struct leati_call_args {
    char *name;
    leat_object *callback;
    leat_spec *input, *output;
    bool pure;
};

extern const leati_tensor_op leati_tensor_op_call;

bool leati_callback_is_object(const leat_object *object);

/* Calls the user's function; where it was not declared pure, waits until no other thread is in it
 * (a call from inside itself goes on). */
LEAT_WARN_UNUSED leat_status leati_callback_run(leati_callback *callback, const leat_element *in,
                                                leat_element *out, leat_error *err);

/* UNIMPLEMENTED unless the callback's name is registered. */
LEAT_WARN_UNUSED leat_status leati_callback_check_registered(const leat_object *object,
                                                             leat_error *err);

/* After attributes of `op` were read: if it is `call`, the callback that its name is registered
 * for takes its place. NOT_FOUND naming it. */
LEAT_WARN_UNUSED leat_status leati_callback_resolve(const leati_tensor_op *op, void *args,
                                                    leat_error *err);

/* A function that calls what `name` is registered for. Specs are borrowed. Owned; NOT_FOUND. */
leat_function *leati_callback_function_named(const char *name, const leat_spec *input,
                                             const leat_spec *output, leat_error *err);

#endif
