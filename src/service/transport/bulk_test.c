/* Streams by shared memory and by TCP, beyond what every protocol does (transport_streams_test):
 * what is copied, who is let in, what outlives what. */
#include "support/cmocka.h"

#define TRANSPORT_PROTOCOLS "shm"
#define TRANSPORT_TESTS(X)
#include "support/transport_suite.h"

#include "core/buffer.h"
#include "core/shared_memory.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES = 64 };

/* ---- a client that keeps pieces ---- */

typedef struct keeper {
    seen seen;
    leat_buffer *kept[PIECES];
    int num_kept;
} keeper;

static void on_pieces(void *context, leat_buffer *rest, const leati_transport_piece *pieces,
                      int num_pieces) {
    keeper *k = context;
    leat_buffer_unref(rest);
    pthread_mutex_lock(&k->seen.lock);
    for (int i = 0; i < num_pieces; i++)
        if (k->num_kept < PIECES)
            k->kept[k->num_kept++] = pieces[i].bytes;
        else
            leat_buffer_unref(pieces[i].bytes);
    k->seen.messages++;
    pthread_cond_broadcast(&k->seen.changed);
    pthread_mutex_unlock(&k->seen.lock);
}

static const leati_transport_events keeps = {
    .message = on_message, .closed = on_closed, .pieces = on_pieces};

static void drop_kept(keeper *k) {
    for (int i = 0; i < k->num_kept; i++)
        leat_buffer_unref(k->kept[i]);
    k->num_kept = 0;
}

static leati_transport_stream *open_keeper(fixture *f, keeper *k) {
    leat_error err = {0};
    memset(k, 0, sizeof *k);
    seen_init(&k->seen);
    leati_transport_stream *stream = protocol->open(f->channel, "Read", "t", 1, &keeps, k, &err);
    assert_non_null(stream);
    wait_for(&f->server_seen, &f->server_seen.opened, 1);
    return stream;
}

static void give(fixture *f, leat_buffer *buffer) {
    const leati_transport_part part = {leat_buffer_data(buffer), leat_buffer_size(buffer), buffer};
    leat_error err = {0};
    if (leati_transport_stream_write(f->server_seen.stream, &part, 1, NULL, &err) != LEAT_OK)
        fail_msg("%s", err.text);
}

static leat_buffer *filled(size_t size, int value) {
    leat_buffer *buffer = leat_buffer_new(size, &(leat_error){0});
    assert_non_null(buffer);
    memset(leat_buffer_data(buffer), value, size);
    return buffer;
}

static void finish(fixture *f, keeper *k, leati_transport_stream *stream) {
    leati_transport_stream_close(stream, NULL);
    wait_for(&k->seen, &k->seen.closed, 1);
    leati_transport_stream_unref(stream);
    drop_kept(k);
    end(f);
    seen_fini(&k->seen);
    assert_int_equal(leati_shared_memory_bytes(), 0);
}

/* The worker's reference alone is left: the client's release has come. */
static void wait_released(const leat_buffer *buffer) {
    while (!leati_buffer_sole_owner(buffer))
        sched_yield();
}

/* ---- what is copied ---- */

static void shared_values_are_not_copied(void **state) {
    (void)state;
    fixture f;
    keeper k;
    begin(&f);
    leati_transport_stream *stream = open_keeper(&f, &k);
    leat_buffer *buffer = filled(MB, 3);
    int64_t before = leati_transport_bytes_copied();
    for (int i = 0; i < 40; i++)
        give(&f, buffer);
    wait_for(&k.seen, &k.seen.messages, 40);
    assert_int_equal(k.num_kept, 40);
    assert_int_equal(leati_transport_bytes_copied() - before, 0);
    for (int i = 0; i < 40; i++) {
        const char *bytes = leat_buffer_data(k.kept[i]);
        assert_int_equal(leat_buffer_size(k.kept[i]), MB);
        assert_false(leati_buffer_sole_owner(k.kept[i])); /* nobody writes there */
        assert_true(bytes[0] == 3 && bytes[MB - 1] == 3);
    }
    /* Another mapping of the same memory. */
    assert_ptr_not_equal(leat_buffer_data(k.kept[0]), leat_buffer_data(buffer));
    *(char *)leat_buffer_data(buffer) = 4;
    assert_int_equal(*(const char *)leat_buffer_data(k.kept[0]), 4);
    drop_kept(&k);
    leati_transport_stream_close(stream, NULL);
    wait_released(buffer);
    leat_buffer_unref(buffer);
    finish(&f, &k, stream);
}

