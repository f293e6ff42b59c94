/* The counters of an iterator for Prometheus (text exposition format 0.0.4).
 *
 * Families are written one after the other, as the format asks, each by one walk through the tree
 * under its lock; counters are relaxed atomics and may be read while the pipeline runs. The only
 * failure is a lack of memory. */
#include "data/run/metrics.h"
#include "base/clock.h"
#include "web/metrics.h"
#include <stdio.h>

#define COUNTER(FIELD) offsetof(leati_counters, FIELD)

static const struct family {
    const char *name, *type, *help;
    size_t counter; /* offset in leati_counters */
    bool nanoseconds;
} families[] = {
    {"leat_operator_elements_total", "counter", "Elements delivered.", COUNTER(elements), false},
    {"leat_operator_errors_total", "counter", "Elements that failed.", COUNTER(errors), false},
    {"leat_operator_callbacks_total", "counter", "Calls of a user's functions.", COUNTER(callbacks),
     false},
    {"leat_operator_recovered_total", "counter", "Truncated pictures that were filled up.",
     COUNTER(recovered), false},
    {"leat_operator_busy_seconds_total", "counter",
     "Time spent computing, inputs and waits excluded, over all threads.", COUNTER(busy_ns), true},
    {"leat_operator_waiting_seconds_total", "counter", "Time spent waiting for elements.",
     COUNTER(waiting_ns), true},
    {"leat_operator_full_seconds_total", "counter", "Time spent waiting for the consumer.",
     COUNTER(full_ns), true},
    {"leat_operator_buffered_elements", "gauge", "Elements ready and not taken.", COUNTER(depth),
     false},
    {"leat_operator_buffer_limit", "gauge", "Elements that the buffer may hold.",
     COUNTER(depth_limit), false},
    {"leat_operator_held_bytes", "gauge", "Bytes that outlive a pull.", COUNTER(bytes_held), false},
    {"leat_operator_parallelism", "gauge", "Calls that may run at a time.", COUNTER(parallelism),
     false},
};

/* Depth of the tree beyond which places are cut. */
enum { PLACE_SIZE = 256 };

typedef struct walk {
    leati_text *text;
    const struct family *family;
    const leati_metrics_pipeline *pipeline;
} walk;

/* The labels of a sample, at most four; their number. `number` is room for the iterator's. */
static int add_labels(const walk *w, const leati_node_state *node, const char *place,
                      char number[24], leati_web_label *labels) {
    int count = 0;
    labels[count++] = (leati_web_label){"pipeline", w->pipeline->name};
    if (node != NULL) {
        labels[count++] = (leati_web_label){"operator", node->name};
        labels[count++] = (leati_web_label){"place", place};
    }
    if (w->pipeline->id >= 0) {
        snprintf(number, 24, "%lld", (long long)w->pipeline->id);
        labels[count++] = (leati_web_label){"iterator", number};
    }
    return count;
}

static void add_tree(const walk *w, const leati_node_state *node, const char *place) {
    const void *field = (const char *)&node->counters + w->family->counter;
    int64_t value = leati_counter_get(field);
    leati_web_label labels[4];
    char number[24];
    int count = add_labels(w, node, place, number, labels), input = 0;
    if (w->family->nanoseconds)
        leati_web_metrics_number(w->text, w->family->name, labels, count, (double)value / 1e9);
    else
        leati_web_metrics_integer(w->text, w->family->name, labels, count, value);
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling) {
        char below[PLACE_SIZE];
        snprintf(below, sizeof(below), "%.240s.%d", place, input++);
        add_tree(w, child, below);
    }
}

/* ---- what a pipeline has one of ---- */

static double seconds(const leati_metrics_pipeline *p) {
    return (double)(leati_now_ns() - p->iteration->started_ns) / 1e9;
}

static double next_seconds(const leati_metrics_pipeline *p) {
    return (double)leati_counter_get(&p->top->counters.busy_ns) / 1e9;
}

static double memory(const leati_metrics_pipeline *p) {
    return (double)leati_budget_used(p->iteration->budget);
}

static double memory_limit(const leati_metrics_pipeline *p) {
    return (double)leati_budget_limit(p->iteration->budget);
}

static const struct single {
    const char *name, *type, *help;
    double (*value)(const leati_metrics_pipeline *pipeline);
} singles[] = {
    {"leat_pipeline_seconds", "gauge", "Time since the iterator was made.", seconds},
    {"leat_pipeline_next_seconds_total", "counter",
     "Time that the consumer spent in calls of next.", next_seconds},
    {"leat_pipeline_memory_bytes", "gauge", "Bytes held within the memory budget.", memory},
    {"leat_pipeline_memory_limit_bytes", "gauge", "The memory budget.", memory_limit},
};

void leati_metrics_write(const leati_metrics_pipeline *pipelines, int count, leati_text *out) {
    walk w = {.text = out};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        w.family = &families[i];
        leati_web_metrics_head(out, w.family->name, w.family->type, w.family->help);
        for (int p = 0; p < count; p++) {
            w.pipeline = &pipelines[p];
            leati_state_tree_lock();
            const leati_node_state *root = pipelines[p].top->children;
            for (; root != NULL; root = root->sibling)
                add_tree(&w, root, "0");
            leati_state_tree_unlock();
        }
    }
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        leati_web_metrics_head(out, singles[i].name, singles[i].type, singles[i].help);
        for (int p = 0; p < count; p++) {
            leati_web_label labels[4];
            char number[24];
            w.pipeline = &pipelines[p];
            int used = add_labels(&w, NULL, NULL, number, labels);
            leati_web_metrics_number(out, singles[i].name, labels, used,
                                     singles[i].value(&pipelines[p]));
        }
    }
}

char *leati_metrics(const leati_iteration *iteration, const leati_node_state *top,
                    const char *pipeline, leat_error *err) {
    leati_text text = {0};
    const leati_metrics_pipeline one = {iteration, top, pipeline, -1};
    leati_metrics_write(&one, 1, &text);
    char *all = leati_text_take(&text);
    if (all == NULL)
        leati_no_memory(err);
    return all;
}
