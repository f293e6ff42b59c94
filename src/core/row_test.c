/* Argument rows: defaults, checks and binding; their JSON form is tested in json_test.c. */
#include "support/cmocka.h"

#include "base/random.h"
#include "core/row.h"
#include "core/spec.h"
#include "support/refused.h"
#include "support/torture.h"

struct arguments {
    int64_t count;
    int64_t calls;
    bool flag;
    int8_t tri;
    double ratio;
    char *name;
    leat_shape shape;
    leat_dtype dtype;
    leati_seed_argument seed;
    leati_ints sizes;
    leati_floats weights;
    leati_strings files;
    leat_element element;
    leat_object *function;
};

#define AT(member) .offset = offsetof(struct arguments, member)

static const leati_row rows[] = {
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     AT(count),
     .default_number = -1,
     .minimum = 1,
     .maximum = INT64_MAX},
    {.name = "calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_AUTOTUNE,
     AT(calls),
     .default_number = 1,
     .minimum = 1,
     .maximum = 64},
    {.name = "flag", .type = LEATI_ROW_BOOL, AT(flag), .default_number = 1},
    {.name = "tri", .type = LEATI_ROW_BOOL_OR_NONE, AT(tri), .default_number = -1},
    {.name = "ratio", .type = LEATI_ROW_FLOAT, AT(ratio), .default_number = 0.25},
    {.name = "name", .type = LEATI_ROW_STRING, AT(name), .default_text = "default"},
    {.name = "shape", .type = LEATI_ROW_SHAPE, AT(shape)},
    {.name = "dtype", .type = LEATI_ROW_DTYPE, AT(dtype), .default_number = LEAT_INT64},
    {.name = "seed", .type = LEATI_ROW_SEED, AT(seed)},
    {.name = "sizes", .type = LEATI_ROW_INTS, AT(sizes), .minimum = 1, .maximum = INT64_MAX},
    {.name = "weights", .type = LEATI_ROW_FLOATS, AT(weights)},
    {.name = "files", .type = LEATI_ROW_STRINGS, AT(files)},
    {.name = "element", .type = LEATI_ROW_ELEMENT, AT(element)},
    {.name = "function", .type = LEATI_ROW_FUNCTION, .flags = LEATI_REQUIRED, AT(function)},
    {.type = LEATI_ROW_END},
};

static struct arguments defaults(void) {
    struct arguments args = {0};
    assert_int_equal(leati_rows_defaults(rows, &args, &(leat_error){0}), LEAT_OK);
    return args;
}

static void default_values(void **state) {
    (void)state;
    torture_begin();
    struct arguments args = defaults();
    assert_int_equal(args.count, -1);
    assert_true(args.flag);
    assert_int_equal(args.tri, -1);
    assert_true(args.ratio == 0.25);
    assert_string_equal(args.name, "default");
    assert_int_equal(args.shape.rank, LEAT_UNKNOWN_RANK);
    assert_int_equal(args.dtype, LEAT_INT64);
    assert_false(args.seed.given);
    assert_null(args.sizes.values);
    assert_ptr_equal(leati_rows_find(rows, "flag"), &rows[2]);
    assert_null(leati_rows_find(rows, "flags"));
    assert_null(leati_rows_find(rows, NULL));
    const leati_row huge = {.default_number = 1e30};
    assert_int_equal(leati_row_default_int(&huge), INT64_MAX);
    leati_rows_fini(rows, &args);
    assert_null(args.name);
    torture_end();
}

static void takes(struct arguments *args) {
    assert_int_equal(leati_rows_check(rows, args, "batch", &(leat_error){0}), LEAT_OK);
}

