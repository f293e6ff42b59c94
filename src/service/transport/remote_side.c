/* What servers and channels between processes have in common: lists of what is under way, and the
 * words of gRPC for addresses and failures. */
#include "service/transport/remote.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

bool leati_remote_side_join(leati_remote_side *side, int list, leati_remote_link *link) {
    leati_queue_gate_lock(side->gate);
    bool joins = !side->closing;
    if (joins) {
        link->previous = NULL;
        link->next = side->lists[list];
        if (link->next != NULL)
            link->next->previous = link;
        side->lists[list] = link;
        side->num_running++;
        atomic_fetch_add(&side->references, 1);
    }
    leati_queue_gate_unlock(side->gate);
    return joins;
}

void leati_remote_side_leave(leati_remote_side *side, int list, leati_remote_link *link) {
    leati_queue_gate_lock(side->gate);
    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        side->lists[list] = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
}

void leati_remote_side_run(leati_remote_side *side) {
    atomic_fetch_add(&side->references, 1);
    leati_queue_gate_lock(side->gate);
    side->num_running++;
    leati_queue_gate_unlock(side->gate);
}

void leati_remote_side_stop(leati_remote_side *side) {
    leati_queue_gate_lock(side->gate);
    side->num_running--;
    leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
    leati_remote_side_unref(side);
}

void leati_remote_side_sends(leati_remote_side *side) {
    atomic_fetch_add(&side->references, 1);
    leati_queue_gate_lock(side->gate);
    side->num_frames++;
    leati_queue_gate_unlock(side->gate);
}

void leati_remote_side_released(void *context) {
    leati_remote_side *side = context;
    leati_queue_gate_lock(side->gate);
    if (--side->num_frames == 0)
        leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
    leati_remote_side_unref(side);
}

leati_remote_link *leati_remote_side_next(leati_remote_side *side, int list, int pass,
                                          void (*ref)(leati_remote_link *link)) {
    leati_queue_gate_lock(side->gate);
    leati_remote_link *link = side->lists[list];
    while (link != NULL && link->pass >= pass)
        link = link->next;
    if (link != NULL) {
        link->pass = pass;
        ref(link);
    }
    leati_queue_gate_unlock(side->gate);
    return link;
}

void leati_remote_side_unref(leati_remote_side *side) {
    if (atomic_fetch_sub(&side->references, 1) != 1)
        return;
    leati_queue_gate_free(side->gate);
    side->free(side);
}

/* What gRPC says by itself of a connection that does not work, it says with several codes. */
static leat_status own_code(int code) {
    switch (code) {
    case LEAT_CANCELLED:
    case LEAT_UNKNOWN:
    case LEAT_INTERNAL:
    case LEAT_ABORTED: return LEAT_UNAVAILABLE;
    default: return leati_error_is_code(code) ? (leat_status)code : LEAT_UNAVAILABLE;
    }
}

void leati_remote_error(const leati_grpc_end *end, const char *address, leat_error *out) {
    if (end->code == 0)
        *out = (leat_error){0};
    else if (end->details.size > 0)
        leati_transport_get_error(end->details.data, end->details.size, out);
    else if (address[0] != '\0')
        leati_fail(out, own_code(end->code), "grpc://%.200s: %.300s", address, end->text);
    else
        leati_fail(out, own_code(end->code), "%.400s", end->text);
}

leati_grpc_end leati_remote_end(const leat_error *why, leati_writer *bytes) {
    if (why->code == LEAT_OK)
        return (leati_grpc_end){.text = ""};
    leati_transport_put_error(bytes, why);
    return (leati_grpc_end){.code = (int)why->code,
                            .text = why->text,
                            .details = {bytes->data, bytes->failed ? 0 : bytes->size}};
}

/* The brackets of an IPv6 address are escaped in some versions. */
void leati_remote_peer(const char *peer, char *out, size_t room) {
    const char *begin = strchr(peer, ':'), *end = strrchr(peer, ':');
    out[0] = '\0';
    if (begin == NULL || end <= begin)
        return;
    begin++;
    if (strncmp(begin, "%5B", 3) == 0 && end - begin > 6)
        snprintf(out, room, "%.*s", (int)(end - begin - 6), begin + 3);
    else if (*begin == '[' && end - begin > 2)
        snprintf(out, room, "%.*s", (int)(end - begin - 2), begin + 1);
    else
        snprintf(out, room, "%.*s", (int)(end - begin), begin);
}

void leati_remote_target(const char *host, int port, char *out, size_t room) {
    /* gRPC reads it as an URI, where the sign before a scope (fe80::1%eth0) is written so. */
    int size = (int)strcspn(host, "%");
    const char *scope = host[size] != '\0' ? host + size + 1 : "";
    if (strchr(host, ':') != NULL)
        snprintf(out, room, "ipv6:[%.*s%s%s]:%d", size, host, host[size] != '\0' ? "%25" : "",
                 scope, port);
    else
        snprintf(out, room, "ipv4:%s:%d", host, port);
}
