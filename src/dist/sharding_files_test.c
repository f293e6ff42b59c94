/* Under AUTO every reader has its files dealt out to workers, also below the operators that leat
 * has beyond tf.data: two workers read different files, and each file is read once. And where files
 * cannot be dealt out, the log says why. */
#include "support/cmocka.h"

#include "dist/distributed.h"
#include "dist/planner.h"
#include "support/scratch.h"
#include <leat/data_ops.h>
#include <leat/file.h>
#include <leat/ops.h>

enum { FILES = 5, FIRST = 10, ROWS = 4, MOST = FIRST * (FILES + 1) };

/* ---- files: row i of file f is the number 10 (f + 1) + i, of two digits ---- */

static const char *path_of(const char *kind, int f) {
    char name[64];
    snprintf(name, sizeof name, "%s-%d", kind, f);
    return scratch_path(name);
}

static int number_of(int f, int i) {
    return FIRST * (f + 1) + i;
}

static void write_text(const char *kind, const char *format) {
    for (int f = 0; f < FILES; f++) {
        FILE *file = fopen(path_of(kind, f), "w");
        assert_non_null(file);
        for (int i = 0; i < ROWS; i++)
            fprintf(file, format, number_of(f, i));
        fclose(file);
    }
}

static void write_records(void) {
    for (int f = 0; f < FILES; f++) {
        leat_error err = {0};
        leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path_of("records", f), NULL, &err);
        assert_non_null(writer);
        for (int i = 0; i < ROWS; i++) {
            char text[8];
            snprintf(text, sizeof text, "%d", number_of(f, i));
            assert_int_equal(leat_tfrecord_writer_write(writer, text, 2, &err), LEAT_OK);
        }
        assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    }
}

static void write_arrays(void) {
    for (int f = 0; f < FILES; f++) {
        char header[128];
        memset(header, ' ', sizeof header);
        memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
        int size = snprintf(header + 10, 100,
                            "{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }", ROWS);
        header[10 + size] = ' ';
        header[127] = '\n';
        FILE *file = fopen(path_of("arrays", f), "w");
        assert_non_null(file);
        assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
        for (int i = 0; i < ROWS; i++) {
            char row[8] = {(char)number_of(f, i)};
            assert_int_equal(fwrite(row, 1, sizeof row, file), sizeof row);
        }
        fclose(file);
    }
}

/* Samples s<number> of one member of two bytes, its number. */
static void write_archives(void) {
    for (int f = 0; f < FILES; f++) {
        FILE *file = fopen(path_of("archives", f), "w");
        assert_non_null(file);
        for (int i = 0; i < ROWS; i++) {
            char blocks[1024] = {0};
            unsigned sum = 0;
            snprintf(blocks, 100, "s%d.txt", number_of(f, i));
            memcpy(blocks + 100, "0000644\0000000000\0000000000\00000000000002\00000000000000", 48);
            memset(blocks + 148, ' ', 8);
            blocks[156] = '0';
            memcpy(blocks + 257, "ustar\00000", 8);
            for (int b = 0; b < 512; b++)
                sum += (unsigned char)blocks[b];
            snprintf(blocks + 148, 8, "%06o", sum);
            snprintf(blocks + 512, 4, "%d", number_of(f, i));
            assert_int_equal(fwrite(blocks, 1, sizeof blocks, file), sizeof blocks);
        }
        char end[1024] = {0};
        assert_int_equal(fwrite(end, 1, sizeof end, file), sizeof end);
        fclose(file);
    }
}

static int write_files(void **state) {
    if (scratch_setup(state) != 0)
        return -1;
    write_text("text", "%d\n");
    write_text("csv", "%d\n");
    write_text("fixed", "%d");
    write_records();
    write_arrays();
    write_archives();
    return 0;
}

/* ---- readers ---- */

struct names {
    char paths[FILES][640];
    const char *list[FILES];
};

static const char *const *names_of(struct names *names, const char *kind) {
    for (int f = 0; f < FILES; f++) {
        snprintf(names->paths[f], sizeof names->paths[f], "%s", path_of(kind, f));
        names->list[f] = names->paths[f];
    }
    return names->list;
}

