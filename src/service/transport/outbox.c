/* Frames out of messages. A frame begins with what is first in the box and ends where it has its
 * bytes, its pieces or the room for copies are used up; a message that does not fit goes on in the
 * next frame. */
#include "service/transport/outbox.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"

#include <string.h>

enum {
    SMALL = 1024,        /* bytes of a part, or of what is left of it, that is copied */
    STAGE_BYTES = 65536, /* of heads and copies in a frame */
    STAGE_ALONE = 4096   /* the same where one message of few parts is to be sent */
};

/* A frame that is being filled. */
typedef struct filling {
    leati_outbox_frame *frame;
    leat_buffer *stage;
    char *begin;
    size_t used, piece_from; /* in the stage; what lies between is no piece yet */
    size_t most;
} filling;

leati_outbox_item *leati_outbox_item_new(leati_chunk_kind kind, const leati_transport_part *parts,
                                         int num_parts, leat_error *err) {
    size_t bytes, total, lone = 0;
    bool fits = leati_mul_size((size_t)num_parts, sizeof *parts, &bytes) &&
                leati_add_size(bytes, sizeof(leati_outbox_item), &bytes);
    leati_outbox_item *item = fits ? leati_alloc(bytes, 1) : NULL;
    leat_buffer *copies = NULL;
    for (int i = 0; i < num_parts; i++)
        lone += parts[i].owner == NULL ? parts[i].size : 0;
    if (item != NULL && lone > 0)
        copies = leat_buffer_new(lone, err);
    if (item == NULL || (lone > 0 && copies == NULL)) {
        leati_free(item);
        leati_no_memory(err);
        return NULL;
    }
    *item = (leati_outbox_item){.kind = kind};
    char *to = copies != NULL ? leat_buffer_data(copies) : NULL;
    total = 0;
    for (int i = 0; i < num_parts; i++) {
        leati_transport_part part = parts[i];
        if (part.size == 0)
            continue;
        if (part.owner == NULL) {
            memcpy(to, part.data, part.size);
            part.data = to;
            part.owner = copies;
            to += part.size;
        }
        leat_buffer_ref(part.owner);
        item->parts[item->num_parts++] = part;
        total += part.size;
    }
    item->total = total;
    leati_transport_count_copied(lone);
    leat_buffer_unref(copies);
    return item;
}

void leati_outbox_item_free(leati_outbox_item *item) {
    for (int i = 0; i < item->num_parts; i++)
        leat_buffer_unref(item->parts[i].owner);
    leati_free(item);
}

void leati_outbox_put(leati_outbox *box, leati_outbox_item *item) {
    item->next = NULL;
    if (box->first == NULL)
        box->first = item;
    else
        box->last->next = item;
    box->last = item;
    box->bytes += item->total;
}

static void pop(leati_outbox *box) {
    leati_outbox_item *dead = box->first;
    box->first = dead->next;
    leati_outbox_item_free(dead);
}

void leati_outbox_drop(leati_outbox *box) {
    while (box->first != NULL)
        pop(box);
    box->bytes = 0;
}

