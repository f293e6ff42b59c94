/* The store's messages: a head, then `size` bytes. Numbers are the host's; the greeting carries a
 * mark, so that a host of the other byte order, another version or another program is refused. */
#ifndef LEATI_COLL_WIRE_H
#define LEATI_COLL_WIRE_H

#include "coll/tls.h"
#include <sys/socket.h>

enum {
    LEATI_WIRE_MARK = 0x1ea70001,
    LEATI_WIRE_MOST = 1 << 20, /* bytes of a payload */
    LEATI_WIRE_LISTENING = 8,  /* sockets */
    LEATI_WIRE_NOTICE_MS = 5000
};

typedef enum leati_message_kind {
    /* To the server. */
    LEATI_MESSAGE_HELLO = 1, /* a greeting (coll/greeting.h) */
    LEATI_MESSAGE_SET,       /* key, terminated; value */
    LEATI_MESSAGE_GET,       /* timeout as int64; key, terminated */
    LEATI_MESSAGE_MEET,      /* timeout as int64; name, terminated; value */
    LEATI_MESSAGE_BEAT,      /* leati_beat; from the server too, with rank 0's */
    LEATI_MESSAGE_ABORT,     /* text */
    LEATI_MESSAGE_STALLED,   /* nothing */
    LEATI_MESSAGE_BYE,       /* nothing */
    /* From the server. */
    LEATI_MESSAGE_OK,     /* the answer to `request` */
    LEATI_MESSAGE_FAILED, /* status as int32, text: the answer to `request` */
    LEATI_MESSAGE_LOST,   /* status as int32, text: the job has failed */
    LEATI_MESSAGE_LEFT,   /* calls as uint64; name, terminated: a rank said good-bye after them */
    /* To the server: the code by which a client proves that it has the job's secret. */
    LEATI_MESSAGE_PROOF
} leati_message_kind;

typedef struct leati_message_head {
    uint32_t size;
    uint32_t kind;
    uint64_t request; /* chosen by the client; 0: no answer wanted */
} leati_message_head;

typedef struct leati_beat {
    uint64_t calls;
    int32_t phase;
    int32_t reserved;
    char stage[80]; /* of its input, the slowest; terminated; empty: not known */
} leati_beat;

/* "reading input (map "decode" computed 96 % of the time) after 41 calls, heard 0.2 s ago": what a
 * process that said so did then. */
void leati_wire_describe_heartbeat(const leati_beat *beat, int64_t heard_ns, char *text,
                                   size_t size);

/* Bytes that came and do not make a message yet. */
typedef struct leati_wire_buffer {
    char *bytes;
    size_t used, capacity;
} leati_wire_buffer;

/* A connection over a socket that blocks, in the clear or not; both are borrowed. */
typedef struct leati_wire_link {
    int socket;
    leati_tls *tls; /* after its handshake; NULL: in the clear */
    int send_ms;    /* that sending by TLS may wait; 0: for ever. The socket's option elsewhere */
} leati_wire_link;

/* Sends a message whose payload is `a` and then `b`, whole. One sender at a time. */
LEAT_WARN_UNUSED leat_status leati_wire_send_by(const leati_wire_link *link,
                                                leati_message_kind kind, uint64_t request,
                                                const void *a, size_t a_size, const void *b,
                                                size_t b_size, leat_error *err);
/* Takes what has come, without waiting, until about `most` bytes make no message yet. UNAVAILABLE
 * at the end of the connection. */
LEAT_WARN_UNUSED leat_status leati_wire_receive_by(const leati_wire_link *link,
                                                   leati_wire_buffer *buffer, size_t most,
                                                   leat_error *err);
/* Is there more to receive that poll does not see? */
bool leati_wire_has_more(const leati_wire_link *link);
/* The same in the clear. */
LEAT_WARN_UNUSED leat_status leati_wire_send(int socket, leati_message_kind kind, uint64_t request,
                                             const void *a, size_t a_size, const void *b,
                                             size_t b_size, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_wire_receive(int socket, leati_wire_buffer *buffer, size_t most,
                                                leat_error *err);
/* The next whole message: true, and `payload` (not terminated, valid until the next call) is set. A
 * payload of more than `most` bytes sets `bad`. */
bool leati_wire_next(leati_wire_buffer *buffer, size_t most, leati_message_head *head,
                     char **payload, bool *bad);
void leati_wire_fini(leati_wire_buffer *buffer);

/* Has this process no file descriptor left? Then that is the failure `err`, of what it was needed
 * for, which those who look up names or connect for others do not tell. */
bool leati_wire_lacks_descriptors(const char *what, leat_error *err);

/* Are so many file descriptors free? Another thread may take them at any time. */
bool leati_wire_has_descriptors(int wanted);

/* The failure in the payload of LEATI_MESSAGE_FAILED and LEATI_MESSAGE_LOST, whatever its bytes:
 * never OK. */
leat_status leati_wire_read_failure(const char *payload, size_t size, leat_error *err);

/* A connected socket to "host:port" by `deadline_ns`, tried again while nobody listens; -1 with
 * `err`. `who` (NULL: nobody), after LEATI_WIRE_NOTICE_MS, is logged to be waiting, and for what.
 */
int leati_wire_connect(const char *address, const char *who, int64_t deadline_ns, leat_error *err);
/* The host of "host:port" or "[v6]:port"; empty where it is none. */
void leati_wire_host_of(const char *address, char *host, size_t size);
/* The numeric address of this host's end of a connection; empty where the system does not say. */
void leati_wire_own_host(int connection, char *host, size_t size);
/* The same of the other end, for messages. */
void leati_wire_peer_host(int connection, char *host, size_t size);
/* The same of this end for rank 0 and its own "host:port", or where it listens in its place, as for
 * leati_wire_listen; nothing is sent. */
void leati_wire_host_towards(const char *address, const char *where, char *host, size_t size);
/* Listens at one address, or everywhere by one socket, with IPv4 where there is no IPv6. `both`:
 * an address of IPv6 stands for IPv4, too. A socket that does not block, owned; -1 with errno. */
int leati_wire_listen_at(const struct sockaddr *at, socklen_t size, bool both);
int leati_wire_listen_everywhere(int port);
/* Listens at the port of "host:port" on the addresses that `host` has here, and on no others.
 * `where`, where it is not NULL, is another host to stand for it, or "all": every interface. A name
 * that is not known yet is asked for until `deadline_ns`. How many sockets there are now, owned; 0
 * with `err`: FAILED_PRECONDITION where somebody listens there already or no address is this
 * host's.
 */
int leati_wire_listen(const char *address, const char *where, int64_t deadline_ns,
                      int sockets[LEATI_WIRE_LISTENING], leat_error *err);
/* Listens at a port of the system's choice on a numeric address of this host, and writes
 * "host:port". A socket, owned; -1 with `err`. */
int leati_wire_listen_anywhere(const char *host, char *address, size_t size, leat_error *err);
/* Is the host of "host:port" a name that only here leads to the loopback, so that others who look
 * it up do not find who listens there? False where it is not known. */
bool leati_wire_is_hidden(const char *address);

#endif
