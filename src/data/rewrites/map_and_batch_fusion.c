/* map_and_batch_fusion: a batch directly over a map fails and goes on as TensorFlow's fused
 * operator does: an element that fails costs exactly its batch, and the batches keep the input's
 * order whatever the map was told. The computation needs no fusing here: the map writes into the
 * batch's rows anyway. Not applied to a batch with num_parallel_calls, as in TensorFlow. */
#include "data/rewrite.h"
#include <string.h>

/* The field behind an argument's row. */
static void *field(const leat_dataset *dataset, void *args, const char *name) {
    const leati_row *row = leati_rows_find(dataset->op->rows, name);
    return row == NULL ? NULL : (char *)args + row->offset;
}

/* A copy of the dataset in which a flag argument has another value. Owned. */
static leat_dataset *with_flag(leat_dataset *dataset, const char *name, int8_t value,
                               leat_dataset *input, leat_error *err) {
    void *args = leati_alloc_zero(1, dataset->op->args_size);
    leat_dataset *copy = NULL;
    if (args == NULL || leati_rows_copy(dataset->op->rows, dataset->args, args, err) != LEAT_OK) {
        if (args == NULL) {
            leati_no_memory(err, dataset->op->args_size);
        }
        leat_dataset_unref(input);
    } else {
        memcpy(field(dataset, args, name), &value, 1); /* bool or bool-or-none: one byte */
        copy = leati_dataset_with(dataset, args, &input, err);
        leati_rows_fini(dataset->op->rows, args);
    }
    leati_free(args);
    return copy;
}

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    if (strcmp(node->op->name, "batch") != 0 || strcmp(node->inputs[0]->op->name, "map") != 0 ||
        *(int64_t *)field(node, node->args, "num_parallel_calls") != 0 ||
        *(bool *)field(node, node->args, "fused")) {
        return NULL;
    }
    leat_dataset *map = node->inputs[0];
    if (*(int8_t *)field(map, map->args, "deterministic") == 0) {
        map = with_flag(map, "deterministic", 1, leat_dataset_ref(map->inputs[0]), err);
        if (map == NULL) {
            return NULL;
        }
    } else {
        map = leat_dataset_ref(map);
    }
    return with_flag(node, "fused", 1, map, err);
}

const leati_rewrite_rule leati_rewrite_map_and_batch_fusion = {
    .name = "map_and_batch_fusion",
    .doc = "An element that fails below a batch over a map costs exactly its batch, as in "
           "TensorFlow's fused operator.",
    .apply = apply,
};
