/* Argument rows: defaults, deep copies, release, range checks and binding of computed values. Each
 * function walks the rows of an operator and treats the member at each row's offset as its type
 * (core/row_types.c) says; a list value by value.
 *
 * Failures: INVALID_ARGUMENT (ranges, missing arguments, values that do not fit),
 * RESOURCE_EXHAUSTED. A failed copy leaves its target zeroed. No locks: an argument struct has one
 * owner until its dataset is built, and is immutable afterwards. */
#include "core/row_type.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "core/spec.h"
#include "core/tensor.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

const leati_row leati_no_rows[] = {{0}};

static_assert(sizeof(leat_shape) <= LEATI_ROW_MOST_BYTES &&
                  sizeof(leat_element) <= LEATI_ROW_MOST_BYTES,
              "a member needs more memory");

static const leati_row_class *class_of(const leati_row *row) {
    return &leati_row_types[row->type];
}

static void *member(const leati_row *row, void *args) {
    return (char *)args + row->offset;
}

static const void *const_member(const leati_row *row, const void *args) {
    return (const char *)args + row->offset;
}

int64_t leati_row_default_int(const leati_row *row) {
    if (row->default_number >= 0x1p63)
        return INT64_MAX;
    return row->default_number < -0x1p63 ? INT64_MIN : (int64_t)row->default_number;
}

/* ---- lists ---- */

leati_row_list leati_row_list_of(const void *at) {
    leati_row_list list;
    memcpy(&list, at, sizeof list);
    return list;
}

void leati_row_list_set(void *at, leati_row_list list) {
    memcpy(at, &list, sizeof list);
}

void leati_row_list_fini(const leati_row_class *item, leati_row_list *list) {
    for (int32_t i = 0; item->fini != NULL && i < list->count; i++)
        item->fini((char *)list->values + (size_t)i * item->size);
    leati_free(list->values);
    *list = (leati_row_list){0};
}

static leat_status copy_list(const leati_row_call *call, const leati_row_class *item,
                             const void *from, void *to) {
    leati_row_list list = leati_row_list_of(from), copy = {0};
    if (list.values == NULL)
        return LEAT_OK;
    copy.values = leati_alloc_zero((size_t)list.count, item->size);
    if (copy.values == NULL)
        return leati_no_memory(call->err);
    if (item->copy == NULL && list.count > 0)
        memcpy(copy.values, list.values, (size_t)list.count * item->size);
    if (item->copy == NULL)
        copy.count = list.count;
    while (copy.count < list.count) {
        size_t at = (size_t)copy.count * item->size;
        leat_status status =
            item->copy(call, (const char *)list.values + at, (char *)copy.values + at);
        if (status != LEAT_OK) {
            leati_row_list_fini(item, &copy);
            return status;
        }
        copy.count++;
    }
    leati_row_list_set(to, copy);
    return LEAT_OK;
}

leat_status leati_strings_copy(const leat_string *values, int64_t count, leati_strings *out,
                               leat_error *err) {
    static const leat_string nothing;
    if (count > INT32_MAX)
        return leati_refuse(err, VALUE, "an argument takes at most %d strings, found %" PRId64,
                            INT32_MAX, count);
    leati_row_list list = {.values = (void *)(uintptr_t)(count > 0 ? values : &nothing),
                           .count = (int32_t)count};
    leati_row_call call = {.err = err};
    return copy_list(&call, leati_row_types[LEATI_ROW_STRINGS].item, &list, out);
}

void leati_strings_fini(leati_strings *strings) {
    leati_row_list list = leati_row_list_of(strings);
    leati_row_list_fini(leati_row_types[LEATI_ROW_STRINGS].item, &list);
    *strings = (leati_strings){0};
}

/* ---- one member ---- */

bool leati_row_is_absent(const leati_row *row, const void *at) {
    const leati_row_class *type = class_of(row);
    if (type->item != NULL)
        return leati_row_list_of(at).values == NULL;
    return type->is_absent != NULL && type->is_absent(at);
}

