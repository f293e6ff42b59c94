/* Frames as they come; the layout stands in frame_layout.h.
 *
 * Happy path: head and table are read and checked, and each component becomes a column that points
 * into the message, which the column keeps. Strings need headers: one buffer for a column. Rows
 * with shapes of their own are an array of tensors. Of a message in pieces a component is one of
 * them, or is copied together; row splits and indices are always copied, since their reader checks
 * them and then relies on them. A packed payload is unpacked into one buffer,
 * which then stands for the message.
 *
 * Failures: DATA_LOSS for whatever is no frame, before memory is touched that is not there or taken
 * that the message's size does not warrant; INVALID_ARGUMENT where the components are not those of
 * the spec; RESOURCE_EXHAUSTED. On failure the block is empty. No locks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/minmax.h"
#include "core/composite.h"
#include "core/spec.h"
#include "data/values/values.h"
#include "file/compress.h"
#include "service/transport/ends.h"
#include "service/wire/frame_layout.h"
#include <string.h>

/* A message being read. */
typedef struct source {
    const uint8_t *bytes;
    size_t size; /* with all pieces */
    leati_frame_kind kind;
    leati_frame_compression compression;
    int64_t position, n;
    uint32_t components;
    size_t table;      /* bytes, behind the head */
    uint64_t payload;  /* bytes, unpacked */
    leat_buffer *data; /* whose memory the payload is; borrowed, or owned where it was unpacked */
    const uint8_t *rows;
    /* Where it is in pieces: what lies between them, and how far its head, table and what follows
       these reach. */
    leat_buffer *rest;
    const leati_transport_piece *pieces;
    int num_pieces;
    bool values;  /* nothing in them but values of tensors */
    size_t begin; /* of the payload, in the message */
} source;

static leat_status damaged(const char *what, uint64_t number, leat_error *err) {
    return leati_fail(err, LEAT_DATA_LOSS, "not a frame of the data service: %s %llu", what,
                      (unsigned long long)number);
}

static leat_status check_kind(const source *s, leat_error *err) {
    bool elements = s->kind == LEATI_FRAME_ELEMENTS;
    bool told = s->kind == LEATI_FRAME_ERROR || s->kind == LEATI_FRAME_GONE;
    if (s->kind < LEATI_FRAME_ELEMENTS || s->kind > LEATI_FRAME_WHOLE)
        return damaged("kind", s->kind, err);
    if (s->position < 0 || s->position > INT64_MAX - LEATI_FRAME_MOST_ROWS)
        return damaged("position", (uint64_t)s->position, err);
    if (elements ? s->n < 1 || s->n > LEATI_FRAME_MOST_ROWS : s->n != 0)
        return damaged("elements:", (uint64_t)s->n, err);
    if (!elements && (s->components != 0 || s->payload != 0))
        return damaged("components of an event:", s->components, err);
    if (!elements && !told && s->table != 0)
        return damaged("words of an event without any:", s->table, err);
    return LEAT_OK;
}

static leat_status read_head(leat_buffer *message, source *s, leat_error *err) {
    const uint8_t *h = s->bytes;
    if (s->size < LEATI_FRAME_HEAD || memcmp(h, LEATI_FRAME_MAGIC, 4) != 0)
        return damaged("bytes:", s->size, err);
    if (h[4] != LEATI_FRAME_VERSION)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "a frame of version %d; this library reads version %d: install the same "
                          "version of leat on both sides",
                          h[4], LEATI_FRAME_VERSION);
    s->kind = h[5];
    s->compression = h[6];
    s->position = (int64_t)leati_wire_load64(h + 8);
    s->n = (int64_t)leati_wire_load64(h + 16);
    s->components = leati_wire_load32(h + 24);
    s->table = leati_wire_load32(h + 28);
    s->payload = leati_wire_load64(h + 32);
    uint64_t sent = leati_wire_load64(h + 40);
    LEATI_TRY(check_kind(s, err));
    if (s->table > s->size - LEATI_FRAME_HEAD || s->components > s->table / LEATI_FRAME_ENTRY)
        return damaged("bytes of the table:", s->table, err);
    if (s->kind != LEATI_FRAME_ELEMENTS)
        return sent == 0 && s->size == LEATI_FRAME_HEAD + s->table
                   ? LEAT_OK
                   : damaged("bytes behind an event:", sent, err);
    size_t begin = leati_frame_align(LEATI_FRAME_HEAD + s->table, LEATI_FRAME_ALIGN);
    if (begin > s->size || sent != s->size - begin)
        return damaged("bytes of the payload:", sent, err);
    bool plain = s->compression == LEATI_FRAME_PLAIN;
    if (plain ? s->payload != sent : s->payload / LEATI_FRAME_MOST_RATIO > sent)
        return damaged("bytes of the unpacked payload:", s->payload, err);
    s->data = message;
    s->begin = begin;
    s->rows = s->bytes + (s->num_pieces == 0 ? begin : 0);
    return LEAT_OK;
}

