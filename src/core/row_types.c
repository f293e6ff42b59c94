/* The types of argument rows: what each does with its member of an argument struct. Lists are
 * treated by the walkers (core/row.c, core/json_rows.c), value by value.
 *
 * Failures: INVALID_ARGUMENT (values that do not fit), UNIMPLEMENTED (functions and objects where
 * nobody can write or read them), RESOURCE_EXHAUSTED. No state, no locks. */
#include "core/row_type.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "core/element.h"
#include "core/json_parts.h"
#include "core/object.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <string.h>

static json_t *made(const leati_row_call *call, json_t *json) {
    return json != NULL ? json : leati_json_no_memory(call->err);
}

static leat_status fail_type(const leati_row_call *call, const json_t *json) {
    return leati_refuse(
        call->err, DTYPE, "expected %s%s, found %s", leati_row_type_name(call->row->type),
        call->row->flags & LEATI_AUTOTUNE ? " or \"AUTOTUNE\"" : "", leati_json_type(json));
}

static uint64_t hash_int(int64_t value, uint64_t seed) {
    return leati_hash(&value, sizeof value, seed);
}

static uint64_t hash_chars(const char *text, uint64_t seed) {
    return text != NULL ? leati_hash(text, strlen(text), seed) : leati_hash("", 1, seed);
}

static bool is_numeric(leat_dtype dtype) {
    return leati_dtype_is_integer(dtype) || leati_dtype_is_float(dtype);
}

static bool is_bool(leat_dtype dtype) {
    return dtype == LEAT_BOOL;
}

static bool is_text(leat_dtype dtype) {
    return dtype == LEAT_STRING;
}

static bool is_any(leat_dtype dtype) {
    return dtype != LEAT_INVALID;
}

/* ---- bool, bool or None: one byte, -1, 0 or 1 ---- */

static void set_choice(const leati_row *row, void *at) {
    *(int8_t *)at = (int8_t)row->default_number;
}

static bool no_choice(const void *at) {
    return *(const int8_t *)at < 0;
}

static void choose_none(void *at) {
    *(int8_t *)at = -1;
}

static json_t *write_choice(const leati_row_call *call, const void *at) {
    return made(call, json_boolean(*(const int8_t *)at != 0));
}

static leat_status read_choice(const leati_row_call *call, const json_t *json, void *at) {
    if (!json_is_boolean(json))
        return fail_type(call, json);
    *(int8_t *)at = json_is_true(json);
    return LEAT_OK;
}

static leat_status bind_choice(const leati_row_call *call, const leat_tensor *value, int64_t i,
                               void *at) {
    (void)call;
    *(int8_t *)at = leati_tensor_int_at(value, i) != 0;
    return LEAT_OK;
}

static uint64_t hash_choice(const void *at, uint64_t seed) {
    return hash_int(*(const int8_t *)at, seed);
}

/* ---- integers and seeds ---- */

static void set_int(const leati_row *row, void *at) {
    *(int64_t *)at = leati_row_default_int(row);
}

static json_t *write_int(const leati_row_call *call, const void *at) {
    int64_t value = *(const int64_t *)at;
    bool autotune = (call->row->flags & LEATI_AUTOTUNE) && value == -1;
    return made(call, autotune ? json_string("AUTOTUNE") : json_integer(value));
}

static leat_status read_int(const leati_row_call *call, const json_t *json, void *at) {
    const char *text = json_string_value(json);
    bool autotune =
        (call->row->flags & LEATI_AUTOTUNE) && text != NULL && strcmp(text, "AUTOTUNE") == 0;
    if (!autotune && !json_is_integer(json))
        return fail_type(call, json);
    *(int64_t *)at = autotune ? -1 : json_integer_value(json);
    return LEAT_OK;
}

static leat_status bind_int(const leati_row_call *call, const leat_tensor *value, int64_t i,
                            void *at) {
    leat_status status = leati_tensor_int64_at(value, i, at, call->err);
    if (status != LEAT_OK)
        leati_prefix(call->err, "argument %s", call->row->name);
    return status;
}