static void other_values_are_copied_once(void **state) {
    (void)state;
    fixture f;
    keeper k;
    leat_buffer *elsewhere = filled(MB, 5);
    begin(&f);
    leati_transport_stream *stream = open_keeper(&f, &k);
    int64_t before = leati_transport_bytes_copied();
    for (int i = 0; i < 10; i++)
        give(&f, elsewhere);
    wait_for(&k.seen, &k.seen.messages, 10);
    assert_int_equal(leati_transport_bytes_copied() - before, 10 * MB);
    assert_int_equal(k.num_kept, 10);
    assert_int_equal(*(const char *)leat_buffer_data(k.kept[9]), 5);
    leat_buffer_unref(elsewhere);
    finish(&f, &k, stream);
}

static void a_client_that_keeps_much_gets_the_rest_by_the_socket(void **state) {
    (void)state;
    fixture f;
    keeper k;
    begin(&f);
    leati_transport_stream *stream = open_keeper(&f, &k);
    leat_buffer *buffer = filled(16 * MB, 6);
    for (int i = 0; i < 18; i++) /* 256 MiB are held, 32 MiB more are sent */
        give(&f, buffer);
    wait_for(&k.seen, &k.seen.messages, 18);
    assert_int_equal(k.num_kept, 16);
    assert_int_equal(k.seen.bytes, 32 * MB);
    leat_buffer_unref(buffer);
    finish(&f, &k, stream);
}

/* ---- what outlives what ---- */

static void pieces_outlive_everything(void **state) {
    (void)state;
    fixture f;
    keeper k;
    begin(&f);
    leati_transport_stream *stream = open_keeper(&f, &k);
    leat_buffer *buffer = filled(MB, 7);
    give(&f, buffer);
    wait_for(&k.seen, &k.seen.messages, 1);
    leat_buffer_unref(buffer);
    leati_transport_stream_close(stream, NULL);
    wait_for(&k.seen, &k.seen.closed, 1);
    leati_transport_stream_unref(stream);
    protocol->disconnect(f.channel);
    f.channel = NULL;
    wait_for(&f.server_seen, &f.server_seen.closed, 1);
    /* The worker goes on, and does not write there. */
    leat_buffer *others[PIECES];
    for (int i = 0; i < PIECES; i++)
        others[i] = filled(MB, 8);
    assert_int_equal(*(const char *)leat_buffer_data(k.kept[0]), 7);
    for (int i = 0; i < PIECES; i++)
        leat_buffer_unref(others[i]);
    protocol->close(f.server, leati_clock_deadline_ns(LONG_MS));
    f.server = NULL;
    assert_int_equal(leati_shared_memory_bytes(), 0);
    assert_int_equal(*((const char *)leat_buffer_data(k.kept[0]) + MB - 1), 7);
    drop_kept(&k);
    end(&f);
    seen_fini(&k.seen);
}

static int num_descriptors(void) {
    int n = 0;
    for (int i = 0; i < 1024; i++)
        n += fcntl(i, F_GETFD) >= 0;
    return n;
}

/* A child that reads by `address` and keeps a piece, and is killed with it. */
static void read_until_killed(int from) {
    fixture f = {0};
    keeper k;
    char said = 'r';
    if (read(from, f.address, sizeof f.address) != (ssize_t)sizeof f.address)
        _exit(1);
    seen_init(&f.client_seen);
    f.channel = connect_with(&f, NULL);
    memset(&k, 0, sizeof k);
    seen_init(&k.seen);
    if (protocol->open(f.channel, "Read", "t", 1, &keeps, &k, &(leat_error){0}) == NULL)
        _exit(2);
    wait_for(&k.seen, &k.seen.messages, 1);
    if (write(from, &said, 1) != 1)
        _exit(3);
    for (;;)
        pause();
}

static void a_killed_client_leaves_nothing(void **state) {
    (void)state;
    fixture f;
    int links[2];
    char said = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links), 0);
    pid_t child = fork();
    if (child == 0)
        read_until_killed(links[1]);
    int before = num_descriptors();
    serve(&f, NULL);
    assert_int_equal(write(links[0], f.address, sizeof f.address), sizeof f.address);
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    leat_buffer *buffer = filled(MB, 9);
    give(&f, buffer);
    assert_int_equal(read(links[0], &said, 1), 1);
    assert_false(leati_buffer_sole_owner(buffer));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    wait_closed(&f.server_seen, LEAT_UNAVAILABLE);
    wait_released(buffer);
    leat_buffer_unref(buffer);
    end(&f);
    assert_int_equal(leati_shared_memory_bytes(), 0);
    assert_int_equal(num_descriptors(), before);
    close(links[0]);
    close(links[1]);
}

/* A child that serves, sends one piece, and is killed. */
static void serve_until_killed(int from) {
    fixture f;
    serve(&f, NULL);
    if (write(from, f.address, sizeof f.address) != (ssize_t)sizeof f.address)
        _exit(1);
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    give(&f, filled(MB, 10));
    for (;;)
        pause();
}

