/* What the files of the part nn share. */
#ifndef GOLDEN_NN_H
#define GOLDEN_NN_H

#include "support/golden.h"
#include "train/frame/kind.h"
#include <string.h>

#define NN_FOLDER "nn"

/* The descriptor of that name; golden_missing (naming `sort`) where the table lacks it or one of
 * the arguments in `config`. */
const leati_kind *golden_kind(golden_case *c, const char *sort, const leati_kind *const *kinds,
                              size_t count, const char *name, const json_t *config);

/* Fails the case with what a builder answered; UNIMPLEMENTED counts as a missing name. */
void golden_refused(golden_case *c, const char *what, const leat_error *err);

/* A recorded array as a value of an eager graph; failed (and golden_fail) if it cannot be read. */
leat_value golden_eager(golden_case *c, leat_graph *graph, const json_t *json);
/* Compares a value of an eager graph with a recorded array. */
void golden_value_close(golden_case *c, const char *what, const json_t *expected, leat_value found,
                        double relative);

void golden_tensor_close(golden_case *c, const char *what, const json_t *json,
                         const leat_tensor *found, double relative);

static inline bool golden_ends_in(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static inline bool golden_stopped(const golden_case *c) {
    return c->failed || c->missing[0] != '\0';
}

/* ---- graphs (nn_device.c): eager, or with --device as steps of it ---- */

/* A graph, whose inputs are recorded arrays; NULL after golden_fail. */
leat_graph *golden_graph_open(golden_case *c, const json_t *const *inputs, int count,
                              leat_value *values);
/* The same on the host in any case. */
leat_graph *golden_graph_eager(golden_case *c, const json_t *const *inputs, int count,
                               leat_value *values);
/* Notes what golden_value_close is to compare; false: the value is there already. */
bool golden_graph_compare(golden_case *c, const char *what, const json_t *expected,
                          leat_value found, double relative);
/* Runs it, if it has not run, and frees it; what it writes is written from here on. False where the
 * case has an end. */
bool golden_graph_close(golden_case *c, leat_graph *graph);
/* Between these variables are made on the run's device. */
void golden_device_begin(golden_run *run);
void golden_device_end(const golden_run *run);
/* "XLA_CPU:1" of the run's kind of device. */
const char *golden_device_name(const golden_case *c, int replica, char out[32]);

void golden_initializer_case(golden_case *c, const json_t *json);
void golden_dropout_case(golden_case *c, const json_t *json);
void golden_training_case(golden_case *c, const json_t *json);

#endif
