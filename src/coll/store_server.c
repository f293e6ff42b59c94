/* The store's server: one thread that polls the listening socket and a connection per rank.
 *
 * Happy path: a rank greets and is known from then on; what it sets, asks for and meets at is kept
 * in coll/store_keys. Beats are remembered for stall reports, and answered by the server's own, so
 * that its silence is noticed.
 *
 * Failures: a refused greeting answers with its reason and closes. A connection that breaks without
 * a good-bye, or a rank that is silent for `dead_ms`, ends the job: all that wait and all that live
 * are told. Without memory for a message its connection is closed. Locks: none; the thread owns all
 * but the two flags, which `stop` and the thread exchange. */
#include "coll/store_server.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/text.h"
#include "coll/store_keys.h"
#include "coll/wire.h"
#include "run/driver.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TICK_MS = 50 };

/* A connection; `rank` is -1 until it has greeted. */
typedef struct peer {
    int socket;
    int rank;
    leati_wire_buffer in;
    int64_t heard_ns;
    struct peer *next;
} peer;

typedef struct member {
    char *name; /* NULL: has not come yet */
    peer *peer; /* NULL: gone */
    bool bye;
    int64_t heard_ns;
    leati_beat beat;
} member;

struct leati_store_server {
    int listening;
    int num_ranks;
    int64_t dead_ns, beat_ns;
    int64_t next_beat_ns, turn_ns; /* of the thread's last turn */
    const char *(*rank_name)(void *context, int rank);
    void *context; /* of rank_name */
    leati_driver *driver;
    atomic_bool stop; /* set by stop: end when all are gone */
    peer *peers;
    member *members;
    leati_store_keys keys;
    bool failed;
    leat_error reason;
};

// ---- answers ----

/* Who cannot be told is cut off, which the next poll notices. */
static void tell(peer *to, leati_message_kind kind, uint64_t request, const void *a, size_t a_size,
                 const void *b, size_t b_size) {
    if (leati_wire_send(to->socket, kind, request, a, a_size, b, b_size, &(leat_error){0}) !=
        LEAT_OK)
        (void)shutdown(to->socket, SHUT_RDWR);
}

static void answer(void *context, int rank, uint64_t request, const void *a, size_t a_size,
                   const void *b, size_t b_size) {
    peer *to = ((leati_store_server *)context)->members[rank].peer;
    /* Request 0 is a message that wants no answer. */
    if (to != NULL && request != 0)
        tell(to, LEATI_MESSAGE_OK, request, a, a_size, b, b_size);
}

static void refuse(peer *to, uint64_t request, leat_status code, const char *text) {
    int32_t status = (int32_t)code;
    tell(to, LEATI_MESSAGE_FAILED, request, &status, sizeof status, text, strlen(text));
}

