/* Options: structs of the caller's whose first member, size_t size, says how much of one the caller
 * knows (docs/VERSIONING.md). Only this file reads them: whoever takes one starts with its own
 * copy, which holds the defaults of this version. */
#ifndef LEATI_BASE_OPTIONS_H
#define LEATI_BASE_OPTIONS_H

#include <leat/base.h>

/* Reads `given` (NULL: nothing to read) over `own`, `known` bytes with the defaults in them. A
 * caller that knows fewer members leaves the others as they are. INVALID_ARGUMENT where `size` is
 * less than `first`, that of the struct's first version; UNIMPLEMENTED where the caller says
 * something in members that this library does not know. `name` is the struct's. */
LEAT_WARN_UNUSED leat_status leati_options_read(void *own, size_t known, size_t first,
                                                const void *given, const char *name,
                                                leat_error *err);

/* The same of a type that has not grown yet. One that has gives the offset of its first new member
 * as `first`. */
#define LEATI_OPTIONS(type, own, given, err)                                                       \
    leati_options_read((type *){own}, sizeof(type), sizeof(type), (const type *){given}, #type, err)

#endif
