/* Compiled programs, kept on the disk between processes.
 *
 * Happy path: with LEAT_DEVICE_CACHE a program is looked for in that folder by a hash of its text,
 * its options, the plug-in and the machine; a file that is there is loaded, else the program is
 * compiled and its serialised form written, whole or not at all. A file holds a hash of what
 * follows, so that a damaged one is told: it is removed with a warning, and the program compiled.
 * The oldest files are removed beyond LEAT_DEVICE_CACHE_BYTES (1 GiB). Failures are the compiler's
 * alone: what cannot be read or written is a warning, once. Several processes may share a folder.
 * No locks. */
#include "exec/pjrt/pjrt.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "file/atomic.h"
#include "file/fs.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#define MAGIC "leatdev1"
enum { HEAD = 8 + LEATI_SHA256_BYTES, NAME = 2 * LEATI_SHA256_BYTES };
#define SUFFIX ".compiled"

static int warned;

static void warn(const char *what, const leat_error *err) {
    leati_log_once(&warned, LEAT_LOG_WARNING,
                   "the cache of compiled programs %s: %s; programs are compiled instead", what,
                   err->text);
}

/* ---- names ---- */

static void add(leati_sha256 *hash, const void *bytes, size_t size) {
    uint64_t length = size;
    leati_sha256_add(hash, &length, sizeof length);
    leati_sha256_add(hash, bytes, size);
}

/* What instructions this processor has: code for another one would not run here. */
static void add_processor(leati_sha256 *hash) {
    char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0 ||
            strncmp(line, "model name", 10) == 0) {
            add(hash, line, strlen(line));
            if (line[0] != 'm')
                break;
        }
    if (file != NULL)
        (void)fclose(file);
}

static void add_plugin(leati_sha256 *hash, const leati_pjrt_client *client) {
    struct stat found = {0};
    (void)stat(client->path, &found);
    int64_t numbers[2] = {(int64_t)found.st_size, (int64_t)found.st_mtime};
    add(hash, client->path, strlen(client->path));
    add(hash, numbers, sizeof numbers);
    add(hash, client->platform, strlen(client->platform));
    add(hash, client->version, strlen(client->version));
}

/* FOLDER/HASH.compiled, owned. */
static char *path_of(const char *folder, const leati_pjrt_client *client,
                     const leati_pjrt_program *program) {
    uint8_t bytes[LEATI_SHA256_BYTES];
    leati_sha256 hash;
    size_t folder_size = strlen(folder), room = folder_size + NAME + sizeof SUFFIX + 1;
    leati_sha256_begin(&hash);
    add_plugin(&hash, client);
    add_processor(&hash);
    add(&hash, program->options, program->options_size);
    add(&hash, program->text, program->text_size);
    leati_sha256_end(&hash, bytes);
    char *path = leati_alloc(room, 1);
    if (path == NULL)
        return NULL;
    int size = snprintf(path, room, "%s/", folder);
    for (int i = 0; i < LEATI_SHA256_BYTES; i++)
        size += snprintf(path + size, room - (size_t)size, "%02x", bytes[i]);
    snprintf(path + size, room - (size_t)size, SUFFIX);
    return path;
}

/* ---- reading ---- */

static bool is_whole(const leat_buffer *file) {
    uint8_t bytes[LEATI_SHA256_BYTES];
    const char *data = file->data;
    leati_sha256 hash;
    if (file->size < HEAD || memcmp(data, MAGIC, 8) != 0)
        return false;
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, data + HEAD, file->size - HEAD);
    leati_sha256_end(&hash, bytes);
    return leati_sha256_same(bytes, (const uint8_t *)data + 8);
}

/* NULL: there is none that can be used. */
static PJRT_LoadedExecutable *load(const leati_pjrt_client *client, const char *path) {
    leat_buffer *file = NULL;
    leat_error err = {0};
    if (leati_file_read_all(path, &file, &err) != LEAT_OK) {
        if (err.code != LEAT_NOT_FOUND)
            warn("cannot be read", &err);
        return NULL;
    }
    PJRT_LoadedExecutable *loaded = NULL;
    leat_status status = LEAT_OK;
    if (!is_whole(file)) {
        status = leati_fail(&err, LEAT_DATA_LOSS, "%s is damaged", path);
    } else {
        LEATI_PJRT_ARGS(Executable_DeserializeAndLoad, args);
        args.a.client = client->client;
        args.a.serialized_executable = (const char *)file->data + HEAD;
        args.a.serialized_executable_size = file->size - HEAD;
        status = LEATI_PJRT_CALL(client, Executable_DeserializeAndLoad, args, path, &err);
        loaded = status == LEAT_OK ? args.a.loaded_executable : NULL;
    }
    if (status != LEAT_OK) {
        warn("has a file that cannot be used", &err);
        (void)(leati_fs_remove(path, &err) == LEAT_OK);
    } else {
        /* It was used: others are older now. */
        (void)utimes(path, NULL);
    }
    leat_buffer_unref(file);
    return loaded;
}

/* ---- writing ---- */

static leat_status write_file(const char *path, const char *bytes, size_t size, leat_error *err) {
    uint8_t sum[LEATI_SHA256_BYTES];
    leati_sha256 hash;
    leati_output *output = NULL;
    leati_sha256_begin(&hash);
    leati_sha256_add(&hash, bytes, size);
    leati_sha256_end(&hash, sum);
    LEATI_TRY(leati_atomic_open(path, LEATI_ATOMIC_FILE, &output, err));
    leat_status status = leati_atomic_write(output, MAGIC, 8, err);
    if (status == LEAT_OK)
        status = leati_atomic_write(output, sum, sizeof sum, err);
    if (status == LEAT_OK)
        status = leati_atomic_write(output, bytes, size, err);
    if (status == LEAT_OK)
        return leati_atomic_commit(output, err);
    leati_atomic_discard(output);
    return status;
}