static void refuse_rank(void *context, int rank, uint64_t request, leat_status code,
                        const char *text) {
    peer *to = ((leati_store_server *)context)->members[rank].peer;
    if (to != NULL)
        refuse(to, request, code, text);
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

// ---- the job's end ----

/* Tells everybody, once. */
static void fail_job(leati_store_server *s, const char *text) {
    if (s->failed)
        return;
    /* Once: ranks whose connection breaks from now on must not fail the job again. */
    s->failed = true;
    leati_fail(&s->reason, LEAT_ABORTED, "%s", text);
    for (int r = 0; r < s->num_ranks; r++) {
        if (s->members[r].peer != NULL) {
            tell(s->members[r].peer, LEATI_MESSAGE_LOST, 0, s->reason.text, strlen(s->reason.text),
                 NULL, 0);
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
    fail_job(s, text);
}

/* A rank leaves in order: whoever goes further than it did waits in vain. */
static void say_bye(leati_store_server *s, int rank) {
    member *m = &s->members[rank];
    /* Of its last beat, which a closing rank sends just before its good-bye. */
    uint64_t calls = m->beat.calls;
    m->bye = true;
    for (int r = 0; r < s->num_ranks; r++) {
        if (r != rank && s->members[r].peer != NULL) {
            tell(s->members[r].peer, LEATI_MESSAGE_LEFT, 0, &calls, sizeof calls, m->name,
                 strlen(m->name) + 1);
        }
    }
}

// ---- messages ----

static void greet(leati_store_server *s, peer *from, const leati_message_head *head,
                  char *payload) {
    int32_t numbers[3];
    char text[sizeof s->reason.text] = "";
    size_t at = sizeof numbers;
    leat_status code = LEAT_FAILED_PRECONDITION;
    const char *version = payload + at, *name = "";
    /* Whatever connects to the port may send anything: no text is read before its end was found. */
    bool whole = head->size > at && memchr(version, '\0', head->size - at) != NULL;
    if (whole) {
        memcpy(numbers, payload, sizeof numbers);
        at += strlen(version) + 1;
        name = payload + at;
        whole = head->size > at && memchr(name, '\0', head->size - at) != NULL;
    }
    if (!whole || numbers[0] != LEATI_WIRE_MARK) {
        snprintf(text, sizeof text,
                 "what connected is no process of this job, or has another "
                 "byte order");
    } else if (strcmp(version, leat_version()) != 0) {
        snprintf(text, sizeof text, "%s runs leat %s and rank 0 leat %s; install the same version",
                 name, version, leat_version());
    } else if (numbers[2] != s->num_ranks) {
        snprintf(text, sizeof text,
                 "%s says that the job has %d processes and rank 0 that it has %d; give all the "
                 "same cluster",
                 name, numbers[2], s->num_ranks);
    } else if (numbers[1] < 0 || numbers[1] >= s->num_ranks) {
        snprintf(text, sizeof text, "%s says that it is rank %d of %d", name, numbers[1],
                 s->num_ranks);
        /* Before the name is asked for: a rank of the next job is not one that comes twice. */
    } else if (s->members[numbers[1]].bye || atomic_load(&s->stop)) {
        code = LEAT_UNAVAILABLE;
        snprintf(text, sizeof text, "the job that rank 0 serves has ended; another may begin");
    } else if (s->members[numbers[1]].name != NULL) {
        snprintf(text, sizeof text,
                 "%s says that it is rank %d, which %s is already; give each process a task of its "
                 "own",
                 name, numbers[1], s->members[numbers[1]].name);
    } else if (s->failed) {
        snprintf(text, sizeof text, "%s", s->reason.text);
    }
    member *m = text[0] == '\0' ? &s->members[numbers[1]] : NULL;
    if (m != NULL && (m->name = leati_strdup(name)) != NULL) {
        m->peer = from;
        m->heard_ns = from->heard_ns;
        from->rank = numbers[1];
        answer(s, from->rank, head->request, NULL, 0, NULL, 0);
        return;
    }
    refuse(from, head->request, m == NULL ? code : LEAT_RESOURCE_EXHAUSTED,
           m == NULL ? text : "rank 0 is out of memory");
}

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
    if (from->rank < 0) {
        if (head->kind == LEATI_MESSAGE_HELLO)
            greet(s, from, head, payload);
        /* A client's thread sends beats from its start on, perhaps before the greeting. */
        return from->rank >= 0 || head->kind == LEATI_MESSAGE_BEAT;
    }
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
        fail_job(s, text);
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
        refuse(from, head->request, s->reason.code, s->reason.text);
        return true;
    }
    return head->kind == LEATI_MESSAGE_SET
               ? leati_store_keys_set(&s->keys, from->rank, head->request, name, rest, size)
           : head->kind == LEATI_MESSAGE_GET
               ? leati_store_keys_get(&s->keys, from->rank, head->request, timeout_ms, name)
               : leati_store_keys_meet(&s->keys, from->rank, head->request, timeout_ms, name, rest,
                                       size);
}

// ---- time ----

static void find_silent(leati_store_server *s, int64_t now) {
    for (int r = 0; r < s->num_ranks; r++) {
        const member *m = &s->members[r];
        if (m->peer != NULL && !m->bye && now - m->heard_ns > s->dead_ns) {
            char why[80];
            snprintf(why, sizeof why, "nothing was heard of it for %.1f s",
                     (double)(now - m->heard_ns) * 1e-9);
            lose(s, r, why);
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
                tell(s->members[r].peer, LEATI_MESSAGE_BEAT, 0, &s->members[0].beat,
                     sizeof s->members[0].beat, NULL, 0);
            }
        }
    }
    leati_store_keys_expire(&s->keys, now, s->failed ? &s->reason : NULL);
    find_silent(s, now);
}

// ---- connections ----

static void accept_all(leati_store_server *s) {
    for (;;) {
        int connection = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0)
            return;
        peer *p = leati_alloc_zero(1, sizeof *p);
        if (p == NULL) {
            close(connection);
            return;
        }
        /* Nobody who has stopped reading holds up the others. */
        (void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = 1},
                         sizeof(struct timeval));
        p->socket = connection;
        p->rank = -1;
        p->heard_ns = leati_now_ns();
        p->next = s->peers;
        s->peers = p;
    }
}

static void drop(leati_store_server *s, peer **at, const char *why) {
    peer *p = *at;
    *at = p->next;
    if (p->rank >= 0) {
        member *m = &s->members[p->rank];
        /* lose() tells all that are left, and this one is not. */
        m->peer = NULL;
        if (!m->bye)
            lose(s, p->rank, why);
    }
    close(p->socket);
    leati_wire_fini(&p->in);
    leati_free(p);
}

