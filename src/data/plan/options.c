/* Looks a field up in a plan: the node itself, then its inputs, the last one first. */
#include "data/plan/options.h"
#include <string.h>

enum { MOST_DEPTH = 1000 };

bool leati_options_field_is_set(const leati_row *row, const void *field) {
    switch (row->type) {
    case LEATI_ROW_INT: return *(const int64_t *)field != LEATI_OPTION_NOT_SET;
    case LEATI_ROW_STRING: return *(char *const *)field != NULL;
    /* Bool or none: -1 is none. */
    default: return *(const int8_t *)field >= 0;
    }
}

/* The field of the node that counts, NULL where none sets it. */
static const void *find(const leat_dataset *node, const char *name, int depth) {
    if (node->op == &leati_op_with_options) {
        const leati_row *row = leati_rows_find(node->op->rows, name);
        const void *field = row == NULL ? NULL : (const char *)node->args + row->offset;
        if (field != NULL && leati_options_field_is_set(row, field))
            return field;
    }
    const void *found = NULL;
    /* TensorFlow merges the options of several inputs in their order, so the last one's win. */
    for (int i = node->num_inputs; found == NULL && i > 0 && depth < MOST_DEPTH; i--)
        found = find(node->inputs[i - 1], name, depth + 1);
    return found;
}

int leati_plan_option(const leat_dataset *plan, const char *name) {
    const int8_t *flag = find(plan, name, 0);
    return flag == NULL ? -1 : *flag != 0;
}

int64_t leati_plan_number(const leat_dataset *plan, const char *name) {
    const int64_t *number = find(plan, name, 0);
    return number == NULL ? LEATI_OPTION_NOT_SET : *number;
}

const char *leati_plan_text(const leat_dataset *plan, const char *name) {
    char *const *text = find(plan, name, 0);
    return text == NULL ? NULL : *text;
}

int leati_options_picture_quality(const char *name) {
    static const char *const names[] = {[LEATI_PICTURE_EXACT] = "exact",
                                        [LEATI_PICTURE_BALANCED] = "balanced",
                                        [LEATI_PICTURE_FAST] = "fast"};
    for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

leati_picture_quality leati_plan_quality(const leat_dataset *plan) {
    const char *name = leati_plan_text(plan, "picture_quality");
    return name == NULL ? LEATI_PICTURE_EXACT
                        : (leati_picture_quality)leati_options_picture_quality(name);
}
