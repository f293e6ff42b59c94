/* What befalls a job of three processes: one is killed, stopped, slow, or its network is held,
 * slowed down, cut or half-closed, by shared memory and by gloo. Every other process's sum ends,
 * with a text that names rank, host, what it did and the cause.
 *
 * The processes are forked and sum in a loop; once all have begun, the fault happens. Each writes
 * one line when its loop ended, and stays until all have, so that its end is nobody's cause. Waits
 * of a fault's own are short; those that only guard against hanging are long. */
#include "support/cmocka.h"

#include "coll/processes.h"
#include "support/address.h"
#include "support/proxy.h"
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#endif
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { RANKS = 3, LONG_MS = 60000, DEAD_MS = 1500, VALUES = 5000, LINE = 700 };

typedef leati_collective *(*opener)(leati_store *store, int rank, int num_ranks, int64_t timeout_ms,
                                    leat_error *err);

static const opener openers[] = {
    leati_coll_shared_new,
#ifdef LEATI_HAVE_GLOO
    leati_coll_gloo_new,
#endif
#ifdef LEATI_HAVE_OPENSSL
    leati_coll_mesh_new,
#endif
};
enum { NUM_OPENERS = sizeof openers / sizeof openers[0] };

typedef struct job {
    opener open;
    int64_t timeout_ms;
    int guilty; /* the rank that the fault befalls */
    bool slow;  /* it stays away once the others have begun */
    int out[RANKS], go[RANKS];
    pid_t pids[RANKS];
    char address[32], behind[32]; /* of the store, and of the proxy in front of it */
    proxy net;
    bool has_proxy;
    char lines[RANKS][LINE];
} job;

// ---- a process ----

static struct {
    leati_collective *collective;
    atomic_int ready;
} own;
static leati_tls_context *tls; /* for who needs it; NULL in a build without OpenSSL */

static void lost(void *context, const leat_error *why) {
    (void)context;
    while (atomic_load(&own.ready) == 0)
        usleep(1000);
    if (own.collective != NULL)
        own.collective->ops->abort(own.collective, why);
}

/* Sums until that fails. The first sums say that this process has begun. */
static leat_status sum_on(const job *j, leati_store *store, int rank, int out, int go,
                          leat_error *err) {
    static float values[VALUES];
    leati_collective *c = own.collective;
    leat_status status = LEAT_OK;
    for (int64_t round = 0; status == LEAT_OK; round++) {
        for (int i = 0; i < VALUES; i++)
            values[i] = (float)(rank + i % 10);
        status =
            c->ops->all_reduce(c, rank, values, VALUES, LEAT_FLOAT32, LEATI_REDUCTION_SUM, err);
        if (status == LEAT_OK && values[VALUES - 1] != (float)(3 + RANKS * ((VALUES - 1) % 10))) {
            snprintf(err->text, sizeof err->text, "the sum is %g", (double)values[VALUES - 1]);
            return LEAT_INTERNAL;
        }
        if (round == 10 && write(out, "\n", 1) != 1)
            _exit(1);
        char one;
        if (round == 20 && j->slow && rank == j->guilty) {
            leati_store_note(store, 21, LEATI_PHASE_INPUT);
            (void)!read(go, &one, 1);
        }
    }
    return status;
}

static void process_main(const job *j, int rank, int out, int go) {
    char name[48];
    leat_error err = {0};
    snprintf(name, sizeof name, "worker %d (10.0.0.%d:2222)", rank, rank + 1);
    leati_store_options options = {.address =
                                       j->has_proxy && rank == j->guilty ? j->behind : j->address,
                                   .name = name,
                                   .tls = j->open == leati_coll_mesh_new ? tls : NULL,
                                   .rank = rank,
                                   .num_ranks = RANKS,
                                   .timeout_ms = LONG_MS,
                                   .heartbeat_ms = 20,
                                   .dead_ms = DEAD_MS,
                                   .lost = lost};
    leati_store *store = leati_store_open(&options, &err);
    if (store != NULL)
        own.collective = j->open(store, rank, RANKS, j->timeout_ms, &err);
    atomic_store(&own.ready, 1);
    leat_status status = own.collective == NULL ? err.code : sum_on(j, store, rank, out, go, &err);
    char line[LINE];
    int size = snprintf(line, sizeof line, "%s: %s\n", leat_status_name(status), err.text);
    (void)!write(out, line, (size_t)size);
    char one;
    (void)!read(go, &one, 1);
    _exit(0);
}

// ---- the test's side ----

static void start(job *j) {
    do
        free_address(j->address, sizeof j->address);
    while (j->has_proxy && !proxy_open(&j->net, j->address, true, j->behind, sizeof j->behind));
    for (int r = 0; r < RANKS; r++) {
        int out[2], go[2];
        assert_int_equal(pipe(out), 0);
        assert_int_equal(pipe(go), 0);
        fflush(NULL);
        j->pids[r] = fork();
        assert_true(j->pids[r] >= 0);
        if (j->pids[r] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(go[1]);
            for (int other = 0; other < r; other++)
                close(j->go[other]);
            process_main(j, r, out[1], go[0]);
        }
        close(out[1]);
        close(go[0]);
        j->out[r] = out[0];
        j->go[r] = go[1];
    }
    if (j->has_proxy)
        proxy_run(&j->net);
}

