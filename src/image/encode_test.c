/* Writing JPEG, byte for byte as TensorFlow, and PNG, read back exactly. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "image/codec.h"
#include "image/jpeg.h"
#include "image/png.h"
#include "support/arrays.h"
#include "support/refused.h"
#include "support/torture.h"

#define FOLDER "tests/golden/data/image"

/* ---- SHA-256 (FIPS 180-4): the recorded files are known by it ---- */

static uint32_t rotate(uint32_t x, int by) {
    return x >> by | x << (32 - by);
}

static void sha_block(uint32_t state[8], const uint32_t constants[64], const uint8_t *block) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t first = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                         ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
        uint32_t second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                          ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The first 32 bits of the fractional part of the n-th root of a prime. */
static uint32_t root_bits(int prime, int n) {
    long double root = n == 2 ? sqrtl((long double)prime) : cbrtl((long double)prime);
    return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static void sha256_hex(const uint8_t *data, size_t size, char hex[65]) {
    uint32_t state[8], constants[64];
    int found = 0;
    for (int n = 2; found < 64; n++) {
        bool prime = true;
        for (int d = 2; d * d <= n; d++)
            prime = prime && n % d != 0;
        if (!prime)
            continue;
        constants[found] = root_bits(n, 3);
        if (found < 8)
            state[found] = root_bits(n, 2);
        found++;
    }
    size_t blocks = (size + 9 + 63) / 64;
    uint8_t *padded = calloc(blocks, 64);
    assert_non_null(padded);
    memcpy(padded, data, size);
    padded[size] = 0x80;
    for (size_t i = 0; i < 8; i++)
        padded[64 * blocks - 1 - i] = (uint8_t)((uint64_t)size * 8 >> (8 * i));
    for (size_t i = 0; i < blocks; i++)
        sha_block(state, constants, padded + 64 * i);
    free(padded);
    for (size_t i = 0; i < 8; i++)
        (void)snprintf(hex + 8 * i, 9, "%08x", state[i]);
}

/* ---- JPEG ---- */

static leati_jpeg_encode_options options_of(const json_t *args) {
    leati_jpeg_encode_options options = leati_jpeg_encode_defaults;
    options.quality = (int32_t)arrays_int(args, "quality", options.quality);
    options.progressive = arrays_bool(args, "progressive", false);
    options.optimize_size = arrays_bool(args, "optimize_size", false);
    options.chroma_downsampling = arrays_bool(args, "chroma_downsampling", true);
    options.density_per_cm = strcmp(arrays_text(args, "density_unit"), "cm") == 0;
    options.x_density = (int32_t)arrays_int(args, "x_density", options.x_density);
    options.y_density = (int32_t)arrays_int(args, "y_density", options.y_density);
    return options;
}

static void run_case(const json_t *test, const arrays_array *source, int32_t channels) {
    size_t pixels = (size_t)(source->shape[0] * source->shape[1]);
    uint8_t *picture = malloc(pixels * (size_t)channels);
    assert_non_null(picture);
    const uint8_t *colours = source->data;
    for (size_t i = 0; i < pixels * (size_t)channels; i++)
        picture[i] = channels == 3 ? colours[i] : colours[3 * i];
    leati_jpeg_encode_options options = options_of(json_object_get(test, "args"));
    uint8_t *out = NULL;
    size_t size = 0;
    leat_error err = {0};
    leat_status status =
        leati_jpeg_encode(picture, (size_t)(source->shape[1] * channels), (int32_t)source->shape[0],
                          (int32_t)source->shape[1], channels, &options, &out, &size, &err);
    if (json_object_get(test, "error") != NULL) {
        assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    } else {
        char hex[65];
        assert_int_equal(status, LEAT_OK);
        assert_int_equal(size, arrays_int(test, "length", 0));
        sha256_hex(out, size, hex);
        assert_string_equal(hex, arrays_text(test, "sha256"));
    }
    leati_free(out);
    free(picture);
}

static void test_recorded_jpegs(void **state) {
    (void)state;
    json_t *root = arrays_read_json(FOLDER, "encode_jpeg.json");
    const json_t *cases = json_object_get(root, "cases");
    const json_t *sources =
        json_object_get(json_array_get(cases, json_array_size(cases) - 1), "source_arrays");
    int covered = 0;
    size_t i;
    json_t *test;
    json_array_foreach(cases, i, test) {
        const json_t *args = json_object_get(test, "args");
        const char *source = arrays_text(test, "source");
        if (args == NULL || json_object_get(args, "format") != NULL ||
            json_object_get(args, "xmp_metadata") != NULL)
            continue;
        const char name[2] = {source[0], '\0'};
        arrays_array colours = arrays_read(FOLDER, json_object_get(sources, name));
        run_case(test, &colours, source[1] == '\0' ? 3 : 1);
        arrays_free(&colours);
        covered++;
    }
    assert_int_equal(covered, 33);
    json_decref(root);
}

static void fill(uint8_t *pixels, size_t size) {
    uint64_t random = 5;
    for (size_t i = 0; i < size; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        pixels[i] = (uint8_t)((random >> 60) + i / 7);
    }
}

static const struct {
    int32_t quality, x_density, y_density, height, width;
    const char *keyword;
} bad_jpeg_options[] = {
    {-1, 300, 300, 2, 2, "-1"},        {101, 300, 300, 2, 2, "101"},    {95, -1, 300, 2, 2, "-1"},
    {95, 300, -1, 2, 2, "-1"},         {95, 300, 65536, 2, 2, "65536"}, {95, 300, 300, 2, 0, "0"},
    {95, 300, 300, 2, 65501, "65501"},
};

static void test_bad_arguments(void **state) {
    (void)state;
    uint8_t pixels[12] = {0}, *out = NULL;
    size_t size = 0;
    leat_error err = {0};
    leati_jpeg_encode_options options = leati_jpeg_encode_defaults;
#define EXPECT(call, reason, keyword)                                                              \
    assert_int_equal(call, LEAT_INVALID_ARGUMENT);                                                 \
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_##reason, keyword)
    EXPECT(leati_jpeg_encode(pixels, 6, 2, 2, 2, &options, &out, &size, &err), VALUE, "2");
    EXPECT(leati_jpeg_encode(pixels, 5, 2, 2, 3, &options, &out, &size, &err), VALUE, "6");
    EXPECT(leati_jpeg_encode(NULL, 6, 2, 2, 3, &options, &out, &size, &err), VALUE, "NULL");
    EXPECT(leati_jpeg_encode(pixels, 6, 0, 2, 3, &options, &out, &size, &err), SHAPE, "0");
    EXPECT(leati_jpeg_encode(pixels, 6, 65501, 2, 3, &options, &out, &size, &err), SHAPE, "65500");
    options.x_density = 70000;
    EXPECT(leati_jpeg_encode(pixels, 6, 2, 2, 3, &options, &out, &size, &err), VALUE, "70000");
    EXPECT(leati_png_encode(pixels, 6, 2, 2, 5, &leati_png_encode_defaults, &out, &size, &err),
           VALUE, "5");
    EXPECT(leati_png_encode(pixels, 5, 2, 2, 3, &leati_png_encode_defaults, &out, &size, &err),
           VALUE, "6");
    EXPECT(leati_png_encode(pixels, 6, 2, 0, 3, &leati_png_encode_defaults, &out, &size, &err),
           SHAPE, "0");
    EXPECT(leati_png_encode(pixels, 6, 0, 2, 3, &leati_png_encode_defaults, &out, &size, &err),
           SHAPE, "0");
    EXPECT(leati_png_encode(pixels, 6, 2, 2, 0, &leati_png_encode_defaults, &out, &size, &err),
           VALUE, "0");
    EXPECT(leati_png_encode(NULL, 6, 2, 2, 3, &leati_png_encode_defaults, &out, &size, &err), VALUE,
           "NULL");
    static const leati_png_encode_options wrong[] = {
        {.bits = 4}, {.compression = -2, .bits = 8}, {.compression = 10, .bits = 16}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char bits[12], compression[12];
        (void)snprintf(bits, sizeof bits, "%d", (int)wrong[i].bits);
        (void)snprintf(compression, sizeof compression, "%d", (int)wrong[i].compression);
        EXPECT(leati_png_encode(pixels, 12, 1, 2, 3, &wrong[i], &out, &size, &err), VALUE, bits);
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, compression);
    }
    for (size_t i = 0; i < sizeof bad_jpeg_options / sizeof *bad_jpeg_options; i++) {
        options = leati_jpeg_encode_defaults;
        options.quality = bad_jpeg_options[i].quality;
        options.x_density = bad_jpeg_options[i].x_density;
        options.y_density = bad_jpeg_options[i].y_density;
        assert_int_equal(leati_jpeg_encode(pixels, 6, bad_jpeg_options[i].height,
                                           bad_jpeg_options[i].width, 3, &options, &out, &size,
                                           &err),
                         LEAT_INVALID_ARGUMENT);
        bool is_size = bad_jpeg_options[i].height != 2 || bad_jpeg_options[i].width != 2;
        assert_refused(&err, LEAT_INVALID_ARGUMENT, is_size ? LEAT_REASON_SHAPE : LEAT_REASON_VALUE,
                       bad_jpeg_options[i].keyword);
    }
    static char metadata[65536];
    memset(metadata, 'x', sizeof metadata - 1);
    options = leati_jpeg_encode_defaults;
    options.xmp_metadata = metadata;
    EXPECT(leati_jpeg_encode(pixels, 6, 2, 2, 3, &options, &out, &size, &err), VALUE,
           "xmp_metadata");
#undef EXPECT
    assert_null(out);
}

