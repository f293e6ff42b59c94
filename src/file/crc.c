/* CRC32C by ISA-L, whose crc32_iscsi takes at most INT_MAX bytes at a time and leaves the inversion
 * at both ends to its caller. Cannot fail. */
#include "file/crc.h"
#include <isa-l/crc.h>

uint32_t leati_crc_crc32c(const void *data, size_t size) {
    return leati_crc_crc32c_extend(0, data, size);
}

uint32_t leati_crc_crc32c_extend(uint32_t crc, const void *data, size_t size) {
    unsigned char *at = (unsigned char *)(uintptr_t)data; /* ISA-L's prototype lacks const */
    crc = ~crc;
    while (size > 0) {
        size_t part = size < (1u << 30) ? size : 1u << 30;
        crc = crc32_iscsi(at, (int)part, crc);
        at += part;
        size -= part;
    }
    return ~crc;
}
