/* What the store's server keeps: see store_keys.h. */
#include "coll/store_keys.h"
#include "base/alloc.h"
#include "base/clock.h"
#include <stdio.h>
#include <string.h>

typedef struct leati_store_entry {
    char *key, *value;
    size_t size;
    int rank; /* which set it last, and for which it counts */
    struct leati_store_entry *next;
} entry;

/* Somebody who waits for a key. */
typedef struct leati_store_waiter {
    int rank;
    uint64_t request;
    int64_t deadline_ns;
    char *key;
    struct leati_store_waiter *next;
} waiter;

typedef struct participant {
    bool here;
    uint64_t request;
    int64_t deadline_ns;
    char *value;
    size_t size;
} participant;

typedef struct leati_store_barrier_entry {
    char *name;
    int num_here;
    participant *participants; /* one per rank */
    struct leati_store_barrier_entry *next;
} barrier;

// ---- shares ----

/* What a thing counts for: its bytes, and about what stands around them. */
static size_t weight(const char *name, size_t size) {
    return strlen(name) + size + 128;
}

/* Counts a thing for a rank; false, and it was told: it has too many. */
static bool take_share(leati_store_keys *s, int rank, uint64_t request, const char *name,
                       size_t size) {
    leati_store_share *share = &s->shares[rank];
    size_t bytes = share->bytes + weight(name, size);
    if (share->count >= LEATI_STORE_KEYS_MOST || bytes > LEATI_STORE_KEYS_MOST_BYTES) {
        char text[300];
        snprintf(text, sizeof text,
                 "\"%.80s\" with %zu bytes is too much: rank %d has %zu values of %zu bytes in the "
                 "job's store, and a rank may have %d of %d bytes together",
                 name, size, rank, share->count, share->bytes, LEATI_STORE_KEYS_MOST,
                 LEATI_STORE_KEYS_MOST_BYTES);
        s->refuse(s->context, rank, request, LEAT_RESOURCE_EXHAUSTED, text);
        return false;
    }
    share->count++;
    share->bytes = bytes;
    return true;
}

static void give_share(leati_store_keys *s, int rank, const char *name, size_t size) {
    s->shares[rank].count--;
    s->shares[rank].bytes -= weight(name, size);
}

// ---- keys ----

static entry *find_entry(leati_store_keys *s, const char *key) {
    entry *at = s->entries;
    while (at != NULL && strcmp(at->key, key) != 0)
        at = at->next;
    return at;
}

static void remove_waiter(leati_store_keys *s, waiter **at) {
    waiter *w = *at;
    *at = w->next;
    give_share(s, w->rank, w->key, 0);
    leati_free(w->key);
    leati_free(w);
}

static void serve_waiters(leati_store_keys *s, const entry *set) {
    for (waiter **at = &s->waiters; *at != NULL;) {
        waiter *w = *at;
        if (strcmp(w->key, set->key) != 0) {
            at = &w->next;
            continue;
        }
        s->answer(s->context, w->rank, w->request, set->value, set->size, NULL, 0);
        remove_waiter(s, at);
    }
}

bool leati_store_keys_set(leati_store_keys *s, int rank, uint64_t request, const char *key,
                          const char *value, size_t size) {
    entry *at = find_entry(s, key);
    if (!take_share(s, rank, request, key, size))
        return true;
    char *copy = leati_strndup(value, size);
    if (at == NULL && copy != NULL) {
        at = leati_alloc_zero(1, sizeof *at);
        if (at != NULL && (at->key = leati_strdup(key)) == NULL) {
            leati_free(at);
            at = NULL;
        }
        if (at != NULL) {
            at->next = s->entries;
            s->entries = at;
        }
    }
    if (at == NULL || copy == NULL) {
        give_share(s, rank, key, size);
        leati_free(copy);
        return false;
    }
    /* Setting a key again replaces its value; who got the old one has a copy. */
    if (at->value != NULL)
        give_share(s, at->rank, key, at->size);
    leati_free(at->value);
    at->value = copy;
    at->size = size;
    at->rank = rank;
    s->answer(s->context, rank, request, NULL, 0, NULL, 0);
    serve_waiters(s, at);
    return true;
}

bool leati_store_keys_get(leati_store_keys *s, int rank, uint64_t request, int64_t timeout_ms,
                          const char *key) {
    const entry *at = find_entry(s, key);
    if (at != NULL) {
        s->answer(s->context, rank, request, at->value, at->size, NULL, 0);
        return true;
    }
    if (!take_share(s, rank, request, key, 0))
        return true;
    waiter *w = leati_alloc_zero(1, sizeof *w);
    if (w == NULL || (w->key = leati_strdup(key)) == NULL) {
        give_share(s, rank, key, 0);
        leati_free(w);
        return false;
    }
    w->rank = rank;
    w->request = request;
    w->deadline_ns = leati_clock_deadline_ns(timeout_ms);
    w->next = s->waiters;
    s->waiters = w;
    return true;
}

// ---- barriers ----

/* What a rank brought goes; it may come again. */
static void forget_participant(leati_store_keys *s, barrier *m, int rank) {
    participant *g = &m->participants[rank];
    if (g->value != NULL)
        give_share(s, rank, m->name, g->size);
    leati_free(g->value);
    g->value = NULL;
}

static void free_barrier(leati_store_keys *s, barrier *m) {
    for (int r = 0; m->participants != NULL && r < s->num_ranks; r++)
        forget_participant(s, m, r);
    leati_free(m->participants);
    leati_free(m->name);
    leati_free(m);
}