bool leati_row_is_default(const leati_row *row, const void *at) {
    const leati_row_class *type = class_of(row);
    if (type->is_default != NULL)
        return type->is_default(row, at);
    leati_row_memory like = {0};
    if (type->set != NULL)
        type->set(row, &like);
    if (leati_row_is_absent(row, &like))
        return leati_row_is_absent(row, at);
    return memcmp(&like, at, type->size) == 0;
}

void leati_row_fini(const leati_row *row, void *at) {
    const leati_row_class *type = class_of(row);
    leati_row_list list;
    if (type->item != NULL) {
        list = leati_row_list_of(at);
        leati_row_list_fini(type->item, &list);
    } else if (type->fini != NULL) {
        type->fini(at);
    }
    memset(at, 0, type->size);
}

/* `to` is zeroed, and is after a failure. */
static leat_status copy_member(const leati_row *row, const void *from, void *to, leat_error *err) {
    const leati_row_class *type = class_of(row);
    leati_row_call call = {.row = row, .err = err};
    leat_status status = LEAT_OK;
    if (type->item != NULL)
        status = copy_list(&call, type->item, from, to);
    else if (type->copy != NULL)
        status = type->copy(&call, from, to);
    else
        memcpy(to, from, type->size);
    if (status != LEAT_OK)
        leati_row_fini(row, to);
    return status;
}

/* ---- all of them ---- */

void leati_rows_borrow_defaults(const leati_row *rows, void *args) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++)
        if (class_of(row)->set != NULL)
            class_of(row)->set(row, member(row, args));
}

leat_status leati_rows_defaults(const leati_row *rows, void *args, leat_error *err) {
    leati_rows_borrow_defaults(rows, args);
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        const leati_row_class *type = class_of(row);
        leati_row_memory own = {0};
        if (type->set == NULL || type->copy == NULL)
            continue;
        leat_status status = copy_member(row, member(row, args), &own, err);
        memcpy(member(row, args), &own, type->size);
        if (status == LEAT_OK)
            continue;
        /* What follows is still borrowed: only what was copied is released. */
        for (const leati_row *later = row + 1; later->type != LEATI_ROW_END; later++)
            memset(member(later, args), 0, class_of(later)->size);
        leati_rows_fini(rows, args);
        return status;
    }
    return LEAT_OK;
}

leat_status leati_rows_copy(const leati_row *rows, const void *from, void *to, leat_error *err) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        leat_status status = copy_member(row, const_member(row, from), member(row, to), err);
        if (status != LEAT_OK) {
            leati_rows_fini(rows, to);
            return status;
        }
    }
    return LEAT_OK;
}

void leati_rows_fini(const leati_row *rows, void *args) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++)
        leati_row_fini(row, member(row, args));
}

uint64_t leati_row_hash(const leati_row *row, const void *at, uint64_t seed) {
    return class_of(row)->hash(at, seed);
}

uint64_t leati_rows_hash(const leati_row *rows, const void *args, uint64_t seed) {
    for (const leati_row *row = rows; row != NULL && row->type != LEATI_ROW_END; row++)
        seed = leati_row_hash(row, const_member(row, args),
                              leati_hash(row->name, strlen(row->name), seed));
    return seed;
}

/* ---- checks ---- */

static bool in_range(const leati_row *row, int64_t value) {
    if (row->minimum == 0 && row->maximum == 0)
        return true;
    if ((row->flags & LEATI_AUTOTUNE) && value == -1)
        return true;
    if ((row->flags & LEATI_NONE) && value == leati_row_default_int(row))
        return true;
    return value >= row->minimum && value <= row->maximum;
}

static leat_status fail_range(const leati_row *row, const char *what, int64_t value,
                              leat_error *err) {
    const char *autotune = row->flags & LEATI_AUTOTUNE ? ", or AUTOTUNE" : "";
    if (row->maximum == INT64_MAX)
        return leati_refuse(err, VALUE, "%s: %s must be at least %" PRId64 "%s, found %" PRId64,
                            what, row->name, row->minimum, autotune, value);
    return leati_refuse(err, VALUE,
                        "%s: %s must be from %" PRId64 " to %" PRId64 "%s, found %" PRId64, what,
                        row->name, row->minimum, row->maximum, autotune, value);
}

