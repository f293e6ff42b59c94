/* Autotune: a hill climb on measured rates.
 *
 * Operators register knobs when they open. A thread per iterator wakes at growing intervals and
 * compares what the root delivered per second with what it delivered before it last turned a knob:
 * if that helped by more than the noise it goes on in the same direction, else it turns the knob
 * back and tries the next one. Values change results in no way, so a wrong decision costs time
 * alone. Nothing is raised while the memory budget is nearly used up. Every decision is kept as a
 * line with its figures for explain.
 *
 * Failures: without memory for the tuner the iterator does not open; nothing else can fail. Locks:
 * the tree lock guards the list of knobs (operators may close while the thread runs), the tuner's
 * gate guards its own fields; neither is taken inside the other. */
#include "data/autotune.h"
#include "base/clock.h"
#include "run/driver.h"
#include "run/queue.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_INTERVAL_MS = 50,
    LAST_INTERVAL_MS = 2000,
    MOST_DECISIONS = 24,
    DECISION_TEXT = 160,
    FEWEST_ELEMENTS = 8 /* below that a rate says nothing */
};

/* A change must help by this much to be kept. */
static const double gain_needed = 1.05;

typedef struct leati_tuner {
    leati_iteration *iteration;
    leati_gate *gate;
    leati_driver *driver;
    bool stop;      /* guarded by the gate */
    int turn;       /* which knob is tried next */
    bool upwards;   /* and in which direction */
    bool trying;    /* a knob was turned and its effect is being measured */
    char trial[96]; /* which */
    int64_t old_value, new_value;
    double rate_before;
    int64_t elements, since_ns; /* at the last look */
    int64_t interval_ms;
    char decisions[MOST_DECISIONS][DECISION_TEXT]; /* guarded by the gate; a ring */
    int num_decisions;
} leati_tuner;

/* ---- knobs ---- */

void leati_knob_add(leati_knob *knob, leati_node_state *node, const char *name, int64_t start,
                    int64_t minimum, int64_t maximum) {
    knob->name = name;
    knob->node = node;
    knob->minimum = minimum;
    knob->maximum = maximum;
    knob->next = NULL;
    atomic_store_explicit(&knob->value, start, memory_order_relaxed);
    if (node->iteration->inline_only || !node->iteration->autotune) {
        return;
    }
    leati_tree_lock();
    leati_knob **last = &node->iteration->knobs;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = knob;
    leati_tree_unlock();
}

void leati_knob_remove(leati_knob *knob) {
    if (knob->node == NULL) {
        return;
    }
    leati_tree_lock();
    leati_knob **at = &knob->node->iteration->knobs;
    while (*at != NULL && *at != knob) {
        at = &(*at)->next;
    }
    if (*at == knob) {
        *at = knob->next;
    }
    leati_tree_unlock();
    knob->node = NULL;
}

int64_t leati_knob_get(const leati_knob *knob) {
    return atomic_load_explicit((_Atomic int64_t *)&knob->value, memory_order_relaxed);
}

/* ---- the climb ---- */

/* Knob number `turn` modulo their number; the tree lock is held. */
static leati_knob *knob_of_turn(const leati_tuner *tuner) {
    int count = 0;
    for (leati_knob *knob = tuner->iteration->knobs; knob != NULL; knob = knob->next) {
        count++;
    }
    if (count == 0) {
        return NULL;
    }
    int wanted = tuner->turn % count;
    leati_knob *knob = tuner->iteration->knobs;
    while (wanted-- > 0) {
        knob = knob->next;
    }
    return knob;
}

static int64_t neighbour(const leati_knob *knob, bool upwards) {
    int64_t value = leati_knob_get(knob), step = value / 2 > 1 ? value / 2 : 1;
    value = upwards ? value + step : value - step;
    return value < knob->minimum ? knob->minimum : value > knob->maximum ? knob->maximum : value;
}

static void note(leati_tuner *tuner, double rate, const char *verdict) {
    double seconds = (double)(leati_now_ns() - tuner->iteration->started_ns) / 1e9;
    leati_gate_lock(tuner->gate);
    char *line = tuner->decisions[tuner->num_decisions % MOST_DECISIONS];
    snprintf(line, DECISION_TEXT, "%.2f s: %s %lld -> %lld: %.4g -> %.4g elements/s, %s", seconds,
             tuner->trial, (long long)tuner->old_value, (long long)tuner->new_value,
             tuner->rate_before, rate, verdict);
    tuner->num_decisions++;
    leati_gate_unlock(tuner->gate);
}

/* Sets the knob of this turn, if it still exists. */
static void set_knob(leati_tuner *tuner, int64_t value) {
    leati_tree_lock();
    leati_knob *knob = knob_of_turn(tuner);
    if (knob != NULL) {
        atomic_store_explicit(&knob->value, value, memory_order_relaxed);
    }
    leati_tree_unlock();
}

