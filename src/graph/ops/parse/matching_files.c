/* matching_files: the names of the files that match a pattern or one of several, sorted
 * (tf.io.matching_files).
 *
 * The patterns are those of list_files (file/glob.h); nothing that matches is no failure. How many
 * names there are is data, so rows run one at a time. Fails with what the file system says. No
 * gradient, no locks. */
#include "file/glob.h"
#include "graph/support/parse/paths.h"

#include <string.h>

static leat_status matching_files_infer(leati_infer_call *call, leat_error *err) {
    leat_shape names = LEAT_SHAPE(LEAT_UNKNOWN_DIM);
    LEATI_TRY(leati_support_want_dtype(call, 0, LEAT_STRING, "the pattern", err));
    if (call->inputs[0].shape.rank > 1)
        return leati_refuse(err, SHAPE, "the patterns have rank %d; expected a scalar or a vector",
                            (int)call->inputs[0].shape.rank);
    return leati_op_infer_output(call, LEAT_STRING, &names, NULL, err);
}

static leat_status put_names(leati_kernel_call *call, const leati_paths *found, leat_error *err) {
    leat_shape shape = LEAT_SHAPE((int64_t)found->count);
    /* All names go into one piece of memory, as found is released when the kernel returns. */
    size_t total = 0;
    LEATI_TRY(leati_support_output_like(call, 0, &shape, err));
    for (size_t i = 0; i < found->count; i++)
        total += strlen(found->values[i]);
    char *to = leati_op_kernel_text(call, 0, total, err);
    if (to == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < found->count; i++) {
        size_t size = strlen(found->values[i]);
        memcpy(to, found->values[i], size);
        leati_text_strings_of(&call->outputs[0], 0)[i] = (leat_string){.data = to, .size = size};
        to += size;
    }
    return LEAT_OK;
}

static leat_status matching_files_kernel(leati_kernel_call *call, leat_error *err) {
    const leati_operand *in = &call->inputs[0];
    size_t count = 0, bytes = (size_t)(in->count + 1) * sizeof(char *);
    char **patterns = leati_arena_alloc(call->arena, bytes);
    leati_paths found = {0};
    if (in->rank > 1)
        return leati_refuse(err, SHAPE, "the patterns have rank %d; expected a scalar or a vector",
                            (int)in->rank);
    if (patterns == NULL)
        return leati_no_memory(err);
    for (int64_t i = 0; i < in->count; i++) {
        /* Returning here leaks nothing: the patterns lie in the arena. */
        LEATI_TRY(leati_path_text(call, leati_text_strings_of(in, 0)[i], &patterns[count], err));
        count += patterns[count][0] != '\0'; /* nothing is called so */
    }
    leat_status status =
        count == 0 ? LEAT_OK : leati_glob((const char *const *)patterns, count, false, &found, err);
    if (status == LEAT_OK)
        status = put_names(call, &found, err);
    leati_fs_paths_fini(&found);
    return status;
}

const leati_tensor_op leati_tensor_op_matching_files = {
    .name = "matching_files",
    .version = 1,
    .doc = "The names of the files that match a pattern or one of several, sorted "
           "(tf.io.matching_files).",
    .names = "io.matching_files",
    .inputs = "pattern",
    .types = "string",
    .outputs = "output",
    .halves = LEATI_HALVES_NONE,
    .checks = LEATI_CHECKS_IN_KERNEL,
    .rows = leati_no_rows,
    .min_inputs = 1,
    .max_inputs = 1,
    .flags = LEATI_COSTLY,
    .infer = matching_files_infer,
    .kernel = matching_files_kernel,
};
