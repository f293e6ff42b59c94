/* Decoding against TensorFlow's recorded results, and against damaged and hostile data. */
#include "support/cmocka.h"
#include "support/refused.h"

#include "base/alloc.h"
#include "image/codec.h"
#include "image/jpeg.h"
#include "image/png.h"
#include "support/arrays.h"
#include "support/decode.h"
#include "support/torture.h"

#define FOLDER "tests/golden/data/image"

/* ---- recorded cases ---- */

static leati_decode_options options_of(const json_t *args) {
    leati_decode_options options = leati_decode_defaults;
    options.channels = (int32_t)arrays_int(args, "channels", 0);
    options.ratio = (int32_t)arrays_int(args, "ratio", 1);
    options.fancy_upscaling = arrays_bool(args, "fancy_upscaling", true);
    options.try_recover_truncated = arrays_bool(args, "try_recover_truncated", false);
    const json_t *fraction = json_object_get(args, "acceptable_fraction");
    if (fraction != NULL)
        options.acceptable_fraction = (float)json_number_value(fraction);
    const char *method = arrays_text(args, "dct_method");
    if (strcmp(method, "INTEGER_ACCURATE") == 0)
        options.dct = LEATI_DCT_ACCURATE;
    else if (strcmp(method, "FLOAT") == 0)
        options.dct = (leati_dct)7; /* what is no method of ours */
    if (strcmp(arrays_text(args, "dtype"), "uint16") == 0)
        options.bits = 16;
    return options;
}

static void compare(const char *name, const arrays_array *expected, const leati_image_info *info,
                    const uint8_t *pixels) {
    int64_t shape[3] = {info->height, info->width, info->channels};
    if (expected->rank != 3 || memcmp(shape, expected->shape, sizeof shape) != 0)
        fail_msg("%s: shape %d x %d x %d", name, info->height, info->width, info->channels);
    assert_int_equal(info->bits / 8, expected->item_size);
    const uint8_t *want = expected->data;
    for (size_t i = 0; i < expected->count * expected->item_size; i++)
        if (pixels[i] != want[i])
            fail_msg("%s: byte %zu is %d, expected %d", name, i, pixels[i], want[i]);
}

static void run_decode_case(leati_image_decoder *decoder, const json_t *test, const uint8_t *data,
                            size_t size) {
    leati_decode_options options = options_of(json_object_get(test, "args"));
    leati_image_info info;
    leat_error err = {0};
    uint8_t *pixels;
    leat_status status = decode(decoder, data, size, &options, &info, &pixels, &err);
    char *name = json_dumps(json_object_get(test, "args"), JSON_COMPACT);
    assert_non_null(name);
    if (json_object_get(test, "error") != NULL) {
        if (status != LEAT_INVALID_ARGUMENT)
            fail_msg("%s %s: %s", arrays_text(test, "file"), name, leat_status_name(status));
    } else {
        if (status != LEAT_OK)
            fail_msg("%s %s: %s", arrays_text(test, "file"), name, err.text);
        arrays_array expected = arrays_read(FOLDER, json_object_get(test, "output"));
        char whole[256];
        (void)snprintf(whole, sizeof whole, "%s %s", arrays_text(test, "file"), name);
        bool damaged = strstr(whole, "_truncated_") != NULL || strstr(whole, "_corrupt_") != NULL;
        if (ARRAYS_RECORDED_HERE || !damaged)
            compare(whole, &expected, &info, pixels);
        arrays_free(&expected);
    }
    free(pixels);
    free(name);
}

static bool ends_with(const char *text, const char *tail) {
    size_t size = strlen(text), part = strlen(tail);
    return size >= part && strcmp(text + size - part, tail) == 0;
}

