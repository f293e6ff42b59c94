/* The store's server: one thread that polls the listening sockets and a connection per rank.
 *
 * Happy path: a rank greets (coll/store_greet.c) and is known from then on; what it sets, asks for
 * and meets at is kept in coll/store_keys. Beats are remembered for stall reports, and answered by
 * the server's own, so that its silence is noticed.
 *
 * Failures: a refused greeting answers with its reason and closes. Who does not greet in time is
 * closed, and of those who have not, the oldest where there are too many. A connection that breaks
 * without a good-bye, or a rank that is silent for `dead_ms`, ends the job: all that wait and all
 * that live are told. Without memory for a message its connection is closed. Locks: none; the
 * thread owns all but the flag, which `stop` sets. */
#include "coll/store_server.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "coll/store_job.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TICK_MS = 50 };

typedef leati_store_peer peer;
typedef leati_store_member member;

// ---- answers ----

void leati_store_job_tell(peer *to, leati_message_kind kind, uint64_t request, const void *a,
                          size_t a_size, const void *b, size_t b_size) {
    if (leati_wire_send_by(&to->link, kind, request, a, a_size, b, b_size, &(leat_error){0}) !=
        LEAT_OK)
        (void)shutdown(to->link.socket, SHUT_RDWR);
}

static void answer(void *context, int rank, uint64_t request, const void *a, size_t a_size,
                   const void *b, size_t b_size) {
    peer *to = ((leati_store_server *)context)->members[rank].peer;
    /* Request 0 is a message that wants no answer. */
    if (to != NULL && request != 0)
        leati_store_job_tell(to, LEATI_MESSAGE_OK, request, a, a_size, b, b_size);
}

void leati_store_job_refuse(peer *to, uint64_t request, leat_status code, const char *text) {
    int32_t status = (int32_t)code;
    leati_store_job_tell(to, LEATI_MESSAGE_FAILED, request, &status, sizeof status, text,
                         strlen(text));
}

static void refuse_rank(void *context, int rank, uint64_t request, leat_status code,
                        const char *text) {
    peer *to = ((leati_store_server *)context)->members[rank].peer;
    if (to != NULL)
        leati_store_job_refuse(to, request, code, text);
}

static void add_name(void *context, int rank, leati_text *text) {
    const leati_store_server *s = context;
    const char *name = s->members[rank].name;
    const char *known =
        name == NULL && s->rank_name != NULL ? s->rank_name(s->context, rank) : NULL;
    if (name != NULL)
        leati_text_addf(text, "%s", name);
    else if (known != NULL && *known != '\0')
        leati_text_addf(text, "%s, which has not connected", known);
    else
        leati_text_addf(text, "rank %d, which has not connected", rank);
}

/* Behind the names of those who are missing: who came and was refused may be one of them. */
static void add_refused(void *context, leati_text *text) {
    const leati_store_server *s = context;
    if (s->refused.size > 0 && !s->refused.failed)
        leati_text_addf(text, "; refused before: %s", s->refused.data);
    if (s->hidden != NULL)
        leati_text_addf(text, "; %s", s->hidden);
}

// ---- the job's end ----

void leati_store_job_fail(leati_store_server *s, leat_status code, const char *text) {
    if (s->failed)
        return;
    /* Once: ranks whose connection breaks from now on must not fail the job again. */
    s->failed = true;
    leati_fail(&s->reason, code, "%s", text);
    int32_t status = (int32_t)code;
    for (int r = 0; r < s->num_ranks; r++) {
        if (s->members[r].peer != NULL) {
            leati_store_job_tell(s->members[r].peer, LEATI_MESSAGE_LOST, 0, &status, sizeof status,
                                 s->reason.text, strlen(s->reason.text));
        }
    }
}

static void lose(leati_store_server *s, int rank, const char *why) {
    char text[sizeof s->reason.text], doing[160];
    const member *m = &s->members[rank];
    leati_wire_describe_heartbeat(&m->beat, m->heard_ns, doing, sizeof doing);
    snprintf(
        text, sizeof text,
        "lost %.120s (rank %d of %d, %s): %.120s; start the job again from its last checkpoint",
        m->name, rank, s->num_ranks, doing, why);
    leati_store_job_fail(s, LEAT_ABORTED, text);
}

