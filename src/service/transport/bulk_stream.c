/* Streams of the protocols "shm" and "tcp", at either end; see bulk.h.
 *
 * Happy path: a client's thread connects and greets; a worker's reads the greeting and asks the
 * handler. From then on the thread reads records and calls the events, and whoever writes sends on
 * his own thread. A stream that was ended tells so at once, and goes on to read until the other
 * side has closed the socket too: so nothing that was sent is lost, and a worker hears of pieces
 * that are released later.
 *
 * Failures: records that no sender writes end the stream; so does the end of the socket. Who cannot
 * be sent the end at once is sent it by the thread. Locks: the gate, a leaf; a link's `out` is not
 * taken under it. */
#include "service/transport/bulk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "file/wire.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_MS = 1000 /* for the other side to hear the end, and to close */ };

/* ---- ends ---- */

static void wake(leati_bulk_stream *s) {
    const uint64_t one = 1;
    (void)!write(s->wake, &one, sizeof one);
}

/* The end's record, once. Without patience: where it cannot be sent now, false. */
static void send_end(leati_bulk_stream *s, const leati_bulk_patience *patience) {
    leati_writer body = {0};
    leati_queue_gate_lock(s->gate);
    leati_bulk_link *link = s->end_wanted ? s->link : NULL;
    leat_error why = s->why;
    leati_queue_gate_unlock(s->gate);
    if (link == NULL || (patience == NULL ? pthread_mutex_trylock(&link->out)
                                          : pthread_mutex_lock(&link->out)) != 0)
        return;
    if (why.code != LEAT_OK)
        leati_transport_put_error(&body, &why);
    const bool fits = !body.failed && body.size <= LEATI_BULK_MOST_END;
    const leati_bulk_head head = {.kind = LEATI_BULK_END, .size = fits ? body.size : 0};
    leati_queue_gate_lock(s->gate);
    bool mine = s->end_wanted;
    s->end_wanted = false;
    leati_queue_gate_unlock(s->gate);
    if (mine &&
        leati_bulk_link_record(link, &head, body.data, patience, &(leat_error){0}) != LEAT_OK &&
        patience == NULL && !link->broken) {
        leati_queue_gate_lock(s->gate);
        s->end_wanted = true;
        leati_queue_gate_unlock(s->gate);
    }
    pthread_mutex_unlock(&link->out);
    leati_writer_fini(&body);
}

static void close_stream(leati_transport_stream *base, const leat_error *why) {
    leati_bulk_stream *s = (leati_bulk_stream *)base;
    leati_queue_gate_lock(s->gate);
    bool first = !s->closing && !s->told;
    if (first) {
        if (!s->over)
            s->why = *why;
        s->closing = s->over = s->end_wanted = true;
    }
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    if (!first)
        return;
    send_end(s, NULL);
    wake(s);
}

/* The thread's: the event, once. */
static void tell_closed(leati_bulk_stream *s, const leat_error *why) {
    leati_queue_gate_lock(s->gate);
    bool first = !s->told;
    s->told = true;
    if (!s->over)
        s->why = *why;
    s->over = true;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    if (first && s->opened)
        s->events.closed(s->context, &s->why);
}

static void free_stream(leati_transport_stream *base) {
    leati_bulk_stream *s = (leati_bulk_stream *)base;
    leati_bulk_link_unref(s->link);
    if (s->socket >= 0)
        close(s->socket);
    if (s->wake >= 0)
        close(s->wake);
    leati_queue_gate_free(s->gate);
    leati_free((void *)(uintptr_t)s->ask.method.data);
    leati_free((void *)(uintptr_t)s->ask.request.data);
    leati_free(s);
}

/* ---- writing ---- */

typedef struct writing {
    leati_bulk_stream *stream;
    leat_cancel *cancel;
} writing;

/* A stream that ends without a failure of this side's lets what is being written through. */
static bool writer_is_over(void *context) {
    const writing *w = context;
    leati_queue_gate_lock(w->stream->gate);
    bool over = w->stream->over &&
                !(w->stream->closing && w->stream->why.code == LEAT_OK && !w->stream->told);
    over = over || w->stream->cut;
    leati_queue_gate_unlock(w->stream->gate);
    return over || leati_cancel_fired(w->cancel) || leati_stop_stopped();
}

