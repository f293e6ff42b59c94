/* Connections between the processes of a job over TLS (coll/mesh_links.h).
 *
 * Each rank listens at a port of its own, at the address by which it reached rank 0, until those
 * with higher numbers have come, and connects to those with lower ones. At the meeting point, where
 * only members are and nobody else hears them, each tells its address, the fingerprint of its
 * certificate and a token that it has drawn. So a connection between two ranks is one between the
 * holders of these two certificates, whatever names these bear, and who connects says the token of
 * the other and its own number: another job with the same certificates is no member either.
 *
 * Failures: what is no member is closed and costs others nothing; a handshake has ten seconds, and
 * the oldest one goes where there are too many. A rank that ends meanwhile is known from the store,
 * which is asked every tenth of a second. Locks: none. */
#include "coll/mesh_links.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/sha256.h"
#include "coll/wire.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLICE_MS = 100, CONNECT_MS = 2000, GREETING_MS = 10000, KNOWN_MS = 1000, STEP_MS = 10 };
enum { STRANGERS = 16, MARK = 0x1ea7e501 };

/* What a rank tells the others at the meeting point. */
typedef struct card {
    char address[80];
    uint8_t fingerprint[LEATI_TLS_FINGERPRINT], token[LEATI_SHA256_BYTES];
} card;

/* What it says to another one that it connects to. */
typedef struct hello {
    int32_t mark, rank;
    uint8_t token[LEATI_SHA256_BYTES];
} hello;

/* Somebody who has connected and not said who it is. */
typedef struct guest {
    leati_mesh_link link;
    int64_t since_ns;
    short waits; /* of poll */
    hello said;
    size_t heard; /* bytes of it */
} guest;

typedef struct opening {
    leati_mesh_link *links;
    leati_store *store;
    int rank, num_ranks;
    int64_t end_ns;
    card *cards;
    int listening;
    guest guests[STRANGERS]; /* the first `num_guests`, the oldest first */
    int num_guests;
    int missing; /* higher ranks that have not come */
} opening;

// ---- the meeting point ----

static leat_status exchange_cards(opening *o, leat_error *err) {
    card mine = {0};
    leati_store_values all = {0};
    o->listening = leati_wire_listen_anywhere(leati_store_host(o->store), mine.address,
                                              sizeof mine.address, err);
    if (o->listening < 0)
        return err->code;
    if (!leati_random_secret(mine.token, sizeof mine.token))
        return leati_fail(err, LEAT_UNAVAILABLE, "the system has no random numbers");
    memcpy(mine.fingerprint, leati_tls_context_fingerprint(leati_store_tls(o->store)),
           sizeof mine.fingerprint);
    int64_t left_ms = LEATI_MAX((o->end_ns - leati_now_ns()) / 1000000, 1);
    leat_status status =
        leati_store_barrier(o->store, "mesh", &mine, sizeof mine, left_ms, &all, err);
    for (int r = 0; r < o->num_ranks && status == LEAT_OK; r++) {
        if (all.offset[r + 1] - all.offset[r] != sizeof mine)
            status = leati_fail(err, LEAT_INTERNAL, "rank %d has not said where it listens", r);
        else
            memcpy(&o->cards[r], all.bytes + all.offset[r], sizeof mine);
        o->cards[r].address[sizeof mine.address - 1] = '\0';
    }
    if (all.bytes != NULL)
        explicit_bzero(all.bytes, all.offset[o->num_ranks]);
    leati_store_values_fini(&all);
    return status;
}

/* Has the job failed, or its time passed? */
static leat_status check(const opening *o, const char *whom, leat_error *err) {
    LEATI_TRY(leati_store_check(o->store, err));
    return leati_now_ns() < o->end_ns
               ? LEAT_OK
               : leati_fail(err, LEAT_DEADLINE_EXCEEDED, "rank %d is not connected with %s",
                            o->rank, whom);
}

static leat_status check_certificate(const opening *o, leati_tls *tls, int rank, leat_error *err) {
    uint8_t found[LEATI_TLS_FINGERPRINT];
    LEATI_TRY(leati_tls_peer(tls, found, err));
    if (leati_sha256_same(found, o->cards[rank].fingerprint))
        return LEAT_OK;
    return leati_fail(err, LEAT_PERMISSION_DENIED,
                      "what connects rank %d with rank %d at %s shows another certificate than "
                      "that rank has; see who else listens there",
                      o->rank, rank, o->cards[rank].address);
}

// ---- to lower ranks ----

