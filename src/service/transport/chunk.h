/* The bytes of a stream between processes: records, of which a gRPC message holds one or more,
 * whole. A record is a head of LEATI_CHUNK_HEAD bytes and its body. A message of the stream is one
 * record or several in a row; others are records of their own. Pure functions over bytes, and the
 * reader that puts messages together. */
#ifndef LEATI_SERVICE_TRANSPORT_CHUNK_H
#define LEATI_SERVICE_TRANSPORT_CHUNK_H

#include "service/transport/grpc_module.h"
#include <leat/core.h>

/* What a record is; append only. */
typedef enum leati_chunk_kind {
    LEATI_CHUNK_FIRST = 1, /* begins a message of `total` bytes */
    LEATI_CHUNK_MORE = 2,  /* goes on with it */
    LEATI_CHUNK_END = 3,   /* the sender ends the stream; the body is a failure, or empty */
    LEATI_CHUNK_NUM_KINDS
} leati_chunk_kind;

enum {
    LEATI_CHUNK_HEAD = 16,
    LEATI_CHUNK_MOST_CONTROL = 8192, /* bytes of the body of what is no message */
};
/* Bytes of a message. */
#define LEATI_CHUNK_MOST_TOTAL (UINT64_C(1) << 36)

typedef struct leati_chunk_head {
    leati_chunk_kind kind;
    uint32_t size;  /* bytes of the body */
    uint64_t total; /* of the message, in its first record; else 0 */
} leati_chunk_head;

void leati_chunk_put_head(const leati_chunk_head *head, uint8_t out[LEATI_CHUNK_HEAD]);

/* Who hears what was read; a status that is not LEAT_OK ends the reading. */
typedef struct leati_chunk_listener {
    leat_status (*message)(void *context, leat_buffer *message, leat_error *err); /* given */
    leat_status (*control)(void *context, leati_chunk_kind kind, const void *body, size_t size,
                           leat_error *err);
    void *context;
} leati_chunk_listener;

/* {0} at first. A message under way. */
typedef struct leati_chunk_reader {
    leat_buffer *message; /* NULL: none is under way */
    size_t filled;
} leati_chunk_reader;

/* Reads the records of one gRPC message, any bytes. DATA_LOSS, RESOURCE_EXHAUSTED, or what the
 * listener said; the stream is then of no more use. */
LEAT_WARN_UNUSED leat_status leati_chunk_read(leati_chunk_reader *reader,
                                              const leati_grpc_bytes *slices, size_t num_slices,
                                              const leati_chunk_listener *listener,
                                              leat_error *err);
void leati_chunk_reader_fini(leati_chunk_reader *reader);

#endif
