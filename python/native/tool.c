/* tool(arguments, path): the command line tool, for the script `leat` of the installed package. */
#include "native.h"

#include "cli/tool.h"

PyObject *native_tool(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *texts, *path;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &texts, &PyBytes_Type, &path))
        return NULL;
    Py_ssize_t count = PyList_Size(texts);
    char **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
    if (values == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        values[i] = PyBytes_AsString(PyList_GetItem(texts, i));
        if (values[i] == NULL) {
            PyMem_Free(values);
            return NULL;
        }
    }
    Py_INCREF(path); /* The tool keeps it. */
    int status = 0;
    Py_BEGIN_ALLOW_THREADS status = leati_tool_run((int)count, values, PyBytes_AsString(path));
    Py_END_ALLOW_THREADS PyMem_Free(values);
    return PyLong_FromLong(status);
}