/* Until the stream is connected. */
static leat_status wait_connected(leati_bulk_stream *s, leat_cancel *cancel, leat_error *err) {
    leati_transport_wait wait;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(s->gate);
    bool waits = s->link == NULL && !s->over;
    leati_queue_gate_unlock(s->gate);
    if (waits) {
        leati_transport_wait_begin(&wait, s->gate, cancel);
        leati_queue_gate_lock(s->gate);
        while (s->link == NULL && !s->over && status == LEAT_OK)
            status = leati_transport_wait_once(&wait, LEATI_NO_DEADLINE, err);
        leati_queue_gate_unlock(s->gate);
        leati_transport_wait_end(&wait);
    }
    leati_queue_gate_lock(s->gate);
    if (status == LEAT_OK && s->over)
        status = leati_fail(err, LEAT_UNAVAILABLE, "the stream has ended");
    leati_queue_gate_unlock(s->gate);
    return status;
}

static leat_status write_stream(leati_transport_stream *base, const leati_transport_part *parts,
                                int num_parts, leat_cancel *cancel, leat_error *err) {
    leati_bulk_stream *s = (leati_bulk_stream *)base;
    writing w = {s, cancel};
    const leati_bulk_patience patience = {writer_is_over, &w};
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before it was written");
    LEATI_TRY(wait_connected(s, cancel, err));
    leat_status status = leati_bulk_link_write(s->link, parts, num_parts, &patience, err);
    if (status == LEAT_CANCELLED && !leati_cancel_fired(cancel) && !leati_stop_stopped())
        status = leati_fail(err, LEAT_UNAVAILABLE, "the stream has ended");
    send_end(s, NULL);
    return status;
}

/* ---- what is read, by the thread ---- */

typedef struct lingering {
    leati_bulk_stream *stream;
    int64_t deadline_ns;
} lingering;

static bool end_is_over(void *context) {
    const lingering *l = context;
    leati_queue_gate_lock(l->stream->gate);
    bool cut = l->stream->cut;
    leati_queue_gate_unlock(l->stream->gate);
    return cut || leati_now_ns() >= l->deadline_ns;
}

/* What could not be sent at once, behind what the socket holds. */
static void send_end_patiently(leati_bulk_stream *s) {
    lingering l = {s, leati_clock_deadline_ns(LEATI_BULK_GREET_MS)};
    const leati_bulk_patience patience = {end_is_over, &l};
    send_end(s, &patience);
}

/* After the stream has ended: does the thread read on? */
static bool lingers(leati_bulk_stream *s) {
    leati_queue_gate_lock(s->gate);
    bool cut = s->cut, told = s->told;
    leati_queue_gate_unlock(s->gate);
    if (cut || !told)
        return !cut;
    /* A worker hears of pieces until its client closes the socket. */
    if (s->side->serves && s->side->shares)
        return true;
    if (s->deadline_ns == LEATI_NO_DEADLINE)
        s->deadline_ns = leati_clock_deadline_ns(LINGER_MS);
    return !s->side->shares;
}

/* Waits for something to read, or to do. */
static leat_status wait_readable(leati_bulk_stream *s, leat_error *err) {
    struct pollfd what[] = {{.fd = s->link->socket, .events = POLLIN},
                            {.fd = s->wake, .events = POLLIN}};
    int64_t left =
        s->deadline_ns == LEATI_NO_DEADLINE ? -1 : (s->deadline_ns - leati_now_ns()) / 1000000 + 1;
    if (s->deadline_ns != LEATI_NO_DEADLINE && left <= 0)
        return leati_fail(err, LEAT_UNAVAILABLE, "the other side said nothing in time");
    (void)poll(what, 2, left > INT32_MAX ? INT32_MAX : (int)left);
    if ((what[1].revents & POLLIN) != 0) {
        uint64_t count;
        (void)!read(s->wake, &count, sizeof count);
        leati_queue_gate_lock(s->gate);
        bool closing = s->closing;
        leati_queue_gate_unlock(s->gate);
        if (closing) {
            tell_closed(s, &s->why);
            send_end_patiently(s);
        }
    }
    return lingers(s) ? LEAT_OK : leati_fail(err, LEAT_UNAVAILABLE, "the stream has ended");
}

