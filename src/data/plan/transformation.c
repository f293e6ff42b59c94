/* Functions from datasets to datasets (leat_dataset_apply). No state, no locks. */
#include "base/error.h"
#include <leat/data_ops.h>

leat_dataset *leat_dataset_apply(leat_dataset *input, leat_transformation transformation,
                                 void *context, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_error failure = {0};
    if (input == NULL || transformation == NULL) {
        /* A NULL input comes from a builder that failed, whose error stays. */
        if (err->code == LEAT_OK) {
            leati_refuse(err, VALUE, "apply: %s is NULL; pass %s",
                         input == NULL ? "the input" : "transformation",
                         input == NULL ? "a dataset" : "a function");
        }
        leat_dataset_unref(input);
        return NULL;
    }
    leat_dataset *dataset = transformation(context, input, &failure);
    if (dataset == NULL && failure.code == LEAT_OK) {
        leati_refuse(&failure, CALLBACK,
                     "apply: transformation returned NULL without an error; return a dataset");
    }
    if (dataset == NULL)
        *err = failure;
    return dataset;
}
