/* Gradients of tables: slices that were gathered, of which those of one row are not added up yet.
 *
 * Keras on TensorFlow squares, clips and measures such slices one by one, so a row that a batch
 * names twice counts a^2 + b^2 where it has the gradient a + b. The gradient in a graph has the
 * slices still: it is what gather_grad makes of them, or a sum of such, one for each gather of the
 * variable. Anything else is a plain gradient, as in TensorFlow. Failures are the graph's. No
 * state, no locks. */
#include "train/frame/slices.h"
#include "graph/support/array/gather.h"
#include "train/frame/loss.h"
#include <leat/train.h>

/* The node that made a value; NULL: none did. */
static const leati_node *node_of(leat_value value) {
    const leati_body *body = &value.graph->body;
    int32_t node = body->values[value.id].node;
    return node < 0 ? NULL : &body->nodes[node];
}

static leat_value input_of(leat_value value, int index) {
    return (leat_value){.graph = value.graph, .id = node_of(value)->inputs[index]};
}

static bool is_made_by(leat_value value, const leati_tensor_op *op) {
    return node_of(value) != NULL && node_of(value)->op == op;
}

/* Does gather_grad add rows up that were gathered along the first dimension? */
static bool adds_rows(leat_value value) {
    if (!is_made_by(value, &leati_tensor_op_gather_grad))
        return false;
    const struct leati_gather_args *args = node_of(value)->args;
    return args->batch_dims == 0 && (args->axis == 0 || args->axis == INT64_MIN);
}

/* A sum is followed to the left, where it is as long as there are gathers; to the right so often.
 */
#define MAX_RIGHT 8

static bool are_in(leat_value gradient, int right) {
    /* A further gather is added behind the ones before. */
    for (; is_made_by(gradient, &leati_tensor_op_add); gradient = input_of(gradient, 0))
        if (right == 0 || !are_in(input_of(gradient, 1), right - 1))
            return false;
    return adds_rows(gradient);
}

bool leati_slices_are_in(leat_value gradient) {
    return !leati_support_value_failed(gradient) && are_in(gradient, MAX_RIGHT);
}

/* The rows of `each` slice of one gather, added up. */
static leat_value rows_of(leat_value gathered, leati_slices_map each, const void *data) {
    struct leati_gather_args args = *(const struct leati_gather_args *)node_of(gathered)->args;
    leat_value table = input_of(gathered, 1), places = input_of(gathered, 2);
    leat_value slices = each(data, input_of(gathered, 0));
    return leati_graph_build3(&leati_tensor_op_gather_grad, &args, slices, table, places);
}

leat_value leati_slices_sum(leat_value gradient, leati_slices_map each, const void *data) {
    leat_value total = leati_loss_failed_value(gradient);
    for (bool is_last = false; !is_last;) {
        is_last = !is_made_by(gradient, &leati_tensor_op_add);
        leat_value rows = is_last ? rows_of(gradient, each, data)
                                  : leati_slices_sum(input_of(gradient, 1), each, data);
        total = total.id < 0 ? rows : leat_op_add(rows, total);
        if (!is_last)
            gradient = input_of(gradient, 0);
    }
    return total;
}

leat_value leati_slices_square(const void *data, leat_value slices) {
    (void)data;
    return leat_op_square(slices);
}

leat_value leati_slices_magnitude(const void *data, leat_value slices) {
    (void)data;
    return leat_op_abs(slices);
}

leat_value leati_slices_clip(const void *data, leat_value slices) {
    double limit = *(const double *)data;
    return leat_op_maximum(leat_op_minimum(slices, leati_loss_number_like(slices, limit)),
                           leati_loss_number_like(slices, -limit));
}

leat_value leati_slices_scale(const void *data, leat_value slices) {
    const leat_value *quotient = data;
    return leat_op_divide(leat_op_multiply(slices, quotient[0]), quotient[1]);
}

/* Gather number *index of those below a gradient; the index falls by those that were passed. */
static leat_value find_gather(leat_value gradient, int *index) {
    while (is_made_by(gradient, &leati_tensor_op_add)) {
        leat_value found = find_gather(input_of(gradient, 1), index);
        if (found.id >= 0)
            return found;
        gradient = input_of(gradient, 0);
    }
    return (*index)-- == 0 ? gradient : leati_loss_failed_value(gradient);
}

bool leat_value_slices(leat_value gradient, int index, leat_value *slices, leat_value *rows) {
    if (gradient.graph == NULL || index < 0 || !leati_slices_are_in(gradient))
        return false;
    leat_value found = find_gather(gradient, &index);
    if (found.id < 0)
        return false;
    *slices = input_of(found, 0);
    *rows = input_of(found, 2);
    return true;
}
