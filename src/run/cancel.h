/* Cancellation: a flag that wakes every wait registered with it. One per iterator; Ctrl-C in the
 * tool cancels the root. */
#ifndef LEATI_RUN_CANCEL_H
#define LEATI_RUN_CANCEL_H

#include <leat/base.h>

typedef struct leati_cancel leati_cancel;

/* A child is cancelled with its parent (NULL: none; borrowed, must outlive it). Owned. */
leati_cancel *leati_cancel_new(leati_cancel *parent, leat_error *err);
void leati_cancel_unref(leati_cancel *cancel);
leati_cancel *leati_cancel_ref(leati_cancel *cancel);
/* Sets the flag and wakes the waiters. Idempotent, any thread, not a signal handler. */
void leati_cancel_fire(leati_cancel *cancel);
bool leati_cancel_fired(const leati_cancel *cancel);

#endif
