/* The strategy of central storage: one replica per device of this process, the values of variables
 * in the memory of the host (tf.distribute.experimental.CentralStorageStrategy).
 *
 * A CPU device computes in the host's memory, so a copy per replica there is what TensorFlow's one
 * copy is: all are equal after every assignment, and a replica reads without waiting. */
#include "dist/strategy.h"

extern const leati_strategy_kind leati_strategy_central_storage;

leat_strategy *leat_strategy_central_storage(const leat_strategy_mirrored_options *options,
                                             leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_strategy_of_devices(&leati_strategy_central_storage, options, err);
}

static leat_strategy *make(leat_error *err) {
    return leat_strategy_central_storage(NULL, err);
}

const leati_strategy_kind leati_strategy_central_storage = {
    .name = "central_storage",
    .doc = "One replica per device of this process, variables in the host's memory "
           "(tf.distribute.experimental.CentralStorageStrategy).",
    .make = make,
    .drops_partial = true,
};
