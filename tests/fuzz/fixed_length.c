/* Files of records of one size: the records are those that the sizes give, in reads of any size.
 * The first three bytes of an input are header, record and footer. */
#include "fuzz.h"
#include <stdlib.h>

enum { OPTIONS = 3 };

static void split(const uint8_t *data, size_t size, size_t header, size_t record, size_t footer,
                  fuzz_outcomes *out) {
    size_t count = size < header + footer ? 0 : (size - header - footer) / record;
    out->count = 0;
    for (size_t i = 0; i < count && i < FUZZ_OUTCOMES; i++) {
        leat_string value = {(const char *)data + header + i * record, record};
        leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &value);
        leat_element element = {.num_tensors = 1, .tensors = &tensor};
        out->hashes[out->count++] = fuzz_hash_element(&element, 0);
    }
    out->ended = true;
    /* A file that does not come out even is an error instead, at once and at every call. */
    out->limited = count >= FUZZ_OUTCOMES;
}

static bool is_even(size_t size, size_t header, size_t record, size_t footer) {
    return size >= header + footer && (size - header - footer) % record == 0;
}

static void run(const uint8_t *bytes, size_t all) {
    static fuzz_outcomes expected, found;
    static const int64_t reads[] = {0, 1, 100};
    if (all < OPTIONS)
        return;
    const uint8_t *data = bytes + OPTIONS;
    size_t size = all - OPTIONS, header = bytes[0] % 16, record = 1 + bytes[1] % 32,
           footer = bytes[2] % 16;
    const char *path = fuzz_file(data, size);
    split(data, size, header, record, footer, &expected);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        leat_error err = {0};
        leat_dataset_fixed_length_record_options options = {
            LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS, .header_bytes = (int64_t)header,
            .footer_bytes = (int64_t)footer, .buffer_size = reads[i]};
        fuzz_run(leat_dataset_fixed_length_record(&path, 1, (int64_t)record, &options, &err),
                 i == 1, &found);
        if (is_even(size, header, record, footer))
            fuzz_compare("records", &expected, &found);
        else if (found.count == 0 ||
                 found.hashes[0] !=
                     (size < header + footer ? LEAT_INTERNAL : LEAT_INVALID_ARGUMENT))
            fuzz_broken("%zu bytes for header %zu, records of %zu, footer %zu are no error", size,
                        header, record, footer);
    }
}

const fuzz_target fuzz_fixed_length = {
    .name = "fixed_length",
    .doc = "files of records of one size",
    .run = run,
    .most = 1024,
    .folders = "files/fixed",
    .ending = ".bin",
    .options = OPTIONS,
};
