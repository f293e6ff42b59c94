/* Streams of the protocols "shm" and "tcp", at either end; see bulk.h.
 *
 * Happy path: once it has begun (bulk_begin.c) the thread reads records and calls the events, and
 * whoever writes sends on his own thread. A stream that was ended tells so at once, and goes on to
 * read until the other side has closed the socket too: so nothing that was sent is lost, and a
 * worker hears of pieces that are released later.
 *
 * Failures: records that no sender writes end the stream; so does the end of the socket. Who cannot
 * be sent the end at once is sent it by the thread. Locks: the gate, a leaf; a link's `out` is not
 * taken under it. */
#include "service/transport/bulk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
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
    if (!first || !s->opened)
        return;
    if (s->broke && s->events.broke != NULL)
        s->events.broke(s->context);
    s->events.closed(s->context, &s->why);
}

/* The thread's: for what is no answer of the other side, unless one of them has ended it before. */
static void end_broken(leati_bulk_stream *s, const leat_error *why) {
    leati_queue_gate_lock(s->gate);
    s->broke = !s->over;
    leati_queue_gate_unlock(s->gate);
    close_stream(&s->base, why);
    tell_closed(s, why);
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
bool leati_bulk_stream_is_over(leati_bulk_stream *s) {
    leati_queue_gate_lock(s->gate);
    bool over = s->cut || (s->over && !(s->closing && s->why.code == LEAT_OK && !s->told));
    leati_queue_gate_unlock(s->gate);
    return over || leati_stop_stopped();
}

static bool writer_is_over(void *context) {
    const writing *w = context;
    return leati_bulk_stream_is_over(w->stream) || leati_cancel_fired(w->cancel);
}

/* Until the stream is ready. */
static leat_status wait_ready(leati_bulk_stream *s, leat_cancel *cancel, leat_error *err) {
    leati_transport_wait wait;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(s->gate);
    bool waits = !s->ready && !s->over;
    leati_queue_gate_unlock(s->gate);
    if (waits) {
        leati_transport_wait_begin(&wait, s->gate, cancel);
        leati_queue_gate_lock(s->gate);
        while (!s->ready && !s->over && status == LEAT_OK)
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
    LEATI_TRY(wait_ready(s, cancel, err));
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
    lingering l = {s, leati_bulk_greeted_by()};
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
    s->deadline_ns = LEATI_MIN(s->deadline_ns, leati_clock_deadline_ns(LINGER_MS));
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

leat_status leati_bulk_stream_read(void *stream, void *out, size_t size, leat_error *err) {
    leati_bulk_stream *s = stream;
    int *file = s->side->shares && !s->side->serves ? &s->file : NULL;
    for (char *to = out; size > 0;) {
        ptrdiff_t n = leati_bulk_link_read(s->link, to, size, file, err);
        if (n < 0)
            return err->code;
        if (n == 0)
            LEATI_TRY(wait_readable(s, err));
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
        message = leati_bulk_join(message, pieces, num_pieces, err);
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
    const leati_bulk_source source = {leati_bulk_stream_read, take_file, s};
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
    end_broken(s, &err);
}

/* A server's: it was let in, or is on its way out. */
static void stranger_no_more(leati_bulk_side *side, bool let_in) {
    pthread_mutex_lock(&side->lock);
    side->num_strangers--;
    side->num_let_in += let_in;
    pthread_mutex_unlock(&side->lock);
}

static void stream_main(void *context) {
    leati_bulk_stream *s = context;
    leat_error err = {0};
    leat_status status =
        s->side->serves ? leati_bulk_begin_server(s, &err) : leati_bulk_begin_client(s, &err);
    if (s->side->serves)
        stranger_no_more(s->side, status == LEAT_OK);
    if (status == LEAT_OK)
        read_all(s);
    else
        end_broken(s, &err);
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
