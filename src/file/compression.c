/* The names of compressions, as TensorFlow spells them. No state, no locks. */
#include "base/error.h"
#include <leat/file.h>
#include <string.h>

static const char *const names[] = {"", "ZLIB", "GZIP"};

const char *leat_compression_name(leat_compression compression) {
    return (unsigned)compression < sizeof names / sizeof *names ? names[compression] : "unknown";
}

leat_status leat_compression_from_name(const char *text, leat_compression *out, leat_error *err) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text ? text : "", names[i]) == 0) {
            *out = (leat_compression)i;
            return LEAT_OK;
        }
    }
    if (strcmp(text, "SNAPPY") == 0)
        return leati_fail(err, LEAT_UNIMPLEMENTED,
                          "compression_type \"SNAPPY\" is not there yet; write the files with "
                          "\"GZIP\", \"ZLIB\" or \"\"");
    return leati_fail(err, LEAT_INVALID_ARGUMENT,
                      "compression_type is \"%.100s\"; expected \"\", \"ZLIB\" or \"GZIP\"", text);
}
