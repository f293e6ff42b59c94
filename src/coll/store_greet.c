/* How a stranger becomes a rank of the job, or is refused: the server's side of coll/greeting.h.
 *
 * Happy path: a greeting that fits, a proof where there is a secret, an answer. Failures: whoever
 * is refused is told why, and so is rank 0: in the log, and in the error of a start that waits in
 * vain. Where one that belongs to the job, as far as that can be known, shows that the job cannot
 * come together (another number of ranks, a rank that is there already), the start ends for all at
 * once. What does not speak the protocol is no member's mistake; its connection is closed. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "coll/store_job.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST_TOLD = 8, MOST_KEPT = 3, TELLING_MS = 50 };

void leati_store_job_hold(const leati_store_peer *from, int bytes) {
    if (!from->is_own)
        (void)setsockopt(from->link.socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/* Told to rank 0's user, but no longer than anybody reads: a stranger could repeat it for ever. */
void leati_store_job_note_refusal(leati_store_server *s, const char *text) {
    s->num_refused++;
    if (s->num_refused <= MOST_TOLD)
        leati_log(LEAT_LOG_WARNING, "the meeting point refused a process: %s", text);
    if (s->num_refused <= MOST_KEPT && s->num_here < s->num_ranks)
        leati_text_addf(&s->refused, "%s%s", s->refused.size > 0 ? "; " : "", text);
}

/* `ends`: the job cannot come together, if it has not yet. Always false. */
static bool refuse_process(leati_store_server *s, leati_store_peer *from, uint64_t request,
                           leat_status code, bool ends, const char *text) {
    leati_store_job_refuse(from, request, code, text);
    leati_store_job_note_refusal(s, text);
    if (ends && s->num_here < s->num_ranks)
        leati_store_job_fail(s, LEAT_FAILED_PRECONDITION, text);
    return false;
}

/* One whose secret, if there is one, was proved: is there a place for it? */
static bool admit(leati_store_server *s, leati_store_peer *from, const leati_greeting *g,
                  uint64_t request, const void *proof, size_t proof_size) {
    char text[sizeof s->reason.text];
    if (g->num_ranks != s->num_ranks) {
        snprintf(text, sizeof text,
                 "%s says that the job has %d processes and rank 0 that it has %d; give all the "
                 "same cluster",
                 g->name, g->num_ranks, s->num_ranks);
        return refuse_process(s, from, request, LEAT_FAILED_PRECONDITION, true, text);
    }
    if (g->rank < 0 || g->rank >= s->num_ranks) {
        snprintf(text, sizeof text, "%s says that it is rank %d of %d", g->name, g->rank,
                 s->num_ranks);
        return refuse_process(s, from, request, LEAT_FAILED_PRECONDITION, true, text);
    }
    leati_store_member *m = &s->members[g->rank];
    /* Before the name is asked for: a rank of the next job is not one that comes twice. */
    if (m->bye || atomic_load(&s->stop)) {
        leati_store_job_refuse(from, request, LEAT_UNAVAILABLE,
                               "the job that rank 0 serves has ended; another may begin");
        return false;
    }
    if (s->failed) {
        leati_store_job_refuse(from, request, s->reason.code, s->reason.text);
        return false;
    }
    if (m->name != NULL) {
        snprintf(text, sizeof text,
                 "%s says that it is rank %d, which %s is already; give each process a task of its "
                 "own",
                 g->name, g->rank, m->name);
        return refuse_process(s, from, request, LEAT_FAILED_PRECONDITION, true, text);
    }
    m->name = leati_strdup(g->name);
    if (m->name == NULL) {
        leati_store_job_refuse(from, request, LEAT_RESOURCE_EXHAUSTED, "rank 0 is out of memory");
        return false;
    }
    m->peer = from;
    m->heard_ns = from->heard_ns;
    from->rank = g->rank;
    leati_store_job_hold(from, LEATI_STORE_JOB_HELD_OF_MEMBERS);
    s->num_strangers--;
    s->num_here++;
    leati_store_job_tell(from, LEATI_MESSAGE_OK, request, proof, proof_size, NULL, 0);
    return true;
}

