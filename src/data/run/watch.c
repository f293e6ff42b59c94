/* Iterators on a web page: see watch.h.
 *
 * Happy path: the first iterator of a port opens a server, which asks for the state from its own
 * thread; the state is read under the lock of the list, so that an iterator that ends waits until
 * it is written. Failure modes: the port is taken, or leat was built without libmicrohttpd: a
 * warning. What autotune decided is left out, as a restore replaces the tuner.
 *
 * Locks: the door, while a server is opened or closed; then the list's, which the server's thread
 * takes alone; then the tree's. A child of fork has no servers, and opens its own. */
#include "data/run/watch.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "core/json.h"
#include "data/run/explain.h"
#include "data/run/metrics.h"
#include "data/run/seen.h"
#include "file/lock.h"
#include "web/server.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What ended iterators of a server have counted: its totals do not fall. */
typedef struct server {
    leati_web *web;
    int asked; /* the port of the option */
    int users;
    bool forked; /* it is the parent's */
    int64_t elements, waiting_ns, started_ns;
    struct server *next;
} server;

struct leati_watch {
    const leati_iteration *iteration;
    const leati_node_state *top;
    const char *name;
    int64_t id, started_ms;
    server *server;
    leati_watch *next;
};

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static server *servers;      /* under the door */
static leati_lock *seen;     /* under the door; by which `leat watch PID` finds the pages */
static leati_watch *watches; /* under the lock; the newest first */
static int64_t last_id;      /* under the lock */

static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A text that may be cut within a character: then without what is no ASCII. */
static json_t *text_of(const char *text) {
    char plain[80];
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    snprintf(plain, sizeof plain, "%s", text);
    for (char *at = plain; *at != '\0'; at++)
        *at = (unsigned char)*at < 128 ? *at : '?';
    return json_string(plain);
}

static int64_t count_of(const atomic_llong *counter) {
    return leati_counter_get(counter);
}

/* ---- under the tree's lock ---- */

static void add_operators(json_t *list, const leati_node_state *node, int depth,
                          int64_t *buffered) {
    const leati_counters *c = &node->counters;
    int64_t held = count_of(&c->depth), threads = count_of(&c->parallelism);
    *buffered += held;
    (void)json_array_append_new(
        list,
        json_pack(
            "{s:o, s:i, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "name", text_of(node->name),
            "depth", depth, "elements", (json_int_t)count_of(&c->elements), "errors",
            (json_int_t)count_of(&c->errors), "busy_ms", (double)count_of(&c->busy_ns) / 1e6,
            "waiting_ms", (double)count_of(&c->waiting_ns) / 1e6, "full_ms",
            (double)count_of(&c->full_ns) / 1e6, "threads", (json_int_t)(threads > 0 ? threads : 1),
            "buffered", (json_int_t)held, "buffer_limit", (json_int_t)count_of(&c->depth_limit),
            "bytes", (json_int_t)count_of(&c->bytes_held)));
    for (const leati_node_state *child = node->children; child != NULL; child = child->sibling)
        add_operators(list, child, depth + 1, buffered);
}

/* What the root has delivered; nanoseconds that the consumer has spent in next, the call in
 * progress included. */
static int64_t elements_of(const leati_watch *watch) {
    const leati_node_state *root = watch->top->children;
    return root != NULL ? count_of(&root->counters.elements) : 0;
}

static int64_t waited_by(const leati_watch *watch, int64_t now_ns) {
    int64_t since = count_of(&watch->top->counters.since_ns);
    return count_of(&watch->top->counters.busy_ns) +
           (since > 0 && since < now_ns ? now_ns - since : 0);
}

/* ---- the callbacks, on a server's thread ---- */

typedef struct totals {
    int64_t elements, buffered, waiting_ns;
    int consumers;
} totals;