/* A rank leaves in order: whoever goes further than it did waits in vain. */
static void say_bye(leati_store_server *s, int rank) {
    member *m = &s->members[rank];
    /* Of its last beat, which a closing rank sends just before its good-bye. */
    uint64_t calls = m->beat.calls;
    m->bye = true;
    for (int r = 0; r < s->num_ranks; r++) {
        if (r != rank && s->members[r].peer != NULL) {
            leati_store_job_tell(s->members[r].peer, LEATI_MESSAGE_LEFT, 0, &calls, sizeof calls,
                                 m->name, strlen(m->name) + 1);
        }
    }
}

// ---- messages ----

/* Who holds the others up: those who made the fewest calls, with what they did last. */
static void report_stalled(leati_store_server *s, int rank, uint64_t request) {
    uint64_t least = UINT64_MAX, most = 0;
    for (int r = 0; r < s->num_ranks; r++) {
        uint64_t calls = s->members[r].beat.calls;
        least = LEATI_MIN(calls, least);
        most = LEATI_MAX(calls, most);
    }
    leati_text text = {0};
    int count = 0;
    /* Where all made as many calls nobody holds anybody up. */
    for (int r = 0; r < s->num_ranks && least < most; r++) {
        const member *m = &s->members[r];
        if (m->beat.calls != least || ++count > 4)
            continue;
        char doing[160];
        leati_wire_describe_heartbeat(&m->beat, m->heard_ns, doing, sizeof doing);
        leati_text_addf(&text, "%s%s was %s, where others made %llu", count > 1 ? "; " : "",
                        m->name == NULL ? "an absent rank" : m->name, doing,
                        (unsigned long long)most);
    }
    answer(s, rank, request, text.data, text.failed ? 0 : text.size, NULL, 0);
    leati_text_fini(&text);
}

/* A message with a time and a terminated name in front: sets the rest. False: it is not whole. */
static bool split_named(const leati_message_head *head, char *payload, bool timed,
                        int64_t *timeout_ms, const char **name, const char **rest, size_t *size) {
    size_t at = timed ? sizeof *timeout_ms : 0;
    if (head->size <= at || memchr(payload + at, '\0', head->size - at) == NULL)
        return false;
    if (timed)
        memcpy(timeout_ms, payload, sizeof *timeout_ms);
    *name = payload + at;
    at += strlen(*name) + 1;
    *rest = payload + at;
    *size = head->size - at;
    return true;
}

/* False: the connection is to be closed. */
static bool serve(leati_store_server *s, peer *from, const leati_message_head *head,
                  char *payload) {
    if (from->rank < 0)
        return leati_store_job_greet(s, from, head, payload);
    int64_t timeout_ms = 0;
    const char *name = NULL, *rest = NULL;
    size_t size = 0;
    bool timed = head->kind != LEATI_MESSAGE_SET;
    member *m = &s->members[from->rank];
    switch (head->kind) {
    case LEATI_MESSAGE_BEAT:
        if (head->size == sizeof m->beat)
            memcpy(&m->beat, payload, sizeof m->beat);
        if (from->rank == 0)
            s->next_beat_ns = 0; /* the others hear it at once */
        return true;
    case LEATI_MESSAGE_ABORT: {
        char text[500];
        snprintf(text, sizeof text, "%s failed: %.*s", m->name, (int)head->size, payload);
        leati_store_job_fail(s, LEAT_ABORTED, text);
        return true;
    }
    case LEATI_MESSAGE_STALLED: report_stalled(s, from->rank, head->request); return true;
    case LEATI_MESSAGE_BYE: say_bye(s, from->rank); return true;
    case LEATI_MESSAGE_SET:
    case LEATI_MESSAGE_GET:
    case LEATI_MESSAGE_MEET: break;
    default: return false;
    }
    /* Checked before the failure is told: what is no message ends its connection in any case. */
    if (!split_named(head, payload, timed, &timeout_ms, &name, &rest, &size))
        return false;
    if (s->failed) {
        leati_store_job_refuse(from, head->request, s->reason.code, s->reason.text);
        return true;
    }
    return head->kind == LEATI_MESSAGE_SET
               ? leati_store_keys_set(&s->keys, from->rank, head->request, name, rest, size)
           : head->kind == LEATI_MESSAGE_GET
               ? leati_store_keys_get(&s->keys, from->rank, head->request, timeout_ms, name)
               : leati_store_keys_meet(&s->keys, from->rank, head->request, timeout_ms, name, rest,
                                       size);
}