/* ---- PNG ---- */

static void check_round_trip(int32_t height, int32_t width, int32_t channels) {
    size_t row = (size_t)width * (size_t)channels, stride = row + 5;
    uint8_t *pixels = malloc(stride * (size_t)height), *back = malloc(row * (size_t)height);
    assert_true(pixels != NULL && back != NULL);
    fill(pixels, stride * (size_t)height);
    uint8_t *file = NULL;
    size_t size = 0;
    assert_int_equal(leati_png_encode(pixels, stride, height, width, channels,
                                      &leati_png_encode_defaults, &file, &size, &(leat_error){0}),
                     LEAT_OK);
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    leati_image_info info;
    assert_int_equal(
        leati_image_begin(decoder, file, size, &leati_decode_defaults, &info, &(leat_error){0}),
        LEAT_OK);
    assert_int_equal(info.height, height);
    assert_int_equal(info.width, width);
    assert_int_equal(info.channels, channels);
    assert_int_equal(leati_image_read(decoder, back, row, &(leat_error){0}), LEAT_OK);
    for (int32_t y = 0; y < height; y++)
        assert_memory_equal(back + (size_t)y * row, pixels + (size_t)y * stride, row);
    leati_image_decoder_free(decoder);
    leati_free(file);
    free(pixels);
    free(back);
}

