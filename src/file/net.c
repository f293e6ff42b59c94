/* The thread that drives requests; see net.h.
 *
 * Happy path: start puts a request into the list and wakes the thread, which hands it to libcurl's
 * multi handle, and notes what came; whoever waits is woken when there is enough, or when it is
 * done. A request that nobody has a hand on any more is ended and freed by the thread.
 * Failures: net_transfer.c says which are final; others sleep in the list until their next attempt.
 *
 * Locks: `lock` guards the pointer to the engine, the engine's gate its list and what net_private.h
 * says; both are taken around a fork before whatever waits at a gate takes (base/forks.def).
 * libcurl is called by the thread alone, without a lock. A child of fork has no such thread: it
 * starts one of its own, and leaves the parent's connections alone, which it shares. What the
 * parent had under way is lost to it (leati_net_is_lost). A process that ends waits for the thread,
 * so that none is inside of TLS when its library ends. */
#include "file/net.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/minmax.h"
#include "base/stop.h"
#include "file/net_private.h"
#include "run/queue.h"
#include "run/thread.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Pieces whose memory is kept while there are requests. */
enum { MOST_SPARE = 16 };
/* Connections to one server, and to all. */
enum { MOST_PER_HOST = LEATI_NET_MOST_CONNECTIONS, MOST_TOGETHER = 64 };
/* The thread looks by itself so often; mostly it is woken. */
enum { LONGEST_POLL_MS = 60000 };
/* A process that ends waits so long for the thread. */
#define LONGEST_END_NS INT64_C(2000000000)

leati_module leati_curl_module = {
    .file = "libleat_curl.so", .library = "libcurl", .size = sizeof(leati_curl_table)};

typedef struct leati_net_engine {
    CURLM *multi; /* the thread's, but for curl_multi_wakeup */
    leati_gate *gate;
    leati_thread thread;
    leati_net_request *first;   /* gate */
    bool stopping, stopped;     /* gate */
    int num_spare;              /* gate */
    uint8_t *spare[MOST_SPARE]; /* memory of pieces that are gone; gate */
} engine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static engine *current;   /* lock; read without by whoever holds a request of it */
static engine *abandoned; /* lock; the parent's, of which nothing is used */
static bool watches_exit; /* lock */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
    if (current != NULL)
        leati_queue_gate_lock(current->gate);
}

static void after_fork(bool child) {
    if (current != NULL)
        leati_queue_gate_unlock(current->gate);
    if (child && current != NULL) {
        abandoned = current;
        current = NULL;
    }
    pthread_mutex_unlock(&lock);
}
LEATI_FORK_PART(net, before_fork, after_fork);

