/* Autotune: a measured hill climb. A thread per iterator wakes at growing intervals, changes one
 * knob, measures the elements that the root delivered per second, keeps what helps and records each
 * decision with its reason. */
#ifndef LEATI_DATA_AUTOTUNE_H
#define LEATI_DATA_AUTOTUNE_H

#include "data/state.h"

/* A number that may change while the pipeline runs: embedded in an operator's state, read by it
 * with leati_knob_get. */
typedef struct leati_knob {
    const char *name; /* "num_parallel_calls", "buffer_size" */
    leati_node_state *node;
    int64_t minimum, maximum;
    _Atomic int64_t value;
    struct leati_knob *next;
} leati_knob;

/* Registers a knob (from open) with its start value; without a tuner it just keeps it. remove is
 * called from close. */
void leati_knob_add(leati_knob *knob, leati_node_state *node, const char *name, int64_t start,
                    int64_t minimum, int64_t maximum);
void leati_knob_remove(leati_knob *knob);
int64_t leati_knob_get(const leati_knob *knob);

/* Starts the thread if the tree has knobs; stop joins it. Decisions are text lines for explain. */
LEAT_WARN_UNUSED leat_status leati_tuner_start(leati_iteration *iteration, leat_error *err);
void leati_tuner_stop(leati_iteration *iteration);
size_t leati_tuner_print(const leati_iteration *iteration, char *text, size_t size);

#endif