/* In slices, so that the end of the job is noticed. */
static leat_status connect_socket(const opening *o, int rank, int *out, leat_error *err) {
    char whom[32];
    snprintf(whom, sizeof whom, "rank %d", rank);
    for (;;) {
        leat_error local = {0};
        int64_t soon_ns = leati_now_ns() + CONNECT_MS * INT64_C(1000000);
        *out =
            leati_wire_connect(o->cards[rank].address, NULL, LEATI_MIN(soon_ns, o->end_ns), &local);
        if (*out >= 0)
            return LEAT_OK;
        if (local.code != LEAT_DEADLINE_EXCEEDED)
            return leati_error_pass(err, &local);
        LEATI_TRY(check(o, whom, err));
    }
}

static leat_status finish_handshake(const opening *o, leati_tls *tls, int rank, leat_error *err) {
    char whom[32];
    snprintf(whom, sizeof whom, "rank %d", rank);
    for (;;) {
        leat_error local = {0};
        int64_t soon_ns = leati_now_ns() + SLICE_MS * INT64_C(1000000);
        leat_status status = leati_tls_finish(tls, LEATI_MIN(soon_ns, o->end_ns), &local);
        if (status != LEAT_DEADLINE_EXCEEDED)
            return status == LEAT_OK ? status : leati_error_pass(err, &local);
        LEATI_TRY(check(o, whom, err));
    }
}

static leat_status say_hello(const opening *o, const leati_mesh_link *link, int rank,
                             leat_error *err) {
    hello said = {.mark = MARK, .rank = o->rank};
    memcpy(said.token, o->cards[rank].token, sizeof said.token);
    ptrdiff_t sent = 0;
    /* The first bytes of a connection fit its buffer; if not, they are sent when it has room. */
    for (size_t at = 0; at < sizeof said; at += (size_t)sent) {
        sent = leati_tls_write(link->tls, (const char *)&said + at, sizeof said - at, err);
        if (sent < 0)
            return err->code;
        if (sent == 0) {
            LEATI_TRY(check(o, "a lower rank", err));
            (void)poll(&(struct pollfd){.fd = link->socket, .events = POLLOUT}, 1, SLICE_MS);
        }
    }
    explicit_bzero(&said, sizeof said);
    return LEAT_OK;
}

static leat_status connect_to(const opening *o, int rank, leat_error *err) {
    leati_mesh_link *link = &o->links[rank];
    char whom[120];
    snprintf(whom, sizeof whom, "rank %d at %s", rank, o->cards[rank].address);
    LEATI_TRY(connect_socket(o, rank, &link->socket, err));
    link->tls = leati_tls_new(leati_store_tls(o->store), link->socket, LEATI_TLS_CLIENT_OF_KNOWN,
                              whom, err);
    if (link->tls == NULL)
        return err->code;
    leati_tls_expect_bulk(link->tls);
    LEATI_TRY(finish_handshake(o, link->tls, rank, err));
    LEATI_TRY(check_certificate(o, link->tls, rank, err));
    return say_hello(o, link, rank, err);
}

// ---- from higher ranks ----

static void close_link(leati_mesh_link *link) {
    leati_tls_free(link->tls);
    if (link->socket >= 0)
        close(link->socket);
    *link = (leati_mesh_link){.socket = -1};
}

static void remove_guest(opening *o, int at) {
    memmove(&o->guests[at], &o->guests[at + 1],
            (size_t)(o->num_guests - at - 1) * sizeof *o->guests);
    o->num_guests--;
}

static void let_in(opening *o, int connection) {
    char host[64];
    if (o->num_guests == STRANGERS) {
        close_link(&o->guests[0].link);
        remove_guest(o, 0);
    }
    (void)setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    leati_wire_peer_host(connection, host, sizeof host);
    guest g = {.since_ns = leati_now_ns(), .waits = POLLIN};
    g.link.socket = connection;
    g.link.tls = leati_tls_new(leati_store_tls(o->store), connection, LEATI_TLS_SERVER, host,
                               &(leat_error){0});
    if (g.link.tls == NULL) {
        /* It tries again, or the job's time passes: other connections are not at fault. */
        close(connection);
        return;
    }
    leati_tls_expect_bulk(g.link.tls);
    o->guests[o->num_guests++] = g;
}

/* A guest that has said all: is it who it says? Then its connection is the rank's. */
static bool seat(opening *o, guest *g) {
    leat_error err = {0};
    const hello *said = &g->said;
    bool known = said->mark == MARK && said->rank > o->rank && said->rank < o->num_ranks &&
                 o->links[said->rank].socket < 0 &&
                 leati_sha256_same(said->token, o->cards[o->rank].token) &&
                 check_certificate(o, g->link.tls, said->rank, &err) == LEAT_OK;
    if (known) {
        o->links[said->rank] = g->link;
        o->missing--;
    }
    return known;
}