static bool hear_hello(leati_store_server *s, leati_store_peer *from,
                       const leati_message_head *head, const char *payload) {
    leati_greeting *g = &from->greeting;
    char text[sizeof s->reason.text];
    if (!leati_greeting_read(payload, head->size, g)) {
        leati_store_job_refuse(from, head->request, LEAT_FAILED_PRECONDITION,
                               "what connected is no process of this job, or has another byte "
                               "order");
        LEATI_TELL(COLL, INFO, "what connected to the meeting point is no process of leat");
        return false;
    }
    if (from->is_plain) {
        snprintf(text, sizeof text,
                 "%s does not use TLS and rank 0 does; set LEAT_TLS_CERT, LEAT_TLS_KEY and "
                 "LEAT_TLS_CA for every process of the job, or for none",
                 g->name);
        return refuse_process(s, from, head->request, LEAT_FAILED_PRECONDITION, false, text);
    }
    if (strcmp(g->version, leat_version()) != 0 || !g->whole) {
        snprintf(text, sizeof text, "%s runs leat %s and rank 0 leat %s; install the same version",
                 g->name, g->version, leat_version());
        /* With a secret, it has not shown that it belongs here. */
        return refuse_process(s, from, head->request, LEAT_FAILED_PRECONDITION, s->secret == NULL,
                              text);
    }
    if (g->has_secret != (s->secret != NULL)) {
        snprintf(text, sizeof text,
                 "%s has %s and rank 0 has %s; set LEAT_JOB_SECRET to the same text for every "
                 "process of the job, or for none",
                 g->name, g->has_secret ? "a secret" : "no secret", g->has_secret ? "none" : "one");
        return refuse_process(s, from, head->request, LEAT_PERMISSION_DENIED, s->secret == NULL,
                              text);
    }
    if (s->secret == NULL)
        return admit(s, from, g, head->request, NULL, 0);
    if (!leati_random_secret(from->nonce, sizeof from->nonce)) {
        leati_store_job_refuse(from, head->request, LEAT_UNAVAILABLE,
                               "rank 0 has no random numbers");
        return false;
    }
    from->asked = true;
    leati_store_job_tell(from, LEATI_MESSAGE_OK, head->request, from->nonce, sizeof from->nonce,
                         NULL, 0);
    return true;
}

static bool hear_proof(leati_store_server *s, leati_store_peer *from,
                       const leati_message_head *head, const char *payload) {
    uint8_t theirs[LEATI_SHA256_BYTES], code[LEATI_SHA256_BYTES];
    const leati_greeting *g = &from->greeting;
    bool good = head->size == sizeof theirs;
    if (good) {
        memcpy(theirs, payload, sizeof theirs);
        leati_greeting_prove(s->secret, false, g, from->nonce, code);
        good = leati_sha256_same(theirs, code);
    }
    if (!good) {
        char text[sizeof s->reason.text];
        snprintf(
            text, sizeof text,
            "%s has another secret than rank 0; set LEAT_JOB_SECRET to the same text for every "
            "process of the job",
            g->name);
        return refuse_process(s, from, head->request, LEAT_PERMISSION_DENIED, false, text);
    }
    leati_greeting_prove(s->secret, true, g, from->nonce, code);
    return admit(s, from, g, head->request, code, sizeof code);
}

bool leati_store_job_greet(leati_store_server *s, leati_store_peer *from,
                           const leati_message_head *head, const char *payload) {
    /* Each once: a greeting that is said again would change what was asked for. */
    if (head->kind == LEATI_MESSAGE_HELLO && !from->asked)
        return hear_hello(s, from, head, payload);
    return head->kind == LEATI_MESSAGE_PROOF && from->asked && hear_proof(s, from, head, payload);
}

// ---- TLS ----

leat_status leati_store_job_begin_shaking(leati_store_server *s, leati_store_peer *from,
                                          leat_error *err) {
    char host[64];
    leati_wire_peer_host(from->link.socket, host, sizeof host);
    from->link.tls = leati_tls_new(s->tls, from->link.socket, LEATI_TLS_SERVER, host, err);
    from->shaking = from->link.tls != NULL;
    return from->shaking ? LEAT_OK : LEAT_RESOURCE_EXHAUSTED;
}

