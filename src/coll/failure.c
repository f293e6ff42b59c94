/* The first reason why a collective failed, and what calls say then (coll/failure.h).
 *
 * A collective keeps one record. Whoever finds that something went wrong sets the reason; of
 * several the first stays, and all later calls are refused with it. Whether there is one can be
 * asked at any time without a lock. Locks: a gate for the reason, a leaf. */
#include "coll/failure.h"
#include "base/alloc.h"
#include "base/error.h"
#include "run/queue.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct leati_failure {
    leati_gate *gate;
    atomic_bool failed;
    leat_error reason; /* gate; written once before `failed` is set */
};

leati_failure *leati_failure_new(const char *name, leat_error *err) {
    char gate[48];
    leati_failure *failure = leati_alloc_zero(1, sizeof *failure);
    if (failure == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    snprintf(gate, sizeof gate, "collective \"%s\"", name);
    failure->gate = leati_queue_gate_new(gate, NULL, err);
    if (failure->gate == NULL) {
        leati_free(failure);
        return NULL;
    }
    return failure;
}

void leati_failure_free(leati_failure *failure) {
    if (failure != NULL) {
        leati_queue_gate_free(failure->gate);
        leati_free(failure);
    }
}

void leati_failure_set(leati_failure *failure, const leat_error *reason) {
    leati_queue_gate_lock(failure->gate);
    /* Later reasons are mostly consequences: ranks whose wait the first one has ended. */
    if (!atomic_load(&failure->failed)) {
        failure->reason = *reason;
        atomic_store(&failure->failed, true);
    }
    leati_queue_gate_unlock(failure->gate);
}

bool leati_failure_happened(const leati_failure *failure) {
    return atomic_load(&failure->failed);
}

leat_status leati_failure_refuse(leati_failure *failure, leat_error *err) {
    leati_queue_gate_lock(failure->gate);
    leat_error reason = failure->reason;
    leati_queue_gate_unlock(failure->gate);
    return leati_failure_refuse_after(reason.text, err);
}

leat_status leati_failure_report(leati_failure *failure, const leat_error *reason,
                                 leat_error *err) {
    leati_failure_set(failure, reason);
    *err = *reason;
    return reason->code;
}

leat_status leati_failure_refuse_after(const char *reason, leat_error *err) {
    return leati_fail_for(err, LEAT_ABORTED, LEAT_REASON_AFTER_FAILURE,
                          "the collective has failed: %s", reason);
}

bool leati_failure_is_refusal(const leat_error *err) {
    return err->reason == LEAT_REASON_AFTER_FAILURE;
}

leat_status leati_failure_late(leati_store *store, int rank, int64_t timeout_ms, const char *call,
                               const char *whom, leat_error *err) {
    char stalled[300] = "";
    if (store != NULL)
        leati_store_stalled(store, stalled, sizeof stalled);
    return leati_fail(err, LEAT_DEADLINE_EXCEEDED,
                      "rank %d waited %lld ms in %s for %s%s%s; every process must make the same "
                      "calls in the same order",
                      rank, (long long)timeout_ms, call, whom, stalled[0] != '\0' ? ": " : "",
                      stalled);
}
