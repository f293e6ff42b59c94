/* Results of a parallel map that go straight into batches: the same outcomes as one after the
 * other, also where rows fail and batches shift, and no memory for single rows. */
#include "support/cmocka.h"

#include <leat/data.h>
#include <leat/data_ops.h>
#include <leat/ops.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 2048, ROW_BYTES = VALUES * 8, BATCH = 8 };

/* ---- an allocator that counts allocations of about a row ---- */

static atomic_long row_allocations;

static void *count_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    void *memory = NULL;
    if (size >= ROW_BYTES && size < 2 * ROW_BYTES)
        atomic_fetch_add(&row_allocations, 1);
    return posix_memalign(&memory, alignment < 16 ? 16 : alignment, size) == 0 ? memory : NULL;
}

static void *count_resize(void *context, void *memory, size_t size) {
    (void)context;
    return realloc(memory, size);
}

static void count_release(void *context, void *memory) {
    (void)context;
    free(memory);
}

/* ---- the dataset ---- */

struct setting {
    int64_t n, parallel, faults; /* every `faults`-th row fails; 0: none */
    bool any_order;
};

static leat_value whole(leat_graph *graph, int64_t value) {
    leat_tensor tensor = leat_scalar_int64(value);
    leat_value made = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return made;
}

/* x to the row [x, x + 1, ...] and x itself. */
static int trace_row(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct setting *s = context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_tensor steps = {0};
    int64_t *values = malloc(ROW_BYTES);
    assert_non_null(values);
    for (int64_t i = 0; i < VALUES; i++)
        values[i] = i;
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(VALUES), values, &steps, NULL),
                     LEAT_OK);
    leat_value row = leat_op_add(leat_graph_tensor(graph, &steps), x);
    leat_tensor_unref(&steps);
    free(values);
    if (s->faults > 0) {
        leat_value one = whole(graph, 1);
        leat_value bad = leat_op_add(leat_op_floormod(x, whole(graph, s->faults)), whole(graph, 0));
        leat_value nothing =
            leat_op_subtract(leat_op_floordiv(one, bad), leat_op_floordiv(one, bad));
        row = leat_op_add(row, nothing);
    }
    outputs[0] = row;
    outputs[1] = x;
    return 2;
}

static leat_iterator *open_iterator(const struct setting *s) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, s->n, 1, NULL, &err);
    leat_dataset_map_options options = {
        LEAT_DATASET_MAP_DEFAULTS,
        .num_parallel_calls = s->parallel == 0 ? LEAT_UNSET : s->parallel,
        .deterministic = s->any_order ? LEAT_CHOICE_FALSE : LEAT_CHOICE_DEFAULT};
    leat_function *function =
        LEAT_TRACE(trace_row, (void *)(uintptr_t)s, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(dataset, function, &options, &err);
    dataset = leat_dataset_batch(dataset, BATCH, NULL, &err);
    leat_iterator_options threads = {LEAT_ITERATOR_DEFAULTS, .num_threads = 4};
    leat_iterator *iterator = leat_iterator_new(dataset, &threads, &err);
    if (iterator == NULL)
        fail_msg("%s", err.text);
    leat_dataset_unref(dataset);
    return iterator;
}

/* The next outcome of both; false at the end. */
static bool compare_next(leat_iterator *one, leat_iterator *other) {
    leat_element elements[2] = {{0}};
    leat_error errors[2] = {{0}};
    leat_status status[2] = {leat_iterator_next(one, &elements[0], &errors[0]),
                             leat_iterator_next(other, &elements[1], &errors[1])};
    assert_int_equal(status[0], status[1]);
    for (int i = 0; i < 2 && status[0] == LEAT_OK; i++) {
        const leat_tensor *a = &elements[0].tensors[i], *b = &elements[1].tensors[i];
        assert_int_equal(leat_tensor_count(a), leat_tensor_count(b));
        assert_memory_equal(a->data, b->data, (size_t)leat_tensor_count(a) * 8);
    }
    leat_element_fini(&elements[0]);
    leat_element_fini(&elements[1]);
    return status[0] != LEAT_OUT_OF_RANGE;
}

static void test_same_outcomes(void **state) {
    (void)state;
    static const int64_t faults[] = {0, 3, 8, 11};
    for (int f = 0; f < 4; f++)
        for (int64_t parallel = 1; parallel <= 8; parallel *= 2) {
            struct setting one = {.n = 93, .faults = faults[f]}, other = one;
            other.parallel = parallel;
            leat_iterator *sequential = open_iterator(&one), *ring = open_iterator(&other);
            while (compare_next(sequential, ring)) {
            }
            leat_iterator_free(sequential);
            leat_iterator_free(ring);
        }
}

/* Batches that are kept, and dropped late, do not change when others are made. */
static void test_kept_batches(void **state) {
    (void)state;
    struct setting s = {.n = 20 * BATCH, .parallel = 4};
    leat_iterator *iterator = open_iterator(&s);
    leat_element kept[20] = {{0}};
    leat_error err = {0};
    for (int i = 0; i < 20; i++)
        assert_int_equal(leat_iterator_next(iterator, &kept[i], &err), LEAT_OK);
    leat_iterator_free(iterator);
    for (int i = 0; i < 20; i++) {
        const int64_t *rows = kept[i].tensors[0].data;
        for (int64_t k = 0; k < (int64_t)BATCH * VALUES; k++)
            assert_int_equal(rows[k], (int64_t)i * BATCH + k / VALUES + k % VALUES);
        leat_element_fini(&kept[i]);
    }
}

/* Rows are written where the batch lies: no memory is ever taken for one alone. */
static void test_no_memory_for_rows(void **state) {
    (void)state;
    const leat_allocator counting = {
        .alloc = count_alloc, .resize = count_resize, .release = count_release};
    leat_allocator_set(&counting);
    struct setting s = {.n = 40 * BATCH + 3, .parallel = 2};
    leat_iterator *iterator = open_iterator(&s);
    leat_element element = {0};
    leat_error err = {0};
    long before = atomic_load(&row_allocations);
    for (int i = 0; i < 41; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(element.tensors[0].dims[0], 3);
    assert_int_equal(atomic_load(&row_allocations), before);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_allocator_set(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_outcomes),
        cmocka_unit_test(test_kept_batches),
        cmocka_unit_test(test_no_memory_for_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
