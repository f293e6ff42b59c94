/* reduce.json and strategy.json: values per replica, steps, variables. */
#include "distribute.h"
#include <stdlib.h>
#include <string.h>

/* ---- reduce ---- */

/* Per-replica elements of one tensor each. False after golden_fail. */
static bool read_replicas(golden_case *c, const json_t *list, leat_dtype dtype,
                          leat_per_replica *out) {
    leat_error err = {0};
    out->num_replicas = (int)json_array_size(list);
    out->elements = leati_alloc_zero(json_array_size(list) + 1, sizeof *out->elements);
    for (int r = 0; r < out->num_replicas; r++) {
        leat_tensor tensor = {0};
        leat_status status =
            golden_nested_tensor(json_array_get(list, (size_t)r), dtype, &tensor, &err);
        leat_spec *spec =
            status != LEAT_OK ? NULL : leat_spec_tensor(dtype, leat_tensor_shape(&tensor), &err);
        if (spec == NULL || leat_element_set(&out->elements[r], spec, &tensor, &err) != LEAT_OK)
            golden_fail(c, "replica %d: %s", r, err.text);
        leat_spec_unref(spec);
        leat_tensor_unref(&tensor);
    }
    return !c->failed;
}

static void check_reduced(golden_case *c, const json_t *json, const leat_element *found) {
    const char *dtype = golden_text(json, "result_dtype");
    if (strcmp(dtype, leat_dtype_name(found->tensors[0].dtype)) != 0)
        golden_fail(c, "dtype: expected %s, found %s", dtype,
                    leat_dtype_name(found->tensors[0].dtype));
    json_t *a = json_pack("{s:s,s:O}", "dtype", dtype, "data", json_object_get(json, "result"));
    json_t *b = json_pack("{s:s,s:o}", "dtype", dtype, "data", golden_nested(found));
    if (!golden_json_equal(a, b)) {
        char texts[2][600];
        golden_json_text(a, texts[0], sizeof texts[0]);
        golden_json_text(b, texts[1], sizeof texts[1]);
        golden_fail(c, "expected %s, found %s", texts[0], texts[1]);
    }
    json_decref(a);
    json_decref(b);
}

void golden_reduce_case(golden_case *c, const json_t *json) {
    const json_t *replicas = json_object_get(json, "replicas");
    const json_t *axis = json_object_get(json, "axis"), *error = json_object_get(json, "error");
    leat_dtype dtype = leat_dtype_from_name(golden_text(json, "dtype"));
    bool mean = strcmp(golden_text(json, "op"), "MEAN") == 0;
    if (json_object_get(json, "value") != NULL) {
        golden_missing(c, "reduce of a value that is not per replica");
        return;
    }
    if (replicas == NULL || dtype == LEAT_INVALID ||
        (!mean && strcmp(golden_text(json, "op"), "SUM") != 0)) {
        golden_fail(c, "an unknown kind of case");
        return;
    }
    leat_per_replica value = {0};
    leat_element found = {0};
    leat_error err = {0};
    leat_strategy *strategy = golden_mirrored(c, (int)json_array_size(replicas));
    if (strategy != NULL && read_replicas(c, replicas, dtype, &value)) {
        leat_status status = leat_strategy_reduce(
            strategy, mean ? LEAT_REDUCE_MEAN : LEAT_REDUCE_SUM, &value,
            json_is_integer(axis) ? (int)json_integer_value(axis) : LEAT_NO_AXIS, &found, &err);
        if (error != NULL)
            golden_check_class(c, error, &err);
        else if (status != LEAT_OK)
            golden_fail(c, "%s: %s", leat_status_name(status), err.text);
        else
            check_reduced(c, json, &found);
    }
    leat_element_fini(&found);
    leat_per_replica_fini(&value);
    leat_strategy_unref(strategy);
}

/* ---- steps ---- */

/* What a step computes: replica id * scale + offset, reduced over replicas, or added to a
 * variable. */
struct question {
    leat_dtype dtype;
    int64_t scale, offset;
    leat_aggregation reduce;
    leat_variable *variable; /* NULL: none */
    bool read_only;          /* the variable is read, not changed */
};

static leat_value scalar(leat_graph *graph, leat_dtype dtype, int64_t number) {
    leat_tensor tensor = leat_scalar_int64(number);
    leat_value value = leat_op_cast(leat_graph_tensor(graph, &tensor), dtype);
    leat_tensor_unref(&tensor);
    return value;
}

