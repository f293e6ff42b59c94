/* What the files of the part distribute share. */
#ifndef GOLDEN_DISTRIBUTE_H
#define GOLDEN_DISTRIBUTE_H

#include "support/golden.h"

/* The plan of a pipeline, a list of operations; record files are written to `folder`. Owned; NULL
 * after golden_fail or golden_missing. */
json_t *golden_plan_of(golden_case *c, const json_t *pipeline, const char *folder);
/* The dataset of such a plan. Owned. */
leat_dataset *golden_plan_dataset(const json_t *plan, leat_error *err);

/* Nested lists, as the cases have them: of an element, and of a spec's shapes. Owned. */
json_t *golden_nested(const leat_element *element);
json_t *golden_nested_spec(const leat_spec *spec);
/* The other way round: equally long lists of numbers as a tensor. Owned. */
LEAT_WARN_UNUSED leat_status golden_nested_tensor(const json_t *json, leat_dtype dtype,
                                                  leat_tensor *out, leat_error *err);

/* A mirrored strategy over the first `replicas` logical CPUs. Owned; NULL after golden_fail. */
leat_strategy *golden_mirrored(golden_case *c, int replicas);

/* golden_fail where `found` (given) is not what was expected of `what`. */
void golden_check_json(golden_case *c, const char *what, const json_t *expected, json_t *found);

/* True if the recorded {"type"} is the class of `found`; golden_fail otherwise. */
bool golden_check_class(golden_case *c, const json_t *error, const leat_error *found);

/* A policy by name; golden_fail for another one, where there is a case. */
leat_auto_shard_policy golden_policy(golden_case *c, const char *name);
/* A step as the cases have it: a list of the replicas' elements. Owned. */
json_t *golden_step(const leat_per_replica *value);

void golden_autoshard_case(golden_case *c, const json_t *json, const char *folder);
void golden_processes_case(golden_case *c, const json_t *json, const char *folder);
/* Kind "values" of processes.json: reductions over workers. */
void golden_values_of_workers(golden_case *c, const json_t *const *tasks, int count);
/* Questions of strategy.json about input; false if it is another one. */
bool golden_input_question(golden_case *c, const json_t *json, const char *what);
void golden_strategy_case(golden_case *c, const json_t *json);
void golden_reduce_case(golden_case *c, const json_t *json);
void golden_cluster_case(golden_case *c, const json_t *json);

#endif
