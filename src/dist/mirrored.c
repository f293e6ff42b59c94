/* The mirrored strategy: one replica per device of this process, variables mirrored on all
 * (tf.distribute.MirroredStrategy). */
#include "base/alloc.h"
#include "base/error.h"
#include "dist/strategy.h"

extern const leati_strategy_kind leati_strategy_mirrored;

enum { DEFAULT_TIMEOUT_MS = 60000 };

leat_strategy *leati_strategy_of_devices(const leati_strategy_kind *kind,
                                         const leat_strategy_mirrored_options *options,
                                         leat_error *err) {
    leat_strategy_mirrored_options defaults = {0};
    options = options != NULL ? options : &defaults;
    int count = options->devices != NULL ? options->num_devices : leati_strategy_logical_cpus();
    if (count < 1 || options->timeout_ms < 0 || options->bytes_per_pack < 0) {
        leati_refuse(
            err, VALUE,
            "strategy \"%s\": %d devices, timeout_ms %lld, bytes_per_pack %lld; expected at "
            "least one device and nothing negative",
            kind->name, count, (long long)options->timeout_ms, (long long)options->bytes_per_pack);
        return NULL;
    }
    leati_device **devices = leati_strategy_open_devices(options->devices, count, err);
    leat_strategy *strategy = NULL;
    if (devices != NULL) {
        const leati_strategy_parts parts = {
            .kind = kind,
            .devices = devices,
            .num_devices = count,
            .bytes_per_pack = options->bytes_per_pack,
            .timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS};
        strategy = leati_strategy_new(&parts, err);
    }
    leati_free(devices);
    return strategy;
}

leat_strategy *leat_strategy_mirrored(const leat_strategy_mirrored_options *options,
                                      leat_error *err) {
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
