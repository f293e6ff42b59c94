/* A case's operation over several rows at once, laid out in each way, and with a bad row among good
 * ones. Header only, for ops_test.c. */
#ifndef CONFORM_OPS_ROWS_H
#define CONFORM_OPS_ROWS_H

#include "graph/kernel_host.h"
#include "ops_case.h"

enum { ROWS = 3 };

static leat_tensor rolled(const leat_tensor *tensor, int64_t by) {
    leat_tensor copy;
    leat_error err = {0};
    int64_t count = leat_tensor_count(tensor);
    size_t size = leat_dtype_size(tensor->dtype);
    assert_int_equal(leat_tensor_new(tensor->dtype, leat_tensor_shape(tensor), &copy, &err), 0);
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)copy.data + (size_t)((i + by) % count) * size,
               (const char *)tensor->data + (size_t)i * size, size);
    return copy;
}

typedef struct row_set {
    leat_tensor inputs[ROWS][MAX_VALUES];
    leat_tensor outputs[ROWS][MAX_VALUES]; /* of each row alone */
    char *memory[MAX_VALUES];
    leat_tensor texts[MAX_VALUES]; /* strings of all rows */
    leati_operand operands[MAX_VALUES];
} row_set;

/* Rows whose values are those of the case moved on by the row's number, if the operation takes
 * them. */
static void rows_init(row_set *rows, const op_case *c, const leat_function *function) {
    memset(rows, 0, sizeof *rows);
    bool moves = true;
    for (int64_t r = 0; r < ROWS; r++) {
        leati_call_context context = {.num_replicas = 1, .ordinal = r};
        leat_error err = {0};
        for (int i = 0; i < c->num_inputs; i++)
            rows->inputs[r][i] = rolled(&c->inputs[i], moves ? r : 0);
        if (leati_interpret(function, rows->inputs[r], &context, rows->outputs[r], &err) == LEAT_OK)
            continue;
        assert_true(moves && r > 0);
        moves = false;
        unref_all(rows->inputs[r--], c->num_inputs);
    }
}

static void rows_fini(row_set *rows, const op_case *c, int num_outputs) {
    for (int r = 0; r < ROWS; r++) {
        unref_all(rows->inputs[r], c->num_inputs);
        unref_all(rows->outputs[r], num_outputs);
    }
    for (int i = 0; i < c->num_inputs; i++)
        free(rows->memory[i]);
    unref_all(rows->texts, c->num_inputs);
}

/* Strings of all rows, which the operand owns. */
static void lay_out_strings(row_set *rows, int index, leati_operand *operand) {
    leat_error err = {0};
    int64_t count = leat_tensor_count(&rows->inputs[0][index]);
    leat_string *all = calloc((size_t)count * ROWS + 1, sizeof *all);
    assert_non_null(all);
    for (int r = 0; r < ROWS && count > 0; r++)
        memcpy(all + r * count, rows->inputs[r][index].data, (size_t)count * sizeof *all);
    leat_tensor_unref(&rows->texts[index]);
    assert_int_equal(
        leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(ROWS, count), all, &rows->texts[index], &err),
        LEAT_OK);
    free(all);
    operand->data = rows->texts[index].data;
    operand->owner = rows->texts[index].owner;
    if (operand->row_stride > 0)
        operand->row_stride = count * (int64_t)sizeof *all;
}

typedef enum row_layout { STRIDED, DENSE, CONSTANT } row_layout;

/* Operand `index` over the rows: one row after the other, with a gap between or without, or the
 * first for all. */
static void lay_out(row_set *rows, const op_case *c, int index, row_layout layout) {
    const leat_tensor *first = &rows->inputs[0][index];
    bool constant = layout == CONSTANT;
    size_t bytes = leat_tensor_bytes(first);
    size_t stride = layout == DENSE ? bytes : (bytes + 79) / 16 * 16;
    leati_operand *operand = &rows->operands[index];
    *operand = (leati_operand){.dtype = first->dtype, .row_stride = constant ? 0 : (int64_t)stride};
    leati_kernel_operand_set_shape(operand, first->rank, first->dims);
    if (first->dtype == LEAT_STRING) {
        lay_out_strings(rows, index, operand);
        return;
    }
    free(rows->memory[index]);
    rows->memory[index] = malloc(stride * ROWS + 1);
    assert_non_null(rows->memory[index]);
    memset(rows->memory[index], 0xA7, stride * ROWS);
    operand->data = rows->memory[index];
    for (int r = 0; r < ROWS && bytes > 0; r++)
        memcpy(rows->memory[index] + (size_t)r * stride, rows->inputs[r][index].data, bytes);
    (void)c;
}

static void compare_rows(const op_case *c, const char *how, const row_set *rows, bool constant,
                         leati_operand *outputs, int count) {
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < ROWS; r++) {
            leat_tensor row = {.dtype = outputs[i].dtype, .rank = outputs[i].rank};
            memcpy(row.dims, outputs[i].dims, sizeof row.dims);
            row.data = outputs[i].data + r * outputs[i].row_stride;
            expect_tensor(c, how, i, &rows->outputs[constant ? 0 : r][i], &row, 0);
        }
        leat_buffer_unref(outputs[i].owner);
    }
}

