/* How layers build batch_norm. */
#ifndef LEATI_GRAPH_OPS_NN_BATCH_NORM_H
#define LEATI_GRAPH_OPS_NN_BATCH_NORM_H

#include "graph/support/support.h"

/* x [..., C] without its mean and variance over all but the last dimension, by gamma [C] and beta
 * [C]: out[0] is the result, out[1] the mean and out[2] the biased variance [C]. On failure all are
 * failed values. */
void leati_batch_norm(leat_value x, leat_value gamma, leat_value beta, double epsilon,
                      leat_value out[3]);

#endif
