/* tf_record_dataset over files written here. What damaged and missing files give is TensorFlow's
 * answer, as recorded over files of the same kinds. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/file.h>

/* ---- files ---- */

static void write_records(const char *name, const char *prefix, int count, size_t padding,
                          leat_compression compression) {
    leat_error err = {0};
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = compression};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(scratch_path(name), &options, &err);
    char *record = calloc(1, padding + 64);
    assert_non_null(writer);
    assert_non_null(record);
    for (int i = 0; i < count; i++) {
        int n = snprintf(record, 64, "%s%d", prefix, i);
        memset(record + n, '.', padding);
        assert_int_equal(leat_tfrecord_writer_write(writer, record, (size_t)n + padding, &err),
                         LEAT_OK);
    }
    free(record);
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
}

/* Damages the byte at `at` (from the end where negative), or cuts the file there. */
static void damage(const char *name, long at, bool cut) {
    size_t size = 0;
    const char *path = scratch_path(name);
    uint8_t *data = scratch_read(path, &size);
    size_t where = at < 0 ? size - (size_t)-at : (size_t)at;
    data[where] ^= cut ? 0 : 1;
    scratch_write(name, data, cut ? where : size);
    free(data);
}

/* a: 4 records, b: 2, c: 3 of which number 1 is bad, cut: 3 of which the last is cut, junk: no
 * records, gz: 5, empty: none. Records "a0" take 18 bytes. */
static int files_setup(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    write_records("a", "a", 4, 0, LEAT_COMPRESSION_NONE);
    write_records("b", "b", 2, 0, LEAT_COMPRESSION_NONE);
    write_records("c", "c", 3, 0, LEAT_COMPRESSION_NONE);
    damage("c", 18 + 13, false);
    write_records("cut", "d", 3, 0, LEAT_COMPRESSION_NONE);
    damage("cut", -3, true);
    write_records("gz", "g", 5, 1000, LEAT_COMPRESSION_GZIP);
    write_records("empty", "", 0, 0, LEAT_COMPRESSION_NONE);
    scratch_write("junk", "this is no record file at all", 29);
    torture_begin();
    return 0;
}

static int files_teardown(void **state) {
    torture_end();
    return scratch_teardown(state);
}

struct reading {
    const char *names; /* separated by blanks */
    leat_dataset_tf_record_options options;
    bool from_dataset, name_errors;
    int64_t skip, num_shards, index;
};

/* The names as a dataset: they cost an element each. */
static leat_dataset *dataset_of_names(const char *const *names, int count, bool errors,
                                      leat_error *err) {
    leat_string strings[8];
    leat_tensor tensor = {0};
    leat_element element = {0};
    leat_dataset *dataset = NULL;
    for (int i = 0; i < count; i++)
        strings[i] = (leat_string){names[i], strlen(names[i])};
    leat_spec *spec = leat_spec_tensor(LEAT_STRING, LEAT_SHAPE(count), err);
    if (spec != NULL &&
        leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(count), strings, &tensor, err) == LEAT_OK &&
        leat_element_set(&element, spec, &tensor, err) == LEAT_OK)
        dataset = leat_dataset_from_tensor_slices(&element, err);
    leat_element_fini(&element);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    return errors ? dataset_faults(dataset, 3, 1, err) : dataset;
}

static leat_dataset *read_files(void *context, leat_error *err) {
    const struct reading *r = context;
    char paths[8][1024];
    const char *names[8];
    int count = 0;
    for (const char *at = r->names; *at != 0 && count < 8; count++) {
        size_t n = strcspn(at, " ");
        snprintf(paths[count], sizeof(paths[0]), "%s/%.*s", scratch_folder, (int)n, at);
        names[count] = paths[count];
        at += n + (at[n] == ' ');
    }
    const leat_dataset_tf_record_options *options = r->options.size == 0 ? NULL : &r->options;
    leat_dataset *dataset =
        r->from_dataset ? leat_dataset_tf_record_of(
                              dataset_of_names(names, count, r->name_errors, err), options, err)
                        : leat_dataset_tf_record(names, count, options, err);
    dataset = r->skip > 0 ? leat_dataset_skip(dataset, r->skip, err) : dataset;
    return r->num_shards > 0 ? leat_dataset_shard(dataset, r->num_shards, r->index, err) : dataset;
}

