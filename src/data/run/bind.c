/* What bindings for other languages need beyond the calls of C programs: a plan whose datasets,
 * tensors and functions are objects of the caller, and elements of an iterator by rows.
 *
 * leat_dataset_build reads a plan as leat_dataset_from_json does, with one reader that answers
 * {"ref"}, {"given"} and functions out of the bindings. leat_iterator_next_rows hands out the rows
 * that the root's block has ready: a view where they lie one after the other, else a gathered copy.
 *
 * Failures: those of the plan; INVALID_ARGUMENT for a number that the bindings do not have. No
 * locks. */
#include "base/minmax.h"
#include "data/plan/dataset.h"
#include "data/run/iterator.h"
#include "graph/json.h"
#include <leat/bind.h>
#include <string.h>

/* ---- plans ---- */

static leat_dataset *bound_dataset(void *context, const char *name, leat_error *err) {
    const leat_bindings *bindings = context;
    char *end = NULL;
    long index = strtol(name, &end, 10);
    if (*name == '\0' || *end != '\0' || index < 0 || index >= bindings->num_datasets) {
        leati_refuse(err, VALUE, "a plan refers to dataset \"%s\"; expected a number below %d",
                     name, bindings->num_datasets);
        return NULL;
    }
    return leat_dataset_ref(bindings->datasets[index]);
}

static leat_status bound_element(void *context, int64_t number, leat_element *out,
                                 leat_error *err) {
    const leat_bindings *bindings = context;
    if (number < 0 || number >= bindings->num_elements) {
        return leati_refuse(err, VALUE,
                            "a plan refers to given tensors number %lld; expected one below %d",
                            (long long)number, bindings->num_elements);
    }
    const leat_element *given = &bindings->elements[number];
    return leat_element_set(out, given->spec, given->tensors, err);
}

static leat_function *bound_function(void *context, const json_t *json, const char *op,
                                     const char *argument, const leat_spec *input,
                                     leat_error *err) {
    const leat_bindings *bindings = context;
    const json_t *number = json_object_get(json, "function");
    /* A function that stands in the plan itself, as a graph or a name. */
    if (number == NULL || bindings->function == NULL)
        return leati_json_read_function(json, err);
    return bindings->function(bindings->context, json_integer_value(number), op, argument, input,
                              err);
}

leat_dataset *leat_dataset_build(const char *plan, const leat_bindings *bindings, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_bindings none = {0};
    if (plan == NULL) {
        leati_refuse(err, VALUE, "leat_dataset_build: plan is NULL");
        return NULL;
    }
    json_t *json = leati_json_parse(plan, strlen(plan), err);
    if (json == NULL)
        return NULL;
    leati_plan_reader reader = {
        .context = (void *)(uintptr_t)(bindings != NULL ? bindings : &none),
        .function = bound_function,
        .ref = bound_dataset,
        .given = bound_element,
    };
    leat_dataset *dataset = leati_plan_read(json, &reader, err);
    json_decref(json);
    return dataset;
}

/* ---- rows ---- */

/* How many rows from `begin` can be stacked: all where the column has one shape, else one. */
static int64_t stackable(const leati_block *block, int64_t n) {
    for (int32_t c = 0; c < block->num_columns; c++) {
        const leati_column *column = &block->columns[c];
        /* A row of the highest rank has no dimension left for the rows. */
        bool full = column->form != LEATI_TENSORS && column->rank == LEAT_MAX_RANK;
        if (column->form == LEATI_TENSORS || column->dtype == LEAT_OBJECT || full)
            return n < 1 ? n : 1;
    }
    return n;
}

/* Rows [begin, begin + n) of a column as one tensor. */
static leat_status stack_rows(const leati_column *column, int64_t begin, int64_t n,
                              leat_tensor *out, leat_error *err) {
    leat_tensor row = leati_column_tensor(column, begin);
    leat_shape one = leat_tensor_shape(&row), shape = one;
    if (one.rank == LEAT_MAX_RANK || row.dtype == LEAT_OBJECT) {
        *out = row; /* one row as it is; n is 1 */
        return LEAT_OK;
    }
    shape.dims[0] = n;
    memcpy(shape.dims + 1, one.dims, (size_t)one.rank * sizeof(one.dims[0]));
    shape.rank++;
    size_t bytes = leat_tensor_bytes(&row);
    bool adjacent = column->form == LEATI_STRIDED && (n == 1 || column->stride == (int64_t)bytes);
    /* The first row's view becomes that of all: only its dimensions grow. */
    if (n == 1 || (adjacent && row.owner != NULL)) {
        row.rank = shape.rank;
        memcpy(row.dims, shape.dims, sizeof(row.dims));
        *out = row;
        return LEAT_OK;
    }
    leat_tensor_unref(&row);
    leat_status status = leat_tensor_new(column->dtype, shape, out, err);
    if (status != LEAT_OK)
        return status;
    leati_column_gather(column, begin, n, out->data, (int64_t)bytes);
    status = leati_column_hold(column, begin, n, out->owner, err);
    if (status != LEAT_OK)
        leat_tensor_unref(out);
    return status;
}

leat_status leat_iterator_next_rows(leat_iterator *iterator, int64_t most, leat_tensor *out,
                                    int64_t *n, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    *n = 0;
    if (iterator == NULL || most < 1) {
        return leati_refuse(err, VALUE,
                            "leat_iterator_next_rows: %s; expected an iterator and at least 1 row",
                            iterator == NULL ? "iterator is NULL" : "most is below 1");
    }
    int64_t available = 0;
    leat_status status = leati_iterator_ready(iterator, &available, err);
    if (status != LEAT_OK)
        return status;
    int64_t begin = 0;
    const leati_block *block = leati_iterator_block(iterator, &begin);
    int64_t rows = stackable(block, LEATI_MIN(available, most));
    for (int32_t c = 0; c < block->num_columns; c++) {
        status = stack_rows(&block->columns[c], begin, rows, &out[c], err);
        if (status != LEAT_OK) {
            while (c-- > 0)
                leat_tensor_unref(&out[c]);
            return status;
        }
    }
    leati_iterator_consume(iterator, rows);
    *n = rows;
    return LEAT_OK;
}