static leat_dataset *text(leat_error *err) {
    struct names n;
    return leat_dataset_text_line(names_of(&n, "text"), FILES, NULL, err);
}

static leat_dataset *records(leat_error *err) {
    struct names n;
    return leat_dataset_tf_record(names_of(&n, "records"), FILES, NULL, err);
}

static leat_dataset *fixed(leat_error *err) {
    struct names n;
    return leat_dataset_fixed_length_record(names_of(&n, "fixed"), FILES, 2, NULL, err);
}

static leat_dataset *arrays(leat_error *err) {
    struct names n;
    return leat_dataset_numpy(names_of(&n, "arrays"), FILES, NULL, err);
}

static const char *const txt[] = {"txt"};

static leat_dataset *archives(leat_error *err) {
    struct names n;
    return leat_dataset_tar(names_of(&n, "archives"), FILES, txt, 1, NULL, err);
}

static int trace_archive(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    static const char *const names[] = {"filenames"};
    leat_value x = leat_graph_argument(graph, 0);
    (void)context;
    outputs[0] = leat_graph_dataset_op(graph, "tar_dataset", "{\"fields\": [\"txt\"]}", NULL, 0,
                                       (const char **)(uintptr_t)names, &x, 1);
    return 1;
}

static leat_dataset *listed_archives(leat_error *err) {
    const leat_dataset_list_files_options options = {LEAT_DATASET_LIST_FILES_DEFAULTS,
                                                     .seed = LEAT_SEED(5)};
    leat_dataset *names = leat_dataset_list_files(scratch_path("archives-*"), &options, err);
    leat_function *function =
        names == NULL ? NULL : LEAT_TRACE(trace_archive, NULL, leat_dataset_spec(names), err);
    return leat_dataset_interleave(names, function, NULL, err);
}

/* A tuple of one int64 without a value: the field must be there. Owned. */
static leat_element one_number(void) {
    leat_error err = {0};
    leat_tensor none = {0};
    leat_element out = {0};
    leat_spec *part = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(0), &err);
    leat_spec *tuple = leat_spec_tuple(&part, 1, &err);
    assert_non_null(tuple);
    assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(0), &none, &err), LEAT_OK);
    assert_int_equal(leat_element_set(&out, tuple, &none, &err), LEAT_OK);
    leat_tensor_unref(&none);
    leat_spec_unref(tuple);
    return out;
}

static leat_dataset *csv(leat_error *err) {
    struct names n;
    leat_element column = one_number();
    leat_dataset *made = leat_dataset_csv(names_of(&n, "csv"), FILES, &column, NULL, err);
    leat_element_fini(&column);
    return made;
}

static leat_dataset *whole_csv(leat_error *err) {
    static const char *const columns[] = {"n"};
    const char *pattern = scratch_path("csv-*");
    const leat_dataset_make_csv_options options = {
        LEAT_DATASET_MAKE_CSV_DEFAULTS,
        .epochs = &(leat_dataset_epochs_options){LEAT_DATASET_EPOCHS_DEFAULTS, .num_epochs = 1},
        .column_names = columns, .num_columns = 1, .header = false};
    return leat_dataset_make_csv(&pattern, 1, 3, &options, err);
}

/* ---- what stands over them ---- */

static leat_dataset *bare(leat_dataset *dataset, leat_error *err) {
    (void)err;
    return dataset;
}

static leat_dataset *quarantined(leat_dataset *dataset, leat_error *err) {
    return leat_dataset_quarantine(dataset, NULL, NULL, err);
}

static leat_dataset *batched(leat_dataset *dataset, leat_error *err) {
    return leat_dataset_prefetch(
        leat_dataset_quarantine(leat_dataset_batch(dataset, 3, NULL, err), NULL, NULL, err), 1,
        err);
}

static leat_dataset *packed(leat_dataset *dataset, leat_error *err) {
    return leat_dataset_pack(leat_dataset_batch(dataset, 3, NULL, err), 4, NULL, err);
}

static leat_dataset *claimed(leat_dataset *dataset, leat_error *err) {
    return leat_dataset_shuffle(
        leat_dataset_assert_cardinality(dataset, (int64_t)FILES * ROWS, err), 4, NULL, err);
}

