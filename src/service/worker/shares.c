/* The share of a task; see shares.h. Failures: those of the walks, UNIMPLEMENTED for a policy that
 * this version does not know. No locks. */
#include "service/worker/shares.h"
#include "base/error.h"
#include "data/shares/shares.h"
#include "data/shares/splits.h"
#include <inttypes.h>
#include <leat/service.h>

/* As the policies of shares.h are numbered; DYNAMIC and newer ones are not among them. */
static bool find_policy(int64_t policy, leati_shares_policy *out) {
    static const leati_shares_policy policies[] = {
        [LEAT_SERVICE_OFF] = LEATI_SHARES_OFF,
        [LEAT_SERVICE_FILE] = LEATI_SHARES_FILE,
        [LEAT_SERVICE_DATA] = LEATI_SHARES_DATA,
        [LEAT_SERVICE_FILE_OR_DATA] = LEATI_SHARES_FILE_OR_DATA,
        [LEAT_SERVICE_HINT] = LEATI_SHARES_HINT,
    };
    if (policy < 0 || policy > LEAT_SERVICE_HINT || policy == LEAT_SERVICE_DYNAMIC)
        return false;
    *out = policies[policy];
    return true;
}

/* Workers that each give all have orders of their own where the user fixed none. Those of static
 * policies must agree on the order of which each one keeps a part. */
static bool has_own_seeds(const struct leati_message_task *task) {
    return task->policy == LEAT_SERVICE_OFF || task->policy == LEAT_SERVICE_DYNAMIC;
}

static leat_dataset *share_of(const struct leati_message_task *task, const leat_dataset *dataset,
                              leat_error *err) {
    leati_shares_policy policy = LEATI_SHARES_OFF;
    if (task->policy == LEAT_SERVICE_DYNAMIC)
        return leati_splits_plan(dataset, err);
    if (!find_policy(task->policy, &policy)) {
        (void)leati_fail(err, LEAT_UNIMPLEMENTED,
                         "task %" PRId64 " has policy %" PRId64
                         ", which this version of leat does not know",
                         task->task, task->policy);
        return NULL;
    }
    bool whole = policy == LEATI_SHARES_OFF;
    if (!whole && (task->shard >= task->num_shards || task->num_shards > INT32_MAX)) {
        (void)leati_refuse(err, VALUE, "task %" PRId64 " is share %" PRId64 " of %" PRId64,
                           task->task, task->shard, task->num_shards);
        return NULL;
    }
    return leati_shares_plan(dataset, policy, whole ? 1 : (int)task->num_shards,
                             whole ? 0 : (int)task->shard, err);
}

leat_dataset *leati_worker_share(const struct leati_message_task *task, leat_dataset *dataset,
                                 leat_error *err) {
    leat_dataset *own = has_own_seeds(task)
                            ? leati_shares_reseed(dataset, (uint64_t)task->seed, err)
                            : leat_dataset_ref(dataset);
    leat_dataset_unref(dataset);
    leat_dataset *share = own == NULL ? NULL : share_of(task, own, err);
    leat_dataset_unref(own);
    return share;
}
