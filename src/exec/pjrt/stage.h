/* A step as stages: a program for the device, then operations that the host does. */
#ifndef LEATI_EXEC_PJRT_STAGE_H
#define LEATI_EXEC_PJRT_STAGE_H

#include "exec/pjrt/emit.h"
#include "exec/pjrt/pjrt.h"

/* Where a program's argument comes from, or its result goes. */
typedef enum leati_pjrt_place {
    LEATI_PJRT_ARGUMENT, /* of the function */
    LEATI_PJRT_CONSTANT,
    LEATI_PJRT_VARIABLE,
    LEATI_PJRT_VALUE, /* kept for a later stage or the host */
    LEATI_PJRT_RESULT /* of the function */
} leati_pjrt_place;

typedef struct leati_pjrt_slot {
    leati_pjrt_place place;
    int32_t index;
} leati_pjrt_slot;

typedef struct leati_pjrt_stage {
    PJRT_LoadedExecutable *executable; /* NULL: nothing for the device */
    leati_pjrt_slot *inputs, *outputs; /* owned */
    size_t num_inputs, num_outputs;
    PJRT_Buffer **in, **out; /* of a run; owned lists */
    size_t bytes;            /* of the program's text */
} leati_pjrt_stage;

/* An operation that the host does behind the program of a stage. */
typedef struct leati_pjrt_host {
    const leati_simple_node *node;
    leat_function *function; /* of this node alone; owned */
    int32_t stage;           /* -1: before the first */
} leati_pjrt_host;

typedef struct leati_pjrt_step {
    leati_executable base; /* first */
    leati_pjrt_device *device;
    leati_simple simple;
    int replica;  /* of this process */
    bool is_text; /* it has no device: constants and variables stand in the text (export.c) */
    leati_pjrt_stage *stages;
    int32_t num_stages;
    leati_pjrt_host *hosts; /* by stages */
    size_t num_hosts;
    int32_t *stage_of;         /* of each node; of the host's: behind which stage */
    bool *on_host;             /* of each node */
    leat_buffer **constants;   /* on the device, those that are arguments; else NULL */
    leat_variable **variables; /* borrowed from the function */
    PJRT_Buffer **pending;     /* of each variable: what the run has written, or NULL */
    size_t num_variables, variable_capacity;
    PJRT_Buffer **kept; /* of each value: during a run, for later stages */
} leati_pjrt_step;

/* Which node runs where, and the host's functions. */
LEAT_WARN_UNUSED leat_status leati_pjrt_assign_stages(leati_pjrt_step *step,
                                                      const leati_call_context *context,
                                                      leat_error *err);
/* The program of a stage as text (owned, leati_free), its slots filled in; NULL with err. */
char *leati_pjrt_print_stage(leati_pjrt_step *step, int32_t stage,
                             const leati_call_context *context, leat_error *err);

/* Behind a failure for want of memory, what the step needs it for (memory.c). The error's code. */
leat_status leati_pjrt_blame_memory(const leati_pjrt_step *step, leat_error *err);

#endif
