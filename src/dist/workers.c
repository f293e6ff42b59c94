/* Joining a job of several processes, and what they exchange outside of steps.
 *
 * Happy path: the process meets the others at worker 0's address, compares number of devices,
 * options and program, learns the others' names, and makes the collective between them. From then
 * on a thread of the store watches the others; when one is lost, or says that it failed, the
 * collective is aborted, so that nobody waits.
 *
 * A process that ends by exit without having left does so then: it has made as many exchanges as it
 * wanted, and whoever wants more is told that it has left, not that it was lost.
 *
 * Failures: whoever does not come within the deadline, or differs, is named. A job that failed
 * stays failed. Locks: `lock` guards the reason and the collective that is to be aborted; under it
 * nothing is called but abort, which never blocks. `input_lock` keeps the input that is described
 * in place; its own locks are taken under it. `living_lock` guards the list of jobs; a leaf.
 */
#include "dist/workers.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "coll/processes.h"
#include "dist/cluster.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_NAME = 160, BEATS_BEFORE_LOSS = 10, RETRY_MS = 20 };

struct leati_workers {
    int count, number;
    int64_t timeout_ms;
    leati_store *store;          /* NULL: left */
    leati_tls_context *tls;      /* NULL: none; owned */
    leati_collective *between;   /* owned until it is given */
    char (*names)[LONGEST_NAME]; /* by worker; owned */
    char described[LONGEST_NAME * 2];
    pthread_mutex_t lock;
    leati_collective *watched; /* lock: to be aborted; NULL: none yet */
    leat_error reason;         /* lock: code LEAT_OK: the job lives */
    pthread_mutex_t input_lock;
    leati_stage_writer stage; /* input_lock: of the input that is read; NULL: none is */
    void *input;              /* input_lock */
    bool given;               /* `between` belongs to somebody else */
    pid_t process;            /* which joined */
    leati_workers *next;      /* living_lock */
};

// ---- ending with the process ----

static pthread_mutex_t living_lock = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(jobs, &living_lock);
static leati_workers *living; /* joined and not left */

static leati_workers *take_living(void) {
    pthread_mutex_lock(&living_lock);
    leati_workers *first = living;
    living = first == NULL ? NULL : first->next;
    pthread_mutex_unlock(&living_lock);
    return first;
}

static void leave_all(void) {
    for (leati_workers *w; (w = take_living()) != NULL;) {
        /* A child that was forked inherits the list, but the connection is its parent's. */
        if (w->process == getpid()) {
            leati_store_close(w->store);
            /* The strategy may still be freed behind this, by another handler. */
            w->store = NULL;
        }
    }
}

static void register_exit(void) {
    (void)atexit(leave_all);
}

static void add_living(leati_workers *w) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_exit);
    w->process = getpid();
    pthread_mutex_lock(&living_lock);
    w->next = living;
    living = w;
    pthread_mutex_unlock(&living_lock);
}

static void remove_living(const leati_workers *w) {
    pthread_mutex_lock(&living_lock);
    leati_workers **at = &living;
    while (*at != NULL && *at != w)
        at = &(*at)->next;
    if (*at != NULL)
        *at = w->next;
    pthread_mutex_unlock(&living_lock);
}

// ---- failure ----

static void fail_here(leati_workers *w, const leat_error *why) {
    pthread_mutex_lock(&w->lock);
    if (w->reason.code == LEAT_OK) {
        w->reason = *why;
        /* Whatever it was there: for this worker's calls the job was aborted. */
        w->reason.code = LEAT_ABORTED;
        if (w->watched != NULL)
            w->watched->ops->abort(w->watched, &w->reason);
    }
    pthread_mutex_unlock(&w->lock);
}

/* From a thread of the store. */
static void lost(void *context, const leat_error *why) {
    fail_here(context, why);
}

leat_status leati_workers_check(leati_workers *workers, leat_error *err) {
    pthread_mutex_lock(&workers->lock);
    leat_error reason = workers->reason;
    pthread_mutex_unlock(&workers->lock);
    return reason.code == LEAT_OK ? LEAT_OK
                                  : leati_fail_for(err, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE,
                                                   "the job has failed: %s", reason.text);
}

void leati_workers_fail(leati_workers *workers, const leat_error *why) {
    leat_error named = {0};
    leati_fail(&named, LEAT_ABORTED, "%s failed: %s", workers->names[workers->number], why->text);
    /* The others are told first: this worker's reason would hide that they know nothing. */
    if (workers->store != NULL && leati_workers_check(workers, &(leat_error){0}) == LEAT_OK)
        leati_store_abort(workers->store, why);
    fail_here(workers, &named);
}

