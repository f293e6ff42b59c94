/* list_files: the names that match glob patterns (tf.data.Dataset.list_files).
 *
 * The patterns are matched once, at construction; the names are sorted bytewise and, unless told
 * otherwise, shuffled with a buffer of all of them. The work is done by a small plan of
 * from_tensor_slices and shuffle, which becomes the node's input: this operator hands on its
 * blocks. The names are part of the plan's fingerprint, so a state is refused where they have
 * changed. The seed pair is resolved at construction and kept among the arguments, so that a plan
 * that was written shuffles as before. No match is INVALID_ARGUMENT at construction. */
#include "base/random.h"
#include "data/plan/argument_rows.h"
#include "data/plan/recipe.h"
#include "data/plan/seed_generator.h"
#include "data/run/input.h"
#include <leat/data_ops.h>
#include <string.h>

struct list_files_args {
    leati_strings file_pattern;
    bool shuffle;
    leati_seed_argument seed;
    bool resolved;
    int64_t pair[2];
};

#define ROW(field) .offset = offsetof(struct list_files_args, field)

static const leati_row list_files_rows[] = {
    {.name = "file_pattern",
     .type = LEATI_ROW_STRINGS,
     .flags = LEATI_REQUIRED,
     ROW(file_pattern),
     .doc = "One glob pattern or a list of them: *, ? and [set] within one level of the path."},
    {.name = "shuffle",
     .type = LEATI_ROW_BOOL,
     .flags = LEATI_NONE,
     ROW(shuffle),
     .default_number = 1,
     .doc = "Another order in every epoch; otherwise sorted bytewise."},
    LEATI_ROW_ORDER_SEED(struct list_files_args),
    LEATI_RESOLVED_ROWS(struct list_files_args),
    {0},
};

struct list_files_state {
    leati_input input;
};

static leat_status list_files_check(leat_dataset *dataset, leat_error *err) {
    struct list_files_args *args = dataset->args;
    if (dataset->num_inputs == 1 && leat_spec_num_components(dataset->inputs[0]->spec) == 1 &&
        leat_spec_component_dtype(dataset->inputs[0]->spec, 0) == LEAT_STRING)
        return LEAT_OK; /* a rewritten copy */
    if (dataset->num_inputs != 0) {
        return leati_refuse(err, VALUE, "list_files: found %d input datasets; expected none",
                            dataset->num_inputs);
    }
    /* Names in order take no seed from the program's. */
    if (args->shuffle)
        leati_seed_resolve_once(args->seed, &args->resolved, args->pair);
    leat_tensor names = {0};
    leat_error local = {0};
    leat_status status = leati_recipe_match_names(&args->file_pattern, "", &names, &local);
    /* The node was made without inputs; the names' plan becomes its only one. The array is the
     * node's from then on, also where what follows fails. */
    leat_dataset **inputs = leati_alloc_resize(dataset->inputs, 1, sizeof(*inputs));
    if (inputs == NULL)
        status = leati_no_memory(&local);
    else
        dataset->inputs = inputs;
    if (status == LEAT_OK) {
        inputs[0] = leati_recipe_names(&names, args->shuffle ? args->pair : NULL, &local);
        dataset->num_inputs = inputs[0] != NULL;
        status = inputs[0] == NULL ? local.code : LEAT_OK;
    }
    leat_tensor_unref(&names);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

static leat_spec *list_files_spec(const leat_dataset *dataset, leat_error *err) {
    (void)dataset;
    return leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, err);
}

static int64_t list_files_cardinality(const leat_dataset *dataset) {
    return dataset->inputs[0]->cardinality;
}

static leati_tail list_files_pull(leati_node_state *node, void *state, int64_t want,
                                  leati_block *out, leat_error *err) {
    (void)node;
    return leati_input_take(&((struct list_files_state *)state)->input, want, out, err);
}

static leati_tail list_files_advance(leati_node_state *node, void *state, int64_t n,
                                     int64_t *passed, leat_error *err) {
    (void)node;
    return leati_input_advance(&((struct list_files_state *)state)->input, n, passed, err);
}

/* It hands on the plan that it made, whose shuffle others are then to see. */
static bool list_files_changes_nothing(const leat_dataset *dataset) {
    return dataset->num_inputs == 1;
}

const leati_dataset_op leati_op_list_files = {
    .name = "list_files",
    .version = 1,
    .doc = "Names of files that match glob patterns, found once, at construction. Saved as "
           "positions; restoring costs nothing.",
    .names = "Dataset.list_files",
    .signature = "file_pattern shuffle=null seed=null",
    .shown = "Shuffle shuffle:TensorSlice",
    .num_inputs = -1,
    .flow = LEATI_SOURCE,
    .shards = LEATI_SHARD_NOT,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_OTHER,
    .flags = LEATI_OP_SHARED_DRAW | LEATI_OP_OWN_INPUTS,
    .args_size = sizeof(struct list_files_args),
    .rows = list_files_rows,
    .check = list_files_check,
    .spec = list_files_spec,
    .cardinality = list_files_cardinality,
    .changes_nothing = list_files_changes_nothing,
    .state_size = sizeof(struct list_files_state),
    .pull = list_files_pull,
    .advance = list_files_advance,
};

leat_dataset *leat_dataset_list_files(const char *pattern,
                                      const leat_dataset_list_files_options *options,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (pattern == NULL) {
        leati_refuse(err, VALUE, "list_files: file_pattern is NULL; pass a pattern");
        return NULL;
    }
    leat_dataset_list_files_options o = {LEAT_DATASET_LIST_FILES_DEFAULTS};
    if (LEATI_OPTIONS(leat_dataset_list_files_options, &o, options, err) != LEAT_OK)
        return NULL;
    leat_string one = {.data = pattern, .size = strlen(pattern)};
    struct list_files_args args = {.file_pattern = {.values = &one, .count = 1},
                                   .shuffle = o.shuffle,
                                   .seed = {.given = o.seed.given, .value = o.seed.value}};
    return leati_dataset_new(&leati_op_list_files, &args, NULL, 0, err);
}
