/* Adam's arithmetic on float32, for executors that share a variable between threads. */
#ifndef LEATI_GRAPH_SUPPORT_NN_ADAM_H
#define LEATI_GRAPH_SUPPORT_NN_ADAM_H

#include "graph/support/control/slots.h"

/* Attributes of apply_adam. */
struct leati_adam_args {
    leat_object *variable; /* first: see slots.h */
    leat_object *slots[2]; /* momentum, velocity */
    double beta_1, beta_2, epsilon;
};

/* What all values of a step share. */
typedef struct leati_adam_float {
    float alpha, new_1, new_2, epsilon;
} leati_adam_float;

/* INVALID_ARGUMENT where the step is below 1. */
LEAT_WARN_UNUSED leat_status leati_adam_check_step(int64_t step, leat_error *err);
leati_adam_float leati_adam_float_of(const struct leati_adam_args *args, float rate, int64_t step);
/* m += (g - m) new_1; v += (g^2 - v) new_2; variable -= m alpha / (sqrt(v) + epsilon): each value
 * by itself, with the same bits on every processor. `squares` stand for g^2; NULL: nothing does. */
void leati_adam_run_float(const leati_adam_float *adam, float *variable, float *m, float *v,
                          const float *gradient, const float *squares, int64_t n);

/* Adds apply_adam over variable, momentum and velocity. `inputs`: gradient, learning rate, step,
 * and squares of the gradient, failed where these are its own. */
void leati_adam_build(leat_variable *const variables[3], const leat_value inputs[4], double beta_1,
                      double beta_2, double epsilon);

#endif
