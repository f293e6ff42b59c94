/* Random functions over random blocks, against the reference interpreter one row at a time.
 *
 * Each seed draws a function of operations on numbers, shapes and texts, rows in one of the
 * column forms, and a part of the block; the program must give the interpreter's tensors bit by
 * bit, or fail on the interpreter's first failing row with its text and succeed on the rows before.
 */
#include "support/cmocka.h"

#include "core/tensor.h"
#include "core/verify.h"
#include "exec/program.h"
#include "graph/interpret.h"
#include "support/torture.h"
#include <leat/ops.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 64
#define MAX_ROWS 40
#define COLUMNS 6

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* ---- functions ---- */

typedef struct builder {
    uint32_t *dice;
    leat_value values[MAX_VALUES];
    int count;
} builder;

static bool is_float(leat_value x) {
    return leati_dtype_is_float(leat_value_dtype(x));
}

static leat_value any(builder *b) {
    return b->values[b->count > 0 ? next(b->dice) % (uint32_t)b->count : 0];
}

/* Another value that x may be combined with: its dtype, and its shape or a scalar. */
static leat_value partner(builder *b, leat_value x) {
    leat_shape shape = leat_value_shape(x);
    for (int i = 0; i < 10; i++) {
        leat_value y = any(b);
        leat_shape other = leat_value_shape(y);
        if (leat_value_dtype(y) == leat_value_dtype(x) &&
            (leati_shape_equal(&shape, &other) || other.rank == 0))
            return y;
    }
    return x;
}

static bool is_text(leat_value x) {
    return leat_value_dtype(x) == LEAT_STRING;
}

static leat_value unary(builder *b, leat_value x) {
    if (is_text(x))
        return next(b->dice) % 3 ? leat_op_string_upper(x, NULL) : leat_op_string_length(x, NULL);
    if (leat_value_dtype(x) == LEAT_BOOL)
        return leat_op_logical_not(x);
    if (next(b->dice) % 8 == 0)
        return leat_op_as_string(x, NULL);
    if (!is_float(x))
        return next(b->dice) % 2 ? leat_op_negate(x) : leat_op_square(x);
    switch (next(b->dice) % 6) {
    case 0: return leat_op_negate(x);
    case 1: return leat_op_abs(x);
    case 2: return leat_op_relu(x);
    case 3: return leat_op_tanh(x);
    case 4: return leat_op_sigmoid(x);
    default: return leat_op_square(x);
    }
}

static leat_value binary(builder *b, leat_value x) {
    leat_value y = partner(b, x), texts[3] = {y, x, y};
    if (is_text(x))
        return next(b->dice) % 4 ? leat_op_string_join(texts, 2 + (int)(next(b->dice) % 2), "-")
                                 : leat_op_equal(x, y);
    if (leat_value_dtype(x) == LEAT_BOOL)
        return leat_op_logical_and(x, y);
    switch (next(b->dice) % 7) {
    case 0: return leat_op_add(x, y);
    case 1: return leat_op_subtract(x, y);
    case 2: return leat_op_multiply(x, y);
    case 3: return leat_op_maximum(x, y);
    case 4: return is_float(x) ? leat_op_minimum(x, y) : leat_op_floordiv(x, y);
    case 5: return leat_op_select(leat_op_greater(x, y), x, y);
    default: return is_float(x) ? leat_op_divide(x, y) : leat_op_floormod(x, y);
    }
}

static leat_value reshaped(builder *b, leat_value x) {
    int64_t flat = -1, axis = 0;
    leat_value pair[2] = {x, x};
    int32_t rank = leat_value_shape(x).rank;
    switch (next(b->dice) % 6) {
    case 0: return leat_op_reshape(x, &flat, 1);
    case 1: return rank < 4 ? leat_op_expand_dims(x, 0) : leat_op_reshape(x, &flat, 1);
    case 2: return rank > 0 ? leat_op_concat(pair, 2, 0) : leat_op_expand_dims(x, 0);
    case 3: return rank < 4 ? leat_op_stack(pair, 2, 0) : leat_op_reshape(x, &flat, 1);
    case 4: return leat_op_transpose(x, NULL, 0);
    default:
        return rank > 0 && !is_text(x) && leat_value_dtype(x) != LEAT_BOOL
                   ? leat_op_reduce_max(x, &axis, 1, false)
                   : leat_op_transpose(x, NULL, 0);
    }
}

static leat_value number(leat_graph *graph, leat_dtype dtype, int value) {
    leat_tensor tensor = leat_scalar_float64(value);
    leat_value constant = leat_op_cast(leat_graph_tensor(graph, &tensor), dtype);
    leat_tensor_unref(&tensor);
    return constant;
}

