/* What the parts of the store's server share: the job as rank 0 knows it, and what is said to its
 * ranks. Its thread owns all of it. */
#ifndef LEATI_COLL_STORE_JOB_H
#define LEATI_COLL_STORE_JOB_H

#include "base/error.h"
#include "base/text.h"
#include "coll/greeting.h"
#include "coll/store_door.h"
#include "coll/store_keys.h"
#include "coll/store_server.h"
#include "run/driver.h"
#include <stdatomic.h>

enum {
    LEATI_STORE_JOB_STRANGERS = 64,        /* beside one for each rank */
    LEATI_STORE_JOB_GREETING_MS = 10000,   /* in which a greeting is complete */
    LEATI_STORE_JOB_GREETING_BYTES = 4096, /* of which it is made */
    LEATI_STORE_JOB_HELD = 16384,          /* for a stranger, by the system */
    LEATI_STORE_JOB_HELD_OF_MEMBERS = 1 << 20
};

/* A connection; `rank` is -1 until it has greeted and, where there is a secret, proved that it has
 * it: a stranger. */
typedef struct leati_store_peer {
    leati_wire_link link; /* owned */
    bool shaking;         /* its TLS handshake is not done */
    bool is_plain;        /* it does not speak TLS where the job does */
    int64_t cost_ns;      /* of the processor, for its handshake */
    int64_t charged_ns;   /* to all strangers, of what it said */
    int rank;
    bool is_own; /* rank 0's, which need not hurry */
    bool asked;  /* for a proof */
    uint8_t nonce[LEATI_GREETING_NONCE];
    leati_greeting greeting; /* of one that was asked */
    leati_wire_buffer in;
    int64_t since_ns, heard_ns;
    struct leati_store_peer *next; /* one that came before */
} leati_store_peer;

static inline bool leati_store_peer_is_stranger(const leati_store_peer *peer) {
    return peer->rank < 0 && !peer->is_own;
}

/* What a stranger sends is bounded before it is known what it is. */
static inline size_t leati_store_peer_most(const leati_store_peer *peer) {
    return peer->rank < 0 ? LEATI_STORE_JOB_GREETING_BYTES : LEATI_WIRE_MOST;
}

typedef struct leati_store_member {
    char *name;             /* NULL: has not come yet */
    leati_store_peer *peer; /* NULL: gone */
    bool bye;
    bool lost; /* by its silence: nobody waits for its good-bye */
    int64_t heard_ns;
    leati_beat beat;
} leati_store_member;

struct leati_store_server {
    leati_store_door door;
    int num_ranks, num_strangers, num_here;
    char *secret;           /* NULL: none; owned */
    leati_tls_context *tls; /* NULL: none; borrowed */
    int64_t dead_ns, beat_ns, greeting_ns;
    int64_t next_beat_ns, turn_ns; /* of the thread's last turn */
    const char *(*rank_name)(void *context, int rank);
    void *context; /* of rank_name */
    leati_driver *driver;
    atomic_bool stop;        /* set by stop: end when all are gone */
    leati_store_peer *peers; /* the last that came first */
    leati_store_member *members;
    leati_store_keys keys;
    char *hidden;       /* why other hosts do not reach rank 0, and the way out; NULL; owned */
    int64_t notice_ns;  /* when that is logged, if ranks lack then */
    leati_text refused; /* who was refused before all had come, and why: the first of them */
    int num_refused;
    int64_t lack_ns; /* since when no descriptor was free for a connection; 0: one was */
    bool failed;
    leat_error reason;
    struct pollfd *polled;
    size_t room; /* of `polled` */
};

/* The system holds so many bytes that came and were not read; a million that came one by one take
 * it a second to let go of. */
void leati_store_job_hold(const leati_store_peer *from, int bytes);
/* Sends; who cannot be told is cut off, which the next poll notices. */
void leati_store_job_tell(leati_store_peer *to, leati_message_kind kind, uint64_t request,
                          const void *a, size_t a_size, const void *b, size_t b_size);
void leati_store_job_refuse(leati_store_peer *to, uint64_t request, leat_status code,
                            const char *text);
/* Ends the job, once: everybody is told. */
void leati_store_job_fail(leati_store_server *server, leat_status code, const char *text);

/* Tells rank 0's user that a process was refused, and why, in its log and in the error of a start
 * that waits in vain. */
void leati_store_job_note_refusal(leati_store_server *server, const char *text);

/* Begins a handshake with a stranger, where the job has TLS. */
LEAT_WARN_UNUSED leat_status leati_store_job_begin_shaking(leati_store_server *server,
                                                           leati_store_peer *from, leat_error *err);
/* Goes on with a stranger's handshake, or finds that it speaks in the clear. False: it is to be
 * closed. */
bool leati_store_job_shake(leati_store_server *server, leati_store_peer *from);
/* Does a stranger speak TLS where the job does not? Then it is told, once its greeting is whole,
 * and to be closed: *refused. */
bool leati_store_job_speaks_tls(leati_store_server *server, leati_store_peer *from, bool *refused);

/* Why the job has ended, to one that cannot be taken: the answer to what it says now. `context` is
 * the server. */
void leati_store_job_tell_failure(void *context, int connection);

/* A message of a stranger. False: it is to be closed. */
bool leati_store_job_greet(leati_store_server *server, leati_store_peer *from,
                           const leati_message_head *head, const char *payload);

#endif
