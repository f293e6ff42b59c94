/* with_options: the input, with options for the iterators over it (tf.data.Dataset.with_options).
 *
 * The options of a whole plan count, wherever they stand; of two values for one field that of the
 * node closer to the end counts. What a field does is decided where the plan is rewritten
 * (data/rewrites/rewrite.c); those without effect say so once, in the log. Expands to the input:
 * there is nothing to run here. */
#include "base/log.h"
#include "data/plan/options.h"
#include <leat/data_ops.h>

/* Flags are -1 (not set), 0 or 1; numbers LEATI_OPTION_NOT_SET. What stands from
 * without_effect on has none. */
struct options_args {
    int8_t deterministic, apply_default_optimizations, inject_prefetch, map_and_batch_fusion,
        map_fusion, map_parallelization, noop_elimination, shuffle_and_repeat_fusion, enabled;
    int64_t cpu_budget, ram_budget, initial_parallelism, min_parallelism,
        experimental_external_state_policy, private_threadpool_size, auto_shard_policy, watch;
    char *dataset_name, *picture_quality;
    struct options_without_effect {
        int64_t autotune_algorithm, num_devices, max_intra_op_parallelism;
        int8_t filter_fusion, filter_parallelization, map_and_filter_fusion, parallel_batch,
            seq_interleave_prefetch, pinned, experimental_slack, experimental_symbolic_checkpoint,
            experimental_warm_start;
        char *framework_type;
    } without_effect;
};

#define FLAG(NAME, FIELD, DOC)                                                                     \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_BOOL_OR_NONE, .flags = LEATI_NONE,                         \
        .offset = offsetof(struct options_args, FIELD), .default_number = -1, .doc = DOC           \
    }
#define NUMBER(NAME, FIELD, DOC)                                                                   \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_INT, .flags = LEATI_NONE,                                  \
        .offset = offsetof(struct options_args, FIELD), .default_number = LEATI_OPTION_NOT_SET,    \
        .doc = DOC                                                                                 \
    }
#define TEXT(NAME, FIELD, DOC)                                                                     \
    {                                                                                              \
        .name = NAME, .type = LEATI_ROW_STRING, .flags = LEATI_NONE,                               \
        .offset = offsetof(struct options_args, FIELD), .doc = DOC                                 \
    }
