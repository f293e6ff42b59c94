/* The store with ranks as threads, and with ranks made of bare messages that die, fall silent or
 * say what is not so. Deadlines that a test waits for are short; those that it must not reach are
 * long. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "coll/store.h"
#include "coll/wire.h"
#include "support/address.h"
#include "support/refused.h"
#include "support/stranger.h"
#include "support/torture.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONG_MS = 60000, SHORT_MS = 300, MOST_RANKS = 4 };

typedef struct rank {
    leati_store_options options;
    char name[16];
    void (*main)(struct rank *rank);
    leati_store *store; /* opened before main */
    leat_status status; /* of opening */
    leat_error err;
    leat_error lost; /* what `lost` was told */
    atomic_int num_lost;
    pthread_t thread;
    void *given;
} rank;

static void note_lost(void *context, const leat_error *why) {
    rank *r = context;
    r->lost = *why;
    atomic_fetch_add(&r->num_lost, 1);
}

static void *rank_main(void *context) {
    rank *r = context;
    r->store = leati_store_open(&r->options, &r->err);
    r->status = r->store == NULL ? r->err.code : LEAT_OK;
    if (r->store != NULL && r->main != NULL)
        r->main(r);
    leati_store_close(r->store);
    return NULL;
}

static void start_rank(rank *r, const char *address, int number, int count, int64_t timeout_ms,
                       void (*main)(rank *), void *given) {
    *r = (rank){.main = main, .given = given};
    snprintf(r->name, sizeof r->name, "worker %d", number);
    r->options = (leati_store_options){.address = address,
                                       .name = r->name,
                                       .rank = number,
                                       .num_ranks = count,
                                       .timeout_ms = timeout_ms,
                                       .heartbeat_ms = 20,
                                       .dead_ms = 2000,
                                       .lost = note_lost,
                                       .context = r};
    assert_int_equal(pthread_create(&r->thread, NULL, rank_main, r), 0);
}

/* All ranks run `main`; each must have opened. */
static void run_ranks(rank *ranks, int count, void (*main)(rank *)) {
    char address[32];
    free_address(address, sizeof address);
    for (int i = 0; i < count; i++)
        start_rank(&ranks[i], address, i, count, LONG_MS, main, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(ranks[i].thread, NULL);
    for (int i = 0; i < count; i++)
        if (ranks[i].status != LEAT_OK)
            fail_msg("rank %d: %s", i, ranks[i].err.text);
}

static void has(const leat_error *err, leat_status code, leat_reason reason, const char *keyword) {
    assert_refused(err, code, reason, keyword);
}

// ---- ranks that do as they should ----

static void meet_and_keep(rank *r) {
    leat_error err = {0};
    for (int round = 0; round < 20; round++) {
        char mine[32];
        int size = snprintf(mine, sizeof mine, "%d of %d", r->options.rank, round);
        leati_store_values all;
        assert_int_equal(
            leati_store_barrier(r->store, "round", mine, (size_t)size, LONG_MS, &all, &err),
            LEAT_OK);
        for (int other = 0; other < r->options.num_ranks; other++) {
            size = snprintf(mine, sizeof mine, "%d of %d", other, round);
            assert_int_equal(all.offset[other + 1] - all.offset[other], size);
            assert_memory_equal(all.bytes + all.offset[other], mine, (size_t)size);
        }
        leati_store_values_fini(&all);
    }
    char *value = NULL;
    size_t size = 0;
    if (r->options.rank == 1) {
        assert_int_equal(leati_store_set(r->store, "of 1", "x\0y", 3, &err), LEAT_OK);
        assert_int_equal(leati_store_set(r->store, "of 1", "x\0z", 3, &err), LEAT_OK);
    }
    do {
        leati_free(value);
        assert_int_equal(leati_store_get(r->store, "of 1", LONG_MS, &value, &size, &err), LEAT_OK);
        assert_int_equal(size, 3);
    } while (value[2] != 'z');
    leati_free(value);
    assert_int_equal(leati_store_agree(r->store, "step count", "100", LONG_MS, &err), LEAT_OK);
    assert_string_equal(leati_store_host(r->store), "127.0.0.1");
    assert_int_equal(leati_store_get(r->store, "nobody's", SHORT_MS, &value, &size, &err),
                     LEAT_DEADLINE_EXCEEDED);
    has(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "\"nobody's\"");
}

static void test_all_there(void **state) {
    (void)state;
    rank ranks[MOST_RANKS];
    for (int count = 2; count <= MOST_RANKS; count++) {
        run_ranks(ranks, count, meet_and_keep);
        for (int i = 0; i < count; i++)
            assert_int_equal(ranks[i].num_lost, 0);
    }
}

static void disagree(rank *r) {
    leat_error err = {0};
    const char *mine = r->options.rank == 2 ? "99" : "100";
    assert_int_equal(leati_store_agree(r->store, "step count", mine, LONG_MS, &err),
                     LEAT_FAILED_PRECONDITION);
    has(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "99");
}

static void test_disagreement(void **state) {
    (void)state;
    rank ranks[3];
    run_ranks(ranks, 3, disagree);
}

static void abort_from_one(rank *r) {
    leat_error err = {0};
    leati_store_values all;
    if (r->options.rank == 1) {
        leat_error why = {.code = LEAT_DATA_LOSS, .text = "the file is cut"};
        leati_store_abort(r->store, &why);
    }
    assert_int_equal(leati_store_barrier(r->store, "never", NULL, 0, LONG_MS, &all, &err),
                     LEAT_ABORTED);
    has(&err, LEAT_ABORTED, LEAT_REASON_NONE, "cut");
    assert_int_equal(leati_store_set(r->store, "late", NULL, 0, &err), LEAT_ABORTED);
}

static void test_abort(void **state) {
    (void)state;
    rank ranks[3];
    run_ranks(ranks, 3, abort_from_one);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ranks[i].num_lost, 1);
        has(&ranks[i].lost, LEAT_ABORTED, LEAT_REASON_NONE, "1");
    }
}

