/* An element program with its blocks, for tests. Header only; include it after "support/cmocka.h".
 */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include "core/tensor.h"
#include "exec/program_parts.h"
#include <leat/ops.h>

static const leati_call_context start = {.num_replicas = 1};

static inline leat_function *finish(leat_tracer tracer, leat_dtype dtype, leat_shape shape,
                                    int count) {
    leat_spec *children[4];
    leat_error err = {0};
    for (int i = 0; i < count; i++)
        children[i] = leat_spec_tensor(dtype, shape, &err);
    leat_spec *spec = leat_spec_tuple(children, count, &err);
    leat_function *function = LEAT_TRACE(tracer, NULL, spec, &err);
    leat_spec_unref(spec);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

struct machine {
    leati_program *program;
    leati_scratch *scratch;
    leati_block in, out;
    int64_t failed;
    leat_error err;
};

/* Takes over the function. */
static inline void machine_init(struct machine *m, leat_function *function) {
    *m = (struct machine){0};
    m->program = leati_program_new(function, &m->err);
    if (m->program == NULL)
        fail_msg("%s", m->err.text);
    m->scratch = leati_program_scratch_new(m->program, &m->err);
    assert_non_null(m->scratch);
    leat_function_unref(function);
}

static inline void machine_fini(struct machine *m) {
    leati_block_fini(&m->in);
    leati_block_fini(&m->out);
    leati_program_scratch_free(m->scratch);
    leati_program_free(m->program);
}

static inline leat_status run(struct machine *m, int64_t begin, int64_t n, int64_t ordinal) {
    leati_call_context context = start;
    context.ordinal = ordinal;
    return leati_program_run(m->program, m->scratch, &m->in, begin, n, &context, &m->out,
                             &m->failed, &m->err);
}

static inline void must_run(struct machine *m, int64_t n) {
    if (run(m, 0, n, 0) != LEAT_OK)
        fail_msg("row %d: %s", (int)m->failed, m->err.text);
}

/* Column c of the input: n rows of int64 scalars. */
static inline void give_ints(struct machine *m, int c, int columns, const int64_t *values,
                             int64_t n) {
    leat_shape scalar = LEAT_SCALAR;
    leat_tensor tensor;
    if (c == 0)
        assert_int_equal(leati_block_prepare(&m->in, columns, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(n), values, &tensor, NULL),
                     LEAT_OK);
    leati_column_strided(&m->in.columns[c], LEAT_INT64, &scalar, tensor.data, 8, tensor.owner);
    m->in.n = n;
}

static inline int64_t int_at(const leati_block *block, int c, int64_t row) {
    return *(int64_t *)leati_column_row(&block->columns[c], row);
}

static inline leat_value integer(leat_graph *graph, int64_t number) {
    leat_tensor tensor = leat_scalar_int64(number);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

static inline int trace_line(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    leat_value y = leat_op_multiply(x, leat_op_add(integer(graph, 1), integer(graph, 1)));
    outputs[0] = leat_op_add(y, integer(graph, 1));
    outputs[1] = leat_op_add(y, integer(graph, 1));
    outputs[2] = x;
    outputs[3] = integer(graph, 7);
    return 4;
}

static inline int trace_twice(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value x = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_concat((leat_value[]){x, x}, 2, 0);
    outputs[1] = leat_op_reduce_sum(outputs[0], NULL, 0, false);
    return 2;
}

static inline void give_vectors(struct machine *m, const int *lengths, int n) {
    leat_buffer *array = leati_buffer_of_tensors(n, &(leat_error){0});
    leat_tensor *tensors = array->data;
    for (int i = 0; i < n; i++) {
        assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(lengths[i]), &tensors[i], NULL),
                         LEAT_OK);
        for (int k = 0; k < lengths[i]; k++)
            ((int64_t *)tensors[i].data)[k] = 10 * i + k;
    }
    assert_int_equal(leati_block_prepare(&m->in, 1, &(leat_error){0}), LEAT_OK);
    leati_column_tensors(&m->in.columns[0], LEAT_INT64, array);
    m->in.n = n;
}

#endif
