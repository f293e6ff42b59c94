/* The dispatcher's part of snapshots, on a virtual clock. */
#include "support/cmocka.h"

#include "support/dispatcher_world.h"
#include "support/scratch.h"
#include <unistd.h>

static void set_up(struct world *world, const char *more) {
    char text[512];
    struct leati_message_dataset_id id;
    open_world(world, scratch_path("state"));
    (void)snprintf(text, sizeof text,
                   "{\"dataset_id\": \"d\", \"plan\": \"{}\", \"spec\": \"{\\\"dtype\\\": "
                   "\\\"int64\\\", \\\"shape\\\": []}\", \"cardinality\": 100, \"providers\": "
                   "[100]%s}",
                   more);
    answer(world, "register_dataset", text, &leati_message_dataset_id, &id);
    leati_messages_fini(&leati_message_dataset_id, &id);
}

static const char *request(const char *name, const char *path) {
    static char text[512];
    (void)snprintf(
        text, sizeof text,
        "{\"request\": \"%s\", \"dataset_id\": \"d\", \"path\": \"%s\", \"compression\": "
        "\"GZIP\"}",
        name, scratch_path(path));
    return text;
}

static void save(struct world *world, const char *name, const char *path) {
    struct asked asked;
    ask(world, "save", request(name, path), &asked);
    turn(world, 1);
    if (!asked.answered)
        fail_msg("save: code %d", (int)asked.code);
    done(&asked);
}

static bool is_file(const char *path) {
    return access(scratch_path(path), F_OK) == 0;
}

static const char *commit(struct leati_message_task task, int64_t chunk, int64_t elements) {
    static char text[256];
    (void)snprintf(text, sizeof text,
                   "{\"task\": %lld, \"attempt\": %lld, \"chunk\": %lld, \"elements\": %lld}",
                   (long long)task.task, (long long)task.attempt, (long long)chunk,
                   (long long)elements);
    return text;
}

static void commits(struct world *world, struct leati_message_task task, int64_t chunk,
                    int64_t elements) {
    struct leati_message_committed out;
    answer(world, "commit", commit(task, chunk, elements), &leati_message_committed, &out);
    assert_int_equal(out.chunks, chunk + 1);
}

/* Of the only snapshot. */
static void expect_status(struct world *world, const char *state, int64_t streams, int64_t chunks,
                          int64_t elements) {
    struct asked asked;
    leat_error err = {0};
    ask(world, "status", "{}", &asked);
    turn(world, 1);
    assert_true(asked.answered);
    json_t *json = leati_json_parse(asked.text, strlen(asked.text), &err);
    json_t *snapshot = json_array_get(json_object_get(json, "snapshots"), 0);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), state);
    assert_int_equal(json_integer_value(json_object_get(snapshot, "streams")), streams);
    assert_int_equal(json_integer_value(json_object_get(snapshot, "chunks")), chunks);
    assert_int_equal(json_integer_value(json_object_get(snapshot, "elements")), elements);
    json_decref(json);
    done(&asked);
}

