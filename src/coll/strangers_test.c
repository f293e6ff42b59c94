/* Who may take part in a job, and what those may do who may not: secrets, false ranks and a false
 * rank 0, connections that never greet, members that want too much. Ranks are threads; strangers
 * are bare messages. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "coll/store.h"
#include "coll/store_job.h"
#include "support/address.h"
#include "support/refused.h"
#include "support/stranger.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { LONG_MS = 60000, SHORT_MS = 300 };

#define SECRET "a secret of this test"
#define OTHER "the secret of another"

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

static void start_rank(rank *r, const char *address, int number, int count, const char *secret,
                       int64_t timeout_ms) {
    *r = (rank){.options = {.address = address,
                            .name = number == 0 ? "worker 0" : "worker 1",
                            .secret = secret,
                            .rank = number,
                            .num_ranks = count,
                            .timeout_ms = timeout_ms,
                            .heartbeat_ms = 20,
                            .dead_ms = 5000}};
    assert_int_equal(pthread_create(&r->thread, NULL, rank_main, r), 0);
}

/* Both are there. */
static void expect_joined(rank *ranks) {
    for (int i = 0; i < 2; i++)
        pthread_join(ranks[i].thread, NULL);
    for (int i = 0; i < 2; i++)
        if (ranks[i].store == NULL)
            fail_msg("rank %d: %s", i, ranks[i].err.text);
}

static void close_both(rank *ranks) {
    leati_store_close(ranks[1].store);
    leati_store_close(ranks[0].store);
}

// ---- secrets ----

static void test_same_secret(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    free_address(address, sizeof address);
    for (int i = 0; i < 2; i++)
        start_rank(&ranks[i], address, i, 2, SECRET, LONG_MS);
    expect_joined(ranks);
    leat_error err = {0};
    assert_int_equal(leati_store_set(ranks[1].store, "a", "b", 1, &err), LEAT_OK);
    close_both(ranks);
}

/* Who has not rank 0's secret is told at once; rank 0 goes on waiting for one who has it, and
 * names in the end who was refused. */
static void test_other_secret(void **state) {
    (void)state;
    static const char *const secrets[] = {OTHER, NULL};
    for (int i = 0; i < 2; i++) {
        char address[32];
        rank ranks[2];
        free_address(address, sizeof address);
        start_rank(&ranks[0], address, 0, 2, SECRET, i == 0 ? LONG_MS : 5 * SHORT_MS);
        start_rank(&ranks[1], address, 1, 2, secrets[i], LONG_MS);
        pthread_join(ranks[1].thread, NULL);
        assert_refused(&ranks[1].err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "LEAT_JOB_SECRET");
        assert_false(refused_names(leat_error_message(&ranks[1].err), SECRET));
        if (i == 0) {
            start_rank(&ranks[1], address, 1, 2, SECRET, LONG_MS);
            expect_joined(ranks);
            close_both(ranks);
            continue;
        }
        pthread_join(ranks[0].thread, NULL);
        assert_refused(&ranks[0].err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "LEAT_JOB_SECRET");
        assert_false(refused_names(leat_error_message(&ranks[0].err), SECRET));
    }
}

