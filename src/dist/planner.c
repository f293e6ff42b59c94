/* The planner: batch size, policy, rebatch rule. Pure functions over plans; see planner.h. */
#include "dist/planner.h"
#include "data/shares/sharding.h"
#include <leat/data_ops.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 1000 };

const char *leati_planner_policy_name(int policy) {
    static const char *const names[] = {[LEAT_SHARD_AUTO] = "AUTO",
                                        [LEAT_SHARD_FILE] = "FILE",
                                        [LEAT_SHARD_DATA] = "DATA",
                                        [LEAT_SHARD_HINT] = "HINT",
                                        [LEAT_SHARD_OFF] = "OFF"};
    return names[policy];
}

const char *leati_planner_rule_name(int rule) {
    static const char *const names[] = {[LEATI_REBATCH_NONE] = "none",
                                        [LEATI_REBATCH_SIZES] = "sizes",
                                        [LEATI_REBATCH_PIECES] = "pieces"};
    return names[rule];
}

/* ---- batch size ---- */

static int64_t batch_size_of_node(const leat_dataset *dataset, int depth);

static int64_t batch_size_of_argument(const leat_dataset *dataset) {
    const leati_dataset_op *op = dataset->op;
    const leati_row *row = leati_rows_find(op->rows, op->batch_size);
    /* TensorFlow does not find the size of some of its own operators (parallel batch), and cuts
     * otherwise then. */
    bool hidden = op->hides_batch_size != NULL && op->hides_batch_size(dataset);
    return hidden ? -1
                  : *(const int64_t *)(const void *)((const char *)dataset->args + row->offset);
}

/* What all inputs have; -1: they differ. */
static int64_t batch_size_of_inputs(const leat_dataset *dataset, int depth) {
    int64_t size = dataset->num_inputs == 0 ? -1 : batch_size_of_node(dataset->inputs[0], depth);
    for (int i = 1; i < dataset->num_inputs; i++)
        size = batch_size_of_node(dataset->inputs[i], depth) == size ? size : -1;
    return size;
}

/* A plan that cannot be made is refused where it is to run, not here. */
static int64_t batch_size_of_plan(const leat_dataset *dataset, int depth) {
    leat_error unused = {0};
    leat_dataset *plan = dataset->op->expand(dataset, &unused);
    int64_t size = plan == NULL ? -1 : batch_size_of_node(plan, depth);
    leat_dataset_unref(plan);
    return size;
}

static int64_t batch_size_of_node(const leat_dataset *dataset, int depth) {
    if (depth > MOST_DEPTH)
        return -1;
    switch (dataset->op->batches) {
    case LEATI_BATCHES_ROWS: return batch_size_of_argument(dataset);
    case LEATI_BATCHES_SAME: return batch_size_of_inputs(dataset, depth + 1);
    case LEATI_BATCHES_AS_PLAN: return batch_size_of_plan(dataset, depth + 1);
    case LEATI_BATCHES_UNSAID:
    case LEATI_BATCHES_APART:
    case LEATI_BATCHES_OTHER: break;
    }
    return -1;
}

leat_status leati_planner_batch_size(const leat_dataset *dataset, int64_t *out, leat_error *err) {
    int count = leat_spec_num_components(dataset->spec);
    int64_t common = -2; /* -2: no component seen, -1: unequal */
    bool is_static = true;
    for (int c = 0; c < count; c++) {
        leat_shape shape = leat_spec_component_shape(dataset->spec, c);
        if (shape.rank == 0) {
            return leati_refuse(err, SHAPE,
                                "component %d of the elements is a scalar, which cannot be split "
                                "among replicas; use batch "
                                "before distributing",
                                c);
        }
        int64_t rows = shape.rank < 0 ? LEAT_UNKNOWN_DIM : shape.dims[0];
        is_static = is_static && rows >= 0;
        common = common == -2 || common == rows ? rows : -1;
    }
    /* The shapes win where all of them are known; only then is the plan not asked. */
    *out = is_static && common != -2 ? common : batch_size_of_node(dataset, 0);
    return LEAT_OK;
}

void leati_planner_batch_sizes(int64_t global_batch, int num_workers, int replicas, int worker,
                               int64_t *sizes) {
    int64_t n = (int64_t)num_workers * replicas, floor = global_batch / n,
            larger = global_batch % n;
    for (int64_t i = 0; i < n; i++) {
        /* The n places of the list are a circle, and workers begin `replicas` apart in it: so the
         * replicas of all workers together make up a global batch in each step. */
        int64_t place = (i + (int64_t)worker * replicas) % n;
        sizes[i] = floor + (place < larger);
    }
}

static bool spec_is_static(const leat_spec *spec) {
    for (int c = 0; c < leat_spec_num_components(spec); c++) {
        leat_shape shape = leat_spec_component_shape(spec, c);
        if (!leati_shape_is_static(&shape))
            return false;
    }
    return true;
}

/* ---- the decision ---- */

