/* leat index: the sidecar index of record files.
 *
 * Happy path: each file is passed over once and FILE.leat-index is written beside it; its number of
 * records is printed. Failure modes: a file that cannot be read, is damaged or compressed is one
 * message; the next file is still indexed and the exit status is 1. No locks. */
#include "file/index.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "file/fs.h"
#include <leat/file.h>
#include <stdio.h>

static void show(void *context, int64_t byte) {
    leati_progress_at(context, byte);
}

static leat_status index_file(const char *path, int64_t *records, leat_error *err) {
    leati_stat stat = {0};
    leati_progress progress;
    /* A file that is not there is said where it is read. */
    if (leati_fs_stat(path, &stat, &(leat_error){0}) != LEAT_OK)
        stat.size = 0;
    leati_progress_start(&progress, "bytes", stat.size);
    leat_status status = leati_index_write_watched(path, records, show, &progress, err);
    leati_progress_hide();
    return status;
}

static leati_exit run_index(void *options, char **arguments, int count) {
    (void)options;
    leati_exit code = LEATI_EXIT_OK;
    for (int i = 0; i < count; i++) {
        leat_error err = {0};
        int64_t records = 0;
        char text[32];
        if (index_file(arguments[i], &records, &err) == LEAT_OK) {
            printf("%s: %s records\n", arguments[i], leati_say_count(records, text));
            continue;
        }
        leati_say_failure(&err);
        /* The files behind it are indexed all the same; each stands for itself. */
        code = LEATI_EXIT_FAILURE;
    }
    return code;
}

const leati_command leati_command_index = {
    .name = "index",
    .summary = "write the index of record files and tar shards, to find records by number",
    .arguments = "FILE...",
    .description =
        "Writes FILE.leat-index beside each plain TFRecord file: where every record\n"
        "starts. Readers that find it know the number of records and go to any of them\n"
        "at once. After a file is written again, run this again; an index that does not\n"
        "fit its file is an error, never wrong data. Prints the number of records.",
    .min_arguments = 1,
    .max_arguments = -1,
    .run = run_index,
};
