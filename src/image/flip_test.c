/* Mirroring against TensorFlow's recorded results, with strides, other pixel sizes and in place. */
#include "support/cmocka.h"

#include "image/flip.h"
#include "support/arrays.h"

#define FOLDER "tests/golden/data/image"

typedef void flip_function(const void *in, size_t in_stride, void *out, size_t out_stride,
                           size_t height, size_t width, size_t pixel_size);

static flip_function *function_of(const json_t *test) {
    if (strcmp(arrays_text(test, "op"), "flip_left_right") == 0)
        return leati_flip_left_right;
    if (strcmp(arrays_text(test, "op"), "flip_up_down") == 0)
        return leati_flip_up_down;
    return NULL;
}

static void test_recorded(void **state) {
    (void)state;
    json_t *root = arrays_read_json(FOLDER, "geometry.json");
    const json_t *cases = json_object_get(root, "cases");
    const json_t *inputs = json_object_get(json_array_get(cases, 0), "inputs");
    arrays_array in = arrays_read(FOLDER, json_object_get(inputs, "x"));
    size_t height = (size_t)in.shape[0], width = (size_t)in.shape[1], pixel = (size_t)in.shape[2];
    int covered = 0;
    size_t i;
    json_t *test;
    json_array_foreach(cases, i, test) {
        flip_function *flip = function_of(test);
        if (flip == NULL || arrays_bool(test, "batch", false))
            continue;
        arrays_array want = arrays_read(FOLDER, json_object_get(test, "output"));
        uint8_t *out = malloc(in.count);
        assert_non_null(out);
        flip(in.data, width * pixel, out, width * pixel, height, width, pixel);
        assert_memory_equal(out, want.data, want.count);
        memcpy(out, in.data, in.count);
        flip(out, width * pixel, out, width * pixel, height, width, pixel);
        assert_memory_equal(out, want.data, want.count);
        free(out);
        arrays_free(&want);
        covered++;
    }
    assert_int_equal(covered, 2);
    arrays_free(&in);
    json_decref(root);
}

/* Every size of pixel, odd and even widths, strides longer than a row, in place and not: byte b of
 * pixel x of row y must come from the mirrored place. */
static void check(bool up_down, bool in_place, size_t height, size_t width, size_t pixel) {
    enum { STRIDE = 700 };
    static uint8_t in[4][STRIDE], out[4][STRIDE];
    for (size_t y = 0; y < 4; y++)
        for (size_t b = 0; b < STRIDE; b++)
            out[y][b] = in[y][b] = (uint8_t)(y * 67 + b * 13 + b / 7);
    flip_function *flip = up_down ? leati_flip_up_down : leati_flip_left_right;
    flip(in_place ? out : in, STRIDE, out, STRIDE, height, width, pixel);
    for (size_t y = 0; y < 4; y++) {
        for (size_t b = 0; b < STRIDE; b++) {
            size_t from_y = y, from_b = b, x = b / pixel;
            if (y < height && x < width && up_down)
                from_y = height - 1 - y;
            else if (y < height && x < width)
                from_b = (width - 1 - x) * pixel + b % pixel;
            assert_int_equal(out[y][b], in[from_y][from_b]);
        }
    }
}

static void test_all_sizes(void **state) {
    (void)state;
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8, 12, 16, 300};
    for (size_t i = 0; i < sizeof pixels / sizeof pixels[0]; i++) {
        for (size_t width = 0; width <= 5 && width * pixels[i] <= 700; width++) {
            for (size_t height = 0; height <= 4; height++)
                for (int way = 0; way < 4; way++)
                    check((way & 1) != 0, (way & 2) != 0, height, width, pixels[i]);
        }
    }
}

/* A picture of two rows in memory of exactly its size, mirrored by a kernel to a place `shift`
 * bytes behind where memory begins, against moving pixels one by one. */
static void check_kernel(const leati_flip_kernel *kernel, size_t pixel, size_t width, size_t shift,
                         bool far) {
    size_t row = width * pixel, size = 2 * row;
    uint8_t *in = malloc(size + (size == 0)), *memory = malloc(size + shift + (size + shift == 0));
    assert_true(in != NULL && memory != NULL);
    uint8_t *out = memory + shift;
    for (size_t i = 0; i < size; i++)
        in[i] = (uint8_t)(i * 31 + i / 256);
    const leati_flip_picture picture = {.in = in,
                                        .out = out,
                                        .in_stride = row,
                                        .out_stride = row,
                                        .height = 2,
                                        .width = width,
                                        .pixel_size = pixel,
                                        .far = far};
    bool done = kernel->rows(&picture);
    assert_true(done || (pixel != 3 && pixel != 12));
    for (size_t i = 0; i < size && done; i++) {
        size_t y = i / row, x = i % row / pixel;
        assert_int_equal(out[i], in[y * row + (width - 1 - x) * pixel + i % row % pixel]);
    }
    free(in);
    free(memory);
}

static void test_kernels(void **state) {
    (void)state;
    for (int k = 0; leati_flip_fast[k] != NULL; k++)
        for (size_t pixel = 0; pixel <= 40 && leati_flip_fast[k]->runs_here(); pixel++)
            for (size_t width = 0; width < 150; width++)
                for (size_t way = 0; way < 4; way++)
                    check_kernel(leati_flip_fast[k], pixel, width, way / 2 * (width % 64), way % 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_all_sizes),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
