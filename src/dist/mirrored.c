/* The mirrored strategy: one replica per device of this process, variables mirrored on all
 * (tf.distribute.MirroredStrategy). */
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "dist/strategy.h"

extern const leati_strategy_kind leati_strategy_mirrored;

leat_strategy *leati_strategy_of_devices(const leati_strategy_kind *kind,
                                         const leat_strategy_mirrored_options *options,
                                         leat_error *err) {
    leat_strategy_mirrored_options o = {LEAT_STRATEGY_MIRRORED_DEFAULTS};
    if (LEATI_OPTIONS(leat_strategy_mirrored_options, &o, options, err) != LEAT_OK)
        return NULL;
    int count = o.devices != NULL ? o.num_devices : leati_strategy_logical_cpus();
    if (count < 1 || o.timeout_ms < 1 || o.bytes_per_pack < 0) {
        leati_refuse(err, VALUE,
                     "strategy \"%s\": %d devices, timeout_ms %lld, bytes_per_pack %lld; expected "
                     "at least one device and 1 ms, and nothing negative",
                     kind->name, count, (long long)o.timeout_ms, (long long)o.bytes_per_pack);
        return NULL;
    }
    leati_device **devices = leati_strategy_open_devices(o.devices, count, err);
    leat_strategy *strategy = NULL;
    if (devices != NULL) {
        const leati_strategy_parts parts = {.kind = kind,
                                            .devices = devices,
                                            .num_devices = count,
                                            .bytes_per_pack = o.bytes_per_pack,
                                            .timeout_ms = o.timeout_ms};
        strategy = leati_strategy_new(&parts, err);
    }
    /* The list alone: the strategy has the devices, or has closed them. */
    leati_free(devices);
    return strategy;
}

leat_strategy *leat_strategy_mirrored(const leat_strategy_mirrored_options *options,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return leati_strategy_of_devices(&leati_strategy_mirrored, options, err);
}

static leat_strategy *make(leat_error *err) {
    return leat_strategy_mirrored(NULL, err);
}

const leati_strategy_kind leati_strategy_mirrored = {
    .name = "mirrored",
    .doc = "One replica per device of this process; variables are mirrored "
           "(tf.distribute.MirroredStrategy).",
    .make = make,
    .input_per_replica = true,
};