/* Rank 0 has none: then anybody may say that this is not one job, and both end at once. */
static void test_no_secret_at_rank_0(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    free_address(address, sizeof address);
    for (int i = 0; i < 2; i++)
        start_rank(&ranks[i], address, i, 2, i == 0 ? NULL : SECRET, LONG_MS);
    for (int i = 0; i < 2; i++)
        pthread_join(ranks[i].thread, NULL);
    assert_refused(&ranks[0].err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_JOB_SECRET");
    assert_refused(&ranks[1].err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "LEAT_JOB_SECRET");
}

static void test_short_secret(void **state) {
    (void)state;
    char address[32];
    rank r;
    free_address(address, sizeof address);
    start_rank(&r, address, 0, 1, "too-short", LONG_MS);
    pthread_join(r.thread, NULL);
    assert_refused(&r.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "LEAT_JOB_SECRET");
    assert_false(refused_names(leat_error_message(&r.err), "too-short"));
}

/* A greeting and a proof that were overheard are of no use a second time, nor is a proof that the
 * server made. */
static void test_replay(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    free_address(address, sizeof address);
    start_rank(&ranks[0], address, 0, 2, SECRET, LONG_MS);
    uint8_t first[LEATI_SHA256_BYTES] = {0};
    for (int i = 0; i < 3; i++) {
        leati_greeting g = stranger_greeting(1, 2);
        leati_wire_buffer in = {0};
        char bytes[512];
        uint8_t proof[LEATI_SHA256_BYTES];
        size_t size = 0;
        leat_error err = {0};
        g.has_secret = true;
        int connection = stranger_greet(address, LEATI_WIRE_MARK, &g);
        assert_int_equal(stranger_hear(connection, &in, bytes, sizeof bytes, &size),
                         LEATI_MESSAGE_OK);
        assert_int_equal(size, LEATI_GREETING_NONCE);
        /* Of another number of ranks; what would have been right the first time; the server's. */
        g.num_ranks = i == 0 ? 3 : 2;
        leati_greeting_prove(SECRET, i == 2, &g, (const uint8_t *)bytes, proof);
        if (i == 0) {
            g.num_ranks = 2;
            leati_greeting_prove(SECRET, false, &g, (const uint8_t *)bytes, first);
        }
        assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_PROOF, 2, i == 1 ? first : proof,
                                         sizeof proof, NULL, 0, &err),
                         LEAT_OK);
        assert_int_equal(stranger_hear(connection, &in, bytes, sizeof bytes, &size),
                         LEATI_MESSAGE_FAILED);
        assert_int_equal(leati_wire_read_failure(bytes, size, &err), LEAT_PERMISSION_DENIED);
        assert_int_equal(stranger_hear(connection, &in, bytes, sizeof bytes, &size), 0);
        leati_wire_fini(&in);
        close(connection);
    }
    start_rank(&ranks[1], address, 1, 2, SECRET, LONG_MS);
    expect_joined(ranks);
    close_both(ranks);
}

/* What listens at rank 0's address does not have the secret: it says that all is well at once, or
 * asks for a proof and makes one up, or says that the job is lost. What it hears is not the secret.
 */
static void test_false_rank_0(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        char address[32], bytes[1024], made_up[LEATI_SHA256_BYTES] = {0};
        int sockets[LEATI_WIRE_LISTENING];
        leati_wire_buffer in = {0};
        size_t size = 0;
        leat_error err = {0};
        rank r;
        free_address(address, sizeof address);
        assert_int_equal(leati_wire_listen(address, NULL, 0, sockets, &err), 1);
        start_rank(&r, address, 1, 2, SECRET, LONG_MS);
        struct pollfd waiting = {.fd = sockets[0], .events = POLLIN};
        assert_int_equal(poll(&waiting, 1, STRANGER_MS), 1);
        int connection = accept(sockets[0], NULL, NULL);
        assert_true(connection >= 0);
        assert_int_equal(stranger_hear(connection, &in, bytes, sizeof bytes, &size),
                         LEATI_MESSAGE_HELLO);
        assert_true(memmem(bytes, size, SECRET, strlen(SECRET)) == NULL);
        if (i == 2) {
            int32_t code = LEAT_DATA_LOSS;
            assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_LOST, 0, &code, sizeof code,
                                             "x", 1, &err),
                             LEAT_OK);
        }
        assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_OK, 1, made_up,
                                         i == 0 ? 0 : sizeof made_up, NULL, 0, &err),
                         LEAT_OK);
        if (i > 0) {
            assert_int_equal(stranger_hear(connection, &in, bytes, sizeof bytes, &size),
                             LEATI_MESSAGE_PROOF);
            assert_int_equal(size, LEATI_SHA256_BYTES);
            assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_OK, 2, made_up,
                                             sizeof made_up, NULL, 0, &err),
                             LEAT_OK);
        }
        pthread_join(r.thread, NULL);
        assert_refused(&r.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, address);
        leati_wire_fini(&in);
        close(connection);
        close(sockets[0]);
    }
}

// ---- strangers ----

static leati_store_server *new_server(int count) {
    leat_error err = {0};
    const leati_store_options options = {
        .name = "x", .num_ranks = count, .heartbeat_ms = LONG_MS, .dead_ms = LONG_MS};
    leati_store_server *s = leati_store_server_new(&options, &err);
    assert_non_null(s);
    return s;
}

/* The stranger's end. */
static int adopt(leati_store_server *s) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(leati_store_server_adopt(s, pair[0], &(leat_error){0}), LEAT_OK);
    return pair[1];
}

/* How many bytes the system holds for a connection; of its own it doubles what was asked for. */
static int held_for(const leati_store_peer *peer) {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    assert_int_equal(getsockopt(peer->link.socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size), 0);
    return bytes;
}