static void test_png_round_trip(void **state) {
    (void)state;
    for (int32_t channels = 1; channels <= 4; channels++) {
        check_round_trip(1, 1, channels);
        check_round_trip(8, 8, channels);
        check_round_trip(61, 47, channels);
        check_round_trip(3, 700, channels);
    }
}

/* ---- memory ---- */

static leat_status encode_both(void *context, leat_error *err) {
    uint8_t *pixels = context, *out = NULL;
    size_t size = 0;
    leati_jpeg_encode_options options = leati_jpeg_encode_defaults;
    options.progressive = true;
    leat_status status = leati_jpeg_encode(pixels, 300, 100, 100, 3, &options, &out, &size, err);
    if (status != LEAT_OK)
        return status;
    leati_free(out);
    status =
        leati_png_encode(pixels, 300, 100, 100, 3, &leati_png_encode_defaults, &out, &size, err);
    if (status == LEAT_OK)
        leati_free(out);
    return status;
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    uint8_t *pixels = malloc(30000);
    assert_non_null(pixels);
    fill(pixels, 30000);
    torture_run_tolerant(encode_both, pixels);
    free(pixels);
}

int main(void) {
#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        COUNTED(test_recorded_jpegs),
        COUNTED(test_bad_arguments),
        COUNTED(test_png_round_trip),
        COUNTED(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
