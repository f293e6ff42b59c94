/* Runs that writers left behind: which go, and which stay. */
#include "support/cmocka.h"

#include "data/kept/saved_files.h"
#include "data/kept/saved_sweep.h"
#include "support/scratch.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static leat_spec *scalar(void) {
    leat_error err = {0};
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
}

/* A writer of run `run`, with a file where `commit`. */
static leati_run_writer *write_run(const char *folder, const char *run, const char *successor,
                                   bool commit) {
    leat_error err = {0};
    leati_run_writer *writer = NULL;
    leati_block block = {0};
    leat_spec *spec = scalar();
    int64_t value = 3;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    if (leati_saved_writer_open(folder, run, LEAT_COMPRESSION_NONE, successor, &writer, &err) !=
        LEAT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(leati_block_prepare(&block, 1, &err), LEAT_OK);
    leati_column_constant(&block.columns[0], &tensor);
    block.n = 1;
    assert_int_equal(leati_saved_writer_add(writer, 0, NULL, spec, &block, 0, &err), LEAT_OK);
    if (commit)
        assert_int_equal(leati_saved_writer_commit(writer, &err), LEAT_OK);
    leati_block_fini(&block);
    leat_spec_unref(spec);
    return writer;
}

static void publish(const char *folder, leati_run_writer *writer, const char *run) {
    leat_error err = {0};
    leati_saved_info info = leati_saved_info_new();
    leat_spec *spec = scalar();
    snprintf(info.run, sizeof info.run, "%s", run);
    assert_int_equal(leati_saved_writer_finish(writer, &err), LEAT_OK);
    assert_int_equal(leati_saved_writer_publish(writer, folder, &info, spec, &err), LEAT_OK);
    leat_spec_unref(spec);
}

static bool there(const char *folder, const char *name) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* A writer that lives is left alone, and one that is finished. */
static void test_living(void **state) {
    (void)state;
    const char *folder = scratch_path("living");
    leati_run_writer *first = write_run(folder, "1", LEATI_RUN_OF_NOBODY, false);
    leati_run_writer *second = write_run(folder, "2", LEATI_RUN_OF_NOBODY, true);
    leati_saved_sweep(folder);
    assert_true(there(folder, "1/.writer") && there(folder, "2/00000000.shard/00000000.snapshot"));
    publish(folder, first, "1");
    leati_saved_writer_close(first);
    assert_true(there(folder, "2/.writer") && !there(folder, "1/.writer"));
    publish(folder, second, "2");
    leati_saved_writer_close(second);
    leati_saved_sweep(folder);
    assert_true(there(folder, "1/00000000.shard") && there(folder, "2/00000000.shard"));
}

/* What was committed stays as long as somebody may go on with it. */
static void test_successors(void **state) {
    (void)state;
    const char *checkpoint = scratch_write("checkpoint", "x", 1), *folder = scratch_path("left");
    leati_saved_writer_close(write_run(folder, "1", LEATI_RUN_OF_NOBODY, true));
    leati_saved_writer_close(write_run(folder, "2", LEATI_RUN_OF_STATES, true));
    leati_saved_writer_close(write_run(folder, "3", checkpoint, true));
    /* Each writer has swept when it began. */
    assert_false(there(folder, "1"));
    leati_saved_sweep(folder);
    assert_true(there(folder, "2") && there(folder, "3"));
    leati_run_writer *writer = write_run(folder, "4", LEATI_RUN_OF_STATES, false);
    publish(folder, writer, "4");
    leati_saved_writer_close(writer);
    assert_true(!there(folder, "2") && there(folder, "3"));
    assert_int_equal(remove(checkpoint), 0);
    leati_saved_sweep(folder);
    assert_true(!there(folder, "3") && there(folder, "4"));
}

/* A checkpoint is found by those who are in another folder. */
static void test_relative_checkpoint(void **state) {
    (void)state;
    leat_error err = {0};
    char folder[1024], here[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("relative"));
    (void)scratch_write("near", "x", 1);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch_folder), 0);
    leati_saved_writer_close(write_run(folder, "1", "near", true));
    assert_int_equal(chdir(here), 0);
    leati_saved_sweep(folder);
    assert_true(there(folder, "1"));
    assert_int_equal(leati_fs_remove(scratch_path("near"), &err), LEAT_OK);
    leati_saved_sweep(folder);
    assert_false(there(folder, "1"));
}

/* Others' runs, and what is no run, stay. */
static void test_others(void **state) {
    (void)state;
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s", scratch_path("others"));
    static const char *const folders[] = {"", "/7", "/7/00000000.shard", "/8", "/notes"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%s", folder, folders[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    leati_saved_sweep(folder);
    assert_true(there(folder, "7/00000000.shard") && there(folder, "notes"));
    /* A writer that came no further than to its folder. */
    assert_false(there(folder, "8"));
}

struct sweeper {
    const char *folder;
    atomic_bool stop;
};

static void *sweep_on(void *context) {
    struct sweeper *sweeper = context;
    while (!atomic_load(&sweeper->stop))
        leati_saved_sweep(sweeper->folder);
    return NULL;
}

/* Who sweeps all the time takes no run away that has just begun. */
static void test_sweeper_beside_writers(void **state) {
    (void)state;
    enum { RUNS = 300, SWEEPERS = 2 };
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("raced"));
    struct sweeper sweeper = {.folder = folder};
    pthread_t threads[SWEEPERS];
    for (int i = 0; i < SWEEPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sweep_on, &sweeper), 0);
    for (int i = 0; i < RUNS; i++) {
        char run[24], held[40];
        snprintf(run, sizeof run, "%d", i + 1);
        snprintf(held, sizeof held, "%s/.writer", run);
        leati_run_writer *writer = write_run(folder, run, LEATI_RUN_OF_NOBODY, false);
        assert_true(there(folder, held));
        leati_saved_writer_close(writer);
    }
    atomic_store(&sweeper.stop, true);
    for (int i = 0; i < SWEEPERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living),
        cmocka_unit_test(test_successors),
        cmocka_unit_test(test_relative_checkpoint),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_sweeper_beside_writers),
    };
    return cmocka_run_group_tests_name("saved_sweep", tests, scratch_setup, scratch_teardown);
}