/* ---- the payload ---- */

static leat_status unpack_into(leati_unpacker *unpacker, const source *s, leat_buffer *into,
                               leat_error *err) {
    const uint8_t *in = s->rows;
    size_t in_size = (size_t)(s->bytes + s->size - s->rows);
    uint8_t *out = leat_buffer_data(into);
    size_t room = (size_t)s->payload;
    while (room > 0) {
        size_t before = room, had = in_size;
        LEATI_TRY(leati_compress_unpacker_run(unpacker, &in, &in_size, &out, &room, err));
        if (room == before && in_size == had)
            return damaged("bytes missing in the packed payload:", room, err);
    }
    return LEAT_OK;
}

static leat_status unpack(source *s, leat_error *err) {
    if (s->compression == LEATI_FRAME_PLAIN)
        return LEAT_OK;
    leat_compression codec = leati_frame_codec(s->compression);
    if (codec == LEAT_COMPRESSION_NONE)
        return damaged("compression", s->compression, err);
    leati_unpacker *unpacker = leati_compress_unpacker_new(codec, err);
    if (unpacker == NULL)
        return err->code;
    leat_buffer *into = leat_buffer_new((size_t)s->payload, err);
    leat_status status =
        into == NULL ? LEAT_RESOURCE_EXHAUSTED : unpack_into(unpacker, s, into, err);
    leati_compress_unpacker_free(unpacker);
    if (status != LEAT_OK) {
        leat_buffer_unref(into);
        return status;
    }
    s->data = into;
    s->rows = leat_buffer_data(into);
    return LEAT_OK;
}

/* ---- pieces ---- */

/* Copies bytes [at, at + size) of the message, of which all are there. */
static void copy_range(const source *s, size_t at, size_t size, uint8_t *to) {
    const uint8_t *rest = leat_buffer_data(s->rest);
    size_t from = 0; /* in the message: the byte that `rest` stands at */
    for (int i = 0; i <= s->num_pieces && size > 0; i++) {
        bool last = i == s->num_pieces;
        size_t until = last ? s->size : s->pieces[i].at;
        if (at < until) {
            size_t n = LEATI_MIN(size, until - at);
            memcpy(to, rest + (at - from), n);
            to += n, at += n, size -= n;
        }
        rest += until - from;
        size_t bytes = last ? 0 : leat_buffer_size(s->pieces[i].bytes);
        from = until + bytes;
        if (size > 0 && at < from) {
            size_t n = LEATI_MIN(size, from - at);
            memcpy(to, (const uint8_t *)leat_buffer_data(s->pieces[i].bytes) + (at - until), n);
            to += n, at += n, size -= n;
        }
    }
}

/* The component's bytes as one piece of values, of which nothing but values is read; NULL: they are
 * not. */
static leat_buffer *piece_of(const source *s, const leati_frame_component *c) {
    if (!s->values || c->form == LEATI_FRAME_SHAPES || c->dtype == LEAT_STRING ||
        c->dtype == LEAT_BOOL)
        return NULL;
    for (int i = 0; i < s->num_pieces; i++)
        if (s->pieces[i].at == s->begin + c->offset &&
            leat_buffer_size(s->pieces[i].bytes) == c->size &&
            (uintptr_t)leat_buffer_data(s->pieces[i].bytes) % leat_dtype_size(c->dtype) == 0)
            return leat_buffer_ref(s->pieces[i].bytes);
    return NULL;
}

/* A message in pieces as if the component were all of its payload: by a view of the piece that it
 * is, or by a copy. `data` is owned. */
static leat_status find_component(const source *s, leati_frame_component *c, source *out,
                                  leat_error *err) {
    *out = *s;
    out->data = piece_of(s, c);
    if (out->data == NULL) {
        out->data = leat_buffer_new((size_t)c->size, err);
        if (out->data == NULL)
            return LEAT_RESOURCE_EXHAUSTED;
        copy_range(s, s->begin + (size_t)c->offset, (size_t)c->size, leat_buffer_data(out->data));
        leati_transport_count_copied((size_t)c->size);
    }
    out->rows = leat_buffer_data(out->data);
    c->offset = 0;
    return LEAT_OK;
}

/* ---- components ---- */

