/* The shared part of a cache node: see cache_store.h.
 *
 * A state has the rows of the node's store once: nothing where nobody had completed them, else the
 * input's state from which they come again, or the rows. A restored iterator looks at nothing but
 * its own store, so that it reads in later epochs what the saved one was going to read, whoever
 * fills the cache meanwhile. What it completes itself the others find too.
 *
 * Failures: RESOURCE_EXHAUSTED, and DATA_LOSS for damaged bytes. Locks: a store's `lock` guards its
 * pointer to rows; it is a leaf. What is expected is written before the iterator is used. */
#include "data/kept/cache_store.h"
#include "base/alloc.h"
#include "base/error.h"
#include <pthread.h>
#include <string.h>

struct leati_cache_store {
    pthread_mutex_t lock;
    leati_cache_rows *rows; /* complete, or NULL; under lock */
    leati_writer origin;    /* where rows come from that a state tells of; empty: none */
    int64_t expected;       /* how many of them */
    bool restored;          /* from a state that tells of the store */
    bool settled;           /* the state is read: no more */
    leati_cache_rows *told; /* complete rows that the state told of, or NULL */
};

/* How a state tells of the store. */
enum { STORE_EMPTY = 0, STORE_ORIGIN, STORE_ROWS };

const char *leati_cache_prefix(const leat_dataset *dataset) {
    const char *filename = ((const leati_cache_args *)dataset->args)->filename;
    return filename == NULL || filename[0] == 0 ? NULL : filename;
}

