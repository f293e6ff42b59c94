/* The strategy of one device: what runs distributed runs on it alone
 * (tf.distribute.OneDeviceStrategy). */
#include "dist/strategy.h"

extern const leati_strategy_kind leati_strategy_one_device;

leat_strategy *leat_strategy_one_device(const char *device, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    const char *name = device != NULL ? device : "CPU:0";
    const leat_strategy_mirrored_options options = {LEAT_STRATEGY_MIRRORED_DEFAULTS,
                                                    .devices = &name, .num_devices = 1};
    return leati_strategy_of_devices(&leati_strategy_one_device, &options, err);
}

static leat_strategy *make(leat_error *err) {
    return leat_strategy_one_device(NULL, err);
}

const leati_strategy_kind leati_strategy_one_device = {
    .name = "one_device",
    .doc = "One replica on one device (tf.distribute.OneDeviceStrategy).",
    .make = make,
    .drops_partial = true,
};
