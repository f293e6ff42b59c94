/* Decoding against TensorFlow's recorded results, and against damaged and hostile data. */
#include "support/cmocka.h"
#include <sys/mman.h>

#include "base/alloc.h"
#include "image/codec.h"
#include "image/jpeg.h"
#include "image/png.h"
#include "support/arrays.h"
#include "support/refused.h"
#include "support/torture.h"

#define FOLDER "tests/golden/data/image"

/* Decodes into fresh memory, which has not one byte to spare; *out is given (free) on success. */
static leat_status decode(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                          const leati_decode_options *options, leati_image_info *info,
                          uint8_t **out, leat_error *err) {
    *out = NULL;
    leat_status status = leati_image_begin(decoder, data, size, options, info, err);
    if (status != LEAT_OK)
        return status;
    size_t row = (size_t)info->width * (size_t)info->channels * (size_t)(info->bits / 8);
    uint8_t *pixels = malloc(row * (size_t)info->height * (size_t)info->frames);
    assert_non_null(pixels);
    status = leati_image_read(decoder, pixels, row, err);
    if (status == LEAT_OK)
        *out = pixels;
    else
        free(pixels);
    return status;
}

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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    assert_int_equal(leati_image_read(decoder, NULL, 192, NULL), LEAT_INVALID_ARGUMENT);
    free(data);
    leati_image_decoder_free(decoder);
}

/* ---- damage ---- */

static leat_status decode_and_drop(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                                   const leati_decode_options *options) {
    leati_image_info info;
    leat_error err = {0};
    uint8_t *pixels;
    leat_status status = decode(decoder, data, size, options, &info, &pixels, &err);
    free(pixels);
    if (status != LEAT_OK && (status != LEAT_INVALID_ARGUMENT || err.text[0] == '\0'))
        fail_msg("%s: %s", leat_status_name(status), err.text);
    return status;
}

/* The data lie in memory of exactly their size, so that a sanitizer sees each byte too far. */
static leat_status decode_prefix(leati_image_decoder *decoder, const uint8_t *data, size_t size,
                                 const leati_decode_options *options) {
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    leat_status status = decode_and_drop(decoder, copy, size, options);
    free(copy);
    return status;
}

static const char *const damaged_files[] = {
    "files/b_420_low.jpg", "files/b_progressive.jpg",         "files/a_restart.jpg",
    "files/a_gray.jpg",    "files/a_palette_transparent.png", "files/a_1bit.png",
    "files/a_la8.png",
};
#define DAMAGED_FILES (sizeof damaged_files / sizeof damaged_files[0])

