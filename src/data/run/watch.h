/* Iterators that are shown on a web page while they live (the option `watch`): one server per port
 * of the process, which they share. */
#ifndef LEATI_DATA_RUN_WATCH_H
#define LEATI_DATA_RUN_WATCH_H

#include "data/run/state.h"

typedef struct leati_watch leati_watch;

/* Does LEAT_WATCH in the environment ask for a page of each pipeline of the process? Then at this
 * port; 0: any that is free. What is no port is a warning, once. */
bool leati_watch_asked(int *port);

/* Shows an iterator, whose tree is open, at `port` (0: any that is free) of loopback, where
 * LEAT_WATCH_TOKEN in the environment is the token of the page. `name` is borrowed, as are the
 * others, until leati_watch_end. NULL where it cannot be shown, which is logged: the pipeline goes
 * on. A server that this opens as `kept` stays to the end of the process. */
leati_watch *leati_watch_begin(const leati_iteration *iteration, const leati_node_state *top,
                               const char *name, int port, bool kept);
/* The last one of a port closes its server, unless that is kept. NULL: nothing. */
void leati_watch_end(leati_watch *watch);

#endif
