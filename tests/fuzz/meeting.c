/* What comes to the meeting point of a job, on both sides. The first byte chooses.
 *
 * To the server: the bytes of one connection, cut into two at the place that the second byte says;
 * the job goes on, and whoever behaves well joins it afterwards. As a member's messages behind a
 * greeting. To a client: answers to a greeting, a barrier and a failed call. */
#include "base/alloc.h"
#include "base/clock.h"
#include "coll/greeting.h"
#include "coll/store_job.h"
#include "fuzz.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { STRANGER, WITH_SECRET, MEMBER, GREETING, VALUES, FAILURE, KINDS };
enum { RANKS = 3, FAR_MS = 1000000000 };
#define PATIENCE_NS INT64_C(20000000000)

#define SECRET "a secret of the fuzzer"

static leati_store_server *new_server(bool secret) {
    leat_error err = {0};
    const leati_store_options options = {.name = "x",
                                         .secret = secret ? SECRET : NULL,
                                         .num_ranks = RANKS,
                                         .heartbeat_ms = FAR_MS,
                                         .dead_ms = FAR_MS};
    leati_store_server *s = leati_store_server_new(&options, &err);
    if (s == NULL)
        fuzz_broken("no server: %s", err.text);
    return s;
}

/* A connection to the server; the other end of it. */
static int come(leati_store_server *s) {
    int pair[2];
    leat_error err = {0};
    /* One thread is both sides: an answer that the socket does not take is not waited for. */
    const struct timeval soon = {.tv_usec = 1000};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon) != 0 ||
        leati_store_server_adopt(s, pair[0], &err) != LEAT_OK)
        fuzz_broken("no connection: %s", err.text);
    return pair[1];
}

