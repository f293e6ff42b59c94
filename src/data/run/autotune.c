/* Autotune. See autotune.h.
 *
 * Happy path: the thread measures over an interval, changes the next knob, measures again, keeps or
 * takes back, and writes a line about it; intervals grow, so that a long run is left in peace. What
 * is measured is the consumer's time inside of next, so pauses of its own count for nothing, and
 * while it hardly waits nothing is tried. A trial goes the other way after one that did not help,
 * ends early where it does harm, and a knob for which neither way helps rests for longer and
 * longer, until the load changes. While most of the memory budget is used nothing grows, and
 * buffers shrink where that does no harm. Values change results in no way: a wrong decision costs
 * time alone.
 *
 * Failures: without memory for the thread values stay as they start. Locks: the tuner's gate, and
 * the tree lock for walking knobs (operators may close meanwhile); neither is held while the other
 * is taken. */
#include "data/run/autotune.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "run/driver.h"
#include "run/queue.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_MS = 25,
    LAST_MS = 2000,
    PARTS = 4,           /* of an interval, after each of which a trial may end */
    FEWEST_ELEMENTS = 8, /* below that a sample says little */
    MOST_PARTS = 32,     /* of an interval with fewer */
    MOST_REST = 64,      /* rounds */
    STRANGE = 2,         /* samples in a row that show another load */
    MOST_DECISIONS = 24,
    DECISION_TEXT = 192
};

/* Why nothing was tried. */
typedef enum idleness { BUSY = 0, CONSUMER_BOUND, MEMORY_TIGHT } idleness;

typedef struct leati_tuner {
    leati_iteration *iteration;
    leati_gate *gate;
    leati_driver *driver;                          /* gate; NULL until there is a knob */
    bool stop;                                     /* gate */
    char decisions[MOST_DECISIONS][DECISION_TEXT]; /* gate; the last ones */
    int64_t num_decisions;                         /* gate */
    /* The thread's: */
    size_t turn;        /* which knob is next */
    idleness idle;      /* as it was recorded last */
    leati_sample usual; /* the load for which knobs rest */
    int strange;        /* samples in a row that are unlike it */
} leati_tuner;

/* ---- the rules ---- */

static double per_element(int64_t ns, const leati_sample *s) {
    return (double)LEATI_MAX(ns, 0) / (double)s->elements;
}

void leati_autotune_climb_compare(const leati_sample *before, const leati_sample *after,
                                  double *rate_before, double *rate_after) {
    double one = per_element(before->elapsed_ns - before->inside_ns, before);
    double other = per_element(after->elapsed_ns - after->inside_ns, after);
    /* The nanosecond more keeps the rates finite where neither sample has any time. */
    double outside = LEATI_MIN(one, other) + 1;
    *rate_before = 1e9 / (per_element(before->inside_ns, before) + outside);
    *rate_after = 1e9 / (per_element(after->inside_ns, after) + outside);
}

bool leati_autotune_climb_is_starved(const leati_sample *sample) {
    /* Below 5 % even endless speed would gain next to nothing. */
    return sample->inside_ns > sample->elapsed_ns / 20;
}

int64_t leati_autotune_climb_next(int64_t value, int64_t minimum, int64_t maximum, bool down,
                                  bool buffer) {
    /* A thread more takes a core; a buffer has to change by much to make a difference. */
    int64_t next = buffer ? (down ? value / 2 : value * 2) : (down ? value - 1 : value + 1);
    return next < minimum ? minimum : LEATI_MIN(maximum, next);
}

bool leati_autotune_climb_plan(const leati_knob *knob, leati_scope scope, int64_t *to, bool *down) {
    int64_t value = leati_autotune_knob_get(knob);
    *down = knob->climb.down || value == knob->maximum || scope.tight;
    *down = *down && value > knob->minimum;
    *to = leati_autotune_climb_next(value, knob->minimum, knob->maximum, *down, knob->buffer);
    bool useful =
        *down ? scope.starved || (knob->buffer && scope.tight) : scope.starved && !scope.tight;
    return knob->climb.resting == 0 && useful && *to != value;
}

bool leati_autotune_climb_keeps(bool down, double before, double after) {
    /* More has to be worth what it takes, less only has to be no worse, within noise. */
    return down ? after >= before * 0.99 : after > before * 1.03;
}

bool leati_autotune_climb_is_hopeless(double before, double after) {
    return after < before * 0.8;
}

void leati_autotune_climb_judge(leati_climb *climb, bool tried_down, bool kept) {
    /* On after success, the other way after a refusal. */
    climb->down = kept == tried_down;
    climb->refused = kept ? 0 : climb->refused + 1;
    climb->resting = 0;
    /* The first refusal is followed by the other way at once. */
    if (climb->refused > 1)
        climb->resting = climb->refused > 6 ? MOST_REST : (int64_t)1 << climb->refused;
}

