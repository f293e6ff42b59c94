/* Applies the rewrites of data/rewrites.def to a plan, bottom up, one rule after the other. A node
 * that is used twice is rewritten once per use; its shared state stays the origin's, so that caches
 * and seed generators are still shared. */
#include "data/rewrites/rewrite.h"
#include "base/log.h"
#include <stdio.h>
#include <string.h>

#define X(name) extern const leati_rewrite_rule leati_rewrite_##name;
#include "data/rewrites.def"
#undef X

static const leati_rewrite_rule *const rules[] = {
#define X(name) &leati_rewrite_##name,
#include "data/rewrites.def"
#undef X
    NULL,
};

enum { MOST_DEPTH = 1000 };

/* The node over rewritten inputs. Owned. */
static leat_dataset *over_rewritten(leat_dataset *dataset, leati_node_rewrite rewrite,
                                    void *context, int depth, leat_error *err);

static leat_dataset *rewrite_below(leat_dataset *dataset, leati_node_rewrite rewrite, void *context,
                                   int depth, leat_error *err) {
    if (depth > MOST_DEPTH) {
        leati_refuse(err, VALUE, "a plan deeper than %d operators", MOST_DEPTH);
        return NULL;
    }
    leat_dataset *node = over_rewritten(dataset, rewrite, context, depth, err);
    if (node == NULL)
        return NULL;
    leat_error local = {0};
    leat_dataset *replacement = rewrite(context, node, &local);
    /* NULL without an error: the rule does not apply here. */
    if (replacement == NULL && local.code == LEAT_OK)
        return node;
    leat_dataset_unref(node);
    if (replacement == NULL)
        *err = local;
    return replacement;
}

