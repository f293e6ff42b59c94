/* Qualities of decoding for a smaller result: how near balanced and fast come to exact, on the
 * recorded pictures and on one whose colours grow evenly, of which any shift would be seen. */
#include "support/cmocka.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/support/picture/stream.h"
#include "image/jpeg.h"

#define FILES "tests/golden/data/image/files/"

enum { MOST = 64 * 64 * 3, HEIGHT = 250, WIDTH = 330 };

typedef struct result {
    float values[MOST];
    size_t line, count;
} result;

static float *row_at(void *context, int32_t y) {
    result *r = context;
    return r->values + (size_t)y * r->line;
}

static leat_status give_window(void *context, leati_window *window, leat_error *err) {
    (void)err;
    *window = *(const leati_window *)context;
    return LEAT_OK;
}

/* What is decoded, and how it is resized. */
typedef struct wish {
    leat_string contents;
    leati_window window; /* of height 0: all */
    int32_t height, width;
    leati_resize_method method;
    bool antialias;
} wish;

static void run(const wish *w, leati_picture_quality quality, result *out) {
    leat_error err = {0};
    leati_arena arena = {0};
    leati_window window = w->window;
    leati_picture_stream stream = {.contents = &w->contents,
                                   .op = LEATI_PICTURE_ANY,
                                   .options = leati_decode_defaults,
                                   .window = window.height > 0 ? give_window : NULL,
                                   .context = &window,
                                   .height = w->height,
                                   .width = w->width,
                                   .channels = 3,
                                   .method = w->method,
                                   .antialias = w->antialias,
                                   .quality = quality,
                                   .arena = &arena};
    stream.options.channels = 3;
    stream.options.dct = LEATI_DCT_ACCURATE;
    out->line = (size_t)w->width * 3;
    out->count = out->line * (size_t)w->height;
    assert_true(out->count <= MOST);
    leat_status status =
        leati_stream_run(&stream, &(leati_resize_sink){.row = row_at, .context = out}, &err);
    if (status != LEAT_OK)
        fail_msg("%s", err.text);
    leati_arena_fini(&arena);
}

/* The mean square of the differences between two qualities. */
static double difference(const wish *w, leati_picture_quality quality) {
    static result exact, other;
    double sum = 0;
    run(w, LEATI_PICTURE_EXACT, &exact);
    run(w, quality, &other);
    for (size_t i = 0; i < exact.count; i++) {
        double d = (double)exact.values[i] - (double)other.values[i];
        sum += d * d;
    }
    return sum / (double)exact.count;
}

/* Signal to noise in dB, of bytes. */
static double decibels(double square) {
    return 10 * log10(255.0 * 255.0 / (square + 1e-12));
}

/* ---- the recorded pictures ---- */

static const char *const pictures[] = {"a_420.jpg",     "a_422.jpg",     "a_444.jpg",
                                       "a_gray.jpg",    "a_cmyk.jpg",    "a_restart.jpg",
                                       "b_420_odd.jpg", "b_420_low.jpg", "b_progressive.jpg"};

enum { NUM_PICTURES = sizeof pictures / sizeof *pictures };

static leat_string read_picture(const char *name) {
    static char bytes[1 << 16];
    char path[200];
    snprintf(path, sizeof path, FILES "%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    return (leat_string){.data = bytes, .size = size};
}

/* Sizes for which balanced decodes 1/2, 1/4 and 1/8 as large. */
static const int32_t sizes[3][2] = {{8, 10}, {4, 5}, {2, 2}};

static void test_balanced(void **state) {
    (void)state;
    static const leati_resize_method methods[] = {LEATI_RESIZE_BILINEAR, LEATI_RESIZE_BICUBIC,
                                                  LEATI_RESIZE_LANCZOS3,
                                                  LEATI_RESIZE_MITCHELLCUBIC};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (int s = 0; s < 3; s++) {
            double sum = 0;
            for (int p = 0; p < NUM_PICTURES; p++) {
                wish w = {.contents = read_picture(pictures[p]),
                          .height = sizes[s][0],
                          .width = sizes[s][1],
                          .method = methods[m],
                          .antialias = true};
                sum += difference(&w, LEATI_PICTURE_BALANCED) / NUM_PICTURES;
            }
            if (decibels(sum) < 40)
                fail_msg("method %d, %d x %d: %.1f dB", (int)methods[m], (int)sizes[s][0],
                         (int)sizes[s][1], decibels(sum));
            assert_true(sum > 0);
        }
    }
}

/* Where a smaller picture would give something else, balanced is exact; and it is where the result
 * is not much smaller. */
