/* The counters of an iterator for Prometheus (text exposition format 0.0.4).
 *
 * Families are written one after the other, as the format asks, each by one walk through the tree
 * under its lock; counters are relaxed atomics and may be read while the pipeline runs. The only
 * failure is a lack of memory. */
#include "data/run/metrics.h"
#include "base/clock.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

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
    leati_text text;
    const struct family *family;
    const char *pipeline;
} walk;

static void add_label(leati_text *text, const char *name, const char *value) {
    leati_text_addf(text, "%s=\"", name);
    /* The three characters that the format wants escaped in labels. */
    for (const char *at = value; *at != '\0'; at++) {
        const char *escaped = *at == '\\'   ? "\\\\"
                              : *at == '"'  ? "\\\""
                              : *at == '\n' ? "\\n"
                                            : NULL;
        leati_text_add(text, escaped != NULL ? escaped : at, escaped != NULL ? 2 : 1);
    }
    leati_text_add(text, "\"", 1);
}

static void add_tree(walk *w, const leati_node_state *node, const char *place) {
    const void *field = (const char *)&node->counters + w->family->counter;
    int64_t value = leati_counter_get(field);
    leati_text_addf(&w->text, "%s{", w->family->name);
    add_label(&w->text, "pipeline", w->pipeline);
    add_label(&w->text, ",operator", node->name);
    add_label(&w->text, ",place", place);
    if (w->family->nanoseconds)
        leati_text_addf(&w->text, "} %.9f\n", (double)value / 1e9);
    else
        leati_text_addf(&w->text, "} %lld\n", (long long)value);
    int input = 0;
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling) {
        char below[PLACE_SIZE];
        snprintf(below, sizeof(below), "%.240s.%d", place, input++);
        add_tree(w, child, below);
    }
}

static void add_head(walk *w, const char *name, const char *type, const char *help) {
    leati_text_addf(&w->text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_value(walk *w, const char *name, const char *type, const char *help, double value) {
    add_head(w, name, type, help);
    leati_text_addf(&w->text, "%s{", name);
    add_label(&w->text, "pipeline", w->pipeline);
    leati_text_addf(&w->text, "} %.17g\n", value);
}

char *leati_metrics(const leati_iteration *iteration, const leati_node_state *top,
                    const char *pipeline, leat_error *err) {
    walk w = {.pipeline = pipeline};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        w.family = &families[i];
        add_head(&w, w.family->name, w.family->type, w.family->help);
        leati_state_tree_lock();
        for (const leati_node_state *root = top->children; root != NULL; root = root->sibling)
            add_tree(&w, root, "0");
        leati_state_tree_unlock();
    }
    add_value(&w, "leat_pipeline_seconds", "gauge", "Time since the iterator was made.",
              (double)(leati_now_ns() - iteration->started_ns) / 1e9);
    add_value(&w, "leat_pipeline_next_seconds_total", "counter",
              "Time that the consumer spent in calls of next.",
              (double)leati_counter_get(&top->counters.busy_ns) / 1e9);
    add_value(&w, "leat_pipeline_memory_bytes", "gauge", "Bytes held within the memory budget.",
              (double)leati_budget_used(iteration->budget));
    add_value(&w, "leat_pipeline_memory_limit_bytes", "gauge", "The memory budget.",
              (double)leati_budget_limit(iteration->budget));
    char *text = leati_text_take(&w.text);
    if (text == NULL)
        leati_no_memory(err);
    return text;
}
