/* files_dataset: the names of files as string scalars, for readers that are functions.
 *
 * A map or flat_map over it reads what the names tell of; to the policies that deal files out to
 * workers this operator is the reader. Happy path: each file is one record, its name, whose memory
 * knows the file, so that errors of the functions above name it. Nothing is opened. Failures: no
 * memory, and those of a dataset of names. Not in tf.data. No locks. */
#include "core/buffer.h"
#include "data/source/files.h"
#include <leat/data_ops.h>
#include <string.h>

struct names_args {
    leati_strings filenames;
};

static const leati_row names_rows[] = {
    LEATI_ROW_FILENAMES(struct names_args),
    {0},
};

struct names_state {
    leati_files files; /* first: the slots of data/source/files.h take it */
};

/* ---- the plan side ---- */

static leat_status names_check(leat_dataset *dataset, leat_error *err) {
    struct names_args *args = dataset->args;
    return leati_files_check(dataset, &args->filenames, NULL, err);
}

static int64_t names_cardinality(const leat_dataset *dataset) {
    const struct names_args *args = dataset->args;
    return dataset->num_inputs > 0 ? leat_dataset_cardinality(dataset->inputs[0])
                                   : args->filenames.count;
}

/* ---- the format ---- */

struct name_reader {
    leat_buffer *name;
    size_t size;
    int64_t given; /* 1: its only record has been */
};

static void close_name(void *reader) {
    struct name_reader *r = reader;
    if (r != NULL)
        leat_buffer_unref(r->name);
    leati_free(r);
}

static leati_file_outcome open_name(const leati_files *files, leati_pools *pools, const char *path,
                                    int64_t position, void **reader, leat_error *err) {
    (void)files;
    (void)pools;
    struct name_reader *r = leati_alloc_zero(1, sizeof(*r));
    *reader = r;
    if (r == NULL) {
        leati_no_memory(err);
        return LEATI_FILE_ERROR;
    }
    r->size = strlen(path);
    r->given = position;
    r->name = leat_buffer_new(r->size + 1, err);
    leat_buffer *file = r->name == NULL ? NULL : leat_buffer_new(r->size + 1, err);
    if (file == NULL)
        return LEATI_FILE_ERROR;
    memcpy(leat_buffer_data(r->name), path, r->size + 1);
    memcpy(leat_buffer_data(file), path, r->size + 1);
    leati_buffer_set_path(r->name, file, 0);
    leat_buffer_unref(file);
    return LEATI_FILE_MORE;
}

static leati_file_outcome read_name(void *reader, const leati_file_request *request, int64_t *n,
                                    leat_error *err) {
    struct name_reader *r = reader;
    if (r->given > 0)
        return LEATI_FILE_END;
    if (request->records != NULL) {
        if (leati_buffer_hold(request->owner, r->name, err) != LEAT_OK)
            return LEATI_FILE_ERROR;
        request->records[*n] = (leat_string){.data = leat_buffer_data(r->name), .size = r->size};
    }
    r->given = 1;
    ++*n;
    return LEATI_FILE_MORE;
}

static int64_t name_position(const void *reader) {
    return ((const struct name_reader *)reader)->given;
}

static const leati_file_format format = {.op = "files_dataset",
                                         .passes = true,
                                         .open = open_name,
                                         .read = read_name,
                                         .position = name_position,
                                         .close = close_name};

/* ---- the protocol ---- */

static leat_status names_open(leati_node_state *node, void *state, leat_error *err) {
    const struct names_args *args = node->dataset->args;
    struct names_state *s = state;
    return leati_files_open(&s->files, node, &format, &args->filenames, 0, 0, err);
}

const leati_dataset_op leati_op_files_dataset = {
    .name = "files_dataset",
    .version = 1,
    .doc = "The names of files, for a map or flat_map that reads them; these files are dealt out "
           "to workers. Saved as the place in the list of files; restoring costs nothing.",
    .names = "experimental.files_dataset",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_READER,
    .files = "filenames",
    .splits = LEATI_SPLITS_FILES,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_READS_FILES,
    .args_size = sizeof(struct names_args),
    .rows = names_rows,
    .check = names_check,
    .spec = leati_files_spec,
    .cardinality = names_cardinality,
    .state_size = sizeof(struct names_state),
    .open = names_open,
    .pull = leati_files_pull,
    .advance = leati_files_advance,
    .save = leati_files_save,
    .restore = leati_files_restore,
    .reset = leati_files_reset,
    .close = leati_files_close,
};

leat_dataset *leat_dataset_files(const char *const *filenames, int num_filenames, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    struct names_args args = {0};
    leat_dataset *dataset = NULL;
    if (leati_files_view_names("files_dataset", filenames, num_filenames, &args.filenames, err) ==
        LEAT_OK)
        dataset = leati_dataset_new(&leati_op_files_dataset, &args, NULL, 0, err);
    leati_free(args.filenames.values);
    return dataset;
}
