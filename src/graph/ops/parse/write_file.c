/* write_file: writes a string into a file, whole or not at all, and makes the folders that are
 * missing (tf.io.write_file). The result is the file's name.
 *
 * Stateful: it keeps its place among what has effects. Fails with what the file system says, naming
 * the path. No gradient, no locks. */
#include "file/atomic.h"
#include "file/fs.h"
#include "graph/support/parse/paths.h"

#include <string.h>

static leat_status write_file_infer(leati_infer_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the file name", err));
    LEATI_TRY(leati_support_want_rank(call, 0, 0, "the file name", err));
    LEATI_TRY(leati_support_want_dtype(call, 1, LEAT_STRING, "the contents", err));
    LEATI_TRY(leati_support_want_rank(call, 1, 0, "the contents", err));
    return leati_op_infer_output(call, LEAT_STRING, &scalar, NULL, err);
}

static leat_status write_row(leati_kernel_call *call, int64_t row, leat_error *err) {
    leat_string name = *leati_text_strings_of(&call->inputs[0], row);
    leat_string contents = *leati_text_strings_of(&call->inputs[1], row);
    char *path = NULL, *slash;
    LEATI_TRY(leati_path_text(call, name, &path, err));
    if (path[0] == '\0')
        return leati_fail(err, LEAT_NOT_FOUND, "an empty file name; expected a path");
    slash = strrchr(path, '/');
    /* In "/name" the folder is the root, which is there. */
    if (slash != NULL && slash != path) {
        *slash = '\0';
        LEATI_TRY(leati_fs_mkdirs(path, err));
        *slash = '/';
    }
    LEATI_TRY(leati_atomic_write_file(path, contents.data, contents.size, err));
    /* The input's bytes, kept alive by the hold below: `path` lies in the arena and has been
     * cut. */
    *leati_text_strings_of(&call->outputs[0], row) = name;
    return LEAT_OK;
}

static leat_status write_file_kernel(leati_kernel_call *call, leat_error *err) {
    leat_shape scalar = LEAT_SCALAR;
    LEATI_TRY(leati_support_check_rank(call, 0, 0, "the file name", err));
    LEATI_TRY(leati_support_check_rank(call, 1, 0, "the contents", err));
    LEATI_TRY(leati_support_output_like(call, 0, &scalar, err));
    for (int64_t row = 0; row < call->n; row++) {
        call->failed_row = row;
        LEATI_TRY(write_row(call, row, err));
    }
    return call->n > 0 ? leati_op_kernel_hold(call, 0, 0, err) : LEAT_OK;
}

const leati_tensor_op leati_tensor_op_write_file = {
    .name = "write_file",
    .version = 1,
    .doc = "Writes a string into a file and makes its folders (tf.io.write_file).",
    .inputs = "filename contents",
    .types = "string string",
    .outputs = "filename",
    .halves = LEATI_HALVES_NONE,
    .rows = leati_no_rows,
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LEATI_STATEFUL | LEATI_COSTLY,
    .infer = write_file_infer,
    .kernel = write_file_kernel,
};