static leat_dataset *over_rewritten(leat_dataset *dataset, leati_node_rewrite rewrite,
                                    void *context, int depth, leat_error *err) {
    leat_dataset **inputs = leati_alloc_zero((size_t)dataset->num_inputs, sizeof(*inputs));
    if (inputs == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    bool changed = false;
    leat_dataset *node = NULL;
    int done = 0;
    for (; done < dataset->num_inputs; done++) {
        inputs[done] = rewrite_below(dataset->inputs[done], rewrite, context, depth + 1, err);
        if (inputs[done] == NULL)
            break;
        changed = changed || inputs[done] != dataset->inputs[done];
    }
    /* What no rule touched stays the same node: copies are made of the path above a change
     * alone. */
    if (done == dataset->num_inputs && changed) {
        node = leati_dataset_with(dataset, NULL, inputs, err);
        done = 0; /* given */
    } else if (done == dataset->num_inputs) {
        node = leat_dataset_ref(dataset);
    }
    for (int i = 0; i < done; i++)
        leat_dataset_unref(inputs[i]);
    leati_free(inputs);
    return node;
}

leat_dataset *leati_rewrite_nodes(leat_dataset *plan, leati_node_rewrite rewrite, void *context,
                                  leat_error *err) {
    return rewrite_below(plan, rewrite, context, 0, err);
}

/* One rule that is applied to the nodes of a plan. */
struct application {
    const leati_rewrite_rule *rule;
    bool tell; /* what becomes of them */
};

static const char *input_name(const leat_dataset *dataset) {
    return dataset->num_inputs > 0 ? dataset->inputs[0]->op->name : "nothing";
}

static leat_dataset *apply_rule(void *context, leat_dataset *node, leat_error *err) {
    const struct application *a = context;
    leat_dataset *made = a->rule->apply(node, err);
    if (made != NULL && a->tell) {
        LEATI_TELL(DATA, INFO, "rewrite %s: %s over %s becomes %s over %s", a->rule->name,
                   node->op->name, input_name(node), made->op->name, input_name(made));
    }
    return made;
}

static const void *argument_of(const leat_dataset *node, const char *name, leati_row_type *type) {
    const leati_row *row = leati_rows_find(node->op->rows, name);
    *type = row == NULL ? LEATI_ROW_END : row->type;
    return row == NULL ? NULL : (const char *)node->args + row->offset;
}

int64_t leati_rewrite_argument_int(const leat_dataset *node, const char *name) {
    leati_row_type type = LEATI_ROW_END;
    const void *value = argument_of(node, name, &type);
    switch (type) {
    case LEATI_ROW_INT: return *(const int64_t *)value;
    case LEATI_ROW_BOOL: return *(const bool *)value;
    case LEATI_ROW_BOOL_OR_NONE: return *(const int8_t *)value;
    default: return INT64_MIN;
    }
}

leat_function *leati_rewrite_argument_function(const leat_dataset *node, const char *name) {
    leati_row_type type = LEATI_ROW_END;
    const void *value = argument_of(node, name, &type);
    return type == LEATI_ROW_FUNCTION ? *(leat_function *const *)value : NULL;
}

leat_dataset *leati_rewrite_with_function(const leat_dataset *node, const char *name,
                                          leat_function *function, leat_dataset *const *inputs,
                                          leat_error *err) {
    const leati_row *row = leati_rows_find(node->op->rows, name);
    char *args = leati_alloc(1, node->op->args_size);
    leat_dataset *copy = NULL;
    if (args == NULL) {
        leati_no_memory(err);
    } else {
        /* The constructor makes the deep copy. */
        memcpy(args, node->args, node->op->args_size);
        memcpy(args + row->offset, &function, sizeof(leat_object *));
        copy = leati_dataset_new(node->op, args, inputs, node->num_inputs, err);
    }
    /* Given in any case; the constructor has released them where it was called. */
    for (int i = 0; args == NULL && i < node->num_inputs; i++)
        leat_dataset_unref(inputs[i]);
    leati_free(args);
    return copy;
}

leat_dataset *leati_rewrite_with_argument(const leat_dataset *node, const char *name, int64_t value,
                                          leat_dataset *input, leat_error *err) {
    const leati_row *row = leati_rows_find(node->op->rows, name);
    char *args = leati_alloc_zero(1, node->op->args_size);
    leat_dataset *copy = NULL;
    if (args == NULL || leati_rows_copy(node->op->rows, node->args, args, err) != LEAT_OK) {
        if (args == NULL)
            leati_no_memory(err);
        leat_dataset_unref(input);
    } else {
        if (row->type == LEATI_ROW_INT)
            memcpy(args + row->offset, &value, sizeof(value));
        else
            args[row->offset] = (char)value; /* bool or bool-or-none: one byte */
        copy = leati_dataset_with(node, args, &input, err);
        leati_rows_fini(node->op->rows, args);
    }
    leati_free(args);
    return copy;
}

bool leati_rewrite_by_option(const leat_dataset *plan, const char *name) {
    char option[128];
    snprintf(option, sizeof(option), "experimental_optimization.%s", name);
    int own = leati_plan_option(plan, option);
    /* A rule's own option counts before the one for all; with neither set it is on. */
    return own >= 0
               ? own != 0
               : leati_plan_option(plan, "experimental_optimization.apply_default_optimizations") !=
                     0;
}

bool leati_rewrite_with_autotune(const leat_dataset *plan, const char *name) {
    return leati_plan_option(plan, "autotune.enabled") != 0 && leati_rewrite_by_option(plan, name);
}

static bool is_enabled(const leati_rewrite_rule *rule, const leat_dataset *plan) {
    return rule->enabled != NULL ? rule->enabled(plan) : leati_rewrite_by_option(plan, rule->name);
}

leat_dataset *leati_rewrite(leat_dataset *dataset, bool tell, leat_error *err) {
    leat_dataset *current = leat_dataset_ref(dataset);
    for (size_t i = 0; rules[i] != NULL && current != NULL; i++) {
        /* The options are those of the plan as it was built, whatever rules before made of it. */
        if (!is_enabled(rules[i], dataset))
            continue;
        struct application a = {.rule = rules[i], .tell = tell};
        bool whole = rules[i]->apply_to_plan != NULL;
        leat_dataset *next = whole ? rules[i]->apply_to_plan(current, err)
                                   : leati_rewrite_nodes(current, apply_rule, &a, err);
        if (whole && tell && next != NULL && next != current) {
            LEATI_TELL(DATA, INFO, "rewrite %s changes the plan, which ends in %s", rules[i]->name,
                       next->op->name);
        }
        leat_dataset_unref(current);
        current = next;
    }
    return current;
}