static uint64_t hash_number(const void *at, uint64_t seed) {
    return leati_hash(at, 8, seed);
}

static bool no_seed(const void *at) {
    return !((const leati_seed_argument *)at)->given;
}

static json_t *write_seed(const leati_row_call *call, const void *at) {
    return made(call, json_integer(((const leati_seed_argument *)at)->value));
}

static leat_status read_seed(const leati_row_call *call, const json_t *json, void *at) {
    leati_seed_argument *seed = at;
    LEATI_TRY(read_int(call, json, &seed->value));
    seed->given = true;
    return LEAT_OK;
}

static leat_status bind_seed(const leati_row_call *call, const leat_tensor *value, int64_t i,
                             void *at) {
    leati_seed_argument *seed = at;
    LEATI_TRY(bind_int(call, value, i, &seed->value));
    seed->given = true;
    return LEAT_OK;
}

static uint64_t hash_seed(const void *at, uint64_t seed) {
    const leati_seed_argument *argument = at;
    return hash_int(argument->given ? argument->value : 0, hash_int(argument->given, seed));
}

/* An empty list is told from none, as a permutation or a shape [] differs from None. */
static uint64_t hash_ints(const void *at, uint64_t seed) {
    const leati_ints *ints = at;
    seed = hash_int(ints->count > 0 || ints->values == NULL ? ints->count : -1, seed);
    return ints->count ? leati_hash(ints->values, (size_t)ints->count * sizeof(int64_t), seed)
                       : seed;
}

/* ---- numbers ---- */

static void set_float(const leati_row *row, void *at) {
    *(double *)at = row->default_number;
}

static json_t *write_float(const leati_row_call *call, const void *at) {
    return made(call, leati_json_of_double(*(const double *)at));
}

static leat_status read_float(const leati_row_call *call, const json_t *json, void *at) {
    return leati_json_to_double(json, at, call->err);
}

static leat_status bind_float(const leati_row_call *call, const leat_tensor *value, int64_t i,
                              void *at) {
    if (leati_dtype_is_complex(value->dtype))
        return leati_refuse(call->err, DTYPE, "expected a real number, found a %s",
                            leat_dtype_name(value->dtype));
    *(double *)at = leati_tensor_float_at(value, i);
    return LEAT_OK;
}

static uint64_t hash_floats(const void *at, uint64_t seed) {
    const leati_floats *floats = at;
    seed = hash_int(floats->count, seed);
    return floats->count ? leati_hash(floats->values, (size_t)floats->count * sizeof(double), seed)
                         : seed;
}

/* ---- text: a string of C, or a value of a list, which may hold any byte ---- */

static void set_string(const leati_row *row, void *at) {
    *(char **)at = (char *)(uintptr_t)row->default_text;
}

static bool no_string(const void *at) {
    return *(char *const *)at == NULL;
}

static bool is_default_string(const leati_row *row, const void *at) {
    const char *text = *(char *const *)at;
    if (text == NULL || row->default_text == NULL)
        return text == row->default_text;
    return strcmp(text, row->default_text) == 0;
}

static leat_status copy_string(const leati_row_call *call, const void *from, void *to) {
    const char *text = *(char *const *)from;
    *(char **)to = leati_strdup(text);
    return text != NULL && no_string(to) ? leati_no_memory(call->err) : LEAT_OK;
}

static void fini_pointer(void *at) {
    leati_free(*(void **)at);
}

static json_t *write_string(const leati_row_call *call, const void *at) {
    const char *text = *(char *const *)at;
    return made(call, leati_json_of_string(text, strlen(text)));
}

static leat_status read_string(const leati_row_call *call, const json_t *json, void *at) {
    char *bytes;
    size_t size;
    LEATI_TRY(leati_json_to_string(json, &bytes, &size, call->err));
    if (memchr(bytes, '\0', size) != NULL) {
        leati_free(bytes);
        return leati_refuse(call->err, VALUE,
                            "expected a text without the byte 0, found one of %zu bytes", size);
    }
    leati_free(*(char **)at);
    *(char **)at = bytes;
    return LEAT_OK;
}

