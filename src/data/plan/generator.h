/* Users' generators as objects, and the registry of their names. */
#ifndef LEATI_DATA_PLAN_GENERATOR_H
#define LEATI_DATA_PLAN_GENERATOR_H

#include "core/object.h"
#include "run/turn.h"
#include <leat/data_ops.h>

typedef struct leati_generator {
    leat_object object;
    char *name; /* NULL: anonymous */
    leat_generator functions;
    void *context;
    void (*release)(void *context); /* may be NULL */
    uint32_t flags;
    leati_turn turn; /* unless LEAT_PURE */
} leati_generator;

/* Owned; NULL without memory, and then the context is not released. */
leati_generator *leati_generator_new(const leat_generator *functions, void *context,
                                     const char *name, uint32_t flags, leat_error *err);
/* What the name is registered for. Owned; NOT_FOUND. */
leati_generator *leati_generator_named(const char *name, leat_error *err);
bool leati_generator_is_registered(const leati_generator *generator);

/* The user's functions, one call at a time unless LEAT_PURE. Failures carry the generator's name;
 * OUT_OF_RANGE of next is the end, and has no text. */
LEAT_WARN_UNUSED leat_status leati_generator_open(leati_generator *generator,
                                                  const leat_element *args, void **run,
                                                  leat_error *err);
LEAT_WARN_UNUSED leat_status leati_generator_next(leati_generator *generator, void *run,
                                                  leat_element *out, leat_error *err);
void leati_generator_close(leati_generator *generator, void *run);

#endif
