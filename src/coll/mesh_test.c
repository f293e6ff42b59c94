/* Connections between processes over TLS: who else comes to their ports, and what befalls them
 * while they connect. Rank 2 is the test's own, made of bare handshakes. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "coll/mesh_links.h"
#include "coll/processes.h"
#include "coll/wire.h"
#include "support/address.h"
#include "support/refused.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"
#include "support/torture.h"

#include "support/certificates.h"

enum { LONG_MS = 60000, SHORT_MS = 700, RANKS = 3, MARK = 0x1ea7e501 };

static authority good, other;
static leati_tls_context *member, *neighbour, *foreign; /* of `good`, twice, and of `other` */

/* What ranks tell each other at the meeting point, and say to each other. */
typedef struct card {
    char address[80];
    uint8_t fingerprint[LEATI_TLS_FINGERPRINT], token[32];
} card;
typedef struct hello {
    int32_t mark, rank;
    uint8_t token[32];
} hello;

typedef struct rank {
    char address[32];
    int number;
    int64_t timeout_ms;
    leati_store *store;
    leati_collective *collective;
    atomic_int ready;
    leat_error err;
    float sum;
    pthread_t thread;
} rank;

static rank ranks[RANKS];

static void lost(void *context, const leat_error *why) {
    rank *r = context;
    while (atomic_load(&r->ready) == 0)
        (void)poll(NULL, 0, 1);
    if (r->collective != NULL)
        r->collective->ops->abort(r->collective, why);
}

static void open_store(rank *r) {
    const leati_store_options options = {.address = r->address,
                                         .name = r->number == 2 ? "worker 2" : "worker",
                                         .tls = member,
                                         .rank = r->number,
                                         .num_ranks = RANKS,
                                         .timeout_ms = LONG_MS,
                                         .heartbeat_ms = 20,
                                         .dead_ms = LONG_MS,
                                         .lost = lost,
                                         .context = r};
    r->store = leati_store_open(&options, &r->err);
}

static void close_rank(rank *r) {
    leati_store_close(r->store);
    if (r->collective != NULL)
        r->collective->ops->close(r->collective);
}

/* Leaves when all are about to. */
static void leave(rank *r) {
    leati_store_values all = {0};
    if (r->store != NULL)
        (void)!leati_store_barrier(r->store, "end", NULL, 0, LONG_MS, &all, &(leat_error){0});
    leati_store_values_fini(&all);
    close_rank(r);
}

/* Joins, sums once, and leaves. */
static void *rank_main(void *context) {
    rank *r = context;
    open_store(r);
    if (r->store != NULL)
        r->collective = leati_coll_mesh_new(r->store, r->number, RANKS, r->timeout_ms, &r->err);
    atomic_store(&r->ready, 1);
    r->sum = (float)r->number + 1;
    if (r->collective != NULL)
        (void)r->collective->ops->all_reduce(r->collective, r->number, &r->sum, 1, LEAT_FLOAT32,
                                             LEATI_REDUCTION_SUM, &r->err);
    leave(r);
    return NULL;
}

static void start(int64_t timeout_ms) {
    char address[32];
    free_address(address, sizeof address);
    for (int i = 0; i < RANKS; i++) {
        memset(&ranks[i], 0, sizeof ranks[i]);
        memcpy(ranks[i].address, address, sizeof address);
        ranks[i].number = i;
        ranks[i].timeout_ms = timeout_ms;
        if (i < 2)
            assert_int_equal(pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]), 0);
    }
    open_store(&ranks[2]);
    if (ranks[2].store == NULL)
        fail_msg("%s", ranks[2].err.text);
    atomic_store(&ranks[2].ready, 1);
}

static void finish(void) {
    leave(&ranks[2]);
    for (int r = 0; r < 2; r++)
        pthread_join(ranks[r].thread, NULL);
}

/* Says where rank 2 listens, which nobody connects to, and learns where the others do. */
static void exchange_cards(card cards[RANKS], size_t said) {
    leat_error err = {0};
    leati_store_values all;
    card mine = {.address = "127.0.0.1:1"};
    memcpy(mine.fingerprint, leati_tls_context_fingerprint(member), sizeof mine.fingerprint);
    assert_int_equal(leati_store_barrier(ranks[2].store, "mesh", &mine, said, LONG_MS, &all, &err),
                     LEAT_OK);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(all.offset[r + 1] - all.offset[r], sizeof *cards);
        memcpy(&cards[r], all.bytes + all.offset[r], sizeof *cards);
    }
    leati_store_values_fini(&all);
}

static leati_mesh_link connect_to(const card *to, leati_tls_context *tls) {
    leat_error err = {0};
    leati_mesh_link l = {
        .socket = leati_wire_connect(to->address, NULL, leati_clock_deadline_ns(LONG_MS), &err)};
    assert_true(l.socket >= 0);
    if (tls != NULL)
        l.tls = leati_tls_new(tls, l.socket, LEATI_TLS_CLIENT_OF_KNOWN, "a rank", &err);
    return l;
}

