/* A folder of a case's own, made where TMPDIR says and removed with all that is in it. Without
 * TMPDIR it lies in memory where the machine has such a place: what is written there is synced to
 * the disk thousands of times, whose speed is not under test. */
#include "golden.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool golden_folder_make(char *path, size_t size) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == '\0')
        base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : P_tmpdir;
    snprintf(path, size, "%s/leat-golden-XXXXXX", base);
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

json_t *golden_with_folder(const json_t *json, const char *folder) {
    const char *key = NULL, *text = json_string_value(json), *at = NULL;
    json_t *value = NULL, *out = NULL;
    if (text != NULL && (at = strstr(text, "$TMP")) != NULL)
        return json_sprintf("%.*s%s%s", (int)(at - text), text, folder, at + 4);
    if (json_is_array(json)) {
        out = json_array();
        for (size_t i = 0; i < json_array_size(json); i++)
            json_array_append_new(out, golden_with_folder(json_array_get(json, i), folder));
        return out;
    }
    if (json_is_object(json)) {
        out = json_object();
        json_object_foreach((json_t *)json, key, value) {
            json_object_set_new(out, key, golden_with_folder(value, folder));
        }
        return out;
    }
    return json_copy((json_t *)json);
}
