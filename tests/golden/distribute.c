/* The part distribute: how batches are split among replicas, and what strategies answer. */
#include "distribute.h"
#include "dist/planner.h"
#include "dist/strategy.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 8 };

leat_strategy *golden_mirrored(golden_case *c, int replicas) {
    const char *names[MOST_DEVICES];
    char texts[MOST_DEVICES][16];
    leat_error err = {0};
    for (int i = 0; i < replicas && i < MOST_DEVICES; i++) {
        snprintf(texts[i], sizeof texts[i], "CPU:%d", i);
        names[i] = texts[i];
    }
    leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS, .devices = names,
                                              .num_devices = replicas};
    leat_strategy *strategy =
        replicas > MOST_DEVICES ? NULL : leat_strategy_mirrored(&options, &err);
    if (strategy == NULL)
        golden_fail(c, "a mirrored strategy over %d devices: %s", replicas, err.text);
    return strategy;
}

bool golden_check_class(golden_case *c, const json_t *error, const leat_error *found) {
    const char *type = golden_text(error, "type");
    /* The accident of an index that does not exist is a bad argument here. */
    leat_status expected =
        strcmp(type, "IndexError") == 0 ? LEAT_INVALID_ARGUMENT : golden_code_of_class(type);
    if (expected != LEAT_OK && found->code == expected)
        return true;
    golden_fail(c, "expected %s (%s), found %s: %s", type, golden_text(error, "text"),
                leat_status_name(found->code), found->text);
    return false;
}

void golden_check_json(golden_case *c, const char *what, const json_t *expected, json_t *found) {
    if (!golden_json_equal(expected, found)) {
        char texts[2][600];
        golden_json_text(expected, texts[0], sizeof texts[0]);
        golden_json_text(found, texts[1], sizeof texts[1]);
        golden_fail(c, "%s: expected %s, found %s", what, texts[0], texts[1]);
    }
    json_decref(found);
}

/* ---- rebatch.json ---- */

leat_auto_shard_policy golden_policy(golden_case *c, const char *name) {
    static const struct {
        const char *name;
        leat_auto_shard_policy policy;
    } policies[] = {{"AUTO", LEAT_SHARD_AUTO},
                    {"FILE", LEAT_SHARD_FILE},
                    {"DATA", LEAT_SHARD_DATA},
                    {"HINT", LEAT_SHARD_HINT},
                    {"OFF", LEAT_SHARD_OFF}};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i].name, name) == 0)
            return policies[i].policy;
    if (c != NULL)
        golden_fail(c, "policy %s is of an unknown kind", name);
    return LEAT_SHARD_AUTO;
}

json_t *golden_step(const leat_per_replica *value) {
    json_t *list = json_array();
    for (int r = 0; r < value->num_replicas; r++)
        json_array_append_new(list, golden_nested(&value->elements[r]));
    return list;
}

static void check_steps(golden_case *c, const json_t *json, leat_distributed_dataset *dataset) {
    bool filled = strcmp(golden_text(json, "iteration"), "optional") == 0;
    leat_status (*next)(leat_distributed_iterator *, leat_per_replica *, leat_error *) =
        filled ? leat_distributed_iterator_next_filled : leat_distributed_iterator_next;
    const json_t *steps = json_object_get(json, "steps");
    leat_error err = {0};
    leat_per_replica value = {0};
    leat_distributed_iterator *iterator = leat_distributed_iterator_new(dataset, &err);
    size_t count = json_array_size(steps);
    leat_status status = iterator == NULL ? err.code : LEAT_OK;
    json_t *found = json_array();
    while (status == LEAT_OK && json_array_size(found) < count) {
        status = next(iterator, &value, &err);
        if (status == LEAT_OK)
            json_array_append_new(found, golden_step(&value));
    }
    golden_check_json(c, "steps", steps, found);
    if (status == LEAT_OK && golden_bool(json, "ended", true)) {
        status = next(iterator, &value, &err);
        if (status == LEAT_OK)
            golden_fail(c, "a step after the last of %zu", count);
    }
    if (status != LEAT_OK && status != LEAT_OUT_OF_RANGE)
        golden_fail(c, "iterating: %s: %s", leat_status_name(status), err.text);
    leat_per_replica_fini(&value);
    leat_distributed_iterator_free(iterator);
}

static void check_batch_size(golden_case *c, const json_t *expected, const leat_dataset *dataset) {
    int64_t found = 0;
    leat_error err = {0};
    leat_status status = leati_planner_batch_size(dataset, &found, &err);
    if (json_is_object(expected))
        golden_check_class(c, expected, &err);
    else if (status != LEAT_OK || (long long)found != (long long)json_integer_value(expected))
        golden_fail(c, "batch size: expected %lld, found %lld %s",
                    (long long)json_integer_value(expected), (long long)found, err.text);
}

