/* Reading records; see bulk_wire.h.
 *
 * Happy path: the bytes of a message go from the socket into the buffer that the listener gets, and
 * pieces become buffers over the shared memory, which keep its mapping. Head and table are read
 * into memory of this process and checked there; what lies in shared memory is taken for values and
 * never for sizes or places, so a sender that writes on changes values alone.
 *
 * Failures: DATA_LOSS for what no sender writes, a segment that can shrink among it, since reading
 * behind its end would end the process; RESOURCE_EXHAUSTED; UNAVAILABLE of the source. Locks: none;
 * a segment counts its users atomically, since its last piece goes on any thread. */
#include "service/transport/bulk_wire.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "file/wire.h"
#include "service/transport/ends.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct leati_bulk_segment {
    leati_bulk_segment *next;
    atomic_int references; /* the reader's, and one for each piece */
    uint64_t number;
    uint8_t *data;
    size_t size;
};

/* What a piece's buffer keeps. */
typedef struct piece {
    leati_bulk_segment *segment; /* a reference */
    void (*unused)(void *context, uint64_t number, size_t size);
    void *context;
    uint64_t number;
} piece;

static leat_status damaged(leat_error *err, const char *what) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "a stream of the service carries %s; is the other side leat of this version?",
                      what);
}

/* ---- segments ---- */

static void segment_unref(leati_bulk_segment *segment) {
    if (atomic_fetch_sub_explicit(&segment->references, 1, memory_order_acq_rel) != 1)
        return;
    munmap(segment->data, segment->size);
    leati_free(segment);
}

static leati_bulk_segment *find_segment(const leati_bulk_reader *reader, uint64_t number) {
    leati_bulk_segment *segment = reader->segments;
    while (segment != NULL && segment->number != number)
        segment = segment->next;
    return segment;
}

/* Is it memory of that size, for good? */
static bool is_fixed(int file, size_t size) {
    struct stat about;
    int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(file, &about) == 0 &&
           about.st_size >= 0 && (uint64_t)about.st_size == size;
}

static leat_status map_segment(leati_bulk_reader *reader, const leati_bulk_head *head, int file,
                               leat_error *err) {
    leati_bulk_segment *segment = leati_alloc_zero(1, sizeof *segment);
    if (segment == NULL)
        return leati_no_memory(err);
    void *data = mmap(NULL, (size_t)head->total, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
        leati_free(segment);
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "cannot map %llu bytes of a worker's shared memory",
                          (unsigned long long)head->total);
    }
    atomic_init(&segment->references, 1);
    segment->number = head->number;
    segment->data = data;
    segment->size = (size_t)head->total;
    segment->next = reader->segments;
    reader->segments = segment;
    reader->num_segments++;
    return LEAT_OK;
}

static leat_status take_segment(leati_bulk_reader *reader, const leati_bulk_source *source,
                                const leati_bulk_head *head, leat_error *err) {
    int file = source->take_file(source->context);
    leat_status status = LEAT_OK;
    if (!reader->shares || file < 0)
        status = damaged(err, "shared memory that is not there");
    else if (find_segment(reader, head->number) != NULL ||
             reader->num_segments >= LEATI_BULK_MOST_SEGMENTS)
        status = damaged(err, "shared memory that it has, or too much of it");
    else if (!is_fixed(file, (size_t)head->total))
        status = damaged(err, "shared memory whose size is another one, or may change");
    else
        status = map_segment(reader, head, file, err);
    if (file >= 0)
        close(file);
    return status;
}

static leat_status forget_segment(leati_bulk_reader *reader, uint64_t number, leat_error *err) {
    leati_bulk_segment **at = &reader->segments;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    leati_bulk_segment *segment = *at;
    if (segment == NULL)
        return damaged(err, "the end of shared memory that it does not have");
    *at = segment->next;
    reader->num_segments--;
    segment_unref(segment);
    return LEAT_OK;
}

void leati_bulk_reader_fini(leati_bulk_reader *reader) {
    for (leati_bulk_segment *segment; (segment = reader->segments) != NULL;) {
        reader->segments = segment->next;
        segment_unref(segment);
    }
    reader->num_segments = 0;
}

/* ---- messages ---- */

static void release_piece(void *context, void *data, size_t size) {
    piece *p = context;
    (void)data;
    segment_unref(p->segment);
    p->unused(p->context, p->number, size);
    leati_free(p);
}

/* A buffer over the piece. Owned. */
static leat_buffer *adopt(leati_bulk_reader *reader, leati_bulk_segment *segment,
                          const leati_bulk_piece *entry, const leati_bulk_listener *listener,
                          leat_error *err) {
    piece *p = leati_alloc(1, sizeof *p);
    leat_status status = p == NULL ? leati_no_memory(err) : listener->keep(listener->holder, err);
    if (status != LEAT_OK) {
        leati_free(p);
        return NULL;
    }
    *p = (piece){segment, listener->unused, listener->holder, reader->next};
    atomic_fetch_add_explicit(&segment->references, 1, memory_order_relaxed);
    return leat_buffer_adopt(segment->data + entry->offset, (size_t)entry->size, release_piece, p,
                             err);
}