/* ---- reading ---- */

static void test_files_in_order(void **state) {
    (void)state;
    dataset_check(read_files, &(struct reading){.names = ""}, "");
    dataset_check(read_files, &(struct reading){.names = "empty"}, "");
    dataset_check(read_files, &(struct reading){.names = "a"}, "\"a0\" \"a1\" \"a2\" \"a3\"");
    dataset_check(read_files, &(struct reading){.names = "b empty a b"},
                  "\"b0\" \"b1\" \"a0\" \"a1\" \"a2\" \"a3\" \"b0\" \"b1\"");
    dataset_check(read_files, &(struct reading){.names = "b empty a", .from_dataset = true},
                  "\"b0\" \"b1\" \"a0\" \"a1\" \"a2\" \"a3\"");
    dataset_check(read_files,
                  &(struct reading){.names = "b a b", .from_dataset = true, .name_errors = true},
                  "\"b0\" \"b1\" !INVALID_ARGUMENT \"b0\" \"b1\"");
}

static void test_compressed(void **state) {
    (void)state;
    struct reading r = {.names = "gz",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .compression_type = "GZIP"}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    char *text = dataset_text(dataset, NULL, -1);
    assert_int_equal(strlen(text), 5 * 1004 + 4);
    assert_int_equal(strncmp(text, "\"g0....", 7), 0);
    free(text);
    leat_dataset_unref(dataset);
    dataset_check(read_files, &r, NULL);
}

/* Damage costs the rest of its file and is reported once. */
static void test_damaged_files(void **state) {
    (void)state;
    dataset_check(read_files, &(struct reading){.names = "c"}, "\"c0\" !DATA_LOSS");
    dataset_check(read_files, &(struct reading){.names = "c b"}, "\"c0\" !DATA_LOSS \"b0\" \"b1\"");
    dataset_check(read_files, &(struct reading){.names = "cut junk b"},
                  "\"d0\" \"d1\" !DATA_LOSS !DATA_LOSS \"b0\" \"b1\"");
    leat_dataset *dataset = dataset_made(read_files, &(struct reading){.names = "c"});
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "2");
    assert_string_equal(err.op, "tf_record_dataset");
    assert_int_equal(err.element, 1);
    assert_string_equal(err.file, scratch_path("c"));
    assert_int_equal(err.byte, 18);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* A missing file is its error at every call, and what follows is not reached. */
static void test_missing_file(void **state) {
    (void)state;
    dataset_check_most(read_files, &(struct reading){.names = "b missing a"}, 5,
                       "\"b0\" \"b1\" !NOT_FOUND !NOT_FOUND !NOT_FOUND");
    dataset_check_most(
        read_files,
        &(struct reading){.names = "missing a",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}},
        5, "!NOT_FOUND \"a0\" !NOT_FOUND \"a1\" !NOT_FOUND");
}

/* skip and shard do not look at the data of what they pass. */
static void test_skipped_damage(void **state) {
    (void)state;
    dataset_check(read_files, &(struct reading){.names = "c", .skip = 2}, "\"c2\"");
    dataset_check(read_files, &(struct reading){.names = "c b", .skip = 4}, "\"b1\"");
    dataset_check(read_files, &(struct reading){.names = "c b", .num_shards = 2, .index = 0},
                  "\"c0\" \"c2\" \"b1\"");
    dataset_check(read_files, &(struct reading){.names = "c b", .num_shards = 2, .index = 1},
                  "!DATA_LOSS \"b0\"");
    dataset_check(read_files, &(struct reading){.names = "junk b", .skip = 1}, "!DATA_LOSS \"b1\"");
    /* Files read in turns are skipped by reading. */
    dataset_check(
        read_files,
        &(struct reading){.names = "c b",
                          .skip = 3,
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}},
        "!DATA_LOSS");
}

/* The order of TensorFlow's legacy parallel interleave: a file that ended gives its place to the
 * next one, and its turn to its neighbour. */