static void fall_behind(rank *r) {
    leat_error err = {0};
    leati_store_values all;
    char text[300] = "";
    leati_store_note(r->store, r->options.rank == 2 ? 41 : 42,
                     r->options.rank == 2 ? LEATI_PHASE_INPUT : LEATI_PHASE_COLLECTIVE);
    while (r->options.rank == 0 &&
           strstr(text, "worker 2 was reading input after 41 calls") == NULL)
        leati_store_stalled(r->store, text, sizeof text);
    assert_int_equal(leati_store_barrier(r->store, "end", NULL, 0, LONG_MS, &all, &err), LEAT_OK);
    leati_store_values_fini(&all);
}

static void test_stalled(void **state) {
    (void)state;
    rank ranks[3];
    run_ranks(ranks, 3, fall_behind);
}

// ---- ranks that are not there ----

static void test_missing(void **state) {
    (void)state;
    char address[32];
    rank ranks[2];
    free_address(address, sizeof address);
    for (int i = 0; i < 2; i++)
        start_rank(&ranks[i], address, i, 3, SHORT_MS, NULL, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(ranks[i].thread, NULL);
    has(&ranks[0].err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "2");
}

static void test_no_server(void **state) {
    (void)state;
    char address[32];
    rank r;
    free_address(address, sizeof address);
    start_rank(&r, address, 1, 2, SHORT_MS, NULL, NULL);
    pthread_join(r.thread, NULL);
    has(&r.err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "0");
    start_rank(&r, "nowhere", 1, 2, SHORT_MS, NULL, NULL);
    pthread_join(r.thread, NULL);
    has(&r.err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, NULL);
}

static void test_taken_port(void **state) {
    (void)state;
    char address[32];
    leat_error err = {0};
    free_address(address, sizeof address);
    int listening[LEATI_WIRE_LISTENING];
    assert_int_equal(leati_wire_listen(address, NULL, 0, listening, &err), 1);
    rank r;
    start_rank(&r, address, 0, 1, SHORT_MS, NULL, NULL);
    pthread_join(r.thread, NULL);
    has(&r.err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "port");
    close(listening[0]);
}

// ---- ranks made of bare messages ----

static void wait_for_the_end(rank *r) {
    char *value = NULL;
    size_t size = 0;
    atomic_store((atomic_int *)r->given, 1);
    assert_int_equal(leati_store_get(r->store, "never", LONG_MS, &value, &size, &r->err),
                     LEAT_ABORTED);
}

/* Its number is 1 once it is open; it stays until somebody makes that 2. */
static void stay_until(rank *r) {
    atomic_int *state = r->given;
    atomic_store(state, 1);
    while (atomic_load(state) == 1)
        usleep(1000);
}

/* A ghost is rank 1 of 2; `kill` says how it ends once both have started. */
static void with_ghost(void (*kill)(int connection), const char *keyword) {
    char address[32];
    leat_error err = {0};
    atomic_int started = 0;
    rank r;
    free_address(address, sizeof address);
    start_rank(&r, address, 0, 2, LONG_MS, wait_for_the_end, &started);
    leati_greeting g = stranger_greeting(1, 2);
    int ghost = stranger_join(address, LEATI_WIRE_MARK, &g, &err);
    assert_true(ghost >= 0);
    stranger_start(ghost);
    while (atomic_load(&started) == 0)
        usleep(1000);
    kill(ghost);
    pthread_join(r.thread, NULL);
    close(ghost);
    has(&r.err, LEAT_ABORTED, LEAT_REASON_NONE, keyword);
    assert_int_equal(r.num_lost, 1);
}

static void die(int connection) {
    assert_int_equal(shutdown(connection, SHUT_RDWR), 0);
}

static void fall_silent(int connection) {
    (void)connection;
}

static void babble(int connection) {
    uint64_t noise[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    assert_int_equal(send(connection, noise, sizeof noise, 0), sizeof noise);
}

static void test_ghosts(void **state) {
    (void)state;
    with_ghost(die, "1");
    with_ghost(fall_silent, "nothing");
    with_ghost(babble, "message");
}

/* Refused, and nobody else is the worse for it: a mark that is none, and a rank that comes twice
 * when all are there. */
static void test_refused(void **state) {
    (void)state;
    char address[32];
    rank r;
    atomic_int twice = 0;
    free_address(address, sizeof address);
    start_rank(&r, address, 0, 2, LONG_MS, stay_until, &twice);
    leat_error err = {0};
    leati_greeting g = stranger_greeting(1, 2);
    assert_int_equal(stranger_join(address, 7, &g, &err), -1);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "order");
    int ghost = stranger_join(address, LEATI_WIRE_MARK, &g, &err);
    assert_true(ghost >= 0);
    stranger_start(ghost);
    while (atomic_load(&twice) == 0) /* rank 0 is its own server's last member */
        usleep(1000);
    assert_int_equal(stranger_join(address, LEATI_WIRE_MARK, &g, &err), -1);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "1");
    atomic_store(&twice, 2);
    pthread_join(r.thread, NULL);
    close(ghost);
    assert_int_equal(r.status, LEAT_OK);
}

