/* Exchanges over TLS connections: see mesh_trade.h.
 *
 * Happy path: to each rank goes a head, which says what is called, and then the parts; small ones
 * travel with the head in one record. Whatever can be sent or taken without waiting is, by turns
 * over all ranks, and poll waits for the rest, so that no rank waits for one that waits for it.
 * Failures: a head that does not fit ends the trade before its bytes are taken; each byte that
 * moves puts the deadline off. Locks: none; one thread trades at a time. */
#include "coll/mesh_trade.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { STAGE = 4096, TURN = 1 << 20, SLICE_MS = 500 };

typedef struct head {
    uint64_t number;
    leati_collective_call call;
} head;

struct leati_mesh_lane {
    head mine, theirs;
    size_t out_at, out_size, in_at, in_size; /* with the heads */
    char stage[STAGE]; /* small pieces, as one; what was not written stays as it is */
    size_t staged, stage_at;
};

leat_status leati_mesh_trades_init(leati_mesh_trades *trades, leati_mesh_link *links, int rank,
                                   int num_ranks, int wake, int64_t timeout_ms, leat_error *err) {
    size_t count = (size_t)num_ranks;
    *trades = (leati_mesh_trades){.links = links,
                                  .shares = leati_alloc_zero(count, sizeof *trades->shares),
                                  .lanes = leati_alloc_zero(count, sizeof *trades->lanes),
                                  .polled = leati_alloc_zero(count + 1, sizeof *trades->polled),
                                  .rank = rank,
                                  .num_ranks = num_ranks,
                                  .wake = wake,
                                  .timeout_ns = timeout_ms * 1000000};
    return trades->shares != NULL && trades->lanes != NULL && trades->polled != NULL
               ? LEAT_OK
               : leati_no_memory(err);
}

void leati_mesh_trades_fini(leati_mesh_trades *trades) {
    leati_free(trades->shares);
    leati_free(trades->lanes);
    leati_free(trades->polled);
}

/* What lies at byte `at` of a head and two parts, and how much of it in one piece. */
static leati_mesh_part piece_at(head *first, const leati_mesh_part parts[2], size_t at) {
    leati_mesh_part pieces[3] = {{(char *)first, sizeof *first}, parts[0], parts[1]};
    for (int i = 0; i < 3; i++) {
        if (at < pieces[i].size)
            return (leati_mesh_part){pieces[i].data + at, pieces[i].size - at};
        at -= pieces[i].size;
    }
    return (leati_mesh_part){0};
}

/* Pieces that are too small for records of their own. */
static void fill_stage(leati_mesh_lane *lane, const leati_mesh_part parts[2]) {
    size_t at = lane->out_at;
    lane->stage_at = 0;
    while (lane->staged < STAGE && at < lane->out_size) {
        leati_mesh_part piece = piece_at(&lane->mine, parts, at);
        size_t some = LEATI_MIN(piece.size, STAGE - lane->staged);
        memcpy(lane->stage + lane->staged, piece.data, some);
        lane->staged += some;
        at += some;
    }
}

static leat_status send_some(leati_mesh_lane *lane, leati_tls *tls, const leati_mesh_part parts[2],
                             leat_error *err) {
    size_t end = LEATI_MIN(lane->out_size, lane->out_at + TURN);
    while (lane->out_at < end) {
        leati_mesh_part piece = piece_at(&lane->mine, parts, lane->out_at);
        bool small = lane->staged > 0 || piece.size < STAGE;
        if (lane->staged == 0 && small)
            fill_stage(lane, parts);
        if (small) {
            piece.data = lane->stage + lane->stage_at;
            piece.size = lane->staged - lane->stage_at;
        }
        ptrdiff_t sent = leati_tls_write(tls, piece.data, piece.size, err);
        if (sent <= 0)
            return sent == 0 ? LEAT_OK : err->code;
        lane->out_at += (size_t)sent;
        lane->stage_at += small ? (size_t)sent : 0;
        if (small && lane->stage_at == lane->staged)
            lane->staged = 0;
    }
    return LEAT_OK;
}

/* The other one's head is whole: are both in the same call? */
static leat_status check_head(const leati_mesh_trades *t, const leati_mesh_lane *lane, int other,
                              leat_error *err) {
    LEATI_TRY(leati_calls_same(&lane->theirs.call, other, &lane->mine.call, t->rank, err));
    return lane->theirs.number == lane->mine.number
               ? LEAT_OK
               : leati_fail(err, LEAT_INTERNAL, "rank %d is in exchange %llu, rank %d in %llu",
                            other, (unsigned long long)lane->theirs.number, t->rank,
                            (unsigned long long)lane->mine.number);
}

static leat_status take_some(const leati_mesh_trades *t, int other, leat_error *err) {
    leati_mesh_lane *lane = &t->lanes[other];
    size_t end = LEATI_MIN(lane->in_size, lane->in_at + TURN);
    while (lane->in_at < end) {
        leati_mesh_part piece = piece_at(&lane->theirs, t->shares[other].in, lane->in_at);
        ptrdiff_t got = leati_tls_read(t->links[other].tls, piece.data, piece.size, err);
        if (got <= 0)
            return got == 0 ? LEAT_OK : err->code;
        bool began = lane->in_at < sizeof lane->theirs;
        lane->in_at += (size_t)got;
        if (began && lane->in_at >= sizeof lane->theirs)
            LEATI_TRY(check_head(t, lane, other, err));
    }
    return LEAT_OK;
}

