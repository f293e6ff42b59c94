/* How a process joins its job and leaves it (coll/store.h): rank 0 starts the server, the others
 * connect to it; all greet (coll/greeting.h) and wait for each other.
 *
 * Happy path: a connection, over TLS where the job has it, then a greeting, then the barrier
 * "start". Failures: what can pass is tried again until the deadline, nobody listening and a server
 * that takes nobody for a moment; what cannot is told at once, a certificate or a secret of another
 * job. Locks: none that outlive a call. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/stop.h"
#include "coll/greeting.h"
#include "coll/store_client.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_TIMEOUT_MS = 300000,
    DEFAULT_BEAT_MS = 1000,
    DEFAULT_DEAD_MS = 10000,
    HANDSHAKE_MS = 10000,
    AGAIN_MS = 100
};

// ---- greeting ----

/* Rank 0 has answered with bytes of its own: both sides prove that they have the secret. */
static leat_status prove(leati_store *s, const leati_greeting *g, const leati_store_request *asked,
                         leat_error *err) {
    uint8_t code[LEATI_SHA256_BYTES], nonce[LEATI_GREETING_NONCE];
    leati_store_request r = {0};
    bool good = asked->size == sizeof nonce;
    if (good) {
        memcpy(nonce, asked->bytes, sizeof nonce);
        leati_greeting_prove(s->secret, false, g, nonce, code);
        LEATI_TRY(leati_store_ask(s, LEATI_MESSAGE_PROOF, code, sizeof code, NULL, 0,
                                  s->options.timeout_ms, &r, err));
        leati_greeting_prove(s->secret, true, g, nonce, code);
        good = r.size == sizeof code && leati_sha256_same((const uint8_t *)r.bytes, code);
    }
    leati_free(r.bytes);
    return good ? LEAT_OK
                : leati_fail(err, LEAT_PERMISSION_DENIED,
                             "what answers at %s does not have this job's secret; set "
                             "LEAT_JOB_SECRET to the same text for every process of the job, and "
                             "see who listens there",
                             s->address);
}

static leat_status greet(leati_store *s, leat_error *err) {
    char front[LEATI_GREETING_LONGEST];
    leati_greeting g = {.rank = s->options.rank,
                        .num_ranks = s->options.num_ranks,
                        .has_secret = s->secret != NULL};
    snprintf(g.version, sizeof g.version, "%s", leat_version());
    snprintf(g.name, sizeof g.name, "%s", s->name);
    /* As the other side reads it, since both take the code of it. */
    leati_greeting_clean(g.name);
    if (!leati_random_secret(g.nonce, sizeof g.nonce) && s->secret != NULL)
        return leati_fail(err, LEAT_UNAVAILABLE, "the system has no random numbers");
    size_t size = leati_greeting_write(&g, front);
    leati_store_request r;
    leat_status status = leati_store_ask(s, LEATI_MESSAGE_HELLO, front, size, NULL, 0,
                                         s->options.timeout_ms, &r, err);
    if (status == LEAT_OK && s->secret != NULL)
        status = prove(s, &g, &r, err);
    if (status == LEAT_OK)
        atomic_store(&s->greeted, true);
    leati_free(r.bytes);
    return status;
}

// ---- connecting ----