/* Whoever belongs to the job and shows that it cannot come together ends its start, at once and for
 * all who are there: rank 0 waits for 60 s otherwise. */
static void test_cannot_come_together(void **state) {
    (void)state;
    static const struct {
        int32_t number, count;
        const char *version, *keyword;
    } cases[] = {{2, 4, NULL, "4"},
                 {3, 3, NULL, "3"},
                 {-1, 3, NULL, "1"},
                 {1, 3, NULL, "1"},
                 {2, 3, "0.0.0", "0.0.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char address[32];
        rank r;
        leat_error err = {0};
        free_address(address, sizeof address);
        start_rank(&r, address, 0, 3, LONG_MS, NULL, NULL);
        leati_greeting g = stranger_greeting(1, 3);
        int first = stranger_join(address, LEATI_WIRE_MARK, &g, &err);
        assert_true(first >= 0);
        g = stranger_greeting(cases[i].number, cases[i].count);
        if (cases[i].version != NULL)
            snprintf(g.version, sizeof g.version, "%s", cases[i].version);
        assert_int_equal(stranger_join(address, LEATI_WIRE_MARK, &g, &err), -1);
        assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, cases[i].keyword);
        leati_wire_buffer in = {0};
        char bytes[1024];
        size_t size = 0;
        uint32_t kind = 0;
        /* Beats may come before. */
        while (kind != LEATI_MESSAGE_LOST)
            kind = stranger_hear(first, &in, bytes, sizeof bytes, &size);
        assert_int_equal(leati_wire_read_failure(bytes, size, &err), LEAT_FAILED_PRECONDITION);
        leati_wire_fini(&in);
        close(first);
        pthread_join(r.thread, NULL);
        has(&r.err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, cases[i].keyword);
    }
}

