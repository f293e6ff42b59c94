/* The table of where the time went.
 *
 * One line per operator, the consumer's end first. The bottleneck is the operator that computed
 * longest per thread that it may use; its headroom is what the next slowest would allow. Counters
 * are relaxed atomics and may be read while the pipeline runs; the tree lock keeps the operators in
 * place. */
#include "data/run/explain.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/text.h"
#include "data/run/autotune.h"
#include "file/remote_cache.h"
#include <stdio.h>

typedef struct stage {
    const char *name;
    double busy; /* seconds of computing, divided by the threads that share it */
} stage;

typedef struct walk {
    leati_text text, notes; /* the table, and what stands below it */
    double elapsed;
    const leati_pool *pool;
    stage first, second; /* the two busiest */
    int64_t now_ns;      /* calls in progress count up to here; 0: they do not */
} walk;

static void add_amount(leati_text *text, double amount) {
    const char *unit = amount >= 1e9 ? "G" : amount >= 1e6 ? "M" : amount >= 1e3 ? "k" : "";
    double scale = amount >= 1e9 ? 1e9 : amount >= 1e6 ? 1e6 : amount >= 1e3 ? 1e3 : 1;
    char number[32];
    snprintf(number, sizeof(number), scale == 1 ? "%.0f%s" : "%.2f%s", amount / scale, unit);
    leati_text_addf(text, " %9s", number);
}

static int64_t threads_of(const leati_pool *pool, const leati_node_state *node) {
    int64_t threads = leati_counter_get(&node->counters.parallelism), most = leati_pool_size(pool);
    /* Calls beyond the pool's threads wait for one, and do not compute. */
    threads = LEATI_MIN(threads, most);
    return threads > 0 ? threads : 1;
}

/* For how long a pull of the operator has been in progress, in seconds. */
static double pulling(const walk *w, const leati_node_state *node) {
    int64_t since = leati_counter_get(&node->counters.since_ns);
    return since == 0 || since > w->now_ns ? 0 : (double)(w->now_ns - since) / 1e9;
}

/* What calls that have not returned have taken so far, of one thread and without the inputs' part:
 * an operator whose very first call never ends has no other time. Read while others count, so it
 * may be wrong for a moment, but never more than the whole time. */
static double in_progress(const walk *w, const leati_node_state *node) {
    double own = pulling(w, node), below = 0;
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling) {
        double inside = pulling(w, child);
        /* The longest pull in progress below: at most one of them can be on this thread. */
        below = LEATI_MAX(inside, below);
    }
    own = own > below ? own - below : 0;
    int64_t tasks = leati_counter_get(&node->counters.tasks),
            began = leati_counter_get(&node->counters.tasks_ns);
    /* tasks_ns is the sum of the times at which the running tasks began, so this is their mean
     * age. */
    double each = tasks <= 0 ? 0 : ((double)w->now_ns - (double)began / (double)tasks) / 1e9;
    each = LEATI_MAX(each, own);
    /* Read between the two counters, the mean may be any number. */
    return each < w->elapsed ? each : 0;
}

/* Takes the operator's time into account. */
static void rank(walk *w, const leati_node_state *node) {
    stage own = {.name = node->name,
                 .busy = (double)leati_counter_get(&node->counters.busy_ns) / 1e9 /
                         (double)threads_of(w->pool, node)};
    if (w->now_ns != 0)
        own.busy += in_progress(w, node);
    if (own.busy > w->first.busy) {
        w->second = w->first;
        w->first = own;
    } else if (own.busy > w->second.busy) {
        w->second = own;
    }
}