static barrier *find_barrier(leati_store_keys *s, const char *name) {
    barrier *at = s->barriers;
    while (at != NULL && strcmp(at->name, name) != 0)
        at = at->next;
    if (at != NULL)
        return at;
    at = leati_alloc_zero(1, sizeof *at);
    if (at != NULL) {
        at->name = leati_strdup(name);
        at->participants = leati_alloc_zero((size_t)s->num_ranks, sizeof *at->participants);
        if (at->name == NULL || at->participants == NULL) {
            free_barrier(s, at);
            return NULL;
        }
        at->next = s->barriers;
        s->barriers = at;
    }
    return at;
}

static void remove_barrier(leati_store_keys *s, barrier *m) {
    barrier **at = &s->barriers;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    free_barrier(s, m);
}

/* All are here: everybody gets sizes, then bytes, by rank. */
static bool release_barrier(leati_store_keys *s, barrier *m) {
    leati_text bytes = {0};
    /* Put together before the first answer: nobody is let go if memory does not suffice for all. */
    uint64_t *sizes = leati_alloc((size_t)s->num_ranks, sizeof *sizes);
    bool good = sizes != NULL;
    for (int r = 0; good && r < s->num_ranks; r++) {
        sizes[r] = m->participants[r].size;
        leati_text_add(&bytes, m->participants[r].value, m->participants[r].size);
    }
    good = good && !bytes.failed;
    for (int r = 0; good && r < s->num_ranks; r++) {
        s->answer(s->context, r, m->participants[r].request, sizes,
                  (size_t)s->num_ranks * sizeof *sizes, bytes.data, bytes.size);
    }
    leati_text_fini(&bytes);
    leati_free(sizes);
    remove_barrier(s, m);
    return good;
}

bool leati_store_keys_meet(leati_store_keys *s, int rank, uint64_t request, int64_t timeout_ms,
                           const char *name, const char *value, size_t size) {
    if (!take_share(s, rank, request, name, size))
        return true;
    barrier *m = find_barrier(s, name);
    char *copy = m == NULL ? NULL : leati_strndup(value, size);
    if (copy == NULL) {
        give_share(s, rank, name, size);
        return false;
    }
    participant *g = &m->participants[rank];
    forget_participant(s, m, rank);
    /* A rank whose earlier call timed out, or that asks twice, counts once; its last call is
     * answered. */
    m->num_here += !g->here;
    *g = (participant){.here = true,
                       .request = request,
                       .deadline_ns = leati_clock_deadline_ns(timeout_ms),
                       .value = copy,
                       .size = size};
    return m->num_here < s->num_ranks || release_barrier(s, m);
}

/* Adds "name, name and 3 more" of the ranks that a barrier lacks. */
static void name_missing(const leati_store_keys *s, leati_text *text, const barrier *m) {
    int count = 0;
    for (int r = 0; r < s->num_ranks; r++) {
        /* Of a large job eight names say enough. */
        if (!m->participants[r].here && ++count <= 8) {
            leati_text_addf(text, "%s", count > 1 ? ", " : "");
            s->name(s->context, r, text);
        }
    }
    if (count > 8)
        leati_text_addf(text, " and %d more", count - 8);
}

/* One participant waited too long: it is told who is missing, and no longer counts as here. */
static void expire_participant(leati_store_keys *s, barrier *m, int rank) {
    participant *g = &m->participants[rank];
    leati_text text = {0};
    s->name(s->context, rank, &text);
    leati_text_addf(&text, " waited in vain at \"%s\" for ", m->name);
    name_missing(s, &text, m);
    if (s->missing != NULL)
        s->missing(s->context, &text);
    /* It may come again, and the others must not be released without it. */
    g->here = false;
    m->num_here--;
    forget_participant(s, m, rank);
    s->refuse(s->context, rank, g->request, LEAT_DEADLINE_EXCEEDED,
              text.failed ? "too late" : text.data);
    leati_text_fini(&text);
}

void leati_store_keys_expire(leati_store_keys *s, int64_t now, const leat_error *failed) {
    for (waiter **at = &s->waiters; *at != NULL;) {
        waiter *w = *at;
        if (now < w->deadline_ns && failed == NULL) {
            at = &w->next;
            continue;
        }
        char text[200];
        snprintf(text, sizeof text, "nobody set \"%s\" in time", w->key);
        s->refuse(s->context, w->rank, w->request,
                  failed != NULL ? failed->code : LEAT_DEADLINE_EXCEEDED,
                  failed != NULL ? failed->text : text);
        remove_waiter(s, at);
    }
    for (barrier *m = s->barriers, *next; m != NULL; m = next) {
        /* The barrier may go below. */
        next = m->next;
        for (int r = 0; r < s->num_ranks; r++) {
            participant *g = &m->participants[r];
            if (g->here && failed != NULL)
                s->refuse(s->context, r, g->request, failed->code, failed->text);
            else if (g->here && now >= g->deadline_ns)
                expire_participant(s, m, r);
        }
        if (failed != NULL || m->num_here == 0)
            remove_barrier(s, m);
    }
}

void leati_store_keys_fini(leati_store_keys *s) {
    while (s->barriers != NULL)
        remove_barrier(s, s->barriers);
    while (s->waiters != NULL)
        remove_waiter(s, &s->waiters);
    for (entry *e = s->entries, *next; e != NULL; e = next) {
        next = e->next;
        leati_free(e->key);
        leati_free(e->value);
        leati_free(e);
    }
    leati_free(s->shares);
    s->shares = NULL;
}