static leat_status read_bytes(void *context, void *out, size_t size, leat_error *err) {
    leati_bulk_stream *s = context;
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control;
    for (char *to = out; size > 0;) {
        struct iovec part = {to, size};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (s->side->shares && !s->side->serves) {
            message.msg_control = control.room;
            message.msg_controllen = sizeof control.room;
        }
        ssize_t n = recvmsg(s->link->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return leati_fail(err, LEAT_UNAVAILABLE, "the connection to the other side has ended");
        if (n < 0) {
            LEATI_TRY(wait_readable(s, err));
            continue;
        }
        const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
            head->cmsg_len == CMSG_LEN(sizeof(int))) {
            if (s->file >= 0)
                close(s->file);
            memcpy(&s->file, CMSG_DATA(head), sizeof s->file);
        }
        to += n;
        size -= (size_t)n;
    }
    return LEAT_OK;
}

static int take_file(void *context) {
    leati_bulk_stream *s = context;
    int file = s->file;
    s->file = -1;
    return file;
}

/* All bytes of a message as one block. Both are given. */
static leat_buffer *join_pieces(leat_buffer *rest, const leati_transport_piece *pieces, int n,
                                leat_error *err) {
    size_t size = leat_buffer_size(rest), at = 0;
    const char *from = leat_buffer_data(rest);
    for (int i = 0; i < n; i++)
        size += leat_buffer_size(pieces[i].bytes);
    leat_buffer *whole = leat_buffer_new(size, err);
    char *to = whole != NULL ? leat_buffer_data(whole) : NULL;
    for (int i = 0; i < n; i++) {
        size_t between = pieces[i].at - at, bytes = leat_buffer_size(pieces[i].bytes);
        if (to != NULL) {
            memcpy(to + at, from, between);
            memcpy(to + pieces[i].at, leat_buffer_data(pieces[i].bytes), bytes);
        }
        from += between;
        at = pieces[i].at + bytes;
        leat_buffer_unref(pieces[i].bytes);
    }
    if (to != NULL) {
        memcpy(to + at, from, size - at);
        leati_transport_count_copied(size);
    }
    leat_buffer_unref(rest);
    return whole;
}

static leat_status hear_message(void *context, leat_buffer *message,
                                const leati_transport_piece *pieces, int num_pieces,
                                leat_error *err) {
    leati_bulk_stream *s = context;
    leati_queue_gate_lock(s->gate);
    bool over = s->told || s->closing;
    leati_queue_gate_unlock(s->gate);
    if (over) {
        leat_buffer_unref(message);
        for (int i = 0; i < num_pieces; i++)
            leat_buffer_unref(pieces[i].bytes);
        return LEAT_OK;
    }
    if (num_pieces > 0 && s->events.pieces != NULL) {
        s->events.pieces(s->context, message, pieces, num_pieces);
        return LEAT_OK;
    }
    if (num_pieces > 0)
        message = join_pieces(message, pieces, num_pieces, err);
    if (message == NULL)
        return err->code;
    s->events.message(s->context, message);
    return LEAT_OK;
}

static leat_status hear_end(void *context, const void *body, size_t size, leat_error *err) {
    leati_bulk_stream *s = context;
    leat_error why = {0};
    if (size > 0)
        leati_transport_get_error(body, size, &why);
    tell_closed(s, &why);
    return lingers(s) ? LEAT_OK : leati_fail(err, LEAT_UNAVAILABLE, "the stream has ended");
}

static leat_status hear_released(void *context, const uint64_t *numbers, int count,
                                 leat_error *err) {
    leati_bulk_stream *s = context;
    return leati_bulk_link_released(s->link, numbers, count, err);
}

/* ---- the thread ---- */

/* Reads until the end. */
static void read_all(leati_bulk_stream *s) {
    leati_bulk_reader reader = {.shares = s->side->shares && !s->side->serves};
    const leati_bulk_source source = {read_bytes, take_file, s};
    const leati_bulk_listener listener = {.message = hear_message,
                                          .end = hear_end,
                                          .released = hear_released,
                                          .context = s,
                                          .keep = leati_bulk_link_keep,
                                          .unused = leati_bulk_link_unused,
                                          .holder = s->link};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    s->deadline_ns = LEATI_NO_DEADLINE;
    while (status == LEAT_OK)
        status = leati_bulk_read(&reader, &source, &listener, &err);
    leati_bulk_reader_fini(&reader);
    close_stream(&s->base, &err);
    tell_closed(s, &err);
}

/* Makes the link, from when on others may write. */
static leat_status connected(leati_bulk_stream *s, int socket, leat_error *err) {
    leati_bulk_link *link = leati_bulk_link_new(socket, s->side->shares && s->side->serves, err);
    leati_queue_gate_lock(s->gate);
    s->link = link;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    return link != NULL ? LEAT_OK : err->code;
}

