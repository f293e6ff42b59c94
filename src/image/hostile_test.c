/* Pictures as few programs write them, and pictures that are made to cost time or memory. Those
 * that are JPEGs are made here by libjpeg; what comes back is near what went in, or is refused by
 * name. */
#include "support/cmocka.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "image/codec.h"
#include "support/refused.h"
#include "support/torture.h"

enum { SIDE = 48, MOST = 1 << 20 };

/* ---- making ---- */

/* How a JPEG is written; channels 1, 3 (as YCbCr) or 4 (as CMYK, or YCCK). */
typedef struct recipe {
    const char *name;
    int channels;
    J_COLOR_SPACE space;
    int factors[4][2]; /* horizontal and vertical; 0: 1 */
    bool arithmetic, progressive;
    int scans; /* of a progressive one; 0: as libjpeg does it */
} recipe;

static uint8_t sample(int y, int x, int c) {
    return (uint8_t)(20 + 3 * x + (c == 1 ? y : 0) + (c == 2 ? 2 * y : 0));
}

/* Refines the highest frequencies of the first component again and again. */
static jpeg_scan_info *many_scans(int count) {
    jpeg_scan_info *scans = calloc((size_t)count, sizeof *scans);
    assert_non_null(scans);
    for (int i = 0; i < count; i++)
        scans[i] =
            (jpeg_scan_info){.comps_in_scan = 1, .Ss = 1 + (i - 1) % 63, .Se = 1 + (i - 1) % 63};
    scans[0].Ss = scans[0].Se = 0;
    return scans;
}

/* Writes a JPEG of `width` times `height` pixels (given). */
static uint8_t *make_jpeg(const recipe *r, int width, int height, size_t *size) {
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_error_mgr errors;
    unsigned char *file = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &length);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = r->channels;
    jpeg.in_color_space = r->channels == 1 ? JCS_GRAYSCALE : r->channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, r->space);
    jpeg_set_quality(&jpeg, 95, TRUE);
    for (int c = 0; c < r->channels; c++) {
        jpeg.comp_info[c].h_samp_factor = r->factors[c][0] > 0 ? r->factors[c][0] : 1;
        jpeg.comp_info[c].v_samp_factor = r->factors[c][1] > 0 ? r->factors[c][1] : 1;
    }
    jpeg.arith_code = r->arithmetic;
    if (r->progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_scan_info *scans = r->scans > 0 ? many_scans(r->scans) : NULL;
    if (scans != NULL) {
        jpeg.scan_info = scans;
        jpeg.num_scans = r->scans;
    }
    jpeg_start_compress(&jpeg, TRUE);
    uint8_t *row = malloc((size_t)width * 4);
    assert_non_null(row);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            for (int c = 0; c < r->channels; c++)
                row[x * r->channels + c] = sample(y % SIDE, x % SIDE, c);
        JSAMPROW rows[1] = {row};
        (void)jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    free(scans);
    *size = length;
    return file;
}

/* ---- decoding ---- */

static leat_status decode(const uint8_t *data, size_t size, const leati_decode_options *options,
                          leati_image_info *info, uint8_t *pixels, leat_error *err) {
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    assert_non_null(exact);
    memcpy(exact, data, size);
    leat_status status = leati_image_begin(decoder, exact, size, options, info, err);
    if (status == LEAT_OK) {
        size_t row = (size_t)info->width * (size_t)info->channels;
        assert_true(row * (size_t)info->height * (size_t)info->frames <= MOST);
        status = leati_image_read(decoder, pixels, row, err);
    }
    free(exact);
    leati_image_decoder_free(decoder);
    return status;
}

static uint8_t pixels[MOST];