// ---- arguments, names of many, memory ----

static void test_arguments(void **state) {
    (void)state;
    static const int wrong[][2] = {{-1, 2}, {2, 2}, {0, 0}, {3, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[16];
        leat_error err = {0};
        const leati_store_options options = {
            .address = "h:1", .name = "x", .rank = wrong[i][0], .num_ranks = wrong[i][1]};
        assert_null(leati_store_open(&options, &err));
        snprintf(text, sizeof text, "%d", wrong[i][0]);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, text);
    }
}

static const char *name_of(void *context, int number) {
    (void)context;
    return number == 1 ? "the host \"a\"" : number == 2 ? "" : NULL;
}

/* Of many that are missing eight are named. */
static void test_many_missing(void **state) {
    (void)state;
    char address[32];
    for (int count = 9; count <= 11; count += 2) {
        leat_error err = {0};
        free_address(address, sizeof address);
        const leati_store_options options = {.address = address,
                                             .name = "worker 0",
                                             .num_ranks = count,
                                             .timeout_ms = SHORT_MS,
                                             .rank_name = name_of};
        assert_null(leati_store_open(&options, &err));
        has(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "\"a\"");
        has(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "8");
        assert_false(refused_names(leat_error_message(&err), "9"));
        assert_int_equal(refused_names(leat_error_message(&err), "more"), count == 11);
    }
}

static leat_status use_store(void *context, leat_error *err) {
    leati_store_options options = {.address = context,
                                   .name = "alone",
                                   .num_ranks = 1,
                                   .timeout_ms = LONG_MS,
                                   .heartbeat_ms = LONG_MS};
    char *value = NULL;
    size_t size = 0;
    leati_store_values all = {0};
    leati_store *store = leati_store_open(&options, err);
    if (store == NULL)
        return torture_code(err);
    leat_status status = leati_store_set(store, "a", "one", 3, err);
    if (status == LEAT_OK)
        status = leati_store_set(store, "b", NULL, 0, err);
    if (status == LEAT_OK)
        status = leati_store_get(store, "a", LONG_MS, &value, &size, err);
    if (status == LEAT_OK) {
        assert_int_equal(size, 3);
        assert_memory_equal(value, "one", 3);
        status = leati_store_barrier(store, "m", "xy", 2, LONG_MS, &all, err);
    }
    if (status == LEAT_OK) {
        assert_int_equal(all.offset[1] - all.offset[0], 2);
        assert_memory_equal(all.bytes + all.offset[0], "xy", 2);
        status = leati_store_agree(store, "number", "7", LONG_MS, err);
    }
    leati_store_values_fini(&all);
    leati_free(value);
    leati_store_close(store);
    return status;
}

/* A rank that serves itself; some messages take memory on its other threads, so that the n-th
 * allocation is not always the same. */
static void test_failing_allocations(void **state) {
    (void)state;
    char address[32];
    bool failed = true;
    int refused = 0, rounds = 0;
    torture_begin();
    for (rounds = 1; failed; rounds++) {
        leat_error err = {0};
        long before = torture_live();
        free_address(address, sizeof address);
        torture_fail_at(rounds);
        leat_status status = use_store(address, &err);
        failed = torture_failed();
        torture_fail_at(0);
        assert_int_equal(torture_live(), before);
        assert_int_equal(status, err.code);
        assert_true(status == LEAT_OK || failed);
        if (status != LEAT_OK && status != LEAT_RESOURCE_EXHAUSTED && status != LEAT_ABORTED &&
            status != LEAT_UNAVAILABLE)
            fail_msg("%s: %s", leat_status_name(status), err.text);
        refused += status != LEAT_OK;
    }
    torture_end();
    assert_true(refused > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_there),
        cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_no_server),
        cmocka_unit_test(test_taken_port),
        cmocka_unit_test(test_ghosts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cannot_come_together),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_many_missing),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
