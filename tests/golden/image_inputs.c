/* What the recorded cases of the part image are given. */
#include "image.h"
#include <string.h>

leat_status golden_image_contents(const char *file, leat_tensor *out, leat_error *err) {
    char path[1024];
    snprintf(path, sizeof path, "image/%s", file);
    leat_tensor name = leat_scalar_string(path);
    leat_graph *graph = leat_graph_new_eager(err);
    leat_status status = err->code;
    if (graph != NULL)
        status = leat_value_tensor(leat_op_read_file(leat_graph_tensor(graph, &name)), out, err);
    leat_graph_free(graph);
    leat_tensor_unref(&name);
    return status;
}

/* "uint8 // 2 as int16": an input, halved, as another dtype. */
static leat_status halved(const leat_tensor *input, const char *dtype, leat_tensor *out,
                          leat_error *err) {
    leat_graph *graph = leat_graph_new_eager(err);
    if (graph == NULL)
        return err->code;
    leat_tensor two = leat_scalar_int64(2);
    leat_value x = leat_graph_tensor(graph, input);
    leat_value divisor = leat_op_cast(leat_graph_tensor(graph, &two), leat_value_dtype(x));
    leat_value half = leat_op_cast(leat_op_floordiv(x, divisor), leat_dtype_from_name(dtype));
    leat_status status = leat_value_tensor(half, out, err);
    leat_tensor_unref(&two);
    leat_graph_free(graph);
    return status;
}

/* "three copies of uint8, stacked". */
static leat_status copies(const json_t *inputs, const char *name, leat_tensor *out,
                          leat_error *err) {
    char one[64] = "";
    leat_tensor x = {0};
    (void)sscanf(name, "three copies of %63[^,]", one);
    leat_status status = golden_image_input(inputs, one, &x, err);
    if (status != LEAT_OK)
        return status;
    leat_graph *graph = leat_graph_new_eager(err);
    leat_value value = graph == NULL ? (leat_value){.id = -1} : leat_graph_tensor(graph, &x);
    leat_value values[3] = {value, value, value};
    status = graph == NULL ? err->code : leat_value_tensor(leat_op_stack(values, 3, 0), out, err);
    leat_tensor_unref(&x);
    leat_graph_free(graph);
    return status;
}

/* "constant 7 (2,3,3) uint8". */
static leat_status constant(leat_tensor *out, leat_error *err) {
    leat_status status = leat_tensor_new(LEAT_UINT8, LEAT_SHAPE(2, 3, 3), out, err);
    if (status == LEAT_OK)
        memset(out->data, 7, leat_tensor_bytes(out));
    return status;
}

leat_status golden_image_input(const json_t *inputs, const char *name, leat_tensor *out,
                               leat_error *err) {
    const char *middle = strstr(name, " // 2 as ");
    if (strncmp(name, "three copies of ", 16) == 0)
        return copies(inputs, name, out, err);
    if (strcmp(name, "constant 7 (2,3,3) uint8") == 0)
        return constant(out, err);
    if (middle == NULL) {
        const json_t *array = json_object_get(inputs, name);
        return array != NULL ? golden_array("image", array, out, err)
                             : leati_fail(err, LEAT_NOT_FOUND, "no input %s", name);
    }
    char first[64];
    leat_tensor whole = {0};
    snprintf(first, sizeof first, "%.*s", (int)(middle - name), name);
    leat_status status = golden_image_input(inputs, first, &whole, err);
    if (status == LEAT_OK)
        status = halved(&whole, middle + strlen(" // 2 as "), out, err);
    leat_tensor_unref(&whole);
    return status;
}

leat_status golden_image_geometry(const json_t *inputs, bool batch, leat_tensor *out,
                                  leat_error *err) {
    leat_tensor x = {0};
    leat_status status = golden_image_input(inputs, "x", &x, err);
    if (status != LEAT_OK || !batch) {
        *out = x;
        return status;
    }
    leat_shape shape = leat_tensor_shape(&x);
    size_t rows = (size_t)x.dims[0], bytes = leat_tensor_bytes(&x), row = bytes / rows;
    memmove(shape.dims + 1, shape.dims, (size_t)shape.rank++ * sizeof shape.dims[0]);
    shape.dims[0] = 2;
    status = leat_tensor_new(x.dtype, shape, out, err);
    if (status == LEAT_OK) {
        memcpy(out->data, x.data, bytes);
        for (size_t i = 0; i < rows; i++)
            memcpy((char *)out->data + bytes + i * row, (char *)x.data + (rows - 1 - i) * row, row);
    }
    leat_tensor_unref(&x);
    return status;
}
