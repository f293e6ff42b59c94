/* Frames there and back: every dtype and column form, what is copied and what stays, compression,
 * events and credit, the bytes of one frame, and what damaged ones are told. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/error.h"
#include "base/minmax.h"
#include "core/json.h"
#include "core/verify.h"
#include "file/compress.h"
#include "service/wire/frame_layout.h"
#include "support/refused.h"

/* ---- helpers ---- */

static leat_spec *spec_of(const char *text) {
    leat_error err = {0};
    leat_spec *spec = leat_spec_from_json(text, &err);
    if (spec == NULL)
        fail_msg("%s: %s", text, err.text);
    return spec;
}

/* The parts as one message, as a transport delivers it. Owned. */
static leat_buffer *message_of(const leati_frame *frame, leat_error *err) {
    leat_buffer *message = leat_buffer_new(leati_frame_bytes(frame), err);
    char *at = message == NULL ? NULL : leat_buffer_data(message);
    for (int i = 0; message != NULL && i < frame->num_parts; i++) {
        if (frame->parts[i].size > 0)
            memcpy(at, frame->parts[i].data, frame->parts[i].size);
        at += frame->parts[i].size;
    }
    return message;
}

static leat_buffer *message_of_bytes(const void *bytes, size_t size) {
    leat_buffer *message = leat_buffer_new(size, &(leat_error){0});
    if (size > 0)
        memcpy(leat_buffer_data(message), bytes, size);
    return message;
}

/* A block of the elements' rows, each a literal, of whatever form appending makes. */
static leat_status block_of(const char *const *literals, size_t count, leati_block *out,
                            leat_error *err) {
    leat_status status = LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++) {
        leat_element element = {0};
        leati_block row = {0};
        json_t *json = leati_json_parse(literals[i], strlen(literals[i]), err);
        status = json == NULL ? err->code : leati_json_to_element(json, &element, err);
        if (status == LEAT_OK)
            status = leati_block_of_element(&element, &row, err);
        if (status == LEAT_OK)
            status = leati_block_append(out, &row, err);
        leati_block_fini(&row);
        leat_element_fini(&element);
        json_decref(json);
    }
    return status;
}

typedef struct there {
    const leati_block *block;
    const leat_spec *spec;
    int64_t begin, n;
    leati_frame_compression compression;
} there;

/* Sends rows and compares what comes; for torture as well. */
static leat_status and_back(void *context, leat_error *err) {
    const there *t = context;
    leati_frame frame = {0};
    leati_frame_view view;
    leati_block sent = {0}, came = {0};
    leat_buffer *message = NULL;
    leat_status status =
        leati_frame_of_block(t->block, t->begin, t->n, 77, t->compression, &frame, err);
    if (status == LEAT_OK)
        message = message_of(&frame, err);
    leati_frame_fini(&frame);
    if (status == LEAT_OK)
        status = message == NULL ? LEAT_RESOURCE_EXHAUSTED
                                 : leati_frame_read(message, t->spec, &view, &came, err);
    leat_buffer_unref(message);
    if (status == LEAT_OK)
        status = leati_block_slice(t->block, t->begin, t->n, &sent, err);
    if (status == LEAT_OK) {
        assert_int_equal(view.kind, LEATI_FRAME_ELEMENTS);
        assert_int_equal(view.position, 77);
        assert_int_equal(view.n, t->n);
        assert_int_equal(came.n, t->n);
        assert_int_equal(leati_block_checksum(&came), leati_block_checksum(&sent));
        assert_int_equal(leati_block_check(&came, t->spec, &(leat_error){0}), LEAT_OK);
    }
    leati_block_fini(&sent);
    leati_block_fini(&came);
    return status;
}

static void check(const leati_block *block, const leat_spec *spec, int64_t begin, int64_t n) {
    there t = {block, spec, begin, n, LEATI_FRAME_PLAIN};
    leat_error err = {0};
    if (and_back(&t, &err) != LEAT_OK)
        fail_msg("%s", err.text);
}

/* ---- dtypes, shapes and forms ---- */

