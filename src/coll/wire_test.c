/* Messages in pieces of any size, what a beat says in words, and addresses. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "coll/store.h"
#include "coll/wire.h"
#include "support/address.h"
#include "support/refused.h"
#include "support/torture.h"
#include <poll.h>
#include <pthread.h>

enum { MOST = LEATI_WIRE_MOST };

static char byte_of(size_t i) {
    return (char)(i * 7 + i / 251);
}

/* ---- messages ---- */

struct sender {
    int socket;
    char *bytes;
    leat_status status;
};

static const size_t sizes[][2] = {{0, 0}, {1, 0},        {0, 1},       {3, 4},
                                  {0, 0}, {4080, 4096},  {4079, 1},    {4081, 0},
                                  {5, 0}, {100000, 200}, {7, MOST - 7}};
enum { MESSAGES = sizeof sizes / sizeof sizes[0] };

static void *send_all(void *context) {
    struct sender *s = context;
    for (int m = 0; m < MESSAGES && s->status == LEAT_OK; m++)
        s->status =
            leati_wire_send(s->socket, LEATI_MESSAGE_SET, (uint64_t)m + 1, s->bytes, sizes[m][0],
                            s->bytes + sizes[m][0], sizes[m][1], &(leat_error){0});
    close(s->socket);
    return NULL;
}

/* Through sockets that take little at a time. */
static void test_in_pieces(void **state) {
    (void)state;
    int pair[2], small = 4096;
    leati_wire_buffer in = {0};
    leati_message_head head;
    leat_error err = {0};
    char *bytes = malloc(MOST), *payload = NULL;
    bool bad = true;
    pthread_t thread;
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = byte_of(i);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    struct sender sender = {.socket = pair[0], .bytes = bytes};
    assert_int_equal(pthread_create(&thread, NULL, send_all, &sender), 0);
    int received = 0;
    leat_status status = LEAT_OK;
    while (status == LEAT_OK) {
        (void)poll(&(struct pollfd){.fd = pair[1], .events = POLLIN}, 1, -1);
        status = leati_wire_receive(pair[1], &in, MOST + 16, &err);
        while (leati_wire_next(&in, MOST, &head, &payload, &bad)) {
            assert_int_equal(head.size, sizes[received][0] + sizes[received][1]);
            assert_int_equal(head.kind, LEATI_MESSAGE_SET);
            assert_int_equal(head.request, received + 1);
            assert_memory_equal(payload, bytes, head.size);
            received++;
        }
        assert_false(bad);
    }
    assert_int_equal(status, LEAT_UNAVAILABLE);
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "connection");
    assert_int_equal(received, MESSAGES);
    pthread_join(thread, NULL);
    assert_int_equal(sender.status, LEAT_OK);
    leati_wire_fini(&in);
    close(pair[1]);
    free(bytes);
}