static leati_cache_store *store_new(leat_error *err) {
    leati_cache_store *store = leati_alloc_zero(1, sizeof(*store));
    if (store == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

static void store_free(leati_cache_store *store) {
    if (store == NULL)
        return;
    leati_cache_rows_unref(store->rows);
    leati_cache_rows_unref(store->told);
    leati_writer_fini(&store->origin);
    pthread_mutex_destroy(&store->lock);
    leati_free(store);
}

void leati_cache_store_unshare(void *shared) {
    leati_cache_shared *both = shared;
    leati_cache_fill_free(both->fill);
    store_free(both->store);
    leati_free(both);
}

void *leati_cache_store_share(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    leati_cache_shared *both = leati_alloc_zero(1, sizeof(*both));
    if (both == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    both->store = store_new(err);
    both->fill = both->store == NULL ? NULL : leati_cache_fill_new(err);
    if (both->fill == NULL) {
        leati_cache_store_unshare(both);
        return NULL;
    }
    return both;
}

/* ---- rows ---- */

leati_cache_rows *leati_cache_store_get(leati_cache_store *store) {
    pthread_mutex_lock(&store->lock);
    leati_cache_rows *rows = store->rows == NULL ? NULL : leati_cache_rows_ref(store->rows);
    pthread_mutex_unlock(&store->lock);
    return rows;
}

bool leati_cache_store_empty(const leat_dataset *dataset, void *state) {
    if (leati_cache_prefix(dataset) != NULL)
        return false; /* whether there are files is nothing that a state tells */
    leati_cache_rows *rows = leati_cache_store_get(((leati_cache_shared *)state)->store);
    leati_cache_rows_unref(rows);
    return rows == NULL;
}

static void put(leati_cache_store *store, leati_cache_rows *rows) {
    pthread_mutex_lock(&store->lock);
    if (store->rows == NULL)
        /* Of two that filled at the same time the first one's rows stay, which others may read
         * already. */
        store->rows = leati_cache_rows_ref(rows);
    pthread_mutex_unlock(&store->lock);
}

leati_cache_store *leati_cache_store_of(const leati_node_state *node, leat_error *err) {
    leati_cache_shared *both = leati_own_shared(node->iteration->own, node->dataset, err);
    return both == NULL ? NULL : both->store;
}

/* That of the other iterators, where this one has its own; else NULL. */
static leati_cache_store *store_beside(const leati_node_state *node) {
    leati_cache_shared *both = leati_own_beside(node->iteration->own, node->dataset);
    return both == NULL ? NULL : both->store;
}

leat_status leati_cache_store_find(const leati_node_state *node, leati_cache_rows **found,
                                   leat_error *err) {
    leati_cache_store *store = leati_cache_store_of(node, err);
    if (store == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    *found = leati_cache_store_get(store);
    leati_cache_store *beside = store_beside(node);
    /* A state of version 1 does not tell: there all iterators share what there is. */
    if (*found == NULL && beside != NULL && !store->restored)
        *found = leati_cache_store_get(beside);
    return LEAT_OK;
}

leat_status leati_cache_store_publish(const leati_node_state *node, leati_cache_rows *rows,
                                      leat_error *err) {
    leati_cache_store *store = leati_cache_store_of(node, err);
    if (store == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* The numbers of this iterator's draws mean nothing to others. */
    if (leati_own_alternates(node->iteration->own))
        rows->origin.size = 0;
    put(store, rows);
    leati_cache_store *beside = store_beside(node);
    if (beside != NULL)
        put(beside, rows);
    return LEAT_OK;
}

int64_t leati_cache_store_expected(const leati_cache_store *store, leati_reader *origin) {
    *origin = (leati_reader){.data = store->origin.data, .size = store->origin.size};
    return store->origin.size > 0 && store->rows == NULL ? store->expected : -1;
}

bool leati_cache_store_is_from(const leati_cache_rows *rows, const void *origin, size_t size) {
    return rows->origin.size == size && size > 0 && memcmp(rows->origin.data, origin, size) == 0;
}

/* ---- saving ---- */

bool leati_cache_store_replays(const leati_node_state *node, const leati_cache_rows *rows,
                               const leati_save_cost *cost) {
    return rows->origin.size > 0 && cost->mode != LEAT_SAVE_DATA &&
           !leati_own_alternates(node->iteration->own);
}

bool leati_cache_store_has(const leati_node_state *node, const leati_cache_rows *rows,
                           const leati_save_cost *cost) {
    /* An input's own snapshot is compared with others, and so tells of the rows itself. */
    if (!cost->lasting || !leati_own_lists(node->iteration->own, node->dataset))
        return false;
    leati_cache_store *store = leati_cache_store_of(node, &(leat_error){0});
    leati_cache_rows *kept = store == NULL ? NULL : leati_cache_store_get(store);
    leati_cache_rows_unref(kept);
    return kept == rows && rows != NULL;
}

leat_status leati_cache_store_save(const leat_dataset *dataset, void *state, leati_writer *out,
                                   leati_save_cost *cost, leat_error *err) {
    (void)dataset;
    leati_cache_shared *both = state;
    leati_cache_rows *rows = leati_cache_store_get(both->store);
    leat_status status = LEAT_OK;
    if (rows == NULL) {
        leati_put_uint(out, STORE_EMPTY);
    } else if (rows->origin.size > 0 && cost->mode != LEAT_SAVE_DATA && !cost->alternates) {
        leati_put_uint(out, STORE_ORIGIN);
        leati_put_int(out, rows->rows);
        leati_put_bytes(out, rows->origin.data, rows->origin.size);
        cost->replay_elements += rows->rows;
    } else {
        leati_put_uint(out, STORE_ROWS);
        leati_put_bytes(out, rows->origin.data, rows->origin.size);
        cost->data_elements += rows->rows;
        status = leati_cache_rows_save(rows, out, err);
    }
    leati_cache_rows_unref(rows);
    return status;
}

/* ---- restoring ---- */

/* The rows come again from `origin`, unless the other iterators have them. */
static leat_status expect(leati_cache_store *own, leati_cache_store *shared, leati_reader *in,
                          bool *unfinished, leat_error *err) {
    const void *origin = NULL;
    size_t size = 0;
    LEATI_TRY(leati_get_int(in, &own->expected, err));
    LEATI_TRY(leati_get_bytes(in, &origin, &size, err));
    if (own->expected < 0 || size == 0) {
        return leati_fail(err, LEAT_DATA_LOSS,
                          "cache: a saved origin of %zu bytes for %lld rows; expected some", size,
                          (long long)own->expected);
    }
    leati_cache_rows *rows = leati_cache_store_get(shared);
    bool same = rows != NULL && rows->rows == own->expected &&
                leati_cache_store_is_from(rows, origin, size);
    if (same)
        put(own, rows);
    leati_cache_rows_unref(rows);
    *unfinished = !same;
    leati_put_raw(&own->origin, origin, size);
    return own->origin.failed ? leati_no_memory(err) : LEAT_OK;
}

static leat_status load(leati_cache_store *own, leati_cache_store *shared, const leat_spec *spec,
                        leati_reader *in, leat_error *err) {
    const void *origin = NULL;
    size_t size = 0;
    LEATI_TRY(leati_get_bytes(in, &origin, &size, err));
    leati_cache_rows *rows = leati_cache_rows_new(err);
    if (rows == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_put_raw(&rows->origin, origin, size);
    leat_status status =
        rows->origin.failed ? leati_no_memory(err) : leati_cache_rows_load(rows, spec, in, err);
    if (status == LEAT_OK) {
        put(own, rows);
        put(shared, rows);
    }
    leati_cache_rows_unref(rows);
    return status;
}

leat_status leati_cache_store_restore(const leat_dataset *dataset, void *own, void *shared,
                                      leati_reader *in, bool *unfinished, leat_error *err) {
    leati_cache_store *to = ((leati_cache_shared *)own)->store;
    leati_cache_store *from = ((leati_cache_shared *)shared)->store;
    uint64_t how = 0;
    LEATI_TRY(leati_get_uint(in, &how, err));
    to->restored = true;
    switch (how) {
    case STORE_EMPTY: return LEAT_OK;
    case STORE_ORIGIN: return expect(to, from, in, unfinished, err);
    case STORE_ROWS: return load(to, from, dataset->spec, in, err);
    default:
        return leati_fail(err, LEAT_DATA_LOSS, "cache: saved rows of kind %llu; expected 0 to 2",
                          (unsigned long long)how);
    }
}

void leati_cache_store_hide(const leati_node_state *node) {
    leati_cache_store *store =
        store_beside(node) == NULL ? NULL : leati_cache_store_of(node, &(leat_error){0});
    if (store == NULL || !store->restored)
        return;
    pthread_mutex_lock(&store->lock);
    leati_cache_rows *hidden = store->settled ? NULL : store->rows;
    if (hidden != NULL)
        store->rows = NULL;
    bool first = hidden != NULL && store->told == NULL;
    if (first)
        store->told = hidden;
    pthread_mutex_unlock(&store->lock);
    if (!first)
        leati_cache_rows_unref(hidden);
}

void leati_cache_store_settle(void *own, void *shared) {
    (void)shared; /* rows are published for the others when they are there */
    leati_cache_store *store = ((leati_cache_shared *)own)->store;
    pthread_mutex_lock(&store->lock);
    leati_cache_rows *replayed = store->told != NULL ? store->rows : NULL;
    if (store->told != NULL)
        store->rows = store->told;
    store->told = NULL;
    store->settled = true;
    pthread_mutex_unlock(&store->lock);
    leati_cache_rows_unref(replayed);
}
