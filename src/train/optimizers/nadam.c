/* Nadam: Adam whose momentum looks a step ahead (keras.optimizers.Nadam).
 *
 * The momentum of step i is beta_1 (1 - 0.96^i / 2), and the steps' product is needed. Keras keeps
 * it; here it is beta_1^step times the product of the other factors, which after some hundred steps
 * are 1 and so stand in a table. Failures: arguments out of their ranges. No state, no locks. */
#include "graph/ops/support.h"
#include "train/adam.h"
#include "train/layer.h"
#include "train/loss.h"
#include <math.h>

enum { FACTORS = 640 };

static const leati_row nadam_rows[] = {LEATI_MOMENT_ROWS, LEATI_OPTIMIZER_ROWS, {0}};

/* The product over the steps so far of 1 - 0.96^i / 2. */
static leat_value product_of_factors(const leati_update *update, leat_dtype dtype) {
    double products[FACTORS], product = 1;
    for (int i = 0; i < FACTORS; i++) {
        products[i] = product;
        product *= 1 - 0.5 * pow(0.96, i + 1);
    }
    const leati_floats list = {products, FACTORS};
    leat_value like = leati_number(update->graph, dtype, 0);
    leat_value last = leati_number(update->graph, LEAT_INT64, FACTORS - 1);
    return leat_gather(leati_numbers_value(like, &list), leat_minimum(update->step, last), 0);
}

/* beta_1 (1 - 0.96^(step + ahead) / 2). */
static leat_value momentum_of(const leati_update *update, int ahead) {
    const struct adam_args *args = update->args;
    leat_value power = leati_times(leati_power_of_step(update, 0.96), pow(0.96, ahead));
    leat_value one = leati_number_like(power, 1);
    return leati_times(leat_subtract(one, leati_times(power, 0.5)), args->beta_1);
}

static void nadam_update(const leati_update *update) {
    const struct adam_args *args = update->args;
    leat_value g = update->gradient, one = leati_number_like(g, 1);
    leat_value now = momentum_of(update, 0), next = momentum_of(update, 1);
    leat_value product = leat_multiply(leati_power_of_step(update, args->beta_1),
                                       product_of_factors(update, leat_value_dtype(g)));
    leat_value m = leati_slot_toward(update, 0, g, args->beta_1);
    leat_value v = leati_slot_toward(update, 1, leat_square(g), args->beta_2);
    leat_value ahead =
        leat_divide(leat_multiply(next, m), leat_subtract(one, leat_multiply(product, next)));
    leat_value own =
        leat_divide(leat_multiply(leat_subtract(one, now), g), leat_subtract(one, product));
    leat_value second =
        leat_divide(v, leat_subtract(one, leati_power_of_step(update, args->beta_2)));
    leat_value divisor = leat_add(leat_sqrt(second), leati_number_like(g, args->epsilon));
    leat_value change = leat_multiply(leat_add(ahead, own), update->learning_rate);
    leati_step_back(update, leat_divide(change, divisor));
}

const leati_optimizer_kind leati_optimizer_nadam = {
    .kind =
        {
            .name = "Nadam",
            .doc = "Adam whose momentum looks a step ahead (keras.optimizers.Nadam).",
            .rows = nadam_rows,
            .signature = "learning_rate beta_1 beta_2 epsilon " LEATI_OPTIMIZER_SIGNATURE,
            .args_size = sizeof(struct adam_args),
            .check = leati_adam_check,
        },
    .slots = leati_adam_slots,
    .update = nadam_update,
};