static void refuses(struct arguments *args, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    assert_int_equal(leati_rows_check(rows, args, "batch", &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void checks(void **state) {
    (void)state;
    torture_begin();
    struct arguments args = defaults();
    leat_object *nothing = (leat_object *)&args; /* never looked at */
    refuses(&args, LEAT_REASON_VALUE, "function");
    args.function = nothing;
    takes(&args);
    args.count = 0;
    refuses(&args, LEAT_REASON_VALUE, "count");
    args.count = INT64_MAX;
    args.calls = -1;
    takes(&args);
    args.calls = 65;
    refuses(&args, LEAT_REASON_VALUE, "calls");
    args.calls = 64;
    int64_t sizes[] = {1, 0};
    args.sizes = (leati_ints){.values = sizes, .count = 2};
    refuses(&args, LEAT_REASON_VALUE, "sizes");
    args.sizes = (leati_ints){0};
    args.function = NULL;
    leati_rows_fini(rows, &args);
    torture_end();
}

static leat_status bind(struct arguments *args, const char *name, leat_dtype dtype,
                        leat_shape shape, const void *data, leat_error *err) {
    leat_tensor tensor = leat_tensor_view(dtype, shape, data);
    return leati_rows_bind(rows, args, name, &tensor, err);
}

static void binding(void **state) {
    (void)state;
    torture_begin();
    struct arguments args = defaults();
    const int32_t numbers[] = {7, -1};
    const leat_string texts[] = {{"ab", 2}, {"", 0}};
    const uint8_t yes = 1;
    const float half = 0.5f;
    assert_int_equal(bind(&args, "count", LEAT_INT32, LEAT_SCALAR, numbers, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(bind(&args, "seed", LEAT_INT32, LEAT_SCALAR, numbers, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(bind(&args, "tri", LEAT_BOOL, LEAT_SCALAR, &yes, &(leat_error){0}), LEAT_OK);
    assert_int_equal(bind(&args, "ratio", LEAT_FLOAT32, LEAT_SCALAR, &half, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(bind(&args, "name", LEAT_STRING, LEAT_SCALAR, texts, &(leat_error){0}),
                     LEAT_OK);
    assert_int_equal(bind(&args, "shape", LEAT_INT32, LEAT_SHAPE(2), numbers, &(leat_error){0}),
                     LEAT_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(bind(&args, "sizes", LEAT_INT32, LEAT_SHAPE(2), numbers, &(leat_error){0}),
                         LEAT_OK);
        assert_int_equal(
            bind(&args, "weights", LEAT_INT32, LEAT_SHAPE(2), numbers, &(leat_error){0}), LEAT_OK);
        assert_int_equal(bind(&args, "files", LEAT_STRING, LEAT_SHAPE(2), texts, &(leat_error){0}),
                         LEAT_OK);
        assert_int_equal(
            bind(&args, "element", LEAT_STRING, LEAT_SHAPE(2), texts, &(leat_error){0}), LEAT_OK);
    }
    assert_int_equal(args.count, 7);
    assert_true(args.seed.given && args.seed.value == 7);
    assert_int_equal(args.tri, 1);
    assert_true(args.ratio == 0.5);
    assert_string_equal(args.name, "ab");
    assert_true(args.shape.rank == 2 && args.shape.dims[0] == 7 && args.shape.dims[1] == -1);
    assert_true(args.sizes.count == 2 && args.sizes.values[1] == -1);
    assert_true(args.weights.count == 2 && args.weights.values[0] == 7);
    assert_true(args.files.count == 2 && args.files.values[0].size == 2);
    assert_int_equal(args.element.tensors[0].dtype, LEAT_STRING);
    leati_rows_fini(rows, &args);
    torture_end();
}

static void binding_refuses(void **state) {
    (void)state;
    torture_begin();
    struct arguments args = defaults();
    leat_error err = {0};
    const int64_t numbers[] = {-7, 2};
    assert_int_equal(bind(&args, "count", LEAT_INT64, LEAT_SHAPE(2), numbers, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "count");
    assert_int_equal(bind(&args, "flag", LEAT_INT64, LEAT_SCALAR, numbers, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(bind(&args, "shape", LEAT_INT64, LEAT_SHAPE(2), numbers, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(bind(&args, "files", LEAT_INT64, LEAT_SHAPE(2), numbers, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(bind(&args, "function", LEAT_INT64, LEAT_SCALAR, numbers, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(bind(&args, "nothing", LEAT_INT64, LEAT_SCALAR, numbers, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    leat_tensor none = {0};
    assert_int_equal(leati_rows_bind(rows, &args, "count", &none, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(args.count, -1);
    leati_rows_fini(rows, &args);
    torture_end();
}

static const struct {
    const char *name, *type;
    const char *fits[3]; /* by rank: i integers, f floats, b bool, s strings */
} binding_cases[] = {
    {"count", "integer", {"i", "", ""}},
    {"flag", "bool", {"b", "", ""}},
    {"tri", "None", {"b", "", ""}},
    {"ratio", "number", {"if", "", ""}},
    {"name", "string", {"s", "", ""}},
    {"shape", "shape", {"", "i", ""}},
    {"seed", "seed", {"i", "", ""}},
    {"sizes", "integers", {"i", "i", ""}},
    {"weights", "numbers", {"if", "if", ""}},
    {"files", "strings", {"s", "s", ""}},
    {"element", "structure", {"ifbs", "ifbs", "ifbs"}},
    {"dtype", "dtype", {"", "", ""}},
    {"function", "function", {"", "", ""}},
};

/* Each argument with each dtype and rank: which may be bound, and what the others are told. */
static void binding_table(void **state) {
    (void)state;
    static const struct {
        leat_dtype dtype;
        char kind;
    } dtypes[] = {{LEAT_INT8, 'i'},    {LEAT_UINT16, 'i'}, {LEAT_INT64, 'i'}, {LEAT_FLOAT16, 'f'},
                  {LEAT_FLOAT64, 'f'}, {LEAT_BOOL, 'b'},   {LEAT_STRING, 's'}};
    const uint64_t zeros[4] = {0}; /* as strings: two empty ones */
    torture_begin();
    for (size_t i = 0; i < sizeof binding_cases / sizeof *binding_cases; i++) {
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            for (int rank = 0; rank < 3; rank++) {
                struct arguments args = defaults();
                leat_shape shape = {.rank = rank, .dims = {2, 1}};
                char found[128], text[128];
                leat_error err = {0};
                bool fits = strchr(binding_cases[i].fits[rank], dtypes[d].kind) != NULL;
                leat_status status =
                    bind(&args, binding_cases[i].name, dtypes[d].dtype, shape, zeros, &err);
                assert_int_equal(status, fits ? LEAT_OK : LEAT_INVALID_ARGUMENT);
                snprintf(found, sizeof found, "%s%s", leat_dtype_name(dtypes[d].dtype),
                         leati_shape_text(&shape, text));
                const char *const keywords[] = {binding_cases[i].name, binding_cases[i].type,
                                                found};
                for (int k = 0; k < 3 && !fits; k++)
                    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, keywords[k]);
                leati_rows_fini(rows, &args);
            }
        }
    }
    torture_end();
}

/* Values at the limits of what an argument holds. */
static void binding_limits(void **state) {
    (void)state;
    torture_begin();
    struct arguments args = defaults();
    leat_error err = {0};
    const uint64_t large = (uint64_t)INT64_MAX + 1;
    const uint8_t no = 0;
    const int64_t dims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bad[] = {3, -2};
    assert_int_equal(bind(&args, "count", LEAT_UINT64, LEAT_SCALAR, &large, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "9223372036854775808");
    assert_int_equal(bind(&args, "sizes", LEAT_UINT64, LEAT_SHAPE(1), &large, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "9223372036854775808");
    assert_int_equal(bind(&args, "flag", LEAT_BOOL, LEAT_SCALAR, &no, &err), LEAT_OK);
    assert_int_equal(bind(&args, "tri", LEAT_BOOL, LEAT_SCALAR, &no, &err), LEAT_OK);
    assert_false(args.flag);
    assert_int_equal(args.tri, 0);
    assert_int_equal(bind(&args, "ratio", LEAT_INT64, LEAT_SCALAR, &dims[6], &err), LEAT_OK);
    assert_true(args.ratio == 7);
    assert_int_equal(bind(&args, "shape", LEAT_INT64, LEAT_SHAPE(8), dims, &err), LEAT_OK);
    assert_int_equal(args.shape.rank, 8);
    assert_int_equal(args.shape.dims[7], 8);
    assert_int_equal(bind(&args, "shape", LEAT_INT64, LEAT_SHAPE(9), dims, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(bind(&args, "shape", LEAT_INT64, LEAT_SHAPE(2), bad, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(args.shape.rank, 8);
    assert_int_equal(bind(&args, "nothing", LEAT_INT64, LEAT_SCALAR, dims, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "nothing");
    leati_rows_fini(rows, &args);
    torture_end();
}

static leat_status bind_all(void *context, leat_error *err) {
    (void)context;
    struct arguments args = {0}, copy = {0};
    const int64_t numbers[] = {7, 2};
    const leat_string texts[] = {{"ab", 2}, {"c", 1}};
    leat_status status = leati_rows_defaults(rows, &args, err);
    if (status == LEAT_OK)
        status = bind(&args, "sizes", LEAT_INT64, LEAT_SHAPE(2), numbers, err);
    if (status == LEAT_OK)
        status = bind(&args, "weights", LEAT_INT64, LEAT_SHAPE(2), numbers, err);
    if (status == LEAT_OK)
        status = bind(&args, "files", LEAT_STRING, LEAT_SHAPE(2), texts, err);
    if (status == LEAT_OK)
        status = bind(&args, "element", LEAT_STRING, LEAT_SHAPE(2), texts, err);
    if (status == LEAT_OK)
        status = bind(&args, "name", LEAT_STRING, LEAT_SCALAR, texts, err);
    if (status == LEAT_OK)
        status = leati_rows_copy(rows, &args, &copy, err);
    if (status == LEAT_OK)
        assert_string_equal(copy.files.values[1].data, "c");
    leati_rows_fini(rows, &args);
    leati_rows_fini(rows, &copy);
    return status;
}

/* A tensor over the caller's memory is copied, unless the row says that it is referenced. */
static leat_status copy_views(void *context, leat_error *err) {
    static const leati_row referenced[] = {
        {.name = "element",
         .type = LEATI_ROW_ELEMENT,
         .flags = LEATI_REFERENCED,
         .offset = offsetof(struct arguments, element)},
        {0},
    };
    int64_t numbers[] = {1, 2};
    leat_tensor view = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), numbers);
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(2), err);
    struct arguments args = {.element = {.spec = spec, .tensors = &view, .num_tensors = 1}};
    struct arguments copies[2] = {{0}, {0}};
    (void)context;
    leat_status status =
        spec == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_rows_copy(rows, &args, &copies[0], err);
    if (status == LEAT_OK) {
        status = leati_rows_copy(referenced, &args, &copies[1], err);
        numbers[0] = 3;
        assert_int_equal(*(int64_t *)copies[0].element.tensors[0].data, 1);
    }
    if (status == LEAT_OK)
        assert_ptr_equal(copies[1].element.tensors[0].data, numbers);
    leati_rows_fini(rows, &copies[0]);
    leati_rows_fini(referenced, &copies[1]);
    leat_spec_unref(spec);
    return status;
}

static void torture(void **state) {
    (void)state;
    torture_begin();
    torture_run(bind_all, NULL);
    torture_run(copy_views, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_values), cmocka_unit_test(checks),
        cmocka_unit_test(binding),        cmocka_unit_test(binding_refuses),
        cmocka_unit_test(binding_table),  cmocka_unit_test(binding_limits),
        cmocka_unit_test(torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
