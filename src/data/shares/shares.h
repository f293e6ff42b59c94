/* What one of several workers that run a dataset for others needs of its plan: which part of it the
 * worker reads under the static sharding policies of tf.data's service, seeds of its own, whether
 * the plan can be sent to another process, and what it is the same as. */
#ifndef LEATI_SHARES_SHARES_H
#define LEATI_SHARES_SHARES_H

#include "data/plan/dataset.h"

/* TensorFlow's processing modes without DYNAMIC (data/shares/splits.h). */
typedef enum leati_shares_policy {
    LEATI_SHARES_OFF = 0,
    LEATI_SHARES_FILE,
    LEATI_SHARES_DATA,
    LEATI_SHARES_FILE_OR_DATA,
    LEATI_SHARES_HINT
} leati_shares_policy;

/* The plan of worker `worker` of `num_workers`. One worker reads everything, and so does each under
 * OFF. FILE: NOT_FOUND where the walk from the sink does not reach a reader of files on every
 * branch; FILE_OR_DATA is DATA there. DATA: every num_workers-th element, in front of prefetches
 * and options at the sink. With fewer files, or elements, than workers who has one fails with
 * INVALID_ARGUMENT when it is read. HINT: the part at each shard(SHARD_HINT, SHARD_HINT); under
 * other policies such a place fails with FAILED_PRECONDITION when it is read. The plan has caches
 * and seed generators of its own where it is another one. Owned. */
leat_dataset *leati_shares_plan(const leat_dataset *dataset, leati_shares_policy policy,
                                int num_workers, int worker, leat_error *err);

/* `plan` (borrowed) with seeds made of `salt` for the operators that neither the user nor a global
 * seed gave one, so that workers with other salts have other orders, each the same in every run.
 * Datasets inside of functions keep theirs. Owned. */
leat_dataset *leati_shares_reseed(const leat_dataset *plan, uint64_t salt, leat_error *err);

/* Can the plan be written and read in another process? UNIMPLEMENTED names operator and argument,
 * and says why not. */
LEAT_WARN_UNUSED leat_status leati_shares_sendable(const leat_dataset *plan, leat_error *err);

/* Calls `visit` for each name in the list of a reader, until it fails: whoever runs the plan must
 * be able to open them. Names that come from a dataset are not among them. */
typedef leat_status (*leati_shares_file_visit)(void *context, const leat_dataset *reader,
                                               leat_string name, leat_error *err);
LEAT_WARN_UNUSED leat_status leati_shares_visit_files(const leat_dataset *plan,
                                                      leati_shares_file_visit visit, void *context,
                                                      leat_error *err);

/* Does every run of the plan, here or where it was sent to, give the same elements in the same
 * order? Seeds that were drawn when it was made are part of it. Else `why` (`size` bytes)
 * names the first operator, from the sink, that may not, and what about it. */
bool leati_shares_deterministic(const leat_dataset *plan, char *why, size_t size);

/* A number that is the same for the same plan in every process: operators, arguments, functions,
 * seeds that the user gave; not labels, and not seeds that were drawn. `with_files`: sizes of the
 * files that lists of readers name are part of it, as they are now (-1: cannot be told). */
LEAT_WARN_UNUSED leat_status leati_shares_identity(const leat_dataset *plan, bool with_files,
                                                   uint64_t *out, leat_error *err);

#endif
