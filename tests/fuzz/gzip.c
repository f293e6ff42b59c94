/* GZIP streams; see compressed.c. */
#include "compressed.h"
#include "fuzz.h"

static void run(const uint8_t *data, size_t size) {
    fuzz_compressed(LEAT_COMPRESSION_GZIP, data, size);
}

static void seeds(void) {
    fuzz_compressed_seeds(LEAT_COMPRESSION_GZIP);
}

const fuzz_target fuzz_gzip = {
    .name = "gzip",
    .doc = "GZIP streams",
    .run = run,
    .most = 4096,
    .folders = "files/text,files/fixed,files/tfrecord,files/csv",
    .ending = ".gz",
    .seeds = seeds,
};
