/* Autotune. See autotune.h.
 *
 * Happy path: the thread measures the root's rate over an interval, changes the next knob, measures
 * again, keeps or takes back, and writes a line about it; intervals grow, so that a long run is
 * left in peace. A trial goes the other way after one that did not help. Buffers are not enlarged
 * while most of the memory budget is used. Values change results in no way: a wrong decision costs
 * time alone.
 *
 * Failures: without memory for the thread values stay as they start. Locks: the tuner's gate, and
 * the tree lock for walking knobs (operators may close meanwhile); neither is held while the other
 * is taken. */
#include "data/autotune.h"
#include "base/clock.h"
#include "run/driver.h"
#include "run/queue.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_MS = 25,
    LAST_MS = 2000,
    FEWEST_ELEMENTS = 8, /* below that a rate says nothing */
    MOST_STRETCHES = 8,  /* of an interval with fewer */
    MOST_DECISIONS = 24,
    DECISION_TEXT = 192
};

typedef struct leati_tuner {
    leati_iteration *iteration;
    leati_gate *gate;
    leati_driver *driver;                          /* gate; NULL until there is a knob */
    bool stop;                                     /* gate */
    char decisions[MOST_DECISIONS][DECISION_TEXT]; /* gate; the last ones */
    int64_t num_decisions;                         /* gate */
    size_t turn;                                   /* the thread's: which knob is next */
} leati_tuner;

/* ---- the rules ---- */

int64_t leati_climb_next(int64_t value, int64_t minimum, int64_t maximum, bool down, bool buffer) {
    int64_t next = buffer ? (down ? value / 2 : value * 2) : (down ? value - 1 : value + 1);
    return next < minimum ? minimum : next > maximum ? maximum : next;
}

bool leati_climb_keeps(bool down, double before, double after) {
    return down ? after >= before * 0.99 : after > before * 1.03;
}

/* ---- the thread ---- */

/* Waits so long; false when it must stop. */
static bool pass_time(leati_tuner *tuner, int64_t ms) {
    int64_t deadline = leati_now_ns() + ms * 1000000;
    leat_status status = LEAT_OK;
    leati_gate_lock(tuner->gate);
    while (!tuner->stop && status == LEAT_OK) {
        status = leati_gate_wait(tuner->gate, LEATI_WAIT_INPUT, deadline, NULL, NULL);
    }
    bool go_on = !tuner->stop;
    leati_gate_unlock(tuner->gate);
    return go_on;
}

static int64_t delivered(const leati_iteration *iteration) {
    leati_tree_lock();
    const leati_node_state *root = iteration->root->children;
    int64_t elements = root == NULL ? 0 : leati_count_get(&root->counters.elements);
    leati_tree_unlock();
    return elements;
}

/* Elements per second over the next interval, which is stretched while hardly any come. Negative:
 * stop. */
static double measure(leati_tuner *tuner, int64_t ms) {
    int64_t start = leati_now_ns(), before = delivered(tuner->iteration), after = before;
    for (int i = 0; i < MOST_STRETCHES && after - before < FEWEST_ELEMENTS; i++) {
        if (!pass_time(tuner, ms)) {
            return -1;
        }
        after = delivered(tuner->iteration);
    }
    return (double)(after - before) * 1e9 / (double)(leati_now_ns() - start);
}

/* The knob of the subtree that *number counts down to; NULL: there are fewer. With the tree lock.
 */