static void rebatch_case(golden_case *c, const json_t *json, const char *folder) {
    const json_t *error = json_object_get(json, "error");
    json_t *plan = golden_plan_of(c, json_object_get(json, "pipeline"), folder);
    if (plan == NULL)
        return;
    leat_error err = {0};
    leat_dataset *dataset = golden_plan_dataset(plan, &err);
    json_decref(plan);
    if (dataset == NULL) {
        golden_fail(c, "building: %s", err.text);
        return;
    }
    check_batch_size(c, json_object_get(json, "computed_batch_size"), dataset);
    leat_strategy_distribute_options options = {LEAT_STRATEGY_DISTRIBUTE_DEFAULTS,
                                                .auto_shard_policy =
                                                    golden_policy(c, golden_text(json, "policy"))};
    leat_strategy *strategy = golden_mirrored(c, (int)golden_int(json, "replicas", 1));
    leat_distributed_dataset *distributed =
        leat_strategy_distribute_dataset(strategy, dataset, &options, &err);
    if (error != NULL) {
        golden_check_class(c, error, &err);
    } else if (distributed == NULL) {
        golden_fail(c, "distributing: %s", err.text);
    } else {
        int64_t cardinality = golden_int(json, "cardinality", 0);
        if (cardinality != leat_distributed_dataset_cardinality(distributed))
            golden_fail(c, "cardinality: expected %lld, found %lld", (long long)cardinality,
                        (long long)leat_distributed_dataset_cardinality(distributed));
        golden_check_json(c, "replica_spec", json_object_get(json, "replica_spec"),
                          golden_nested_spec(leat_distributed_dataset_spec(distributed)));
        check_steps(c, json, distributed);
    }
    leat_distributed_dataset_free(distributed);
    leat_strategy_unref(strategy);
}

/* ---- rebatch_kernels.json ---- */

/* All elements of `dataset` (given) as nested lists; an error ends them. */
static json_t *elements_of(leat_dataset *dataset, size_t most, leat_error *err) {
    json_t *found = json_array();
    leat_element element = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, err);
    leat_status status = iterator == NULL ? err->code : LEAT_OK;
    while (status == LEAT_OK && json_array_size(found) < most) {
        status = leat_iterator_next(iterator, &element, err);
        if (status == LEAT_OK)
            json_array_append_new(found, golden_nested(&element));
    }
    if (status == LEAT_OUT_OF_RANGE)
        *err = (leat_error){0};
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
    return found;
}

static void kernel_case(golden_case *c, const json_t *json, const char *folder) {
    const char *kernel = golden_text(json, "kernel");
    const json_t *error = json_object_get(json, "error");
    const json_t *spec = json_object_get(json, "spec");
    const json_t *elements = json_object_get(json, "elements");
    json_t *plan = golden_plan_of(c, json_object_get(json, "pipeline"), folder);
    if (plan == NULL)
        return;
    if (strcmp(kernel, "rebatch") == 0) {
        plan = json_pack("{s:s,s:{s:O,s:b},s:o}", "op", "rebatch", "args", "batch_size",
                         json_object_get(json, "batch_sizes"), "drop_remainder",
                         golden_bool(json, "drop_remainder", false), "input", plan);
    } else if (strcmp(kernel, "legacy") == 0) {
        plan = json_pack("{s:s,s:{s:I},s:o}", "op", "legacy_rebatch", "args", "num_replicas",
                         (json_int_t)golden_int(json, "num_replicas", 1), "input", plan);
    } else {
        golden_fail(c, "kernel %s is of an unknown kind", kernel);
    }
    golden_check_names(c, plan);
    leat_error err = {0};
    leat_dataset *dataset =
        c->failed || c->missing[0] != '\0' ? NULL : golden_plan_dataset(plan, &err);
    if (dataset != NULL && spec != NULL)
        golden_check_json(c, "spec", spec, golden_nested_spec(leat_dataset_spec(dataset)));
    if (dataset != NULL) {
        json_t *found = elements_of(dataset, json_array_size(elements) + 3, &err);
        if (elements != NULL)
            golden_check_json(c, "elements", elements, json_incref(found));
        json_decref(found);
    }
    if (error != NULL)
        golden_check_class(c, error, &err);
    else if (err.code != LEAT_OK)
        golden_fail(c, "%s: %s", leat_status_name(err.code), err.text);
    json_decref(plan);
}

/* ---- batch_sizes.json and the rest ---- */