/* layouts[0]: how the first operand lies; layouts[1]: how the others do. */
static void run_rows(const op_case *c, const leat_function *function, row_set *rows,
                     const row_layout *layouts, const char *how) {
    leati_operand outputs[MAX_VALUES];
    leati_call_context context = {.num_replicas = 1};
    leat_error err = {0};
    int64_t failed = 0;
    for (int i = 0; i < c->num_inputs; i++)
        lay_out(rows, c, i, layouts[i > 0]);
    leat_status status =
        leati_interpret_rows(function, ROWS, rows->operands, &context, outputs, &failed, &err);
    if (status == LEAT_FAILED_PRECONDITION)
        return; /* a shape depends on data */
    if (status != LEAT_OK)
        fail_msg("%s %s, %s: row %d: %s", c->op, c->name, how, (int)failed, err.text);
    unref_all(rows->texts, c->num_inputs); /* the outputs hold what they need */
    memset(rows->texts, 0, sizeof rows->texts);
    bool all = layouts[0] == CONSTANT && (layouts[1] == CONSTANT || c->num_inputs < 2) &&
               c->num_inputs > 0;
    compare_rows(c, how, rows, all, outputs, function->num_outputs);
}

/* Some operands one row for all, some a row after the other, where each such row goes alone. */
static void check_mixed_rows(const op_case *c, const leat_function *function, const row_set *from,
                             const row_layout *layouts, const char *how) {
    row_set rows = {0};
    leat_error err = {0};
    int made = 0;
    for (; made < ROWS && err.code == LEAT_OK; made++) {
        leati_call_context context = {.num_replicas = 1, .ordinal = made};
        for (int i = 0; i < c->num_inputs; i++)
            rows.inputs[made][i] =
                rolled(&from->inputs[layouts[i > 0] == CONSTANT ? 0 : made][i], 0);
        if (leati_interpret(function, rows.inputs[made], &context, rows.outputs[made], &err) !=
            LEAT_OK)
            memset(rows.outputs[made], 0, sizeof rows.outputs[made]);
    }
    if (err.code == LEAT_OK)
        run_rows(c, function, &rows, layouts, how);
    rows_fini(&rows, c, function->num_outputs);
}

static void check_rows(const op_case *c) {
    leat_error err = {0};
    row_set rows;
    leat_function *function = case_build(c, SHAPES_STATIC, 0, &err);
    assert_non_null(function);
    rows_init(&rows, c, function);
    run_rows(c, function, &rows, (row_layout[]){STRIDED, STRIDED}, "strided rows");
    run_rows(c, function, &rows, (row_layout[]){DENSE, DENSE}, "dense rows");
    if (!leati_graph_function_has(function, LEATI_RANDOM)) /* rows draw numbers of their own */
        run_rows(c, function, &rows, (row_layout[]){CONSTANT, CONSTANT}, "one row for all");
    if (c->num_inputs > 1 && !leati_graph_function_has(function, LEATI_RANDOM)) {
        check_mixed_rows(c, function, &rows, (row_layout[]){CONSTANT, DENSE},
                         "one first row for all");
        check_mixed_rows(c, function, &rows, (row_layout[]){STRIDED, CONSTANT},
                         "one other row for all");
    }
    rows_fini(&rows, c, function->num_outputs);
    leat_function_unref(function);
}

static bool alike(const op_case *a, const op_case *b) {
    if (a->num_inputs != b->num_inputs || (a->attributes == NULL) != (b->attributes == NULL) ||
        (a->attributes != NULL && strcmp(a->attributes, b->attributes) != 0))
        return false;
    for (int i = 0; i < a->num_inputs; i++) {
        leat_shape x = leat_tensor_shape(&a->inputs[i]), y = leat_tensor_shape(&b->inputs[i]);
        if (a->inputs[i].dtype != b->inputs[i].dtype || !leati_shape_equal(&x, &y))
            return false;
    }
    return true;
}

/* A bad row among good ones: the failure names it. */
static void check_failed_row(const op_case *bad, const op_case *good,
                             const leat_function *function) {
    leati_operand outputs[MAX_VALUES];
    leat_error err = {0};
    int64_t failed = -1;
    row_set rows = {0};
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < bad->num_inputs; i++)
            rows.inputs[r][i] = rolled(r == 1 ? &bad->inputs[i] : &good->inputs[i], 0);
    for (int i = 0; i < bad->num_inputs; i++)
        lay_out(&rows, bad, i, STRIDED);
    leat_status status =
        leati_interpret_rows(function, ROWS, rows.operands, NULL, outputs, &failed, &err);
    if (status != LEAT_FAILED_PRECONDITION) {
        expect_error(bad, "row 1 of 3", bad->reason, bad->keyword, &err);
        if (failed != 1)
            fail_msg("%s %s: row %d is said to fail; expected row 1", bad->op, bad->name,
                     (int)failed);
    }
    rows_fini(&rows, bad, 0);
}

#endif
