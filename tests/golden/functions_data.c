/* The named functions that return datasets. */
#include "functions.h"

const golden_named golden_dataset_functions[] = {
    {0},
};