/* Whether a case is about formats and conversions that this room has. */
static bool is_covered(const json_t *test) {
    const char *op = arrays_text(test, "op"), *file = arrays_text(test, "file");
    const json_t *args = json_object_get(test, "args");
    const char *dtype = arrays_text(args, "dtype");
    if (strcmp(op, "decode_jpeg") != 0 && strcmp(op, "decode_png") != 0 &&
        strcmp(op, "decode_image") != 0)
        return false;
    if (ends_with(file, ".bmp") || ends_with(file, ".gif"))
        return false;
    if (strcmp(op, "decode_image") == 0 && ends_with(file, ".jpg") && strcmp(dtype, "uint16") == 0)
        return false;
    return strcmp(dtype, "float32") != 0 && strcmp(dtype, "int16") != 0;
}

static void test_recorded_decodes(void **state) {
    (void)state;
    json_t *root = arrays_read_json(FOLDER, "decode.json");
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    int covered = 0;
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(root, "cases"), i, test) {
        if (!is_covered(test))
            continue;
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, arrays_text(test, "file"), &size);
        run_decode_case(decoder, test, data, size);
        free(data);
        covered++;
    }
    assert_int_equal(covered, 219);
    leati_image_decoder_free(decoder);
    json_decref(root);
}

static void test_recorded_probes(void **state) {
    (void)state;
    json_t *root = arrays_read_json(FOLDER, "decode.json");
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    int covered = 0;
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(root, "cases"), i, test) {
        const char *op = arrays_text(test, "op");
        bool shape = strcmp(op, "extract_jpeg_shape") == 0;
        if (!shape && strcmp(op, "is_jpeg") != 0)
            continue;
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, arrays_text(test, "file"), &size);
        const leati_picture_codec *codec = leati_codec_find(data, size);
        bool is_jpeg = codec != NULL && strcmp(codec->name, "jpeg") == 0;
        const json_t *output = json_object_get(test, "output");
        const json_t *want = json_object_get(output, "data");
        leati_image_info info;
        leat_error err = {0};
        if (!shape) {
            assert_int_equal(is_jpeg, json_is_true(json_array_get(want, 0)));
        } else if (output == NULL) {
            assert_true(!is_jpeg || leati_image_begin(decoder, data, size, &leati_decode_defaults,
                                                      &info, &err) != LEAT_OK);
        } else {
            assert_int_equal(
                leati_image_begin(decoder, data, size, &leati_decode_defaults, &info, &err),
                LEAT_OK);
            assert_int_equal(info.height, json_integer_value(json_array_get(want, 0)));
            assert_int_equal(info.width, json_integer_value(json_array_get(want, 1)));
            assert_int_equal(info.stored_channels, json_integer_value(json_array_get(want, 2)));
        }
        free(data);
        covered++;
    }
    assert_int_equal(covered, 41);
    leati_image_decoder_free(decoder);
    json_decref(root);
}

/* ---- bad input ---- */

static void expect_failure(const uint8_t *data, size_t size, leat_reason reason,
                           const char *keyword) {
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    leati_image_info info;
    leat_error err = {0};
    uint8_t *pixels;
    leat_status status = decode(decoder, data, size, &leati_decode_defaults, &info, &pixels, &err);
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    leati_image_decoder_free(decoder);
}

static void test_texts(void **state) {
    (void)state;
    static const struct {
        const char *file;
        leat_reason reason;
        const char *keyword;
    } cases[] = {
        {"files/not_an_image.jpg", LEAT_REASON_VALUE, "27"},
        {"files/empty.jpg", LEAT_REASON_VALUE, "0"},
        {"files/a_truncated_60.jpg", LEAT_REASON_VALUE, "48"},
        {"files/a_truncated_last2.jpg", LEAT_REASON_VALUE, "48"},
        {"files/a_header_only.jpg", LEAT_REASON_VALUE, "200"},
        {"files/a_truncated.png", LEAT_REASON_VALUE, "3755"},
        {"files/a_bad_crc.png", LEAT_REASON_VALUE, "7511"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, cases[i].file, &size);
        expect_failure(data, size, cases[i].reason, cases[i].keyword);
        free(data);
    }
#ifdef LEATI_HAVE_WEBP
    expect_failure((const uint8_t *)"RIFF\0\0\0\0WEBPVP8 ", 16, LEAT_REASON_VALUE, "16");
#endif
    expect_failure(NULL, 0, LEAT_REASON_VALUE, "0");
    expect_failure((const uint8_t *)"GIF89a", 6, LEAT_REASON_VALUE, "6");
    expect_failure((const uint8_t *)"BM", 2, LEAT_REASON_VALUE, "32");
}

