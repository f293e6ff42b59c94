/* What only a transport between processes has: peers that are killed or stopped, TLS, addresses,
 * strangers, forks. Processes that serve are forked before gRPC is loaded, since it does not go on
 * in a child. Certificates are made by openssl's tool. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "service/transport/transport.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 60000, NUM_PEERS = 3, FEW_FILES = 256, SILENCE_MS = 1000 };

typedef struct peer {
    pid_t pid;
    int port;
} peer;

static peer peers[NUM_PEERS]; /* to be killed, to be stopped, with few descriptors */
static const leati_transport *grpc;
static bool has_certificates; /* in the scratch folder */

/* ---- serving ---- */

static void on_call(void *context, leati_transport_call *call, const char *method, const char *from,
                    const void *request, size_t size) {
    (void)context;
    if (strcmp(method, "Peer") == 0)
        (void)leati_transport_call_answer(call, from, strlen(from));
    else if (strcmp(method, "Keep") != 0)
        (void)leati_transport_call_answer(call, request, size);
}

static void drop_message(void *context, leat_buffer *message) {
    (void)context;
    leat_buffer_unref(message);
}

static void ignore_end(void *context, const leat_error *why) {
    (void)context;
    (void)why;
}

static leat_status on_open(void *context, leati_transport_stream *stream, const char *method,
                           const char *from, const void *request, size_t size,
                           leati_transport_events *events, void **events_context, leat_error *err) {
    (void)context, (void)method, (void)from, (void)request, (void)size, (void)err;
    *events = (leati_transport_events){.message = drop_message, .closed = ignore_end};
    *events_context = stream;
    return LEAT_OK;
}

static const leati_transport_handler handler = {NULL, on_call, on_open};

static leati_transport_server *serve(const leati_transport_listen_options *options, int *port) {
    leat_error err = {0};
    leati_transport_server *server = grpc->listen(options, &handler, port, &err);
    if (server == NULL)
        fail_msg("%s", err.text);
    return server;
}

static void serve_for_ever(int link, bool few_files) {
    leat_error err = {0};
    const leati_transport_listen_options options = {0};
    const struct rlimit few = {FEW_FILES, FEW_FILES};
    int port = 0;
    if (few_files)
        (void)setrlimit(RLIMIT_NOFILE, &few);
    grpc = leati_transport_find("grpc", &err);
    if (grpc == NULL || grpc->listen(&options, &handler, &port, &err) == NULL)
        port = 0;
    (void)!write(link, &port, sizeof port);
    for (;;)
        pause();
}

static void start_peer(peer *p, bool few_files) {
    int link[2];
    assert_int_equal(pipe(link), 0);
    p->pid = fork();
    if (p->pid == 0)
        serve_for_ever(link[1], few_files);
    close(link[1]);
    if (read(link[0], &p->port, sizeof p->port) != (ssize_t)sizeof p->port)
        p->port = 0;
    close(link[0]);
}

/* ---- asking ---- */

static leati_transport_channel *connect_to(const char *host, int port,
                                           const leati_transport_security *security) {
    char address[128];
    leat_error err = {0};
    snprintf(address, sizeof address, "%s:%d", host, port);
    leati_transport_channel *channel = grpc->connect(address, security, &err);
    if (channel == NULL)
        fail_msg("%s", err.text);
    return channel;
}

static leat_status ask(leati_transport_channel *channel, const char *method, char *text,
                       leat_error *err) {
    leat_buffer *answer = NULL;
    leat_status status = grpc->call(channel, method, "hello", 5, leati_clock_deadline_ns(LONG_MS),
                                    NULL, &answer, err);
    if (status == LEAT_OK && text != NULL)
        snprintf(text, 64, "%.*s", (int)leat_buffer_size(answer),
                 (const char *)leat_buffer_data(answer));
    leat_buffer_unref(answer);
    return status;
}

static leat_status ask_once(const char *host, int port, const leati_transport_security *security,
                            char *text) {
    leat_error err = {0};
    leati_transport_channel *channel = connect_to(host, port, security);
    leat_status status = ask(channel, text != NULL ? "Peer" : "Echo", text, &err);
    grpc->disconnect(channel);
    return status;
}

/* ---- peers that go ---- */

typedef struct ended {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    leat_error why;
} ended;

