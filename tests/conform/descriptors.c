/* The suite of descriptors: every dataset operator says what others ask about it, and what it says
 * holds.
 *
 * How a share by files passes an operator is tried on a node of each of its cases in
 * tests/conform/data that can be built, over inputs that are made of readers of NUM_FILES files:
 * the shares of three workers open every file of every reader, each of them once, or no share is to
 * be had. Nothing is read: readers open no file before they run. */
#include "support/cmocka.h"

#include "../support/golden.h"
#include "conform.h"
#include "core/json.h"
#include "core/words.h"
#include "data/plan/dataset.h"
#include "data/shares/sharding.h"
#include "dist/planner.h"
#include <leat/data_ops.h>
#include <string.h>
#include <unistd.h>

#define FOLDER LEATI_SOURCE_DIR "/tests/conform/data"
#define RECORDED LEATI_SOURCE_DIR "/tests/golden/data"

enum { NUM_FILES = 7, WORKERS = 3, MOST_INPUTS = 8, NAME = 32 };

/* How often each file of each reader is opened. */
typedef struct opened {
    int times[MOST_INPUTS][NUM_FILES];
    int others;
} opened;

/* ---- what must be said ---- */

static const leati_row *row_of(const leati_dataset_op *op, const char *name, leati_row_type type) {
    const leati_row *row = name == NULL ? NULL : leati_rows_find(op->rows, name);
    return row != NULL && row->type == type ? row : NULL;
}

static bool has_function(const leati_dataset_op *op) {
    for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
        if (row->type == LEATI_ROW_FUNCTION)
            return true;
    return false;
}

/* What a descriptor lacks; NULL: nothing. */
static const char *lacks_of_shards(const leati_dataset_op *op) {
    bool reads = (op->flags & LEATI_OP_READS_FILES) != 0;
    if ((op->shards == LEATI_SHARD_READER) != (op->files != NULL))
        return "LEATI_SHARD_READER and `files` go together";
    switch (op->shards) {
    case LEATI_SHARD_READER:
        return row_of(op, op->files, LEATI_ROW_STRINGS) == NULL ? "`files` is no list of strings"
               : !reads                                         ? "LEATI_OP_READS_FILES"
                                                                : NULL;
    case LEATI_SHARD_CALLS: return !has_function(op) ? "a function to call" : NULL;
    case LEATI_SHARD_LEFT_OUT: return op->num_inputs != 1 ? "one input" : NULL;
    case LEATI_SHARD_AS_PLAN: return op->expand == NULL ? "`expand`" : NULL;
    case LEATI_SHARD_SEES_THROUGH: return op->num_inputs == 0 ? "an input" : NULL;
    case LEATI_SHARD_NOT: return NULL;
    case LEATI_SHARD_UNSAID: break;
    }
    return "`shards`";
}

static const char *lacks_of_batches(const leati_dataset_op *op) {
    if ((op->batches == LEATI_BATCHES_ROWS) != (op->batch_size != NULL))
        return "LEATI_BATCHES_ROWS and `batch_size` go together";
    switch (op->batches) {
    case LEATI_BATCHES_ROWS:
        return row_of(op, op->batch_size, LEATI_ROW_INT) == NULL ? "`batch_size` is no integer"
                                                                 : NULL;
    case LEATI_BATCHES_AS_PLAN: return op->expand == NULL ? "`expand`" : NULL;
    case LEATI_BATCHES_SAME:
    case LEATI_BATCHES_APART: return op->num_inputs == 0 ? "an input" : NULL;
    case LEATI_BATCHES_OTHER: return NULL;
    case LEATI_BATCHES_UNSAID: break;
    }
    return "`batches`";
}

static const char *lacks_of_splits(const leati_dataset_op *op) {
    switch (op->splits) {
    case LEATI_SPLITS_ROWS:
        return op->num_inputs != 0 ? "no inputs" : op->advance == NULL ? "`advance`" : NULL;
    case LEATI_SPLITS_FILES: return op->shards != LEATI_SHARD_READER ? "LEATI_SHARD_READER" : NULL;
    case LEATI_SPLITS_WHOLE:
    case LEATI_SPLITS_LOCAL: return op->num_inputs != 0 ? "no inputs" : NULL;
    case LEATI_SPLITS_THROUGH: return op->num_inputs == 0 ? "an input" : NULL;
    case LEATI_SPLITS_IN_STEP: return op->num_inputs >= 0 ? "several inputs" : NULL;
    case LEATI_SPLITS_REFUSED: return NULL;
    case LEATI_SPLITS_UNSAID: break;
    }
    return "`splits`";
}