static void test_dtypes(void **state) {
    (void)state;
    for (int dtype = LEAT_BOOL; dtype < LEAT_STRING; dtype++) {
        leat_error err = {0};
        size_t width = leat_dtype_size((leat_dtype)dtype);
        for (int64_t columns = 0; columns < 4; columns++) {
            leat_shape shape = LEAT_SHAPE(columns);
            leat_buffer *buffer = leat_buffer_new(5 * 4 * 8, &err);
            for (size_t i = 0; i < 5 * 4 * 8; i++)
                ((uint8_t *)leat_buffer_data(buffer))[i] =
                    dtype == LEAT_BOOL ? i % 2 : (uint8_t)(31 * i + 7);
            leati_block block = {0};
            leat_spec *spec = leat_spec_tensor((leat_dtype)dtype, shape, &err);
            assert_int_equal(leati_block_prepare(&block, 1, &err), LEAT_OK);
            leati_column_strided(&block.columns[0], (leat_dtype)dtype, &shape,
                                 leat_buffer_data(buffer), columns * (int64_t)width, buffer);
            block.n = 5;
            for (int64_t begin = 0; begin < 5; begin++)
                for (int64_t n = 1; n <= 5 - begin; n++)
                    check(&block, spec, begin, n);
            /* Rows with gaps, and one row for all. */
            block.columns[0].stride *= 2;
            check(&block, spec, 0, 2);
            block.columns[0].stride = 0;
            check(&block, spec, 0, 5);
            leati_block_fini(&block);
            leat_spec_unref(spec);
        }
    }
}

static const char *const nest =
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": null}, \"b\": {\"dtype\": \"string\", "
    "\"shape\": [-1]}, \"c\": {\"ragged\": {\"dtype\": \"int32\", \"shape\": [2, -1], "
    "\"ragged_rank\": 1, \"row_splits_dtype\": \"int64\"}}, \"d\": {\"sparse\": {\"dtype\": "
    "\"string\", \"shape\": [-1, 3]}}, \"e\": {\"dtype\": \"bool\", \"shape\": []}, \"f\": null}}";

static const char *const nest_rows[] = {
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": [], \"data\": [1.5]}, \"b\": "
    "{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"\", \"xy\"]}, \"c\": {\"ragged\": "
    "{\"values\": {\"dtype\": \"int32\", \"shape\": [3], \"data\": [1, 2, 3]}, \"row_splits\": "
    "[[0, 1, 3]]}}, \"d\": {\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 2], "
    "\"data\": [0, 2]}, \"values\": {\"dtype\": \"string\", \"shape\": [1], \"data\": [\"v\"]}, "
    "\"dense_shape\": [4, 3]}}, \"e\": {\"dtype\": \"bool\", \"shape\": [], \"data\": [true]}, "
    "\"f\": null}}",
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": [2, 1], \"data\": [0, -1]}, \"b\": "
    "{\"dtype\": \"string\", \"shape\": [0], \"data\": []}, \"c\": {\"ragged\": {\"values\": "
    "{\"dtype\": \"int32\", \"shape\": [0], \"data\": []}, \"row_splits\": [[0, 0, 0]]}}, \"d\": "
    "{\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [0, 2], \"data\": []}, "
    "\"values\": {\"dtype\": \"string\", \"shape\": [0], \"data\": []}, \"dense_shape\": [0, 3]}}, "
    "\"e\": {\"dtype\": \"bool\", \"shape\": [], \"data\": [false]}, \"f\": null}}",
    "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": [0, 7], \"data\": []}, \"b\": "
    "{\"dtype\": \"string\", \"shape\": [1], \"data\": [{\"hex\": \"00ff\"}]}, \"c\": {\"ragged\": "
    "{\"values\": {\"dtype\": \"int32\", \"shape\": [1], \"data\": [9]}, \"row_splits\": [[0, 1, "
    "1]]}}, \"d\": {\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 2], \"data\": "
    "[3, 0]}, \"values\": {\"dtype\": \"string\", \"shape\": [1], \"data\": [\"last\"]}, "
    "\"dense_shape\": [4, 3]}}, \"e\": {\"dtype\": \"bool\", \"shape\": [], \"data\": [true]}, "
    "\"f\": null}}",
};

