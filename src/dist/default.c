/* The strategy that changes nothing: one replica, variables as outside of any scope
 * (tf.distribute.get_strategy without a scope). */
#include "dist/strategy.h"

extern const leati_strategy_kind leati_strategy_default;

leat_strategy *leat_strategy_default(leat_error *err) {
    LEATI_ERROR_DOOR(err);
    static const char *const name = "CPU:0";
    const leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                                    .devices = &name, .num_devices = 1};
    return leati_strategy_of_devices(&leati_strategy_default, &options, err);
}

const leati_strategy_kind leati_strategy_default = {
    .name = "default",
    .doc = "One replica, and variables as outside of any scope (tf.distribute.get_strategy).",
    .make = leat_strategy_default,
    .places_nothing = true,
};