static void test_files_in_turns(void **state) {
    (void)state;
    dataset_check(
        read_files,
        &(struct reading){.names = "a b a",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 1}},
        "\"a0\" \"a1\" \"a2\" \"a3\" \"b0\" \"b1\" \"a0\" \"a1\" \"a2\" \"a3\"");
    dataset_check(
        read_files,
        &(struct reading){.names = "a b a",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}},
        "\"a0\" \"b0\" \"a1\" \"b1\" \"a2\" \"a3\" \"a0\" \"a1\" \"a2\" \"a3\"");
    dataset_check(
        read_files,
        &(struct reading){.names = "a b a",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 3}},
        "\"a0\" \"b0\" \"a0\" \"a1\" \"b1\" \"a1\" \"a2\" \"a2\" \"a3\" \"a3\"");
    dataset_check(
        read_files,
        &(struct reading){.names = "a c",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}},
        "\"a0\" \"c0\" \"a1\" !DATA_LOSS \"a2\" \"a3\"");
    dataset_check(
        read_files,
        &(struct reading){.names = "a empty b a",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 9},
                          .from_dataset = true},
        "\"a0\" \"b0\" \"a0\" \"a1\" \"b1\" \"a1\" \"a2\" \"a2\" \"a3\" \"a3\"");
}

/* AUTOTUNE is a third of the cores, rounded up, and stays so in a written plan; the order is
 * that of the number. */
static void test_turns_of_cores(void **state) {
    (void)state;
    static const char *const expected[] = {
        "\"a0\" \"a1\" \"a2\" \"a3\" \"b0\" \"b1\" \"a0\" \"a1\" \"a2\" \"a3\"",
        "\"a0\" \"b0\" \"a1\" \"b1\" \"a2\" \"a3\" \"a0\" \"a1\" \"a2\" \"a3\"",
        "\"a0\" \"b0\" \"a0\" \"a1\" \"b1\" \"a1\" \"a2\" \"a2\" \"a3\" \"a3\""};
    int reads = (leati_pool_num_cores() + 2) / 3;
    struct reading r = {
        .names = "a b a",
        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = LEAT_AUTOTUNE}};
    leat_error err = {0};
    for (int from_dataset = 0; from_dataset < 2; from_dataset++) {
        r.from_dataset = from_dataset == 1;
        dataset_check(read_files, &r, expected[reads < 3 ? reads - 1 : 2]);
        leat_dataset *dataset = dataset_made(read_files, &r);
        char *text = leat_dataset_to_json(dataset, &err);
        char number[64];
        snprintf(number, sizeof(number), "\"num_parallel_reads\": %d", reads);
        assert_non_null(text);
        assert_non_null(strstr(text, number));
        leat_text_free(text);
        leat_dataset_unref(dataset);
    }
}

static leat_dataset *shuffled_batches(void *context, leat_error *err) {
    leat_dataset *dataset = leat_dataset_repeat(read_files(context, err), 2, err);
    dataset = leat_dataset_shuffle(
        dataset, 5,
        &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(2)}, err);
    return leat_dataset_batch(dataset, 3, NULL, err);
}

static void test_composed(void **state) {
    (void)state;
    struct reading r = {.names = "a c b"};
    dataset_check(shuffled_batches, &r, NULL);
    struct reading of_names = {
        .names = "b a",
        .from_dataset = true,
        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}};
    struct dataset_wanting plan = {read_files, &of_names, 0};
    leat_dataset *dataset = dataset_made(dataset_through_json, &plan);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "\"b0\" \"a0\" \"b1\" \"a1\" \"a2\" \"a3\"");
    free(text);
    leat_dataset_unref(dataset);
}

/* ---- blocks ---- */

