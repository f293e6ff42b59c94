/* A server of a data service that is reached by its host's name: one that nobody knows, that is
 * known later, that leads elsewhere after a while, and that a certificate bears or does not. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "calls.h"
#include "service/transport/transport.h"
#include "support/refused.h"
#include <stdio.h>
#include <string.h>
#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#endif

#define NAME "dispatcher.invalid"

enum { LONG_MS = 60000, ADDRESS = 64 };

static const leati_transport *grpc;

/* Answers with the address that the server listens on. */
static void on_call(void *context, leati_transport_call *call, const char *method, const char *from,
                    const void *request, size_t size) {
    (void)method, (void)from, (void)request, (void)size;
    (void)leati_transport_call_answer(call, context, strlen(context));
}

static leati_transport_server *serve(const char *host, int *port,
                                     const leati_transport_security *security) {
    leat_error err = {0};
    const leati_transport_handler handler = {.context = (void *)(uintptr_t)host, .call = on_call};
    leati_transport_listen_options options = {.host = host, .port = *port};
    if (security != NULL)
        options.security = *security;
    leati_transport_server *server = grpc->listen(&options, &handler, port, &err);
    if (server == NULL)
        fail_msg("%s", err.text);
    return server;
}

static leati_transport_channel *connect_by_name(int port,
                                                const leati_transport_security *security) {
    char address[ADDRESS];
    leat_error err = {0};
    snprintf(address, sizeof address, NAME ":%d", port);
    leati_transport_channel *channel = grpc->connect(address, security, &err);
    if (channel == NULL)
        fail_msg("%s", err.text);
    return channel;
}

/* Who answers; "" for nobody. */
static void ask(leati_transport_channel *channel, char who[ADDRESS], leat_error *err) {
    leat_buffer *answer = NULL;
    who[0] = '\0';
    *err = (leat_error){0};
    if (grpc->call(channel, "Who", "", 0, leati_clock_deadline_ns(LONG_MS), NULL, &answer, err) ==
        LEAT_OK)
        snprintf(who, ADDRESS, "%.*s", (int)leat_buffer_size(answer),
                 (const char *)leat_buffer_data(answer));
    leat_buffer_unref(answer);
}

/* A server on 127.0.0.1, and a channel to it by name. */
typedef struct meeting {
    leati_transport_server *server;
    leati_transport_channel *channel;
    int port;
    char who[ADDRESS]; /* the last answer */
    leat_error err;
} meeting;

static meeting meet(const leati_transport_security *of_server,
                    const leati_transport_security *of_client) {
    meeting m = {0};
    m.server = serve("127.0.0.1", &m.port, of_server);
    m.channel = connect_by_name(m.port, of_client);
    return m;
}

static void ask_again(meeting *m) {
    ask(m->channel, m->who, &m->err);
}

static void part(meeting *m) {
    grpc->disconnect(m->channel);
    grpc->close(m->server, LEATI_NO_DEADLINE);
}

static void a_name_that_nobody_knows(void **state) {
    (void)state;
    meeting m = meet(NULL, NULL);
    calls_arm(CALL_GETADDRINFO, CALLS_ALWAYS, 1);
    ask_again(&m);
    assert_refused(&m.err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, NAME);
    leati_transport_events events = {0};
    assert_null(grpc->open(m.channel, "Read", "", 0, &events, NULL, &m.err));
    assert_int_equal(m.err.code, LEAT_UNAVAILABLE);
    /* It is looked up again for each call. */
    calls_disarm();
    calls_name_host(NAME, "127.0.0.1");
    ask_again(&m);
    assert_string_equal(m.who, "127.0.0.1");
    /* A channel that was never asked for anything has not looked up anything. */
    calls_arm(CALL_GETADDRINFO, CALLS_ALWAYS, 1);
    grpc->disconnect(connect_by_name(m.port, NULL));
    assert_int_equal(calls_disarm(), 0);
    part(&m);
}

static void a_name_is_looked_up_once(void **state) {
    (void)state;
    calls_name_host(NAME, "127.0.0.1");
    meeting m = meet(NULL, NULL);
    calls_arm(CALL_GETADDRINFO, 1000, 1); /* counts */
    for (int i = 0; i < 20; i++) {
        ask_again(&m);
        assert_string_equal(m.who, "127.0.0.1");
    }
    assert_int_equal(calls_disarm(), 1);
    part(&m);
}

/* As a service of Kubernetes does, whose pod comes back under another address. */
static void a_host_that_moves_is_found(void **state) {
    (void)state;
    calls_name_host(NAME, "127.0.0.1");
    meeting m = meet(NULL, NULL);
    ask_again(&m);
    assert_string_equal(m.who, "127.0.0.1");
    grpc->close(m.server, LEATI_NO_DEADLINE);
    m.server = serve("127.0.0.2", &m.port, NULL);
    ask_again(&m);
    assert_int_equal(m.err.code, LEAT_UNAVAILABLE);
    calls_name_host(NAME, "127.0.0.2");
    int64_t end_ns = leati_clock_deadline_ns(LONG_MS);
    while (strcmp(m.who, "127.0.0.2") != 0 && leati_now_ns() < end_ns)
        ask_again(&m);
    assert_string_equal(m.who, "127.0.0.2");
    part(&m);
}

#ifdef LEATI_HAVE_OPENSSL
/* Its certificate must bear the name, though gRPC is given an address. */
static void certificates_bear_the_name(void **state) {
    (void)state;
    static const struct {
        const char *name, *hosts;
        bool believed;
    } cases[] = {{"named", "DNS:" NAME, true},
                 {"numbered", "IP:127.0.0.1", false},
                 {"other", "DNS:elsewhere.invalid,IP:127.0.0.1", false}};
    authority by = authority_new("the test's authority");
    calls_name_host(NAME, "127.0.0.1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const certificate_wish wish = {.name = cases[i].name, .hosts = cases[i].hosts};
        certificate_files files = certificate_write(scratch_folder, &wish, &by, &by);
        const leati_transport_security of_server = {.tls_cert = files.certificate,
                                                    .tls_key = files.key},
                                       of_client = {.tls_ca = files.authority};
        meeting m = meet(&of_server, &of_client);
        ask_again(&m);
        assert_int_equal(m.err.code, cases[i].believed ? LEAT_OK : LEAT_UNAVAILABLE);
        part(&m);
    }
    authority_free(&by);
}
#endif

static int forget_names(void **state) {
    (void)state;
    calls_disarm();
    calls_name_host(NULL, NULL);
    return 0;
}

int main(void) {
    leat_error err = {0};
    grpc = leati_transport_find("grpc", &err);
    if (grpc == NULL) {
        print_message("left out: %s\n", err.text);
        return err.code == LEAT_UNIMPLEMENTED ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_name_that_nobody_knows, forget_names),
        cmocka_unit_test_teardown(a_name_is_looked_up_once, forget_names),
        cmocka_unit_test_teardown(a_host_that_moves_is_found, forget_names),
#ifdef LEATI_HAVE_OPENSSL
        cmocka_unit_test_teardown(certificates_bear_the_name, forget_names),
#endif
    };
#ifdef LEATI_HAVE_OPENSSL
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
#else
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
