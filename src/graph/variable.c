/* Variables on the host: creation, reading and assigning outside of graphs.
 *
 * A variable is one or several copies, one per replica; a strategy's creator, set per thread,
 * places them, otherwise there is one host copy. Copies on devices are reached through
 * leati_variable_place. Failures: a tensor of another dtype or shape is INVALID_ARGUMENT; objects
 * cannot be variables. The caller keeps steps from running meanwhile, so numbers need no lock. A
 * variable of strings, or of which dimensions are unknown, has one copy, which is never written but
 * replaced; one lock for all of them is held while a reference to it is taken or another takes its
 * place. */
#include "graph/variable.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/stop.h"
#include "core/buffer.h"
#include "core/half.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "graph/graph.h"
#include <leat/bind.h>
#include <string.h>

static _Thread_local const leati_variable_creator *creator;

const leati_variable_creator *leati_variable_set_creator(const leati_variable_creator *next) {
    const leati_variable_creator *previous = creator;
    creator = next;
    return previous;
}

static void variable_free(leat_object *object) {
    leat_variable *variable = (leat_variable *)(void *)object;
    /* Placing may have failed half way: a copy that is missing is NULL. */
    for (int i = 0; variable->copies != NULL && i < variable->num_copies; i++)
        leat_buffer_unref(variable->copies[i]);
    leati_free(variable->copies);
    leati_free(variable->places);
    leati_free(variable->name);
    leati_object_unref(variable->owner);
    leati_free(variable);
}

static uint64_t variable_hash(const leat_object *object, uint64_t seed) {
    const char *name = ((const leat_variable *)(const void *)object)->name;
    return leati_hash(name, strlen(name), seed);
}

static const leati_object_type variable_type = {
    .name = "variable", .free = variable_free, .hash = variable_hash};

static pthread_mutex_t replaced = PTHREAD_MUTEX_INITIALIZER;
LEATI_FORK_LOCK(variables, &replaced);

bool leati_variable_is_object(const leat_object *object) {
    return object != NULL && object->type == &variable_type;
}

leat_status leati_variable_replace(leat_variable *variable, const leat_tensor *value,
                                   leat_error *err) {
    leat_tensor copy = {0};
    LEATI_TRY(leati_tensor_clone(value, &copy, err));
    pthread_mutex_lock(&replaced);
    leat_buffer *before = variable->copies[0];
    variable->copies[0] = copy.owner;
    variable->now = leat_tensor_shape(&copy);
    pthread_mutex_unlock(&replaced);
    leat_buffer_unref(before);
    return LEAT_OK;
}

leat_tensor leati_variable_share(const leat_variable *variable) {
    pthread_mutex_lock(&replaced);
    leat_buffer *owner = leat_buffer_ref(variable->copies[0]);
    leat_shape shape = variable->now;
    pthread_mutex_unlock(&replaced);
    leat_tensor tensor = leat_tensor_view(variable->dtype, shape, leat_buffer_data(owner));
    tensor.owner = owner;
    return tensor;
}

bool leati_variable_takes(const leat_variable *variable, const leat_shape *shape) {
    return variable->is_replaced ? leati_shape_compatible(&variable->shape, shape)
                                 : leati_shape_equal(&variable->shape, shape);
}

/* Without a strategy, and for what is replaced: one copy in host memory. */
static leat_status place_on_host(leat_variable *variable, const leat_tensor *initial,
                                 leat_error *err) {
    size_t size = leat_tensor_bytes(initial);
    variable->copies = leati_alloc_zero(1, sizeof(leat_buffer *));
    variable->places = leati_alloc_zero(1, sizeof *variable->places);
    if (variable->copies == NULL || variable->places == NULL)
        return leati_no_memory(err);
    variable->num_copies = 1;
    if (variable->is_replaced)
        return leati_variable_replace(variable, initial, err);
    variable->copies[0] = leat_buffer_new(size, err);
    if (variable->copies[0] == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    if (size)
        memcpy(variable->copies[0]->data, initial->data, size);
    return LEAT_OK;
}

static leat_status check_initial(const leat_tensor *initial, leat_error *err) {
    if (initial == NULL || initial->dtype == LEAT_INVALID)
        return leati_tensor_missing(err, "the initial value");
    if (initial->dtype == LEAT_OBJECT)
        return leati_refuse(err, DTYPE, "a variable holds numbers, bools or strings, not dtype %s",
                            leat_dtype_name(initial->dtype));
    return LEAT_OK;
}

/* The shape that was asked for, which the initial value has to fit. */
static leat_status check_shape(const leat_tensor *initial, const leat_shape *shape,
                               leat_error *err) {
    char found[128], expected[128];
    leat_shape given = leat_tensor_shape(initial);
    if (shape == NULL || leati_shape_compatible(shape, &given))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "a variable of shape %s; its initial value has shape %s",
                        leati_shape_text(shape, expected), leati_shape_text(&given, found));
}

