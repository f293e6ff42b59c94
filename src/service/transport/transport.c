/* What the protocols share, and which protocols there are. Its one lock is that of the tuning. */
#include "service/transport/transport.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/sha256.h"
#include "data/values/values.h"
#include "service/transport/ends.h"

#include <pthread.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    HIGHEST_PORT = 65535,
    LEAST_SILENCE_MS = 100,
    LEAST_CHUNK = 4096,
    MOST_CHUNK = 64 << 20
};

static atomic_llong copied; /* bytes */
static atomic_int forks;
static pthread_mutex_t tuned_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_transport_tuning tuned = {LEATI_TRANSPORT_TUNING_DEFAULTS}; /* tuned_lock */

static void before_fork(void) {
    pthread_mutex_lock(&tuned_lock);
}

static void after_fork(bool child) {
    if (child)
        atomic_fetch_add(&forks, 1);
    pthread_mutex_unlock(&tuned_lock);
}

LEATI_FORK_PART(transports, before_fork, after_fork);

static const struct {
    const char *name;
    const leati_transport *transport; /* NULL: gRPC's, which is loaded */
} all[] = {{"grpc", NULL},
           {"local", &leati_transport_local},
           {"shm", &leati_transport_shm},
           {"tcp", &leati_transport_tcp}};

const leati_transport *leati_transport_find(const char *name, leat_error *err) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].transport != NULL ? all[i].transport : leati_transport_find_grpc(err);
    leati_fail(err, LEAT_NOT_FOUND,
               "No credentials factory has been registered for protocol %.100s: it is not "
               "available; those that "
               "there are: " LEATI_TRANSPORT_NAMES,
               name);
    return NULL;
}

bool leati_transport_reaches(const char *transfer) {
    const char *blank = strchr(transfer, ' ');
    size_t size = blank != NULL ? (size_t)(blank - transfer) : 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strlen(all[i].name) == size && memcmp(all[i].name, transfer, size) == 0)
            return all[i].transport == NULL || all[i].transport->reaches == NULL ||
                   all[i].transport->reaches(blank + 1);
    return false;
}

leat_status leati_transport_tune(const leati_transport_tuning *tuning, leat_error *err) {
    if (tuning->connections < 1 || tuning->connections > LEATI_TRANSPORT_MOST_CONNECTIONS)
        return leati_refuse(err, VALUE, "expected 1 to %d connections; found %d",
                            LEATI_TRANSPORT_MOST_CONNECTIONS, tuning->connections);
    if (tuning->silence_ms < LEAST_SILENCE_MS)
        return leati_refuse(err, VALUE, "expected a silence_ms of %d at least; found %d",
                            LEAST_SILENCE_MS, tuning->silence_ms);
    if (tuning->chunk_bytes < LEAST_CHUNK || tuning->chunk_bytes > MOST_CHUNK)
        return leati_refuse(err, VALUE, "expected chunk_bytes of %d to %d; found %d", LEAST_CHUNK,
                            MOST_CHUNK, tuning->chunk_bytes);
    pthread_mutex_lock(&tuned_lock);
    tuned = *tuning;
    pthread_mutex_unlock(&tuned_lock);
    return LEAT_OK;
}

leati_transport_tuning leati_transport_tuned(void) {
    pthread_mutex_lock(&tuned_lock);
    leati_transport_tuning copy = tuned;
    pthread_mutex_unlock(&tuned_lock);
    return copy;
}

/* ---- forks ---- */

