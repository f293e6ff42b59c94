/* What goes over the socket of one stream of the protocols "shm" and "tcp" (bulk.h): records, each
 * a head of LEATI_BULK_HEAD bytes, its table and its body. Numbers are little-endian.
 *
 *     OPEN      the client's first one: secret, token, method and request, each behind its length
 *     MESSAGE   a message: a table of pieces, which lie in shared memory, and the bytes that do not
 *     END       the sender ends the stream; the body is a failure, or empty
 *     SEGMENT   comes with a descriptor: shared memory, to which pieces will refer
 *     FORGET    no piece will refer to a segment any more
 *     RELEASE   the numbers of pieces that are read no more
 *     WELCOME   the worker's first one: it is who is meant, and so is the client
 *
 * Pieces are numbered from 0 on in the order in which they come. Pure functions over bytes, and the
 * reader of records, which believes nothing that it has not checked, on a copy of its own. */
#ifndef LEATI_SERVICE_TRANSPORT_BULK_WIRE_H
#define LEATI_SERVICE_TRANSPORT_BULK_WIRE_H

#include "service/transport/transport.h"

/* Append only. */
typedef enum leati_bulk_kind {
    LEATI_BULK_OPEN = 1,
    LEATI_BULK_MESSAGE,
    LEATI_BULK_END,
    LEATI_BULK_SEGMENT,
    LEATI_BULK_FORGET,
    LEATI_BULK_RELEASE,
    LEATI_BULK_WELCOME,
    LEATI_BULK_NUM_KINDS
} leati_bulk_kind;

enum {
    LEATI_BULK_HEAD = 32,
    LEATI_BULK_PIECE = 32,           /* an entry of the table of a message */
    LEATI_BULK_VERSION = 1,          /* `count` of OPEN */
    LEATI_BULK_MOST_PIECES = 4096,   /* of a message */
    LEATI_BULK_MOST_RELEASED = 64,   /* numbers of one record */
    LEATI_BULK_MOST_SEGMENTS = 4096, /* that a stream has at once */
    LEATI_BULK_MOST_OPEN = 1 << 20,  /* bytes of the body of OPEN */
    LEATI_BULK_MOST_END = 8192       /* and of END */
};
/* Bytes of a message, and of a segment. */
#define LEATI_BULK_MOST_TOTAL (UINT64_C(1) << 36)

typedef struct leati_bulk_head {
    leati_bulk_kind kind;
    uint32_t count;  /* MESSAGE: pieces. RELEASE: numbers. OPEN: the version */
    uint64_t size;   /* bytes of the body, behind the table */
    uint64_t total;  /* MESSAGE: bytes with all pieces. SEGMENT: bytes */
    uint64_t number; /* SEGMENT, FORGET: of the segment */
} leati_bulk_head;

typedef struct leati_bulk_piece {
    uint64_t segment, offset, size;
    uint64_t at; /* in the message */
} leati_bulk_piece;

void leati_bulk_put_head(const leati_bulk_head *head, uint8_t out[LEATI_BULK_HEAD]);
void leati_bulk_put_piece(const leati_bulk_piece *piece, uint8_t out[LEATI_BULK_PIECE]);
/* DATA_LOSS for what no sender writes. */
LEAT_WARN_UNUSED leat_status leati_bulk_get_head(const uint8_t in[LEATI_BULK_HEAD],
                                                 leati_bulk_head *out, leat_error *err);

/* What a client says first; texts are borrowed, and not terminated where they were read. */
typedef struct leati_bulk_greeting {
    leat_string secret, token, method, request; /* token.data NULL: none */
} leati_bulk_greeting;
size_t leati_bulk_greeting_size(const leati_bulk_greeting *greeting);
void leati_bulk_put_greeting(const leati_bulk_greeting *greeting, uint8_t *out);
LEAT_WARN_UNUSED leat_status leati_bulk_get_greeting(const void *bytes, size_t size,
                                                     leati_bulk_greeting *out, leat_error *err);

/* Where bytes come from. */
typedef struct leati_bulk_source {
    /* All of them, or UNAVAILABLE. */
    leat_status (*read)(void *context, void *out, size_t size, leat_error *err);
    /* The descriptor that came with what was read last, owned; -1: none. */
    int (*take_file)(void *context);
    void *context;
} leati_bulk_source;

/* Who hears what came; a status that is not LEAT_OK ends the reading. */
typedef struct leati_bulk_listener {
    /* `message` (given) has the bytes that came through the socket; where there are pieces, the
     * others lie in these (given; the array is borrowed). */
    leat_status (*message)(void *context, leat_buffer *message, const leati_transport_piece *pieces,
                           int num_pieces, leat_error *err);
    leat_status (*end)(void *context, const void *body, size_t size, leat_error *err);
    leat_status (*released)(void *context, const uint64_t *numbers, int count, leat_error *err);
    void *context;
    /* A piece is there: `holder` lives until it is unused. */
    leat_status (*keep)(void *holder, leat_error *err);
    /* A piece is read no more: its number. From any thread, and after the reader has gone. */
    void (*unused)(void *holder, uint64_t number, size_t size);
    void *holder;
} leati_bulk_listener;

typedef struct leati_bulk_segment leati_bulk_segment;

/* {0} at first, but for what is set by its owner. */
typedef struct leati_bulk_reader {
    bool shares; /* segments and pieces may come; else they are DATA_LOSS */
    leati_bulk_segment *segments;
    int num_segments;
    uint64_t next; /* number of the next piece */
} leati_bulk_reader;

/* Reads one record that is neither OPEN nor WELCOME, and tells it. */
LEAT_WARN_UNUSED leat_status leati_bulk_read(leati_bulk_reader *reader,
                                             const leati_bulk_source *source,
                                             const leati_bulk_listener *listener, leat_error *err);
/* Segments stay mapped while pieces of them are in use. */
void leati_bulk_reader_fini(leati_bulk_reader *reader);

/* All bytes of a message as one block, owned; `rest` and the pieces (but for the array) are given,
 * also on failure. */
leat_buffer *leati_bulk_join(leat_buffer *rest, const leati_transport_piece *pieces, int n,
                             leat_error *err);

#endif