/* What it said is read again as a message: a process of leat gets an answer that it understands. */
static bool go_on_plainly(leati_store_peer *from, const uint8_t *spoken, size_t size) {
    if (!leati_grow((void **)&from->in.bytes, &from->in.capacity, size, 1))
        return false;
    memcpy(from->in.bytes, spoken, size);
    from->in.used = size;
    leati_tls_free(from->link.tls);
    from->link.tls = NULL;
    from->shaking = false;
    from->is_plain = true;
    return true;
}

bool leati_store_job_shake(leati_store_server *s, leati_store_peer *from) {
    leat_error err = {0};
    uint8_t spoken[LEATI_TLS_SPOKEN];
    int64_t begin = leati_clock_thread_ns();
    leati_tls_step step = leati_tls_shake(from->link.tls, &err);
    from->cost_ns += leati_clock_thread_ns() - begin;
    if (step == LEATI_TLS_DONE)
        from->shaking = false;
    /* What is written fits the socket's buffer, unless nobody reads it. */
    if (step != LEATI_TLS_FAILED)
        return step != LEATI_TLS_WRITES;
    size_t size = leati_tls_spoken(from->link.tls, spoken);
    if (size > 0)
        return go_on_plainly(from, spoken, size);
    if (err.code != LEAT_UNAVAILABLE)
        leati_store_job_note_refusal(s, err.text);
    /* A connection that is closed with something unread is reset, and what was said last, the
     * reason, may be lost. */
    char unread[LEATI_STORE_JOB_GREETING_BYTES];
    for (int i = 0; i < 8; i++)
        if (recv(from->link.socket, unread, sizeof unread, MSG_DONTWAIT) <= 0)
            break;
    return false;
}

bool leati_store_job_speaks_tls(leati_store_server *s, leati_store_peer *from, bool *refused) {
    const uint8_t *bytes = (const uint8_t *)from->in.bytes;
    size_t size = from->in.used;
    *refused = false;
    if (from->rank >= 0 || from->is_plain || from->link.tls != NULL ||
        !leati_tls_is_record(bytes, size))
        return false;
    /* Its first record is the whole greeting of a TLS client. */
    size_t whole = size < 5 ? SIZE_MAX : 5 + ((size_t)bytes[3] << 8 | bytes[4]);
    *refused = size >= whole || size >= LEATI_STORE_JOB_GREETING_BYTES;
    if (*refused && leati_tls_is_hello(bytes, size)) {
        char text[300], host[64];
        leati_wire_peer_host(from->link.socket, host, sizeof host);
        snprintf(
            text, sizeof text,
            "a process at %s uses TLS and rank 0 does not; set LEAT_TLS_CERT, LEAT_TLS_KEY and "
            "LEAT_TLS_CA for every process of the job, or for none",
            host);
        (void)refuse_process(s, from, 0, LEAT_FAILED_PRECONDITION, s->secret == NULL, text);
    }
    return true;
}

// ---- without a place ----

void leati_store_job_tell_failure(void *context, int connection) {
    leati_store_server *s = context;
    leati_store_peer to = {.link = {.socket = connection, .send_ms = TELLING_MS}};
    leati_message_head head;
    leat_error err = {0};
    char *payload = NULL;
    bool bad = false;
    leat_status status = LEAT_OK;
    if (s->tls != NULL && s->failed) {
        status = leati_store_job_begin_shaking(s, &to, &err);
        if (status == LEAT_OK)
            status = leati_tls_finish(to.link.tls, leati_clock_deadline_ns(TELLING_MS), &err);
    }
    /* It greets as soon as it is connected. What it said is read in any case: a connection that is
     * closed before is reset, and the answer with it. */
    struct pollfd greets = {.fd = connection, .events = POLLIN};
    (void)poll(&greets, 1, TELLING_MS);
    if (status == LEAT_OK)
        status = leati_wire_receive_by(&to.link, &to.in, LEATI_STORE_JOB_GREETING_BYTES, &err);
    if (status == LEAT_OK && s->failed &&
        leati_wire_next(&to.in, LEATI_STORE_JOB_GREETING_BYTES, &head, &payload, &bad))
        leati_store_job_refuse(&to, head.request, s->reason.code, s->reason.text);
    leati_wire_fini(&to.in);
    leati_tls_free(to.link.tls);
}
