/* Memory over 50 epochs: a pipeline that runs long holds no more than one that runs a while.
 *
 * The pictures of the digits are read, parsed, decoded in parallel, shuffled, batched and
 * prefetched, 50 times: by one iterator that repeats, by an iterator for each epoch, and through a
 * cache. An allocator that counts says what is held at most up to the fifth epoch and up to the
 * last; how far threads run ahead differs from run to run, so two mebibytes more are allowed,
 * 32 bytes for each element that comes after. What the kernel says of the whole process is checked,
 * too, since libraries bring their own memory. */
#include "support/cmocka.h"

#include <leat/leat.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCHS = 50, WARM = 5, BATCH = 32, ELEMENTS = 1437 };

static atomic_llong held, most;

static void count(long long bytes) {
    long long now = atomic_fetch_add(&held, bytes) + bytes, before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
}

static void *count_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    count((long long)malloc_usable_size(memory));
    return memory;
}

static void *count_resize(void *context, void *memory, size_t size) {
    (void)context;
    long long before = memory == NULL ? 0 : (long long)malloc_usable_size(memory);
    void *resized = realloc(memory, size);
    if (resized != NULL)
        count((long long)malloc_usable_size(resized) - before);
    return resized;
}

static void count_release(void *context, void *memory) {
    (void)context;
    count(memory == NULL ? 0 : -(long long)malloc_usable_size(memory));
    free(memory);
}

/* KiB that the process has at most had in memory. */
static long resident_peak(void) {
    char line[256];
    long peak = -1;
    FILE *file = fopen("/proc/self/status", "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtol(line + 6, NULL, 10);
    fclose(file);
    assert_true(peak > 0);
    return peak;
}

static int trace_decode(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_error err = {0};
    leat_shape scalar = LEAT_SCALAR;
    leat_spec *parts[] = {leat_spec_tensor(LEAT_STRING, scalar, &err),
                          leat_spec_tensor(LEAT_INT64, scalar, &err)};
    leat_spec *features =
        leat_spec_dict((const char *const[]){"image/encoded", "label"}, parts, 2, &err);
    leat_value parsed[2];
    assert_int_equal(
        leat_op_parse_example(leat_graph_argument(graph, 0), features, NULL, parsed, 2), 2);
    leat_spec_unref(features);
    outputs[0] = leat_op_cast(leat_op_decode_png(parsed[0], 1, LEAT_UINT8), LEAT_FLOAT32);
    outputs[1] = parsed[1];
    return 2;
}

static leat_dataset *pipeline(bool cached, int64_t epochs) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_tf_record(
        (const char *const[]){"data/digits/digits-train.tfrecord"}, 1, NULL, &err);
    leat_function *decode = LEAT_TRACE(trace_decode, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(
        dataset, decode,
        &(leat_dataset_map_options){LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = LEAT_AUTOTUNE},
        &err);
    dataset = cached ? leat_dataset_cache(dataset, &err) : dataset;
    dataset = leat_dataset_shuffle(dataset, 500, NULL, &err);
    dataset = epochs > 1 ? leat_dataset_repeat(dataset, epochs, &err) : dataset;
    dataset =
        leat_dataset_prefetch(leat_dataset_batch(dataset, BATCH, NULL, &err), LEAT_AUTOTUNE, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

struct peaks {
    long long held[2]; /* up to the fifth epoch, up to the last */
    long resident[2];
};

static void mark(struct peaks *peaks, int64_t elements) {
    int which = elements >= (int64_t)WARM * ELEMENTS;
    peaks->held[which] = atomic_load(&most);
    peaks->resident[which] = resident_peak();
}

static int64_t run(leat_dataset *dataset, int64_t before, struct peaks *peaks) {
    leat_error err = {0};
    leat_element batch = {0};
    leat_status status;
    int64_t elements = before;
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(iterator);
    while ((status = leat_iterator_next(iterator, &batch, &err)) == LEAT_OK) {
        elements += leat_tensor_shape(&batch.tensors[0]).dims[0];
        mark(peaks, elements);
    }
    assert_int_equal(status, LEAT_OUT_OF_RANGE);
    leat_element_fini(&batch);
    leat_iterator_free(iterator);
    return elements;
}

static void check(bool cached, bool repeated) {
    struct peaks peaks = {0};
    long long start = atomic_load(&held);
    atomic_store(&most, start);
    leat_dataset *dataset = pipeline(cached, repeated ? EPOCHS : 1);
    int64_t elements = 0;
    for (int epoch = 0; epoch < (repeated ? 1 : EPOCHS); epoch++)
        elements = run(dataset, elements, &peaks);
    leat_dataset_unref(dataset);
    assert_int_equal(elements, (int64_t)EPOCHS * ELEMENTS);
    print_message("%s, %s: %.2f then %.2f MB held, %.1f then %.1f MB resident\n",
                  cached ? "cached" : "read", repeated ? "repeated" : "anew",
                  (double)peaks.held[0] / 1e6, (double)peaks.held[1] / 1e6,
                  (double)peaks.resident[0] / 1e3, (double)peaks.resident[1] / 1e3);
    assert_true(peaks.held[1] <= peaks.held[0] + (2 << 20));
    assert_true(peaks.resident[1] <= peaks.resident[0] + peaks.resident[0] / 10);
}

static void read_repeated(void **state) {
    (void)state;
    check(false, true);
}

static void read_anew(void **state) {
    (void)state;
    check(false, false);
}

static void cached_repeated(void **state) {
    (void)state;
    check(true, true);
}

static void cached_anew(void **state) {
    (void)state;
    check(true, false);
}

int main(void) {
    static const leat_allocator counting = {NULL, count_alloc, count_resize, count_release};
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_repeated), cmocka_unit_test(read_anew),
                                       cmocka_unit_test(cached_repeated),
                                       cmocka_unit_test(cached_anew)};
    leat_allocator_set(&counting);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
