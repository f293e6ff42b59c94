/* with_options: the input, with options for the iterators over it (tf.data.Dataset.with_options).
 *
 * The options of a whole plan count, wherever they stand; of two values for one field that of the
 * node closer to the end counts. What a field does is decided where the plan is rewritten
 * (data/rewrite.c); those without effect say so once, in the log. Expands to the input: there is
 * nothing to run here. */
#include "base/log.h"
#include "data/dataset.h"
#include <leat/data_ops.h>

/* Flags are -1 (not set), 0 or 1. */
struct options_args {
    int8_t deterministic, apply_default_optimizations, map_and_batch_fusion, map_fusion,
        noop_elimination, shuffle_and_repeat_fusion, enabled, filter_fusion, filter_parallelization,
        inject_prefetch, map_and_filter_fusion, map_parallelization, parallel_batch,
        seq_interleave_prefetch, pinned, experimental_slack, experimental_symbolic_checkpoint,
        experimental_warm_start;
    int64_t cpu_budget, ram_budget, autotune_algorithm, initial_parallelism, min_parallelism,
        auto_shard_policy, num_devices, experimental_external_state_policy,
        max_intra_op_parallelism, private_threadpool_size;
    char *dataset_name;
    char *framework_type;
};

#define FLAG(NAME, FIELD, DOC)                                                                     \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_BOOL_OR_NONE, .flags = LEATI_NONE,                         \
        .offset = offsetof(struct options_args, FIELD), .default_number = -1, .doc = DOC           \
    }
#define UNUSED_DOC "Accepted; without effect here."
#define UNUSED_FLAG(NAME, FIELD) FLAG(NAME, FIELD, UNUSED_DOC)
#define UNUSED_NUMBER(NAME, FIELD)                                                                 \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_INT, .flags = LEATI_NONE,                                  \
        .offset = offsetof(struct options_args, FIELD), .default_number = NOT_SET,                 \
        .doc = UNUSED_DOC                                                                          \
    }
#define UNUSED_TEXT(NAME, FIELD)                                                                   \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_STRING, .flags = LEATI_NONE,                               \
        .offset = offsetof(struct options_args, FIELD), .doc = UNUSED_DOC                          \
    }

enum { NOT_SET = -1000000 };

static const leati_row options_rows[] = {
    FLAG("deterministic", deterministic,
         "False: operators without a policy of their own may give elements in any order."),
    FLAG("experimental_optimization.apply_default_optimizations", apply_default_optimizations,
         "False: only the rewrites that are named true."),
    FLAG("experimental_optimization.map_and_batch_fusion", map_and_batch_fusion,
         "Whether the rewrite of this name is applied."),
    FLAG("experimental_optimization.map_fusion", map_fusion,
         "Whether the rewrite of this name is applied."),
    FLAG("experimental_optimization.noop_elimination", noop_elimination,
         "Whether the rewrite of this name is applied."),
    FLAG("experimental_optimization.shuffle_and_repeat_fusion", shuffle_and_repeat_fusion,
         "Whether the rewrite of this name is applied."),
    UNUSED_FLAG("autotune.enabled", enabled),
    UNUSED_NUMBER("autotune.cpu_budget", cpu_budget),
    UNUSED_NUMBER("autotune.ram_budget", ram_budget),
    UNUSED_NUMBER("autotune.autotune_algorithm", autotune_algorithm),
    UNUSED_NUMBER("autotune.initial_parallelism", initial_parallelism),
    UNUSED_NUMBER("autotune.min_parallelism", min_parallelism),
    UNUSED_NUMBER("experimental_distribute.auto_shard_policy", auto_shard_policy),
    UNUSED_NUMBER("experimental_distribute.num_devices", num_devices),
    UNUSED_NUMBER("experimental_external_state_policy", experimental_external_state_policy),
    UNUSED_FLAG("experimental_optimization.filter_fusion", filter_fusion),
    UNUSED_FLAG("experimental_optimization.filter_parallelization", filter_parallelization),
    UNUSED_FLAG("experimental_optimization.inject_prefetch", inject_prefetch),
    UNUSED_FLAG("experimental_optimization.map_and_filter_fusion", map_and_filter_fusion),
    UNUSED_FLAG("experimental_optimization.map_parallelization", map_parallelization),
    UNUSED_FLAG("experimental_optimization.parallel_batch", parallel_batch),
    UNUSED_FLAG("experimental_optimization.seq_interleave_prefetch", seq_interleave_prefetch),
    UNUSED_FLAG("experimental_service.pinned", pinned),
    UNUSED_FLAG("experimental_slack", experimental_slack),
    UNUSED_FLAG("experimental_symbolic_checkpoint", experimental_symbolic_checkpoint),
    UNUSED_FLAG("experimental_warm_start", experimental_warm_start),
    UNUSED_NUMBER("threading.max_intra_op_parallelism", max_intra_op_parallelism),
    UNUSED_NUMBER("threading.private_threadpool_size", private_threadpool_size),
    UNUSED_TEXT("dataset_name", dataset_name),
    UNUSED_TEXT("framework_type", framework_type),
    {0},
};

static bool is_set(const leati_row *row, const void *args) {
    const void *at = (const char *)args + row->offset;
    switch (row->type) {
    case LEATI_ROW_INT: return *(const int64_t *)at != NOT_SET;
    case LEATI_ROW_STRING: return *(char *const *)at != NULL;
    default: return *(const int8_t *)at >= 0;
    }
}

static leat_status options_check(leat_dataset *dataset, leat_error *err) {
    static int logged[sizeof(options_rows) / sizeof(options_rows[0])];
    (void)err;
    for (size_t i = 0; options_rows[i].type != LEATI_ROW_END; i++) {
        const leati_row *row = &options_rows[i];
        if (row->offset >= offsetof(struct options_args, enabled) && is_set(row, dataset->args)) {
            leati_log_once(&logged[i], LEAT_LOG_INFO, "with_options: %s has no effect", row->name);
        }
    }
    return LEAT_OK;
}

static leat_dataset *options_expand(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_dataset_ref(dataset->inputs[0]);
}

const leati_dataset_op leati_op_with_options = {
    .name = "with_options",
    .version = 1,
    .doc = "The input; its iterators follow the options. Saved as the input is.",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .args_size = sizeof(struct options_args),
    .rows = options_rows,
    .check = options_check,
    .expand = options_expand,
};

static int8_t flag(int value) {
    return value == 0 ? -1 : value > 0;
}

leat_dataset *leat_with_options(leat_dataset *input, const leat_options *options, leat_error *err) {
    static const leat_options none = {0};
    const leat_options *o = options != NULL ? options : &none;
    struct options_args args = {0};
    if (leati_rows_defaults(options_rows, &args, err) != LEAT_OK) {
        leat_dataset_unref(input);
        return NULL;
    }
    args.deterministic = flag(o->deterministic);
    args.apply_default_optimizations = flag(o->apply_default_optimizations);
    args.map_and_batch_fusion = flag(o->map_and_batch_fusion);
    args.map_fusion = flag(o->map_fusion);
    args.noop_elimination = flag(o->noop_elimination);
    args.shuffle_and_repeat_fusion = flag(o->shuffle_and_repeat_fusion);
    return leati_dataset_new(&leati_op_with_options, &args, &input, 1, err);
}
