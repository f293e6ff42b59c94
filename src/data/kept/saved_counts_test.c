/* What is counted is checked: saved datasets and snapshots whose files are gone, empty, cut, or of
 * another run are refused, those of TensorFlow as far as their metadata and their ends tell. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "data/kept/saved_files.h"
#include "support/dataset.h"
#include "support/refused.h"
#include "support/scratch.h"

#include "support/damaged.h"

#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data/files/saved/"

/* All kinds of damage; cuts at a few places, but at every byte where files are small. */
static void test_damage(void **state) {
    (void)state;
    damaged_check(&(damaged_case){DAMAGED_SAVE, NULL, 3, 1}, 0, 1);
    damaged_check(&(damaged_case){DAMAGED_SAVE, NULL, 7, 3}, 5, 2);
    damaged_check(&(damaged_case){DAMAGED_SAVE, "GZIP", 7, 2}, 12, 3);
    damaged_check(&(damaged_case){DAMAGED_SNAPSHOT, "", 7, 3}, 3, 4);
    damaged_check(&(damaged_case){DAMAGED_SNAPSHOT, "GZIP", 5, 2}, 4, 5);
    damaged_check(&(damaged_case){DAMAGED_SNAPSHOT, "AUTO", 5, 2}, 4, 6);
    damaged_check(&(damaged_case){DAMAGED_CACHE, NULL, 5, 1}, 12, 7);
}

/* FOLDER/RUN/NAME; the run is the folder's. */
static const char *in_run(const char *folder, const char *name) {
    static char paths[16][2048];
    static unsigned next;
    leati_saved_info info;
    leat_error err = {0};
    bool found = false;
    char *path = paths[next++ % (sizeof paths / sizeof paths[0])];
    assert_int_equal(leati_saved_info_read(folder, &info, &found, &err), LEAT_OK);
    assert_true(found);
    snprintf(path, sizeof paths[0], "%s/%s%s%s", folder, info.run, *name ? "/" : "", name);
    return path;
}

static void copy_file(const char *from, const char *to) {
    size_t size = 0;
    uint8_t *data = scratch_read(from, &size);
    FILE *file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(data);
}

static const char *make(const damaged_case *c, const char *name) {
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % (sizeof paths / sizeof paths[0])];
    snprintf(path, sizeof paths[0], "%s", scratch_path(name));
    damaged_make(c, path);
    return path;
}

static void expect(const damaged_case *c, const char *path, leat_status code, const char *keyword) {
    leat_error err = {0};
    assert_int_equal(damaged_count(c, path, &err), -1);
    assert_refused(&err, code, LEAT_REASON_NONE, keyword);
}

/* The refusal names the file, the number that was saved and the number that was found. */
static void test_numbers(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SAVE, NULL, 7, 2};
    const char *path = make(&c, "numbers"),
               *file = in_run(path, "00000001.shard/00000000.snapshot");
    damaged_case fewer = {DAMAGED_SAVE, NULL, 3, 2};
    const char *other = make(&fewer, "fewer");
    copy_file(in_run(other, "00000001.shard/00000000.snapshot"), file);
    expect(&c, path, LEAT_DATA_LOSS, "3"); /* of 7 */
    expect(&c, path, LEAT_DATA_LOSS, "1"); /* of 3 */
    expect(&c, path, LEAT_DATA_LOSS, "00000000.snapshot");
    assert_int_equal(remove(file), 0);
    expect(&c, path, LEAT_NOT_FOUND, "3");
    expect(&c, path, LEAT_NOT_FOUND, "00000000.snapshot");
    scratch_remove(in_run(path, ""));
    expect(&c, path, LEAT_DATA_LOSS, "7");
}

/* Files that nobody wrote here. */
static void test_surplus(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SAVE, NULL, 5, 2}, alone = {DAMAGED_SAVE, NULL, 5, 1};
    const char *path = make(&c, "surplus"), *other = make(&alone, "alone");
    const char *from = in_run(other, "00000000.shard/00000000.snapshot");
    copy_file(from, in_run(path, "00000000.shard/00000001.snapshot"));
    expect(&c, path, LEAT_DATA_LOSS, "00000001.snapshot");
    assert_int_equal(remove(in_run(path, "00000000.shard/00000001.snapshot")), 0);
    assert_int_equal(mkdir(in_run(path, "00000002.shard"), 0777), 0);
    copy_file(from, in_run(path, "00000002.shard/00000000.snapshot"));
    expect(&c, path, LEAT_DATA_LOSS, "00000002.shard");
    scratch_remove(in_run(path, "00000002.shard"));
    /* A file of more elements than were saved. */
    copy_file(from, in_run(path, "00000001.shard/00000000.snapshot"));
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_load(path, NULL, &err);
    char *text = dataset_text(dataset, NULL, -1);
    assert_non_null(strstr(text, "!DATA_LOSS"));
    free(text);
    leat_dataset_unref(dataset);
}

