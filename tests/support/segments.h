/* Files of shared memory that a process has made and not removed; after cmocka.h. */
#ifndef LEATI_TESTS_SEGMENTS_H
#define LEATI_TESTS_SEGMENTS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline int segments_of(pid_t pid) {
    char begin[40];
    int count = 0;
    snprintf(begin, sizeof begin, "leat-%ld-", (long)pid);
    DIR *folder = opendir("/dev/shm");
    assert_non_null(folder);
    for (const struct dirent *at; (at = readdir(folder)) != NULL;)
        count += strncmp(at->d_name, begin, strlen(begin)) == 0;
    closedir(folder);
    return count;
}

#endif
