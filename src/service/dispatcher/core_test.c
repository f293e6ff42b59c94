/* The dispatcher on a virtual clock: what workers and clients are told, and what survives. */
#include "support/cmocka.h"

#include "support/dispatcher_world.h"
#include "support/scratch.h"
#include <signal.h>
#include <sys/resource.h>

static void test_one_pass(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    struct leati_message_client_answer heard;
    open_world(&world, NULL);
    worker_says(&world, 1, "", &said);
    assert_int_equal(said.start.count, 0);
    leati_messages_fini(&leati_message_worker_answer, &said);
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", "");
    struct leati_message_task task = one_start(&world, 1, "");
    assert_int_equal(task.iteration, opened.iteration);
    assert_int_equal(task.attempt, 1);
    client_says(&world, opened.client, "", &heard);
    assert_false(heard.finished);
    assert_int_equal(heard.tasks.count, 1);
    const struct leati_message_place *place = heard.tasks.items;
    assert_int_equal(place->task, task.task);
    assert_string_equal(place->address, "host:1");
    leati_messages_fini(&leati_message_client_answer, &heard);
    task_done(&world, 1, task);
    client_says(&world, opened.client, "", &heard);
    assert_true(heard.finished);
    leati_messages_fini(&leati_message_client_answer, &heard);
    close_world(&world);
}

static void test_heartbeats_wait_for_news(void **state) {
    (void)state;
    struct world world = {0};
    struct asked worker, client;
    open_world(&world, NULL);
    register_dataset(&world, "");
    ask(&world, "worker", "{\"uid\": \"w1\", \"address\": \"host:1\", \"wait_ms\": 1000}", &worker);
    turn(&world, 1);
    assert_false(worker.answered);
    struct leati_message_opened opened = open_job(&world, "a", "");
    /* The turn in which the job was opened has told the worker. */
    assert_true(worker.answered);
    assert_non_null(strstr(worker.text, "\"task\""));
    done(&worker);
    char text[128];
    struct leati_message_client_answer heard;
    client_says(&world, opened.client, "", &heard);
    const struct leati_message_place *place = heard.tasks.items;
    (void)snprintf(text, sizeof text, "{\"client\": %lld, \"tasks\": [%lld, 1], \"wait_ms\": 500}",
                   (long long)opened.client, (long long)place->task);
    leati_messages_fini(&leati_message_client_answer, &heard);
    ask(&world, "client", text, &client);
    turn(&world, 499);
    assert_false(client.answered);
    turn(&world, 500);
    assert_true(client.answered);
    assert_string_equal(client.text, "{\"same\":true}");
    done(&client);
    ask(&world, "client", text, &client);
    turn(&world, 1);
    /* Another worker comes: the client hears of it at once. */
    struct leati_message_task task = one_start(&world, 2, "");
    assert_true(client.answered);
    (void)snprintf(text, sizeof text, "%lld", (long long)task.task);
    assert_non_null(strstr(client.text, text));
    done(&client);
    close_world(&world);
}

/* All at one time of the clock: nobody waits for a heartbeat to be due. */
static void test_ten_workers_join_at_once(void **state) {
    (void)state;
    enum { WORKERS = 10 };
    struct world world = {0};
    struct asked client;
    struct leati_message_client_answer heard;
    char text[128];
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", "");
    struct leati_message_task first = one_start(&world, 1, "");
    for (int i = 0; i < WORKERS; i++) {
        (void)snprintf(text, sizeof text, "{\"client\": %lld, \"tasks\": [%lld, 1]}",
                       (long long)opened.client, (long long)first.task);
        ask(&world, "client", text, &client);
        struct leati_message_task task = one_start(&world, 2 + i, "");
        assert_int_equal(task.iteration, opened.iteration);
        assert_true(client.answered);
        done(&client);
    }
    client_says(&world, opened.client, "", &heard);
    assert_int_equal(heard.tasks.count, 1 + WORKERS);
    leati_messages_fini(&leati_message_client_answer, &heard);
    close_world(&world);
}