static leat_value step(builder *b) {
    static const leat_dtype dtypes[] = {LEAT_FLOAT32, LEAT_INT32, LEAT_INT64, LEAT_FLOAT64};
    leat_value x = any(b);
    bool numeric = !is_text(x) && leat_value_dtype(x) != LEAT_BOOL;
    switch (next(b->dice) % (numeric ? 9 : 6)) {
    case 0:
    case 1: return unary(b, x);
    case 2:
    case 3:
    case 4: return binary(b, x);
    case 5: return reshaped(b, x);
    case 6: return leat_op_cast(x, dtypes[next(b->dice) % 4]);
    case 7: return leat_op_reduce_sum(x, NULL, 0, false);
    default: return leat_op_add(x, number(x.graph, leat_value_dtype(x), (int)(next(b->dice) % 5)));
    }
}

/* Rows of every column have these shapes; open dimensions differ from row to row. */
static leat_spec *draw_spec(uint32_t *dice, bool open, bool large) {
    leat_shape vector = LEAT_SHAPE(open ? LEAT_UNKNOWN_DIM : 3);
    leat_shape matrix = large ? LEAT_SHAPE(160, 150) : LEAT_SHAPE(2, 3);
    if (next(dice) % 2 && !large)
        matrix = LEAT_SHAPE(40, 17);
    leat_spec *children[COLUMNS] = {leat_spec_tensor(LEAT_FLOAT32, vector, NULL),
                                    leat_spec_tensor(LEAT_FLOAT32, matrix, NULL),
                                    leat_spec_tensor(LEAT_INT32, LEAT_SCALAR, NULL),
                                    leat_spec_tensor(LEAT_INT64, vector, NULL),
                                    leat_spec_tensor(LEAT_FLOAT32, LEAT_SCALAR, NULL),
                                    leat_spec_tensor(LEAT_STRING, vector, NULL)};
    return leat_spec_tuple(children, COLUMNS, NULL);
}

static leat_function *draw_function(uint32_t *dice, const leat_spec *spec, bool large) {
    leat_graph *graph = leat_graph_new(spec, NULL);
    builder b = {.dice = dice};
    for (int i = 0; i < leat_graph_num_arguments(graph); i++)
        b.values[b.count++] = leat_graph_argument(graph, i);
    int steps = 1 + (int)(next(dice) % 25);
    for (int i = 0; i < steps; i++) {
        leat_value value = step(&b);
        leat_shape shape = leat_value_shape(value);
        int64_t count = leati_shape_is_static(&shape) ? leati_shape_count(&shape) : 0;
        if (value.id >= 0 && count < (large ? 60000 : 3000))
            b.values[b.count++] = value;
    }
    leat_value outputs[3];
    int num_outputs = 1 + (int)(next(dice) % 3);
    for (int i = 0; i < num_outputs; i++)
        outputs[i] = next(dice) % 8 ? b.values[b.count - 1 - (int)(next(dice) % 3)] : any(&b);
    leat_error err = {0};
    leat_function *function = leat_graph_finish(graph, outputs, num_outputs, NULL, &err);
    if (function == NULL)
        fail_msg("%s", err.text);
    return function;
}

/* ---- rows ---- */

static leat_tensor draw_tensor(uint32_t *dice, leat_dtype dtype, leat_shape shape) {
    static const leat_string words[] = {{"one", 3}, {"", 0}, {"a longer text", 13}, {"4", 1}};
    union {
        float floats[160 * 150];
        int32_t ints[1];
        int64_t longs[16];
        leat_string texts[16];
    } values;
    for (int64_t i = 0; i < leati_shape_count(&shape); i++) {
        int value = (int)(next(dice) % 41) - 20;
        if (dtype == LEAT_FLOAT32)
            values.floats[i] = (float)value / 4;
        else if (dtype == LEAT_INT32)
            values.ints[i] = value + (value == 0);
        else if (dtype == LEAT_INT64)
            values.longs[i] = value;
        else
            values.texts[i] = words[next(dice) % 4];
    }
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(dtype, shape, &values, &tensor, NULL), LEAT_OK);
    return tensor;
}

/* Column c as an array of tensors; open dimensions are 2 or, rarely, something else. */
static void draw_column(uint32_t *dice, const leat_spec *spec, int c, int64_t n,
                        leati_column *column) {
    leat_buffer *array = leati_buffer_of_tensors(n, &(leat_error){0});
    leat_tensor *tensors = leat_buffer_data(array);
    for (int64_t i = 0; i < n; i++) {
        leat_shape shape = leat_spec_component_shape(spec, c);
        for (int32_t d = 0; d < shape.rank; d++)
            if (shape.dims[d] < 0)
                shape.dims[d] = next(dice) % 16 ? 2 : next(dice) % 4;
        tensors[i] = draw_tensor(dice, leat_spec_component_dtype(spec, c), shape);
    }
    leati_column_tensors(column, leat_spec_component_dtype(spec, c), array);
}

