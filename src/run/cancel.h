/* Cancellation: a flag that wakes every wait registered with it. One per iterator; Ctrl-C in the
 * tool cancels the root. */
#ifndef LEATI_RUN_CANCEL_H
#define LEATI_RUN_CANCEL_H

#include "base/stop.h"
#include <leat/base.h>

typedef struct leat_cancel leat_cancel;

/* A child is cancelled with its parent (NULL: none; borrowed, must outlive it). Owned. */
leat_cancel *leati_cancel_new(leat_cancel *parent, leat_error *err);
/* Who works for it, or for a child that is made from now on, opens files of this machine alone
 * (leati_stop_enter_local). Before any thread works for it. */
void leati_cancel_keep_local(leat_cancel *cancel);
void leati_cancel_unref(leat_cancel *cancel);
leat_cancel *leati_cancel_ref(leat_cancel *cancel);
/* Sets the flag and wakes the waiters. Idempotent, any thread, not a signal handler, and not with a
 * gate's lock held. NULL is allowed. */
void leati_cancel_fire(leat_cancel *cancel);
/* NULL is never fired. */
bool leati_cancel_fired(const leat_cancel *cancel);

/* Somebody who wants to know: embedded in its owner, as a gate's is. `fired` is called at most once
 * per watch, with the lock of the cancel object held: it may take a leaf lock of its own, and calls
 * nothing of cancel.h. */
typedef struct leati_cancel_watch {
    void (*fired)(struct leati_cancel_watch *watch);
    struct leati_cancel_watch *next, *previous; /* the cancel object's lock */
} leati_cancel_watch;

/* From now on `fired` is called when the object fires; at once if it has fired. Unwatch waits for a
 * call that is under way. */
void leati_cancel_watch_add(leat_cancel *cancel, leati_cancel_watch *watch);
void leati_cancel_watch_remove(leat_cancel *cancel, leati_cancel_watch *watch);

/* The thread works for `cancel` (borrowed; NULL: for whom it worked before): looks (base/stop.h)
 * say true from when it fires. Returns the scope before, for leati_stop_leave. */
leati_stop_scope leati_cancel_enter(leat_cancel *cancel);

#endif
