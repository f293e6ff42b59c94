/* Collectives between threads of one process. */
#ifndef LEATI_COLL_THREADS_H
#define LEATI_COLL_THREADS_H

#include "coll/coll.h"

/* `num_ranks` ranks, one thread each; a wait longer than `timeout_ms` fails everywhere. Owned
 * (ops->close). */
leati_collective *leati_threads_collective_new(int num_ranks, int64_t timeout_ms, leat_error *err);

#endif
