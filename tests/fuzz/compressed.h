/* What the targets of compressed streams share. */
#ifndef FUZZ_COMPRESSED_H
#define FUZZ_COMPRESSED_H

#include <leat/file.h>

/* Reads `data` as a compressed file in reads of several sizes, which must agree, and packs and
 * unpacks it. */
void fuzz_compressed(leat_compression compression, const uint8_t *data, size_t size);
/* Writes packed texts of several lengths to start from. */
void fuzz_compressed_seeds(leat_compression compression);

#endif
