/* What the iterators of one cache node share: the complete rows of a memory cache, and what random
 * access has read. A restored iterator has one for itself (data/run/own.h), whose rows are those
 * that its state tells of. */
#ifndef LEATI_DATA_KEPT_CACHE_STORE_H
#define LEATI_DATA_KEPT_CACHE_STORE_H

#include "data/kept/cache_fill.h"
#include "data/kept/cache_rows.h"
#include "data/run/own.h"

/* The place of complete rows. Thread-safe. */
typedef struct leati_cache_store leati_cache_store;

typedef struct leati_cache_shared {
    leati_cache_store *store; /* what a complete iteration has kept */
    leati_cache_fill *fill;   /* what random access has read */
} leati_cache_shared;

/* The arguments of the operator cache. */
typedef struct leati_cache_args {
    char *filename;
} leati_cache_args;

/* Prefix of its files, borrowed; NULL: it is in memory. */
const char *leati_cache_prefix(const leat_dataset *dataset);

/* The slots of the operator cache. */
void *leati_cache_store_share(const leat_dataset *dataset, leat_error *err);
void leati_cache_store_unshare(void *shared);
void leati_cache_store_settle(void *own, void *shared);
bool leati_cache_store_empty(const leat_dataset *dataset, void *state);
LEAT_WARN_UNUSED leat_status leati_cache_store_save(const leat_dataset *dataset, void *state,
                                                    leati_writer *out, leati_save_cost *cost,
                                                    leat_error *err);
LEAT_WARN_UNUSED leat_status leati_cache_store_restore(const leat_dataset *dataset, void *own,
                                                       void *shared, leati_reader *in,
                                                       bool *unfinished, leat_error *err);

/* The store of the node for its iterator; NULL with the error set without memory. */
leati_cache_store *leati_cache_store_of(const leati_node_state *node, leat_error *err);
/* The complete rows (a new reference), or NULL: nobody has completed them yet. */
leati_cache_rows *leati_cache_store_get(leati_cache_store *store);
/* The same of the node for its iterator; *found is NULL where there are none. */
LEAT_WARN_UNUSED leat_status leati_cache_store_find(const leati_node_state *node,
                                                    leati_cache_rows **found, leat_error *err);
/* Publishes complete rows (a reference is taken) unless somebody was first; those of a restored
 * iterator for the others, too. */
LEAT_WARN_UNUSED leat_status leati_cache_store_publish(const leati_node_state *node,
                                                       leati_cache_rows *rows, leat_error *err);
/* The number of rows that the state tells of and that are still to be computed, from the input's
 * state `origin` (borrowed); -1: none. */
int64_t leati_cache_store_expected(const leati_cache_store *store, leati_reader *origin);
/* While an iterator is restored its own store is seen as it was when the part of the state was
 * taken that is being read: empty, because the node was filling it. Until all is read; elsewhere
 * nothing happens. */
void leati_cache_store_hide(const leati_node_state *node);
/* Is a state to tell of these rows by where they come from? Else by themselves. */
bool leati_cache_store_replays(const leati_node_state *node, const leati_cache_rows *rows,
                               const leati_save_cost *cost);
/* Does leati_cache_store_save write these rows, so that the node need not? */
bool leati_cache_store_has(const leati_node_state *node, const leati_cache_rows *rows,
                           const leati_save_cost *cost);
/* Do the rows come again from this state of the input? */
bool leati_cache_store_is_from(const leati_cache_rows *rows, const void *origin, size_t size);

#endif