leat_status leati_workers_end(leati_workers *workers, const char *what, leat_status status,
                              const leat_error *err) {
    if (status == LEAT_RESOURCE_EXHAUSTED) {
        leat_error why = {0};
        leati_fail(&why, status, "%s: %s", what,
                   err->code != LEAT_OK ? err->text : "out of memory");
        leati_workers_fail(workers, &why);
    }
    return status;
}

leati_collective *leati_workers_give(leati_workers *workers) {
    pthread_mutex_lock(&workers->lock);
    workers->given = true;
    /* What it is built into is watched next. Where that cannot be built, `between` is closed with
     * it, and must not be aborted any more. */
    workers->watched = NULL;
    pthread_mutex_unlock(&workers->lock);
    return workers->between;
}

void leati_workers_watch(leati_workers *workers, leati_collective *collective) {
    pthread_mutex_lock(&workers->lock);
    workers->watched = collective;
    /* The job may have failed before anybody watched. */
    if (workers->reason.code != LEAT_OK)
        collective->ops->abort(collective, &workers->reason);
    pthread_mutex_unlock(&workers->lock);
}

// ---- questions ----

leati_collective *leati_workers_collective(const leati_workers *workers) {
    return workers->between;
}

int leati_workers_count(const leati_workers *workers) {
    return workers->count;
}

int leati_workers_number(const leati_workers *workers) {
    return workers->number;
}

const char *leati_workers_name(const leati_workers *workers, int worker) {
    return workers->names[worker];
}

leati_store *leati_workers_store(const leati_workers *workers) {
    return workers->store;
}

const char *leati_workers_describe(const leati_workers *workers) {
    return workers->described;
}

void leati_workers_reading(leati_workers *workers, leati_stage_writer stage, void *input) {
    pthread_mutex_lock(&workers->input_lock);
    workers->stage = stage;
    workers->input = input;
    pthread_mutex_unlock(&workers->input_lock);
    leati_workers_note(workers, stage == NULL ? LEATI_PHASE_COMPUTE : LEATI_PHASE_INPUT);
}

/* From a thread of the store. */
static void describe_input(void *context, char *text, size_t size) {
    leati_workers *w = context;
    pthread_mutex_lock(&w->input_lock);
    if (w->stage != NULL)
        w->stage(w->input, text, size);
    pthread_mutex_unlock(&w->input_lock);
}

void leati_workers_note(leati_workers *workers, leati_store_phase phase) {
    if (workers->store != NULL)
        leati_store_note_phase(workers->store, phase);
}

/* Are these one call ("gather of") with values that differ? */
static bool is_same_call(const char *a, const char *b) {
    const char *of = strstr(a, " of ");
    return of != NULL && strncmp(a, b, (size_t)(of - a) + 4) == 0;
}

leat_status leati_workers_same(leati_workers *workers, const char *text, leat_error *err) {
    char mine[LEATI_WORKERS_SAYING] = "";
    /* Zeros behind the text, since all bytes are compared. */
    snprintf(mine, sizeof mine, "%s", text);
    char *all = leati_alloc((size_t)workers->count, sizeof mine);
    if (all == NULL)
        return leati_no_memory(err);
    leati_collective *c = workers->between;
    leat_status status =
        c->ops->all_gather(c, workers->number, mine, sizeof mine, LEAT_UINT8, all, err);
    for (int w = 1; w < workers->count && status == LEAT_OK; w++) {
        const char *other = all + (size_t)w * sizeof mine;
        if (memcmp(all, other, sizeof mine) != 0) {
            bool shapes = is_same_call(all, other);
            status = leati_fail_for(err, shapes ? LEAT_INVALID_ARGUMENT : LEAT_FAILED_PRECONDITION,
                                    shapes ? LEAT_REASON_SHAPE : LEAT_REASON_NONE,
                                    "%s%s is at: %s; %s at: %s; all workers make the same calls "
                                    "in the same order",
                                    shapes ? "Shape mismatch: " : "", workers->names[w], other,
                                    workers->names[0], all);
        }
    }
    leati_free(all);
    return status;
}

// ---- joining ----

/* What tells programs apart: a hash of the file that runs; 0 where the system does not show it. */
static leat_status program_of_process(char *out, size_t size, leat_error *err) {
    char bytes[1 << 14];
    uint64_t hash = 0;
    FILE *file = fopen("/proc/self/exe", "rb");
    size_t got;
    if (file == NULL && (errno == EMFILE || errno == ENFILE))
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED,
                          "reading this program's file, which all workers compare: %s; raise the "
                          "limit (ulimit -n)",
                          strerror(errno));
    /* The content and not the path: hosts install programs where they like. */
    while (file != NULL && (got = fread(bytes, 1, sizeof bytes, file)) > 0)
        hash = leati_hash(bytes, got, hash);
    if (file != NULL)
        fclose(file);
    snprintf(out, size, "file %016llx", (unsigned long long)hash);
    return LEAT_OK;
}

