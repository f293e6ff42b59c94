/* Frames as they are sent; the layout stands in frame_layout.h.
 *
 * Happy path: the components of the rows are walked twice by the same code, first to count parts
 * and bytes that must be copied, then to fill one buffer of exactly that size and the list of
 * parts. Values whose rows lie one behind the other stay where they are, from 4 KiB on; strings are
 * joined where one begins at the other's end, and stay from 16 KiB on. Compression packs the parts
 * into one buffer, which replaces them where it is smaller.
 *
 * Failures: UNIMPLEMENTED for objects, INVALID_ARGUMENT for more rows than a frame takes,
 * RESOURCE_EXHAUSTED. No locks: a frame has one owner. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/spec.h"
#include "data/values/values.h"
#include "file/compress.h"
#include "service/transport/ends.h"
#include "service/wire/frame_layout.h"
#include <string.h>

enum {
    STAYS = 4096,         /* bytes of values that are worth a part of their own */
    TEXT_STAYS = 16384,   /* and of strings */
    WORTH_PACKING = 1024, /* bytes */
    PADS = LEATI_FRAME_ALIGN
};

leat_compression leati_frame_codec(leati_frame_compression compression) {
    switch (compression) {
    case LEATI_FRAME_SNAPPY: return LEAT_COMPRESSION_SNAPPY;
    case LEATI_FRAME_LZ4: return LEAT_COMPRESSION_LZ4;
    case LEATI_FRAME_ZSTD: return LEAT_COMPRESSION_ZSTD;
    default: return LEAT_COMPRESSION_NONE;
    }
}

leati_frame_compression leati_frame_best(const leati_strings *names) {
    static const char *const known[] = {
        [LEATI_FRAME_SNAPPY] = "snappy", [LEATI_FRAME_LZ4] = "lz4", [LEATI_FRAME_ZSTD] = "zstd"};
    for (int32_t i = 0; i < names->count; i++)
        for (int c = LEATI_FRAME_SNAPPY; c <= LEATI_FRAME_ZSTD; c++) {
            const leati_compress_codec *codec =
                leati_compress_codec_of(leati_frame_codec((leati_frame_compression)c));
            const leat_string *name = &names->values[i];
            if (name->size == strlen(known[c]) && memcmp(name->data, known[c], name->size) == 0 &&
                codec != NULL && codec->package == NULL)
                return (leati_frame_compression)c;
        }
    return LEATI_FRAME_PLAIN;
}

/* A walk over the frame. While it measures, `copied` and `parts` count and nothing is written. */
typedef struct builder {
    leati_frame *frame; /* NULL: measures */
    size_t copied;      /* bytes of the frame's own buffer */
    int parts;
    size_t at; /* bytes of the payload so far */
    bool open; /* the last part lies in the own buffer and ends at `copied` */
} builder;

/* `size` bytes of the own buffer, which become part of the frame here; NULL while measuring. */
static void *take(builder *b, size_t size) {
    char *room = NULL;
    if (size == 0)
        return NULL;
    if (!b->open)
        b->parts++;
    if (b->frame != NULL) {
        leati_transport_part *part = &b->frame->parts[b->parts - 1];
        room = (char *)leat_buffer_data(b->frame->head) + b->copied;
        if (!b->open)
            *part = (leati_transport_part){room, 0, leat_buffer_ref(b->frame->head)};
        part->size += size;
        b->frame->num_parts = b->parts;
    }
    b->open = true;
    b->copied += size;
    b->at += size;
    return room;
}

/* The caller's bytes: copied, or as a part that refers to them. */
static void put(builder *b, const void *data, size_t size, leat_buffer *owner, size_t stays) {
    if (size < stays) {
        void *room = take(b, size);
        if (room != NULL)
            memcpy(room, data, size);
        return;
    }
    if (b->frame != NULL) {
        b->frame->parts[b->parts] = (leati_transport_part){data, size, leat_buffer_ref(owner)};
        b->frame->num_parts = b->parts + 1;
    }
    b->parts++;
    b->open = false;
    b->at += size;
}