static bool is_closed(int connection) {
    char one;
    ssize_t got = recv(connection, &one, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

/* The oldest of too many goes. */
static void test_many_strangers(void **state) {
    (void)state;
    enum { MOST = 2 + LEATI_STORE_JOB_STRANGERS, ALL = MOST + 5 };
    leati_store_server *s = new_server(2);
    int ends[ALL];
    for (int i = 0; i < ALL; i++)
        ends[i] = adopt(s);
    leati_store_server_turn(s, 0);
    assert_int_equal(s->num_strangers, MOST);
    for (int i = 0; i < ALL; i++) {
        assert_int_equal(is_closed(ends[i]), i < ALL - MOST);
        close(ends[i]);
    }
    leati_store_server_free(s);
}

/* Who does not greet in time goes, also one that sends a byte now and then; a member stays. */
static void test_slow_strangers(void **state) {
    (void)state;
    leati_store_server *s = new_server(2);
    assert_int_equal(s->greeting_ns, INT64_C(10000000000));
    int slow = adopt(s), member = adopt(s);
    assert_in_range(held_for(s->peers), 1, 2 * LEATI_STORE_JOB_HELD);
    char front[LEATI_GREETING_LONGEST];
    leati_greeting g = stranger_greeting(1, 2);
    size_t size = leati_greeting_write(&g, front);
    assert_int_equal(
        leati_wire_send(member, LEATI_MESSAGE_HELLO, 1, front, size, NULL, 0, &(leat_error){0}),
        LEAT_OK);
    leati_store_server_turn(s, 0);
    assert_int_equal(s->num_strangers, 1);
    assert_true(held_for(s->members[1].peer) > 2 * LEATI_STORE_JOB_HELD);
    s->greeting_ns = 0;
    assert_int_equal(send(slow, "x", 1, 0), 1);
    while (s->num_strangers > 0)
        leati_store_server_turn(s, 1);
    assert_true(is_closed(slow));
    assert_int_equal(s->members[1].peer->rank, 1);
    close(slow);
    close(member);
    leati_store_server_free(s);
}

/* More than 4 KiB before a greeting, in one message or without one, and messages of members. */
static void test_long_greetings(void **state) {
    (void)state;
    static char bytes[64 << 10];
    for (int i = 0; i < 3; i++) {
        leati_store_server *s = new_server(2);
        int end = adopt(s);
        leati_message_head head = {.kind = i < 2 ? LEATI_MESSAGE_HELLO : LEATI_MESSAGE_SET,
                                   .size = i == 0 ? 4097 : 4096};
        assert_int_equal(send(end, &head, sizeof head, 0), sizeof head);
        if (i > 0)
            assert_int_equal(send(end, bytes, sizeof bytes, 0), sizeof bytes);
        leati_store_server_turn(s, STRANGER_MS);
        assert_int_equal(s->num_strangers, 0);
        assert_null(s->peers);
        close(end);
        leati_store_server_free(s);
    }
}

/* A rank that fell silent is not waited for once more when rank 0 closes. */
static void test_silent(void **state) {
    (void)state;
    leati_store_server *s = new_server(2);
    int end = adopt(s);
    char front[LEATI_GREETING_LONGEST];
    leati_greeting g = stranger_greeting(1, 2);
    size_t size = leati_greeting_write(&g, front);
    assert_int_equal(
        leati_wire_send(end, LEATI_MESSAGE_HELLO, 1, front, size, NULL, 0, &(leat_error){0}),
        LEAT_OK);
    leati_store_server_turn(s, STRANGER_MS);
    assert_false(leati_store_server_deserted(s));
    s->members[1].heard_ns -= LONG_MS * INT64_C(2000000);
    leati_store_server_turn(s, 0);
    assert_refused(&s->reason, LEAT_ABORTED, LEAT_REASON_NONE, "ghost");
    assert_true(leati_store_server_deserted(s));
    close(end);
    leati_store_server_free(s);
}

static void count_lines(void *context, leat_log_level level, const char *text) {
    assert_int_equal(level, LEAT_LOG_WARNING);
    *(int *)context += refused_names(text, "LEAT_LISTEN");
}

/* Where other hosts do not find rank 0 its log says so: when they have had time, if they lack, and
 * once. */
static void test_hidden(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        leati_store_server *s = new_server(2);
        int lines = 0;
        s->hidden = leati_strdup("set LEAT_LISTEN");
        s->num_here = i == 0 ? 1 : 2;
        leat_log_set(count_lines, &lines);
        s->notice_ns = leati_now_ns() + LONG_MS * INT64_C(1000000);
        leati_store_server_turn(s, 0);
        assert_int_equal(lines, 0);
        s->notice_ns = 0;
        for (int turn = 0; turn < 3; turn++)
            leati_store_server_turn(s, 0);
        leat_log_set(NULL, NULL);
        assert_int_equal(lines, i == 0 ? 1 : 0);
        leati_store_server_free(s);
    }
}

// ---- the door ----

/* Without a descriptor somebody is refused, and then the door is shut for a moment; so it is after
 * as many as it takes in one. The times are the test's. */
static void test_door(void **state) {
    (void)state;
    char address[32];
    leat_error err = {0};
    leati_store_door door;
    struct rlimit before, tight;
    int taken[4], strangers[4];
    int64_t now = INT64_C(1000000000000), moment = 100000000;
    free_address(address, sizeof address);
    assert_int_equal(leati_store_door_open(&door, address, NULL, 0, 3, &err), LEAT_OK);
    assert_int_equal(leati_store_door_accept(&door, now), LEATI_STORE_DOOR_NOBODY);
    for (int i = 0; i < 4; i++)
        strangers[i] = leati_wire_connect(address, NULL, leati_now_ns() + 1, &err);
    for (int i = 0; i < 3; i++)
        assert_true((taken[i] = leati_store_door_accept(&door, now + 5)) >= 0);
    assert_int_equal(leati_store_door_accept(&door, now + 5), LEATI_STORE_DOOR_NOBODY);
    assert_false(leati_store_door_takes(&door, now + moment - 1));
    assert_true(leati_store_door_takes(&door, now + moment));
    now += moment;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = (struct rlimit){.rlim_cur = (rlim_t)taken[2] + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int found = leati_store_door_accept(&door, now);
    leati_store_door_refuse(&door, now, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(found, LEATI_STORE_DOOR_FULL);
    struct pollfd waiting = {.fd = strangers[3], .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, STRANGER_MS), 1);
    assert_true(is_closed(strangers[3]));
    assert_false(leati_store_door_takes(&door, now + moment - 1));
    assert_true(leati_store_door_takes(&door, now + moment));
    for (int i = 0; i < 4; i++)
        close(strangers[i]);
    for (int i = 0; i < 3; i++)
        close(taken[i]);
    leati_store_door_close(&door);
}

/* What strangers cost keeps all of them waiting, but for what is lent. */
static void test_charged(void **state) {
    (void)state;
    leati_store_door door = {.most = 20, .spare = -1};
    int64_t now = INT64_C(1000000000000), ms = 1000000;
    leati_store_door_charge(&door, 16 * ms, now);
    leati_store_door_charge(&door, 5 * ms, now);
    assert_int_equal(leati_store_door_owes(&door, now), 0);
    assert_true(leati_store_door_takes(&door, now));
    leati_store_door_charge(&door, 2 * ms, now);
    assert_int_equal(leati_store_door_owes(&door, now), 500 * ms);
    assert_false(leati_store_door_takes(&door, now + 499 * ms));
    assert_true(leati_store_door_takes(&door, now + 500 * ms));
    /* Not for ever, whatever one has cost. */
    leati_store_door_charge(&door, 60000 * ms, now + 500 * ms);
    assert_int_equal(leati_store_door_owes(&door, now + 500 * ms), 10000 * ms);
    /* And who has waited is lent to again. */
    leati_store_door_charge(&door, 21 * ms, now + 15750 * ms);
    assert_int_equal(leati_store_door_owes(&door, now + 15750 * ms), 0);
    /* What one has cost that is a member now is given back. */
    leati_store_door_charge(&door, 3 * ms, now + 15750 * ms);
    leati_store_door_charge(&door, -2 * ms, now + 15750 * ms);
    assert_int_equal(leati_store_door_owes(&door, now + 15750 * ms), 250 * ms);
}

/* However many strangers come, rank 0's own connection to its server is not the one that goes. */
static void test_own_connection(void **state) {
    (void)state;
    enum { CROWD = LEATI_STORE_JOB_STRANGERS + 20 };
    char address[32], one;
    int crowd[CROWD], own = -1;
    leat_error err = {0};
    free_address(address, sizeof address);
    const leati_store_options options = {.address = address,
                                         .name = "worker 0",
                                         .num_ranks = 2,
                                         .timeout_ms = LONG_MS,
                                         .heartbeat_ms = 20,
                                         .dead_ms = LONG_MS};
    leati_store_server *server = leati_store_server_start(&options, &own, &err);
    assert_non_null(server);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] =
            leati_wire_connect(address, NULL, leati_now_ns() + LONG_MS * INT64_C(1000000), &err);
        assert_true(crowd[i] >= 0);
    }
    /* The server closes the first stranger for the sake of the last. */
    assert_int_equal(recv(crowd[0], &one, 1, 0), 0);
    assert_int_equal(recv(own, &one, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    close(own);
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    leati_store_server_stop(server);
}

/* Rank 0, with few descriptors; says "1" when it has joined. */
static void few_descriptors(const char *address, int out, int go) {
    struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
    leat_error err = {0};
    const leati_store_options options = {.address = address,
                                         .name = "worker 0",
                                         .num_ranks = 2,
                                         .timeout_ms = LONG_MS,
                                         .heartbeat_ms = 20,
                                         .dead_ms = LONG_MS};
    char one;
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        _exit(2);
    leati_store *store = leati_store_open(&options, &err);
    if (store == NULL || write(out, "1", 1) != 1)
        _exit(3);
    (void)!read(go, &one, 1);
    leati_store_close(store);
    _exit(0);
}

/* More connections that never greet than rank 0 has descriptors: a worker that comes late joins. */
static void test_crowd(void **state) {
    (void)state;
    enum { CROWD = 200 };
    char address[32], one = 0;
    int out[2], go[2], crowd[CROWD], status = 0;
    rank late;
    leat_error err = {0};
    free_address(address, sizeof address);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        few_descriptors(address, out[1], go[0]);
    }
    close(out[1]);
    close(go[0]);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] =
            leati_wire_connect(address, NULL, leati_now_ns() + LONG_MS * INT64_C(1000000), &err);
        assert_true(crowd[i] >= 0);
    }
    /* One try may be refused for want of a descriptor, as dist/workers tries again. */
    for (bool joined = false; !joined;) {
        start_rank(&late, address, 1, 2, NULL, LONG_MS);
        pthread_join(late.thread, NULL);
        joined = late.store != NULL;
        if (!joined)
            assert_int_equal(late.err.code, LEAT_UNAVAILABLE);
    }
    assert_int_equal(read(out[0], &one, 1), 1);
    assert_int_equal(leati_store_set(late.store, "a", "b", 1, &err), LEAT_OK);
    close(go[1]);
    leati_store_close(late.store);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    close(out[0]);
}