static uint64_t hash_string(const void *at, uint64_t seed) {
    return hash_chars(*(char *const *)at, seed);
}

static leat_status copy_text(const leati_row_call *call, const void *from, void *to) {
    const leat_string *text = from;
    char *copy = leati_strndup(text->size > 0 ? text->data : "", text->size);
    *(leat_string *)to = (leat_string){.data = copy, .size = text->size};
    return copy != NULL ? LEAT_OK : leati_no_memory(call->err);
}

static json_t *write_text(const leati_row_call *call, const void *at) {
    const leat_string *text = at;
    return made(call, leati_json_of_string(text->data, text->size));
}

static leat_status read_text(const leati_row_call *call, const json_t *json, void *at) {
    char *bytes;
    size_t size;
    LEATI_TRY(leati_json_to_string(json, &bytes, &size, call->err));
    *(leat_string *)at = (leat_string){.data = bytes, .size = size};
    return LEAT_OK;
}

static leat_status bind_text(const leati_row_call *call, const leat_tensor *value, int64_t i,
                             void *at) {
    return copy_text(call, (const leat_string *)value->data + i, at);
}

static leat_status bind_string(const leati_row_call *call, const leat_tensor *value, int64_t i,
                               void *at) {
    leat_string text;
    LEATI_TRY(bind_text(call, value, i, &text));
    *(char **)at = (char *)(uintptr_t)text.data;
    return LEAT_OK;
}

static uint64_t hash_texts(const leat_string *texts, int64_t count, uint64_t seed) {
    seed = hash_int(count, seed);
    for (int64_t i = 0; i < count; i++) {
        seed = hash_int((int64_t)texts[i].size, seed);
        if (texts[i].size)
            seed = leati_hash(texts[i].data, texts[i].size, seed);
    }
    return seed;
}

static uint64_t hash_strings(const void *at, uint64_t seed) {
    const leati_strings *strings = at;
    return hash_texts(strings->values, strings->count, seed);
}

/* ---- dtypes, shapes, specs ---- */

static void set_dtype(const leati_row *row, void *at) {
    *(leat_dtype *)at = (leat_dtype)(int)row->default_number;
}

static bool no_dtype(const void *at) {
    return *(const leat_dtype *)at == LEAT_INVALID;
}

static json_t *write_dtype(const leati_row_call *call, const void *at) {
    return made(call, json_string(leat_dtype_name(*(const leat_dtype *)at)));
}

static leat_status read_dtype(const leati_row_call *call, const json_t *json, void *at) {
    return leati_json_to_dtype(json, at, call->err);
}

static uint64_t hash_dtype(const void *at, uint64_t seed) {
    return hash_chars(leat_dtype_name(*(const leat_dtype *)at), seed);
}

static void set_unknown_shape(void *at) {
    ((leat_shape *)at)->rank = LEAT_UNKNOWN_RANK;
}

static void set_shape(const leati_row *row, void *at) {
    (void)row;
    set_unknown_shape(at);
}

static bool no_shape(const void *at) {
    return ((const leat_shape *)at)->rank == LEAT_UNKNOWN_RANK;
}

static json_t *write_shape(const leati_row_call *call, const void *at) {
    return made(call, leati_json_of_shape(at));
}

static leat_status read_shape(const leati_row_call *call, const json_t *json, void *at) {
    return leati_json_to_shape(json, at, call->err);
}

/* A vector of integers; -1 is an unknown dimension. */
static leat_status bind_shape(const leati_row_call *call, const leat_tensor *value, int64_t i,
                              void *at) {
    (void)i;
    leat_shape shape = {.rank = LEAT_MAX_RANK + 1};
    int64_t count = leat_tensor_count(value);
    if (value->rank == 1 && count <= LEAT_MAX_RANK) {
        shape.rank = (int32_t)count;
        for (int64_t d = 0; d < count; d++)
            shape.dims[d] = leati_tensor_int_at(value, d);
    }
    if (!leati_shape_is_valid(&shape))
        return leati_row_fail_bind(call->row, value, call->err);
    *(leat_shape *)at = shape;
    return LEAT_OK;
}