static void to_its_end(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    set_up(&world, "");
    save(&world, "r", "saved");
    assert_true(is_file("saved/snapshot.metadata"));
    assert_true(is_file("saved/dataset_spec.pb"));
    assert_false(is_file("saved/.leat-request"));
    worker_says(&world, 1, "", &said);
    assert_int_equal(said.start.count, 1);
    struct leati_message_task *told = said.start.items;
    assert_string_equal(told->snapshot, scratch_path("saved"));
    assert_string_equal(told->compression, "GZIP");
    assert_int_equal(told->policy, LEAT_SERVICE_DYNAMIC);
    assert_int_equal(told->stream, 0);
    assert_int_equal(told->chunks, 0);
    struct leati_message_task first = *told;
    leati_messages_fini(&leati_message_worker_answer, &said);
    struct leati_message_task second = one_start(&world, 2, "");
    assert_int_equal(second.stream, 1);
    commits(&world, first, 0, 10);
    commits(&world, first, 1, 5);
    /* The answer was lost. */
    commits(&world, first, 1, 5);
    assert_int_equal(failure(&world, "commit", commit(first, 1, 6)), LEAT_INTERNAL);
    assert_int_equal(failure(&world, "commit", commit(first, 3, 5)), LEAT_INTERNAL);
    commits(&world, second, 0, 7);
    expect_status(&world, "writing", 2, 3, 22);
    task_done(&world, 1, first);
    assert_false(is_file("saved/DONE"));
    /* Whoever comes now would find nothing to do. */
    worker_says(&world, 3, "", &said);
    assert_int_equal(said.start.count, 0);
    leati_messages_fini(&leati_message_worker_answer, &said);
    task_done(&world, 2, second);
    assert_true(is_file("saved/DONE"));
    assert_false(is_file("saved/ERROR"));
    expect_status(&world, "done", 2, 3, 22);
    assert_int_equal(failure(&world, "commit", commit(second, 1, 1)), LEAT_NOT_FOUND);
    assert_int_equal(failure(&world, "save", request("s", "saved")), LEAT_ALREADY_EXISTS);
    close_world(&world);
}

/* A stream of a lost worker goes on elsewhere, behind the chunks that count. */
static void a_worker_is_lost(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    struct asked drain;
    set_up(&world, "");
    save(&world, "r", "saved");
    struct leati_message_task first = one_start(&world, 1, "");
    commits(&world, first, 0, 10);
    commits(&world, first, 1, 4);
    ask(&world, "drain", "{\"worker\": \"host:1\"}", &drain);
    turn(&world, 1);
    done(&drain);
    assert_int_equal(failure(&world, "commit", commit(first, 2, 1)), LEAT_NOT_FOUND);
    worker_says(&world, 2, "", &said);
    assert_int_equal(said.start.count, 1);
    struct leati_message_task again = *(struct leati_message_task *)said.start.items;
    assert_int_equal(again.task, first.task);
    assert_int_equal(again.attempt, 2);
    assert_int_equal(again.stream, 0);
    assert_int_equal(again.chunks, 2);
    assert_int_equal(again.chunk_attempt, 1);
    assert_int_equal(again.chunk_elements, 4);
    leati_messages_fini(&leati_message_worker_answer, &said);
    commits(&world, again, 2, 3);
    task_done(&world, 2, again);
    assert_true(is_file("saved/DONE"));
    expect_status(&world, "done", 1, 3, 17);
    close_world(&world);
}

static void the_dispatcher_starts_again(void **state) {
    (void)state;
    struct world world = {0};
    struct leati_message_worker_answer said;
    set_up(&world, "");
    save(&world, "r", "saved");
    struct leati_message_task first = one_start(&world, 1, "");
    commits(&world, first, 0, 10);
    close_world(&world);
    /* It died before the metadata were written. */
    (void)remove(scratch_path("saved/snapshot.metadata"));
    open_world(&world, scratch_path("state"));
    /* The client, whose answer was lost, asks again. */
    save(&world, "r", "saved");
    assert_int_equal(failure(&world, "save", request("s", "saved")), LEAT_ALREADY_EXISTS);
    commits(&world, first, 0, 10);
    commits(&world, first, 1, 2);
    task_done(&world, 1, first);
    assert_true(is_file("saved/DONE"));
    worker_says(&world, 1, "", &said);
    assert_int_equal(said.start.count, 0);
    leati_messages_fini(&leati_message_worker_answer, &said);
    expect_status(&world, "done", 1, 2, 12);
    close_world(&world);
}

