/* A folder of a case's own, made where TMPDIR says and removed with all that is in it. */
#include "golden.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool golden_folder_make(char *path, size_t size) {
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/leat-golden-XXXXXX", base != NULL && *base != '\0' ? base : P_tmpdir);
    return mkdtemp(path) != NULL;
}

void golden_folder_remove(const char *path) {
    if (remove(path) == 0 || errno == ENOENT)
        return;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char child[2048];
        snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            golden_folder_remove(child);
    }
    closedir(folder);
    (void)remove(path);
}