static uint64_t hash_shape(const void *at, uint64_t seed) {
    const leat_shape *shape = at;
    seed = hash_int(shape->rank, seed);
    if (shape->rank > 0)
        seed = leati_hash(shape->dims, (size_t)shape->rank * sizeof shape->dims[0], seed);
    return seed;
}

static leat_status copy_spec(const leati_row_call *call, const void *from, void *to) {
    (void)call;
    *(leat_spec **)to = leat_spec_ref(*(leat_spec *const *)from);
    return LEAT_OK;
}

static void fini_spec(void *at) {
    leat_spec_unref(*(leat_spec **)at);
}

static bool no_pointer(const void *at) {
    return *(void *const *)at == NULL;
}

static json_t *write_spec(const leati_row_call *call, const void *at) {
    return leati_json_of_spec(*(leat_spec *const *)at, call->err);
}

static leat_status read_spec(const leati_row_call *call, const json_t *json, void *at) {
    leat_error own = {0};
    leat_spec *spec = leati_json_to_spec(json, &own);
    if (spec == NULL)
        return leati_error_pass(call->err, &own);
    *(leat_spec **)at = spec;
    return LEAT_OK;
}

/* Specs are as deep as their constructors allow. */
static uint64_t hash_spec_tree(const leat_spec *spec, uint64_t seed) {
    if (spec == NULL)
        return hash_int(-1, seed);
    leat_spec_kind kind = leat_spec_get_kind(spec);
    seed = hash_int((int64_t)kind, seed);
    if (kind == LEAT_SPEC_TUPLE || kind == LEAT_SPEC_DICT) {
        int count = leat_spec_num_children(spec);
        seed = hash_int(count, seed);
        for (int i = 0; i < count; i++) {
            seed = hash_chars(leat_spec_key(spec, i), seed);
            seed = hash_spec_tree(leat_spec_child(spec, i), seed);
        }
        return seed;
    }
    if (kind == LEAT_SPEC_DATASET)
        return hash_spec_tree(leati_spec_component_element(spec, 0), seed);
    leat_shape shape = leat_spec_shape(spec);
    return hash_shape(&shape, hash_chars(leat_dtype_name(leat_spec_dtype(spec)), seed));
}

static uint64_t hash_spec(const void *at, uint64_t seed) {
    return hash_spec_tree(*(leat_spec *const *)at, seed);
}

/* ---- structures of tensors ---- */

static bool no_element(const void *at) {
    return ((const leat_element *)at)->spec == NULL;
}

/* Tensors over the caller's memory become copies, unless the row says that they stay. */
static leat_status copy_element(const leati_row_call *call, const void *from, void *to) {
    leat_element *element = to;
    LEATI_TRY(leati_element_copy(from, element, call->err));
    for (int i = 0; i < element->num_tensors && !(call->row->flags & LEATI_REFERENCED); i++) {
        leat_tensor copy = {0};
        if (element->tensors[i].owner != NULL)
            continue;
        LEATI_TRY(leati_tensor_clone(&element->tensors[i], &copy, call->err));
        element->tensors[i] = copy;
    }
    return LEAT_OK;
}

static void fini_element(void *at) {
    leat_element_fini(at);
}

static json_t *write_element(const leati_row_call *call, const void *at) {
    return leati_json_of_element(at, call->err);
}

static leat_status read_element(const leati_row_call *call, const json_t *json, void *at) {
    const leati_json_functions *functions = call->functions;
    const json_t *given = json_object_get(json, "given");
    if (given != NULL && functions != NULL && functions->given != NULL)
        return functions->given(functions->context, json_integer_value(given), at, call->err);
    return leati_json_to_element(json, at, call->err);
}