static void disconnect(leati_mesh_link *l) {
    leati_tls_free(l->tls);
    close(l->socket);
}

static void say(leati_mesh_link *l, const void *bytes, size_t size) {
    leat_error err = {0};
    if (leati_tls_finish(l->tls, leati_clock_deadline_ns(LONG_MS), &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(leati_tls_write(l->tls, bytes, size, &err), (ptrdiff_t)size);
}

static hello hello_to(const card *to, int from) {
    hello h = {.mark = MARK, .rank = from};
    memcpy(h.token, to->token, sizeof h.token);
    return h;
}

/* The other side closes it. */
static void expect_closed(leati_mesh_link *l) {
    leat_error err = {0};
    char one;
    struct pollfd waiting = {.fd = l->socket, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, LONG_MS), 1);
    if (l->tls != NULL)
        assert_int_equal(leati_tls_read(l->tls, &one, 1, &err), -1);
    else
        assert_true(recv(l->socket, &one, 1, 0) == 0 || errno == ECONNRESET);
}

/* Everybody who is not rank 2, at the port of a rank that waits for it. */
static void send_strangers(const card *to) {
    hello right = hello_to(to, 2), wrong[3] = {right, right, right};
    wrong[0].token[31] ^= 1;
    wrong[1].rank = 0;
    wrong[2].mark++;
    for (int i = 0; i < 3; i++) {
        leati_mesh_link l = connect_to(to, member);
        say(&l, &wrong[i], sizeof wrong[i]);
        expect_closed(&l);
        disconnect(&l);
    }
    /* With the token, but another certificate than rank 2 has. */
    leati_mesh_link l = connect_to(to, neighbour);
    say(&l, &right, sizeof right);
    expect_closed(&l);
    disconnect(&l);
    l = connect_to(to, foreign);
    leat_error err = {0};
    assert_int_equal(leati_tls_finish(l.tls, leati_clock_deadline_ns(LONG_MS), &err),
                     LEAT_PERMISSION_DENIED);
    disconnect(&l);
    l = connect_to(to, NULL);
    assert_int_equal(send(l.socket, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    expect_closed(&l);
    disconnect(&l);
}

/* Sums as the others do, by a message of its own: 3 to each, 1 and 2 from them. */
static void sum_with(leati_mesh_link links[2]) {
    struct message {
        uint64_t number;
        int64_t count;
        int32_t kind, dtype, parameter, reserved;
        float value;
    } said = {.number = 1, .count = 1, .kind = 1, .dtype = LEAT_FLOAT32, .value = 3}, heard;
    enum { SIZE = 36 };
    leat_error err = {0};
    for (int r = 0; r < 2; r++)
        assert_int_equal(leati_tls_write(links[r].tls, &said, SIZE, &err), SIZE);
    for (int r = 0; r < 2; r++) {
        ptrdiff_t got = 0;
        while (got == 0) {
            (void)poll(&(struct pollfd){.fd = links[r].socket, .events = POLLIN}, 1, LONG_MS);
            got = leati_tls_read(links[r].tls, &heard, SIZE, &err);
        }
        assert_int_equal(got, SIZE);
        assert_int_equal(heard.count, 1);
        assert_true(heard.value == (float)r + 1);
    }
}

static void test_strangers(void **state) {
    (void)state;
    enum { CROWD = 20 };
    card cards[RANKS];
    leati_mesh_link links[2], crowd[CROWD];
    start(LONG_MS);
    exchange_cards(cards, sizeof *cards);
    for (int r = 0; r < 2; r++)
        send_strangers(&cards[r]);
    /* More than are kept, with nothing or half a handshake: the first ones go. */
    for (int i = 0; i < CROWD; i++) {
        leat_error err = {0};
        crowd[i] = connect_to(&cards[0], i % 2 == 0 ? NULL : member);
        if (crowd[i].tls != NULL)
            (void)leati_tls_shake(crowd[i].tls, &err);
    }
    expect_closed(&crowd[0]);
    for (int r = 0; r < 2; r++) {
        hello right = hello_to(&cards[r], 2);
        links[r] = connect_to(&cards[r], member);
        /* In two pieces. */
        say(&links[r], &right, 7);
        say(&links[r], (const char *)&right + 7, sizeof right - 7);
    }
    sum_with(links);
    finish();
    for (int r = 0; r < 2; r++) {
        if (ranks[r].collective == NULL || ranks[r].sum != 6)
            fail_msg("rank %d has %g: %s", r, (double)ranks[r].sum, ranks[r].err.text);
        disconnect(&links[r]);
    }
    for (int i = 0; i < CROWD; i++)
        disconnect(&crowd[i]);
}

/* Rank 2 does not connect: the others' time passes. */
static void test_missing(void **state) {
    (void)state;
    card cards[RANKS];
    start(SHORT_MS);
    exchange_cards(cards, sizeof *cards);
    finish();
    for (int r = 0; r < 2; r++) {
        assert_null(ranks[r].collective);
        /* The first of them ends the job for the other. */
        assert_true(ranks[r].err.code == LEAT_ABORTED ||
                    ranks[r].err.code == LEAT_DEADLINE_EXCEEDED);
        assert_true(refused_names(leat_error_message(&ranks[r].err), "connected"));
    }
}

/* It fails: the others are told by the store, long before their time passes. */
static void test_failed(void **state) {
    (void)state;
    card cards[RANKS];
    const leat_error why = {.code = LEAT_DATA_LOSS, .text = "record 7 is broken"};
    start(LONG_MS);
    exchange_cards(cards, sizeof *cards);
    leati_store_abort(ranks[2].store, &why);
    finish();
    for (int r = 0; r < 2; r++) {
        assert_null(ranks[r].collective);
        assert_refused(&ranks[r].err, LEAT_ABORTED, LEAT_REASON_NONE, "7");
    }
}

/* What it says at the meeting point is no card. */
static void test_bad_card(void **state) {
    (void)state;
    card cards[RANKS];
    start(LONG_MS);
    exchange_cards(cards, 5);
    finish();
    for (int r = 0; r < 2; r++) {
        assert_null(ranks[r].collective);
        assert_true(ranks[r].err.code == LEAT_ABORTED || ranks[r].err.code == LEAT_INTERNAL);
        assert_true(refused_names(leat_error_message(&ranks[r].err), "listens"));
    }
}

/* What does not encrypt is not for a job that has TLS, and this is not for one that has none. */
static void test_others_refuse(void **state) {
    (void)state;
    leat_error err = {0};
    char address[32];
    for (int i = 0; i < 2; i++) {
        free_address(address, sizeof address);
        const leati_store_options options = {.address = address,
                                             .name = "worker 0",
                                             .tls = i == 0 ? member : NULL,
                                             .num_ranks = 1,
                                             .timeout_ms = LONG_MS};
        leati_store *store = leati_store_open(&options, &err);
        assert_non_null(store);
        if (i == 0) {
            assert_null(leati_coll_gloo_new(store, 0, 1, LONG_MS, &err));
            assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "gloo");
            assert_null(leati_coll_mpi_new(store, 0, 1, LONG_MS, &err));
            assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "MPI");
            assert_null(leati_coll_nccl_new(store, 0, 1, 0, LONG_MS, &err));
            assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "NCCL");
        } else {
            assert_null(leati_coll_mesh_new(store, 0, 1, LONG_MS, &err));
            assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_TLS_CERT");
        }
        leati_store_close(store);
    }
}