/* A lost shard of a snapshot is not the half of it. */
static void test_lost_shard(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SNAPSHOT, "", 8, 2};
    char folder[2048] = "";
    const char *path = make(&c, "half");
    DIR *folders = opendir(path);
    assert_non_null(folders);
    for (struct dirent *entry; (entry = readdir(folders)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(folder, sizeof folder, "%s/%s", path, entry->d_name);
    closedir(folders);
    scratch_remove(in_run(folder, "00000001.shard"));
    leat_error err = {0};
    leat_dataset *dataset = damaged_dataset(&c, path, &err);
    assert_null(leat_iterator_new(dataset, NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "00000001.shard");
    leat_dataset_unref(dataset);
}

/* ---- without counts ---- */

static leat_dataset *load(const char *path) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_load(path, NULL, &err);
    if (dataset == NULL)
        fail_msg("%s", err.text);
    return dataset;
}

/* How many elements a folder gives, or -1 after an error. */
static int64_t count(const char *path, leat_error *err) {
    leat_dataset *dataset = leat_dataset_load(path, NULL, err);
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    int64_t n = 0;
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    while (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &element, err);
        n += status == LEAT_OK;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return status == LEAT_OUT_OF_RANGE ? n : -1;
}

/* What TensorFlow saved has the number of all elements, and no shard's: a cut file is refused. */
static void test_of_tensorflow(void **state) {
    static const char *const names[] = {"numbers", "nested", "ragged", "nothing"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char recorded[1024], broken[1024];
        leat_error err = {0};
        snprintf(recorded, sizeof recorded, RECORDED "%s", names[i]);
        snprintf(broken, sizeof broken, "%s", scratch_path("broken"));
        int64_t whole = count(recorded, &err);
        assert_true(whole >= 0);
        damaged_read_tree(recorded);
        for (int e = 1; e < damaged_tree.count; e++) {
            if (!damaged_ends_in(damaged_tree.entries[e].path, ".snapshot"))
                continue;
            for (int64_t keep = -1; keep < (int64_t)damaged_tree.entries[e].size; keep++) {
                damaged_write_tree(broken, e, keep);
                err = (leat_error){0};
                assert_int_equal(count(broken, &err), -1);
                assert_true(err.code == LEAT_DATA_LOSS || err.code == LEAT_NOT_FOUND);
            }
        }
    }
    damaged_forget();
}

/* Takes the counts out of a folder's metadata, and of the run's copy. */
static void forget_counts(const char *path) {
    leati_saved_info info;
    leat_error err = {0};
    bool found = false;
    leat_spec *both[2] = {leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
                          leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err)};
    leat_spec *spec = leat_spec_tuple(both, 2, &err);
    assert_int_equal(remove(in_run(path, LEATI_SAVED_METADATA)), 0);
    assert_int_equal(leati_saved_info_read(path, &info, &found, &err), LEAT_OK);
    assert_true(info.counted);
    assert_int_equal(leati_saved_info_write(path, &info, NULL, spec, &err), LEAT_OK);
    leat_spec_unref(spec);
}

/* Shards of which nobody knows how many there are: what can be seen is told. */
static void test_uncounted(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SAVE, NULL, 8, 2};
    const char *path = make(&c, "uncounted");
    leat_error err = {0};
    forget_counts(path);
    assert_int_equal(damaged_count(&c, path, &err), 8);
    /* A gap in the numbers of files, an empty file, a folder without any. */
    const char *first = in_run(path, "00000000.shard/00000000.snapshot");
    const char *second = in_run(path, "00000000.shard/00000001.snapshot");
    assert_int_equal(rename(first, second), 0);
    expect(&c, path, LEAT_NOT_FOUND, "00000000.snapshot");
    assert_int_equal(rename(second, first), 0);
    copy_file("/dev/null", first);
    expect(&c, path, LEAT_DATA_LOSS, "0");
    assert_int_equal(remove(first), 0);
    expect(&c, path, LEAT_NOT_FOUND, "00000000.snapshot");
    /* A shard that is gone with its folder is missed in the number of all. */
    scratch_remove(in_run(path, "00000000.shard"));
    expect(&c, path, LEAT_DATA_LOSS, "8");
    expect(&c, path, LEAT_DATA_LOSS, "4");
}

/* ---- going on ---- */