static void add_operator(walk *w, const leati_node_state *node) {
    const leati_counters *c = &node->counters;
    double elements = (double)leati_counter_get(&c->elements);
    double busy = (double)leati_counter_get(&c->busy_ns) / 1e9,
           waiting = (double)leati_counter_get(&c->waiting_ns) / 1e9,
           full = (double)leati_counter_get(&c->full_ns) / 1e9;
    char name[80];
    snprintf(name, sizeof(name), "%*s%s", (node->depth - 1) * 2, "", node->name);
    leati_text_addf(&w->text, "%-34.34s", name);
    add_amount(&w->text, elements);
    add_amount(&w->text, w->elapsed > 0 ? elements / w->elapsed : 0);
    leati_text_addf(&w->text, " %8.3f %8.3f %8.3f", busy, waiting, full);
    int64_t limit = leati_counter_get(&c->depth_limit), depth = leati_counter_get(&c->depth);
    char depth_text[40];
    snprintf(depth_text, sizeof(depth_text), limit > 0 ? "%lld/%lld" : "%lld", (long long)depth,
             (long long)limit);
    leati_text_addf(&w->text, " %9s", limit > 0 || depth > 0 ? depth_text : "-");
    add_amount(&w->text, (double)leati_counter_get(&c->bytes_held));
    leati_text_addf(&w->text, " %7lld %9lld %6lld\n", (long long)threads_of(w->pool, node),
                    (long long)leati_counter_get(&c->callbacks),
                    (long long)leati_counter_get(&c->errors));
    int64_t recovered = leati_counter_get(&c->recovered);
    if (recovered > 0) {
        leati_text_addf(&w->notes, "%s: %lld truncated picture%s filled up\n", node->name,
                        (long long)recovered, recovered == 1 ? " was" : "s were");
    }
    rank(w, node);
}

static void add_tree(walk *w, const leati_node_state *node) {
    add_operator(w, node);
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling)
        add_tree(w, child);
}

static void rank_tree(walk *w, const leati_node_state *node) {
    rank(w, node);
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling)
        rank_tree(w, child);
}

static void add_remarks(walk *w, const leati_node_state *node) {
    if (node->dataset->op->remark != NULL)
        node->dataset->op->remark(node->dataset, node->name, &w->text);
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling)
        add_remarks(w, child);
}

/* Who bounds the pipeline, and how far the next limit is. `inside` is the time that the consumer
 * spent in calls of next. */
static void add_verdict(walk *w, double inside) {
    if (w->first.name == NULL || w->elapsed <= 0) {
        leati_text_addf(&w->text, "nothing has been computed yet\n");
        return;
    }
    double share = w->first.busy / w->elapsed, outside = 1 - inside / w->elapsed;
    /* Unless an operator computed for longer than that on a thread of its own. */
    if (outside > 0.5 && share < outside) {
        leati_text_addf(&w->text,
                        "bound by the consumer, which spent %.0f %% of the time outside of next: "
                        "the busiest operator, %s, computed %.0f %% of the time, so the pipeline "
                        "could deliver %.1f times as much\n",
                        100 * outside, w->first.name, 100 * share, share > 0 ? 1 / share : 0);
        return;
    }
    leati_text_addf(&w->text, "bottleneck: %s, computing %.0f %% of the time", w->first.name,
                    100 * share);
    if (w->second.name != NULL && w->second.busy > 0) {
        leati_text_addf(&w->text, "; without it %s would bound the pipeline at %.1f times the rate",
                        w->second.name, w->first.busy / w->second.busy);
    }
    /* Nobody computes for half of the time, and the consumer waits: threads are short. */
    if (share < 0.5) {
        leati_text_addf(&w->text, "; more would be possible if its threads got more of the "
                                  "processor, or there were more of them");
    }
    leati_text_addf(&w->text, "\n");
}

void leati_explain_slowest(const leati_iteration *iteration, const leati_node_state *top,
                           char *name, size_t size, double *share) {
    int64_t now_ns = leati_now_ns();
    walk w = {.elapsed = (double)(now_ns - iteration->started_ns) / 1e9,
              .pool = iteration->pool,
              .now_ns = now_ns};
    name[0] = '\0';
    leati_state_tree_lock();
    for (const leati_node_state *child = top->children; child != NULL; child = child->sibling)
        rank_tree(&w, child);
    if (w.first.name != NULL && w.elapsed > 0) {
        snprintf(name, size, "%s", w.first.name);
        *share = w.first.busy / w.elapsed;
    }
    leati_state_tree_unlock();
}

