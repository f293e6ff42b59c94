/* The words of a descriptor's `types`: [* or **] NAME [=dtype] [<dtype,dtype].
 *
 * What is no word of that form names no dtype, which the conformance suite finds. No failures, no
 * state, no locks. */
#include "graph/input_type.h"

#include "core/tensor.h"

#include <string.h>

static leat_dtype dtype_named(const char *name, size_t size) {
    char text[16];
    /* Longer than the name of any dtype. */
    if (size >= sizeof text)
        return LEAT_INVALID;
    memcpy(text, name, size);
    text[size] = '\0';
    return leat_dtype_from_name(text);
}

bool leati_input_type_next(const char **types, leati_input_type *out) {
    const char *at = *types != NULL ? *types + strspn(*types, " ") : "";
    const char *end = at + strcspn(at, " ");
    /* Words that do not say a dtype leave LEAT_INVALID, which is 0. */
    *out = (leati_input_type){0};
    if (at == end)
        return false;
    out->list = *at == '*';
    out->rows = out->list && at[1] == '*';
    out->name = at + out->list + out->rows;
    /* A name such as T is no dtype, and LEAT_INVALID then says so. */
    out->size = strcspn(out->name, " =<");
    out->dtype = dtype_named(out->name, out->size);
    at = out->name + out->size;
    if (*at == '=') {
        size_t size = strcspn(at + 1, " <");
        out->fallback = dtype_named(at + 1, size);
        at += 1 + size;
    }
    if (*at == '<') {
        out->more = at + 1;
        out->more_size = (size_t)(end - out->more);
    }
    *types = end;
    return true;
}

static bool is_number(leat_dtype dtype) {
    /* The enum has bool first, then integers and floats, then what is no number. */
    return dtype > LEAT_BOOL && dtype <= LEAT_FLOAT64;
}

/* Is `dtype` one of those that are cast? */
static bool is_more(const leati_input_type *type, leat_dtype dtype) {
    static const char numbers[] = "number";
    const char *at = type->more, *end = at != NULL ? at + type->more_size : NULL;
    if (at != NULL && type->more_size == sizeof numbers - 1 &&
        memcmp(at, numbers, type->more_size) == 0)
        return is_number(dtype);
    while (at != NULL && at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        if (dtype_named(at, (size_t)(stop - at)) == dtype)
            return true;
        at = comma != NULL ? comma + 1 : end;
    }
    return false;
}

leat_dtype leati_input_type_cast(const leati_input_type *type, leat_dtype dtype) {
    if (!is_more(type, dtype))
        return dtype;
    if (type->dtype != LEAT_INVALID)
        return type->dtype;
    /* A name such as T is no dtype to cast to: integers become the wider ones that kernels have. */
    return leat_dtype_size(dtype) >= 4 ? LEAT_INT64 : LEAT_INT32;
}
