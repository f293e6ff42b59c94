/* What an end of a stream between processes has to send: messages of which parts may have been
 * sent, made into frames, the gRPC messages that carry records (chunk.h). Parts of some size are
 * sent from where they lie; small ones and heads are copied together. The stream's lock guards it.
 */
#ifndef LEATI_SERVICE_TRANSPORT_OUTBOX_H
#define LEATI_SERVICE_TRANSPORT_OUTBOX_H

#include "service/transport/chunk.h"
#include "service/transport/ends.h"

/* A record, or a message of records. */
typedef struct leati_outbox_item {
    struct leati_outbox_item *next;
    leati_chunk_kind kind;        /* LEATI_CHUNK_FIRST: a message */
    size_t total, sent;           /* bytes */
    bool begun;                   /* its first record was sent */
    int num_parts, part;          /* parts, and the one that is next */
    size_t at;                    /* in that part */
    leati_transport_part parts[]; /* each has an owner: references */
} leati_outbox_item;

/* {0} at first. */
typedef struct leati_outbox {
    leati_outbox_item *first, *last;
    size_t bytes; /* that are not sent */
} leati_outbox;

/* Takes references to the parts' owners, and copies parts without one. NULL: without memory. */
leati_outbox_item *leati_outbox_item_new(leati_chunk_kind kind, const leati_transport_part *parts,
                                         int num_parts, leat_error *err);
void leati_outbox_item_free(leati_outbox_item *item);

void leati_outbox_put(leati_outbox *box, leati_outbox_item *item); /* given */
void leati_outbox_drop(leati_outbox *box);

enum { LEATI_OUTBOX_MOST_PIECES = 96 };
/* Bytes on their way, each piece of which is owned by the frame: one reference for each. */
typedef struct leati_outbox_frame {
    atomic_int references;
    void (*released)(void *context); /* after the last reference */
    void *context;
    size_t num_pieces, bytes;
    leati_grpc_piece pieces[LEATI_OUTBOX_MOST_PIECES];
    leat_buffer *buffers[LEATI_OUTBOX_MOST_PIECES]; /* references */
} leati_outbox_frame;

/* Moves about `most` bytes of the box, which is not empty, into a frame; owned. */
leati_outbox_frame *leati_outbox_take(leati_outbox *box, size_t most,
                                      void (*released)(void *context), void *context,
                                      leat_error *err);
/* A frame of one buffer, which is given also on failure. */
leati_outbox_frame *leati_outbox_frame_of(leat_buffer *buffer, void (*released)(void *context),
                                          void *context, leat_error *err);
void leati_outbox_frame_release(leati_outbox_frame *frame);

#endif