static void a_killed_worker_leaves_its_pieces(void **state) {
    (void)state;
    fixture f = {0};
    keeper k;
    int links[2], before = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links), 0);
    pid_t child = fork();
    if (child == 0)
        serve_until_killed(links[1]);
    before = num_descriptors();
    assert_int_equal(read(links[0], f.address, sizeof f.address), sizeof f.address);
    f.channel = connect_with(&f, NULL);
    memset(&k, 0, sizeof k);
    seen_init(&k.seen);
    leati_transport_stream *stream =
        protocol->open(f.channel, "Read", "t", 1, &keeps, &k, &(leat_error){0});
    wait_for(&k.seen, &k.seen.messages, 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    wait_closed(&k.seen, LEAT_UNAVAILABLE);
    assert_int_equal(*((const char *)leat_buffer_data(k.kept[0]) + MB - 1), 10);
    leati_transport_stream_unref(stream);
    protocol->disconnect(f.channel);
    drop_kept(&k);
    assert_int_equal(num_descriptors(), before);
    seen_fini(&k.seen);
    close(links[0]);
    close(links[1]);
}

/* ---- who is let in ---- */

static void expect_closed(fixture *f, const char *address, const char *token, leat_status code) {
    const leati_transport_security security = {.token = token};
    seen s;
    seen_init(&s);
    leati_transport_channel *channel = protocol->connect(address, &security, &(leat_error){0});
    assert_non_null(channel);
    leati_transport_stream *stream =
        protocol->open(channel, "Read", "t", 1, &events, &s, &(leat_error){0});
    wait_closed(&s, code);
    assert_int_equal(f->server_seen.opened, 0);
    leati_transport_stream_unref(stream);
    protocol->disconnect(channel);
    seen_fini(&s);
}

static void strangers_are_refused(void **state) {
    (void)state;
    fixture f;
    char other[128];
    leat_error err = {0};
    serve(&f, "open sesame");
    expect_closed(&f, f.address, "sesame", LEAT_UNAUTHENTICATED);
    expect_closed(&f, f.address, NULL, LEAT_UNAUTHENTICATED);
    memcpy(other, f.address, sizeof other);
    char *last = other + strlen(other) - 1;
    *last = *last == '0' ? '1' : '0';
    expect_closed(&f, other, "open sesame", LEAT_UNAVAILABLE); /* a worker of another secret */
    memcpy(other, f.address, sizeof other);
    char *name = strchr(other, '.') + 1;
    *name = *name == '0' ? '1' : '0';
    expect_closed(&f, other, "open sesame", LEAT_UNAVAILABLE); /* nobody has the name */
    assert_true(protocol->reaches(f.address));
    other[0] = other[0] == '0' ? '1' : '0';
    assert_false(protocol->reaches(other)); /* another host, network or user */
    static const char *const wrong[] = {"", "127.0.0.1:5000", "a/b", "/", "name/secret"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        err = (leat_error){0};
        assert_null(protocol->connect(wrong[i], NULL, &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "address");
    }
    end(&f);
}

/* A process of another user that knows name, secret and token: its connection is closed unread. */
static int knock(const char *address) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *name = strchr(address, '.') + 1;
    char byte;
    int n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "leat-%.32s", name);
    if (setuid(65534) != 0)
        return 1;
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(made, (struct sockaddr *)&at,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) != 0)
        return 2;
    return read(made, &byte, 1) <= 0 ? 0 : 3;
}

static void other_users_are_refused(void **state) {
    (void)state;
    fixture f;
    int status = 0, links[2];
    if (geteuid() != 0)
        skip();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, links), 0);
    pid_t child = fork();
    if (child == 0) {
        char address[sizeof f.address];
        _exit(read(links[1], address, sizeof address) == sizeof address ? knock(address) : 4);
    }
    serve(&f, NULL);
    assert_int_equal(write(links[0], f.address, sizeof f.address), sizeof f.address);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(f.server_seen.opened, 0);
    end(&f);
    close(links[0]);
    close(links[1]);
}

static void calls_are_refused(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    begin(&f);
    assert_int_equal(call(&f, "Echo", "", NULL, LONG_MS, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "grpc");
    end(&f);
}

int main(void) {
    protocol = leati_transport_find("shm", &(leat_error){0});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_client_leaves_nothing),
        cmocka_unit_test(a_killed_worker_leaves_its_pieces),
        cmocka_unit_test(other_users_are_refused),
        cmocka_unit_test(shared_values_are_not_copied),
        cmocka_unit_test(other_values_are_copied_once),
        cmocka_unit_test(a_client_that_keeps_much_gets_the_rest_by_the_socket),
        cmocka_unit_test(pieces_outlive_everything),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
