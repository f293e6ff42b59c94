/* Shapes: pure functions over rank and dimensions. Only leati_shape_prepend can fail
 * (INVALID_ARGUMENT beyond LEAT_MAX_RANK). */
#include "core/spec.h"

#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool leati_shape_is_valid(const leat_shape *shape) {
    if (shape->rank < LEAT_UNKNOWN_RANK || shape->rank > LEAT_MAX_RANK)
        return false;
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] < LEAT_UNKNOWN_DIM)
            return false;
    return true;
}

bool leati_shape_is_static(const leat_shape *shape) {
    if (shape->rank < 0)
        return false;
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 0)
            return false;
    return true;
}

int64_t leati_shape_count(const leat_shape *shape) {
    if (!leati_shape_is_static(shape))
        return -1;
    /* First of all, because the product of the others may overflow. */
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] == 0)
            return 0;
    size_t count = 1;
    for (int32_t i = 0; i < shape->rank; i++)
        if (!leati_mul_size(count, (size_t)shape->dims[i], &count) || count > INT64_MAX)
            return -1;
    return (int64_t)count;
}

bool leati_shape_equal(const leat_shape *a, const leat_shape *b) {
    if (a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

bool leati_shape_compatible(const leat_shape *a, const leat_shape *b) {
    if (a->rank < 0 || b->rank < 0)
        return true;
    if (a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i])
            return false;
    return true;
}

leat_shape leati_shape_join(const leat_shape *a, const leat_shape *b) {
    leat_shape joined = {.rank = LEAT_UNKNOWN_RANK};
    /* An unknown rank joined with anything is unknown. */
    if (a->rank != b->rank || a->rank < 0)
        return joined;
    joined.rank = a->rank;
    for (int32_t i = 0; i < a->rank; i++)
        joined.dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : LEAT_UNKNOWN_DIM;
    return joined;
}

leat_status leati_shape_prepend(const leat_shape *shape, int64_t outer, leat_shape *out,
                                leat_error *err) {
    leat_shape result = {.rank = LEAT_UNKNOWN_RANK};
    if (shape->rank >= LEAT_MAX_RANK) {
        char text[128];
        return leati_refuse(
            err, SHAPE,
            "cannot add a dimension to shape %s: a tensor has at most %d dimensions; "
            "reshape it first",
            leati_shape_text(shape, text), LEAT_MAX_RANK);
    }
    if (shape->rank >= 0) {
        result.rank = shape->rank + 1;
        result.dims[0] = outer;
        memcpy(result.dims + 1, shape->dims, (size_t)shape->rank * sizeof shape->dims[0]);
    }
    *out = result;
    return LEAT_OK;
}

const char *leati_shape_text(const leat_shape *shape, char text[128]) {
    if (shape->rank < 0) {
        snprintf(text, 128, "<unknown>");
        return text;
    }
    size_t at = 0;
    text[at++] = '[';
    for (int32_t i = 0; i < shape->rank && i < LEAT_MAX_RANK && at < 128; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (shape->dims[i] < 0)
            at += (size_t)snprintf(text + at, 128 - at, "%s?", comma);
        else
            at += (size_t)snprintf(text + at, 128 - at, "%s%" PRId64, comma, shape->dims[i]);
    }
    /* Eight dimensions of nineteen digits do not fit; the text is for people, so it is cut. */
    if (at > 126)
        at = 126;
    text[at] = ']';
    text[at + 1] = '\0';
    return text;
}