static void expect(const uint8_t *data, size_t size, const leati_decode_options *options,
                   leat_reason reason, const char *keyword) {
    leati_image_info info;
    leat_error err = {0};
    assert_int_equal(decode(data, size, options, &info, pixels, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static const recipe rare[] = {
    {.name = "411", .channels = 3, .space = JCS_YCbCr, .factors = {{4, 1}}},
    {.name = "440", .channels = 3, .space = JCS_YCbCr, .factors = {{1, 2}}},
    {.name = "410", .channels = 3, .space = JCS_YCbCr, .factors = {{4, 2}}},
    {.name = "441", .channels = 3, .space = JCS_YCbCr, .factors = {{1, 4}}},
    {.name = "fine_blue", .channels = 3, .space = JCS_YCbCr, .factors = {{1, 1}, {2, 1}, {1, 2}}},
    {.name = "mixed", .channels = 3, .space = JCS_YCbCr, .factors = {{2, 2}, {2, 1}, {1, 2}}},
    {.name = "rgb", .channels = 3, .space = JCS_RGB},
    {.name = "arithmetic",
     .channels = 3,
     .space = JCS_YCbCr,
     .factors = {{2, 2}},
     .arithmetic = true},
    {.name = "arithmetic_progressive",
     .channels = 3,
     .space = JCS_YCbCr,
     .arithmetic = true,
     .progressive = true},
    {.name = "grey_odd", .channels = 1, .space = JCS_GRAYSCALE, .factors = {{2, 2}}},
    {.name = "progressive_440",
     .channels = 3,
     .space = JCS_YCbCr,
     .factors = {{1, 2}},
     .progressive = true},
};
#define RARE (sizeof rare / sizeof rare[0])

/* Sizes that are no multiples of a block, and one pixel. */
static void test_rare_jpegs(void **state) {
    (void)state;
    static const int sizes[][2] = {{SIDE, SIDE}, {17, 31}, {1, 1}, {33, 2}};
    for (size_t i = 0; i < RARE; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            int width = sizes[k][0], height = sizes[k][1];
            size_t size = 0;
            uint8_t *file = make_jpeg(&rare[i], width, height, &size);
            leati_image_info info;
            leat_error err = {0};
            leat_status status = decode(file, size, &leati_decode_defaults, &info, pixels, &err);
            if (status != LEAT_OK)
                fail_msg("%s: %s", rare[i].name, err.text);
            assert_int_equal(info.width, width);
            assert_int_equal(info.height, height);
            assert_int_equal(info.channels, rare[i].channels);
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++)
                    for (int c = 0; c < info.channels; c++) {
                        int got = pixels[(y * width + x) * info.channels + c];
                        int want = sample(y, x, c);
                        if (abs(got - want) > 26)
                            fail_msg("%s: %d is %d, expected about %d", rare[i].name, c, got, want);
                    }
            for (size_t cut = 0; cut < size; cut += 1 + size / 97)
                (void)decode(file, cut, &leati_decode_defaults, &info, pixels, &err);
            free(file);
        }
    }
}

/* Four inks, as they are and turned by the colours; RGB comes out. */
static void test_inks(void **state) {
    (void)state;
    static const recipe inks[] = {
        {.name = "cmyk", .channels = 4, .space = JCS_CMYK},
        {.name = "ycck",
         .channels = 4,
         .space = JCS_YCCK,
         .factors = {{2, 2}, {1, 1}, {1, 1}, {2, 2}}},
    };
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        uint8_t *file = make_jpeg(&inks[i], SIDE, SIDE, &size);
        leati_image_info info;
        leat_error err = {0};
        assert_int_equal(decode(file, size, &leati_decode_defaults, &info, pixels, &err), LEAT_OK);
        assert_int_equal(info.channels, 3);
        assert_int_equal(info.stored_channels, 4);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                for (int c = 0; c < 3;
                     c++) { /* libjpeg writes an Adobe marker: inks are inverted */
                    int want = sample(y, x, c) * sample(y, x, 3) / 255;
                    assert_true(abs(pixels[(y * SIDE + x) * 3 + c] - want) <= 26);
                }
        leati_decode_options grey = leati_decode_defaults;
        grey.channels = 1;
        expect(file, size, &grey, LEAT_REASON_VALUE, "CMYK");
        free(file);
    }
}

/* ---- headers ---- */

/* The place of a marker segment, or 0. */
static size_t find_marker(const uint8_t *data, size_t size, uint8_t marker) {
    for (size_t i = 0; i + 1 < size; i++)
        if (data[i] == 0xFF && data[i + 1] == marker)
            return i;
    return 0;
}

static const recipe plain = {
    .name = "plain", .channels = 3, .space = JCS_YCbCr, .factors = {{2, 2}}};