int leati_transport_forks(void) {
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

leat_status leati_transport_check_forks(int made, const char *what, leat_error *err) {
    if (made == leati_transport_forks())
        return LEAT_OK;
    return leati_fail(err, LEAT_FAILED_PRECONDITION,
                      "%s belongs to the process that this one was forked from, and its threads "
                      "are not here; open another after the fork",
                      what);
}

/* ---- streams and calls of any protocol ---- */

void leati_transport_stream_init(leati_transport_stream *stream,
                                 const leati_transport_stream_type *type) {
    stream->type = type;
    atomic_init(&stream->references, 1);
    stream->forks = leati_transport_forks();
}

void leati_transport_call_init(leati_transport_call *call, const leati_transport_call_type *type) {
    call->type = type;
    call->forks = leati_transport_forks();
}

leat_status leati_transport_stream_write(leati_transport_stream *stream,
                                         const leati_transport_part *parts, int num_parts,
                                         leat_cancel *cancel, leat_error *err) {
    LEATI_TRY(leati_transport_check_forks(stream->forks, "the stream", err));
    return stream->type->write(stream, parts, num_parts, cancel, err);
}

void leati_transport_stream_close(leati_transport_stream *stream, const leat_error *why) {
    static const leat_error none = {0};
    if (stream->forks == leati_transport_forks())
        stream->type->close(stream, why != NULL ? why : &none);
}

leati_transport_stream *leati_transport_stream_ref(leati_transport_stream *stream) {
    if (stream != NULL)
        atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
    return stream;
}

/* A child of a fork leaves what the parent's threads were at as it is. */
void leati_transport_stream_unref(leati_transport_stream *stream) {
    if (stream != NULL && stream->forks == leati_transport_forks() &&
        atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) == 1)
        stream->type->free(stream);
}

bool leati_transport_call_answer(leati_transport_call *call, const void *bytes, size_t size) {
    return call->forks == leati_transport_forks() && call->type->answer(call, bytes, size);
}

bool leati_transport_call_fail(leati_transport_call *call, const leat_error *why) {
    return call->forks == leati_transport_forks() && call->type->fail(call, why);
}

bool leati_transport_call_abandoned(const leati_transport_call *call) {
    return call->forks != leati_transport_forks() || call->type->abandoned(call);
}

/* ---- waits ---- */

static void wake_gate(leati_cancel_watch *watch) {
    leati_transport_wait *wait =
        (leati_transport_wait *)((char *)watch - offsetof(leati_transport_wait, watch));
    leati_queue_gate_lock(wait->gate);
    leati_queue_gate_wake(wait->gate);
    leati_queue_gate_unlock(wait->gate);
}

void leati_transport_wait_begin(leati_transport_wait *wait, leati_gate *gate, leat_cancel *cancel) {
    *wait = (leati_transport_wait){.gate = gate, .cancel = cancel, .watch = {.fired = wake_gate}};
    if (cancel != NULL)
        leati_cancel_watch_add(cancel, &wait->watch);
}

void leati_transport_wait_end(leati_transport_wait *wait) {
    if (wait->cancel != NULL)
        leati_cancel_watch_remove(wait->cancel, &wait->watch);
}

static leat_status cancelled(leat_error *err) {
    return leati_fail(err, LEAT_CANCELLED, "cancelled while waiting for the other side");
}

leat_status leati_transport_wait_once(leati_transport_wait *wait, int64_t deadline_ns,
                                      leat_error *err) {
    if (leati_cancel_fired(wait->cancel) || leati_stop_stopped())
        return cancelled(err);
    LEATI_TRY(leati_queue_gate_wait(wait->gate, LEATI_WAIT_PEER, deadline_ns, NULL, err));
    return leati_cancel_fired(wait->cancel) || leati_stop_stopped() ? cancelled(err) : LEAT_OK;
}

/* ---- addresses and tokens ---- */

static bool parse_port(const char *text, int *port) {
    int number = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || c - text >= 5)
            return false;
        number = number * 10 + (*c - '0');
    }
    *port = number;
    return number >= 1 && number <= HIGHEST_PORT;
}

leat_status leati_transport_parse_address(const char *address, char *host, size_t room, int *port,
                                          leat_error *err) {
    const char *colon = strrchr(address, ':');
    size_t size = colon != NULL ? (size_t)(colon - address) : 0;
    const char *begin = address;
    bool bracketed = size >= 2 && address[0] == '[' && address[size - 1] == ']';
    if (bracketed) {
        begin++;
        size -= 2;
    }
    /* Without brackets a second colon leaves open where the port begins. */
    if (size == 0 || size >= room || (!bracketed && memchr(begin, ':', size) != NULL) ||
        strcspn(begin, "/ []") < size || !parse_port(colon + 1, port))
        return leati_refuse(err, VALUE,
                            "expected an address host:port with a port of 1 to 65535, such as "
                            "10.0.0.7:5050 or [::1]:5050; found \"%.200s\"",
                            address);
    memcpy(host, begin, size);
    host[size] = '\0';
    return LEAT_OK;
}

