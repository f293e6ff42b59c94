/* Sockets of streams and what is held because of them; see bulk_link.h.
 *
 * Happy path of a message: parts of 64 KiB and more that lie in shared memory are named in its
 * table and held until the other side releases them; others of that size are copied there, once;
 * what is smaller is sent, from where it lies, in one call of the system. The receiving side
 * releases pieces by tens, from whichever thread drops the last view. With TLS each record of it is
 * a call of the system: large parts are encrypted from where they lie, small ones together.
 *
 * Failures: a client that keeps much, or shared memory that is used up, leave the socket for what
 * follows. Locks: `out` before `lock`, and the list's, which is taken alone or before `lock`; that
 * of a TLS connection is a leaf. */
#include "service/transport/bulk_link.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/minmax.h"
#include "core/shared_memory.h"
#include "file/wire.h"
#include "service/transport/ends.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    MOST_PARTS = 64,   /* of one call of the system */
    STEP_MS = 50,      /* after which who waits looks whether he should */
    TELL_NUMBERS = 16, /* released, before the other side is told */
    TELL_BYTES = 4 << 20,
    RECORD = 16 << 10 /* bytes that TLS encrypts as one */
};

static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_bulk_link *links; /* links_lock */

static void before_fork(void) {
    pthread_mutex_lock(&links_lock);
    for (leati_bulk_link *link = links; link != NULL; link = link->next)
        pthread_mutex_lock(&link->lock);
}

/* The child sees the same pieces and cannot say when it has read them. It lets go of the sockets,
 * so that the other side hears of it when this process ends. */
static void after_fork(bool child) {
    for (leati_bulk_link *link = links; link != NULL; link = link->next) {
        link->kept = link->seen;
        if (child) {
            close(link->socket);
            link->socket = -1;
        }
        pthread_mutex_unlock(&link->lock);
    }
    if (child)
        links = NULL;
    pthread_mutex_unlock(&links_lock);
}

LEATI_FORK_PART(bulk_links, before_fork, after_fork);

leati_bulk_link *leati_bulk_link_new(int socket, bool shares, leat_error *err) {
    leati_bulk_link *link = leati_alloc_zero(1, sizeof *link);
    if (link == NULL) {
        close(socket);
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&link->references, 1);
    pthread_mutex_init(&link->out, NULL);
    pthread_mutex_init(&link->lock, NULL);
    link->socket = socket;
    link->forks = leati_transport_forks();
    link->shares = shares;
    pthread_mutex_lock(&links_lock);
    link->next = links;
    if (links != NULL)
        links->previous = link;
    links = link;
    pthread_mutex_unlock(&links_lock);
    return link;
}

void leati_bulk_link_ref(leati_bulk_link *link) {
    atomic_fetch_add_explicit(&link->references, 1, memory_order_relaxed);
}

static void tell_released(leati_bulk_link *link, bool all);

void leati_bulk_link_unref(leati_bulk_link *link) {
    if (link == NULL || link->forks != leati_transport_forks() ||
        atomic_fetch_sub_explicit(&link->references, 1, memory_order_acq_rel) != 1)
        return;
    tell_released(link, true);
    pthread_mutex_lock(&links_lock);
    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        links = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    pthread_mutex_unlock(&links_lock);
    leati_tls_free(link->tls);
    close(link->socket);
    leati_bulk_link_retire(link);
    pthread_mutex_destroy(&link->out);
    pthread_mutex_destroy(&link->lock);
    leati_free(link->together);
    leati_free(link->known);
    leati_free(link->held);
    leati_free(link->released);
    leati_free(link);
}

/* ---- TLS, and reading ---- */

static leat_status shake(leati_bulk_link *link, const leati_bulk_patience *patience,
                         leat_error *err) {
    for (;;) {
        leati_tls_step step = leati_tls_shake(link->tls, err);
        if (step == LEATI_TLS_DONE)
            return LEAT_OK;
        if (step == LEATI_TLS_FAILED)
            return err->code;
        struct pollfd waits = {.fd = link->socket,
                               .events = step == LEATI_TLS_READS ? POLLIN : POLLOUT};
        (void)poll(&waits, 1, STEP_MS);
        if (patience->over(patience->context))
            return leati_fail(err, LEAT_UNAVAILABLE,
                              "the other side did not answer the TLS handshake in time");
    }
}