leat_dataset *leati_planner_share(const leat_dataset *dataset, leat_auto_shard_policy policy,
                                  int num_workers, int worker, leat_error *err) {
    int marked = 0;
    if (policy == LEAT_SHARD_FILE && num_workers > 1)
        return leati_sharding_by_files(dataset, num_workers, worker, NULL, 0, err);
    return policy == LEAT_SHARD_HINT
               ? leati_sharding_by_hints(dataset, num_workers, worker, &marked, err)
               : leat_dataset_ref((leat_dataset *)dataset);
}

/* Why the policy is in force, and with several workers which part this one reads. */
struct reasons {
    char why[200], part[240];
};

/* The policy in force. AUTO is FILE where that can be, on every branch of the plan, else DATA. */
static leat_status choose(const leat_dataset *dataset, leat_auto_shard_policy asked,
                          leati_split_plan *plan, struct reasons *reasons, leat_error *err) {
    const leati_feed_place *place = &plan->place;
    leat_dataset *share = NULL;
    leat_error local = {0};
    int marked = 0;
    plan->policy = asked;
    snprintf(reasons->why, sizeof(reasons->why), "asked for");
    /* The share is made for the question alone; feeds make theirs when they open it. */
    if (asked == LEAT_SHARD_AUTO || (asked == LEAT_SHARD_FILE && place->num_workers > 1)) {
        share = leati_sharding_by_files(dataset, place->num_workers, place->worker, reasons->part,
                                        sizeof(reasons->part), &local);
        /* NOT_FOUND is how the walk says "not by files", on which AUTO goes on. */
        if (share == NULL && (local.code != LEAT_NOT_FOUND || asked == LEAT_SHARD_FILE))
            return leati_error_pass(err, &local);
    } else if (asked == LEAT_SHARD_HINT) {
        share = leati_sharding_by_hints(dataset, place->num_workers, place->worker, &marked, err);
        if (share == NULL)
            return err->code;
        snprintf(reasons->part, sizeof(reasons->part),
                 marked > 0 ? "its part at %d mark%s" : "everything: there is no SHARD_HINT",
                 marked, marked == 1 ? "" : "s");
    }
    if (asked == LEAT_SHARD_AUTO) {
        plan->policy = share != NULL ? LEAT_SHARD_FILE : LEAT_SHARD_DATA;
        snprintf(reasons->why, sizeof(reasons->why), "%.*s", (int)sizeof(reasons->why) - 1,
                 share != NULL ? "the source reads record files" : reasons->part);
    }
    leat_dataset_unref(share);
    return LEAT_OK;
}

/* How batches are cut, in words. */
static void describe_rule(const leati_split_plan *plan, const int64_t *sizes, char *how,
                          size_t size) {
    int all = leati_planner_all_replicas(&plan->place);
    if (plan->rule == LEATI_REBATCH_NONE) {
        snprintf(how, size, "batches as they are");
    } else if (plan->rule == LEATI_REBATCH_PIECES) {
        snprintf(how, size, "each batch in %d pieces of ceil(rows / %d)", all, all);
    } else {
        size_t used =
            (size_t)snprintf(how, size, "batches of %lld as", (long long)plan->global_batch);
        /* Room for one more number; a long list is cut, since the text is for people. */
        for (int r = 0; r < all && used + 24 < size; r++) {
            used += (size_t)snprintf(how + used, size - used, "%s%lld", r == 0 ? " " : " + ",
                                     (long long)sizes[r]);
        }
    }
}

/* With several workers: which this one is, and what it reads. */
static void describe_worker(const leati_split_plan *plan, const struct reasons *reasons, char *who,
                            size_t size) {
    const leati_feed_place *place = &plan->place;
    who[0] = '\0';
    if (place->num_workers == 1)
        return;
    size_t used =
        (size_t)snprintf(who, size, "worker %d of %d, ", place->worker, place->num_workers);
    if (plan->policy == LEAT_SHARD_DATA) {
        snprintf(who + used, size - used, "which takes pieces %d, %d, ... of everything, ",
                 place->worker, place->worker + place->num_workers);
    } else if (!plan->as_is) {
        snprintf(who + used, size - used, "which reads %s, ",
                 plan->policy == LEAT_SHARD_OFF ? "everything" : reasons->part);
    }
}

static void describe(leati_split_plan *plan, const struct reasons *reasons, const int64_t *sizes) {
    char how[128], who[320];
    int all = leati_planner_all_replicas(&plan->place);
    describe_rule(plan, sizes, how, sizeof(how));
    describe_worker(plan, reasons, who, sizeof(who));
    snprintf(plan->text, sizeof(plan->text),
             "distribute: %s%d replica%s, policy %s (%s), %s; the last step %s", who, all,
             all == 1 ? "" : "s", leati_planner_policy_name(plan->policy), reasons->why, how,
             plan->fill ? "may leave replicas without rows"
                        : "is dropped if a replica would get none");
}

/* The dataset (borrowed) split by the rule as the operators of the two versions have it: for its
 * spec. Owned. */
