/* The builders of <leat/ops.h>: each makes the very node that leat_graph_call makes of the
 * operation's name and attributes, which the conformance suites run. Both are traced, and the
 * functions' texts compared. And what operations refuse while a graph is built. */
#include "support/cmocka.h"

#include "core/json.h"
#include "graph/graph.h"
#include "support/refused.h"
#include <leat/leat.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define ARGUMENTS(V)                                                                               \
    V(x, FLOAT32, 4) V(y, FLOAT32, 4) V(i, INT64, 4) V(j, INT64, 4) V(n, INT32, 4) V(b, BOOL, 4)    \
    V(d, BOOL, 4) V(s, STRING, 4) V(p, UINT8, 6, 5, 3) V(g, UINT8, 6, 5, 1) V(f, FLOAT32, 2, 6, 5, 3) \
    V(h, FLOAT32, 2, 2, 3, 3) V(m, FLOAT32, 3, 3) V(t, INT64, 2) V(z, INT64, 3) V(w, FLOAT32, 8, 2)   \
    V(o, FLOAT32, 2, 4) V(e, INT32, 2) V(r, INT32, 4) V(u, FLOAT32, 2, 1, 4) V(v, FLOAT32, 2)        \
    V(l, FLOAT32, 2, 3, 1, 3) V(A, INT32, 4, 1) V(B, FLOAT32, 2, 7) V(D, INT32, 3) V(E, FLOAT32, 1, 1, 1, 1, 1, 1, 1, 1) V(G, UINT8, 7, 5) V(H, STRING, 2, 6, 5, 3) V(I, STRING, 6, 5, 1) V(J, FLOAT32, 1, 3, 3) V(K, FLOAT32, -1, 2) V(L, FLOAT32, 2000) V(M, INT32, 1, 1, 1, 1, 1, 1, 1, 1)
#define SCALARS(V) V(c, STRING) V(k, INT64) V(a, INT32) V(q, FLOAT32) V(C, STRING)
/* clang-format on */

#define LETTER(NAME, ...) NAME##_place,
enum { ARGUMENTS(LETTER) SCALARS(LETTER) NUM_VALUES };
#define CHARACTER(NAME, ...) #NAME
static const char letters[] = ARGUMENTS(CHARACTER) SCALARS(CHARACTER);

#define LOCAL(NAME, ...) const leat_value NAME __attribute__((unused)) = values[NAME##_place];
#define SETTINGS static const int64_t four __attribute__((unused)) = 4;

static leat_spec *spec_of_one(const char *name, leat_dtype dtype, leat_shape shape) {
    leat_spec *child = leat_spec_tensor(dtype, shape, NULL);
    return leat_spec_dict(&name, &child, 1, NULL);
}

static int parse_example(leat_value serialized, leat_value *out) {
    leat_spec *features = spec_of_one("a", LEAT_INT64, LEAT_SCALAR);
    int count = leat_op_parse_example(serialized, features, NULL, out, LEAT_MAX_OUTPUTS);
    leat_spec_unref(features);
    return count;
}

static int parse_sequence_example(leat_value serialized, leat_value *out) {
    leat_spec *context = spec_of_one("a", LEAT_INT64, LEAT_SCALAR);
    leat_spec *sequence = spec_of_one("b", LEAT_FLOAT32, LEAT_SHAPE(-1));
    int count =
        leat_op_parse_sequence_example(serialized, context, sequence, NULL, out, LEAT_MAX_OUTPUTS);
    leat_spec_unref(context);
    leat_spec_unref(sequence);
    return count;
}

typedef int (*build_function)(const leat_value *values, leat_value *out);
#define ONE(LABEL, OPERATION, INPUTS, ATTRIBUTES, CALL)                                            \
    static int build_##LABEL(const leat_value *values, leat_value *out) {                          \
        SETTINGS ARGUMENTS(LOCAL) SCALARS(LOCAL) out[0] = CALL;                                    \
        return 1;                                                                                  \
    }