// ---- connections ----

static void drop(leati_store_server *s, peer **at, const char *why) {
    peer *p = *at;
    *at = p->next;
    if (p->rank < 0) {
        s->num_strangers--;
        if (p->cost_ns > 0)
            leati_store_door_blame(&s->door, p->link.socket, p->cost_ns, leati_now_ns());
    } else {
        member *m = &s->members[p->rank];
        /* lose() tells all that are left, and this one is not. */
        m->peer = NULL;
        if (!m->bye)
            lose(s, p->rank, why);
    }
    leati_tls_free(p->link.tls);
    close(p->link.socket);
    leati_wire_fini(&p->in);
    leati_free(p);
}

/* The stranger who came first goes: who keeps connections without greeting keeps nobody out. */
static bool drop_oldest_stranger(leati_store_server *s) {
    peer **oldest = NULL;
    for (peer **at = &s->peers; *at != NULL; at = &(*at)->next)
        if ((*at)->rank < 0 && !(*at)->is_own)
            oldest = at;
    if (oldest != NULL)
        drop(s, oldest, "");
    return oldest != NULL;
}

/* `own`: rank 0's, a pair of sockets that needs no TLS. */
static leat_status adopt(leati_store_server *s, int connection, bool own, leat_error *err) {
    if (s->num_strangers >= s->num_ranks + LEATI_STORE_JOB_STRANGERS)
        (void)drop_oldest_stranger(s);
    peer *p = leati_alloc_zero(1, sizeof *p);
    if (p != NULL)
        p->link.socket = connection;
    leat_status status = p == NULL                ? leati_no_memory(err)
                         : s->tls != NULL && !own ? leati_store_job_begin_shaking(s, p, err)
                                                  : LEAT_OK;
    if (status != LEAT_OK) {
        close(connection);
        leati_free(p);
        return status;
    }
    /* Nobody who has stopped reading holds up the others, and an answer does not wait until the
     * beat before it was acknowledged (which is nothing to a pair of sockets). */
    p->link.send_ms = 1000;
    (void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = 1},
                     sizeof(struct timeval));
    (void)setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    p->is_own = own;
    p->rank = -1;
    leati_store_job_hold(p, LEATI_STORE_JOB_HELD);
    p->heard_ns = p->since_ns = leati_now_ns();
    p->next = s->peers;
    s->peers = p;
    s->num_strangers++;
    return LEAT_OK;
}

leat_status leati_store_server_adopt(leati_store_server *s, int connection, leat_error *err) {
    return adopt(s, connection, false, err);
}

/* Somebody waits, and no descriptor can be had. Where fewer are left than ranks are missing, so
 * that they cannot come, this is said at once, and they are not waited for. */
static void lack_descriptors(leati_store_server *s, int64_t now) {
    char text[sizeof s->reason.text];
    if (s->num_strangers < s->num_ranks - s->num_here) {
        snprintf(text, sizeof text,
                 "rank 0 has no file descriptor left for the connections of the others (%d of %d "
                 "processes are there); raise its limit of open files (ulimit -n)",
                 s->num_here, s->num_ranks);
        if (s->lack_ns == 0)
            leati_log(LEAT_LOG_WARNING, "%s", text);
        else if (now - s->lack_ns > s->dead_ns / 4)
            leati_store_job_fail(s, LEAT_RESOURCE_EXHAUSTED, text);
    }
    if (s->lack_ns == 0)
        s->lack_ns = now;
    leati_store_door_refuse(&s->door, now, leati_store_job_tell_failure, s);
}

