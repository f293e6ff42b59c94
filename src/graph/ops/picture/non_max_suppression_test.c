/* Boxes chosen against a search through all of them at each step; the same on each instruction set.
 */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

static const int64_t counts[] = {0, 1, 7, 65, 500, 1500};

/* y1 x1 y2 x2 in any order; some are NaN or have no area. */
static void fill(leat_tensor *boxes, leat_tensor *scores) {
    float *b = boxes->data;
    for (int64_t i = 0; i < scores->dims[0]; i++, b += 4) {
        for (int k = 0; k < 4; k++)
            b[k] = (float)(kernels_draw() / 16 + (k > 1 ? 0.4 : 0));
        if (kernels_bits() % 30 == 0)
            b[2] = kernels_bits() % 2 ? b[0] : NAN;
        ((float *)scores->data)[i] = (float)(kernels_bits() % 200) / 100;
    }
}

static float overlap(const float *a, const float *b) {
    float area_a = fabsf(a[2] - a[0]) * fabsf(a[3] - a[1]);
    float area_b = fabsf(b[2] - b[0]) * fabsf(b[3] - b[1]);
    if (!(area_a > 0) || !(area_b > 0))
        return 0;
    float height =
        fminf(fmaxf(a[0], a[2]), fmaxf(b[0], b[2])) - fmaxf(fminf(a[0], a[2]), fminf(b[0], b[2]));
    float width =
        fminf(fmaxf(a[1], a[3]), fmaxf(b[1], b[3])) - fmaxf(fminf(a[1], a[3]), fminf(b[1], b[3]));
    float both = fmaxf(height, 0) * fmaxf(width, 0);
    return both / (area_a + area_b - both);
}

/* The best of what is left, of equal ones the first; -1: none is above the threshold. */
static int64_t best_of(const float *scores, const bool *gone, int64_t n, float least) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (!gone[i] && scores[i] > least && (best < 0 || scores[i] > scores[best]))
            best = i;
    return best;
}

static void check(int64_t n, double threshold, double least, int most) {
    char attributes[120];
    leat_error err = {0};
    leat_tensor in[2], out;
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(n, 4), &in[0], &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(n), &in[1], &err), LEAT_OK);
    fill(&in[0], &in[1]);
    sprintf(attributes, "{\"max_output_size\": %d, \"iou_threshold\": %g, \"score_threshold\": %g}",
            most, threshold, least);
    kernels_case of = {"non_max_suppression", attributes, 2};
    kernels_run_everywhere(&of, in, &out);
    bool *gone = calloc((size_t)n + 1, sizeof *gone);
    int64_t chosen = 0;
    const float *boxes = in[0].data, *scores = in[1].data;
    for (int64_t best; chosen < most && (best = best_of(scores, gone, n, (float)least)) >= 0;) {
        if (chosen >= out.dims[0] || ((const int32_t *)out.data)[chosen] != best)
            fail_msg("of %lld boxes number %lld is not %lld", (long long)n, (long long)chosen,
                     (long long)best);
        chosen++;
        for (int64_t i = 0; i < n; i++)
            gone[i] =
                gone[i] || i == best || overlap(boxes + 4 * i, boxes + 4 * best) > (float)threshold;
    }
    assert_int_equal(out.dims[0], chosen);
    free(gone);
    leat_tensor_unref(&out);
    leat_tensor_unref(&in[1]);
    leat_tensor_unref(&in[0]);
}

static void test_boxes(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        check(counts[k], 0.5, 0.1, 50);
        check(counts[k], 0.9, -1, 5000);
        check(counts[k], 0, 0.5, 100);
        check(counts[k], 1, 0, 300);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