/* What the operator has computed until now, running tasks of the pool included. */
static int64_t computed(const leati_node_state *node, int64_t now_ns) {
    int64_t tasks = leati_counter_get(&node->counters.tasks),
            began = leati_counter_get(&node->counters.tasks_ns),
            done = leati_counter_get(&node->counters.busy_ns);
    double running = (double)tasks * (double)now_ns - (double)began;
    /* Read between the counters, it may be any number; a task is seldom an hour old. */
    bool sound = tasks > 0 && running > 0 && running < 3600e9 * (double)tasks;
    return done + (sound ? (int64_t)running : 0);
}

static void look(leati_node_state *node, const leati_pool *pool, int64_t now_ns, leati_load *out) {
    int64_t grown = computed(node, now_ns) - node->told_ns;
    grown = LEATI_MAX(grown, 0);
    node->told_ns += grown;
    out->busy_ns += grown + node->gone_ns;
    node->gone_ns = 0;
    int64_t each = grown / threads_of(pool, node);
    if (each > out->slowest_ns) {
        out->slowest_ns = each;
        snprintf(out->slowest, sizeof out->slowest, "%s", node->name);
    }
    for (leati_node_state *child = node->children; child != NULL; child = child->sibling)
        look(child, pool, now_ns, out);
}

void leati_explain_load(const leati_iteration *iteration, leati_node_state *top, leati_load *out) {
    int64_t now_ns = leati_now_ns();
    *out = (leati_load){0};
    leati_state_tree_lock();
    for (leati_node_state *child = top->children; child != NULL; child = child->sibling)
        look(child, iteration->pool, now_ns, out);
    out->busy_ns += top->gone_ns;
    top->gone_ns = 0;
    leati_state_tree_unlock();
}

void leati_explain_slowest_stage(const leati_iteration *iteration, const leati_node_state *top,
                                 char *text, size_t size) {
    char name[64];
    double share = 0;
    text[0] = '\0';
    leati_explain_slowest(iteration, top, name, sizeof name, &share);
    if (name[0] != '\0')
        snprintf(text, size, "%.48s computed %.0f %% of the time", name, 100 * share);
}

char *leati_explain(const leati_iteration *iteration, const leati_node_state *top,
                    leat_error *err) {
    walk w = {.elapsed = (double)(leati_now_ns() - iteration->started_ns) / 1e9,
              .pool = iteration->pool};
    leati_text_addf(&w.text, "%-34s %9s %9s %8s %8s %8s %9s %9s %7s %9s %6s\n", "operator",
                    "elements", "per s", "busy s", "wait s", "full s", "depth", "bytes", "threads",
                    "callbacks", "errors");
    leati_state_tree_lock();
    for (const leati_node_state *child = top->children; child != NULL; child = child->sibling)
        add_tree(&w, child);
    for (const leati_node_state *child = top->children; child != NULL; child = child->sibling)
        add_remarks(&w, child);
    leati_state_tree_unlock();
    char *notes = leati_text_take(&w.notes);
    leati_text_addf(&w.text, "%s", notes == NULL ? "" : notes);
    leati_free(notes);
    add_verdict(&w, (double)leati_counter_get(&top->counters.busy_ns) / 1e9);
    /* A line that is added between the two calls is cut. */
    size_t size = leati_autotune_print(iteration, NULL, 0) + 1;
    char *decisions = leati_alloc(size, 1);
    if (decisions != NULL) {
        leati_autotune_print(iteration, decisions, size);
        leati_text_addf(&w.text, "%s%s", size > 1 ? "autotune:\n" : "", decisions);
        leati_free(decisions);
    }
    char line[512];
    if (leati_remote_cache_describe(line, sizeof line))
        leati_text_addf(&w.text, "%s\n", line);
    char *text = leati_text_take(&w.text);
    if (text == NULL)
        leati_no_memory(err);
    return text;
}