/* ---- measuring ---- */

/* Waits so long; false when it must stop. */
static bool pass_time(leati_tuner *tuner, int64_t ms) {
    int64_t deadline = leati_now_ns() + ms * 1000000;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(tuner->gate);
    while (!tuner->stop && status == LEAT_OK)
        status =
            leati_queue_gate_wait(tuner->gate, LEATI_WAIT_INPUT, deadline, NULL, &(leat_error){0});
    bool go_on = !tuner->stop;
    leati_queue_gate_unlock(tuner->gate);
    return go_on;
}

/* The totals so far. The consumer counts both at the end of a pull. */
static leati_sample totals(const leati_iteration *iteration) {
    leati_sample now = {.elapsed_ns = leati_now_ns()};
    leati_state_tree_lock();
    /* NULL before the tree is open and while it is being closed. */
    const leati_node_state *root = iteration->root->children;
    now.elements = root == NULL ? 0 : leati_counter_get(&root->counters.elements);
    now.inside_ns = leati_counter_get(&iteration->root->counters.busy_ns);
    leati_state_tree_unlock();
    return now;
}

/* Measures over the next interval, which is stretched while hardly any elements come, and ends
 * early where it is hopeless beside `before` (NULL: nothing to compare). False: stop. */
static bool measure(leati_tuner *tuner, int64_t ms, const leati_sample *before, leati_sample *out) {
    leati_sample start = totals(tuner->iteration);
    *out = (leati_sample){0};
    for (int i = 0; i < MOST_PARTS && (i < PARTS || out->elements < FEWEST_ELEMENTS); i++) {
        if (!pass_time(tuner, ms / PARTS))
            return false;
        leati_sample now = totals(tuner->iteration);
        *out = (leati_sample){.elements = now.elements - start.elements,
                              .inside_ns = now.inside_ns - start.inside_ns,
                              .elapsed_ns = now.elapsed_ns - start.elapsed_ns};
        double was = 0, is = 0;
        if (before != NULL && out->elements >= FEWEST_ELEMENTS / 2) {
            leati_autotune_climb_compare(before, out, &was, &is);
            if (leati_autotune_climb_is_hopeless(was, is))
                break;
        }
    }
    return true;
}

/* ---- the thread ---- */

/* Adds a line to the record. Without the gate. */
static void note(leati_tuner *tuner, const char *format, ...) LEAT_PRINTF(2, 3);

static void note(leati_tuner *tuner, const char *format, ...) {
    char line[DECISION_TEXT];
    double seconds = (double)(leati_now_ns() - tuner->iteration->started_ns) / 1e9;
    int length = snprintf(line, sizeof(line), "%.2f s: ", seconds);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
    va_end(arguments);
    leati_queue_gate_lock(tuner->gate);
    memcpy(tuner->decisions[tuner->num_decisions++ % MOST_DECISIONS], line, sizeof(line));
    leati_queue_gate_unlock(tuner->gate);
    LEATI_TELL(DATA, DEBUG, "autotune: %s", line);
}

/* The knob of the subtree that *number counts down to; NULL: there are fewer. With the tree lock.
 */
