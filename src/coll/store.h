/* Where the processes of a job meet: rank 0 serves keys, barriers and signs of life to all ranks,
 * its own included, over TCP.
 *
 * Opening waits until every rank is there, with a deadline that names who is missing. Afterwards
 * each process says every `heartbeat_ms` that it lives and how far it is; one whose connection
 * breaks, or who is silent for `dead_ms`, is lost, and with it the job: every wait ends with
 * ABORTED and its name, and `lost` is called. One that closes its store may be missed only by
 * whoever makes more calls than it did: that ends the job too. A store that failed stays failed.
 *
 * With a secret only processes that have it take part, on both sides (coll/greeting.h); without
 * one, whoever reaches the address may. With TLS only processes whose certificates the job's
 * authority has signed come as far as that, and all that they say is encrypted; without it nothing
 * is.
 *
 * Every function may be called from any thread. Values are small (addresses, counts, hashes). */
#ifndef LEATI_COLL_STORE_H
#define LEATI_COLL_STORE_H

#include "coll/tls.h"

typedef struct leati_store leati_store;

/* What a process is doing, for stall reports. */
typedef enum leati_store_phase {
    LEATI_PHASE_START = 0,
    LEATI_PHASE_INPUT,
    LEATI_PHASE_COMPUTE,
    LEATI_PHASE_COLLECTIVE,
    LEATI_NUM_PHASES
} leati_store_phase;

typedef struct leati_store_options {
    const char *address; /* "host:port" of rank 0; borrowed for the call */
    const char *name;    /* what messages call this rank, "worker 1 (host:port)"; borrowed */
    /* What all ranks of the job have and nobody else; NULL: none. Borrowed for the call. */
    const char *secret;
    /* What all ranks of the job have, or none has; NULL: none. Borrowed until the store is closed.
     */
    leati_tls_context *tls;
    /* Rank 0 listens on this host in place of its address's, "all": every interface; NULL: as the
     * address says. Borrowed for the call. */
    const char *listen;
    int rank, num_ranks;
    int64_t timeout_ms;   /* until all are there; 0: 300,000 */
    int64_t heartbeat_ms; /* 0: 1,000 */
    int64_t dead_ms;      /* 0: 10,000 */
    /* Called once, from a thread of the store, when a rank is lost or aborts; may be NULL. */
    void (*lost)(void *context, const leat_error *why);
    /* While this process reads input: writes the slowest stage of it, for stall reports, or leaves
     * `text` empty. From threads of the store; may be NULL. */
    void (*stage)(void *context, char *text, size_t size);
    /* What messages call a rank that has not connected, as `name`: borrowed until the store is
     * closed, or NULL. From a thread of the store; may be NULL. */
    const char *(*rank_name)(void *context, int rank);
    void *context;
} leati_store_options;

/* Owned; NULL: DEADLINE_EXCEEDED naming the missing, and who was refused; FAILED_PRECONDITION, on
 * all ranks that are there, where a rank is taken or the ranks disagree on their number or the
 * library's version, or whether they use TLS; PERMISSION_DENIED where secrets differ or a
 * certificate is not believed; UNAVAILABLE where what rank 0 serves
 * is a job that has ended: it may begin another. */
leati_store *leati_store_open(const leati_store_options *options, leat_error *err);
/* Says good-bye and waits for its threads; rank 0 serves until the others have gone too, for
 * `dead_ms` at most. NULL is allowed. */
void leati_store_close(leati_store *store);

/* This process's address as the others reach it: "10.0.0.7". Borrowed. */
const char *leati_store_host(const leati_store *store);
/* By what this job encrypts what its processes say; NULL: it does not. Borrowed. */
leati_tls_context *leati_store_tls(const leati_store *store);
/* Has the job failed? Then the reason. */
LEAT_WARN_UNUSED leat_status leati_store_check(leati_store *store, leat_error *err);

LEAT_WARN_UNUSED leat_status leati_store_set(leati_store *store, const char *key, const void *value,
                                             size_t size, leat_error *err);
/* Waits until somebody has set the key. The value is owned (leati_free) and terminated. */
LEAT_WARN_UNUSED leat_status leati_store_get(leati_store *store, const char *key,
                                             int64_t timeout_ms, char **value, size_t *size,
                                             leat_error *err);

/* The values that all ranks brought to a barrier, by rank; {0} is empty. */
typedef struct leati_store_values {
    char *bytes;    /* owned */
    size_t *offset; /* num_ranks + 1; in `bytes`; owned */
} leati_store_values;
void leati_store_values_fini(leati_store_values *values);
/* Of the answer to a barrier, whatever its bytes: `bytes` is given, also on failure (INTERNAL). */
LEAT_WARN_UNUSED leat_status leati_store_values_read(char *bytes, size_t size, int num_ranks,
                                                     leati_store_values *out, leat_error *err);
/* Each value is a name, a new line and a text: FAILED_PRECONDITION names a rank whose text is not
 * rank 0's, and what the texts, which are about `what`, say. */
LEAT_WARN_UNUSED leat_status leati_store_values_same(const leati_store_values *values,
                                                     int num_ranks, const char *what,
                                                     leat_error *err);

/* Waits until every rank has come to the barrier of this name; a name serves any number of times,
 * in the same order on every rank. DEADLINE_EXCEEDED names who has not come. */
LEAT_WARN_UNUSED leat_status leati_store_barrier(leati_store *store, const char *name,
                                                 const void *value, size_t size, int64_t timeout_ms,
                                                 leati_store_values *out, leat_error *err);
/* A barrier at which all values must be the same text: FAILED_PRECONDITION names a rank that
 * differs, what it has and what rank 0 has. */
LEAT_WARN_UNUSED leat_status leati_store_agree(leati_store *store, const char *what,
                                               const char *value, int64_t timeout_ms,
                                               leat_error *err);

/* Ends the job for everybody: every rank's waits end with ABORTED and this text. */
void leati_store_abort(leati_store *store, const leat_error *why);

/* How far this process is: the next heartbeat says so. */
void leati_store_note(leati_store *store, uint64_t calls, leati_store_phase phase);
/* The same between calls. */
void leati_store_note_phase(leati_store *store, leati_store_phase phase);
/* One line on the ranks that hold the others up, from their last heartbeats: name, calls made,
 * phase, how long ago. Cut to `size`; empty where nothing is known. */
void leati_store_stalled(leati_store *store, char *text, size_t size);

#endif
