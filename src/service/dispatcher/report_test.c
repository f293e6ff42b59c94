/* What a dispatcher says of a service: figures of workers as they were told, and sums that do not
 * fall when a task, a client or the dispatcher itself goes. */
#include "support/cmocka.h"

#include "core/json.h"
#include "support/dispatcher_world.h"
#include "support/scratch.h"

/* Owned (json_decref). */
static json_t *state_of(struct world *world) {
    leati_text text = {0};
    leat_error err = {0};
    if (leati_core_state(world->core, &text, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    json_t *state = leati_json_parse(text.data, text.size, &err);
    assert_non_null(state);
    leati_text_fini(&text);
    return state;
}

static double number(const json_t *object, const char *member) {
    const json_t *value = json_object_get(object, member);
    if (!json_is_number(value))
        fail_msg("%s is missing", member);
    return json_number_value(value);
}

static double total(struct world *world, const char *member) {
    json_t *state = state_of(world);
    double value = number(json_object_get(state, "totals"), member);
    json_decref(state);
    return value;
}

static double taken(struct world *world) {
    json_t *state = state_of(world);
    double value = number(json_array_get(json_object_get(state, "jobs"), 0), "elements");
    json_decref(state);
    return value;
}

static void beat(struct world *world, int worker, const char *more) {
    struct leati_message_worker_answer said;
    worker_says(world, worker, more, &said);
    leati_messages_fini(&leati_message_worker_answer, &said);
}

static void client_beat(struct world *world, int64_t client, const char *more) {
    struct leati_message_client_answer heard;
    client_says(world, client, more, &heard);
    leati_messages_fini(&leati_message_client_answer, &heard);
}

static void assert_sample(struct world *world, const char *line) {
    leati_text text = {0};
    leat_error err = {0};
    assert_int_equal(leati_core_metrics(world->core, &text, &err), LEAT_OK);
    if (strstr(text.data, line) == NULL)
        fail_msg("%s is missing in\n%s", line, text.data);
    leati_text_fini(&text);
}

static void test_figures_of_a_worker(void **state) {
    (void)state;
    struct world world = {0};
    open_world(&world, NULL);
    beat(&world, 1, "");
    json_t *before = state_of(&world);
    /* Nothing has computed: there is no operator, rather than one without a name. */
    assert_null(json_object_get(json_array_get(json_object_get(before, "workers"), 0), "slowest"));
    json_decref(before);
    beat(&world, 1,
         ", \"elements\": 70, \"bytes\": 560, \"ready_bytes\": 24, \"memory_used_bytes\": 16, "
         "\"memory_budget_bytes\": 64, \"busy\": 0.75, \"full\": 0.125,"
         " \"slowest\": \"map \\\"decode\\\"\", \"slowest_share\": 0.5");
    json_t *said = state_of(&world);
    const json_t *worker = json_array_get(json_object_get(said, "workers"), 0);
    const json_t *slowest = json_object_get(worker, "slowest");
    assert_true(number(worker, "elements") == 70 && number(worker, "bytes") == 560);
    assert_true(number(worker, "ready_bytes") == 24);
    assert_true(number(worker, "memory_used_bytes") == 16);
    assert_true(number(worker, "memory_budget_bytes") == 64);
    assert_true(number(worker, "busy") == 0.75 && number(worker, "full") == 0.125);
    assert_string_equal(json_string_value(json_object_get(slowest, "operator")), "map \"decode\"");
    assert_true(number(slowest, "share") == 0.5);
    json_decref(said);
    assert_sample(&world, "\nleat_service_worker_elements_total{worker=\"host:1\"} 70\n");
    assert_sample(&world, "\nleat_service_worker_busy_ratio{worker=\"host:1\"} 0.75\n");
    assert_sample(&world, "\nleat_service_worker_slowest_ratio{worker=\"host:1\",operator=\"map "
                          "\\\"decode\\\"\"} 0.5\n");
    close_world(&world);
}

static void test_sums_do_not_fall(void **state) {
    (void)state;
    struct world world = {0};
    char more[96];
    open_world(&world, scratch_path("reported"));
    register_dataset(&world, "");
    struct leati_message_opened a = open_job(&world, "a", ", \"repetition\": 0");
    struct leati_message_opened b = open_job(&world, "b", ", \"repetition\": 0");
    assert_int_equal(a.iteration, b.iteration);
    beat(&world, 1, "");
    beat(&world, 1, ", \"elements\": 10, \"bytes\": 80");
    /* A heartbeat that came late says less, and counts nothing twice. */
    beat(&world, 1, ", \"elements\": 4, \"bytes\": 32");
    beat(&world, 1, ", \"elements\": 10, \"bytes\": 80");
    assert_true(total(&world, "elements") == 10);
    client_beat(&world, a.client, ", \"elements\": 3");
    client_beat(&world, b.client, ", \"elements\": 4");
    assert_true(taken(&world) == 7);
    /* A client that leaves says how many it took last. */
    struct asked released;
    (void)snprintf(more, sizeof more, "{\"client\": %lld, \"elements\": 5}", (long long)a.client);
    ask(&world, "release", more, &released);
    turn(&world, 1);
    assert_true(released.answered);
    done(&released);
    assert_true(taken(&world) == 9);
    (void)snprintf(more, sizeof more,
                   "\nleat_service_iteration_elements_total{iteration=\"%lld\",job=\"j\"} 9\n",
                   (long long)a.iteration);
    assert_sample(&world, more);
    /* What was before a restart is no burst after it. */
    close_world(&world);
    open_world(&world, scratch_path("reported"));
    client_beat(&world, b.client, ", \"elements\": 104");
    beat(&world, 1, ", \"elements\": 1000, \"bytes\": 8000");
    assert_true(total(&world, "elements") == 0 && taken(&world) == 0);
    client_beat(&world, b.client, ", \"elements\": 106");
    beat(&world, 1, ", \"elements\": 1001, \"bytes\": 8008");
    assert_true(total(&world, "elements") == 1 && total(&world, "bytes") == 8);
    assert_true(taken(&world) == 2);
    close_world(&world);
}

/* By which ways clients read: of each client, and of all in the metrics. */
static void test_ways_of_clients(void **state) {
    (void)state;
    struct world world = {0};
    open_world(&world, NULL);
    register_dataset(&world, "");
    struct leati_message_opened a = open_job(&world, "a", ", \"repetition\": 0");
    struct leati_message_opened b = open_job(&world, "b", ", \"repetition\": 0");
    client_beat(&world, a.client, "");
    client_beat(&world, b.client,
                ", \"ways\": [{\"transfer\": \"shm\", \"streams\": 2},"
                " {\"transfer\": \"grpc\", \"streams\": 1}]");
    json_t *said = state_of(&world);
    const json_t *clients = json_object_get(said, "clients");
    assert_int_equal(json_array_size(clients), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *client = json_array_get(clients, i),
                     *transfers = json_object_get(client, "transfers");
        bool reads = number(client, "id") == (double)b.client;
        assert_int_equal(json_object_size(transfers), reads ? 2 : 0);
        if (reads)
            assert_true(number(transfers, "shm") == 2 && number(transfers, "grpc") == 1);
    }
    json_decref(said);
    client_beat(&world, a.client, ", \"ways\": [{\"transfer\": \"grpc\", \"streams\": 4}]");
    assert_sample(&world, "\nleat_service_client_streams{transfer=\"grpc\"} 5\n");
    assert_sample(&world, "\nleat_service_client_streams{transfer=\"shm\"} 2\n");
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_of_a_worker),
        cmocka_unit_test(test_sums_do_not_fall),
        cmocka_unit_test(test_ways_of_clients),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
