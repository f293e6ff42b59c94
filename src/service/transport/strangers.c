/* Strangers at a server's port; see strangers.h.
 *
 * Happy path: a connection waits in the kernel until its first words are whole (HTTP/2's preface, a
 * TLS client's hello), which costs nothing however slowly they come; then gRPC has it, and its
 * first call shows whether it may. What gRPC spends on it is not known, so it is charged by what it
 * sends, and is given back when it is known; the others pay at the door (coll/store_door.h).
 *
 * Failures: other first words, ten seconds without a call, or much sent without one: it is closed.
 * One that is closed by mistake connects again. Where there is no room for more who wait, or no
 * descriptor, whoever has waited longest goes. Locks: the lock guards who speaks; a leaf. */
#include "service/transport/strangers.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/transport/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS INT64_C(1000000)
/* Of the processor: a connection's begin and end in gRPC, with TLS, a wakeup for what it sent, and
 * a byte of that. */
enum { PLAIN_NS = 800000, SECURE_NS = 3000000, SEGMENT_NS = 50000, BYTE_NS = 1000 };
enum { RECORD = 5, MOST_HELLO = 4096, CALL_MS = 10000, FULL_MS = 2000, OWED_MS = 300 };
enum { MUCH_BYTES = 64 << 10, MUCH_SEGMENTS = 100 };
static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

leat_status leati_strangers_open(leati_strangers *s, bool secure, leat_error *err) {
    s->secure = secure;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "no file descriptor is free for a listener; close files, or raise the "
                          "limit (ulimit -n)");
    pthread_mutex_init(&s->lock, NULL);
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING; i++)
        s->speaking[i].connection = -1;
    return LEAT_OK;
}

static void forget(leati_speaker *one) {
    close(one->connection);
    one->connection = -1;
}

void leati_strangers_close(leati_strangers *s) {
    if (s->wake < 0)
        return;
    while (leati_strangers_drop_oldest(s)) {
    }
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING; i++)
        if (s->speaking[i].connection >= 0)
            forget(&s->speaking[i]);
    pthread_mutex_destroy(&s->lock);
    close(s->wake);
    s->wake = -1;
}

/* ---- who waits ---- */