static void accept_all(leati_store_server *s) {
    int64_t now = leati_now_ns();
    bool full = false;
    int connection;
    do {
        connection = leati_store_door_accept(&s->door, now);
        /* Strangers make room, unless all of them may be ranks that are missing. */
        if (connection == LEATI_STORE_DOOR_FULL && s->num_strangers >= s->num_ranks - s->num_here &&
            drop_oldest_stranger(s))
            connection = leati_store_door_accept(&s->door, now);
        full = connection == LEATI_STORE_DOOR_FULL;
    } while (connection >= 0 &&
             leati_store_server_adopt(s, connection, &(leat_error){0}) == LEAT_OK);
    if (full)
        lack_descriptors(s, now);
    else
        s->lack_ns = 0;
}

static void drop_slow_strangers(leati_store_server *s, int64_t now) {
    for (peer **at = &s->peers; *at != NULL;)
        if ((*at)->rank < 0 && !(*at)->is_own && now - (*at)->since_ns > s->greeting_ns)
            drop(s, at, "");
        else
            at = &(*at)->next;
}

// ---- time ----

static void find_silent(leati_store_server *s, int64_t now) {
    for (int r = 0; r < s->num_ranks; r++) {
        const member *m = &s->members[r];
        if (m->peer != NULL && !m->bye && !m->lost && now - m->heard_ns > s->dead_ns) {
            char why[80];
            snprintf(why, sizeof why, "nothing was heard of it for %.1f s",
                     (double)(now - m->heard_ns) * 1e-9);
            lose(s, r, why);
            /* It was silent for as long as anybody waits: it is not waited for again at the end. */
            s->members[r].lost = true;
        }
    }
}

/* What the thread does with time: signs of life for all, and what was waited for too long. */
static void pass_time(leati_store_server *s) {
    int64_t now = leati_now_ns();
    /* A process that was stopped has not listened: then silence says nothing about the others. */
    for (int r = 0; r < s->num_ranks && now - s->turn_ns > s->dead_ns / 2; r++)
        s->members[r].heard_ns = now;
    s->turn_ns = now;
    if (now >= s->next_beat_ns) {
        s->next_beat_ns = now + s->beat_ns;
        for (int r = 0; r < s->num_ranks; r++) {
            if (s->members[r].peer != NULL) {
                leati_store_job_tell(s->members[r].peer, LEATI_MESSAGE_BEAT, 0, &s->members[0].beat,
                                     sizeof s->members[0].beat, NULL, 0);
            }
        }
    }
    if (s->hidden != NULL && now >= s->notice_ns) {
        /* Not before: the job of one host alone needs no other address. */
        if (s->num_here < s->num_ranks)
            leati_log(LEAT_LOG_WARNING, "%s", s->hidden);
        s->notice_ns = LEATI_NO_DEADLINE;
    }
    leati_store_keys_expire(&s->keys, now, s->failed ? &s->reason : NULL);
    find_silent(s, now);
    if (leati_store_door_owes(&s->door, now) == 0) /* else they were not heard */
        drop_slow_strangers(s, now);
}

// ---- turns ----

/* Serves what has come; NULL, or why the connection ends. */
static const char *hear_once(leati_store_server *s, peer *p, leat_error *err) {
    leat_status status = leati_wire_receive_by(
        &p->link, &p->in, leati_store_peer_most(p) + sizeof(leati_message_head), err);
    /* Whatever it sent shows that it lives, a part of a message, too. */
    p->heard_ns = leati_now_ns();
    if (p->rank >= 0)
        s->members[p->rank].heard_ns = p->heard_ns;
    leati_message_head head;
    char *payload = NULL;
    bool bad = false, refused = false;
    if (leati_store_job_speaks_tls(s, p, &refused))
        return refused ? "it speaks TLS" : status != LEAT_OK ? err->text : NULL;
    while (leati_wire_next(&p->in, leati_store_peer_most(p), &head, &payload, &bad))
        if (!serve(s, p, &head, payload))
            return "it sent what is no message";
    return bad ? "it sent what is no message" : status != LEAT_OK ? err->text : NULL;
}

static const char *hear(leati_store_server *s, peer *p, leat_error *err) {
    if (p->shaking && !leati_store_job_shake(s, p))
        return "its TLS handshake failed";
    const char *why = NULL;
    do
        why = p->shaking ? NULL : hear_once(s, p, err);
    while (why == NULL && leati_wire_has_more(&p->link));
    return why;
}

