/* Decoding damaged pictures, and windows of pictures, without a look beyond the data. */
#include "support/cmocka.h"
#include <sys/mman.h>

#include "base/alloc.h"
#include "image/codec.h"
#include "image/jpeg.h"
#include "support/arrays.h"
#include "support/decode.h"
#include "support/torture.h"

#define FOLDER "tests/golden/data/image"

/* ---- damage ---- */

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
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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
    leati_image_decoder *fresh = leati_image_decoder_new(&(leat_error){0});
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
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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
                                           &leati_jpeg_encode_defaults, &bytes, &size,
                                           &(leat_error){0}),
                         LEAT_OK);
        check_windows(bytes, size);
        leati_free(bytes);
    }
}

/* Rows that the data do not hold are black where a part is acceptable. */
static void test_acceptable_fraction(void **state) {
    (void)state;
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
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

int main(void) {
#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        COUNTED(test_every_truncation),     COUNTED(test_bit_flips),
        COUNTED(test_damage_everywhere),    cmocka_unit_test(test_window_after_a_large_picture),
        COUNTED(test_tables_are_forgotten), COUNTED(test_windows),
        COUNTED(test_acceptable_fraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
