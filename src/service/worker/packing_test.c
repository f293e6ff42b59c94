/* Whether frames are packed, against links and data of every kind on a clock of its own: the time
 * that a stream takes is near that of the better one of always and never. */
#include "support/cmocka.h"

#include "base/minmax.h"
#include "service/worker/packing.h"

enum { MIB = 1 << 20, LIES_BETWEEN = 8 * MIB };

typedef struct world {
    double link_ns, make_ns; /* of a byte */
    double pack_ns, left;    /* of a byte that is packed */
    double now, sent_until;  /* when the link has sent what was written */
    int64_t packed, plain;   /* bytes */
} world;

/* Writes as a socket does: waits while too much lies between it and the link. Returns how long. */
static double write_bytes(world *w, double bytes) {
    w->sent_until = LEATI_MAX(w->sent_until, w->now) + bytes * w->link_ns;
    const double until = w->sent_until - LIES_BETWEEN * w->link_ns;
    const double waits = LEATI_MAX(until - w->now, 0) + bytes * 0.1;
    w->now += waits;
    return waits;
}

static double run(world w, leati_worker_packing *p, int64_t frame, int64_t bytes, world *out) {
    for (int64_t at = 0; at < bytes; at += frame) {
        double left = (double)frame;
        w.now += w.make_ns * (double)frame;
        if (leati_worker_packing_next(p, frame) != LEATI_FRAME_PLAIN) {
            const double took = w.pack_ns * (double)frame;
            left *= w.left;
            w.now += took;
            w.packed += frame;
            leati_worker_packing_tried(p, frame, (int64_t)left, (int64_t)took);
        } else {
            w.plain += frame;
        }
        leati_worker_packing_sent(p, (int64_t)left, (int64_t)write_bytes(&w, left));
    }
    *out = w;
    return LEATI_MAX(w.now, w.sent_until);
}

static double measured(const world *w, int64_t frame, leati_frame_compression best, bool always,
                       world *out) {
    leati_worker_packing p;
    leati_worker_packing_init(&p, best, always);
    return run(*w, &p, frame, 4096ll * MIB, out);
}

/* Links of 100 Mbit/s, 1, 10 and 100 Gbit/s; pipelines from much slower to much faster; data that
 * shrink to nothing, a half and not at all. */
static void test_near_the_better(void **state) {
    (void)state;
    static const double links[] = {80, 8, 0.8, 0.08}, makes[] = {0, 1, 30},
                        lefts[] = {0.01, 0.5, 1}, packs[] = {0.5, 2, 10};
    static const int64_t frames[] = {20000, MIB, 4 * MIB};
    for (int i = 0; i < 4 * 3 * 3 * 3 * 3; i++) {
        world end, w = {.link_ns = links[i % 4],
                        .make_ns = makes[i / 4 % 3],
                        .left = lefts[i / 12 % 3],
                        .pack_ns = packs[i / 36 % 3]};
        const int64_t frame = frames[i / 108 % 3];
        const double never = measured(&w, frame, LEATI_FRAME_PLAIN, false, &end),
                     always = measured(&w, frame, LEATI_FRAME_LZ4, true, &end),
                     chosen = measured(&w, frame, LEATI_FRAME_LZ4, false, &end);
        const double better = LEATI_MIN(never, always);
        /* It is left as it is where the gain is small: a client has to unpack. */
        if (chosen > 1.5 * better || chosen > 1.03 * never)
            fail_msg("link %g make %g left %g pack %g frame %lld: %g, but never %g, always %g",
                     w.link_ns, w.make_ns, w.left, w.pack_ns, (long long)frame, chosen, never,
                     always);
    }
}

static void test_clear_cases(void **state) {
    (void)state;
    world end, slow = {.link_ns = 8, .pack_ns = 1, .left = 0.3};
    measured(&slow, MIB, LEATI_FRAME_LZ4, false, &end);
    assert_true(end.packed > 9 * end.plain);
    /* A link that nobody waits for, data that do not shrink, and who does not want it. */
    world fast = {.link_ns = 0.1, .pack_ns = 1, .left = 0.1},
          random = {.link_ns = 8, .pack_ns = 1, .left = 1},
          waits = {.link_ns = 8, .pack_ns = 1, .left = 0.3, .make_ns = 20};
    measured(&fast, MIB, LEATI_FRAME_LZ4, false, &end);
    assert_int_equal(end.packed, 0);
    measured(&waits, MIB, LEATI_FRAME_LZ4, false, &end);
    assert_int_equal(end.packed, 0);
    measured(&random, MIB, LEATI_FRAME_LZ4, false, &end);
    assert_true(end.packed > 0 && 40 * end.packed < end.plain);
    measured(&slow, MIB, LEATI_FRAME_PLAIN, false, &end);
    assert_int_equal(end.packed, 0);
    measured(&random, MIB, LEATI_FRAME_SNAPPY, true, &end);
    assert_int_equal(end.plain, 0);
}

/* A link that becomes slow, and fast again: followed both ways. */
static void test_changes(void **state) {
    (void)state;
    leati_worker_packing p;
    leati_worker_packing_init(&p, LEATI_FRAME_LZ4, false);
    world w = {.link_ns = 0.1, .pack_ns = 1, .left = 0.3}, end;
    for (int i = 0; i < 4; i++) {
        w.link_ns = i % 2 == 0 ? 0.1 : 8;
        (void)run(w, &p, MIB, 2048ll * MIB, &end);
        assert_int_equal(p.on, i % 2);
        w.now = end.now;
        w.sent_until = end.sent_until;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_the_better),
        cmocka_unit_test(test_clear_cases),
        cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
