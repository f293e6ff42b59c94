/* ZSTD streams; see compressed.c. */
#include "compressed.h"
#include "fuzz.h"

static void run(const uint8_t *data, size_t size) {
    fuzz_compressed(LEAT_COMPRESSION_ZSTD, data, size);
}

static void seeds(void) {
    fuzz_compressed_seeds(LEAT_COMPRESSION_ZSTD);
}

const fuzz_target fuzz_zstd = {
    .name = "zstd",
    .doc = "ZSTD streams",
    .run = run,
    .most = 4096,
    .seeds = seeds,
};