static leat_status bind_element(const leati_row_call *call, const leat_tensor *value, int64_t i,
                                void *at) {
    (void)i;
    leat_spec *spec = leat_spec_tensor(value->dtype, leat_tensor_shape(value), call->err);
    if (spec == NULL)
        return LEAT_RESOURCE_EXHAUSTED; /* the dtype was checked, the shape is a tensor's */
    leat_status status = leat_element_set(at, spec, value, call->err);
    leat_spec_unref(spec);
    return status;
}

static uint64_t hash_element(const void *at, uint64_t seed) {
    const leat_element *element = at;
    seed = hash_spec_tree(element->spec, seed);
    for (int i = 0; i < element->num_tensors; i++) {
        const leat_tensor *tensor = &element->tensors[i];
        leat_shape shape = leat_tensor_shape(tensor);
        seed = hash_chars(leat_dtype_name(tensor->dtype), hash_shape(&shape, seed));
        if (tensor->dtype == LEAT_STRING)
            seed = hash_texts(tensor->data, leat_tensor_count(tensor), seed);
        else if (tensor->dtype != LEAT_OBJECT && leat_tensor_bytes(tensor))
            seed = leati_hash(tensor->data, leat_tensor_bytes(tensor), seed);
    }
    return seed;
}

/* ---- functions and objects ---- */

static leat_status copy_object(const leati_row_call *call, const void *from, void *to) {
    (void)call;
    *(leat_object **)to = leati_object_ref(*(leat_object *const *)from);
    return LEAT_OK;
}

static void fini_object(void *at) {
    leati_object_unref(*(leat_object **)at);
}

static json_t *write_object(const leati_row_call *call, const void *at) {
    const leati_json_functions *functions = call->functions;
    json_t *(*write)(void *, const leat_object *, leat_error *) = NULL;
    bool function = call->row->type == LEATI_ROW_FUNCTION;
    if (functions != NULL)
        write = function ? functions->write : functions->write_object;
    if (write != NULL)
        return write(functions->context, *(leat_object *const *)at, call->err);
    leati_fail(call->err, LEAT_UNIMPLEMENTED, "%s cannot be written as JSON here",
               function ? "a function" : "an object");
    return NULL;
}

static leat_status read_object(const leati_row_call *call, const json_t *json, void *at) {
    const leati_json_functions *functions = call->functions;
    leat_object *(*read)(void *, const leati_row *, const json_t *, leat_error *) = NULL;
    if (functions != NULL)
        read = call->row->type == LEATI_ROW_FUNCTION ? functions->read : functions->read_object;
    if (read == NULL)
        return leati_fail(call->err, LEAT_UNIMPLEMENTED,
                          "a value of type %s cannot be read from JSON",
                          leati_row_type_name(call->row->type));
    leat_error own = {0};
    leat_object *object = read(functions->context, call->row, json, &own);
    if (object == NULL)
        return leati_error_pass(call->err, &own);
    *(leat_object **)at = object;
    return LEAT_OK;
}

/* Pointers never enter a hash: it is the same in every process. */
static uint64_t hash_object(const void *at, uint64_t seed) {
    const leat_object *object = *(leat_object *const *)at;
    return object != NULL && object->type->hash != NULL ? object->type->hash(object, seed)
                                                        : hash_int(object != NULL, seed);
}

/* ---- the table ---- */

/* clang-format off */
static const leati_row_class text_of_list = {
    .size = sizeof(leat_string), .copy = copy_text, .fini = fini_pointer,
    .write = write_text, .read = read_text, .takes = is_text, .bind = bind_text};

#define CHOICE_SLOTS                                                                               \
    .blank = "false", .size = sizeof(int8_t), .set = set_choice,                                   \
    .write = write_choice, .read = read_choice, .takes = is_bool, .bind = bind_choice,             \
    .hash = hash_choice
#define OBJECT_SLOTS                                                                               \
    .size = sizeof(leat_object *), .needed = true, .structured = true,                             \
    .is_absent = no_pointer, .copy = copy_object, .fini = fini_object,                             \
    .write = write_object, .read = read_object, .hash = hash_object

