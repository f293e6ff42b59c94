/* Finding and loading modules: see module.h.
 *
 * Happy path: the folder of this code is asked for, the first place that has the file is loaded,
 * and its table is of this version. Failure modes: each says what was not found and what to
 * install. Locks: one around all of it, also while a library's constructors run, which know nothing
 * of leat: two threads load one table, and a fork waits until the linker is done, as a child would
 * find a library half loaded. */
#include "base/module.h"
#include "base/error.h"
#include "base/fork.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096, LONGEST_PLACE = 64 };
#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

static const char *const places[] = {"", "../", "leat/", "../lib/leat/",
                                     "../" LEATI_LIBRARY_FOLDER "/leat/"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(modules, &lock);

/* The folder of this code, with its slash. */
static bool own_folder(char *out, size_t room) {
    Dl_info info;
    char path[LONGEST_PATH];
    if (dladdr((void *)(uintptr_t)leati_module_load, &info) == 0 || info.dli_fname == NULL)
        return false;
    /* A program knows itself by what it was started as. */
    ssize_t size = strchr(info.dli_fname, '/') == NULL || access(info.dli_fname, F_OK) != 0
                       ? readlink("/proc/self/exe", path, sizeof path - 1)
                       : snprintf(path, sizeof path, "%s", info.dli_fname);
    if (size <= 0 || (size_t)size >= sizeof path)
        return false;
    path[size] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    slash[1] = '\0';
    return snprintf(out, room, "%s", path) < (int)room;
}

static leat_status enter(leati_module *module, void *library, leat_error *err) {
    const leati_module_head *head = dlsym(library, NAME_OF(LEATI_MODULE_TABLE));
    if (head == NULL || strcmp(head->version, leat_version()) != 0 || head->size != module->size)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%s is of another build, of leat %.50s, and this is leat %s; install "
                          "both anew",
                          module->file, head != NULL ? head->version : "(unknown)", leat_version());
    module->table = head;
    return LEAT_OK;
}

/* Why the linker could not load a library, in its words: RESOURCE_EXHAUSTED where that is no fault
 * of the library, so that nobody goes on without it. */
static leat_status cause_of(const char *why) {
    static const char *const passing[] = {"emory", "map segment", "map zero-fill", "open files"};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (strstr(why, passing[i]) != NULL)
            return LEAT_RESOURCE_EXHAUSTED;
    return LEAT_UNIMPLEMENTED;
}

static leat_status fail_load(const leati_module *module, const char *why, leat_error *err) {
    if (cause_of(why) == LEAT_RESOURCE_EXHAUSTED)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "cannot load %s: %.300s; raise the limits on memory and on open files",
                          module->file, why);
    return leati_fail(err, LEAT_UNIMPLEMENTED,
                      "cannot load %s: %.300s; install %s, with which leat was built", module->file,
                      why, module->library);
}

static leat_status load_locked(leati_module *module, leat_error *err) {
    char folder[LONGEST_PATH], path[LONGEST_PATH + LONGEST_PLACE];
    if (!own_folder(folder, sizeof folder))
        return leati_fail(err, LEAT_UNIMPLEMENTED, "cannot find the folder of %s", module->file);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s%s", folder, places[i], module->file);
        if (access(path, F_OK) != 0)
            continue;
        /* It stays: gRPC, and what OpenSSL registers, cannot be unloaded. */
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        return library != NULL ? enter(module, library, err) : fail_load(module, dlerror(), err);
    }
    return leati_fail(
        err, LEAT_UNIMPLEMENTED,
        "%s is not beside %.300s, nor above it, nor in leat or ../lib/leat; install all of "
        "leat",
        module->file, folder);
}

leat_status leati_module_load(leati_module *module, leat_error *err) {
    pthread_mutex_lock(&lock);
    leat_status status = module->table != NULL ? LEAT_OK : load_locked(module, err);
    pthread_mutex_unlock(&lock);
    return status;
}

leat_status leati_module_data(const char *name, char *out, size_t room, leat_error *err) {
    static const char *const folders[] = {"", "../share/leat/", "../../data/"};
    char own[LONGEST_PATH];
    if (!own_folder(own, sizeof own))
        return leati_fail(err, LEAT_NOT_FOUND, "cannot find the folder of leat's own files");
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        int size = snprintf(out, room, "%s%s%s", own, folders[i], name);
        if (size > 0 && (size_t)size < room && access(out, R_OK | X_OK) == 0)
            return LEAT_OK;
    }
    return leati_fail(err, LEAT_NOT_FOUND,
                      "there is no folder %s beside %.300s, nor in ../share/leat; install all of "
                      "leat",
                      name, own);
}