#define UNUSED_DOC "Accepted; without effect here."
#define UNUSED_FLAG(NAME, FIELD) FLAG(NAME, without_effect.FIELD, UNUSED_DOC)
#define UNUSED_NUMBER(NAME, FIELD) NUMBER(NAME, without_effect.FIELD, UNUSED_DOC)
#define REWRITE(NAME)                                                                              \
    FLAG("experimental_optimization." #NAME, NAME, "Whether the rewrite of this name is applied.")

static const leati_row options_rows[] = {
    FLAG("deterministic", deterministic,
         "False: operators without a policy of their own may give elements in any order."),
    FLAG("experimental_optimization.apply_default_optimizations", apply_default_optimizations,
         "False: only the rewrites that are named true."),
    REWRITE(inject_prefetch),
    REWRITE(map_and_batch_fusion),
    REWRITE(map_fusion),
    REWRITE(map_parallelization),
    REWRITE(noop_elimination),
    REWRITE(shuffle_and_repeat_fusion),
    FLAG("autotune.enabled", enabled,
         "False: numbers that were left to AUTOTUNE keep their start values."),
    NUMBER("autotune.cpu_budget", cpu_budget,
           "Threads that AUTOTUNE may give to one operator; 0: all of the pool."),
    NUMBER("autotune.ram_budget", ram_budget,
           "Bytes held beyond which AUTOTUNE enlarges no buffer; 0: half of the memory."),
    NUMBER("autotune.initial_parallelism", initial_parallelism,
           "Calls at a time that an operator left to AUTOTUNE starts with."),
    NUMBER("autotune.min_parallelism", min_parallelism,
           "Calls at a time that AUTOTUNE keeps at least."),
    NUMBER("experimental_external_state_policy", experimental_external_state_policy,
           "When an iterator is saved whose functions have effects or random states: 0 (WARN) logs "
           "it once, 1 (IGNORE, the default) saves, 2 (FAIL) refuses."),
    NUMBER("threading.private_threadpool_size", private_threadpool_size,
           "Iterators have a pool of so many threads of their own; 0: one per processor."),
    NUMBER(
        "experimental_distribute.auto_shard_policy", auto_shard_policy,
        "What Python's strategies split the dataset by among workers: 0 (AUTO), 1 (FILE), 2 "
        "(DATA), 3 (HINT), -1 (OFF). leat_strategy_distribute_dataset is told in its own options."),
    TEXT("dataset_name", dataset_name, "Names the pipeline in metrics and traces."),
    TEXT("picture_quality", picture_quality,
         "How exactly a JPEG is decoded that is resized at once: \"exact\", the default, as "
         "decoding, cropping and resizing one after the other; \"balanced\": smaller where that "
         "keeps 40 dB against exact; \"fast\": as small as the result allows."),
    NUMBER("watch", watch,
           "While an iterator lives, a web page at this port of the machine itself shows what its "
           "operators do; 0: any port that is free, which the log names."),
    UNUSED_NUMBER("autotune.autotune_algorithm", autotune_algorithm),
    UNUSED_NUMBER("experimental_distribute.num_devices", num_devices),
    UNUSED_NUMBER("threading.max_intra_op_parallelism", max_intra_op_parallelism),
    UNUSED_FLAG("experimental_optimization.filter_fusion", filter_fusion),
    UNUSED_FLAG("experimental_optimization.filter_parallelization", filter_parallelization),
    UNUSED_FLAG("experimental_optimization.map_and_filter_fusion", map_and_filter_fusion),
    UNUSED_FLAG("experimental_optimization.parallel_batch", parallel_batch),
    UNUSED_FLAG("experimental_optimization.seq_interleave_prefetch", seq_interleave_prefetch),
    UNUSED_FLAG("experimental_service.pinned", pinned),
    UNUSED_FLAG("experimental_slack", experimental_slack),
    UNUSED_FLAG("experimental_symbolic_checkpoint", experimental_symbolic_checkpoint),
    UNUSED_FLAG("experimental_warm_start", experimental_warm_start),
    TEXT("framework_type", without_effect.framework_type, UNUSED_DOC),
    {0},
};

/* Numbers of which only some are allowed. */
static const struct range {
    const char *name;
    size_t offset;
    int64_t minimum, maximum;
} ranges[] = {
    {"autotune.cpu_budget", offsetof(struct options_args, cpu_budget), 0, INT32_MAX},
    {"autotune.ram_budget", offsetof(struct options_args, ram_budget), 0, INT64_MAX},
    {"autotune.initial_parallelism", offsetof(struct options_args, initial_parallelism), 0,
     INT32_MAX},
    {"autotune.min_parallelism", offsetof(struct options_args, min_parallelism), 0, INT32_MAX},
    {"experimental_external_state_policy",
     offsetof(struct options_args, experimental_external_state_policy), LEATI_STATE_WARN,
     LEATI_STATE_FAIL},
    {"threading.private_threadpool_size", offsetof(struct options_args, private_threadpool_size), 0,
     4096},
    {"watch", offsetof(struct options_args, watch), 0, 65535},
};

/* Not in the rows' own bounds: the number that stands for "not set" lies outside of them. */
static leat_status check_ranges(const void *args, leat_error *err) {
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const struct range *r = &ranges[i];
        int64_t value = *(const int64_t *)((const char *)args + r->offset);
        if (value != LEATI_OPTION_NOT_SET && (value < r->minimum || value > r->maximum)) {
            return leati_refuse(err, VALUE, "with_options: %s is %lld; expected %lld to %lld",
                                r->name, (long long)value, (long long)r->minimum,
                                (long long)r->maximum);
        }
    }
    return LEAT_OK;
}

