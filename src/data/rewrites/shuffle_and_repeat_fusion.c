/* shuffle_and_repeat_fusion: repeat directly over shuffle becomes one operator, which reads the
 * next epochs into the places of the buffer that are free. The order stays the same; errors of the
 * next epoch come when its elements are read, as in TensorFlow. Not applied where the buffer holds
 * the whole input (a buffer without bounds would grow with the epochs), nor to a count of 0. */
#include "data/rewrites/rewrite.h"

static int64_t argument(const leat_dataset *node, const char *name) {
    const leati_row *row = leati_rows_find(node->op->rows, name);
    return *(const int64_t *)((const char *)node->args + row->offset);
}

static leat_dataset *apply(leat_dataset *node, leat_error *err) {
    /* A shuffle that has epochs of its own is fused already. */
    if (node->op != &leati_op_repeat || leati_dataset_shuffle_epochs(node->inputs[0]) != 1 ||
        argument(node->inputs[0], "buffer_size") < 0 || argument(node, "count") == 0)
        return NULL;
    int64_t count = argument(node, "count");
    return leati_dataset_shuffle_repeated(node->inputs[0], count < 0 ? -1 : count, err);
}

const leati_rewrite_rule leati_rewrite_shuffle_and_repeat_fusion = {
    .name = "shuffle_and_repeat_fusion",
    .doc = "repeat over shuffle reads the next epochs into the free places of the buffer; the "
           "order stays the same.",
    .apply = apply,
};
