/* The planner: batch size, policy, rebatch rule. Pure functions over plans; see planner.h. */
#include "dist/planner.h"
#include "data/functions/template.h"
#include "graph/graph.h"
#include <leat/data_ops.h>
#include <stdio.h>
#include <string.h>

extern const leati_dataset_op leati_op_legacy_rebatch;

enum { MOST_DEPTH = 1000 };

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

/* An integer argument by name, or `missing`. */
static int64_t int_argument(const leat_dataset *dataset, const char *name, int64_t missing) {
    const leati_row *row = leati_rows_find(dataset->op->rows, name);
    if (row == NULL || row->type != LEATI_ROW_INT) {
        return missing;
    }
    return *(const int64_t *)((const char *)dataset->args + row->offset);
}

/* ---- batch size ---- */

static const char *const batching[] = {"batch", "padded_batch", "map_and_batch", "ragged_batch",
                                       NULL};
static const char *const joining[] = {"zip", "concatenate", NULL};
static const char *const transparent_to_batches[] = {
    "assert_cardinality", "cache",   "filter", "prefetch", "repeat",       "shard",
    "shuffle_and_repeat", "shuffle", "skip",   "take",     "with_options", NULL};

static int64_t batch_size_of_node(const leat_dataset *dataset, int depth) {
    const char *name = dataset->op->name;
    if (depth > MOST_DEPTH) {
        return -1;
    }
    if (is_one_of(name, batching)) {
        /* A parallel batch is another operator in TensorFlow, one that this walk does not know. */
        bool parallel =
            strcmp(name, "batch") == 0 && int_argument(dataset, "num_parallel_calls", 0) != 0;
        return parallel ? -1 : int_argument(dataset, "batch_size", -1);
    }
    if (is_one_of(name, joining) && dataset->num_inputs > 0) {
        int64_t size = batch_size_of_node(dataset->inputs[0], depth + 1);
        for (int i = 1; i < dataset->num_inputs; i++) {
            size = batch_size_of_node(dataset->inputs[i], depth + 1) == size ? size : -1;
        }
        return size;
    }
    if (is_one_of(name, transparent_to_batches) && dataset->num_inputs == 1) {
        return batch_size_of_node(dataset->inputs[0], depth + 1);
    }
    return -1;
}

leat_status leati_compute_batch_size(const leat_dataset *dataset, int64_t *out, leat_error *err) {
    int count = leat_spec_num_components(dataset->spec);
    int64_t common = -2; /* -2: no component seen, -1: unequal */
    bool is_static = true;
    for (int c = 0; c < count; c++) {
        leat_shape shape = leat_spec_component_shape(dataset->spec, c);
        if (shape.rank == 0) {
            return leati_fail(err, LEAT_INVALID_ARGUMENT,
                              "component %d of the elements is a scalar, which cannot be split "
                              "among replicas; use batch "
                              "before distributing",
                              c);
        }
        int64_t rows = shape.rank < 0 ? LEAT_UNKNOWN_DIM : shape.dims[0];
        is_static = is_static && rows >= 0;
        common = common == -2 || common == rows ? rows : -1;
    }
    *out = is_static && common != -2 ? common : batch_size_of_node(dataset, 0);
    return LEAT_OK;
}

void leati_batch_sizes(int64_t global_batch, int num_workers, int replicas, int worker,
                       int64_t *sizes) {
    int64_t n = (int64_t)num_workers * replicas, floor = global_batch / n,
            larger = global_batch % n;
    for (int64_t i = 0; i < n; i++) {
        int64_t place = (i + (int64_t)worker * replicas) % n;
        sizes[i] = floor + (place < larger);
    }
}

/* ---- policy ---- */

static const char *const readers[] = {"tf_record_dataset", "text_line_dataset",
                                      "fixed_length_record_dataset", NULL};
static const char *const transparent_to_files[] = {"batch",
                                                   "cache",
                                                   "map_and_batch",
                                                   "rebatch",
                                                   "filter",
                                                   "map",
                                                   "with_options",
                                                   "padded_batch",
                                                   "prefetch",
                                                   "repeat",
                                                   "shard",
                                                   "shuffle_and_repeat",
                                                   "shuffle",
                                                   "skip",
                                                   "take",
                                                   "window",
                                                   "unbatch",
                                                   "ragged_batch",
                                                   "assert_cardinality",
                                                   NULL};