/* Also a client that had no stream of the task open: it would take what is finished for the end. */
static void test_a_task_that_fails_is_told_to_all_clients(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    struct leati_message_client_answer heard;
    char text[256];
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened first = open_job(&world, "a", "");
    struct leati_message_opened second = open_job(&world, "a", "");
    struct leati_message_task task = one_start(&world, 1, "");
    (void)snprintf(text, sizeof text,
                   ", \"tasks\": [{\"task\": %lld, \"attempt\": 1, \"done\": true, \"failed\": %d,"
                   " \"text\": \"no such file\"}]",
                   (long long)task.task, LEAT_NOT_FOUND);
    worker_says(&world, 1, text, &said);
    leati_messages_fini(&leati_message_worker_answer, &said);
    for (int i = 0; i < 2; i++) {
        client_says(&world, i == 0 ? first.client : second.client, "", &heard);
        assert_int_equal(heard.failed, LEAT_NOT_FOUND);
        assert_string_equal(heard.why, "no such file");
        leati_messages_fini(&leati_message_client_answer, &heard);
    }
    close_world(&world);
}

static void test_leases_are_disjoint_and_come_again(void **state) {
    (void)state;
    struct world world = {0};
    bool given[100] = {0};
    open_world(&world, NULL);
    register_dataset(&world, ", \"providers\": [100]");
    (void)open_job(&world, "a", ", \"policy\": 1");
    struct leati_message_task tasks[2] = {one_start(&world, 1, ""), one_start(&world, 2, "")};
    int64_t sequence[2] = {0};
    int ended = 0;
    for (int turns = 0; ended < 2; turns++) {
        int w = turns % 2;
        struct leati_message_lease first =
            lease(&world, tasks[w].task, 1, 0, sequence[w], 1 + turns);
        struct leati_message_lease again = lease(&world, tasks[w].task, 1, 0, sequence[w], 9);
        assert_int_equal(first.none, again.none);
        assert_int_equal(first.begin, again.begin);
        assert_int_equal(first.end, again.end);
        ended += first.none;
        sequence[w]++;
        for (int64_t i = first.begin; i < first.end; i++) {
            assert_false(given[i]);
            given[i] = true;
        }
    }
    for (int i = 0; i < 100; i++)
        assert_true(given[i]);
    /* The next repetition begins for both, and the first is over. */
    struct leati_message_lease next = lease(&world, tasks[0].task, 1, 1, sequence[0], 5);
    assert_int_equal(next.begin, 0);
    assert_int_equal(next.end, 5);
    assert_true(lease(&world, tasks[1].task, 1, 0, sequence[1], 5).none);
    assert_int_equal(lease(&world, tasks[1].task, 1, 1, sequence[1], 5).begin, 5);
    close_world(&world);
}

static void count_lines(void *context, leat_log_level level, const char *line) {
    ++*(int *)context;
    assert_int_equal(level, LEAT_LOG_WARNING);
    assert_non_null(strstr(line, "dispatcher: "));
}

static void test_a_lost_worker_under_at_most_once(void **state) {
    (void)state;
    int lines = 0;
    struct world world = {0};
    struct leati_message_client_answer heard;
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", "");
    (void)one_start(&world, 1, "");
    struct leati_message_task second = one_start(&world, 2, "");
    leat_log_set(count_lines, &lines);
    for (int i = 0; i < 12; i++) {
        char more[96];
        struct leati_message_worker_answer said;
        (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                       (long long)second.task);
        turn(&world, 999);
        worker_says(&world, 2, more, &said);
        leati_messages_fini(&leati_message_worker_answer, &said);
    }
    leat_log_set(NULL, NULL);
    assert_int_equal(lines, 1);
    client_says(&world, opened.client, "", &heard);
    assert_int_equal(heard.tasks.count, 1);
    assert_int_equal(heard.lost.count, 1);
    assert_false(heard.finished);
    leati_messages_fini(&leati_message_client_answer, &heard);
    task_done(&world, 2, second);
    client_says(&world, opened.client, "", &heard);
    assert_true(heard.finished);
    assert_int_equal(heard.lost.count, 0);
    leati_messages_fini(&leati_message_client_answer, &heard);
    close_world(&world);
}

