/* Parsing tf.train.Example without copying: which features, of what dtype and length, is planned
 * once; a record then gives spans that point into it, and values are written straight to where the
 * caller wants them (a row of a batch, say). */
#ifndef LEATI_FILE_EXAMPLE_H
#define LEATI_FILE_EXAMPLE_H

#include <leat/file.h>

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
} leati_feature_span;

/* What a thread remembers of the last record's order of features, which the next one mostly shares:
 * then no name is looked up. {0} at first. Never shared between threads. */
#define LEATI_REMEMBERED_FEATURES 32
typedef struct leati_example_order {
    int16_t request[LEATI_REMEMBERED_FEATURES]; /* entry i of the record is request - 1; 0: none */
} leati_example_order;

/* A checked list of requests. Immutable, so any number of threads may use it. */
typedef struct leati_example_plan leati_example_plan;

/* Makes a plan of `count` requests (copied; names too). INVALID_ARGUMENT: no name, a name twice, a
 * dtype that no feature has, a bad length or multiple. Owned. */
LEAT_WARN_UNUSED leat_status leati_example_plan_new(const leati_feature_request *requests,
                                                    int count, leati_example_plan **out,
                                                    leat_error *err);
void leati_example_plan_free(leati_example_plan *plan); /* NULL is allowed */
int leati_example_plan_count(const leati_example_plan *plan);
const leati_feature_request *leati_example_plan_request(const leati_example_plan *plan, int index);

/* Finds the plan's features in `record` (borrowed: the spans point into it) and fills one span per
 * request. `order` may be NULL. If a name comes twice the last one counts; features that nobody
 * asked for are not looked into. INVALID_ARGUMENT, as in TensorFlow, naming feature and byte: a
 * record that is no Example, another dtype, another number of values, a missing feature without
 * defaults. */
LEAT_WARN_UNUSED leat_status leati_example_parse(const leati_example_plan *plan, leat_string record,
                                                 leati_example_order *order,
                                                 leati_feature_span *spans, leat_error *err);

/* Writes the values of request `index` (exactly span->count) to `to`, an array of its dtype;
 * strings are views of the record (of the defaults, if missing). */
void leati_example_read(const leati_example_plan *plan, int index, const leati_feature_span *span,
                        void *to);

#endif
