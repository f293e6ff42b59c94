/* What batch_norm and its gradient share, and how layers build it. */
#ifndef LEATI_GRAPH_OPS_NN_BATCH_NORM_H
#define LEATI_GRAPH_OPS_NN_BATCH_NORM_H

#include "graph/support/support.h"

struct leati_batch_norm_args {
    double epsilon;
};
extern const leati_row leati_batch_norm_rows[];

/* x [..., C] without its mean and variance over all but the last dimension, by gamma [C] and beta
 * [C]: out[0] is the result, out[1] the mean and out[2] the biased variance [C]. On failure all are
 * failed values. */
void leati_batch_norm(leat_value x, leat_value gamma, leat_value beta, double epsilon,
                      leat_value out[3]);

/* For infer: input `index` is a vector of as many values as the last dimension of `x`. */
LEAT_WARN_UNUSED leat_status leati_batch_norm_want_channels(const leati_infer_call *call, int index,
                                                            const leat_shape *x, const char *what,
                                                            leat_error *err);

#endif
