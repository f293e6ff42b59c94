/* Patterns of file names: any pattern gives a sorted list, in the time that libFuzzer grants. Those
 * that leave the folder are not tried. */
#include "file/glob.h"
#include "fuzz.h"
#include <string.h>

static void run(const uint8_t *data, size_t size) {
    char pattern[200];
    const char *patterns[] = {pattern, "files/list/*"};
    leati_paths paths = {0};
    leat_error err = {0};
    if (size >= sizeof pattern || memchr(data, 0, size) != NULL)
        return;
    memcpy(pattern, data, size);
    pattern[size] = '\0';
    if (pattern[0] == '/' || strstr(pattern, "..") != NULL || strstr(pattern, "://") != NULL)
        return;
    leat_status status = leati_glob(patterns, 2, false, &paths, &err);
    fuzz_check_error("leati_glob", status, &err);
    for (size_t i = 1; i < paths.count && status == LEAT_OK; i++)
        if (strcmp(paths.values[i - 1], paths.values[i]) > 0)
            fuzz_broken("\"%s\" comes before \"%s\"", paths.values[i - 1], paths.values[i]);
    leati_fs_paths_fini(&paths);
}

static void seeds(void) {
    static const char *const patterns[] = {"files/list/*.txt",  "files/*/[a-c]*",
                                           "files/list/x?.txt", "f*/l*t/\\a.txt",
                                           "*/*/*/*",           "[!a]*/*[^.]?"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        fuzz_seed(patterns[i], strlen(patterns[i]));
}

const fuzz_target fuzz_glob = {
    .name = "glob",
    .doc = "patterns of file names",
    .run = run,
    .most = 100,
    .seeds = seeds,
};
