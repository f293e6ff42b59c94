/* Frames whose parts lie in pieces of shared memory: the same elements as in one block, what is a
 * view, and what is copied because its reader relies on it. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/json.h"
#include "core/verify.h"
#include "file/compress.h"
#include "service/transport/ends.h"
#include "service/wire/frame_layout.h"
#include <string.h>

enum { MOST_PIECES = 64 };

typedef struct cut_message {
    leat_buffer *rest, *whole;
    leati_transport_piece pieces[MOST_PIECES];
    int num_pieces;
} cut_message;

static leat_buffer *bytes_of(const void *bytes, size_t size) {
    leat_buffer *buffer = leat_buffer_new(size, &(leat_error){0});
    assert_non_null(buffer);
    if (size > 0)
        memcpy(leat_buffer_data(buffer), bytes, size);
    return buffer;
}

/* The frame as one block. Owned. */
static leat_buffer *join(const leati_frame *frame) {
    leat_buffer *whole = leat_buffer_new(leati_frame_bytes(frame), &(leat_error){0});
    char *at = leat_buffer_data(whole);
    for (int i = 0; i < frame->num_parts; i++) {
        memcpy(at, frame->parts[i].data, frame->parts[i].size);
        at += frame->parts[i].size;
    }
    return whole;
}

/* Bytes [from, from + size), [from + step, ...) and so on of the message are pieces. */
static void cut(leat_buffer *whole, size_t from, size_t size, size_t step, cut_message *out) {
    const char *bytes = leat_buffer_data(whole);
    size_t all = leat_buffer_size(whole), at = 0, rest = 0;
    *out = (cut_message){.whole = whole, .rest = bytes_of(bytes, all)};
    char *to = leat_buffer_data(out->rest);
    for (; from + size <= all && out->num_pieces < MOST_PIECES; from += step) {
        memcpy(to + rest, bytes + at, from - at);
        rest += from - at;
        out->pieces[out->num_pieces++] =
            (leati_transport_piece){from, bytes_of(bytes + from, size)};
        at = from + size;
    }
    memcpy(to + rest, bytes + at, all - at);
    leat_buffer *exact = bytes_of(to, rest + all - at);
    leat_buffer_unref(out->rest);
    out->rest = exact;
}

static void drop(cut_message *m) {
    leat_buffer_unref(m->rest);
    for (int i = 0; i < m->num_pieces; i++)
        leat_buffer_unref(m->pieces[i].bytes);
}

