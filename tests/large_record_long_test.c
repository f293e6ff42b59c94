/* A record of more than 2^31 bytes, written and read through each codec that packs zeros well: it
 * is whole, and the allocator grants twice its size and some mebibytes. Takes 4.5 GiB at most. */
#include "support/cmocka.h"

#include "support/limited.h"
#include "support/scratch.h"
#include <leat/leat.h>

#define SIZE (((size_t)2 << 30) + 4096)
#define SPARE ((size_t)32 << 20)

static void test_large_record(void **state) {
    (void)state;
    leat_error err = {0};
    static const leat_compression compressions[] = {LEAT_COMPRESSION_GZIP, LEAT_COMPRESSION_ZSTD};
    const char *path = scratch_path("record");
    for (int i = 0; i < 2; i++) {
        leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                                .compression = compressions[i], .level = 1};
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, &options, &err);
        if (writer == NULL && err.code == LEAT_UNIMPLEMENTED)
            continue; /* left out of the build */
        char *data = calloc(1, SIZE);
        assert_non_null(data);
        memcpy(data + SIZE - 4, "last", 4);
        assert_int_equal(leat_tfrecord_writer_write(writer, data, SIZE, &err), LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_write(writer, "end", 3, &err), LEAT_OK);
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
        free(data);
        limited_memory(2 * SIZE + SPARE);
        leat_dataset_tf_record_options reading = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                                  .compression_type =
                                                      leat_compression_name(compressions[i])};
        leat_dataset *dataset = leat_dataset_tf_record(&path, 1, &reading, &err);
        dataset = leat_dataset_prefetch(leat_dataset_batch(dataset, 2, NULL, &err), 1, &err);
        leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
        leat_element element = {0};
        assert_non_null(iterator);
        if (leat_iterator_next(iterator, &element, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        const leat_string *records = element.tensors[0].data;
        assert_true(records[0].size == SIZE);
        assert_memory_equal(records[0].data + SIZE - 4, "last", 4);
        assert_true(records[1].size == 3);
        leat_element_fini(&element);
        leat_iterator_free(iterator);
        leat_dataset_unref(dataset);
        leat_allocator_set(NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_record)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
