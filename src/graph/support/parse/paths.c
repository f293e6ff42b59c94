/* Names of files; see paths.h. Fails as said there, and without memory. No locks. */
#include "graph/support/parse/paths.h"

#include "file/fs.h"

#include <string.h>

leat_status leati_path_text(leati_kernel_call *call, leat_string name, char **out,
                            leat_error *err) {
    if (name.size > LEATI_MAX_PATH || (name.size > 0 && memchr(name.data, 0, name.size) != NULL))
        return leati_refuse(err, VALUE,
                            "a file name of %zu bytes; expected at most %d and no zero byte",
                            name.size, LEATI_MAX_PATH);
    /* A copy, as strings of a tensor do not end in a zero byte, which the system asks for. */
    char *path = leati_arena_alloc(call->arena, name.size + 1);
    if (path == NULL)
        return leati_no_memory(err);
    if (name.size > 0)
        memcpy(path, name.data, name.size);
    path[name.size] = '\0';
    *out = path;
    return LEAT_OK;
}
