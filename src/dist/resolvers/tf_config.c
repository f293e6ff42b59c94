/* TF_CONFIG, as Kubeflow and cloud trainers set it (TFConfigClusterResolver). */
#include "dist/cluster.h"
#include <stdlib.h>

extern const leati_resolver leati_resolver_tf_config;

static bool applies(void) {
    return getenv("TF_CONFIG") != NULL;
}

static json_t *read_variable(leat_error *err) {
    const char *text = getenv("TF_CONFIG");
    return leati_cluster_parse(text == NULL ? "{}" : text, err);
}

const leati_resolver leati_resolver_tf_config = {
    .name = "tf_config",
    .doc = "TF_CONFIG: jobs, their addresses and the task of this process.",
    .applies = applies,
    .read = read_variable,
};
