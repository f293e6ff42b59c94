/* Attributes of the operation dataset_constant. */
#ifndef LEATI_DATA_FUNCTIONS_DATASET_CONSTANT_H
#define LEATI_DATA_FUNCTIONS_DATASET_CONSTANT_H

#include "data/plan/dataset.h"

struct leati_dataset_constant_args {
    leat_object *dataset;
};

extern const leati_tensor_op leati_tensor_op_dataset_constant;

#endif