leat_status leati_bulk_link_secure(leati_bulk_link *link, leati_tls_context *context,
                                   leati_tls_side side, const char *host,
                                   const leati_bulk_patience *patience, leat_error *err) {
    uint8_t spoken[LEATI_TLS_SPOKEN];
    link->together = leati_alloc(RECORD, 1);
    if (link->together == NULL)
        return leati_no_memory(err);
    link->tls = leati_tls_new(context, link->socket, side, host, err);
    if (link->tls == NULL)
        return err->code;
    leati_tls_expect_bulk(link->tls);
    leat_status status = shake(link, patience, err);
    if (status != LEAT_OK && leati_tls_spoken(link->tls, spoken) > 0) {
        leati_tls_free(link->tls);
        link->tls = NULL;
    } else if (status != LEAT_OK) {
        link->broken = true;
    }
    return status;
}

ptrdiff_t leati_bulk_link_read(leati_bulk_link *link, void *out, size_t size, int *file,
                               leat_error *err) {
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control;
    if (link->tls != NULL)
        return leati_tls_read(link->tls, out, size, err);
    struct iovec part = {out, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file != NULL) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
    }
    ssize_t n = recvmsg(link->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        (void)leati_fail(err, LEAT_UNAVAILABLE, "the connection to the other side has ended");
        return -1;
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int))) {
        if (*file >= 0)
            close(*file);
        memcpy(file, CMSG_DATA(head), sizeof *file);
    }
    return n;
}

/* ---- sending; `out` is held ---- */

static leat_status gone(int error, leat_error *err) {
    char reason[100];
    return leati_fail(err, LEAT_UNAVAILABLE, "the connection to the other side has ended: %s",
                      strerror_r(error, reason, sizeof reason));
}

/* Waits until the socket takes more. */
static leat_status wait_for_room(const leati_bulk_link *link, const leati_bulk_patience *patience,
                                 leat_error *err) {
    if (patience == NULL)
        return leati_fail(err, LEAT_UNAVAILABLE, "the other side takes nothing");
    struct pollfd room = {.fd = link->socket, .events = POLLOUT};
    (void)poll(&room, 1, STEP_MS);
    return patience->over(patience->context)
               ? leati_fail(err, LEAT_CANCELLED, "cancelled while the other side took no more")
               : LEAT_OK;
}

static void pass(struct iovec **parts, size_t *num_parts, size_t sent) {
    while (*num_parts > 0 && sent >= (*parts)->iov_len) {
        sent -= (*parts)->iov_len;
        ++*parts;
        --*num_parts;
    }
    if (*num_parts > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + sent;
        (*parts)->iov_len -= sent;
    }
}

/* Some of the parts into the socket, with a descriptor (-1: none) at the first byte: how many
 * bytes; 0 where it takes none now, -1 at the end. */
static ptrdiff_t send_plain(const leati_bulk_link *link, struct iovec *parts, size_t num_parts,
                            int file, leat_error *err) {
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = LEATI_MIN(num_parts, MOST_PARTS)};
    if (file >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    }
    ssize_t sent;
    do
        sent = sendmsg(link->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno == EAGAIN)
        return sent > 0 ? sent : 0;
    (void)gone(errno, err);
    return -1;
}

/* The same through TLS. What it has encrypted and not sent must be what comes next: so it is asked
 * where the socket takes something, and *begun is set. */
static ptrdiff_t send_secure(leati_bulk_link *link, const struct iovec *parts, size_t num_parts,
                             bool *begun, leat_error *err) {
    struct pollfd room = {.fd = link->socket, .events = POLLOUT};
    if (!*begun && poll(&room, 1, 0) == 0)
        return 0;
    *begun = true;
    if (parts[0].iov_len >= RECORD)
        return leati_tls_write(link->tls, parts[0].iov_base, parts[0].iov_len, err);
    size_t size = 0;
    for (size_t i = 0; i < num_parts && size < RECORD; i++) {
        size_t more = LEATI_MIN(parts[i].iov_len, RECORD - size);
        if (more > 0)
            memcpy(link->together + size, parts[i].iov_base, more);
        size += more;
    }
    return leati_tls_write(link->tls, link->together, size, err);
}

