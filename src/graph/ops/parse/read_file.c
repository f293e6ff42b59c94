/* read_file: the contents of a file (tf.io.read_file).
 *
 * Read at once, straight into the output's memory. Fails with what the file system says, naming the
 * path. No gradient, no locks. */
#include "file/fs.h"
#include "graph/support/parse/paths.h"

#include <string.h>

static leat_status read_file_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the file name", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the file name", err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

/* One row. */
typedef struct reading {
    leati_kernel_call *call;
    leat_string *out;
} reading;

/* A file whose size shows only at its end: a pipe, or one of the kernel's that says 0. */
static leat_status read_stream(const reading *r, leati_file *file, leat_error *err) {
    leat_buffer *whole = NULL;
    LEATI_TRY(leati_file_read_whole(file, &whole, err));
    size_t size = leat_buffer_size(whole);
    char *to = leati_op_kernel_text(r->call, 0, size, err);
    if (to != NULL && size > 0)
        memcpy(to, leat_buffer_data(whole), size);
    leat_buffer_unref(whole);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    *r->out = (leat_string){.data = to, .size = size};
    return LEAT_OK;
}

static leat_status read_open(void *context, leati_file *file, leat_error *err) {
    const reading *r = context;
    if (file->size <= 0)
        return read_stream(r, file, err);
    size_t size = (size_t)file->size, got = 0;
    char *to = leati_op_kernel_text(r->call, 0, size, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    /* A file that shrank since it was opened gives fewer bytes: `got` counts. */
    LEATI_TRY(leati_file_read_at(file, 0, to, size, &got, err));
    *r->out = (leat_string){.data = to, .size = got};
    return LEAT_OK;
}

static leat_status read_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    leat_string name = *leati_text_strings_of(&call->inputs[0], row);
    reading r = {.call = call, .out = leati_text_strings_of(&call->outputs[0], row)};
    char *path = NULL;
    LEATI_TRY(leati_path_text(call, name, &path, err));
    return leati_file_use(path, read_open, &r, err);
}

static leat_status read_file_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_check_rank(call, 0, 0, "the file name", err));
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(read_row(call, row, err));
    }
    return LEAT_OK;
}

const leati_tensor_op leati_tensor_op_read_file = {
    .name = "read_file",
    .version = 1,
    .doc = "The contents of a file (tf.io.read_file).",
    .names = "io.read_file",
    .inputs = "filename",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = read_file_infer,
    .kernel = read_file_kernel,
    .trait = LEATI_TRAIT_READS_PATH,
};