/* `shape` NULL: that of the initial value. */
static leat_variable *make(const leat_tensor *initial, const leat_shape *shape,
                           const leat_variable_options *options, leat_error *err) {
    leat_variable_options o = {LEAT_VARIABLE_DEFAULTS};
    if (check_initial(initial, err) != LEAT_OK ||
        LEATI_OPTIONS(leat_variable_options, &o, options, err) != LEAT_OK ||
        check_shape(initial, shape, err) != LEAT_OK)
        return NULL;
    leat_variable *variable = leati_alloc_zero(1, sizeof *variable);
    if (variable == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    leati_object_init(&variable->object, &variable_type);
    variable->dtype = initial->dtype;
    variable->shape = shape != NULL ? *shape : leat_tensor_shape(initial);
    variable->is_replaced =
        variable->dtype == LEAT_STRING || !leati_shape_is_static(&variable->shape);
    /* As in TensorFlow, variables that are synchronised on read are not trained. */
    variable->trainable = o.trainable && !o.sync_on_read;
    variable->sync_on_read = o.sync_on_read;
    variable->aggregation = o.aggregation;
    /* TensorFlow's default name. */
    variable->name = leati_strdup(o.name != NULL ? o.name : "Variable");
    leat_status status = variable->name != NULL ? LEAT_OK : leati_no_memory(err);
    /* The variable is whole but for its copies, so `place` may read dtype, shape and
     * aggregation. */
    if (status == LEAT_OK)
        status = creator != NULL && !variable->is_replaced
                     ? creator->place(creator->context, variable, initial, err)
                     : place_on_host(variable, initial, err);
    if (status == LEAT_OK)
        return variable;
    leat_variable_unref(variable);
    return NULL;
}

leat_variable *leat_variable_new(const leat_tensor *initial, const leat_variable_options *options,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return make(initial, NULL, options, err);
}

leat_variable *leat_variable_new_of_shape(const leat_tensor *initial, const leat_shape *shape,
                                          const leat_variable_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    return make(initial, shape, options, err);
}

leat_variable *leat_variable_ref(leat_variable *variable) {
    return leati_object_ref(variable);
}

void leat_variable_unref(leat_variable *variable) {
    leati_object_unref(variable);
}

const char *leat_variable_name(const leat_variable *variable) {
    return variable->name;
}

leat_dtype leat_variable_dtype(const leat_variable *variable) {
    return variable->dtype;
}

leat_shape leat_variable_shape(const leat_variable *variable) {
    return variable->shape;
}

leat_status leati_variable_download(const leat_variable *variable, int copy, leat_tensor *out,
                                    leat_error *err) {
    const leati_variable_place *place = &variable->places[copy];
    if (variable->is_replaced) {
        *out = leati_variable_share(variable);
        return LEAT_OK;
    }
    leat_status status = leat_tensor_new(variable->dtype, variable->shape, out, err);
    if (status != LEAT_OK)
        return status;
    size_t size = leat_tensor_bytes(out);
    /* A copy on a device has no address here. */
    if (place->device != NULL)
        status = place->download(place->device, variable->copies[copy], out->data, size, err);
    else if (size) {
        leati_stop_scope scope = leati_stop_enter(NULL, NULL, NULL);
        leati_stop_copy(out->data, variable->copies[copy]->data, size);
        status = leati_stop_check(err);
        leati_stop_leave(scope);
    }
    if (status != LEAT_OK)
        leat_tensor_unref(out);
    return status;
}

static leat_status upload(leat_variable *variable, int copy, const leat_tensor *value,
                          leat_error *err) {
    const leati_variable_place *place = &variable->places[copy];
    size_t size = leat_tensor_bytes(value);
    if (variable->is_replaced)
        return leati_variable_replace(variable, value, err);
    if (place->device != NULL)
        return place->upload(place->device, value->data, variable->copies[copy], size, err);
    if (size)
        memcpy(variable->copies[copy]->data, value->data, size);
    return LEAT_OK;
}

/* Sums over copies, in their order, in the variable's own dtype, as a reduction of TensorFlow's
 * does; `divide` turns value / divisor for each number. */
#define ARITHMETIC(NAME, TYPE)                                                                     \
    static void add_##NAME(void *total, const void *value, int64_t count) {                        \
        TYPE *to = total;                                                                          \
        const TYPE *from = value;                                                                  \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = (TYPE)(to[i] + from[i]);                                                       \
    }                                                                                              \
    static void divide_##NAME(void *total, int divisor, int64_t count) {                           \
        TYPE *to = total;                                                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = (TYPE)(to[i] / (TYPE)divisor);                                                 \
    }