static uint32_t crc32_of(const uint8_t *data, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

static void put_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Writes a chunk with its checksum and returns its size. */
static size_t put_chunk(uint8_t *at, const char *type, const void *data, uint32_t size) {
    put_u32(at, size);
    memcpy(at + 4, type, 4);
    if (size > 0)
        memcpy(at + 8, data, size);
    put_u32(at + 8 + size, crc32_of(at + 4, size + 4));
    return 12 + (size_t)size;
}

/* Signature and header chunk of a picture of 8-bit colours. */
static size_t put_png_header(uint8_t *at, uint32_t width, uint32_t height) {
    uint8_t header[13] = {[8] = 8, [9] = 2};
    memcpy(at, "\x89PNG\r\n\x1A\n", 8);
    put_u32(header, width);
    put_u32(header + 4, height);
    return 8 + put_chunk(at + 8, "IHDR", header, sizeof header);
}

/* The refusal comes from the header, before memory is taken: the hook counts. */
static void test_huge_png(void **state) {
    (void)state;
    uint8_t file[256];
    size_t size = put_png_header(file, 60000, 60000);
    size += put_chunk(file + size, "IDAT", "\x78\x9C\x03\x00\x00\x00\x00\x01", 8);
    size += put_chunk(file + size, "IEND", NULL, 0);
    expect_failure(file, size, LEAT_REASON_SHAPE, "60000");
}

static void test_huge_jpeg(void **state) {
    (void)state;
    size_t size;
    uint8_t *data = arrays_read_file(FOLDER, "files/a_420.jpg", &size);
    for (size_t i = 0; i + 9 < size; i++) {
        if (data[i] == 0xFF && data[i + 1] == 0xC0) {
            memcpy(data + i + 5, "\xFF\xDC\xFF\xDC", 4); /* 65500 each way */
            break;
        }
    }
    expect_failure(data, size, LEAT_REASON_SHAPE, "65500");
    free(data);
}

static void test_max_pixels_is_an_option(void **state) {
    (void)state;
    leati_decode_options options = leati_decode_defaults;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    static const char *const files[] = {"files/a_420.jpg", "files/a_rgb8.png"};
    for (int i = 0; i < 2; i++) {
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, files[i], &size);
        leati_image_info info;
        leat_error err = {0};
        options.max_pixels = 48 * 64;
        assert_int_equal(leati_image_begin(decoder, data, size, &options, &info, &err), LEAT_OK);
        options.max_pixels--;
        assert_int_equal(leati_image_begin(decoder, data, size, &options, &info, &err),
                         LEAT_INVALID_ARGUMENT);
        free(data);
    }
    leati_image_decoder_free(decoder);
}

