/* The meeting point of a job with TLS: who takes part, and what those may do who may not. Ranks are
 * threads; strangers are bare sockets, or handshakes of the test's own. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/store_job.h"
#include "support/address.h"
#include "support/refused.h"
#include "support/stranger.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"

enum { LONG_MS = 60000, SHORT_MS = 1500 };

#define SECRET "a secret of this test"

static authority good, other;
static leati_tls_context *member, *neighbour, *foreign; /* of `good`, twice, and of `other` */

typedef struct rank {
    leati_store_options options;
    leati_store *store;
    leat_error err;
    pthread_t thread;
} rank;

static void *rank_main(void *context) {
    rank *r = context;
    r->store = leati_store_open(&r->options, &r->err);
    return NULL;
}

static void start_rank(rank *r, const char *address, int number, leati_tls_context *tls,
                       const char *secret, int64_t timeout_ms) {
    *r = (rank){.options = {.address = address,
                            .name = number == 0 ? "worker 0" : "worker 1",
                            .secret = secret,
                            .tls = tls,
                            .rank = number,
                            .num_ranks = 2,
                            .timeout_ms = timeout_ms,
                            .heartbeat_ms = 20,
                            .dead_ms = 5000}};
    assert_int_equal(pthread_create(&r->thread, NULL, rank_main, r), 0);
}

/* Both are there, and values of any size pass between them. */
static void expect_joined(rank *ranks) {
    static char value[300000];
    leat_error err = {0};
    char *found = NULL;
    size_t size = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(ranks[i].thread, NULL);
    for (int i = 0; i < 2; i++)
        if (ranks[i].store == NULL)
            fail_msg("rank %d: %s", i, ranks[i].err.text);
    memset(value, 'v', sizeof value);
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "a" : "b";
        assert_int_equal(leati_store_set(ranks[i].store, key, value, sizeof value, &err), LEAT_OK);
        assert_int_equal(leati_store_get(ranks[1 - i].store, key, LONG_MS, &found, &size, &err),
                         LEAT_OK);
        assert_int_equal(size, sizeof value);
        assert_memory_equal(found, value, size);
        leati_free(found);
    }
    assert_int_equal(leati_store_check(ranks[1].store, &err), LEAT_OK);
    leati_store_close(ranks[1].store);
    leati_store_close(ranks[0].store);
}

/* Certificates may be shared or not, and the secret works beside them. */
static void test_good(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        char address[32];
        rank ranks[2];
        free_address(address, sizeof address);
        for (int r = 0; r < 2; r++)
            start_rank(&ranks[r], address, r, r == 1 && i % 2 == 1 ? neighbour : member,
                       i < 2 ? NULL : SECRET, LONG_MS);
        expect_joined(ranks);
    }
}

/* Who has no certificate of the job's is told at once; rank 0 goes on waiting for one who has it,
 * and names in the end who was refused. */
static void test_other_authority(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char address[32];
        rank ranks[2];
        free_address(address, sizeof address);
        start_rank(&ranks[0], address, 0, member, NULL, i == 0 ? LONG_MS : SHORT_MS);
        start_rank(&ranks[1], address, 1, foreign, NULL, LONG_MS);
        pthread_join(ranks[1].thread, NULL);
        assert_null(ranks[1].store);
        assert_refused(&ranks[1].err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "LEAT_TLS_CA");
        if (i == 0) {
            start_rank(&ranks[1], address, 1, member, NULL, LONG_MS);
            expect_joined(ranks);
            continue;
        }
        pthread_join(ranks[0].thread, NULL);
        assert_refused(&ranks[0].err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "LEAT_TLS_CERT");
    }
}

static void test_other_secret(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    free_address(address, sizeof address);
    start_rank(&ranks[0], address, 0, member, SECRET, LONG_MS);
    start_rank(&ranks[1], address, 1, member, "the secret of another", LONG_MS);
    pthread_join(ranks[1].thread, NULL);
    assert_refused(&ranks[1].err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "LEAT_JOB_SECRET");
    start_rank(&ranks[1], address, 1, member, SECRET, LONG_MS);
    expect_joined(ranks);
}

// ---- one side in the clear ----

typedef struct lines {
    pthread_mutex_t lock;
    char text[2000];
} lines;

static void keep_line(void *context, leat_log_level level, const char *line) {
    lines *l = context;
    (void)level;
    pthread_mutex_lock(&l->lock);
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%s\n", line);
    pthread_mutex_unlock(&l->lock);
}

/* Rank 0 has TLS: the other one is told at once, rank 0's user, too, and the job waits for who has
 * it, as with a secret. */
