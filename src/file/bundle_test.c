/* Checkpoints in TensorFlow's format: what TensorFlow 2.21 wrote (tests/checkpoints) is read and
 * written again byte for byte; blocks of snappy; damage of each byte; memory that lacks. */
#include "support/cmocka.h"

#include "file/crc.h"
#include "file/table.h"
#include "file/wire.h"
#include "support/refused.h"
#include "support/scratch.h"
#include "support/torture.h"
#include <leat/file.h>

#define RECORDED LEATI_SOURCE_DIR "/tests/checkpoints/"
#define VALUE "/.ATTRIBUTES/VARIABLE_VALUE"

/* A call that fails so; `err` stands in it. */
#define REFUSED(call, code, reason, keyword)                                                       \
    do {                                                                                           \
        leat_error err = {0};                                                                      \
        assert_int_equal(call, LEAT_##code);                                                       \
        assert_refused(&err, LEAT_##code, LEAT_REASON_##reason, keyword);                          \
    } while (0)
#define REFUSED_NULL(call, code, reason, keyword)                                                  \
    do {                                                                                           \
        leat_error err = {0};                                                                      \
        assert_null(call);                                                                         \
        assert_refused(&err, LEAT_##code, LEAT_REASON_##reason, keyword);                          \
    } while (0)

static leat_bundle *open_recorded(const char *name) {
    char path[1024];
    leat_error err = {0};
    snprintf(path, sizeof path, "%s%s", RECORDED, name);
    leat_bundle *bundle = leat_bundle_open(path, &err);
    if (bundle == NULL)
        fail_msg("%s", err.text);
    return bundle;
}

static leat_tensor read_named(leat_bundle *bundle, const char *name) {
    leat_error err = {0};
    leat_tensor out = {0};
    if (leat_bundle_read(bundle, leat_bundle_find(bundle, name), &out, &err) != LEAT_OK)
        fail_msg("%s: %s", name, err.text);
    return out;
}

static void test_values(void **state) {
    (void)state;
    static const uint16_t halves[] = {0x3e00, 0xc000}, brains[] = {0x3fc0, 0xc000};
    static const char *const texts[] = {"", "leat", "a\0b", "\303\251"};
    static const size_t sizes[] = {0, 4, 3, 2};
    leat_bundle *bundle = open_recorded("mixed");
    leat_bundle_entry entry;
    assert_int_equal(leat_bundle_count(bundle), 8);
    assert_int_equal(leat_bundle_num_shards(bundle), 1);
    assert_int_equal(leat_bundle_find(bundle, "half"), -1);
    leat_tensor half = read_named(bundle, "half" VALUE), brain = read_named(bundle, "brain" VALUE);
    leat_tensor text = read_named(bundle, "text" VALUE), whole = read_named(bundle, "whole" VALUE);
    assert_int_equal(half.dtype, LEAT_FLOAT16);
    assert_memory_equal(half.data, halves, sizeof halves);
    assert_int_equal(brain.dtype, LEAT_BFLOAT16);
    assert_memory_equal(brain.data, brains, sizeof brains);
    assert_int_equal(text.rank, 2);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(((leat_string *)text.data)[i].size, sizes[i]);
        assert_memory_equal(((leat_string *)text.data)[i].data, texts[i], sizes[i]);
    }
    /* 1 + 2j */
    assert_int_equal(whole.dtype, LEAT_COMPLEX128);
    assert_memory_equal(whole.data, ((double[]){1, 2}), 16);
    assert_int_equal(leat_bundle_get(bundle, leat_bundle_find(bundle, "empty" VALUE), &entry, NULL),
                     LEAT_OK);
    assert_int_equal(entry.dtype, LEAT_FLOAT32);
    assert_int_equal(entry.shape.dims[1], 3);
    assert_int_equal(entry.bytes, 0);
    REFUSED(leat_bundle_get(bundle, 8, &entry, &err), OUT_OF_RANGE, NONE, "8");
    leat_tensor_unref(&half);
    leat_tensor_unref(&brain);
    leat_tensor_unref(&text);
    leat_bundle_free(bundle);
    leat_tensor_unref(&whole); /* outlives the checkpoint */
}

/* The tensors in the order of TensorFlow's file make its bytes again. */
static void test_bytes(void **state) {
    (void)state;
    static const char *const order[] = {"save_counter" VALUE, "net/b" VALUE,
                                        "net/c/0" VALUE,      "net/d/x.Sy" VALUE,
                                        "net/t/0" VALUE,      "_CHECKPOINTABLE_OBJECT_GRAPH"};
    leat_error err = {0};
    leat_bundle *bundle = open_recorded("module-1");
    leat_bundle_writer *writer = leat_bundle_writer_new(0, 1, &err);
    size_t size = 0, data_size = 0, at = 0;
    uint8_t *data = scratch_read(RECORDED "module-1.data-00000-of-00001", &data_size);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        leat_tensor tensor = read_named(bundle, order[i]);
        leat_buffer *bytes = NULL;
        assert_int_equal(leat_bundle_writer_add(writer, order[i], &tensor, &bytes, &err), LEAT_OK);
        size_t own = bytes != NULL ? leat_buffer_size(bytes) : leat_tensor_bytes(&tensor);
        assert_true(at + own <= data_size);
        assert_memory_equal(data + at, bytes != NULL ? leat_buffer_data(bytes) : tensor.data, own);
        at += own;
        leat_buffer_unref(bytes);
        leat_tensor_unref(&tensor);
    }
    assert_int_equal(at, data_size);
    leat_buffer *index = leat_bundle_writer_index(writer, &err);
    uint8_t *expected = scratch_read(RECORDED "module-1.index", &size);
    assert_int_equal(leat_buffer_size(index), size);
    assert_memory_equal(leat_buffer_data(index), expected, size);
    free(expected);
    free(data);
    leat_buffer_unref(index);
    leat_bundle_writer_free(writer);
    leat_bundle_free(bundle);
}

static void test_writer_refuses(void **state) {
    (void)state;
    leat_error unused = {0};
    leat_tensor one = leat_scalar_int64(1), object = one;
    leat_buffer *bytes = NULL;
    object.dtype = LEAT_OBJECT;
    REFUSED_NULL(leat_bundle_writer_new(1, 1, &err), INVALID_ARGUMENT, VALUE, "1");
    leat_bundle_writer *writer = leat_bundle_writer_new(0, 1, &unused);
    REFUSED(leat_bundle_writer_add(writer, "", &one, &bytes, &err), INVALID_ARGUMENT, VALUE,
            "name");
    REFUSED(leat_bundle_writer_add(writer, "o", &object, &bytes, &err), INVALID_ARGUMENT, DTYPE,
            "object");
    assert_int_equal(leat_bundle_writer_add(writer, "a", &one, &bytes, &unused), LEAT_OK);
    assert_int_equal(leat_bundle_writer_add(writer, "a", &one, &bytes, &unused), LEAT_OK);
    REFUSED_NULL(leat_bundle_writer_index(writer, &err), ALREADY_EXISTS, NONE, "a");
    leat_bundle_writer_free(writer);
    leat_tensor_unref(&one);
}

/* ---- tables ---- */

struct found {
    int count;
    size_t bytes;
    char last[100];
};

static leat_status note(void *context, leat_string key, leat_string value, uint64_t byte,
                        leat_error *err) {
    struct found *found = context;
    (void)byte;
    (void)err;
    found->count++;
    found->bytes += value.size;
    snprintf(found->last, sizeof found->last, "%.*s", (int)key.size, key.data);
    return LEAT_OK;
}

/* Several blocks, and keys that share much: the index of each block leads to it. */
static void test_many_blocks(void **state) {
    (void)state;
    enum { KEYS = 3000, EACH = 300 };
    static char value[EACH];
    char key[100];
    leat_error err = {0};
    leati_table_writer table = {0};
    for (int i = 0; i < KEYS; i++) {
        int size = snprintf(key, sizeof key, "layer/%08d/kernel", i * 7);
        leati_table_put(&table, (leat_string){key, (size_t)size}, (leat_string){value, EACH});
    }
    assert_int_equal(leati_table_end(&table, &err), LEAT_OK);
    struct found found = {0};
    assert_int_equal(leati_table_read("t", table.out.data, table.out.size, note, &found, &err),
                     LEAT_OK);
    assert_int_equal(found.count, KEYS);
    assert_int_equal(found.bytes, KEYS * EACH);
    assert_string_equal(found.last, "layer/00020993/kernel");
    leati_table_writer_fini(&table);
    leati_table_writer wrong = {0};
    leati_table_put(&wrong, (leat_string){"b", 1}, (leat_string){"", 0});
    leati_table_put(&wrong, (leat_string){"a", 1}, (leat_string){"", 0});
    assert_int_equal(leati_table_end(&wrong, &err), LEAT_INTERNAL);
    leati_table_writer_fini(&wrong);
}

static size_t put_block(uint8_t *to, const void *block, size_t size, uint8_t kind) {
    memcpy(to, block, size);
    to[size] = kind;
    leati_wire_store32(to + size + 1, leati_crc_mask(leati_crc_crc32c(to, size + 1)));
    return size + 5;
}

/* A table of one block of these bytes and kind. */
static size_t make_table(uint8_t *to, const void *block, size_t size, uint8_t kind) {
    static const uint8_t empty[8] = {0, 0, 0, 0, 1};
    uint8_t index[16] = {0, 1, 2, 'z', 0, (uint8_t)size, 0, 0, 0, 0, 1};
    size_t at = put_block(to, block, size, kind), meta = at;
    at += put_block(to + at, empty, sizeof empty, 0);
    size_t index_at = at;
    at += put_block(to + at, index, 14, 0);
    memset(to + at, 0, 48);
    to[at] = (uint8_t)meta;
    to[at + 1] = 8;
    to[at + 2] = (uint8_t)index_at;
    to[at + 3] = 14;
    leati_wire_store64(to + at + 40, UINT64_C(0xdb4775248b80fb57));
    return at + 48;
}

/* Key "k", value of 60 times "a": a literal, a copy that runs over itself, a literal. */
static const uint8_t packed[] = {72,     4 << 2, 0, 1, 60, 'k', 'a', 58 << 2 | 2, 1, 0,
                                 7 << 2, 0,      0, 0, 0,  1,   0,   0,           0};

static void test_snappy(void **state) {
    (void)state;
    uint8_t bytes[256];
    leat_error unused = {0};
    struct found found = {0};
    size_t size = make_table(bytes, packed, sizeof packed, 1);
    if (leati_table_read("t", bytes, size, note, &found, &unused) != LEAT_OK)
        fail_msg("%s", unused.text);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.bytes, 60);
    assert_string_equal(found.last, "k");
    /* Each byte of the packed block changed, with a checksum that fits: refused or read, and no
     * sanitizer minds. */
    for (size_t i = 0; i < sizeof packed; i++)
        for (int bit = 0; bit < 8; bit++) {
            uint8_t changed[sizeof packed];
            memcpy(changed, packed, sizeof packed);
            changed[i] ^= (uint8_t)(1 << bit);
            size = make_table(bytes, changed, sizeof changed, 1);
            leat_status status = leati_table_read("t", bytes, size, note, &found, &unused);
            assert_true(status == LEAT_OK || status == LEAT_DATA_LOSS);
        }
    size = make_table(bytes, packed, sizeof packed, 2);
    REFUSED(leati_table_read("t", bytes, size, note, &found, &err), DATA_LOSS, NONE, "compressed");
}

