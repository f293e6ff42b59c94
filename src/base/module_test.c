/* Modules: found beside the program, loaded once, by several threads and around forks; and what is
 * said where they are missing, damaged or of another build. tests/units/module.c makes them. */
#include "support/cmocka.h"

#include "base/module.h"
#include "support/refused.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FORKS = 30, LIMIT_S = 60 };

static leati_module module_of(const char *file) {
    return (leati_module){.file = file, .library = "libforeign", .size = sizeof(leati_module_head)};
}

static void is_loaded_once(void **state) {
    (void)state;
    leat_error err = {0};
    leati_module module = module_of("libunit_module_same.so"), again = module;
    assert_int_equal(leati_module_load(&module, &err), LEAT_OK);
    const leati_module_head *table = module.table;
    assert_string_equal(table->version, leat_version());
    assert_int_equal(leati_module_load(&module, &err), LEAT_OK);
    assert_int_equal(leati_module_load(&again, &err), LEAT_OK);
    assert_ptr_equal(module.table, table);
    assert_ptr_equal(again.table, table);
}

static void assert_not_loaded(leati_module module, leat_status code, const char *keyword) {
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        assert_int_equal(leati_module_load(&module, &err), code);
        assert_refused(&err, code, LEAT_REASON_NONE, keyword);
        assert_refused(&err, code, LEAT_REASON_NONE, module.file);
        assert_null(module.table);
    }
}

static void what_is_missing_is_said(void **state) {
    (void)state;
    assert_not_loaded(module_of("libunit_module_none.so"), LEAT_UNIMPLEMENTED, NULL);
}

static void other_builds_are_refused(void **state) {
    (void)state;
    leati_module longer = module_of("libunit_module_same.so");
    longer.size++;
    assert_not_loaded(module_of("libunit_module_other.so"), LEAT_FAILED_PRECONDITION, "0.0.7");
    assert_not_loaded(module_of("libunit_module_bare.so"), LEAT_FAILED_PRECONDITION, "unknown");
    assert_not_loaded(longer, LEAT_FAILED_PRECONDITION, leat_version());
}

/* The name of a file beside this program. */
static void path_beside(const char *name, char *out, size_t room) {
    ssize_t size = readlink("/proc/self/exe", out, room);
    assert_in_range(size, 1, room - 1);
    out[size] = '\0';
    char *slash = strrchr(out, '/') + 1;
    snprintf(slash, room - (size_t)(slash - out), "%s", name);
}

/* Once the file is whole it is loaded, without a start anew. */
static void damaged_files_are_refused_until_they_are_whole(void **state) {
    (void)state;
    char damaged[4096], whole[4096];
    leat_error err = {0};
    path_beside("libunit_module_damaged.so", damaged, sizeof damaged);
    path_beside("libunit_module_same.so", whole, sizeof whole);
    unlink(damaged);
    FILE *file = fopen(damaged, "we");
    assert_non_null(file);
    fputs("no library\n", file);
    fclose(file);
    leati_module module = module_of("libunit_module_damaged.so");
    assert_not_loaded(module, LEAT_UNIMPLEMENTED, "libforeign");
    unlink(damaged);
    assert_int_equal(symlink(whole, damaged), 0);
    assert_int_equal(leati_module_load(&module, &err), LEAT_OK);
    unlink(damaged);
}

static pthread_barrier_t all_here;
static leati_module shared;

static void *load_with_others(void *context) {
    leat_error err = {0};
    (void)context;
    pthread_barrier_wait(&all_here);
    return leati_module_load(&shared, &err) == LEAT_OK ? (void *)(uintptr_t)shared.table : NULL;
}

static void threads_load_one_table(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    void *found[THREADS];
    pthread_barrier_init(&all_here, NULL, THREADS);
    shared = module_of("libunit_module_same.so");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_with_others, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &found[i]);
    pthread_barrier_destroy(&all_here);
    for (int i = 0; i < THREADS; i++) {
        assert_non_null(found[i]);
        assert_ptr_equal(found[i], shared.table);
    }
}

static atomic_bool over;

static void *load_on_and_on(void *context) {
    leat_error err = {0};
    while (!atomic_load(&over)) {
        leati_module module = module_of("libunit_module_same.so");
        if (leati_module_load(&module, &err) != LEAT_OK)
            return context;
    }
    return NULL;
}

/* A child that is forked while another thread loads has neither that thread nor its lock. */
static void children_of_forks_load(void **state) {
    (void)state;
    pthread_t thread;
    void *failed = NULL;
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, load_on_and_on, &over), 0);
    int lost = 0;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            leat_error err = {0};
            leati_module module = module_of("libunit_module_same.so");
            (void)alarm(LIMIT_S);
            _exit(leati_module_load(&module, &err) != LEAT_OK);
        }
        int status = 0;
        lost += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    atomic_store(&over, true);
    pthread_join(thread, &failed);
    assert_int_equal(lost, 0);
    assert_null(failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_loaded_once),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(other_builds_are_refused),
        cmocka_unit_test(damaged_files_are_refused_until_they_are_whole),
        cmocka_unit_test(threads_load_one_table),
        cmocka_unit_test(children_of_forks_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
