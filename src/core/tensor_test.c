/* Dtypes, half precision, buffers, the buffer pool, and tensors. */
#include "support/cmocka.h"

#include "core/buffer.h"
#include "core/half.h"
#include "core/object.h"
#include "core/tensor.h"
#include "support/refused.h"
#include "support/torture.h"
#include <math.h>
#include <pthread.h>

static void dtypes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t size;
    } expected[] = {{"bool", 1},     {"int8", 1},    {"int16", 2},   {"int32", 4},   {"int64", 8},
                    {"uint8", 1},    {"uint16", 2},  {"uint32", 4},  {"uint64", 8},  {"float16", 2},
                    {"bfloat16", 2}, {"float32", 4}, {"float64", 8}, {"string", 16}, {"object", 8}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        leat_dtype dtype = leat_dtype_from_name(expected[i].name);
        assert_int_equal(dtype, i + 1);
        assert_string_equal(leat_dtype_name(dtype), expected[i].name);
        assert_int_equal(leat_dtype_size(dtype), expected[i].size);
    }
    assert_int_equal(leat_dtype_from_name("invalid"), LEAT_INVALID);
    assert_int_equal(leat_dtype_from_name("int"), LEAT_INVALID);
    assert_int_equal(leat_dtype_from_name(NULL), LEAT_INVALID);
    assert_string_equal(leat_dtype_name((leat_dtype)99), "invalid");
    assert_string_equal(leat_dtype_name((leat_dtype)-1), "invalid");
    assert_int_equal(leat_dtype_size((leat_dtype)-1), 0);
}

/* A half's value by its definition, in doubles. */
static double half_model(uint16_t bits) {
    double sign = bits & 0x8000 ? -1 : 1;
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static void every_half(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t bits = (uint16_t)i;
        double model = half_model(bits);
        float value = leati_float_of_half(bits);
        if (isnan(model)) {
            assert_true(isnan(value) && isnan(leati_float_of_half(leati_half_of_float(value))));
            continue;
        }
        assert_true((double)value == model && !signbit(value) == !(bits & 0x8000));
        assert_int_equal(leati_half_of_float(value), bits);
        if (isinf(model) || (bits & 0x7fff) == 0x7bff)
            continue;
        /* Between this half and the next of the same sign: the nearest, a tie to the even one. */
        float next = leati_float_of_half((uint16_t)(bits + 1));
        float middle = (value + next) / 2;
        assert_int_equal(leati_half_of_float(middle), bits & 1 ? bits + 1 : bits);
        assert_int_equal(leati_half_of_float(nextafterf(middle, value)), bits);
        assert_int_equal(leati_half_of_float(nextafterf(middle, next)), bits + 1);
        const float others[] = {value, middle, nextafterf(middle, value), nextafterf(middle, next)};
        for (int k = 0; k < 4; k++)
            assert_int_equal(leati_float_bits(leati_float_as_half(others[k])),
                             leati_float_bits(leati_float_of_half(leati_half_of_float(others[k]))));
    }
    assert_true(isinf(leati_float_as_half(65520.0f)) && isnan(leati_float_as_half(NAN)));
    assert_int_equal(leati_half_of_float(65519.996f), 0x7bff);
    assert_int_equal(leati_half_of_float(65520.0f), 0x7c00);
    assert_int_equal(leati_half_of_float(1e-10f), 0);
    assert_int_equal(leati_half_of_float(-1e30f), 0xfc00);
}

