/* A folder of a test's own: made at its start, removed with all that is in it at its end.
 *
 * Header only: include it after "support/cmocka.h". One folder at a time; it lies where
 * TMPDIR says. scratch_setup and scratch_teardown fit cmocka's setup and teardown, of one test or
 * of a group. Whatever goes wrong fails the test. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_UNUSED __attribute__((unused))

static char scratch_folder[512];

SCRATCH_UNUSED static int scratch_setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/leat-test-XXXXXX",
             base != NULL && *base ? base : P_tmpdir);
    return mkdtemp(scratch_folder) != NULL ? 0 : -1;
}

SCRATCH_UNUSED static void scratch_remove(const char *path) {
    if (remove(path) == 0 || errno == ENOENT)
        return;
    (void)chmod(path, 0700);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char child[2048];
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            scratch_remove(child);
    }
    closedir(folder);
    (void)remove(path);
}

SCRATCH_UNUSED static int scratch_teardown(void **state) {
    (void)state;
    scratch_remove(scratch_folder);
    return 0;
}

/* The path of `name` in the folder; one of eight static texts, used in turn. */
SCRATCH_UNUSED static const char *scratch_path(const char *name) {
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

/* Writes a file and returns its path. */
SCRATCH_UNUSED static const char *scratch_write(const char *name, const void *data, size_t size) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (size > 0)
        assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* A whole file; free() it. A byte of 0 follows. */
SCRATCH_UNUSED static uint8_t *scratch_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    assert_true(end >= 0);
    rewind(file);
    uint8_t *data = malloc((size_t)end + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)end, file), end);
    data[end] = 0;
    (void)fclose(file);
    *size = (size_t)end;
    return data;
}

/* Makes the process an ordinary user until scratch_regain_root, so that permissions count; false if
 * that cannot be. The folder is opened to everybody. */
SCRATCH_UNUSED static bool scratch_drop_root(void) {
    if (geteuid() != 0)
        return true;
    assert_int_equal(chmod(scratch_folder, 0755), 0);
    if (seteuid(65534) != 0)
        return false;
    if (eaccess(scratch_folder, R_OK) == 0)
        return true;
    assert_int_equal(seteuid(0), 0);
    return false;
}

SCRATCH_UNUSED static void scratch_regain_root(void) {
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

/* How many names the folder has. */
SCRATCH_UNUSED static int scratch_count(void) {
    int count = 0;
    DIR *folder = opendir(scratch_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

#endif