static int trace(void *context, leat_graph *graph, leat_value *out, int capacity) {
    const struct question *q = context;
    leat_value id = leat_op_cast(leat_op_replica_id(graph), q->dtype);
    leat_value value = leat_op_add(leat_op_multiply(id, scalar(graph, q->dtype, q->scale)),
                                   scalar(graph, q->dtype, q->offset));
    out[0] = value;
    if (q->reduce != LEAT_AGGREGATION_NONE)
        leat_op_all_reduce(&value, 1, q->reduce, out);
    if (q->variable != NULL && !q->read_only)
        leat_graph_assign_add(graph, q->variable, value);
    if (q->variable != NULL)
        out[0] = leat_graph_read(graph, q->variable);
    return 1;
}

/* The results of one step as a list by replica. Owned; NULL after golden_fail. */
static json_t *answers(golden_case *c, leat_strategy *strategy, struct question *question) {
    leat_error err = {0};
    leat_per_replica args = {0}, out = {0};
    json_t *zeros = json_array(), *found = NULL;
    for (int r = 0; r < leat_strategy_num_replicas(strategy); r++)
        json_array_append_new(zeros, json_integer(0));
    leat_step *step = leat_step_new(trace, question, &err);
    if (step != NULL && read_replicas(c, zeros, LEAT_FLOAT32, &args)) {
        leat_status status = leat_strategy_run(strategy, step, &args, &out, &err);
        if (status == LEAT_OK) {
            found = json_array();
            for (int r = 0; r < out.num_replicas; r++)
                json_array_append_new(found, golden_nested(&out.elements[r]));
        } else {
            golden_fail(c, "run: %s: %s", leat_status_name(status), err.text);
        }
    }
    leat_per_replica_fini(&args);
    leat_per_replica_fini(&out);
    leat_step_free(step);
    json_decref(zeros);
    return found;
}

static void check_answers(golden_case *c, const json_t *expected, json_t *found) {
    if (found != NULL && !golden_json_equal(expected, found)) {
        char texts[2][600];
        golden_json_text(expected, texts[0], sizeof texts[0]);
        golden_json_text(found, texts[1], sizeof texts[1]);
        golden_fail(c, "expected %s, found %s", texts[0], texts[1]);
    }
    json_decref(found);
}

/* "R=2 all_reduce SUM of id+1" and its like. False if the question is another one. */
static bool step_question(golden_case *c, const json_t *json, const char *what) {
    static const struct {
        const char *what;
        struct question question;
    } questions[] = {
        {"run returns the replica id", {.dtype = LEAT_INT32, .scale = 1}},
        {"run returns id*2 as float tensor", {.dtype = LEAT_FLOAT32, .scale = 2}},
        {"all_reduce SUM of id+1", {LEAT_FLOAT32, 1, 1, LEAT_AGGREGATION_SUM, NULL, false}},
        {"all_reduce MEAN of id+1", {LEAT_FLOAT32, 1, 1, LEAT_AGGREGATION_MEAN, NULL, false}},
    };
    int replicas = 0, length = 0;
    if (sscanf(what, "R=%d %n", &replicas, &length) != 1 || length == 0)
        return false;
    if (strcmp(what + length, "num_replicas_in_sync") == 0) {
        leat_strategy *strategy = golden_mirrored(c, replicas);
        check_answers(c, json_object_get(json, "result"),
                      json_integer(leat_strategy_num_replicas(strategy)));
        leat_strategy_unref(strategy);
        return true;
    }
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (strcmp(what + length, questions[i].what) != 0)
            continue;
        struct question question = questions[i].question;
        leat_strategy *strategy = golden_mirrored(c, replicas);
        json_t *found = strategy == NULL ? NULL : answers(c, strategy, &question);
        const json_t *expected = json_object_get(json, "result");
        json_t *sums = json_array();
        /* Recorded on a group of another size, TensorFlow refused: the answer follows from the
         * question. */
        double total = replicas * (replicas + 1) / 2.0;
        for (int r = 0; r < replicas; r++)
            json_array_append_new(
                sums,
                json_real(question.reduce == LEAT_AGGREGATION_MEAN ? total / replicas : total));
        check_answers(c, expected != NULL ? expected : sums, found);
        json_decref(sums);
        leat_strategy_unref(strategy);
        return true;
    }
    return false;
}

/* ---- variables ---- */