static leat_status greet(leati_bulk_stream *s, leat_error *err) {
    leati_bulk_greeting g = s->ask;
    g.secret = (leat_string){s->side->secret, strlen(s->side->secret)};
    if (s->side->token != NULL)
        g.token = (leat_string){s->side->token, strlen(s->side->token)};
    size_t size = leati_bulk_greeting_size(&g);
    uint8_t *body = leati_alloc(size, 1);
    if (body == NULL)
        return leati_no_memory(err);
    leati_bulk_put_greeting(&g, body);
    const leati_bulk_head head = {
        .kind = LEATI_BULK_OPEN, .count = LEATI_BULK_VERSION, .size = size};
    writing w = {s, NULL};
    const leati_bulk_patience patience = {writer_is_over, &w};
    leat_status status = leati_bulk_link_record(s->link, &head, body, &patience, err);
    explicit_bzero(body, size);
    leati_free(body);
    return status;
}

static leat_status begin_client(leati_bulk_stream *s, leat_error *err) {
    int socket = s->side->connect(s->side, s->wake, err);
    if (socket < 0)
        return err->code;
    leati_bulk_link *link = leati_bulk_link_new(socket, false, err);
    if (link == NULL)
        return err->code;
    /* Nobody writes before the greeting is through. */
    pthread_mutex_lock(&link->out);
    leati_queue_gate_lock(s->gate);
    s->link = link;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    leat_status status = greet(s, err);
    pthread_mutex_unlock(&link->out);
    return status;
}

static leat_status check_greeting(leati_bulk_stream *s, const leati_bulk_greeting *g,
                                  leat_error *err) {
    char secret[LEATI_BULK_SECRET] = "";
    if (g->secret.size == sizeof secret - 1)
        memcpy(secret, g->secret.data, sizeof secret - 1);
    if (leati_transport_check_token(s->side->secret, secret, err) != LEAT_OK)
        return leati_fail(err, LEAT_UNAVAILABLE,
                          "the worker at this address is another one than the one that is meant");
    char *token = g->token.data != NULL ? leati_strndup(g->token.data, g->token.size) : NULL;
    if (g->token.data != NULL && token == NULL)
        return leati_no_memory(err);
    leat_status status = leati_transport_check_token(s->side->token, token, err);
    leati_free(token);
    return status;
}

/* Asks the handler whether it takes the stream. */
static leat_status open_stream(leati_bulk_stream *s, const leati_bulk_greeting *g,
                               leat_error *err) {
    LEATI_TRY(check_greeting(s, g, err));
    char *method = leati_strndup(g->method.data, g->method.size);
    if (method == NULL)
        return leati_no_memory(err);
    const leati_transport_handler *handler = &s->side->handler;
    leat_status status = handler->open(handler->context, &s->base, method, s->peer, g->request.data,
                                       g->request.size, &s->events, &s->context, err);
    s->opened = status == LEAT_OK;
    leati_free(method);
    return status;
}

/* What the client says first. */
static leat_status begin_server(leati_bulk_stream *s, leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD];
    leati_bulk_head head;
    leati_bulk_greeting greeting;
    int socket = s->socket;
    s->socket = -1;
    LEATI_TRY(connected(s, socket, err));
    s->deadline_ns = leati_clock_deadline_ns(LEATI_BULK_GREET_MS);
    LEATI_TRY(read_bytes(s, bytes, sizeof bytes, err));
    LEATI_TRY(leati_bulk_get_head(bytes, &head, err));
    if (head.kind != LEATI_BULK_OPEN || head.count != LEATI_BULK_VERSION)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "a stream of another version of leat; install the same on both sides");
    uint8_t *body = leati_alloc((size_t)head.size + 1, 1);
    if (body == NULL)
        return leati_no_memory(err);
    leat_status status = read_bytes(s, body, (size_t)head.size, err);
    if (status == LEAT_OK)
        status = leati_bulk_get_greeting(body, (size_t)head.size, &greeting, err);
    if (status == LEAT_OK)
        status = open_stream(s, &greeting, err);
    leati_free(body);
    return status;
}

/* A server's: it was let in, or is on its way out. */
static void stranger_no_more(leati_bulk_side *side) {
    pthread_mutex_lock(&side->lock);
    side->num_strangers--;
    pthread_mutex_unlock(&side->lock);
}

