/* 5,000 connections that never greet, at a rank 0 that may have 256 descriptors: before all ranks
 * have come, and while they meet at barriers; a few that say a byte at a time; and, where the job
 * has TLS, handshakes without a certificate, one behind the other. A worker that comes late joins,
 * every barrier is passed, and what it costs rank 0 is printed. That decides the test only where it
 * is far beyond what a thread that does not spin takes. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "coll/store.h"
#include "coll/wire.h"
#include "support/address.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

enum {
    CROWD = 5000,
    DESCRIPTORS = 256,
    LONG_MS = 120000,
    WINDOW_MS = 15000,
    ROUND_MS = 50,
    TALKING = 60
};

static leati_tls_context *tls; /* NULL: the job has none */

/* What rank 0's process has taken until now. */
typedef struct cost {
    int64_t at_ns, cpu_us, resident_bytes;
} cost;

static leati_store_options options_of(int rank, const char *address) {
    return (leati_store_options){.address = address,
                                 .name = rank == 0 ? "worker 0" : "worker 1",
                                 .tls = tls,
                                 .rank = rank,
                                 .num_ranks = 2,
                                 .timeout_ms = LONG_MS,
                                 .dead_ms = LONG_MS};
}

/* ---- rank 0's process ---- */

/* Meets until the other brings "end". */
static void *serve(void *address) {
    leat_error err = {0};
    leati_store_options options = options_of(0, address);
    leati_store *store = leati_store_open(&options, &err);
    leat_status status = store == NULL ? err.code : LEAT_OK;
    for (bool ended = false; status == LEAT_OK && !ended;) {
        leati_store_values all;
        status = leati_store_barrier(store, "round", NULL, 0, LONG_MS, &all, &err);
        ended = status == LEAT_OK && all.offset[2] > all.offset[1];
        leati_store_values_fini(&all);
    }
    leati_store_close(store);
    if (status != LEAT_OK)
        fprintf(stderr, "worker 0: %s\n", err.text);
    _exit(status == LEAT_OK ? 0 : 1);
}

/* Answers each byte with what it has taken. */
static void rank_0(char *address, int asked, int out) {
    struct rlimit few = {.rlim_cur = DESCRIPTORS, .rlim_max = DESCRIPTORS};
    pthread_t thread;
    char one;
    if (setrlimit(RLIMIT_NOFILE, &few) != 0 || pthread_create(&thread, NULL, serve, address) != 0)
        _exit(2);
    while (read(asked, &one, 1) == 1) {
        struct rusage used;
        char text[100] = "";
        int file = open("/proc/self/statm", O_RDONLY);
        if (file < 0 || read(file, text, sizeof text - 1) <= 0 ||
            getrusage(RUSAGE_SELF, &used) != 0)
            _exit(3);
        close(file);
        const char *resident = strchr(text, ' ');
        cost now = {.at_ns = leati_now_ns()};
        now.cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000) +
                     used.ru_utime.tv_usec + used.ru_stime.tv_usec;
        now.resident_bytes = strtoll(resident, NULL, 10) * sysconf(_SC_PAGESIZE);
        if (write(out, &now, sizeof now) != (ssize_t)sizeof now)
            _exit(4);
    }
    pthread_join(thread, NULL);
}

/* ---- the test's side ---- */

static cost ask(const int *ends) {
    cost now;
    assert_int_equal(write(ends[1], "", 1), 1);
    assert_int_equal(read(ends[0], &now, sizeof now), sizeof now);
    return now;
}

/* Begins to connect; the kernel goes on. */
static void crowd_in(int *crowd, const char *address) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_true(crowd[i] >= 0);
        (void)connect(crowd[i], (struct sockaddr *)&at, sizeof at);
    }
}

static void crowd_out(const int *crowd) {
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
}

static void report(const char *when, const cost *before, const cost *after) {
    double seconds = (double)(after->at_ns - before->at_ns) * 1e-9;
    double used = (double)(after->cpu_us - before->cpu_us) * 1e-6;
    double kib = (double)(after->resident_bytes - before->resident_bytes) / 1024;
    print_message("%s: %.2f %% of a core in %.1f s, %+.0f KiB\n", when, used / seconds * 100,
                  seconds, kib);
    assert_true(used < seconds / 4);
    assert_true(kib < 1024);
}

/* Tries again where it is refused for want of a descriptor, as dist/workers does. */
static leati_store *join_late(const char *address) {
    leati_store_options options = options_of(1, address);
    for (;;) {
        leat_error err = {0};
        leati_store *store = leati_store_open(&options, &err);
        if (store != NULL)
            return store;
        if (err.code != LEAT_UNAVAILABLE)
            fail_msg("%s", err.text);
    }
}

/* Meets for a while; how often. */
static int meet(leati_store *store, int for_ms) {
    int count = 0;
    int64_t end_ns = leati_now_ns() + for_ms * INT64_C(1000000);
    for (; leati_now_ns() < end_ns; count++) {
        leati_store_values all;
        leat_error err = {0};
        if (leati_store_barrier(store, "round", NULL, 0, LONG_MS, &all, &err) != LEAT_OK)
            fail_msg("round %d: %s", count, err.text);
        leati_store_values_fini(&all);
        (void)poll(NULL, 0, ROUND_MS);
    }
    return count;
}

