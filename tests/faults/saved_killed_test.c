/* Writers of saved datasets, snapshots and caches that are killed in front of each call that
 * changes files: what remains is the old dataset, the new one, or a refusal, and the next writer
 * leaves nothing of the dead one, also where that one dies while it removes it. Every iterator
 * lives in a child. */
#include "support/cmocka.h"

#include "calls.h"
#include "support/scratch.h"
#include <leat/data_ops.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ELEMENTS = 20, OLD = 7, GOOD = 0, WRONG = 1 };

/* ---- children ---- */

typedef int (*body)(const char *path);

/* The exit code of `run` in a child, or -1 where it was killed in front of call `at` (0: never). */
static int in_child(body run, const char *path, int at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        calls_kill_at(at);
        _exit(run(path));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return -1;
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static leat_dataset *numbers(int64_t stop) {
    leat_error err = {0};
    return leat_dataset_range(0, stop, 1, NULL, &err);
}

/* How many elements the dataset (given) has, each its number; -1: it was refused as `code` or as
 * DATA_LOSS; -2: anything else. Batches count as their first element says. */
static int count(leat_dataset *dataset, leat_status code, leat_error *err) {
    leat_iterator *iterator = dataset == NULL ? NULL : leat_iterator_new(dataset, NULL, err);
    leat_element element = {0};
    int n = 0;
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    bool good = true;
    while (status == LEAT_OK) {
        status = leat_iterator_next(iterator, &element, err);
        if (status == LEAT_OK) {
            int64_t each = leat_tensor_count(&element.tensors[0]);
            good = good && *(const int64_t *)element.tensors[0].data == n;
            n += (int)each;
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return status == LEAT_OUT_OF_RANGE && good          ? n
           : status == code || status == LEAT_DATA_LOSS ? -1
                                                        : -2;
}

static int save_dataset(leat_dataset *dataset, const char *path) {
    leat_error err = {0};
    leat_status status = leat_dataset_save(dataset, path, NULL, &err);
    leat_dataset_unref(dataset);
    return status == LEAT_OK ? GOOD : WRONG;
}

static int save_old(const char *path) {
    return save_dataset(numbers(OLD), path);
}

static int save_new(const char *path) {
    return save_dataset(numbers(ELEMENTS), path);
}

/* Of another spec. */
static int save_batches(const char *path) {
    leat_error err = {0};
    return save_dataset(leat_dataset_batch(numbers(ELEMENTS), 6, NULL, &err), path);
}

static int loaded(const char *path) {
    leat_error err = {0};
    return count(leat_dataset_load(path, NULL, &err), LEAT_NOT_FOUND, &err);
}

static int load_new(const char *path) {
    return loaded(path) == ELEMENTS ? GOOD : WRONG;
}

/* Nothing was there before. */
static int load_new_or_nothing(const char *path) {
    int n = loaded(path);
    return n == ELEMENTS || n == -1 ? GOOD : WRONG;
}

static int load_new_or_old(const char *path) {
    int n = loaded(path);
    return n == ELEMENTS || n == OLD ? GOOD : WRONG;
}

static int snapshot(const char *path) {
    leat_error err = {0};
    leat_dataset *dataset = leat_dataset_snapshot(numbers(ELEMENTS), path, NULL, &err);
    return count(dataset, LEAT_OK, &err) == ELEMENTS ? GOOD : WRONG;
}

static int cache(const char *path) {
    leat_error err = {0};
    int n = count(leat_dataset_cache_to_file(numbers(ELEMENTS), path, &err), LEAT_OK, &err);
    return n == ELEMENTS ? GOOD : WRONG;
}

/* ---- leftovers ---- */

/* Runs below a folder, and the folders of snapshots. */
static int count_runs(const char *path) {
    int runs = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char child[2048];
        struct stat st;
        size_t digits = strspn(entry->d_name, "0123456789");
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (entry->d_name[digits] == '\0' && stat(child, &st) == 0 && S_ISDIR(st.st_mode))
            runs += 1 + count_runs(child);
    }
    if (folder != NULL)
        closedir(folder);
    return runs;
}

/* Files by which writers hold their runs. */
static int count_writers(const char *path) {
    int writers = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char child[2048];
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        writers += strcmp(entry->d_name, ".writer") == 0;
        if (entry->d_name[0] != '.')
            writers += count_writers(child);
    }
    if (folder != NULL)
        closedir(folder);
    return writers;
}

static void test_save(void **state) {
    (void)state;
    int killed = -1, n = 0;
    for (n = 1; killed == -1; n++) {
        const char *path = scratch_path("new");
        scratch_remove(path);
        killed = in_child(save_new, path, n);
        assert_true(killed == -1 || killed == GOOD);
        assert_int_equal(in_child(load_new_or_nothing, path, 0), GOOD);
        bool finished = in_child(load_new, path, 0) == GOOD;
        assert_int_equal(in_child(save_new, path, 0), GOOD);
        assert_int_equal(in_child(load_new, path, 0), GOOD);
        /* The dead writer's run is gone, unless it was finished: a state may read it. */
        assert_int_equal(count_runs(path), 1 + finished);
    }
    assert_true(n > 10);
}

/* Who removes the run of a dead writer dies, too. */
static void test_sweep(void **state) {
    (void)state;
    const char *path = scratch_path("swept");
    int last = 0, killed = -1, n = 0;
    /* The last call at which the dead writer leaves a run that is not finished. */
    for (n = 1; killed == -1; n++) {
        scratch_remove(path);
        killed = in_child(save_new, path, n);
        if (in_child(load_new, path, 0) != GOOD)
            last = n;
    }
    killed = -1;
    for (n = 1; killed == -1; n++) {
        scratch_remove(path);
        assert_int_equal(in_child(save_new, path, last), -1);
        killed = in_child(save_new, path, n);
        assert_true(killed == -1 || killed == GOOD);
        bool finished = in_child(load_new, path, 0) == GOOD;
        assert_int_equal(in_child(save_new, path, 0), GOOD);
        assert_int_equal(in_child(load_new, path, 0), GOOD);
        assert_int_equal(count_runs(path), 1 + finished);
    }
    assert_true(n > 10);
}

static void replace(body save) {
    int killed = -1, n = 0;
    for (n = 1; killed == -1; n++) {
        const char *path = scratch_path("old");
        scratch_remove(path);
        assert_int_equal(in_child(save_old, path, 0), GOOD);
        killed = in_child(save, path, n);
        assert_true(killed == -1 || killed == GOOD);
        assert_int_equal(in_child(killed == GOOD ? load_new : load_new_or_old, path, 0), GOOD);
        bool finished = in_child(load_new, path, 0) == GOOD;
        assert_int_equal(in_child(save, path, 0), GOOD);
        assert_int_equal(in_child(load_new, path, 0), GOOD);
        assert_int_equal(count_runs(path), 2 + finished);
    }
    assert_true(n > 10);
}

static void test_replaced(void **state) {
    (void)state;
    replace(save_new);
    replace(save_batches);
}

static void test_snapshot(void **state) {
    (void)state;
    int killed = -1, n = 0;
    for (n = 1; killed == -1; n++) {
        const char *path = scratch_path("snapshot");
        scratch_remove(path);
        killed = in_child(snapshot, path, n);
        assert_true(killed == -1 || killed == GOOD);
        assert_int_equal(in_child(snapshot, path, 0), GOOD);
        assert_int_equal(in_child(snapshot, path, 0), GOOD);
        assert_int_equal(count_runs(path), 2); /* the plan's folder, and its run */
        assert_int_equal(count_writers(path), 0);
    }
    assert_true(n > 10);
}

static void test_cache(void **state) {
    (void)state;
    int killed = -1, n = 0;
    for (n = 1; killed == -1; n++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/cache%d", scratch_folder, n);
        killed = in_child(cache, path, n);
        assert_true(killed == -1 || killed == GOOD);
        assert_int_equal(in_child(cache, path, 0), GOOD);
    }
    assert_true(n > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save),     cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_replaced), cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests_name("saved_killed", tests, scratch_setup, scratch_teardown);
}