/* The same rows, strided, where their shapes agree. */
static void make_dense(leati_column *column, int64_t n) {
    leat_shape shape = leati_column_row_shape(column, 0);
    for (int64_t i = 1; i < n; i++) {
        leat_shape other = leati_column_row_shape(column, i);
        if (!leati_shape_equal(&shape, &other))
            return;
    }
    int64_t bytes = leati_shape_count(&shape) * (int64_t)leat_dtype_size(column->dtype);
    leat_buffer *buffer = leat_buffer_new((size_t)(n * bytes), NULL);
    leati_column_gather(column, 0, n, leat_buffer_data(buffer), bytes);
    assert_int_equal(leati_column_hold(column, 0, n, buffer, &(leat_error){0}), LEAT_OK);
    leat_buffer_unref(column->owner);
    leati_column_strided(column, column->dtype, &shape, leat_buffer_data(buffer), bytes, buffer);
}

static void draw_block(uint32_t *dice, const leat_spec *spec, int64_t n, leati_block *block) {
    leati_block plain = {0};
    int columns = leat_spec_num_components(spec);
    assert_int_equal(leati_block_prepare(&plain, columns, &(leat_error){0}), LEAT_OK);
    for (int c = 0; c < columns; c++) {
        draw_column(dice, spec, c, n, &plain.columns[c]);
        make_dense(&plain.columns[c], n);
    }
    plain.n = n;
    if (next(dice) % 2)
        assert_int_equal(leati_verify_reencode(&plain, next(dice), block, &(leat_error){0}),
                         LEAT_OK);
    else
        leati_block_move(&plain, block);
    leati_block_fini(&plain);
}

/* ---- comparison ---- */

struct oracle {
    leat_function *function;
    leat_tensor outputs[MAX_ROWS][3];
    int64_t good; /* rows before the first failing one */
    leat_error error;
};

static void ask_oracle(struct oracle *oracle, const leati_block *block, int64_t begin, int64_t n,
                       leati_call_context context) {
    for (oracle->good = 0; oracle->good < n; oracle->good++, context.ordinal++) {
        leat_tensor inputs[COLUMNS];
        for (int c = 0; c < COLUMNS; c++)
            inputs[c] = leati_column_tensor(&block->columns[c], begin + oracle->good);
        leat_status status = leati_interpret(oracle->function, inputs, &context,
                                             oracle->outputs[oracle->good], &oracle->error);
        for (int c = 0; c < COLUMNS; c++)
            leat_tensor_unref(&inputs[c]);
        if (status != LEAT_OK)
            return;
    }
}

static void free_oracle(struct oracle *oracle) {
    for (int64_t i = 0; i < oracle->good; i++)
        for (int k = 0; k < oracle->function->num_outputs; k++)
            leat_tensor_unref(&oracle->outputs[i][k]);
    leat_function_unref(oracle->function);
}

/* Equal bit for bit, but for the sign of a NaN: which operand's an addition keeps is the compiler's
 * choice. */
