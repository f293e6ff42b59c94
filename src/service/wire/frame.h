/* How elements travel on a stream `read`: the client's first message is a `leati_message_read` as
 * JSON; then the worker sends frames, and the client credit.
 *
 * A frame is a head, a table of components and the bytes of rows, each component's aligned to 64
 * bytes, so that the receiver's block is a view of the message: nothing is copied when it is read.
 * It holds n elements of consecutive positions in their task, or the error of one, or the end.
 *
 *     head         magic, version, kind, n, components, position, compression, sizes
 *     components   form (rows of one shape, one row for all, or one shape for each row), dtype,
 *                  rank, dims, place
 *     bytes        numbers as in memory of little-endian machines; strings as lengths and bytes
 *
 * frame_layout.h says which byte is what. Frames come from strangers as well: every number is
 * checked before memory is touched or taken. */
#ifndef LEATI_SERVICE_WIRE_FRAME_H
#define LEATI_SERVICE_WIRE_FRAME_H

#include "core/block.h"
#include "core/row.h"
#include "service/transport/transport.h"

typedef enum leati_frame_kind {
    LEATI_FRAME_ELEMENTS = 1, /* n >= 1 elements, from `position` on */
    LEATI_FRAME_ERROR,        /* one outcome that failed, at `position` */
    LEATI_FRAME_END,          /* the task has no more: `position` is the number of its outcomes */
    LEATI_FRAME_SKIP,         /* coordinated: nothing for this round is ready; ask another task */
    LEATI_FRAME_GONE,         /* the task is another worker's, or nobody's, from here on */
    LEATI_FRAME_WHOLE         /* coordinated: `position` turns of the task came to all consumers */
} leati_frame_kind;

typedef enum leati_frame_compression {
    LEATI_FRAME_PLAIN = 0,
    LEATI_FRAME_SNAPPY,
    LEATI_FRAME_LZ4,
    LEATI_FRAME_ZSTD
} leati_frame_compression;

/* The first of these names ("snappy", "lz4", "zstd") that this build can pack with; PLAIN: none. */
leati_frame_compression leati_frame_best(const leati_strings *names);

/* A frame as it is sent: parts that refer to the block's memory where rows lie one behind the
 * other. {0} is empty; `fini` drops the references. */
typedef struct leati_frame {
    leati_transport_part *parts;
    int num_parts;
    leat_buffer *head; /* head, table, and what had to be copied; owned */
} leati_frame;

/* Rows [begin, begin + n) of the block as a frame of `position`, packed as by leati_frame_pack.
 * UNIMPLEMENTED for values that cannot travel (datasets, objects). */
LEAT_WARN_UNUSED leat_status leati_frame_of_block(const leati_block *block, int64_t begin,
                                                  int64_t n, int64_t position,
                                                  leati_frame_compression compression,
                                                  leati_frame *out, leat_error *err);
/* Packs a frame of PLAIN elements: all bytes behind its table, where that makes them fewer by a
 * sixteenth at least, else it stays as it is. On failure, too. */
LEAT_WARN_UNUSED leat_status leati_frame_pack(leati_frame *frame,
                                              leati_frame_compression compression, leat_error *err);
/* An error, the end, a skip. `why` is only for ERROR and GONE. */
LEAT_WARN_UNUSED leat_status leati_frame_of_event(leati_frame_kind kind, int64_t position,
                                                  const leat_error *why, leati_frame *out,
                                                  leat_error *err);
void leati_frame_fini(leati_frame *frame);
/* Bytes that travel. */
size_t leati_frame_bytes(const leati_frame *frame);

/* A frame that came. */
typedef struct leati_frame_view {
    leati_frame_kind kind;
    int64_t position, n;
    leat_error why; /* of ERROR and GONE; else nothing but code LEAT_OK is set */
} leati_frame_view;
/* Reads a message: `block` becomes a view of it (references are taken) of components that fit
 * `spec`. DATA_LOSS where it is no frame, INVALID_ARGUMENT where it does not fit the spec. */
LEAT_WARN_UNUSED leat_status leati_frame_read(leat_buffer *message, const leat_spec *spec,
                                              leati_frame_view *view, leati_block *block,
                                              leat_error *err);
/* The same of a message whose other bytes lie in `pieces` (leati_transport_events): a component of
 * numbers that is one piece becomes a view of it, whatever else lies there is copied first, and
 * what `spec` says about is read from the copy. All are borrowed. */
LEAT_WARN_UNUSED leat_status leati_frame_read_pieces(leat_buffer *rest,
                                                     const leati_transport_piece *pieces,
                                                     int num_pieces, const leat_spec *spec,
                                                     leati_frame_view *view, leati_block *block,
                                                     leat_error *err);

/* What a client asks for, and how much it will take. */
struct leati_message_read {
    int64_t task, attempt, client;
    /* Coordinated: which one, how many turns of this task it has, how many of these its program
     * took, and how many more than those it is to be given at most. */
    int64_t consumer, round, taken, window;
    char *trainer; /* the window's reader; NULL: none */
    int64_t credit_elements, credit_bytes;
    bool acks;                 /* the visitation level asks for them */
    leati_strings compression; /* that it can unpack, best first; none: as it is */
    bool where_it_pays;        /* packed by the worker's measurements alone */
    char *worker; /* uid of the one that is meant; NULL: whoever answers at its address */
};

/* From client to worker, behind the first message: more credit, and what the program has taken. Of
 * a coordinated consumer: how many turns its program took, and how many came to it, in all. */
typedef struct leati_frame_credit {
    int64_t elements, bytes;        /* more than before */
    int64_t acked_begin, acked_end; /* positions that were taken since; equal: none; or turns */
} leati_frame_credit;
enum { LEATI_FRAME_CREDIT_SIZE = 40 };
void leati_frame_put_credit(const leati_frame_credit *credit, uint8_t out[LEATI_FRAME_CREDIT_SIZE]);
LEAT_WARN_UNUSED leat_status leati_frame_get_credit(const void *bytes, size_t size,
                                                    leati_frame_credit *out, leat_error *err);

#endif
