/* What the protocols of transport.h share: how streams and calls begin in memory, waits that a
 * `leat_cancel` ends, addresses, tokens, failures as bytes, and what a process is after a fork. */
#ifndef LEATI_SERVICE_TRANSPORT_ENDS_H
#define LEATI_SERVICE_TRANSPORT_ENDS_H

#include "base/bytes.h"
#include "run/cancel.h"
#include "run/queue.h"
#include "service/transport/transport.h"
#include <stdatomic.h>

/* What a protocol does for the functions of transport.h of the same names. */
typedef struct leati_transport_stream_type {
    leat_status (*write)(leati_transport_stream *stream, const leati_transport_part *parts,
                         int num_parts, leat_cancel *cancel, leat_error *err);
    /* `why` is not NULL; LEAT_OK: without a failure. */
    void (*close)(leati_transport_stream *stream, const leat_error *why);
    void (*free)(leati_transport_stream *stream); /* after the last reference */
} leati_transport_stream_type;

/* Begins every stream of a protocol. */
struct leati_transport_stream {
    const leati_transport_stream_type *type;
    atomic_int references;
    int forks; /* leati_transport_forks() when it was made */
};

typedef struct leati_transport_call_type {
    bool (*answer)(leati_transport_call *call, const void *bytes, size_t size);
    bool (*fail)(leati_transport_call *call, const leat_error *why);
    bool (*abandoned)(const leati_transport_call *call);
} leati_transport_call_type;

struct leati_transport_call {
    const leati_transport_call_type *type;
    int forks;
};

/* One reference. */
void leati_transport_stream_init(leati_transport_stream *stream,
                                 const leati_transport_stream_type *type);
void leati_transport_call_init(leati_transport_call *call, const leati_transport_call_type *type);

/* How many forks lie between this process and the first: what was made under another number
 * belongs to the parent, whose threads are not here. */
int leati_transport_forks(void);
/* LEAT_OK, or FAILED_PRECONDITION where `what`, made under the number `forks`, is the parent's. */
LEAT_WARN_UNUSED leat_status leati_transport_check_forks(int forks, const char *what,
                                                         leat_error *err);

/* Waits at a gate that `cancel` (NULL: none) ends, too. Begun and ended without the gate's lock,
 * since whoever fires a cancel object takes it. */
typedef struct leati_transport_wait {
    leati_gate *gate;
    leat_cancel *cancel;
    leati_cancel_watch watch;
} leati_transport_wait;
void leati_transport_wait_begin(leati_transport_wait *wait, leati_gate *gate, leat_cancel *cancel);
void leati_transport_wait_end(leati_transport_wait *wait);
/* With the lock held, as leati_queue_gate_wait: one wake. */
LEAT_WARN_UNUSED leat_status leati_transport_wait_once(leati_transport_wait *wait,
                                                       int64_t deadline_ns, leat_error *err);

/* Takes "host:port" or "[host]:port" apart; `host` gets at most `room` bytes. INVALID_ARGUMENT for
 * anything else; a port is 1 to 65535. */
LEAT_WARN_UNUSED leat_status leati_transport_parse_address(const char *address, char *host,
                                                           size_t room, int *port, leat_error *err);

/* Which files go together: INVALID_ARGUMENT. */
LEAT_WARN_UNUSED leat_status leati_transport_check_security(
    const leati_transport_security *security, bool serves, leat_error *err);
/* Does that side speak TLS? */
bool leati_transport_is_secure(const leati_transport_security *security, bool serves);

/* Is `shown` (NULL: nothing was) the token that is asked for (NULL: none is)? In a time that does
 * not depend on where they differ. UNAUTHENTICATED. */
LEAT_WARN_UNUSED leat_status leati_transport_check_token(const char *asked, const char *shown,
                                                         leat_error *err);

/* A message's parts as one buffer, owned: where one part lies in a buffer and is aligned that
 * buffer's memory, else a copy. */
leat_buffer *leati_transport_gather(const leati_transport_part *parts, int num_parts,
                                    leat_error *err);
/* Bytes of all parts; SIZE_MAX where they overflow. */
size_t leati_transport_parts_size(const leati_transport_part *parts, int num_parts);
void leati_transport_count_copied(size_t bytes);

/* A failure for the other side, and back. What cannot be read becomes an UNKNOWN failure that says
 * so. */
void leati_transport_put_error(leati_writer *out, const leat_error *error);
void leati_transport_get_error(const void *bytes, size_t size, leat_error *out);

enum { LEATI_TRANSPORT_MOST_CONNECTIONS = 16 };

extern const leati_transport leati_transport_local, leati_transport_shm, leati_transport_tcp;
/* "grpc", loaded when first asked for (remote.c). */
const leati_transport *leati_transport_find_grpc(leat_error *err);

#endif
