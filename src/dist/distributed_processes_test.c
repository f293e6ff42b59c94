/* Distributed datasets on real processes: who reads what, one end for all, states from one number
 * of workers to another, and what the others are told when one fails or differs. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "dist/strategy.h"
#include "support/scratch.h"
#include "support/simulated.h"
#include "support/workers.h"

enum { LIMIT_MS = 60000, ROWS = 47, MOST_ROWS_SAID = 400, WAIT_MS = 5000, BUSY_NS = 5000000 };

static const simulated_data by_file = {
    .rows = ROWS, .batch = 5, .epochs = 1, .files = 5, .policy = LEAT_SHARD_AUTO};
static const simulated_data by_piece = {
    .rows = ROWS, .batch = 5, .epochs = 1, .shuffled = true, .policy = LEAT_SHARD_AUTO};

/* ---- in a worker: "FOLDER WHAT STEPS"; fewer than 0 steps: to the end ---- */

static leat_status restore(leat_distributed_iterator *it, leat_error *err) {
    static char state[1 << 16];
    FILE *file = fopen(scratch_path("state"), "r");
    if (file == NULL)
        return LEAT_OK;
    size_t size = fread(state, 1, sizeof state, file);
    fclose(file);
    return leat_distributed_iterator_restore(it, state, size, err);
}

static leat_status save(const leat_strategy *strategy, leat_distributed_iterator *it,
                        leat_error *err) {
    char *state = NULL;
    size_t size = 0;
    leat_status status = leat_distributed_iterator_save(it, NULL, &state, &size, NULL, err);
    FILE *file = status == LEAT_OK && leat_strategy_is_chief(strategy)
                     ? fopen(scratch_path("new-state"), "w")
                     : NULL;
    if (file != NULL) {
        fwrite(state, 1, size, file);
        fclose(file);
    }
    leat_text_free(state);
    return status;
}

static void say_rows(const leat_per_replica *value) {
    for (int r = 0; r < value->num_replicas; r++) {
        const leat_tensor *rows = &value->elements[r].tensors[0];
        for (int64_t i = 0; i < rows->dims[0]; i++)
            workers_say("row %lld", (long long)((const int64_t *)rows->data)[i]);
    }
}

static leat_status iterate(const leat_strategy *strategy, leat_distributed_iterator *it, int most,
                           leat_error *err) {
    leat_per_replica value = {0};
    leat_status status = restore(it, err);
    int steps = 0;
    while (status == LEAT_OK && (most < 0 || steps < most)) {
        int64_t total = 0;
        status = leat_distributed_iterator_next(it, &value, err);
        if (status == LEAT_OK) {
            steps++;
            say_rows(&value);
            status = leat_distributed_iterator_rows(it, NULL, &total, err);
            workers_say("total %lld", (long long)total);
        }
    }
    status = status == LEAT_OUT_OF_RANGE ? LEAT_OK : status;
    workers_say("steps %d", steps);
    if (status == LEAT_OK)
        status = save(strategy, it, err);
    leat_per_replica_fini(&value);
    return status;
}

static int64_t stuck_from = 12;

/* Each row takes a while on worker 1, and from row `stuck_from` on does not come back until it is
 * killed. */
static leat_status slow_row(void *context, const leat_element *in, leat_element *out,
                            leat_error *err) {
    int64_t row = *(const int64_t *)in->tensors[0].data, end = leati_now_ns() + BUSY_NS;
    while (*(const int *)context == 1 && (leati_now_ns() < end || row >= stuck_from)) {
    }
    return leat_element_set(out, in->spec, in->tensors, err);
}

