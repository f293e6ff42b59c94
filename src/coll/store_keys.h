/* What the store's server keeps for ranks: values by key, those who wait for one, and barriers.
 *
 * A set keeps a value and answers those who wait for it; a barrier keeps each rank's value and
 * answers all when the last has come. What is waited for beyond its time is refused with the names
 * of those who are missing. What is kept for one rank is bounded, and it is told where it asks for
 * more (RESOURCE_EXHAUSTED): a member that has gone wrong does not fill rank 0's memory. The
 * server's thread alone calls. */
#ifndef LEATI_COLL_STORE_KEYS_H
#define LEATI_COLL_STORE_KEYS_H

#include "base/error.h"
#include "base/text.h"

enum { LEATI_STORE_KEYS_MOST = 1 << 14, LEATI_STORE_KEYS_MOST_BYTES = 32 << 20 };

/* What is kept for one rank: values that it set, places where it waits, values that it brought. */
typedef struct leati_store_share {
    size_t count, bytes;
} leati_store_share;

/* {0} but for what the server says of itself, and `shares`. */
typedef struct leati_store_keys {
    int num_ranks;
    void (*answer)(void *context, int rank, uint64_t request, const void *a, size_t a_size,
                   const void *b, size_t b_size);
    void (*refuse)(void *context, int rank, uint64_t request, leat_status code, const char *text);
    void (*name)(void *context, int rank, leati_text *text); /* adds it */
    /* Adds, behind the names of those who are missing, why that may be. */
    void (*missing)(void *context, leati_text *text);
    void *context;
    leati_store_share *shares; /* by rank; owned */
    struct leati_store_entry *entries;
    struct leati_store_waiter *waiters;
    struct leati_store_barrier_entry *barriers;
} leati_store_keys;

/* False without memory. */
bool leati_store_keys_set(leati_store_keys *keys, int rank, uint64_t request, const char *key,
                          const char *value, size_t size);
bool leati_store_keys_get(leati_store_keys *keys, int rank, uint64_t request, int64_t timeout_ms,
                          const char *key);
bool leati_store_keys_meet(leati_store_keys *keys, int rank, uint64_t request, int64_t timeout_ms,
                           const char *name, const char *value, size_t size);
/* Refuses what was waited for too long, or, with why the job has failed, everything. */
void leati_store_keys_expire(leati_store_keys *keys, int64_t now, const leat_error *failed);
void leati_store_keys_fini(leati_store_keys *keys);

#endif
