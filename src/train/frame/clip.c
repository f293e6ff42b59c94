/* Clipping of gradients, as Keras' optimizers do it: by the norm of each, by the norm of all
 * together, or by value. At most one of the three is set. Failures are the graph's. No state, no
 * locks. */
#include "graph/support/support.h"
#include "train/frame/loss.h"
#include "train/frame/optimizer.h"
#include "train/frame/slices.h"

static leat_value sum_of_squares(leat_value value, leat_value squares) {
    return leat_op_reduce_sum(squares.id < 0 ? leat_op_square(value) : squares, NULL, 0, false);
}

/* The two numbers over which a gradient is clipped: it becomes gradient * most / max(norm, most).
 * Up to the limit the quotient is 1, and a norm of 0 does not divide. */
static void quotient_of(leat_value gradient, leat_value squares, double limit, leat_value out[2]) {
    out[0] = leati_loss_number_like(gradient, limit);
    out[1] = leat_op_maximum(leat_op_sqrt(sum_of_squares(gradient, squares)), out[0]);
}

static leat_value clip_by_norm(leat_value gradient, leat_value squares, double limit) {
    leat_value quotient[2];
    quotient_of(gradient, squares, limit, quotient);
    return leati_slices_scale(quotient, gradient);
}

leat_value leati_optimizer_clip_slices(leat_value slices, leat_value squares, double limit) {
    leat_value quotient[2];
    quotient_of(slices, squares, limit, quotient);
    return leati_slices_sum(slices, leati_slices_scale, quotient);
}

/* A norm that is not finite makes every gradient NaN, so that it cannot go unnoticed. */
static void clip_by_global_norm(leat_value *gradients, const leat_value *squares, int count,
                                double limit) {
    leat_value total = sum_of_squares(gradients[0], squares[0]);
    for (int i = 1; i < count; i++)
        total = leat_op_add(total, sum_of_squares(gradients[i], squares[i]));
    leat_value norm = leat_op_sqrt(total);
    /* Of a norm of 0 the quotient is infinite and 1 / limit is taken, so the scale is 1. */
    leat_value shrink = leat_op_minimum(leat_op_divide(leati_loss_number_like(norm, 1), norm),
                                        leati_loss_number_like(norm, 1 / limit));
    /* norm - norm is 0, but NaN where the norm is infinite or NaN. */
    leat_value scale = leat_op_add(leat_op_multiply(leati_loss_number_like(norm, limit), shrink),
                                   leat_op_subtract(norm, norm));
    for (int i = 0; i < count; i++)
        gradients[i] = leat_op_multiply(gradients[i], scale);
}

void leati_optimizer_clip_gradients(const struct leati_optimizer_args *args, leat_value *gradients,
                                    const leat_value *squares, int count) {
    /* Replicas' gradients are summed by now, so all have one norm and copies stay equal. */
    if (args->global_clipnorm > 0) {
        clip_by_global_norm(gradients, squares, count, args->global_clipnorm);
        return;
    }
    for (int i = 0; i < count; i++)
        if (args->clipnorm > 0)
            gradients[i] = clip_by_norm(gradients[i], squares[i], args->clipnorm);
        /* Slices were clipped before they were added up. */
        else if (args->clipvalue > 0 && squares[i].id < 0)
            gradients[i] = leati_slices_clip(&args->clipvalue, gradients[i]);
}
