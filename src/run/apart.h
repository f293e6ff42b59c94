/* Work that its thread can leave: one call of a library, which looks at nothing and may take
 * minutes. */
#ifndef LEATI_RUN_APART_H
#define LEATI_RUN_APART_H

#include <stdbool.h>

/* run(job) on a thread of its own, for which the caller waits. True: it has ended, and the job is
 * the caller's again. False: the caller's thread is to stop (leati_stop_look), and waits no longer;
 * the work goes on until it looks itself, whatever it uses must be the job's own, and drop(job)
 * follows it there. Denormal numbers count as they do for the caller. Where the caller's thread
 * never stops, or there is no memory for another, the caller does it. A process that ends meanwhile
 * waits for nothing: handlers of exit that were registered before the first such job was left are
 * not called then. */
bool leati_apart_run(void (*run)(void *job), void (*drop)(void *job), void *job);

/* Jobs that were left and have not ended. */
int leati_apart_num_left(void);

#endif
