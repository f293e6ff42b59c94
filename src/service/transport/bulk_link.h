/* The socket of one stream, with TLS below where it has that, and what both sides hold because of
 * it: the worker the buffers whose memory a client reads, the client the numbers of pieces that it
 * read. A link lives longer than its stream: a client's until its last piece is gone. Thread-safe
 * where not said otherwise. */
#ifndef LEATI_SERVICE_TRANSPORT_BULK_LINK_H
#define LEATI_SERVICE_TRANSPORT_BULK_LINK_H

#include "coll/tls.h"
#include "service/transport/bulk_wire.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    LEATI_BULK_LEAST_PIECE = 64 << 10, /* bytes that go through shared memory */
    LEATI_BULK_MOST_HELD = 256 << 20   /* and how many at once; what is more goes by the socket */
};

/* A buffer that the other side reads. */
typedef struct leati_bulk_held {
    leat_buffer *buffer; /* a reference; NULL: released */
    const void *data;
    size_t size;
} leati_bulk_held;

typedef struct leati_bulk_link {
    struct leati_bulk_link *next, *previous; /* the list of all links */
    atomic_int references;
    int socket;
    int forks;
    leati_tls *tls;      /* NULL: in the clear */
    uint8_t *together;   /* `out`: small parts, before they are encrypted as one; with TLS */
    bool shares;         /* pieces may be sent */
    pthread_mutex_t out; /* held by who sends; taken before `lock` */
    bool broken;         /* `out`: a record was cut off, and nothing can follow */
    uint64_t *known;     /* `out`: segments that the other side has */
    size_t num_known, known_capacity;
    pthread_mutex_t lock; /* a leaf; all that follows */
    /* Of a side that sends pieces: those from `first` on. */
    leati_bulk_held *held;
    size_t num_held, held_capacity, held_bytes;
    uint64_t first;
    /* Of a side that gets pieces. */
    uint64_t *released; /* not told yet; room for all that are here */
    size_t num_released, released_capacity, released_bytes;
    size_t here, telling; /* pieces that are read, and numbers under way */
    uint64_t seen;        /* pieces that came */
    uint64_t kept;        /* pieces below are not released: a child of a fork has them, too */
} leati_bulk_link;

/* Over a connected socket, which is given, also on failure. One reference. */
leati_bulk_link *leati_bulk_link_new(int socket, bool shares, leat_error *err);
void leati_bulk_link_ref(leati_bulk_link *link);
/* The last one closes the socket. */
void leati_bulk_link_unref(leati_bulk_link *link);

/* May who waits for room in the socket go on? */
typedef struct leati_bulk_patience {
    bool (*over)(void *context);
    void *context;
} leati_bulk_patience;

/* Puts TLS below, before anything is sent, with `out` held: UNAVAILABLE where `patience` was over,
 * and as leati_tls_shake. `host` is the other side. On failure nothing is sent any more, unless the
 * other side spoke in the clear: then the link is in the clear, so that it can be told. */
LEAT_WARN_UNUSED leat_status leati_bulk_link_secure(leati_bulk_link *link,
                                                    leati_tls_context *context, leati_tls_side side,
                                                    const char *host,
                                                    const leati_bulk_patience *patience,
                                                    leat_error *err);
/* Reads what there is, without waiting: 0 where nothing is, -1 with UNAVAILABLE at the end. A
 * descriptor that came with it is put into *file (NULL: none may come), in place of the last. */
ptrdiff_t leati_bulk_link_read(leati_bulk_link *link, void *out, size_t size, int *file,
                               leat_error *err);

/* Sends a message. UNAVAILABLE where the socket has ended, CANCELLED where `patience` (NULL: no
 * waiting) was over; a record that was cut off leaves the link broken. */
LEAT_WARN_UNUSED leat_status leati_bulk_link_write(leati_bulk_link *link,
                                                   const leati_transport_part *parts, int num_parts,
                                                   const leati_bulk_patience *patience,
                                                   leat_error *err);
/* Sends a record that is head and body. The same; without patience UNAVAILABLE where there is no
 * room. With `out` held. */
LEAT_WARN_UNUSED leat_status leati_bulk_link_record(leati_bulk_link *link,
                                                    const leati_bulk_head *head, const void *body,
                                                    const leati_bulk_patience *patience,
                                                    leat_error *err);

/* ---- pieces ---- */

/* The other side has read these. DATA_LOSS for numbers that it does not have. */
LEAT_WARN_UNUSED leat_status leati_bulk_link_released(leati_bulk_link *link,
                                                      const uint64_t *numbers, int count,
                                                      leat_error *err);
/* The other side is gone, and may read on in what it has, which is never written again. */
void leati_bulk_link_retire(leati_bulk_link *link);
/* For leati_bulk_listener: counts a piece, with a reference to the link; and it is read no more. */
LEAT_WARN_UNUSED leat_status leati_bulk_link_keep(void *link, leat_error *err);
void leati_bulk_link_unused(void *link, uint64_t number, size_t size);

#endif