static void pad(builder *b, size_t to) {
    size_t size = leati_frame_align(b->at, to) - b->at;
    void *room = take(b, size);
    if (room != NULL)
        memset(room, 0, size);
}

/* ---- components ---- */

static int64_t row_values(const leati_column *column, int64_t row) {
    leat_shape shape = leati_column_row_shape(column, row);
    return leati_shape_count(&shape);
}

/* Strings that lie one behind the other in one buffer. */
typedef struct run {
    const char *data;
    size_t size;
    leat_buffer *owner;
} run;

static void put_run(builder *b, run *text) {
    put(b, text->data, text->size, text->owner, TEXT_STAYS);
    *text = (run){0};
}

static void put_strings(builder *b, const leati_column *column, int64_t begin, int64_t n) {
    for (int64_t row = begin; row < begin + n; row++) {
        const leat_string *strings = leati_column_row(column, row);
        size_t count = (size_t)row_values(column, row);
        char *lengths = take(b, 8 * count);
        for (size_t i = 0; lengths != NULL && i < count; i++)
            leati_wire_store64(lengths + 8 * i, strings[i].size);
    }
    run text = {0};
    for (int64_t row = begin; row < begin + n; row++) {
        const leat_string *strings = leati_column_row(column, row);
        int64_t count = row_values(column, row);
        leat_buffer *owner =
            column->form == LEATI_TENSORS ? column->tensors[row].owner : column->owner;
        for (int64_t i = 0; i < count; i++) {
            if (strings[i].size == 0)
                continue;
            if (text.size > 0 && (text.data + text.size != strings[i].data || text.owner != owner))
                put_run(b, &text);
            if (text.size == 0)
                text = (run){.data = strings[i].data, .owner = owner};
            text.size += strings[i].size;
        }
    }
    put_run(b, &text);
}

/* Values of rows that all have one shape. */
static void put_rows(builder *b, const leati_column *column, int64_t begin, int64_t n) {
    size_t bytes = leati_column_row_bytes(column), size = (size_t)n * bytes;
    bool dense = column->form == LEATI_STRIDED && (n == 1 || column->stride == (int64_t)bytes);
    if (size == 0)
        return;
    if (dense) {
        put(b, leati_column_row(column, begin), size, column->owner, STAYS);
        return;
    }
    char *room = take(b, size);
    if (room != NULL)
        leati_column_gather(column, begin, n, room, (int64_t)bytes);
}

static void put_shapes(builder *b, const leati_column *column, int64_t begin, int64_t n) {
    for (int64_t row = begin; row < begin + n; row++) {
        const leat_tensor *tensor = &column->tensors[row];
        char *room = take(b, 8 + 8 * (size_t)tensor->rank);
        if (room == NULL)
            continue;
        leati_wire_store64(room, (uint64_t)tensor->rank);
        for (int d = 0; d < tensor->rank; d++)
            leati_wire_store64(room + 8 + 8 * d, (uint64_t)tensor->dims[d]);
    }
    if (column->dtype == LEAT_STRING) {
        put_strings(b, column, begin, n);
        return;
    }
    for (int64_t row = begin; row < begin + n; row++) {
        const leat_tensor *tensor = &column->tensors[row];
        pad(b, 8);
        if (leat_tensor_bytes(tensor) > 0)
            put(b, tensor->data, leat_tensor_bytes(tensor), tensor->owner, STAYS);
    }
}