static void test_misuse(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    size_t size;
    uint8_t *data = arrays_read_file(FOLDER, "files/a_420.jpg", &size);
    uint8_t pixels[64 * 3];
    leati_image_info info;
    leat_error err = {0};
    assert_int_equal(leati_image_read(decoder, pixels, 192, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leati_image_begin(NULL, data, size, &leati_decode_defaults, &info, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_image_begin(decoder, NULL, size, &leati_decode_defaults, &info, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_image_begin(decoder, data, size, &leati_decode_defaults, &info, &err),
                     LEAT_OK);
    assert_int_equal(leati_image_read(decoder, pixels, 191, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "191");
    assert_int_equal(leati_image_read(decoder, pixels, 192, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leati_image_begin(decoder, data, size, &leati_decode_defaults, &info, &err),
                     LEAT_OK);
    assert_int_equal(leati_image_read(decoder, NULL, 192, &(leat_error){0}), LEAT_INVALID_ARGUMENT);
    free(data);
    leati_image_decoder_free(decoder);
}

/* ---- memory ---- */

static leat_status decode_file(void *context, leat_error *err) {
    const char *file = context;
    size_t size;
    uint8_t *data = arrays_read_file(FOLDER, file, &size);
    leati_image_decoder *decoder = leati_image_decoder_new(err);
    leat_status status = LEAT_RESOURCE_EXHAUSTED;
    if (decoder != NULL) {
        leati_decode_options options = leati_decode_defaults;
        options.channels = 3;
        leati_image_info info;
        uint8_t *pixels;
        status = decode(decoder, data, size, &options, &info, &pixels, err);
        free(pixels);
        /* Once more with the kept memory, which a reset may have had to join. */
        if (status == LEAT_OK) {
            status = decode(decoder, data, size, &options, &info, &pixels, err);
            free(pixels);
        }
    }
    leati_image_decoder_free(decoder);
    free(data);
    return status;
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    static const char *const files[] = {"files/a_420.jpg",     "files/b_progressive.jpg",
                                        "files/a_cmyk.jpg",    "files/a_rgb8.png",
                                        "files/a_palette.png", "files/a_rgba16.png"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s", files[i]);
        torture_run_tolerant(decode_file, name);
    }
}

/* A decoder that lacked memory for one picture says of the next what is wrong with that. */
static void test_failures_are_forgotten(void **state) {
    (void)state;
    size_t large_size;
    uint8_t *large = arrays_read_file(FOLDER, "files/b_progressive.jpg", &large_size);
    /* A frame header of no rows and no columns. */
    const uint8_t bad[48] = {0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11};
    leati_decode_options options = leati_decode_defaults;
    bool failed = true;
    int lacking = 0;
    for (long n = 1; failed; n++) {
        leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
        leati_image_info info;
        leat_error err = {0};
        uint8_t *pixels = NULL;
        torture_fail_from(n);
        leat_status status = decode(decoder, large, large_size, &options, &info, &pixels, &err);
        failed = torture_failed();
        torture_fail_at(0);
        lacking += status == LEAT_RESOURCE_EXHAUSTED;
        assert_true(status == LEAT_OK || (failed && status == LEAT_RESOURCE_EXHAUSTED));
        free(pixels);
        status = decode(decoder, bad, sizeof bad, &options, &info, &pixels, &err);
        assert_int_equal(status, LEAT_INVALID_ARGUMENT);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "JPEG");
        leati_image_decoder_free(decoder);
    }
    assert_true(lacking > 3);
    free(large);
}

static void test_steady_state_allocates_nothing(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    static const char *const files[] = {"files/a_420.jpg", "files/b_progressive.jpg",
                                        "files/a_cmyk.jpg"};
    for (int round = 0; round < 6; round++) {
        if (round == 3)
            torture_fail_at(0); /* counts from here */
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            size_t size;
            uint8_t *data = arrays_read_file(FOLDER, files[i], &size);
            assert_int_equal(decode_and_drop(decoder, data, size, &leati_decode_defaults), LEAT_OK);
            free(data);
        }
    }
    assert_int_equal(torture_count(), 0);
    leati_image_decoder_free(decoder);
}

static void test_store_of_decoders(void **state) {
    (void)state;
    leati_image_decoder *first = leati_image_decoder_take(&(leat_error){0});
    leati_image_decoder *second = leati_image_decoder_take(&(leat_error){0});
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    leati_image_decoder_give(first);
    leati_image_decoder_give(NULL);
    assert_ptr_equal(leati_image_decoder_take(&(leat_error){0}), first);
    leati_image_decoder_give(first);
    leati_image_decoder_give(second);
    leati_image_decoders_trim();
}

int main(void) {
#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        COUNTED(test_recorded_decodes),
        COUNTED(test_recorded_probes),
        COUNTED(test_texts),
        COUNTED(test_huge_png),
        COUNTED(test_huge_jpeg),
        COUNTED(test_max_pixels_is_an_option),
        COUNTED(test_misuse),
        COUNTED(test_every_allocation_failing),
        COUNTED(test_failures_are_forgotten),
        COUNTED(test_steady_state_allocates_nothing),
        COUNTED(test_store_of_decoders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