/* ---- the cases ---- */

/* Counts the numbers from FIRST on, in whatever component they come. */
static void count(leat_dataset *dataset, int *seen) {
    leat_error err = {0};
    leat_element element = {0};
    leat_iterator *it = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(it);
    leat_status status;
    while ((status = leat_iterator_next(it, &element, &err)) == LEAT_OK)
        for (int c = 0; c < element.num_tensors; c++) {
            const leat_tensor *tensor = &element.tensors[c];
            for (int64_t i = 0; i < leat_tensor_count(tensor); i++) {
                char digits[3] = "";
                if (tensor->dtype == LEAT_STRING && ((leat_string *)tensor->data)[i].size == 2)
                    memcpy(digits, ((leat_string *)tensor->data)[i].data, 2);
                int64_t value = tensor->dtype == LEAT_INT64   ? ((int64_t *)tensor->data)[i]
                                : tensor->dtype == LEAT_INT32 ? ((int32_t *)tensor->data)[i]
                                                              : strtol(digits, NULL, 10);
                if (value >= FIRST)
                    seen[value]++;
            }
        }
    assert_int_equal(status, LEAT_OUT_OF_RANGE);
    leat_element_fini(&element);
    leat_iterator_free(it);
}

static void check_shares(const leat_dataset *dataset, bool in_order, const char *what) {
    int of_file[FILES];
    leat_error err = {0};
    memset(of_file, -1, sizeof of_file);
    for (int w = 0; w < 2; w++) {
        int seen[MOST] = {0}, files = 0;
        const leati_feed_place place = {.num_workers = 2, .worker = w, .replicas = 1};
        leati_split_plan plan = {0};
        leat_dataset *batches =
            leat_dataset_batch(leat_dataset_ref((leat_dataset *)dataset), 2, NULL, &err);
        assert_non_null(batches);
        if (leati_planner_split(batches, &place, LEAT_SHARD_AUTO, &plan, &err) != LEAT_OK ||
            plan.policy != LEAT_SHARD_FILE)
            fail_msg("%s: %s%s", what, plan.text, err.text);
        leati_planner_split_fini(&plan);
        leat_dataset_unref(batches);
        leat_dataset *share = leati_planner_share(dataset, LEAT_SHARD_FILE, 2, w, &err);
        assert_non_null(share);
        count(share, seen);
        leat_dataset_unref(share);
        for (int f = 0; f < FILES; f++) {
            int rows = 0;
            for (int i = 0; i < ROWS; i++)
                rows += seen[number_of(f, i)];
            if (rows != 0 && (rows != ROWS || of_file[f] >= 0 || (in_order && f % 2 != w)))
                fail_msg("%s: worker %d reads %d rows of file %d, worker %d did", what, w, rows, f,
                         of_file[f]);
            of_file[f] = rows > 0 ? w : of_file[f];
            files += rows > 0;
        }
        assert_int_equal(files, w == 0 ? 3 : 2);
    }
}

static void test_readers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_dataset *(*make)(leat_error *err);
        bool in_batches, shuffled;
    } readers[] = {{"text_line_dataset", text, false, false},
                   {"tf_record_dataset", records, false, false},
                   {"fixed_length_record_dataset", fixed, false, false},
                   {"numpy_dataset", arrays, false, false},
                   {"tar_dataset", archives, false, false},
                   {"tar_dataset in interleave", listed_archives, false, true},
                   {"csv_dataset", csv, false, false},
                   {"make_csv_dataset", whole_csv, true, true}};
    static const struct {
        const char *name;
        leat_dataset *(*over)(leat_dataset *dataset, leat_error *err);
        bool batches, counts;
    } wrappers[] = {{"nothing", bare, false, false},
                    {"quarantine", quarantined, false, false},
                    {"batch, quarantine and prefetch", batched, true, false},
                    {"batch and pack", packed, true, false},
                    {"assert_cardinality and shuffle", claimed, false, true}};
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
        for (size_t w = 0; w < sizeof wrappers / sizeof *wrappers; w++) {
            char what[128];
            leat_error err = {0};
            if (readers[r].in_batches && (wrappers[w].batches || wrappers[w].counts))
                continue; /* the last batches of files differ in size */
            snprintf(what, sizeof what, "%s behind %s", wrappers[w].name, readers[r].name);
            leat_dataset *dataset = wrappers[w].over(readers[r].make(&err), &err);
            if (dataset == NULL)
                fail_msg("%s: %s", what, err.text);
            check_shares(dataset, !readers[r].shuffled, what);
            leat_dataset_unref(dataset);
        }
}