static void test_exactly_once_asks_clients_first(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_client_answer heard;
    struct leati_message_worker_answer said;
    char more[256];
    const char *folder = scratch_path("asked");
    open_world(&world, folder);
    register_dataset(&world, ", \"deterministic\": true, \"providers\": [100]");
    struct leati_message_opened opened =
        open_job(&world, "a", ", \"policy\": 1, \"visitation\": 2");
    struct leati_message_task task = one_start(&world, 1, "");
    struct leati_message_lease given = lease(&world, task.task, 1, 0, 0, 10);
    /* A drained worker's stream goes to another, but not before the client has said what it has. */
    struct asked drain;
    ask(&world, "drain", "{\"worker\": \"host:1\"}", &drain);
    turn(&world, 1);
    assert_true(drain.answered);
    done(&drain);
    struct leati_message_task own = one_start(&world, 2, "");
    assert_int_not_equal(own.task, task.task);
    client_says(&world, opened.client, "", &heard);
    assert_int_equal(heard.report.count, 1);
    assert_int_equal(heard.report.values[0], task.task);
    leati_messages_fini(&leati_message_client_answer, &heard);
    /* A dispatcher that starts again asks again. */
    close_world(&world);
    open_world(&world, folder);
    client_says(&world, opened.client, "", &heard);
    assert_int_equal(heard.report.count, 1);
    leati_messages_fini(&leati_message_client_answer, &heard);
    (void)snprintf(more, sizeof more,
                   ", \"holding\": [{\"task\": %lld, \"attempt\": 1, \"ranges\": [0, 3, 5, 6]}]",
                   (long long)task.task);
    client_says(&world, opened.client, more, &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
    (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                   (long long)own.task);
    worker_says(&world, 2, more, &said);
    assert_int_equal(said.start.count, 1);
    const struct leati_message_task *moved = said.start.items;
    assert_int_equal(moved->task, task.task);
    assert_int_equal(moved->attempt, 2);
    assert_int_equal(moved->held.count, 4);
    assert_int_equal(moved->held.values[2], 5);
    leati_messages_fini(&leati_message_worker_answer, &said);
    /* The stream has the same splits again; the worker before gets none. */
    struct leati_message_lease again = lease(&world, task.task, 2, 0, 0, 1);
    assert_int_equal(again.begin, given.begin);
    assert_int_equal(again.end, given.end);
    (void)snprintf(more, sizeof more, "{\"task\": %lld, \"attempt\": 1}", (long long)task.task);
    assert_int_equal(failure(&world, "splits", more), LEAT_NOT_FOUND);
    close_world(&world);
}

static void test_splits_are_left_when_the_only_worker_drains(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_client_answer heard;
    open_world(&world, NULL);
    register_dataset(&world, ", \"providers\": [100]");
    struct leati_message_opened opened = open_job(&world, "a", ", \"policy\": 1");
    struct leati_message_task task = one_start(&world, 1, "");
    struct leati_message_lease given = lease(&world, task.task, 1, 0, 0, 7);
    struct asked drain;
    ask(&world, "drain", "{}", &drain);
    turn(&world, 1);
    done(&drain);
    assert_true(lease(&world, task.task, 1, 0, 1, 7).none);
    task_done(&world, 1, task);
    client_says(&world, opened.client, "", &heard);
    assert_false(heard.finished);
    leati_messages_fini(&leati_message_client_answer, &heard);
    /* The next worker goes on where it stopped. */
    struct leati_message_task next = one_start(&world, 2, "");
    assert_int_equal(lease(&world, next.task, 1, 0, 0, 7).begin, given.end);
    close_world(&world);
}

static void test_a_restart_forgets_nothing(void **state) {
    (void)state;
    struct world world = {0};
    const char *folder = scratch_path("dispatcher");
    struct leati_message_client_answer heard;
    open_world(&world, folder);
    register_dataset(&world, ", \"providers\": [100]");
    struct leati_message_opened opened = open_job(&world, "a", ", \"policy\": 1");
    struct leati_message_task task = one_start(&world, 1, "");
    (void)lease(&world, task.task, 1, 0, 0, 7);
    struct leati_message_lease last = lease(&world, task.task, 1, 0, 1, 7);
    close_world(&world);
    open_world(&world, folder);
    client_says(&world, opened.client, "", &heard);
    assert_int_equal(heard.tasks.count, 1);
    leati_messages_fini(&leati_message_client_answer, &heard);
    struct leati_message_lease again = lease(&world, task.task, 1, 0, 1, 1);
    assert_int_equal(again.begin, last.begin);
    assert_int_equal(again.end, last.end);
    assert_int_equal(lease(&world, task.task, 1, 0, 2, 1).begin, last.end);
    /* The same client asks once more, because it did not hear the answer. */
    struct leati_message_opened same = open_job(&world, "a", ", \"policy\": 1");
    assert_int_equal(same.client, opened.client);
    close_world(&world);
}

static void test_a_second_dispatcher_is_refused(void **state) {
    (void)state;
    struct world world = {0};
    leat_error err = {0};
    open_world(&world, scratch_path("one"));
    assert_null(leati_core_open(&world.options, world.now_ns, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    close_world(&world);
}

static void test_what_is_refused(void **state) {
    (void)state;
    struct world world = {0};
    open_world(&world, NULL);
    register_dataset(&world, ", \"unsplittable\": \"snapshot\", \"why_not\": \"a callback\"");
    (void)open_job(&world, "a", "");
    static const struct {
        const char *method, *text;
        leat_status code;
    } cases[] = {
        {"colour", "{}", LEAT_UNIMPLEMENTED},
        {"worker", "{}", LEAT_INVALID_ARGUMENT},
        {"worker", "no", LEAT_INVALID_ARGUMENT},
        {"client", "{\"client\": 5}", LEAT_NOT_FOUND},
        {"splits", "{\"task\": 5}", LEAT_NOT_FOUND},
        {"drain", "{\"worker\": \"x\"}", LEAT_NOT_FOUND},
        {"get_dataset", "{\"dataset_id\": \"x\"}", LEAT_NOT_FOUND},
        {"register_dataset", "{\"dataset_id\": \"d\", \"plan\": \"p\", \"spec\": \"other\"}",
         LEAT_INVALID_ARGUMENT},
        {"open_iteration", "{\"client\": \"b\", \"dataset_id\": \"x\", \"job_name\": \"k\"}",
         LEAT_NOT_FOUND},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"j\", \"policy\": 1}",
         LEAT_UNIMPLEMENTED},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"j\", \"target_workers\": 1}",
         LEAT_INVALID_ARGUMENT},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"k\", \"visitation\": 2}",
         LEAT_INVALID_ARGUMENT},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"k\", \"policy\": 2}",
         LEAT_NOT_FOUND},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"k\", \"cached\": true}",
         LEAT_INVALID_ARGUMENT},
        {"open_iteration",
         "{\"client\": \"b\", \"dataset_id\": \"d\", \"job_name\": \"k\", \"consumer\": 2, "
         "\"consumers\": 2}",
         LEAT_INVALID_ARGUMENT},
        {"restore", "{\"client\": \"b\", \"service\": \"other\"}", LEAT_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (failure(&world, cases[i].method, cases[i].text) != cases[i].code)
            fail_msg("%s %s", cases[i].method, cases[i].text);
    close_world(&world);
}