static leat_status compare(leati_workers *w,
                           const leat_strategy_multi_worker_mirrored_options *options,
                           int num_replicas, leat_error *err) {
    char text[64];
    int64_t timeout = w->timeout_ms;
    snprintf(text, sizeof text, "%d", num_replicas);
    leat_status status = leati_store_agree(w->store, "number of devices", text, timeout, err);
    if (status == LEAT_OK) {
        snprintf(text, sizeof text, "%d, %lld", (int)options->communication,
                 (long long)options->bytes_per_pack);
        status =
            leati_store_agree(w->store, "communication and bytes_per_pack", text, timeout, err);
    }
    if (status == LEAT_OK) {
        if (options->program == NULL)
            LEATI_TRY(program_of_process(text, sizeof text, err));
        status = leati_store_agree(
            w->store, "program", options->program == NULL ? text : options->program, timeout, err);
    }
    return status;
}

/* Learns what the others are called. */
static leat_status meet_all(leati_workers *w, leat_error *err) {
    leati_store_values all = {0};
    const char *mine = w->names[w->number];
    leat_status status =
        leati_store_barrier(w->store, "names", mine, strlen(mine), w->timeout_ms, &all, err);
    for (int i = 0; i < w->count && status == LEAT_OK; i++) {
        snprintf(w->names[i], LONGEST_NAME, "%.*s", (int)(all.offset[i + 1] - all.offset[i]),
                 all.bytes + all.offset[i]);
    }
    leati_store_values_fini(&all);
    return status;
}

static leat_status connect_all(leati_workers *w, leat_communication communication,
                               leat_error *err) {
    switch (communication) {
    case LEAT_COMMUNICATION_RING:
        w->between = leati_coll_network_new(w->store, w->number, w->count, w->timeout_ms, err);
        break;
    case LEAT_COMMUNICATION_SHARED:
        w->between = leati_coll_shared_new(w->store, w->number, w->count, w->timeout_ms, err);
        break;
    case LEAT_COMMUNICATION_MPI:
        w->between = leati_coll_mpi_new(w->store, w->number, w->count, w->timeout_ms, err);
        break;
    default: w->between = leati_processes_new(w->store, w->number, w->count, w->timeout_ms, err);
    }
    if (w->between == NULL)
        return LEAT_UNAVAILABLE;
    leati_workers_watch(w, w->between);
    snprintf(w->described, sizeof w->described, "%d workers over %s, this is %s", w->count,
             w->between->ops->name, w->names[w->number]);
    return LEAT_OK;
}

/* "worker 1 (10.0.0.7:2222)"; where the cluster gives no address, the host's name. */
static void name_self(leati_workers *w, const char *address) {
    char host[64] = "";
    if (address == NULL || *address == '\0') {
        if (gethostname(host, sizeof host - 1) != 0)
            host[0] = '\0';
        address = host;
    }
    snprintf(w->names[w->number], LONGEST_NAME, "worker %d (%s)", w->number, address);
}

/* The others until they say their names themselves; nothing where the cluster has no address. */
static void name_others(leati_workers *w, const leat_cluster *cluster) {
    for (int i = 0; i < w->count; i++) {
        const char *address = leati_cluster_address(cluster, i);
        if (i != w->number && address != NULL && *address != '\0')
            snprintf(w->names[i], LONGEST_NAME, "worker %d (%s)", i, address);
    }
}

static const char *name_of(void *context, int worker) {
    const leati_workers *w = context;
    return w->names[worker];
}

