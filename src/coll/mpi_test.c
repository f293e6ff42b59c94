/* The collective of MPI. Without MPI the tests say skipped. The program starts itself by mpirun as
 * three processes, which meet in a store and print one line each; what they print is checked. */
#include "support/cmocka.h"

#include "coll/processes.h"
#include "support/address.h"
#include "support/collectives.h"
#include "support/refused.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 4, LONG_MS = 60000, SHORT_MS = 500 };

#ifdef LEATI_HAVE_MPI

static char program[4096];

// ---- one of the processes ----

static leati_collective *collective;
static int rank;

static void test_cases(void **state) {
    (void)state;
    collective_cases(collective, rank, 1);
}

static int run_cases(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rank 1 does not come; the others' deadline passes, and nothing works any more. */
static int run_late(leati_store *store) {
    leat_error err = {0};
    leati_store_values all;
    float value = 1;
    if (rank != 1) {
        leat_status status = collective->ops->all_reduce(collective, rank, &value, 1, LEAT_FLOAT32,
                                                         LEATI_REDUCTION_SUM, &err);
        printf("%s: %s\n", leat_status_name(status), err.text);
        status = collective->ops->barrier(collective, rank, &err);
        printf("then %s: %s\n", leat_status_name(status), err.text);
        fflush(stdout);
    }
    leat_status status = leati_store_barrier(store, "end", NULL, 0, LONG_MS, &all, &err);
    leati_store_values_fini(&all);
    return status != LEAT_OK;
}

static int process_main(const char *address, bool late) {
    char name[32];
    leat_error err = {0};
    rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    snprintf(name, sizeof name, "worker %d", rank);
    leati_store_options options = {.address = address,
                                   .name = name,
                                   .rank = rank,
                                   .num_ranks = RANKS,
                                   .timeout_ms = LONG_MS,
                                   .heartbeat_ms = 20};
    leati_store *store = leati_store_open(&options, &err);
    collective = store == NULL
                     ? NULL
                     : leati_coll_mpi_new(store, rank, RANKS, late ? SHORT_MS : LONG_MS, &err);
    if (collective == NULL) {
        printf("rank %d: %s\n", rank, err.text);
        return 1;
    }
    int code = late ? run_late(store) : run_cases();
    leati_store_close(store);
    collective->ops->close(collective);
    return code;
}

// ---- the test's side ----

/* What the processes print; the status of mpirun in `code`. */
static void start(const char *what, char *text, size_t size, int *code) {
    char address[32], command[5000];
    free_address(address, sizeof address);
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LEAT_TEST_CASE=%s "
             "LEAT_TEST_ARGUMENT=%s mpirun --oversubscribe -n %d '%s' 2>&1",
             what, address, RANKS, program);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    size_t used = fread(text, 1, size - 1, out);
    text[used] = '\0';
    *code = pclose(out);
}

static void test_values(void **state) {
    (void)state;
    static char text[1 << 16];
    int code = 0;
    start("cases", text, sizeof text, &code);
    if (code != 0)
        fail_msg("mpirun ended with %d: %s", code, text);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static void test_late(void **state) {
    (void)state;
    static char text[1 << 16];
    int code = 0;
    start("late", text, sizeof text, &code);
    if (count_of(text, "DEADLINE_EXCEEDED: rank ") != RANKS - 1 ||
        count_of(text, "waited 500 ms in all_reduce for another process: worker 1 was ") !=
            2 * (RANKS - 1) ||
        count_of(text, "then ABORTED: the collective has failed: rank ") != RANKS - 1)
        fail_msg("mpirun ended with %d: %s", code, text);
}

static bool find_programs(void) {
    return system("command -v mpirun > /dev/null") == 0 &&
           realpath("/proc/self/exe", program) != NULL;
}

#else

static void test_refused(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_coll_mpi_new(NULL, 0, 2, LONG_MS, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "MPI");
}

#endif

int main(void) {
#ifdef LEATI_HAVE_MPI
    const char *wanted = getenv("LEAT_TEST_CASE");
    if (wanted != NULL)
        return process_main(getenv("LEAT_TEST_ARGUMENT"), strcmp(wanted, "late") == 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_late)};
    if (!find_programs()) {
        printf("mpi_test: skipped, there is no mpirun\n");
        return 0;
    }
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
