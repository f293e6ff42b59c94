/* Hosts that are names: where gRPC connects to; see remote.h.
 *
 * gRPC finds names by itself, and never gives back some bytes of each that it looked up; a client
 * that connects again and again would grow. So it is given addresses, and certificates are compared
 * with the name all the same.
 *
 * Happy path: the first call of a channel starts a thread that asks the system, and waits for it.
 * After a failure that may be one of the way the name is looked up again, meanwhile calls go to the
 * old addresses; where it has others now, connections are made anew, and the old ones end with the
 * channel. Failures: UNAVAILABLE for a name that nobody knows, or not in time; the thread holds the
 * channel's memory, since the system may take long: a channel that ends does not wait for it.
 * Locks: the channel's gate. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "run/hosts.h"
#include "service/transport/remote.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ADDRESSES = 16, AGAIN_MS = 1000 };

/* Behind an address that counts on one of the machine's networks alone. */
static void write_scope(const struct addrinfo *at, char out[16]) {
    uint32_t scope = at->ai_family == AF_INET6
                         ? ((const struct sockaddr_in6 *)(const void *)at->ai_addr)->sin6_scope_id
                         : 0;
    out[0] = '\0';
    if (scope != 0)
        (void)snprintf(out, 16, "%%25%" PRIu32, scope);
}

/* "ipv4:a:port,b:port", or where some are of IPv6, "ipv6:[a]:port,..." with the others mapped. */
static void write_target(const struct addrinfo *found, int port, leati_text *out) {
    bool four = true;
    int count = 0;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        four = four && at->ai_family == AF_INET;
    leati_text_addf(out, four ? "ipv4:" : "ipv6:");
    for (const struct addrinfo *at = found; at != NULL && count < MOST_ADDRESSES;
         at = at->ai_next) {
        char text[INET6_ADDRSTRLEN] = "", scope[16];
        const void *address =
            at->ai_family == AF_INET
                ? (const void *)&((const struct sockaddr_in *)(const void *)at->ai_addr)->sin_addr
                : (const void *)&((const struct sockaddr_in6 *)(const void *)at->ai_addr)
                      ->sin6_addr;
        if (inet_ntop(at->ai_family, address, text, sizeof text) == NULL)
            continue;
        leati_text_addf(out, count++ > 0 ? "," : "");
        write_scope(at, scope);
        if (four)
            leati_text_addf(out, "%s:%d", text, port);
        else
            leati_text_addf(out, at->ai_family == AF_INET ? "[::ffff:%s%s]:%d" : "[%s%s]:%d", text,
                            scope, port);
    }
}

static char *look_up(const leati_remote_channel *channel, leat_error *err) {
    struct addrinfo *found = NULL;
    leati_text text = {0};
    int failed = leati_hosts_find(channel->host, "0", &found);
    if (failed != 0) {
        (void)leati_fail(err, LEAT_UNAVAILABLE, "cannot find the host %.200s: %s", channel->host,
                         gai_strerror(failed));
        return NULL;
    }
    write_target(found, channel->port, &text);
    freeaddrinfo(found);
    char *target = leati_text_take(&text);
    if (target == NULL)
        (void)leati_no_memory(err);
    return target;
}

/* The lock is held: connections to other addresses are made anew. False: without memory. */
static bool retire(leati_remote_channel *channel) {
    for (int i = 0; i < channel->num_connections; i++) {
        void *retired = channel->retired;
        if (channel->connections[i] == NULL)
            continue;
        if (!leati_grow(&retired, &channel->retired_capacity, channel->num_retired + 1,
                        sizeof(leati_grpc_connection *)))
            return false;
        channel->retired = retired;
        channel->retired[channel->num_retired++] = channel->connections[i];
        channel->connections[i] = NULL;
    }
    return true;
}

static void lookup_main(void *context) {
    leati_remote_channel *channel = context;
    leat_error err = {0};
    char *target = look_up(channel, &err);
    leati_queue_gate_lock(channel->side.gate);
    channel->looking = false;
    channel->doubted = false;
    channel->looked_ns = leati_now_ns();
    channel->lookup = err;
    bool same = target == NULL || channel->side.closing ||
                (channel->target != NULL && strcmp(target, channel->target) == 0);
    if (!same && retire(channel)) {
        char *old = channel->target;
        channel->target = target;
        target = old;
    } else if (!same) {
        (void)leati_no_memory(&channel->lookup);
    }
    leati_queue_gate_wake(channel->side.gate);
    leati_queue_gate_unlock(channel->side.gate);
    leati_free(target);
    leati_remote_side_unref(&channel->side);
}

/* The lock is held, which a thread that looks no more does not take again. */
static leat_status begin_lookup(leati_remote_channel *channel, leat_error *err) {
    if (channel->has_looked)
        pthread_join(channel->lookup_thread.handle, NULL);
    atomic_fetch_add(&channel->side.references, 1);
    channel->looking = channel->has_looked = true;
    if (leati_thread_start(&channel->lookup_thread, "leat-names", lookup_main, channel, err) ==
        LEAT_OK)
        return LEAT_OK;
    channel->looking = channel->has_looked = false;
    atomic_fetch_sub(&channel->side.references, 1); /* the caller has another one */
    return err->code;
}

/* The lock is held: is there reason to ask the system, and was that not just done? */
static bool is_lookup_due(const leati_remote_channel *channel) {
    if (channel->looking || channel->target == NULL)
        return !channel->looking;
    return channel->doubted && leati_now_ns() - channel->looked_ns >= AGAIN_MS * INT64_C(1000000);
}

leat_status leati_remote_names_find(leati_remote_channel *channel, int64_t deadline_ns,
                                    leat_cancel *cancel, leat_error *err) {
    leati_transport_wait wait;
    leat_status status = LEAT_OK;
    if (channel->host == NULL)
        return LEAT_OK;
    leati_transport_wait_begin(&wait, channel->side.gate, cancel);
    leati_queue_gate_lock(channel->side.gate);
    if (is_lookup_due(channel))
        status = begin_lookup(channel, err);
    while (status == LEAT_OK && channel->target == NULL && channel->looking)
        status = leati_transport_wait_once(&wait, deadline_ns, err);
    if (status == LEAT_DEADLINE_EXCEEDED)
        status = leati_fail(err, LEAT_UNAVAILABLE, "the host %.200s was not found in time",
                            channel->host);
    else if (status == LEAT_OK && channel->target == NULL)
        status = channel->lookup.code != LEAT_OK
                     ? leati_error_pass(err, &channel->lookup)
                     : leati_fail(err, LEAT_UNAVAILABLE, "the channel is closing");
    leati_queue_gate_unlock(channel->side.gate);
    leati_transport_wait_end(&wait);
    return status;
}

void leati_remote_names_end(leati_remote_channel *channel) {
    leati_queue_gate_lock(channel->side.gate);
    bool looking = channel->looking, has_looked = channel->has_looked;
    channel->has_looked = false;
    leati_queue_gate_unlock(channel->side.gate);
    if (has_looked && looking)
        pthread_detach(channel->lookup_thread.handle);
    else if (has_looked)
        pthread_join(channel->lookup_thread.handle, NULL);
}

void leati_remote_names_doubt(leati_remote_channel *channel, const leati_grpc_end *end) {
    if (channel->host == NULL || end->code == 0 || end->details.size > 0)
        return;
    leati_queue_gate_lock(channel->side.gate);
    channel->doubted = true;
    leati_queue_gate_unlock(channel->side.gate);
}