static void want(leati_stranger *one, int bytes) {
    one->wanted = bytes;
    (void)setsockopt(one->connection, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

static void remove_waiting(leati_strangers *s, int i) {
    s->num_waiting--;
    memmove(s->waiting + i, s->waiting + i + 1,
            (size_t)(s->num_waiting - i) * sizeof s->waiting[0]);
}

bool leati_strangers_drop_oldest(leati_strangers *s) {
    if (s->num_waiting == 0)
        return false;
    close(s->waiting[0].connection);
    remove_waiting(s, 0);
    return true;
}

void leati_strangers_add(leati_strangers *s, int connection, int64_t now) {
    if (s->num_waiting == LEATI_STRANGERS_WAITING)
        (void)leati_strangers_drop_oldest(s);
    leati_stranger *one = &s->waiting[s->num_waiting++];
    *one = (leati_stranger){.connection = connection, .since_ns = now};
    want(one, s->secure ? RECORD : (int)sizeof preface - 1);
}

typedef enum words { WORDS_OTHER, WORDS_PART, WORDS_WHOLE } words;

/* What its first words are, by as much of them as is there. */
static words listen_to(const leati_strangers *s, leati_stranger *one) {
    uint8_t bytes[sizeof preface];
    ssize_t size = recv(one->connection, bytes, sizeof preface - 1, MSG_PEEK | MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? WORDS_PART : WORDS_OTHER;
    if (!s->secure)
        return size == 0 || memcmp(bytes, preface, (size_t)size) != 0 ? WORDS_OTHER
               : size == (ssize_t)sizeof preface - 1                  ? WORDS_WHOLE
                                                                      : WORDS_PART;
    /* A record of TLS's handshake; how long it is stands in its head. */
    if (size < RECORD)
        return size == 0 || bytes[0] != 0x16 ? WORDS_OTHER : WORDS_PART;
    int length = RECORD + (bytes[3] << 8 | bytes[4]);
    if (bytes[0] != 0x16 || bytes[1] != 3 || length > MOST_HELLO)
        return WORDS_OTHER;
    if (one->wanted == length)
        return WORDS_WHOLE;
    want(one, length);
    return WORDS_PART;
}

/* ---- who speaks ---- */

static void name(int connection, char *out, size_t room) {
    struct sockaddr_storage at = {0};
    socklen_t size = sizeof at;
    char host[60], port[10];
    out[0] = '\0';
    if (getpeername(connection, (struct sockaddr *)&at, &size) != 0 ||
        getnameinfo((struct sockaddr *)&at, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    const char *mapped = strncmp(host, "::ffff:", 7) == 0 ? host + 7 : host;
    (void)snprintf(out, room, "%s:%s", mapped, port);
}

static leati_speaker *find_free(leati_strangers *s) {
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING; i++)
        if (s->speaking[i].connection < 0)
            return &s->speaking[i];
    return NULL;
}

/* Gives it to gRPC, and keeps an eye on it. False: there is no room for that now. */
static bool hand_over(leati_strangers *s, const leati_stranger *one, leati_store_door *door,
                      int64_t now, void (*take)(void *context, int connection), void *context) {
    const int bytes = 1;
    const int64_t cost = s->secure ? SECURE_NS : PLAIN_NS;
    pthread_mutex_lock(&s->lock);
    leati_speaker *speaker = find_free(s);
    int second = speaker == NULL ? -1 : fcntl(one->connection, F_DUPFD_CLOEXEC, 0);
    if (second >= 0) {
        *speaker = (leati_speaker){.connection = second, .since_ns = now, .paid_ns = cost};
        name(second, speaker->peer, sizeof speaker->peer);
    }
    pthread_mutex_unlock(&s->lock);
    if (second < 0)
        return false;
    leati_store_door_charge(door, cost, now);
    (void)setsockopt(one->connection, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
    take(context, one->connection);
    return true;
}

/* Charges for what it has sent since. False: it is gone, or is to go. */
static bool watch(leati_speaker *one, leati_store_door *door, int64_t now) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(one->connection, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        info.tcpi_state != 1 /* established */)
        return false;
    int64_t bytes = (int64_t)info.tcpi_bytes_received, segments = info.tcpi_data_segs_in;
    int64_t cost = (bytes - one->bytes) * BYTE_NS + (segments - one->segments) * SEGMENT_NS;
    one->bytes = bytes;
    one->segments = segments;
    one->paid_ns += cost;
    if (cost > 0)
        leati_store_door_charge(door, cost, now);
    int64_t age = now - one->since_ns;
    bool much = bytes > MUCH_BYTES || segments > MUCH_SEGMENTS,
         owes = leati_store_door_owes(door, now) > 0;
    return age < CALL_MS * MS && !(much && age > (owes ? OWED_MS : FULL_MS) * MS);
}

/* Looks after who speaks; `crowded`: others wait to, and whoever has spoken longest makes room. */
static void watch_all(leati_strangers *s, bool crowded, leati_store_door *door, int64_t now) {
    leati_speaker *oldest = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING; i++) {
        leati_speaker *one = &s->speaking[i];
        if (one->connection < 0)
            continue;
        if (!watch(one, door, now)) {
            (void)shutdown(one->connection, SHUT_RDWR);
            forget(one);
        } else if (oldest == NULL || one->since_ns < oldest->since_ns) {
            oldest = one;
        }
    }
    if (crowded && find_free(s) == NULL && oldest != NULL &&
        now - oldest->since_ns > FULL_MS * MS) {
        (void)shutdown(oldest->connection, SHUT_RDWR);
        forget(oldest);
    }
    if (s->refund_ns > 0)
        leati_store_door_charge(door, -s->refund_ns, now);
    s->refund_ns = 0;
    pthread_mutex_unlock(&s->lock);
}

void leati_strangers_know(leati_strangers *s, const char *peer) {
    char host[64];
    const char *port = strrchr(peer, ':');
    leati_remote_peer(peer, host, sizeof host);
    size_t length = strlen(host);
    bool found = false;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING && port != NULL && !found; i++) {
        leati_speaker *one = &s->speaking[i];
        found = one->connection >= 0 && strncmp(one->peer, host, length) == 0 &&
                strcmp(one->peer + length, port) == 0;
        if (found) {
            s->refund_ns += one->paid_ns;
            forget(one);
        }
    }
    pthread_mutex_unlock(&s->lock);
    const uint64_t one = 1;
    if (found)
        (void)!write(s->wake, &one, sizeof one);
}

/* ---- the thread's turn ---- */

static int count_speaking(leati_strangers *s) {
    int count = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < LEATI_STRANGERS_SPEAKING; i++)
        count += s->speaking[i].connection >= 0;
    pthread_mutex_unlock(&s->lock);
    return count;
}

bool leati_strangers_any(leati_strangers *s) {
    return s->num_waiting > 0 || count_speaking(s) > 0;
}

int leati_strangers_poll(leati_strangers *s, struct pollfd *polled, bool hears) {
    polled[0] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    hears = hears && count_speaking(s) < LEATI_STRANGERS_SPEAKING;
    for (int i = 0; i < s->num_waiting; i++)
        polled[1 + i] =
            (struct pollfd){.fd = hears ? s->waiting[i].connection : -1, .events = POLLIN};
    return 1 + s->num_waiting;
}

void leati_strangers_tend(leati_strangers *s, const struct pollfd *polled, int num_polled,
                          leati_store_door *door, int64_t now,
                          void (*take)(void *context, int connection), void *context) {
    uint64_t events;
    bool crowded = false;
    (void)!read(s->wake, &events, sizeof events);
    /* From the last on, so that those which are removed move nobody that comes. */
    for (int i = num_polled - 2; i >= 0; i--) {
        leati_stranger *one = &s->waiting[i];
        bool late = now - one->since_ns >= CALL_MS * MS;
        words said = polled[1 + i].revents != 0 ? listen_to(s, one) : WORDS_PART;
        bool over = said == WORDS_OTHER || (said == WORDS_PART && late);
        bool given = said == WORDS_WHOLE && hand_over(s, one, door, now, take, context);
        crowded = crowded || (said == WORDS_WHOLE && !given);
        if (over)
            close(one->connection);
        if (over || given)
            remove_waiting(s, i);
    }
    watch_all(s, crowded || s->num_waiting > 0, door, now);
}