/* The rows of a signature, each once, with defaults that are JSON; the others are no arguments. */
static const char *lacks_of_signature(const leati_dataset_op *op) {
    const char *text = op->signature;
    int parameters = 0, rows = 0;
    for (leati_word w; leati_word_next(&text, &w);) {
        leat_error err = {0};
        json_t *value = w.value != NULL ? leati_json_parse(w.value, w.value_size, &err) : NULL;
        bool found = leati_word_is(&w, "datasets") && op->num_inputs == -1;
        json_decref(value);
        if (w.value != NULL && value == NULL)
            return "a default in `signature` that is JSON";
        parameters += !found;
        for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
            found = found || leati_word_is(&w, row->name);
        if (!found)
            return "the row that `signature` names";
    }
    for (const leati_row *row = op->rows; row->type != LEATI_ROW_END; row++)
        rows += (row->flags & LEATI_CONSTRUCT) == 0;
    return op->signature != NULL && parameters != rows ? "all rows in `signature`" : NULL;
}

/* Paths, of which no other operator has one. */
static const char *lacks_of_names(const leati_dataset_op *op) {
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    const char *text = op->names;
    for (leati_word w; leati_word_next(&text, &w);)
        for (size_t i = 0; i < count; i++) {
            const char *others = ops[i] != op ? ops[i]->names : NULL;
            for (leati_word other; leati_word_next(&others, &other);)
                if (other.size == w.size && memcmp(other.name, w.name, w.size) == 0)
                    return "a path of its own in `names`";
        }
    return op->names == NULL ? "`names`" : NULL;
}

static void test_complete(void **state) {
    (void)state;
    size_t count = 0, lacking = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    for (size_t i = 0; i < count; i++) {
        const char *lacks[] = {lacks_of_shards(ops[i]), lacks_of_batches(ops[i]),
                               lacks_of_splits(ops[i]), lacks_of_signature(ops[i]),
                               lacks_of_names(ops[i])};
        for (size_t l = 0; l < sizeof lacks / sizeof *lacks; l++) {
            if (lacks[l] != NULL)
                printf("FAIL %s: its descriptor lacks: %s\n", ops[i]->name, lacks[l]);
            lacking += lacks[l] != NULL;
        }
    }
    assert_int_equal(lacking, 0);
}

/* ---- inputs that read files ---- */

static leat_status never(void *context, const leat_element *in, leat_element *out,
                         leat_error *err) {
    (void)context;
    (void)in;
    (void)out;
    return leati_fail(err, LEAT_INTERNAL, "nothing is read here");
}

/* Elements like those of `like`, made of the lines of the files of reader `number`. Owned. */
static leat_dataset *reading(const leat_dataset *like, int number, leat_error *err) {
    char names[NUM_FILES][NAME];
    const char *list[NUM_FILES];
    for (int f = 0; f < NUM_FILES; f++) {
        snprintf(names[f], sizeof names[f], "reader %d file %d", number, f);
        list[f] = names[f];
    }
    leat_dataset *lines = leat_dataset_text_line(list, NUM_FILES, NULL, err);
    leat_function *function = lines == NULL ? NULL
                                            : LEAT_CALLBACK(never, NULL, NULL, NULL, LEAT_PURE,
                                                            leat_spec_ref(leat_dataset_spec(lines)),
                                                            leat_spec_ref(like->spec), err);
    return leat_dataset_map(lines, function, NULL, err);
}

/* The node over such inputs; NULL: not with these. Owned. */
static leat_dataset *over_readers(const leat_dataset *node) {
    leat_dataset *inputs[MOST_INPUTS];
    leat_error err = {0};
    if (node->num_inputs < 1 || node->num_inputs > MOST_INPUTS)
        return NULL;
    for (int i = 0; i < node->num_inputs; i++)
        inputs[i] = reading(node->inputs[i], i, &err);
    return leati_sharding_remake(node, node->args, inputs, &err);
}

/* Adds the files that the readers of a plan open. */
static void count_files(const leat_dataset *node, opened *seen) {
    for (int i = 0; i < node->num_inputs; i++)
        count_files(node->inputs[i], seen);
    if (node->op->files == NULL)
        return;
    const leati_row *row = leati_rows_find(node->op->rows, node->op->files);
    const leati_strings *names =
        (const leati_strings *)(const void *)((const char *)node->args + row->offset);
    for (int i = 0; i < names->count; i++) {
        int reader = 0, file = 0;
        bool ours = sscanf(names->values[i].data, "reader %d file %d", &reader, &file) == 2;
        if (ours)
            seen->times[reader][file]++;
        seen->others += !ours;
    }
}

static bool shares_are_whole(const leat_dataset *plan, int readers) {
    opened seen = {0};
    for (int w = 0; w < WORKERS; w++) {
        leat_error err = {0};
        opened own = {0};
        leat_dataset *share = leati_sharding_by_files(plan, WORKERS, w, NULL, 0, &err);
        if (share == NULL)
            return false;
        count_files(share, &own);
        count_files(share, &seen);
        for (int f = 0; f < NUM_FILES; f++)
            if (own.times[0][f] != (f % WORKERS == w))
                return false;
        leat_dataset_unref(share);
    }
    for (int r = 0; r < readers; r++)
        for (int f = 0; f < NUM_FILES; f++)
            if (seen.times[r][f] != 1)
                return false;
    return seen.others == 0;
}

