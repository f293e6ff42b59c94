/* Records of a stream between processes: little-endian heads, and messages put together. What comes
 * in is believed no further than it can be checked: sizes against the bytes that are there, totals
 * against a limit, records against the message that is under way. */
#include "service/transport/chunk.h"

#include "base/error.h"
#include "base/minmax.h"
#include "service/transport/ends.h"

#include <string.h>

/* Where reading stands in the slices. */
typedef struct cursor {
    const leati_grpc_bytes *slices;
    size_t num_slices, slice, at; /* `at` in the slice */
    size_t left;                  /* bytes of all */
} cursor;

static void put_number(uint8_t *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t *in, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

void leati_chunk_put_head(const leati_chunk_head *head, uint8_t out[LEATI_CHUNK_HEAD]) {
    memset(out, 0, LEATI_CHUNK_HEAD);
    out[0] = (uint8_t)head->kind;
    put_number(out + 4, head->size, 4);
    put_number(out + 8, head->total, 8);
}

/* Takes `size` bytes, which are there, into `out`. */
static void take(cursor *c, void *out, size_t size) {
    char *to = out;
    c->left -= size;
    while (size > 0) {
        const leati_grpc_bytes *slice = &c->slices[c->slice];
        size_t n = LEATI_MIN(size, slice->size - c->at);
        if (n > 0)
            memcpy(to, (const char *)slice->data + c->at, n);
        to += n;
        size -= n;
        c->at += n;
        if (c->at == slice->size) {
            c->slice++;
            c->at = 0;
        }
    }
}

static leat_status damaged(leat_error *err, const char *what) {
    return leati_fail(err, LEAT_DATA_LOSS,
                      "a stream of the service carries %s; is the other side leat of this version?",
                      what);
}

static leat_status take_head(cursor *c, leati_chunk_head *head, leat_error *err) {
    uint8_t bytes[LEATI_CHUNK_HEAD];
    if (c->left < sizeof bytes)
        return damaged(err, "a record without a whole head");
    take(c, bytes, sizeof bytes);
    if (bytes[0] == 0 || bytes[0] >= LEATI_CHUNK_NUM_KINDS || get_number(bytes + 1, 3) != 0)
        return damaged(err, "a record of a kind that is not known");
    head->kind = (leati_chunk_kind)bytes[0];
    head->size = (uint32_t)get_number(bytes + 4, 4);
    head->total = get_number(bytes + 8, 8);
    if (head->size > c->left)
        return damaged(err, "a record that is longer than what holds it");
    if (head->kind != LEATI_CHUNK_FIRST && head->total != 0)
        return damaged(err, "a record with the size of a message that it does not begin");
    return LEAT_OK;
}

static leat_status begin_message(leati_chunk_reader *reader, const leati_chunk_head *head,
                                 leat_error *err) {
    if (reader->message != NULL)
        return damaged(err, "a message within another");
    if (head->total > LEATI_CHUNK_MOST_TOTAL || head->size > head->total)
        return damaged(err, "a message of a size that cannot be");
    reader->message = leat_buffer_new((size_t)head->total, err);
    reader->filled = 0;
    return reader->message != NULL ? LEAT_OK : err->code;
}

static leat_status add_to_message(leati_chunk_reader *reader, cursor *c, size_t size,
                                  const leati_chunk_listener *listener, leat_error *err) {
    if (reader->message == NULL)
        return damaged(err, "more of a message that did not begin");
    if (size > leat_buffer_size(reader->message) - reader->filled)
        return damaged(err, "more of a message than it said it has");
    take(c, (char *)leat_buffer_data(reader->message) + reader->filled, size);
    leati_transport_count_copied(size);
    reader->filled += size;
    if (reader->filled < leat_buffer_size(reader->message))
        return LEAT_OK;
    leat_buffer *message = reader->message;
    reader->message = NULL;
    return listener->message(listener->context, message, err);
}

static leat_status take_control(cursor *c, const leati_chunk_head *head,
                                const leati_chunk_listener *listener, leat_error *err) {
    uint8_t body[LEATI_CHUNK_MOST_CONTROL];
    if (head->size > sizeof body)
        return damaged(err, "a record that is too long for its kind");
    take(c, body, head->size);
    return listener->control(listener->context, head->kind, body, head->size, err);
}

leat_status leati_chunk_read(leati_chunk_reader *reader, const leati_grpc_bytes *slices,
                             size_t num_slices, const leati_chunk_listener *listener,
                             leat_error *err) {
    cursor c = {.slices = slices, .num_slices = num_slices};
    for (size_t i = 0; i < num_slices; i++)
        c.left += slices[i].size;
    while (c.left > 0) {
        leati_chunk_head head;
        LEATI_TRY(take_head(&c, &head, err));
        if (head.kind != LEATI_CHUNK_FIRST && head.kind != LEATI_CHUNK_MORE) {
            LEATI_TRY(take_control(&c, &head, listener, err));
            continue;
        }
        if (head.kind == LEATI_CHUNK_FIRST)
            LEATI_TRY(begin_message(reader, &head, err));
        LEATI_TRY(add_to_message(reader, &c, head.size, listener, err));
    }
    return LEAT_OK;
}

void leati_chunk_reader_fini(leati_chunk_reader *reader) {
    leat_buffer_unref(reader->message);
    reader->message = NULL;
}