static void note_end(void *context, const leat_error *why) {
    ended *e = context;
    pthread_mutex_lock(&e->lock);
    e->over = true;
    e->why = *why;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static const leati_transport_events client_events = {.message = drop_message, .closed = note_end};

/* A call and a stream are under way when the peer gets the signal; both end as UNAVAILABLE. */
static void lose(peer *p, int signal_number) {
    leat_error err = {0};
    ended e = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    leati_transport_channel *channel = connect_to("127.0.0.1", p->port, NULL);
    assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    leati_transport_stream *stream = grpc->open(channel, "Read", "x", 1, &client_events, &e, &err);
    assert_non_null(stream);
    assert_int_equal(kill(p->pid, signal_number), 0);
    assert_int_equal(ask(channel, "Keep", NULL, &err), LEAT_UNAVAILABLE);
    pthread_mutex_lock(&e.lock);
    while (!e.over)
        pthread_cond_wait(&e.changed, &e.lock);
    pthread_mutex_unlock(&e.lock);
    assert_int_equal(e.why.code, LEAT_UNAVAILABLE);
    leati_transport_stream_unref(stream);
    grpc->disconnect(channel);
}

static void a_killed_peer_is_unavailable(void **state) {
    (void)state;
    lose(&peers[0], SIGKILL);
}

static void a_stopped_peer_is_unavailable(void **state) {
    (void)state;
    leat_error err = {0};
    leati_transport_tuning tuning = leati_transport_tuned(), before = tuning;
    tuning.silence_ms = SILENCE_MS;
    assert_int_equal(leati_transport_tune(&tuning, &err), LEAT_OK);
    lose(&peers[1], SIGSTOP);
    assert_int_equal(leati_transport_tune(&before, &err), LEAT_OK);
}

static void tunings_are_checked(void **state) {
    (void)state;
    leat_error err = {0};
    leati_transport_tuning tuning = {LEATI_TRANSPORT_TUNING_DEFAULTS};
    tuning.connections = 0;
    assert_int_equal(leati_transport_tune(&tuning, &err), LEAT_INVALID_ARGUMENT);
    tuning.connections = 1;
    tuning.silence_ms = 0;
    assert_int_equal(leati_transport_tune(&tuning, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "silence_ms");
    tuning.silence_ms = SILENCE_MS;
    tuning.chunk_bytes = 1;
    assert_int_equal(leati_transport_tune(&tuning, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "chunk_bytes");
}

/* ---- addresses ---- */

static void addresses_of_all_kinds(void **state) {
    (void)state;
    char text[64] = "";
    int port = 0;
    const leati_transport_listen_options loopback = {0}, all = {.host = "all"},
                                         six = {.host = "::1"};
    leati_transport_server *server = serve(&loopback, &port);
    assert_int_equal(ask_once("127.0.0.1", port, NULL, text), LEAT_OK);
    assert_string_equal(text, "127.0.0.1");
    assert_int_equal(ask_once("localhost", port, NULL, NULL), LEAT_OK);
    grpc->close(server, LEATI_NO_DEADLINE);
    server = serve(&all, &port);
    assert_int_equal(ask_once("127.0.0.1", port, NULL, NULL), LEAT_OK);
    grpc->close(server, LEATI_NO_DEADLINE);
    leat_error err = {0};
    server = grpc->listen(&six, &handler, &port, &err);
    if (server == NULL) {
        print_message("no IPv6 here: %s\n", err.text);
        return;
    }
    assert_int_equal(ask_once("[::1]", port, NULL, text), LEAT_OK);
    assert_string_equal(text, "::1");
    /* On a network of the machine. */
    assert_int_equal(ask_once("[::1%lo]", port, NULL, text), LEAT_OK);
    assert_string_equal(text, "::1");
    grpc->close(server, LEATI_NO_DEADLINE);
}

static void hosts_that_are_not_here(void **state) {
    (void)state;
    leat_error err = {0};
    int port = 0;
    const leati_transport_listen_options other = {.host = "192.0.2.1"};
    assert_null(grpc->listen(&other, &handler, &port, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_NONE, "192.0.2.1");
}

/* ---- strangers ---- */

static int connect_raw(int port) {
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection >= 0 && connect(connection, (const struct sockaddr *)&at, sizeof at) != 0)
        assert_int_equal(errno, EINPROGRESS);
    return connection;
}

/* More connections than the server has descriptors: who is connected goes on, and when they have
 * gone others come in. */
static void idle_connections_do_no_harm(void **state) {
    (void)state;
    enum { IDLE = 1000 };
    static int idle[IDLE];
    leat_error err = {0};
    leati_transport_channel *channel = connect_to("127.0.0.1", peers[2].port, NULL);
    assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    for (int i = 0; i < IDLE; i++)
        idle[i] = connect_raw(peers[2].port);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    for (int i = 0; i < IDLE; i++)
        if (idle[i] >= 0)
            close(idle[i]);
    assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    grpc->disconnect(channel);
    channel = connect_to("127.0.0.1", peers[2].port, NULL);
    while (ask(channel, "Echo", NULL, &err) != LEAT_OK)
        assert_int_equal(err.code, LEAT_UNAVAILABLE);
    grpc->disconnect(channel);
}

/* gRPC would end the process. */
static void without_descriptors_it_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    int port, highest = dup(0);
    struct rlimit before, few;
    const leati_transport_listen_options options = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t left = 0; left < 6; left++) {
        few = (struct rlimit){(rlim_t)highest + left, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        assert_null(grpc->listen(&options, &handler, &port, &err));
        assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "ulimit");
        assert_null(grpc->connect("127.0.0.1:1", NULL, &err));
        assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "ulimit");
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    close(highest);
}

static void garbage_is_no_call(void **state) {
    (void)state;
    static const char *const said[] = {"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                       "\x16\x03\x01"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        int connection = connect_raw(peers[2].port);
        (void)!write(connection, said[i], strlen(said[i]));
        close(connection);
    }
    assert_int_equal(ask_once("127.0.0.1", peers[2].port, NULL, NULL), LEAT_OK);
}

/* ---- TLS ---- */

static char paths[8][600];

static const char *file(int slot, const char *name) {
    snprintf(paths[slot], sizeof paths[slot], "%s/%s", scratch_folder, name);
    return paths[slot];
}

/* An authority, and certificates that it signs for 127.0.0.1; a stranger's authority. */
static bool make_certificates(void) {
    static const char script[] =
        "cd '%s' && exec >/dev/null 2>&1 && for ca in ca other; do openssl req -x509 -newkey "
        "rsa:2048 "
        "-nodes -keyout $ca.key -out $ca.pem -days 2 -subj /CN=$ca || exit 1; done; "
        "printf 'subjectAltName=IP:127.0.0.1,DNS:localhost' >san; for who in server client; do "
        "openssl req -newkey rsa:2048 -nodes -keyout $who.key -out $who.csr -subj /CN=$who && "
        "openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
        "-extfile san -out $who.pem || exit 1; done";
    char command[2000];
    snprintf(command, sizeof command, script, scratch_folder);
    return system(command) == 0;
}

static void tls_with_and_without(void **state) {
    (void)state;
    int secure_port, mutual_port, plain_port;
    if (!has_certificates) {
        print_message("skipped: openssl is not here\n");
        return;
    }
    const leati_transport_security of_server = {.tls_cert = file(0, "server.pem"),
                                                .tls_key = file(1, "server.key")};
    const leati_transport_security mutual = {of_server.token, of_server.tls_cert, of_server.tls_key,
                                             file(2, "ca.pem")};
    const leati_transport_security knows = {.tls_ca = paths[2]};
    const leati_transport_security shows = {NULL, file(3, "client.pem"), file(4, "client.key"),
                                            paths[2]};
    const leati_transport_security believes_other = {.tls_ca = file(5, "other.pem")};
    const leati_transport_listen_options secure_options = {.security = of_server},
                                         mutual_options = {.security = mutual}, plain_options = {0};
    leati_transport_server *secure_server = serve(&secure_options, &secure_port);
    leati_transport_server *mutual_server = serve(&mutual_options, &mutual_port);
    leati_transport_server *plain_server = serve(&plain_options, &plain_port);
    assert_int_equal(ask_once("127.0.0.1", secure_port, &knows, NULL), LEAT_OK);
    assert_int_equal(ask_once("127.0.0.1", secure_port, NULL, NULL), LEAT_UNAVAILABLE);
    assert_int_equal(ask_once("127.0.0.1", secure_port, &believes_other, NULL), LEAT_UNAVAILABLE);
    assert_int_equal(ask_once("127.0.0.1", plain_port, &knows, NULL), LEAT_UNAVAILABLE);
    assert_int_equal(ask_once("127.0.0.1", mutual_port, &knows, NULL), LEAT_UNAVAILABLE);
    assert_int_equal(ask_once("127.0.0.1", mutual_port, &shows, NULL), LEAT_OK);
    leat_error err = {0};
    const leati_transport_listen_options mixed = {.security = {NULL, paths[0], paths[4], NULL}};
    assert_null(grpc->listen(&mixed, &handler, &plain_port, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "key");
    grpc->close(secure_server, LEATI_NO_DEADLINE);
    grpc->close(mutual_server, LEATI_NO_DEADLINE);
    grpc->close(plain_server, LEATI_NO_DEADLINE);
}

static void files_of_keys_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    int port;
    const leati_transport_security none = {.tls_ca = "no/such/ca.pem"},
                                   half = {.tls_cert = "a.pem"},
                                   alone = {.tls_cert = __FILE__, .tls_key = __FILE__};
    const leati_transport_listen_options options = {.security = alone};
    assert_null(grpc->connect("localhost:1", &none, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_string_equal(err.file, "no/such/ca.pem");
    assert_null(grpc->connect("localhost:1", &half, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(grpc->listen(&options, &handler, &port, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* ---- forks ---- */

static int in_child(leati_transport_channel *channel, leati_transport_stream *stream) {
    leat_error err = {0};
    const leati_transport_part part = {"x", 1, NULL};
    if (leati_transport_find("grpc", &err) != NULL || err.code != LEAT_FAILED_PRECONDITION)
        return 1;
    if (ask(channel, "Echo", NULL, &err) != LEAT_FAILED_PRECONDITION)
        return 2;
    if (leati_transport_stream_write(stream, &part, 1, NULL, &err) != LEAT_FAILED_PRECONDITION)
        return 3;
    leati_transport_stream_unref(stream);
    grpc->disconnect(channel);
    return leati_transport_find("local", &err) != NULL ? 0 : 4;
}

static void a_child_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    int port, status;
    ended e = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    const leati_transport_listen_options options = {0};
    leati_transport_server *server = serve(&options, &port);
    leati_transport_channel *channel = connect_to("127.0.0.1", port, NULL);
    leati_transport_stream *stream = grpc->open(channel, "Read", "x", 1, &client_events, &e, &err);
    assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(channel, stream));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(ask(channel, "Echo", NULL, &err), LEAT_OK);
    leati_transport_stream_unref(stream);
    grpc->disconnect(channel);
    grpc->close(server, LEATI_NO_DEADLINE);
}

static int end_peers(void **state) {
    (void)state;
    for (int i = 0; i < NUM_PEERS; i++) {
        kill(peers[i].pid, SIGKILL);
        (void)waitpid(peers[i].pid, NULL, 0);
    }
    return 0;
}

int main(void) {
    leat_error err = {0};
    for (int i = 0; i < NUM_PEERS; i++)
        start_peer(&peers[i], i == 2);
    grpc = leati_transport_find("grpc", &err);
    if (grpc == NULL) {
        print_message("left out: %s\n", err.text);
        (void)end_peers(NULL);
        return err.code == LEAT_UNIMPLEMENTED ? 0 : 1;
    }
    if (scratch_setup(NULL) != 0)
        return 1;
    has_certificates = make_certificates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_peer_is_unavailable),
        cmocka_unit_test(a_stopped_peer_is_unavailable),
        cmocka_unit_test(tunings_are_checked),
        cmocka_unit_test(addresses_of_all_kinds),
        cmocka_unit_test(hosts_that_are_not_here),
        cmocka_unit_test(garbage_is_no_call),
        cmocka_unit_test(idle_connections_do_no_harm),
        cmocka_unit_test(without_descriptors_it_is_refused),
        cmocka_unit_test(tls_with_and_without),
        cmocka_unit_test(files_of_keys_are_named),
        cmocka_unit_test(a_child_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, end_peers);
    return scratch_teardown(NULL) != 0 ? 1 : failed;
}
