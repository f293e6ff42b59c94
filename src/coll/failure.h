/* Why a collective failed: the first reason of all, which every later call returns. */
#ifndef LEATI_COLL_FAILURE_H
#define LEATI_COLL_FAILURE_H

#include "coll/store.h"

/* Any thread may use it. */
typedef struct leati_failure leati_failure;

/* `name` is the collective's, "MPI". Owned. */
leati_failure *leati_failure_new(const char *name, leat_error *err);
/* NULL is allowed. */
void leati_failure_free(leati_failure *failure);

/* Keeps `reason` (copied) unless there is one already. */
void leati_failure_set(leati_failure *failure, const leat_error *reason);
/* Is there a reason? */
bool leati_failure_happened(const leati_failure *failure);
/* ABORTED with the reason, for calls after the failure. */
leat_status leati_failure_refuse(leati_failure *failure, leat_error *err);
/* Keeps `reason` as leati_failure_set does; the caller's own error is this one in any case. */
leat_status leati_failure_report(leati_failure *failure, const leat_error *reason, leat_error *err);

/* The refusal of leati_failure_refuse for a reason that is kept elsewhere. */
leat_status leati_failure_refuse_after(const char *reason, leat_error *err);
/* Is this such a refusal, which tells nothing new? */
bool leati_failure_is_refusal(const leat_error *err);
/* DEADLINE_EXCEEDED of `rank`, which waited `timeout_ms` in `call` ("all_reduce") for `whom`
 * ("rank 1"), with what the store (NULL: none) knows of those who hold the others up. */
leat_status leati_failure_late(leati_store *store, int rank, int64_t timeout_ms, const char *call,
                               const char *whom, leat_error *err);

#endif
