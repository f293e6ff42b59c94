/* What the library knows of clusters: the one that the environment describes, and a process's place
 * in one. */
#include "native.h"

static PyObject *text_or_none(const char *text) {
    return text == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(text);
}

/* (resolver, JSON of the cluster, task type, task id) of the first launcher whose variables are
 * there. */
PyObject *native_find_cluster(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    leat_error err = {0};
    leat_cluster *cluster = leat_cluster_find(NULL, &err);
    char *spec = cluster == NULL ? NULL : leat_cluster_spec(cluster, &err);
    if (spec == NULL) {
        leat_cluster_free(cluster);
        return native_raise(&err);
    }
    int64_t id = leat_cluster_task_id(cluster);
    PyObject *number = id == LEAT_NO_TASK ? Py_NewRef(Py_None) : PyLong_FromLongLong(id);
    PyObject *found = Py_BuildValue("(ssNN)", leat_cluster_resolver(cluster), spec,
                                    text_or_none(leat_cluster_task_type(cluster)), number);
    leat_text_free(spec);
    leat_cluster_free(cluster);
    return found;
}

PyObject *native_cluster_place(PyObject *module, PyObject *args) {
    (void)module;
    leat_error err = {0};
    const char *text = NULL;
    int what = 0;
    bool chief = false;
    int64_t number = 0;
    if (!PyArg_ParseTuple(args, "si", &text, &what))
        return NULL;
    leat_cluster *cluster = leat_cluster_new(text, &err);
    leat_status status = cluster == NULL ? err.code
                         : what == 0     ? leat_cluster_is_chief(cluster, &chief, &err)
                         : what == 1     ? leat_cluster_id(cluster, &number, &err)
                                         : leat_cluster_num_workers(cluster, &number, &err);
    leat_cluster_free(cluster);
    if (status != LEAT_OK)
        return native_raise(&err);
    return what == 0 ? PyBool_FromLong(chief) : PyLong_FromLongLong(number);
}