/* Of a job of one rank, which connects with nobody: the other's waits would hide what failed. */
static leat_status use_mesh(void *context, leat_error *err) {
    leati_store *store = context;
    leati_collective *c = leati_coll_mesh_new(store, 0, 1, LONG_MS, err);
    if (c == NULL)
        return torture_code(err);
    static float values[70000];
    for (int i = 0; i < 70000; i++)
        values[i] = (float)i;
    leat_status status =
        c->ops->all_reduce(c, 0, values, 70000, LEAT_FLOAT32, LEATI_REDUCTION_MEAN, err);
    if (status == LEAT_OK)
        assert_true(values[69999] == 69999);
    c->ops->close(c);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    leat_error err = {0};
    char address[32];
    bool failed = true;
    free_address(address, sizeof address);
    const leati_store_options options = {.address = address,
                                         .name = "worker 0",
                                         .tls = member,
                                         .num_ranks = 1,
                                         .timeout_ms = LONG_MS};
    leati_store *store = leati_store_open(&options, &err);
    assert_non_null(store);
    int refused = 0;
    for (int at = 1; failed; at++) {
        err = (leat_error){0};
        torture_fail_at(at);
        leat_status status = use_mesh(store, &err);
        failed = torture_failed();
        torture_fail_at(0);
        assert_int_equal(status, err.code);
        /* The store's threads take memory, too. */
        if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED && status != LEAT_ABORTED)
            fail_msg("%s: %s", leat_status_name(status), err.text);
        if (leati_store_check(store, &err) != LEAT_OK) {
            leati_store_close(store);
            store = leati_store_open(&options, &err);
            assert_non_null(store);
        }
        refused += status != LEAT_OK;
    }
    leati_store_close(store);
    assert_true(refused > 5);
}

static leati_tls_context *context_of(const char *name, const authority *by) {
    certificate_files files = certificate_write(
        scratch_folder, &(certificate_wish){.name = name, .hosts = CERTIFICATE_HERE}, by, by);
    return certificate_context(&files, NULL);
}

static int set_up(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    good = authority_new("the job's authority");
    other = authority_new("another authority");
    member = context_of("member", &good);
    neighbour = context_of("neighbour", &good);
    foreign = context_of("foreign", &other);
    return 0;
}

static int tear_down(void **state) {
    leati_tls_context_free(member);
    leati_tls_context_free(neighbour);
    leati_tls_context_free(foreign);
    authority_free(&good);
    authority_free(&other);
    return scratch_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_bad_card),
        cmocka_unit_test(test_others_refuse),
        cmocka_unit_test_setup_teardown(test_failing_allocations, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
#else
static void test_absent(void **state) {
    (void)state;
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