static void bfloat16(void **state) {
    (void)state;
    assert_int_equal(leati_bfloat16_of_float(3.140625f), 0x4049);
    assert_true(leati_float_of_bfloat16(0x4049) == 3.140625f);
    assert_int_equal(leati_bfloat16_of_float(0.1f), 0x3dcd);
    /* Ties go to even: 1 + 2^-8 lies between 0x3f80 and 0x3f81. */
    assert_int_equal(leati_bfloat16_of_float(1.00390625f), 0x3f80);
    assert_int_equal(leati_bfloat16_of_float(1.01171875f), 0x3f82);
    assert_int_equal(leati_bfloat16_of_float(3.4e38f), 0x7f80);
    assert_int_equal(leati_bfloat16_of_float(-(float)INFINITY), 0xff80);
    assert_true(isnan(leati_float_of_bfloat16(leati_bfloat16_of_float((float)NAN))));
}

static int deleted;

static void count_delete(void *context, void *data, size_t size) {
    assert_ptr_equal(context, &deleted);
    assert_non_null(data);
    assert_int_equal(size, 3);
    deleted++;
}

static void buffers(void **state) {
    (void)state;
    torture_begin();
    leat_buffer *buffer = leat_buffer_new(100, NULL);
    assert_int_equal((uintptr_t)leat_buffer_data(buffer) % 64, 0);
    assert_int_equal(leat_buffer_size(buffer), 100);
    assert_true(leati_buffer_sole_owner(buffer));
    leat_buffer *again = leat_buffer_ref(buffer);
    assert_false(leati_buffer_sole_owner(buffer));
    leat_buffer_unref(again);
    char memory[3];
    deleted = 0;
    leat_buffer *adopted = leat_buffer_adopt(memory, 3, count_delete, &deleted, NULL);
    assert_false(leati_buffer_sole_owner(adopted));
    assert_int_equal(leati_buffer_hold(buffer, adopted, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_buffer_hold(buffer, adopted, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_buffer_hold(buffer, NULL, &(leat_error){0}), LEAT_OK);
    assert_int_equal(buffer->num_holds, 1);
    assert_int_equal(leati_buffer_pinned(buffer), 103);
    leat_buffer_unref(adopted);
    assert_int_equal(deleted, 0);
    leat_buffer_unref(buffer);
    assert_int_equal(deleted, 1);
    /* The deleter runs also if adopting fails. */
    torture_fail_at(1);
    leat_error err = {0};
    assert_null(leat_buffer_adopt(memory, 3, count_delete, &deleted, &err));
    assert_int_equal(err.code, LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(deleted, 2);
    torture_fail_at(0);
    assert_null(leat_buffer_new(SIZE_MAX - 10, &err));
    leat_buffer_unref(NULL);
    assert_null(leat_buffer_ref(NULL));
    torture_end();
}

/* A long chain of holds is released without recursion. */
static void chains(void **state) {
    (void)state;
    torture_begin();
    leat_buffer *last = NULL;
    for (int i = 0; i < 200000; i++) {
        leat_buffer *buffer = leat_buffer_new(8, NULL);
        assert_int_equal(leati_buffer_hold(buffer, last, &(leat_error){0}), LEAT_OK);
        leat_buffer_unref(last);
        last = buffer;
    }
    leat_buffer_unref(last);
    torture_end();
}

static void *take_and_drop(void *context) {
    for (int i = 0; i < 2000; i++) {
        leat_buffer *first = leati_buffer_pool_take(context, &(leat_error){0});
        leat_buffer *second = leati_buffer_pool_take(context, &(leat_error){0});
        *(int *)leat_buffer_data(first) = i;
        leat_buffer_unref(first);
        leat_buffer_unref(second);
    }
    return NULL;
}

static void pools(void **state) {
    (void)state;
    torture_begin();
    leati_buffer_pool *pool = leati_buffer_pool_new(64, &(leat_error){0});
    leat_buffer *first = leati_buffer_pool_take(pool, &(leat_error){0});
    leat_buffer *held = leat_buffer_new(1, NULL);
    assert_int_equal(leati_buffer_hold(first, held, &(leat_error){0}), LEAT_OK);
    leat_buffer_unref(held);
    void *data = leat_buffer_data(first);
    leat_buffer_unref(first);
    long before = torture_count();
    first = leati_buffer_pool_take(pool, &(leat_error){0});
    assert_ptr_equal(leat_buffer_data(first), data);
    assert_int_equal(first->num_holds, 0);
    assert_int_equal(torture_count(), before);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_drop, pool), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    /* A buffer may outlive its pool's opener. */
    leati_buffer_pool_close(pool);
    memset(leat_buffer_data(first), 1, 64);
    leat_buffer_unref(first);
    leati_buffer_pool_close(NULL);
    torture_end();
}

static void tensors(void **state) {
    (void)state;
    torture_begin();
    leat_tensor tensor, row;
    const int32_t values[] = {1, 2, 3, 4, 5, 6};
    leat_error err = {0};
    assert_int_equal(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(3, 2), values, &tensor, NULL), 0);
    assert_int_equal(leat_tensor_count(&tensor), 6);
    assert_int_equal(leat_tensor_bytes(&tensor), 24);
    assert_int_equal(leat_tensor_row(&tensor, 2, &row, NULL), LEAT_OK);
    leat_tensor_unref(&tensor);
    assert_int_equal(row.rank, 1);
    assert_int_equal(((int32_t *)row.data)[1], 6);
    assert_int_equal(leat_tensor_row(&row, 2, &tensor, &err), LEAT_OUT_OF_RANGE);
    assert_refused(&err, LEAT_OUT_OF_RANGE, LEAT_REASON_NONE, "2");
    assert_int_equal(leat_tensor_row(&row, -1, &tensor, NULL), LEAT_OUT_OF_RANGE);
    assert_int_equal(leat_tensor_row(&row, 0, &tensor, NULL), LEAT_OK);
    leat_tensor_unref(&row);
    assert_int_equal(leat_tensor_row(&tensor, 0, &row, NULL), LEAT_INVALID_ARGUMENT);
    leat_tensor_unref(&tensor);
    assert_int_equal(tensor.dtype, LEAT_INVALID);
    leat_tensor_unref(&tensor);
    torture_end();
}

static void bad_tensors(void **state) {
    (void)state;
    torture_begin();
    leat_tensor tensor;
    leat_error err = {0};
    assert_int_equal(leat_tensor_new(LEAT_INVALID, LEAT_SCALAR, &tensor, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_tensor_new(LEAT_INT8, LEAT_SHAPE(2, -1), &tensor, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "[2, ?]");
    assert_int_equal(leat_tensor_new(LEAT_INT8, (leat_shape){.rank = 9}, &tensor, NULL),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(INT64_MAX / 4), &tensor, NULL),
                     LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(INT64_MAX, INT64_MAX), &tensor, NULL),
                     LEAT_RESOURCE_EXHAUSTED);
    assert_int_equal(leat_tensor_copy_of(LEAT_INT8, LEAT_SHAPE(1), NULL, &tensor, NULL),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(
        leat_tensor_new(LEAT_FLOAT32, LEAT_SHAPE(0, INT64_MAX, INT64_MAX), &tensor, NULL), LEAT_OK);
    assert_int_equal(leat_tensor_count(&tensor), 0);
    leat_tensor_unref(&tensor);
    torture_fail_at(1);
    assert_int_equal(leat_scalar_int64(1).dtype, LEAT_INVALID);
    torture_end();
}

static void string_tensors(void **state) {
    (void)state;
    torture_begin();
    char bytes[] = "abc";
    const leat_string texts[] = {{bytes, 3}, {NULL, 0}, {"x\0y", 3}};
    leat_tensor tensor, clone;
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(3), texts, &tensor, NULL), 0);
    assert_int_equal(torture_live(), 1); /* headers and bytes are one buffer */
    bytes[0] = 'z';
    const leat_string *copies = tensor.data;
    assert_memory_equal(copies[0].data, "abc", 3);
    assert_int_equal(copies[1].size, 0);
    assert_memory_equal(copies[2].data, "x\0y", 3);
    assert_int_equal(leati_tensor_clone(&tensor, &clone, &(leat_error){0}), LEAT_OK);
    assert_true(leati_tensor_equal(&tensor, &clone));
    ((leat_string *)clone.data)[2].size = 2;
    assert_false(leati_tensor_equal(&tensor, &clone));
    leat_tensor_unref(&tensor);
    leat_tensor_unref(&clone);
    assert_int_equal(leat_tensor_new(LEAT_STRING, LEAT_SHAPE(2), &tensor, NULL), LEAT_OK);
    assert_int_equal(((leat_string *)tensor.data)[1].size, 0);
    leat_tensor_unref(&tensor);
    torture_end();
}

