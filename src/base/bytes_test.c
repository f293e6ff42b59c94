/* Byte strings of saved states, and hashing. */
#include "support/cmocka.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "support/torture.h"

/* The encodings are those of LEB128 and zigzag, computed by hand. */
static void numbers_are_encoded(void **state) {
    (void)state;
    leati_writer writer = {0};
    leati_put_uint(&writer, 0);
    leati_put_uint(&writer, 127);
    leati_put_uint(&writer, 128);
    leati_put_uint(&writer, 624485);
    leati_put_int(&writer, -1);
    leati_put_int(&writer, 1);
    leati_put_int(&writer, -65);
    leati_put_fixed64(&writer, UINT64_C(0x0102030405060708));
    leati_put_bytes(&writer, "hey", 3);
    const uint8_t expected[] = {0x00, 0x7F, 0x80, 0x01, 0xE5, 0x8E, 0x26, 0x01, 0x02, 0x81, 0x01, 8,
                                7,    6,    5,    4,    3,    2,    1,    3,    'h',  'e',  'y'};
    assert_int_equal(writer.size, sizeof expected);
    assert_memory_equal(writer.data, expected, sizeof expected);
    leati_writer_fini(&writer);
    assert_null(writer.data);
}

static void numbers_come_back(void **state) {
    (void)state;
    const uint64_t numbers[] = {
        0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX};
    const size_t count = sizeof numbers / sizeof numbers[0];
    leati_writer writer = {0};
    for (size_t i = 0; i < count; i++) {
        leati_put_uint(&writer, numbers[i]);
        leati_put_int(&writer, (int64_t)numbers[i]);
        leati_put_fixed64(&writer, numbers[i]);
        leati_put_bytes(&writer, "abcdefghij", i);
    }
    leati_reader reader = {writer.data, writer.size, 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        uint64_t fixed = 0;
        int64_t whole = 0;
        const void *bytes = NULL;
        size_t size = 0;
        assert_int_equal(leati_get_uint(&reader, &number, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_get_int(&reader, &whole, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_get_fixed64(&reader, &fixed, &(leat_error){0}), LEAT_OK);
        assert_int_equal(leati_get_bytes(&reader, &bytes, &size, &(leat_error){0}), LEAT_OK);
        assert_true(number == numbers[i] && whole == (int64_t)numbers[i] && fixed == numbers[i]);
        assert_int_equal(size, i);
        assert_memory_equal(bytes, "abcdefghij", i);
    }
    assert_int_equal(reader.at, reader.size);
    leati_writer_fini(&writer);
}

static void damage_is_found(void **state) {
    (void)state;
    static const struct {
        uint8_t data[12];
        size_t size;
    } cases[] = {
        {{0}, 0},
        {{0x80}, 1},
        {{0x80, 0x00}, 2}, /* longer than need be */
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}, 10}, /* 65 bits */
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 11},
        {{5, 'a', 'b'}, 3}, /* as bytes: two of five */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        leati_reader reader = {cases[i].data, cases[i].size, 0};
        leat_error err = {0};
        const void *bytes = NULL;
        size_t size = 99;
        assert_int_equal(leati_get_bytes(&reader, &bytes, &size, &err), LEAT_DATA_LOSS);
        assert_int_equal(err.code, LEAT_DATA_LOSS);
        assert_true(err.text[0] != '\0');
        assert_int_equal(reader.at, 0);
        assert_null(bytes);
        assert_int_equal(size, 99);
    }
    leati_reader reader = {(const uint8_t *)"1234567", 7, 0};
    uint64_t number = 3;
    assert_int_equal(leati_get_fixed64(&reader, &number, &(leat_error){0}), LEAT_DATA_LOSS);
    assert_int_equal(number, 3);
}

static leat_status write_state(void *context, leat_error *err) {
    (void)context;
    leati_writer writer = {0};
    for (uint64_t i = 0; i < 100; i++)
        leati_put_bytes(&writer, "0123456789", i % 11);
    bool failed = writer.failed;
    leati_writer_fini(&writer);
    return failed ? leati_no_memory(err) : LEAT_OK;
}

static void writer_survives_failures(void **state) {
    (void)state;
    torture_run(write_state, NULL);
}

/* The buffer and the expected values are those of xxHash's own sanity check of XXH3 (64 bits). */
static void hash_is_xxh3(void **state) {
    (void)state;
    uint8_t data[2048];
    uint64_t generator = 2654435761u;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(generator >> 56);
        generator *= UINT64_C(11400714785074694797);
    }
    const uint64_t seed = UINT64_C(0x9E3779B185EBCA8D);
    assert_true(leati_hash(NULL, 0, 0) == UINT64_C(0x2D06800538D394C2));
    assert_true(leati_hash(data, 0, seed) == UINT64_C(0xA8A6B918B2F0364A));
    assert_true(leati_hash(data, 1, 0) == UINT64_C(0xC44BDFF4074EECDB));
    assert_true(leati_hash(data, 1, seed) == UINT64_C(0x032BE332DD766EF8));
    assert_true(leati_hash(data, 2048, 0) == UINT64_C(0xDD59E2C3A5F038E0));
    assert_true(leati_hash(data, 2048, seed) == UINT64_C(0x66F81670669ABABC));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_encoded),      TEST(numbers_come_back), TEST(damage_is_found),
        TEST(writer_survives_failures), TEST(hash_is_xxh3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
