/* The store's client (coll/store.h): one connection and a thread that reads it and sends beats.
 *
 * A call sends a message with a number of its own, and waits at the gate until the thread has
 * brought the answer. Deadlines are the server's, which knows who is missing; a server that does
 * not answer is noticed by its silence. Locks: the gate guards the requests and the failure; a
 * second gate orders senders and is held while a small message is sent. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "base/text.h"
#include "coll/store_client.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The first beats come faster, each after twice the time: what a rank does in its first second is
 * known, too. */
enum { FIRST_BEAT_MS = 16 };

// ---- failure ----

/* Ends every wait, the present and the later ones, with the first reason; `lost` knows it before
 * those who wait. */
static void fail_store(leati_store *s, leat_status code, const char *text) {
    leati_queue_gate_lock(s->gate);
    /* While the store closes, connections break as they should. */
    bool first = !s->failing && !atomic_load(&s->stop);
    if (first) {
        s->failing = true;
        leati_fail(&s->reason, code, "%s", text);
    }
    leat_error reason = s->reason;
    leati_queue_gate_unlock(s->gate);
    if (!first)
        return;
    /* Without the gate: it aborts collectives, which may call the store. */
    if (s->options.lost != NULL)
        s->options.lost(s->options.context, &reason);
    leati_queue_gate_lock(s->gate);
    s->failed = true;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
}

/* A call beyond the last one of a rank that has left. */
static void check_left(leati_store *s, uint64_t calls) {
    char text[sizeof s->reason.text];
    leati_queue_gate_lock(s->gate);
    /* A rank that left in order is missed only by who makes more calls than it did. */
    bool beyond = calls > s->left;
    snprintf(text, sizeof text,
             "%.200s has left the job after %llu exchanges, and this is number %llu; give all "
             "workers as many steps",
             s->left_name, (unsigned long long)s->left, (unsigned long long)calls);
    leati_queue_gate_unlock(s->gate);
    if (beyond)
        fail_store(s, LEAT_ABORTED, text);
}

// ---- the thread ----

static void note_left(leati_store *s, const leati_message_head *head, const char *payload) {
    uint64_t calls = 0;
    if (head->size <= sizeof calls)
        return;
    memcpy(&calls, payload, sizeof calls);
    leati_queue_gate_lock(s->gate);
    /* The one that left earliest counts. */
    if (calls < s->left) {
        s->left = calls;
        snprintf(s->left_name, sizeof s->left_name, "%.*s", (int)(head->size - sizeof calls),
                 payload + sizeof calls);
    }
    leati_queue_gate_unlock(s->gate);
    atomic_store(&s->anybody_left, true);
    /* This rank may be in the call already, in which it would wait for the other. */
    check_left(s, atomic_load(&s->calls));
}

static void deliver(leati_store *s, const leati_message_head *head, const char *payload) {
    leati_queue_gate_lock(s->gate);
    leati_store_request *at = s->requests;
    while (at != NULL && at->number != head->request)
        at = at->next;
    if (at != NULL && head->kind == LEATI_MESSAGE_FAILED) {
        at->status = leati_wire_read_failure(payload, head->size, &at->err);
    } else if (at != NULL) {
        at->size = head->size;
        /* A copy: the payload lies in the buffer that the next message overwrites. */
        at->bytes = leati_strndup(payload, head->size);
        at->status = at->bytes == NULL ? leati_no_memory(&at->err) : LEAT_OK;
    }
    if (at != NULL)
        at->done = true;
    /* All who wait share the gate and look whether theirs is done. */
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
}

/* Says who says so, because the text may reach ranks that have not lost rank 0. */
static void lose_server(leati_store *s, const char *why) {
    char text[sizeof s->reason.text], doing[160];
    leati_wire_describe_heartbeat(&s->server_beat, s->heard_ns, doing, sizeof doing);
    snprintf(text, sizeof text,
             "%.80s lost rank 0 (%.80s, %s): %.100s; start the job again from its last checkpoint",
             s->name, s->address, doing, why);
    fail_store(s, LEAT_ABORTED, text);
}