/* Steps with a barrier each, until the job fails. */
static int wait_for_slow(void) {
    leat_error err = {0};
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .timeout_ms = WAIT_MS, .start_timeout_ms = LIMIT_MS, .heartbeat_timeout_ms = WAIT_MS};
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    int worker = leat_strategy_worker(strategy);
    leat_function *slow = LEAT_CALLBACK(slow_row, &worker, NULL, NULL, LEAT_PURE,
                                        leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                                        leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err), &err);
    leat_dataset *dataset =
        leat_dataset_map(leat_dataset_range(0, ROWS, 1, NULL, &err), slow, NULL, &err);
    dataset = leat_dataset_label(dataset, "crop", &err);
    const leat_strategy_distribute_options how = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                  .auto_shard_policy = LEAT_SHARD_DATA};
    leat_distributed_dataset *d = leat_strategy_distribute_dataset(
        strategy, leat_dataset_batch(dataset, 4, NULL, &err), &how, &err);
    leat_distributed_iterator *it = leat_distributed_iterator_new(d, &err);
    leat_per_replica value = {0};
    leat_status status = it == NULL ? err.code : LEAT_OK;
    while (status == LEAT_OK) {
        status = leat_distributed_iterator_next(it, &value, &err);
        status = status == LEAT_OK ? leat_strategy_barrier(strategy, &err) : status;
    }
    workers_say("%s: %s", leat_status_name(status), err.text);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    leat_strategy_unref(strategy);
    return 0;
}

static int work(void) {
    char what[32];
    int steps = -1;
    leat_error err = {0};
    leat_strategy_multi_worker_mirrored_options options = {
        LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS, LEAT_STRATEGY_MULTI_WORKER_MIRRORED_DEFAULTS,
        .timeout_ms = LIMIT_MS, .start_timeout_ms = LIMIT_MS, .heartbeat_timeout_ms = LIMIT_MS};
    if (sscanf(workers_argument(), "%511s %31s %d", scratch_folder, what, &steps) != 3)
        return 2;
    leat_strategy *strategy = leat_strategy_multi_worker_mirrored(&options, &err);
    simulated_data data = what[0] == 'f' ? by_file : by_piece;
    data.batch += strcmp(what, "other") == 0;
    leat_strategy_distribute_options how = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                            .auto_shard_policy = data.policy, .count_rows = true};
    leat_dataset *dataset = simulated_dataset(&data, &err);
    if (strcmp(what, "drawn") == 0) {
        leat_dataset_unref(dataset);
        dataset =
            leat_dataset_shuffle(leat_dataset_range(0, ROWS, 1, NULL, &err), ROWS, NULL, &err);
        dataset = leat_dataset_batch(dataset, 5, NULL, &err);
    }
    leat_distributed_dataset *d =
        strategy == NULL ? NULL : leat_strategy_distribute_dataset(strategy, dataset, &how, &err);
    leat_distributed_iterator *it = leat_distributed_iterator_new(d, &err);
    if (it == NULL || iterate(strategy, it, steps, &err) != LEAT_OK)
        workers_say("%s: %s", leat_status_name(err.code), err.text);
    leat_distributed_iterator_free(it);
    leat_distributed_dataset_free(d);
    leat_strategy_unref(strategy);
    return 0;
}

/* ---- the tests ---- */

static workers_result results[WORKERS_MOST];

/* The number behind the first line that begins with `what`; -1: there is none. */
static int number_of(const workers_result *result, const char *what) {
    const char *line = strstr(result->said, what);
    return line == NULL ? -1 : atoi(line + strlen(what));
}

/* Runs a job and counts the rows that its workers had; the state that it left is the next one's. */
static void run(const char *what, int count, int steps, int *seen) {
    char argument[640];
    snprintf(argument, sizeof argument, "%s %s %d", scratch_folder, what, steps);
    workers_run_well("iterate", argument, count, results);
    for (int w = 0; w < count; w++) {
        if (strchr(results[w].said, ':') != NULL)
            fail_msg("worker %d of %d: %s", w, count, results[w].said);
        assert_int_equal(number_of(&results[w], "steps "), number_of(&results[0], "steps "));
        for (const char *line = results[w].said; (line = strstr(line, "row ")) != NULL; line += 4)
            seen[atoi(line + 4)]++;
    }
    rename(scratch_path("new-state"), scratch_path("state"));
}

static void check_once(const int *seen) {
    for (int i = 0; i < ROWS; i++)
        if (seen[i] != 1)
            fail_msg("row %d was read %d times", i, seen[i]);
}

static void from_two_to_three(const char *what) {
    int seen[ROWS] = {0};
    remove(scratch_path("state"));
    run(what, 2, 3, seen);
    run(what, 3, 2, seen);
    run(what, 2, -1, seen);
    check_once(seen);
}

