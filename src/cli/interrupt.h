/* Ctrl-C: the process ends at once with exit status 130. */
#ifndef LEATI_CLI_INTERRUPT_H
#define LEATI_CLI_INTERRUPT_H

#include <leat/base.h>

/* Starts the thread that waits for SIGINT. To be called once, before any other thread exists: the
 * signal is blocked in every thread. Whole lines that were printed are written out first, and
 * nothing else: the tool writes no files of its own, and what the library writes appears under its
 * name only when it is complete. Without a thread Ctrl-C keeps its usual effect. */
void leati_interrupt_watch(void);

#endif
