/* Parsing tf.train.Example without copying: which features, of what dtype and length, is planned
 * once; a record then gives spans that point into it, and values are written straight to where the
 * caller wants them (a row of a batch, say). */
#ifndef LEATI_FILE_EXAMPLE_H
#define LEATI_FILE_EXAMPLE_H

#include "base/alloc.h"
#include <leat/file.h>

/* Most requests of the quick parser. */
#define LEATI_QUICK_FEATURES 256

/* A feature that is wanted. */
typedef struct leati_feature_request {
    const char *name;
    leat_dtype dtype; /* LEAT_STRING, LEAT_INT64 or LEAT_FLOAT32 */
    /* Number of values (tf.io.FixedLenFeature; the product of its shape), or -1 for any number
     * (VarLenFeature, RaggedFeature). */
    int64_t length;
    /* With length -1: the number must be a multiple of it (FixedLenSequenceFeature); 0: any. */
    int64_t multiple;
    /* `length` values for a record without the feature; borrowed, outlives the plan. NULL: such a
     * record is an error (length >= 0) or has no values (length -1). */
    const void *defaults;
} leati_feature_request;

/* A feature of one record: a view of the record, checked, so that reading it cannot fail. */
typedef struct leati_feature_span {
    const char *list; /* its list's message; NULL: missing, the defaults count */
    size_t size;
    int64_t count; /* values: those of the defaults if it is missing */
    bool packed;   /* not the list's message, but the numbers of its only field */
} leati_feature_span;

/* What a thread remembers of the last record's entries, which those of the next one mostly
 * resemble: then no name is looked up, and an entry whose first bytes are the same needs no second
 * look at its tags and lengths. {0} at first. For one plan and one thread. */
#define LEATI_REMEMBERED_FEATURES 128
typedef struct leati_example_order {
    int16_t request[LEATI_REMEMBERED_FEATURES]; /* entry i of the record is request - 1; 0: none */
    struct leati_entry_shape {
        uint64_t head[4], mask[4]; /* its bytes up to the values, and which of these 32 count */
        uint32_t prefix;           /* how many; 0: nothing is remembered */
        uint32_t size;             /* of the whole entry */
        int32_t request;           /* -1: not wanted */
    } shape[LEATI_REMEMBERED_FEATURES];
} leati_example_order;

/* A checked list of requests. Immutable, so any number of threads may use it. */
typedef struct leati_example_plan leati_example_plan;

/* Makes a plan of `count` requests (copied; names too). INVALID_ARGUMENT: no name, a name twice, a
 * dtype that no feature has, a bad length or multiple. Owned. */
LEAT_WARN_UNUSED leat_status leati_example_plan_new(const leati_feature_request *requests,
                                                    int count, leati_example_plan **out,
                                                    leat_error *err);
/* The same in memory of an arena (zero-filled here); names are borrowed, and nothing is freed. */
LEAT_WARN_UNUSED leat_status leati_example_plan_lend(const leati_feature_request *requests,
                                                     int count, leati_arena *arena,
                                                     leati_example_plan **out, leat_error *err);
void leati_example_plan_free(leati_example_plan *plan); /* NULL is allowed */
const leati_feature_request *leati_example_plan_request(const leati_example_plan *plan, int index);

/* Finds the plan's features in `record` (borrowed: the spans point into it) and fills one span per
 * request. `order` may be NULL. If a name comes twice the last one counts; features that nobody
 * asked for are not looked into. INVALID_ARGUMENT, as in TensorFlow, naming feature and byte: a
 * record that is no Example, another dtype, another number of values, a missing feature without
 * defaults. */
LEAT_WARN_UNUSED leat_status leati_example_parse(const leati_example_plan *plan, leat_string record,
                                                 leati_example_order *order,
                                                 leati_feature_span *spans, leat_error *err);

/* Where the values of one request go in consecutive records: `data` is record 0's place, `stride`
 * bytes behind it lies that of record 1. */
typedef struct leati_example_column {
    void *data;
    int64_t stride;
} leati_example_column;

/* Parses records[0 .. n) into `columns`, one per request, as leati_example_parse and _read do, as
 * long as they are written the way that every encoder does; returns how many it parsed. The record
 * where it stopped may be anything: that is what leati_example_parse says. Its places may have been
 * written to. Needs a fixed length of every request, and at most LEATI_QUICK_FEATURES, else it
 * stops at once. `order` is not NULL. */
int64_t leati_example_parse_dense(const leati_example_plan *plan, const leat_string *records,
                                  int64_t n, leati_example_order *order,
                                  const leati_example_column *columns);

/* Finds the features of records[0 .. n) as leati_example_parse does, one span per request and
 * record, under the same conditions but for the lengths; returns how many records. What it
 * remembers in `order` is not for leati_example_parse_dense. */
int64_t leati_example_find(const leati_example_plan *plan, const leat_string *records, int64_t n,
                           leati_example_order *order, leati_feature_span *spans);

/* Writes the values of request `index` (exactly span->count) to `to`, an array of its dtype;
 * strings are views of the record (of the defaults, if missing). */
void leati_example_read(const leati_example_plan *plan, int index, const leati_feature_span *span,
                        void *to);

#endif
