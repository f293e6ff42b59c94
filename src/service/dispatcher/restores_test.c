/* Saved iterators that go on, on a virtual clock: which leases their streams get, and what is
 * refused. */
#include "support/cmocka.h"

#include "support/dispatcher_world.h"
#include "support/scratch.h"

enum { EXACTLY_ONCE = 2, TEXT = 512 };

/* A dataset of 100 splits that gives the same again, and its job. */
static struct leati_message_opened open_dynamic(struct world *world, const char *more) {
    char text[256];
    register_dataset(world, ", \"providers\": [100], \"deterministic\": true");
    (void)snprintf(text, sizeof text, ", \"policy\": 1, %s", more);
    return open_job(world, "a", text);
}

/* What a client asks that goes on; `more` is its holding. */
static void restore_text(struct world *world, const char *client, int64_t iteration,
                         const char *more, char text[TEXT]) {
    struct leati_message_version version;
    answer(world, "version", "{}", &leati_message_version, &version);
    (void)snprintf(text, TEXT,
                   "{\"service\": \"%s\", \"client\": \"%s\", \"iteration\": %lld, \"holding\": "
                   "[%s]}",
                   version.service, client, (long long)iteration, more);
    leati_messages_fini(&leati_message_version, &version);
}

static void restore(struct world *world, const char *client, int64_t iteration, const char *more,
                    struct leati_message_restored *out) {
    char text[TEXT];
    restore_text(world, client, iteration, more, text);
    answer(world, "restore", text, &leati_message_restored, out);
}

static leat_status refusal(struct world *world, int64_t iteration, const char *more) {
    char text[TEXT];
    restore_text(world, "c", iteration, more, text);
    return failure(world, "restore", text);
}

static void release(struct world *world, int64_t client, const char *more) {
    char text[TEXT];
    struct asked asked;
    (void)snprintf(text, sizeof text, "{\"client\": %lld%s}", (long long)client, more);
    ask(world, "release", text, &asked);
    turn(world, 1);
    assert_true(asked.answered);
    done(&asked);
}

/* The tasks of another worker than the first two, which gets all streams. */
static struct leati_message_worker_answer starts_of_third(struct world *world) {
    struct leati_message_worker_answer said;
    worker_says(world, 3, "", &said);
    return said;
}

/* A job whose two streams have leases; what client a held of the first one. */
struct before {
    struct leati_message_opened opened;
    struct leati_message_task tasks[2];
    struct leati_message_lease leases[3];
    char holding[TEXT];
};

static void read_some(struct world *world, struct before *out) {
    out->opened = open_dynamic(world, "\"visitation\": 2");
    for (int w = 0; w < 2; w++)
        out->tasks[w] = one_start(world, w + 1, "");
    out->leases[0] = lease(world, out->tasks[0].task, 1, 0, 0, 7);
    out->leases[1] = lease(world, out->tasks[1].task, 1, 0, 0, 7);
    out->leases[2] = lease(world, out->tasks[0].task, 1, 0, 1, 7);
    (void)snprintf(out->holding, sizeof out->holding, "{\"task\": %lld, \"ranges\": [0, 3]}",
                   (long long)out->tasks[0].task);
}

static void drain(struct world *world, const char *worker) {
    char text[64];
    struct asked asked;
    (void)snprintf(text, sizeof text, "{\"worker\": \"%s\"}", worker);
    ask(world, "drain", text, &asked);
    turn(world, 1);
    assert_true(asked.answered);
    done(&asked);
}