static void expect_same(cut_message *m, const leat_spec *spec) {
    leati_block one = {0}, other = {0};
    leati_frame_view a, b;
    leat_error err = {0};
    assert_int_equal(leati_frame_read(m->whole, spec, &a, &one, &err), LEAT_OK);
    if (leati_frame_read_pieces(m->rest, m->pieces, m->num_pieces, spec, &b, &other, &err) !=
        LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(b.kind, a.kind);
    assert_int_equal(b.position, a.position);
    assert_int_equal(other.n, one.n);
    if (one.n > 0)
        assert_int_equal(leati_block_checksum(&other), leati_block_checksum(&one));
    leati_block_fini(&one);
    leati_block_fini(&other);
}

/* An element that is `literal`, twice in one frame. */
static void every_cut_gives_the_same(const char *spec_text, const char *literal,
                                     leati_frame_compression compression) {
    leat_error err = {0};
    leat_element element = {0};
    leati_block row = {0}, block = {0};
    leati_frame frame = {0};
    leat_spec *spec = leat_spec_from_json(spec_text, &err);
    json_t *json = leati_json_parse(literal, strlen(literal), &err);
    if (spec == NULL || json == NULL || leati_json_to_element(json, &element, &err) != LEAT_OK ||
        leati_block_of_element(&element, &row, &err) != LEAT_OK ||
        leati_block_append(&block, &row, &err) != LEAT_OK ||
        leati_block_append(&block, &row, &err) != LEAT_OK ||
        leati_frame_of_block(&block, 0, 2, 11, compression, &frame, &err) != LEAT_OK)
        fail_msg("%s: %s", literal, err.text);
    leat_buffer *whole = join(&frame);
    for (size_t from = 0; from < leat_buffer_size(whole); from += 8)
        for (size_t size = 8; size <= 200; size += 64) {
            cut_message m;
            cut(whole, from, size, size + 24, &m);
            expect_same(&m, spec);
            drop(&m);
        }
    leat_buffer_unref(whole);
    leati_frame_fini(&frame);
    leati_block_fini(&row);
    leati_block_fini(&block);
    leat_element_fini(&element);
    json_decref(json);
    leat_spec_unref(spec);
}

/* Tensors of their own shapes, strings, ragged and sparse, bool, nothing. */
static const char *const nest =
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": null}, \"b\": {\"dtype\": \"string\", "
    "\"shape\": [-1]}, \"c\": {\"ragged\": {\"dtype\": \"int32\", \"shape\": [2, -1], "
    "\"ragged_rank\": 1, \"row_splits_dtype\": \"int64\"}}, \"d\": {\"sparse\": {\"dtype\": "
    "\"string\", \"shape\": [-1, 3]}}, \"e\": {\"dtype\": \"bool\", \"shape\": []}, \"f\": null}}";

static const char *const nest_row =
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": [], \"data\": [1.5]}, \"b\": "
    "{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"\", \"xy\"]}, \"c\": {\"ragged\": "
    "{\"values\": {\"dtype\": \"int32\", \"shape\": [3], \"data\": [1, 2, 3]}, \"row_splits\": "
    "[[0, 1, 3]]}}, \"d\": {\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 2], "
    "\"data\": [0, 2]}, \"values\": {\"dtype\": \"string\", \"shape\": [1], \"data\": [\"v\"]}, "
    "\"dense_shape\": [4, 3]}}, \"e\": {\"dtype\": \"bool\", \"shape\": [], \"data\": [true]}, "
    "\"f\": null}}";

static void pieces_anywhere_give_the_same(void **state) {
    (void)state;
    every_cut_gives_the_same(nest, nest_row, LEATI_FRAME_PLAIN);
    every_cut_gives_the_same("{\"dtype\": \"int32\", \"shape\": [3]}",
                             "{\"dtype\": \"int32\", \"shape\": [3], \"data\": [1, 2, 3]}",
                             LEATI_FRAME_PLAIN);
}

/* Rows of `count` values of 4 bytes as a frame whose payload is one piece. */
static void read_payload_as_piece(leat_dtype dtype, const char *spec_text, bool view) {
    enum { ROWS = 4, COUNT = 32 };
    leat_error err = {0};
    leati_block block = {0}, came = {0};
    leati_frame frame = {0};
    leati_frame_view seen;
    size_t size = leat_dtype_size(dtype) * ROWS * COUNT;
    leat_buffer *values = leat_buffer_new(size, &err);
    leat_shape shape = LEAT_SHAPE(COUNT);
    memset(leat_buffer_data(values), 1, size);
    assert_int_equal(leati_block_prepare(&block, 1, &err), LEAT_OK);
    leati_column_strided(&block.columns[0], dtype, &shape, leat_buffer_data(values),
                         (int64_t)leat_dtype_size(dtype) * COUNT, values);
    block.n = ROWS;
    leat_spec *spec = leat_spec_from_json(spec_text, &err);
    if (spec == NULL)
        fail_msg("%s: %s", spec_text, err.text);
    assert_int_equal(leati_frame_of_block(&block, 0, ROWS, 5, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    leat_buffer *whole = join(&frame);
    cut_message m;
    cut(whole, leat_buffer_size(whole) - size, size, size, &m);
    assert_int_equal(m.num_pieces, 1);
    int64_t before = leati_transport_bytes_copied();
    assert_int_equal(
        leati_frame_read_pieces(m.rest, m.pieces, m.num_pieces, spec, &seen, &came, &err), LEAT_OK);
    assert_int_equal(leati_transport_bytes_copied() - before, view ? 0 : size);
    assert_int_equal(came.columns[0].owner == m.pieces[0].bytes, view);
    assert_int_equal(leati_block_checksum(&came), leati_block_checksum(&block));
    drop(&m);
    leati_block_fini(&came);
    leati_block_fini(&block);
    leati_frame_fini(&frame);
    leat_buffer_unref(whole);
    leat_spec_unref(spec);
}

static void numbers_are_views_of_their_piece(void **state) {
    (void)state;
    read_payload_as_piece(LEAT_FLOAT32, "{\"dtype\": \"float32\", \"shape\": [32]}", true);
    read_payload_as_piece(LEAT_UINT8, "{\"dtype\": \"uint8\", \"shape\": [32]}", true);
    /* Whose reader relies on each byte being 0 or 1. */
    read_payload_as_piece(LEAT_BOOL, "{\"dtype\": \"bool\", \"shape\": [32]}", false);
}

/* Events have no pieces; one that says so is none. */
static void events_have_no_pieces(void **state) {
    (void)state;
    leati_frame frame = {0};
    leati_frame_view view;
    leati_block block = {0};
    leat_error err = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    assert_int_equal(leati_frame_of_event(LEATI_FRAME_END, 3, NULL, &frame, &err), LEAT_OK);
    leat_buffer *whole = join(&frame);
    const leati_transport_piece piece = {leat_buffer_size(whole), bytes_of("12345678", 8)};
    assert_int_equal(leati_frame_read_pieces(whole, &piece, 1, spec, &view, &block, &err),
                     LEAT_DATA_LOSS);
    leat_buffer_unref(piece.bytes);
    leat_buffer_unref(whole);
    leati_frame_fini(&frame);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_anywhere_give_the_same),
        cmocka_unit_test(numbers_are_views_of_their_piece),
        cmocka_unit_test(events_have_no_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