static leat_dataset *rebatched(const leat_dataset *dataset, int num_replicas,
                               leati_rebatch_rule rule, const int64_t *sizes, leat_error *err) {
    leat_dataset *input = leat_dataset_ref((leat_dataset *)dataset);
    int64_t pieces = num_replicas;
    return rule == LEATI_REBATCH_NONE ? input
           : rule == LEATI_REBATCH_SIZES
               ? leat_dataset_rebatch(input, sizes, num_replicas, false, err)
               : leati_dataset_new(&leati_op_legacy_rebatch, &pieces, &input, 1, err);
}

static int64_t no_rows_known(const leat_shape *shape, const void *context) {
    (void)shape;
    (void)context;
    return LEAT_UNKNOWN_DIM;
}

/* A spec with scalars stays as it is. */
static leat_status loosen(leati_split_plan *plan, leat_error *err) {
    leat_error local = {0};
    leat_spec *loose = leati_spec_resize(plan->spec, no_rows_known, NULL, &local);
    if (loose == NULL)
        return local.code == LEAT_INVALID_ARGUMENT ? LEAT_OK : leati_error_pass(err, &local);
    leat_spec_unref(plan->spec);
    plan->spec = loose;
    return LEAT_OK;
}

/* Spec and filling up. TensorFlow asks the spec of the second version where the batch size is
 * known, whichever version runs in the end. Under several workers whose last steps are filled up
 * the number of rows is never static. */
static leat_status decide_spec(const leat_dataset *dataset, leati_split_plan *plan,
                               const int64_t *sizes, leat_error *err) {
    bool many = plan->place.num_workers > 1;
    int all = leati_planner_all_replicas(&plan->place);
    leati_rebatch_rule shown = plan->rule == LEATI_REBATCH_NONE ? LEATI_REBATCH_NONE
                               : plan->global_batch >= 0        ? LEATI_REBATCH_SIZES
                                                                : LEATI_REBATCH_PIECES;
    leat_dataset *split = rebatched(dataset, all, shown, sizes, err);
    leat_dataset *real = split == NULL ? NULL : rebatched(dataset, all, plan->rule, sizes, err);
    if (real != NULL) {
        plan->fill = dataset->cardinality != LEAT_INFINITE_CARDINALITY &&
                     (many || !spec_is_static(split->spec));
        plan->spec = leat_spec_ref(real->spec);
    }
    leat_dataset_unref(split);
    leat_dataset_unref(real);
    return plan->spec == NULL ? err->code : many && plan->fill ? loosen(plan, err) : LEAT_OK;
}

static leat_status decide_rule(const leat_dataset *dataset, leati_split_plan *plan,
                               leat_error *err) {
    plan->rule = LEATI_REBATCH_NONE;
    plan->global_batch = -1;
    /* One replica gets batches as they are, whatever their size. */
    if (leati_planner_all_replicas(&plan->place) == 1)
        return LEAT_OK;
    leat_status status = leati_planner_batch_size(dataset, &plan->global_batch, err);
    if (status == LEAT_OK && plan->global_batch == 0)
        status = leati_refuse(err, VALUE, "a global batch of 0 rows; expected at least 1");
    if (status == LEAT_OK) {
        /* Under DATA every worker must cut each batch at the same rows, which pieces do and lists
         * of sizes, each with its own beginning, do not. */
        plan->rule = plan->policy == LEAT_SHARD_DATA || plan->global_batch < 0
                         ? LEATI_REBATCH_PIECES
                         : LEATI_REBATCH_SIZES;
    }
    return status;
}

leat_status leati_planner_as_is(const leat_dataset *dataset, const leati_feed_place *place,
                                leati_split_plan *plan, leat_error *err) {
    struct reasons reasons = {.why = "asked for"};
    *plan = (leati_split_plan){
        .place = *place, .global_batch = -1, .policy = LEAT_SHARD_OFF, .as_is = true};
    leat_status status = decide_spec(dataset, plan, NULL, err);
    describe(plan, &reasons, NULL);
    return status;
}

leat_status leati_planner_split(const leat_dataset *dataset, const leati_feed_place *place,
                                leat_auto_shard_policy policy, leati_split_plan *plan,
                                leat_error *err) {
    struct reasons reasons = {"", ""};
    leat_error local = {0};
    size_t all = (size_t)leati_planner_all_replicas(place);
    int64_t *sizes = leati_alloc_zero(all, sizeof(*sizes));
    *plan = (leati_split_plan){.place = *place, .global_batch = -1};
    leat_status status = sizes == NULL ? leati_no_memory(&local) : LEAT_OK;
    if (status == LEAT_OK)
        status = choose(dataset, policy, plan, &reasons, &local);
    if (status == LEAT_OK)
        status = decide_rule(dataset, plan, &local);
    if (status == LEAT_OK) {
        if (plan->global_batch >= 0) {
            leati_planner_batch_sizes(plan->global_batch, place->num_workers, place->replicas,
                                      place->worker, sizes);
        }
        status = decide_spec(dataset, plan, sizes, &local);
    }
    describe(plan, &reasons, sizes);
    leati_free(sizes);
    if (status != LEAT_OK)
        *err = local;
    return status;
}

void leati_planner_split_fini(leati_split_plan *plan) {
    leat_spec_unref(plan->spec);
    plan->spec = NULL;
}
