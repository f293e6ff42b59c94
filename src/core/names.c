/* A table of named objects: see names.h. Objects are released outside the lock. */
#include "core/names.h"

#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* The place of a name; `count` where there is none. The lock is held. */
static size_t find_place(const leati_names *names, const char *name) {
    size_t at = 0;
    while (at < names->count && strcmp(names->items[at].name, name) != 0)
        at++;
    return at;
}

void *leati_names_find(leati_names *names, const char *name) {
    pthread_mutex_lock(&names->lock);
    size_t at = name != NULL ? find_place(names, name) : names->count;
    /* The reference is taken under the lock: another thread may replace the object right after. */
    void *found = at < names->count ? leati_object_ref(names->items[at].object) : NULL;
    pthread_mutex_unlock(&names->lock);
    return found;
}

/* The lock is held. Returns what the name stood for. */
static leat_object *drop(leati_names *names, size_t at) {
    leat_object *old = names->items[at].object;
    leati_free(names->items[at].name);
    names->items[at] = names->items[--names->count];
    if (!names->count) {
        /* An empty table holds no memory, so that a process that took all names away leaks
         * nothing. */
        leati_free(names->items);
        names->items = NULL;
        names->capacity = 0;
    }
    return old;
}

leat_status leati_names_set(leati_names *names, const char *name, leat_object *object,
                            leat_error *err) {
    leat_object *old = NULL;
    char *copy = NULL;
    bool ok = true;
    pthread_mutex_lock(&names->lock);
    size_t at = find_place(names, name);
    if (at < names->count && object != NULL) {
        old = names->items[at].object;
        names->items[at].object = object;
    } else if (at < names->count) {
        old = drop(names, at);
    } else if (object != NULL) {
        copy = leati_strdup(name);
        ok = copy != NULL && leati_grow((void **)&names->items, &names->capacity, names->count + 1,
                                        sizeof(*names->items));
        if (ok)
            names->items[names->count++] = (leati_name){.name = copy, .object = object};
    }
    pthread_mutex_unlock(&names->lock);
    if (!ok) {
        leati_free(copy);
        old = object;
    }
    /* The object's `free` may call back into the table. */
    leati_object_unref(old);
    return ok ? LEAT_OK : leati_no_memory(err);
}
