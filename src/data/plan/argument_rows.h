/* Rows of arguments that several operators have; `args` is the type of the operator's. */
#ifndef LEATI_DATA_PLAN_ARGUMENT_ROWS_H
#define LEATI_DATA_PLAN_ARGUMENT_ROWS_H

#include "core/row.h"

/* `sentence` says what of. */
#define LEATI_ROW_BATCH_SIZE(args, sentence)                                                       \
    {                                                                                              \
        .name = "batch_size", .type = LEATI_ROW_INT, .flags = LEATI_REQUIRED,                      \
        .offset = offsetof(args, batch_size), .minimum = 1, .maximum = INT64_MAX, .doc = sentence  \
    }
#define LEATI_ROW_DROP_REMAINDER(args)                                                             \
    {                                                                                              \
        .name = "drop_remainder", .type = LEATI_ROW_BOOL,                                          \
        .offset = offsetof(args, drop_remainder), .doc = "Leave out a last batch that is smaller." \
    }
#define LEATI_ROW_SPLITS_DTYPE(args)                                                               \
    {                                                                                              \
        .name = "row_splits_dtype", .type = LEATI_ROW_DTYPE,                                       \
        .offset = offsetof(args, row_splits_dtype), .default_number = LEAT_INT64,                  \
        .doc = "The dtype of new row splits: int32 or int64."                                      \
    }

/* Of what shuffles: its buffer and its seed. */
#define LEATI_ROW_SHUFFLE_BUFFER(args)                                                             \
    {                                                                                              \
        .name = "buffer_size", .type = LEATI_ROW_INT, .flags = LEATI_REQUIRED,                     \
        .offset = offsetof(args, buffer_size),                                                     \
        .doc = "How many elements the buffer holds, at least 1; -2 (UNKNOWN_CARDINALITY) holds "   \
               "the whole input."                                                                  \
    }
#define LEATI_ROW_ORDER_SEED(args)                                                                 \
    {                                                                                              \
        .name = "seed", .type = LEATI_ROW_SEED, .flags = LEATI_NONE,                               \
        .offset = offsetof(args, seed), .doc = "Seed of the order."                                \
    }
#define LEATI_ROW_RESHUFFLE(args)                                                                  \
    {                                                                                              \
        .name = "reshuffle_each_iteration", .type = LEATI_ROW_BOOL, .flags = LEATI_NONE,           \
        .offset = offsetof(args, reshuffle_each_iteration), .default_number = 1,                   \
        .doc = "Another order in every epoch and iterator."                                        \
    }

/* How the fields of CSV records are told apart. */
#define LEATI_CSV_FIELD_ROWS(args)                                                                 \
    {.name = "field_delim",                                                                        \
     .type = LEATI_ROW_STRING,                                                                     \
     .offset = offsetof(args, field_delim),                                                        \
     .default_text = ",",                                                                          \
     .doc = "The one byte between fields."},                                                       \
        {.name = "use_quote_delim",                                                                \
         .type = LEATI_ROW_BOOL,                                                                   \
         .offset = offsetof(args, use_quote_delim),                                                \
         .default_number = 1,                                                                      \
         .doc = "Fields may be quoted; else a quote is a byte like any other."},                   \
    {                                                                                              \
        .name = "na_value", .type = LEATI_ROW_STRING, .offset = offsetof(args, na_value),          \
        .default_text = "", .doc = "A field of this text is missing, as an empty one is."          \
    }

#endif