static void judge(leati_tuner *tuner, double rate) {
    tuner->trying = false;
    if (rate > tuner->rate_before * gain_needed) {
        note(tuner, rate, "kept");
        return; /* the same knob and direction again */
    }
    set_knob(tuner, tuner->old_value);
    note(tuner, rate, "taken back: no gain of 5 %");
    if (tuner->upwards) {
        tuner->upwards = false;
    } else {
        tuner->upwards = true;
        tuner->turn++;
    }
    tuner->interval_ms =
        tuner->interval_ms * 2 < LAST_INTERVAL_MS ? tuner->interval_ms * 2 : LAST_INTERVAL_MS;
}

static bool memory_is_short(const leati_iteration *iteration) {
    return leati_budget_used(iteration->budget) >
           (int64_t)(leati_budget_limit(iteration->budget) / 5 * 4);
}

/* Turns the knob of this turn by one step; false if it stands at its end. */
static bool turn_knob(leati_tuner *tuner, double rate) {
    leati_tree_lock();
    leati_knob *knob = knob_of_turn(tuner);
    bool turned = false;
    if (knob != NULL && !(tuner->upwards && memory_is_short(tuner->iteration))) {
        tuner->old_value = leati_knob_get(knob);
        tuner->new_value = neighbour(knob, tuner->upwards);
        turned = tuner->new_value != tuner->old_value;
        if (turned) {
            atomic_store_explicit(&knob->value, tuner->new_value, memory_order_relaxed);
            snprintf(tuner->trial, sizeof(tuner->trial), "%s %s", knob->node->name, knob->name);
        }
    }
    leati_tree_unlock();
    tuner->trying = turned;
    tuner->rate_before = rate;
    return turned;
}

/* One look: judges the running trial, starts the next. */
static void look(leati_tuner *tuner) {
    leati_tree_lock();
    int64_t elements =
        tuner->iteration->delivered == NULL ? 0 : leati_count_get(tuner->iteration->delivered);
    leati_tree_unlock();
    int64_t now = leati_now_ns(), got = elements - tuner->elements;
    if (got < FEWEST_ELEMENTS) {
        return; /* keep measuring */
    }
    double rate = (double)got * 1e9 / (double)(now - tuner->since_ns);
    if (tuner->trying) {
        judge(tuner, rate);
    } else if (!turn_knob(tuner, rate)) {
        tuner->turn += tuner->upwards ? 0 : 1;
        tuner->upwards = !tuner->upwards;
    }
    tuner->elements = elements;
    tuner->since_ns = now;
}

static void tuner_main(void *context) {
    leati_tuner *tuner = context;
    leati_gate_lock(tuner->gate);
    while (!tuner->stop) {
        leat_error ignored = {0};
        int64_t deadline = leati_now_ns() + tuner->interval_ms * 1000000;
        leat_status status =
            leati_gate_wait(tuner->gate, LEATI_WAIT_INPUT, deadline, NULL, &ignored);
        if (status == LEAT_CANCELLED) {
            break;
        }
        if (status == LEAT_DEADLINE_EXCEEDED && !tuner->stop) {
            leati_gate_unlock(tuner->gate);
            look(tuner);
            leati_gate_lock(tuner->gate);
        }
    }
    leati_gate_unlock(tuner->gate);
}

leat_status leati_tuner_start(leati_iteration *iteration, leat_error *err) {
    if (iteration->knobs == NULL) {
        return LEAT_OK;
    }
    leati_tuner *tuner = leati_alloc_zero(1, sizeof(*tuner));
    if (tuner == NULL) {
        return leati_no_memory(err, sizeof(*tuner));
    }
    iteration->tuner = tuner;
    tuner->iteration = iteration;
    tuner->upwards = true;
    tuner->interval_ms = FIRST_INTERVAL_MS;
    tuner->since_ns = leati_now_ns();
    tuner->gate = leati_gate_new("autotune", iteration->cancel, err);
    if (tuner->gate == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    tuner->driver = leati_driver_start("autotune", tuner_main, tuner, err);
    return tuner->driver == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

void leati_tuner_stop(leati_iteration *iteration) {
    leati_tuner *tuner = iteration->tuner;
    if (tuner == NULL) {
        return;
    }
    if (tuner->gate != NULL) {
        leati_gate_lock(tuner->gate);
        tuner->stop = true;
        leati_gate_wake(tuner->gate);
        leati_gate_unlock(tuner->gate);
    }
    leati_driver_join(tuner->driver);
    leati_gate_free(tuner->gate);
    leati_free(tuner);
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
    int first = tuner->num_decisions > MOST_DECISIONS ? tuner->num_decisions - MOST_DECISIONS : 0;
    for (int i = first; i < tuner->num_decisions; i++) {
        size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room > 0 ? text + length : NULL, room, "  %s\n",
                                   tuner->decisions[i % MOST_DECISIONS]);
    }
    leati_gate_unlock(tuner->gate);
    return length;
}
