/* Iterators that are shown on a web page while they live (the option `watch`): one server per port
 * of the process, which they share. */
#ifndef LEATI_DATA_RUN_WATCH_H
#define LEATI_DATA_RUN_WATCH_H

#include "data/run/state.h"

typedef struct leati_watch leati_watch;

/* Shows an iterator, whose tree is open, at `port` (0: any that is free) of loopback, where
 * LEAT_WATCH_TOKEN in the environment is the token of the page. `name` is borrowed, as are the
 * others, until leati_watch_end. NULL where it cannot be shown, which is logged: the pipeline goes
 * on. */
leati_watch *leati_watch_begin(const leati_iteration *iteration, const leati_node_state *top,
                               const char *name, int port);
/* The last one of a port closes its server. NULL: nothing. */
void leati_watch_end(leati_watch *watch);

#endif