static json_t *pipeline_of(const leati_watch *watch, int64_t now_ns, totals *sum) {
    char slowest[64] = "";
    double share = 0;
    json_t *operators = json_array();
    leati_explain_slowest(watch->iteration, watch->top, slowest, sizeof slowest, &share);
    leati_state_tree_lock();
    int64_t elements = elements_of(watch), waited = waited_by(watch, now_ns);
    for (const leati_node_state *root = watch->top->children; root != NULL; root = root->sibling)
        add_operators(operators, root, 0, &sum->buffered);
    leati_state_tree_unlock();
    sum->elements += elements;
    sum->waiting_ns += waited;
    sum->consumers++;
    json_t *pipeline =
        json_pack("{s:I, s:o, s:I, s:f, s:I, s:I, s:o}", "id", (json_int_t)watch->id, "name",
                  text_of(watch->name), "elements", (json_int_t)elements, "waiting_ms",
                  (double)waited / 1e6, "started_ms", (json_int_t)watch->started_ms, "memory",
                  (json_int_t)leati_budget_used(watch->iteration->budget), "operators", operators);
    if (pipeline != NULL && slowest[0] != '\0')
        (void)json_object_set_new(
            pipeline, "slowest",
            json_pack("{s:o, s:f}", "operator", text_of(slowest), "share", share));
    return pipeline;
}

static void write_state(void *context, leati_text *json) {
    const server *s = context;
    int64_t now_ns = leati_now_ns();
    json_t *list = json_array();
    const char *name = "";
    pthread_mutex_lock(&lock);
    totals sum = {.elements = s->elements, .waiting_ns = s->waiting_ns};
    for (const leati_watch *watch = watches; watch != NULL; watch = watch->next) {
        if (watch->server == s) {
            (void)json_array_append_new(list, pipeline_of(watch, now_ns, &sum));
            name = watch->name;
        }
    }
    json_t *state = json_pack(
        "{s:s, s:o, s:s, s:i, s:i, s:I, s:I, s:{s:I, s:I, s:f, s:i}, s:o}", "kind", "pipeline",
        "name", text_of(name[0] != '\0' ? name : "pipeline"), "version", leat_version(), "pid",
        (int)getpid(), "incarnation", (int)getpid(), "now_ms", (json_int_t)clock_ms(), "uptime_ms",
        (json_int_t)((now_ns - s->started_ns) / 1000000), "totals", "elements",
        (json_int_t)sum.elements, "buffered", (json_int_t)sum.buffered, "waiting_ms",
        (double)sum.waiting_ns / 1e6, "consumers", sum.consumers, "pipelines", list);
    pthread_mutex_unlock(&lock);
    char *text = state != NULL ? leati_json_print(state, 0, false, &(leat_error){0}) : NULL;
    if (text == NULL)
        json->failed = true;
    else
        leati_text_add(json, text, strlen(text));
    leati_free(text);
    json_decref(state);
}

enum { MOST_PIPELINES = 256 }; /* whose metrics are written */

static void write_metrics(void *context, leati_text *out) {
    leati_metrics_pipeline list[MOST_PIPELINES];
    int count = 0;
    pthread_mutex_lock(&lock);
    for (const leati_watch *watch = watches; watch != NULL && count < MOST_PIPELINES;
         watch = watch->next)
        if (watch->server == context)
            list[count++] =
                (leati_metrics_pipeline){watch->iteration, watch->top, watch->name, watch->id};
    leati_metrics_write(list, count, out);
    pthread_mutex_unlock(&lock);
}

/* ---- begin and end ---- */

/* Tells other processes of the user of the pages that are there; under the door. */
static void tell_pages(void) {
    leat_error err = {0};
    leati_text urls = {0};
    for (const server *s = servers; s != NULL; s = s->next) {
        if (!s->forked) {
            leati_text_add(&urls, leati_web_url(s->web), strlen(leati_web_url(s->web)));
            leati_text_add(&urls, "\n", 1);
        }
    }
    leati_text_add(&urls, "", 1);
    leat_status status =
        urls.failed ? leati_no_memory(&err) : leati_seen_write(&seen, urls.data, &err);
    if (status != LEAT_OK)
        leati_log(LEAT_LOG_WARNING, "`leat watch %d` does not find the page: %s", (int)getpid(),
                  err.text);
    leati_text_fini(&urls);
}

