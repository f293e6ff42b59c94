/* The named generators of the cases: lists of values, then the end or a failure. Each is registered
 * twice, as it is and, under NAME.pure, as one that may be run again. */
#include "golden.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(N) "{\"dtype\": \"int64\", \"shape\": [], \"data\": [" #N "]}"
#define NUMBERS(COUNT, ...)                                                                        \
    "{\"dtype\": \"int64\", \"shape\": [" #COUNT "], \"data\": [" #__VA_ARGS__ "]}"
#define FLOATS(COUNT, ...)                                                                         \
    "{\"dtype\": \"float64\", \"shape\": [" #COUNT "], \"data\": [" #__VA_ARGS__ "]}"
#define TEXT(T) "{\"dtype\": \"string\", \"shape\": [], \"data\": [\"" T "\"]}"
#define PAIR(A, B) "{\"tuple\": [" A ", " B "]}"
#define DICT(A, B) "{\"dict\": {\"a\": " A ", \"b\": " B "}}"

typedef struct listed {
    const char *name;
    const char *values[7]; /* elements as JSON, up to NULL */
    leat_status failure;   /* LEAT_OK: the end */
} listed;

static const listed generators[] = {
    {.name = "gen_count_5", {NUMBER(0), NUMBER(1), NUMBER(2), NUMBER(3), NUMBER(4)}},
    {.name = "gen_empty", {NULL}},
    {.name = "gen_one", {NUMBER(7)}},
    {.name = "gen_pairs",
     {PAIR(NUMBER(0), TEXT("a")), PAIR(NUMBER(1), TEXT("bb")), PAIR(NUMBER(2), TEXT("ccc"))}},
    {.name = "gen_dicts", {DICT(NUMBER(0), FLOATS(1, 1.5)), DICT(NUMBER(1), FLOATS(2, 2.5, 3.5))}},
    {.name = "gen_ragged_vectors",
     {NUMBERS(0), NUMBERS(1, 1), NUMBERS(2, 1, 2), NUMBERS(3, 1, 2, 3)}},
    {.name = "gen_fail_after_2", {NUMBER(0), NUMBER(1)}, LEAT_INVALID_ARGUMENT},
    {.name = "gen_fail_unknown", {NUMBER(0), NUMBER(1)}, LEAT_UNKNOWN},
    {.name = "gen_fail_not_implemented", {NUMBER(0)}, LEAT_UNIMPLEMENTED},
    {.name = "gen_fail_memory", {NUMBER(0)}, LEAT_RESOURCE_EXHAUSTED},
    {.name = "gen_wrong_type", {NUMBER(0), TEXT("text"), NUMBER(2)}},
    {.name = "gen_wrong_shape", {NUMBERS(2, 1, 2), NUMBERS(3, 1, 2, 3), NUMBERS(2, 3, 4)}},
};

/* Runs that were opened and not yet closed. */
static atomic_int running;

typedef struct run {
    int64_t next, count;
} run;

static leat_status open_run(void *context, const leat_element *args, void **out, leat_error *err) {
    run *made = calloc(1, sizeof *made);
    (void)context;
    if (made == NULL)
        return leati_fail(err, LEAT_RESOURCE_EXHAUSTED, "no memory for a run");
    if (args->num_tensors == 1)
        made->count = *(const int64_t *)args->tensors[0].data;
    atomic_fetch_add(&running, 1);
    *out = made;
    return LEAT_OK;
}

static void close_run(void *context, void *opened) {
    (void)context;
    atomic_fetch_sub(&running, 1);
    free(opened);
}

static leat_status next_listed(void *context, void *opened, leat_element *out, leat_error *err) {
    const listed *list = context;
    run *r = opened;
    const char *value = list->values[r->next];
    if (value == NULL && list->failure == LEAT_OK)
        return LEAT_OUT_OF_RANGE;
    if (value == NULL)
        return leati_fail(err, list->failure, "the generator failed by order");
    r->next++;
    json_t *json = leati_json_parse(value, strlen(value), err);
    leat_status status = json == NULL ? err->code : leati_json_to_element(json, out, err);
    json_decref(json);
    return status;
}

static leat_status next_counted(void *context, void *opened, leat_element *out, leat_error *err) {
    run *r = opened;
    (void)context;
    if (r->next >= r->count)
        return LEAT_OUT_OF_RANGE;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, err);
    leat_tensor tensor = {0};
    leat_status status = leat_tensor_copy_of(LEAT_INT64, LEAT_SCALAR, &r->next, &tensor, err);
    if (status == LEAT_OK)
        status = spec == NULL ? err->code : leat_element_set(out, spec, &tensor, err);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
    r->next += status == LEAT_OK;
    return status;
}

static void name_twice(const char *name, const leat_generator *functions, void *context) {
    char pure[100];
    leat_error err = {0};
    snprintf(pure, sizeof pure, "%s.pure", name);
    if (leat_generator_register(name, functions, context, 0, &err) != LEAT_OK ||
        leat_generator_register(pure, functions, context, LEAT_PURE, &err) != LEAT_OK) {
        fprintf(stderr, "generator %s: %s\n", name, err.text);
        abort();
    }
}

static void name_all(bool on) {
    static const leat_generator by_list = {open_run, next_listed, close_run};
    static const leat_generator by_count = {open_run, next_counted, close_run};
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
        name_twice(generators[i].name, on ? &by_list : NULL, (void *)&generators[i]);
    name_twice("gen_count_to", on ? &by_count : NULL, NULL);
}

void golden_generators_begin(void) {
    name_all(true);
}

int golden_generators_end(void) {
    name_all(false);
    return atomic_load(&running);
}
