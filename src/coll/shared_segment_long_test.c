/* Jobs of two processes that are killed while they share memory, at moments between their start and
 * the first sums: nothing is left behind. */
#include "support/cmocka.h"

#include "coll/processes.h"
#include "support/address.h"
#include "support/segments.h"
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { JOBS = 300, LONG_MS = 60000, MOST_US = 12000 };

static void process_main(const char *address, int rank) {
    leat_error err = {0};
    float value = 1;
    const leati_store_options options = {.address = address,
                                         .name = "a worker",
                                         .rank = rank,
                                         .num_ranks = 2,
                                         .timeout_ms = LONG_MS};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    leati_store *store = leati_store_open(&options, &err);
    leati_collective *c =
        store == NULL ? NULL : leati_coll_shared_new(store, rank, 2, LONG_MS, &err);
    while (c != NULL && c->ops->all_reduce(c, rank, &value, 1, LEAT_FLOAT32, LEATI_REDUCTION_SUM,
                                           &err) == LEAT_OK) {
    }
    _exit(1);
}

static void test_killed(void **state) {
    (void)state;
    for (int job = 0; job < JOBS; job++) {
        char address[32];
        pid_t pids[2];
        free_address(address, sizeof address);
        for (int i = 0; i < 2; i++) {
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0)
                process_main(address, i);
        }
        /* Spread evenly; what is tested is that no moment matters. */
        usleep((useconds_t)(job * MOST_US / JOBS));
        for (int i = 0; i < 2; i++)
            kill(pids[i], SIGKILL);
        for (int i = 0; i < 2; i++)
            assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
        for (int i = 0; i < 2; i++)
            assert_int_equal(segments_of(pids[i]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