#define HALF_ARITHMETIC(NAME, TO_FLOAT, OF_FLOAT)                                                  \
    static void add_##NAME(void *total, const void *value, int64_t count) {                        \
        uint16_t *to = total;                                                                      \
        const uint16_t *from = value;                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = OF_FLOAT(TO_FLOAT(to[i]) + TO_FLOAT(from[i]));                                 \
    }                                                                                              \
    static void divide_##NAME(void *total, int divisor, int64_t count) {                           \
        uint16_t *to = total;                                                                      \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = OF_FLOAT(TO_FLOAT(to[i]) / (float)divisor);                                    \
    }
ARITHMETIC(float32, float)
ARITHMETIC(float64, double)
ARITHMETIC(int8, int8_t)
ARITHMETIC(int16, int16_t)
ARITHMETIC(int32, int32_t)
ARITHMETIC(int64, int64_t)
ARITHMETIC(uint8, uint8_t)
ARITHMETIC(uint16, uint16_t)
ARITHMETIC(uint32, uint32_t)
ARITHMETIC(uint64, uint64_t)
HALF_ARITHMETIC(float16, leati_float_of_half, leati_half_of_float)
HALF_ARITHMETIC(bfloat16, leati_float_of_bfloat16, leati_bfloat16_of_float)
#undef ARITHMETIC
#undef HALF_ARITHMETIC

struct arithmetic {
    void (*add)(void *total, const void *value, int64_t count);
    void (*divide)(void *total, int divisor, int64_t count);
};

static leat_status find_arithmetic(const leat_variable *variable, struct arithmetic *out,
                                   leat_error *err) {
    static const struct arithmetic table[LEAT_NUM_DTYPES] = {
#define ROW(NAME) {add_##NAME, divide_##NAME}
        [LEAT_FLOAT16] = ROW(float16), [LEAT_BFLOAT16] = ROW(bfloat16),
        [LEAT_FLOAT32] = ROW(float32), [LEAT_FLOAT64] = ROW(float64),
        [LEAT_INT8] = ROW(int8),       [LEAT_INT16] = ROW(int16),
        [LEAT_INT32] = ROW(int32),     [LEAT_INT64] = ROW(int64),
        [LEAT_UINT8] = ROW(uint8),     [LEAT_UINT16] = ROW(uint16),
        [LEAT_UINT32] = ROW(uint32),   [LEAT_UINT64] = ROW(uint64),
#undef ROW
    };
    *out = table[leati_dtype_part(variable->dtype)];
    if (out->add != NULL)
        return LEAT_OK;
    return leati_refuse(err, DTYPE, "variable %s is %s; copies of numbers are combined",
                        variable->name, leat_dtype_name(variable->dtype));
}

/* Of a complex number its two parts are combined. */
static int64_t parts_of(const leat_tensor *value) {
    return leat_tensor_count(value) * (leati_dtype_is_complex(value->dtype) ? 2 : 1);
}

static leat_status combine_elsewhere(const leat_variable *variable, leati_variable_combination how,
                                     leat_tensor *value, leat_error *err) {
    return variable->num_elsewhere == 0
               ? LEAT_OK
               : variable->combine_elsewhere(variable->owner, how, value->data, parts_of(value),
                                             leati_dtype_part(value->dtype), err);
}

/* The first copy of all processes. */
static leat_status read_first(const leat_variable *variable, leat_tensor *out, leat_error *err) {
    leat_tensor value = {0};
    leat_status status = leati_variable_download(variable, 0, &value, err);
    if (status == LEAT_OK)
        status = combine_elsewhere(variable, LEATI_VARIABLE_FIRST, &value, err);
    if (status != LEAT_OK)
        leat_tensor_unref(&value);
    else
        *out = value;
    return status;
}

