/* Two ranks meet, exchange values by shared memory or over TLS, and leave, while one call of the
 * system on a connection or on shared memory fails, is interrupted or moves fewer bytes: what can
 * be repeated is, anything else ends for both ranks, at the latest by their deadlines, with a text
 * that says which rank, and leaves no descriptor open. Ranks are threads. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "calls.h"
#include "coll/processes.h"
#include "coll/wire.h"
#include "support/address.h"
#include "support/refused.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#endif

enum { RANKS = 2, LONG_MS = 60000, SHORT_MS = 100, VALUES = 3000, END = CALLS_END };

/* Nothing takes as long that ends by a deadline; a machine may be slow. */
#define HANG_NS INT64_C(60000000000)

typedef leati_collective *(*opener)(leati_store *store, int rank, int num_ranks, int64_t timeout_ms,
                                    leat_error *err);

/* By what the ranks of the next job exchange values. */
static opener open_collective = leati_coll_shared_new;
static leati_tls_context *tls; /* NULL: the job has none */

typedef struct rank {
    leati_store_options options;
    int64_t timeout_ms;
    leat_status status;
    leat_error err;
    pthread_t thread;
    pthread_mutex_t lock;
    leati_collective *collective; /* lock */
    leat_error lost;              /* lock: before there was one */
} rank;

static void lost(void *context, const leat_error *why) {
    rank *r = context;
    pthread_mutex_lock(&r->lock);
    r->lost = *why;
    if (r->collective != NULL)
        r->collective->ops->abort(r->collective, why);
    pthread_mutex_unlock(&r->lock);
}

static void keep(rank *r, leati_collective *collective) {
    pthread_mutex_lock(&r->lock);
    r->collective = collective;
    if (collective != NULL && r->lost.code != LEAT_OK)
        collective->ops->abort(collective, &r->lost);
    pthread_mutex_unlock(&r->lock);
}

static leat_status exchange(rank *r, leati_store *store) {
    static const char name[] = "what the test has";
    float values[VALUES];
    LEATI_TRY(leati_store_agree(store, name, "the same", r->timeout_ms, &r->err));
    keep(r, open_collective(store, r->options.rank, RANKS, r->timeout_ms, &r->err));
    leati_collective *c = r->collective;
    if (c == NULL)
        return r->err.code;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < VALUES; i++)
            values[i] = (float)(r->options.rank + i);
        LEATI_TRY(c->ops->all_reduce(c, r->options.rank, values, VALUES, LEAT_FLOAT32,
                                     LEATI_REDUCTION_SUM, &r->err));
        for (int i = 0; i < VALUES; i++)
            assert_true(values[i] == (float)(2 * i + 1));
    }
    return LEAT_OK;
}

static void *rank_main(void *context) {
    rank *r = context;
    leati_store *store = leati_store_open(&r->options, &r->err);
    r->status = store == NULL ? r->err.code : exchange(r, store);
    leati_collective *c = r->collective;
    keep(r, NULL);
    if (c != NULL)
        c->ops->close(c);
    leati_store_close(store);
    return NULL;
}

