/* Whether the frames of a stream are packed: measured as they go.
 *
 * A byte costs what sending it takes; a packed one what packing takes, and its share of sending.
 * Sending is measured by the time that writes wait: next to nothing where the client or the
 * pipeline is the slower end, and the link's own where it is. A frame is packed on trial now and
 * then, but only where links are as slow as that. While frames are packed the link may not be full
 * any more, so its time is kept as it was, and measured anew by plain frames once in a while. */
#ifndef LEATI_SERVICE_WORKER_PACKING_H
#define LEATI_SERVICE_WORKER_PACKING_H

#include "service/wire/frame.h"

/* Of one stream, whose sender alone has it. */
typedef struct leati_worker_packing {
    leati_frame_compression best; /* that both sides know; PLAIN: never */
    bool always;                  /* it was asked for */
    bool on;
    double link_ns;         /* of a byte that is sent, while none were packed; 0: unknown */
    double pack_ns, shrunk; /* of a byte that is packed: its time, and what is left of it */
    double sent, sent_ns;   /* plain bytes since it was switched off, halved now and then */
    int64_t until_trial;    /* plain bytes before the next trial */
    double packed_ns;       /* what packed frames took since it was switched on */
} leati_worker_packing;

void leati_worker_packing_init(leati_worker_packing *p, leati_frame_compression best, bool always);
/* How to pack the next frame, of `bytes`. */
leati_frame_compression leati_worker_packing_next(leati_worker_packing *p, int64_t bytes);
/* It was tried: `bytes` became `left`, the same where packing did not make them fewer. */
void leati_worker_packing_tried(leati_worker_packing *p, int64_t bytes, int64_t left, int64_t ns);
/* A frame was sent, for which the writer took so long. */
void leati_worker_packing_sent(leati_worker_packing *p, int64_t bytes, int64_t ns);

#endif
