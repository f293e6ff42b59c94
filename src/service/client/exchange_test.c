/* Calls of bytes between a server and channels of this process, over the loopback. */
#include "support/cmocka.h"

#include "support/refused.h"
#include <leat/core.h>
#include <leat/service.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A host without gRPC has nothing to try. */
static leat_call_server *server_or_skip(void) {
    leat_error err = {0};
    leat_call_server *server = leat_call_server_new(NULL, 0, &err);
    if (server == NULL && err.code == LEAT_UNIMPLEMENTED)
        skip();
    if (server == NULL)
        fail_msg("%s", err.text);
    return server;
}

static leat_call_channel *channel_to(const leat_call_server *server) {
    leat_error err = {0};
    char address[64];
    snprintf(address, sizeof address, "localhost:%d", leat_call_server_port(server));
    leat_call_channel *channel = leat_call_channel_new(address, &err);
    if (channel == NULL)
        fail_msg("%s", err.text);
    return channel;
}

/* Answers each call with what it asks, behind its method's name; one to "fail" with a failure. */
static void *serve(void *context) {
    leat_call_server *server = context;
    leat_call *call = NULL;
    leat_error err = {0};
    while (leat_call_server_next(server, -1, &call, &err) == LEAT_OK) {
        char text[128];
        const leat_buffer *request = leat_call_request(call);
        int size =
            snprintf(text, sizeof text, "%s:%.*s", leat_call_method(call),
                     (int)leat_buffer_size(request), (const char *)leat_buffer_data(request));
        if (strcmp(leat_call_method(call), "fail") == 0)
            leat_call_fail(call, LEAT_DATA_LOSS, "the reason");
        else
            leat_call_answer(call, text, (size_t)size);
    }
    return NULL;
}

static void test_a_call_is_answered(void **state) {
    (void)state;
    leat_call_server *server = server_or_skip();
    leat_call_channel *channel = channel_to(server);
    leat_buffer *answer = NULL;
    leat_error err = {0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
    assert_int_equal(leat_call_channel_call(channel, "say", "word", 4, 0, NULL, &answer, &err),
                     LEAT_OK);
    assert_int_equal(leat_buffer_size(answer), 8);
    assert_memory_equal(leat_buffer_data(answer), "say:word", 8);
    leat_buffer_unref(answer);
    assert_int_equal(leat_call_channel_call(channel, "nothing", NULL, 0, 0, NULL, &answer, &err),
                     LEAT_OK);
    assert_memory_equal(leat_buffer_data(answer), "nothing:", 8);
    leat_buffer_unref(answer);
    assert_int_equal(leat_call_channel_call(channel, "fail", NULL, 0, 0, NULL, &answer, &err),
                     LEAT_DATA_LOSS);
    assert_true(is_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "reason"));
    leat_call_server_stop(server);
    pthread_join(thread, NULL);
    err = (leat_error){0};
    assert_int_equal(leat_call_channel_call(channel, "say", NULL, 0, 2000, NULL, &answer, &err),
                     LEAT_UNAVAILABLE);
    leat_call_channel_free(channel);
    leat_call_server_free(server);
}

static void test_nobody_waits_for_ever(void **state) {
    (void)state;
    leat_call_server *server = server_or_skip();
    leat_call_channel *channel = channel_to(server);
    leat_buffer *answer = NULL;
    leat_call *call = NULL;
    leat_error err = {0};
    assert_int_equal(leat_call_server_next(server, 1, &call, &err), LEAT_DEADLINE_EXCEEDED);
    /* Nobody takes the call: its own time ends it. */
    err = (leat_error){0};
    assert_int_equal(leat_call_channel_call(channel, "say", NULL, 0, 50, NULL, &answer, &err),
                     LEAT_DEADLINE_EXCEEDED);
    leat_cancel *cancel = leat_cancel_new(&err);
    assert_non_null(cancel);
    leat_cancel_fire(cancel);
    err = (leat_error){0};
    assert_int_equal(leat_call_channel_call(channel, "say", NULL, 0, -1, cancel, &answer, &err),
                     LEAT_CANCELLED);
    leat_cancel_free(cancel);
    /* What waited in the list is refused when the server ends. */
    leat_call_channel_free(channel);
    leat_call_server_stop(server);
    leat_call_server_stop(server);
    err = (leat_error){0};
    assert_int_equal(leat_call_server_next(server, -1, &call, &err), LEAT_CANCELLED);
    leat_call_server_free(server);
    leat_call_server_free(NULL);
    leat_call_channel_free(NULL);
}

static void test_addresses_and_ports_are_refused(void **state) {
    (void)state;
    leat_call_server *server = server_or_skip();
    leat_error err = {0};
    assert_null(leat_call_server_new(NULL, leat_call_server_port(server), &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    err = (leat_error){0};
    assert_null(leat_call_channel_new("", &err));
    assert_true(is_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "address"));
    err = (leat_error){0};
    assert_null(leat_call_channel_new("pigeon://roof", &err));
    assert_true(is_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "pigeon"));
    leat_call_server_free(server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_is_answered),
        cmocka_unit_test(test_nobody_waits_for_ever),
        cmocka_unit_test(test_addresses_and_ports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
