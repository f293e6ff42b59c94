/* Hue and saturation against a colour taken after the other, with branches and tables; the same
 * bits on each instruction set and number of threads. */
#include "support/cmocka.h"

#include "base/minmax.h"
#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

/* ---- hue ---- */
/* The sixths of the circle: which channel is highest, lies between, and is lowest. */
static const int order[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};

static int sixth_of(const float *rgb) {
    if (rgb[0] < rgb[1])
        return rgb[2] < rgb[0] ? 1 : rgb[2] > rgb[1] ? 3 : 2;
    return rgb[2] < rgb[1] ? 0 : rgb[2] > rgb[0] ? 4 : 5;
}

static void turn(const float *rgb, float by, float *out) {
    int sixth = sixth_of(rgb);
    float high = rgb[order[sixth][0]], low = rgb[order[sixth][2]], hue = 0;
    if (high != low) {
        float ratio = (rgb[order[sixth][1]] - low) / (high - low);
        hue = (float)sixth + (sixth % 2 == 0 ? ratio : 1 - ratio);
    }
    hue += by * 6;
    while (hue < 0)
        hue += 6;
    while (hue >= 6)
        hue -= 6;
    sixth = hue >= 0 ? (int)hue : 5;
    float ratio = hue - (float)sixth;
    ratio = sixth % 2 != 0 ? 1 - ratio : ratio;
    out[order[sixth][0]] = high;
    out[order[sixth][1]] = low + ratio * (high - low);
    out[order[sixth][2]] = low;
}

/* ---- saturation, by way of hue, saturation and value ---- */
static float hue_of(const float *rgb, float value, float range) {
    float norm = 1.0F / (6.0F * range), hue;
    if (range <= 0)
        return 0;
    if (rgb[0] == value)
        hue = norm * (rgb[1] - rgb[2]);
    else if (rgb[1] == value)
        hue = (float)((double)(norm * (rgb[2] - rgb[0])) + 2.0 / 6.0);
    else
        hue = (float)((double)(norm * (rgb[0] - rgb[1])) + 4.0 / 6.0);
    return hue < 0 ? hue + 1 : hue;
}

static void saturate(const float *rgb, float factor, float *out) {
    float most = LEATI_MAX(rgb[0], rgb[1]), least = LEATI_MIN(rgb[0], rgb[1]);
    float value = LEATI_MAX(most, rgb[2]), range = value - LEATI_MIN(least, rgb[2]);
    float saturation = (value > 0 ? range / value : 0) * factor;
    saturation = LEATI_MAX(saturation, 0);
    saturation = LEATI_MIN(saturation, 1);
    float chroma = saturation * value, low = value - chroma;
    float sixth = hue_of(rgb, value, range) * 6;
    float middle = chroma * (1 - fabsf(fmodf(sixth, 2) - 1));
    static const int high[6] = {0, 1, 1, 2, 2, 0}, between[6] = {1, 0, 2, 1, 0, 2};
    out[0] = out[1] = out[2] = low;
    if (!(sixth >= 0 && sixth < 6))
        return;
    out[high[(int)sixth]] = chroma + low;
    out[between[(int)sixth]] = middle + low;
}

/* ---- colours ---- */
static float channel(void) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0F, 1, -1, 1e-40F, 3e38F};
    uint32_t bits = kernels_bits() % 64;
    return bits < sizeof odd / sizeof *odd ? odd[bits]
           : bits < 32                     ? (float)(bits % 4) / 4 /* equal channels */
                                           : (float)kernels_draw() / 8;
}

static void check(const char *operation, double amount,
                  void (*oracle)(const float *, float, float *), int64_t pixels) {
    char attributes[60];
    leat_error err = {0};
    leat_tensor in, out, wanted;
    bool hue = oracle == turn;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(1, pixels, 3), &in, &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(1, pixels, 3), &wanted, &err),
                     LEAT_OK);
    for (int64_t i = 0; i < 3 * pixels; i++)
        ((float *)in.data)[i] = channel();
    for (int64_t i = 0; i < pixels; i++)
        oracle((const float *)in.data + 3 * i, (float)amount, (float *)wanted.data + 3 * i);
    sprintf(attributes, "{\"%s\": %.17g}", hue ? "delta" : "saturation_factor", amount);
    kernels_case of = {operation, attributes, 1};
    kernels_run_everywhere(&of, &in, &out);
    kernels_compare(operation, &wanted, &out);
    leat_tensor_unref(&out);
    leat_tensor_unref(&wanted);
    leat_tensor_unref(&in);
}

static void test_colours(void **state) {
    (void)state;
    static const int64_t pixels[] = {1, 7, 33, 1000, 70001};
    static const double amounts[] = {0, 0.3, -0.3, 1, -1, 0.5, 0.0001};
    for (size_t k = 0; k < sizeof pixels / sizeof *pixels; k++)
        for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
            check("adjust_hue", amounts[i], turn, pixels[k]);
            check("adjust_saturation", 3 * amounts[i], saturate, pixels[k]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