/* False: the connection is of no more use. */
static bool listen_once(leati_store *s, leati_wire_buffer *in) {
    leat_error err = {0};
    leat_status status =
        leati_wire_receive_by(&s->link, in, LEATI_WIRE_MOST + sizeof(leati_message_head), &err);
    leati_message_head head;
    char *payload = NULL;
    bool bad = false;
    if (status == LEAT_OK)
        s->heard_ns = leati_now_ns();
    while (leati_wire_next(in, LEATI_WIRE_MOST, &head, &payload, &bad)) {
        leat_error why = {0};
        bool answers = head.kind == LEATI_MESSAGE_OK || head.kind == LEATI_MESSAGE_FAILED;
        /* What answers may not be rank 0 before it has shown that it is: it gives answers alone. */
        if (!answers && s->secret != NULL && !atomic_load(&s->greeted))
            continue;
        if (head.kind == LEATI_MESSAGE_LOST) {
            leat_status code = leati_wire_read_failure(payload, head.size, &why);
            fail_store(s, code, why.text);
        } else if (head.kind == LEATI_MESSAGE_LEFT) {
            note_left(s, &head, payload);
        } else if (head.kind == LEATI_MESSAGE_BEAT) {
            memcpy(&s->server_beat, payload, LEATI_MIN(head.size, sizeof s->server_beat));
        } else {
            deliver(s, &head, payload);
        }
    }
    if (status == LEAT_RESOURCE_EXHAUSTED) {
        /* This rank's own fault: the others hear it from itself, as long as it can speak. */
        leati_store_abort(s, &err);
        fail_store(s, status, err.text);
        return false;
    }
    if (bad || status != LEAT_OK) {
        lose_server(s, bad ? "it sent what is no message" : err.text);
        return false;
    }
    return true;
}

LEAT_WARN_UNUSED static leat_status send_message(leati_store *s, leati_message_kind kind,
                                                 uint64_t number, const void *a, size_t a_size,
                                                 const void *b, size_t b_size, leat_error *err) {
    leati_queue_gate_lock(s->sending);
    leat_status status = leati_wire_send_by(&s->link, kind, number, a, a_size, b, b_size, err);
    leati_queue_gate_unlock(s->sending);
    return status == LEAT_OK ? status : leati_prefix(err, "%s to rank 0", s->name);
}

void leati_store_tell(leati_store *s, leati_message_kind kind, const void *bytes, size_t size) {
    /* So that the reading thread finds the connection broken, and reports it by its own way. */
    if (send_message(s, kind, 0, bytes, size, NULL, 0, &(leat_error){0}) != LEAT_OK)
        (void)shutdown(s->link.socket, SHUT_RDWR);
}

void leati_store_beat(leati_store *s) {
    /* Two loads, so a beat may mix two moments; it is for reports alone. */
    leati_beat now = {.calls = atomic_load(&s->calls), .phase = atomic_load(&s->phase)};
    if (now.phase == LEATI_PHASE_INPUT && s->options.stage != NULL)
        s->options.stage(s->options.context, now.stage, sizeof now.stage);
    leati_store_tell(s, LEATI_MESSAGE_BEAT, &now, sizeof now);
}

void leati_store_listen(void *context) {
    leati_store *s = context;
    leati_wire_buffer in = {0};
    int64_t next_ns = leati_now_ns(), dead_ns = s->options.dead_ms * 1000000;
    int64_t pause_ms = FIRST_BEAT_MS;
    bool open = true;
    s->heard_ns = next_ns;
    while (!atomic_load(&s->stop)) {
        int64_t now = leati_now_ns();
        if (now >= next_ns) {
            /* A rank lives from its greeting on. */
            if (atomic_load(&s->greeted))
                leati_store_beat(s);
            pause_ms = LEATI_MIN(pause_ms, s->options.heartbeat_ms);
            next_ns = now + pause_ms * 1000000;
            pause_ms *= 2;
        }
        /* poll leaves a negative descriptor out: without a connection the thread waits to be
         * stopped. */
        struct pollfd polled[2] = {{.fd = s->wake[0], .events = POLLIN},
                                   {.fd = open ? s->link.socket : -1, .events = POLLIN}};
        int ready = poll(polled, 2, (int)((next_ns - now) / 1000000 + 1));
        if (ready > 0 && polled[1].revents != 0) {
            do
                open = listen_once(s, &in);
            while (open && leati_wire_has_more(&s->link));
            /* Only when nothing is waiting to be read: a process that was stopped first reads what
             * came. */
        } else if (ready == 0 && open && leati_now_ns() - s->heard_ns > dead_ns) {
            char why[80];
            snprintf(why, sizeof why, "nothing was heard of it for %.1f s",
                     (double)(leati_now_ns() - s->heard_ns) * 1e-9);
            lose_server(s, why);
            open = false;
        }
    }
    leati_wire_fini(&in);
}

