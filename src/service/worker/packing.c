/* Whether the frames of a stream are packed; see packing.h. Cannot fail, no locks: the sender's. */
#include "service/worker/packing.h"
#include "base/minmax.h"

enum {
    MIB = 1 << 20,
    SETTLES = 16 * MIB,  /* plain bytes that show the link: the first ones went into memory */
    AGAIN = 64 * MIB,    /* plain bytes at least from a trial that did not pay to the next one */
    REMEMBERS = 32 * MIB /* of plain bytes, by which the link is measured */
};
/* Links that are faster are never worth it: packing takes that long for bytes that all go away. */
static const double LEAST_LINK_NS = 0.5;
/* Trials, and measuring the link anew, are repeated after so many times what they cost. */
static const double RARELY = 40;
/* What packing must save for each part that it costs, as the client has to unpack. */
static const double WORTH = 1.5;

void leati_worker_packing_init(leati_worker_packing *p, leati_frame_compression best, bool always) {
    *p = (leati_worker_packing){.best = best, .always = always, .on = always};
}

leati_frame_compression leati_worker_packing_next(leati_worker_packing *p, int64_t bytes) {
    if (p->best == LEATI_FRAME_PLAIN || p->always)
        return p->best;
    if (p->on) {
        if (p->packed_ns < RARELY * SETTLES * p->link_ns)
            return p->best;
        p->on = false;
        p->sent = p->sent_ns = p->link_ns = 0;
        p->until_trial = 0;
    }
    p->until_trial -= bytes;
    return p->until_trial < 0 && p->link_ns >= LEAST_LINK_NS ? p->best : LEATI_FRAME_PLAIN;
}

static bool pays(const leati_worker_packing *p) {
    return p->pack_ns * WORTH < p->link_ns * (1 - p->shrunk);
}

void leati_worker_packing_tried(leati_worker_packing *p, int64_t bytes, int64_t left, int64_t ns) {
    const double each = 1.0 / (double)LEATI_MAX(bytes, 1);
    const double pack_ns = (double)ns * each, shrunk = (double)left * each;
    /* The first one of a trial counts as it is, the others as a sixteenth. */
    const double counts = p->on ? 1.0 / 16 : 1.0;
    p->pack_ns += (pack_ns - p->pack_ns) * counts;
    p->shrunk += (shrunk - p->shrunk) * counts;
    p->packed_ns = p->on ? p->packed_ns + (double)ns : 0;
    p->on = p->always || pays(p);
    if (!p->on)
        p->until_trial = LEATI_MAX(AGAIN, (int64_t)(RARELY * (double)ns / p->link_ns));
}

void leati_worker_packing_sent(leati_worker_packing *p, int64_t bytes, int64_t ns) {
    if (p->on) {
        p->packed_ns += (double)ns;
        return;
    }
    p->sent += (double)bytes;
    p->sent_ns += (double)ns;
    if (p->sent > REMEMBERS) {
        p->sent /= 2;
        p->sent_ns /= 2;
    }
    if (p->sent >= SETTLES)
        p->link_ns = p->sent_ns / p->sent;
}
