/* AdamW: Adam that takes a part of each variable away by default (keras.optimizers.AdamW). Failures
 * as for Adam. No state, no locks. */
#include "train/support/adam.h"

static const leati_row adamw_rows[] = {LEATI_ADAM_ROWS, LEATI_OPTIMIZER_ROWS_WITH(0.004), {0}};

const leati_optimizer_kind leati_optimizer_adamw = {
    .kind =
        {
            .name = "AdamW",
            .doc = "Adam that takes a part of each variable away (keras.optimizers.AdamW).",
            .rows = adamw_rows,
            .signature = "learning_rate weight_decay beta_1 beta_2 epsilon "
                         "amsgrad " LEATI_OPTIMIZER_SIGNATURE_REST,
            .args_size = sizeof(struct adam_args),
            .check = leati_adam_check,
        },
    .slots = leati_adam_slots,
    .update = leati_adam_update,
};