/* Serves one of which something has come; false: it is gone. Adds to `free_ns` the processor's time
 * for which strangers do not pay: a member's, also from before it became one, and that of a
 * handshake, which its address pays. */
static bool serve_peer(leati_store_server *s, peer **at, int64_t *free_ns) {
    leat_error err = {0};
    bool was_stranger = leati_store_peer_is_stranger(*at);
    int64_t begin = leati_clock_thread_ns(), shaken = (*at)->cost_ns;
    const char *why = hear(s, *at, &err);
    shaken = (*at)->cost_ns - shaken;
    if (why != NULL)
        drop(s, at, why);
    int64_t took = leati_clock_thread_ns() - begin;
    *free_ns += was_stranger ? shaken : took;
    if (was_stranger && why == NULL)
        (*at)->charged_ns += took - shaken;
    if (was_stranger && why == NULL && !leati_store_peer_is_stranger(*at))
        *free_ns += (*at)->charged_ns;
    return why == NULL;
}

bool leati_store_server_deserted(const leati_store_server *s) {
    for (int r = 0; r < s->num_ranks; r++)
        if (s->members[r].peer != NULL && !s->members[r].lost)
            return false;
    return true;
}

/* Waits until something comes, `wait_ms` at most. False without memory. */
static bool poll_all(leati_store_server *s, int wait_ms) {
    size_t count = (size_t)s->door.count;
    for (const peer *p = s->peers; p != NULL; p = p->next)
        count++;
    if (!leati_grow((void **)&s->polled, &s->room, count, sizeof *s->polled))
        return false;
    int64_t now = leati_now_ns(), owed = leati_store_door_owes(&s->door, now);
    bool takes = leati_store_door_takes(&s->door, now);
    if (owed > 0)
        wait_ms = (int)LEATI_MIN(wait_ms, owed / 1000000 + 1);
    size_t i = 0;
    /* poll leaves a negative descriptor out. */
    for (; i < (size_t)s->door.count; i++)
        s->polled[i] = (struct pollfd){.fd = takes ? s->door.sockets[i] : -1, .events = POLLIN};
    for (const peer *p = s->peers; p != NULL; p = p->next, i++)
        s->polled[i] =
            (struct pollfd){.fd = owed > 0 && leati_store_peer_is_stranger(p) ? -1 : p->link.socket,
                            .events = POLLIN};
    return poll(s->polled, (nfds_t)count, wait_ms) >= 0 || errno == EINTR;
}

void leati_store_server_turn(leati_store_server *s, int wait_ms) {
    int64_t begin = leati_clock_thread_ns();
    if (!poll_all(s, wait_ms)) {
        /* Without memory, or with a broken poll, the loop must not spin. */
        (void)poll(NULL, 0, wait_ms);
        return;
    }
    bool anybody = false, strangers = false;
    int64_t free_ns = 0;
    size_t i = 0;
    for (; i < (size_t)s->door.count; i++)
        anybody = anybody || s->polled[i].revents != 0;
    for (peer **at = &s->peers; *at != NULL; i++) {
        /* The list has not changed since poll: peers are added at its front, below, and `i` goes on
         * over those that are dropped. */
        strangers = strangers || (s->polled[i].revents != 0 && leati_store_peer_is_stranger(*at));
        if (s->polled[i].revents == 0 || serve_peer(s, at, &free_ns))
            at = &(*at)->next;
    }
    if (anybody)
        accept_all(s);
    pass_time(s);
    if (anybody || strangers)
        leati_store_door_charge(&s->door, leati_clock_thread_ns() - begin - free_ns,
                                leati_now_ns());
}

static void server_main(void *context) {
    leati_store_server *s = context;
    int64_t end_ns = LEATI_NO_DEADLINE;
    s->turn_ns = leati_now_ns();
    while (end_ns == LEATI_NO_DEADLINE ||
           (leati_now_ns() < end_ns && !leati_store_server_deserted(s))) {
        /* Ranks that are a little behind still reach the server; who is dead is not waited for
         * longer. */
        if (atomic_load(&s->stop) && end_ns == LEATI_NO_DEADLINE)
            end_ns = leati_now_ns() + s->dead_ns;
        leati_store_server_turn(s, TICK_MS);
    }
}