/* A whole job; false where the fault's turn did not come. */
static bool run(rank *ranks, call_kind kind, int at, int number, int64_t timeout_ms) {
    static const char *const names[] = {"worker 0", "worker 1"};
    char address[32];
    free_address(address, sizeof address);
    int64_t begin = leati_now_ns();
    calls_arm(kind, at, number);
    for (int i = 0; i < RANKS; i++) {
        rank *r = &ranks[i];
        *r = (rank){.options = {.address = address,
                                .name = names[i],
                                .secret = "a secret of this test",
                                .tls = tls,
                                .rank = i,
                                .num_ranks = RANKS,
                                .timeout_ms = timeout_ms,
                                .heartbeat_ms = 20,
                                .dead_ms = timeout_ms,
                                .lost = lost,
                                .context = r},
                    .timeout_ms = timeout_ms};
        pthread_mutex_init(&r->lock, NULL);
        assert_int_equal(pthread_create(&r->thread, NULL, rank_main, r), 0);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(ranks[i].thread, NULL);
    int seen = calls_disarm(), left = calls_open();
    for (int i = 0; i < RANKS; i++)
        pthread_mutex_destroy(&ranks[i].lock);
    if (left != 0)
        fail_msg("%s, call %d, %d: %d descriptors are open", call_name(kind), at, number, left);
    if (leati_now_ns() - begin > HANG_NS)
        fail_msg("%s, call %d, %d: it hung", call_name(kind), at, number);
    return at == CALLS_ALWAYS || seen >= at;
}

static void expect_well(const rank *ranks, call_kind kind, int at, int number) {
    for (int i = 0; i < RANKS; i++)
        if (ranks[i].status != LEAT_OK)
            fail_msg("%s, call %d, %d: rank %d: %s", call_name(kind), at, number, i,
                     ranks[i].err.text);
}

/* What each n-th call of the kind makes of the job; `most` ends the search. */
static void each_call(call_kind kind, int number, int most, bool well) {
    rank ranks[RANKS];
    for (int at = 1; at <= most; at++) {
        bool came = run(ranks, kind, at, number, well ? LONG_MS : SHORT_MS);
        /* On a busy machine rank 1 may come too late to be accepted. */
        for (int again = 0; !came && at == 1 && again < 20; again++)
            came = run(ranks, kind, at, number, well ? LONG_MS : SHORT_MS);
        if (well)
            expect_well(ranks, kind, at, number);
        for (int i = 0; i < RANKS; i++) {
            const char *text = ranks[i].err.text;
            if (ranks[i].status != LEAT_OK && strstr(text, "rank") == NULL &&
                strstr(text, "worker") == NULL)
                fail_msg("%s, call %d, %d: rank %d says only: %s", call_name(kind), at, number, i,
                         text);
        }
        if (!came) {
            if (at == 1)
                fail_msg("no %s", call_name(kind));
            return;
        }
    }
}

static const struct {
    call_kind kind;
    int number;
} repeated[] = {
    {CALL_SENDMSG, EINTR},      {CALL_SENDMSG, CALLS_SHORT}, {CALL_RECV, EINTR},
    {CALL_RECV, CALLS_SHORT},   {CALL_RECV, EAGAIN},         {CALL_POLL, EINTR},
    {CALL_ACCEPT, EINTR},       {CALL_ACCEPT, ECONNABORTED}, {CALL_CONNECT, EINTR},
    {CALL_GETADDRINFO, EINTR},  {CALL_MEMFD, ENOSYS},        {CALL_MEMFD, EMFILE},
    {CALL_FALLOCATE, ENOSPC},   {CALL_FALLOCATE, EINTR},     {CALL_OPEN, EACCES},
    {CALL_SETSOCKOPT, ENOBUFS},
};

static void test_repeated(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++)
        each_call(repeated[i].kind, repeated[i].number, 20, true);
    rank ranks[RANKS];
    for (int i = 0; i < 2; i++) {
        (void)run(ranks, i == 0 ? CALL_SENDMSG : CALL_RECV, CALLS_ALWAYS, CALLS_SHORT, LONG_MS);
        expect_well(ranks, i == 0 ? CALL_SENDMSG : CALL_RECV, CALLS_ALWAYS, CALLS_SHORT);
    }
}

static const struct {
    call_kind kind;
    int number;
} failing[] = {
    {CALL_SOCKET, EMFILE},       {CALL_SOCKET, ENOBUFS},     {CALL_BIND, EADDRINUSE},
    {CALL_BIND, EACCES},         {CALL_LISTEN, EADDRINUSE},  {CALL_CONNECT, ECONNREFUSED},
    {CALL_CONNECT, ENETUNREACH}, {CALL_ACCEPT, EMFILE},      {CALL_ACCEPT, ENFILE},
    {CALL_ACCEPT, ENOBUFS},      {CALL_SENDMSG, ENOBUFS},    {CALL_SENDMSG, ECONNRESET},
    {CALL_SENDMSG, EPIPE},       {CALL_SENDMSG, EAGAIN},     {CALL_RECV, ECONNRESET},
    {CALL_RECV, ETIMEDOUT},      {CALL_RECV, END},           {CALL_POLL, ENOMEM},
    {CALL_PIPE, EMFILE},         {CALL_SOCKETPAIR, EMFILE},  {CALL_MMAP, ENOMEM},
    {CALL_FCNTL, EINVAL},        {CALL_GETSOCKOPT, ENOBUFS}, {CALL_GETSOCKNAME, ENOBUFS},
};

static void test_failing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++)
        each_call(failing[i].kind, failing[i].number, 10, false);
    /* Neither kind of shared memory is there: the ranks say so, and why. */
    rank ranks[RANKS];
    (void)run(ranks, CALL_FALLOCATE, CALLS_ALWAYS, ENOSPC, LONG_MS);
    for (int i = 0; i < RANKS; i++)
        assert_refused(&ranks[i].err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "memory");
    assert_true(refused_names(leat_error_message(&ranks[0].err), strerror(ENOSPC)));
}