/* The restored job's streams are all with worker 3, and get what they had. */
static void check_streams(struct world *world, const struct before *before,
                          const struct leati_message_restored *restored) {
    bool given[100] = {false};
    struct leati_message_worker_answer said = starts_of_third(world);
    const struct leati_message_task *starts = said.start.items;
    const struct leati_message_holding *holding = restored->holding.items;
    int64_t streams = 0;
    for (int64_t i = 0; i < said.start.count; i++) {
        if (starts[i].iteration != restored->iteration)
            continue;
        bool first = starts[i].task == holding[0].task;
        assert_int_equal(starts[i].held.count, first ? 2 : 0);
        assert_int_equal(starts[i].seed, before->tasks[first ? 0 : 1].seed);
        struct leati_message_lease got = lease(world, starts[i].task, starts[i].attempt, 0, 0, 1);
        assert_int_equal(got.begin, before->leases[first ? 0 : 1].begin);
        assert_int_equal(got.end, before->leases[first ? 0 : 1].end);
        for (int sequence = 0; !got.none; sequence++) {
            got = lease(world, starts[i].task, starts[i].attempt, 0, sequence, 50);
            for (int64_t k = got.begin; k < got.end; k++) {
                assert_false(given[k]);
                given[k] = true;
            }
        }
        streams++;
    }
    leati_messages_fini(&leati_message_worker_answer, &said);
    assert_int_equal(streams, 2);
    for (int k = 0; k < 100; k++)
        assert_true(given[k]);
}

static void test_streams_get_what_they_had(void **state) {
    (void)state;
    struct world world = {0};
    struct before before;
    struct leati_message_restored restored, again;
    open_world(&world, scratch_folder);
    read_some(&world, &before);
    /* Whoever had the streams is gone, and so is the client, whose state is older than its end. */
    release(&world, before.opened.client, ", \"elements\": 9");
    drain(&world, "");
    close_world(&world);
    open_world(&world, scratch_folder);
    restore(&world, "b", before.opened.iteration, before.holding, &restored);
    assert_int_equal(restored.holding.count, 1);
    const struct leati_message_holding *holding = restored.holding.items;
    assert_int_equal(holding->ranges.count, 2);
    assert_int_equal(holding->ranges.values[1], 3);
    assert_string_not_equal(restored.job_name, "j");
    /* The answer was lost. */
    restore(&world, "b", before.opened.iteration, before.holding, &again);
    assert_int_equal(again.client, restored.client);
    assert_string_equal(again.job_name, restored.job_name);
    assert_int_equal(((struct leati_message_holding *)again.holding.items)->task, holding->task);
    leati_messages_fini(&leati_message_restored, &again);
    check_streams(&world, &before, &restored);
    /* A state of the restored one; names do not grow. */
    restore(&world, "d", restored.iteration, "", &again);
    assert_null(strstr(strstr(again.job_name, " restored as ") + 1, " restored as "));
    assert_int_equal(again.holding.count, 0);
    leati_messages_fini(&leati_message_restored, &again);
    leati_messages_fini(&leati_message_restored, &restored);
    close_world(&world);
}

/* A stream that was taken to its end is not made again. */
static void test_whole_streams_have_ended(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_restored restored;
    struct leati_message_client_answer heard;
    char more[TEXT];
    open_world(&world, NULL);
    register_dataset(&world, ", \"deterministic\": true");
    struct leati_message_opened opened = open_job(&world, "a", ", \"visitation\": 2");
    struct leati_message_task task = one_start(&world, 1, "");
    task_done(&world, 1, task);
    drain(&world, "");
    (void)snprintf(more, sizeof more, "{\"task\": %lld, \"ranges\": [0, 100], \"whole\": true}",
                   (long long)task.task);
    restore(&world, "b", opened.iteration, more, &restored);
    const struct leati_message_holding *holding = restored.holding.items;
    assert_true(restored.holding.count == 1 && holding->whole);
    client_says(&world, restored.client, "", &heard);
    assert_true(heard.finished);
    leati_messages_fini(&leati_message_client_answer, &heard);
    leati_messages_fini(&leati_message_restored, &restored);
    close_world(&world);
}