#define ALL(LABEL, OPERATION, INPUTS, ATTRIBUTES, COUNT, CALL)                                     \
    static int build_##LABEL(const leat_value *values, leat_value *out) {                          \
        SETTINGS ARGUMENTS(LOCAL) SCALARS(LOCAL) return CALL;                                      \
    }
#include "builders.def"
#undef ONE
#undef ALL

static const struct builder {
    const char *label, *operation, *inputs, *attributes;
    int num_outputs;
    build_function build;
} builders[] = {
#define ONE(LABEL, OPERATION, INPUTS, ATTRIBUTES, CALL)                                            \
    {#LABEL, OPERATION, INPUTS, ATTRIBUTES, 1, build_##LABEL},
#define ALL(LABEL, OPERATION, INPUTS, ATTRIBUTES, COUNT, CALL)                                     \
    {#LABEL, OPERATION, INPUTS, ATTRIBUTES, COUNT, build_##LABEL},
#include "builders.def"
#undef ONE
#undef ALL
};

struct case_of {
    const struct builder *builder;
    bool by_name;
};

static int trace_case(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    const struct case_of *c = context;
    leat_value values[NUM_VALUES], inputs[8];
    for (int i = 0; i < NUM_VALUES; i++)
        values[i] = leat_graph_argument(graph, i);
    if (!c->by_name)
        return c->builder->build(values, outputs);
    int count = 0;
    for (const char *at = c->builder->inputs; *at != '\0'; at++)
        inputs[count++] = values[strchr(letters, *at) - letters];
    return leat_graph_call(graph, c->builder->operation, c->builder->attributes, inputs, count,
                           outputs, LEAT_MAX_OUTPUTS);
}

static leat_spec *spec_of_values(void) {
    leat_spec *children[NUM_VALUES];
    int count = 0;
#define CHILD(NAME, DTYPE, ...)                                                                    \
    children[count++] = leat_spec_tensor(LEAT_##DTYPE, LEAT_SHAPE(__VA_ARGS__), NULL);
#define SCALAR_CHILD(NAME, DTYPE)                                                                  \
    children[count++] = leat_spec_tensor(LEAT_##DTYPE, LEAT_SCALAR, NULL);
    ARGUMENTS(CHILD)
    SCALARS(SCALAR_CHILD)
    return leat_spec_tuple(children, count, NULL);
}

/* The function as text. It is read once, so that attributes which a builder leaves out have their
 * defaults. */
static char *text_of(const struct builder *builder, bool by_name, const leat_spec *spec,
                     int *num_outputs) {
    leat_error err = {0};
    struct case_of c = {builder, by_name};
    leat_function *function = LEAT_TRACE(trace_case, &c, spec, &err);
    for (int i = 0; i < 2; i++) {
        if (function == NULL)
            fail_msg("%s, %s: %s", builder->label, by_name ? "by name" : "the builder", err.text);
        char *text = leat_function_to_json(function, &err);
        assert_non_null(text);
        *num_outputs = function->num_outputs;
        leat_function_unref(function);
        if (i == 1)
            return text;
        function = leat_function_from_json(text, &err);
        leat_text_free(text);
    }
    return NULL;
}

/* What follows the specs of the arguments. */
static const char *nodes_of(const char *text) {
    const char *nodes = strstr(text, "\"nodes\"");
    return nodes != NULL ? nodes : text;
}

static void test_builders(void **state) {
    (void)state;
    leat_spec *spec = spec_of_values();
    int wrong = 0;
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++) {
        int count = 0, expected = 0;
        char *text = text_of(&builders[i], false, spec, &count);
        char *by_name = text_of(&builders[i], true, spec, &expected);
        if (strcmp(text, by_name) != 0 || count != builders[i].num_outputs) {
            wrong++;
            printf("FAIL %s: %d outputs\n%s\nexpected %d\n%s\n", builders[i].label, count,
                   nodes_of(text), builders[i].num_outputs, nodes_of(by_name));
        }
        leat_text_free(text);
        leat_text_free(by_name);
    }
    leat_spec_unref(spec);
    assert_int_equal(wrong, 0);
}

/* Builders hand failures on: values of no graph, and those of a graph with an error, which stays
 * the first. */
static void test_failed_values(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++) {
        for (int with_graph = 0; with_graph < 2; with_graph++) {
            leat_error err = {0};
            leat_graph *graph = with_graph ? leat_graph_new(NULL, &err) : NULL;
            leat_value values[NUM_VALUES], out[LEAT_MAX_OUTPUTS] = {{0}};
            for (int k = 0; k < NUM_VALUES; k++)
                values[k] = with_graph ? leat_graph_fail(graph, LEAT_DATA_LOSS, "the first")
                                       : (leat_value){.graph = NULL, .id = -1};
            int count = builders[i].build(values, out);
            bool failed = count == -1 || (count == builders[i].num_outputs && out[0].id < 0);
            if (with_graph) {
                leat_function *function = leat_graph_finish(graph, values, 1, NULL, &err);
                failed &=
                    function == NULL && is_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "first");
                leat_function_unref(function);
            }
            if (!failed) {
                wrong++;
                printf("FAIL %s: %d outputs, %d, %s\n", builders[i].label, count, (int)out[0].id,
                       err.text);
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- what is refused ---- */

static const struct refusal {
    struct builder builder;
    leat_status code;
    leat_reason reason;
    const char *keyword;
} refusals[] = {
#define COMPUTED(OPERATION, INPUTS, ATTRIBUTES, REASON, KEYWORD)
#define REFUSED(OPERATION, INPUTS, ATTRIBUTES, CODE, REASON, KEYWORD)                              \
    {{OPERATION, OPERATION, INPUTS, ATTRIBUTES, 1, NULL},                                          \
     LEAT_##CODE,                                                                                  \
     LEAT_REASON_##REASON,                                                                         \
     KEYWORD},
#include "refused.def"
#undef REFUSED
#undef COMPUTED
};

static const struct {
    const char *operation, *inputs, *attributes;
    leat_reason reason;
    const char *keyword;
} computed[] = {
#define REFUSED(OPERATION, INPUTS, ATTRIBUTES, CODE, REASON, KEYWORD)
#define COMPUTED(OPERATION, INPUTS, ATTRIBUTES, REASON, KEYWORD)                                   \
    {OPERATION, INPUTS, ATTRIBUTES, LEAT_REASON_##REASON, KEYWORD},
#include "refused.def"
#undef REFUSED
#undef COMPUTED
};

/* What a builder says of lists, options and inputs that cannot be. */
static void test_misuse(void **state) {
    (void)state;
    static const int64_t ones[2] = {1, 1};
    leat_op_strided_slice_options none = {0}, steps = {LEAT_OP_STRIDED_SLICE_DEFAULTS};
    for (int misuse = 0; misuse < 6; misuse++) {
        leat_error err = {0};
        leat_graph *graph = leat_graph_new_eager(&err);
        const float values[4] = {1, 2, 3, 4};
        leat_tensor tensor =
            leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 2), (void *)(uintptr_t)values);
        leat_value x = leat_graph_tensor(graph, &tensor);
        leat_value failed = {.graph = NULL, .id = -1};
        static const char *const keywords[] = {
            "shape", "begin", "shape", "begin", "leat_op_strided_slice_options.size", "input"};
        switch (misuse) {
        case 0: (void)leat_op_reshape(x, ones, -2); break;
        case 1: (void)leat_op_strided_slice(x, ones, -1, ones, 2, NULL); break;
        case 2: (void)leat_op_reshape(x, NULL, 2); break;
        /* Options that are well do not make well what stands before them. */
        case 3: (void)leat_op_strided_slice(x, NULL, 2, ones, 2, &steps); break;
        case 4: (void)leat_op_strided_slice(x, ones, 2, ones, 2, &none); break;
        default: (void)leat_op_draw_bounding_boxes(x, x, failed); break; /* not one left out */
        }
        assert_int_equal(leat_graph_take_error(graph, &err), LEAT_INVALID_ARGUMENT);
        if (misuse < 5)
            assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, keywords[misuse]);
        else
            assert_refused(&err, LEAT_INVALID_ARGUMENT, err.reason, keywords[misuse]);
        leat_graph_free(graph);
    }
}

static void test_refusals(void **state) {
    (void)state;
    leat_spec *spec = spec_of_values();
    int wrong = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        struct case_of c = {&r->builder, true};
        leat_error err = {0};
        leat_function *function = LEAT_TRACE(trace_case, &c, spec, &err);
        if (function != NULL || !is_refused(&err, r->code, r->reason, r->builder.operation) ||
            !is_refused(&err, r->code, r->reason, r->keyword)) {
            wrong++;
            printf("FAIL %s(%s) %s\n", r->builder.operation, r->builder.inputs,
                   r->builder.attributes);
        }
        leat_function_unref(function);
    }
    leat_spec_unref(spec);
    assert_int_equal(wrong, 0);
}

static void test_refused_values(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        char whole[1024];
        leat_error err = {0};
        leat_element element = {0};
        leat_value inputs[4], out[LEAT_MAX_OUTPUTS];
        snprintf(whole, sizeof whole, "{\"tuple\": [%s]}", computed[i].inputs);
        json_t *json = leati_json_parse(whole, strlen(whole), &err);
        if (json == NULL || leati_json_to_element(json, &element, &err) != LEAT_OK)
            fail_msg("%s: %s", whole, err.text);
        leat_graph *graph = leat_graph_new_eager(&err);
        for (int k = 0; k < element.num_tensors; k++)
            inputs[k] = leat_graph_tensor(graph, &element.tensors[k]);
        leat_graph_call(graph, computed[i].operation, computed[i].attributes, inputs,
                        element.num_tensors, out, LEAT_MAX_OUTPUTS);
        (void)leat_graph_take_error(graph, &err);
        leat_reason reason = computed[i].reason;
        if (!is_refused(&err, LEAT_INVALID_ARGUMENT, reason, computed[i].keyword) ||
            !is_refused(&err, LEAT_INVALID_ARGUMENT, reason, computed[i].operation)) {
            wrong++;
            printf("FAIL %s(%s) %s\n", computed[i].operation, computed[i].inputs,
                   computed[i].attributes);
        }
        leat_graph_free(graph);
        leat_element_fini(&element);
        json_decref(json);
    }
    assert_int_equal(wrong, 0);
}

/* ---- plans ---- */

static const struct {
    const char *operator, * arguments, *inputs, *named;
    leat_reason reason;
    const char *keyword;
} refused_plans[] = {
#define PLAN(OPERATOR, ARGUMENTS, INPUTS, REASON, KEYWORD)                                         \
    {OPERATOR, ARGUMENTS, INPUTS, OPERATOR, LEAT_REASON_##REASON, KEYWORD},
#define PART(OPERATOR, ARGUMENTS, INPUTS, REASON, KEYWORD)                                         \
    {OPERATOR, ARGUMENTS, INPUTS, NULL, LEAT_REASON_##REASON, KEYWORD},
#include "refused_plans.def"
#undef PART
#undef PLAN
};

static void test_refused_plans(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof refused_plans / sizeof *refused_plans; i++) {
        char whole[4096];
        leat_error err = {0};
        const char *inputs = refused_plans[i].inputs;
        snprintf(whole, sizeof whole, "{\"op\": \"%s\", \"args\": %s%s%s}",
                 refused_plans[i].operator, refused_plans[i].arguments, *inputs ? ", " : "",
                 inputs);
        leat_dataset *dataset = leat_dataset_from_json(whole, &err);
        leat_reason reason = refused_plans[i].reason;
        if (dataset != NULL ||
            !is_refused(&err, LEAT_INVALID_ARGUMENT, reason, refused_plans[i].named) ||
            !is_refused(&err, LEAT_INVALID_ARGUMENT, reason, refused_plans[i].keyword)) {
            wrong++;
            printf("FAIL %s\n", whole);
        }
        leat_dataset_unref(dataset);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builders),       cmocka_unit_test(test_failed_values),
        cmocka_unit_test(test_misuse),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refused_values), cmocka_unit_test(test_refused_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