static leat_aggregation aggregation_of(const char *name) {
    static const char *const names[] = {"NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return (leat_aggregation)i;
    return LEAT_AGGREGATION_NONE;
}

static leat_variable *make_variable(leat_strategy *strategy, const char *synchronization,
                                    const char *aggregation, leat_error *err) {
    leat_variable_options options = {LEAT_VARIABLE_DEFAULTS, .name = "v",
                                     .sync_on_read = strcmp(synchronization, "ON_READ") == 0,
                                     .aggregation = aggregation_of(aggregation)};
    leat_tensor initial = leat_scalar_float32(1);
    leat_variable *variable = NULL;
    if (leat_strategy_enter(strategy, err) == LEAT_OK) {
        variable = leat_variable_new(&initial, &options, err);
        leat_strategy_exit(strategy);
    }
    leat_tensor_unref(&initial);
    return variable;
}

static void ask_variable(golden_case *c, const json_t *expected, leat_strategy *strategy,
                         leat_variable *variable, bool in_replica) {
    leat_error err = {0};
    leat_tensor value = leat_scalar_float32(6);
    leat_status status = in_replica ? LEAT_OK : leat_variable_assign(variable, &value, &err);
    leat_tensor_unref(&value);
    struct question question = {LEAT_FLOAT32, 10, 1, LEAT_AGGREGATION_NONE, variable, !in_replica};
    json_t *local = status == LEAT_OK ? answers(c, strategy, &question) : NULL;
    if (json_is_array(expected)) {
        check_answers(c, expected, local);
        return;
    }
    if (status == LEAT_OK)
        status = leat_variable_read(variable, &value, &err);
    if (status == LEAT_OK)
        check_answers(c, expected,
                      json_pack("{s:O,s:f}", "local", local, "read", golden_number(&value, 0)));
    else
        golden_fail(c, "%s: %s", leat_status_name(status), err.text);
    leat_tensor_unref(&value);
    json_decref(local);
}

/* "variable 1.0, ON_READ, SUM: assign(6) cross-replica" and its like, on two replicas. */
static bool variable_question(golden_case *c, const json_t *json, const char *what) {
    char synchronization[20], aggregation[30], action[60];
    if (sscanf(what, "variable 1.0, %19[^,], %29[^:]: %59[^\n]", synchronization, aggregation,
               action) != 3)
        return false;
    bool in_replica = strcmp(action, "assign_add(10*id+1) in replica") == 0;
    if (!in_replica && strcmp(action, "assign(6) cross-replica") != 0) {
        golden_missing(c, "Variable.assign_add in cross-replica context");
        return true;
    }
    leat_error err = {0};
    leat_strategy *strategy = golden_mirrored(c, 2);
    leat_variable *variable =
        strategy == NULL ? NULL : make_variable(strategy, synchronization, aggregation, &err);
    if (variable != NULL)
        ask_variable(c, json_object_get(json, "result"), strategy, variable, in_replica);
    else
        golden_fail(c, "a variable: %s", err.text);
    leat_variable_unref(variable);
    leat_strategy_unref(strategy);
    return true;
}

/* ---- what the library has no name for ---- */

/* The first text that occurs in a question names what is missing. */
static const char *missing_name(const char *what) {
    static const char *const pairs[][2] = {
        {"MEAN of int32", "all_reduce of integers"},
        {"a tuple and a dict", "strings as results of a step"},
        {"type of a run result", "results that are no tensors"},
        {"returns None", "results that are no tensors"},
        {"returns python int", "results that are no tensors"},
        {"returns one string", "strings as results of a step"},
        {"different structures", "results that are no tensors"},
        {"merge_call", "merge_call"},
        {"experimental_local_results", "experimental_local_results"},
        {"gather", "gather"},
        {"values_from_function", "experimental_distribute_values_from_function"},
        {"InputContext", "InputContext"},
        {"in_cross_replica_context", "in_cross_replica_context"},
        {"has_strategy", "has_strategy"},
        {"scope", "Strategy.scope as an object"},
        {"run inside run", "get_replica_context"},
        {"reduce inside run", "get_replica_context"},
        {"reduce with", "Python's arguments of reduce"},
        {"reduce MEAN", "Python's arguments of reduce"},
        {"not callable", "Python's arguments of run"},
        {"an exception in the function", "Python's exceptions"},
        {"not a dataset", "Python's arguments of experimental_distribute_dataset"},
        {"returns no dataset", "Python's arguments of distribute_datasets_from_function"},
        {"empty device list", "Python's lists of devices"},
        {"same device twice", "Python's lists of devices"},
        {"device that does not exist", "Python's lists of devices"},
        {"OneDeviceStrategy", "strategy one_device"},
        {"logical devices after start", "set_logical_device_configuration"},
        {"CommunicationOptions", "CommunicationOptions"},
        {"NcclAllReduce", "NcclAllReduce"},
        {"exhausted iterator", "Python's iterator protocol"},
        {"compute_average_loss", "compute_average_loss by itself"},
        {"scale_regularization_loss", "scale_regularization_loss"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strstr(what, pairs[i][0]) != NULL)
            return pairs[i][1];
    return NULL;
}

void golden_strategy_case(golden_case *c, const json_t *json) {
    const char *what = golden_text(json, "what");
    snprintf(c->name, sizeof c->name, "\"%s\"", what);
    if (step_question(c, json, what) || variable_question(c, json, what) ||
        golden_input_question(c, json, what))
        return;
    if (missing_name(what) != NULL)
        golden_missing(c, "%s", missing_name(what));
    else
        golden_fail(c, "an unknown kind of question");
}
