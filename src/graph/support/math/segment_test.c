/* Segments against slices combined one value after the other, of few and of many values, sorted and
 * in any order, with segments without slices; the same bits on each number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

#include <stdio.h>

enum { SUM, PROD, MAX, MIN, MEAN, NUM_KINDS };
static const char *const kinds[NUM_KINDS] = {"sum", "prod", "max", "min", "mean"};

typedef struct segment_case {
    int64_t slices, values, segments;
} segment_case;
static const segment_case cases[] = {{1, 1, 1},      {7, 3, 4},      {0, 5, 3},
                                     {300, 700, 40}, {5000, 1, 700}, {5000, 33, 4999},
                                     {3, 70001, 2},  {60000, 2, 1},  {90, 1025, 200}};

static double combined(int kind, double a, double v) {
    return kind == PROD  ? a * v
           : kind == MAX ? (v > a ? v : a)
           : kind == MIN ? (v < a ? v : a)
                         : a + v;
}

/* What the slices of a segment come to, each step in float32; of none what it starts with. */
static double value_of(int kind, bool sorted, const leat_tensor *data, const leat_tensor *ids,
                       int64_t segment, int64_t at) {
    int64_t count = 0, values = data->dims[1];
    double found = 0;
    for (int64_t i = 0; i < data->dims[0]; i++) {
        if (((const int32_t *)ids->data)[i] != segment)
            continue;
        double v = test_value(data, i * values + at);
        found = count++ == 0 ? v : (double)(float)combined(kind, found, v);
    }
    if (count > 0)
        return kind == MEAN ? (double)((float)found / (float)count) : found;
    if (kind == PROD)
        return 1;
    return sorted || kind == SUM ? 0
           : kind == MAX         ? (double)-3.4028234663852886e38F
                                 : (double)3.4028234663852886e38F;
}

static void fill(leat_tensor *data, leat_tensor *ids, const segment_case *c, bool sorted) {
    int32_t last = 0;
    for (int64_t i = 0; i < leat_tensor_count(data); i++)
        test_set_value(data, i, floor(kernels_draw() * 16) / 16);
    for (int64_t i = 0; i < c->slices; i++) {
        int32_t most = (int32_t)c->segments - 1, drawn = (int32_t)(kernels_bits() % c->segments);
        /* Sorted ones leave some out; others have some that count for nothing. */
        last = last + (int32_t)(kernels_bits() % 3 * (uint64_t)c->segments / (uint64_t)c->slices);
        last = last < most ? last : most;
        ((int32_t *)ids->data)[i] = sorted ? last : kernels_bits() % 16 == 0 ? -1 : drawn;
    }
}

static void check(const segment_case *c, int kind, bool sorted) {
    char name[60], attributes[60];
    leat_error err = {0};
    leat_tensor inputs[2], out;
    assert_int_equal(
        leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(c->slices, c->values), &inputs[0], &err), LEAT_OK);
    assert_int_equal(leat_tensor_new(LEAT_INT32, LEAT_SHAPE(c->slices), &inputs[1], &err), LEAT_OK);
    fill(&inputs[0], &inputs[1], c, sorted);
    sprintf(name, "%ssegment_%s", sorted ? "" : "unsorted_", kinds[kind]);
    sprintf(attributes, sorted ? "{}" : "{\"num_segments\": %d}", (int)c->segments);
    kernels_case of = {name, attributes, 2};
    kernels_run_everywhere(&of, inputs, &out);
    for (int64_t i = 0, count = leat_tensor_count(&out); i < count; i += 1 + count / 500) {
        double wanted =
            value_of(kind, sorted, &inputs[0], &inputs[1], i / c->values, i % c->values);
        double found = test_value(&out, i);
        if (found != wanted && !(isnan(found) && isnan(wanted)))
            fail_msg("%s: value %lld is %.9g, not %.9g", name, (long long)i, found, wanted);
    }
    leat_tensor_unref(&out);
    leat_tensor_unref(&inputs[1]);
    leat_tensor_unref(&inputs[0]);
}

static void test_segments(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int kind = 0; kind < NUM_KINDS; kind++) {
            check(&cases[k], kind, true);
            if (kind != MEAN) /* there is no such operation */
                check(&cases[k], kind, false);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