static void test_files(void **state) {
    (void)state;
    simulated_write(&by_file);
    from_two_to_three("files");
}

static void test_pieces(void **state) {
    (void)state;
    from_two_to_three("pieces");
}

/* Each process draws an order of its own; they take worker 0's. */
static void test_drawn_order(void **state) {
    (void)state;
    from_two_to_three("drawn");
}

/* Every worker knows how many rows a step has in all. */
static void test_totals(void **state) {
    (void)state;
    int seen[ROWS] = {0};
    remove(scratch_path("state"));
    run("pieces", 3, -1, seen);
    check_once(seen);
    assert_int_equal(number_of(&results[0], "steps "), 10);
    for (int w = 0; w < 3; w++) {
        const char *line = results[w].said;
        for (int step = 0; step < 10; step++, line += 6) {
            line = strstr(line, "total ");
            assert_non_null(line);
            assert_int_equal(atoi(line + 6), step < 9 ? 5 : 2);
        }
    }
}

/* A file of worker 1 holds what is no number. */
static void test_failure_of_one(void **state) {
    (void)state;
    char argument[640];
    simulated_write(&by_file);
    FILE *file = fopen(scratch_path("part-00001"), "w");
    fprintf(file, "none\n");
    fclose(file);
    remove(scratch_path("state"));
    snprintf(argument, sizeof argument, "%s files -1", scratch_folder);
    workers_run_well("iterate", argument, 3, results);
    assert_non_null(strstr(results[1].said, "INVALID_ARGUMENT: "));
    assert_non_null(strstr(results[1].said, "part-00001"));
    for (int w = 0; w < 3; w += 2) {
        assert_non_null(strstr(results[w].said, "ABORTED: "));
        assert_non_null(strstr(results[w].said, "worker 1 of 3, input of step "));
        assert_non_null(strstr(results[w].said, "part-00001"));
    }
}

static void test_another_dataset(void **state) {
    (void)state;
    char arguments[2][640];
    snprintf(arguments[0], sizeof arguments[0], "%s pieces -1", scratch_folder);
    snprintf(arguments[1], sizeof arguments[1], "%s other -1", scratch_folder);
    const workers_job job = {.wanted = "iterate",
                             .argument = arguments[0],
                             .count = 2,
                             .absent = -1,
                             .stopped = -1,
                             .other = 1,
                             .other_argument = arguments[1]};
    remove(scratch_path("state"));
    workers_run(&job, results);
    for (int w = 0; w < 2; w++) {
        assert_non_null(strstr(results[w].said, "FAILED_PRECONDITION: "));
        assert_non_null(strstr(results[w].said, "the distributed dataset"));
    }
}

/* The others are told who is late, what it is doing, and which stage of its input takes so long. */
static void wait_for(const char *wanted, int least_share) {
    const workers_job job = {.wanted = wanted, .count = 3, .absent = -1, .stopped = 1, .other = -1};
    workers_run(&job, results);
    for (int w = 0; w < 3; w += 2) {
        const char *said = results[w].said;
        static const char what[] =
            "worker 1 (10.0.0.1:2222) was reading input (map \"crop\" computed ";
        const char *at = strstr(said, what);
        if (results[w].status != 0 || strstr(said, "waited 5000 ms in barrier") == NULL ||
            at == NULL || strtol(at + sizeof what - 1, NULL, 10) < least_share)
            fail_msg("worker %d, status %d, said %s", w, results[w].status, said);
    }
}

static void test_slow_input(void **state) {
    (void)state;
    wait_for("slow", 0);
}

/* Of a function that never comes back from its first call there is nothing but that it runs. */
static void test_stuck_in_the_first_row(void **state) {
    (void)state;
    wait_for("stuck", 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),          cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_drawn_order),    cmocka_unit_test(test_totals),
        cmocka_unit_test(test_failure_of_one), cmocka_unit_test(test_another_dataset),
        cmocka_unit_test(test_slow_input),     cmocka_unit_test(test_stuck_in_the_first_row),
    };
    if (workers_case() != NULL) {
        bool stuck = strcmp(workers_case(), "stuck") == 0;
        stuck_from = stuck ? 0 : stuck_from;
        return stuck || strcmp(workers_case(), "slow") == 0 ? wait_for_slow() : work();
    }
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