/* The sum or mean of all copies. */
static leat_status read_combined(const leat_variable *variable, leat_tensor *out, leat_error *err) {
    struct arithmetic arithmetic;
    leat_tensor total = {0}, copy = {0};
    leat_status status = find_arithmetic(variable, &arithmetic, err);
    int num_all = variable->num_copies + variable->num_elsewhere;
    if (status == LEAT_OK)
        status = leati_variable_download(variable, 0, &total, err);
    for (int i = 1; status == LEAT_OK && i < variable->num_copies; i++) {
        status = leati_variable_download(variable, i, &copy, err);
        if (status == LEAT_OK)
            arithmetic.add(total.data, copy.data, parts_of(&total));
        leat_tensor_unref(&copy);
    }
    /* One exchange of this process' sum, not one for each copy. */
    if (status == LEAT_OK)
        status = combine_elsewhere(variable, LEATI_VARIABLE_SUM, &total, err);
    if (status != LEAT_OK) {
        leat_tensor_unref(&total);
        return status;
    }
    /* Once, at the end: the mean of integers is rounded once. */
    if (variable->aggregation == LEAT_AGGREGATION_MEAN)
        arithmetic.divide(total.data, num_all, parts_of(&total));
    *out = total;
    return LEAT_OK;
}

int leat_variable_num_copies(const leat_variable *variable) {
    return variable != NULL ? variable->num_copies : 0;
}

static leat_status check_copy(const leat_variable *variable, int copy, leat_error *err) {
    if (copy >= 0 && copy < variable->num_copies)
        return LEAT_OK;
    return leati_refuse(err, VALUE, "variable %s has %d copies; there is no %d", variable->name,
                        variable->num_copies, copy);
}

leat_status leat_variable_read_copy(leat_variable *variable, int copy, leat_tensor *out,
                                    leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (variable == NULL || out == NULL)
        return leati_refuse(err, VALUE, "the variable or the result is NULL");
    leat_status status = check_copy(variable, copy, err);
    return status == LEAT_OK ? leati_variable_download(variable, copy, out, err) : status;
}

leat_status leat_variable_read(leat_variable *variable, leat_tensor *out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (variable == NULL || out == NULL)
        return leati_refuse(err, VALUE, "the variable or the result is NULL");
    int num_all = variable->num_copies + variable->num_elsewhere;
    /* Copies of a mirrored variable are meant to be equal: as in TensorFlow, the first stands for
     * all. */
    if (!variable->sync_on_read || num_all < 2)
        return leati_variable_download(variable, 0, out, err);
    if (variable->aggregation == LEAT_AGGREGATION_ONLY_FIRST_REPLICA)
        return read_first(variable, out, err);
    if (variable->aggregation == LEAT_AGGREGATION_NONE)
        return leati_refuse(
            err, VALUE,
            "variable %s is synchronised on read but has aggregation NONE, so its %d "
            "copies have no one value; give it SUM or MEAN",
            variable->name, num_all);
    return read_combined(variable, out, err);
}

static leat_status check_value(const leat_variable *variable, const leat_tensor *value,
                               leat_error *err) {
    char found[128], expected[128];
    if (variable == NULL || value == NULL)
        return leati_refuse(err, VALUE, "the variable or its value is NULL");
    leat_shape shape = leat_tensor_shape(value);
    if (value->dtype == variable->dtype && leati_variable_takes(variable, &shape))
        return LEAT_OK;
    return leati_refuse(err, SHAPE, "variable %s is %s of shape %s; the value is %s of shape %s",
                        variable->name, leat_dtype_name(variable->dtype),
                        leati_shape_text(&variable->shape, expected), leat_dtype_name(value->dtype),
                        leati_shape_text(&shape, found));
}

leat_status leat_variable_assign_copy(leat_variable *variable, int copy, const leat_tensor *value,
                                      leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = check_value(variable, value, err);
    if (status == LEAT_OK)
        status = check_copy(variable, copy, err);
    return status == LEAT_OK ? upload(variable, copy, value, err) : status;
}

leat_status leat_variable_assign(leat_variable *variable, const leat_tensor *value,
                                 leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_tensor part = {0};
    leat_status status = check_value(variable, value, err);
    if (status != LEAT_OK)
        return status;
    /* The copies of a sum add up to the value. */
    int num_all = variable->num_copies + variable->num_elsewhere;
    if (variable->sync_on_read && num_all > 1 && variable->aggregation == LEAT_AGGREGATION_SUM) {
        struct arithmetic arithmetic;
        status = find_arithmetic(variable, &arithmetic, err);
        if (status == LEAT_OK)
            status = leat_tensor_copy_of(value->dtype, variable->shape, value->data, &part, err);
        if (status == LEAT_OK)
            arithmetic.divide(part.data, num_all, parts_of(&part));
    } else {
        part = leat_tensor_ref(value);
    }
    for (int i = 0; status == LEAT_OK && i < variable->num_copies; i++)
        status = upload(variable, i, &part, err);
    leat_tensor_unref(&part);
    return status;
}