static void stream_main(void *context) {
    leati_bulk_stream *s = context;
    leat_error err = {0};
    leat_status status = s->side->serves ? begin_server(s, &err) : begin_client(s, &err);
    if (s->side->serves)
        stranger_no_more(s->side);
    if (status == LEAT_OK) {
        read_all(s);
    } else {
        close_stream(&s->base, &err);
        tell_closed(s, &err);
    }
    send_end_patiently(s);
    if (s->file >= 0)
        close(s->file);
    leati_queue_gate_lock(s->gate);
    leati_bulk_link *link = s->link;
    s->finished = true;
    leati_queue_gate_unlock(s->gate);
    /* A client's goes with its last piece; a worker's other side hears that nobody reads. */
    if (link != NULL && (s->side->serves || !s->side->shares))
        (void)shutdown(link->socket, SHUT_RDWR);
    if (s->side->serves && link != NULL)
        leati_bulk_link_retire(link);
}

/* ---- beginning and ending ---- */

static const leati_transport_stream_type stream_type = {
    .write = write_stream, .close = close_stream, .free = free_stream};

static leat_status copy_text(leat_string from, leat_string *to, leat_error *err) {
    char *copy = leati_strndup(from.size > 0 ? from.data : "", from.size);
    if (copy == NULL)
        return leati_no_memory(err);
    *to = (leat_string){copy, from.size};
    return LEAT_OK;
}

static leat_status fill(leati_bulk_stream *s, const leati_bulk_greeting *ask, leat_error *err) {
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "no descriptor is left for a stream");
    s->gate = leati_queue_gate_new("a stream of the service", NULL, err);
    if (s->gate == NULL)
        return err->code;
    if (ask == NULL)
        return LEAT_OK;
    LEATI_TRY(copy_text(ask->method, &s->ask.method, err));
    return copy_text(ask->request, &s->ask.request, err);
}

leati_bulk_stream *leati_bulk_stream_new(leati_bulk_side *side, int socket,
                                         const leati_transport_events *events, void *context,
                                         const leati_bulk_greeting *ask, leat_error *err) {
    leati_bulk_stream *s = leati_alloc_zero(1, sizeof *s);
    if (s == NULL) {
        if (socket >= 0)
            close(socket);
        (void)leati_no_memory(err);
        return NULL;
    }
    leati_transport_stream_init(&s->base, &stream_type);
    s->side = side;
    s->socket = socket;
    s->wake = s->file = -1;
    s->deadline_ns = LEATI_NO_DEADLINE;
    s->opened = events != NULL;
    s->context = context;
    if (events != NULL)
        s->events = *events;
    leat_status status = fill(s, ask, err);
    if (status == LEAT_OK) {
        pthread_mutex_lock(&side->lock);
        if (side->closing)
            status = leati_fail(err, LEAT_UNAVAILABLE, "this side is closing");
        else
            s->driver = leati_driver_start("leat-stream", stream_main, s, err);
        if (s->driver != NULL) {
            (void)leati_transport_stream_ref(&s->base);
            s->next = side->streams;
            side->streams = s;
            side->num_streams++;
            side->num_strangers += side->serves;
        } else if (status == LEAT_OK) {
            status = err->code;
        }
        pthread_mutex_unlock(&side->lock);
    }
    if (status == LEAT_OK)
        return s;
    leati_transport_stream_unref(&s->base);
    return NULL;
}

/* Takes those off the list that have ended, or all. */
static leati_bulk_stream *take_streams(leati_bulk_side *side, bool all) {
    leati_bulk_stream *taken = NULL;
    pthread_mutex_lock(&side->lock);
    for (leati_bulk_stream **at = &side->streams; *at != NULL;) {
        leati_bulk_stream *s = *at;
        leati_queue_gate_lock(s->gate);
        bool ended = s->finished;
        leati_queue_gate_unlock(s->gate);
        if (!all && !ended) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        s->next = taken;
        taken = s;
        side->num_streams--;
    }
    pthread_mutex_unlock(&side->lock);
    return taken;
}

void leati_bulk_streams_reap(leati_bulk_side *side, bool all, const leat_error *why) {
    leati_bulk_stream *streams = take_streams(side, all);
    for (leati_bulk_stream *s = streams; all && s != NULL; s = s->next) {
        close_stream(&s->base, why);
        leati_queue_gate_lock(s->gate);
        s->cut = true;
        leati_queue_gate_wake(s->gate);
        leati_queue_gate_unlock(s->gate);
        wake(s);
    }
    for (leati_bulk_stream *s; (s = streams) != NULL;) {
        streams = s->next;
        leati_driver_join(s->driver);
        leati_transport_stream_unref(&s->base);
    }
}
