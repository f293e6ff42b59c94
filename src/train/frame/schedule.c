/* What learning rate schedules share. A schedule is a function of the step, so it is part of the
 * step that is traced. Failures: decay_steps that are not positive, and the graph's. No state, no
 * locks. */
#include "train/frame/schedule.h"
#include "base/error.h"
#include "graph/support/support.h"
#include "train/frame/loss.h"

leat_status leati_schedule_check(const void *arguments, leat_error *err) {
    const struct leati_schedule_args *args = arguments;
    if (args->decay_steps > 0)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "Argument `decay_steps` must be > 0. Received: decay_steps=%g",
                        args->decay_steps);
}

leat_value leati_schedule_rate(const leati_schedule_kind *kind, const void *args, leat_value step) {
    if (leati_support_value_failed(step))
        return step;
    /* Keras casts steps to the dtype of the initial rate, which is float32: beyond 2^24 they are
     * rounded. */
    return kind->rate(args, leat_op_cast(step, LEAT_FLOAT32));
}

leat_value leati_schedule_number_power(double base, leat_value exponent) {
    return leat_op_pow(leati_loss_number_like(exponent, base), exponent);
}
