/* What the two parts of the store's client share: store.c, which talks to rank 0, and
 * store_join.c, which begins and ends that. */
#ifndef LEATI_COLL_STORE_CLIENT_H
#define LEATI_COLL_STORE_CLIENT_H

#include "coll/store.h"
#include "coll/store_server.h"
#include "coll/wire.h"
#include "run/driver.h"
#include "run/queue.h"
#include <netinet/in.h>
#include <stdatomic.h>

/* A call in progress; it lives on its caller's stack. */
typedef struct leati_store_request {
    uint64_t number;
    bool done;
    leat_status status;
    leat_error err;
    char *bytes; /* owned; terminated */
    size_t size;
    struct leati_store_request *next;
} leati_store_request;

struct leati_store {
    leati_store_server *server; /* rank 0 */
    leati_store_options options;
    char *name, *address; /* owned copies of the options' */
    char *secret;         /* the same; NULL: none */
    char host[INET6_ADDRSTRLEN];
    leati_wire_link link;
    int wake[2]; /* a pipe that ends the thread's sleep */
    leati_driver *driver;
    leati_gate *gate, *sending;
    leati_store_request *requests; /* gate */
    uint64_t number;               /* gate: of the last request */
    uint64_t left;          /* gate: calls of the rank that left first; UINT64_MAX: none has */
    char left_name[200];    /* gate */
    bool failing;           /* gate: there is a reason */
    bool failed;            /* gate: and `lost` was told */
    leat_error reason;      /* gate */
    leati_beat server_beat; /* the thread's: rank 0's last, and when it came */
    int64_t heard_ns;
    atomic_bool stop;
    atomic_bool greeted; /* rank 0 is known to be one of this job */
    _Atomic uint64_t calls;
    atomic_int phase;
    atomic_bool anybody_left;
};

/* The thread that reads what comes and sends beats; `context` is the store. */
void leati_store_listen(void *context);
/* Sends and waits for the answer, whose bytes are then the request's. */
LEAT_WARN_UNUSED leat_status leati_store_ask(leati_store *store, leati_message_kind kind,
                                             const void *a, size_t a_size, const void *b,
                                             size_t b_size, int64_t timeout_ms,
                                             leati_store_request *request, leat_error *err);
/* A message without an answer; what broke is noticed by the thread that reads. */
void leati_store_tell(leati_store *store, leati_message_kind kind, const void *bytes, size_t size);
/* Says that this process lives, and how far it is. */
void leati_store_beat(leati_store *store);

#endif
