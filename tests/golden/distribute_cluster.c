/* tf_config.json: what a cluster resolver says of each TF_CONFIG. */
#include "distribute.h"
#include <leat/cluster.h>
#include <string.h>

/* Did the question fail as recorded? True for an answer that is a value too, after which it is
 * compared. */
static bool failed_as_recorded(golden_case *c, const json_t *expected, leat_status status,
                               const leat_error *err, bool *compare) {
    const char *type = json_string_value(json_object_get(expected, "type"));
    *compare = type == NULL && status == LEAT_OK;
    if (type == NULL && status != LEAT_OK) {
        golden_fail(c, "expected a value, found %s", err->text);
        return false;
    }
    if (type != NULL && status != LEAT_INVALID_ARGUMENT) {
        golden_fail(c, "expected %s, found status %s", type, leat_status_name(status));
        return false;
    }
    return true;
}

static json_t *text_or_null(const char *text) {
    return text == NULL ? json_null() : json_string(text);
}

static json_t *number_or_null(int64_t number) {
    return number == LEAT_NO_TASK ? json_null() : json_integer(number);
}

/* Asks one thing; `found` owned, NULL with the error. */
static json_t *ask(const leat_cluster *cluster, const char *what, leat_error *err) {
    bool chief = false;
    int64_t number = 0;
    char *text = NULL;
    json_t *found = NULL;
    if (strcmp(what, "task_type") == 0)
        return text_or_null(leat_cluster_task_type(cluster));
    if (strcmp(what, "task_id") == 0)
        return number_or_null(leat_cluster_task_id(cluster));
    if (strcmp(what, "rpc_layer") == 0)
        return text_or_null(leat_cluster_rpc_layer(cluster));
    if (strcmp(what, "is_chief") == 0)
        return leat_cluster_is_chief(cluster, &chief, err) == LEAT_OK ? json_boolean(chief) : NULL;
    if (strcmp(what, "id_in_cluster") == 0)
        return leat_cluster_id(cluster, &number, err) == LEAT_OK ? json_integer(number) : NULL;
    if (strcmp(what, "worker_count") == 0) {
        leat_status status = leat_cluster_num_workers(cluster, &number, err);
        return status == LEAT_OK ? json_integer(number) : NULL;
    }
    if (strcmp(what, "master") == 0) {
        text = leat_cluster_master(cluster, NULL, LEAT_NO_TASK, err);
        found = text == NULL ? NULL : json_string(text);
    } else if (strcmp(what, "cluster") == 0) {
        text = leat_cluster_spec(cluster, err);
        found = text == NULL ? NULL : json_loads(text, 0, NULL);
    }
    leat_text_free(text);
    return found;
}

void golden_cluster_case(golden_case *c, const json_t *json) {
    leat_error err = {0};
    const json_t *config = json_object_get(json, "tf_config");
    char *text = json_is_null(config)     ? NULL
                 : json_is_string(config) ? strdup(json_string_value(config))
                                          : json_dumps(config, JSON_COMPACT);
    leat_cluster *cluster = leat_cluster_new(text, &err);
    free(text);
    const char *what;
    json_t *expected;
    json_object_foreach((json_t *)json, what, expected) {
        /* TensorFlow's resolver always says None. */
        if (strcmp(what, "tf_config") == 0 || strcmp(what, "environment") == 0)
            continue;
        leat_error why = err;
        json_t *found = cluster == NULL ? NULL : ask(cluster, what, &why);
        leat_status status = found != NULL ? LEAT_OK : why.code;
        bool compare = false;
        if (failed_as_recorded(c, expected, status, &why, &compare) && compare)
            golden_check_json(c, what, expected, found);
        else
            json_decref(found);
    }
    leat_cluster_free(cluster);
}