static void test_headers(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *file = make_jpeg(&plain, SIDE, SIDE, &size);
    size_t frame = find_marker(file, size, 0xC0);
    assert_true(frame > 0);
    static const struct {
        int at;
        uint8_t bytes[4];
        int count;
        leat_reason reason;
        const char *keyword;
    } cases[] = {
        {4, {12}, 1, LEAT_REASON_VALUE, "12"},
        {4, {16}, 1, LEAT_REASON_VALUE, "16"},
        {5, {0, 0}, 2, LEAT_REASON_VALUE, "JPEG"},
        {7, {0, 0}, 2, LEAT_REASON_VALUE, "JPEG"},
        {9, {0}, 1, LEAT_REASON_VALUE, "JPEG"},
        {9, {2}, 1, LEAT_REASON_VALUE, "JPEG"},
        {11, {0x00}, 1, LEAT_REASON_VALUE, "sampling"},
        {11, {0x51}, 1, LEAT_REASON_VALUE, "sampling"},
        {1, {0xC3}, 1, LEAT_REASON_VALUE, "0xc3"},
        {1, {0xC5}, 1, LEAT_REASON_VALUE, "0xc5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t kept[4];
        memcpy(kept, file + frame + cases[i].at, 4);
        memcpy(file + frame + cases[i].at, cases[i].bytes, (size_t)cases[i].count);
        expect(file, size, &leati_decode_defaults, cases[i].reason, cases[i].keyword);
        memcpy(file + frame + cases[i].at, kept, 4);
    }
    expect(file, 2, &leati_decode_defaults, LEAT_REASON_VALUE, "BMP");
    expect(file, 3, &leati_decode_defaults, LEAT_REASON_VALUE, "JPEG");
    expect(file, 4, &leati_decode_defaults, LEAT_REASON_VALUE, "JPEG");
    free(file);
}

/* Segments of applications: junk under the name of EXIF, a thumbnail that is a JPEG itself, and one
 * that goes on beyond the file. None of them changes a pixel. */
static void test_segments(void **state) {
    (void)state;
    static uint8_t with[MOST], expected[SIDE * SIDE * 3];
    size_t size = 0, small_size = 0;
    uint8_t *file = make_jpeg(&plain, SIDE, SIDE, &size);
    uint8_t *small = make_jpeg(&plain, 8, 8, &small_size);
    leati_image_info info;
    leat_error err = {0};
    assert_int_equal(decode(file, size, &leati_decode_defaults, &info, expected, &err), LEAT_OK);
    for (int kind = 0; kind < 3; kind++) {
        uint8_t body[40000];
        size_t count = 6;
        memcpy(body, "Exif\0\0", 6);
        if (kind == 0) {
            for (; count < 30000; count++)
                body[count] = (uint8_t)(count * 167 + 13);
        } else {
            memcpy(body + 6, "MM\0\x2A\xFF\xFF\xFF\xFF", 8);
            memcpy(body + 14, small, small_size);
            count = 14 + small_size;
        }
        size_t length = kind == 2 ? 0xFFFF : count + 2;
        memcpy(with, file, 2);
        memcpy(with + 2, (uint8_t[4]){0xFF, 0xE1, (uint8_t)(length >> 8), (uint8_t)length}, 4);
        memcpy(with + 6, body, count);
        memcpy(with + 6 + count, file + 2, size - 2);
        if (kind == 2) {
            expect(with, size + count + 4, &leati_decode_defaults, LEAT_REASON_VALUE, "JPEG");
            continue;
        }
        assert_int_equal(
            decode(with, size + count + 4, &leati_decode_defaults, &info, pixels, &err), LEAT_OK);
        assert_memory_equal(pixels, expected, sizeof expected);
    }
    free(file);
    free(small);
}

/* ---- bombs ---- */

static void test_scans(void **state) {
    (void)state;
    leati_image_info info;
    leat_error err = {0};
    size_t size = 0;
    recipe whole = {.name = "whole", .channels = 1, .space = JCS_GRAYSCALE, .scans = 64};
    uint8_t *file = make_jpeg(&whole, SIDE, SIDE, &size);
    assert_int_equal(decode(file, size, &leati_decode_defaults, &info, pixels, &err), LEAT_OK);
    /* The scans, written out again and again, before the end marker. */
    size_t first = find_marker(file, size, 0xDA), scans = size - 2 - first;
    size_t copies = 9;
    uint8_t *large = malloc(size + copies * scans);
    assert_non_null(large);
    memcpy(large, file, size - 2);
    for (size_t i = 0; i < copies; i++)
        memcpy(large + size - 2 + i * scans, file + first, scans);
    memcpy(large + size - 2 + copies * scans, "\xFF\xD9", 2);
    expect(large, size + copies * scans, &leati_decode_defaults, LEAT_REASON_VALUE, "500");
    /* A picture that is large may have fewer. */
    size_t frame = find_marker(large, size, 0xC2);
    assert_true(frame > 0);
    memcpy(large + frame + 5, "\x10\x00\x10\x00", 4);
    uint8_t *rows = malloc((size_t)4096 * 4096);
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(rows);
    assert_non_null(decoder);
    assert_int_equal(leati_image_begin(decoder, large, size + copies * scans,
                                       &leati_decode_defaults, &info, &err),
                     LEAT_OK);
    assert_int_equal(leati_image_read(decoder, rows, 4096, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "scans");
    leati_image_decoder_free(decoder);
    free(rows);
    free(large);
    free(file);
}

/* Frames that take no bytes but many pixels are not unpacked. */
static void test_gif_frames(void **state) {
    (void)state;
    uint8_t gif[4096];
    size_t size = 0;
    memcpy(gif, "GIF89a\xFF\x7F\xFF\x7F\x80\x00\x00\x00\x00\x00\xFF\xFF\xFF", 19);
    size = 19;
    for (int i = 0; i < 20; i++) {
        memcpy(gif + size, "\x2C\x00\x00\x00\x00\xFF\x7F\xFF\x7F\x00\x02\x02\x44\x01\x00", 15);
        size += 15;
    }
    gif[size++] = 0x3B;
    expect(gif, size, &leati_decode_defaults, LEAT_REASON_SHAPE, "1073676289");
    expect(gif, size, &leati_decode_defaults, LEAT_REASON_SHAPE, "32767"); /* the frame's sides */
    leati_decode_options first = leati_decode_defaults;
    first.first_frame = true;
    first.max_pixels = 1 << 20;
    expect(gif, size, &first, LEAT_REASON_SHAPE, "GIF");
}

static void test_limits(void **state) {
    (void)state;
    leat_error err = {0};
    size_t size = 0;
    uint8_t *file = make_jpeg(&plain, SIDE, SIDE, &size);
    assert_int_equal(leat_limits_set_decoding(-1, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_limits_set_decoding(SIDE * SIDE - 1, 0, &err), LEAT_OK);
    expect(file, size, &leati_decode_defaults, LEAT_REASON_SHAPE, "2303");
    static const uint8_t bmp[32] = {
        'B', 'M', [10] = 32, [18] = 0xFF, [19] = 0xFF, [22] = 0xFF, [23] = 0xFF, [28] = 24};
    expect(bmp, sizeof bmp, &leati_decode_defaults, LEAT_REASON_SHAPE, "65535");
    assert_int_equal(leat_limits_set_decoding(0, 0, &err), LEAT_OK);
    leati_image_info info;
    assert_int_equal(decode(file, size, &leati_decode_defaults, &info, pixels, &err), LEAT_OK);
    free(file);
}

/* What was missing is reported, and not of the picture behind it. */
static void test_recovered(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *file = make_jpeg(&plain, SIDE, SIDE, &size);
    leati_image_decoder *decoder = leati_image_decoder_new(&(leat_error){0});
    assert_non_null(decoder);
    for (int kind = 0; kind < 6; kind++) {
        leati_decode_options options = leati_decode_defaults;
        leati_image_info info;
        leat_error err = {0};
        options.try_recover_truncated = kind % 3 == 1;
        options.acceptable_fraction = kind % 3 == 2 ? 0.1F : 1;
        size_t given = kind < 3 ? size : size - size / 8;
        leat_status status = leati_image_begin(decoder, file, given, &options, &info, &err);
        assert_int_equal(status, LEAT_OK);
        status = leati_image_read(decoder, pixels, (size_t)info.width * 3, &err);
        assert_int_equal(status, kind == 3 ? LEAT_INVALID_ARGUMENT : LEAT_OK);
        assert_int_equal(leati_image_recovered(decoder), kind > 3);
    }
    leati_image_decoder_free(decoder);
    free(file);
}

/* As many rows as the data hold are enough, one more is not; what is missing is black. */
static void test_fractions(void **state) {
    (void)state;
    size_t size = 0;
    uint8_t *file = make_jpeg(&plain, SIDE, SIDE, &size);
    size -= size / 8;
    leati_decode_options options = leati_decode_defaults;
    leati_image_info info;
    leat_error err = {0};
    options.acceptable_fraction = 0;
    assert_int_equal(decode(file, size, &options, &info, pixels, &err), LEAT_OK);
    int rows = SIDE;
    size_t row = (size_t)SIDE * 3;
    static uint8_t black[SIDE * 3];
    while (rows > 0 && memcmp(pixels + (size_t)(rows - 1) * row, black, row) == 0)
        rows--;
    assert_true(rows > 0 && rows < SIDE);
    for (int k = 0; k <= SIDE; k++) {
        options.acceptable_fraction = (float)k / SIDE;
        if (k > rows)
            expect(file, size, &options, LEAT_REASON_VALUE, "JPEG");
        else
            assert_int_equal(decode(file, size, &options, &info, pixels, &err), LEAT_OK);
    }
    options.acceptable_fraction = nanf("");
    expect(file, size, &options, LEAT_REASON_VALUE, "JPEG");
    free(file);
}

#define COUNTED(test) cmocka_unit_test_setup_teardown(test, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        COUNTED(test_rare_jpegs), COUNTED(test_inks),      COUNTED(test_headers),
        COUNTED(test_segments),   COUNTED(test_scans),     COUNTED(test_gif_frames),
        COUNTED(test_limits),     COUNTED(test_recovered), COUNTED(test_fractions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
