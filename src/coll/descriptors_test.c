/* Processes of a job with too few descriptors: whatever they lack them for, they say so and end at
 * once, and so does who waits for them. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "coll/store.h"
#include "support/address.h"
#include "support/refused.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any test may take: nobody ends by his deadline. */
enum { LONG_MS = 600000, DEAD_MS = 1200 };
/* What a process needs to begin: a pipe; rank 0 also the pair to its server, what listens, and the
 * door's spare. */
enum { OWN_OF_0 = 6, OWN_OF_1 = 3 };

/* Opens a store with `left` descriptors; the error, or nothing, goes to `out`. */
static void open_with(const char *address, int rank, int left, int out) {
    struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
    leat_error err = {0};
    const leati_store_options options = {.address = address,
                                         .name = rank == 0 ? "worker 0" : "worker 1",
                                         .rank = rank,
                                         .num_ranks = 2,
                                         .timeout_ms = LONG_MS,
                                         .heartbeat_ms = 20,
                                         .dead_ms = DEAD_MS};
    int last = -1;
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        _exit(2);
    for (int taken = dup(out); taken >= 0; taken = dup(out))
        last = taken;
    for (int i = 0; i < left; i++)
        close(last - i);
    leat_status status = LEAT_UNAVAILABLE;
    /* Sent away: a worker comes again. */
    for (int i = 0; i < 100 && status == LEAT_UNAVAILABLE; i++)
        status = leati_store_open(&options, &err) == NULL ? err.code : LEAT_OK;
    (void)!write(out, err.text, strlen(err.text));
    _exit(status == LEAT_RESOURCE_EXHAUSTED ? 0 : 3);
}

static pid_t start(const char *address, int rank, int left, int *said) {
    int out[2];
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    if (child == 0)
        open_with(address, rank, left, out[1]);
    close(out[1]);
    *said = out[0];
    return child;
}

static void expect_said(pid_t child, int said, const char *who) {
    char text[1024] = "";
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    ssize_t size = read(said, text, sizeof text - 1);
    close(said);
    if (status != 0 || size <= 0 || !refused_names(text, "ulimit"))
        fail_msg("%s: status %d: %s", who, status, text);
}

/* Before it listens rank 0 alone can say it. */
static void test_rank_0_cannot_begin(void **state) {
    (void)state;
    for (int left = 0; left < OWN_OF_0; left++) {
        char address[32], who[32];
        int said;
        snprintf(who, sizeof who, "rank 0 with %d", left);
        free_address(address, sizeof address);
        pid_t child = start(address, 0, left, &said);
        expect_said(child, said, who);
    }
}

static void test_rank_1_cannot_begin(void **state) {
    (void)state;
    for (int left = 0; left < OWN_OF_1; left++) {
        char address[32], who[32];
        int said;
        snprintf(who, sizeof who, "rank 1 with %d", left);
        free_address(address, sizeof address);
        /* A name, which is looked up in files. */
        char *port = strrchr(address, ':');
        memmove(address + strlen("localhost"), port, strlen(port) + 1);
        memcpy(address, "localhost", strlen("localhost"));
        pid_t child = start(address, 1, left, &said);
        expect_said(child, said, who);
    }
}

/* It listens, and can take nobody: both say so. */
static void test_rank_0_can_take_nobody(void **state) {
    (void)state;
    char address[32];
    int said[2];
    pid_t ranks[2];
    free_address(address, sizeof address);
    ranks[0] = start(address, 0, OWN_OF_0, &said[0]);
    ranks[1] = start(address, 1, 20, &said[1]);
    expect_said(ranks[1], said[1], "rank 1");
    expect_said(ranks[0], said[0], "rank 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_0_cannot_begin),
        cmocka_unit_test(test_rank_1_cannot_begin),
        cmocka_unit_test(test_rank_0_can_take_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