static engine *engine_now(void) {
    pthread_mutex_lock(&lock);
    engine *found = current;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- the thread ---- */

uint8_t *leati_net_piece_take(engine *e) {
    leati_queue_gate_lock(e->gate);
    uint8_t *found = e->num_spare > 0 ? e->spare[--e->num_spare] : NULL;
    leati_queue_gate_unlock(e->gate);
    return found != NULL ? found : leati_alloc(LEATI_NET_PIECE_BYTES, 1);
}

/* Keeps the memory of a request that is going to be freed, where there is use for it. */
static void keep_piece(engine *e, leati_net_request *request) {
    leati_queue_gate_lock(e->gate);
    if (request->room == LEATI_NET_PIECE_BYTES && e->first != NULL && e->num_spare < MOST_SPARE) {
        e->spare[e->num_spare++] = request->data;
        request->data = NULL;
    }
    leati_queue_gate_unlock(e->gate);
}

/* Frees what was kept, where nobody reads any more. */
static void free_spare(engine *e) {
    for (;;) {
        leati_queue_gate_lock(e->gate);
        uint8_t *found = e->first == NULL && e->num_spare > 0 ? e->spare[--e->num_spare] : NULL;
        leati_queue_gate_unlock(e->gate);
        if (found == NULL)
            return;
        leati_free(found);
    }
}

static void free_request(leati_net_request *request) {
    leati_free(request->path);
    leati_free(request->url);
    leati_free(request->header);
    leati_free(request->location);
    leati_net_signer_fini(&request->signer);
    leati_free(request->version);
    leati_free(request->body);
    leati_free(request->data);
    leati_free(request);
}

static void unlink_request(engine *e, leati_net_request *request) {
    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        e->first = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
}

static void end_transfer(engine *e, leati_net_request *request) {
    if (request->easy != NULL)
        (void)curl_multi_remove_handle(e->multi, request->easy);
    leati_net_transfer_drop(request);
}

/* The next request that was dropped, and is out of the list then, or shall begin, in its new state;
 * NULL: none. *sleep_ns is when the first of the others shall. */
static leati_net_request *next_due(engine *e, bool *is_dropped, int64_t *sleep_ns) {
    int64_t now = leati_now_ns();
    leati_net_request *found = NULL;
    *sleep_ns = LEATI_NO_DEADLINE;
    leati_queue_gate_lock(e->gate);
    for (leati_net_request *r = e->first; r != NULL && found == NULL; r = r->next) {
        bool sleeps = r->state == LEATI_NET_SLEEPING;
        if (r->is_dropped || r->state == LEATI_NET_NEW || (sleeps && r->wake_ns <= now))
            found = r;
        else if (sleeps)
            *sleep_ns = LEATI_MIN(*sleep_ns, r->wake_ns);
    }
    /* Said here: it may be dropped as soon as the lock is left. */
    *is_dropped = found != NULL && found->is_dropped;
    if (*is_dropped)
        unlink_request(e, found);
    else if (found != NULL)
        found->state = LEATI_NET_ACTIVE;
    leati_queue_gate_unlock(e->gate);
    return found;
}

static void set_state(engine *e, leati_net_request *request, leati_net_state state) {
    leati_queue_gate_lock(e->gate);
    request->state = state;
    request->is_dropped = request->is_dropped || (request->is_left && state == LEATI_NET_DONE);
    if (state == LEATI_NET_DONE)
        leati_queue_gate_wake(e->gate);
    leati_queue_gate_unlock(e->gate);
}

/* Begins and ends what is to be; returns when the next one sleeps no longer. */
static int64_t serve(engine *e) {
    int64_t sleep_ns = LEATI_NO_DEADLINE;
    for (;;) {
        bool is_dropped = false;
        leati_net_request *request = next_due(e, &is_dropped, &sleep_ns);
        if (request == NULL) {
            free_spare(e);
            return sleep_ns;
        }
        if (is_dropped) {
            end_transfer(e, request);
            keep_piece(e, request);
            free_request(request);
        } else if (!leati_net_transfer_begin(request) ||
                   curl_multi_add_handle(e->multi, request->easy) != CURLM_OK) {
            if (request->error.code == LEAT_OK)
                (void)leati_no_memory(&request->error);
            leati_net_transfer_drop(request);
            set_state(e, request, LEATI_NET_DONE);
        }
    }
}

static void finish_transfers(engine *e) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(e->multi, &left)) != NULL) {
        char *request_of = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request_of);
        leati_net_request *request = (leati_net_request *)(void *)request_of;
        leati_net_state state = leati_net_transfer_judge(request, code);
        end_transfer(e, request);
        set_state(e, request, state);
    }
}

/* Wakes those whose bytes are there. */
static void show_progress(engine *e) {
    bool enough = false;
    leati_queue_gate_lock(e->gate);
    for (leati_net_request *r = e->first; r != NULL; r = r->next) {
        if (r->needed > 0 && atomic_load(&r->received) >= r->needed) {
            r->needed = 0;
            enough = true;
        }
    }
    if (enough)
        leati_queue_gate_wake(e->gate);
    leati_queue_gate_unlock(e->gate);
}

/* A process ends; what was left to itself goes first. */
static bool shall_stop(engine *e) {
    leati_queue_gate_lock(e->gate);
    bool stop = e->stopping;
    for (leati_net_request *r = e->first; r != NULL && stop; r = r->next)
        stop = !r->is_left || r->is_dropped;
    leati_queue_gate_unlock(e->gate);
    return stop;
}