static void put_component(builder *b, const leati_column *column, int64_t begin, int64_t n,
                          leati_frame_component *out) {
    pad(b, LEATI_FRAME_ALIGN);
    *out = (leati_frame_component){.dtype = column->dtype, .offset = b->at};
    if (column->form == LEATI_TENSORS) {
        out->form = LEATI_FRAME_SHAPES;
        put_shapes(b, column, begin, n);
    } else {
        bool one = column->form == LEATI_STRIDED && column->stride == 0;
        out->form = one ? LEATI_FRAME_ONE : LEATI_FRAME_ROWS;
        out->shape = leati_column_row_shape(column, begin);
        if (column->dtype == LEAT_STRING)
            put_strings(b, column, begin, one ? 1 : n);
        else
            put_rows(b, column, begin, one ? 1 : n);
    }
    out->size = b->at - out->offset;
}

/* ---- head and table ---- */

typedef struct head {
    leati_frame_kind kind;
    int64_t position, n;
    uint32_t components, table;
    uint64_t payload;
} head;

static void store_head(char *to, const head *h) {
    memset(to, 0, LEATI_FRAME_HEAD);
    memcpy(to, LEATI_FRAME_MAGIC, 4);
    to[4] = LEATI_FRAME_VERSION;
    to[5] = (char)h->kind;
    to[6] = LEATI_FRAME_PLAIN;
    leati_wire_store64(to + 8, (uint64_t)h->position);
    leati_wire_store64(to + 16, (uint64_t)h->n);
    leati_wire_store32(to + 24, h->components);
    leati_wire_store32(to + 28, h->table);
    leati_wire_store64(to + 32, h->payload);
    leati_wire_store64(to + 40, h->payload);
}

/* The bytes behind the table were packed into `sent`. */
static void store_packed(char *to, leati_frame_compression compression, size_t sent) {
    to[6] = (char)compression;
    leati_wire_store64(to + 40, sent);
}

static char *store_entry(char *to, const leati_frame_component *c) {
    int rank = c->form == LEATI_FRAME_SHAPES ? 0 : c->shape.rank;
    const char *name = leat_dtype_name(c->dtype);
    memset(to, 0, LEATI_FRAME_ENTRY);
    to[0] = (char)c->form;
    to[1] = (char)rank;
    memcpy(to + 8, name, LEATI_MIN(strlen(name), LEATI_FRAME_DTYPE));
    leati_wire_store64(to + 16, c->offset);
    leati_wire_store64(to + 24, c->size);
    for (int d = 0; d < rank; d++)
        leati_wire_store64(to + LEATI_FRAME_ENTRY + 8 * d, (uint64_t)c->shape.dims[d]);
    return to + LEATI_FRAME_ENTRY + 8 * rank;
}

static size_t table_bytes(const leati_block *block) {
    size_t size = 0;
    for (int c = 0; c < block->num_columns; c++) {
        const leati_column *column = &block->columns[c];
        size += LEATI_FRAME_ENTRY + (column->form == LEATI_TENSORS ? 0 : 8 * (size_t)column->rank);
    }
    return size;
}

/* ---- compression ---- */

typedef struct packed {
    leat_buffer *buffer; /* grows */
    size_t size, most;   /* it is given up beyond `most` */
} packed;

static leat_status take_packed(void *context, const void *data, size_t size, leat_error *err) {
    packed *p = context;
    if (size > p->most - p->size) {
        p->size = p->most;
        return leati_fail(err, LEAT_OUT_OF_RANGE, "the packed bytes are not fewer");
    }
    memcpy((char *)leat_buffer_data(p->buffer) + p->size, data, size);
    p->size += size;
    return LEAT_OK;
}

static leat_status pack_parts(const leati_frame *frame, leati_frame_compression compression,
                              packed *p, leat_error *err) {
    leati_packer *packer =
        leati_compress_packer_new(leati_frame_codec(compression), LEAT_UNSET, take_packed, p, err);
    if (packer == NULL)
        return err->code;
    leat_status status = LEAT_OK;
    for (int i = 1; i < frame->num_parts && status == LEAT_OK; i++)
        status =
            leati_compress_packer_write(packer, frame->parts[i].data, frame->parts[i].size, err);
    if (status == LEAT_OK)
        status = leati_compress_packer_finish(packer, err);
    leati_compress_packer_free(packer);
    return status;
}