static bool same(const leat_tensor *a, const leat_tensor *b) {
    leat_shape shape_a = leat_tensor_shape(a), shape_b = leat_tensor_shape(b);
    if (a->dtype != LEAT_FLOAT32 || b->dtype != LEAT_FLOAT32 ||
        !leati_shape_equal(&shape_a, &shape_b))
        return leati_tensor_equal(a, b);
    const float *x = a->data, *y = b->data;
    for (int64_t i = 0; i < leat_tensor_count(a); i++)
        if (memcmp(&x[i], &y[i], sizeof x[i]) != 0 && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

static void compare(const struct oracle *oracle, const leati_block *out, int64_t n, uint32_t seed) {
    assert_int_equal(out->n, n);
    leat_error err = {0};
    if (leati_block_check(out, leat_function_output(oracle->function), &err) != LEAT_OK)
        fail_msg("seed %u: %s", seed, err.text);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < oracle->function->num_outputs; k++) {
            leat_tensor found = leati_column_tensor(&out->columns[k], i);
            if (!same(&found, &oracle->outputs[i][k]))
                fail_msg("seed %u: row %d of output %d differs", seed, (int)i, k);
            leat_tensor_unref(&found);
        }
}

static void one_seed(uint32_t seed, bool open, bool large, int *failures) {
    uint32_t dice = seed;
    leat_spec *spec = draw_spec(&dice, open, large);
    leat_function *function = draw_function(&dice, spec, large);
    leat_error err = {0};
    leati_program *program = leati_program_new(function, &err);
    if (program == NULL)
        fail_msg("seed %u: %s", seed, err.text);
    leati_scratch *scratch = leati_program_scratch_new(program, &(leat_error){0});
    struct oracle oracle = {.function = leati_graph_function_prune(function, &(leat_error){0})};
    leati_block in = {0}, out = {0};
    int64_t rows = 1 + next(&dice) % (large ? 4 : MAX_ROWS);
    draw_block(&dice, spec, rows, &in);
    int64_t begin = next(&dice) % rows, n = next(&dice) % (rows - begin + 1), failed = -1;
    leati_call_context context = {.ordinal = 17, .num_replicas = 1};
    ask_oracle(&oracle, &in, begin, n, context);
    leat_status status =
        leati_program_run(program, scratch, &in, begin, n, &context, &out, &failed, &err);
    if (oracle.good < n) {
        (*failures)++;
        assert_int_equal(status, oracle.error.code);
        assert_int_equal(failed, oracle.good);
        assert_string_equal(err.text, oracle.error.text);
        assert_int_equal(out.n, 0);
        status = leati_program_run(program, scratch, &in, begin, oracle.good, &context, &out,
                                   &failed, &err);
    }
    if (status != LEAT_OK)
        fail_msg("seed %u: %s", seed, err.text);
    compare(&oracle, &out, oracle.good, seed);
    free_oracle(&oracle);
    leati_block_fini(&in);
    leati_block_fini(&out);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    leat_function_unref(function);
    leat_spec_unref(spec);
}

/* How many times the usual number of seeds: `make test-long` asks for more. */
static uint32_t sweep(void) {
    const char *text = getenv("LEAT_SWEEP");
    int factor = text != NULL ? atoi(text) : 1;
    return factor > 1 && factor <= 1000 ? (uint32_t)factor : 1;
}

static void test_static_shapes(void **state) {
    (void)state;
    int failures = 0;
    for (uint32_t seed = 1; seed <= 3000 * sweep(); seed++)
        one_seed(seed, false, false, &failures);
    assert_true(failures > 20);
}

static void test_open_shapes(void **state) {
    (void)state;
    int failures = 0;
    for (uint32_t seed = 10000001; seed <= 10000000 + 2000 * sweep(); seed++)
        one_seed(seed, true, false, &failures);
    assert_true(failures > 20);
}

static void test_large_rows(void **state) {
    (void)state;
    int failures = 0;
    for (uint32_t seed = 20000001; seed <= 20000000 + 300 * sweep(); seed++)
        one_seed(seed, false, true, &failures);
    assert_true(failures > 0);
}

/* ---- memory ---- */

struct tortured {
    struct oracle oracle;
    const leati_block *in;
    uint32_t seed;
};

/* Rows that are good fail without memory, or are right. */
static leat_status compile_and_run(void *context, leat_error *err) {
    struct tortured *t = context;
    leati_block out = {0};
    int64_t failed = -1;
    leati_program *program = leati_program_new(t->oracle.function, err);
    leati_scratch *scratch = program != NULL ? leati_program_scratch_new(program, err) : NULL;
    leat_status status = scratch != NULL ? LEAT_OK : torture_code(err);
    leati_call_context call = {.ordinal = 17, .num_replicas = 1};
    for (int round = 0; round < 2 && status == LEAT_OK; round++)
        status = leati_program_run(program, scratch, t->in, 0, t->oracle.good, &call, &out, &failed,
                                   err);
    long calls = torture_count(), wanted = atomic_load(&torture_fail_on);
    torture_fail_at(0); /* comparing takes memory, too */
    if (status == LEAT_OK)
        compare(&t->oracle, &out, t->oracle.good, t->seed);
    leati_block_fini(&out);
    leati_program_scratch_free(scratch);
    leati_program_free(program);
    torture_fail_at(wanted);
    atomic_store(&torture_calls, calls);
    return status;
}

/* Each allocation fails; what is compared begins with the first row. */
static void torture_seed(uint32_t seed, bool open, bool large) {
    uint32_t dice = seed;
    struct tortured t = {.seed = seed};
    leat_spec *spec = draw_spec(&dice, open, large);
    leat_function *function = draw_function(&dice, spec, large);
    leati_block in = {0};
    leati_call_context context = {.ordinal = 17, .num_replicas = 1};
    int64_t rows = 1 + next(&dice) % 4;
    t.oracle.function = leati_graph_function_prune(function, &(leat_error){0});
    draw_block(&dice, spec, rows, &in);
    ask_oracle(&t.oracle, &in, 0, rows, context);
    t.in = &in;
    torture_run_tolerant(compile_and_run, &t);
    free_oracle(&t.oracle);
    leati_block_fini(&in);
    leat_function_unref(function);
    leat_spec_unref(spec);
}

static void test_no_memory(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        torture_seed(seed, false, false);
        torture_seed(10000000 + seed, true, false);
        if (seed % 8 == 0)
            torture_seed(20000000 + seed, false, true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_shapes), cmocka_unit_test(test_open_shapes),
        cmocka_unit_test(test_large_rows),
        cmocka_unit_test_setup_teardown(test_no_memory, torture_setup, torture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