leat_status leati_transport_check_security(const leati_transport_security *security, bool serves,
                                           leat_error *err) {
    bool shows = security->tls_cert != NULL, asks = security->tls_ca != NULL;
    if (shows != (security->tls_key != NULL))
        return leati_refuse(err, VALUE,
                            "a certificate and its key go together: only tls_%s is given",
                            shows ? "cert" : "key");
    if (serves && asks && !shows)
        return leati_refuse(err, VALUE,
                            "a server that asks for certificates (tls_ca) has one of its own: set "
                            "tls_cert and tls_key");
    if (!serves && shows && !asks)
        return leati_refuse(err, VALUE,
                            "a client with a certificate (tls_cert) needs that of who signs the "
                            "server's: set tls_ca");
    return LEAT_OK;
}

bool leati_transport_is_secure(const leati_transport_security *security, bool serves) {
    return (serves ? security->tls_cert : security->tls_ca) != NULL;
}

/* Hashes are of one length, so neither length nor place of the difference shows in the time. */
static void hash_token(const char *token, uint8_t out[LEATI_SHA256_BYTES]) {
    leati_sha256 hash;
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, token, strlen(token));
    leati_sha256_end(&hash, out);
}

leat_status leati_transport_check_token(const char *asked, const char *shown, leat_error *err) {
    uint8_t a[LEATI_SHA256_BYTES], b[LEATI_SHA256_BYTES];
    if (asked == NULL)
        return LEAT_OK;
    if (shown == NULL)
        return leati_fail(err, LEAT_UNAUTHENTICATED,
                          "this server asks for a token, and none was sent; set the token of the "
                          "service on both sides");
    hash_token(asked, a);
    hash_token(shown, b);
    if (leati_sha256_same(a, b))
        return LEAT_OK;
    return leati_fail(err, LEAT_UNAUTHENTICATED,
                      "this server asks for another token than the one that was sent; set the "
                      "same token on both sides");
}

/* ---- messages ---- */

void leati_transport_count_copied(size_t bytes) {
    atomic_fetch_add_explicit(&copied, (long long)bytes, memory_order_relaxed);
}

int64_t leati_transport_bytes_copied(void) {
    return atomic_load_explicit(&copied, memory_order_relaxed);
}

size_t leati_transport_parts_size(const leati_transport_part *parts, int num_parts) {
    size_t total = 0;
    for (int i = 0; i < num_parts; i++)
        if (!leati_add_size(total, parts[i].size, &total))
            return SIZE_MAX;
    return total;
}

static void drop_owner(void *context, void *data, size_t size) {
    (void)data;
    (void)size;
    leat_buffer_unref(context);
}

leat_buffer *leati_transport_gather(const leati_transport_part *parts, int num_parts,
                                    leat_error *err) {
    if (num_parts == 1 && parts[0].owner != NULL && (uintptr_t)parts[0].data % ALIGNMENT == 0) {
        leat_buffer *owner = leat_buffer_ref(parts[0].owner);
        if (parts[0].data == leat_buffer_data(owner) && parts[0].size == leat_buffer_size(owner))
            return owner;
        return leat_buffer_adopt((void *)parts[0].data, parts[0].size, drop_owner, owner, err);
    }
    leat_buffer *buffer = leat_buffer_new(leati_transport_parts_size(parts, num_parts), err);
    char *to = buffer != NULL ? leat_buffer_data(buffer) : NULL;
    for (int i = 0; to != NULL && i < num_parts; i++) {
        if (parts[i].size > 0)
            memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
        leati_transport_count_copied(parts[i].size);
    }
    return buffer;
}

/* ---- failures as bytes ---- */

void leati_transport_put_error(leati_writer *out, const leat_error *error) {
    leati_values_put_error(out, error);
}

void leati_transport_get_error(const void *bytes, size_t size, leat_error *out) {
    leati_reader in = {.data = bytes, .size = size};
    leat_error damage = {0};
    if (leati_values_get_error(&in, out, &damage) == LEAT_OK && in.at == size)
        return;
    leati_fail(out, LEAT_UNKNOWN,
               "the other side failed, and says why in %zu bytes that are no failure of leat's; "
               "is it of another version?",
               size);
}