/* The number of values of a shape that a stranger sent; false where it is beyond memory. */
static bool count_of(const leat_shape *shape, size_t *count) {
    *count = 1;
    for (int d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0 || !leati_mul_size(*count, (size_t)shape->dims[d], count))
            return false;
    return *count <= SIZE_MAX / 16;
}

static leat_status read_entry(const source *s, size_t *at, leati_frame_component *out,
                              leat_error *err) {
    const uint8_t *table = s->bytes + LEATI_FRAME_HEAD;
    if (s->table - *at < LEATI_FRAME_ENTRY)
        return damaged("bytes of the table:", s->table, err);
    const uint8_t *from = table + *at;
    *out = (leati_frame_component){.form = from[0], .shape.rank = from[1]};
    if (out->form >= LEATI_FRAME_NUM_FORMS)
        return damaged("form", out->form, err);
    if (out->shape.rank > LEAT_MAX_RANK ||
        8 * (size_t)out->shape.rank > s->table - *at - LEATI_FRAME_ENTRY)
        return damaged("rank", (uint64_t)out->shape.rank, err);
    char name[LEATI_FRAME_DTYPE + 1] = {0};
    memcpy(name, from + 8, LEATI_FRAME_DTYPE);
    out->dtype = leat_dtype_from_name(name);
    if (out->dtype == LEAT_INVALID || out->dtype == LEAT_OBJECT)
        return leati_fail(err, LEAT_DATA_LOSS,
                          "not a frame of the data service: a component of an unknown dtype");
    out->offset = leati_wire_load64(from + 16);
    out->size = leati_wire_load64(from + 24);
    for (int d = 0; d < out->shape.rank; d++)
        out->shape.dims[d] = (int64_t)leati_wire_load64(from + LEATI_FRAME_ENTRY + 8 * d);
    *at += LEATI_FRAME_ENTRY + 8 * (size_t)out->shape.rank;
    if (out->offset % LEATI_FRAME_ALIGN != 0 || out->offset > s->payload ||
        out->size > s->payload - out->offset)
        return damaged("a component at", out->offset, err);
    return LEAT_OK;
}

/* A byte that is neither 0 nor 1 is no bool to a C compiler. */
static leat_status check_values(leat_dtype dtype, const uint8_t *data, size_t size,
                                leat_error *err) {
    uint8_t all = 0;
    for (size_t i = 0; dtype == LEAT_BOOL && i < size; i++)
        all |= data[i];
    return all <= 1 ? LEAT_OK : damaged("a bool of", all, err);
}

/* Headers for `count` strings whose lengths stand at `data`, and their bytes behind them, `size`
 * bytes in all. The buffer keeps the message. Owned. */
static leat_buffer *read_strings(const source *s, const uint8_t *data, size_t size, size_t count,
                                 leat_error *err) {
    if (count > size / 8) {
        (void)damaged("strings:", count, err);
        return NULL;
    }
    size_t left = size - 8 * count;
    const char *text = (const char *)data + 8 * count;
    leat_buffer *buffer = leat_buffer_new(count * sizeof(leat_string), err);
    leat_string *strings = buffer == NULL ? NULL : leat_buffer_data(buffer);
    for (size_t i = 0; buffer != NULL && i < count; i++) {
        uint64_t length = leati_wire_load64(data + 8 * i);
        if (length > left) {
            (void)damaged("bytes of a string:", length, err);
            leat_buffer_unref(buffer);
            return NULL;
        }
        strings[i] = (leat_string){text, (size_t)length};
        text += length;
        left -= (size_t)length;
    }
    leat_status status = buffer == NULL ? LEAT_RESOURCE_EXHAUSTED
                         : left > 0     ? damaged("bytes behind strings:", left, err)
                                        : leati_buffer_hold(buffer, s->data, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        return NULL;
    }
    return buffer;
}

static leat_status read_rows(const source *s, const leati_frame_component *c, leati_column *out,
                             leat_error *err) {
    const uint8_t *data = s->rows + c->offset;
    size_t row = 0, values = 0, expected = 0, width = leat_dtype_size(c->dtype);
    size_t rows = c->form == LEATI_FRAME_ONE ? 1 : (size_t)s->n;
    if (!count_of(&c->shape, &row) || !leati_mul_size(row, rows, &values) ||
        !leati_mul_size(values, width, &expected))
        return damaged("values of a row:", row, err);
    leat_buffer *owner = NULL;
    if (c->dtype == LEAT_STRING) {
        owner = read_strings(s, data, (size_t)c->size, values, err);
        if (owner == NULL)
            return err->code;
        data = leat_buffer_data(owner);
    } else {
        if (expected != c->size)
            return damaged("bytes of a component:", c->size, err);
        LEATI_TRY(check_values(c->dtype, data, expected, err));
        owner = leat_buffer_ref(s->data);
    }
    int64_t stride = c->form == LEATI_FRAME_ONE ? 0 : (int64_t)(row * width);
    leati_column_strided(out, c->dtype, &c->shape, (void *)(uintptr_t)data, stride, owner);
    return LEAT_OK;
}