/* Serves what has come; NULL, or why the connection ends. */
static const char *hear(leati_store_server *s, peer *p, leat_error *err) {
    leat_status status = leati_wire_receive(p->socket, &p->in, err);
    /* Whatever it sent shows that it lives, a part of a message, too. */
    p->heard_ns = leati_now_ns();
    if (p->rank >= 0)
        s->members[p->rank].heard_ns = p->heard_ns;
    leati_message_head head;
    char *payload = NULL;
    bool bad = false;
    while (leati_wire_next(&p->in, &head, &payload, &bad))
        if (!serve(s, p, &head, payload))
            return "it sent what is no message";
    return bad ? "it sent what is no message" : status != LEAT_OK ? err->text : NULL;
}

static bool all_gone(const leati_store_server *s) {
    for (int r = 0; r < s->num_ranks; r++)
        if (s->members[r].peer != NULL)
            return false;
    return true;
}

/* Waits until something comes, a tick at most. False without memory. */
static bool poll_all(leati_store_server *s, struct pollfd **polled, size_t *room) {
    size_t count = 1;
    for (const peer *p = s->peers; p != NULL; p = p->next)
        count++;
    if (!leati_grow((void **)polled, room, count, sizeof **polled))
        return false;
    (*polled)[0] = (struct pollfd){.fd = s->listening, .events = POLLIN};
    size_t i = 1;
    for (const peer *p = s->peers; p != NULL; p = p->next, i++)
        (*polled)[i] = (struct pollfd){.fd = p->socket, .events = POLLIN};
    return poll(*polled, (nfds_t)count, TICK_MS) >= 0 || errno == EINTR;
}

static void server_main(void *context) {
    leati_store_server *s = context;
    struct pollfd *polled = NULL;
    size_t room = 0;
    int64_t end_ns = LEATI_NO_DEADLINE;
    s->turn_ns = leati_now_ns();
    while (end_ns == LEATI_NO_DEADLINE || (leati_now_ns() < end_ns && !all_gone(s))) {
        /* Ranks that are a little behind still reach the server; who is dead is not waited for
         * longer. */
        if (atomic_load(&s->stop) && end_ns == LEATI_NO_DEADLINE)
            end_ns = leati_now_ns() + s->dead_ns;
        if (!poll_all(s, &polled, &room)) {
            /* Without memory, or with a broken poll, the loop must not spin. */
            (void)poll(NULL, 0, TICK_MS);
            continue;
        }
        size_t i = 1;
        for (peer **at = &s->peers; *at != NULL; i++) {
            leat_error err = {0};
            /* The list has not changed since poll: peers are added at its front, below, and `i`
             * goes on over those that are dropped. */
            const char *why = polled[i].revents != 0 ? hear(s, *at, &err) : NULL;
            if (why != NULL)
                drop(s, at, why);
            else
                at = &(*at)->next;
        }
        if (polled[0].revents != 0)
            accept_all(s);
        pass_time(s);
    }
    leati_free(polled);
}

// ---- life ----

static void free_server(leati_store_server *s) {
    while (s->peers != NULL) {
        /* So that dropping it does not count as losing a rank. */
        s->peers->rank = -1;
        drop(s, &s->peers, "");
    }
    leati_store_keys_fini(&s->keys);
    for (int r = 0; s->members != NULL && r < s->num_ranks; r++)
        leati_free(s->members[r].name);
    leati_free(s->members);
    if (s->listening >= 0)
        close(s->listening);
    leati_free(s);
}

leati_store_server *leati_store_server_start(const leati_store_options *options, leat_error *err) {
    leati_store_server *s = leati_alloc_zero(1, sizeof *s);
    if (s == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    s->num_ranks = options->num_ranks;
    s->dead_ns = options->dead_ms * 1000000;
    s->beat_ns = options->heartbeat_ms * 1000000;
    s->rank_name = options->rank_name;
    s->context = options->context;
    s->keys = (leati_store_keys){.num_ranks = s->num_ranks,
                                 .answer = answer,
                                 .refuse = refuse_rank,
                                 .name = add_name,
                                 .context = s};
    s->members = leati_alloc_zero((size_t)s->num_ranks, sizeof *s->members);
    s->listening = leati_wire_listen(options->address, err);
    if (s->members == NULL)
        leati_no_memory(err);
    else if (s->listening >= 0)
        s->driver = leati_driver_start("store", server_main, s, err);
    if (s->driver == NULL) {
        free_server(s);
        return NULL;
    }
    return s;
}

void leati_store_server_stop(leati_store_server *server) {
    if (server != NULL) {
        atomic_store(&server->stop, true);
        leati_driver_join(server->driver);
        free_server(server);
    }
}