/* Positions of a dataset that is not deterministic mean nothing to other attempts. */
static void test_positions_that_do_not_stay(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_restored restored;
    char more[TEXT];
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened opened = open_job(&world, "a", ", \"visitation\": 1");
    struct leati_message_task task = one_start(&world, 1, "");
    (void)snprintf(more, sizeof more, "{\"task\": %lld, \"ranges\": [0, 9]}", (long long)task.task);
    restore(&world, "b", opened.iteration, more, &restored);
    assert_int_equal(restored.holding.count, 0);
    leati_messages_fini(&leati_message_restored, &restored);
    close_world(&world);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *job;
        leat_status code;
    } kinds[] = {
        {"\"visitation\": 0", LEAT_UNIMPLEMENTED},
        {"\"visitation\": 2, \"consumer\": 0, \"consumers\": 1", LEAT_UNIMPLEMENTED},
    };
    struct world world = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        open_world(&world, NULL);
        struct leati_message_opened opened = open_dynamic(&world, kinds[i].job);
        assert_int_equal(refusal(&world, opened.iteration, ""), kinds[i].code);
        close_world(&world);
    }
    open_world(&world, NULL);
    struct leati_message_opened opened = open_dynamic(&world, "\"visitation\": 2");
    assert_int_equal(refusal(&world, opened.iteration + 1, ""), LEAT_NOT_FOUND);
    assert_int_equal(failure(&world, "restore", "{\"client\": \"c\", \"service\": \"other\"}"),
                     LEAT_NOT_FOUND);
    assert_int_equal(failure(&world, "restore", "{\"service\": \"other\"}"), LEAT_INVALID_ARGUMENT);
    assert_int_equal(refusal(&world, opened.iteration, "{\"task\": 1, \"ranges\": [3, 0]}"),
                     LEAT_INVALID_ARGUMENT);
    close_world(&world);
}

static void hear(struct world *world, int64_t client, const char *more) {
    struct leati_message_client_answer heard;
    client_says(world, client, more, &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
}

/* Two that take at the same time do; one that was killed before the other came does not count. */
static void test_shared_jobs(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_restored restored;
    open_world(&world, NULL);
    struct leati_message_opened a = open_dynamic(&world, "\"visitation\": 2");
    hear(&world, a.client, ", \"elements\": 5");
    struct leati_message_opened b = open_job(&world, "b", ", \"policy\": 1, \"visitation\": 2");
    hear(&world, b.client, ", \"elements\": 5");
    restore(&world, "r", a.iteration, "", &restored);
    leati_messages_fini(&leati_message_restored, &restored);
    hear(&world, a.client, ", \"elements\": 6");
    assert_int_equal(refusal(&world, a.iteration, ""), LEAT_FAILED_PRECONDITION);
    close_world(&world);
}

/* Of a job that nobody else knows nothing is left when its client was not used; what an
 * at_least_once client took is kept until the job is collected, exactly_once for ever. */
static void test_what_is_kept(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_restored restored;
    struct leati_message_worker_answer said;
    for (int visitation = 1; visitation <= EXACTLY_ONCE; visitation++) {
        char more[TEXT];
        open_world(&world, NULL);
        (void)snprintf(more, sizeof more, "\"alone\": true, \"visitation\": %d", visitation);
        struct leati_message_opened a = open_dynamic(&world, more);
        struct leati_message_task task = one_start(&world, 1, "");
        release(&world, a.client, ", \"elements\": 5");
        /* Its worker drops it at once. */
        (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                       (long long)task.task);
        worker_says(&world, 1, more, &said);
        assert_int_equal(said.stop.count, 1);
        leati_messages_fini(&leati_message_worker_answer, &said);
        restore(&world, "b", a.iteration, "", &restored);
        leati_messages_fini(&leati_message_restored, &restored);
        for (int minutes = 0; minutes < 30; minutes++)
            turn(&world, 60 * 1000);
        if (visitation == EXACTLY_ONCE) {
            restore(&world, "e", a.iteration, "", &restored);
            leati_messages_fini(&leati_message_restored, &restored);
        } else {
            assert_int_equal(refusal(&world, a.iteration, ""), LEAT_FAILED_PRECONDITION);
        }
        close_world(&world);
    }
    open_world(&world, NULL);
    struct leati_message_opened a = open_dynamic(&world, "\"alone\": true, \"visitation\": 2");
    release(&world, a.client, ", \"unused\": true");
    assert_int_equal(refusal(&world, a.iteration, ""), LEAT_FAILED_PRECONDITION);
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_streams_get_what_they_had, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(test_whole_streams_have_ended),
        cmocka_unit_test(test_positions_that_do_not_stay),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shared_jobs),
        cmocka_unit_test(test_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