static void batch_sizes_case(golden_case *c, const json_t *json, const char *folder) {
    (void)folder;
    int workers = (int)golden_int(json, "workers", 0);
    int replicas = (int)golden_int(json, "replicas_per_worker", 0);
    int64_t *sizes = calloc((size_t)(workers * replicas) + 1, sizeof *sizes);
    json_t *found = json_array();
    for (int w = 0; w < workers; w++) {
        json_t *list = json_array();
        leati_planner_batch_sizes(golden_int(json, "global_batch", 0), workers, replicas, w, sizes);
        for (int i = 0; i < workers * replicas; i++)
            json_array_append_new(list, json_integer((json_int_t)sizes[i]));
        json_array_append_new(found, list);
    }
    free(sizes);
    golden_check_json(c, "sizes", json_object_get(json, "sizes"), found);
}

static void reduce_case(golden_case *c, const json_t *json, const char *folder) {
    (void)folder;
    golden_reduce_case(c, json);
}

static void strategy_case(golden_case *c, const json_t *json, const char *folder) {
    (void)folder;
    golden_strategy_case(c, json);
}

/* What a dataset function made, and the context that it was told. */
struct made {
    leat_dataset *dataset;
    leat_input_context input;
};

static leat_dataset *hand_out(void *context, const leat_input_context *input, leat_error *err) {
    struct made *made = context;
    (void)err;
    made->input = *input;
    return leat_dataset_ref(made->dataset);
}

static void from_function_case(golden_case *c, const json_t *json, const char *folder) {
    json_t *plan = golden_plan_of(c, json_object_get(json, "pipeline"), folder);
    if (plan == NULL)
        return;
    leat_error err = {0};
    struct made made = {.dataset = golden_plan_dataset(plan, &err)};
    json_decref(plan);
    leat_strategy *strategy = golden_mirrored(c, (int)golden_int(json, "replicas", 1));
    leat_distributed_dataset *distributed = made.dataset == NULL
                                                ? NULL
                                                : leat_strategy_distribute_datasets_from_function(
                                                      strategy, hand_out, &made, NULL, NULL, &err);
    if (distributed == NULL) {
        golden_fail(c, "distributing: %s", err.text);
    } else {
        golden_check_json(c, "context", json_object_get(json, "context"),
                          json_pack("[i,i,i]", made.input.num_input_pipelines,
                                    made.input.input_pipeline_id, made.input.num_replicas_in_sync));
        check_steps(c, json, distributed);
    }
    leat_distributed_dataset_free(distributed);
    leat_dataset_unref(made.dataset);
    leat_strategy_unref(strategy);
}

static void tf_config_case(golden_case *c, const json_t *json, const char *folder) {
    (void)folder;
    golden_cluster_case(c, json);
}

static const struct file {
    const char *name;
    void (*run)(golden_case *c, const json_t *json, const char *folder);
} files[] = {
    {"autoshard.json", golden_autoshard_case},
    {"batch_sizes.json", batch_sizes_case},
    {"from_function.json", from_function_case},
    {"processes.json", golden_processes_case},
    {"rebatch.json", rebatch_case},
    {"rebatch_kernels.json", kernel_case},
    {"reduce.json", reduce_case},
    {"strategy.json", strategy_case},
    {"tf_config.json", tf_config_case},
};

static void run_file(golden_run *run, const void *line) {
    const struct file *file = line;
    char path[512], name[64];
    snprintf(path, sizeof path, "distribute/%s", file->name);
    json_t *cases = golden_read_cases(run, path);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        golden_case c;
        char folder[512];
        snprintf(name, sizeof name, "case_%zu", i);
        if (!golden_begin(&c, run, path, name))
            continue;
        if (golden_folder_make(folder, sizeof folder)) {
            json_t *recorded = json_pack("{s:O}", "expect", json_array_get(cases, i));
            json_t *own = golden_deviate(&c, recorded);
            file->run(&c, json_object_get(own, "expect"), folder);
            json_decref(own);
            json_decref(recorded);
            golden_folder_remove(folder);
        } else {
            golden_fail(&c, "cannot make a folder");
        }
        golden_end(&c);
    }
    json_decref(cases);
}

void golden_distribute(golden_run *run) {
    leat_error err = {0};
    if (leat_device_num_logical("CPU") < MOST_DEVICES &&
        leat_device_set_logical_cpus(MOST_DEVICES, &err) != LEAT_OK)
        golden_broken(run, "distribute: %s", err.text);
    leat_seed_clear();
    golden_generators_begin();
    golden_run_files(run, "distribute", files, sizeof files / sizeof files[0], sizeof files[0],
                     run_file);
    if (golden_generators_end() > 0)
        golden_broken(run, "distribute: a run of a generator was not closed");
}