/* Tensors of their own shapes, strings, ragged and sparse, in every form of column. */
static void test_forms(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0}, other = {0};
    leat_spec *spec = spec_of(nest);
    if (block_of(nest_rows, 3, &block, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    for (int64_t begin = 0; begin < 3; begin++)
        for (int64_t n = 1; n <= 3 - begin; n++)
            check(&block, spec, begin, n);
    for (uint64_t seed = 0; seed < 40; seed++) {
        assert_int_equal(leati_verify_reencode(&block, seed, &other, &err), LEAT_OK);
        check(&other, spec, seed % 3, 3 - (int64_t)(seed % 3));
    }
    there t = {&other, spec, 0, 3, LEATI_FRAME_PLAIN};
    torture_run(and_back, &t);
    leati_block_fini(&block);
    leati_block_fini(&other);
    leat_spec_unref(spec);
}

/* ---- what stays and what is copied ---- */

/* A buffer of `size` bytes as a block of scalars. */
static void scalars(leat_dtype dtype, int64_t n, leati_block *block, leat_buffer **buffer) {
    leat_error err = {0};
    leat_shape scalar = LEAT_SCALAR;
    size_t width = leat_dtype_size(dtype);
    *buffer = leat_buffer_new((size_t)n * width, &err);
    memset(leat_buffer_data(*buffer), 3, (size_t)n * width);
    assert_int_equal(leati_block_prepare(block, 1, &err), LEAT_OK);
    leati_column_strided(&block->columns[0], dtype, &scalar, leat_buffer_data(*buffer),
                         (int64_t)width, *buffer);
    block->n = n;
}

static bool points_into(const leati_frame *frame, const leat_buffer *buffer, size_t *bytes) {
    const char *begin = leat_buffer_data(buffer), *end = begin + leat_buffer_size(buffer);
    *bytes = 0;
    for (int i = 0; i < frame->num_parts; i++) {
        const char *data = frame->parts[i].data;
        if (data >= begin && data < end && frame->parts[i].owner == buffer)
            *bytes += frame->parts[i].size;
    }
    return *bytes > 0;
}

/* Large rows are sent from where they lie and read where they came. */
static void test_no_copies(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0}, came = {0};
    leat_buffer *buffer = NULL;
    leati_frame frame = {0};
    leati_frame_view view;
    size_t bytes = 0;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    scalars(LEAT_INT64, 4096, &block, &buffer);
    assert_int_equal(leati_frame_of_block(&block, 96, 4000, 5, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    assert_true(points_into(&frame, buffer, &bytes));
    assert_int_equal(bytes, 32000);
    /* Head, table and nothing else are the frame's own. */
    assert_int_equal(leat_buffer_size(frame.head), 128);
    leat_buffer *message = message_of(&frame, &err);
    leati_frame_fini(&frame);
    leati_block_fini(&block);
    assert_int_equal(leati_frame_read(message, spec, &view, &came, &err), LEAT_OK);
    assert_ptr_equal(came.columns[0].data, (char *)leat_buffer_data(message) + 128);
    assert_int_equal((uintptr_t)came.columns[0].data % 64, 0);
    leat_buffer_unref(message);
    assert_int_equal(((int64_t *)(void *)came.columns[0].data)[3999], 0x0303030303030303);
    leati_block_fini(&came);
    leat_spec_unref(spec);
}

/* Strings that lie in one piece stay there; small ones are copied once. */
static void test_strings(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0};
    leat_buffer *text = leat_buffer_new(40000, &err), *headers = NULL;
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err);
    leati_frame frame = {0};
    size_t bytes = 0;
    memset(leat_buffer_data(text), 'a', 40000);
    scalars(LEAT_STRING, 4, &block, &headers);
    leat_string *strings = leat_buffer_data(headers);
    const char *at = leat_buffer_data(text);
    strings[0] = (leat_string){at, 20000};
    strings[1] = (leat_string){at + 20000, 10000};
    strings[2] = (leat_string){NULL, 0};
    strings[3] = (leat_string){at + 30001, 9999};
    assert_int_equal(leati_buffer_hold(headers, text, &err), LEAT_OK);
    check(&block, spec, 0, 4);
    assert_int_equal(leati_frame_of_block(&block, 0, 4, 0, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    for (int i = 0; i < frame.num_parts; i++)
        bytes += (const char *)frame.parts[i].data == at ? frame.parts[i].size : 0;
    assert_int_equal(bytes, 30000);
    leati_frame_fini(&frame);
    there t = {&block, spec, 0, 4, LEATI_FRAME_PLAIN};
    torture_run(and_back, &t);
    leati_block_fini(&block);
    leat_buffer_unref(text);
    leat_spec_unref(spec);
}

/* A constant of many gigabytes is one row, whatever the number of rows. */
static void test_constant(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0}, came = {0};
    leat_buffer *buffer = NULL;
    leati_frame frame = {0};
    leati_frame_view view;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    scalars(LEAT_INT64, 1, &block, &buffer);
    block.columns[0].stride = 0;
    block.n = LEATI_FRAME_MOST_ROWS;
    assert_int_equal(leati_frame_of_block(&block, 0, block.n, 0, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    assert_int_equal(leati_frame_bytes(&frame), 128 + 8);
    leat_buffer *message = message_of(&frame, &err);
    assert_int_equal(leati_frame_read(message, spec, &view, &came, &err), LEAT_OK);
    assert_int_equal(came.n, LEATI_FRAME_MOST_ROWS);
    assert_int_equal(came.columns[0].stride, 0);
    leati_frame_fini(&frame);
    block.n++;
    assert_int_equal(leati_frame_of_block(&block, 0, block.n, 0, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "1073741825");
    leat_buffer_unref(message);
    leati_block_fini(&block);
    leati_block_fini(&came);
    leat_spec_unref(spec);
}

/* Elements without components are counted alone. */
static void test_no_components(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = leat_spec_tuple(NULL, 0, &err);
    leati_block block = {.n = 3};
    check(&block, spec, 0, 3);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void test_objects(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0};
    leati_frame frame = {0};
    assert_int_equal(leati_block_prepare(&block, 2, &err), LEAT_OK);
    block.columns[0].dtype = LEAT_INT64;
    block.columns[1].dtype = LEAT_OBJECT;
    block.n = 1;
    assert_int_equal(leati_frame_of_block(&block, 0, 1, 0, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_DTYPE, "1");
    leati_block_fini(&block);
}

/* ---- compression ---- */

static void test_compression(void **state) {
    (void)state;
    for (int c = LEATI_FRAME_SNAPPY; c <= LEATI_FRAME_ZSTD; c++) {
        leat_error err = {0};
        leati_frame_compression compression = (leati_frame_compression)c;
        const leati_compress_codec *codec = leati_compress_codec_of(leati_frame_codec(compression));
        if (codec->package != NULL)
            continue;
        leati_block block = {0};
        leat_buffer *buffer = NULL;
        leati_frame frame = {0};
        leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
        scalars(LEAT_INT64, 100000, &block, &buffer);
        there t = {&block, spec, 10, 99990, compression};
        torture_run(and_back, &t);
        assert_int_equal(leati_frame_of_block(&block, 0, 100000, 0, compression, &frame, &err),
                         LEAT_OK);
        /* Of one byte again and again little is left, but never less than the ratio allows. */
        assert_true(leati_frame_bytes(&frame) < 800000 / 8);
        assert_true(leati_frame_bytes(&frame) >= 128 + 800000 / LEATI_FRAME_MOST_RATIO);
        leati_frame_fini(&frame);
        /* What does not become smaller travels as it is. */
        uint64_t random = 88172645463325252u;
        for (int64_t i = 0; i < 100000; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            ((uint64_t *)leat_buffer_data(buffer))[i] = random;
        }
        check(&block, spec, 0, 100000);
        assert_int_equal(leati_frame_of_block(&block, 0, 100000, 0, compression, &frame, &err),
                         LEAT_OK);
        assert_int_equal(leati_frame_bytes(&frame), 128 + 800000);
        leati_frame_fini(&frame);
        leati_block_fini(&block);
        leat_spec_unref(spec);
    }
}

static void test_best(void **state) {
    (void)state;
    leat_string names[] = {{"pigeon", 6}, {"lz", 2}, {"lz4", 3}, {"snappy", 6}};
    bool has = leati_compress_codec_of(LEAT_COMPRESSION_LZ4)->package == NULL;
    leati_strings all = {names, 4}, none = {names, 2};
    assert_int_equal(leati_frame_best(&none), LEATI_FRAME_PLAIN);
    assert_int_equal(leati_frame_best(&(leati_strings){0}), LEATI_FRAME_PLAIN);
    if (has)
        assert_int_equal(leati_frame_best(&all), LEATI_FRAME_LZ4);
}

/* ---- events and credit ---- */

static void test_events(void **state) {
    (void)state;
    leat_error err = {0}, why = {0};
    leati_block block = {0};
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leati_fail_in_file(&why, LEAT_DATA_LOSS, "/data/a.tfrecord", 12, false, "a wrong checksum");
    leati_error_at_operator(&why, "tf_record", 3);
    for (int kind = LEATI_FRAME_ERROR; kind <= LEATI_FRAME_WHOLE; kind++) {
        bool told = kind == LEATI_FRAME_ERROR || kind == LEATI_FRAME_GONE;
        leati_frame frame = {0};
        leati_frame_view view;
        assert_int_equal(leati_frame_of_event((leati_frame_kind)kind, INT64_C(1) << 40,
                                              told ? &why : NULL, &frame, &err),
                         LEAT_OK);
        leat_buffer *message = message_of(&frame, &err);
        assert_int_equal(leati_frame_read(message, spec, &view, &block, &err), LEAT_OK);
        assert_int_equal(view.kind, kind);
        assert_int_equal(view.position, INT64_C(1) << 40);
        assert_int_equal(block.n, 0);
        if (told) {
            assert_int_equal(view.why.code, LEAT_DATA_LOSS);
            assert_string_equal(view.why.text, why.text);
            assert_string_equal(view.why.file, "/data/a.tfrecord");
            assert_int_equal(view.why.byte, 12);
        } else {
            assert_int_equal(view.why.code, LEAT_OK);
        }
        leat_buffer_unref(message);
        leati_frame_fini(&frame);
    }
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void test_credit(void **state) {
    (void)state;
    uint8_t bytes[LEATI_FRAME_CREDIT_SIZE];
    leati_frame_credit credit = {5, INT64_C(1) << 40, 7, 9}, came = {0};
    leat_error err = {0};
    leati_frame_put_credit(&credit, bytes);
    assert_int_equal(leati_frame_get_credit(bytes, sizeof bytes, &came, &err), LEAT_OK);
    assert_memory_equal(&credit, &came, sizeof credit);
    assert_int_equal(leati_frame_get_credit(bytes, sizeof bytes - 1, &came, &err), LEAT_DATA_LOSS);
    for (int at = 15; at < LEATI_FRAME_CREDIT_SIZE; at += 8) {
        leati_frame_put_credit(&credit, bytes);
        bytes[at] = 0x80;
        assert_int_equal(leati_frame_get_credit(bytes, sizeof bytes, &came, &err), LEAT_DATA_LOSS);
    }
    bytes[0] = 'M';
    assert_int_equal(leati_frame_get_credit(bytes, sizeof bytes, &came, &err), LEAT_DATA_LOSS);
}

/* ---- bytes ---- */

/* Two elements (int16 [1] and string) from position 9 on, written by hand after frame_layout.h. */
static const uint8_t golden[] = {
    'L', 'F', 'R', 'M', 1, 1, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, /* n */
    2, 0, 0, 0, 72, 0, 0, 0, 83, 0, 0, 0, 0, 0, 0, 0, 83, 0, 0, 0, 0, 0, 0, 0,
    /* int16, rank 1, 4 bytes at 0, dimension 1 */
    0, 1, 0, 0, 0, 0, 0, 0, 'i', 'n', 't', '1', '6', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0,
    0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    /* string, rank 0, 19 bytes at 64 */
    0, 0, 0, 0, 0, 0, 0, 0, 's', 't', 'r', 'i', 'n', 'g', 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 19, 0, 0,
    0, 0, 0, 0, 0,
    /* to 128 */
    0, 0, 0, 0, 0, 0, 0, 0,
    /* 258, -1, and to 64 */
    2, 1, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0,
    /* "a", "bc" */
    1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'};

static const char *const golden_spec = "{\"tuple\": [{\"dtype\": \"int16\", \"shape\": [1]}, "
                                       "{\"dtype\": \"string\", \"shape\": []}]}";
static const char *const golden_rows[] = {
    "{\"tuple\": [{\"dtype\": \"int16\", \"shape\": [1], \"data\": [258]}, {\"dtype\": \"string\", "
    "\"shape\": [], \"data\": [\"a\"]}]}",
    "{\"tuple\": [{\"dtype\": \"int16\", \"shape\": [1], \"data\": [-1]}, {\"dtype\": \"string\", "
    "\"shape\": [], \"data\": [\"bc\"]}]}"};

static void test_golden(void **state) {
    (void)state;
    leat_error err = {0};
    leati_block block = {0};
    leati_frame frame = {0};
    assert_int_equal(block_of(golden_rows, 2, &block, &err), LEAT_OK);
    assert_int_equal(leati_frame_of_block(&block, 0, 2, 9, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    leat_buffer *message = message_of(&frame, &err);
    assert_int_equal(leat_buffer_size(message), sizeof golden);
    assert_memory_equal(leat_buffer_data(message), golden, sizeof golden);
    leat_buffer_unref(message);
    leati_frame_fini(&frame);
    leati_block_fini(&block);
}

static leat_status read_bytes(const uint8_t *bytes, size_t size, const leat_spec *spec,
                              leat_error *err) {
    leati_frame_view view;
    leati_block block = {0};
    leat_buffer *message = message_of_bytes(bytes, size);
    leat_status status = leati_frame_read(message, spec, &view, &block, err);
    assert_true(status == LEAT_OK || block.n == 0);
    leati_block_fini(&block);
    leat_buffer_unref(message);
    return status;
}

static void put64(uint8_t *bytes, size_t at, uint64_t value) {
    leati_wire_store64(bytes + at, value);
}

/* Every length but the whole, and numbers that do not fit, are no frame. */
static void test_damaged(void **state) {
    (void)state;
    leat_error err = {0};
    leat_spec *spec = spec_of(golden_spec);
    assert_int_equal(read_bytes(golden, sizeof golden, spec, &err), LEAT_OK);
    for (size_t size = 0; size < sizeof golden; size++)
        assert_int_equal(read_bytes(golden, size, spec, &err), LEAT_DATA_LOSS);
    static const struct {
        size_t at;
        uint64_t value;
    } numbers[] = {
        {8, UINT64_MAX},
        {8, INT64_MAX},
        {16, 0},
        {16, 3},
        {16, UINT64_C(1) << 60},
        {32, 84},
        {40, 82},
        {48, 3},
        {48, 9 << 8},
        {56, 0x6d6d},
        {64, 1},
        {64, 128},
        {72, 3},
        {72, UINT64_MAX},
        {80, UINT64_MAX},
        {80, UINT64_C(1) << 62},
        {80, 2},
        {104, 32},
        {112, 18},
        {112, 20},
        {192, 2},
        {200, 3},
        {200, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint8_t bytes[sizeof golden];
        memcpy(bytes, golden, sizeof golden);
        put64(bytes, numbers[i].at, numbers[i].value);
        if (read_bytes(bytes, sizeof bytes, spec, &err) != LEAT_DATA_LOSS)
            fail_msg("%zu: %llu: %s", numbers[i].at, (unsigned long long)numbers[i].value,
                     err.text);
    }
    /* A version that is not known, and compression that nobody has. */
    for (int at = 4; at <= 6; at++) {
        uint8_t bytes[sizeof golden];
        memcpy(bytes, golden, sizeof golden);
        bytes[at] = 9;
        assert_int_equal(read_bytes(bytes, sizeof bytes, spec, &err), LEAT_DATA_LOSS);
    }
    leat_spec_unref(spec);
}

static void test_other_specs(void **state) {
    (void)state;
    leat_error err = {0};
    static const char *const specs[] = {
        "{\"dtype\": \"int16\", \"shape\": [1]}",
        "{\"tuple\": [{\"dtype\": \"int16\", \"shape\": [2]}, {\"dtype\": \"string\", \"shape\": "
        "[]}]}",
        "{\"tuple\": [{\"dtype\": \"int16\", \"shape\": [-1]}, {\"dtype\": \"int64\", \"shape\": "
        "[]}]}"};
    static const leat_reason reasons[] = {LEAT_REASON_STRUCTURE, LEAT_REASON_SHAPE,
                                          LEAT_REASON_SHAPE};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        leat_spec *spec = spec_of(specs[i]);
        assert_int_equal(read_bytes(golden, sizeof golden, spec, &err), LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, reasons[i], NULL);
        leat_spec_unref(spec);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_dtypes),   TEST(test_forms),         TEST(test_no_copies), TEST(test_strings),
        TEST(test_constant), TEST(test_no_components), TEST(test_objects),   TEST(test_compression),
        TEST(test_events),   TEST(test_best),          TEST(test_credit),    TEST(test_golden),
        TEST(test_damaged),  TEST(test_other_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