static void values(void **state) {
    (void)state;
    torture_begin();
    int64_t number = 0;
    leat_tensor scalar = leat_scalar_int32(-5);
    assert_int_equal(leati_tensor_to_int64(&scalar, &number, &(leat_error){0}), LEAT_OK);
    assert_int_equal(number, -5);
    leat_tensor_unref(&scalar);
    scalar = leat_scalar_bool(true);
    assert_int_equal(leati_tensor_int_at(&scalar, 0), 1);
    leat_tensor_unref(&scalar);
    scalar = leat_scalar_float32(0.5f);
    assert_true(leati_tensor_float_at(&scalar, 0) == 0.5);
    leat_error err = {0};
    assert_int_equal(leati_tensor_to_int64(&scalar, &number, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "float32");
    leat_tensor_unref(&scalar);
    scalar = leat_scalar_float64(2.5);
    assert_true(*(double *)scalar.data == 2.5);
    leat_tensor_unref(&scalar);
    scalar = leat_scalar_string("text");
    assert_int_equal(((leat_string *)scalar.data)->size, 4);
    leat_tensor_unref(&scalar);
    uint64_t large = UINT64_MAX;
    leat_tensor view = leat_tensor_view(LEAT_UINT64, LEAT_SCALAR, &large);
    assert_int_equal(leati_tensor_to_int64(&view, &number, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_null(view.owner);
    assert_int_equal(leat_tensor_view(LEAT_UINT64, LEAT_SHAPE(-1), &large).dtype, LEAT_INVALID);
    torture_end();
}

/* Each dtype's values as an int64 and as a double; a uint64 beyond int64 stays at its end. */
static void values_of_dtypes(void **state) {
    (void)state;
    static const uint8_t bytes[] = {200, 100}, bools[] = {1, 0};
    static const int8_t small[] = {-128, 127};
    static const int16_t shorts[] = {-32768, 32767};
    static const int32_t ints[] = {INT32_MIN, INT32_MAX};
    static const int64_t longs[] = {INT64_MIN, INT64_MAX};
    static const uint16_t words[] = {0, 65535};
    static const uint32_t naturals[] = {0, UINT32_MAX};
    static const uint64_t large[] = {7, UINT64_MAX};
    static const uint16_t halves[] = {0x3c00, 0xc500}, brains[] = {0x3f80, 0xc0a0};
    static const float floats[] = {1, -5};
    static const double doubles[] = {1, -5};
    static const struct {
        leat_dtype dtype;
        const void *data;
        int64_t integers[2];
        double numbers[2];
    } cases[] = {
        {LEAT_BOOL, bools, {1, 0}, {1, 0}},
        {LEAT_UINT8, bytes, {200, 100}, {200, 100}},
        {LEAT_INT8, small, {-128, 127}, {-128, 127}},
        {LEAT_INT16, shorts, {-32768, 32767}, {-32768, 32767}},
        {LEAT_INT32, ints, {INT32_MIN, INT32_MAX}, {-0x1p31, 0x1p31 - 1}},
        {LEAT_INT64, longs, {INT64_MIN, INT64_MAX}, {-0x1p63, 0x1p63}},
        {LEAT_UINT16, words, {0, 65535}, {0, 65535}},
        {LEAT_UINT32, naturals, {0, UINT32_MAX}, {0, 0x1p32 - 1}},
        {LEAT_UINT64, large, {7, INT64_MAX}, {7, 0x1p64}},
        {LEAT_FLOAT16, halves, {0, 0}, {1, -5}},
        {LEAT_BFLOAT16, brains, {0, 0}, {1, -5}},
        {LEAT_FLOAT32, floats, {0, 0}, {1, -5}},
        {LEAT_FLOAT64, doubles, {0, 0}, {1, -5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_tensor two = leat_tensor_view(cases[i].dtype, LEAT_SHAPE(2), cases[i].data);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(leati_tensor_int_at(&two, k), cases[i].integers[k]);
            assert_true(leati_tensor_float_at(&two, k) == cases[i].numbers[k]);
        }
        /* One of them is an integer, two or a float are not. */
        int64_t number = 99;
        leat_tensor one = leat_tensor_view(cases[i].dtype, LEAT_SHAPE(1, 1), cases[i].data);
        bool whole = cases[i].dtype < LEAT_FLOAT16;
        assert_int_equal(leati_tensor_to_int64(&two, &number, &(leat_error){0}),
                         LEAT_INVALID_ARGUMENT);
        assert_int_equal(leati_tensor_to_int64(&one, &number, &(leat_error){0}),
                         whole ? LEAT_OK : LEAT_INVALID_ARGUMENT);
        assert_int_equal(number, whole ? cases[i].integers[0] : 99);
    }
}

static void tensors_that_cannot_be(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor tensor;
    assert_int_equal(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(2), NULL, &tensor, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "8");
    assert_int_equal(leat_tensor_copy_of(LEAT_INT32, LEAT_SHAPE(2, 0), NULL, &tensor, &err),
                     LEAT_OK);
    leat_tensor_unref(&tensor);
    assert_int_equal(leat_tensor_new(LEAT_INVALID, LEAT_SCALAR, &tensor, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "0");
    assert_int_equal(leat_tensor_new(LEAT_INT8, (leat_shape){.rank = 9}, &tensor, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "invalid");
    assert_int_equal(leat_tensor_new(LEAT_INT64, LEAT_SHAPE(INT64_MAX / 4), &tensor, &err),
                     LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "[2305843009213693951]");
    leat_string huge[] = {{"a", SIZE_MAX / 2}, {"a", SIZE_MAX / 2}};
    assert_int_equal(leat_tensor_copy_of(LEAT_STRING, LEAT_SHAPE(2), huge, &tensor, &err),
                     LEAT_RESOURCE_EXHAUSTED);
}

static int freed;

static void free_object(leat_object *object) {
    (void)object;
    freed++;
}

static void object_tensors(void **state) {
    (void)state;
    torture_begin();
    static const leati_object_type type = {.name = "thing", .free = free_object};
    leat_object object;
    leati_object_init(&object, &type);
    leat_object *pair[] = {&object, NULL};
    leat_tensor tensor;
    freed = 0;
    assert_int_equal(leat_tensor_copy_of(LEAT_OBJECT, LEAT_SHAPE(2), pair, &tensor, NULL), LEAT_OK);
    leati_object_unref(&object);
    assert_int_equal(freed, 0);
    leat_tensor_unref(&tensor);
    assert_int_equal(freed, 1);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes),           cmocka_unit_test(every_half),
        cmocka_unit_test(bfloat16),         cmocka_unit_test(buffers),
        cmocka_unit_test(chains),           cmocka_unit_test(pools),
        cmocka_unit_test(tensors),          cmocka_unit_test(bad_tensors),
        cmocka_unit_test(string_tensors),   cmocka_unit_test(values),
        cmocka_unit_test(values_of_dtypes), cmocka_unit_test(tensors_that_cannot_be),
        cmocka_unit_test(object_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