/* ---- damage ---- */

static void test_each_byte(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *index = scratch_read(RECORDED "module-1.index", &size);
    size_t meaningless = 0;
    for (size_t i = 0; i < size; i++) {
        leat_error err = {0};
        index[i] ^= 0x10;
        scratch_write("d.index", index, size);
        leat_bundle *bundle = leat_bundle_open(scratch_path("d"), &err);
        index[i] ^= 0x10;
        meaningless += bundle != NULL;
        if (bundle == NULL)
            assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "d.index");
        leat_bundle_free(bundle);
    }
    /* The block of metadata, its place, and what fills up the end. */
    assert_true(meaningless < 13 + 40);
    for (size_t cut = 0; cut < size; cut++) {
        scratch_write("d.index", index, cut);
        REFUSED_NULL(leat_bundle_open(scratch_path("d"), &err), DATA_LOSS, NONE, "index");
    }
    free(index);
}

static void test_damaged_data(void **state) {
    (void)state;
    size_t size = 0, data_size = 0;
    uint8_t *index = scratch_read(RECORDED "mixed.index", &size);
    uint8_t *data = scratch_read(RECORDED "mixed.data-00000-of-00001", &data_size);
    scratch_write("m.index", index, size);
    leat_error unused = {0};
    leat_tensor out = {0};
    leat_bundle *bundle = leat_bundle_open(scratch_path("m"), &unused);
    int64_t text = leat_bundle_find(bundle, "text" VALUE);
    leat_bundle_entry entry;
    assert_int_equal(leat_bundle_get(bundle, text, &entry, &unused), LEAT_OK);
    REFUSED(leat_bundle_read(bundle, text, &out, &err), NOT_FOUND, NONE, "data-00000");
    for (int64_t i = entry.offset; i < entry.offset + entry.bytes; i++) {
        data[i] ^= 1;
        scratch_write("m.data-00000-of-00001", data, data_size);
        leat_bundle *other = leat_bundle_open(scratch_path("m"), &unused);
        REFUSED(leat_bundle_read(other, text, &out, &err), DATA_LOSS, NONE, "data-00000");
        leat_bundle_free(other);
        data[i] ^= 1;
    }
    scratch_write("m.data-00000-of-00001", data, (size_t)entry.offset + 3);
    REFUSED(leat_bundle_read(bundle, text, &out, &err), DATA_LOSS, NONE, "end");
    leat_bundle_free(bundle);
    free(index);
    free(data);
}