/* An iterator that goes on behind a cut finds it, whichever part it has read before. */
static void test_restored(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SAVE, NULL, 6, 1};
    leat_error err = {0};
    char *saved = NULL, *text = NULL;
    size_t size = 0;
    const char *path = make(&c, "restored");
    leat_dataset *dataset = load(path);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    dataset_take(iterator, 2, &text);
    assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    for (int cut = 0; cut < 2; cut++) {
        free(text);
        text = NULL;
        iterator = leat_iterator_new(dataset, NULL, &err);
        assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
        dataset_take(iterator, -1, &text);
        assert_string_equal(text, cut ? "(2,2) (3,3) (4,4) !DATA_LOSS" : "(2,2) (3,3) (4,4) (5,5)");
        leat_iterator_free(iterator);
        /* The two records of the last element. */
        struct stat st;
        const char *file = in_run(path, "00000000.shard/00000000.snapshot");
        assert_int_equal(stat(file, &st), 0);
        assert_int_equal(truncate(file, st.st_size / 6 * 5), 0);
    }
    free(text);
    leat_text_free(saved);
    leat_dataset_unref(dataset);
}

/* A state goes on in its own run, with that run's numbers, also where the folder has a newer one.
 */
static void test_restored_run(void **state) {
    (void)state;
    damaged_case c = {DAMAGED_SAVE, NULL, 6, 2}, newer = {DAMAGED_SAVE, NULL, 0, 1};
    leat_error err = {0};
    char *saved = NULL, *text = NULL, lost[2048];
    size_t size = 0;
    const char *path = make(&c, "older");
    snprintf(lost, sizeof lost, "%s", in_run(path, "00000001.shard"));
    leat_dataset *dataset = load(path);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    dataset_take(iterator, 1, &text);
    assert_int_equal(leat_iterator_save(iterator, &saved, &size, NULL, &err), LEAT_OK);
    leat_iterator_free(iterator);
    leat_dataset *empty = damaged_numbers(&newer, &err);
    assert_int_equal(leat_dataset_save(empty, path, NULL, &err), LEAT_OK);
    leat_dataset_unref(empty);
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_OK);
    leat_iterator_free(iterator);
    scratch_remove(lost);
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "00000001.shard");
    leat_iterator_free(iterator);
    /* A run that is gone is not the newer run, which is empty. */
    lost[strlen(lost) - strlen("/00000001.shard")] = '\0';
    scratch_remove(lost);
    iterator = leat_iterator_new(dataset, NULL, &err);
    assert_int_equal(leat_iterator_restore(iterator, saved, size, &err), LEAT_NOT_FOUND);
    leat_iterator_free(iterator);
    free(text);
    leat_text_free(saved);
    leat_dataset_unref(dataset);
}

/* What leat 0.1.0 wrote down of files has no numbers of elements: a run that goes on with those has
 * none either, and is read. */
static void test_old_writer(void **state) {
    (void)state;
    leat_error err = {0};
    leati_run_writer *writer = NULL;
    leati_saved_info info = leati_saved_info_new();
    leati_writer old = {0};
    const char *path = scratch_path("old");
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leati_put_uint(&old, 1); /* shards: number, files */
    leati_put_uint(&old, 4);
    leati_put_int(&old, 1);
    for (int counted = 0; counted < 2; counted++) {
        leati_reader in = {.data = old.data, .size = old.size};
        bool found = false;
        assert_int_equal(
            leati_saved_writer_open(path, info.run, LEAT_COMPRESSION_NONE, NULL, &writer, &err),
            LEAT_OK);
        assert_int_equal(leati_saved_writer_restore(writer, &in, counted != 0, false, &err),
                         LEAT_OK);
        assert_int_equal(in.at, in.size);
        /* Written down again, it stays what it was. */
        old.size = 0;
        leati_saved_writer_save(writer, &old);
        assert_int_equal(leati_saved_writer_finish(writer, &err), LEAT_OK);
        assert_int_equal(leati_saved_writer_publish(writer, path, &info, spec, &err), LEAT_OK);
        leati_saved_writer_close(writer);
        assert_int_equal(leati_saved_info_read(path, &info, &found, &err), LEAT_OK);
        assert_true(info.finalized && !info.counted);
    }
    leati_writer_fini(&old);
    leat_spec_unref(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_surplus),       cmocka_unit_test(test_lost_shard),
        cmocka_unit_test(test_of_tensorflow), cmocka_unit_test(test_uncounted),
        cmocka_unit_test(test_restored),      cmocka_unit_test(test_restored_run),
        cmocka_unit_test(test_old_writer),
    };
    return cmocka_run_group_tests_name("saved_counts", tests, scratch_setup, scratch_teardown);
}