/* Many records that do not fit one chunk, some larger than a chunk. */
static void test_many_records(void **state) {
    (void)state;
    write_records("many", "m", 3000, 0, LEAT_COMPRESSION_NONE);
    write_records("large", "l", 3, 20000, LEAT_COMPRESSION_NONE);
    struct reading r = {.names = "many large many",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .buffer_size = 4096}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    leat_iterator *iterator = dataset_iterate(dataset, NULL);
    leat_element element = {0};
    leat_error err = {0};
    for (int i = 0; i < 6003; i++) {
        char expected[32];
        bool large = i >= 3000 && i < 3003;
        snprintf(expected, sizeof(expected), "%c%d", large ? 'l' : 'm',
                 i < 3003 ? i % 3000 : i - 3003);
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        const leat_string *record = element.tensors[0].data;
        assert_int_equal(record->size, strlen(expected) + (large ? 20000 : 0));
        assert_memory_equal(record->data, expected, strlen(expected));
    }
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* Takes `count` elements from number `from` on: x and y by turns while y, 2,000 long, lasts, then
 * x, 3,000 long. */
static void expect_turns(leat_iterator *iterator, int from, int count) {
    leat_element element = {0};
    leat_error err = {0};
    for (int i = from; i < from + count && i < 5000; i++) {
        char expected[32];
        bool turns = i < 4000;
        snprintf(expected, sizeof(expected), "%c%d", turns && i % 2 == 1 ? 'y' : 'x',
                 turns ? i / 2 : i - 2000);
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        const leat_string *record = element.tensors[0].data;
        assert_int_equal(record->size, strlen(expected) + 100);
        assert_memory_equal(record->data, expected, strlen(expected));
    }
    if (from + count > 5000)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
}

/* Files in turns are read ahead in blocks; a state holds where in a block its reader stands. */
static void test_read_ahead(void **state) {
    (void)state;
    write_records("x", "x", 3000, 100, LEAT_COMPRESSION_NONE);
    write_records("y", "y", 2000, 100, LEAT_COMPRESSION_NONE);
    struct reading r = {.names = "x y",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    static const int places[] = {0, 1, 2, 1999, 2047, 2048, 2049, 3999, 4001, 4999, 5000};
    for (int threads = 1; threads <= 4; threads += 3) {
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .num_threads = threads};
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            leat_iterator *iterator = dataset_iterate(dataset, &options);
            leat_error err = {0};
            char *data = NULL;
            size_t size = 0;
            expect_turns(iterator, 0, places[p]);
            assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
            assert_in_range(size, 1, 4096);
            leat_iterator_free(iterator);
            iterator = dataset_iterate(dataset, &options);
            assert_int_equal(leat_iterator_restore(iterator, data, size, &err), LEAT_OK);
            leati_free(data);
            expect_turns(iterator, places[p], p % 2 == 0 ? 5001 : 100);
            leat_iterator_free(iterator);
        }
    }
    leat_dataset_unref(dataset);
}

/* The next record of the iterator is number `i` of the file whose records begin with `letter`. */
static void expect_record(leat_iterator *iterator, char letter, int i) {
    leat_element element = {0};
    leat_error err = {0};
    char expected[32];
    snprintf(expected, sizeof(expected), "%c%d.", letter, i);
    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    const leat_string *record = element.tensors[0].data;
    assert_memory_equal(record->data, expected, strlen(expected));
    leat_element_fini(&element);
}

/* Many blocks are read ahead, up to a bad record: it is one error in its turn, and costs the rest
 * of its file. Whoever leaves while blocks are read has to wait for that alone. */
static void test_damage_read_ahead(void **state) {
    (void)state;
    enum { GOOD = 12000, BAD = 7000 };
    const char *letters = "pqr";
    write_records("p", "p", GOOD, 100, LEAT_COMPRESSION_NONE);
    write_records("q", "q", 9000, 100, LEAT_COMPRESSION_NONE);
    write_records("r", "r", GOOD, 100, LEAT_COMPRESSION_NONE);
    /* Records 0 to 6999 have 26,890 digits and 117 other bytes each. */
    damage("q", 26890 + BAD * 117L + 13, false);
    struct reading r = {.names = "p q r",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 3}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    for (int threads = 1; threads <= 4; threads++) {
        leat_iterator *iterator = dataset_iterate(
            dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = threads});
        leat_element element = {0};
        leat_error err = {0};
        for (int i = 0; i < GOOD; i++) {
            for (int file = 0; file < 3; file++)
                if (file == 1 && i == BAD)
                    assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_DATA_LOSS);
                else if (file != 1 || i < BAD)
                    expect_record(iterator, letters[file], i);
        }
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OUT_OF_RANGE);
        leat_iterator_free(iterator);
        iterator = dataset_iterate(
            dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = threads});
        expect_record(iterator, 'p', 0);
        leat_iterator_free(iterator);
        leat_element_fini(&element);
    }
    leat_dataset_unref(dataset);
}

