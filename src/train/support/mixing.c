/* What the layers share that mix pictures and labels (train/support/mixing.h).
 *
 * Happy path: the operation of graph/support/picture/mix mixes both; the output that is not asked
 * for is made of as little as the draws depend on. One picture is a batch of one. No gradient flows
 * through. Failures are the operation's: labels of another number than pictures. No locks. */
#include "train/support/mixing.h"
#include "graph/support/support.h"

/* The pictures without what weights and order do not depend on: one channel. */
static leat_value first_channel(leat_value x) {
    return leat_op_slice(x, (const int64_t[]){0, 0, 0, 0}, 4, (const int64_t[]){-1, -1, -1, 1}, 4);
}

static leat_value one_row(leat_value labels) {
    return leat_value_shape(labels).rank == 0 ? leat_op_reshape(labels, (const int64_t[]){1, 1}, 2)
                                              : leat_op_expand_dims(labels, 0);
}

leat_value leati_mixing_call(const leati_pass *pass, const leati_tensor_op *op,
                             struct leati_mix_args *args, int draws) {
    bool wants_labels = pass->num_inputs > 1;
    leati_picture_arguments p = leati_pictures_begin(pass);
    leat_value outputs[2], labels = wants_labels ? pass->inputs[1] : p.x;
    if (leati_support_value_failed(p.x) || !pass->training)
        return wants_labels ? labels : leati_pictures_end(&p, p.x);
    if (wants_labels && p.single)
        labels = one_row(labels);
    else if (!wants_labels)
        /* The operation mixes labels too: one number per picture stands in for them. */
        labels = leat_op_reshape(leati_pictures_corner(p.x), (const int64_t[]){-1, 1}, 2);
    /* Draws depend on batch, height and width: one channel costs less than all. */
    leat_value pictures = leat_op_stop_gradient(wants_labels ? first_channel(p.x) : p.x);
    labels = leat_op_stop_gradient(labels);
    leat_value seed = leati_pictures_seeds(&p, draws);
    if (leati_mix_build(op, args, pictures, labels, &seed, NULL, outputs) < 0)
        return (leat_value){.graph = p.x.graph, .id = -1};
    if (!wants_labels)
        return leati_pictures_end(&p, outputs[0]);
    return p.single ? leat_op_reshape_like(outputs[1], pass->inputs[1]) : outputs[1];
}
