/* The tables as lists of entries.
 *
 * Each table has one small function that turns line i into an entry; what is printed and what is
 * written as JSON is the same for all. Failures: memory, while JSON is made. No locks: the tool
 * asks from one thread. */
#include "cli/tables.h"

#include "core/json.h"
#include "data/plan/listing.h"
#include "data/plan/op.h"
#include "dist/strategy.h"
#include "graph/graph.h"
#include "graph/listing.h"
#include "train/frame/kind.h"
#include <stdio.h>
#include <string.h>

static void write_inputs(leati_entry *entry, int least, int most) {
    if (most < 0)
        (void)snprintf(entry->inputs, sizeof entry->inputs, "%d or more", least);
    else if (least == most)
        (void)snprintf(entry->inputs, sizeof entry->inputs, "%d", least);
    else
        (void)snprintf(entry->inputs, sizeof entry->inputs, "%d to %d", least, most);
}

static leati_entry dataset_operator(size_t index) {
    size_t count;
    const leati_dataset_op *op = leati_plan_ops(&count)[index];
    leati_entry entry = {.name = op->name, .doc = op->doc, .rows = op->rows};
    /* A negative number is "one or more". */
    write_inputs(&entry, op->num_inputs < 0 ? 1 : op->num_inputs, op->num_inputs);
    return entry;
}

static leati_entry tensor_operation(size_t index) {
    size_t count;
    const leati_tensor_op *op = leati_graph_ops(&count)[index];
    leati_entry entry = {.name = op->name, .doc = op->doc, .rows = op->rows};
    write_inputs(&entry, op->min_inputs, op->max_inputs);
    return entry;
}

static leati_entry strategy(size_t index) {
    size_t count;
    const leati_strategy_kind *kind = leati_strategy_kinds(&count)[index];
    return (leati_entry){.name = kind->name, .doc = kind->doc};
}

static leati_entry of_kind(const leati_kind *kind) {
    return (leati_entry){.name = kind->name, .doc = kind->doc, .rows = kind->rows};
}

/* An entry function for a table of train/. */
#define KIND(NAME)                                                                                 \
    static leati_entry NAME(size_t index) {                                                        \
        size_t count;                                                                              \
        return of_kind(leati_kinds_##NAME(&count)[index]);                                         \
    }
KIND(layer)
KIND(loss)
KIND(optimizer)
KIND(metric)
KIND(initializer)
KIND(schedule)

const leati_table *leati_tables(size_t *count) {
    /* Static but not constant: the numbers of lines are filled in at each call, always the same
     * ones. */
    static leati_table tables[] = {
        {"dataset_operators", "Dataset operators", "dataset operator", 0, dataset_operator,
         leati_plan_ops_describe},
        {"tensor_operations", "Tensor operations", "tensor operation", 0, tensor_operation,
         leati_listing_describe_ops},
        {"layers", "Layers", "layer", 0, layer, NULL},
        {"losses", "Losses", "loss", 0, loss, NULL},
        {"optimizers", "Optimizers", "optimizer", 0, optimizer, NULL},
        {"metrics", "Metrics", "metric", 0, metric, NULL},
        {"initializers", "Initialisers", "initialiser", 0, initializer, NULL},
        {"schedules", "Schedules", "schedule", 0, schedule, NULL},
        {"strategies", "Strategies", "strategy", 0, strategy, NULL},
    };
    (void)leati_plan_ops(&tables[0].count);
    (void)leati_graph_ops(&tables[1].count);
    (void)leati_kinds_layer(&tables[2].count);
    (void)leati_kinds_loss(&tables[3].count);
    (void)leati_kinds_optimizer(&tables[4].count);
    (void)leati_kinds_metric(&tables[5].count);
    (void)leati_kinds_initializer(&tables[6].count);
    (void)leati_kinds_schedule(&tables[7].count);
    (void)leati_strategy_kinds(&tables[8].count);
    *count = sizeof tables / sizeof tables[0];
    return tables;
}

const char *leati_table_row_default_text(const leati_row *row, char *text, size_t size) {
    text[0] = 0;
    if (!leati_json_row_has_default(row))
        return text;
    if (leati_json_row_is_none(row))
        (void)snprintf(text, size, ", default none");
    else if (row->type == LEATI_ROW_STRING)
        (void)snprintf(text, size, ", default \"%s\"", row->default_text);
    else if (row->type == LEATI_ROW_BOOL || row->type == LEATI_ROW_BOOL_OR_NONE)
        (void)snprintf(text, size, ", default %s", row->default_number != 0 ? "true" : "false");
    else if (row->type == LEATI_ROW_DTYPE)
        (void)snprintf(text, size, ", default %s",
                       leat_dtype_name((leat_dtype)(int)row->default_number));
    else if ((row->flags & LEATI_AUTOTUNE) && row->default_number == -1)
        (void)snprintf(text, size, ", default AUTOTUNE");
    else
        (void)snprintf(text, size, ", default %.17g", row->default_number);
    return text;
}

static json_t *json_entry(const leati_entry *entry) {
    json_t *object = json_object();
    bool good = object != NULL && leati_json_put(object, "name", json_string(entry->name)) &&
                leati_json_put(object, "doc", json_string(entry->doc != NULL ? entry->doc : ""));
    if (good && entry->inputs[0])
        good = leati_json_put(object, "inputs", json_string(entry->inputs));
    if (good && leati_json_put(object, "arguments", leati_json_describe_rows(entry->rows)))
        return object;
    json_decref(object);
    return NULL;
}

json_t *leati_tables_json(void) {
    size_t count;
    const leati_table *tables = leati_tables(&count);
    json_t *root = json_object();
    bool good = root != NULL && leati_json_put(root, "version", json_string(leat_version()));
    for (size_t t = 0; good && t < count; t++) {
        if (tables[t].describe != NULL) {
            good = leati_json_put(root, tables[t].key, tables[t].describe());
            continue;
        }
        json_t *list = json_array();
        /* Given to `root`, which keeps it while lines are added. */
        good = leati_json_put(root, tables[t].key, list);
        for (size_t i = 0; good && i < tables[t].count; i++) {
            leati_entry entry = tables[t].entry(i);
            good = json_array_append_new(list, json_entry(&entry)) == 0;
        }
    }
    if (good)
        return root;
    json_decref(root);
    return NULL;
}