static leati_knob *find_knob(const leati_node_state *node, size_t *number) {
    for (leati_knob *knob = node->knobs; knob != NULL; knob = knob->next)
        if (knob->minimum < knob->maximum && (*number)-- == 0)
            return knob;
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling) {
        leati_knob *found = find_knob(child, number);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static leati_knob *knob_number(const leati_tuner *tuner, size_t number) {
    return find_knob(tuner->iteration->root, &number);
}

/* A change of one knob, which may be gone when it is judged. */
typedef struct trial {
    leati_knob *knob;
    size_t number;
    int64_t from, to;
    bool down;
    char name[DECISION_TEXT / 2];
} trial;

/* Turns the next knob that does not rest by one step; false: there is none. */
static bool begin_trial(leati_tuner *tuner, leati_scope s, trial *t) {
    bool found = false;
    size_t count = 0;
    leati_state_tree_lock();
    /* Counted anew in each round: operators may have opened or closed meanwhile. */
    for (leati_knob *knob; (knob = knob_number(tuner, count)) != NULL; count++)
        knob->climb.resting -= knob->climb.resting > 0;
    for (size_t i = 0; i < count && !found; i++) {
        t->number = (tuner->turn + i) % count;
        t->knob = knob_number(tuner, t->number);
        found = leati_autotune_climb_plan(t->knob, s, &t->to, &t->down);
    }
    if (found) {
        t->from = leati_autotune_knob_get(t->knob);
        tuner->turn = t->number + 1;
        snprintf(t->name, sizeof(t->name), "%s %s", t->knob->node->name,
                 t->knob->buffer ? "buffer_size" : "num_parallel_calls");
        atomic_store_explicit(&t->knob->value, t->to, memory_order_relaxed);
    }
    leati_state_tree_unlock();
    return found;
}

/* Judges the trial; true: it is kept. Where nothing came meanwhile it is taken back unjudged. */
static bool end_trial(leati_tuner *tuner, const trial *t, const leati_sample *before,
                      const leati_sample *after) {
    double was = 0, is = 0;
    bool judged = after->elements > 0;
    if (judged)
        leati_autotune_climb_compare(before, after, &was, &is);
    bool keep = judged && leati_autotune_climb_keeps(t->down, was, is);
    leati_state_tree_lock();
    leati_knob *knob = knob_number(tuner, t->number);
    /* Compared and not followed: the knob may have been closed during the trial. */
    if (knob == t->knob && knob != NULL) {
        if (judged)
            leati_autotune_climb_judge(&knob->climb, t->down, keep);
        if (!keep)
            atomic_store_explicit(&knob->value, t->from, memory_order_relaxed);
    }
    leati_state_tree_unlock();
    if (!judged)
        return false;
    note(tuner, "%s %lld -> %lld: %.4g -> %.4g elements/s, %s", t->name, (long long)t->from,
         (long long)t->to, was, is,
         keep ? (t->down ? "kept: as fast with less" : "kept: faster")
              : (t->down ? "taken back: slower" : "taken back: no gain"));
    return keep;
}

/* Is most of the memory used? */
static bool is_tight(const leati_iteration *iteration) {
    int64_t own = iteration->tuning.memory;
    /* Tight is where less than a quarter is left. */
    return !leati_budget_fits(iteration->budget, leati_budget_limit(iteration->budget) / 4) ||
           (own > 0 && leati_budget_used(iteration->budget) > own / 4 * 3);
}

/* Records why nothing grows, once each time that it begins. */
static void note_idleness(leati_tuner *tuner, leati_scope s, const leati_sample *sample) {
    idleness now = s.tight ? MEMORY_TIGHT : s.starved ? BUSY : CONSUMER_BOUND;
    if (now == tuner->idle)
        return;
    tuner->idle = now;
    if (now == CONSUMER_BOUND) {
        note(tuner, "nothing to gain: the consumer waits for %.1f %% of the time",
             100.0 * (double)sample->inside_ns / (double)sample->elapsed_ns);
    } else if (now == MEMORY_TIGHT) {
        note(tuner, "nothing grows: %lld bytes of the budget are used",
             (long long)leati_budget_used(tuner->iteration->budget));
    }
}

/* Ends the knobs' rest when samples stay unlike the one for which they rest; true: it has. */
static bool watch_load(leati_tuner *tuner, const leati_sample *sample) {
    double was = 0, is = 0;
    if (tuner->usual.elements > 0)
        leati_autotune_climb_compare(&tuner->usual, sample, &was, &is);
    /* The bounds are about each other's inverse: slower and faster by the same factor. */
    bool like = was > 0 && is > was * 0.6 && is < was * 1.7;
    tuner->strange = like ? 0 : tuner->strange + 1;
    if (was > 0 && tuner->strange < STRANGE)
        return false;
    tuner->usual = *sample;
    tuner->strange = 0;
    /* There was nothing to compare with. */
    if (was == 0)
        return true;
    leati_state_tree_lock();
    leati_knob *knob = NULL;
    for (size_t i = 0; (knob = knob_number(tuner, i)) != NULL; i++) {
        knob->climb.refused = 0;
        knob->climb.resting = 0;
    }
    leati_state_tree_unlock();
    note(tuner, "another load: %.4g -> %.4g elements/s, all is tried again", was, is);
    return true;
}

/* Two samples of the same state as one, in which the older one counts half: steadier than one. */
static leati_sample join(const leati_sample *older, const leati_sample *newer) {
    return (leati_sample){.elements = older->elements / 2 + newer->elements,
                          .inside_ns = older->inside_ns / 2 + newer->inside_ns,
                          .elapsed_ns = older->elapsed_ns / 2 + newer->elapsed_ns};
}

/* Nothing was tried, or it was taken back: measures until the next round. */
static bool stay(leati_tuner *tuner, int64_t ms, leati_sample *before) {
    leati_sample now = {0};
    if (!measure(tuner, ms, NULL, &now))
        return false;
    bool other =
        now.elements == 0 || (leati_autotune_climb_is_starved(&now) && watch_load(tuner, &now));
    *before = other ? now : join(before, &now);
    return true;
}

/* One round after the sample `before`, which becomes the next round's. False: stop. */
static bool go_round(leati_tuner *tuner, int64_t ms, leati_sample *before) {
    leati_sample after = {0};
    trial t = {0};
    bool tried = false;
    /* Without elements there is nothing to judge a trial by. */
    if (before->elements > 0) {
        leati_scope s = {.starved = leati_autotune_climb_is_starved(before),
                         .tight = is_tight(tuner->iteration)};
        note_idleness(tuner, s, before);
        tried = (s.starved || s.tight) && begin_trial(tuner, s, &t);
    }
    if (!tried)
        return stay(tuner, ms, before);
    /* What was made before a change is delivered first. */
    if (!pass_time(tuner, ms / PARTS) || !measure(tuner, ms, before, &after))
        return false;
    if (end_trial(tuner, &t, before, &after)) {
        tuner->usual = *before = after;
        return true;
    }
    /* Also after it is taken back what was made meanwhile is delivered first. */
    return pass_time(tuner, ms / PARTS) && stay(tuner, ms, before);
}

static void tune(void *context) {
    leati_tuner *tuner = context;
    int64_t interval = FIRST_MS;
    leati_sample before = {0};
    bool go_on = measure(tuner, interval, NULL, &before);
    while (go_on) {
        go_on = go_round(tuner, interval, &before);
        interval += interval / 4;
        interval = LEATI_MIN(interval, LAST_MS);
    }
}

/* ---- knobs ---- */

/* There is something to do: starts the thread. */
static void wake_tuner(leati_tuner *tuner) {
    if (tuner == NULL)
        return;
    leati_queue_gate_lock(tuner->gate);
    /* Not once it stops: nobody would join the thread. */
    if (tuner->driver == NULL && !tuner->stop)
        tuner->driver = leati_driver_start("autotune", tune, tuner, &(leat_error){0});
    leati_queue_gate_unlock(tuner->gate);
}

void leati_autotune_knob_add(leati_knob *knob, leati_node_state *node, bool buffer, int64_t start,
                             int64_t minimum, int64_t maximum) {
    knob->buffer = buffer;
    knob->node = node;
    knob->minimum = minimum;
    knob->maximum = maximum;
    knob->climb = (leati_climb){0};
    atomic_store_explicit(&knob->value, start, memory_order_relaxed);
    leati_state_tree_lock();
    knob->next = node->knobs;
    node->knobs = knob;
    leati_state_tree_unlock();
    if (minimum < maximum)
        wake_tuner(node->iteration->tuner);
}

void leati_autotune_knob_remove(leati_knob *knob) {
    if (knob->node == NULL)
        return;
    leati_state_tree_lock();
    leati_knob **at = &knob->node->knobs;
    while (*at != NULL && *at != knob)
        at = &(*at)->next;
    if (*at != NULL)
        *at = knob->next;
    leati_state_tree_unlock();
    knob->node = NULL;
}

int64_t leati_autotune_knob_get(const leati_knob *knob) {
    return atomic_load_explicit((_Atomic int64_t *)&knob->value, memory_order_relaxed);
}

/* ---- the tuner's life ---- */

leat_status leati_autotune_start(leati_iteration *iteration, leat_error *err) {
    leati_tuner *tuner = leati_alloc_zero(1, sizeof(*tuner));
    if (tuner == NULL)
        return leati_no_memory(err);
    tuner->iteration = iteration;
    tuner->gate = leati_queue_gate_new("autotune", NULL, err);
    if (tuner->gate == NULL) {
        leati_free(tuner);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    iteration->tuner = tuner;
    return LEAT_OK;
}

void leati_autotune_stop(leati_iteration *iteration) {
    leati_tuner *tuner = iteration->tuner;
    if (tuner == NULL)
        return;
    leati_queue_gate_lock(tuner->gate);
    tuner->stop = true;
    leati_driver *driver = tuner->driver;
    leati_queue_gate_wake(tuner->gate);
    leati_queue_gate_unlock(tuner->gate);
    /* Without the gate, which the thread takes on its way out. */
    leati_driver_join(driver);
}

void leati_autotune_free(leati_iteration *iteration) {
    if (iteration->tuner == NULL)
        return;
    leati_queue_gate_free(iteration->tuner->gate);
    leati_free(iteration->tuner);
    iteration->tuner = NULL;
}

size_t leati_autotune_print(const leati_iteration *iteration, char *text, size_t size) {
    leati_tuner *tuner = iteration->tuner;
    size_t length = 0;
    if (size > 0)
        text[0] = '\0';
    if (tuner == NULL)
        return 0;
    leati_queue_gate_lock(tuner->gate);
    int64_t count = tuner->num_decisions;
    for (int64_t i = count > MOST_DECISIONS ? count - MOST_DECISIONS : 0; i < count; i++) {
        size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room > 0 ? text + length : NULL, room, "  %s\n",
                                   tuner->decisions[i % MOST_DECISIONS]);
    }
    leati_queue_gate_unlock(tuner->gate);
    return length;
}