/* False: the guest is to be removed; its connection is closed or has become a rank's. */
static bool serve_guest(opening *o, guest *g) {
    leat_error err = {0};
    leati_tls_step step = leati_tls_shake(g->link.tls, &err);
    g->waits = step == LEATI_TLS_WRITES ? POLLOUT : POLLIN;
    ptrdiff_t got = step == LEATI_TLS_FAILED ? -1 : 1;
    while (step == LEATI_TLS_DONE && got > 0 && g->heard < sizeof g->said) {
        got = leati_tls_read(g->link.tls, (char *)&g->said + g->heard, sizeof g->said - g->heard,
                             &err);
        g->heard += got > 0 ? (size_t)got : 0;
    }
    if (got >= 0 && g->heard < sizeof g->said)
        return true;
    if (got < 0 || !seat(o, g))
        close_link(&g->link);
    return false;
}

/* Everybody who has come, with a wait before it. Without a descriptor for the next one it fails, as
 * it would be asked for ever. */
static leat_status turn(opening *o, leat_error *err) {
    struct pollfd polled[1 + STRANGERS] = {{.fd = o->listening, .events = POLLIN}};
    int count = o->num_guests;
    for (int i = 0; i < count; i++) {
        polled[1 + i].fd = o->guests[i].link.socket;
        polled[1 + i].events = o->guests[i].waits;
    }
    if (poll(polled, (nfds_t)count + 1, SLICE_MS) < 0)
        return LEAT_OK;
    int64_t late_ns = leati_now_ns() - GREETING_MS * INT64_C(1000000);
    /* From the last on, since those behind one that is removed move up. */
    for (int i = count - 1; i >= 0; i--) {
        guest *g = &o->guests[i];
        bool stays = polled[1 + i].revents == 0 || serve_guest(o, g);
        if (stays && g->since_ns < late_ns) {
            close_link(&g->link);
            stays = false;
        }
        if (!stays)
            remove_guest(o, i);
    }
    int connection = polled[0].revents == 0 ? -1 : accept4(o->listening, NULL, NULL, SOCK_CLOEXEC);
    if (connection >= 0)
        let_in(o, connection);
    else if (polled[0].revents != 0 && leati_wire_lacks_descriptors("listening for others", err))
        return err->code;
    return LEAT_OK;
}

// ---- all ----

/* A connection that breaks may have been that of a rank of which the store knows more in a moment.
 */
static leat_status explain(const opening *o, const leat_error *broken, leat_error *err) {
    for (int i = 0; i < KNOWN_MS / STEP_MS && broken->code == LEAT_UNAVAILABLE; i++) {
        LEATI_TRY(leati_store_check(o->store, err));
        (void)poll(NULL, 0, STEP_MS);
    }
    return leati_error_pass(err, broken);
}

static leat_status open_all(opening *o, leat_error *err) {
    LEATI_TRY(exchange_cards(o, err));
    for (int r = 0; r < o->rank; r++) {
        leat_error local = {0};
        if (connect_to(o, r, &local) != LEAT_OK)
            return explain(o, &local, err);
    }
    while (o->missing > 0) {
        LEATI_TRY(turn(o, err));
        LEATI_TRY(check(o, "all higher ranks", err));
    }
    return LEAT_OK;
}

leat_status leati_mesh_links_open(leati_mesh_link *links, leati_store *store, int rank,
                                  int num_ranks, int64_t timeout_ms, leat_error *err) {
    opening o = {.links = links,
                 .store = store,
                 .rank = rank,
                 .num_ranks = num_ranks,
                 .end_ns = leati_clock_deadline_ns(timeout_ms),
                 .cards = leati_alloc_zero((size_t)num_ranks, sizeof(card)),
                 .listening = -1,
                 .missing = num_ranks - 1 - rank};
    for (int r = 0; r < num_ranks; r++)
        links[r] = (leati_mesh_link){.socket = -1};
    leat_status status = o.cards == NULL ? leati_no_memory(err) : open_all(&o, err);
    for (int i = 0; i < o.num_guests; i++)
        close_link(&o.guests[i].link);
    if (o.listening >= 0)
        close(o.listening);
    if (o.cards != NULL)
        explicit_bzero(o.cards, (size_t)num_ranks * sizeof *o.cards);
    leati_free(o.cards);
    return status;
}

void leati_mesh_links_close(leati_mesh_link *links, int num_ranks) {
    for (int r = 0; r < num_ranks; r++)
        close_link(&links[r]);
}