leat_status leati_frame_pack(leati_frame *frame, leati_frame_compression compression,
                             leat_error *err) {
    const size_t payload = leati_frame_bytes(frame) - frame->parts[0].size;
    if (compression == LEATI_FRAME_PLAIN || payload < WORTH_PACKING)
        return LEAT_OK;
    packed p = {.most = payload - payload / 16};
    p.buffer = leat_buffer_new(p.most, err);
    if (p.buffer == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_error local = {0};
    leat_status status = pack_parts(frame, compression, &p, &local);
    if (status != LEAT_OK) {
        leat_buffer_unref(p.buffer);
        bool larger = status == LEAT_OUT_OF_RANGE && p.size == p.most;
        return larger ? LEAT_OK : leati_error_pass(err, &local);
    }
    /* So that who receives it can bound its memory by the size of the message. */
    size_t least = LEATI_MIN(payload / LEATI_FRAME_MOST_RATIO + 1, p.most);
    if (p.size < least) {
        memset((char *)leat_buffer_data(p.buffer) + p.size, 0, least - p.size);
        p.size = least;
    }
    for (int i = 1; i < frame->num_parts; i++)
        leat_buffer_unref(frame->parts[i].owner);
    frame->parts[1] = (leati_transport_part){leat_buffer_data(p.buffer), p.size, p.buffer};
    frame->num_parts = 2;
    store_packed(leat_buffer_data(frame->head), compression, p.size);
    return LEAT_OK;
}

/* ---- the doors ---- */

static leat_status check_block(const leati_block *block, int64_t n, leat_error *err) {
    if (n < 1 || n > LEATI_FRAME_MOST_ROWS)
        return leati_refuse(err, VALUE, "a frame of %lld elements; expected 1 to %d", (long long)n,
                            LEATI_FRAME_MOST_ROWS);
    for (int c = 0; c < block->num_columns; c++)
        if (block->columns[c].dtype == LEAT_OBJECT)
            return leati_fail_for(
                err, LEAT_UNIMPLEMENTED, LEAT_REASON_DTYPE,
                "component %d is a dataset or an optional, which does not leave its process; turn "
                "it into tensors below the service, or above it",
                c);
    return LEAT_OK;
}

/* Makes the frame's buffer and its parts; the first part is head and table. */
static leat_status open_frame(leati_frame *frame, size_t head_bytes, size_t copied, int parts,
                              leat_error *err) {
    *frame = (leati_frame){0};
    frame->head = leat_buffer_new(head_bytes + copied, err);
    if (frame->head == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* One more than counted, as compression has a part of its own. */
    frame->parts = leati_alloc_zero((size_t)parts + 2, sizeof(*frame->parts));
    if (frame->parts == NULL) {
        leat_buffer_unref(frame->head);
        frame->head = NULL;
        return leati_no_memory(err);
    }
    frame->parts[0] = (leati_transport_part){leat_buffer_data(frame->head), head_bytes,
                                             leat_buffer_ref(frame->head)};
    frame->num_parts = 1;
    return LEAT_OK;
}

leat_status leati_frame_of_block(const leati_block *block, int64_t begin, int64_t n,
                                 int64_t position, leati_frame_compression compression,
                                 leati_frame *out, leat_error *err) {
    LEATI_TRY(check_block(block, n, err));
    size_t table = table_bytes(block),
           head_bytes = leati_frame_align(LEATI_FRAME_HEAD + table, LEATI_FRAME_ALIGN);
    leati_frame_component component;
    builder measure = {0};
    for (int c = 0; c < block->num_columns; c++)
        put_component(&measure, &block->columns[c], begin, n, &component);
    LEATI_TRY(open_frame(out, head_bytes, measure.copied, measure.parts, err));
    leati_transport_count_copied(measure.copied);
    /* Head and table are a part of their own, so that only they change when the rest is packed. */
    builder b = {.frame = out, .copied = head_bytes, .parts = 1};
    char *start = leat_buffer_data(out->head), *entry = start + LEATI_FRAME_HEAD;
    memset(start, 0, head_bytes);
    for (int c = 0; c < block->num_columns; c++) {
        put_component(&b, &block->columns[c], begin, n, &component);
        entry = store_entry(entry, &component);
    }
    store_head(start, &(head){LEATI_FRAME_ELEMENTS, position, n, (uint32_t)block->num_columns,
                              (uint32_t)table, b.at});
    leat_status status = leati_frame_pack(out, compression, err);
    if (status != LEAT_OK)
        leati_frame_fini(out);
    return status;
}

leat_status leati_frame_of_event(leati_frame_kind kind, int64_t position, const leat_error *why,
                                 leati_frame *out, leat_error *err) {
    leati_writer text = {0};
    if (why != NULL)
        leati_values_put_error(&text, why);
    leat_status status = text.failed ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK)
        status = open_frame(out, LEATI_FRAME_HEAD + text.size, 0, 0, err);
    if (status == LEAT_OK) {
        char *start = leat_buffer_data(out->head);
        head h = {.kind = kind, .position = position, .table = (uint32_t)text.size};
        store_head(start, &h);
        if (text.size > 0)
            memcpy(start + LEATI_FRAME_HEAD, text.data, text.size);
    }
    leati_writer_fini(&text);
    return status;
}

void leati_frame_fini(leati_frame *frame) {
    for (int i = 0; i < frame->num_parts; i++)
        leat_buffer_unref(frame->parts[i].owner);
    leati_free(frame->parts);
    leat_buffer_unref(frame->head);
    *frame = (leati_frame){0};
}

size_t leati_frame_bytes(const leati_frame *frame) {
    size_t size = 0;
    for (int i = 0; i < frame->num_parts; i++)
        size += frame->parts[i].size;
    return size;
}

/* ---- credit ---- */

void leati_frame_put_credit(const leati_frame_credit *credit,
                            uint8_t out[LEATI_FRAME_CREDIT_SIZE]) {
    memset(out, 0, LEATI_FRAME_CREDIT_SIZE);
    memcpy(out, LEATI_FRAME_CREDIT_MAGIC, 4);
    leati_wire_store64(out + 8, (uint64_t)credit->elements);
    leati_wire_store64(out + 16, (uint64_t)credit->bytes);
    leati_wire_store64(out + 24, (uint64_t)credit->acked_begin);
    leati_wire_store64(out + 32, (uint64_t)credit->acked_end);
}

leat_status leati_frame_get_credit(const void *bytes, size_t size, leati_frame_credit *out,
                                   leat_error *err) {
    const uint8_t *from = bytes;
    if (size != LEATI_FRAME_CREDIT_SIZE || memcmp(from, LEATI_FRAME_CREDIT_MAGIC, 4) != 0)
        return leati_fail(err, LEAT_DATA_LOSS, "a message of %zu bytes that is no credit", size);
    leati_frame_credit credit = {.elements = (int64_t)leati_wire_load64(from + 8),
                                 .bytes = (int64_t)leati_wire_load64(from + 16),
                                 .acked_begin = (int64_t)leati_wire_load64(from + 24),
                                 .acked_end = (int64_t)leati_wire_load64(from + 32)};
    if (credit.elements < 0 || credit.bytes < 0 || credit.acked_begin < 0 ||
        credit.acked_end < credit.acked_begin)
        return leati_fail(err, LEAT_DATA_LOSS, "a credit of %lld elements and %lld bytes",
                          (long long)credit.elements, (long long)credit.bytes);
    *out = credit;
    return LEAT_OK;
}