static leat_status options_check(leat_dataset *dataset, leat_error *err) {
    /* Each option is told about once in a process. */
    static int logged[sizeof(options_rows) / sizeof(options_rows[0])];
    for (size_t i = 0; options_rows[i].type != LEATI_ROW_END; i++) {
        /* What has no effect stands at the end of the struct. */
        const leati_row *row = &options_rows[i];
        if (row->offset >= offsetof(struct options_args, without_effect) &&
            leati_options_field_is_set(row, (const char *)dataset->args + row->offset))
            leati_log_once(&logged[i], LEAT_LOG_INFO, "with_options: %s has no effect", row->name);
    }
    const char *quality = ((const struct options_args *)dataset->args)->picture_quality;
    if (quality != NULL && leati_options_picture_quality(quality) < 0)
        return leati_refuse(err, VALUE,
                            "with_options: picture_quality is \"%.40s\"; expected \"exact\", "
                            "\"balanced\" or \"fast\"",
                            quality);
    return check_ranges(dataset->args, err);
}

static leat_dataset *options_expand(const leat_dataset *dataset, leat_error *err) {
    (void)err;
    return leat_dataset_ref(dataset->inputs[0]);
}

const leati_dataset_op leati_op_with_options = {
    .name = "with_options",
    .version = 1,
    .doc = "The input; its iterators follow the options. Saved as the input is.",
    .names = "Dataset.with_options",
    .shown = "Options",
    .num_inputs = 1,
    .flow = LEATI_ONE_TO_ONE,
    .shards = LEATI_SHARD_SEES_THROUGH,
    .splits = LEATI_SPLITS_THROUGH,
    .batches = LEATI_BATCHES_SAME,
    .args_size = sizeof(struct options_args),
    .rows = options_rows,
    .check = options_check,
    .expand = options_expand,
};

/* What C callers have for a number that is not set, as the rows have it. */
static int64_t number(int64_t value) {
    return value == LEAT_UNSET ? LEATI_OPTION_NOT_SET : value;
}

leat_dataset *leat_dataset_with_options(leat_dataset *input, const leat_dataset_options *options,
                                        leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dataset_options o = {LEAT_DATASET_DEFAULTS};
    struct options_args args = {0};
    if (!LEATI_DATASET_OPTIONS(leat_dataset_options, &o, options, &input, 1, err))
        return NULL;
    /* A struct of zeros would set every option. */
    if (leati_rows_defaults(options_rows, &args, err) != LEAT_OK) {
        leat_dataset_unref(input);
        return NULL;
    }
    args.deterministic = (int8_t)o.deterministic;
    args.apply_default_optimizations = (int8_t)o.apply_default_optimizations;
    args.inject_prefetch = (int8_t)o.inject_prefetch;
    args.map_and_batch_fusion = (int8_t)o.map_and_batch_fusion;
    args.map_fusion = (int8_t)o.map_fusion;
    args.map_parallelization = (int8_t)o.map_parallelization;
    args.noop_elimination = (int8_t)o.noop_elimination;
    args.shuffle_and_repeat_fusion = (int8_t)o.shuffle_and_repeat_fusion;
    args.enabled = (int8_t)o.autotune;
    args.cpu_budget = number(o.cpu_budget);
    args.ram_budget = number(o.ram_budget);
    args.initial_parallelism = number(o.initial_parallelism);
    args.min_parallelism = number(o.min_parallelism);
    args.private_threadpool_size = number(o.private_threadpool_size);
    /* The C enumeration has 0 for what is not set and the policies from 1 on. */
    args.experimental_external_state_policy =
        o.external_state == 0 ? LEATI_OPTION_NOT_SET : (int64_t)o.external_state - 1;
    args.watch = number(o.watch);
    args.dataset_name = (char *)o.dataset_name; /* the constructor copies them */
    args.picture_quality = (char *)(uintptr_t)o.picture_quality;
    return leati_dataset_new(&leati_op_with_options, &args, &input, 1, err);
}