#ifdef LEATI_HAVE_OPENSSL
static const struct {
    call_kind kind;
    int number;
    bool well;
} sealed[] = {
    {CALL_SEND, EINTR, true},          {CALL_SEND, CALLS_SHORT, true},
    {CALL_SEND, EAGAIN, true},         {CALL_RECV, EINTR, true},
    {CALL_RECV, CALLS_SHORT, true},    {CALL_RECV, EAGAIN, true},
    {CALL_POLL, EINTR, true},          {CALL_ACCEPT, EINTR, true},
    {CALL_ACCEPT, ECONNABORTED, true}, {CALL_CONNECT, EINTR, true},
    {CALL_GETPEERNAME, ENOBUFS, true}, {CALL_SETSOCKOPT, ENOBUFS, true},
    {CALL_SEND, EPIPE, false},         {CALL_SEND, ECONNRESET, false},
    {CALL_RECV, ECONNRESET, false},    {CALL_RECV, END, false},
    {CALL_SOCKET, EMFILE, false},      {CALL_BIND, EADDRNOTAVAIL, false},
    {CALL_LISTEN, EADDRINUSE, false},  {CALL_CONNECT, ECONNREFUSED, false},
    {CALL_ACCEPT, EMFILE, false},      {CALL_POLL, ENOMEM, false},
    {CALL_EVENTFD, EMFILE, false},     {CALL_GETSOCKNAME, ENOBUFS, false},
    {CALL_GETSOCKOPT, ENOBUFS, false},
};

/* The same where everything goes over TLS: handshakes, the meeting point, sums. */
static void test_sealed(void **state) {
    (void)state;
    tls = certificate_job();
    open_collective = leati_coll_mesh_new;
    for (size_t i = 0; i < sizeof sealed / sizeof sealed[0]; i++)
        each_call(sealed[i].kind, sealed[i].number, sealed[i].well ? 40 : 20, sealed[i].well);
    rank ranks[RANKS];
    for (int i = 0; i < 2; i++) {
        (void)run(ranks, i == 0 ? CALL_SEND : CALL_RECV, CALLS_ALWAYS, CALLS_SHORT, LONG_MS);
        expect_well(ranks, i == 0 ? CALL_SEND : CALL_RECV, CALLS_ALWAYS, CALLS_SHORT);
    }
    leati_tls_context_free(tls);
    tls = NULL;
    open_collective = leati_coll_shared_new;
}
#endif

/* A name that leads to this host's loopback, though it does not say so, serves a job of this host:
 * it listens there and nowhere else, and who waits in vain is told the way out. */
static void test_hidden_name(void **state) {
    (void)state;
    char address[32], named[64];
    leat_error err = {0};
    int sockets[LEATI_WIRE_LISTENING];
    free_address(address, sizeof address);
    snprintf(named, sizeof named, "own-name%s", strchr(address, ':'));
    calls_name_host("own-name", "127.0.0.1");
    assert_true(leati_wire_is_hidden(named));
    int count = leati_wire_listen(named, NULL, leati_now_ns(), sockets, &err);
    assert_int_equal(count, 1);
    char other[64];
    snprintf(other, sizeof other, "127.0.0.2%s", strchr(address, ':'));
    assert_int_equal(leati_wire_connect(other, NULL, leati_now_ns(), &err), -1);
    int connection = leati_wire_connect(named, NULL, leati_now_ns(), &err);
    assert_true(connection >= 0);
    close(connection);
    close(sockets[0]);
    leati_store_options options = {
        .address = named, .name = "worker 0", .num_ranks = 2, .timeout_ms = SHORT_MS};
    for (int i = 0; i < 2; i++) {
        err = (leat_error){0};
        options.listen = i == 0 ? NULL : "127.0.0.1";
        assert_null(leati_store_open(&options, &err));
        assert_int_equal(err.code, LEAT_DEADLINE_EXCEEDED);
        assert_int_equal(refused_names(leat_error_message(&err), "LEAT_LISTEN"), i == 0);
    }
    calls_name_host(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_failing),
#ifdef LEATI_HAVE_OPENSSL
        cmocka_unit_test(test_sealed),
#endif
        cmocka_unit_test(test_hidden_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