static void test_every_truncation(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_non_null(decoder);
    leati_decode_options recover = leati_decode_defaults;
    recover.try_recover_truncated = true;
    for (size_t f = 0; f < DAMAGED_FILES; f++) {
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, damaged_files[f], &size);
        for (size_t cut = 0; cut < size; cut++) {
            if (decode_prefix(decoder, data, cut, &leati_decode_defaults) == LEAT_OK)
                fail_msg("%s passes with %zu of %zu bytes", damaged_files[f], cut, size);
            (void)decode_prefix(decoder, data, cut, &recover);
        }
        assert_int_equal(decode_prefix(decoder, data, size, &leati_decode_defaults), LEAT_OK);
        free(data);
    }
    leati_image_decoder_free(decoder);
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static void test_bit_flips(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_non_null(decoder);
    leati_decode_options options = leati_decode_defaults;
    options.max_pixels = 1 << 20; /* a flipped size should not take the test's memory */
    uint64_t random = 7;
    for (size_t f = 0; f < DAMAGED_FILES; f++) {
        size_t size;
        uint8_t *data = arrays_read_file(FOLDER, damaged_files[f], &size);
        for (int round = 0; round < 1000; round++) {
            size_t bit = next_random(&random) % (8 * size);
            options.try_recover_truncated = round % 2 != 0;
            data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            (void)decode_prefix(decoder, data, size, &options);
            data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        assert_int_equal(decode_prefix(decoder, data, size, &options), LEAT_OK);
        free(data);
    }
    leati_image_decoder_free(decoder);
}

/* ---- damage of every recorded picture ---- */

/* All of tests/golden/data/image/files that are pictures. */
static const char *const recorded_files[] = {
    "a_1bit.png",
    "a_420.jpg",
    "a_422.jpg",
    "a_444.jpg",
    "a_bad_crc.png",
    "a_cmyk.jpg",
    "a_corrupt_scan.jpg",
    "a_exif_rotated.jpg",
    "a_gray.jpg",
    "a_gray16.png",
    "a_gray8.png",
    "a_la8.png",
    "a_palette.png",
    "a_palette_transparent.png",
    "a_restart.jpg",
    "a_rgb16.png",
    "a_rgb8.png",
    "a_rgba16.png",
    "a_rgba8.png",
    "a_trailing_garbage.jpg",
    "b.gif",
    "b_420_low.jpg",
    "b_420_odd.jpg",
    "b_animated.gif",
    "b_gray.bmp",
    "b_progressive.jpg",
    "b_rgb.bmp",
    "b_rgba.bmp",
#ifdef LEATI_HAVE_WEBP
    "webp_alpha.webp",
    "webp_alpha_lossy.webp",
    "webp_animation.webp",
    "webp_lossless.webp",
    "webp_lossy.webp",
    "webp_opaque_animation.webp",
#endif
};

enum { DAMAGES = 1000 };

/* Cut off at 1,000 places in even distances, and with each of 1,000 bits in even distances turned
 * over, every picture is decoded or refused, by one decoder for all. */
static void test_damage_everywhere(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_non_null(decoder);
    leati_decode_options options = leati_decode_defaults;
    options.max_pixels = 1 << 18;
    for (size_t f = 0; f < sizeof recorded_files / sizeof *recorded_files; f++) {
        char path[100];
        size_t size, decoded = 0;
        snprintf(path, sizeof path, "files/%s", recorded_files[f]);
        uint8_t *data = arrays_read_file(FOLDER, path, &size);
        for (size_t i = 0; i < DAMAGES; i++) {
            size_t bit = i * 8 * size / DAMAGES + i % 8;
            options.first_frame = i % 2 != 0;
            options.fancy_upscaling = i % 4 < 2;
            (void)decode_prefix(decoder, data, i * size / DAMAGES, &options);
            data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            decoded += decode_prefix(decoder, data, size, &options) == LEAT_OK;
            data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        if (decode_prefix(decoder, data, size, &options) == LEAT_OK && decoded == DAMAGES)
            fail_msg("%s: no damage was noticed", recorded_files[f]);
        free(data);
    }
    leati_image_decoder_free(decoder);
}

/* An allocator whose freed memory nobody may read or write any more. */
enum { PAGE = 4096 };

static void *guarded_alloc(void *context, size_t size, size_t alignment) {
    (void)context, (void)alignment; /* at most a page */
    size_t *head =
        mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (head == MAP_FAILED)
        return NULL;
    head[0] = size;
    return (char *)head + PAGE;
}

static void guarded_release(void *context, void *memory) {
    (void)context;
    if (memory == NULL)
        return;
    size_t *head = (size_t *)(void *)((char *)memory - PAGE), size = head[0] + PAGE;
    assert_int_equal(mmap(head, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                         MAP_FAILED,
                     false);
}

static void *guarded_resize(void *context, void *memory, size_t size) {
    void *made = guarded_alloc(context, size, 0);
    if (made == NULL || memory == NULL)
        return made;
    const size_t *head = (const size_t *)(const void *)((const char *)memory - PAGE);
    memcpy(made, memory, head[0] < size ? head[0] : size);
    guarded_release(context, memory);
    return made;
}

/* After a picture whose memory was given back, since it was much, a window of one whose colours are
 * neither interpolated nor converted by themselves. */
static void test_window_after_a_large_picture(void **state) {
    (void)state;
    enum { SIDE = 2400 };
    leat_allocator_set(&(leat_allocator){
        .alloc = guarded_alloc, .resize = guarded_resize, .release = guarded_release});
    uint8_t *grey = calloc(3, (size_t)SIDE * SIDE), *large = NULL, *pixels = NULL;
    size_t size = 0;
    leati_image_info info;
    leat_error err = {0};
    leati_jpeg_encode_options progressive = leati_jpeg_encode_defaults;
    leati_decode_options options = leati_decode_defaults;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_true(grey != NULL && decoder != NULL);
    progressive.progressive = true;
    progressive.chroma_downsampling = false;
    assert_int_equal(
        leati_jpeg_encode(grey, (size_t)SIDE * 3, SIDE, SIDE, 3, &progressive, &large, &size, &err),
        LEAT_OK);
    free(grey);
    assert_int_equal(decode_and_drop(decoder, large, size, &options), LEAT_OK);
    leati_free(large);
    options.fancy_upscaling = false;
    options.crop = true;
    options.crop_y = 20;
    options.crop_x = 8;
    options.crop_height = options.crop_width = 20;
    uint8_t *data = arrays_read_file(FOLDER, "files/a_420.jpg", &size);
    assert_int_equal(decode(decoder, data, size, &options, &info, &pixels, &err), LEAT_OK);
    leati_image_decoder *fresh = leati_image_decoder_new(NULL);
    uint8_t *wanted = NULL;
    assert_int_equal(decode(fresh, data, size, &options, &info, &wanted, &err), LEAT_OK);
    assert_memory_equal(pixels, wanted, 20 * 20 * 3);
    free(pixels);
    free(wanted);
    free(data);
    leati_image_decoder_free(fresh);
    leati_image_decoder_free(decoder);
    leat_allocator_set(NULL);
}

/* A picture without tables must not find those of the picture before it. */
static void test_tables_are_forgotten(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_non_null(decoder);
    size_t size;
    uint8_t *data = arrays_read_file(FOLDER, "files/a_420.jpg", &size);
    assert_int_equal(decode_prefix(decoder, data, size, &leati_decode_defaults), LEAT_OK);
    for (size_t i = 0; i + 1 < size; i++) /* The table becomes a comment. */
        if (data[i] == 0xFF && data[i + 1] == 0xDB)
            data[i + 1] = 0xFE;
    assert_int_equal(decode_prefix(decoder, data, size, &leati_decode_defaults),
                     LEAT_INVALID_ARGUMENT);
    free(data);
    leati_image_decoder_free(decoder);
}

/* Every window with true neighbours is that part of the whole picture, bit for bit. */
static void check_windows(const uint8_t *data, size_t size) {
    leati_decode_options options = leati_decode_defaults;
    leati_image_info info;
    leat_error err = {0};
    uint8_t *whole = NULL, *part = NULL;
    leati_image_decoder *decoder = leati_image_decoder_new(&err);
    options.channels = 3;
    if (decode(decoder, data, size, &options, &info, &whole, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    int32_t height = info.height, width = info.width;
    options.crop = options.true_neighbours = true;
    for (int32_t y = 0; y < height; y += 1 + y % 5)
        for (int32_t x = 0; x < width; x += 1 + x % 7)
            for (int32_t h = 1; h <= height - y; h += 1 + h % 17)
                for (int32_t w = 1; w <= width - x; w += w < 6 ? 1 : 13) {
                    options.crop_y = y;
                    options.crop_x = x;
                    options.crop_height = h;
                    options.crop_width = w;
                    assert_int_equal(decode(decoder, data, size, &options, &info, &part, &err),
                                     LEAT_OK);
                    for (int32_t row = 0; row < h; row++)
                        assert_memory_equal(part + row * w * 3, whole + ((y + row) * width + x) * 3,
                                            (size_t)w * 3);
                    free(part);
                }
    free(whole);
    leati_image_decoder_free(decoder);
}

static void test_windows(void **state) {
    (void)state;
    static const char *const names[] = {"a_420.jpg",         "a_422.jpg",          "a_444.jpg",
                                        "b_progressive.jpg", "a_corrupt_scan.jpg", "a_restart.jpg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, FOLDER "/files/%s", names[i]);
        FILE *file = fopen(path, "rb");
        static uint8_t data[1 << 16];
        assert_non_null(file);
        size_t size = fread(data, 1, sizeof data, file);
        assert_int_equal(fclose(file), 0);
        check_windows(data, size);
    }
    /* Pictures that are hardly wider than what is decoded beside a window. */
    static const int32_t widths[] = {1, 3, 9, 31, 33, 34, 65};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        uint8_t pixels[20 * 65 * 3], *bytes = NULL;
        size_t size = 0;
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)(k * k / 7);
        assert_int_equal(leati_jpeg_encode(pixels, (size_t)widths[i] * 3, 20, widths[i], 3,
                                           &leati_jpeg_encode_defaults, &bytes, &size, NULL),
                         LEAT_OK);
        check_windows(bytes, size);
        leati_free(bytes);
    }
}

/* Rows that the data do not hold are black where a part is acceptable. */
static void test_acceptable_fraction(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
    assert_non_null(decoder);
    size_t size;
    uint8_t *data = arrays_read_file(FOLDER, "files/a_truncated_60.jpg", &size);
    leati_decode_options options = leati_decode_defaults;
    leati_image_info info;
    leat_error err = {0};
    uint8_t *pixels;
    options.acceptable_fraction = 0.25F;
    assert_int_equal(decode(decoder, data, size, &options, &info, &pixels, &err), LEAT_OK);
    bool black = true;
    for (size_t i = 0; i < 64 * 3; i++)
        black = black && pixels[47 * 64 * 3 + i] == 0;
    assert_true(black);
    free(pixels);
    options.acceptable_fraction = 0.95F;
    assert_int_equal(decode(decoder, data, size, &options, &info, &pixels, &err),
                     LEAT_INVALID_ARGUMENT);
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
        leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *decoder = leati_image_decoder_new(NULL);
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
    leati_image_decoder *first = leati_image_decoder_take(NULL);
    leati_image_decoder *second = leati_image_decoder_take(NULL);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    leati_image_decoder_give(first);
    leati_image_decoder_give(NULL);
    assert_ptr_equal(leati_image_decoder_take(NULL), first);
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
        COUNTED(test_every_truncation),
        COUNTED(test_bit_flips),
        COUNTED(test_damage_everywhere),
        COUNTED(test_tables_are_forgotten),
        cmocka_unit_test(test_window_after_a_large_picture),
        COUNTED(test_acceptable_fraction),
        COUNTED(test_windows),
        COUNTED(test_every_allocation_failing),
        COUNTED(test_failures_are_forgotten),
        COUNTED(test_steady_state_allocates_nothing),
        COUNTED(test_store_of_decoders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