static leati_knob *find_knob(const leati_node_state *node, size_t *number) {
    for (leati_knob *knob = node->knobs; knob != NULL; knob = knob->next) {
        if (knob->minimum < knob->maximum && (*number)-- == 0) {
            return knob;
        }
    }
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling) {
        leati_knob *found = find_knob(child, number);
        if (found != NULL) {
            return found;
        }
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

/* Turns the next knob by one step; false if it stands at its end. */
static bool begin_trial(leati_tuner *tuner, trial *t) {
    const leati_budget *budget = tuner->iteration->budget;
    int64_t own = tuner->iteration->tuning.memory;
    bool tight = !leati_budget_fits(budget, leati_budget_limit(budget) / 4) ||
                 (own > 0 && leati_budget_used(budget) > own / 4 * 3);
    leati_tree_lock();
    t->number = tuner->turn++;
    t->knob = knob_number(tuner, t->number);
    if (t->knob == NULL) {
        t->number = 0;
        tuner->turn = 1;
        t->knob = knob_number(tuner, 0);
    }
    if (t->knob != NULL) {
        leati_knob *knob = t->knob;
        bool buffer = strcmp(knob->name, "buffer_size") == 0;
        t->from = leati_knob_get(knob);
        t->down = knob->down || t->from == knob->maximum || (buffer && tight);
        t->down = t->down && t->from > knob->minimum;
        t->to = leati_climb_next(t->from, knob->minimum, knob->maximum, t->down, buffer);
        snprintf(t->name, sizeof(t->name), "%s %s", knob->node->name, knob->name);
        atomic_store_explicit(&knob->value, t->to, memory_order_relaxed);
    }
    leati_tree_unlock();
    return t->knob != NULL && t->to != t->from;
}

static void end_trial(leati_tuner *tuner, const trial *t, double before, double after) {
    bool keep = leati_climb_keeps(t->down, before, after);
    leati_tree_lock();
    leati_knob *knob = knob_number(tuner, t->number);
    if (knob == t->knob && knob != NULL) {
        knob->down = keep == t->down;
        if (!keep) {
            atomic_store_explicit(&knob->value, t->from, memory_order_relaxed);
        }
    }
    leati_tree_unlock();
    double seconds = (double)(leati_now_ns() - tuner->iteration->started_ns) / 1e9;
    leati_gate_lock(tuner->gate);
    char *line = tuner->decisions[tuner->num_decisions++ % MOST_DECISIONS];
    snprintf(line, DECISION_TEXT, "%.2f s: %s %lld -> %lld: %.4g -> %.4g elements/s, %s", seconds,
             t->name, (long long)t->from, (long long)t->to, before, after,
             keep ? (t->down ? "kept: as fast with less" : "kept: faster")
                  : (t->down ? "taken back: slower" : "taken back: no gain"));
    leati_gate_unlock(tuner->gate);
}

static void tune(void *context) {
    leati_tuner *tuner = context;
    int64_t interval = FIRST_MS;
    double before = measure(tuner, interval);
    while (before >= 0) {
        trial t = {0};
        bool changed = before > 0 && begin_trial(tuner, &t);
        double after = measure(tuner, interval);
        if (changed && after > 0) {
            end_trial(tuner, &t, before, after);
        }
        interval += interval / 4;
        interval = interval < LAST_MS ? interval : LAST_MS;
        before = after < 0 ? after : measure(tuner, interval);
    }
}

/* ---- knobs ---- */

/* There is something to do: starts the thread. */
static void wake_tuner(leati_tuner *tuner) {
    if (tuner == NULL) {
        return;
    }
    leati_gate_lock(tuner->gate);
    if (tuner->driver == NULL && !tuner->stop) {
        tuner->driver = leati_driver_start("autotune", tune, tuner, NULL);
    }
    leati_gate_unlock(tuner->gate);
}

void leati_knob_add(leati_knob *knob, leati_node_state *node, const char *name, int64_t start,
                    int64_t minimum, int64_t maximum) {
    knob->name = name;
    knob->node = node;
    knob->minimum = minimum;
    knob->maximum = maximum;
    knob->down = false;
    atomic_store_explicit(&knob->value, start, memory_order_relaxed);
    leati_tree_lock();
    knob->next = node->knobs;
    node->knobs = knob;
    leati_tree_unlock();
    if (minimum < maximum) {
        wake_tuner(node->iteration->tuner);
    }
}

void leati_knob_remove(leati_knob *knob) {
    if (knob->node == NULL) {
        return;
    }
    leati_tree_lock();
    leati_knob **at = &knob->node->knobs;
    while (*at != NULL && *at != knob) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = knob->next;
    }
    leati_tree_unlock();
    knob->node = NULL;
}

int64_t leati_knob_get(const leati_knob *knob) {
    return atomic_load_explicit((_Atomic int64_t *)&knob->value, memory_order_relaxed);
}

/* ---- the tuner's life ---- */

leat_status leati_tuner_start(leati_iteration *iteration, leat_error *err) {
    leati_tuner *tuner = leati_alloc_zero(1, sizeof(*tuner));
    if (tuner == NULL) {
        return leati_no_memory(err, sizeof(*tuner));
    }
    tuner->iteration = iteration;
    tuner->gate = leati_gate_new("autotune", NULL, err);
    if (tuner->gate == NULL) {
        leati_free(tuner);
        return LEAT_RESOURCE_EXHAUSTED;
    }
    iteration->tuner = tuner;
    return LEAT_OK;
}

void leati_tuner_stop(leati_iteration *iteration) {
    leati_tuner *tuner = iteration->tuner;
    if (tuner == NULL) {
        return;
    }
    leati_gate_lock(tuner->gate);
    tuner->stop = true;
    leati_driver *driver = tuner->driver;
    leati_gate_wake(tuner->gate);
    leati_gate_unlock(tuner->gate);
    leati_driver_join(driver);
}

void leati_tuner_free(leati_iteration *iteration) {
    if (iteration->tuner == NULL) {
        return;
    }
    leati_gate_free(iteration->tuner->gate);
    leati_free(iteration->tuner);
    iteration->tuner = NULL;
}

size_t leati_tuner_print(const leati_iteration *iteration, char *text, size_t size) {
    leati_tuner *tuner = iteration->tuner;
    size_t length = 0;
    if (size > 0) {
        text[0] = '\0';
    }
    if (tuner == NULL) {
        return 0;
    }
    leati_gate_lock(tuner->gate);
    int64_t count = tuner->num_decisions;
    for (int64_t i = count > MOST_DECISIONS ? count - MOST_DECISIONS : 0; i < count; i++) {
        size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room > 0 ? text + length : NULL, room, "  %s\n",
                                   tuner->decisions[i % MOST_DECISIONS]);
    }
    leati_gate_unlock(tuner->gate);
    return length;
}
