/* What the operations share that give each string a number below num_buckets: all but the hash. */
#ifndef LEATI_GRAPH_SUPPORT_TEXT_HASH_BUCKET_H
#define LEATI_GRAPH_SUPPORT_TEXT_HASH_BUCKET_H

#include "graph/support/support.h"

struct leati_hash_bucket_args {
    int64_t num_buckets;
    leati_ints key; /* of the strong hash alone */
};

#define LEATI_HASH_BUCKET_ROW                                                                      \
    {                                                                                              \
        .name = "num_buckets", .type = LEATI_ROW_INT, .flags = LEATI_REQUIRED,                     \
        .offset = offsetof(struct leati_hash_bucket_args, num_buckets), .minimum = 1,              \
        .maximum = INT64_MAX, .doc = "How many numbers there are, at least 1."                     \
    }

/* Strings in, int64 of the same shape out. */
LEAT_WARN_UNUSED leat_status leati_hash_bucket_infer(leati_infer_call *call, leat_error *err);
/* The hash of each string, modulo num_buckets. */
LEAT_WARN_UNUSED leat_status leati_hash_bucket_kernel(
    leati_kernel_call *call,
    uint64_t (*hash)(const struct leati_hash_bucket_args *args, const uint8_t *data, size_t size),
    leat_error *err);

#endif
