/* Ranks and strangers made of bare messages, for tests of the store; after cmocka.h. */
#ifndef LEATI_TESTS_STRANGER_H
#define LEATI_TESTS_STRANGER_H

#include "base/clock.h"
#include "coll/greeting.h"
#include "coll/wire.h"
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { STRANGER_MS = 60000 };

/* The next message: its kind, 0 at the end of the connection; `bytes` is terminated. */
static inline uint32_t stranger_hear(int connection, leati_wire_buffer *in, char *bytes,
                                     size_t room, size_t *size) {
    leati_message_head head;
    char *payload = NULL;
    bool bad = false;
    while (!leati_wire_next(in, LEATI_WIRE_MOST, &head, &payload, &bad)) {
        struct pollfd waiting = {.fd = connection, .events = POLLIN};
        assert_int_equal(poll(&waiting, 1, STRANGER_MS), 1);
        if (bad || leati_wire_receive(connection, in, LEATI_WIRE_MOST, &(leat_error){0}) != LEAT_OK)
            return 0;
    }
    *size = head.size < room - 1 ? head.size : room - 1;
    memcpy(bytes, payload, *size);
    bytes[*size] = '\0';
    return head.kind;
}

static inline leati_greeting stranger_greeting(int32_t number, int32_t count) {
    leati_greeting g = {.rank = number, .num_ranks = count, .name = "a ghost"};
    snprintf(g.version, sizeof g.version, "%s", leat_version());
    return g;
}

/* A connection that has greeted by this mark. */
static inline int stranger_greet(const char *address, int32_t mark, const leati_greeting *g) {
    char front[LEATI_GREETING_LONGEST];
    leat_error err = {0};
    int connection =
        leati_wire_connect(address, NULL, leati_now_ns() + STRANGER_MS * INT64_C(1000000), &err);
    assert_true(connection >= 0);
    size_t size = leati_greeting_write(g, front);
    memcpy(front, &mark, sizeof mark);
    assert_int_equal(
        leati_wire_send(connection, LEATI_MESSAGE_HELLO, 1, front, size, NULL, 0, &err), LEAT_OK);
    return connection;
}

/* A member of a job without a secret; -1 where it is refused, with the reason in `err`. */
static inline int stranger_join(const char *address, int32_t mark, const leati_greeting *g,
                                leat_error *err) {
    int connection = stranger_greet(address, mark, g);
    leati_wire_buffer in = {0};
    char bytes[1024];
    size_t size = 0;
    uint32_t kind = stranger_hear(connection, &in, bytes, sizeof bytes, &size);
    leati_wire_fini(&in);
    if (kind == LEATI_MESSAGE_OK)
        return connection;
    if (kind == LEATI_MESSAGE_FAILED)
        (void)leati_wire_read_failure(bytes, size, err);
    close(connection);
    return -1;
}

/* Comes to the barrier at which a job starts. */
static inline void stranger_start(int connection) {
    char front[14];
    int64_t timeout = STRANGER_MS;
    memcpy(front, &timeout, sizeof timeout);
    memcpy(front + sizeof timeout, "start", 6);
    assert_int_equal(leati_wire_send(connection, LEATI_MESSAGE_MEET, 2, front, sizeof front, NULL,
                                     0, &(leat_error){0}),
                     LEAT_OK);
}

#endif