static void test_plain_client(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    lines l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    leat_log_set(keep_line, &l);
    free_address(address, sizeof address);
    start_rank(&ranks[0], address, 0, member, NULL, LONG_MS);
    start_rank(&ranks[1], address, 1, NULL, NULL, LONG_MS);
    pthread_join(ranks[1].thread, NULL);
    assert_null(ranks[1].store);
    assert_refused(&ranks[1].err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_TLS_CERT");
    start_rank(&ranks[1], address, 1, member, NULL, LONG_MS);
    expect_joined(ranks);
    leat_log_set(NULL, NULL);
    assert_true(refused_names(l.text, "LEAT_TLS_CERT"));
    assert_true(refused_names(l.text, "worker"));
}

/* Rank 0 has none: both end at once, unless a secret says who belongs to the job. */
static void test_plain_server(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char address[32];
        rank ranks[2];
        const char *secret = i == 0 ? NULL : SECRET;
        free_address(address, sizeof address);
        start_rank(&ranks[0], address, 0, NULL, secret, LONG_MS);
        start_rank(&ranks[1], address, 1, member, secret, LONG_MS);
        pthread_join(ranks[1].thread, NULL);
        assert_null(ranks[1].store);
        assert_refused(&ranks[1].err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_TLS_CERT");
        if (i == 0) {
            pthread_join(ranks[0].thread, NULL);
            assert_null(ranks[0].store);
            assert_refused(&ranks[0].err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE,
                           "LEAT_TLS_CERT");
        } else {
            start_rank(&ranks[1], address, 1, NULL, secret, LONG_MS);
            expect_joined(ranks);
        }
    }
}

/* What speaks TLS and is no process of leat, a scanner, ends no job. */
static void test_other_tls(void **state) {
    (void)state;
    char address[32], bytes[100];
    rank ranks[2];
    leat_error err = {0};
    free_address(address, sizeof address);
    start_rank(&ranks[0], address, 0, NULL, NULL, LONG_MS);
    int scanner = leati_wire_connect(address, NULL, leati_clock_deadline_ns(LONG_MS), &err);
    assert_true(scanner >= 0);
    assert_int_equal(send(scanner, "\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9, 0), 9);
    assert_int_equal(recv(scanner, bytes, sizeof bytes, 0), 0);
    close(scanner);
    start_rank(&ranks[1], address, 1, NULL, NULL, LONG_MS);
    expect_joined(ranks);
}

// ---- strangers ----

static leati_store_server *new_server(void) {
    leat_error err = {0};
    const leati_store_options options = {.name = "worker 0",
                                         .tls = member,
                                         .num_ranks = 2,
                                         .heartbeat_ms = LONG_MS,
                                         .dead_ms = LONG_MS};
    leati_store_server *s = leati_store_server_new(&options, &err);
    assert_non_null(s);
    return s;
}

static int adopted(leati_store_server *s) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(leati_store_server_adopt(s, pair[1], &(leat_error){0}), LEAT_OK);
    return pair[0];
}

static bool is_closed(int end) {
    char bytes[4096];
    ssize_t got;
    while ((got = recv(end, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        continue;
    /* Reset, where something of what it said was not read. */
    return got == 0 || errno == ECONNRESET;
}

/* A member that shakes hands and greets, and is there in the end. */
static void join_server(leati_store_server *s, int32_t number) {
    char front[LEATI_GREETING_LONGEST];
    leat_error err = {0};
    int end = adopted(s);
    leati_tls *tls = leati_tls_new(neighbour, end, LEATI_TLS_CLIENT, "localhost", &err);
    leati_tls_step step = LEATI_TLS_READS;
    for (int turn = 0; turn < 20 && step == LEATI_TLS_READS; turn++) {
        step = leati_tls_shake(tls, &err);
        leati_store_server_turn(s, 0);
    }
    assert_int_equal(step, LEATI_TLS_DONE);
    leati_greeting g = stranger_greeting(number, 2);
    size_t size = leati_greeting_write(&g, front);
    const leati_wire_link link = {.socket = end, .tls = tls};
    assert_int_equal(leati_wire_send_by(&link, LEATI_MESSAGE_HELLO, 1, front, size, NULL, 0, &err),
                     LEAT_OK);
    leati_store_server_turn(s, 0);
    assert_non_null(s->members[number].name);
    leati_tls_free(tls);
    close(end);
}

/* Half a handshake, and nothing at all, are held open for as long as a greeting may take. */
static void test_half_handshakes(void **state) {
    (void)state;
    leati_store_server *s = new_server();
    leat_error err = {0};
    int ends[2];
    leati_tls *tls = NULL;
    for (int i = 0; i < 2; i++)
        ends[i] = adopted(s);
    tls = leati_tls_new(neighbour, ends[1], LEATI_TLS_CLIENT, "localhost", &err);
    assert_int_equal(leati_tls_shake(tls, &err), LEATI_TLS_READS);
    for (int turn = 0; turn < 5; turn++)
        leati_store_server_turn(s, 0);
    join_server(s, 1);
    assert_int_equal(s->num_strangers, 2);
    assert_false(is_closed(ends[0]));
    s->greeting_ns = -1;
    leati_store_server_turn(s, 0);
    assert_int_equal(s->num_strangers, 0);
    assert_true(is_closed(ends[0]));
    assert_true(is_closed(ends[1]));
    leati_tls_free(tls);
    for (int i = 0; i < 2; i++)
        close(ends[i]);
    leati_store_server_free(s);
}

/* What is no TLS, or a greeting in the clear that is too long, is closed; a handshake that is ended
 * in the middle is, too. Nobody becomes a member that way. */
static void test_bare_strangers(void **state) {
    (void)state;
    static const struct {
        const char *said;
        size_t size;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: here\r\n\r\n", 30},
        {"\x16\x03\x01\xff\xff\x01\x00\x00\x00 and more", 18},
        {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03", 10},
        {"\x17\x03\x03\x00\x01\x00 and more bytes", 21},
    };
    char long_greeting[sizeof(leati_message_head) + 2 * LEATI_STORE_JOB_GREETING_BYTES] = {0};
    leati_message_head head = {.size = LEATI_STORE_JOB_GREETING_BYTES + 1,
                               .kind = LEATI_MESSAGE_HELLO};
    memcpy(long_greeting, &head, sizeof head);
    size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i <= count; i++) {
        leati_store_server *s = new_server();
        int end = adopted(s);
        const char *said = i < count ? cases[i].said : long_greeting;
        size_t size = i < count ? cases[i].size : sizeof long_greeting;
        assert_int_equal(send(end, said, size, 0), size);
        for (int turn = 0; turn < 20; turn++)
            leati_store_server_turn(s, 0);
        assert_int_equal(s->num_strangers, 0);
        assert_int_equal(s->num_here, 0);
        assert_true(is_closed(end));
        join_server(s, 1);
        close(end);
        leati_store_server_free(s);
    }
}

/* An address pays for what its strangers cost, and nobody else does. The times are the test's. */
static void test_blame(void **state) {
    (void)state;
    char address[32], one;
    leat_error err = {0};
    leati_store_door door;
    int64_t now = INT64_C(1000000000000), moment = 100000000;
    free_address(address, sizeof address);
    assert_int_equal(leati_store_door_open(&door, address, NULL, 0, 10, &err), LEAT_OK);
    int first = leati_wire_connect(address, NULL, leati_now_ns() + 1, &err);
    int taken = leati_store_door_accept(&door, now);
    assert_true(taken >= 0);
    leati_store_door_blame(&door, taken, 400000, now);
    close(taken);
    int second = leati_wire_connect(address, NULL, leati_now_ns() + 1, &err);
    assert_int_equal(leati_store_door_accept(&door, now + moment - 1), LEATI_STORE_DOOR_NOBODY);
    assert_int_equal(recv(second, &one, 1, 0), 0);
    int third = leati_wire_connect(address, NULL, leati_now_ns() + 1, &err);
    taken = leati_store_door_accept(&door, now + moment);
    assert_true(taken >= 0);
    /* It adds up, to ten seconds at most. */
    leati_store_door_blame(&door, taken, INT64_C(50000000), now + moment);
    leati_store_door_blame(&door, taken, INT64_C(80000000), now + moment);
    assert_int_equal(door.blamed[0].until_ns, now + moment + INT64_C(10000000000));
    /* A pair of sockets has no address. */
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    leati_store_door_blame(&door, pair[0], 1000000, now);
    assert_int_equal(door.blamed[1].origin, 0);
    /* Where all places are taken the one makes room that is free first. */
    for (int i = 0; i < LEATI_STORE_DOOR_BLAMED; i++)
        door.blamed[i] =
            (leati_store_blame){.origin = (uint64_t)i * 2 + 3, .until_ns = now + 1000 - i};
    leati_store_door_blame(&door, taken, 400000, now);
    assert_int_equal(door.blamed[LEATI_STORE_DOOR_BLAMED - 1].until_ns, now + moment);
    assert_int_equal(door.blamed[0].origin, 3);
    close(pair[0]);
    close(pair[1]);
    close(taken);
    close(first);
    close(second);
    close(third);
    leati_store_door_close(&door);
}

/* Strangers with half a handshake each, more than rank 0 keeps: a worker that comes joins. */
static void test_crowd(void **state) {
    (void)state;
    enum { CROWD = LEATI_STORE_JOB_STRANGERS + 40 };
    char address[32];
    int crowd[CROWD];
    leati_tls *shaking[CROWD];
    rank ranks[2];
    leat_error err = {0};
    free_address(address, sizeof address);
    start_rank(&ranks[0], address, 0, member, NULL, LONG_MS);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = leati_wire_connect(address, NULL, leati_clock_deadline_ns(LONG_MS), &err);
        assert_true(crowd[i] >= 0);
        shaking[i] = leati_tls_new(foreign, crowd[i], LEATI_TLS_CLIENT_OF_KNOWN, "rank 0", &err);
        (void)leati_tls_shake(shaking[i], &err);
    }
    start_rank(&ranks[1], address, 1, member, NULL, LONG_MS);
    expect_joined(ranks);
    for (int i = 0; i < CROWD; i++) {
        leati_tls_free(shaking[i]);
        close(crowd[i]);
    }
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
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_other_authority),
        cmocka_unit_test(test_other_secret),
        cmocka_unit_test(test_plain_client),
        cmocka_unit_test(test_plain_server),
        cmocka_unit_test(test_other_tls),
        cmocka_unit_test(test_half_handshakes),
        cmocka_unit_test(test_bare_strangers),
        cmocka_unit_test(test_blame),
        cmocka_unit_test(test_crowd),
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
