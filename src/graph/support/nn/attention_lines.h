/* The inner loops of attention over a line of scores, for every instruction set. */
#ifndef LEATI_GRAPH_SUPPORT_NN_ATTENTION_LINES_H
#define LEATI_GRAPH_SUPPORT_NN_ATTENTION_LINES_H

#include <stdint.h>

/* scores[n] become exp(scores - top); returns their sum, added up in 16 lanes. */
float leati_attention_raise_float(float *scores, int64_t n, float top);
double leati_attention_raise_double(double *scores, int64_t n, double top);

/* scores[n] become probabilities p = exp(scores - moments[0]) / moments[1], and others[n], what
 * reaches these, what reaches the scores: p * (others - dot). */
void leati_attention_slopes_float(float *scores, float *others, int64_t n, const float moments[2],
                                  float dot);
void leati_attention_slopes_double(double *scores, double *others, int64_t n,
                                   const double moments[2], double dot);

#endif