/* Sends what the socket takes; the server may have closed its end. */
static void say(leati_store_server *s, int end, const void *data, size_t size) {
    (void)send(end, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    leati_store_server_turn(s, 0);
}

static void greet(leati_store_server *s, int end, int32_t rank) {
    char front[sizeof(leati_message_head) + LEATI_GREETING_LONGEST];
    leati_greeting g = {.rank = rank, .num_ranks = RANKS, .name = "a rank"};
    snprintf(g.version, sizeof g.version, "%s", leat_version());
    leati_message_head head = {.kind = LEATI_MESSAGE_HELLO, .request = 1};
    head.size = (uint32_t)leati_greeting_write(&g, front + sizeof head);
    memcpy(front, &head, sizeof head);
    say(s, end, front, sizeof head + head.size);
}

/* What the server sends is well formed, whatever it was asked. */
static void read_answers(int end) {
    leati_wire_buffer in = {0};
    leati_message_head head;
    char *payload = NULL;
    bool bad = false;
    /* The server may have closed its end; what it sent before is read. */
    leat_status status = leati_wire_receive(end, &in, LEATI_WIRE_MOST, &(leat_error){0});
    if (status != LEAT_OK && status != LEAT_UNAVAILABLE)
        fuzz_broken("reading what the server sent: %s", leat_status_name(status));
    while (leati_wire_next(&in, LEATI_WIRE_MOST, &head, &payload, &bad)) {
        leat_error err = {0};
        if (head.kind == LEATI_MESSAGE_FAILED || head.kind == LEATI_MESSAGE_LOST)
            fuzz_check_error("what rank 0 answers",
                             leati_wire_read_failure(payload, head.size, &err), &err);
    }
    if (bad)
        fuzz_broken("the server sent what is no message");
    leati_wire_fini(&in);
}

static void serve(const uint8_t *data, size_t size, bool secret, bool member) {
    leati_store_server *s = new_server(secret);
    size_t cut = size > 1 ? data[0] % size : 0;
    int stranger = come(s), good = come(s);
    if (member)
        greet(s, stranger, 1);
    say(s, stranger, data, cut);
    say(s, stranger, data + cut, size - cut);
    if (secret && s->num_here > 0)
        fuzz_broken("who has not the secret is a member");
    read_answers(stranger);
    /* A job that the stranger has not ended, as a member may, takes who comes next. */
    greet(s, good, 0);
    /* Strangers wait in proportion to what they have cost, which is much where the machine is busy
     * with others. */
    for (int64_t end = leati_now_ns() + PATIENCE_NS;
         !secret && !s->failed && s->members[0].name == NULL && leati_now_ns() < end;)
        leati_store_server_turn(s, 1);
    if (!secret && !s->failed && s->members[0].name == NULL)
        fuzz_broken("rank 0 cannot join");
    read_answers(good);
    for (int r = 0; r < RANKS; r++)
        if (s->keys.shares[r].bytes > LEATI_STORE_KEYS_MOST_BYTES)
            fuzz_broken("rank %d keeps %zu bytes", r, s->keys.shares[r].bytes);
    close(stranger);
    close(good);
    leati_store_server_turn(s, 0);
    leati_store_server_free(s);
}

/* A greeting that is read is written as one that is read the same. */
static void check_greeting(const uint8_t *data, size_t size) {
    leati_greeting one, two;
    char out[LEATI_GREETING_LONGEST];
    if (!leati_greeting_read((const char *)data, size, &one))
        return;
    size_t written = leati_greeting_write(&one, out);
    if (written > sizeof out || !leati_greeting_read(out, written, &two))
        fuzz_broken("a greeting that was written cannot be read");
    two.whole = one.whole;
    if (one.rank != two.rank || one.num_ranks != two.num_ranks ||
        one.has_secret != two.has_secret || strcmp(one.version, two.version) != 0 ||
        strcmp(one.name, two.name) != 0 || memcmp(one.nonce, two.nonce, sizeof one.nonce) != 0)
        fuzz_broken("a greeting came back as another");
}

static void check_values(const uint8_t *data, size_t size) {
    leati_store_values all;
    leat_error err = {0};
    char *bytes = leati_strndup((const char *)data, size);
    leat_status status = leati_store_values_read(bytes, size, RANKS, &all, &err);
    if (status != LEAT_OK)
        return; /* INTERNAL: rank 0 is not to be believed */
    for (int r = 0; r < RANKS; r++)
        if (all.offset[r] > all.offset[r + 1] || all.offset[r + 1] > size)
            fuzz_broken("value %d does not lie in the answer", r);
    status = leati_store_values_same(&all, RANKS, "what", &err);
    fuzz_check_error("leati_store_values_same", status, &err);
    leati_store_values_fini(&all);
}

static void run(const uint8_t *data, size_t size) {
    leat_error err = {0};
    if (size == 0)
        return;
    int kind = data[0] % KINDS;
    data++;
    size--;
    switch (kind) {
    case STRANGER:
    case WITH_SECRET:
    case MEMBER: serve(data, size, kind == WITH_SECRET, kind == MEMBER); return;
    case GREETING: check_greeting(data, size); return;
    case VALUES: check_values(data, size); return;
    default:
        if (leati_wire_read_failure((const char *)data, size, &err) == LEAT_OK || err.code == 0)
            fuzz_broken("a failure that is none");
    }
}

/* One message of a kind, behind the byte that chooses. */
static size_t put(uint8_t *out, size_t at, uint32_t kind, const void *payload, size_t size) {
    leati_message_head head = {.kind = kind, .size = (uint32_t)size, .request = 7};
    memcpy(out + at, &head, sizeof head);
    memcpy(out + at + sizeof head, payload, size);
    return at + sizeof head + size;
}

static void seeds(void) {
    uint8_t out[1024] = {0};
    char hello[LEATI_GREETING_LONGEST];
    leati_greeting g = {.rank = 1, .num_ranks = RANKS, .name = "a rank"};
    snprintf(g.version, sizeof g.version, "%s", leat_version());
    for (int kind = STRANGER; kind <= WITH_SECRET; kind++) {
        g.has_secret = kind == WITH_SECRET;
        size_t size = leati_greeting_write(&g, hello);
        out[0] = (uint8_t)kind;
        size_t at = put(out, 1, LEATI_MESSAGE_HELLO, hello, size);
        at = put(out, at, LEATI_MESSAGE_PROOF, hello, LEATI_SHA256_BYTES);
        fuzz_seed(out, at);
        out[0] = GREETING;
        memcpy(out + 1, hello, size);
        fuzz_seed(out, size + 1);
    }
    static const char named[] = "\1\0\0\0\0\0\0\0name\0value";
    static const uint32_t kinds[] = {LEATI_MESSAGE_GET,     LEATI_MESSAGE_MEET, LEATI_MESSAGE_SET,
                                     LEATI_MESSAGE_STALLED, LEATI_MESSAGE_BEAT, LEATI_MESSAGE_ABORT,
                                     LEATI_MESSAGE_BYE};
    size_t at = 1;
    out[0] = MEMBER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        at = put(out, at, kinds[i], named, sizeof named);
    fuzz_seed(out, at);
    const uint64_t sizes[RANKS] = {3, 0, 3};
    out[0] = VALUES;
    memcpy(out + 1, sizes, sizeof sizes);
    memcpy(out + 1 + sizeof sizes, "a\nba\nc", 6);
    fuzz_seed(out, 1 + sizeof sizes + 6);
    fuzz_seed("\5\11\0\0\0text", 9);
}

const fuzz_target fuzz_meeting = {
    .name = "meeting",
    .doc = "messages at a job's meeting point",
    .run = run,
    .most = 4096,
    .options = 1,
    .seeds = seeds,
};
