/* The features of serialised Examples as outputs of an operation: one leaf of a dict of specs each,
 * a leaf of several components as several outputs.
 *
 * A tensor spec of a static shape is a feature of that length; a first dimension of -1 takes any
 * number of values, which a batch fills up; sparse and ragged vectors have their components, as in
 * core/composite.h. The records are a scalar or a vector of strings. */
#ifndef LEATI_GRAPH_SUPPORT_PARSE_FEATURES_H
#define LEATI_GRAPH_SUPPORT_PARSE_FEATURES_H

#include "file/example.h"
#include "graph/support/text/texts.h"

/* Adds the outputs of all features to an inference. `records` is the shape of the records, which
 * may be unknown; `what` names the dict in messages. */
LEAT_WARN_UNUSED leat_status leati_features_infer(leati_infer_call *call, const leat_spec *features,
                                                  const leat_shape *records, const char *what,
                                                  leat_error *err);

/* The number of outputs of all features. */
int leati_features_outputs(const leat_spec *features);

/* The shape of a leaf for each record of a batch of that shape (rank 0, 1 or unknown). */
LEAT_WARN_UNUSED leat_status leati_features_shape(const leat_shape *records, const leat_shape *leaf,
                                                  leat_shape *out, leat_error *err);

/* What a kernel knows of one dict. */
typedef struct leati_features {
    leati_kernel_call *call;
    const leat_spec *spec;
    const leat_element *defaults; /* {0}: none */
    leati_example_plan *plan;
    int first;  /* output of the first feature */
    bool dense; /* every feature is a tensor of a fixed length: one output each */
} leati_features;

/* Plans the features, in the call's arena. */
LEAT_WARN_UNUSED leat_status leati_features_open(leati_features *features, leat_error *err);

/* Writes all features of the `n` records of row `row`, found in `spans`: record r's feature f at
 * r * count + f. The outputs get their shapes here. */
LEAT_WARN_UNUSED leat_status leati_features_write(const leati_features *features,
                                                  const leati_feature_span *spans, int64_t row,
                                                  int64_t n, leat_error *err);

/* The same for one record of features that are all dense and whose outputs have their memory, with
 * the place of each feature's values. */
LEAT_WARN_UNUSED leat_status leati_features_put(const leati_features *features,
                                                const leati_feature_span *spans,
                                                const leati_example_column *places,
                                                leat_error *err);

/* All outputs of strings keep the records alive. */
LEAT_WARN_UNUSED leat_status leati_features_hold(const leati_features *features, leat_error *err);

#endif