/* What is read ahead of both files is the node's memory: four blocks of 256 KiB each, until the
 * file has ended. */
static void test_memory_of_read_ahead(void **state) {
    (void)state;
    write_records("x", "x", 6000, 100, LEAT_COMPRESSION_NONE);
    write_records("y", "y", 6000, 100, LEAT_COMPRESSION_NONE);
    struct reading r = {.names = "x y",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    leati_iteration iteration = {0};
    leat_error err = {0};
    iteration.budget = leati_budget_new(0, 2, &err);
    iteration.pool = leati_pool_new(2, &err);
    leati_node_state top = {.dataset = dataset, .iteration = &iteration};
    leati_node_state *node = leati_state_node_open(dataset, &iteration, &top, &err);
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    assert_non_null(node);
    assert_int_equal(leati_state_node_pull(node, 1, &block, &err), LEATI_MORE);
    assert_int_equal(leati_budget_used(iteration.budget), 4 * (256 << 10));
    assert_int_equal(leati_state_node_pull(node, 1, &block, &err), LEATI_MORE);
    assert_int_equal(leati_budget_used(iteration.budget), 2 * 4 * (256 << 10));
    while (leati_state_node_pull(node, 1000, &block, &err) == LEATI_MORE) {
    }
    assert_int_equal(leati_budget_used(iteration.budget), 0);
    leati_block_fini(&block);
    leati_state_node_close(node);
    leati_pool_free(iteration.pool);
    leati_budget_unref(iteration.budget);
    leat_dataset_unref(dataset);
}

/* Elements that are kept hold the memory that their records lie in, whichever chunk of a block. */
static void test_kept_elements(void **state) {
    (void)state;
    enum { EACH = 1500, PADDING = 2000 };
    write_records("x", "x", EACH, PADDING, LEAT_COMPRESSION_NONE);
    write_records("y", "y", EACH, PADDING, LEAT_COMPRESSION_NONE);
    struct reading r = {.names = "x y",
                        .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = 2}};
    leat_dataset *dataset = dataset_made(read_files, &r);
    leat_element *kept = calloc(2 * EACH, sizeof(*kept));
    assert_non_null(kept);
    leat_iterator *iterator = dataset_iterate(
        dataset, &(leat_iterator_options){LEAT_ITERATOR_DEFAULTS, .num_threads = 2});
    leat_error err = {0};
    for (int i = 0; i < 2 * EACH; i++) {
        leat_element next = {0};
        assert_int_equal(leat_iterator_next(iterator, i % 7 == 0 ? &kept[i] : &next, &err),
                         LEAT_OK);
        leat_element_fini(&next);
    }
    for (int i = 0; i < 2 * EACH; i += 7) {
        char expected[32];
        snprintf(expected, sizeof(expected), "%c%d.", i % 2 == 0 ? 'x' : 'y', i / 2);
        const leat_string *record = kept[i].tensors[0].data;
        assert_memory_equal(record->data, expected, strlen(expected));
        assert_int_equal(record->data[record->size - 1], '.');
        leat_element_fini(&kept[i]);
    }
    free(kept);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* After the first blocks nothing is allocated: chunks and columns come back to their pools. */
static void test_no_allocation_in_the_steady_state(void **state) {
    (void)state;
    write_records("many", "m", 200000, 20, LEAT_COMPRESSION_NONE);
    struct reading r = {.names = "many"};
    leat_dataset *dataset = dataset_made(read_files, &r);
    leati_iteration iteration = {0};
    leat_error err = {0};
    iteration.budget = leati_budget_new(0, 1, &err);
    leati_node_state top = {.dataset = dataset, .iteration = &iteration};
    leati_node_state *node = leati_state_node_open(dataset, &iteration, &top, &err);
    leati_block block = {.byte_target = LEATI_BYTE_TARGET};
    assert_non_null(node);
    for (int i = 0; i < 4; i++)
        assert_int_equal(leati_state_node_pull(node, 1000, &block, &err), LEATI_MORE);
    torture_fail_at(0);
    int64_t count = 0;
    while (leati_state_node_pull(node, 1000, &block, &err) == LEATI_MORE)
        count += block.n;
    assert_int_equal(count, 196000);
    assert_true(torture_count() < 10);
    leati_block_fini(&block);
    leati_state_node_close(node);
    leati_budget_unref(iteration.budget);
    leat_dataset_unref(dataset);
}

/* A file that was cut between saving and restoring is reported, not read. */
static void test_file_shorter_than_the_state(void **state) {
    (void)state;
    struct reading r = {.names = "a b"};
    leat_dataset *dataset = dataset_made(read_files, &r);
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS, .verify = true};
    leat_iterator *iterator = dataset_iterate(dataset, &options);
    leat_element element = {0};
    leat_error err = {0};
    char *data = NULL, *text = NULL;
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
    assert_int_equal(leat_iterator_save(iterator, &data, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    damage("a", 20, true);
    iterator = dataset_iterate(dataset, NULL);
    leat_status status = leat_iterator_restore(iterator, data, size, &err);
    if (status == LEAT_OK) {
        dataset_append(&text, "");
        dataset_take(iterator, -1, &text);
        assert_string_equal(text, "!DATA_LOSS \"b0\" \"b1\"");
        free(text);
    } else {
        assert_int_equal(status, LEAT_DATA_LOSS);
    }
    leati_free(data);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

/* ---- arguments ---- */

static int log_lines;

static void count_lines(void *context, leat_log_level level, const char *line) {
    (void)context;
    assert_int_equal(level, LEAT_LOG_WARNING);
    assert_non_null(strstr(line, "compression_type \"LZO\" is unknown"));
    log_lines++;
}

static void test_arguments(void **state) {
    (void)state;
    static const struct {
        leat_dataset_tf_record_options options;
        leat_status status;
        leat_reason reason;
        const char *keyword;
    } bad[] = {
        {{LEAT_DATASET_TF_RECORD_DEFAULTS, .num_parallel_reads = -2},
         LEAT_INVALID_ARGUMENT,
         LEAT_REASON_VALUE,
         "num_parallel_reads"},
    };
    const char *names[2] = {"a", "b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        leat_error err = {0};
        assert_null(leat_dataset_tf_record(names, 2, &bad[i].options, &err));
        assert_refused(&err, bad[i].status, bad[i].reason, bad[i].keyword);
    }
    leat_error err = {0};
    assert_null(leat_dataset_tf_record(NULL, 1, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leat_dataset_tf_record((const char *[]){NULL}, 1, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    err = (leat_error){0};
    assert_null(leat_dataset_tf_record_of(leat_dataset_range(0, 3, 1, NULL, &err), NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "int64[]");
    leat_log_set(count_lines, NULL);
    dataset_check(
        read_files,
        &(struct reading){.names = "b",
                          .options = {LEAT_DATASET_TF_RECORD_DEFAULTS, .compression_type = "LZO"}},
        "\"b0\" \"b1\"");
    leat_log_set(NULL, NULL);
    assert_int_equal(log_lines, 1);
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, files_setup, files_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_files_in_order),
        TEST(test_compressed),
        TEST(test_damaged_files),
        TEST(test_missing_file),
        TEST(test_skipped_damage),
        TEST(test_files_in_turns),
        TEST(test_turns_of_cores),
        TEST(test_composed),
        TEST(test_many_records),
        TEST(test_read_ahead),
        TEST(test_damage_read_ahead),
        TEST(test_memory_of_read_ahead),
        TEST(test_kept_elements),
        TEST(test_no_allocation_in_the_steady_state),
        TEST(test_file_shorter_than_the_state),
        TEST(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