/* Sends all parts, with a descriptor (-1: none) at the first byte. */
static leat_status send_parts(leati_bulk_link *link, struct iovec *parts, size_t num_parts,
                              int file, const leati_bulk_patience *patience, leat_error *err) {
    bool begun = false;
    if (link->broken)
        return gone(EPIPE, err);
    pass(&parts, &num_parts, 0);
    while (num_parts > 0) {
        ptrdiff_t sent = link->tls != NULL ? send_secure(link, parts, num_parts, &begun, err)
                                           : send_plain(link, parts, num_parts, file, err);
        leat_status status = LEAT_OK;
        if (sent > 0) {
            begun = true;
            file = -1;
            pass(&parts, &num_parts, (size_t)sent);
        } else {
            status = sent == 0 ? wait_for_room(link, patience, err) : err->code;
        }
        if (status != LEAT_OK && (begun || status != LEAT_CANCELLED)) {
            link->broken = begun || patience != NULL;
            if (link->broken)
                (void)shutdown(link->socket, SHUT_WR);
        }
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

leat_status leati_bulk_link_record(leati_bulk_link *link, const leati_bulk_head *head,
                                   const void *body, const leati_bulk_patience *patience,
                                   leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD];
    leati_bulk_put_head(head, bytes);
    struct iovec parts[] = {{bytes, sizeof bytes}, {(void *)(uintptr_t)body, (size_t)head->size}};
    return send_parts(link, parts, 2, -1, patience, err);
}

/* ---- segments; `out` is held ---- */

static bool is_known(const leati_bulk_link *link, uint64_t segment) {
    for (size_t i = link->num_known; i > 0; i--)
        if (link->known[i - 1] == segment)
            return true;
    return false;
}

/* The other side need not keep what is no more. */
static leat_status forget_segments(leati_bulk_link *link, const leati_bulk_patience *patience,
                                   leat_error *err) {
    for (size_t i = 0; i < link->num_known;) {
        if (leati_shared_memory_has(link->known[i])) {
            i++;
            continue;
        }
        const leati_bulk_head head = {.kind = LEATI_BULK_FORGET, .number = link->known[i]};
        link->known[i] = link->known[--link->num_known];
        LEATI_TRY(leati_bulk_link_record(link, &head, NULL, patience, err));
    }
    return LEAT_OK;
}

static leat_status show_segment(leati_bulk_link *link, const leati_shared_memory_place *place,
                                const leati_bulk_patience *patience, leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD];
    void *known = link->known;
    if (is_known(link, place->segment))
        return LEAT_OK;
    LEATI_TRY(forget_segments(link, patience, err));
    if (!leati_grow(&known, &link->known_capacity, link->num_known + 1, sizeof *link->known))
        return leati_no_memory(err);
    link->known = known;
    const leati_bulk_head head = {
        .kind = LEATI_BULK_SEGMENT, .total = place->segment_size, .number = place->segment};
    leati_bulk_put_head(&head, bytes);
    struct iovec part = {bytes, sizeof bytes};
    LEATI_TRY(send_parts(link, &part, 1, place->file, patience, err));
    link->known[link->num_known++] = place->segment;
    return LEAT_OK;
}

/* ---- messages; `out` is held ---- */

/* Holds the buffer for the other side. False: it is to go by the socket. */
static bool hold(leati_bulk_link *link, leat_buffer *buffer, const void *data, size_t size) {
    pthread_mutex_lock(&link->lock);
    void *held = link->held;
    bool room = link->held_bytes + size <= LEATI_BULK_MOST_HELD &&
                leati_grow(&held, &link->held_capacity, link->num_held + 1, sizeof *link->held);
    link->held = held;
    if (room) {
        link->held[link->num_held++] = (leati_bulk_held){leat_buffer_ref(buffer), data, size};
        link->held_bytes += size;
    }
    pthread_mutex_unlock(&link->lock);
    return room;
}

/* Where the part lies in shared memory, by a copy if need be, and held; false: nowhere. */
static bool share(leati_bulk_link *link, const leati_transport_part *part,
                  leati_shared_memory_place *place) {
    if (!link->shares || part->size < LEATI_BULK_LEAST_PIECE)
        return false;
    if (part->owner != NULL && leati_shared_memory_find(part->data, part->size, place))
        return hold(link, part->owner, part->data, part->size);
    leat_buffer *copy = leat_buffer_new(part->size, &(leat_error){0});
    bool shared = copy != NULL &&
                  leati_shared_memory_find(leat_buffer_data(copy), part->size, place) &&
                  hold(link, copy, leat_buffer_data(copy), part->size);
    if (shared) {
        memcpy(leat_buffer_data(copy), part->data, part->size);
        leati_transport_count_copied(part->size);
    }
    leat_buffer_unref(copy);
    return shared;
}