/* The next line of a process; fails the test if it does not come. */
static void read_line(job *j, int rank) {
    size_t used = 0;
    char one = 0;
    for (;;) {
        struct pollfd polled = {.fd = j->out[rank], .events = POLLIN};
        if (poll(&polled, 1, 2 * LONG_MS) != 1)
            fail_msg("rank %d hangs", rank);
        if (read(j->out[rank], &one, 1) != 1) {
            int status = 0;
            waitpid(j->pids[rank], &status, 0);
            fail_msg("rank %d ended with status 0x%x: %.*s", rank, (unsigned)status, (int)used,
                     j->lines[rank]);
        }
        if (one == '\n')
            break;
        if (used + 1 < LINE)
            j->lines[rank][used++] = one;
    }
    j->lines[rank][used] = '\0';
}

static void wait_for_begin(job *j) {
    for (int r = 0; r < RANKS; r++) {
        read_line(j, r);
        if (j->lines[r][0] != '\0')
            fail_msg("rank %d: %s", r, j->lines[r]);
    }
}

static void has(const job *j, int rank, const char *part) {
    if (strstr(j->lines[rank], part) == NULL)
        fail_msg("rank %d: expected \"%s\", found \"%s\"", rank, part, j->lines[rank]);
}

/* Every rank but the guilty one says these three, or (others) what it knows. */
static void expect(job *j, const char *who, const char *doing, const char *cause) {
    for (int r = 0; r < RANKS; r++) {
        if (r == j->guilty)
            continue;
        read_line(j, r);
        has(j, r, who);
        has(j, r, doing);
        has(j, r, cause);
    }
}

static void end(job *j) {
    for (int r = 0; r < RANKS; r++) {
        close(j->go[r]);
        kill(j->pids[r], SIGCONT);
    }
    for (int r = 0; r < RANKS; r++) {
        int status = 0;
        assert_int_equal(waitpid(j->pids[r], &status, 0), j->pids[r]);
        assert_true(r == j->guilty || status == 0);
        close(j->out[r]);
    }
    if (j->has_proxy)
        proxy_close(&j->net);
}

static void with_signal(opener open, int guilty, int signal, const char *who, const char *cause) {
    job j = {.open = open, .timeout_ms = LONG_MS, .guilty = guilty};
    start(&j);
    wait_for_begin(&j);
    assert_int_equal(kill(j.pids[guilty], signal), 0);
    expect(&j, who, "calls, heard", cause);
    end(&j);
}

static void with_network(opener open, proxy_mode mode, const char *cause) {
    job j = {.open = open, .timeout_ms = LONG_MS, .guilty = 1, .has_proxy = true};
    start(&j);
    wait_for_begin(&j);
    proxy_set(&j.net, mode);
    /* Rank 0 has lost it, or it has lost rank 0 and said so in what memory they share. */
    expect(&j, "worker 1 (10.0.0.2:2222) ", "calls, heard", cause);
    read_line(&j, 1);
    has(&j, 1, "ABORTED: ");
    has(&j, 1, "worker 1 (10.0.0.2:2222) ");
    has(&j, 1, cause);
    end(&j);
}

// ---- tests ----

static void test_killed(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++) {
        with_signal(openers[i], 1, SIGKILL, "lost worker 1 (10.0.0.2:2222) (rank 1 of 3,",
                    "onnection");
        with_signal(openers[i], 0, SIGKILL, "lost rank 0 (127.0.0.1:", "onnection");
    }
}

static void test_stopped(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++) {
        with_signal(openers[i], 1, SIGSTOP, "lost worker 1 (10.0.0.2:2222) (rank 1 of 3,",
                    "nothing was heard of it for");
        with_signal(openers[i], 0, SIGSTOP,
                    "lost rank 0 (127.0.0.1:", "nothing was heard of it for");
    }
}

/* It lives, but does not come: the deadline of the call ends it, the text says what it does. */
static void test_slow(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++) {
        job j = {.open = openers[i], .timeout_ms = 1000, .guilty = 1, .slow = true};
        start(&j);
        wait_for_begin(&j);
        expect(&j, "worker 1 (10.0.0.2:2222) was reading input", "after 21 calls",
               "waited 1000 ms in all_reduce");
        end(&j);
    }
}

static void test_cut(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++)
        with_network(openers[i], PROXY_CUT, "onnection");
}

static void test_half_closed(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++)
        with_network(openers[i], PROXY_HALF, "onnection");
}

static void test_held(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++)
        with_network(openers[i], PROXY_HOLD, "nothing was heard of it for");
}

/* A network that is only slow, or held for a moment, changes nothing. */
static void test_delayed(void **state) {
    (void)state;
    for (int i = 0; i < NUM_OPENERS; i++) {
        job j = {.open = openers[i], .timeout_ms = LONG_MS, .guilty = 2, .has_proxy = true};
        start(&j);
        proxy_set(&j.net, PROXY_SLOW);
        wait_for_begin(&j);
        proxy_set(&j.net, PROXY_HOLD);
        (void)poll(NULL, 0, DEAD_MS / 10); /* the fault itself */
        proxy_set(&j.net, PROXY_PASS);
        assert_int_equal(kill(j.pids[2], SIGKILL), 0);
        for (int r = 0; r < 2; r++) {
            read_line(&j, r);
            has(&j, r, "lost worker 2 (10.0.0.3:2222)");
        }
        end(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),      cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_slow),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_half_closed), cmocka_unit_test(test_held),
        cmocka_unit_test(test_delayed),
    };
#ifdef LEATI_HAVE_OPENSSL
    tls = certificate_job();
#endif
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    leati_tls_context_free(tls);
    return failed;
}