/* An index of one entry with these fields: what it says must fit. */
static void test_fields(void **state) {
    (void)state;
    static const struct {
        const char *fields;
        size_t size;
        leat_status code;
        const char *keyword;
    } cases[] = {
        {"\x08\x01\x12\x00(\x04", 6, LEAT_OK, ""},
        {"\x08\x01\x12\x00(\x05", 6, LEAT_DATA_LOSS, "size"},
        {"\x08\x01\x12\x00(\x04\x18\x01", 8, LEAT_DATA_LOSS, "number"},
        {"\x12\x00(\x04", 4, LEAT_DATA_LOSS, "fields"},
        {"\x08\x01\x12\x04\x12\x02\x08\x7f(\x04", 10, LEAT_DATA_LOSS, "size"},
        {"\x08\x07\x12\x04\x12\x02\x08\x7f(\x04", 10, LEAT_DATA_LOSS, "size"}, /* 127 strings */
        {"\x08\x15\x12\x00(\x04", 6, LEAT_OK, ""}, /* a variant, which is listed alone */
        {"\x08\x01\x12\x00:\x00", 6, LEAT_OK, ""}, /* in parts */
        {"\x08\x01\x12\x02\x18\x01(\x04", 8, LEAT_DATA_LOSS, "shape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leati_table_writer table = {0};
        leat_error err = {0};
        leat_tensor out = {0};
        leati_table_put(&table, (leat_string){"", 0}, (leat_string){"\x08\x01\x1a\x02\x08\x01", 6});
        leati_table_put(&table, (leat_string){"\0part", 5}, (leat_string){"", 0});
        leati_table_put(&table, (leat_string){"v", 1},
                        (leat_string){cases[i].fields, cases[i].size});
        assert_int_equal(leati_table_end(&table, &err), LEAT_OK);
        scratch_write("f.index", table.out.data, table.out.size);
        leat_bundle *bundle = leat_bundle_open(scratch_path("f"), &err);
        assert_int_equal(bundle != NULL ? LEAT_OK : err.code, cases[i].code);
        if (bundle == NULL)
            assert_refused(&err, cases[i].code, LEAT_REASON_NONE, cases[i].keyword);
        else if (i > 0)
            assert_int_equal(leat_bundle_read(bundle, 0, &out, &err), LEAT_UNIMPLEMENTED);
        leat_bundle_free(bundle);
        leati_table_writer_fini(&table);
    }
    REFUSED_NULL(leat_bundle_open(scratch_path("none"), &err), NOT_FOUND, NONE, "none");
}

static leat_status read_all(void *context, leat_error *err) {
    (void)context;
    leat_bundle *bundle = leat_bundle_open(RECORDED "mixed", err);
    if (bundle == NULL)
        return torture_code(err);
    leat_status status = LEAT_OK;
    for (int64_t i = 0; status == LEAT_OK && i < leat_bundle_count(bundle); i++) {
        leat_tensor out = {0};
        status = leat_bundle_read(bundle, i, &out, err);
        leat_tensor_unref(&out);
    }
    leat_bundle_free(bundle);
    return status;
}

static leat_status write_one(void *context, leat_error *err) {
    (void)context;
    static const leat_string text = {"text", 4};
    leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SHAPE(1), &text);
    leat_buffer *bytes = NULL, *index = NULL;
    leat_bundle_writer *writer = leat_bundle_writer_new(0, 1, err);
    if (writer == NULL)
        return torture_code(err);
    leat_status status = leat_bundle_writer_add(writer, "v", &tensor, &bytes, err);
    if (status == LEAT_OK && (index = leat_bundle_writer_index(writer, err)) == NULL)
        status = torture_code(err);
    leat_buffer_unref(bytes);
    leat_buffer_unref(index);
    leat_bundle_writer_free(writer);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    torture_run(read_all, NULL);
    torture_run(write_one, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_snappy),
        cmocka_unit_test_setup_teardown(test_each_byte, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_data, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fields, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_memory, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