/* A message being put together. */
typedef struct packing {
    struct iovec *parts;
    size_t num_parts;
    uint8_t *table;
    leati_bulk_head head;
} packing;

static leat_status pack(leati_bulk_link *link, const leati_transport_part *parts, int num_parts,
                        packing *p, const leati_bulk_patience *patience, leat_error *err) {
    for (int i = 0; i < num_parts; i++) {
        leati_shared_memory_place place;
        size_t size = parts[i].size;
        if (p->head.count < LEATI_BULK_MOST_PIECES && share(link, &parts[i], &place)) {
            LEATI_TRY(show_segment(link, &place, patience, err));
            const leati_bulk_piece piece = {place.segment, place.offset, size, p->head.total};
            leati_bulk_put_piece(&piece, p->table + (size_t)LEATI_BULK_PIECE * p->head.count++);
        } else {
            p->parts[p->num_parts++] = (struct iovec){(void *)(uintptr_t)parts[i].data, size};
            p->head.size += size;
        }
        p->head.total += size;
    }
    return LEAT_OK;
}

static leat_status write_packed(leati_bulk_link *link, const leati_transport_part *parts,
                                int num_parts, packing *p, const leati_bulk_patience *patience,
                                leat_error *err) {
    uint8_t head[LEATI_BULK_HEAD];
    p->num_parts = 2;
    leat_status status = pack(link, parts, num_parts, p, patience, err);
    if (status == LEAT_OK) {
        leati_bulk_put_head(&p->head, head);
        p->parts[0] = (struct iovec){head, sizeof head};
        p->parts[1] = (struct iovec){p->table, (size_t)LEATI_BULK_PIECE * p->head.count};
        status = send_parts(link, p->parts, p->num_parts, -1, patience, err);
    }
    /* Pieces that were held and not sent: the numbers of the next ones would be others. */
    if (status != LEAT_OK && p->head.count > 0) {
        link->broken = true;
        (void)shutdown(link->socket, SHUT_WR);
    }
    return status;
}

leat_status leati_bulk_link_write(leati_bulk_link *link, const leati_transport_part *parts,
                                  int num_parts, const leati_bulk_patience *patience,
                                  leat_error *err) {
    enum { FEW = 8 };
    struct iovec few[FEW + 2];
    uint8_t table[LEATI_BULK_PIECE * FEW];
    packing p = {.parts = few, .table = table, .head = {.kind = LEATI_BULK_MESSAGE}};
    size_t n = (size_t)num_parts;
    if (n > FEW) {
        p.parts = leati_alloc(n + 2, sizeof *p.parts);
        p.table = leati_alloc(LEATI_MIN(n, (size_t)LEATI_BULK_MOST_PIECES), LEATI_BULK_PIECE);
    }
    leat_status status = p.parts == NULL || p.table == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK) {
        pthread_mutex_lock(&link->out);
        status = write_packed(link, parts, num_parts, &p, patience, err);
        pthread_mutex_unlock(&link->out);
    }
    if (n > FEW) {
        leati_free(p.parts);
        leati_free(p.table);
    }
    tell_released(link, true);
    return status;
}

/* ---- pieces that the other side reads ---- */

leat_status leati_bulk_link_released(leati_bulk_link *link, const uint64_t *numbers, int count,
                                     leat_error *err) {
    leat_buffer *dropped[LEATI_BULK_MOST_RELEASED];
    int n = 0;
    pthread_mutex_lock(&link->lock);
    for (; n < count; n++) {
        uint64_t at = numbers[n] - link->first;
        if (numbers[n] < link->first || at >= link->num_held || link->held[at].buffer == NULL)
            break;
        dropped[n] = link->held[at].buffer;
        link->held[at].buffer = NULL;
        link->held_bytes -= link->held[at].size;
    }
    size_t through = 0;
    while (through < link->num_held && link->held[through].buffer == NULL)
        through++;
    /* Moved down by halves, so that each is moved about once. */
    if (through > 0 && through >= link->num_held / 2) {
        link->num_held -= through;
        link->first += through;
        memmove(link->held, link->held + through, link->num_held * sizeof *link->held);
    }
    pthread_mutex_unlock(&link->lock);
    for (int i = 0; i < n; i++)
        leat_buffer_unref(dropped[i]);
    return n == count ? LEAT_OK
                      : leati_fail(err, LEAT_DATA_LOSS,
                                   "a client releases a piece that it does not have: number %llu",
                                   (unsigned long long)numbers[n]);
}