static const char *const calling[] = {"flat_map", "interleave", "parallel_interleave", NULL};

/* Does a function make a dataset of a reader, itself or in a function that it hands on? */
static bool makes_reader(const leat_object *object, int depth) {
    if (!leati_object_is_function(object) || depth > MOST_DEPTH) {
        return false;
    }
    const leati_body *body = &((const leat_function *)(const void *)object)->body;
    for (size_t n = 0; n < body->num_nodes; n++) {
        if (strcmp(body->nodes[n].op->name, "dataset") != 0) {
            continue;
        }
        const struct leati_dataset_args *args = body->nodes[n].args;
        if (is_one_of(args->op, readers)) {
            return true;
        }
        for (int i = 0; i < args->functions.count && i < LEATI_MOST_FUNCTIONS; i++) {
            if (makes_reader(args->function[i], depth + 1)) {
                return true;
            }
        }
    }
    return false;
}

static bool calls_reader(const leat_dataset *dataset) {
    for (const leati_row *row = dataset->op->rows; row != NULL && row->type != LEATI_ROW_END;
         row++) {
        const void *at = (const char *)dataset->args + row->offset;
        if (row->type == LEATI_ROW_FUNCTION && makes_reader(*(leat_object *const *)at, 0)) {
            return true;
        }
    }
    return false;
}

static bool reads_files(const leat_dataset *dataset, int depth) {
    const char *name = dataset->op->name;
    if (depth > MOST_DEPTH) {
        return false;
    }
    if (is_one_of(name, readers)) {
        return true;
    }
    if (is_one_of(name, joining)) {
        for (int i = 0; i < dataset->num_inputs; i++) {
            if (!reads_files(dataset->inputs[i], depth + 1)) {
                return false;
            }
        }
        return dataset->num_inputs > 0;
    }
    /* A function's dataset over a reader counts too, as in TensorFlow. */
    bool called = is_one_of(name, calling);
    if (called && calls_reader(dataset)) {
        return true;
    }
    return (called || is_one_of(name, transparent_to_files)) && dataset->num_inputs > 0 &&
           reads_files(dataset->inputs[0], depth + 1);
}

bool leati_reads_files(const leat_dataset *dataset) {
    return reads_files(dataset, 0);
}

static bool spec_is_static(const leat_spec *spec) {
    for (int c = 0; c < leat_spec_num_components(spec); c++) {
        leat_shape shape = leat_spec_component_shape(spec, c);
        if (!leati_shape_is_static(&shape)) {
            return false;
        }
    }
    return true;
}

/* ---- the decision ---- */

static const char *const policy_names[] = {"AUTO", "FILE", "DATA", "HINT", "OFF"};

static void describe(leati_split_plan *plan, leat_auto_shard_policy asked, int num_replicas,
                     const int64_t *sizes) {
    char how[128];
    if (plan->rule == LEATI_REBATCH_NONE) {
        snprintf(how, sizeof(how), "batches as they are");
    } else if (plan->rule == LEATI_REBATCH_PIECES) {
        snprintf(how, sizeof(how), "each batch in %d pieces of ceil(rows / %d)", num_replicas,
                 num_replicas);
    } else {
        size_t used =
            (size_t)snprintf(how, sizeof(how), "batches of %lld as", (long long)plan->global_batch);
        for (int r = 0; r < num_replicas && used + 24 < sizeof(how); r++) {
            used += (size_t)snprintf(how + used, sizeof(how) - used, "%s%lld", r == 0 ? " " : " + ",
                                     (long long)sizes[r]);
        }
    }
    snprintf(plan->text, sizeof(plan->text),
             "distribute: %d replica%s, policy %s%s, %s; the last step %s", num_replicas,
             num_replicas == 1 ? "" : "s", policy_names[plan->policy],
             asked != LEAT_SHARD_AUTO          ? " (asked for)"
             : plan->policy == LEAT_SHARD_FILE ? " (the source reads record files)"
                                               : " (the source is not a record reader)",
             how,
             plan->fill ? "may leave replicas without rows"
                        : "is dropped if a replica would get none");
}