/* Registers dataset number `i` with a plan of 20,000 bytes; false where that fails. */
static bool register_large(struct world *world, int i) {
    static char plan[20001], text[20200];
    struct asked asked;
    memset(plan, 'p', sizeof plan - 1);
    (void)snprintf(text, sizeof text,
                   "{\"dataset_id\": \"d%d\", \"plan\": \"%s\", \"spec\": \"{}\"}", i, plan);
    ask(world, "register_dataset", text, &asked);
    turn(world, 1);
    bool answered = asked.answered;
    if (!answered)
        assert_int_equal(asked.code, LEAT_UNAVAILABLE);
    done(&asked);
    return answered;
}

static void test_a_full_disk_loses_nothing_that_was_answered(void **state) {
    (void)state;
    struct world world = {0};
    struct rlimit before, few;
    int known = 0, lines = 0;
    open_world(&world, scratch_path("full"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = before;
    few.rlim_cur = 400000;
    (void)signal(SIGXFSZ, SIG_IGN);
    leat_log_set(count_lines, &lines);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    while (known < 1000 && register_large(&world, known))
        known++;
    /* Still full, still alive. */
    assert_false(register_large(&world, known));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    leat_log_set(NULL, NULL);
    assert_in_range(known, 1, 999);
    assert_true(lines > 0);
    assert_true(register_large(&world, known));
    close_world(&world);
    open_world(&world, scratch_path("full"));
    for (int i = 0; i <= known; i++) {
        char text[64];
        struct leati_message_dataset found;
        (void)snprintf(text, sizeof text, "{\"dataset_id\": \"d%d\"}", i);
        answer(&world, "get_dataset", text, &leati_message_dataset, &found);
        leati_messages_fini(&leati_message_dataset, &found);
    }
    close_world(&world);
}

enum { LOST_MS = 300001 }; /* the default, and one */

/* The turn that finds a client lost cannot be written: then it is not lost, and may be later. */
static void test_a_turn_that_is_undone_forgets_no_client(void **state) {
    (void)state;
    struct world world = {0};
    struct rlimit before, none;
    struct leati_message_client_answer heard;
    open_world(&world, scratch_path("undone"));
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", "");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    (void)signal(SIGXFSZ, SIG_IGN);
    leat_log_set(count_lines, &(int){0});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    turn(&world, LOST_MS);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    leat_log_set(NULL, NULL);
    client_says(&world, opened.client, "", &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
    turn(&world, LOST_MS);
    char text[64];
    (void)snprintf(text, sizeof text, "{\"client\": %lld}", (long long)opened.client);
    assert_int_equal(failure(&world, "client", text), LEAT_NOT_FOUND);
    close_world(&world);
}

static void test_unread_jobs_are_collected(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    char more[128];
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", "");
    struct leati_message_task task = one_start(&world, 1, "");
    (void)snprintf(more, sizeof more, "{\"client\": %lld}", (long long)opened.client);
    struct asked released;
    ask(&world, "release", more, &released);
    (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                   (long long)task.task);
    int64_t stopped = 0;
    for (int seconds = 0; seconds < 1300 && stopped == 0; seconds++) {
        turn(&world, 1000);
        worker_says(&world, 1, more, &said);
        stopped = said.stop.count > 0 ? seconds : 0;
        leati_messages_fini(&leati_message_worker_answer, &said);
    }
    assert_true(released.answered);
    done(&released);
    /* Ten minutes between looks, and five without a client. */
    assert_in_range(stopped, 1100, 1250);
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pass),
        cmocka_unit_test(test_heartbeats_wait_for_news),
        cmocka_unit_test(test_ten_workers_join_at_once),
        cmocka_unit_test(test_a_task_that_fails_is_told_to_all_clients),
        cmocka_unit_test(test_leases_are_disjoint_and_come_again),
        cmocka_unit_test(test_a_lost_worker_under_at_most_once),
        cmocka_unit_test(test_exactly_once_asks_clients_first),
        cmocka_unit_test(test_splits_are_left_when_the_only_worker_drains),
        cmocka_unit_test(test_a_restart_forgets_nothing),
        cmocka_unit_test(test_a_second_dispatcher_is_refused),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_full_disk_loses_nothing_that_was_answered),
        cmocka_unit_test(test_a_turn_that_is_undone_forgets_no_client),
        cmocka_unit_test(test_unread_jobs_are_collected),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