/* Entry i of the table, checked against the segments, and those before it up to `at`. */
static leat_status take_piece(leati_bulk_reader *reader, const uint8_t *entry,
                              const leati_bulk_head *head, uint64_t *at,
                              const leati_bulk_listener *listener, leati_transport_piece *out,
                              leat_error *err) {
    leati_bulk_piece p = {leati_wire_load64(entry), leati_wire_load64(entry + 8),
                          leati_wire_load64(entry + 16), leati_wire_load64(entry + 24)};
    leati_bulk_segment *segment = find_segment(reader, p.segment);
    if (segment == NULL || p.size == 0 || p.offset > segment->size ||
        p.size > segment->size - p.offset)
        return damaged(err, "a piece that lies in no shared memory");
    if (p.at < *at || p.at > head->total || p.size > head->total - p.at)
        return damaged(err, "a piece that lies beside its message");
    *out = (leati_transport_piece){(size_t)p.at, adopt(reader, segment, &p, listener, err)};
    reader->next++;
    *at = p.at + p.size;
    return out->bytes != NULL ? LEAT_OK : err->code;
}

static leat_status take_pieces(leati_bulk_reader *reader, const leati_bulk_source *source,
                               const leati_bulk_head *head, const leati_bulk_listener *listener,
                               leati_transport_piece *pieces, leat_error *err) {
    uint64_t at = 0, size = 0;
    for (uint32_t i = 0; i < head->count; i++) {
        uint8_t entry[LEATI_BULK_PIECE];
        LEATI_TRY(source->read(source->context, entry, sizeof entry, err));
        LEATI_TRY(take_piece(reader, entry, head, &at, listener, &pieces[i], err));
        size += leat_buffer_size(pieces[i].bytes);
    }
    return size == head->total - head->size ? LEAT_OK
                                            : damaged(err, "a message without some of its bytes");
}

static leat_status take_message(leati_bulk_reader *reader, const leati_bulk_source *source,
                                const leati_bulk_head *head, const leati_bulk_listener *listener,
                                leat_error *err) {
    leati_transport_piece few[8] = {{0}}, *pieces = few;
    if (head->count > 0 && !reader->shares)
        return damaged(err, "a piece of shared memory");
    if (head->count > sizeof few / sizeof few[0])
        pieces = leati_alloc_zero(head->count, sizeof *pieces);
    if (pieces == NULL)
        return leati_no_memory(err);
    leat_status status = take_pieces(reader, source, head, listener, pieces, err);
    leat_buffer *message = status == LEAT_OK ? leat_buffer_new((size_t)head->size, err) : NULL;
    if (status == LEAT_OK && message == NULL)
        status = err->code;
    if (status == LEAT_OK && head->size > 0)
        status = source->read(source->context, leat_buffer_data(message), (size_t)head->size, err);
    if (status == LEAT_OK) {
        status = listener->message(listener->context, message, pieces, (int)head->count, err);
    } else {
        leat_buffer_unref(message);
        for (uint32_t i = 0; i < head->count; i++)
            leat_buffer_unref(pieces[i].bytes);
    }
    if (pieces != few)
        leati_free(pieces);
    return status;
}

/* ---- the other records ---- */

static leat_status take_end(const leati_bulk_source *source, const leati_bulk_head *head,
                            const leati_bulk_listener *listener, leat_error *err) {
    uint8_t body[LEATI_BULK_MOST_END];
    LEATI_TRY(source->read(source->context, body, (size_t)head->size, err));
    return listener->end(listener->context, body, (size_t)head->size, err);
}

static leat_status take_released(const leati_bulk_source *source, const leati_bulk_head *head,
                                 const leati_bulk_listener *listener, leat_error *err) {
    uint8_t body[8 * LEATI_BULK_MOST_RELEASED];
    uint64_t numbers[LEATI_BULK_MOST_RELEASED];
    LEATI_TRY(source->read(source->context, body, (size_t)head->size, err));
    for (uint32_t i = 0; i < head->count; i++)
        numbers[i] = leati_wire_load64(body + 8 * i);
    return listener->released(listener->context, numbers, (int)head->count, err);
}

leat_status leati_bulk_read(leati_bulk_reader *reader, const leati_bulk_source *source,
                            const leati_bulk_listener *listener, leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD];
    leati_bulk_head head;
    LEATI_TRY(source->read(source->context, bytes, sizeof bytes, err));
    LEATI_TRY(leati_bulk_get_head(bytes, &head, err));
    switch (head.kind) {
    case LEATI_BULK_MESSAGE: return take_message(reader, source, &head, listener, err);
    case LEATI_BULK_END: return take_end(source, &head, listener, err);
    case LEATI_BULK_SEGMENT: return take_segment(reader, source, &head, err);
    case LEATI_BULK_FORGET: return forget_segment(reader, head.number, err);
    case LEATI_BULK_RELEASE: return take_released(source, &head, listener, err);
    default: return damaged(err, "a greeting in its midst");
    }
}

leat_buffer *leati_bulk_join(leat_buffer *rest, const leati_transport_piece *pieces, int n,
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
