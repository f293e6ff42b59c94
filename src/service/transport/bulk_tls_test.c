/* Streams of tcp with TLS: who believes whom, what either side is told where they do not go
 * together, and that nothing goes in the clear. How streams go is in transport_streams_test. */
#include "support/cmocka.h"

#define TRANSPORT_PROTOCOLS "tcp"
#define TRANSPORT_TESTS(X)
#include "support/transport_suite.h"

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static authority good, other;
/* Signed by `good` but for the last: of this host, of another one, for clients; and a stranger's.
 */
static certificate_files here, elsewhere, client, stranger;

static leati_transport_security security_of(const certificate_files *own, const char *believed) {
    leati_transport_security security = {.tls_ca = believed};
    if (own != NULL) {
        security.tls_cert = own->certificate;
        security.tls_key = own->key;
    }
    return security;
}

/* A server with such files, and a channel to it with others. */
static void meet(fixture *f, leati_transport_security server, leati_transport_security of_client,
                 const char *token) {
    of_servers = server;
    of_clients = of_client;
    serve(f, token);
    f->channel = connect_with(f, token);
}

static void expect_read(leati_transport_security server, leati_transport_security of_client) {
    fixture f;
    meet(&f, server, of_client, "open sesame");
    f.server_seen.echoes = true;
    leati_transport_stream *stream = open_stream(&f, "Read");
    write_text(stream, "hello");
    wait_for(&f.client_seen, &f.client_seen.messages, 1);
    assert_string_equal(f.client_seen.last, "hello");
    leati_transport_stream_close(stream, NULL);
    wait_closed(&f.client_seen, LEAT_OK);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void expect_refused(leati_transport_security server, leati_transport_security of_client,
                           const char *word) {
    fixture f;
    meet(&f, server, of_client, NULL);
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_closed(&f.client_seen, LEAT_PERMISSION_DENIED);
    assert_refused(&f.client_seen.why, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, word);
    assert_int_equal(f.server_seen.opened, 0);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void certificates_that_are_right(void **state) {
    (void)state;
    expect_read(security_of(&here, NULL), security_of(NULL, here.authority));
    expect_read(security_of(&here, NULL), security_of(&client, here.authority));
    expect_read(security_of(&here, here.authority), security_of(&client, here.authority));
}

static void a_worker_of_another_authority(void **state) {
    (void)state;
    expect_refused(security_of(&stranger, NULL), security_of(NULL, here.authority), "certificate");
    expect_refused(security_of(&here, NULL), security_of(NULL, stranger.authority), "tls_ca");
}

static void a_worker_under_another_name(void **state) {
    (void)state;
    expect_refused(security_of(&elsewhere, NULL), security_of(NULL, here.authority), "127.0.0.1");
}

static void a_client_whom_the_worker_does_not_believe(void **state) {
    (void)state;
    const leati_transport_security mutual = security_of(&here, here.authority);
    expect_refused(mutual, security_of(NULL, here.authority), "tls_cert");
    expect_refused(mutual, security_of(&stranger, here.authority), "tls_cert");
}

/* What an address says is compared with the files before anybody is connected to. */
static void expect_no_channel(fixture *f, const leati_transport_security *of_client,
                              const char *word) {
    leat_error err = {0};
    assert_null(protocol->connect(f->address, of_client, &err));
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, word);
    end(f);
}

static void both_sides_do_the_same(void **state) {
    (void)state;
    fixture f;
    const leati_transport_security believes = security_of(NULL, here.authority), none = {0};
    of_servers = security_of(&here, NULL);
    serve(&f, NULL);
    expect_no_channel(&f, &none, "tls_ca");
    of_servers = none;
    serve(&f, NULL);
    expect_no_channel(&f, &believes, "clear");
}

/* The address of a worker with TLS as one without would write it, and the other way round. */
static void turn_over(fixture *f) {
    char text[sizeof f->address];
    char *at = strstr(f->address, "/tls");
    snprintf(text, sizeof text, "%s", f->address);
    if (at != NULL)
        snprintf(at, sizeof f->address - (size_t)(at - f->address), "%s",
                 text + (at - f->address) + 4);
    else
        snprintf(f->address, sizeof f->address, "%.*s/tls%s", (int)strcspn(text, "/"), text,
                 strchr(text, '/'));
}

static void expect_deaf(leati_transport_security server, leati_transport_security of_client) {
    fixture f;
    of_servers = server;
    of_clients = of_client;
    serve(&f, "open sesame");
    turn_over(&f);
    f.channel = connect_with(&f, "open sesame");
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_closed(&f.client_seen, LEAT_FAILED_PRECONDITION);
    assert_refused(&f.client_seen.why, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "TLS");
    assert_int_equal(f.server_seen.opened, 0);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void a_side_that_does_not_speak_tls_is_told(void **state) {
    (void)state;
    const leati_transport_security none = {0};
    expect_deaf(security_of(&here, NULL), none);
    expect_deaf(none, security_of(NULL, here.authority));
}

static void files_go_together(void **state) {
    (void)state;
    const leati_transport_handler handler = {NULL, on_call, on_open};
    static const char address[] = "127.0.0.1:1/tls/00112233445566778899aabbccddeeff";
    leat_error err = {0};
    int port;
    const leati_transport_security half = {.tls_cert = here.certificate},
                                   asks = {.tls_ca = here.authority},
                                   shows = security_of(&client, NULL),
                                   mixed = {.tls_cert = here.certificate, .tls_key = client.key};
    const leati_transport_security *const servers[] = {&half, &asks, &mixed};
    static const char *const words[] = {"tls_cert", "tls_ca", "tls_key"};
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        const leati_transport_listen_options options = {.security = *servers[i]};
        assert_null(protocol->listen(&options, &handler, &port, &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, words[i]);
    }
    assert_null(protocol->connect(address, &half, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "tls_cert");
    assert_null(protocol->connect(address, &shows, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "tls_ca");
}

/* ---- what goes over the wire ---- */

typedef struct tap {
    int listening, port, to;
    char said[1 << 20];
    size_t size;
    pthread_t thread;
} tap;

/* Hands on what one client and the worker say, and keeps it. */
static void *tap_main(void *context) {
    tap *t = context;
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)t->to),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ends[2] = {accept(t->listening, NULL, NULL), socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(connect(ends[1], (const struct sockaddr *)&at, sizeof at), 0);
    for (bool over = false; !over;) {
        struct pollfd what[] = {{.fd = ends[0], .events = POLLIN},
                                {.fd = ends[1], .events = POLLIN}};
        (void)poll(what, 2, -1);
        for (int i = 0; i < 2 && !over; i++) {
            if (what[i].revents == 0)
                continue;
            ssize_t n = read(ends[i], t->said + t->size, sizeof t->said - t->size);
            over = n <= 0 || write(ends[1 - i], t->said + t->size, (size_t)n) != n;
            t->size += n > 0 ? (size_t)n : 0;
        }
    }
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

static void tap_begin(tap *t, int to) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    t->to = to;
    t->size = 0;
    t->listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(t->listening, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(t->listening, 1), 0);
    assert_int_equal(getsockname(t->listening, (struct sockaddr *)&at, &size), 0);
    t->port = ntohs(at.sin_port);
    pthread_create(&t->thread, NULL, tap_main, t);
}

/* What is on the wire when a text is asked for and comes back: the token, or the text? */
static void expect_on_wire(bool secure, bool readable) {
    static tap t;
    fixture f;
    of_servers = secure ? security_of(&here, NULL) : (leati_transport_security){0};
    of_clients = secure ? security_of(NULL, here.authority) : (leati_transport_security){0};
    serve(&f, "open sesame");
    tap_begin(&t, f.port);
    char rest[64]; /* behind host and port */
    snprintf(rest, sizeof rest, "%.*s", (int)sizeof rest - 1, strchr(f.address, '/'));
    snprintf(f.address, sizeof f.address, "127.0.0.1:%d%s", t.port, rest);
    f.channel = connect_with(&f, "open sesame");
    f.server_seen.echoes = true;
    leati_transport_stream *stream = open_stream(&f, "Read");
    write_text(stream, "a picture of a cat");
    wait_for(&f.client_seen, &f.client_seen.messages, 1);
    assert_string_equal(f.client_seen.last, "a picture of a cat");
    leati_transport_stream_close(stream, NULL);
    wait_closed(&f.client_seen, LEAT_OK);
    leati_transport_stream_unref(stream);
    end(&f);
    pthread_join(t.thread, NULL);
    close(t.listening);
    assert_int_equal(memmem(t.said, t.size, "open sesame", 11) != NULL, readable);
    assert_int_equal(memmem(t.said, t.size, "cat", 3) != NULL, readable);
    assert_int_equal(memmem(t.said, t.size, strrchr(rest, '/') + 1, 32) != NULL, readable);
}

static void nothing_can_be_read_on_the_wire(void **state) {
    (void)state;
    expect_on_wire(true, false);
    expect_on_wire(false, true);
}

int main(void) {
    if (scratch_setup(NULL) != 0)
        return 1;
    protocol = leati_transport_find("tcp", &(leat_error){0});
    good = authority_new("good");
    other = authority_new("other");
    const certificate_wish of_here = {.name = "here",
                                      .hosts = CERTIFICATE_HERE,
                                      .usage = "serverAuth"},
                           of_elsewhere = {.name = "elsewhere", .hosts = "IP:10.0.0.9,DNS:a.b"},
                           of_client = {.name = "client", .usage = "clientAuth"},
                           of_stranger = {.name = "stranger", .hosts = CERTIFICATE_HERE};
    here = certificate_write(scratch_folder, &of_here, &good, &good);
    elsewhere = certificate_write(scratch_folder, &of_elsewhere, &good, &good);
    client = certificate_write(scratch_folder, &of_client, &good, &good);
    stranger = certificate_write(scratch_folder, &of_stranger, &other, &other);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_that_are_right),
        cmocka_unit_test(a_worker_of_another_authority),
        cmocka_unit_test(a_worker_under_another_name),
        cmocka_unit_test(a_client_whom_the_worker_does_not_believe),
        cmocka_unit_test(both_sides_do_the_same),
        cmocka_unit_test(a_side_that_does_not_speak_tls_is_told),
        cmocka_unit_test(files_go_together),
        cmocka_unit_test(nothing_can_be_read_on_the_wire),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    authority_free(&good);
    authority_free(&other);
    return scratch_teardown(NULL) != 0 ? 1 : failed;
}

#else

/* Without OpenSSL a worker and its clients refuse the files. */
static void tls_is_refused(void **state) {
    (void)state;
    protocol = leati_transport_find("tcp", &(leat_error){0});
    const leati_transport_listen_options options = {
        .security = {.tls_cert = "a.pem", .tls_key = "b.pem"}};
    const leati_transport_handler handler = {NULL, on_call, on_open};
    leat_error err = {0};
    int port = 0;
    assert_null(protocol->listen(&options, &handler, &port, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "OpenSSL");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tls_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
