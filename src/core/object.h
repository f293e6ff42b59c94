/* What dtype object points to: a reference count and a type. Datasets, functions and variables
 * start with one. */
#ifndef LEATI_CORE_OBJECT_H
#define LEATI_CORE_OBJECT_H

#include <leat/core.h>
#include <stdatomic.h>

typedef struct leati_object_type {
    const char *name; /* "dataset", "function", "variable" */
    void (*free)(leat_object *object);
    /* The same in every process for objects that say the same; NULL: does not count. */
    uint64_t (*hash)(const leat_object *object, uint64_t seed);
} leati_object_type;

struct leat_object {
    atomic_long refs;
    const leati_object_type *type;
};

void leati_object_init(leat_object *object, const leati_object_type *type);
/* NULL passes through both. */
void *leati_object_ref(void *object);
void leati_object_unref(void *object);

#endif