// ---- life ----

void leati_store_server_free(leati_store_server *s) {
    while (s->peers != NULL) {
        /* So that dropping it does not count as losing a rank. */
        s->peers->rank = -1;
        drop(s, &s->peers, "");
    }
    leati_store_keys_fini(&s->keys);
    leati_text_fini(&s->refused);
    leati_free(s->hidden);
    for (int r = 0; s->members != NULL && r < s->num_ranks; r++)
        leati_free(s->members[r].name);
    leati_free(s->members);
    leati_free(s->polled);
    leati_store_door_close(&s->door);
    if (s->secret != NULL)
        explicit_bzero(s->secret, strlen(s->secret));
    leati_free(s->secret);
    leati_free(s);
}

leati_store_server *leati_store_server_new(const leati_store_options *options, leat_error *err) {
    leati_store_server *s = leati_alloc_zero(1, sizeof *s);
    if (s == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    s->num_ranks = options->num_ranks;
    s->dead_ns = options->dead_ms * 1000000;
    s->beat_ns = options->heartbeat_ms * 1000000;
    s->greeting_ns = LEATI_STORE_JOB_GREETING_MS * INT64_C(1000000);
    s->tls = options->tls;
    s->rank_name = options->rank_name;
    s->context = options->context;
    s->keys = (leati_store_keys){.num_ranks = s->num_ranks,
                                 .answer = answer,
                                 .refuse = refuse_rank,
                                 .name = add_name,
                                 .missing = add_refused,
                                 .context = s};
    s->members = leati_alloc_zero((size_t)s->num_ranks, sizeof *s->members);
    s->keys.shares = leati_alloc_zero((size_t)s->num_ranks, sizeof *s->keys.shares);
    s->secret = options->secret == NULL ? NULL : leati_strdup(options->secret);
    if (s->members == NULL || s->keys.shares == NULL ||
        (options->secret != NULL && s->secret == NULL)) {
        leati_no_memory(err);
        leati_store_server_free(s);
        return NULL;
    }
    s->turn_ns = leati_now_ns();
    return s;
}

/* Where the name of rank 0 leads to this host's loopback, other hosts look for it elsewhere.
 * Without memory nothing is said of it. */
static void find_hidden(leati_store_server *s, const leati_store_options *options) {
    if (options->listen != NULL || s->num_ranks == 1 || !leati_wire_is_hidden(options->address))
        return;
    leati_text text = {0};
    leati_text_addf(&text,
                    "rank 0 listens on its host's loopback alone, which is what %s means there; "
                    "for workers on other hosts set LEAT_LISTEN to the address by which they "
                    "reach it",
                    options->address);
    s->hidden = text.failed ? NULL : leati_strdup(text.data);
    s->notice_ns = leati_now_ns() + LEATI_WIRE_NOTICE_MS * INT64_C(1000000);
    leati_text_fini(&text);
}

/* Rank 0's connection: a pair of sockets, of which the server has one. */
static leat_status connect_own(leati_store_server *s, int *own, leat_error *err) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "rank 0 has no connection to its own server: %s; raise the limit "
                          "(ulimit -n)",
                          strerror(errno));
    *own = pair[0];
    return adopt(s, pair[1], true, err);
}

leati_store_server *leati_store_server_start(const leati_store_options *options, int *own,
                                             leat_error *err) {
    leati_store_server *s = leati_store_server_new(options, err);
    if (s == NULL)
        return NULL;
    int64_t deadline_ns = leati_clock_deadline_ns(options->timeout_ms);
    find_hidden(s, options);
    if (connect_own(s, own, err) == LEAT_OK &&
        leati_store_door_open(&s->door, options->address, options->listen, deadline_ns,
                              s->num_ranks + LEATI_STORE_JOB_STRANGERS, err) == LEAT_OK)
        s->driver = leati_driver_start("store", server_main, s, err);
    if (s->driver == NULL) {
        leati_store_server_free(s);
        return NULL;
    }
    return s;
}

void leati_store_server_stop(leati_store_server *server) {
    if (server != NULL) {
        atomic_store(&server->stop, true);
        leati_driver_join(server->driver);
        leati_store_server_free(server);
    }
}
