/* Objects by name, for what programs register once for the process. */
#ifndef LEATI_CORE_NAMES_H
#define LEATI_CORE_NAMES_H

#include "core/object.h"
#include <pthread.h>

typedef struct leati_name {
    char *name;
    leat_object *object;
} leati_name;

/* A static variable: {.lock = PTHREAD_MUTEX_INITIALIZER}. */
typedef struct leati_names {
    pthread_mutex_t lock; /* guards the rest; a leaf */
    leati_name *items;
    size_t count, capacity;
} leati_names;

/* What the name stands for; NULL: nothing. Owned. */
void *leati_names_find(leati_names *names, const char *name);
/* From now on `name` stands for `object` (given, released on failure), or for nothing (NULL). */
LEAT_WARN_UNUSED leat_status leati_names_set(leati_names *names, const char *name,
                                             leat_object *object, leat_error *err);

#endif