/* What is known of a batch's rows behind operators that tf.data does not have. */
static void test_batch_sizes(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *datasets[] = {
        batched(text(&err), &err),
        leat_dataset_unique(leat_dataset_batch(text(&err), 3, NULL, &err), &err)};
    const int64_t sizes[] = {3, -1};
    for (int i = 0; i < 2; i++) {
        int64_t size = 0;
        assert_non_null(datasets[i]);
        assert_int_equal(leati_planner_batch_size(datasets[i], &size, &err), LEAT_OK);
        assert_int_equal(size, sizes[i]);
        leat_dataset_unref(datasets[i]);
    }
}

/* A worker beyond the number of files gets none; who has one fails at the first element, as with
 * records in TensorFlow. */
static void test_too_few(void **state) {
    (void)state;
    leat_dataset *(*const makers[])(leat_error * err) = {arrays, archives, csv};
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (int w = 0; w < FILES + 1; w += FILES) {
            leat_error err = {0};
            leat_element element = {0};
            leat_dataset *dataset = makers[m](&err);
            leat_dataset *share = leati_planner_share(dataset, LEAT_SHARD_FILE, FILES + 1, w, &err);
            assert_non_null(share);
            leat_iterator *it = leat_iterator_new(share, NULL, &err);
            assert_non_null(it);
            assert_int_equal(leat_iterator_next(it, &element, &err),
                             w == FILES ? LEAT_OUT_OF_RANGE : LEAT_INVALID_ARGUMENT);
            leat_iterator_free(it);
            leat_dataset_unref(share);
            leat_dataset_unref(dataset);
        }
}

/* ---- the log ---- */

static int lines;

static void take_line(void *context, leat_log_level level, const char *line) {
    (void)context;
    assert_int_equal(level, LEAT_LOG_INFO);
    assert_non_null(strstr(line, "policy DATA (unique is not seen through"));
    lines++;
}

static leat_status alone(void *context, const int64_t *mine, int n, int64_t *out, leat_error *err) {
    (void)context;
    (void)err;
    for (int i = 0; i < 2 * n; i++)
        out[i] = mine[i % n];
    return LEAT_OK;
}

/* Once per dataset, by one worker for all, and where AUTO decided it. */
static void test_fall_back_is_told(void **state) {
    (void)state;
    static const struct {
        int workers, worker;
        leat_auto_shard_policy policy;
        bool files;
        int lines;
    } cases[] = {{2, 0, LEAT_SHARD_AUTO, false, 1},
                 {2, 1, LEAT_SHARD_AUTO, false, 0},
                 {1, 0, LEAT_SHARD_AUTO, false, 0},
                 {2, 0, LEAT_SHARD_DATA, false, 0},
                 {2, 0, LEAT_SHARD_AUTO, true, 0}};
    leat_log_set(take_line, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        const leati_membership member = {.num_workers = cases[i].workers,
                                         .worker = cases[i].worker,
                                         .replicas = 1,
                                         .others = {.exchange = alone}};
        const leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                          .auto_shard_policy = cases[i].policy};
        leat_dataset *dataset = records(&err);
        dataset = leat_dataset_batch(cases[i].files ? dataset : leat_dataset_unique(dataset, &err),
                                     2, NULL, &err);
        lines = 0;
        leat_distributed_dataset *made =
            leati_distributed_from_dataset(&member, dataset, &options, &err);
        if (made == NULL)
            fail_msg("%s", err.text);
        assert_int_equal(lines, cases[i].lines);
        leat_distributed_dataset_free(made);
    }
    leat_log_set(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers), cmocka_unit_test(test_batch_sizes),
        cmocka_unit_test(test_too_few), cmocka_unit_test(test_fall_back_is_told)};
    return cmocka_run_group_tests(tests, write_files, scratch_teardown);
}
