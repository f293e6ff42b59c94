/* Modules: parts of leat in files of their own, each linked with one large foreign library, so that
 * only who uses that library loads it, and what it brings. A module lies beside the file that this
 * code is in (the library, the tool, a program or the Python extension), in the folder above, in
 * its folder leat, or in ../lib/leat. Nothing is searched for by the system's paths, so it is the
 * module that was installed with this code.
 *
 * What a module gives is one table, LEATI_MODULE_TABLE, that begins with leati_module_head. It
 * refers to no symbol of leat's and keeps nothing of leat's, so nothing is there twice. */
#ifndef LEATI_BASE_MODULE_H
#define LEATI_BASE_MODULE_H

#include <leat/base.h>

/* The one symbol of a module; also the name of the variable in its source. */
#define LEATI_MODULE_TABLE leati_module_table

/* How a module's source defines its table. Valid C and C++. */
#ifdef __cplusplus
#define LEATI_MODULE_SHOWN extern "C" __attribute__((visibility("default")))
#else
#define LEATI_MODULE_SHOWN __attribute__((visibility("default")))
#endif

typedef struct leati_module_head {
    const char *version; /* leat's, for which it was built: LEATI_MODULE_FOR in its source */
    size_t size;         /* of the whole table */
} leati_module_head;

typedef struct leati_module {
    const char *file;    /* "libleat_grpc.so" */
    const char *library; /* the foreign one: "libgrpc++" */
    size_t size;         /* of the table */
    /* NULL until it is loaded, then for ever; the modules' lock. Who has loaded it, or holds
     * something of who has, reads without. */
    const void *table;
} leati_module;

/* Loads what is not loaded yet; it stays for as long as the process. Any thread, and in a child of
 * fork. Blocks for the linker alone. UNIMPLEMENTED where the file is not there, or it or its
 * library cannot be loaded; FAILED_PRECONDITION where it is of another version;
 * RESOURCE_EXHAUSTED without memory or descriptors for it. Then nothing is kept, and the next call
 * tries again. */
LEAT_WARN_UNUSED leat_status leati_module_load(leati_module *module, leat_error *err);

/* The path of a folder of data that is installed with this code: `name` beside the file that this
 * code is in or in ../share/leat, or in the source tree's data/ from its build folder. NOT_FOUND.
 */
LEAT_WARN_UNUSED leat_status leati_module_data(const char *name, char *out, size_t room,
                                               leat_error *err);

#endif