static leat_status serialise(const leati_pjrt_client *client, PJRT_Executable *executable,
                             const char *path, leat_error *err) {
    LEATI_PJRT_ARGS(Executable_Serialize, args);
    args.a.executable = executable;
    LEATI_TRY(LEATI_PJRT_CALL(client, Executable_Serialize, args, "serialise a program", err));
    leat_status status =
        write_file(path, args.a.serialized_bytes, args.a.serialized_bytes_size, err);
    args.a.serialized_executable_deleter(args.a.serialized_executable);
    return status;
}

static leat_status save(const leati_pjrt_client *client, PJRT_LoadedExecutable *loaded,
                        const char *path, leat_error *err) {
    LEATI_PJRT_ARGS(LoadedExecutable_GetExecutable, args);
    LEATI_PJRT_ARGS(Executable_Destroy, destroy);
    args.a.loaded_executable = loaded;
    LEATI_TRY(
        LEATI_PJRT_CALL(client, LoadedExecutable_GetExecutable, args, "serialise a program", err));
    leat_status status = serialise(client, args.a.executable, path, err);
    destroy.a.executable = args.a.executable;
    LEATI_PJRT_DROP(client, Executable_Destroy, destroy);
    return status;
}

/* ---- its size ---- */

/* All its files, and the oldest. */
typedef struct files {
    const char *folder;
    int64_t bytes, oldest_changed, oldest_bytes;
    char oldest[NAME + sizeof SUFFIX];
} files;

static leat_status see_file(void *context, const char *name, leati_path_kind kind,
                            leat_error *err) {
    files *all = context;
    leati_stat found;
    char path[4096];
    (void)kind, (void)err;
    size_t size = strlen(name), suffix = sizeof SUFFIX - 1;
    if (size != NAME + suffix || strcmp(name + NAME, SUFFIX) != 0)
        return LEAT_OK;
    snprintf(path, sizeof path, "%s/%s", all->folder, name);
    /* Another process may have removed it. */
    if (leati_fs_stat(path, &found, &(leat_error){0}) != LEAT_OK)
        return LEAT_OK;
    all->bytes += found.size;
    if (all->oldest[0] == '\0' || found.changed < all->oldest_changed) {
        all->oldest_changed = found.changed;
        all->oldest_bytes = found.size;
        memcpy(all->oldest, name, size + 1);
    }
    return LEAT_OK;
}

static int64_t most_bytes(void) {
    const char *text = getenv("LEAT_DEVICE_CACHE_BYTES");
    long long wanted = text != NULL ? strtoll(text, NULL, 10) : 0;
    return wanted > 0 ? wanted : INT64_C(1) << 30;
}

static leat_status make_room(const char *folder, leat_error *err) {
    char path[4096];
    for (;;) {
        files all = {.folder = folder};
        LEATI_TRY(leati_fs_list(folder, see_file, &all, err));
        if (all.bytes <= most_bytes() || all.oldest[0] == '\0')
            return LEAT_OK;
        snprintf(path, sizeof path, "%s/%s", folder, all.oldest);
        leat_status status = leati_fs_remove(path, err);
        if (status != LEAT_OK && status != LEAT_NOT_FOUND)
            return status;
    }
}

/* ---- programs ---- */

static leat_status compile(const leati_pjrt_client *client, const leati_pjrt_program *given,
                           PJRT_LoadedExecutable **out, leat_error *err) {
    PJRT_Program program = {.struct_size = sizeof program,
                            .code = (char *)given->text,
                            .code_size = given->text_size,
                            .format = "mlir",
                            .format_size = 4};
    LEATI_PJRT_ARGS(Client_Compile, args);
    args.a.client = client->client;
    args.a.program = &program;
    args.a.compile_options = (const char *)given->options;
    args.a.compile_options_size = given->options_size;
    LEATI_TRY(LEATI_PJRT_CALL(client, Client_Compile, args, "compile the step", err));
    *out = args.a.executable;
    return LEAT_OK;
}

/* Can its programs be written and read? */
static bool can_serialise(const leati_pjrt_client *client) {
    const PJRT_Api *api = client->api;
    return api->struct_size > offsetof(PJRT_Api, PJRT_Executable_DeserializeAndLoad) &&
           api->PJRT_Executable_Serialize != NULL && api->PJRT_Executable_Destroy != NULL &&
           api->PJRT_LoadedExecutable_GetExecutable != NULL &&
           api->PJRT_Executable_DeserializeAndLoad != NULL;
}

leat_status leati_pjrt_program_load(const leati_pjrt_client *client,
                                    const leati_pjrt_program *program, PJRT_LoadedExecutable **out,
                                    leat_error *err) {
    const char *folder = getenv("LEAT_DEVICE_CACHE");
    if (folder == NULL || folder[0] == '\0' || !can_serialise(client))
        return compile(client, program, out, err);
    char *path = path_of(folder, client, program);
    if (path == NULL)
        return leati_no_memory(err);
    *out = load(client, path);
    bool was_there = *out != NULL;
    LEATI_TELL(EXEC, INFO, "%s: a program of %zu bytes, %s", client->kind, program->text_size,
               was_there ? "kept from before" : "compiled");
    leat_status status = was_there ? LEAT_OK : compile(client, program, out, err);
    leat_error failure = {0};
    if (status == LEAT_OK && !was_there &&
        (leati_fs_mkdirs(folder, &failure) != LEAT_OK ||
         save(client, *out, path, &failure) != LEAT_OK || make_room(folder, &failure) != LEAT_OK))
        warn("cannot be written", &failure);
    leati_free(path);
    return status;
}
