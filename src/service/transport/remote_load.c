/* Finding the module libleat_grpc.so: beside the file that this code lies in (the library, the
 * tool, a program or the Python extension), in the folder above, or in its ../lib. Nothing is
 * searched for by the system's paths, so it is the module that was installed with this code. */
#include "service/transport/remote.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

typedef const leati_grpc_module *(*enter_function)(const leati_grpc_host *host);

#ifdef LEATI_HAVE_GRPC
static const char *const places[] = {"", "../", "../lib/", "../" LEATI_LIBRARY_FOLDER "/"};

/* The folder of this code, with its slash. */
static bool own_folder(char *out, size_t room) {
    Dl_info info;
    char path[LONGEST_PATH];
    if (dladdr((void *)(uintptr_t)leati_remote_load, &info) == 0 || info.dli_fname == NULL)
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

static const leati_grpc_module *enter(void *library, const leati_grpc_host *host, leat_error *err) {
    void *symbol = dlsym(library, LEATI_GRPC_MODULE_ENTRY);
    enter_function function;
    memcpy(&function, &symbol, sizeof function);
    const leati_grpc_module *module = function != NULL ? function(host) : NULL;
    if (module != NULL && strcmp(module->version, leat_version()) == 0)
        return module;
    leati_fail(err, LEAT_FAILED_PRECONDITION,
               "libleat_grpc.so is of leat %.50s, and this is leat %s; install both anew",
               module != NULL ? module->version : "(unknown)", leat_version());
    return NULL;
}

const leati_grpc_module *leati_remote_load(const leati_grpc_host *host, leat_error *err) {
    char folder[LONGEST_PATH], path[LONGEST_PATH + 64];
    if (!own_folder(folder, sizeof folder)) {
        leati_fail(err, LEAT_UNIMPLEMENTED, "cannot find the folder of libleat_grpc.so");
        return NULL;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%slibleat_grpc.so", folder, places[i]);
        if (access(path, F_OK) != 0)
            continue;
        /* It stays for as long as the process: gRPC cannot be unloaded. */
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library != NULL)
            return enter(library, host, err);
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "cannot load gRPC: %.300s; install libgrpc++, with which leat was built",
                   dlerror());
        return NULL;
    }
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "libleat_grpc.so is not beside %.300s, nor above it, nor in ../lib; install all of "
               "leat",
               folder);
    return NULL;
}
#else
const leati_grpc_module *leati_remote_load(const leati_grpc_host *host, leat_error *err) {
    (void)host;
    leati_fail(err, LEAT_UNIMPLEMENTED,
               "leat was built without gRPC, so services stay within a process; install "
               "libgrpc++-dev and build again");
    return NULL;
}
#endif
