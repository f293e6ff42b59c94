/* CRC32C by ISA-L, whose crc32_iscsi takes at most INT_MAX bytes at a time and leaves the inversion
 * at both ends to its caller. Only a stop fails. */
#include "file/crc.h"

#include "base/minmax.h"
#include "base/stop.h"
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

leat_status leati_crc_of_many(const void *data, size_t size, uint32_t *crc, leat_error *err) {
    /* Less than a millisecond, also where the bytes are not in a cache. */
    const size_t most = 4 * (size_t)LEATI_STOP_WORK;
    uint32_t found = 0;
    leat_status status = LEAT_OK;
    leati_stop_scope scope = leati_stop_enter(NULL, NULL, NULL);
    for (size_t done = 0; done < size && status == LEAT_OK; done += most) {
        found =
            leati_crc_crc32c_extend(found, (const char *)data + done, LEATI_MIN(size - done, most));
        if (size - done > most)
            status = leati_stop_check(err);
    }
    leati_stop_leave(scope);
    if (status == LEAT_OK)
        *crc = found;
    return status;
}