/* Reads the shapes of all rows into `tensors`; *used bytes, *values in all. */
static leat_status read_shapes(const source *s, const leati_frame_component *c,
                               leat_tensor *tensors, size_t *used, size_t *values,
                               leat_error *err) {
    const uint8_t *data = s->rows + c->offset;
    size_t at = 0;
    *values = 0;
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t rank = c->size - at >= 8 ? leati_wire_load64(data + at) : UINT64_MAX;
        if (rank > LEAT_MAX_RANK || 8 * rank > c->size - at - 8)
            return damaged("rank of a row:", rank, err);
        leat_shape shape = {.rank = (int32_t)rank};
        size_t count = 0;
        for (int d = 0; d < shape.rank; d++)
            shape.dims[d] = (int64_t)leati_wire_load64(data + at + 8 + 8 * (size_t)d);
        if (!count_of(&shape, &count) || !leati_add_size(*values, count, values))
            return damaged("values of a row:", count, err);
        tensors[i] = (leat_tensor){.dtype = c->dtype, .rank = shape.rank};
        memcpy(tensors[i].dims, shape.dims, sizeof(shape.dims));
        at += 8 + 8 * (size_t)rank;
    }
    *used = at;
    return LEAT_OK;
}

static leat_status point_tensors(const source *s, const leati_frame_component *c, size_t at,
                                 leat_tensor *tensors, leat_error *err) {
    uint8_t *data = (uint8_t *)(uintptr_t)s->rows + c->offset;
    for (int64_t i = 0; i < s->n; i++) {
        size_t bytes = leat_tensor_bytes(&tensors[i]);
        at = leati_frame_align(at, 8);
        if (at > c->size || bytes > c->size - at)
            return damaged("bytes of a row:", bytes, err);
        LEATI_TRY(check_values(c->dtype, data + at, bytes, err));
        tensors[i].data = data + at;
        tensors[i].owner = leat_buffer_ref(s->data);
        at += bytes;
    }
    return at == c->size ? LEAT_OK : damaged("bytes behind rows:", c->size - at, err);
}

static leat_status point_strings(const source *s, const leati_frame_component *c, size_t at,
                                 size_t values, leat_tensor *tensors, leat_error *err) {
    leat_buffer *headers =
        read_strings(s, s->rows + c->offset + at, (size_t)c->size - at, values, err);
    if (headers == NULL)
        return err->code;
    leat_string *strings = leat_buffer_data(headers);
    for (int64_t i = 0; i < s->n; i++) {
        tensors[i].data = strings;
        tensors[i].owner = leat_buffer_ref(headers);
        strings += leat_tensor_count(&tensors[i]);
    }
    leat_buffer_unref(headers);
    return LEAT_OK;
}

