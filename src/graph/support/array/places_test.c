/* Places of sparse values in order, under another shape and with empty rows filled, against a
 * search for each of them; of shapes up to those that an int64 does not count. The same on each
 * number of threads. */
#include "support/cmocka.h"

#include "support/graph.h"
#include "support/kernels.h"

typedef struct places_case {
    int64_t count, rank, shape[4];
    bool sorted;
} places_case;

static const places_case cases[] = {
    {0, 2, {3, 4}, true},
    {5, 1, {9}, false},
    {40, 2, {7, 5}, false},
    {40, 2, {7, 5}, true},
    {60000, 2, {1000, 70}, true},
    {60000, 2, {1000, 70}, false},
    {9000, 3, {11, 13, 17}, false},
    {3000, 2, {INT64_C(1) << 31, INT64_C(1) << 30}, false},
    {3000, 4, {3, INT64_C(1) << 20, 5, INT64_C(1) << 20}, false},
};

static int compare(const int64_t *a, const int64_t *b, int64_t rank) {
    for (int64_t d = 0; d < rank; d++)
        if (a[d] != b[d])
            return a[d] < b[d] ? -1 : 1;
    return 0;
}

/* Merges halves until all is in order: which place comes where. */
static void sort(const places_case *c, const int64_t *indices, int64_t *order, int64_t *room,
                 int64_t n) {
    if (n < 2)
        return;
    sort(c, indices, order, room, n / 2);
    sort(c, indices, order + n / 2, room, n - n / 2);
    for (int64_t i = 0, a = 0, b = n / 2; i < n; i++) {
        bool first = b == n || (a < n / 2 && compare(indices + order[a] * c->rank,
                                                     indices + order[b] * c->rank, c->rank) <= 0);
        room[i] = order[first ? a++ : b++];
    }
    memcpy(order, room, (size_t)n * sizeof *order);
}

static leat_tensor numbers(leat_shape shape) {
    leat_tensor tensor;
    leat_error err = {0};
    assert_int_equal(leat_tensor_new(LEAT_INT64, shape, &tensor, &err), LEAT_OK);
    return tensor;
}

static int64_t *values_of(const leat_tensor *tensor) {
    return tensor->data;
}

/* The order that the places should have, which the caller frees. */
static int64_t *draw(const places_case *c, leat_tensor *indices, leat_tensor *shape) {
    int64_t *order = malloc((size_t)(2 * c->count + 1) * sizeof *order);
    *indices = numbers(LEAT_SHAPE(c->count, c->rank));
    *shape = numbers(LEAT_SHAPE(c->rank));
    memcpy(shape->data, c->shape, (size_t)c->rank * sizeof *c->shape);
    for (int64_t i = 0; i < c->count * c->rank; i++)
        values_of(indices)[i] =
            ((int64_t)kernels_bits() << 20 ^ kernels_bits()) % c->shape[i % c->rank];
    for (int64_t i = 0; i < c->count; i++)
        order[i] = i;
    sort(c, values_of(indices), order, order + c->count, c->count);
    if (!c->sorted)
        return order;
    leat_tensor in_order = numbers(LEAT_SHAPE(c->count, c->rank));
    for (int64_t i = 0; i < c->count * c->rank; i++)
        values_of(&in_order)[i] = values_of(indices)[order[i / c->rank] * c->rank + i % c->rank];
    for (int64_t i = 0; i < c->count; i++)
        order[i] = i;
    leat_tensor_unref(indices);
    *indices = in_order;
    return order;
}

static void test_order(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        leat_tensor inputs[2], out[2];
        const places_case *c = &cases[k];
        int64_t *order = draw(c, &inputs[0], &inputs[1]);
        kernels_case of = {"sparse_order", "{}", 2};
        kernels_run_everywhere(&of, inputs, out);
        for (int64_t i = 0; i < c->count; i++) {
            assert_int_equal(values_of(&out[1])[i], order[i]);
            assert_int_equal(compare(values_of(&out[0]) + i * c->rank,
                                     values_of(&inputs[0]) + order[i] * c->rank, c->rank),
                             0);
        }
        free(order);
        for (int i = 0; i < 2; i++) {
            leat_tensor_unref(&out[i]);
            leat_tensor_unref(&inputs[i]);
        }
    }
}

static int64_t number_of(const int64_t *index, const int64_t *shape, int64_t rank) {
    int64_t number = 0;
    for (int64_t d = 0; d < rank; d++)
        number = number * shape[d] + index[d];
    return number;
}

/* Of a cuboid to one with the dimensions turned, and split. */
static void test_reshape(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const places_case *c = &cases[k];
        leat_tensor inputs[3], out;
        free(draw(c, &inputs[0], &inputs[1]));
        inputs[2] = numbers(LEAT_SHAPE(c->rank + 1));
        int64_t *to = values_of(&inputs[2]);
        for (int64_t d = 0; d < c->rank; d++)
            to[d + 1] = c->shape[c->rank - 1 - d];
        to[0] = 1;
        kernels_case of = {"sparse_reshape", "{}", 3};
        kernels_run_everywhere(&of, inputs, &out);
        for (int64_t i = 0; i < c->count; i++) {
            const int64_t *index = values_of(&out) + i * (c->rank + 1);
            for (int64_t d = 0; d <= c->rank; d++)
                assert_true(index[d] >= 0 && index[d] < to[d]);
            assert_int_equal(number_of(index, to, c->rank + 1),
                             number_of(values_of(&inputs[0]) + i * c->rank, c->shape, c->rank));
        }
        leat_tensor_unref(&out);
        for (int i = 0; i < 3; i++)
            leat_tensor_unref(&inputs[i]);
    }
}

static void test_fill(void **state) {
    (void)state;
    for (size_t k = 0; k < 7; k++) {
        const places_case *c = &cases[k];
        leat_tensor inputs[2], out[3];
        free(draw(c, &inputs[0], &inputs[1]));
        kernels_case of = {"sparse_fill_empty_rows", "{}", 2};
        kernels_run_everywhere(&of, inputs, out);
        int64_t at = 0, *from = values_of(&out[1]);
        for (int64_t row = 0; row < c->shape[0]; row++) {
            int64_t before = at;
            for (int64_t i = 0; i < c->count; i++)
                if (values_of(&inputs[0])[i * c->rank] == row)
                    assert_int_equal(from[at++], i);
            assert_int_equal(((const bool *)out[2].data)[row], at == before);
            if (at == before)
                assert_int_equal(from[at++], c->count);
        }
        assert_int_equal(at, out[1].dims[0]);
        for (int64_t i = 0, empty = -1; i < at; i++) {
            const int64_t *index = values_of(&out[0]) + i * c->rank;
            while (from[i] == c->count && !((const bool *)out[2].data)[++empty]) {
            }
            for (int64_t d = 0; d < c->rank; d++)
                assert_int_equal(index[d], from[i] < c->count
                                               ? values_of(&inputs[0])[from[i] * c->rank + d]
                                           : d == 0 ? empty
                                                    : 0);
        }
        for (int i = 0; i < 3; i++)
            leat_tensor_unref(&out[i]);
        leat_tensor_unref(&inputs[1]);
        leat_tensor_unref(&inputs[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_reshape),
                                       cmocka_unit_test(test_fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