/* No share by files, and a reason that names the operator. */
static bool is_refused(const leat_dataset *plan) {
    leat_error err = {0};
    char why[240] = "";
    leat_dataset *share = leati_sharding_by_files(plan, WORKERS, 0, why, sizeof why, &err);
    leat_dataset_unref(share);
    return share == NULL && err.code == LEAT_NOT_FOUND &&
           strncmp(why, plan->op->name, strlen(plan->op->name)) == 0;
}

/* ---- every operator ---- */

/* The node of `op` nearest to the end. Borrowed. */
static const leat_dataset *find_node(const leat_dataset *plan, const leati_dataset_op *op) {
    const leat_dataset *found = plan->op == op ? plan : NULL;
    for (int i = 0; i < plan->num_inputs && found == NULL; i++)
        found = find_node(plan->inputs[i], op);
    return found;
}

/* A reader of the test's files that is like `node`. */
static leat_dataset *same_reader(const leat_dataset *node, leat_error *err) {
    char names[NUM_FILES][NAME];
    leat_string values[NUM_FILES];
    for (int f = 0; f < NUM_FILES; f++) {
        int size = snprintf(names[f], sizeof names[f], "reader 0 file %d", f);
        values[f] = (leat_string){.data = names[f], .size = (size_t)size};
    }
    leati_strings list = {.values = values, .count = NUM_FILES};
    char *args = malloc(node->op->args_size);
    assert_non_null(args);
    memcpy(args, node->args, node->op->args_size);
    memcpy(args + leati_rows_find(node->op->rows, node->op->files)->offset, &list, sizeof list);
    leat_dataset *made = leati_dataset_new(node->op, args, NULL, 0, err);
    free(args);
    return made;
}

/* Tries one case: -1: it does not serve; else whether the operator does as it says. */
static int try_node(const leat_dataset *node) {
    leat_error err = {0};
    leat_dataset *plan = node->op->shards == LEATI_SHARD_READER ? same_reader(node, &err)
                         : node->num_inputs == 0 ? leat_dataset_ref((leat_dataset *)node)
                                                 : over_readers(node);
    if (plan == NULL && node->op->shards == LEATI_SHARD_NOT) /* it wants inputs that are counted */
        plan = leat_dataset_ref((leat_dataset *)node);
    if (plan == NULL)
        return -1;
    int readers = plan->num_inputs > 1 ? plan->num_inputs : 1;
    bool good =
        plan->op->shards == LEATI_SHARD_NOT ? is_refused(plan) : shares_are_whole(plan, readers);
    leat_dataset_unref(plan);
    return good;
}

static void try_operator(golden_run *run, const leati_dataset_op *op, const char *folder,
                         int *tried, int *wrong) {
    char path[1024];
    snprintf(path, sizeof path, FOLDER "/%s.json", op->name);
    json_t *cases = golden_read_cases(run, path);
    *tried = *wrong = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *json = golden_with_folder(json_array_get(cases, i), folder);
        golden_pipeline pipeline;
        leat_error err = {0};
        if (golden_build(json, &pipeline, &err) == LEAT_OK) {
            const leat_dataset *node = find_node(pipeline.dataset, op);
            int result = node == NULL ? -1 : try_node(node);
            *tried += result >= 0;
            *wrong += result == 0;
            golden_pipeline_fini(&pipeline);
        }
        json_decref(json);
    }
    json_decref(cases);
}

/* A plan in place of the operator is tried where it is made (dist/sharding_files_test). */
static void test_shares(void **state) {
    (void)state;
    golden_run run = {.modes = GOLDEN_PLAIN, .seed = 1};
    size_t count = 0;
    int failed = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    char folder[512];
    assert_int_equal(chdir(RECORDED), 0);
    golden_generators_begin();
    assert_true(golden_folder_make(folder, sizeof folder));
    for (size_t i = 0; i < count; i++) {
        int tried = 0, wrong = 0;
        if (ops[i]->shards == LEATI_SHARD_AS_PLAN ||
            (ops[i]->flags & (LEATI_OP_OWN_INPUTS | LEATI_OP_REMOTE)) != 0)
            continue;
        try_operator(&run, ops[i], folder, &tried, &wrong);
        if (tried == 0 || wrong > 0)
            printf("FAIL %s: %d of %d cases are not sharded as it says\n", ops[i]->name, wrong,
                   tried);
        failed += tried == 0 || wrong > 0;
    }
    golden_folder_remove(folder);
    leat_seed_clear();
    assert_int_equal(golden_generators_end(), 0);
    assert_int_equal(chdir(LEATI_SOURCE_DIR), 0);
    assert_int_equal(failed, 0);
}

int conform_descriptors(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_complete),
                                       cmocka_unit_test(test_shares)};
    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