/* The server of a port, opened where there is none; under the door. One that is kept stays open
 * between iterators, to the end of the process. */
static server *find_server(int port, bool kept, bool *opened, leat_error *err) {
    for (server *s = servers; s != NULL; s = s->next)
        if (s->asked == port && !s->forked)
            return s;
    server *s = leati_alloc_zero(1, sizeof *s);
    if (s == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    s->asked = port;
    s->started_ns = leati_now_ns();
    const char *token = getenv("LEAT_WATCH_TOKEN");
    const leati_web_options options = {
        .port = port,
        .token = token != NULL && token[0] != '\0' ? token : NULL,
        .source = {.context = s, .state = write_state, .metrics = write_metrics}};
    s->web = leati_web_open(&options, err);
    if (s->web == NULL) {
        leati_free(s);
        return NULL;
    }
    s->users = kept ? 1 : 0;
    s->next = servers;
    servers = s;
    *opened = true;
    tell_pages();
    return s;
}

bool leati_watch_asked(int *port) {
    static atomic_bool told;
    const char *text = getenv("LEAT_WATCH");
    if (text == NULL || text[0] == '\0' || strcmp(text, "0") == 0)
        return false;
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && number >= 1 && number <= 65535) {
        *port = number == 1 ? 0 : (int)number;
        return true;
    }
    if (!atomic_exchange(&told, true))
        leati_log(
            LEAT_LOG_WARNING,
            "LEAT_WATCH is \"%.40s\", so nothing is shown on a web page; expected 1 (any port "
            "that is free) or a port, 2 to 65535",
            text);
    return false;
}

leati_watch *leati_watch_begin(const leati_iteration *iteration, const leati_node_state *top,
                               const char *name, int port, bool kept) {
    leat_error err = {0};
    bool opened = false;
    char url[300] = "";
    leati_watch *watch = leati_alloc_zero(1, sizeof *watch);
    if (watch == NULL) {
        (void)leati_no_memory(&err);
    } else {
        *watch = (leati_watch){
            .iteration = iteration, .top = top, .name = name, .started_ms = clock_ms()};
        pthread_mutex_lock(&door);
        watch->server = find_server(port, kept, &opened, &err);
        if (watch->server != NULL) {
            watch->server->users++;
            snprintf(url, sizeof url, "%s", leati_web_url(watch->server->web));
            pthread_mutex_lock(&lock);
            watch->id = ++last_id;
            watch->next = watches;
            watches = watch;
            pthread_mutex_unlock(&lock);
        }
        pthread_mutex_unlock(&door);
    }
    if (url[0] == '\0') {
        leati_log(LEAT_LOG_WARNING, "the pipeline is not shown on a web page: %s", err.text);
        leati_free(watch);
        return NULL;
    }
    if (opened)
        leati_log(LEAT_LOG_INFO, "the pipeline is shown at %s", url);
    return watch;
}

void leati_watch_end(leati_watch *watch) {
    if (watch == NULL)
        return;
    server *s = watch->server;
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&lock);
    leati_watch **at = &watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    s->elements += elements_of(watch);
    s->waiting_ns += waited_by(watch, 0);
    pthread_mutex_unlock(&lock);
    if (--s->users == 0) {
        server **place = &servers;
        while (*place != s)
            place = &(*place)->next;
        *place = s->next;
        if (!s->forked)
            tell_pages();
        leati_web_close(s->web);
        leati_free(s);
    }
    pthread_mutex_unlock(&door);
    leati_free(watch);
}

/* ---- forks ---- */

static void before_fork(void) {
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&lock);
}

static void after_fork(bool child) {
    for (server *s = child ? servers : NULL; s != NULL; s = s->next)
        s->forked = true;
    if (child) {
        leati_lock_free(seen); /* the parent still holds it */
        seen = NULL;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&door);
}

LEATI_FORK_PART(watches, before_fork, after_fork);
