/* How far data may unfold, for the whole process: two numbers, read by decoders before they take
 * memory. A negative one is INVALID_ARGUMENT. No locks. */
#include "base/limits.h"

#include "base/error.h"
#include <stdatomic.h>

#define PIXELS (INT64_C(1) << 28)
#define BYTES (INT64_C(1) << 30)

static atomic_llong most_pixels = PIXELS;
static atomic_llong most_bytes = BYTES;

leat_status leat_limits_set_decoding(int64_t pixels, int64_t bytes, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (pixels < 0 || bytes < 0)
        return leati_refuse(err, VALUE,
                            "limits of %lld pixels and %lld bytes; expected 0 or more, 0 for the "
                            "default",
                            (long long)pixels, (long long)bytes);
    atomic_store(&most_pixels, pixels > 0 ? pixels : PIXELS);
    atomic_store(&most_bytes, bytes > 0 ? bytes : BYTES);
    return LEAT_OK;
}

uint64_t leati_limits_max_pixels(void) {
    /* Relaxed: the number stands alone and guards no other memory. */
    return (uint64_t)atomic_load_explicit(&most_pixels, memory_order_relaxed);
}

uint64_t leati_limits_max_unpacked(void) {
    return (uint64_t)atomic_load_explicit(&most_bytes, memory_order_relaxed);
}
