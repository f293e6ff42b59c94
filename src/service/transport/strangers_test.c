/* Who has not made a call yet, without gRPC: first words, what is charged and given back, and who
 * makes room. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "service/transport/strangers.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS INT64_C(1000000)
static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

typedef struct port {
    leati_strangers strangers;
    leati_store_door door;
    int listening, number;
    int taken[LEATI_STRANGERS_SPEAKING + 1], num_taken;
} port;

static void take(void *context, int connection) {
    port *p = context;
    assert_in_range(p->num_taken, 0, LEATI_STRANGERS_SPEAKING);
    p->taken[p->num_taken++] = connection;
}

static void open_port(port *p, bool secure) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    leat_error err = {0};
    *p = (port){.strangers.wake = -1, .door.most = 100, .door.spare = -1};
    p->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listening, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(p->listening, 512), 0);
    assert_int_equal(getsockname(p->listening, (struct sockaddr *)&at, &size), 0);
    p->number = ntohs(at.sin_port);
    assert_int_equal(leati_strangers_open(&p->strangers, secure, &err), LEAT_OK);
}

static void close_port(port *p) {
    for (int i = 0; i < p->num_taken; i++)
        close(p->taken[i]);
    leati_strangers_close(&p->strangers);
    close(p->listening);
}

/* A connection of which the port has the other end; its own name is gRPC's for it. */
static int come(port *p, int64_t now, char *peer, size_t room) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)p->number),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(connection, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(connection, (struct sockaddr *)&at, &size), 0);
    if (peer != NULL)
        snprintf(peer, room, "ipv4:127.0.0.1:%d", ntohs(at.sin_port));
    int other = accept4(p->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(other >= 0);
    leati_strangers_add(&p->strangers, other, now);
    return connection;
}

static void say(int connection, const char *what, size_t size) {
    assert_int_equal(write(connection, what, size), size);
}

/* One turn of the listener's thread; how many were ready. */
static int turn(port *p, int64_t now) {
    struct pollfd polled[LEATI_STRANGERS_WAITING + 1];
    int count = leati_strangers_poll(&p->strangers, polled, true);
    int ready = poll(polled, (nfds_t)count, 0);
    leati_strangers_tend(&p->strangers, polled, count, &p->door, now, take, p);
    return ready;
}

static bool is_closed(int connection) {
    char byte;
    return recv(connection, &byte, 1, MSG_DONTWAIT) == 0;
}

static void test_first_words(void **state) {
    (void)state;
    port p;
    int64_t now = leati_now_ns();
    open_port(&p, false);
    int slow = come(&p, now, NULL, 0), other = come(&p, now, NULL, 0);
    /* A part of the preface wakes nobody. */
    say(slow, preface, 10);
    assert_int_equal(turn(&p, now), 0);
    say(slow, preface + 10, 14);
    say(other, "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", 30);
    assert_int_equal(turn(&p, now), 2);
    assert_int_equal(p.num_taken, 1);
    assert_int_equal(recv(p.taken[0], (char[24]){0}, 24, MSG_DONTWAIT), 24);
    assert_false(is_closed(slow));
    /* Its last bytes were not read: a reset. */
    assert_true(recv(other, (char[1]){0}, 1, 0) <= 0);
    close(slow);
    close(other);
    close_port(&p);
    /* TLS: the whole of the hello's record. */
    open_port(&p, true);
    slow = come(&p, now, NULL, 0);
    other = come(&p, now, NULL, 0);
    say(slow, "\x16\x03\x01\x00\x20\x01", 6);
    say(other, preface, 24);
    (void)turn(&p, now);
    assert_true(recv(other, (char[1]){0}, 1, 0) <= 0);
    assert_int_equal(turn(&p, now), 0);
    assert_int_equal(p.num_taken, 0);
    say(slow, (char[31]){0}, 31);
    (void)turn(&p, now);
    assert_int_equal(p.num_taken, 1);
    close(slow);
    close(other);
    close_port(&p);
}

/* Whoever is known gets back what was charged; whoever is not pays, and is closed in the end. */
static void test_charges(void **state) {
    (void)state;
    port p;
    char peer[40];
    int64_t now = leati_now_ns();
    open_port(&p, false);
    int member = come(&p, now, peer, sizeof peer);
    say(member, preface, 24);
    (void)turn(&p, now);
    int64_t paid = p.door.paid_ns;
    (void)turn(&p, now);
    leati_strangers_know(&p.strangers, "ipv4:127.0.0.1:1");
    leati_strangers_know(&p.strangers, "ipv6:%5B::1%5D:7");
    assert_true(leati_strangers_any(&p.strangers));
    leati_strangers_know(&p.strangers, peer);
    assert_false(leati_strangers_any(&p.strangers));
    (void)turn(&p, now);
    assert_true(p.door.paid_ns < paid);
    assert_false(is_closed(member));
    int stranger = come(&p, now, NULL, 0);
    say(stranger, preface, 24);
    (void)turn(&p, now);
    paid = p.door.paid_ns;
    say(stranger, (char[1000]){0}, 1000);
    (void)turn(&p, now);
    assert_true(p.door.paid_ns > paid);
    (void)turn(&p, now + 9999 * MS);
    assert_true(leati_strangers_any(&p.strangers));
    (void)turn(&p, now + 10000 * MS);
    assert_false(leati_strangers_any(&p.strangers));
    assert_true(recv(stranger, (char[1]){0}, 1, 0) <= 0);
    close(member);
    close(stranger);
    close_port(&p);
}

static void test_who_makes_room(void **state) {
    (void)state;
    port p;
    int64_t now = leati_now_ns();
    int all[LEATI_STRANGERS_WAITING + 1];
    open_port(&p, false);
    for (int i = 0; i <= LEATI_STRANGERS_WAITING; i++)
        all[i] = come(&p, now, NULL, 0);
    /* Whoever came first has gone. */
    assert_true(is_closed(all[0]));
    /* As many as may speak do, and one that has for two seconds makes room for another. */
    for (int i = 1; i <= LEATI_STRANGERS_SPEAKING + 1; i++)
        say(all[i], preface, 24);
    (void)turn(&p, now);
    assert_int_equal(p.num_taken, LEATI_STRANGERS_SPEAKING);
    (void)turn(&p, now + 1000 * MS);
    assert_int_equal(p.num_taken, LEATI_STRANGERS_SPEAKING);
    (void)turn(&p, now + 2001 * MS);
    (void)turn(&p, now + 2001 * MS);
    assert_int_equal(p.num_taken, LEATI_STRANGERS_SPEAKING + 1);
    assert_true(leati_strangers_drop_oldest(&p.strangers));
    for (int i = 0; i <= LEATI_STRANGERS_WAITING; i++)
        close(all[i]);
    close_port(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_words),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_who_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
