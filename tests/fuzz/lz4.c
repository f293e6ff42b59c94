/* LZ4 streams; see compressed.c. */
#include "compressed.h"
#include "fuzz.h"

static void run(const uint8_t *data, size_t size) {
    fuzz_compressed(LEAT_COMPRESSION_LZ4, data, size);
}

static void seeds(void) {
    fuzz_compressed_seeds(LEAT_COMPRESSION_LZ4);
}

const fuzz_target fuzz_lz4 = {
    .name = "lz4",
    .doc = "LZ4 streams",
    .run = run,
    .most = 4096,
    .seeds = seeds,
};
