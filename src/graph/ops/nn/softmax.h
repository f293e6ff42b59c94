/* What softmax, its logarithm and the cross-entropy share: one line of logits. */
#ifndef LEATI_GRAPH_OPS_NN_SOFTMAX_H
#define LEATI_GRAPH_OPS_NN_SOFTMAX_H

#include "graph/support/support.h"

/* Writes logits - max(logits) to `shifted` and returns log(sum(exp(shifted))); n > 0. */
float leati_softmax_shift_logits_float(const float *logits, float *shifted, int64_t n);
double leati_softmax_shift_logits_double(const double *logits, double *shifted, int64_t n);

/* Runs a line function over the last dimension of every row of input 0 into output 0. */
typedef void (*leati_line_function)(leat_dtype dtype, const char *in, char *out, int64_t n);
LEAT_WARN_UNUSED leat_status leati_softmax_over_lines(leati_kernel_call *call,
                                                      leati_line_function function,
                                                      leat_error *err);
/* The infer slot: floats of rank 1 or more. */
LEAT_WARN_UNUSED leat_status leati_softmax_infer(leati_infer_call *call, leat_error *err);

#endif