static void test_balanced_is_exact(void **state) {
    (void)state;
    wish w = {.contents = read_picture(pictures[0]), .height = 8, .width = 10};
    assert_true(difference(&w, LEATI_PICTURE_BALANCED) == 0);
    w.method = LEATI_RESIZE_AREA;
    w.antialias = true;
    assert_true(difference(&w, LEATI_PICTURE_BALANCED) == 0);
    w.method = LEATI_RESIZE_BILINEAR;
    w.height = 9;
    assert_true(difference(&w, LEATI_PICTURE_BALANCED) == 0);
    assert_true(difference(&w, LEATI_PICTURE_FAST) > 0);
}

/* ---- even colours ---- */

static leat_string even_picture(void) {
    uint8_t *pixels = malloc((size_t)HEIGHT * WIDTH * 3), *file = NULL;
    size_t size = 0;
    assert_non_null(pixels);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint8_t *pixel = pixels + ((size_t)y * WIDTH + (size_t)x) * 3;
            pixel[0] = (uint8_t)(x * 3 / 4);
            pixel[1] = (uint8_t)y;
            pixel[2] = (uint8_t)(255 - (x + y) * 2 / 5);
        }
    leati_jpeg_encode_options options = leati_jpeg_encode_defaults;
    options.quality = 98;
    assert_int_equal(leati_jpeg_encode(pixels, WIDTH * 3, HEIGHT, WIDTH, 3, &options, &file, &size,
                                       &(leat_error){0}),
                     LEAT_OK);
    free(pixels);
    return (leat_string){.data = (char *)file, .size = size};
}

/* Parts that begin and end between the pixels of the smaller picture: a shift by one of its pixels
 * would leave 40 dB or less. */
static void test_places(void **state) {
    (void)state;
    static const leati_window windows[] = {{0, 0, 0, 0},
                                           {0, 0, 249, 329},
                                           {1, 1, 249, 329},
                                           {7, 3, 130, 200},
                                           {120, 131, 129, 199},
                                           {5, 9, 241, 160},
                                           {250 - 161, 330 - 163, 161, 163}};
    leat_string contents = even_picture();
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        for (int s = 0; s < 3; s++) {
            wish w = {.contents = contents,
                      .window = windows[i],
                      .height = 40 >> s,
                      .width = 53 >> s,
                      .antialias = true};
            for (int antialias = 0; antialias < 2; antialias++) {
                w.antialias = antialias;
                double noise = decibels(difference(&w, LEATI_PICTURE_FAST));
                if (noise < 46)
                    fail_msg("window %d, 1/%d: %.1f dB", (int)i, 1 << s, noise);
            }
            w.antialias = true;
            assert_true(decibels(difference(&w, LEATI_PICTURE_BALANCED)) > 48);
        }
    }
    leati_free((void *)(uintptr_t)contents.data);
}

/* A window of decode_and_crop_jpeg's and one of a crop behind it add up. */
static void test_two_windows(void **state) {
    (void)state;
    static result both, one;
    leat_string contents = even_picture();
    leati_window part = {3, 4, 150, 170};
    leat_error err = {0};
    leati_arena arena = {0};
    leati_picture_stream stream = {.contents = &contents,
                                   .op = LEATI_PICTURE_CROP,
                                   .options = leati_decode_defaults,
                                   .window = give_window,
                                   .context = &part,
                                   .height = 20,
                                   .width = 30,
                                   .channels = 3,
                                   .quality = LEATI_PICTURE_FAST,
                                   .arena = &arena};
    stream.options.channels = 3;
    stream.options.crop = true;
    stream.options.crop_y = 30;
    stream.options.crop_x = 40;
    stream.options.crop_height = 200;
    stream.options.crop_width = 210;
    both.line = 90;
    assert_int_equal(
        leati_stream_run(&stream, &(leati_resize_sink){.row = row_at, .context = &both}, &err),
        LEAT_OK);
    leati_arena_fini(&arena);
    wish w = {.contents = contents, .window = {33, 44, 150, 170}, .height = 20, .width = 30};
    run(&w, LEATI_PICTURE_FAST, &one);
    assert_memory_equal(both.values, one.values, one.count * sizeof(float));
    leati_free((void *)(uintptr_t)contents.data);
}

static int trim(void **state) {
    (void)state;
    leati_image_decoders_trim();
    leati_resize_plans_trim();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_balanced, trim),
        cmocka_unit_test_teardown(test_balanced_is_exact, trim),
        cmocka_unit_test_teardown(test_places, trim),
        cmocka_unit_test_teardown(test_two_windows, trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
