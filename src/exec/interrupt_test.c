/* Operations that are stopped in their middle: whoever asks the thread says so at one of its looks
 * after the other. The call ends with CANCELLED, gives nothing, and the next one gives what it
 * always does. Looks come every millisecond of work; here the thread is asked at each. */
#include "support/cmocka.h"

#include "base/stop.h"
#include "core/tensor.h"
#include "support/asking.h"
#include <leat/leat.h>
#include <sched.h>
#include <string.h>

enum { LONG = 2200000 };

/* What an operation is called with: a float32 of numbers in [0, 1), strings of a digit, and another
 * of another shape if that is given. */
typedef struct kind {
    const char *operation, *attributes;
    leat_dtype dtype;
    leat_shape shapes[3];
    int num_inputs;
} kind;

#define ONE(...) .shapes = {LEAT_SHAPE(__VA_ARGS__)}, .num_inputs = 1
#define F LEAT_FLOAT32
#define S LEAT_STRING
static const kind kinds[] = {
    {"exp", NULL, F, ONE(600000)},
    {"lgamma", NULL, F, ONE(600000)},
    {"add", NULL, F, {LEAT_SHAPE(1100, 1), LEAT_SHAPE(1, 1000)}, 2},
    {"cast", "{\"dtype\": \"int32\"}", F, ONE(600000)},
    {"reduce_sum", NULL, F, ONE(LONG)},
    {"reduce_max", "{\"axis\": [0]}", F, ONE(1100, 1000)},
    {"cumsum", NULL, F, ONE(LONG)},
    {"eye", "{\"num_rows\": 1500}", F, {{0}}, 0},
    {"band_part", "{\"num_lower\": 3, \"num_upper\": -1}", F, ONE(1500, 1500)},
    {"histogram_fixed_width", NULL, F, {LEAT_SHAPE(LONG), LEAT_SHAPE(2)}, 2},
    {"diag", NULL, F, ONE(1500)},
    {"set_diag", NULL, F, {LEAT_SHAPE(3000, 1500), LEAT_SHAPE(1500)}, 2},
    {"unsorted_segment_sum",
     "{\"num_segments\": 300}",
     LEAT_INT32,
     {LEAT_SHAPE(LONG), LEAT_SHAPE(LONG)},
     2},
    {"tensor_scatter_nd_update",
     NULL,
     LEAT_INT32,
     {LEAT_SHAPE(300, 3), LEAT_SHAPE(600000, 1), LEAT_SHAPE(600000, 3)},
     3},
    {"sparse_softmax_cross_entropy_with_logits",
     NULL,
     F,
     {LEAT_SHAPE(5000), LEAT_SHAPE(5000, 300)},
     2},
    {"argmax", NULL, F, ONE(LONG)},
    {"softmax", NULL, F, ONE(1100000)},
    {"log_softmax", NULL, F, ONE(110, 10000)},
    {"matmul", NULL, F, {LEAT_SHAPE(110, 110), LEAT_SHAPE(110, 110)}, 2},
    {"matmul", "{\"transpose_b\": true}", F, {LEAT_SHAPE(110, 110), LEAT_SHAPE(110, 110)}, 2},
    {"matmul", NULL, F, {LEAT_SHAPE(2200, 8, 8), LEAT_SHAPE(2200, 8, 8)}, 2},
    {"einsum", "{\"equation\": \"ij,jk->ik\"}", F, {LEAT_SHAPE(700, 700), LEAT_SHAPE(700, 700)}, 2},
    {"einsum",
     "{\"equation\": \"ij,jk->ik\"}",
     LEAT_INT32,
     {LEAT_SHAPE(110, 110), LEAT_SHAPE(110, 110)},
     2},
    {"conv2d", NULL, F, {LEAT_SHAPE(1, 32, 32, 8), LEAT_SHAPE(5, 5, 8, 16)}, 2},
    {"max_pool2d", "{\"ksize\": [5, 5], \"strides\": [1, 1]}", F, ONE(1, 128, 128, 4)},
    {"avg_pool2d", "{\"ksize\": [5, 5], \"strides\": [1, 1]}", F, ONE(1, 128, 128, 4)},
    {"sort", NULL, F, ONE(200000)},
    {"argsort", NULL, F, ONE(2000, 100)},
    {"top_k", "{\"k\": 3}", F, ONE(3000000)},
    {"transpose", NULL, F, ONE(1100, 1000)},
    {"broadcast_to", "{\"shape\": [1100, 1000]}", F, ONE(1100, 1)},
    {"tile", "{\"multiples\": [1100]}", F, ONE(2000)},
    {"unique", NULL, F, ONE(100000)},
    {"stateless_shuffle", NULL, LEAT_INT64, {LEAT_SHAPE(1300000), LEAT_SHAPE(2)}, 2},
    {"regex_replace", "{\"pattern\": \"[0-4]\", \"rewrite\": \"x\"}", S, ONE(5000)},
    {"regex_full_match", "{\"pattern\": \"[0-4]\"}", S, ONE(5000)},
    {"string_split", NULL, S, ONE(70000)},
    {"string_bytes_split", NULL, S, ONE(1100000)},
    {"string_to_number", NULL, S, ONE(2000)},
    {"string_strip", NULL, S, ONE(2000)},
    {"string_length", NULL, S, ONE(2000)},
    {"string_lower", NULL, S, ONE(2000)},
    {"string_to_hash_bucket_fast", "{\"num_buckets\": 9}", S, ONE(2000)},
    {"decode_raw", "{\"out_type\": \"uint8\"}", S, ONE(1100000)},
    {"svd", NULL, F, ONE(70, 70)},
    {"self_adjoint_eig", NULL, F, ONE(110, 110)},
    {"qr", NULL, F, ONE(110, 110)},
    {"matrix_determinant", NULL, F, ONE(500, 3, 3)},
    {"stateless_uniform", "{\"shape\": [300000]}", LEAT_INT64, ONE(2)},
    {"stateless_normal", "{\"shape\": [300000]}", LEAT_INT64, ONE(2)},
    {"stateless_integers", "{\"shape\": [1200000]}", LEAT_INT64, ONE(2)},
    {"stateless_truncated_normal", "{\"shape\": [300000]}", LEAT_INT64, ONE(2)},
    {"encode_png", NULL, LEAT_UINT8, ONE(300, 300, 3)},
    {"encode_jpeg", NULL, LEAT_UINT8, ONE(300, 300, 3)},
    {"resize", "{\"size\": [400, 500]}", F, ONE(300, 300, 3)},
    {"resize", "{\"size\": [400, 500], \"method\": \"bicubic\"}", F, ONE(300, 300, 3)},
    {"resize", "{\"size\": [1100, 1000], \"method\": \"nearest\"}", F, ONE(300, 300, 3)},
};

