/* A driver: a thread that pulls on behalf of one operator (prefetch, parallel map, an open
 * interleave slot). */
#ifndef LEATI_RUN_DRIVER_H
#define LEATI_RUN_DRIVER_H

#include "run/cancel.h"
#include <leat/base.h>

typedef struct leati_driver leati_driver;

/* Starts a thread named `name` that calls main(context) once. Owned: leati_driver_join frees it. */
leati_driver *leati_driver_start(const char *name, void (*main)(void *context), void *context,
                                 leat_error *err);
/* Waits until main has returned, then frees. NULL is allowed. The caller has told main to stop (a
 * flag under its gate). */
void leati_driver_join(leati_driver *driver);

#endif