// ---- members that want too much ----

/* Bytes and keys are bounded for each rank; what replaces a value does not count twice, and the
 * others go on. */
static void test_quota(void **state) {
    (void)state;
    enum { VALUE = 1 << 19 };
    static char value[VALUE];
    char address[32], key[16];
    rank ranks[2];
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int count = 0;
    free_address(address, sizeof address);
    for (int i = 0; i < 2; i++)
        start_rank(&ranks[i], address, i, 2, NULL, LONG_MS);
    expect_joined(ranks);
    for (int i = 0; i < 200; i++)
        assert_int_equal(leati_store_set(ranks[1].store, "same", value, VALUE, &err), LEAT_OK);
    for (; count < 200 && status == LEAT_OK; count++) {
        snprintf(key, sizeof key, "key-%d", count);
        status = leati_store_set(ranks[1].store, key, value, VALUE, &err);
    }
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "33554432");
    /* The one that is replaced stands beside the new one for a moment. */
    assert_true(count == 63 || count == 64);
    assert_int_equal(leati_store_set(ranks[1].store, "small", "x", 1, &err), LEAT_OK);
    assert_int_equal(leati_store_set(ranks[0].store, "large", value, VALUE, &err), LEAT_OK);
    status = LEAT_OK;
    for (count = 0; count < 20000 && status == LEAT_OK; count++) {
        snprintf(key, sizeof key, "%d", count);
        status = leati_store_set(ranks[0].store, key, "", 0, &err);
    }
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "16384");
    close_both(ranks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_secret),
        cmocka_unit_test(test_other_secret),
        cmocka_unit_test(test_no_secret_at_rank_0),
        cmocka_unit_test(test_short_secret),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_false_rank_0),
        cmocka_unit_test(test_many_strangers),
        cmocka_unit_test(test_slow_strangers),
        cmocka_unit_test(test_long_greetings),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_door),
        cmocka_unit_test(test_charged),
        cmocka_unit_test(test_own_connection),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