/* Adds the rebatch operator that the plan names. `dataset` is given. */
static leat_dataset *add_rebatch(leat_dataset *dataset, int num_replicas,
                                 const leati_split_plan *plan, const int64_t *sizes,
                                 leat_error *err) {
    if (plan->rule == LEATI_REBATCH_SIZES) {
        return leat_rebatch(dataset, sizes, num_replicas, false, err);
    }
    int64_t pieces = num_replicas;
    return leati_dataset_new(&leati_op_legacy_rebatch, &pieces, &dataset, 1, err);
}

/* Is the spec of one replica static? TensorFlow asks the spec of the second rebatch version where
 * the batch size is known, whichever version runs in the end. */
static leat_status decide_fill(leat_dataset *dataset, int num_replicas,
                               const leati_split_plan *plan, const int64_t *sizes, bool *fill,
                               leat_error *err) {
    *fill = false;
    if (dataset->cardinality == LEAT_INFINITE_CARDINALITY) {
        return LEAT_OK;
    }
    leati_split_plan shown = *plan;
    shown.rule = plan->global_batch >= 0 ? LEATI_REBATCH_SIZES : LEATI_REBATCH_PIECES;
    leat_dataset *split = num_replicas == 1 ? leat_dataset_ref(dataset)
                                            : add_rebatch(leat_dataset_ref(dataset), num_replicas,
                                                          &shown, sizes, err);
    if (split == NULL) {
        return err->code;
    }
    *fill = !spec_is_static(split->spec);
    leat_dataset_unref(split);
    return LEAT_OK;
}

static leat_status decide(leat_dataset *dataset, int num_replicas, leat_auto_shard_policy asked,
                          leati_split_plan *plan, leat_error *err) {
    plan->policy = asked != LEAT_SHARD_AUTO     ? asked
                   : leati_reads_files(dataset) ? LEAT_SHARD_FILE
                                                : LEAT_SHARD_DATA;
    plan->rule = LEATI_REBATCH_NONE;
    plan->global_batch = -1;
    if (num_replicas == 1) {
        return LEAT_OK;
    }
    leat_status status = leati_compute_batch_size(dataset, &plan->global_batch, err);
    if (status == LEAT_OK) {
        plan->rule = plan->policy == LEAT_SHARD_DATA || plan->global_batch < 0
                         ? LEATI_REBATCH_PIECES
                         : LEATI_REBATCH_SIZES;
    }
    return status;
}

void leati_plan_as_is(const leat_dataset *dataset, int num_replicas, leati_split_plan *plan) {
    *plan = (leati_split_plan){.global_batch = -1, .policy = LEAT_SHARD_OFF};
    plan->fill =
        dataset->cardinality != LEAT_INFINITE_CARDINALITY && !spec_is_static(dataset->spec);
    describe(plan, LEAT_SHARD_OFF, num_replicas, NULL);
}

leat_dataset *leati_plan_split(leat_dataset *dataset, int num_replicas,
                               leat_auto_shard_policy policy, leati_split_plan *plan,
                               leat_error *err) {
    memset(plan, 0, sizeof(*plan));
    int64_t *sizes = leati_alloc_zero((size_t)num_replicas, sizeof(*sizes));
    leat_error local = {0};
    leat_dataset *split = NULL;
    if (sizes == NULL) {
        leati_no_memory(&local, (size_t)num_replicas * sizeof(*sizes));
    } else if (decide(dataset, num_replicas, policy, plan, &local) == LEAT_OK) {
        if (plan->global_batch >= 0) {
            leati_batch_sizes(plan->global_batch, 1, num_replicas, 0, sizes);
        }
        if (plan->global_batch == 0) {
            leati_fail(&local, LEAT_INVALID_ARGUMENT,
                       "a global batch of 0 rows; expected at least 1");
        } else if (decide_fill(dataset, num_replicas, plan, sizes, &plan->fill, &local) ==
                   LEAT_OK) {
            describe(plan, policy, num_replicas, sizes);
            split = leat_dataset_ref(dataset);
            if (plan->rule != LEATI_REBATCH_NONE) {
                split = add_rebatch(split, num_replicas, plan, sizes, &local);
            }
        }
    }
    leati_free(sizes);
    leat_dataset_unref(dataset);
    if (split == NULL && err != NULL) {
        *err = local;
    }
    return split;
}