/* Byte by byte: no message before its last byte is there. */
static void test_byte_by_byte(void **state) {
    (void)state;
    int pair[2];
    leati_wire_buffer in = {0};
    leati_message_head head = {.size = 3, .kind = LEATI_MESSAGE_GET, .request = 9};
    char whole[2 * (sizeof head + 3)], *payload = NULL;
    bool bad = true;
    for (int m = 0; m < 2; m++) {
        memcpy(whole + (sizeof head + 3) * (size_t)m, &head, sizeof head);
        memcpy(whole + (sizeof head + 3) * (size_t)m + sizeof head, "abc", 3);
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < sizeof whole; i++) {
        assert_int_equal(leati_wire_receive(pair[1], &in, MOST + 16, &(leat_error){0}),
                         LEAT_OK); /* nothing is there */
        assert_int_equal(send(pair[0], whole + i, 1, 0), 1);
        assert_int_equal(leati_wire_receive(pair[1], &in, MOST + 16, &(leat_error){0}), LEAT_OK);
        bool last = (i + 1) % (sizeof head + 3) == 0;
        memset(&head, 0, sizeof head);
        assert_int_equal(leati_wire_next(&in, MOST, &head, &payload, &bad), last);
        assert_false(bad);
        if (last) {
            assert_int_equal(head.request, 9);
            assert_memory_equal(payload, "abc", 3);
            assert_false(leati_wire_next(&in, MOST, &head, &payload, &bad));
            assert_int_equal(in.used, 0);
        }
    }
    for (int more = 0; more < 2; more++) {
        head = (leati_message_head){.size = MOST + (uint32_t)more, .kind = 1};
        assert_int_equal(send(pair[0], &head, sizeof head, 0), sizeof head);
        assert_int_equal(leati_wire_receive(pair[1], &in, MOST + 16, &(leat_error){0}), LEAT_OK);
        assert_false(leati_wire_next(&in, MOST, &head, &payload, &bad));
        assert_int_equal(bad, more);
        in.used = 0;
    }
    leat_error err = {0};
    assert_int_equal(leati_wire_send(pair[0], LEATI_MESSAGE_SET, 1, whole, 1, whole, MOST, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1048577");
    close(pair[1]);
    assert_int_equal(leati_wire_send(pair[0], LEATI_MESSAGE_SET, 1, whole, 1, NULL, 0, &err),
                     LEAT_UNAVAILABLE);
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "closed");
    close(pair[0]);
    leati_wire_fini(&in);
    assert_true(in.bytes == NULL && in.used == 0);
}

/* ---- beats ---- */

static void test_beats(void **state) {
    (void)state;
    static const struct {
        leati_beat beat;
        const char *text;
    } cases[] = {
        {{.phase = LEATI_PHASE_START}, "at its start after 0 calls, heard "},
        {{.phase = LEATI_PHASE_INPUT, .calls = 41}, "reading input after 41 calls, heard "},
        {{.phase = LEATI_PHASE_INPUT, .calls = 3, .stage = "map"},
         "reading input (map) after 3 calls, heard "},
        {{.phase = LEATI_PHASE_COMPUTE, .calls = 1, .stage = "map"}, "computing after 1 calls, "},
        {{.phase = LEATI_PHASE_COLLECTIVE}, "exchanging values after 0 calls, heard "},
        {{.phase = LEATI_NUM_PHASES}, "at its start after 0 calls, heard "},
        {{.phase = -1}, "at its start after 0 calls, heard "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[160];
        leati_wire_describe_heartbeat(&cases[i].beat, leati_now_ns() - 3600 * INT64_C(1000000000),
                                      text, sizeof text);
        assert_memory_equal(text, cases[i].text, strlen(cases[i].text));
        double seconds = 0;
        assert_int_equal(sscanf(strstr(text, "heard "), "heard %lf s ago", &seconds), 1);
        assert_true(seconds >= 3600 && seconds < 4600);
    }
}

/* ---- addresses ---- */

static void test_addresses(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",     "host",    ":1",   "host:",  "host:0", "h:-1",
        "h:1x", "h:65536", "[]:1", "h:port", "h: 1x",  "h:99999999999999999999"};
    char longest[300] = "";
    memset(longest, 'h', 256);
    strcpy(longest + 256, ":1");
    for (size_t i = 0; i <= sizeof wrong / sizeof wrong[0]; i++) {
        const char *address = i < sizeof wrong / sizeof wrong[0] ? wrong[i] : longest;
        leat_error errors[2] = {{0}, {0}};
        int sockets[LEATI_WIRE_LISTENING];
        assert_int_equal(leati_wire_listen(address, NULL, 0, sockets, &errors[0]), 0);
        assert_int_equal(leati_wire_connect(address, NULL, 0, &errors[1]), -1);
        for (int k = 0; k < 2; k++) {
            assert_refused(&errors[k], LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "65535");
            assert_true(*address == '\0' || refused_names(leat_error_message(&errors[k]), address));
        }
    }
}

/* A free port with this host in front. */
static void address_of(const char *host, char *out, size_t size) {
    char address[32];
    free_address(address, sizeof address);
    snprintf(out, size, "%s%s", host, strchr(address, ':'));
}

static bool reaches(const char *host, const char *address) {
    char other[64];
    leat_error err = {0};
    snprintf(other, sizeof other, "%s%s", host, strrchr(address, ':'));
    int connection = leati_wire_connect(other, NULL, leati_now_ns(), &err);
    if (connection >= 0)
        close(connection);
    return connection >= 0;
}

static bool has_six(void) {
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    bool good = probe >= 0 && bind(probe, (struct sockaddr *)&at, sizeof at) == 0;
    close(probe);
    return good;
}

/* On the entry's own addresses: 127.0.0.2 is one of this host's, too, and stands for another
 * interface. */
static void test_listening(void **state) {
    (void)state;
    static const struct {
        const char *host, *where;
        bool one, two, six; /* which of 127.0.0.1, 127.0.0.2 and ::1 are reached */
    } cases[] = {
        {"127.0.0.1", NULL, true, false, false}, {"127.0.0.2", NULL, false, true, false},
        {"localhost", NULL, true, false, true},  {"[::1]", NULL, false, false, true},
        {"127.0.0.1", "all", true, true, true},  {"192.0.2.1", "127.0.0.2", false, true, false},
        {"192.0.2.1", "all", true, true, true},
    };
    bool six = has_six();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char address[64];
        int sockets[LEATI_WIRE_LISTENING], again[LEATI_WIRE_LISTENING];
        leat_error err = {0};
        if (!six && cases[i].six && !cases[i].one)
            continue;
        address_of(cases[i].host, address, sizeof address);
        int count = leati_wire_listen(address, cases[i].where, 0, sockets, &err);
        if (count == 0)
            fail_msg("%s: %s", address, err.text);
        assert_int_equal(leati_wire_listen(address, cases[i].where, 0, again, &err), 0);
        assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "port");
        assert_int_equal(reaches("127.0.0.1", address), cases[i].one);
        assert_int_equal(reaches("127.0.0.2", address), cases[i].two);
        /* localhost need not have an address of IPv6. */
        if (six && strcmp(cases[i].host, "localhost") != 0)
            assert_int_equal(reaches("[::1]", address), cases[i].six);
        while (count > 0)
            close(sockets[--count]);
    }
}