/* What a turn over all lanes has found. */
typedef struct turn {
    int num_open; /* lanes that have not ended; `polled` has them, behind the first place */
    bool moved;   /* some byte */
    bool more;    /* a lane would have gone on, which poll may not see */
} turn;

static bool is_done(const leati_mesh_trades *t, int rank) {
    const leati_mesh_lane *lane = &t->lanes[rank];
    return rank == t->rank || (lane->out_at == lane->out_size && lane->in_at == lane->in_size);
}

/* A connection that broke says less than who it was; the first one counts. */
static void note_broken(leat_error *broken, int rank, const leat_error *why) {
    if (broken->code == LEAT_OK)
        leati_fail(broken, why->code, "rank %d: %s", rank, why->text);
}

/* First all are sent to, so that who is in another call hears it from this one, too; and what a
 * connection brought before it broke counts more than that it broke. */
static leat_status move(leati_mesh_trades *t, turn *now, leat_error *err) {
    leat_error broken = {0};
    *now = (turn){0};
    for (int r = 0; r < t->num_ranks; r++) {
        leat_error local = {0};
        size_t before = t->lanes[r].out_at;
        if (!is_done(t, r) &&
            send_some(&t->lanes[r], t->links[r].tls, t->shares[r].out, &local) != LEAT_OK)
            note_broken(&broken, r, &local);
        now->moved = now->moved || t->lanes[r].out_at > before;
        now->more = now->more || t->lanes[r].out_at - before >= TURN;
    }
    for (int r = 0; r < t->num_ranks; r++) {
        leat_error local = {0};
        size_t before = t->lanes[r].in_at;
        leat_status status = is_done(t, r) ? LEAT_OK : take_some(t, r, &local);
        if (status == LEAT_UNAVAILABLE)
            note_broken(&broken, r, &local);
        else if (status != LEAT_OK)
            return leati_error_pass(err, &local);
        now->moved = now->moved || t->lanes[r].in_at > before;
        now->more = now->more || t->lanes[r].in_at - before >= TURN;
    }
    if (broken.code != LEAT_OK)
        return leati_error_pass(err, &broken);
    for (int r = 0; r < t->num_ranks; r++) {
        const leati_mesh_lane *lane = &t->lanes[r];
        short sends = lane->out_at < lane->out_size ? POLLOUT : 0;
        short takes = lane->in_at < lane->in_size ? POLLIN : 0;
        if (!is_done(t, r))
            t->polled[++now->num_open] =
                (struct pollfd){.fd = t->links[r].socket, .events = (short)(sends | takes)};
    }
    return LEAT_OK;
}

static leat_status fail_late(const leati_mesh_trades *t, leat_error *err) {
    char missing[100] = "";
    size_t used = 0;
    for (int r = 0; r < t->num_ranks && used + 16 < sizeof missing; r++) {
        if (!is_done(t, r))
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%d",
                                     used > 0 ? ", " : "rank ", r);
    }
    return leati_fail(err, LEAT_DEADLINE_EXCEEDED, "%s", missing);
}

static void begin(leati_mesh_trades *t, const leati_collective_call *call) {
    t->number++;
    for (int r = 0; r < t->num_ranks; r++) {
        leati_mesh_lane *lane = &t->lanes[r];
        const leati_mesh_share *share = &t->shares[r];
        lane->mine = (head){.number = t->number, .call = *call};
        lane->out_at = lane->in_at = lane->staged = 0;
        lane->out_size = sizeof(head) + share->out[0].size + share->out[1].size;
        lane->in_size = sizeof(head) + share->in[0].size + share->in[1].size;
    }
}

leat_status leati_mesh_trade(leati_mesh_trades *trades, const leati_collective_call *call,
                             leat_error *err) {
    leati_mesh_trades *t = trades;
    int64_t end_ns = leati_now_ns() + t->timeout_ns;
    begin(t, call);
    for (;;) {
        turn last;
        LEATI_TRY(move(t, &last, err));
        if (last.num_open == 0)
            break;
        int64_t now = leati_now_ns();
        if (last.moved)
            end_ns = now + t->timeout_ns;
        if (now >= end_ns)
            return fail_late(t, err);
        t->polled[0] = (struct pollfd){.fd = t->wake, .events = POLLIN};
        int64_t wait_ms = last.more ? 0 : LEATI_MIN((end_ns - now) / 1000000 + 1, SLICE_MS);
        if (poll(t->polled, (nfds_t)last.num_open + 1, (int)wait_ms) > 0 &&
            t->polled[0].revents != 0)
            return leati_fail(err, LEAT_ABORTED, "aborted");
    }
    memset(t->shares, 0, (size_t)t->num_ranks * sizeof *t->shares);
    return LEAT_OK;
}