/* A worker may be here for the next job while rank 0 still serves the last one. */
static leat_status open_store(leati_workers *w, leati_store_options *options, leat_error *err) {
    int64_t end_ns = leati_clock_deadline_ns(options->timeout_ms);
    for (;;) {
        leat_error local = {0};
        w->reason = local; /* the end of a job before is none of this one */
        w->store = leati_store_open(options, &local);
        options->timeout_ms = (end_ns - leati_now_ns()) / 1000000;
        if (w->store != NULL)
            return LEAT_OK;
        /* Worker 0 serves the job itself: where it cannot, trying again does not help. */
        if (local.code != LEAT_UNAVAILABLE || w->number == 0 || options->timeout_ms <= 0) {
            *err = local;
            return local.code;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
    }
}

/* A variable of the environment; NULL where it is empty, too. */
static const char *setting(const char *variable) {
    const char *text = getenv(variable);
    return text == NULL || *text == '\0' ? NULL : text;
}

/* All three files or none: who asks for a connection that nobody can read must not get one that
 * everybody can. */
static leat_status open_tls(leati_workers *w, leat_error *err) {
    static const char *const variables[] = {"LEAT_TLS_CERT", "LEAT_TLS_KEY", "LEAT_TLS_CA"};
    const char *missing = NULL, *set = setting("LEAT_TLS_NAME") != NULL ? "LEAT_TLS_NAME" : NULL;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (setting(variables[i]) == NULL)
            missing = variables[i];
        else
            set = variables[i];
    if (set == NULL)
        return LEAT_OK;
    if (missing != NULL) {
        return leati_refuse(err, VALUE,
                            "%s is set and %s is not; TLS takes LEAT_TLS_CERT, LEAT_TLS_KEY and "
                            "LEAT_TLS_CA, for every process of the job",
                            set, missing);
    }
    const leati_tls_files files = {.certificate = setting("LEAT_TLS_CERT"),
                                   .key = setting("LEAT_TLS_KEY"),
                                   .authority = setting("LEAT_TLS_CA"),
                                   .name = setting("LEAT_TLS_NAME")};
    w->tls = leati_tls_context_new(&files, err);
    return w->tls == NULL ? err->code : LEAT_OK;
}

static leat_status open_job(leati_workers *w, const leat_cluster *cluster,
                            const leat_strategy_multi_worker_mirrored_options *options,
                            int num_replicas, leat_error *err) {
    const char *address = leati_cluster_address(cluster, 0);
    if (address == NULL || *address == '\0')
        return leati_refuse(err, VALUE, "the cluster has no address of worker 0, where all meet");
    LEATI_TRY(open_tls(w, err));
    name_self(w, leati_cluster_address(cluster, w->number));
    name_others(w, cluster);
    int64_t dead_ms = options->heartbeat_timeout_ms;
    leati_store_options store = {.address = address,
                                 .name = w->names[w->number],
                                 .secret = setting("LEAT_JOB_SECRET"),
                                 .tls = w->tls,
                                 .listen = setting("LEAT_LISTEN"),
                                 .rank = w->number,
                                 .num_ranks = w->count,
                                 .timeout_ms = options->start_timeout_ms,
                                 .heartbeat_ms =
                                     (dead_ms + BEATS_BEFORE_LOSS - 1) / BEATS_BEFORE_LOSS,
                                 .dead_ms = dead_ms,
                                 .lost = lost,
                                 .stage = describe_input,
                                 .rank_name = name_of,
                                 .context = w};
    LEATI_TRY(open_store(w, &store, err));
    LEATI_TRY(compare(w, options, num_replicas, err));
    LEATI_TRY(meet_all(w, err));
    return connect_all(w, options->communication, err);
}

leati_workers *leati_workers_join(const leat_cluster *cluster,
                                  const leat_strategy_multi_worker_mirrored_options *options,
                                  int num_replicas, leat_error *err) {
    int number = 0, count = 1;
    /* NULL without an error is a job of one worker. */
    if (leati_cluster_place(cluster, &number, &count, err) != LEAT_OK || count == 1)
        return NULL;
    leati_workers *w = leati_alloc_zero(1, sizeof *w);
    char(*names)[LONGEST_NAME] = leati_alloc_zero((size_t)count, sizeof *names);
    if (w == NULL || names == NULL) {
        leati_free(w);
        leati_free(names);
        leati_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->input_lock, NULL);
    w->names = names;
    w->count = count;
    w->number = number;
    w->timeout_ms = options->timeout_ms;
    if (open_job(w, cluster, options, num_replicas, err) != LEAT_OK) {
        leati_workers_fail(w, err);
        leati_workers_leave(w);
        leati_workers_free(w);
        return NULL;
    }
    /* Only now: a job that could not be joined is left just above. */
    add_living(w);
    return w;
}

void leati_workers_leave(leati_workers *workers) {
    if (workers != NULL) {
        remove_living(workers);
        leati_store_close(workers->store);
        workers->store = NULL;
    }
}

void leati_workers_free(leati_workers *workers) {
    if (workers == NULL)
        return;
    if (workers->between != NULL && !workers->given)
        workers->between->ops->close(workers->between);
    leati_tls_context_free(workers->tls);
    pthread_mutex_destroy(&workers->lock);
    pthread_mutex_destroy(&workers->input_lock);
    leati_free(workers->names);
    leati_free(workers);
}
