/* Tar shards: the same samples and errors whatever the size of a read, and from any saved state.
 *
 * A header's check sum would stop nearly every changed input at its first block, so inputs are also
 * tried with the sums set right. */
#include "fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, SIZE_AT = 124, SUM_AT = 148 };

/* Sets the sums of the headers that stand where sizes say that they stand. */
static void set_sums(uint8_t *data, size_t size) {
    for (size_t at = 0; at + BLOCK <= size;) {
        uint8_t *header = data + at;
        unsigned sum = 0;
        char octal[13] = "", text[16];
        memset(header + SUM_AT, ' ', 8);
        for (int i = 0; i < BLOCK; i++)
            sum += header[i];
        if (sum == 8 * ' ') { /* a block of zeros */
            memset(header + SUM_AT, 0, 8);
            return;
        }
        snprintf(text, sizeof text, "%06o", sum);
        memcpy(header + SUM_AT, text, 7);
        memcpy(octal, header + SIZE_AT, 12);
        size_t length = strtoul(octal, NULL, 8);
        if (length > size)
            return;
        at += BLOCK + (length + BLOCK - 1) / BLOCK * BLOCK;
    }
}

static void compare_reads(const uint8_t *data, size_t size) {
    static fuzz_outcomes expected, found;
    static const int64_t reads[] = {1, 700};
    static const char *const fields[] = {"jpg;png", "cls"};
    const char *path = fuzz_file(data, size);
    leat_error err = {0};
    fuzz_run(leat_dataset_tar(&path, 1, fields, 2, NULL, &err), true, &expected);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        leat_dataset_tar_options options = {LEAT_DATASET_TAR_DEFAULTS, .buffer_size = reads[i]};
        fuzz_run(leat_dataset_tar(&path, 1, fields, 2, &options, &err), false, &found);
        fuzz_compare("samples", &expected, &found);
    }
}

static void run(const uint8_t *data, size_t size) {
    uint8_t *right = malloc(size + 1);
    compare_reads(data, size);
    if (right != NULL) {
        memcpy(right, data, size);
        set_sums(right, size);
        compare_reads(right, size);
    }
    free(right);
}

const fuzz_target fuzz_tar = {
    .name = "tar",
    .doc = "tar shards",
    .run = run,
    .most = 8192,
    .folders = "files/tar",
    .ending = ".tar",
};