static leat_status read_tensors(const source *s, const leati_frame_component *c, leati_column *out,
                                leat_error *err) {
    /* A row's rank takes 8 bytes: no memory for more rows than are there. */
    if (c->shape.rank != 0 || (uint64_t)s->n > c->size / 8)
        return damaged("bytes of a component:", c->size, err);
    leat_buffer *owner = leati_buffer_of_tensors(s->n, err);
    if (owner == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_tensor *tensors = leat_buffer_data(owner);
    size_t used = 0, values = 0;
    leat_status status = read_shapes(s, c, tensors, &used, &values, err);
    if (status == LEAT_OK)
        status = c->dtype == LEAT_STRING ? point_strings(s, c, used, values, tensors, err)
                                         : point_tensors(s, c, used, tensors, err);
    leati_column_tensors(out, c->dtype, owner);
    return status;
}

/* ---- the spec ---- */

static leat_status check_column(const leat_spec *spec, int index, const leati_column *column,
                                int64_t n, leat_error *err) {
    int64_t rows = column->form == LEATI_TENSORS ? n : 1;
    for (int64_t i = 0; i < rows; i++) {
        leat_shape shape = leati_column_row_shape(column, i);
        leat_tensor row = leat_tensor_view(column->dtype, shape, NULL);
        LEATI_TRY(leati_spec_check_tensor(spec, index, &row, err));
    }
    return LEAT_OK;
}

static leat_status read_component(const source *s, leati_frame_component *c, leati_column *column,
                                  leat_error *err) {
    source own = *s;
    if (s->num_pieces > 0)
        LEATI_TRY(find_component(s, c, &own, err));
    leat_status status = c->form == LEATI_FRAME_SHAPES ? read_tensors(&own, c, column, err)
                                                       : read_rows(&own, c, column, err);
    if (s->num_pieces > 0)
        leat_buffer_unref(own.data);
    return status;
}

static leat_status read_block(const source *s, const leat_spec *spec, leati_block *block,
                              leat_error *err) {
    int expected = leat_spec_num_components(spec);
    if (s->components != (uint32_t)expected)
        return leati_refuse(err, STRUCTURE,
                            "elements of %u components came; expected %d, as element_spec has",
                            s->components, expected);
    LEATI_TRY(leati_block_prepare(block, expected, err));
    size_t at = 0;
    for (int i = 0; i < expected; i++) {
        leati_frame_component c;
        leati_column *column = &block->columns[i];
        LEATI_TRY(read_entry(s, &at, &c, err));
        LEATI_TRY(read_component(s, &c, column, err));
        LEATI_TRY(check_column(spec, i, column, s->n, err));
    }
    if (at != s->table)
        return damaged("bytes behind the table:", s->table - at, err);
    block->n = s->n;
    return LEAT_OK;
}

static leat_status read_why(const source *s, leat_error *why, leat_error *err) {
    leati_reader in = {.data = s->bytes + LEATI_FRAME_HEAD, .size = s->table};
    if (s->table == 0)
        return s->kind == LEATI_FRAME_ERROR ? damaged("words of an error:", 0, err) : LEAT_OK;
    LEATI_TRY(leati_values_get_error(&in, why, err));
    return in.at == in.size ? LEAT_OK : damaged("bytes behind an error:", in.size - in.at, err);
}

static leat_status read_message(source *s, leat_buffer *message, const leat_spec *spec,
                                leati_frame_view *view, leati_block *block, leat_error *err) {
    leati_block_clear(block);
    LEATI_TRY(read_head(message, s, err));
    view->kind = s->kind;
    view->position = s->position;
    view->n = s->n;
    view->why.code = LEAT_OK;
    if (s->kind != LEATI_FRAME_ELEMENTS)
        return read_why(s, &view->why, err);
    LEATI_TRY(unpack(s, err));
    leat_status status = read_block(s, spec, block, err);
    if (s->data != message)
        leat_buffer_unref(s->data);
    if (status != LEAT_OK)
        leati_block_clear(block);
    return status;
}

leat_status leati_frame_read(leat_buffer *message, const leat_spec *spec, leati_frame_view *view,
                             leati_block *block, leat_error *err) {
    source s = {.bytes = leat_buffer_data(message), .size = leat_buffer_size(message)};
    return read_message(&s, message, spec, view, block, err);
}

/* The message as one block. Owned. */
static leat_buffer *join(const source *s, leat_error *err) {
    leat_buffer *whole = leat_buffer_new(s->size, err);
    if (whole != NULL) {
        copy_range(s, 0, s->size, leat_buffer_data(whole));
        leati_transport_count_copied(s->size);
    }
    return whole;
}

leat_status leati_frame_read_pieces(leat_buffer *rest, const leati_transport_piece *pieces,
                                    int num_pieces, const leat_spec *spec, leati_frame_view *view,
                                    leati_block *block, leat_error *err) {
    source s = {.bytes = leat_buffer_data(rest),
                .size = leat_buffer_size(rest),
                .rest = rest,
                .pieces = pieces,
                .num_pieces = num_pieces,
                .values = !leati_spec_has_composite(spec)};
    for (int i = 0; i < num_pieces; i++)
        s.size += leat_buffer_size(pieces[i].bytes);
    /* Head and table come first, so they lie together as far as the first piece. A packed payload
     * is unpacked from one block. */
    size_t first = num_pieces > 0 ? pieces[0].at : s.size;
    const uint8_t *h = s.bytes;
    bool plain = first >= LEATI_FRAME_HEAD && h[6] == LEATI_FRAME_PLAIN &&
                 leati_wire_load32(h + 28) <= first - LEATI_FRAME_HEAD;
    if (plain)
        return read_message(&s, rest, spec, view, block, err);
    leat_buffer *whole = join(&s, err);
    if (whole == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leat_status status = leati_frame_read(whole, spec, view, block, err);
    leat_buffer_unref(whole);
    return status;
}