static void drive(void *context) {
    engine *e = context;
    while (!shall_stop(e)) {
        int running = 0;
        (void)curl_multi_perform(e->multi, &running);
        show_progress(e);
        finish_transfers(e);
        /* Last, since what has just failed sleeps now; libcurl polls for no time where some began.
         */
        int64_t sleep_ns = serve(e);
        int64_t left_ms = sleep_ns == LEATI_NO_DEADLINE ? LONGEST_POLL_MS
                                                        : (sleep_ns - leati_now_ns()) / 1000000 + 1;
        (void)curl_multi_poll(e->multi, NULL, 0,
                              (int)LEATI_MAX(0, LEATI_MIN(left_ms, LONGEST_POLL_MS)), NULL);
    }
    leati_queue_gate_lock(e->gate);
    e->stopped = true;
    leati_queue_gate_wake(e->gate);
    leati_queue_gate_unlock(e->gate);
}

/* ---- the engine ---- */

static void stop_at_exit(void) {
    engine *e = engine_now();
    int64_t deadline = leati_now_ns() + LONGEST_END_NS;
    leat_status status = LEAT_OK;
    if (e == NULL)
        return;
    leati_queue_gate_lock(e->gate);
    e->stopping = true;
    (void)curl_multi_wakeup(e->multi);
    while (!e->stopped && status == LEAT_OK)
        status = leati_queue_gate_wait(e->gate, LEATI_WAIT_IO, deadline, NULL, &(leat_error){0});
    leati_queue_gate_unlock(e->gate);
}

static leat_status start_locked(engine *e, leat_error *err) {
    e->gate = leati_queue_gate_new("remote files", NULL, err);
    if (e->gate == NULL)
        return err->code;
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
        return leati_no_memory(err);
    e->multi = curl_multi_init();
    if (e->multi == NULL)
        return leati_no_memory(err);
    (void)curl_multi_setopt(e->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)MOST_PER_HOST);
    (void)curl_multi_setopt(e->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)MOST_TOGETHER);
    (void)curl_multi_setopt(e->multi, CURLMOPT_MAXCONNECTS, (long)MOST_TOGETHER);
    LEATI_TRY(leati_thread_start(&e->thread, "leat-remote", drive, e, err));
    (void)pthread_detach(e->thread.handle);
    if (!watches_exit)
        watches_exit = atexit(stop_at_exit) == 0;
    return LEAT_OK;
}

