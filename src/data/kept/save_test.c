/* Saving to files, loading and snapshots beyond what the recorded cases have: the bytes on the disk
 * are TensorFlow's, a save that fails or is cut off leaves nothing that reads as finished, and
 * interrupted writers go on. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/hash.h"
#include "core/element.h"
#include "data/kept/saved_files.h"
#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"
#include <leat/ops.h>
#include <unistd.h>

#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data/files/saved/"

static leat_dataset *load(const char *path) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_load(path, NULL, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

/* What the folder's dataset has, as text; free() it. */
static char *loaded(const char *path) {
    leat_dataset *dataset = load(path);
    char *text = dataset_text(dataset, NULL, -1);
    leat_dataset_unref(dataset);
    return text;
}

static void check_loaded(const char *path, const char *expected) {
    char *text = loaded(path);
    assert_string_equal(text, expected);
    free(text);
}

static void save_range(int64_t stop, const char *path, const leat_dataset_save_options *options) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, stop, 1, NULL, &err);
    if (leat_dataset_save(dataset, path, options, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    leat_dataset_unref(dataset);
}

/* FOLDER/RUN/NAME, where the metadata names the run; free() it. */
static char *run_path(const char *folder, const char *name) {
    leati_saved_info info;
    leat_error err = {0};
    bool found = false;
    char *path = calloc(1, 2048);
    assert_non_null(path);
    assert_int_equal(leati_saved_info_read(folder, &info, &found, &err), LEAT_OK);
    assert_true(found);
    snprintf(path, 2048, "%s/%s/%s", folder, info.run, name);
    return path;
}

static void check_same_file(const char *a, const char *b) {
    size_t sizes[2];
    uint8_t *first = scratch_read(a, &sizes[0]), *second = scratch_read(b, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(first, second, sizes[0]);
    free(first);
    free(second);
}

static int count_names(const char *path) {
    int count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

/* What TensorFlow wrote is read and written again: the same bytes. */
static void test_bytes(void **state) {
    static const char *const names[] = {"numbers", "nested", "shapes",
                                        "batches", "dtypes", "unknown_rank"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char recorded[1024], spec[2][2048];
        leat_error err = {0};
        snprintf(recorded, sizeof recorded, RECORDED "%s", names[i]);
        const char *own = scratch_path(names[i]);
        leat_dataset *dataset = load(recorded);
        if (leat_dataset_save(dataset, own, NULL, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        leat_dataset_unref(dataset);
        snprintf(spec[0], sizeof spec[0], "%s/dataset_spec.pb", recorded);
        snprintf(spec[1], sizeof spec[1], "%s/dataset_spec.pb", own);
        check_same_file(spec[0], spec[1]);
        char *theirs = run_path(recorded, "00000000.shard/00000000.snapshot");
        char *ours = run_path(own, "00000000.shard/00000000.snapshot");
        check_same_file(theirs, ours);
        free(theirs);
        free(ours);
    }
}

/* Ragged values are written as variants, whose size is not TensorFlow's; they read as they were. */
static void test_ragged(void **state) {
    static const char *const names[] = {"ragged", "ragged_twice"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char recorded[1024];
        leat_error err = {0};
        snprintf(recorded, sizeof recorded, RECORDED "%s", names[i]);
        leat_dataset *dataset = load(recorded);
        assert_int_equal(leat_dataset_save(dataset, scratch_path(names[i]), NULL, &err), LEAT_OK);
        leat_dataset *again = load(scratch_path(names[i]));
        assert_true(leat_spec_equal(leat_dataset_spec(again), leat_dataset_spec(dataset)));
        leat_iterator *theirs = dataset_iterate(dataset, NULL);
        leat_iterator *ours = dataset_iterate(again, NULL);
        int count = 0;
        for (leat_status status = LEAT_OK; status == LEAT_OK; count++) {
            leat_element expected = {0}, found = {0};
            status = leat_iterator_next(theirs, &expected, &err);
            assert_int_equal(leat_iterator_next(ours, &found, &err), status);
            assert_true(status != LEAT_OK || leati_element_equal(&expected, &found));
            leat_element_fini(&expected);
            leat_element_fini(&found);
        }
        assert_true(count > 3);
        leat_iterator_free(theirs);
        leat_iterator_free(ours);
        leat_dataset_unref(again);
        leat_dataset_unref(dataset);
    }
}

/* ---- failures ---- */

static leat_status fail_at(void *context, const leat_element *in, leat_element *out,
                           leat_error *err) {
    const int64_t *bad = context, value = *(const int64_t *)in->tensors[0].data;
    if (value == *bad) {
        snprintf(err->text, sizeof err->text, "told to fail");
        return err->code = LEAT_ABORTED;
    }
    return leat_element_set(out, in->spec, in->tensors, err);
}

static leat_dataset *failing(int64_t stop, int64_t *bad) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_range(0, stop, 1, NULL, &err);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function =
        LEAT_CALLBACK(fail_at, bad, NULL, "fail_at", LEAT_PURE, leat_spec_ref(spec), spec, &err);
    dataset = leat_dataset_map(dataset, function, NULL, &err);
    assert_non_null(dataset);
    return dataset;
}

static void test_failing_dataset(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t bad = 5;
    const char *path = scratch_path("failing");
    leat_dataset *dataset = failing(9, &bad);
    assert_int_equal(leat_dataset_save(dataset, path, NULL, &err), LEAT_ABORTED);
    assert_refused(&err, LEAT_ABORTED, LEAT_REASON_CALLBACK, "fail_at");
    assert_int_equal(count_names(path), 0);
    err = (leat_error){0};
    assert_null(leat_dataset_load(path, NULL, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    /* What was saved before stays. */
    save_range(3, path, NULL);
    assert_int_equal(leat_dataset_save(dataset, path, NULL, &err), LEAT_ABORTED);
    check_loaded(path, "0 1 2");
    leat_dataset_unref(dataset);
}

/* Another spec replaces the old dataset whole. */
static void test_replaced(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("replaced");
    save_range(3, path, NULL);
    leat_dataset *dataset =
        leat_dataset_batch(leat_dataset_range(0, 4, 1, NULL, &err), 3, NULL, &err);
    assert_int_equal(leat_dataset_save(dataset, path, NULL, &err), LEAT_OK);
    leat_dataset_unref(dataset);
    check_loaded(path, "[0,1,2] [3]");
}

static void test_unfinished(void **state) {
    (void)state;
    leati_saved_info info;
    leat_error err = {0};
    bool found = false;
    const char *path = scratch_path("unfinished");
    save_range(3, path, NULL);
    leat_dataset *dataset = load(path);
    assert_int_equal(leati_saved_info_read(path, &info, &found, &err), LEAT_OK);
    info.finalized = false;
    assert_int_equal(leati_saved_info_write(path, &info, NULL, leat_dataset_spec(dataset), &err),
                     LEAT_OK);
    assert_null(leat_dataset_load(path, NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "unfinished");
    /* Files that are gone are not an empty dataset, which TensorFlow makes of them. */
    info.finalized = true;
    memcpy(info.run, "12345", 6);
    assert_int_equal(leati_saved_info_write(path, &info, NULL, leat_dataset_spec(dataset), &err),
                     LEAT_OK);
    err = (leat_error){0};
    assert_null(leat_iterator_new(dataset, NULL, &err));
    assert_int_equal(err.code, LEAT_DATA_LOSS);
    /* Names that are no number do not become paths. */
    memcpy(info.run, "../x", 5);
    assert_int_equal(leati_saved_info_write(path, &info, NULL, leat_dataset_spec(dataset), &err),
                     LEAT_OK);
    err = (leat_error){0};
    assert_null(leat_dataset_load(path, NULL, &err));
    assert_int_equal(err.code, LEAT_DATA_LOSS);
    leat_dataset_unref(dataset);
}

/* Datasets as elements: TensorFlow writes their type's name and nothing of them, and finds that out
 * when it reads. */
static void test_windows(void **state) {
    (void)state;
    leat_error err = {0};
    bool found = true;
    leati_saved_info info;
    leat_dataset *window =
        leat_dataset_window(leat_dataset_range(0, 4, 1, NULL, &err), 2, NULL, &err);
    assert_int_equal(leat_dataset_save(window, scratch_path("w"), NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "dataset<int64[]>");
    err = (leat_error){0};
    assert_int_equal(leati_saved_info_read(scratch_path("w"), &info, &found, &err), LEAT_OK);
    assert_false(found);
    assert_null(leat_dataset_snapshot(window, scratch_path("s"), NULL, &err));
    assert_int_equal(err.code, LEAT_UNIMPLEMENTED);
}

static void test_arguments(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dataset *range = leat_dataset_range(0, 4, 1, NULL, &err);
    leat_dataset_save_options options = {LEAT_DATASET_SAVE_DEFAULTS, .checkpoint_interval = -1};
    assert_int_equal(leat_dataset_save(range, scratch_path("w"), &options, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_dataset_save(range, NULL, NULL, &(leat_error){0}), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_dataset_save(NULL, "w", NULL, &(leat_error){0}), LEAT_INVALID_ARGUMENT);
    leat_dataset_unref(range);
    err = (leat_error){0};
    assert_null(leat_dataset_load(NULL, NULL, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
}

/* ---- waiting ---- */

static bool third_time(void *context) {
    return ++*(int *)context == 3;
}

static void test_wait(void **state) {
    (void)state;
    leat_error err = {0};
    int asked = 0;
    leat_dataset_load_options options = {LEAT_DATASET_LOAD_DEFAULTS, .wait = true,
                                         .wait_deadline_ms = 1};
    assert_null(leat_dataset_load(scratch_path("later"), &options, &err));
    assert_int_equal(err.code, LEAT_DEADLINE_EXCEEDED);
    options = (leat_dataset_load_options){LEAT_DATASET_LOAD_DEFAULTS, .wait = true,
                                          .cancelled = third_time, .context = &asked};
    assert_null(leat_dataset_load(scratch_path("later"), &options, &err));
    assert_int_equal(err.code, LEAT_CANCELLED);
    assert_int_equal(asked, 3);
    save_range(2, scratch_path("later"), NULL);
    leat_dataset *dataset = leat_dataset_load(scratch_path("later"), &options, &err);
    assert_int_equal(leat_dataset_cardinality(dataset), 2);
    leat_dataset_unref(dataset);
}

/* ---- shards ---- */

static int mod_3(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_tensor three = leat_scalar_int64(3);
    outputs[0] = leat_op_floormod(leat_graph_argument(graph, 0), leat_graph_tensor(graph, &three));
    leat_tensor_unref(&three);
    return 1;
}

static int one_after_the_other(void *context, leat_graph *graph, leat_value *outputs,
                               int capacity) {
    leat_value shards = leat_graph_argument(graph, 0);
    leat_function *same = context;
    char *json = leat_function_to_json(same, NULL), args[4096];
    assert_non_null(json);
    snprintf(args, sizeof args, "{\"map_func\": %s}", json);
    leat_text_free(json);
    outputs[0] = leat_graph_dataset_op(graph, "flat_map", args, &shards, 1, NULL, NULL, 0);
    return 1;
}

static int same(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

/* A reader_func that reads the shards in their order, for elements of `element`. */
static leat_function *in_order(const leat_spec *element) {
    leat_error err = {0};
    leat_spec *inner = leat_spec_dataset(leat_spec_ref(element), &err);
    leat_spec *outer = leat_spec_dataset(leat_spec_ref(inner), &err);
    leat_function *identity = LEAT_TRACE(same, NULL, inner, &err);
    leat_function *function = LEAT_TRACE(one_after_the_other, identity, outer, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    leat_function_unref(identity);
    leat_spec_unref(inner);
    leat_spec_unref(outer);
    return function;
}

static leat_dataset *load_in_order(void *context, leat_error *err) {
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_dataset_load_options options = {LEAT_DATASET_LOAD_DEFAULTS, .reader_func = in_order(spec)};
    leat_spec_unref(spec);
    return leat_dataset_load(context, &options, err);
}

static void test_shards(void **state) {
    (void)state;
    leat_error err = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path("shards"));
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_function *function = LEAT_TRACE(mod_3, NULL, spec, &err);
    save_range(8, path,
               &(leat_dataset_save_options){LEAT_DATASET_SAVE_DEFAULTS, .shard_func = function});
    leat_function_unref(function);
    leat_spec_unref(spec);
    dataset_check(load_in_order, path, "0 3 6 1 4 7 2 5");
}

static leat_dataset *snapshot_in_order(void *context, leat_error *err) {
    leat_dataset *input = leat_dataset_range(0, 8, 1, NULL, err);
    leat_dataset_snapshot_options options = {
        LEAT_DATASET_SNAPSHOT_DEFAULTS,
        .shard_func = LEAT_TRACE(mod_3, NULL, leat_dataset_spec(input), err),
        .reader_func = in_order(leat_dataset_spec(input))};
    return leat_dataset_snapshot(input, context, &options, err);
}

static void test_snapshot_functions(void **state) {
    (void)state;
    leat_error err = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s", scratch_path("functions"));
    leat_dataset *dataset = snapshot_in_order(path, &err);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "0 1 2 3 4 5 6 7");
    free(text);
    leat_dataset_unref(dataset);
    dataset_check(snapshot_in_order, path, "0 3 6 1 4 7 2 5");
}

/* Plans say how many shards are read at a time, which is the processors where they were made. */
static void plan_says(leat_dataset *dataset, const char *what) {
    leat_error err = {0};
    char expected[64], *json = leat_dataset_to_json(dataset, &err);
    snprintf(expected, sizeof expected, "\"%s\": %ld", what, sysconf(_SC_NPROCESSORS_ONLN));
    if (json == NULL || strstr(json, expected) == NULL)
        fail_msg("%s lacks %s", json == NULL ? err.text : json, expected);
    leat_text_free(json);
}

static void test_plans_keep_their_cycle(void **state) {
    (void)state;
    leat_error err = {0};
    save_range(8, scratch_path("cycle"), NULL);
    leat_dataset *dataset = load(scratch_path("cycle"));
    plan_says(dataset, "cycle_length");
    leat_dataset_unref(dataset);
    dataset = leat_dataset_snapshot(leat_dataset_range(0, 8, 1, NULL, &err), scratch_path("cycles"),
                                    NULL, &err);
    plan_says(dataset, "cycle_length");
    plan_says(dataset, "num_shards");
    leat_dataset_unref(dataset);
}

/* ---- going on ---- */

/* Makes the file progress the checkpoint of another version, with a checksum that fits. */
static void set_version(const char *path, uint8_t version) {
    size_t size = 0;
    uint8_t *data = scratch_read(path, &size);
    data[sizeof "leat save" + 1] = version; /* behind the magic and its length */
    uint64_t checksum = leati_hash(data, size - 8, 1);
    for (int b = 0; b < 8; b++)
        data[size - 8 + (size_t)b] = (uint8_t)(checksum >> (8 * b));
    (void)scratch_write("progress", data, size);
    free(data);
}

static void test_checkpoint(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t bad = 25;
    char path[1024], progress[1024];
    snprintf(path, sizeof path, "%s", scratch_path("long"));
    snprintf(progress, sizeof progress, "%s", scratch_path("progress"));
    leat_dataset_save_options options = {LEAT_DATASET_SAVE_DEFAULTS, .checkpoint = progress,
                                         .checkpoint_interval = 10};
    leat_dataset *dataset = failing(30, &bad), *other = failing(31, &bad);
    assert_int_equal(leat_dataset_save(dataset, path, &options, &err), LEAT_ABORTED);
    assert_null(leat_dataset_load(path, NULL, &err));
    assert_int_equal(access(progress, F_OK), 0);
    /* A checkpoint belongs to one plan, path and compression. */
    assert_int_equal(leat_dataset_save(other, path, &options, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leat_dataset_save(dataset, scratch_path("other"), &options, &err),
                     LEAT_FAILED_PRECONDITION);
    options.compression = "GZIP";
    assert_int_equal(leat_dataset_save(dataset, path, &options, &err), LEAT_FAILED_PRECONDITION);
    options.compression = NULL;
    set_version(progress, 3);
    assert_int_equal(leat_dataset_save(dataset, path, &options, &err), LEAT_FAILED_PRECONDITION);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "progress");
    set_version(progress, 2);
    /* It goes on behind element 20: what comes before is not asked for. */
    bad = 19;
    if (leat_dataset_save(dataset, path, &options, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(access(progress, F_OK), -1);
    check_loaded(path, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 "
                       "28 29");
    char *shard = run_path(path, "00000000.shard");
    assert_int_equal(count_names(shard), 3);
    free(shard);
    (void)scratch_write("progress", "what", 4);
    assert_int_equal(leat_dataset_save(dataset, path, &options, &err), LEAT_FAILED_PRECONDITION);
    leat_dataset_unref(dataset);
    leat_dataset_unref(other);
}

static leat_dataset *snapshot_of(int64_t stop, const char *path) {
    leat_error err = {0};
    return leat_dataset_snapshot(leat_dataset_range(0, stop, 1, NULL, &err), path, NULL, &err);
}

/* An iterator that was saved in the middle of writing writes the rest when it is restored. */
static void test_snapshot_goes_on(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_path("on");
    char *saved = NULL, *text = NULL;
    size_t size = 0;
    leat_dataset *dataset = snapshot_of(9, path);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    dataset_take(iterator, 4, &text);
    assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
    dataset_take(iterator, 2, &text); /* these go to files that are taken back */
    char *beyond = NULL;
    size_t beyond_size = 0;
    assert_int_equal(leat_iterator_save(iterator, &beyond, &beyond_size, NULL, &err), LEAT_OK);
    leat_text_free(beyond);
    leat_iterator_free(iterator);
    free(text);
    text = NULL;
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
    dataset_take(iterator, -1, &text);
    assert_string_equal(text, "4 5 6 7 8");
    leat_iterator_free(iterator);
    free(text);
    leat_dataset_unref(dataset);
    /* Another dataset object reads all of them, once each. */
    dataset = snapshot_of(9, path);
    iterator = leat_iterator_new(dataset, NULL, &err);
    text = NULL;
    dataset_take(iterator, 1, &text);
    free(text);
    char *explained = leat_iterator_explain(iterator, &err);
    assert_non_null(strstr(explained, "saved_shard"));
    leat_text_free(explained);
    leat_iterator_free(iterator);
    text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "0 1 2 3 4 5 6 7 8");
    free(text);
    /* Restored once more, when the snapshot is finished, it writes nothing. */
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
    text = NULL;
    dataset_take(iterator, -1, &text);
    assert_string_equal(text, "4 5 6 7 8");
    free(text);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    assert_int_equal(count_names(path), 1);
    leat_text_free(saved);
    /* Another plan has a snapshot of its own. */
    dataset = snapshot_of(8, path);
    text = dataset_text(dataset, NULL, -1);
    free(text);
    leat_dataset_unref(dataset);
    assert_int_equal(count_names(path), 2);
}

/* The state of an operator behind a snapshot that has been finished since is found all the same. */
static void test_snapshot_beside_others(void **state) {
    (void)state;
    leat_error err = {0};
    char *saved = NULL, *text = NULL;
    size_t size = 0;
    leat_dataset *inputs[] = {snapshot_of(5, scratch_path("beside")),
                              leat_dataset_range(10, 15, 1, NULL, &err)};
    leat_dataset *dataset = leat_dataset_zip(inputs, 2, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    dataset_take(iterator, 3, &text);
    assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
    dataset_take(iterator, -1, &text);
    leat_iterator_free(iterator);
    free(text);
    text = NULL;
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
    dataset_take(iterator, -1, &text);
    assert_string_equal(text, "(3,13) (4,14)");
    free(text);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    leat_text_free(saved);
}

/* A snapshot that cannot be written is one error, then the elements pass. */
static void test_snapshot_without_room(void **state) {
    (void)state;
    leat_error err = {0};
    const char *file = scratch_write("file", "", 0);
    leat_dataset *dataset = snapshot_of(3, file);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    if (iterator == NULL) /* the metadata's path goes through a file */
        assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    const char *folder = scratch_path("closed");
    assert_int_equal(mkdir(folder, 0555), 0);
    if (!scratch_drop_root())
        skip();
    dataset = snapshot_of(3, folder);
    char *text = dataset_text(dataset, NULL, -1);
    assert_string_equal(text, "!PERMISSION_DENIED 0 1 2");
    free(text);
    leat_dataset_unref(dataset);
    scratch_regain_root();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_failing_dataset),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_snapshot_functions),
        cmocka_unit_test(test_plans_keep_their_cycle),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_snapshot_goes_on),
        cmocka_unit_test(test_snapshot_beside_others),
        cmocka_unit_test(test_snapshot_without_room),
    };
    return cmocka_run_group_tests_name("save", tests, scratch_setup, scratch_teardown);
}