void leati_bulk_link_retire(leati_bulk_link *link) {
    pthread_mutex_lock(&link->lock);
    leati_bulk_held *held = link->held;
    size_t n = link->num_held;
    link->held = NULL;
    link->num_held = link->held_capacity = link->held_bytes = 0;
    pthread_mutex_unlock(&link->lock);
    for (size_t i = 0; i < n; i++)
        if (held[i].buffer != NULL) {
            leati_shared_memory_retire(held[i].data);
            leat_buffer_unref(held[i].buffer);
        }
    leati_free(held);
}

/* ---- pieces of the other side ---- */

/* Takes numbers that are to be told; `lock` is held. */
static size_t take_released(leati_bulk_link *link, bool all, uint64_t *numbers) {
    if (!all && link->num_released < TELL_NUMBERS && link->released_bytes < TELL_BYTES)
        return 0;
    size_t n = LEATI_MIN(link->num_released, (size_t)LEATI_BULK_MOST_RELEASED);
    if (n == 0)
        return 0;
    memcpy(numbers, link->released, n * sizeof *numbers);
    link->num_released -= n;
    memmove(link->released, link->released + n, link->num_released * sizeof *link->released);
    link->released_bytes = 0;
    link->telling = n;
    return n;
}

static leat_status send_released(leati_bulk_link *link, const uint64_t *numbers, size_t n) {
    uint8_t body[8 * LEATI_BULK_MOST_RELEASED];
    const leati_bulk_head head = {
        .kind = LEATI_BULK_RELEASE, .count = (uint32_t)n, .size = 8 * (uint64_t)n};
    for (size_t i = 0; i < n; i++)
        leati_wire_store64(body + 8 * i, numbers[i]);
    return leati_bulk_link_record(link, &head, body, NULL, &(leat_error){0});
}

/* Tells what was released (`all`: however little), without waiting: what cannot be told now is told
 * with what follows. */
static void tell_released(leati_bulk_link *link, bool all) {
    uint64_t numbers[LEATI_BULK_MOST_RELEASED];
    bool more = true;
    /* Who holds `out` looks again when he is through. */
    while (more && pthread_mutex_trylock(&link->out) == 0) {
        pthread_mutex_lock(&link->lock);
        size_t n = take_released(link, all, numbers);
        pthread_mutex_unlock(&link->lock);
        leat_status status = n > 0 ? send_released(link, numbers, n) : LEAT_OK;
        pthread_mutex_lock(&link->lock);
        if (status != LEAT_OK) {
            memcpy(link->released + link->num_released, numbers, n * sizeof *numbers);
            link->num_released += n;
        }
        link->telling = 0;
        more = n > 0 && status == LEAT_OK && link->num_released > 0;
        pthread_mutex_unlock(&link->lock);
        pthread_mutex_unlock(&link->out);
    }
}

leat_status leati_bulk_link_keep(void *context, leat_error *err) {
    leati_bulk_link *link = context;
    pthread_mutex_lock(&link->lock);
    /* So that releasing needs no memory. */
    void *released = link->released;
    bool room =
        leati_grow(&released, &link->released_capacity,
                   link->num_released + link->telling + link->here + 1, sizeof *link->released);
    link->released = released;
    link->here += room;
    link->seen += room;
    pthread_mutex_unlock(&link->lock);
    if (!room)
        return leati_no_memory(err);
    leati_bulk_link_ref(link);
    return LEAT_OK;
}

void leati_bulk_link_unused(void *context, uint64_t number, size_t size) {
    leati_bulk_link *link = context;
    if (link->forks != leati_transport_forks())
        return;
    pthread_mutex_lock(&link->lock);
    link->here--;
    if (number >= link->kept) {
        link->released[link->num_released++] = number;
        link->released_bytes += size;
    }
    bool due = link->num_released >= TELL_NUMBERS || link->released_bytes >= TELL_BYTES;
    pthread_mutex_unlock(&link->lock);
    if (due)
        tell_released(link, false);
    leati_bulk_link_unref(link);
}
