/* Text files: the lines are those that a plain loop over the bytes finds, in reads of any size. */
#include "base/hash.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

/* What TensorFlow takes for lines: up to each '\n', without any '\r'; what follows the last one
 * only if it is not empty. */
static void split(const uint8_t *data, size_t size, fuzz_outcomes *out) {
    char *line = malloc(size + 1);
    size_t at = 0;
    out->count = 0;
    while (line != NULL && at < size && out->count < FUZZ_OUTCOMES) {
        size_t length = 0;
        for (; at < size && data[at] != '\n'; at++)
            if (data[at] != '\r')
                line[length++] = (char)data[at];
        if (at++ == size && length == 0)
            break;
        leat_string value = {line, length};
        leat_tensor tensor = leat_tensor_view(LEAT_STRING, LEAT_SCALAR, &value);
        leat_element element = {.num_tensors = 1, .tensors = &tensor};
        out->hashes[out->count++] = fuzz_hash_element(&element, 0);
    }
    out->ended = at >= size;
    out->limited = out->count == FUZZ_OUTCOMES;
    free(line);
}

static void run(const uint8_t *data, size_t size) {
    static fuzz_outcomes expected, found;
    static const int64_t reads[] = {0, 1, 3, 100};
    const char *path = fuzz_file(data, size);
    split(data, size, &expected);
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        leat_error err = {0};
        leat_dataset_text_line_options options = {LEAT_DATASET_TEXT_LINE_DEFAULTS,
                                                  .buffer_size = reads[i]};
        fuzz_run(leat_dataset_text_line(&path, 1, &options, &err), i == 1, &found);
        fuzz_compare("lines", &expected, &found);
    }
}

const fuzz_target fuzz_text_line = {
    .name = "text_line",
    .doc = "text files by lines",
    .run = run,
    .most = 2048,
    .folders = "files/text",
    .ending = ".txt",
};