static leat_tensor numbers(leat_dtype dtype, leat_shape shape, uint32_t seed) {
    leat_tensor tensor;
    assert_int_equal(leat_tensor_new(dtype, shape, &tensor, NULL), LEAT_OK);
    for (int64_t i = 0; i < leat_tensor_count(&tensor); i++) {
        seed = seed * 1664525U + 1013904223U;
        switch (dtype) {
        case LEAT_FLOAT32: ((float *)tensor.data)[i] = (float)(seed >> 8) * 0x1p-24F; break;
        case LEAT_INT32: ((int32_t *)tensor.data)[i] = (int32_t)(seed >> 24); break;
        case LEAT_INT64: ((int64_t *)tensor.data)[i] = seed >> 24; break;
        case LEAT_STRING:
            ((leat_string *)tensor.data)[i] = (leat_string){&"0123456789"[(seed >> 24) % 10], 1};
            break;
        default: ((uint8_t *)tensor.data)[i] = (uint8_t)(seed >> 24);
        }
    }
    return tensor;
}

/* The first output; {0} where the call failed with `err`. */
static leat_tensor compute(const kind *k, const leat_tensor *inputs, leat_error *err) {
    leat_graph *graph = leat_graph_new_eager(NULL);
    leat_value values[3], outputs[LEAT_MAX_OUTPUTS];
    leat_tensor result = {0};
    for (int i = 0; i < k->num_inputs; i++)
        values[i] = leat_graph_tensor(graph, &inputs[i]);
    int made = leat_graph_call(graph, k->operation, k->attributes, values, k->num_inputs, outputs,
                               LEAT_MAX_OUTPUTS);
    if (made < 0)
        (void)leat_graph_take_error(graph, err);
    else
        assert_int_equal(leat_value_tensor(outputs[0], &result, err), LEAT_OK);
    leat_graph_free(graph);
    return result;
}

static bool same(const leat_tensor *a, const leat_tensor *b) {
    if (a->dtype == LEAT_STRING) {
        const leat_string *x = a->data, *y = b->data;
        return x->size == y->size && memcmp(x->data, y->data, x->size) == 0;
    }
    return leat_tensor_count(a) == leat_tensor_count(b) &&
           memcmp(a->data, b->data,
                  (size_t)leat_tensor_count(a) * leat_dtype_size((leat_dtype)a->dtype)) == 0;
}

/* Labels are no floats. */
static leat_dtype dtype_of(const kind *k, int input) {
    return input == 0 && strncmp(k->operation, "sparse_", 7) == 0 ? LEAT_INT32 : k->dtype;
}

static void check(const kind *k) {
    asking a = {0};
    leat_error err = {0};
    leat_tensor inputs[3];
    for (int i = 0; i < k->num_inputs; i++)
        inputs[i] = numbers(dtype_of(k, i), k->shapes[i], (uint32_t)i + 1);
    leat_tensor whole = compute(k, inputs, &err);
    if (whole.dtype == 0)
        fail_msg("%s: %s", k->operation, err.text);
    leat_interrupt_set(ask, &a);
    leati_stop_ask_always(true);
    leat_tensor watched = compute(k, inputs, &err);
    int64_t looks = a.asks;
    if (looks < 1)
        fail_msg("%s does not look whether to stop", k->operation);
    if (!same(&whole, &watched))
        fail_msg("%s gives something else when it is watched", k->operation);
    const int64_t places[] = {1, looks / 2 + 1, looks};
    for (int i = 0; i < 3; i++) {
        a = (asking){.last = places[i]};
        leat_tensor none = compute(k, inputs, &err);
        if (none.dtype != 0 || err.code != LEAT_CANCELLED)
            fail_msg("%s, stopped at look %lld of %lld: %s", k->operation, (long long)places[i],
                     (long long)looks, leat_status_name(err.code));
    }
    leat_interrupt_set(NULL, NULL);
    leati_stop_ask_always(false);
    leat_tensor again = compute(k, inputs, &err);
    assert_true(same(&whole, &again));
    leat_tensor_unref(&whole);
    leat_tensor_unref(&watched);
    leat_tensor_unref(&again);
    for (int i = 0; i < k->num_inputs; i++)
        leat_tensor_unref(&inputs[i]);
}

static void test_operations(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check(&kinds[i]);
}

int main(void) {
    /* One thread looks equally often each time. */
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
