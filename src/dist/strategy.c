/* Strategies: life, replica threads, scope.
 *
 * Replica 0 runs on the caller's thread, every other one on a thread of its own for its whole life,
 * because executors bind threads to cores. A job's number tells the threads that there is one; they
 * spin for it briefly, because waking a thread takes longer than a small step, then sleep at the
 * gate. If a replica fails, it aborts the collective at once, so that the others end too; a new
 * collective replaces the aborted one before the next job. Locks: the strategy's gate, never held
 * while a job runs. */
#include "dist/strategy.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/threads.h"
#include "run/pool.h"
#include <string.h>

#define X(name) extern const leati_strategy_kind leati_strategy_##name;
#include "dist/strategies.def"
#undef X

static const leati_strategy_kind *const kinds[] = {
#define X(name) &leati_strategy_##name,
#include "dist/strategies.def"
#undef X
};

const leati_strategy_kind *const *leati_strategy_kinds(size_t *count) {
    *count = sizeof(kinds) / sizeof(kinds[0]);
    return kinds;
}

/* ---- replica threads ---- */

enum { SPINS = 20000 };

/* Waits until `*number` is no longer `old` or the strategy stops: spinning first, because a step is
 * often shorter than waking a thread, then asleep at the gate. */
static void await_change(leat_strategy *s, _Atomic uint64_t *number, uint64_t old,
                         leati_wait_reason reason) {
    for (int i = 0; i < s->spins; i++) {
        if (atomic_load_explicit(number, memory_order_acquire) != old) {
            return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    leat_error ignored = {0};
    leati_gate_lock(s->gate);
    while (atomic_load(number) == old && !atomic_load(&s->stop)) {
        if (leati_gate_wait(s->gate, reason, LEATI_NO_DEADLINE, NULL, &ignored) != LEAT_OK) {
            break;
        }
    }
    leati_gate_unlock(s->gate);
}

static void wake_all(leat_strategy *s) {
    leati_gate_lock(s->gate);
    leati_gate_wake(s->gate);
    leati_gate_unlock(s->gate);
}

static void run_job(leat_strategy *s, leati_replica *replica) {
    replica->error = (leat_error){0};
    replica->status = s->function(s->context, replica->index, &replica->error);
    if (replica->status != LEAT_OK && s->collective != NULL) {
        s->collective->ops->abort(s->collective, &replica->error);
    }
}

static void replica_main(void *context) {
    leati_replica *replica = context;
    leat_strategy *s = replica->strategy;
    for (;;) {
        uint64_t finished = atomic_load(&replica->done);
        await_change(s, &s->job, finished, LEATI_WAIT_CONSUMER);
        if (atomic_load(&s->stop)) {
            return;
        }
        uint64_t number = atomic_load(&s->job);
        if (number == finished) {
            continue;
        }
        run_job(s, replica);
        atomic_store(&replica->done, number);
        wake_all(s);
    }
}

/* The failure that caused the others: the first by replica number that is not the echo of an abort.
 */
static leat_status first_failure(const leat_strategy *s, leat_error *err) {
    const leati_replica *first = NULL;
    for (int r = 0; r < s->num_replicas; r++) {
        const leati_replica *replica = &s->replicas[r];
        if (replica->status != LEAT_OK &&
            (first == NULL || (first->status == LEAT_ABORTED && replica->status != LEAT_ABORTED))) {
            first = replica;
        }
    }
    if (first == NULL) {
        return LEAT_OK;
    }
    leat_status status = first->status;
    if (err != NULL) {
        *err = first->error;
        leati_prefix(err, "replica %d of %d", first->index, s->num_replicas);
    }
    return status;
}

static leat_status renew_collective(leat_strategy *s, leat_error *err) {
    if (s->num_replicas == 1) {
        return LEAT_OK;
    }
    leati_collective *collective =
        leati_threads_collective_new(s->num_replicas, s->timeout_ms, err);
    if (collective == NULL) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    leati_gate_lock(s->gate);
    leati_collective *old = s->collective;
    s->collective = collective;
    leati_gate_unlock(s->gate);
    if (old != NULL) {
        old->ops->close(old);
    }
    return LEAT_OK;
}

/* The step's cores leave the pipeline's pool while it runs: two thread pools that fight for cores
 * are both slow. Returns the tokens to give back. */
static int reserve_cores(const leat_strategy *strategy, leati_pool *pool) {
    int threads = 0;
    for (int r = 0; r < strategy->num_replicas; r++) {
        threads += strategy->devices[r]->num_threads;
    }
    return leati_tokens_reserve(pool, threads);
}

leat_status leati_strategy_run_on_replicas(leat_strategy *strategy, leati_replica_function function,
                                           void *context, leat_error *err) {
    leat_error ignored = {0};
    if (atomic_exchange(&strategy->cancelled, false) && renew_collective(strategy, err)) {
        return LEAT_RESOURCE_EXHAUSTED;
    }
    leati_pool *pool = leati_pool_shared(&ignored);
    int reserved = pool == NULL ? 0 : reserve_cores(strategy, pool);
    strategy->function = function;
    strategy->context = context;
    uint64_t number = atomic_fetch_add(&strategy->job, 1) + 1;
    if (strategy->num_replicas > 1) {
        wake_all(strategy);
    }
    run_job(strategy, &strategy->replicas[0]);
    if (strategy->devices[0]->ops->leave != NULL) {
        strategy->devices[0]->ops->leave(strategy->devices[0]);
    }
    for (int r = 1; r < strategy->num_replicas; r++) {
        await_change(strategy, &strategy->replicas[r].done, number - 1, LEATI_WAIT_PEER);
    }
    leat_status status = first_failure(strategy, err);
    if (pool != NULL) {
        leati_tokens_give_back(pool, reserved);
    }
    if (status != LEAT_OK) {
        leat_error renewal = {0};
        if (renew_collective(strategy, &renewal) != LEAT_OK && err != NULL) {
            leati_prefix(err, "%s", renewal.text);
        }
    }
    return status;
}

void leat_strategy_cancel(leat_strategy *strategy) {
    leat_error reason = {0};
    leati_fail(&reason, LEAT_CANCELLED, "the run was cancelled");
    if (strategy == NULL || strategy->num_replicas == 1) {
        return;
    }
    atomic_store(&strategy->cancelled, true);
    leati_gate_lock(strategy->gate);
    if (strategy->collective != NULL) {
        strategy->collective->ops->abort(strategy->collective, &reason);
    }
    leati_gate_unlock(strategy->gate);
}

/* ---- life ---- */

static void strategy_free(leat_object *object) {
    leat_strategy *s = (leat_strategy *)object;
    atomic_store(&s->stop, true);
    if (s->gate != NULL) {
        wake_all(s);
    }
    for (int r = 1; s->replicas != NULL && r < s->num_replicas; r++) {
        leati_driver_join(s->replicas[r].driver);
    }
    if (s->collective != NULL) {
        s->collective->ops->close(s->collective);
    }
    for (int r = 0; s->devices != NULL && r < s->num_replicas; r++) {
        if (s->devices[r] != NULL) {
            s->devices[r]->ops->close(s->devices[r]);
        }
    }
    leati_gate_free(s->gate);
    leati_free(s->devices);
    leati_free(s->replicas);
    leati_free(s);
}

static const leati_object_type strategy_type = {.name = "strategy", .free = strategy_free};

static leat_status start(leat_strategy *s, leat_error *err) {
    s->gate = leati_gate_new("strategy \"mirrored\"", NULL, err);
    s->replicas = leati_alloc_zero((size_t)s->num_replicas, sizeof(*s->replicas));
    if (s->gate == NULL || s->replicas == NULL) {
        return leati_no_memory(err, (size_t)s->num_replicas * sizeof(*s->replicas));
    }
    leat_status status = renew_collective(s, err);
    int threads = 0;
    for (int r = 0; r < s->num_replicas; r++) {
        s->replicas[r].strategy = s;
        s->replicas[r].index = r;
        threads += s->devices[r]->num_threads;
    }
    s->spins = threads <= leati_num_cores() ? SPINS : 0;
    for (int r = 1; r < s->num_replicas && status == LEAT_OK; r++) {
        s->replicas[r].driver = leati_driver_start("replica", replica_main, &s->replicas[r], err);
        status = s->replicas[r].driver == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    }
    return status;
}

leat_strategy *leati_strategy_new(const leati_strategy_kind *kind, leati_device *const *devices,
                                  int num_devices, int64_t timeout_ms, leat_error *err) {
    leat_strategy *s = leati_alloc_zero(1, sizeof(*s));
    leati_device **own = leati_alloc_zero((size_t)num_devices, sizeof(*own));
    if (s == NULL || own == NULL) {
        leati_free(s);
        leati_free(own);
        for (int i = 0; i < num_devices; i++) {
            devices[i]->ops->close(devices[i]);
        }
        leati_no_memory(err, sizeof(*s));
        return NULL;
    }
    leati_object_init(&s->object, &strategy_type);
    memcpy(own, devices, (size_t)num_devices * sizeof(*own));
    s->kind = kind;
    s->devices = own;
    s->num_replicas = num_devices;
    s->timeout_ms = timeout_ms;
    if (start(s, err) != LEAT_OK) {
        leat_strategy_unref(s);
        return NULL;
    }
    return s;
}

leat_strategy *leat_strategy_ref(leat_strategy *strategy) {
    return leati_object_ref(strategy);
}

void leat_strategy_unref(leat_strategy *strategy) {
    leati_object_unref(strategy);
}

int leat_strategy_num_replicas(const leat_strategy *strategy) {
    return strategy == NULL ? 0 : strategy->num_replicas;
}

/* ---- scope: where variables are created ---- */

enum { MOST_SCOPES = 16 };

typedef struct scope {
    leat_strategy *strategy; /* a reference */
    leati_variable_creator creator;
    const leati_variable_creator *outer;
} scope;

static _Thread_local scope scopes[MOST_SCOPES];
static _Thread_local int num_scopes;

static leat_status place_alloc(void *device, size_t size, leat_buffer **out, leat_error *err) {
    return ((leati_device *)device)->ops->alloc(device, size, out, err);
}

static leat_status place_upload(void *device, const void *from, leat_buffer *to, size_t size,
                                leat_error *err) {
    return ((leati_device *)device)->ops->upload(device, from, to, size, err);
}

static leat_status place_download(void *device, const leat_buffer *from, void *to, size_t size,
                                  leat_error *err) {
    return ((leati_device *)device)->ops->download(device, from, to, size, err);
}

/* Gives the variable one copy per replica, all with the initial value. Reading a sync-on-read
 * variable whose copies are summed then gives a multiple of it, as in TensorFlow. */
static leat_status place_variable(void *context, leat_variable *variable,
                                  const leat_tensor *initial, leat_error *err) {
    leat_strategy *s = context;
    size_t bytes = leat_tensor_bytes(initial);
    variable->copies = leati_alloc_zero((size_t)s->num_replicas, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero((size_t)s->num_replicas, sizeof(leati_variable_place));
    leat_status status = LEAT_OK;
    if (variable->copies == NULL || variable->places == NULL) {
        status = leati_no_memory(err, bytes);
    }
    variable->num_copies = status == LEAT_OK ? s->num_replicas : 0;
    for (int r = 0; r < variable->num_copies && status == LEAT_OK; r++) {
        leati_device *device = s->devices[r];
        variable->places[r] = (leati_variable_place){.device = device,
                                                     .alloc = place_alloc,
                                                     .upload = place_upload,
                                                     .download = place_download};
        status = device->ops->alloc(device, bytes, &variable->copies[r], err);
        if (status == LEAT_OK) {
            status = device->ops->upload(device, initial->data, variable->copies[r], bytes, err);
        }
    }
    return status;
}

leat_status leat_strategy_enter(leat_strategy *strategy, leat_error *err) {
    if (strategy == NULL) {
        return leati_fail(err, LEAT_INVALID_ARGUMENT, "leat_strategy_enter: strategy is NULL");
    }
    if (num_scopes > 0 && scopes[num_scopes - 1].strategy != strategy) {
        return leati_fail(
            err, LEAT_FAILED_PRECONDITION,
            "the scope of another strategy is open; leave it before entering this one");
    }
    if (num_scopes == MOST_SCOPES) {
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "%d scopes are open; leat_strategy_exit is missing", MOST_SCOPES);
    }
    scope *top = &scopes[num_scopes++];
    top->strategy = leat_strategy_ref(strategy);
    top->creator = (leati_variable_creator){.place = place_variable, .context = strategy};
    top->outer = leati_variable_set_creator(&top->creator);
    return LEAT_OK;
}

void leat_strategy_exit(leat_strategy *strategy) {
    if (num_scopes == 0 || scopes[num_scopes - 1].strategy != strategy) {
        return;
    }
    scope *top = &scopes[--num_scopes];
    leati_variable_set_creator(top->outer);
    leat_strategy_unref(top->strategy);
    top->strategy = NULL;
}