static void a_stream_fails(void **state) {
    (void)state;
    char more[200];
    struct world world = {0};
    struct leati_message_worker_answer said;
    set_up(&world, "");
    save(&world, "r", "saved");
    struct leati_message_task first = one_start(&world, 1, ""), second = one_start(&world, 2, "");
    (void)snprintf(more, sizeof more,
                   ", \"tasks\": [{\"task\": %lld, \"attempt\": 1, \"done\": true, \"failed\": 3, "
                   "\"text\": \"it is bad\"}]",
                   (long long)first.task);
    worker_says(&world, 1, more, &said);
    leati_messages_fini(&leati_message_worker_answer, &said);
    size_t size = 0;
    char *text = (char *)scratch_read(scratch_path("saved/ERROR"), &size);
    assert_string_equal(text, "code: INVALID_ARGUMENT\nmessage: \"it is bad\"\n");
    free(text);
    assert_false(is_file("saved/DONE"));
    (void)snprintf(more, sizeof more, ", \"tasks\": [{\"task\": %lld, \"attempt\": 1}]",
                   (long long)second.task);
    worker_says(&world, 2, more, &said);
    assert_int_equal(said.stop.count, 1);
    leati_messages_fini(&leati_message_worker_answer, &said);
    assert_int_equal(failure(&world, "commit", commit(second, 0, 1)), LEAT_NOT_FOUND);
    expect_status(&world, "failed", 2, 0, 0);
    close_world(&world);
}

/* A worker has no more streams than worker_max_concurrent_snapshots. */
static void one_after_the_other(void **state) {
    (void)state;
    struct world world = {0};
    world.now_ns = 1000 * MS;
    world.options =
        (leat_dispatcher_options){LEAT_DISPATCHER_DEFAULTS, .worker_max_concurrent_snapshots = 1};
    set_up(&world, "");
    save(&world, "r", "saved");
    save(&world, "s", "later");
    struct leati_message_task first = one_start(&world, 1, "");
    task_done(&world, 1, first);
    assert_true(is_file("saved/DONE"));
    struct leati_message_task second = one_start(&world, 1, "");
    assert_int_equal(second.stream, 0);
    task_done(&world, 1, second);
    assert_true(is_file("later/DONE"));
    close_world(&world);
}

static void refusals(void **state) {
    (void)state;
    struct world world = {0};
    set_up(&world, "");
    assert_int_equal(failure(&world, "save", "{}"), LEAT_INVALID_ARGUMENT);
    assert_int_equal(
        failure(&world, "save", "{\"request\": \"r\", \"dataset_id\": \"e\", \"path\": \"/p\"}"),
        LEAT_NOT_FOUND);
    assert_int_equal(mkdir(scratch_path("there"), 0700), 0);
    assert_int_equal(failure(&world, "save", request("r", "there")), LEAT_ALREADY_EXISTS);
    scratch_write("file", "", 0);
    assert_int_equal(failure(&world, "save", request("r", "file")), LEAT_ALREADY_EXISTS);
    assert_int_equal(failure(&world, "save", request("r", "file/below")), LEAT_FAILED_PRECONDITION);
    save(&world, "r", "saved");
    assert_int_equal(failure(&world, "save", request("s", "saved")), LEAT_ALREADY_EXISTS);
    close_world(&world);
    /* A folder that an earlier try of the same request has made is no other's. */
    world.now_ns = 0;
    assert_int_equal(mkdir(scratch_path("tried"), 0700), 0);
    scratch_write("tried/.leat-request", "t", 1);
    scratch_remove(scratch_path("state"));
    set_up(&world, "");
    assert_int_equal(failure(&world, "save", request("u", "tried")), LEAT_ALREADY_EXISTS);
    save(&world, "t", "tried");
    close_world(&world);
}

static void datasets_that_cannot_be_saved(void **state) {
    (void)state;
    struct world world = {0};
    set_up(&world, ", \"unsplittable\": \"it has no splits\"");
    assert_int_equal(failure(&world, "save", request("r", "saved")), LEAT_UNIMPLEMENTED);
    close_world(&world);
    scratch_remove(scratch_path("state"));
    world.now_ns = 0;
    open_world(&world, NULL);
    register_dataset(&world, "");
    assert_int_equal(failure(&world, "save", request("r", "saved")), LEAT_INVALID_ARGUMENT);
    close_world(&world);
    assert_false(is_file("saved"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(to_its_end),
        TEST(a_worker_is_lost),
        TEST(the_dispatcher_starts_again),
        TEST(a_stream_fails),
        TEST(one_after_the_other),
        TEST(refusals),
        TEST(datasets_that_cannot_be_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