/* An address that is none of this host's (RFC 5737), and names that nobody has. */
static void test_not_listening(void **state) {
    (void)state;
    char address[64];
    int sockets[LEATI_WIRE_LISTENING];
    leat_error err = {0};
    address_of("192.0.2.1", address, sizeof address);
    assert_int_equal(leati_wire_listen(address, NULL, 0, sockets, &err), 0);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "LEAT_LISTEN");
    assert_int_equal(leati_wire_listen("127.0.0.1:2222", "nobody.invalid", 0, sockets, &err), 0);
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "LEAT_LISTEN");
}

/* What says where it leads is not hidden, nor is what nobody knows (a name that is: tests/faults).
 */
static void test_not_hidden(void **state) {
    (void)state;
    static const char *const addresses[] = {
        "localhost:1", "LOCALHOST:1",     "localhost.localdomain:1", "a.localhost:1", "127.0.0.1:1",
        "127.1:1",     "[::1]:1",         "ip6-loopback:1",          "192.0.2.1:1",   "nobody",
        "127.0.0.1:x", "nobody.invalid:1"};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        if (leati_wire_is_hidden(addresses[i]))
            fail_msg("%s", addresses[i]);
}

/* Refused where nobody listens. */
static void test_connect(void **state) {
    (void)state;
    char address[32];
    int sockets[LEATI_WIRE_LISTENING];
    leat_error err = {0};
    free_address(address, sizeof address);
    assert_int_equal(leati_wire_connect(address, NULL, leati_now_ns(), &err), -1);
    assert_refused(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, address);
    assert_int_equal(leati_wire_listen(address, NULL, 0, sockets, &err), 1);
    int64_t deadline = leati_now_ns() + 60 * INT64_C(1000000000);
    int connection = leati_wire_connect(address, NULL, deadline, &err);
    assert_true(connection >= 0);
    assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_BYE, 0, "x", 1, NULL, 0, &err),
                     LEAT_OK);
    close(connection);
    close(sockets[0]);
}

/* A failure that another process sent, whatever its bytes. */
static void test_failures(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        size_t size;
        leat_status status;
        const char *keyword;
    } cases[] = {{9, 8, LEAT_FAILED_PRECONDITION, "abcd"}, {9, 4, LEAT_FAILED_PRECONDITION, NULL},
                 {0, 8, LEAT_INTERNAL, "nothing"},         {17, 8, LEAT_INTERNAL, "nothing"},
                 {-1, 8, LEAT_INTERNAL, "nothing"},        {9, 3, LEAT_INTERNAL, "nothing"},
                 {9, 0, LEAT_INTERNAL, "nothing"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char bytes[8] = "    abcd";
        leat_error err = {0};
        memcpy(bytes, &cases[i].code, sizeof cases[i].code);
        assert_int_equal(leati_wire_read_failure(bytes, cases[i].size, &err), cases[i].status);
        assert_refused(&err, cases[i].status, LEAT_REASON_NONE, cases[i].keyword);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_pieces, torture_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(test_byte_by_byte, torture_setup, torture_teardown),
        cmocka_unit_test(test_beats),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_listening),
        cmocka_unit_test(test_not_listening),
        cmocka_unit_test(test_not_hidden),
        cmocka_unit_test(test_connect),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
