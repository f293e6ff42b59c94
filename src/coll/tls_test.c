/* TLS between two processes of a job: what files are refused, who believes whom, and what comes
 * through. Both sides are this thread's; certificates are made by the test. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "coll/tls.h"
#include "support/refused.h"

/* Whatever begins like a record, and no message of the store does. */
static void test_first_bytes(void **state) {
    (void)state;
    assert_true(leati_tls_is_record("\x16\x03\x01", 3));
    assert_true(leati_tls_is_record("\x15", 1));
    assert_false(leati_tls_is_record("\x16\x01", 2));
    assert_false(leati_tls_is_record("GET", 3));
    assert_false(leati_tls_is_record("", 0));
    assert_true(leati_tls_is_hello("\x16\x03\x01 and then \x08leat-job", 22));
    assert_false(leati_tls_is_hello("\x16\x03\x01 and then \x08leat-jo", 21));
    assert_false(leati_tls_is_hello("\x15\x03\x01 and then \x08leat-job", 22));
}

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"
#include "support/torture.h"

#include "support/certificates.h"
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

enum { LONG_MS = 60000, MANY = 300000 };

static authority good, other;

static certificate_files files_of(const certificate_wish *wish, const authority *by) {
    return certificate_write(scratch_folder, wish, by, &good);
}

static certificate_files member_files(void) {
    return files_of(&(certificate_wish){.name = "member", .hosts = CERTIFICATE_HERE}, &good);
}

// ---- files ----

static void expect_refused(const leati_tls_files *paths, const char *word, const char *path) {
    leat_error err = {0};
    leati_tls_context *context = leati_tls_context_new(paths, &err);
    assert_null(context);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, word);
    assert_true(refused_names(leat_error_message(&err), path));
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_unreadable(void **state) {
    (void)state;
    certificate_files files = member_files();
    leati_tls_files paths = certificate_paths(&files);
    const char *empty = scratch_path("empty"), *text = scratch_path("text");
    write_file(empty, "");
    write_file(text, "no PEM\n");
    static const char *const words[] = {"LEAT_TLS_CERT", "LEAT_TLS_KEY", "LEAT_TLS_CA"};
    for (int i = 0; i < 3; i++) {
        const char *bad[] = {scratch_path("absent"), empty, text};
        for (int b = 0; b < 3; b++) {
            leati_tls_files some = paths;
            const char **at = i == 0 ? &some.certificate : i == 1 ? &some.key : &some.authority;
            *at = bad[b];
            expect_refused(&some, words[i], bad[b]);
        }
    }
}

/* Another's key, and one with a pass phrase, which nobody is asked for. */
static void test_keys(void **state) {
    (void)state;
    certificate_files files = member_files();
    certificate_files others = files_of(&(certificate_wish){.name = "neighbour"}, &good);
    leati_tls_files paths = certificate_paths(&files);
    paths.key = others.key;
    expect_refused(&paths, "mismatch", others.key);
    FILE *file = fopen(others.key, "w");
    assert_non_null(file);
    char phrase[] = "a phrase";
    assert_int_equal(PEM_write_PrivateKey(file, good.key, EVP_aes_128_cbc(),
                                          (unsigned char *)phrase, sizeof phrase - 1, NULL, NULL),
                     1);
    fclose(file);
    expect_refused(&paths, "LEAT_TLS_KEY", others.key);
    expect_refused(&paths, "phrase", others.key);
}

