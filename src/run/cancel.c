/* Cancellation.
 *
 * A flag, and a list of watches that fire calls once. A child is a watch of its parent. Locks go
 * from parent to child to a gate's; the flag is atomic, so that asking costs one load. */
#include "run/cancel.h"

#include "base/alloc.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

struct leat_cancel {
    atomic_int references;
    atomic_bool fired;
    pthread_mutex_t lock;
    leati_cancel_watch *watches; /* lock */
    bool is_local;               /* constant once it is used */
    leat_cancel *parent;         /* borrowed */
    leati_cancel_watch of_parent;
};

static void parent_fired(leati_cancel_watch *watch) {
    leati_cancel_fire((leat_cancel *)((char *)watch - offsetof(leat_cancel, of_parent)));
}

leat_cancel *leati_cancel_new(leat_cancel *parent, leat_error *err) {
    leat_cancel *cancel = leati_alloc_zero(1, sizeof *cancel);
    if (cancel == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&cancel->references, 1);
    atomic_init(&cancel->fired, false);
    pthread_mutex_init(&cancel->lock, NULL);
    cancel->parent = parent;
    cancel->is_local = parent != NULL && parent->is_local;
    cancel->of_parent.fired = parent_fired;
    if (parent != NULL)
        leati_cancel_watch_add(parent, &cancel->of_parent);
    return cancel;
}

void leati_cancel_keep_local(leat_cancel *cancel) {
    cancel->is_local = true;
}

leat_cancel *leati_cancel_ref(leat_cancel *cancel) {
    if (cancel != NULL)
        atomic_fetch_add_explicit(&cancel->references, 1, memory_order_relaxed);
    return cancel;
}

void leati_cancel_unref(leat_cancel *cancel) {
    if (cancel == NULL ||
        atomic_fetch_sub_explicit(&cancel->references, 1, memory_order_acq_rel) != 1)
        return;
    if (cancel->parent != NULL)
        leati_cancel_watch_remove(cancel->parent, &cancel->of_parent);
    pthread_mutex_destroy(&cancel->lock);
    leati_free(cancel);
}

void leati_cancel_fire(leat_cancel *cancel) {
    if (cancel == NULL || atomic_exchange(&cancel->fired, true))
        return;
    pthread_mutex_lock(&cancel->lock);
    for (leati_cancel_watch *watch = cancel->watches; watch != NULL; watch = watch->next)
        watch->fired(watch);
    pthread_mutex_unlock(&cancel->lock);
}

bool leati_cancel_fired(const leat_cancel *cancel) {
    return cancel != NULL && atomic_load((atomic_bool *)&cancel->fired);
}

/* The flag is read under the lock: a fire that sets it later walks the list later, and finds the
 * watch; a fire that has set it earlier may have walked the list already. So a watch could be
 * called twice, once from here and once from a walk that waits for the lock; hence it joins the
 * list only if the flag was not set. */
void leati_cancel_watch_add(leat_cancel *cancel, leati_cancel_watch *watch) {
    pthread_mutex_lock(&cancel->lock);
    watch->previous = NULL;
    watch->next = NULL;
    bool fired = atomic_load(&cancel->fired);
    if (!fired) {
        watch->next = cancel->watches;
        if (watch->next != NULL)
            watch->next->previous = watch;
        cancel->watches = watch;
    } else {
        watch->fired(watch);
    }
    pthread_mutex_unlock(&cancel->lock);
}

void leati_cancel_watch_remove(leat_cancel *cancel, leati_cancel_watch *watch) {
    pthread_mutex_lock(&cancel->lock);
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else if (cancel->watches == watch)
        cancel->watches = watch->next;
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    watch->next = NULL;
    watch->previous = NULL;
    pthread_mutex_unlock(&cancel->lock);
}

static void fire(void *owner) {
    leati_cancel_fire(owner);
}

leati_stop_scope leati_cancel_enter(leat_cancel *cancel) {
    if (cancel == NULL)
        return leati_stop_enter(NULL, NULL, NULL);
    leati_stop_scope before = leati_stop_enter(&cancel->fired, fire, cancel);
    if (cancel->is_local)
        (void)leati_stop_enter_local();
    return before;
}