// ---- calls ----

static void unlink_request(leati_store *s, leati_store_request *r) {
    leati_store_request **at = &s->requests;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

/* Until somebody wakes the gate, whose lock is held, or the thread is to stop. */
static leat_status wait_once(const leati_store *s, int64_t deadline_ns, leat_error *err) {
    int64_t slice_ns = leati_now_ns() + LEATI_STOP_SLICE_NS;
    bool whole = !leati_stop_may_come() || slice_ns >= deadline_ns;
    leat_error local = {0};
    leat_status status = leati_queue_gate_wait(s->gate, LEATI_WAIT_PEER,
                                               whole ? deadline_ns : slice_ns, NULL, &local);
    if (status == LEAT_DEADLINE_EXCEEDED && !whole) {
        leati_queue_gate_unlock(s->gate);
        status = leati_stop_check(&local);
        leati_queue_gate_lock(s->gate);
    }
    return status != LEAT_OK ? leati_error_pass(err, &local) : LEAT_OK;
}

leat_status leati_store_ask(leati_store *s, leati_message_kind kind, const void *a, size_t a_size,
                            const void *b, size_t b_size, int64_t timeout_ms,
                            leati_store_request *r, leat_error *err) {
    *r = (leati_store_request){0};
    leat_error local = {0};
    leati_queue_gate_lock(s->gate);
    r->number = ++s->number;
    r->next = s->requests;
    /* Before sending: the answer may come before send_message returns. */
    s->requests = r;
    leati_queue_gate_unlock(s->gate);
    leat_status status = send_message(s, kind, r->number, a, a_size, b, b_size, &local);
    /* The server's deadline comes first, unless it is gone. */
    int64_t deadline = leati_now_ns() + (timeout_ms + s->options.dead_ms) * 1000000;
    leati_queue_gate_lock(s->gate);
    while (status == LEAT_OK && !r->done && !s->failed)
        status = wait_once(s, deadline, &local);
    if (s->failed && !r->done) {
        local = s->reason;
        status = s->reason.code;
    } else if (r->done) {
        local = r->err;
        status = r->status;
    } else if (status == LEAT_DEADLINE_EXCEEDED) {
        (void)leati_prefix(&local, "%s has no answer of rank 0", s->name);
    }
    /* Under the gate, since the thread may be about to write into it; then the stack is free
     * again. */
    unlink_request(s, r);
    leati_queue_gate_unlock(s->gate);
    if (status != LEAT_OK) {
        leati_free(r->bytes);
        r->bytes = NULL;
        *err = local;
    }
    return status;
}

/* An optional time and a terminated name in one piece (leati_free); NULL without memory. */
static char *named(const char *name, const int64_t *timeout_ms, size_t *size, leat_error *err) {
    size_t at = timeout_ms == NULL ? 0 : sizeof *timeout_ms;
    *size = at + strlen(name) + 1;
    char *bytes = leati_alloc(*size, 1);
    if (bytes == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    if (timeout_ms != NULL)
        memcpy(bytes, timeout_ms, sizeof *timeout_ms);
    memcpy(bytes + at, name, *size - at);
    return bytes;
}

static leat_status ask_named(leati_store *s, leati_message_kind kind, const char *name,
                             int64_t timeout_ms, const void *value, size_t value_size,
                             leati_store_request *r, leat_error *err) {
    size_t size = 0;
    /* Setting a key waits for nobody. */
    bool timed = kind != LEATI_MESSAGE_SET;
    char *front = named(name, timed ? &timeout_ms : NULL, &size, err);
    if (front == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_store_ask(s, kind, front, size, value, value_size,
                                         timed ? timeout_ms : s->options.timeout_ms, r, err);
    leati_free(front);
    return status;
}

leat_status leati_store_set(leati_store *store, const char *key, const void *value, size_t size,
                            leat_error *err) {
    leati_store_request r;
    leat_status status = ask_named(store, LEATI_MESSAGE_SET, key, 0, value, size, &r, err);
    if (status == LEAT_OK)
        leati_free(r.bytes);
    return status;
}

leat_status leati_store_get(leati_store *store, const char *key, int64_t timeout_ms, char **value,
                            size_t *size, leat_error *err) {
    leati_store_request r;
    leat_status status = ask_named(store, LEATI_MESSAGE_GET, key, timeout_ms, NULL, 0, &r, err);
    *value = status == LEAT_OK ? r.bytes : NULL;
    *size = status == LEAT_OK ? r.size : 0;
    return status;
}

leat_status leati_store_barrier(leati_store *store, const char *name, const void *value,
                                size_t size, int64_t timeout_ms, leati_store_values *out,
                                leat_error *err) {
    leati_store_request r;
    *out = (leati_store_values){0};
    leat_status status =
        ask_named(store, LEATI_MESSAGE_MEET, name, timeout_ms, value, size, &r, err);
    if (status != LEAT_OK)
        return status;
    return leati_store_values_read(r.bytes, r.size, store->options.num_ranks, out, err);
}

leat_status leati_store_agree(leati_store *store, const char *what, const char *value,
                              int64_t timeout_ms, leat_error *err) {
    leati_store_values all;
    leati_text with_name = {0};
    /* With the name, so that whoever differs can be told to all without another exchange. */
    leati_text_addf(&with_name, "%s\n%s", store->name, value);
    leat_status status = with_name.failed
                             ? leati_no_memory(err)
                             : leati_store_barrier(store, what, with_name.data, with_name.size,
                                                   timeout_ms, &all, err);
    leati_text_fini(&with_name);
    if (status != LEAT_OK)
        return status;
    status = leati_store_values_same(&all, store->options.num_ranks, what, err);
    leati_store_values_fini(&all);
    return status;
}

void leati_store_abort(leati_store *store, const leat_error *why) {
    leati_store_tell(store, LEATI_MESSAGE_ABORT, why->text, strlen(why->text));
}

void leati_store_note(leati_store *store, uint64_t calls, leati_store_phase phase) {
    atomic_store(&store->calls, calls);
    atomic_store(&store->phase, (int)phase);
    /* A flag without a lock, because each exchange passes here and almost never has anybody
     * left. */
    if (atomic_load(&store->anybody_left) && phase == LEATI_PHASE_COLLECTIVE)
        check_left(store, calls);
}

void leati_store_note_phase(leati_store *store, leati_store_phase phase) {
    atomic_store(&store->phase, (int)phase);
}

void leati_store_stalled(leati_store *store, char *text, size_t size) {
    leati_store_request r;
    text[0] = '\0';
    if (leati_store_ask(store, LEATI_MESSAGE_STALLED, NULL, 0, NULL, 0, 1000, &r,
                        &(leat_error){0}) == LEAT_OK) {
        snprintf(text, size, "%s", r.bytes);
        leati_free(r.bytes);
    }
}

const char *leati_store_host(const leati_store *store) {
    return store->host;
}

leati_tls_context *leati_store_tls(const leati_store *store) {
    return store->options.tls;
}

leat_status leati_store_check(leati_store *store, leat_error *err) {
    leati_queue_gate_lock(store->gate);
    leat_error reason = store->reason;
    /* Not only once `lost` has been told, which may wait for the caller. */
    bool failed = store->failing;
    leati_queue_gate_unlock(store->gate);
    return failed ? leati_error_pass(err, &reason) : LEAT_OK;
}