static leati_outbox_frame *new_frame(void (*released)(void *context), void *context,
                                     leat_error *err) {
    leati_outbox_frame *frame = leati_alloc(1, sizeof *frame);
    if (frame == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    atomic_init(&frame->references, 1);
    frame->released = released;
    frame->context = context;
    frame->num_pieces = 0;
    frame->bytes = 0;
    return frame;
}

void leati_outbox_frame_release(leati_outbox_frame *frame) {
    if (atomic_fetch_sub_explicit(&frame->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < frame->num_pieces; i++)
        leat_buffer_unref(frame->buffers[i]);
    void (*released)(void *) = frame->released;
    void *context = frame->context;
    leati_free(frame);
    released(context);
}

static void add_piece(leati_outbox_frame *frame, const void *data, size_t size,
                      leat_buffer *owner) {
    frame->buffers[frame->num_pieces] = leat_buffer_ref(owner);
    frame->pieces[frame->num_pieces++] = (leati_grpc_piece){data, size, frame};
}

/* What lies in the stage becomes a piece. */
static void flush_stage(filling *f) {
    if (f->used > f->piece_from)
        add_piece(f->frame, f->begin + f->piece_from, f->used - f->piece_from, f->stage);
    f->piece_from = f->used;
}

static size_t stage_left(const filling *f) {
    return leat_buffer_size(f->stage) - f->used;
}

/* Room for another part: a piece of its own, and one of the stage before and behind it. */
static bool has_pieces(const filling *f) {
    return f->frame->num_pieces + 3 <= LEATI_OUTBOX_MOST_PIECES;
}

/* Moves bytes of one part; false where the frame is full. */
static bool move_part(filling *f, leati_outbox_item *item, size_t *moved) {
    const leati_transport_part *part = &item->parts[item->part];
    const char *data = (const char *)part->data + item->at;
    size_t n = LEATI_MIN(part->size - item->at, f->most - LEATI_MIN(f->most, f->frame->bytes));
    if (n == 0 || !has_pieces(f) || (n <= SMALL && stage_left(f) < n))
        return false;
    if (n <= SMALL) {
        memcpy(f->begin + f->used, data, n);
        f->used += n;
        leati_transport_count_copied(n);
    } else {
        flush_stage(f);
        add_piece(f->frame, data, n, part->owner);
    }
    f->frame->bytes += n;
    *moved += n;
    item->at += n;
    if (item->at == part->size) {
        item->part++;
        item->at = 0;
    }
    return true;
}

/* Adds a record of the item; false where the frame is full before the item is through. */
static bool move_item(filling *f, leati_outbox_item *item) {
    bool message = item->kind == LEATI_CHUNK_FIRST;
    size_t most = f->most;
    if (stage_left(f) < LEATI_CHUNK_HEAD + SMALL || !has_pieces(f) || f->frame->bytes >= most)
        return false;
    if (!message)
        f->most = SIZE_MAX; /* what is no message is not cut */
    leati_chunk_head head = {.kind = item->begun ? LEATI_CHUNK_MORE : item->kind};
    head.total = message && !item->begun ? item->total : 0;
    uint8_t *at = (uint8_t *)f->begin + f->used;
    size_t moved = 0;
    f->used += LEATI_CHUNK_HEAD;
    while (item->part < item->num_parts && move_part(f, item, &moved)) {
    }
    f->most = most;
    head.size = (uint32_t)moved;
    leati_chunk_put_head(&head, at);
    item->begun = true;
    item->sent += moved;
    return item->part == item->num_parts;
}

/* Each piece is handed to who sends it, with its reference. */
static leati_outbox_frame *seal(leati_outbox_frame *frame) {
    atomic_store(&frame->references, (int)frame->num_pieces);
    return frame;
}

leati_outbox_frame *leati_outbox_frame_of(leat_buffer *buffer, void (*released)(void *context),
                                          void *context, leat_error *err) {
    leati_outbox_frame *frame = new_frame(released, context, err);
    if (frame != NULL)
        add_piece(frame, leat_buffer_data(buffer), leat_buffer_size(buffer), buffer);
    leat_buffer_unref(buffer);
    return frame != NULL ? seal(frame) : NULL;
}

leati_outbox_frame *leati_outbox_take(leati_outbox *box, size_t most,
                                      void (*released)(void *context), void *context,
                                      leat_error *err) {
    bool alone = box->first->next == NULL && box->first->num_parts <= STAGE_ALONE / SMALL / 2;
    filling f = {.frame = new_frame(released, context, err), .most = most};
    if (f.frame == NULL)
        return NULL;
    f.stage = leat_buffer_new(alone ? STAGE_ALONE : STAGE_BYTES, err);
    if (f.stage == NULL) {
        leati_free(f.frame);
        return NULL;
    }
    f.begin = leat_buffer_data(f.stage);
    bool through = true;
    while (through && box->first != NULL) {
        leati_outbox_item *item = box->first;
        size_t before = item->sent;
        through = move_item(&f, item);
        box->bytes -= item->sent - before;
        if (through)
            pop(box);
    }
    flush_stage(&f);
    leat_buffer_unref(f.stage);
    return seal(f.frame);
}