/* What others would refuse is refused before anybody is connected to. */
static void test_own_certificate(void **state) {
    (void)state;
    struct {
        certificate_wish wish;
        const authority *by;
        const char *word;
    } cases[] = {
        {{.name = "expired", .from_seconds = -7200, .seconds = 3600}, &good, "expired"},
        {{.name = "early", .from_seconds = 3600, .seconds = 3600}, &good, "yet"},
        {{.name = "foreign"}, &other, "issuer"},
        {{.name = "half", .usage = "serverAuth"}, &good, "purpose"},
        {{.name = "other-half", .usage = "clientAuth"}, &good, "purpose"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        certificate_files files = files_of(&cases[i].wish, cases[i].by);
        leati_tls_files paths = certificate_paths(&files);
        expect_refused(&paths, cases[i].word, files.certificate);
    }
    certificate_files files =
        files_of(&(certificate_wish){.name = "both", .usage = "serverAuth,clientAuth"}, &good);
    leati_tls_context_free(certificate_context(&files, NULL));
}

// ---- handshakes ----

typedef struct end {
    leati_tls_context *context;
    leati_tls *tls;
    int socket;
    leati_tls_step step;
    leat_error err;
} end;

static end end_of(const certificate_files *files, const char *name, leati_tls_side side,
                  const char *host, int socket) {
    end e = {
        .context = certificate_context(files, name), .socket = socket, .step = LEATI_TLS_READS};
    e.tls = leati_tls_new(e.context, socket, side, host, &e.err);
    assert_non_null(e.tls);
    return e;
}

static void end_free(end *e) {
    leati_tls_free(e->tls);
    leati_tls_context_free(e->context);
    close(e->socket);
}

static bool goes_on(leati_tls_step step) {
    return step == LEATI_TLS_READS || step == LEATI_TLS_WRITES;
}

/* Until neither side can go on. */
static void shake(end *client, end *server) {
    for (int turn = 0; turn < 100 && (goes_on(client->step) || goes_on(server->step)); turn++) {
        end *both[] = {client, server};
        for (int i = 0; i < 2; i++)
            if (goes_on(both[i]->step))
                both[i]->step = leati_tls_shake(both[i]->tls, &both[i]->err);
        /* A side that failed closes its connection. */
        for (int i = 0; i < 2; i++)
            if (both[i]->step == LEATI_TLS_FAILED)
                (void)shutdown(both[i]->socket, SHUT_WR);
    }
}

typedef struct pair {
    end client, server;
} pair;

/* A client that believes what `client` says connects to `host`, where `server` listens. */
static pair meet(const certificate_files *client, const certificate_files *server, const char *host,
                 const char *name) {
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pair p;
    p.client = end_of(client, name, LEATI_TLS_CLIENT, host, sockets[0]);
    p.server = end_of(server, name, LEATI_TLS_SERVER, "10.0.0.9", sockets[1]);
    shake(&p.client, &p.server);
    return p;
}

static void pair_free(pair *p) {
    end_free(&p->client);
    end_free(&p->server);
}

static void move(end *from, end *to, size_t most) {
    static uint8_t sent[MANY], got[MANY];
    size_t out = 0, in = 0;
    leat_error err = {0};
    for (size_t i = 0; i < MANY; i++)
        sent[i] = (uint8_t)(i * 7 + i / 251);
    memset(got, 0, sizeof got);
    while (in < MANY) {
        size_t some = MANY - out < most ? MANY - out : most;
        ptrdiff_t moved = out < MANY ? leati_tls_write(from->tls, sent + out, some, &err) : 0;
        assert_true(moved >= 0);
        out += (size_t)moved;
        moved = leati_tls_read(to->tls, got + in, MANY - in < most ? MANY - in : most, &err);
        assert_true(moved >= 0);
        in += (size_t)moved;
    }
    assert_memory_equal(sent, got, MANY);
    assert_false(leati_tls_pending(to->tls));
    assert_int_equal(leati_tls_read(to->tls, got, 1, &err), 0);
}

static void test_good(void **state) {
    (void)state;
    static const char *const hosts[] = {"localhost", "127.0.0.1", "::1"};
    certificate_files files = member_files();
    for (int i = 0; i < 3; i++) {
        pair p = meet(&files, &files, hosts[i], NULL);
        if (p.client.step != LEATI_TLS_DONE || p.server.step != LEATI_TLS_DONE)
            fail_msg("client: %s, server: %s", p.client.err.text, p.server.err.text);
        move(&p.client, &p.server, 1000);
        move(&p.server, &p.client, MANY);
        uint8_t found[LEATI_TLS_FINGERPRINT];
        assert_int_equal(leati_tls_peer(p.client.tls, found, &p.client.err), LEAT_OK);
        assert_memory_equal(found, leati_tls_context_fingerprint(p.server.context), sizeof found);
        assert_int_equal(leati_tls_peer(p.server.tls, found, &p.server.err), LEAT_OK);
        assert_memory_equal(found, leati_tls_context_fingerprint(p.client.context), sizeof found);
        /* The end of a connection is one, however it comes. */
        (void)shutdown(p.client.socket, SHUT_WR);
        assert_int_equal(leati_tls_read(p.server.tls, found, 1, &p.server.err), -1);
        assert_refused(&p.server.err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "closed");
        assert_int_equal(leati_tls_write(p.client.tls, found, 1, &p.client.err), -1);
        assert_refused(&p.client.err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "closed");
        pair_free(&p);
    }
}

static void test_bulk(void **state) {
    (void)state;
    int sockets[2];
    certificate_files files = member_files();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pair p;
    p.client = end_of(&files, NULL, LEATI_TLS_CLIENT_OF_KNOWN, "nowhere", sockets[0]);
    p.server = end_of(&files, NULL, LEATI_TLS_SERVER, "10.0.0.9", sockets[1]);
    leati_tls_expect_bulk(p.client.tls);
    leati_tls_expect_bulk(p.server.tls);
    shake(&p.client, &p.server);
    assert_int_equal(p.client.step, LEATI_TLS_DONE);
    move(&p.client, &p.server, MANY);
    move(&p.server, &p.client, 10);
    pair_free(&p);
}

/* The host of the address, or the name that the whole job has. */
static void test_names(void **state) {
    (void)state;
    certificate_files shared =
        files_of(&(certificate_wish){.name = "shared", .hosts = "DNS:our.job"}, &good);
    struct {
        const char *host, *name;
        bool good;
    } cases[] = {{"our.job", NULL, true},
                 {"10.1.2.3", NULL, false},
                 {"other.job", NULL, false},
                 {"10.1.2.3", "our.job", true},
                 {"our.job", "other.job", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pair p = meet(&shared, &shared, cases[i].host, cases[i].name);
        assert_int_equal(p.client.step, cases[i].good ? LEATI_TLS_DONE : LEATI_TLS_FAILED);
        if (!cases[i].good) {
            assert_refused(&p.client.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "mismatch");
            assert_true(refused_names(leat_error_message(&p.client.err), "LEAT_TLS_NAME"));
            assert_int_equal(p.server.step, LEATI_TLS_FAILED);
        }
        pair_free(&p);
    }
}

/* Another authority's: each side refuses the other, and the client knows which of both did. */
static void test_other_authority(void **state) {
    (void)state;
    certificate_files files = member_files();
    certificate_files theirs = certificate_write(
        scratch_folder, &(certificate_wish){.name = "theirs", .hosts = CERTIFICATE_HERE}, &other,
        &other);
    pair p = meet(&theirs, &files, "localhost", NULL);
    assert_refused(&p.client.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "LEAT_TLS_CA");
    assert_true(refused_names(leat_error_message(&p.client.err), theirs.authority));
    assert_int_equal(p.server.step, LEATI_TLS_FAILED);
    pair_free(&p);
    /* A client that believes both. */
    char both[600];
    FILE *file = certificate_file(scratch_folder, "both-authorities", "ca", both);
    assert_int_equal(PEM_write_X509(file, other.certificate), 1);
    assert_int_equal(PEM_write_X509(file, good.certificate), 1);
    fclose(file);
    memcpy(theirs.authority, both, sizeof both);
    p = meet(&theirs, &files, "localhost", NULL);
    assert_refused(&p.server.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "10.0.0.9");
    assert_int_equal(p.client.step, LEATI_TLS_FAILED);
    assert_refused(&p.client.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, "unknown");
    assert_true(refused_names(leat_error_message(&p.client.err), "LEAT_TLS_CERT"));
    pair_free(&p);
}

// ---- strangers ----

/* A server of ours, and whatever is at the other end. */
static end serve(const certificate_files *files, int *stranger) {
    int sockets[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    *stranger = sockets[0];
    return end_of(files, NULL, LEATI_TLS_SERVER, "10.0.0.9", sockets[1]);
}

/* A client of bare OpenSSL, with these files or none. */
static void meet_bare(const certificate_wish *wish, const char *protocol, int version,
                      const char *word) {
    int stranger;
    certificate_files files = member_files();
    end server = serve(&files, &stranger);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (version != 0)
        SSL_CTX_set_max_proto_version(context, version);
    if (wish != NULL) {
        certificate_files own = files_of(wish, &good);
        assert_int_equal(SSL_CTX_use_certificate_chain_file(context, own.certificate), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey_file(context, own.key, SSL_FILETYPE_PEM), 1);
    }
    SSL *client = SSL_new(context);
    if (protocol != NULL)
        SSL_set_alpn_protos(client, (const unsigned char *)protocol, (unsigned)strlen(protocol));
    SSL_set_fd(client, stranger);
    assert_int_equal(fcntl(stranger, F_SETFL, O_NONBLOCK), 0);
    for (int turn = 0; turn < 20 && goes_on(server.step); turn++) {
        (void)SSL_connect(client);
        server.step = leati_tls_shake(server.tls, &server.err);
    }
    assert_int_equal(server.step, LEATI_TLS_FAILED);
    assert_refused(&server.err, LEAT_PERMISSION_DENIED, LEAT_REASON_NONE, word);
    uint8_t spoken[LEATI_TLS_SPOKEN];
    assert_int_equal(leati_tls_spoken(server.tls, spoken), 0);
    ERR_clear_error();
    SSL_free(client);
    SSL_CTX_free(context);
    close(stranger);
    end_free(&server);
}

static void test_bare_clients(void **state) {
    (void)state;
    static const char ours[] = "\x08leat-job";
    const certificate_wish expired = {.name = "late", .from_seconds = -7200, .seconds = 3600};
    const certificate_wish fine = {.name = "fine"};
    const certificate_wish server = {.name = "server", .usage = "serverAuth"};
    meet_bare(NULL, ours, 0, "shown");
    meet_bare(&expired, ours, 0, "expired");
    meet_bare(&server, ours, 0, "purpose");
    meet_bare(&fine, ours, TLS1_2_VERSION, "unsupported");
    meet_bare(&fine, "\x08http/1.1", 0, "10.0.0.9");
    meet_bare(&fine, NULL, 0, "leat");
}

/* What is not TLS is kept, and answered by nobody here. */
static void test_plain_clients(void **state) {
    (void)state;
    static const char *const said[] = {"GET / HTTP/1.1\r\n\r\n", "\x16\x01 a greeting's size",
                                       "\x15\x03\x01\x00\x02\x02\x28"};
    certificate_files files = member_files();
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        int stranger;
        uint8_t spoken[LEATI_TLS_SPOKEN];
        end server = serve(&files, &stranger);
        assert_int_equal(leati_tls_shake(server.tls, &server.err), LEATI_TLS_READS);
        size_t size = i == 2 ? 7 : strlen(said[i]);
        for (size_t at = 0; at < size && server.step != LEATI_TLS_FAILED; at++) {
            assert_int_equal(send(stranger, said[i] + at, 1, 0), 1);
            server.step = leati_tls_shake(server.tls, &server.err);
        }
        assert_int_equal(server.step, LEATI_TLS_FAILED);
        assert_refused(&server.err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "TLS");
        size_t kept = leati_tls_spoken(server.tls, spoken);
        assert_true(kept > 0);
        assert_memory_equal(spoken, said[i], kept);
        char one;
        assert_int_equal(recv(stranger, &one, 1, MSG_DONTWAIT), -1);
        close(stranger);
        end_free(&server);
    }
}

/* A client that is answered in the clear, not at all, or half. */
static void test_bad_servers(void **state) {
    (void)state;
    certificate_files files = member_files();
    for (int i = 0; i < 3; i++) {
        int sockets[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
        end client = end_of(&files, NULL, LEATI_TLS_CLIENT, "localhost", sockets[0]);
        if (i == 0)
            assert_int_equal(send(sockets[1], "\x40\0\0\0\x0a\0\0\0", 8, 0), 8);
        if (i == 1)
            (void)shutdown(sockets[1], SHUT_RDWR);
        int64_t end_ns = leati_now_ns() + (i == 2 ? 1000000 : LONG_MS * INT64_C(1000000));
        leat_status status = leati_tls_finish(client.tls, end_ns, &client.err);
        assert_int_equal(status, i == 0   ? LEAT_FAILED_PRECONDITION
                                 : i == 1 ? LEAT_UNAVAILABLE
                                          : LEAT_DEADLINE_EXCEEDED);
        assert_true(refused_names(leat_error_message(&client.err), "localhost"));
        close(sockets[1]);
        end_free(&client);
    }
}

/* A byte that changes on its way ends the connection, and is not read. */
static void test_tampering(void **state) {
    (void)state;
    int sockets[2], far[2];
    char bytes[1000], got[10];
    certificate_files files = member_files();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, far), 0);
    pair p;
    p.client = end_of(&files, NULL, LEATI_TLS_CLIENT, "localhost", sockets[0]);
    p.server = end_of(&files, NULL, LEATI_TLS_SERVER, "10.0.0.9", far[1]);
    for (int turn = 0; turn < 20; turn++) {
        p.client.step = leati_tls_shake(p.client.tls, &p.client.err);
        p.server.step = leati_tls_shake(p.server.tls, &p.server.err);
        for (int i = 0; i < 2; i++) {
            ssize_t size = recv(i == 0 ? sockets[1] : far[0], bytes, sizeof bytes, MSG_DONTWAIT);
            if (size > 0)
                assert_int_equal(send(i == 0 ? far[0] : sockets[1], bytes, (size_t)size, 0), size);
        }
    }
    assert_int_equal(p.client.step, LEATI_TLS_DONE);
    assert_int_equal(p.server.step, LEATI_TLS_DONE);
    assert_int_equal(leati_tls_write(p.client.tls, "a gradient", 10, &p.client.err), 10);
    ssize_t size = recv(sockets[1], bytes, sizeof bytes, MSG_DONTWAIT);
    assert_true(size > 10);
    assert_null(memmem(bytes, (size_t)size, "gradient", 8));
    bytes[size - 1] ^= 1;
    assert_int_equal(send(far[0], bytes, (size_t)size, 0), size);
    assert_int_equal(leati_tls_read(p.server.tls, got, sizeof got, &p.server.err), -1);
    assert_refused(&p.server.err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "TLS");
    close(sockets[1]);
    close(far[0]);
    pair_free(&p);
}

// ---- memory ----

static leat_status build(void *context, leat_error *err) {
    const leati_tls_files *paths = context;
    leati_tls_context *made = leati_tls_context_new(paths, err);
    if (made == NULL)
        return torture_code(err);
    leati_tls *tls = leati_tls_new(made, -1, LEATI_TLS_CLIENT, "localhost", err);
    leat_status status = tls == NULL ? torture_code(err) : LEAT_OK;
    leati_tls_free(tls);
    leati_tls_context_free(made);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    certificate_files files = member_files();
    leati_tls_files paths = certificate_paths(&files);
    paths.name = "our.job";
    torture_begin();
    torture_run(build, &paths);
    torture_end();
}

static int set_up(void **state) {
    good = authority_new("the job's authority");
    other = authority_new("another authority");
    return scratch_setup(state);
}

static int tear_down(void **state) {
    authority_free(&good);
    authority_free(&other);
    return scratch_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_bytes),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_own_certificate),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bulk),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_other_authority),
        cmocka_unit_test(test_bare_clients),
        cmocka_unit_test(test_plain_clients),
        cmocka_unit_test(test_bad_servers),
        cmocka_unit_test(test_tampering),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
#else
/* Whoever asks for TLS is told that this build has none. */
static void test_absent(void **state) {
    (void)state;
    leat_error err = {0};
    const leati_tls_files paths = {.certificate = "a", .key = "b", .authority = "c"};
    assert_null(leati_tls_context_new(&paths, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "OpenSSL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_bytes),
        cmocka_unit_test(test_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
