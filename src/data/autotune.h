/* Autotune: a measured hill climb. A thread per iterator that has knobs wakes at growing intervals,
 * changes one knob, measures the elements that the root delivered per second, keeps what helps and
 * records each decision with its reason. */
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
    struct leati_knob *next; /* tree lock: of the same node */
    bool down;               /* tree lock: which way the next trial goes */
} leati_knob;

/* Registers a knob (from open) with its start value; without a tuner, or where minimum and maximum
 * are equal, it just keeps it. remove is called from close, also for a knob that was never added.
 */
void leati_knob_add(leati_knob *knob, leati_node_state *node, const char *name, int64_t start,
                    int64_t minimum, int64_t maximum);
void leati_knob_remove(leati_knob *knob);
int64_t leati_knob_get(const leati_knob *knob);

/* Makes the iteration's tuner, before the tree is opened; its thread starts with the first knob.
 * stop joins it, before the tree is closed; free comes after. Without a tuner both do nothing. */
LEAT_WARN_UNUSED leat_status leati_tuner_start(leati_iteration *iteration, leat_error *err);
void leati_tuner_stop(leati_iteration *iteration);
void leati_tuner_free(leati_iteration *iteration);
/* The decisions, one line each, cut to `size`; returns the length needed. */
size_t leati_tuner_print(const leati_iteration *iteration, char *text, size_t size);

/* The rules of the climb. The value to try next: one thread more or fewer, half or double of a
 * buffer; the old value where the range ends. */
int64_t leati_climb_next(int64_t value, int64_t minimum, int64_t maximum, bool down, bool buffer);
/* Whether a trial is kept that changed the rate from `before` to `after` elements/s: more must
 * help visibly, less must not harm. */
bool leati_climb_keeps(bool down, double before, double after);

#endif