static void test_crowd(void **state) {
    (void)state;
    static int crowd[CROWD];
    char address[32];
    int asked[2], out[2], status = 0;
    struct rlimit many = {.rlim_cur = CROWD + 100, .rlim_max = CROWD + 100}, before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_max < many.rlim_cur)
        skip();
    many.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &many), 0);
    free_address(address, sizeof address);
    assert_int_equal(pipe(asked), 0);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(asked[1]);
        rank_0(address, asked[0], out[1]);
        _exit(5);
    }
    const int ends[2] = {out[0], asked[1]};
    close(asked[0]);
    close(out[1]);
    (void)poll(NULL, 0, 1000);
    cost first = ask(ends);
    (void)poll(NULL, 0, WINDOW_MS);
    cost alone = ask(ends);
    report("before the job, nobody", &first, &alone);
    crowd_in(crowd, address);
    (void)poll(NULL, 0, WINDOW_MS);
    cost crowded = ask(ends);
    report("before the job, 5,000 connections", &alone, &crowded);
    leati_store *late = join_late(address);
    crowd_out(crowd);
    cost joined = ask(ends);
    int rounds = meet(late, WINDOW_MS);
    cost quiet = ask(ends);
    report("while the job runs, nobody", &joined, &quiet);
    crowd_in(crowd, address);
    int others = meet(late, WINDOW_MS);
    cost last = ask(ends);
    report("while the job runs, 5,000 connections", &quiet, &last);
    print_message("%d and %d barriers\n", rounds, others);
    leati_store_values all;
    assert_int_equal(leati_store_barrier(late, "round", "end", 3, LONG_MS, &all, &(leat_error){0}),
                     LEAT_OK);
    leati_store_values_fini(&all);
    leati_store_close(late);
    crowd_out(crowd);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* As many as are kept, each of which says the next byte at once. Handled byte by byte that took ten
 * per cent of a core, and with bytes that the system holds without a bound two and a half. */
static void test_bytes(void **state) {
    (void)state;
    char address[32];
    int asked[2], out[2], talking[TALKING], status = 0, said = 0;
    free_address(address, sizeof address);
    assert_int_equal(pipe(asked), 0);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(asked[1]);
        rank_0(address, asked[0], out[1]);
        _exit(5);
    }
    const int ends[2] = {out[0], asked[1]};
    close(asked[0]);
    close(out[1]);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)poll(NULL, 0, 1000);
    cost first = ask(ends);
    for (int i = 0; i < TALKING; i++)
        talking[i] = leati_wire_connect(address, NULL, leati_now_ns() + 1, &(leat_error){0});
    for (int64_t end_ns = leati_now_ns() + WINDOW_MS * INT64_C(1000000); leati_now_ns() < end_ns;)
        for (int i = 0; i < TALKING; i++) {
            bool heard = talking[i] >= 0 && send(talking[i], "", 1, MSG_DONTWAIT) == 1;
            said += heard;
            if (!heard && talking[i] >= 0) {
                close(talking[i]);
                talking[i] =
                    leati_wire_connect(address, NULL, leati_now_ns() + 1, &(leat_error){0});
            }
        }
    cost last = ask(ends);
    print_message("%d bytes\n", said);
    report("a byte at a time", &first, &last);
    assert_true(last.cpu_us - first.cpu_us < (last.at_ns - first.at_ns) / 1000 / 40);
    for (int i = 0; i < TALKING; i++)
        if (talking[i] >= 0)
            close(talking[i]);
    leati_store *late = join_late(address);
    leati_store_values all;
    assert_int_equal(leati_store_barrier(late, "round", "end", 3, LONG_MS, &all, &(leat_error){0}),
                     LEAT_OK);
    leati_store_values_fini(&all);
    leati_store_close(late);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
}

// ---- TLS ----

#ifdef LEATI_HAVE_OPENSSL
/* One handshake without a certificate, until the other side ends it. */
static void shake(SSL_CTX *context, const char *address) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char one;
    if (connect(connection, (struct sockaddr *)&at, sizeof at) == 0) {
        SSL *ssl = SSL_new(context);
        SSL_set_fd(ssl, connection);
        if (SSL_connect(ssl) == 1)
            (void)SSL_read(ssl, &one, 1);
        SSL_free(ssl);
        ERR_clear_error();
    }
    close(connection);
}

static void test_handshakes(void **state) {
    (void)state;
    char address[32];
    int asked[2], out[2], status = 0, count = 0;
    tls = certificate_job();
    free_address(address, sizeof address);
    assert_int_equal(pipe(asked), 0);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(asked[1]);
        rank_0(address, asked[0], out[1]);
        _exit(5);
    }
    const int ends[2] = {out[0], asked[1]};
    close(asked[0]);
    close(out[1]);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\x08leat-job", 9);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)poll(NULL, 0, 1000);
    /* OpenSSL takes some megabytes once. */
    shake(context, address);
    cost first = ask(ends);
    for (int64_t end_ns = leati_now_ns() + WINDOW_MS * INT64_C(1000000); leati_now_ns() < end_ns;
         count++)
        shake(context, address);
    cost last = ask(ends);
    print_message("%d handshakes\n", count);
    report("handshakes without a certificate", &first, &last);
    /* A hundredth, where nothing else is counted: rank 0's own beats, and refused connections. */
    assert_true(last.cpu_us - first.cpu_us < (last.at_ns - first.at_ns) / 1000 / 20);
    leati_store *late = join_late(address);
    leati_store_values all;
    assert_int_equal(leati_store_barrier(late, "round", "end", 3, LONG_MS, &all, &(leat_error){0}),
                     LEAT_OK);
    leati_store_values_fini(&all);
    leati_store_close(late);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    SSL_CTX_free(context);
    leati_tls_context_free(tls);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_bytes),
#ifdef LEATI_HAVE_OPENSSL
        cmocka_unit_test(test_handshakes),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
