/* Reference counts of opaque values. An object's creator calls leati_object_init and holds the one
 * reference; the type's `free` runs on the thread that drops the last one. Counts are atomic; there
 * is no lock and nothing here fails. */
#include "core/object.h"

void leati_object_init(leat_object *object, const leati_object_type *type) {
    atomic_init(&object->refs, 1);
    object->type = type;
}

void *leati_object_ref(void *object) {
    if (object != NULL)
        atomic_fetch_add_explicit(&((leat_object *)object)->refs, 1, memory_order_relaxed);
    return object;
}

void leati_object_unref(void *object) {
    leat_object *self = object;
    /* acq_rel: the freeing thread sees every write made under the other references. */
    if (self != NULL && atomic_fetch_sub_explicit(&self->refs, 1, memory_order_acq_rel) == 1)
        self->type->free(self);
}
