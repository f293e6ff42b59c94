/* Operators that stand for a whole pipeline from files to batches (make_csv_dataset,
 * make_batched_features_dataset): what they share. Their plan is made at construction and becomes
 * their only input, so that its shuffles keep their seed generators from iterator to iterator; to
 * run it, the operator expands to it. */
#ifndef LEATI_DATA_PLAN_RECIPE_H
#define LEATI_DATA_PLAN_RECIPE_H

#include "base/random.h"
#include "data/plan/dataset.h"
#include <leat/data_ops.h>

/* How files and records are shuffled and repeated. */
typedef struct leati_epochs {
    int64_t num_epochs; /* LEAT_UNSET: forever, without a smaller last batch */
    bool shuffle;
    int64_t shuffle_buffer_size;
    leati_seed_argument shuffle_seed;
    int64_t prefetch_buffer_size;
    bool resolved, records_resolved;
    int64_t pair[2], records_pair[2];
} leati_epochs;

/* The rows of a field `epochs` of an argument struct. */
#define LEATI_EPOCHS_ROW(args, field) .offset = offsetof(args, epochs.field)
#define LEATI_EPOCHS_PAIR(args, text, field)                                                       \
    {                                                                                              \
        .name = text, .type = LEATI_ROW_INT, .flags = LEATI_CONSTRUCT,                             \
        LEATI_EPOCHS_ROW(args, field), .doc = "A number of a resolved seed pair."                  \
    }
#define LEATI_EPOCHS_ROWS(args)                                                                    \
    {.name = "num_epochs",                                                                         \
     .type = LEATI_ROW_INT,                                                                        \
     .flags = LEATI_NONE,                                                                          \
     LEATI_EPOCHS_ROW(args, num_epochs),                                                           \
     .default_number = (double)LEAT_UNSET,                                                         \
     .doc = "How often the records come; none: forever, in full batches."},                        \
        {.name = "shuffle",                                                                        \
         .type = LEATI_ROW_BOOL,                                                                   \
         LEATI_EPOCHS_ROW(args, shuffle),                                                          \
         .default_number = 1,                                                                      \
         .doc = "Files and records come in a random order."},                                      \
        {.name = "shuffle_buffer_size",                                                            \
         .type = LEATI_ROW_INT,                                                                    \
         LEATI_EPOCHS_ROW(args, shuffle_buffer_size),                                              \
         .default_number = 10000,                                                                  \
         .doc = "How many records the buffer holds."},                                             \
        {.name = "shuffle_seed",                                                                   \
         .type = LEATI_ROW_SEED,                                                                   \
         .flags = LEATI_NONE,                                                                      \
         LEATI_EPOCHS_ROW(args, shuffle_seed),                                                     \
         .doc = "Seed of both orders."},                                                           \
        {.name = "prefetch_buffer_size",                                                           \
         .type = LEATI_ROW_INT,                                                                    \
         .flags = LEATI_NONE | LEATI_AUTOTUNE,                                                     \
         LEATI_EPOCHS_ROW(args, prefetch_buffer_size),                                             \
         .default_number = LEAT_AUTOTUNE,                                                          \
         .minimum = -1,                                                                            \
         .maximum = INT64_MAX,                                                                     \
         .doc = "How many batches are kept ready; 0: none."},                                      \
        {.name = "resolved",                                                                       \
         .type = LEATI_ROW_BOOL,                                                                   \
         .flags = LEATI_CONSTRUCT,                                                                 \
         LEATI_EPOCHS_ROW(args, resolved),                                                         \
         .doc = "The files' pair was made."},                                                      \
        {.name = "records_resolved",                                                               \
         .type = LEATI_ROW_BOOL,                                                                   \
         .flags = LEATI_CONSTRUCT,                                                                 \
         LEATI_EPOCHS_ROW(args, records_resolved),                                                 \
         .doc = "The records' pair was made."},                                                    \
        LEATI_EPOCHS_PAIR(args, "pair_0", pair[0]), LEATI_EPOCHS_PAIR(args, "pair_1", pair[1]),    \
        LEATI_EPOCHS_PAIR(args, "records_pair_0", records_pair[0]),                                \
        LEATI_EPOCHS_PAIR(args, "records_pair_1", records_pair[1])

/* The names that patterns match, sorted bytewise, as a vector of strings. INVALID_ARGUMENT "No
 * files matched pattern", behind `op`, where there are none. Owned. */
LEAT_WARN_UNUSED leat_status leati_recipe_match_names(const leati_strings *patterns, const char *op,
                                                      leat_tensor *names, leat_error *err);
/* A dataset of names (borrowed), shuffled with a seed pair that was resolved, or (NULL) in order.
 * Owned. */
leat_dataset *leati_recipe_names(const leat_tensor *names, const int64_t pair[2], leat_error *err);

/* The arguments of a C caller (NULL: the defaults). */
LEAT_WARN_UNUSED leat_status leati_recipe_epochs_read(const leat_dataset_epochs_options *options,
                                                      leati_epochs *out, leat_error *err);
/* For an operator's check: resolves the seeds, the files' first. */
void leati_recipe_epochs_resolve(leati_epochs *epochs);
/* The files of a recipe in their order. Owned. */
leat_dataset *leati_recipe_epochs_files(const leati_epochs *epochs, const leat_tensor *names,
                                        leat_error *err);
/* `records` (given) shuffled and repeated. Owned. */
leat_dataset *leati_recipe_epochs_records(const leati_epochs *epochs, leat_dataset *records,
                                          leat_error *err);

/* Elements of `input` (given) with component order[i] of theirs as component i, in the structure of
 * `output` (borrowed), a spec of as many components. Owned. */
leat_dataset *leati_recipe_rearranged(leat_dataset *input, const int *order,
                                      const leat_spec *output, leat_error *err);

/* Is a number of threads at least 1, or AUTOTUNE? */
LEAT_WARN_UNUSED leat_status leati_recipe_check_threads(const char *op, const char *name,
                                                        int64_t threads, leat_error *err);
/* Is `dataset` a copy whose plan was made before? */
bool leati_recipe_is_made(const leat_dataset *dataset);
/* For an operator's check: `plan` (given; NULL: an earlier failure, which `err` has) becomes the
 * input. */
LEAT_WARN_UNUSED leat_status leati_recipe_finish(leat_dataset *dataset, leat_dataset *plan,
                                                 leat_error *err);
/* The slot `expand` of such an operator. */
leat_dataset *leati_recipe_expand(const leat_dataset *dataset, leat_error *err);

#endif
