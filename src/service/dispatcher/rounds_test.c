/* The dispatcher on a virtual clock: what consumers that read together agree on. */
#include "support/cmocka.h"

#include "support/dispatcher_world.h"
#include "support/scratch.h"

static void test_coordinated_workers_join_at_one_round(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_client_answer heard;
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened a = open_job(&world, "a", ", \"consumer\": 0, \"consumers\": 2");
    struct leati_message_opened b = open_job(&world, "b", ", \"consumer\": 1, \"consumers\": 2");
    assert_int_equal(a.iteration, b.iteration);
    for (int w = 1; w <= 10; w++)
        (void)one_start(&world, w, "");
    client_says(&world, a.client, ", \"round\": 4", &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
    client_says(&world, b.client, ", \"round\": 3", &heard);
    int64_t round = heard.propose;
    assert_true(round >= 4);
    assert_int_equal(heard.tasks.count, 0);
    leati_messages_fini(&leati_message_client_answer, &heard);
    char more[96];
    (void)snprintf(more, sizeof more, ", \"round\": 4, \"agreed\": %lld", (long long)round);
    client_says(&world, a.client, more, &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
    client_says(&world, b.client, more, &heard);
    /* All ten have joined together. */
    assert_int_equal(heard.tasks.count, 10);
    const struct leati_message_place *places = heard.tasks.items;
    for (int i = 0; i < 10; i++)
        assert_int_equal(places[i].start_round, round);
    assert_int_equal(heard.propose, -1);
    leati_messages_fini(&leati_message_client_answer, &heard);
    close_world(&world);
}

/* Two consumers, and two workers that have tasks from round 0 on. */
struct pair {
    struct leati_message_opened clients[2];
    struct leati_message_task tasks[2];
};

static struct pair open_pair(struct world *world) {
    struct pair pair;
    struct leati_message_worker_answer said;
    register_dataset(world, "");
    for (int w = 1; w <= 2; w++) {
        worker_says(world, w, "", &said);
        leati_messages_fini(&leati_message_worker_answer, &said);
    }
    pair.clients[0] = open_job(world, "a", ", \"consumer\": 0, \"consumers\": 2");
    pair.clients[1] = open_job(world, "b", ", \"consumer\": 1, \"consumers\": 2");
    for (int w = 1; w <= 2; w++)
        pair.tasks[w - 1] = one_start(world, w, "");
    return pair;
}

/* The first worker is silent for too long. */
static void lose_first(struct world *world, const struct pair *pair) {
    struct leati_message_worker_answer said;
    char more[96];
    (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                   (long long)pair->tasks[1].task);
    for (int i = 0; i < 3; i++) {
        turn(world, 4000);
        worker_says(world, 2, more, &said);
        leati_messages_fini(&leati_message_worker_answer, &said);
    }
}

/* What a client hears of the first task. */
struct heard {
    bool asked, lost;
    int64_t turns;
};

/* A client says that it has so many of the first task's turns; -1: it says nothing of them. */
static struct heard say_turns(struct world *world, const struct pair *pair, int client,
                              int64_t turns) {
    struct leati_message_client_answer answer;
    struct heard heard = {0};
    char more[160] = "";
    int64_t task = pair->tasks[0].task;
    if (turns >= 0)
        (void)snprintf(more, sizeof more,
                       ", \"holding\": [{\"task\": %lld, \"attempt\": 1, \"turns\": %lld}]",
                       (long long)task, (long long)turns);
    client_says(world, pair->clients[client].client, more, &answer);
    heard.asked = answer.report.count == 1 && answer.report.values[0] == task;
    const struct leati_message_place *place = answer.tasks.items;
    assert_int_equal(answer.tasks.count, 2);
    assert_int_equal(place->task, task);
    heard.lost = place->lost;
    heard.turns = place->turns;
    leati_messages_fini(&leati_message_client_answer, &answer);
    return heard;
}

/* As many turns count as came to each of the consumers, also if the dispatcher is started again
 * before all have answered. */
static void test_turns_of_a_lost_worker(void **state) {
    (void)state;
    struct world world = {0};
    const char *folder = scratch_path("turns");
    open_world(&world, folder);
    struct pair pair = open_pair(&world);
    assert_false(say_turns(&world, &pair, 0, -1).lost);
    lose_first(&world, &pair);
    for (int starts = 0; starts < 2; starts++) {
        struct heard heard = say_turns(&world, &pair, 0, -1);
        assert_true(heard.asked && heard.lost);
        assert_int_equal(heard.turns, -1);
        heard = say_turns(&world, &pair, 0, 5);
        assert_false(heard.asked);
        assert_int_equal(heard.turns, -1);
        if (starts == 0) {
            close_world(&world);
            open_world(&world, folder);
        }
    }
    assert_true(say_turns(&world, &pair, 1, -1).asked);
    struct heard heard = say_turns(&world, &pair, 1, 4);
    assert_false(heard.asked);
    assert_int_equal(heard.turns, 4);
    assert_int_equal(say_turns(&world, &pair, 0, -1).turns, 4);
    close_world(&world);
    /* What is settled stays. */
    open_world(&world, folder);
    heard = say_turns(&world, &pair, 0, -1);
    assert_false(heard.asked);
    assert_int_equal(heard.turns, 4);
    close_world(&world);
}

/* One that leaves is not waited for. A client that knows what was settled hears nothing new. */
static void test_a_consumer_that_leaves_unasked(void **state) {
    (void)state;
    struct world world = {0};
    struct asked released, kept;
    struct leati_message_client_answer answer;
    char text[256];
    open_world(&world, NULL);
    struct pair pair = open_pair(&world);
    lose_first(&world, &pair);
    assert_int_equal(say_turns(&world, &pair, 0, 5).turns, -1);
    (void)snprintf(text, sizeof text, "{\"client\": %lld, \"elements\": 9}",
                   (long long)pair.clients[1].client);
    ask(&world, "release", text, &released);
    turn(&world, 1);
    assert_true(released.answered);
    done(&released);
    client_says(&world, pair.clients[0].client, "", &answer);
    assert_int_equal(((struct leati_message_place *)answer.tasks.items)->turns, 5);
    int64_t propose = answer.propose;
    leati_messages_fini(&leati_message_client_answer, &answer);
    for (int knows = 0; knows < 2; knows++) {
        (void)snprintf(text, sizeof text,
                       "{\"client\": %lld, \"tasks\": [%lld, 1, %lld, 1], \"settled\": [%lld], "
                       "\"agreed\": %lld, \"wait_ms\": 500}",
                       (long long)pair.clients[0].client, (long long)pair.tasks[0].task,
                       (long long)pair.tasks[1].task,
                       (long long)pair.tasks[knows == 0 ? 1 : 0].task, (long long)propose);
        ask(&world, "client", text, &kept);
        turn(&world, 1);
        assert_int_equal(kept.answered, knows == 0);
        if (knows == 0)
            done(&kept);
    }
    turn(&world, 500);
    assert_string_equal(kept.text, "{\"same\":true}");
    done(&kept);
    close_world(&world);
}

/* Without one of the consumers the others would wait for ever. */
static void test_a_consumer_that_is_lost(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_client_answer answer;
    open_world(&world, NULL);
    struct pair pair = open_pair(&world);
    for (int i = 0; i < 4; i++) {
        turn(&world, 100 * 1000);
        client_says(&world, pair.clients[1].client, "", &answer);
        assert_int_equal(answer.failed, i < 2 ? LEAT_OK : LEAT_FAILED_PRECONDITION);
        if (i == 2)
            assert_non_null(strstr(answer.why, "consumer 0"));
        leati_messages_fini(&leati_message_client_answer, &answer);
    }
    close_world(&world);
}

/* One that does not reach a worker fails all, unless the dispatcher does not hear that one either.
 */
static void test_a_consumer_that_does_not_reach_a_worker(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_client_answer answer;
    char more[96];
    open_world(&world, NULL);
    struct pair pair = open_pair(&world);
    for (int w = 1; w >= 0; w--) {
        (void)snprintf(more, sizeof more, ", \"unreached\": [%lld]", (long long)pair.tasks[w].task);
        if (w == 1) {
            turn(&world, 6000);
        } else {
            struct leati_message_worker_answer said;
            worker_says(&world, 1, "", &said);
            leati_messages_fini(&leati_message_worker_answer, &said);
        }
        client_says(&world, pair.clients[0].client, more, &answer);
        assert_int_equal(answer.failed, w == 1 ? LEAT_OK : LEAT_FAILED_PRECONDITION);
        leati_messages_fini(&leati_message_client_answer, &answer);
    }
    client_says(&world, pair.clients[1].client, "", &answer);
    assert_int_equal(answer.failed, LEAT_FAILED_PRECONDITION);
    assert_non_null(strstr(answer.why, "consumer 0"));
    assert_non_null(strstr(answer.why, "host:1"));
    leati_messages_fini(&leati_message_client_answer, &answer);
    close_world(&world);
}

/* What has no end is not waited for either. */
static void test_a_worker_that_drains(void **state) {
    (void)state;
    struct world world = {0};
    struct asked drain;
    struct leati_message_worker_answer said;
    char more[96];
    open_world(&world, NULL);
    struct pair pair = open_pair(&world);
    ask(&world, "drain", "{\"worker\": \"host:1\"}", &drain);
    turn(&world, 1);
    assert_true(drain.answered);
    done(&drain);
    (void)snprintf(more, sizeof more,
                   ", \"draining\": true, \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                   (long long)pair.tasks[0].task);
    worker_says(&world, 1, more, &said);
    assert_int_equal(said.stop.count, 1);
    assert_true(said.leave);
    leati_messages_fini(&leati_message_worker_answer, &said);
    assert_true(say_turns(&world, &pair, 1, 3).lost);
    assert_int_equal(say_turns(&world, &pair, 0, 2).turns, 2);
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordinated_workers_join_at_one_round),
        cmocka_unit_test(test_turns_of_a_lost_worker),
        cmocka_unit_test(test_a_consumer_that_leaves_unasked),
        cmocka_unit_test(test_a_consumer_that_is_lost),
        cmocka_unit_test(test_a_consumer_that_does_not_reach_a_worker),
        cmocka_unit_test(test_a_worker_that_drains),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