static leat_status engine_get(engine **out, leat_error *err) {
    leat_status status = leati_module_load(&leati_curl_module, err);
    if (status != LEAT_OK)
        return status;
    pthread_mutex_lock(&lock);
    if (current == NULL) {
        engine *e = leati_alloc_zero(1, sizeof *e);
        status = e != NULL ? start_locked(e, err) : leati_no_memory(err);
        if (status == LEAT_OK) {
            current = e;
        } else if (e != NULL) {
            if (e->multi != NULL)
                (void)curl_multi_cleanup(e->multi);
            leati_queue_gate_free(e->gate);
            leati_free(e);
        }
    }
    *out = current;
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- requests ---- */

static bool copy_text(char **to, const char *from) {
    *to = leati_strdup(from);
    return from == NULL || *to != NULL;
}

static bool copy_ask(leati_net_request *request, const leati_net_ask *ask) {
    const leati_net_signer none = {0}, *signer = ask->signer != NULL ? ask->signer : &none;
    request->method = ask->method;
    request->from = ask->from;
    request->wanted = ask->size;
    request->whole = ask->whole;
    request->most = ask->most;
    request->answer = (leati_net_answer){.whole = -1, .changed = -1};
    request->content_type = ask->content_type;
    request->rights = ask->rights;
    request->is_step = ask->is_step;
    return copy_text(&request->path, ask->path) && copy_text(&request->url, ask->url) &&
           copy_text(&request->header, ask->header) &&
           leati_net_signer_copy(&request->signer, signer) &&
           copy_text(&request->version, ask->version);
}

leat_status leati_net_start(const leati_net_ask *ask, leati_net_request **out, leat_error *err) {
    engine *e = NULL;
    leati_net_request *request = NULL;
    leati_net_settings settings;
    leat_status status = leati_net_settings_read(&settings, err);
    if (status == LEAT_OK)
        status = engine_get(&e, err);
    if (status == LEAT_OK) {
        request = leati_alloc_zero(1, sizeof *request);
        if (request == NULL || !copy_ask(request, ask))
            status = leati_no_memory(err);
    }
    if (status != LEAT_OK) {
        leati_free(ask->body);
        if (request != NULL)
            free_request(request);
        return leati_prefix(err, "%.400s", ask->path);
    }
    request->engine = e;
    request->settings = settings;
    request->body = ask->body;
    request->body_size = ask->body_size;
    atomic_init(&request->hands, 1);
    leati_queue_gate_lock(e->gate);
    request->next = e->first;
    if (e->first != NULL)
        e->first->previous = request;
    e->first = request;
    leati_queue_gate_unlock(e->gate);
    (void)curl_multi_wakeup(e->multi);
    *out = request;
    return LEAT_OK;
}

leati_net_request *leati_net_ref(leati_net_request *request) {
    atomic_fetch_add(&request->hands, 1);
    return request;
}

void leati_net_unref(leati_net_request *request) {
    if (request == NULL || atomic_fetch_sub(&request->hands, 1) > 1)
        return;
    engine *e = request->engine;
    /* No thread has it here, nor its handle, which the parent uses. */
    if (leati_net_is_lost(request)) {
        free_request(request);
        return;
    }
    leati_queue_gate_lock(e->gate);
    bool is_done = request->state == LEATI_NET_DONE;
    if (is_done)
        unlink_request(e, request);
    else
        request->is_dropped = true;
    leati_queue_gate_unlock(e->gate);
    if (is_done) {
        keep_piece(e, request);
        free_request(request);
        free_spare(e);
    } else {
        (void)curl_multi_wakeup(e->multi);
    }
}

void leati_net_leave(leati_net_request *request) {
    engine *e = request->engine;
    leati_queue_gate_lock(e->gate);
    request->is_left = true;
    request->is_dropped = request->state == LEATI_NET_DONE;
    leati_queue_gate_unlock(e->gate);
    (void)curl_multi_wakeup(e->multi);
}

bool leati_net_is_lost(const leati_net_request *request) {
    return request->engine != engine_now();
}

leat_status leati_net_wait(leati_net_request *request, size_t need, leat_error *err) {
    leati_gate *gate = request->engine->gate;
    leat_status status = LEAT_OK;
    if (leati_net_is_lost(request))
        return leati_fail_in_file(err, LEAT_FAILED_PRECONDITION, request->path, -1, false,
                                  "it was being read when the process forked; open it again");
    /* Whoever waits can be stopped, unless it is in the middle of what must be done to its end. */
    leati_stop_scope before = leati_stop_enter(NULL, NULL, NULL);
    leati_queue_gate_lock(gate);
    while (status == LEAT_OK && request->state != LEATI_NET_DONE &&
           atomic_load(&request->received) < need) {
        /* The least of those who wait is met first; the others look again. */
        if (request->needed == 0 || need < request->needed)
            request->needed = need;
        int64_t deadline = leati_now_ns() + LEATI_STOP_SLICE_NS;
        leat_status waited =
            leati_queue_gate_wait(gate, LEATI_WAIT_IO, deadline, NULL, &(leat_error){0});
        (void)waited; /* the time is over, or somebody woke it: both look again */
        leati_queue_gate_unlock(gate);
        status = leati_stop_check(err);
        leati_queue_gate_lock(gate);
    }
    bool is_there = atomic_load(&request->received) >= need;
    if (status == LEAT_OK && !is_there && request->error.code != LEAT_OK)
        status = leati_error_pass(err, &request->error);
    leati_queue_gate_unlock(gate);
    leati_stop_leave(before);
    return status;
}

leat_status leati_net_perform(const leati_net_ask *ask, leati_net_request **out, leat_error *err) {
    leati_net_request *request = NULL;
    LEATI_TRY(leati_net_start(ask, &request, err));
    leat_status status = leati_net_wait(request, SIZE_MAX, err);
    if (status == LEAT_OK)
        *out = request;
    else
        leati_net_unref(request);
    return status;
}

const uint8_t *leati_net_data(const leati_net_request *request) {
    return request->data;
}

size_t leati_net_size(const leati_net_request *request) {
    return atomic_load(&request->received);
}

const leati_net_answer *leati_net_answer_of(const leati_net_request *request) {
    return &request->answer;
}

const char *leati_net_location(const leati_net_request *request) {
    return request->location;
}