const leati_row_class leati_row_types[] = {
    [LEATI_ROW_END] = {.name = "nothing"},
    [LEATI_ROW_BOOL] = {.name = "bool", .always = true, CHOICE_SLOTS},
    [LEATI_ROW_BOOL_OR_NONE] = {
        .name = "bool or None", .is_absent = no_choice, .set_none = choose_none, CHOICE_SLOTS},
    [LEATI_ROW_INT] = {
        .name = "integer", .blank = "0", .size = sizeof(int64_t), .always = true, .set = set_int,
        .write = write_int, .read = read_int, .takes = leati_dtype_is_integer, .bind = bind_int,
        .hash = hash_number},
    [LEATI_ROW_FLOAT] = {
        .name = "number", .blank = "0", .size = sizeof(double), .always = true, .set = set_float,
        .write = write_float, .read = read_float, .takes = is_numeric, .bind = bind_float,
        .hash = hash_number},
    [LEATI_ROW_STRING] = {
        .name = "string", .blank = "\"\"", .size = sizeof(char *), .needed = true,
        .set = set_string, .is_default = is_default_string, .is_absent = no_string,
        .copy = copy_string, .fini = fini_pointer, .write = write_string, .read = read_string,
        .takes = is_text, .bind = bind_string, .hash = hash_string},
    [LEATI_ROW_DTYPE] = {
        .name = "dtype", .size = sizeof(leat_dtype), .needed = true, .set = set_dtype,
        .is_absent = no_dtype, .write = write_dtype, .read = read_dtype, .hash = hash_dtype},
    [LEATI_ROW_SHAPE] = {
        .name = "shape", .blank = "[]", .size = sizeof(leat_shape), .set = set_shape,
        .is_absent = no_shape, .set_none = set_unknown_shape, .write = write_shape,
        .read = read_shape, .takes = leati_dtype_is_integer, .most_rank = 1, .bind = bind_shape,
        .hash = hash_shape},
    [LEATI_ROW_SPEC] = {
        .name = "spec", .size = sizeof(leat_spec *), .needed = true, .structured = true,
        .is_absent = no_pointer, .copy = copy_spec, .fini = fini_spec, .write = write_spec,
        .read = read_spec, .hash = hash_spec},
    [LEATI_ROW_SEED] = {
        .name = "integer seed", .blank = "0", .size = sizeof(leati_seed_argument),
        .is_absent = no_seed, .write = write_seed, .read = read_seed,
        .takes = leati_dtype_is_integer, .bind = bind_seed, .hash = hash_seed},
    [LEATI_ROW_INTS] = {
        .name = "list of integers", .blank = "[]", .size = sizeof(leati_ints),
        .item = &leati_row_types[LEATI_ROW_INT], .hash = hash_ints},
    [LEATI_ROW_FLOATS] = {
        .name = "list of numbers", .blank = "[]", .size = sizeof(leati_floats),
        .item = &leati_row_types[LEATI_ROW_FLOAT], .hash = hash_floats},
    [LEATI_ROW_STRINGS] = {
        .name = "list of strings", .blank = "[]", .size = sizeof(leati_strings),
        .item = &text_of_list, .hash = hash_strings},
    [LEATI_ROW_ELEMENT] = {
        .name = "structure of tensors",
        .blank = "{\"dtype\": \"int64\", \"shape\": [1], \"data\": [0]}",
        .size = sizeof(leat_element), .needed = true, .structured = true, .is_absent = no_element,
        .copy = copy_element, .fini = fini_element, .write = write_element, .read = read_element,
        .takes = is_any, .most_rank = LEAT_MAX_RANK, .bind = bind_element, .hash = hash_element},
    [LEATI_ROW_FUNCTION] = {.name = "function", OBJECT_SLOTS},
    [LEATI_ROW_OBJECT] = {.name = "object", OBJECT_SLOTS},
};
/* clang-format on */

const char *leati_row_type_name(leati_row_type type) {
    return leati_row_types[type].name;
}
