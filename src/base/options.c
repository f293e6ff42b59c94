/* Reading a caller's options: see options.h. No locks. */
#include "base/options.h"
#include "base/error.h"
#include <ctype.h>
#include <string.h>

/* Of "leat_dataset_map_options": "LEAT_DATASET_MAP". */
static void print_macro(const char *name, char *out, size_t room) {
    size_t length = strlen(name) - strlen("_options");
    length = length < room ? length : room - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)toupper((unsigned char)name[i]);
    out[length] = '\0';
}

leat_status leati_options_read(void *own, size_t known, size_t first, const void *given,
                               const char *name, leat_error *err) {
    const char *from = given;
    size_t size = 0;
    if (given == NULL)
        return LEAT_OK;
    /* Copied, because the caller's type is not known here, nor is the rest of it before its
     * size. */
    memcpy(&size, given, sizeof(size));
    if (size < first) {
        char macro[96];
        print_macro(name, macro, sizeof(macro));
        return leati_refuse(err, VALUE,
                            "%s.size is %zu; expected at least %zu: initialise it with %s_DEFAULTS",
                            name, size, first, macro);
    }
    /* Members of a later version that are all 0 bytes ask for nothing. */
    for (size_t i = known; i < size; i++) {
        if (from[i] != 0) {
            return leati_fail(err, LEAT_UNIMPLEMENTED,
                              "%s.size is %zu, and this library knows %zu bytes of it; leave later "
                              "members at 0, or use a newer leat",
                              name, size, known);
        }
    }
    size = size < known ? size : known;
    memcpy((char *)own + sizeof(size), from + sizeof(size), size - sizeof(size));
    return LEAT_OK;
}