static leat_status connect_once(leati_store *s, int64_t begin, leat_error *err) {
    int64_t end_ns = begin + s->options.timeout_ms * 1000000;
    s->link.socket = leati_wire_connect(s->address, s->name, end_ns, err);
    if (s->link.socket < 0) {
        return leati_prefix(err,
                            "%s waited %.1f s for rank 0; is it started, and is its address "
                            "right?",
                            s->name, (double)(leati_now_ns() - begin) * 1e-9);
    }
    /* The address by which this host reached rank 0 is one of which the network is known to
     * work. */
    leati_wire_own_host(s->link.socket, s->host, sizeof s->host);
    if (s->options.tls == NULL)
        return LEAT_OK;
    char host[256];
    leati_wire_host_of(s->address, host, sizeof host);
    s->link.tls = leati_tls_new(s->options.tls, s->link.socket, LEATI_TLS_CLIENT, host, err);
    if (s->link.tls == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    int64_t soon_ns = leati_clock_deadline_ns(HANDSHAKE_MS);
    leat_status status = leati_tls_finish(s->link.tls, LEATI_MIN(soon_ns, end_ns), err);
    return status == LEAT_OK ? status : leati_prefix(err, "%s to rank 0", s->name);
}

static void disconnect(leati_store *s) {
    leati_tls_free(s->link.tls);
    s->link.tls = NULL;
    if (s->link.socket >= 0)
        close(s->link.socket);
    s->link.socket = -1;
}

/* Rank 0 has a pair of sockets with its server, which no crowd of strangers can keep it from. */
static leat_status connect_to_server(leati_store *s, int64_t begin, leat_error *err) {
    if (s->server != NULL) {
        leati_wire_host_towards(s->address, s->options.listen, s->host, sizeof s->host);
        return LEAT_OK;
    }
    for (;;) {
        leat_error local = {0};
        leat_status status = connect_once(s, begin, &local);
        /* A server that has no time for a handshake now ends the connection, as one that is about
         * to listen for the next job does. */
        bool again = s->link.tls != NULL &&
                     (status == LEAT_UNAVAILABLE || status == LEAT_DEADLINE_EXCEEDED) &&
                     leati_now_ns() - begin < (s->options.timeout_ms - AGAIN_MS) * 1000000;
        if (!again)
            return status == LEAT_OK ? status : leati_error_pass(err, &local);
        disconnect(s);
        (void)poll(NULL, 0, AGAIN_MS);
        LEATI_TRY(leati_stop_check(err));
    }
}

// ---- life ----

/* Connects, starts the thread and waits for everybody. */
static leat_status join_job(leati_store *s, leat_error *err) {
    int64_t begin = leati_now_ns();
    LEATI_TRY(connect_to_server(s, begin, err));
    s->driver = leati_driver_start("store peer", leati_store_listen, s, err);
    leat_status status = s->driver == NULL ? LEAT_RESOURCE_EXHAUSTED : greet(s, err);
    bool greeted = status == LEAT_OK;
    if (status == LEAT_ABORTED) {
        /* Nobody answered: this was the end of a job before, or of rank 0 at its start. */
        status = err->code = LEAT_UNAVAILABLE;
    }
    int64_t left = s->options.timeout_ms - (leati_now_ns() - begin) / 1000000;
    leati_store_values all = {0};
    if (status == LEAT_OK)
        status = leati_store_barrier(s, "start", NULL, 0, left < 1 ? 1 : left, &all, err);
    leati_store_values_fini(&all);
    /* The others would wait for one that they have seen; without memory it may not know that. Who
     * is missing each of them says itself, at its own deadline. */
    if (status == LEAT_RESOURCE_EXHAUSTED ||
        (greeted && status != LEAT_OK && status != LEAT_DEADLINE_EXCEEDED))
        leati_store_abort(s, err);
    return status;
}

static leat_status prepare(leati_store *s, leat_error *err) {
    s->gate = leati_queue_gate_new("the job's store", NULL, err);
    s->sending = s->gate == NULL ? NULL : leati_queue_gate_new("sending to the store", NULL, err);
    if (s->sending == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (s->name == NULL || s->address == NULL || (s->options.secret != NULL && s->secret == NULL))
        return leati_no_memory(err);
    if (pipe(s->wake) != 0) {
        s->wake[0] = s->wake[1] = -1;
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "%s has no file descriptor for a pipe; raise the limit (ulimit -n)",
                          s->name);
    }
    s->options.name = s->name;
    s->options.address = s->address;
    s->options.secret = s->secret;
    if (s->options.rank == 0) {
        s->server = leati_store_server_start(&s->options, &s->link.socket, err);
        if (s->server == NULL)
            return LEAT_UNAVAILABLE;
    }
    return join_job(s, err);
}

leati_store *leati_store_open(const leati_store_options *options, leat_error *err) {
    if (options->num_ranks < 1 || options->rank < 0 || options->rank >= options->num_ranks) {
        leati_refuse(err, VALUE, "rank %d of %d processes", options->rank, options->num_ranks);
        return NULL;
    }
    leati_store *s = leati_alloc_zero(1, sizeof *s);
    if (s == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    if (leati_greeting_check_secret(options->secret, err) != LEAT_OK) {
        leati_free(s);
        return NULL;
    }
    leat_error local = {0};
    s->link.socket = s->wake[0] = s->wake[1] = -1;
    s->left = UINT64_MAX;
    s->options = *options;
    s->options.timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    s->options.heartbeat_ms = options->heartbeat_ms > 0 ? options->heartbeat_ms : DEFAULT_BEAT_MS;
    s->options.dead_ms = options->dead_ms > 0 ? options->dead_ms : DEFAULT_DEAD_MS;
    s->name = leati_strdup(options->name);
    s->address = leati_strdup(options->address);
    s->secret = options->secret == NULL ? NULL : leati_strdup(options->secret);
    if (prepare(s, &local) != LEAT_OK) {
        leati_store_close(s);
        *err = local;
        return NULL;
    }
    return s;
}

void leati_store_close(leati_store *store) {
    if (store == NULL)
        return;
    if (store->driver != NULL) {
        /* The last beat says how many calls were made, which the good-bye is judged by. */
        leati_store_beat(store);
        leati_store_tell(store, LEATI_MESSAGE_BYE, NULL, 0);
    }
    atomic_store(&store->stop, true);
    if (store->wake[1] >= 0)
        (void)!write(store->wake[1], "", 1);
    leati_driver_join(store->driver);
    disconnect(store);
    /* After this process's own connection is closed: the server waits until all are gone. */
    leati_store_server_stop(store->server);
    for (int i = 0; i < 2; i++)
        if (store->wake[i] >= 0)
            close(store->wake[i]);
    leati_queue_gate_free(store->gate);
    leati_queue_gate_free(store->sending);
    leati_free(store->name);
    leati_free(store->address);
    if (store->secret != NULL)
        explicit_bzero(store->secret, strlen(store->secret));
    leati_free(store->secret);
    leati_free(store);
}
