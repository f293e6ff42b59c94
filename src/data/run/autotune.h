/* Autotune: a measured hill climb. A thread per iterator that has knobs wakes at growing intervals,
 * changes one knob, measures what an element costs the consumer in waiting, keeps what helps and
 * records each decision with its reason. */
#ifndef LEATI_DATA_RUN_AUTOTUNE_H
#define LEATI_DATA_RUN_AUTOTUNE_H

#include "data/run/state.h"

/* Where the climb of one knob stands. */
typedef struct leati_climb {
    bool down;       /* which way the next trial goes */
    int refused;     /* trials in a row that were taken back */
    int64_t resting; /* rounds without a trial */
} leati_climb;

/* A number that may change while the pipeline runs: embedded in an operator's state, read by it
 * with leati_autotune_knob_get. */
typedef struct leati_knob {
    bool buffer; /* elements that wait (buffer_size), else calls at a time (num_parallel_calls) */
    leati_node_state *node;
    int64_t minimum, maximum;
    _Atomic int64_t value;
    struct leati_knob *next; /* tree lock: of the same node */
    leati_climb climb;       /* tree lock */
} leati_knob;

/* Registers a knob (from open) with its start value; without a tuner, or where minimum and maximum
 * are equal, it just keeps it. remove is called from close, also for a knob that was never added.
 */
void leati_autotune_knob_add(leati_knob *knob, leati_node_state *node, bool buffer, int64_t start,
                             int64_t minimum, int64_t maximum);
void leati_autotune_knob_remove(leati_knob *knob);
int64_t leati_autotune_knob_get(const leati_knob *knob);

/* Makes the iteration's tuner, before the tree is opened; its thread starts with the first knob.
 * stop joins it, before the tree is closed; free comes after. Without a tuner both do nothing. */
LEAT_WARN_UNUSED leat_status leati_autotune_start(leati_iteration *iteration, leat_error *err);
void leati_autotune_stop(leati_iteration *iteration);
void leati_autotune_free(leati_iteration *iteration);
/* The decisions, one line each, cut to `size`; returns the length needed. */
size_t leati_autotune_print(const leati_iteration *iteration, char *text, size_t size);

/* What was measured over a while: elements that the root delivered, the consumer's time inside of
 * next for them, and the whole time. */
typedef struct leati_sample {
    int64_t elements, inside_ns, elapsed_ns;
} leati_sample;

/* The rules of the climb. */

/* Elements/s of two samples, as if the consumer had needed the same time between two calls of next,
 * the smaller one of both: so a pause of the consumer's is no one's fault. Both have elements. */
void leati_autotune_climb_compare(const leati_sample *before, const leati_sample *after,
                                  double *rate_before, double *rate_after);
/* Whether the consumer waits for a part of its time that is worth a trial. */
bool leati_autotune_climb_is_starved(const leati_sample *sample);
/* The value to try next: one thread more or fewer, half or double of a buffer; the old value where
 * the range ends. */
int64_t leati_autotune_climb_next(int64_t value, int64_t minimum, int64_t maximum, bool down,
                                  bool buffer);
/* What a trial is for: the consumer waits for elements; most of the memory is used. */
typedef struct leati_scope {
    bool starved, tight;
} leati_scope;

/* The next step of the knob; false: there is none of use, or it rests. In tight memory nothing
 * grows, and a buffer shrinks even if the consumer does not wait. */
bool leati_autotune_climb_plan(const leati_knob *knob, leati_scope scope, int64_t *to, bool *down);
/* Whether a trial is kept that changed the rate from `before` to `after` elements/s: more must
 * help visibly, less must not harm. */
bool leati_autotune_climb_keeps(bool down, double before, double after);
/* Whether a trial is so much worse that it need not last any longer. */
bool leati_autotune_climb_is_hopeless(double before, double after);
/* After a trial: the next one goes on after success, else the other way. Where neither helps the
 * knob rests, each time for longer, because a trial that is taken back has cost time. */
void leati_autotune_climb_judge(leati_climb *climb, bool tried_down, bool kept);

#endif
