/* choice_separation: each use of a choose_from_datasets node beyond the first draws the seeds of
 * its choice for itself, as in TensorFlow (data/plan/choice.h). Behind expansion, because an
 * operator made of others may use its input more than once (rejection_resample), and before the
 * rules that make new nodes of those that the program made. */
#include "data/plan/choice.h"
#include "data/rewrites/rewrite.h"

struct uses {
    struct use {
        const leat_dataset *choose;
        int64_t count;
    } * items;
    size_t count, room;
};

/* The number of earlier uses of `choose`, which then has one more; -1 without memory. */
static int64_t count_use(struct uses *uses, const leat_dataset *choose, leat_error *err) {
    for (size_t i = 0; i < uses->count; i++)
        if (uses->items[i].choose == choose)
            return uses->items[i].count++;
    if (!leati_grow((void **)&uses->items, &uses->room, uses->count + 1, sizeof(*uses->items))) {
        leati_no_memory(err);
        return -1;
    }
    uses->items[uses->count++] = (struct use){.choose = choose, .count = 1};
    return 0;
}

static leat_dataset *separate(void *context, leat_dataset *node, leat_error *err) {
    if (node->op != &leati_op_choose_from_datasets)
        return NULL;
    /* Of the origin, because each use of a node has become a copy where rules changed what is
     * below. */
    int64_t use = count_use(context, node->origin, err);
    /* The first use stays as it is; below 0 the error tells that there is no memory. */
    if (use <= 0)
        return NULL;
    int last = node->num_inputs - 1;
    leat_dataset **inputs = leati_alloc((size_t)node->num_inputs, sizeof(*inputs));
    if (inputs == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < last; i++)
        inputs[i] = leat_dataset_ref(node->inputs[i]);
    /* A NULL passes through the constructor, which releases the others. */
    inputs[last] = leati_choice_of_use(node->origin, use, err);
    leat_dataset *own = leati_dataset_with(node, NULL, inputs, err);
    leati_free((void *)inputs);
    return own;
}

static leat_dataset *apply_to_plan(leat_dataset *plan, leat_error *err) {
    struct uses uses = {0};
    leat_dataset *separated = leati_rewrite_nodes(plan, separate, &uses, err);
    leati_free(uses.items);
    return separated;
}

const leati_rewrite_rule leati_rewrite_choice_separation = {
    .name = "choice_separation",
    .doc = "Each use of a choose_from_datasets node draws the seeds of its choice for itself.",
    .apply_to_plan = apply_to_plan,
};