leat_status leati_rows_check(const leati_row *rows, const void *args, const char *what,
                             leat_error *err) {
    for (const leati_row *row = rows; row->type != LEATI_ROW_END; row++) {
        const void *at = const_member(row, args);
        if ((row->flags & LEATI_REQUIRED) && class_of(row)->needed && leati_row_is_absent(row, at))
            return leati_refuse(err, VALUE, "%s: argument %s is missing", what, row->name);
        if (row->type == LEATI_ROW_INT && !in_range(row, *(const int64_t *)at))
            return fail_range(row, what, *(const int64_t *)at, err);
        const leati_ints *ints = at;
        for (int32_t i = 0; row->type == LEATI_ROW_INTS && i < ints->count; i++)
            if (!in_range(row, ints->values[i]))
                return fail_range(row, what, ints->values[i], err);
    }
    return LEAT_OK;
}

const leati_row *leati_rows_find(const leati_row *rows, const char *name) {
    for (const leati_row *row = rows; name != NULL && row->type != LEATI_ROW_END; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* ---- computed values ---- */

leat_status leati_row_fail_bind(const leati_row *row, const leat_tensor *value, leat_error *err) {
    leat_shape shape = leat_tensor_shape(value);
    char text[128];
    return leati_refuse(err, SHAPE, "argument %s: expected %s, found %s%s", row->name,
                        leati_row_type_name(row->type), leat_dtype_name(value->dtype),
                        leati_shape_text(&shape, text));
}

bool leati_row_takes(const leati_row *row, leat_dtype dtype, int rank) {
    const leati_row_class *type = class_of(row);
    const leati_row_class *value = type->item != NULL ? type->item : type;
    return value->takes != NULL && value->takes(dtype) &&
           rank <= (type->item != NULL ? 1 : type->most_rank);
}

static leat_status bind_list(const leati_row_call *call, const leat_tensor *value, void *at) {
    const leati_row_class *item = class_of(call->row)->item;
    int64_t count = leat_tensor_count(value);
    if (count > INT32_MAX)
        return leati_row_fail_bind(call->row, value, call->err);
    leati_row_list list = {.values = leati_alloc_zero((size_t)count, item->size)};
    if (list.values == NULL)
        return leati_no_memory(call->err);
    for (; list.count < count; list.count++) {
        leat_status status = item->bind(call, value, list.count,
                                        (char *)list.values + (size_t)list.count * item->size);
        if (status != LEAT_OK) {
            leati_row_list_fini(item, &list);
            return status;
        }
    }
    leati_row_list_set(at, list);
    return LEAT_OK;
}

leat_status leati_rows_bind(const leati_row *rows, void *args, const char *name,
                            const leat_tensor *value, leat_error *err) {
    const leati_row *row = leati_rows_find(rows, name);
    if (row == NULL)
        return leati_refuse(err, VALUE, "there is no argument %s", name);
    if (leat_dtype_size(value->dtype) == 0)
        return leati_refuse(err, VALUE,
                            "argument %s: the tensor is empty (dtype "
                            "invalid); the call that made it failed",
                            name);
    if (!leati_row_takes(row, value->dtype, value->rank))
        return leati_row_fail_bind(row, value, err);
    const leati_row_class *type = class_of(row);
    leati_row_call call = {.row = row, .err = err};
    leati_row_memory own = {0};
    leat_status status =
        type->item != NULL ? bind_list(&call, value, &own) : type->bind(&call, value, 0, &own);
    if (status != LEAT_OK)
        return status;
    /* The old value goes only now that there is a new one. */
    leati_row_fini(row, member(row, args));
    memcpy(member(row, args), &own, type->size);
    return LEAT_OK;
}
