/* Making nodes of the operator data_service, for the calls of service.h. */
#ifndef LEATI_SERVICE_CLIENT_DATA_SERVICE_H
#define LEATI_SERVICE_CLIENT_DATA_SERVICE_H

#include "data/plan/dataset.h"
#include <leat/service.h>

extern const leati_dataset_op leati_op_data_service;

/* A dataset that reads `dataset_id` from `service`; `cardinality` is that of the registered one.
 * Owned. */
leat_dataset *leati_data_service_new(const char *service, const char *dataset_id,
                                     const char *compression, const leat_spec *spec,
                                     int64_t cardinality, const leat_service_options *options,
                                     leat_error *err);

#endif
